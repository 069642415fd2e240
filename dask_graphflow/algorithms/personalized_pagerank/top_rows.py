"""The rows with the largest values of each group, over all members."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import numpy as np

from dask_graphflow.operators.access import send_groups
from dask_graphflow.operators.view import GraphView


def find_largest(values: Any, k: int) -> Any:
    """Return the positions of the `k` largest values, ascending; of equal values, the first are taken.

    If there are fewer values, all positions are returned.
    """
    if k >= len(values):
        return np.arange(len(values), like=values)
    least = np.partition(values, len(values) - k)[len(values) - k]
    chosen = values > least
    chosen[np.flatnonzero(values == least)[: k - int(np.count_nonzero(chosen))]] = True
    return np.flatnonzero(chosen)


def list_rows(
    g: GraphView, ranked: list[tuple[int, Any, Any]], count: int, k: int | None = None
) -> Iterator[tuple[Any, Any, Any]]:
    """Send rows to the members that list their groups, and yield the sorted rows of some groups at a time.

    All members call it. Each member lists about as many of all groups as the others. Rows are sorted by
    group, then by descending value, then by vertex, so their order does not depend on the member from which
    a row comes. Without `k`, there is one group at a time, because sorting takes several times the memory
    of the rows.

    Parameters
    ----------
    ranked : list of tuple
        The number of each group, and its values (float64) and vertices, which are distinct. The list is
        emptied.
    count : int
        Number of all groups.
    k : int, optional
        Number of rows to keep per group; all by default. A member should pass only its own k largest
        rows; see :func:`find_largest`.

    Yields
    ------
    groups, values, vertices : array
        Columns of the rows.
    """
    ranked.sort(key=itemgetter(0), reverse=True)
    while ranked:
        batch = [ranked.pop() for _ in range(1 if k is None else len(ranked))]
        groups = np.concatenate([np.full_like(at, number, "int64") for number, _, at in batch])
        values, vertices = (np.concatenate([row[i] for row in batch]) for i in (1, 2))
        send = send_groups(g, groups, count)
        groups, values, vertices = send(groups), send(values), send(vertices)
        order = np.argsort(vertices, kind="stable")
        order = order[np.argsort(-values[order], kind="stable")]
        if k is not None:  # otherwise there is a single group
            order = order[np.argsort(groups[order], kind="stable")]
            ordered = groups[order]
            place = np.arange(len(ordered), like=ordered) - np.searchsorted(ordered, ordered)
            order = order[place < k]
        yield groups[order], values[order], vertices[order]
