"""One member's part of an advance: an edge program along its own rows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from dask_graphflow.kernels import kernels_of
from dask_graphflow.kernels.edge_op import BoundOp, EdgeOp, without_values

from .vertex_set import VertexSet

__all__ = ["advance"]


def advance(
    op: EdgeOp,
    columns: Mapping[str, Any],
    rows: Any,
    frontier: VertexSet | None,
    *,
    direction: str,
    balance: str = "auto",
    threads: int = 1,
) -> tuple[VertexSet, int]:
    """Send an edge program's messages along the edges that leave a frontier.

    Parameters
    ----------
    op : EdgeOp
        The edge program.
    columns : mapping of str to array
        The program's columns. That of ``op.target`` is changed in place; it has an entry for every vertex
        that messages go to.
    rows : Rows
        Rows of outgoing edges to push, and of incoming edges to pull.
    frontier : VertexSet or None
        Vertices that send; None for all.
    direction : {"push", "pull"}
    balance : str
        How edges are shared out to threads; see :mod:`~dask_graphflow.kernels.policies`.
    threads : int
        Host threads to use.

    Returns
    -------
    changed : VertexSet
        Vertices whose value changed.
    edges : int
        Number of edges that were looked at.
    """
    dtypes = tuple((name, column.dtype) for name, column in columns.items())
    weight_dtype = None if rows.weights is None else rows.weights.dtype
    bound = _bound(without_values(op), dtypes, rows.ends.dtype, weight_dtype)
    arrays = (*(columns[name] for name in op.columns), *op.params.values())
    size = len(columns[op.target])
    kernels = kernels_of("advance", rows.ends)
    changed = kernels.new_words(size)
    how: dict[str, Any] = {"changed": changed, "threads": threads, "balance": balance}
    if direction == "pull":
        words = None if frontier is None else frontier.words
        moved = kernels.pull(bound, rows, arrays, words, **how)
        return VertexSet(size, words=changed), moved.edges
    vertices = None if frontier is None else frontier.vertices
    moved = kernels.push(bound, rows, arrays, vertices, **how)
    return VertexSet(size, vertices=moved.changed, words=changed), moved.edges


@lru_cache(maxsize=64)
def _bound(op: EdgeOp, dtypes: tuple[Any, ...], index_dtype: Any, weight_dtype: Any) -> BoundOp:
    """Return a program with its types: reading its expressions takes as long as a small superstep."""
    return op.bind(dict(dtypes), index_dtype=index_dtype, weight_dtype=weight_dtype)
