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

from dask_graphflow.declarations.answer import Answer
from dask_graphflow.operators.advance import along, fixpoint
from dask_graphflow.operators.vertex_values import VertexNumbers, VertexValues, check_expressions
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.edge_op import EdgeOp
from dask_graphflow.programs.vertex_expressions import VertexReader

from .iteration import Step, iterate

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
        check_expressions(g, op)
    numbers = VertexNumbers(g, needed=bool(of_vertices) or any(op.reads_numbers for op in ops))
    columns = _begin_columns(g, begin, params, numbers.own)
    where = None if given is None else _start(g, columns, numbers.own, given)

    if isinstance(program, EdgeOp):
        view, op = along(g, program)
        op, read = numbers.bind(op, columns)
        fixpoint(view, op, read, None if where is None else view.frontier(where), **settings)
    else:
        both = [
            numbers.bind(step, columns) if isinstance(step, EdgeOp) else (step, columns)
            for step in steps
        ]
        iterate(g, both, columns, params, **settings)
    for name in of_vertices:
        for op in ops:
            if name == op.target:
                numbers.check(op, name, columns[name])
        columns[name] = numbers.answer(columns[name])
    return Answer(columns)


def _begin_columns(
    g: GraphView, begin: Mapping[str, Any], params: Mapping[str, Any], own: Any
) -> dict[str, Any]:
    """Return the columns as they begin."""
    columns: dict[str, Any] = {}
    values = VertexValues(g, columns, params)
    dtypes = {name: value.dtype.name for name, value in params.items()}
    for name, value in begin.items():
        if isinstance(value, str) and value == ITSELF:
            columns[name] = own.copy()
            continue
        if not isinstance(value, str):
            columns[name] = g.column(value, value.dtype)
            continue
        tree = VertexReader(f"columns[{name!r}]", value, {}, dtypes).begin()
        columns[name] = g.column(0, tree.dtype)
        values.assign({name: tree})
    return columns


def _start(g: GraphView, columns: Mapping[str, Any], own: Any, given: Any) -> Any:
    """Set the values that some vertices begin with; return the positions of these vertices."""
    ids, numbers, vertices = given
    where = g.find(ids, unique=False)
    mine = where >= 0
    for name, values in numbers.items():
        columns[name][where[mine]] = np.asarray(values, like=where)[mine]
    for name, named in vertices.items():
        start_numbers = g.find(named, unique=False).astype(
            "int64"
        )  # -1 for other members' vertices
        start_numbers[start_numbers >= 0] = own[start_numbers[start_numbers >= 0]]
        columns[name][where[mine]] = g.elementwise_max(start_numbers)[mine]
    marks = g.column(False, "bool")
    marks[where[mine]] = True
    return np.flatnonzero(marks).astype(g.index)
