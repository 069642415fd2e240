"""Edges between some of the vertices: those of the subgraph that the vertices induce."""

from __future__ import annotations

from typing import Any

from dask_graphflow.kernels import kernels_of

from .view import GraphView

__all__ = ["between"]


def between(g: GraphView, keep: Any) -> Any:
    """Return which edges have both ends among some vertices. All members call it.

    Parameters
    ----------
    g : GraphView
    keep : array of bool, shape (V_p,)
        Which of this member's vertices are among them.

    Returns
    -------
    array of bool
        One entry per edge in ``g.rows("out")``.
    """
    local = g.local("out")
    kept = g.column(False, "bool", local.size)
    kept[: g.owned] = keep
    if not g.alone:
        mirrors = g.mirrors("out")
        mirrors.broadcast(kept)
        mirrors.receive(lambda at, values: kept.__setitem__(at, values))
    rows = local.rows._replace(first=0)
    owners = kernels_of("rows", rows.ends).owners(rows, rows.ends.dtype, threads=g.threads)
    return kept[owners] & kept[rows.ends]
