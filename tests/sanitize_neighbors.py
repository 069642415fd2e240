"""Cases for compute-sanitizer: groups of neighbors, peeling, triangles and random choices."""

from __future__ import annotations

from itertools import product

import numpy as np
from sanitize_cases import VERTICES, hub_rows, kernels_of, launches, whole_matrix
from scipy import sparse

from dask_graphflow.kernels.csr import Rows
from dask_graphflow.operators.priorities import priorities


@launches("few_groups", "some_groups", "many_groups")
def grouped(kernels, parents, ids):
    """The best of few labels, with several as good, and of many, by each rule."""
    best = kernels_of(kernels, "groups").best_groups
    asarray, to_host = kernels.namespace.asarray, kernels.to_host
    rng = np.random.default_rng(3)
    sides = hub_rows(kernels, ids)
    pairs = [
        (np.repeat(np.arange(VERTICES), np.diff(to_host(one.offsets))), to_host(one.ends))
        for one in sides
    ]
    weights = [rng.integers(0, 3, len(one.ends)) for one in sides]
    weighted = [one._replace(weights=asarray(own)) for one, own in zip(sides, weights, strict=True)]
    masses = asarray(np.ones(VERTICES, "int64")), asarray(np.zeros(10**6, "int64")), 0.0
    for kinds in (4, 10**6):
        held = rng.integers(0, kinds, VERTICES).astype(ids)
        owners, ends = np.concatenate(pairs, axis=1)
        for given, counts in (sides, np.ones_like(ends)), (weighted, np.concatenate(weights)):
            found = best(given, asarray(held), tables={})
            np.testing.assert_array_equal(
                to_host(found), heaviest(held, owners, held[ends], counts)
            )
        # Without a penalty, the best of other vertices' labels if it is better than the own one.
        owners, ends = pairs[0]
        counts = weights[0] * (owners != ends)
        own = np.bincount(owners, counts * (held[owners] == held[ends]), VERTICES)
        wanted = heaviest(held, owners, held[ends], counts)
        sums = np.bincount(owners, counts * (wanted[owners] == held[ends]), VERTICES)
        wanted[sums <= own] = held[sums <= own]
        vertices = rng.permutation(VERTICES)[: VERTICES // 2].astype(ids)
        found = best(weighted[:1], asarray(held), asarray(vertices), masses, tables={})
        np.testing.assert_array_equal(to_host(found), wanted[vertices])


def heaviest(held, owners, names, weights):
    """Return the label with the largest sum of weights for each vertex; the smallest of several."""
    by, place = np.unique(
        np.stack([owners[weights > 0], names[weights > 0]]), axis=1, return_inverse=True
    )
    sums = np.bincount(place.ravel(), weights[weights > 0], by.shape[1])
    order = np.lexsort((-by[1], sums, by[0]))  # the last of a vertex is its best
    wanted = held.copy()
    wanted[by[0][order]] = by[1][order]
    return wanted


@launches("sweep")
def swept(kernels, parents, ids):
    """Three sweeps of a weighted graph and a refinement, with rows of all sizes, and with skews."""
    rows, matrix = both_ways(kernels, ids)
    skew = np.random.default_rng(5).integers(-9, 10, VERTICES) * matrix.sum(axis=1) // 9
    for skews in (None, skew):
        check_sweeps(kernels, ids, rows, matrix, skews)


def check_sweeps(kernels, ids, rows, matrix, skew):
    """Compare sweeps, in which vertices have some skews or none."""
    sweep = kernels_of(kernels, "groups").sweep
    asarray, to_host = kernels.namespace.asarray, kernels.to_host
    mass, ranks = matrix.sum(axis=1), np.random.default_rng(4).permutation(VERTICES)
    factor, room = 1 / mass.sum(), {}
    labels, load = np.arange(VERTICES), mass.copy()
    labels_there, load_there = asarray(labels.astype(ids)), asarray(load.copy())
    awake = asarray((mass > 0).astype("int32"))
    skews = skews_there = None
    if skew is not None:
        skews, skews_there = (skew, skew.copy()), (asarray(skew), asarray(skew.copy()))
    for seed in range(3):
        looking = np.flatnonzero(to_host(awake))
        masses, draw = (asarray(mass), load_there, factor), (asarray(ranks), seed)
        moved = sweep(rows, labels_there, masses, draw, awake, skew=skews_there, room=room)
        wanted = one_sweep(matrix, labels, (mass, load, factor), looking, (ranks, seed), skew=skews)
        np.testing.assert_array_equal(to_host(labels_there), labels)
        np.testing.assert_array_equal(to_host(load_there), load)
        if skew is not None:
            np.testing.assert_array_equal(to_host(skews_there[1]), skews[1])
        assert moved == len(wanted) > 0
        owners, ends = owners_of(to_host(rows.offsets)), to_host(rows.ends)
        woken = ends[np.isin(owners, wanted) & (labels[owners] != labels[ends])]
        np.testing.assert_array_equal(np.flatnonzero(to_host(awake)), np.unique(woken))
    parts, loads, within = np.arange(VERTICES), mass.copy(), labels
    parts_there, awake = asarray(parts.astype(ids)), asarray((mass > 0).astype("int32"))
    masses = asarray(mass), asarray(loads.copy()), factor
    draw, looking = (asarray(ranks), 9), np.flatnonzero(mass)
    if skew is not None:
        skews, skews_there = (skew, skew.copy()), (asarray(skew), asarray(skew.copy()))
    moved = sweep(rows, parts_there, masses, draw, awake, labels_there, skews_there, room=room)
    wanted = one_sweep(matrix, parts, (mass, loads, factor), looking, (ranks, 9), within, skews)
    np.testing.assert_array_equal(to_host(parts_there), parts)
    np.testing.assert_array_equal(to_host(masses[1]), loads)
    assert moved == len(wanted) > 0


@launches("list_members", "sum_between", "copy_rows", "weight_between", "edges_inside")
def grouped_edges(kernels, parents, ids):
    """Sums of the weights between few large groups, and between many groups; edges inside groups."""
    groups, asarray = kernels_of(kernels, "groups"), kernels.namespace.asarray
    to_host = kernels.to_host
    rows, matrix = both_ways(kernels, ids)
    owners, ends = owners_of(to_host(rows.offsets)), to_host(rows.ends)
    for count in (3, VERTICES // 2):
        number = np.random.default_rng(count).integers(0, count, VERTICES)
        for weighted in (False, True):
            weights, given = np.ones_like(owners), rows._replace(weights=None)
            if weighted:
                weights, given = to_host(rows.weights), rows
                number[matrix.sum(axis=1) == 0] = -1
            there = asarray(number.astype(ids))
            apart = number[owners] != number[ends]
            between = apart & (weights > 0)
            pairs = number[owners[between]], number[ends[between]]
            wanted = sparse.coo_array((weights[between], pairs), (count, count)).tocsr()
            found = groups.sums_between(given, there, count)
            offsets, targets, sums = (to_host(array) for array in found[:3])
            pairs = np.stack([owners_of(offsets), targets])
            assert np.unique(pairs, axis=1).shape == pairs.shape == (2, wanted.nnz)
            np.testing.assert_array_equal(np.asarray(wanted[*pairs]), sums)
            assert groups.weight_between(given, there) == weights[apart].sum()
        offsets = asarray(to_host(rows.offsets)[50:] - to_host(rows.offsets)[50])
        inside = groups.edges_inside(
            rows._replace(offsets=offsets, ends=rows.ends[-int(offsets[-1]) :], first=50), there
        )
        inside = {*zip(*(to_host(side).tolist() for side in inside), strict=True)}
        same = (owners >= 50) & (owners < ends) & (number[owners] == number[ends])
        assert inside == {*zip(owners[same].tolist(), ends[same].tolist(), strict=True)}


@launches("number_groups")
def numbered_groups(kernels, parents, ids):
    """Labels of which some have no load, and some are negative."""
    rng, asarray = np.random.default_rng(6), kernels.namespace.asarray
    labels = rng.integers(-1, VERTICES, 2 * VERTICES).astype(ids)
    load = rng.integers(0, 3, VERTICES)
    numbers, mass = kernels_of(kernels, "groups").numbered(asarray(labels), asarray(load))
    has = np.flatnonzero(load)
    wanted = np.where(np.isin(labels, has), np.searchsorted(has, labels), -1)
    np.testing.assert_array_equal(kernels.to_host(numbers), wanted)
    np.testing.assert_array_equal(kernels.to_host(mass), load[has])


def both_ways(kernels, ids):
    """Return the rows of an undirected graph with weights, and its matrix without self-loops."""
    rows = kernels_of(kernels, "rows")
    out = hub_rows(kernels, ids)[0]
    ends = kernels.to_host(out.ends).astype(ids)
    source = owners_of(kernels.to_host(out.offsets)).astype(ids)
    weights = np.random.default_rng(8).integers(0, 4, len(ends))
    asarray = kernels.namespace.asarray
    made = rows.rows(
        *map(asarray, (source, ends, weights)), count=VERTICES, undirected=True, multi="sum"
    )
    made = made._replace(ends=made.ends.astype(ids))
    matrix = whole_matrix(kernels, made).copy()
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    return made, matrix


def owners_of(offsets):
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def one_sweep(matrix, labels, masses, looking, draw, within=None, skew=None):
    """Move vertices, class after class, in place; return those that moved."""
    (mass, load, factor), (ranks, seed), every = masses, draw, []
    classes = priorities(ranks[looking], seed) & 7
    for drawn in range(8):
        vertices, closed, moves = looking[classes == drawn], set(), []
        if within is not None:
            vertices = [v for v in vertices if labels[v] == v and load[v] == mass[v]]
            closed = set(vertices)
        for v in vertices:
            near = slice(*matrix.indptr[v : v + 2])
            sums = dict.fromkeys([labels[v]], 0)
            for u, weight in zip(matrix.indices[near], matrix.data[near], strict=True):
                if within is None or within[u] == within[v]:
                    sums[labels[u]] = sums.get(labels[u], 0) + weight
            own, costs = labels[v], {a: factor * mass[v] * load[a] for a in sums}
            costs[own] = factor * mass[v] * (load[own] - mass[v])
            if skew is not None:
                turn, turns = skew[0][v], {a: skew[1][a] for a in sums}
                turns[own] -= turn
                costs = {a: costs[a] - factor * turn * turns[a] for a in sums}
            stay = sums.pop(own) - costs[own]
            scores = [(costs[a] - sums[a], a) for a in sums if a not in closed]
            least, label = min(scores, default=(0, 0))
            if scores and -least > stay:
                moves.append((v, label))
        for v, label in moves:
            load[labels[v]] -= mass[v]
            load[label] += mass[v]
            if skew is not None:
                skew[1][labels[v]] -= skew[0][v]
                skew[1][label] += skew[0][v]
            labels[v] = label
        every += [v for v, _ in moves]
    return every


@launches("peel_run", "peel_all")
def peeled(kernels, parents, ids):
    """Vertices with few edges left, one after another and many at once."""
    peel, there = kernels_of(kernels, "peel").peel, kernels.namespace.asarray
    for size, chain in ((VERTICES, True), (VERTICES, False)):
        source = np.arange(size - 1)
        target = source + 1 if chain else np.full(size - 1, size - 1)
        ends = np.concatenate([source, target]), np.concatenate([target, source])
        rows = kernels_of(kernels, "rows").rows(
            *(there(side.astype(ids)) for side in ends), count=size
        )
        # The device chooses the ends' dtype by their number, and the kernels' lists have the same dtype.
        rows = rows._replace(ends=rows.ends.astype(ids))
        counts = np.diff(kernels.to_host(rows.offsets))
        few = np.flatnonzero(counts <= 1)[:1] if chain else np.flatnonzero(counts <= 1)
        counts, room = there(counts), kernels.namespace.empty((2, size), ids)
        found = peel(rows._replace(first=0), counts, 1, there(few.astype(ids)), room)
        removed = np.concatenate([few, kernels.to_host(found)])
        assert len(removed) == len(set(removed.tolist()))
        assert set(range(size)) - set(removed.tolist()) <= {size - 1}
        if hasattr(
            kernels_of(kernels, "peel"), "peel_all"
        ):  # on the host, a call removes one limit
            core = kernels.namespace.full(size, -1, "int32")
            left = there(np.diff(kernels.to_host(rows.offsets)))
            kernels_of(kernels, "peel").peel_all(rows._replace(first=0), left, core, room)
            assert (kernels.to_host(core) == 1).all()


@launches("set_predecessors")
def predecessors_set(kernels, parents, ids):
    """Vertices with rows of no edge to hundreds, in 64 searches that saw a few of their neighbors."""
    rng, there = np.random.default_rng(3), kernels.namespace.asarray
    lengths = np.array([0, 1, 31, 32, 33, 64, 700])
    size = len(lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    ends = np.concatenate([np.sort(rng.choice(VERTICES, n, replace=False)) for n in lengths])
    seen = 1 << rng.integers(0, 64, VERTICES, dtype="uint64")
    seen[rng.random(VERTICES) < 0.5] = 0
    first = {}
    for row, search in product(range(size), range(64)):
        near = [end for end in ends[slice(*offsets[row : row + 2])] if seen[end] >> search & 1]
        if near and search % 5:
            first[search, row] = near[0]
    bits = np.zeros(size, "uint64")
    for search, row in first:
        bits[row] |= np.uint64(1 << search)
    level, predecessor = (np.full((64, size + 1), -1, dtype) for dtype in ("int32", ids))
    wanted = [array.copy() for array in (level, predecessor)]
    for (search, row), near in first.items():
        wanted[0][search, size - row], wanted[1][search, size - row] = 7, near
    rows = Rows(there(offsets), there(ends.astype(ids)), None, 0)
    vertices, at = np.arange(size, dtype=ids), size - np.arange(size)
    level, predecessor = there(level), there(predecessor)
    kernels_of(kernels, "predecessors").set_predecessors(
        rows, there(seen), there(vertices), there(bits), there(at), 7, level, predecessor
    )
    for found, right in zip((level, predecessor), wanted, strict=True):
        np.testing.assert_array_equal(kernels.to_host(found), right)


@launches("first_free")
def numbers_free(kernels, parents, ids):
    """A clique of more vertices than a warp has bits, and leaves at some of them."""
    clique, leaves = 1100, 40
    pairs = np.array([(a, b) for a in range(clique) for b in range(a)])
    at = np.repeat([3, 4], leaves)
    more = np.stack([at, clique + np.arange(len(at))], axis=1)
    source, target = np.concatenate([pairs, more]).astype(ids).T
    ends = np.concatenate([source, target]), np.concatenate([target, source])
    size, there = clique + 2 * leaves, kernels.namespace.asarray
    rows = kernels_of(kernels, "rows").rows(*(there(side) for side in ends), count=size)
    rows = rows._replace(ends=rows.ends.astype(ids), first=0)
    order = np.lexsort((np.arange(size), -np.bincount(ends[0], minlength=size)))
    found = kernels_of(kernels, "order").first_free(rows, there(order.astype(ids)))
    wanted = np.empty(size, "int32")
    wanted[order[:clique]] = np.arange(clique)
    wanted[clique:] = 0
    wanted[clique : clique + leaves] = 1  # their neighbor comes first of all
    np.testing.assert_array_equal(kernels.to_host(found), wanted)


def oriented_rows(kernels, ids, weight):
    """Return a simple graph's rows of smaller ends, and its edges entering each vertex.

    One row has more ends than a block's table has room for, and another one almost as many.
    """
    rows, there = kernels_of(kernels, "rows"), kernels.namespace.asarray
    whole = whole_matrix(kernels, hub_rows(kernels, ids, "float64")[0]).tocoo()
    # The hubs come late, so most of their ends come before them.
    source, target = ((side + 2500) % VERTICES for side in (whole.row, whole.col))
    low, high = np.minimum(source, target), np.maximum(source, target)
    key = np.unique((high * VERTICES + low)[low < high])
    high, low = (side.astype(ids) for side in np.divmod(key, VERTICES))
    weights = there(weight(len(key)))
    made = [
        rows.rows(there(a), there(b), weights, count=VERTICES)
        for a, b in ((high, low), (low, high))
    ]
    return high, low, *(one._replace(ends=one.ends.astype(ids)) for one in made)


def triangles_of(high, low):
    """Return the edges of each triangle, by their index: they lack its first, middle and last vertex."""
    offsets = np.searchsorted(high, np.arange(VERTICES + 1))
    sizes = np.diff(offsets)[low]
    without_first = np.repeat(np.arange(len(low)), sizes)
    before = np.repeat(np.cumsum(sizes) - sizes, sizes)
    without_last = offsets[low][without_first] + np.arange(len(before)) - before
    keys = high.astype("int64") * VERTICES + low
    wanted = high[without_first].astype("int64") * VERTICES + low[without_last]
    without_middle = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    closed = keys[without_middle] == wanted
    return without_first[closed], without_middle[closed], without_last[closed]


@launches("triangles", "credit")
def intersected(kernels, parents, ids):
    """The triangles of rows, of their entries too, and the weights opposite to their vertices."""
    intersect, xp = kernels_of(kernels, "intersect"), kernels.namespace
    high, low, rows, entering = oriented_rows(
        kernels, ids, lambda count: np.random.default_rng(4).integers(1, 4, count, "int32")
    )
    weight, corners = kernels.to_host(rows.weights), triangles_of(high, low)
    first, middle, last = corners
    one = np.ones(len(first), "int64")
    for weighted, wanted in (
        (False, [(first, one)]),
        (False, [(first, one), (middle, one)]),
        (True, [(first, weight[last]), (first, weight[middle])]),
    ):
        given = [side if weighted else side._replace(weights=None) for side in (rows, entering)]
        counts = [xp.zeros(len(high), f"u{ids}") for _ in range(len(wanted) + 1)]
        *of_row, of_own = counts
        intersect.triangles(*given, given[0], of_row, of_own)
        wanted = [*wanted, (last, weight[first] if weighted else one)]
        sums = [np.bincount(edges, parts, len(high)) for edges, parts in wanted]
        np.testing.assert_array_equal([kernels.to_host(array) for array in counts], sums)
        at = 1 if weighted else 0  # what is counted for the middle vertex
        found = intersect.credit(rows, of_row[0], of_row[at], of_own)
        told = sums[0], sums[at] + sums[-1]
        totals = [np.bincount(*side, VERTICES) for side in zip((high, low), told, strict=True)]
        np.testing.assert_array_equal(kernels.to_host(found), sum(totals))


@launches("lose", "settle")
def triangles_lost(kernels, parents, ids):
    """Edges lose each triangle once, however many of its edges leave: a few edges, and a third."""
    intersect, rows = (kernels_of(kernels, name) for name in ("intersect", "rows"))
    there, rng = kernels.namespace.asarray, np.random.default_rng(4)
    high, low, *_ = oriented_rows(kernels, ids, lambda count: np.ones(count, "int32"))
    edges = np.arange(len(high)).astype(parents)
    ends = np.concatenate([high, low]), np.concatenate([low, high])
    whole = rows.rows(*map(there, ends), there(np.tile(edges, 2)), count=VERTICES)
    whole = whole._replace(ends=whole.ends.astype(ids))
    corners = np.stack(triangles_of(high, low))
    for share in (0.002, 0.33):
        drawn = rng.random(len(high))
        state = np.where(drawn < share, 1, np.where(drawn > 0.9, 2, 0)).astype("uint8")
        leaving = np.flatnonzero(state == 1)
        late, early = there(high[leaving]), there(low[leaving])
        lost = kernels.namespace.zeros(len(high), f"u{ids}")
        state_there = there(state.copy())
        here = whole, state_there, lost
        intersect.lose(*here, *here, late, late, early)
        states = state[corners]
        broken = corners[:, (states == 1).any(axis=0) & (states < 2).all(axis=0)]
        wanted = np.bincount(broken.ravel(), minlength=len(high)) * (state == 0)
        np.testing.assert_array_equal(kernels.to_host(lost), wanted)
        owned = len(high) * 2 // 3
        support = np.bincount(corners.ravel(), minlength=len(high))[:owned].astype(ids)
        left = there(support.copy())
        fallen = intersect.settle(state_there, lost, left, 2)
        support -= wanted[:owned].astype(ids)
        np.testing.assert_array_equal(kernels.to_host(left), support)
        few = np.flatnonzero((wanted[:owned] > 0) & (support <= 2))
        np.testing.assert_array_equal(np.sort(kernels.to_host(fallen)), few)
        assert not kernels.to_host(lost).any()
        removed = np.where(state == 1, 2, state)
        np.testing.assert_array_equal(kernels.to_host(state_there), removed)


@launches("peel_edges")
def edges_peeled(kernels, parents, ids):
    """Edges that leave at increasing limits, with all edges in the rows and with those that remain."""
    intersect, rows = (kernels_of(kernels, name) for name in ("intersect", "rows"))
    if not hasattr(intersect, "peel_edges"):  # on the host, a call does one step
        return
    there = kernels.namespace.asarray
    high, low, *_ = oriented_rows(kernels, ids, lambda count: np.ones(count, "int32"))
    edges, corners = np.arange(len(high)), np.stack(triangles_of(high, low))
    ends = np.concatenate([high, low]), np.concatenate([low, high])
    weights = there(np.tile(edges, 2).astype(parents))
    whole = rows.rows(*map(there, ends), weights, count=VERTICES)
    whole = whole._replace(ends=whole.ends.astype(ids))
    wanted, limit = np.zeros(len(high), "int32"), 0
    while not wanted.all():
        left = corners[:, (wanted[corners] == 0).all(axis=0)]
        support = np.bincount(left.ravel(), minlength=len(high))
        limit = max(limit, support[wanted == 0].min())
        wanted[(wanted == 0) & (support <= limit)] = limit + 2
    triangles, kept = np.bincount(corners.ravel(), minlength=len(high)), intersect.KEPT
    for intersect.KEPT, most in ((kept, limit), (0, limit), (0, limit // 2)):
        support, found = there(triangles.astype(ids)), kernels.namespace.zeros(len(high), "int32")
        late, early = there(high.astype(ids)), there(low.astype(ids))
        intersect.peel_edges(whole, late, early, support, found, 0, int(most))
        np.testing.assert_array_equal(
            kernels.to_host(found), np.where(wanted <= most + 2, wanted, 0)
        )
    intersect.KEPT = kept


@launches("common")
def shared_ends(kernels, parents, ids):
    """The ends that two rows have in common, and their weights, for short rows and long ones."""
    intersect, rng = kernels_of(kernels, "intersect"), np.random.default_rng(4)
    _, _, rows, own = oriented_rows(kernels, ids, lambda count: rng.integers(1, 2**40, count))
    pairs = rng.integers(0, VERTICES, (2, 2000))
    pairs[0, :500], pairs[1, 250:750] = VERTICES - 496, 5  # a hub, as 5 + 2500 is
    low, high = (
        whole_matrix(kernels, side)[at] for side, at in zip((rows, own), pairs, strict=True)
    )
    ones = low.astype(bool).astype("int64")
    plain = [side._replace(weights=None) for side in (rows, own)]
    for given, wanted in (
        ((rows, own), low.minimum(high)),
        ((plain[0], own), ones * high),
        (plain, ones * high.astype(bool)),
    ):
        found = intersect.common(*given, *map(kernels.namespace.asarray, pairs))
        np.testing.assert_array_equal(kernels.to_host(found), wanted.sum(axis=1))


def hash_of(keys, counter):
    """Return SplitMix64's hashes of keys and a counter."""
    mixed = keys + np.asarray(counter, "uint64") * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def random_of(keys, counter):
    """Return SplitMix64's floats of keys and a counter."""
    return (hash_of(keys, counter) >> np.uint64(11)) * 2.0**-53


@launches("hashes")
def hashed(kernels, parents, ids):
    """Ranks with one seed, which can be negative, and with a seed for each."""
    sample, there = kernels_of(kernels, "sample"), kernels.namespace.asarray
    ranks = np.arange(VERTICES).astype(ids)
    found = sample.hashes(there(ranks), -7)
    wanted = hash_of(np.uint64(2**64 - 7), ranks + 1)
    np.testing.assert_array_equal(kernels.to_host(found), wanted)
    again = sample.hashes(there(ranks[::-1].copy()), found.view("int64"))
    np.testing.assert_array_equal(kernels.to_host(again), hash_of(wanted, ranks[::-1] + 1))


@launches("pick_edges")
def picked(kernels, parents, ids):
    """All edges of vertices, some with replacement, and some without: rows of up to 3,000 edges."""
    sample, there = kernels_of(kernels, "sample"), kernels.namespace.asarray
    out, _ = hub_rows(kernels, ids)
    rng, low = np.random.default_rng(6), kernels.to_host(out.offsets)
    vertices = np.concatenate([np.arange(12), rng.integers(0, VERTICES, 600)])
    keys = rng.integers(0, 2**63, len(vertices), "uint64")
    sizes, low = np.diff(low)[vertices], low[vertices]
    for wanted, replace in ((-1, False), (3, False), (70, False), (70, True)):
        picks = sizes if wanted < 0 else np.minimum(sizes, wanted)
        picks = wanted * (sizes > 0) if replace else picks
        first = np.concatenate([[0], np.cumsum(picks)])
        given = there(vertices), there(keys), wanted, replace, there(first)
        edges, items = map(kernels.to_host, sample.pick_edges(out, *given))
        np.testing.assert_array_equal(items, np.repeat(np.arange(len(vertices)), picks))
        place = edges - low[items]
        turn = np.arange(len(edges)) - first[items]
        whole = sizes[items] if replace else sizes[items] - picks[items] + turn + 1
        drawn = (random_of(keys[items], turn) * whole).astype("int64")
        if not replace:
            # Floyd: an edge that was drawn before is replaced by the last one that could be.
            chosen = set(zip(items, place, strict=True))
            assert len(chosen) == len(place)
            drawn = np.where(picks[items] == sizes[items], turn, drawn)
            again = place != drawn
            assert chosen.issuperset(zip(items[again], drawn[again], strict=True))
            drawn[again] = whole[again] - 1
        np.testing.assert_array_equal(place, drawn)


@launches("walk", "propose", "connected", "cumulate")
def walked(kernels, parents, ids):
    """Walks of every bias, step by step too; without one also by their definition."""
    sample, there = kernels_of(kernels, "sample"), kernels.namespace.asarray
    out, _ = hub_rows(kernels, ids, "float32" if parents == "int32" else "float64")
    offsets, ends = (kernels.to_host(array) for array in out[:2])
    weights, sizes = kernels.to_host(out.weights).astype("float64"), np.diff(offsets)
    owners = np.repeat(np.arange(VERTICES), sizes)
    most = np.zeros(VERTICES)
    np.maximum.at(most, owners, weights)
    units = np.ldexp(weights, (52 - np.frexp(most)[1] - np.frexp(sizes)[1])[owners])
    before = np.concatenate([[0], np.cumsum(np.rint(units).astype("int64"))])
    weighed = sample.cumulate(out)
    np.testing.assert_array_equal(kernels.to_host(weighed), before[1:] - before[offsets][owners])

    rng = np.random.default_rng(6)
    starts = np.concatenate([np.arange(12), rng.integers(0, VERTICES, 300)]).astype(ids)
    keys = rng.integers(0, 2**63, len(starts), "uint64")
    # Back and on, then how often a vertex is accepted that the one before has an edge to, or not.
    biases = (1, 1, 1, 1), (4, 1, 1, 1), (0, 1, 1, 1), (2, 1, 0.25, 1), (0.5, 3, 1, 0.3)
    for sums, bias in product((None, weighed), np.array(biases, "float64")):
        found = sample.walk(out, sums, there(starts), there(keys), 6, bias)
        steps = kernels.to_host(found)
        np.testing.assert_array_equal(steps[:, 0], starts)
        at, last = (there(np.ascontiguousarray(steps[:, step])) for step in (3, 2))
        rest = sample.walk(out, sums, at, there(keys), 3, bias, first=3, before=last)
        np.testing.assert_array_equal(kernels.to_host(rest), steps[:, 3:])
        masses = weights > 0 if sums is not None else weights >= 0
        near = set(zip(owners[masses].tolist(), ends[masses].tolist(), strict=True))
        for step, (at, following) in enumerate(zip(steps.T, steps.T[1:], strict=False), 1):
            going = np.flatnonzero(at >= 0)
            assert (following[at < 0] == -1).all()
            pairs = zip(at[going].tolist(), following[going].tolist(), strict=True)
            assert all(pair in near for pair in pairs if pair[1] >= 0)
            # Without a bias, a step does not depend on the vertex before.
            biased = step > 1 and (bias != 1).any()
            given = at[going], steps[going, step - 2] if biased else np.full(len(going), -1, ids)
            next_vertex = proposed(kernels, out, sums, given, keys[going], step, bias)
            np.testing.assert_array_equal(following[going], next_vertex)
            if (bias != 1).any():
                continue
            low, high = offsets[at[going]], offsets[at[going] + 1]
            whole = high - low if sums is None else before[high] - before[low]
            place = (random_of(keys[going], (step << 24) + 1) * whole).astype("int64")
            if sums is not None:
                place += before[low]
                place = np.searchsorted(before, place, side="right") - 1 - low
            wanted = np.where(whole > 0, ends[np.minimum(low + place, len(ends) - 1)], -1)
            np.testing.assert_array_equal(following[going], wanted)


def proposed(kernels, out, sums, given, keys, step, bias):
    """Return the next vertices of walks, by candidates and tests of them."""
    sample, there = kernels_of(kernels, "sample"), kernels.namespace.asarray
    vertices, previous = given
    attempts, found = np.zeros(len(keys), "int64"), np.full(len(keys), sample.OPEN)
    while len(left := np.flatnonzero(found == sample.OPEN)):
        made = there(attempts[left])
        those = there(vertices[left]), there(previous[left]), there(keys[left])
        tests, decided = sample.propose(out, sums, *those, step, bias, made, 3)
        attempts[left], tests = kernels.to_host(made), kernels.to_host(tests)
        item, slot = np.nonzero(tests >= 0)
        passed = np.zeros(tests.shape, bool)
        pairs = there(previous[left][item]), there(tests[item, slot])
        passed[item, slot] = kernels.to_host(sample.connected(out, *pairs))
        passed[item, slot] ^= bias[2] < bias[3]
        first, some = passed.argmax(axis=1), np.arange(len(left))
        taken = passed[some, first]
        found[left] = np.where(taken, tests[some, first], kernels.to_host(decided))
    return found


@launches("join_cycles")
def cycles_joined(kernels, parents, ids):
    """Short and long cycles that share tree edges, one with a hub, and one of two parallel edges."""
    rng, size, there = np.random.default_rng(8), 700, kernels.namespace.asarray
    path, near = np.arange(size - 1), rng.integers(0, size - 40, 60)
    pairs = [(path, path + 1), (near, near + rng.integers(2, 40, 60)), ([0] * 9, path[300:309])]
    one, other = np.concatenate([*pairs, ([650], [651])], axis=1).astype(ids)
    source, target = np.concatenate([one, other]), np.concatenate([other, one])
    rows = kernels_of(kernels, "rows").rows(there(source), there(target), count=size)
    matrix = sparse.coo_array((np.ones(len(source)), (source, target)), (size, size)).tocsr()
    order, parent = sparse.csgraph.breadth_first_order(matrix, 0)
    label = np.empty(size, ids)
    label[order] = np.arange(size)
    above = label[np.maximum(parent[order], 0)]
    block = kernels.identity(size, ids)
    kernels_of(kernels, "biconnected").join_cycles(
        rows._replace(ends=rows.ends.astype(ids), first=0),
        there(label),
        there(above),
        block,
        threads=2,
    )
    kernels.compress(block)
    wanted = sparse.lil_array((size, size))
    for ends in zip(label[one], label[other], strict=True):
        on_cycle = []
        while ends[0] != ends[1]:
            on_cycle.append(max(ends))
            ends = min(ends), above[max(ends)]
        wanted[on_cycle[:1] * len(on_cycle), on_cycle] = 1
    parts = sparse.csgraph.connected_components(wanted.tocsr(), directed=False)[1]
    first = np.full(size, size)
    np.minimum.at(first, parts, np.arange(size))
    np.testing.assert_array_equal(kernels.to_host(block), first[parts])
