"""Intersections of sorted rows on the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.launching import (
    BLOCKS,
    attribute,
    gang_blocks,
    launch,
    launch_blocks,
    launch_gang,
    read,
)
from dask_graphflow.kernels.rows.device import owners
from dask_graphflow.kernels.sources import THREADS, instance

TILE = 512  # as in intersect.cu
TILE_LANES = 8  # entries of a tile per thread of the block
REMOVED = -2  # stands for the number of triangles of a removed edge, as in intersect.cu
EDGES_PER_BLOCK = 16  # at least, in a gang; a warp takes one at a time
KEPT = 1 << 16  # rows of at most this many edges keep the removed ones
# The struct EdgePeeling in intersect.cu.
_PEELING = np.dtype(
    [
        *((name, "i8") for name in ("begin", "count", "limit", "left")),
        ("sets", "i8", 3),
        ("least", "i8", 3),
        ("arrived", "i8"),
    ]
)


def directed(rows, label, *, threads=1):
    source, target = label[owners(rows, "int64")], label[rows.ends]
    down = target < source
    return source[down], target[down]


def triangles(rows, entering, own, of_row, of_own, *, threads=1):
    if not len(entering.ends) or not len(own.ends):
        return
    with own.ends.device:
        tiles = -(-len(entering.ends) // TILE)
        dtype, count = own.ends.dtype, len(own.offsets) - 1
        sides = (side[:2] for side in (rows, entering))
        ends = [(offsets, ends.astype(dtype, copy=False)) for offsets, ends in sides]
        weights = (side.weights for side in (rows, entering, own))
        counts = of_row[0], of_row[1] if len(of_row) > 1 else None, of_own
        kernel, blocks = instance("triangles", dtype), BLOCKS * attribute("MultiProcessorCount")
        given = *ends[0], *ends[1], count, *own[:2], *weights, *counts
        launch_blocks(kernel, min(tiles, blocks), THREADS, 0, *given)


def credit(rows, last, middle, first, *, threads=1):
    count = len(rows.offsets) - 1
    totals = cupy.zeros(count, "int64")
    if len(rows.ends):
        with rows.ends.device:
            kernel, items = instance("credit", rows.ends.dtype), -(-len(rows.ends) // TILE_LANES)
            launch(kernel, items, *rows[:2], count, last, middle, first, totals)
    return totals


def lose(rows, state, lost, own, own_state, own_lost, row, late, early, *, threads=1):
    if not len(row):
        return
    with own.ends.device:
        dtype, kernel = own.ends.dtype, instance("lose", own.ends.dtype, own.weights.dtype)
        ends = rows.ends.astype(dtype, copy=False)
        one = rows.offsets, ends, rows.weights, state, lost
        other = *own[:3], own_state, own_lost
        leaving = (side.astype(dtype, copy=False) for side in (row, late, early))
        launch(kernel, 32 * len(row), *one, *other, *leaving, len(row))


def settle(state, lost, support, limit):
    with state.device:
        fallen, count = cupy.empty(len(support), "int64"), cupy.zeros(1, "uint64")
        if len(state):
            kernel, sizes = instance("settle", support.dtype), (len(support), len(state))
            given = state, lost, support, *sizes, np.int64(limit)
            launch(kernel, len(state), *given, fallen, count)
        return fallen[: int(read(count)[0])].copy()


def peel_edges(
    rows: Any, late: Any, early: Any, support: Any, truss: Any, limit: int, most: int
) -> None:
    dtype = rows.ends.dtype
    kernel = instance("peel_edges", dtype, rows.weights.dtype)
    late, early, support = (side.astype(dtype, copy=False) for side in (late, early, support))
    edges = cupy.arange(len(support), dtype=rows.weights.dtype)
    listed = cupy.empty_like(edges)
    now = np.zeros(1, _PEELING)
    now["limit"] = limit
    while len(edges):
        fewest = max(1, len(edges) // 2 if len(edges) > KEPT else 0)
        now["begin"], now["left"], now["sets"], now["arrived"] = 0, len(edges), 0, 0
        now["least"] = np.iinfo("int64").max
        state = cupy.asarray(now.view("int64"))
        launch_gang(
            kernel,
            *(rows.offsets, rows.ends, rows.weights, late, early, support, truss, edges),
            *(len(edges), most, fewest, listed, state),
            blocks=min(gang_blocks(kernel), -(-len(edges) // EDGES_PER_BLOCK)),
        )
        now = read(state).view(_PEELING)
        begin, count = int(now["begin"][0]), int(now["count"][0])
        if now["left"][0] >= fewest:
            return
        listed[:count] = listed[begin : begin + count].copy()
        edges, keep = edges[support[edges] >= 0], support[rows.weights] != REMOVED
        offsets = cupy.zeros(len(keep) + 1, "int64")
        offsets[1:] = cupy.cumsum(keep)
        rows = Rows(offsets[rows.offsets], rows.ends[keep], rows.weights[keep], rows.first)


def common(rows, own, row, own_row, *, threads=1):
    totals = cupy.zeros(len(row), "int64")
    if len(row):
        with own.ends.device:
            dtype, kernel = own.ends.dtype, instance("common", own.ends.dtype)
            edges = rows.offsets, rows.ends.astype(dtype, copy=False), *own[:2]
            weights = rows.weights, own.weights
            pairs = (side.astype("int64", copy=False) for side in (row, own_row))
            launch(kernel, 32 * len(row), *edges, *weights, *pairs, len(row), totals)
    return totals


# All paths of two hops are listed and sorted.
def two_hops(rows, without, own, size, *, threads=1):
    count, ends = len(rows.offsets) - 1, rows.ends
    if not len(ends):
        return cupy.zeros(count, "int64"), own.ends[:0], cupy.zeros(0, "int64")
    path_offsets = cupy.zeros(len(ends) + 1, "int64")
    path_offsets[1:] = cupy.cumsum(own.offsets[ends + 1] - own.offsets[ends])
    over = owners(Rows(path_offsets, cupy.empty(int(path_offsets[-1]), "int8"), None, 0), "int64")
    entry = cupy.arange(len(over)) + (own.offsets[ends] - path_offsets[:-1])[over]
    source = owners(Rows(rows.offsets, ends, None, 0), "int64")
    row, end = source[over], own.ends[entry]
    weight = cupy.ones(len(over), "int64") if rows.weights is None else rows.weights[over]
    if own.weights is not None:
        weight = cupy.minimum(weight, own.weights[entry])
    del over, entry
    kept = end != without[row]
    key, weight = (row * size + end)[kept], weight[kept]
    del row, end, kept
    order = cupy.argsort(key)  # stable
    key, totals = key[order], cupy.zeros(len(order) + 1, "int64")
    # A sum of all weights may wrap around. The differences are still right.
    totals[1:] = cupy.cumsum(weight[order])
    del weight, order
    new = cupy.ones(len(key), bool)
    new[1:] = key[1:] != key[:-1]
    at = cupy.flatnonzero(new)
    key = key[at]
    sums = totals[cupy.append(at[1:], len(new))] - totals[at]
    row = key // size
    lengths = cupy.diff(cupy.searchsorted(row, cupy.arange(count + 1)))
    return lengths, (key - row * size).astype(own.ends.dtype), sums


def best(offsets, scores, count, *, threads=1):
    sizes = cupy.diff(offsets)
    row = owners(Rows(offsets, scores, None, 0), "int64")
    order = cupy.argsort(-scores)
    order = order[cupy.argsort(row[order])]  # stable, like the sort before
    if count is None:
        return order, sizes
    place = cupy.arange(len(order)) - offsets[row[order]]
    return order[place < count], cupy.minimum(sizes, count)
