"""Rows renumbered within a partition, on the device."""

from __future__ import annotations

from dask_graphflow.kernels import index_dtype
from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.device_bitmap import from_words, to_words


def localized(rows_, bounds, part, *, threads=1):
    low, high = bounds[part], bounds[part + 1]
    old = rows_.ends
    with old.device:
        away = (old < low) | (old >= high)
        remote = old[away]
        slots = from_words(to_words(remote, bounds[-1]), old.dtype)
        ends = (old - low).astype(index_dtype(high - low + len(slots)))
        ends[away] = (cupy.searchsorted(slots, remote) + (high - low)).astype(ends.dtype)
        starts = cupy.searchsorted(slots, cupy.asarray(bounds, "int64"))
        local = rows_._replace(ends=ends, first=rows_.first - low)
        return local, slots, starts.tolist()
