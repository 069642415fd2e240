"""Random choices of edges on the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.launching import BLOCKS, attribute, launch, launch_blocks
from dask_graphflow.kernels.pull.device import floats
from dask_graphflow.kernels.sources import instance

OPEN = -2  # as in sample.cu
WALK_THREADS = 64  # threads per block, so that a few walks are spread over all multiprocessors


def _graph(rows: Any, sums: Any = None) -> np.ndarray:
    arrays = rows.offsets, rows.ends, sums
    pointers = [0 if array is None else array.data.ptr for array in arrays]
    return np.array((pointers,), np.dtype([("arrays", "u8", 3)]))


def _bias(bias: np.ndarray) -> np.ndarray:
    return np.array((bias,), np.dtype([("factors", "f8", 4)]))


def hashes(ranks, seed):
    mixed, one = cupy.empty(len(ranks), "uint64"), isinstance(seed, int)
    if len(ranks):
        launch(
            instance("hashes", ranks.dtype), len(ranks), cupy.ascontiguousarray(ranks),
            *((None, np.uint64(seed % 2**64)) if one else (seed, 0)),
            len(ranks), mixed
        )  # fmt: skip
    return mixed


def walk(rows, sums, starts, keys, length, bias, *, first=0, before=None, threads=1):
    count, dtype = len(starts), rows.ends.dtype
    walks = cupy.empty((count, length + 1), dtype)
    if count:
        blocks = min(-(-count // WALK_THREADS), BLOCKS * attribute("MultiProcessorCount"))
        launch_blocks(
            instance("walk", dtype), blocks, WALK_THREADS, 0, _graph(rows, sums), starts.astype(dtype),
            before, keys, count, np.int64(first),
            length, _bias(bias), np.bool_((bias != 1).any()), walks
        )  # fmt: skip
    return walks


def propose(rows, sums, vertices, before, keys, step, bias, attempts, slots, *, threads=1):
    count, dtype = len(vertices), rows.ends.dtype
    tests, decided = cupy.empty((count, slots), dtype), cupy.empty(count, dtype)
    if count:
        launch(
            instance("propose", dtype), count, _graph(rows, sums), vertices.astype("int64"),
            before.astype(dtype), keys, count, step, _bias(bias), attempts,
            slots, tests, decided
        )  # fmt: skip
    return tests, decided


def connected(rows, vertices, others, *, threads=1):
    count, dtype = len(vertices), rows.ends.dtype
    hits = cupy.empty(count, "bool")
    if count:
        given = vertices.astype("int64"), others.astype(dtype)
        launch(instance("connected", dtype), count, _graph(rows), *given, count, hits)
    return hits


def pick_edges(rows, vertices, keys, wanted, replace, first, *, threads=1):
    count, picks = len(vertices), int(first[-1])
    edges, items = cupy.empty(picks, "int64"), cupy.empty(picks, "int64")
    if picks:
        launch(
            "pick_edges", count, rows.offsets, vertices.astype("int64"), keys, count,
            wanted, np.bool_(replace), first, edges, items
        )  # fmt: skip
    return edges, items


def cumulate(rows, *, threads=1):
    count, weights = len(rows.offsets) - 1, floats(rows.weights)
    sums = cupy.empty(len(rows.ends), "int64")
    if count:
        kernel = instance("cumulate", weights.dtype)
        launch(kernel, 32 * count, rows.offsets, weights, count, sums)
    return sums
