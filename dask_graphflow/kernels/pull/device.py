"""PageRank on the device. The results have the bits of the host's.

All warps have the same number of edges, whichever rows the edges belong to. The contributions of hubs are
read most often. If labels are sorted by degree, they are next to each other and stay in the caches. Blocks
of sources that fit in L2 would save the reads that miss it, a tenth of all reads on such a graph. But each
block would cost a pass over the offsets and sums of the rows, so they are not worthwhile.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.device_peers import COLUMNS
from dask_graphflow.kernels.fixed_point import HIGH, SUM
from dask_graphflow.kernels.launching import launch, launch_resident, read
from dask_graphflow.kernels.scores.device import DeviceTotals
from dask_graphflow.kernels.sources import instance

from . import Ranks

ONE = 2.0**62
CHANGE = 2.0**60  # changes of ranks may add up to 2
WIDTH = 16  # as in pull.cu: lanes for the columns of a batch


def readable(rows):
    return rows if rows.weights is None else rows._replace(weights=floats(rows.weights))


def sum_contributions(rows, contribution, sums, totals, *, threads=1):
    totals.turn()
    weights = getattr(rows.weights, "dtype", None)
    kernel = instance("sum_contributions", rows.ends.dtype, contribution.dtype, weights)
    given = len(rows.offsets) - 1, contribution, sums, totals.now, totals.after
    launch(kernel, len(rows.ends) // 8, *rows[:3], *given)


def row_totals(rows):
    count, weights = len(rows.offsets) - 1, floats(rows.weights)
    totals = cupy.zeros(count, "float64")
    if count:
        kernel = instance("row_totals", weights.dtype)
        launch(kernel, 32 * count, rows.offsets, weights, count, totals)
    return totals


def shares(total, least, share_out, *, threads=1):
    counts = DeviceTotals()
    kernel, count = instance("shares", total.dtype, share_out.dtype), len(total)
    launch_resident(kernel, count, total, count, np.float64(least), share_out, counts.now)
    unfit, sinks = counts.read()[[SUM, HIGH]].tolist()
    return unfit, sinks


def new_ranks(rank, share_out, wide):
    cupy.multiply(rank, share_out, out=wide[: len(rank)])
    return Ranks(rank, share_out, wide, cupy.zeros(len(rank), "int64"))


def iterate(
    rows, ranks, restart, onward, damping, dangling, totals, *, publication=None, threads=1
):
    rank, share_out, contribution, sums = ranks
    sum_contributions(rows, contribution, sums, totals)
    dangled = dangling()
    kernel, count = instance("apply_sums", rank.dtype), len(rank)
    columns = sums, rank, share_out, contribution, count
    restarts = restart, np.bool_(len(restart) == 1), onward
    factors = np.float64(damping), np.float64(0 if dangled is None else dangled)
    before = totals.before if dangled is None else None
    others = np.zeros((), COLUMNS) if publication is None else publication.open()
    launch_resident(kernel, count, *columns, *restarts, *factors, before, totals.now, others)
    if publication is not None:
        publication.close()
    return ranks


def sum_batch(rows, contribution, sums, *, threads=1):
    count, width = len(rows.offsets) - 1, np.uint32(contribution.shape[1])
    kernel = instance("sum_batch", rows.ends.dtype, getattr(rows.weights, "dtype", None))
    launch(kernel, len(rows.ends) // 8, *rows[:3], count, contribution, width, sums)


def apply_batch(sums, rank, share_out, contribution, at, base, damping, *, threads=1):
    totals = cupy.zeros((2, len(at)), "int64")
    if len(rank):
        columns = sums, rank, share_out, contribution, len(rank), np.uint32(len(at))
        restarts = at, cupy.asarray(base), np.float64(damping)
        launch("apply_batch", len(rank) * WIDTH, *columns, *restarts, totals)
    return read(totals)


def floats(weights: Any) -> Any:
    """Return weights in a floating-point type that the kernels support."""
    return weights if weights.dtype in (np.float32, np.float64) else weights.astype("float64")
