"""Wide columns: columns with one entry per owned vertex, followed by one per mirror."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import setitem
from typing import Any

import numpy as np

from dask_graphflow.comm.exchange import Totals
from dask_graphflow.comm.mirrors import Mirrors
from dask_graphflow.graph.blocks import per_edge
from dask_graphflow.kernels import kernels_of

from .view import GraphView


def wide_column(g: GraphView, column: Any) -> Any:
    """Return a column extended by the values of the mirrors of leaving edges. All members call it.

    Parameters
    ----------
    g : GraphView
    column : array, shape (V_p,)

    Returns
    -------
    array of the dtype of `column`, shape (V_p + mirrors,)
        A copy.
    """
    wide = np.empty_like(column, shape=g.member.local("out").size)
    wide[: g.owned] = column
    if not g.member.alone:
        update_mirrors(g.member.mirrors("out"), wide)
    return wide


def update_mirrors(
    mirrors: Mirrors, column: Any, changed: Any = None, sums: Sequence[int] = ()
) -> Totals:
    """Set the mirrors' entries of a wide column to the values of their owners. All members call it.

    Parameters
    ----------
    mirrors : Mirrors
    column : array, shape (V_p + mirrors,)
        Changed in place.
    changed : array of integers, shape (c,), optional
        Positions of the owned vertices to send, ascending; all owned vertices by default.
    sums : sequence of int
        Numbers to add up over all members in the same round.
    """
    mirrors.broadcast(column, changed, sums)
    return mirrors.receive(partial(setitem, column))


def sums_of_owned(g: GraphView, column: Any) -> Any:
    """Return the entries of owned vertices, each with those of its mirrors added. All members call it.

    Parameters
    ----------
    g : GraphView
    column : array of integers, shape (V_p + mirrors,)
        Changed in place. The result is a part of it.
    """
    if g.member.exchange.size > 1:
        mirrors = g.member.mirrors("out")
        mirrors.reduce(column)

        def add(at: Any, values: Any) -> None:
            column[at] += values

        mirrors.receive(add)
    return column[: g.owned]


def count_entering(g: GraphView) -> Any:
    """Return the number of edges that enter each owned vertex. All members call it.

    The ends of the edges are counted, so no rows of entering edges are made.

    Returns
    -------
    array of int64, shape (V_p,)
    """
    local = g.member.local("out")
    ends = local.rows.ends
    counts = kernels_of("rows", ends).degrees(ends, count=local.size, threads=g.member.threads)
    return sums_of_owned(g, counts)


def at_ends(g: GraphView, column: Any, value: Callable[..., Any], weights: Any = None) -> Any:
    """Return a value for each edge, from those of a column at both ends. All members call it.

    Parameters
    ----------
    g : GraphView
    column : array, shape (V_p,)
    value : callable
        Takes the values at the sources and at the targets of some edges, and their weights if there are
        any, and returns an array.
    weights : array, optional
        A weight for each edge.

    Returns
    -------
    array
        One entry per edge in ``g.member.rows("out")``; on disk if these are.
    """
    values = wide_column(g, column)
    rows = g.member.local("out").rows._replace(weights=weights)
    owners_of = kernels_of("rows", rows.ends).owners

    def of_block(block: Any) -> Any:
        owners = owners_of(block, block.ends.dtype, threads=g.member.threads)
        weighted = () if block.weights is None else (block.weights,)
        return value(values[owners], values[block.ends], *weighted)

    return per_edge(rows, of_block)
