"""Split edges by the members that get them, on the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels import index_dtype
from dask_graphflow.kernels.common.device import _indices
from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.device_bitmap import from_words
from dask_graphflow.kernels.launching import attribute, launch, launch_blocks
from dask_graphflow.kernels.rows.device import degrees
from dask_graphflow.kernels.sources import instance


def parted(columns, source, target, owners, members, *, shift, but=None, threads=1):
    chosen = choose(source, target, owners, members, shift=shift)
    if but is not None:
        chosen[but] = chosen[but][:0]
    for values in columns:
        yield [values[at] for at in chosen]


def choose(source: Any, target: Any, owners: Any, members: int, *, shift: int) -> list[Any]:
    """Return, for each member, the ascending indices of the edges with an end that it owns."""
    source, both = _indices(source, source if target is None else target)
    words = cupy.empty((members, -(-len(source) // 64)), "uint64")
    if len(source):
        kernel, size = instance("choose", source.dtype), len(source)
        ends = source, None if target is None else both, size
        to = np.uint32(shift), owners, np.uint32(members)
        launch(kernel, size, *ends, *to, 2 * words.shape[1], words)
    return [from_words(own, index_dtype(len(source))) for own in words]


def count_grains(ids, count, *, shift, threads=1):
    ids, _ = _indices(ids, ids)
    if 4 * count > attribute("MaxSharedMemoryPerBlockOptin"):
        return degrees(ids >> shift, count=count).get()
    total = cupy.zeros(count, "uint64")
    if len(ids) and count:
        kernel, blocks = instance("count_grains", ids.dtype), attribute("MultiProcessorCount")
        sizes = len(ids), np.uint32(shift), np.uint32(count)
        launch_blocks(kernel, blocks, 1024, 4 * count, ids, *sizes, total)
    return total.get().astype("int64")
