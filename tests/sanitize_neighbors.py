"""Cases for compute-sanitizer: peeling, predecessors, coloring and blocks."""

from __future__ import annotations

from itertools import product

import numpy as np
from sanitize_cases import VERTICES, launches, load_kernels, make_rows
from scipy import sparse

from dask_graphflow.kernels.csr import Rows


@launches("peel_run", "peel_all")
def peeled(kernels, parents, ids):
    """Vertices with few edges left, one after another and many at once."""
    peel, there = load_kernels(kernels, "peel").peel, kernels.namespace.asarray
    for size, chain in ((VERTICES, True), (VERTICES, False)):
        source = np.arange(size - 1)
        target = source + 1 if chain else np.full(size - 1, size - 1)
        ends = np.concatenate([source, target]), np.concatenate([target, source])
        # The kernels' lists have the same dtype as the ends.
        rows = make_rows(kernels, ids, *(side.astype(ids) for side in ends), count=size)
        counts = np.diff(kernels.to_host(rows.offsets))
        few = np.flatnonzero(counts <= 1)[:1] if chain else np.flatnonzero(counts <= 1)
        counts, room = there(counts), kernels.namespace.empty((2, size), ids)
        found = peel(rows._replace(first=0), counts, 1, there(few.astype(ids)), room)
        removed = np.concatenate([few, kernels.to_host(found)])
        assert len(removed) == len(set(removed.tolist()))
        assert set(range(size)) - set(removed.tolist()) <= {size - 1}
        if hasattr(
            load_kernels(kernels, "peel"), "peel_all"
        ):  # on the host, a call removes one limit
            core = kernels.namespace.full(size, -1, "int32")
            left = there(np.diff(kernels.to_host(rows.offsets)))
            load_kernels(kernels, "peel").peel_all(rows._replace(first=0), left, core, room)
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
        row_ends = ends[slice(*offsets[row : row + 2])]
        near = row_ends[seen[row_ends] & np.uint64(1 << search) > 0]
        if len(near) and search % 5:
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
    load_kernels(kernels, "predecessors").set_predecessors(
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
    rows = make_rows(kernels, ids, *ends, count=size)._replace(first=0)
    order = np.lexsort((np.arange(size), -np.bincount(ends[0], minlength=size)))
    found = load_kernels(kernels, "order").first_free(rows, there(order.astype(ids)))
    wanted = np.empty(size, "int32")
    wanted[order[:clique]] = np.arange(clique)
    wanted[clique:] = 0
    wanted[clique : clique + leaves] = 1  # their neighbor comes first of all
    np.testing.assert_array_equal(kernels.to_host(found), wanted)


@launches("join_cycles")
def cycles_joined(kernels, parents, ids):
    """Short and long cycles that share tree edges, one with a hub, and one of two parallel edges."""
    rng, size, there = np.random.default_rng(8), 700, kernels.namespace.asarray
    path, near = np.arange(size - 1), rng.integers(0, size - 40, 60)
    pairs = [(path, path + 1), (near, near + rng.integers(2, 40, 60)), ([0] * 9, path[300:309])]
    one, other = np.concatenate([*pairs, ([650], [651])], axis=1).astype(ids)
    source, target = np.concatenate([one, other]), np.concatenate([other, one])
    rows = make_rows(kernels, ids, source, target, count=size)._replace(first=0)
    matrix = sparse.coo_array((np.ones(len(source)), (source, target)), (size, size)).tocsr()
    order, parent = sparse.csgraph.breadth_first_order(matrix, 0)
    label = np.empty(size, ids)
    label[order] = np.arange(size)
    above = label[np.maximum(parent[order], 0)]
    block = kernels.identity(size, ids)
    join = load_kernels(kernels, "biconnected").join_cycles
    join(rows, there(label), there(above), block, threads=2)
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
