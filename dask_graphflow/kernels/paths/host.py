"""Follow predecessors on the host. Paths are always followed in host memory, so a device has no version."""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled


@_compiled
def _follow(ahead, starts, limit, counts, last):  # type: ignore[no-untyped-def]
    for i in range(starts.size):
        row, count = starts[i], 1
        while ahead[row] >= 0 and count <= limit:
            row = ahead[row]
            count += 1
        counts[i], last[i] = count, row


@_compiled
def _rows_along(ahead, starts, counts, rows):  # type: ignore[no-untyped-def]
    end = 0
    for i in range(starts.size):
        row = starts[i]
        end += counts[i]
        for k in range(counts[i]):
            rows[end - 1 - k] = row
            row = ahead[row]


def follow(ahead: np.ndarray, starts: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Follow a path from each of some rows.

    Parameters
    ----------
    ahead : array of int64, shape (n,)
        The row that follows each row on a path; below 0 where a path ends.
    starts : array of int64, shape (p,)
    limit : int
        Stop after one row more than this, because predecessors may form a cycle.

    Returns
    -------
    counts, last : array of int64, shape (p,)
        Number of rows on each path, and the last of them.
    """
    counts, last = np.empty_like(starts), np.empty_like(starts)
    _follow(ahead, starts, limit, counts, last)
    return counts, last


def rows_along(ahead: np.ndarray, starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the rows on each path, the last one first, one path after another; see :func:`follow`."""
    rows = np.empty(int(counts.sum()), np.intp)
    _rows_along(ahead, starts, counts, rows)
    return rows
