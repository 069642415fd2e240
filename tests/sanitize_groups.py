"""Cases for compute-sanitizer: groups of neighbors, and the levels of communities."""

from __future__ import annotations

import numpy as np
from sanitize_cases import VERTICES, hub_rows, launches, load_kernels, make_rows, whole_matrix
from scipy import sparse

from dask_graphflow.operators.priorities import priorities


@launches("few_groups", "some_groups", "many_groups")
def grouped(kernels, parents, ids):
    """The best of few labels, with several as good, and of many, by each rule."""
    best = load_kernels(kernels, "groups").best_groups
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
            found = to_host(best(given, asarray(held), tables={}))
            wanted = heaviest(held, owners, held[ends], counts)
            np.testing.assert_array_equal(found, wanted)
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
    sweep = load_kernels(kernels, "groups").sweep
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
    groups, asarray = load_kernels(kernels, "groups"), kernels.namespace.asarray
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
    numbers, mass = load_kernels(kernels, "groups").numbered(asarray(labels), asarray(load))
    has = np.flatnonzero(load)
    wanted = np.where(np.isin(labels, has), np.searchsorted(has, labels), -1)
    np.testing.assert_array_equal(kernels.to_host(numbers), wanted)
    np.testing.assert_array_equal(kernels.to_host(mass), load[has])


def both_ways(kernels, ids):
    """Return the rows of an undirected graph with weights, and its matrix without self-loops."""
    out = hub_rows(kernels, ids)[0]
    ends = kernels.to_host(out.ends).astype(ids)
    source = owners_of(kernels.to_host(out.offsets)).astype(ids)
    weights = np.random.default_rng(8).integers(0, 4, len(ends))
    made = make_rows(kernels, ids, source, ends, weights, undirected=True, multi="sum")
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
