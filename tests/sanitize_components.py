"""Cases for compute-sanitizer: kernels of connected components."""

from __future__ import annotations

import contextlib
from itertools import product
from unittest import mock

import numpy as np
from sanitize_cases import (
    EDGES,
    VERTICES,
    ends_at,
    launches,
    load_kernels,
    random_edges,
    vertex_edges,
)
from scipy import sparse

from dask_graphflow.kernels.csr import Rows
from dask_graphflow.operators.forests.forest import Forest

BASES = {"int32": (0, -7000, 10**6), "int64": (0, -7000, 10**12)}
ROOMS = (256, 20_000)  # of the list of edges outside the giant: it overflows, and it does not


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
    # Both sides begin at the same distance from a 16-byte boundary; otherwise the filter is not used.
    skews, bases = (0, 1, 1, 2, 3), (none, below, none, above, below)
    rooms = few, few, all_of_it, few, all_of_it
    for skew, base, room in zip(skews, bases, rooms, strict=True):
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


def rows_by_source(kernels, source, target, ids, both, size=VERTICES):
    """Return the rows of edges, each of which is in the row of its source, or in the rows of both ends."""
    first, last = np.array([source, target])
    if both:
        first, last = np.concatenate([[source, target], [target, source]], axis=1)
    order = np.argsort(first, kind="stable")
    offsets = np.searchsorted(first[order], np.arange(size + 1))
    return Rows(*map(kernels.namespace.asarray, (offsets, last[order].astype(ids))), None, 0)


@launches(
    "identity",
    "hook_first",
    "choose_tree",
    "hook_rest",
    "mark_tree",
    "hook_outside_tree",
    "compress",
)
def hooked_by_rows(kernels, parents, ids):
    """Rows of one large tree and of small trees, with two hubs of which only one is in the large tree."""
    leaves = np.arange(2, VERTICES)
    hubs = (leaves % 5 == 0).astype(parents), leaves.astype(parents)
    for ends in (vertex_edges(parents), hubs):
        wanted, _ = expected(*ends)
        for both in (True, False):
            rows = rows_by_source(kernels, *ends, parents, both)
            found = load_kernels(kernels, "components").join_rows(rows, both=both)
            np.testing.assert_array_equal(kernels.to_host(found), wanted)


@launches("absorb", "clear_report")
def absorbed(kernels, parents, ids):
    """Entries of both types, in slices, at their own places and at the places in `slots`."""
    source, target = vertex_edges("int64")
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
    """Forests that grow, are hooked in chunks, and are merged."""
    source, target = vertex_edges(ids)
    forests = []
    for part in (slice(0, 9000), slice(9000, None)):
        forest = Forest(kernels.namespace.zeros(0))
        forest.cover(0, 10)
        forest.cover(0, VERTICES - 1)
        ends = ends_at(kernels, source[part], target[part])
        assert forest.hook(*ends, chunk=4000, step=4) is None
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
    arrays = map(kernels.namespace.asarray, (parent.astype(parents), seen.astype("uint8")))
    arrays = [*arrays]
    # Ranges that end inside a run of vertices and at its end, with one vertex and with none.
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


def skipping(kernels, room):
    """Make the device skip edges inside a giant, which the host does not do.

    The list has room for the given number of edges and a quarter of the vertices, so that a pass over this
    number of edges is worth it.
    """
    if kernels.__name__.endswith(".host"):
        return contextlib.nullcontext()
    from dask_graphflow.kernels.common import giant

    return mock.patch.object(giant, "ROOM", room)
