"""Edges with both ends in a given set of vertices, such as the edges of an induced subgraph."""

from __future__ import annotations

from typing import Any

from dask_graphflow.kernels import kernels_of

from .view import GraphView
from .wide_column import wide_column

__all__ = ["at_ends", "between"]


def at_ends(g: GraphView, column: Any) -> tuple[Any, Any]:
    """Return the values of a column at the sources and at the targets of edges. All members call it.

    Parameters
    ----------
    g : GraphView
    column : array, shape (V_p,)

    Returns
    -------
    sources, targets : array of the dtype of `column`
        One entry per edge in ``g.rows("out")``.
    """
    values = wide_column(g, column)
    rows = g.local("out").rows._replace(first=0)
    owners = kernels_of("rows", rows.ends).owners(rows, rows.ends.dtype, threads=g.threads)
    return values[owners], values[rows.ends]


def between(g: GraphView, keep: Any) -> Any:
    """Return which edges have both ends in a set of vertices. All members call it.

    Parameters
    ----------
    g : GraphView
    keep : array of bool, shape (V_p,)
        Which of this member's vertices are in the set.

    Returns
    -------
    array of bool
        One entry per edge in ``g.rows("out")``.
    """
    sources, targets = at_ends(g, keep)
    return sources & targets
