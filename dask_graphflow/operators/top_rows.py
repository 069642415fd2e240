"""The rows with the largest values of each group, over all members."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.comm.exchange import Exchange

from .send_rows import send_rows

__all__ = ["largest", "top_rows"]


def largest(values: Any, k: int) -> Any:
    """Return the positions of the `k` largest values, ascending; of equal values, the first are taken.

    Parameters
    ----------
    values : array of float64
    k : int
        At least 1. If there are fewer values, all positions are returned.
    """
    if k >= len(values):
        return np.arange(len(values), like=values)
    least = np.partition(values, len(values) - k)[len(values) - k]
    chosen = values > least
    chosen[np.flatnonzero(values == least)[: k - int(chosen.sum())]] = True
    return np.flatnonzero(chosen)


def top_rows(
    exchange: Exchange, to: Any, groups: Any, values: Any, vertices: Any, k: int | None = None
) -> tuple[Any, Any, Any]:
    """Return the rows of the groups that this member lists, with the largest values of a group first.

    All members call it. Rows are sorted by group, then by descending value, then by vertex, so their order
    does not depend on the member from which a row comes.

    Parameters
    ----------
    exchange : Exchange
    to : array of integers, shape (r,)
        Rank of the member that lists each row; the same for all rows of a group.
    groups : array of integers, shape (r,)
    values : array of float64, shape (r,)
    vertices : array of integers, shape (r,)
        Distinct within a group.
    k : int, optional
        Number of rows to keep per group; all by default. A member should send only its own k
        :func:`largest` rows.

    Returns
    -------
    groups, values, vertices : array
        Columns of the rows.
    """
    send = send_rows(exchange, to)
    groups, values, vertices = send(groups), send(values), send(vertices)
    order = np.argsort(vertices, kind="stable")
    order = order[np.argsort(-values[order], kind="stable")]
    order = order[np.argsort(groups[order], kind="stable")]
    if k is not None:
        found = groups[order]
        place = np.arange(len(found), like=found) - np.searchsorted(found, found)
        order = order[place < k]
    return groups[order], values[order], vertices[order]
