"""Rows whose edges stay on the host: each time they are summed along, chunks of them stream to a device.

For a part of a graph that a GPU has no room for. What lies there is an offset a row, the columns, and two
chunks. Sums are of whole numbers, so a row may be in several chunks, and the bits are the same.
"""

from __future__ import annotations

import weakref
from contextlib import closing
from typing import Any

import numpy as np

from dask_graphflow.dataflow.link import Link
from dask_graphflow.kernels import lift, twin

__all__ = ["StreamedRows"]

CHUNK = 1 << 23  # edges


class StreamedRows:
    """Rows of vertices from 0 on.

    Parameters
    ----------
    rows : Rows
        On the host; not compressed.
    on_device : bool
        Whether they are summed on the device in use; else on the host.
    chunk : int
        Edges that are copied at a time.

    Attributes
    ----------
    ends, weights : ndarray
        As of the rows: on the host.
    """

    def __init__(self, rows: Any, *, on_device: bool = True, chunk: int = CHUNK) -> None:
        self.ends, self.weights = rows.ends, rows.weights
        self._rows, self._starts = rows, rows.offsets
        self._offsets = lift(rows.offsets) if on_device else rows.offsets
        self._kernels = twin("pagerank", self._offsets)
        copies = twin("copies", self._offsets).Copies()
        arrays = [self.ends] if self.weights is None else [self.ends, self.weights]
        # Once: the device copies from such memory by itself, several times as fast.
        self._arrays = [_pinned(copies, array) for array in arrays]
        edge_bytes = sum(array.itemsize for array in arrays)
        self._link = Link(copies, chunk=chunk, edge_bytes=edge_bytes)
        weakref.finalize(self, self._link.close).atexit = False

    def sum_contributions(self, contribution: Any, sums: Any, *, threads: int = 1) -> None:
        """Sum what the neighbours of each vertex contribute, as the kernels of that name do."""
        sums[:] = 0
        start = 0
        with closing(self._link.stream(*self._arrays)) as chunks:
            for ends, *weights in chunks:
                stop = start + len(ends)
                low = int(np.searchsorted(self._starts, start, side="right")) - 1
                high = int(np.searchsorted(self._starts, stop, side="left"))
                part = self._rows._replace(
                    offsets=self._offsets[low : high + 1].clip(start, stop) - start,
                    ends=ends,
                    weights=weights[0] if weights else None,
                    first=0,
                )
                found = np.empty_like(sums, shape=high - low)
                self._kernels.sum_contributions(part, contribution, found, threads=threads)
                sums[low:high] += found
                start = stop


def _pinned(copies: Any, array: np.ndarray) -> np.ndarray:
    """Return a copy of an array in memory that the device can copy from by itself."""
    there: np.ndarray = copies.pinned(max(1, array.nbytes))[: array.nbytes].view(array.dtype)
    there[:] = array
    return there
