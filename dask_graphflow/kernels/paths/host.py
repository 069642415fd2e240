"""Follow predecessors on the host. Paths are always followed in host memory, so a device has no version."""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled


@_compiled
def _follow(ahead, starts, limit, counts, last):
    for i in range(starts.size):
        row, count = starts[i], 1
        while ahead[row] >= 0 and count <= limit:
            row = ahead[row]
            count += 1
        counts[i], last[i] = count, row


@_compiled
def _rows_along(ahead, starts, counts, rows):
    end = 0
    for i in range(starts.size):
        row = starts[i]
        end += counts[i]
        for k in range(counts[i]):
            rows[end - 1 - k] = row
            row = ahead[row]


def follow(ahead, starts, limit):
    counts, last = np.empty_like(starts), np.empty_like(starts)
    _follow(ahead, starts, limit, counts, last)
    return counts, last


def rows_along(ahead, starts, counts):
    rows = np.empty(int(counts.sum()), np.intp)
    _rows_along(ahead, starts, counts, rows)
    return rows
