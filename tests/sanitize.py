"""Small cases of every kernel, for compute-sanitizer: ``compute-sanitizer python tests/sanitize.py``.

It fails where a result is wrong, and where a kernel that :mod:`~dask_graphflow.kernels.sources` lists was
never launched. A case is called with the kernels of the device, or of the host in test_sanitize.py, and
says what it launches on a device.
"""

# ruff: noqa: T201
from __future__ import annotations

import contextlib
import importlib
import sys
from itertools import product
from unittest import mock

import numpy as np
from scipy import sparse

from dask_graphflow.components.forest import Forest
from dask_graphflow.components.plan import Plan
from dask_graphflow.kernels.edge_op import EdgeOp
from dask_graphflow.kernels.policies import KERNELS as POLICIES

VERTICES, EDGES = 3001, 20_003
BASES = {"int32": (0, -7000, 10**6), "int64": (0, -7000, 10**12)}
ROOMS = (256, 20_000)  # of the list of edges outside the giant: it overflows, and it does not
CASES = {}
LAUNCHED = set()


def launches(*kernels):
    """Say which kernels a case launches, and make it one."""

    def register(case):
        CASES[case] = kernels
        return case

    return register


def random_edges(ids, seed=0):
    """Return edges between too few vertices for one tree, some of them outside the forest."""
    rng = np.random.default_rng(seed)
    # Two ranges, and gaps in the lower one: a giant, small trees and vertices without edges.
    half = VERTICES // 2
    ends = np.where(rng.random((2, EDGES)) < 0.99, half, 0) + half * rng.random((2, EDGES))
    ends[:, ::500] = -5
    ends[1, 250::500] = VERTICES + 5
    ends[1, ::97] = ends[0, ::97]
    loops = ends[:, 50::970]  # most of them at vertices that have no other edge
    loops[:] = 7 * np.arange(loops.shape[1])
    return np.floor(ends).astype(ids)


def expected(source, target, size=VERTICES):
    """Return the flat parents and the members, by SciPy."""
    inside = (source >= 0) & (target >= 0) & (source < size) & (target < size)
    source, target = source[inside], target[inside]
    matrix = sparse.coo_array((np.ones(len(source)), (source, target)), (size, size))
    _, component = sparse.csgraph.connected_components(matrix, directed=False)
    smallest = np.full(component.max() + 1, size)
    np.minimum.at(smallest, component, np.arange(size))
    seen = np.zeros(size, "uint8")
    seen[source] = seen[target] = 1
    return smallest[component], seen


def placed(kernels, side, skew):
    """Return an array that begins `skew` items past where memory was given."""
    room = np.concatenate([np.zeros(skew, side.dtype), side])
    return kernels.namespace.asarray(room)[skew:]


def ends_at(kernels, source, target, base=0, *skews):
    """Return edges as arrays of the kernels', with ids that count from `base`."""
    sides = (side + side.dtype.type(base) for side in (source, target))
    return [placed(kernels, *end) for end in zip(sides, skews or (0, 0), strict=True)]


def blank(kernels, parents):
    """Return a forest's two arrays."""
    return kernels.identity(VERTICES, parents), kernels.namespace.zeros(VERTICES, "uint8")


def check(kernels, parent, seen, source, target):
    """Finish a forest that edges were hooked into, and compare it."""
    kernels.compress(parent)
    kernels.mark_members(parent, seen)
    parents, members = expected(source, target)
    np.testing.assert_array_equal(kernels.to_host(parent), parents)
    np.testing.assert_array_equal(kernels.to_host(seen), members)


@launches("identity", "clear_report", "hook", "compress", "mark_members")
def hooked(kernels, parents, ids):
    none, below, above = BASES[ids]
    for *skews, base in ((0, 0, none), (1, 1, below), (0, 1, above), (3, 2, none)):
        source, target = random_edges(ids, skews[0])
        ends = ends_at(kernels, source, target, base, *skews)
        parent, seen = blank(kernels, parents)
        kernels.hook(parent, seen, *ends, base=base, step=4)
        kernels.compress(parent, start=7, stop=2000)
        kernels.compress(parent)
        _, outside = kernels.hook(parent, seen, *ends, base=base)
        assert outside == (base - 5, base + VERTICES + 5)
        check(kernels, parent, seen, source, target)


@launches("hook", "compress", "choose_giant", "mark_giant", "count_ends", "pick_hubs", "filter")
def hooked_past_a_giant(kernels, parents, ids):
    none, below, above = BASES[ids]
    few, all_of_it = ROOMS
    # Both sides begin alike past a 16-byte boundary, or the filter is not for them.
    for skew, base, room in (
        (0, none, few),
        (1, below, few),
        (1, none, all_of_it),
        (2, above, few),
        (3, below, all_of_it),
    ):
        source, target = random_edges(ids, skew)
        ends = ends_at(kernels, source, target, base, skew, skew)
        parent, seen = blank(kernels, parents)
        kernels.hook(parent, seen, *ends, base=base, step=8)
        kernels.compress(parent)
        with skipping(kernels, room):
            _, outside = kernels.hook(parent, seen, *ends, base=base)
            assert outside == (base - 5, base + VERTICES + 5)
            check(kernels, parent, seen, source, target)
            assert kernels.hook(parent, seen, *ends, base=base) == (0, outside)


@launches("hook", "compress", "choose_giant", "mark_giant", "count_ends", "pick_hubs", "filter")
def hooked_past_a_giant_after_a_sample(kernels, parents, ids):
    for length, room in ((EDGES, ROOMS[0]), (EDGES // 256 * 256, ROOMS[0]), (EDGES, ROOMS[1])):
        source, target = (side[:length] for side in random_edges(ids))
        ends = ends_at(kernels, source, target)
        parent, seen = blank(kernels, parents)
        with skipping(kernels, room):
            _, outside = kernels.hook_sampled(parent, seen, *ends, step=8)
        assert outside == (-5, VERTICES + 5)
        check(kernels, parent, seen, source, target)


@launches("hook", "choose_giant", "filter")
def hooked_past_a_giant_with_self_loops_unnoted(kernels, parents, ids):
    source, target = random_edges(ids)
    ends = ends_at(kernels, source, target)
    parent, unnoted = kernels.identity(VERTICES, parents), kernels.namespace.zeros(0, "uint8")
    with skipping(kernels, ROOMS[0]):
        kernels.hook_sampled(parent, unnoted, *ends, step=8)
    kernels.compress(parent)
    np.testing.assert_array_equal(kernels.to_host(parent), expected(source, target)[0])


@launches("hook", "choose_giant")
def hooked_without_a_giant(kernels, parents, ids):
    source, target = np.arange(0, 3000, 2).astype(ids), np.arange(1, 3000, 2).astype(ids)
    source, target = (np.tile(side, 4) for side in (source, target))
    for skew in range(2):
        ends = ends_at(kernels, source, target, 0, skew, skew)
        parent, seen = blank(kernels, parents)
        with skipping(kernels, ROOMS[0]):
            kernels.hook(parent, seen, *ends)
        check(kernels, parent, seen, source, target)


@launches("absorb", "clear_report")
def absorbed(kernels, parents, ids):
    """Entries of either type, in slices, where they are and where `slots` says."""
    source, target = random_edges("int64")
    inside = (np.minimum(source, target) >= 0) & (np.maximum(source, target) < VERTICES)
    source, target = source[inside], target[inside]
    entries, _ = expected(source, target)
    entries = kernels.namespace.asarray(entries.astype(ids))
    for shift, slots in ((0, None), (11, None), (0, np.arange(VERTICES)[::-1].copy())):
        parent = kernels.identity(VERTICES + shift, parents)
        where = np.arange(VERTICES) + shift if slots is None else slots
        for first, last in ((700, VERTICES), (0, 700)):
            how = {"first": first, "shift": shift}
            if slots is not None:
                how["slots"] = kernels.namespace.asarray(slots)
            kernels.absorb(parent, entries[first:last], **how)
        assert kernels.absorb(parent, entries[:0]) == 0
        kernels.compress(parent)
        wanted, _ = expected(where[source], where[target], VERTICES + shift)
        np.testing.assert_array_equal(kernels.to_host(parent), wanted)


@launches("absorb", "hook", "compress", "mark_members", "count_seen", "write_labels")
def merged(kernels, parents, ids):
    """Forests that grow, take edges in chunks, and are merged: what parents are is theirs to say."""
    source, target = random_edges(ids)
    inside = (np.minimum(source, target) >= 0) & (np.maximum(source, target) < VERTICES)
    source, target = source[inside], target[inside]
    forests = []
    for part in (slice(0, 9000), slice(9000, None)):
        forest = Forest(kernels.namespace.zeros(0))
        forest.cover(0, 10)
        forest.cover(0, VERTICES - 1)
        ends = ends_at(kernels, source[part], target[part])
        assert forest.hook(*ends, plan=Plan(chunk=4000, step=4)) is None
        forests.append(forest)
    forests[0].absorb(forests[1])
    forests[0].mark_members()
    parents, members = expected(source, target)
    occurring = np.flatnonzero(members)
    vertices, roots = forests[0].labels(-10, VERTICES, np.dtype(ids))
    np.testing.assert_array_equal(kernels.to_host(vertices), occurring)
    np.testing.assert_array_equal(kernels.to_host(roots), parents[occurring])


@launches("count_seen", "write_labels")
def labelled(kernels, parents, ids):
    rng = np.random.default_rng(2)
    parent = np.arange(VERTICES) * rng.random(VERTICES)
    seen = rng.random(VERTICES) < 0.6
    arrays = (
        kernels.namespace.asarray(parent.astype(parents)),
        kernels.namespace.asarray(seen.astype("uint8")),
    )
    # Ranges that end in a run of vertices, and where one does; of one vertex and of none.
    ranges = ((0, VERTICES), (7, 2000), (511, 1024), (0, 512), (VERTICES - 1, VERTICES), (5, 5))
    for (start, stop), base in product(ranges, BASES[ids]):
        found = kernels.labels(*arrays, start, stop, base=base, dtype=np.dtype(ids))
        vertices = np.arange(start, stop)[seen[start:stop]]
        for given, wanted in zip(found, (vertices, parent[vertices].astype("int64")), strict=True):
            assert given.dtype == ids
            np.testing.assert_array_equal(kernels.to_host(given), base + wanted)


@launches("bounds")
def bounded(kernels, parents, ids):
    for skew, step, count in product(range(2), (1, 3), (1, 255, 256, EDGES)):
        source, target = (side[:count] for side in random_edges(ids))
        ends = ends_at(kernels, source, target, 0, skew, skew)
        few = source[::step], target[::step]
        assert kernels.bounds(*ends, step=step) == (np.min(few), np.max(few))


@launches("identity")
def made(kernels, parents, ids):
    for size in (0, 1, 255, 256, VERTICES):
        parent = kernels.identity(size, parents)
        assert parent.dtype == parents
        np.testing.assert_array_equal(kernels.to_host(parent), np.arange(size))


def inner_edges(kernels, ids):
    """Return edges whose ends are all vertices, on the host and as arrays of the kernels'."""
    source, target = random_edges(ids)
    inside = (np.minimum(source, target) >= 0) & (np.maximum(source, target) < VERTICES)
    source, target = source[inside], target[inside]
    return source, target, *ends_at(kernels, source, target)


def check_rows(kernels, rows, source, target, weight):
    """Compare rows with a list of edges; where several are one, their weights are sums."""
    matrix = sparse.coo_array((weight, (source, target)), (VERTICES, VERTICES)).tocsr()
    offsets, ends, weights = (kernels.to_host(array) for array in rows[:3])
    if len(ends) == matrix.nnz:
        np.testing.assert_array_equal(offsets, matrix.indptr)
        np.testing.assert_array_equal(ends, matrix.indices)
        np.testing.assert_array_equal(weights, matrix.data)
        return
    order = np.lexsort((target, source))
    np.testing.assert_array_equal(np.diff(offsets), np.bincount(source, minlength=VERTICES))
    np.testing.assert_array_equal(ends, target[order])
    np.testing.assert_array_equal(weights, weight[order])


@launches(
    "row_bins",
    "count_selected",
    "select",
    "count_heads",
    "write_rows",
    "write_weights",
    "count_ids",
)
def rows_made(kernels, parents, ids):
    """Rows with narrow ends and wide ones, in several blocks."""
    rows = kernels_of(kernels, "rows")
    source, target, *ends = inner_edges(kernels, ids)
    columns = VERTICES if parents == "int32" else 1 << 40
    both = np.concatenate([source, target[source != target]])
    others = np.concatenate([target, source[source != target]])
    for dtype in ("int32", "int64", "float32", "float64"):
        weight = np.random.default_rng(1).integers(1, 9, len(source)).astype(dtype)
        given = kernels.namespace.asarray(weight)
        how = {"count": VERTICES, "columns": columns}
        with in_blocks(rows):
            kept = rows.rows(*ends, given, **how)
            summed = rows.rows(*ends, given, **how, undirected=True, multi="sum")
            plain = rows.rows(*ends, **how, first=0)
        check_rows(kernels, kept, source, target, weight)
        doubled = np.concatenate([weight, weight[source != target]])
        check_rows(kernels, summed, both, others, doubled)
        np.testing.assert_array_equal(kernels.to_host(plain.ends), kernels.to_host(kept.ends))
    counts = rows.degrees(ends[0], count=VERTICES)
    np.testing.assert_array_equal(kernels.to_host(counts), np.bincount(source, minlength=VERTICES))


@launches("choose", "count_grains", "part_found", "take_offers", "tally")
def shared_out(kernels, parents, ids):
    """Edges dealt to members, and a superstep of a search over two of them."""
    deal, search, rows = (kernels_of(kernels, name) for name in ("partition", "search", "rows"))
    source, target, *ends = inner_edges(kernels, ids)
    xp, grains = kernels.namespace, -(-VERTICES // 64)
    owner = np.sort(np.arange(grains) % 3).astype("int16")
    numbers = xp.arange(len(source))
    chosen = next(deal.parted([numbers], *ends, xp.asarray(owner), 3, shift=6))
    for member, found in enumerate(chosen):
        wanted = (owner[source >> 6] == member) | (owner[target >> 6] == member)
        np.testing.assert_array_equal(kernels.to_host(found), np.flatnonzero(wanted))
    counts = kernels.to_host(deal.count_grains(ends[0], grains, shift=6))
    np.testing.assert_array_equal(counts, np.bincount(source >> 6, minlength=grains))

    owned = VERTICES // 2 // 64 * 64  # what lies behind are mirrors
    own = xp.asarray(np.flatnonzero(source < owned))
    made = rows.rows(ends[0][own], ends[1][own], count=owned, columns=VERTICES)
    made = made._replace(ends=made.ends.astype(ids))
    degrees = np.diff(made.offsets)
    seen = xp.zeros(-(-VERTICES // 64), "uint64")
    predecessor = xp.full(VERTICES, np.iinfo(ids).max, ids)
    level = xp.full(VERTICES, -1, "int32")
    state = seen, predecessor, level, 1, degrees
    frontier = xp.arange(owned).astype(ids)
    found, edges, mirrors = search.reach(
        made, frontier, *state, edges=len(made.ends), low=5, threads=1
    )
    reached = np.unique(target[source < owned])
    everything = np.concatenate([kernels.to_host(found), kernels.to_host(mirrors)])
    np.testing.assert_array_equal(np.sort(everything), reached)
    assert edges == int(kernels.to_host(degrees)[reached[reached < owned]].sum())
    others = np.setdiff1d(np.arange(owned), reached)[:1000].astype(ids)
    fresh, _ = search.take_offers(made, xp.asarray(others), xp.asarray(others), *state)
    np.testing.assert_array_equal(np.sort(kernels.to_host(fresh)), others)
    words = kernels_of(kernels, "advance").to_words(fresh, owned)
    more = int(kernels.to_host(degrees)[others].sum())
    assert search.tally(words, made, degrees) == (len(others), more)


@launches("relabel", "owners")
def rows_changed(kernels, parents, ids):
    rows = kernels_of(kernels, "rows")
    source, target, *ends = inner_edges(kernels, ids)
    weight = np.arange(len(source)).astype("float32" if parents == "int32" else "float64")
    made = rows.rows(*ends, kernels.namespace.asarray(weight), count=VERTICES)
    made = made._replace(ends=made.ends.astype(ids))
    labels = np.arange(VERTICES)[::-1].astype(ids)
    renamed = rows.relabelled(made, kernels.namespace.asarray(labels.copy()))
    # Ascending by id is descending by these labels.
    back = [kernels.to_host(array) for array in renamed[:3]]
    owners = np.repeat(np.arange(VERTICES), np.diff(back[0]))
    order = np.lexsort((weight, labels[target], source))
    sizes = np.bincount(labels[source], minlength=VERTICES)
    np.testing.assert_array_equal(np.diff(back[0]), sizes)
    where = np.lexsort((back[2], back[1], labels[owners]))
    np.testing.assert_array_equal(back[1][where], labels[target][order])
    np.testing.assert_array_equal(back[2][where], weight[order])
    found = rows.owners(made, ids)
    np.testing.assert_array_equal(kernels.to_host(found), np.sort(source))


@launches("set_words", "count_ones", "write_words")
def words_made(kernels, parents, ids):
    advance = kernels_of(kernels, "advance")
    for size in (1, 64, VERTICES):
        vertices = np.flatnonzero(np.random.default_rng(size).random(size) < 0.5).astype(ids)
        words = advance.to_words(kernels.namespace.asarray(vertices), size)
        assert advance.count_words(words) == len(vertices)
        found = advance.from_words(words, np.dtype(ids))
        np.testing.assert_array_equal(kernels.to_host(found), vertices)


@launches("gather_degrees", "uniquify")
def advanced(kernels, parents, ids):
    """A sum and a minimum by every policy; the minimum has conditions and may stop early."""
    rows, advance = kernels_of(kernels, "rows"), kernels_of(kernels, "advance")
    source, target, *ends = inner_edges(kernels, ids)
    out, into = (rows.rows(*pair, count=VERTICES) for pair in (ends, ends[::-1]))
    out, into = (made._replace(ends=made.ends.astype(ids)) for made in (out, into))
    add = EdgeOp("add", target="sum", signal=f"{parents}(src)", slot="add")
    taken = {"cond": "dst % 5 > 0", "first_hit": True}
    least = EdgeOp("least", target="low", signal=f"{parents}(src)", slot="min", **taken)
    frontier = np.arange(0, VERTICES, 3).astype(ids)
    sent = source % 3 == 0
    sums = np.zeros(VERTICES, "int64")
    np.add.at(sums, target[sent], source[sent])
    lows = np.full(VERTICES, 2**30)
    sent &= target % 5 > 0
    np.minimum.at(lows, target[sent], source[sent])
    given = kernels.namespace.asarray(frontier)
    words = advance.to_words(given, VERTICES)
    on_host = kernels.__name__.endswith(".host")
    for balance in ("",) if on_host else POLICIES:
        how = {} if on_host else {"balance": balance, "thresholds": (4, 16)}
        for op, start, wanted in ((add, 0, sums), (least, 2**30, lows)):
            bound = op.bind({op.target: parents}, index_dtype=ids)
            wanted = wanted.astype(parents)
            column = kernels.namespace.full(VERTICES, start, parents)
            changed = advance.pull(bound, into, (column,), words, **how).changed
            np.testing.assert_array_equal(kernels.to_host(column), wanted)
            if balance != "all_edges":
                column = kernels.namespace.full(VERTICES, start, parents)
                listed = advance.push(bound, out, (column,), given, **how).changed
                np.testing.assert_array_equal(kernels.to_host(column), wanted)
                assert set(kernels.to_host(listed).tolist()) == set(np.flatnonzero(wanted != start))
            assert advance.count_words(changed) == (wanted != start).sum()


def hub_rows(kernels, ids, weight=None):
    """Return the rows of edges of which some vertices have very many, and of them reversed."""
    rng = np.random.default_rng(9)
    size = np.array([3000, 1500, 100, 60])
    source = np.concatenate([np.repeat([5, 6, 7, 8], size), rng.integers(0, VERTICES, 6000)])
    target = np.concatenate(
        [np.arange(count) for count in size] + [rng.integers(0, VERTICES, 6000)]
    )
    rows, there = kernels_of(kernels, "rows"), kernels.namespace.asarray
    if weight is not None:
        weight = there(rng.choice([0, 0, 0.5, 1], len(source)).astype(weight))
    made = [
        rows.rows(there(a), there(b), weight, count=VERTICES)
        for a, b in ((source, target), (target, source))
    ]
    return [one._replace(ends=one.ends.astype(ids)) for one in made]


def whole_matrix(kernels, rows):
    """Return rows as a matrix of SciPy's, the weights' zeros as they are."""
    offsets, ends, weights = (kernels.to_host(array) for array in rows[:3])
    return sparse.csr_array((weights, ends, offsets), (VERTICES, VERTICES))


@launches("bfs_pull", "bfs_pull_rest", "bfs_push", "bfs_run", "set_words", "gather_degrees")
def searched(kernels, parents, ids):
    """Levels by push, by pull and in one launch, from a vertex with few edges and from one with most."""
    search, words = kernels_of(kernels, "search"), kernels_of(kernels, "advance")
    out, into = hub_rows(kernels, ids, "float64")
    ones = whole_matrix(kernels, out)
    ones.data[:] = 1
    for start, way in product((9, 5), ("push", "pull", "near")):
        wanted = sparse.csgraph.dijkstra(ones, indices=start)
        level = kernels.namespace.full(VERTICES, -1, "int32")
        before = kernels.namespace.full(VERTICES, np.iinfo(ids).max, ids)
        level[start], before[start] = 0, -1
        frontier = kernels.namespace.asarray(np.array([start], ids))
        seen, depth = words.to_words(frontier, VERTICES), 0
        while len(frontier):
            depth += 1
            state = seen, before, level, depth
            if way == "near":
                how = {"levels": VERTICES, "dense": (0, 0, False)}
                frontier, sizes, _ = search.bfs_near(out, frontier, *state, **how)
                depth += len(sizes) - 1
            elif way == "push":
                frontier = search.bfs_push(out, frontier, *state)
                search.mark_seen(seen, frontier)
            else:
                following = words.new_words(VERTICES)
                search.bfs_pull(into, words.to_words(frontier, VERTICES), following, *state)
                frontier = words.from_words(following, np.dtype(ids))
        found = kernels.to_host(level)
        np.testing.assert_array_equal(found, np.where(np.isfinite(wanted), wanted, -1))
        least = np.full(VERTICES, np.iinfo(ids).max)
        owners = np.repeat(np.arange(VERTICES), np.diff(ones.indptr))
        tight = (found[owners] >= 0) & (found[owners] + 1 == found[ones.indices])
        np.minimum.at(least, ones.indices[tight], owners[tight])
        least[start] = -1
        np.testing.assert_array_equal(kernels.to_host(before), least)


@launches(
    "sum_contributions",
    "sum_weighted",
    "row_totals",
    "apply_sums",
    "sum_batch",
    "sum_weighted_batch",
    "apply_batch",
)
def ranked(kernels, parents, ids):
    pagerank = kernels_of(kernels, "pull")
    there, rng = kernels.namespace.asarray, np.random.default_rng(4)
    for precision in ("float32", "float64"):
        _, into = hub_rows(kernels, ids, "float32" if parents == "int32" else "float64")
        given = (2.0**40 * rng.random(VERTICES)).astype(precision)
        owners = np.repeat(np.arange(VERTICES), np.diff(kernels.to_host(into.offsets)))
        near = given[kernels.to_host(into.ends)].astype("float64")
        for one, terms in (
            (into._replace(weights=None), near),
            (into, near * kernels.to_host(into.weights)),
        ):
            wanted = np.zeros(VERTICES, "int64")
            np.add.at(wanted, owners, terms.astype("int64"))
            sums = kernels.namespace.full(VERTICES, 3, "int64")
            pagerank.sum_contributions(one, there(given), sums)
            np.testing.assert_array_equal(kernels.to_host(sums), wanted)
            for width in (1, 5, 16):
                told = np.stack([given.astype("float64")] * width, axis=1)
                several = kernels.namespace.full((VERTICES, width), 3, "int64")
                pagerank.sum_batch(one, there(told), several)
                for column in kernels.to_host(several).T:
                    np.testing.assert_array_equal(column, wanted)
        totals = np.bincount(owners, kernels.to_host(into.weights), VERTICES)
        np.testing.assert_allclose(kernels.to_host(pagerank.row_totals(into)), totals, rtol=1e-12)
        rank, contribution = (kernels.namespace.zeros(VERTICES, precision) for _ in range(2))
        shares = there(rng.integers(0, 2, VERTICES).astype(precision))
        part = 2.0**-12  # a rank; they are to sum to 1 at most
        restart = there(np.array([part]))
        totals = pagerank.apply_sums(sums * 0, rank, shares, contribution, restart, 0.85)
        assert tuple(total / pagerank.CHANGE for total in totals) == (
            part * VERTICES,
            part * (VERTICES - float(shares.sum())),
        )
        np.testing.assert_array_equal(
            kernels.to_host(contribution), kernels.to_host(shares) * rank.dtype.type(part)
        )
        several, told = (kernels.namespace.zeros((VERTICES, 5), "float64") for _ in range(2))
        at, base = np.array([-1, 7, 0, -1, VERTICES - 1]), np.array([1, 0.5, 0.25, 1, 1])
        wide = shares.astype("float64")
        nothing = kernels.namespace.zeros((VERTICES, 5), "int64")
        totals = pagerank.apply_batch(nothing, several, wide, told, at, base, 0.85)
        wanted = np.zeros((VERTICES, 5))
        wanted[at, range(5)] = base * (at >= 0)
        np.testing.assert_array_equal(kernels.to_host(several), wanted)
        owned = kernels.to_host(wide)[:, None]
        np.testing.assert_array_equal(kernels.to_host(told), wanted * owned)
        sinks = wanted * (owned == 0)
        np.testing.assert_array_equal(
            totals / pagerank.CHANGE, [wanted.sum(axis=0), sinks.sum(axis=0)]
        )


@launches(
    "light_first",
    "relax",
    "relax_on",
    "offer_nearer",
    "bfs_push_weightless",
    "bfs_run_weightless",
    "weigh",
)
def relaxed(kernels, parents, ids):
    """Shortest paths, of which many go along edges that weigh nothing."""
    sssp = kernels_of(kernels, "buckets")
    out, _ = hub_rows(kernels, ids, "float32" if parents == "int32" else "float64")
    if hasattr(sssp, "weigh"):
        weights = kernels.to_host(out.weights)
        assert sssp.weigh(out.weights) == (0, weights.mean(dtype="float64"))
    owners = np.repeat(np.arange(VERTICES), np.diff(kernels.to_host(out.offsets)))
    ends, weights = kernels.to_host(out.ends), kernels.to_host(out.weights).astype("float64")
    wanted = np.full(VERTICES, np.inf)
    sources = np.array([5, 9])
    wanted[sources] = 0
    for _ in range(VERTICES):
        old = wanted.copy()
        np.minimum.at(wanted, ends, wanted[owners] + weights)
        if (old == wanted).all():
            break
    distance = np.full(VERTICES, np.inf)
    distance[sources] = 0
    distance, sources = kernels.namespace.asarray(distance), kernels.namespace.asarray(sources)
    light = sssp.light_first(out, 0.75)
    buckets = sssp.Buckets(distance, sources, 0.75)
    while len(frontier := buckets.take()):
        sssp.relax(light, buckets, frontier)
    np.testing.assert_array_equal(kernels.to_host(distance), wanted)
    before = kernels.to_host(sssp.predecessors(out, distance, sources))
    reached = np.isfinite(wanted)
    reached[[5, 9]] = False
    np.testing.assert_array_equal(before != np.iinfo(before.dtype).max, reached)
    tight = set(
        zip(
            *(side[wanted[owners] + weights == wanted[ends]] for side in (owners, ends)),
            strict=True,
        )
    )
    assert tight.issuperset((int(before[v]), v) for v in np.flatnonzero(reached))


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
            found = best(given, asarray(held), known={})
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
        found = best(weighted[:1], asarray(held), asarray(vertices), masses, known={})
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
        counts = np.diff(kernels.to_host(rows.offsets))
        few = np.flatnonzero(counts <= 1)[:1] if chain else np.flatnonzero(counts <= 1)
        counts, room = there(counts), kernels.namespace.empty((2, size), ids)
        found, _ = peel(rows._replace(first=0), counts, 1, there(few.astype(ids)), room)
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


@launches("lose")
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
        leaving = leaving[np.argsort(low[leaving], kind="stable")]
        late, early = there(high[leaving]), there(low[leaving])
        lost = kernels.namespace.zeros(len(high), f"u{ids}")
        here = whole, there(state), lost
        intersect.lose(*here, *here, late, late, early)
        states = state[corners]
        broken = corners[:, (states == 1).any(axis=0) & (states < 2).all(axis=0)]
        wanted = np.bincount(broken.ravel(), minlength=len(high)) * (state == 0)
        np.testing.assert_array_equal(kernels.to_host(lost), wanted)


@launches("common")
def shared_ends(kernels, parents, ids):
    """The ends that two rows have in common, and their weights, for short rows and long ones."""
    intersect, rng = kernels_of(kernels, "intersect"), np.random.default_rng(4)
    _, _, rows, own = oriented_rows(kernels, ids, lambda count: rng.integers(0, 2**40, count))
    pairs = rng.integers(0, VERTICES, (2, 2000))
    pairs[0, :500], pairs[1, 250:750] = VERTICES - 496, 5  # a hub, as 5 + 2500 is
    weights, ones = whole_matrix(kernels, own), whole_matrix(kernels, rows)
    ones.data[:] = 1
    for weighted in (True, False):
        if not weighted:
            own, weights.data[:] = own._replace(weights=None), 1
        found = intersect.common(rows, own, *map(kernels.namespace.asarray, pairs))
        wanted = (ones[pairs[0]] * weights[pairs[1]]).sum(axis=1)
        np.testing.assert_array_equal(kernels.to_host(found), wanted)


def random_of(keys, counter):
    """Return SplitMix64's floats of keys and a counter."""
    mixed = keys + np.asarray(counter, "uint64") * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return ((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53


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


def kernels_of(kernels, name):
    """Return another module of the device's kernels, or of the host's."""
    place = "host" if kernels.__name__.endswith(".host") else "device"
    return importlib.import_module(f"dask_graphflow.kernels.{place}_{name}")


def in_blocks(rows):
    """Have few edges made into rows in as many blocks as many are, on the device."""
    if rows.__name__.endswith("host_rows"):
        return contextlib.nullcontext()
    return mock.patch.object(rows, "SMALLEST", 1)


def skipping(kernels, room):
    """Have edges inside a giant skipped, which the host knows nothing of.

    With a list that has room for so many, and a quarter of the vertices: a pass over as many edges is
    worth it then.
    """
    if kernels.__name__.endswith(".host"):
        return contextlib.nullcontext()
    from dask_graphflow.kernels import giant

    return mock.patch.object(giant, "ROOM", room)


class Recorded:
    """Something of CuPy's, wrapped so that kernels which are launched are noted in LAUNCHED."""

    def __init__(self, wrapped, name=None):
        self.__dict__.update(wrapped=wrapped, name=name)

    def __getattr__(self, name):
        return getattr(self.wrapped, name)

    def __setattr__(self, name, value):
        setattr(self.wrapped, name, value)

    def get_function(self, name):
        return Recorded(self.wrapped.get_function(name), name)

    @property
    def kernel(self):
        return Recorded(self.wrapped.kernel, self.name)  # what a gang is launched by

    def __call__(self, *arguments, **options):
        LAUNCHED.add(self.name)
        return self.wrapped(*arguments, **options)


def unlaunched(case):
    """Return the kernels that a case is to launch and did not."""
    launched = {name.partition("<")[0] for name in LAUNCHED}
    return set(CASES[case]) - launched


def main(part=0, parts=1):
    """Run every case on the device, or every so many-th from one on; return the exit code."""
    import cupy

    # Each array in memory of its own, else reading past one or before it is written goes unnoticed.
    cupy.cuda.set_allocator(None)
    module = cupy.RawModule
    cupy.RawModule = lambda *arguments, **options: Recorded(module(*arguments, **options))
    from dask_graphflow.kernels import device

    every, failed = set(), False
    cases = list(CASES)[part::parts]
    for case in cases:
        LAUNCHED.clear()
        for parents, ids in product(("int32", "int64"), repeat=2):
            case(device, parents, ids)
        cupy.cuda.runtime.deviceSynchronize()
        every |= LAUNCHED
        print(f"{case.__name__}: {', '.join(sorted(LAUNCHED))}", flush=True)
        if missing := unlaunched(case):  # that every kernel has a case is a test
            print(f"  never launched here: {', '.join(sorted(missing))}")
            failed = True
    print(f"{len(cases)} cases, {len(every)} kernels")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
