"""Edge programs: columns of a user's own, which messages along the edges change.

A program's columns begin with values that the caller gives. Vertices that change send messages to their
neighbors, by push or by pull [1]_, until none changes. Or the steps of an iteration, over edges and over
vertices, are repeated until a test holds.

.. [1] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph Processing
   System", OSDI 2016.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dask_graphflow.exceptions import ExpressionError
from dask_graphflow.graph import vertex_numbers
from dask_graphflow.kernels import sorted_unique
from dask_graphflow.operators.advance import along
from dask_graphflow.operators.fixpoint import fixpoint
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.edge_op import EdgeOp
from dask_graphflow.programs.rewrite import reading_numbers
from dask_graphflow.programs.vertex_expressions import VertexReader
from dask_graphflow.runtime.answer import Answer

from .iteration import Step, iterate
from .vertex_values import VertexValues

ITSELF = "vertex"  # the beginning of a column that holds vertices, and at first each vertex itself


def run_program(
    g: GraphView,
    program: EdgeOp | Sequence[Step],
    begin: Mapping[str, Any],
    params: Mapping[str, Any],
    given: Any,
    settings: Mapping[str, Any],
) -> Answer:
    """Run an edge program until no vertex changes, or an iteration. All members call it at once.

    Parameters
    ----------
    g : GraphView
    program : EdgeOp, or sequence of EdgeOp and mapping
    begin : mapping
        What each column begins with: a number, :data:`ITSELF`, or an expression per vertex.
    params : mapping of str to NumPy scalar
        What expressions per vertex read by name.
    given : tuple, or None
        Ids of the vertices that begin otherwise, and their values of some columns: numbers, and ids. An
        edge program begins there; by default everywhere.
    settings : mapping
        Options of :func:`.fixpoint` or :func:`.iterate`.

    Raises
    ------
    UnknownVertexError
        An id is not in the graph.
    ConvergenceError
        The test does not hold after the last iteration.
    ExpressionError
        The program put a number that belongs to no vertex into a column of vertices, or adds up values
        that are infinite or NaN. Or its functions are written by hand, and the graph has several members.
    """
    steps = [program] if isinstance(program, EdgeOp) else program
    ops = [step for step in steps if isinstance(step, EdgeOp)]
    of_vertices = [
        name for name, value in begin.items() if isinstance(value, str) and value == ITSELF
    ]
    for op in ops:
        if not g.member.alone and not isinstance(op.signal, str):
            raise ExpressionError(
                f"{op} consists of functions written by hand, which cannot run on a graph of several "
                "shards, because src and dst would be positions in one shard. Write the program in "
                "expressions, or build the graph with shards=1"
            )
    if of_vertices or any(op.reads_numbers for op in ops):
        numbered = vertex_numbers.number(g.member.shard, g.member.exchange, g.member.threads)
    else:  # the numbers are not needed, and counting them takes a round
        numbered = vertex_numbers.Numbered(g.member.shard.numbers, g.member.shard.count)
    columns = _begun(g, begin, params, numbered)
    where = None if given is None else _start(g, columns, numbered, given)

    def ready(op: EdgeOp) -> tuple[EdgeOp, dict[str, Any]]:
        read = {name: columns[name] for name in op.columns}
        if op.reads_numbers and not (g.member.alone and numbered.indices is None):
            op, name = reading_numbers(op, columns)  # src and dst are positions
            read[name] = numbered.own
        return op, read

    if isinstance(program, EdgeOp):
        view, op = along(g, program)
        op, read = ready(op)
        fixpoint(view, op, read, None if where is None else view.frontier(where), **settings)
    else:
        both = [ready(step) if isinstance(step, EdgeOp) else (step, columns) for step in steps]
        iterate(g, both, columns, params, **settings)
    for name in of_vertices:
        for op in ops:
            if name == op.target:
                vertex_numbers.check(
                    str(op), name, numbered, g.member.shard, g.member.exchange, columns[name]
                )
        columns[name] = vertex_numbers.indices(
            numbered, g.member.shard, g.member.exchange, columns[name]
        )
    return Answer(columns)


def _begun(
    g: GraphView, begin: Mapping[str, Any], params: Mapping[str, Any], numbered: Any
) -> dict[str, Any]:
    """Return the columns as they begin."""
    columns: dict[str, Any] = {}
    values = VertexValues(g, columns, params)
    dtypes = {name: value.dtype.name for name, value in params.items()}
    for name, value in begin.items():
        if isinstance(value, str) and value == ITSELF:
            columns[name] = numbered.own.copy()
            continue
        if not isinstance(value, str):
            columns[name] = g.column(value, value.dtype)
            continue
        tree = VertexReader(f"columns[{name!r}]", value, {}, dtypes).begin()
        columns[name] = g.column(0, tree.dtype)
        values.assign({name: tree})
    return columns


def _start(g: GraphView, columns: Mapping[str, Any], numbered: Any, given: Any) -> Any:
    """Set the values that some vertices begin with; return the positions of these vertices."""
    ids, numbers, vertices = given
    where = g.find(ids, unique=False)
    mine = where >= 0
    for name, own in numbers.items():
        columns[name][where[mine]] = np.asarray(own, like=where)[mine]
    for name, own in vertices.items():
        start_numbers = g.find(own, unique=False).astype("int64")  # -1 for other members' vertices
        start_numbers[start_numbers >= 0] = numbered.own[start_numbers[start_numbers >= 0]]
        columns[name][where[mine]] = g.elementwise_max(start_numbers)[mine]
    return sorted_unique(where[mine]).astype(g.index)
