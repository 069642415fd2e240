"""Edge programs: columns of a user's own, which messages along the edges change until none changes.

A program's columns begin with values that the caller gives. Vertices that change send messages to their
neighbors, by push or by pull [1]_.

.. [1] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph Processing
   System", OSDI 2016.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dask_graphflow.exceptions import ExpressionError
from dask_graphflow.graph import vertex_numbers
from dask_graphflow.kernels.edge_op import EdgeOp
from dask_graphflow.operators.fixpoint import fixpoint
from dask_graphflow.operators.rewrite import reading_numbers
from dask_graphflow.operators.view import GraphView

from .algorithm import Answer

__all__ = ["ITSELF", "run_program"]

ITSELF = "vertex"  # the beginning of a column that holds vertices, and at first each vertex itself


def run_program(
    g: GraphView, op: EdgeOp, begin: Mapping[str, Any], given: Any, settings: Mapping[str, Any]
) -> Answer:
    """Run an edge program until no vertex changes. All members call it at once.

    Parameters
    ----------
    g : GraphView
    op : EdgeOp
    begin : mapping
        What each of the program's columns begins with: a number, or :data:`ITSELF`.
    given : tuple, or None
        Ids of the vertices that begin otherwise, and their values of some columns: numbers, and ids. The
        program begins there; by default everywhere.
    settings : mapping
        Options of :func:`.fixpoint`.

    Raises
    ------
    UnknownVertexError
        An id is not in the graph.
    ExpressionError
        The program put a number that belongs to no vertex into a column of vertices. Or its functions are
        written in code, and the graph has several members.
    """
    of_vertices = [name for name, value in begin.items() if isinstance(value, str)]
    if not g.alone and not isinstance(op.signal, str):
        raise ExpressionError(
            f"{op}: its functions are written in code, and may ask for src and dst themselves, which are "
            "other numbers in each of several workers; write it in expressions, or keep the graph in one"
        )
    if op.reads_numbers or of_vertices:
        numbered = vertex_numbers.number(g.shard, g.exchange, g.threads)
    else:  # nobody asks for them, and to count them takes a round
        numbered = vertex_numbers.Numbered(g.shard.numbers, g.shard.count)
    columns = {}
    for name, value in begin.items():
        if name in of_vertices:
            columns[name] = numbered.own.copy()
        else:
            columns[name] = g.column(value, np.asarray(value).dtype)
    frontier = None
    if given is not None:
        ids, numbers, vertices = given
        where = g.find(ids, unique=False)
        mine = where >= 0
        for name, own in numbers.items():
            columns[name][where[mine]] = np.asarray(own, like=where)[mine]
        for name, own in vertices.items():
            told = vertex_numbers.told_by_owners(
                g.exchange, numbered.own, g.find(own, unique=False)
            )
            columns[name][where[mine]] = told[mine]
        frontier = g.frontier(np.unique(where[mine]).astype(g.index))
    program, read = op, dict(columns)
    if op.reads_numbers and not (g.alone and numbered.indices is None):
        program, name = reading_numbers(op, columns)  # src and dst are positions
        read[name] = numbered.own
    fixpoint(g, program, read, frontier, **settings)
    for name in of_vertices:
        if name == op.target:
            vertex_numbers.check(op, numbered, g.shard, g.exchange, columns[name])
        columns[name] = vertex_numbers.indices(numbered, g.shard, g.exchange, columns[name])
    return Answer(columns)
