"""Iteration: repeat steps over edges and over vertices until a test holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from dask_graphflow.exceptions import ConvergenceError
from dask_graphflow.operators.advance import along
from dask_graphflow.operators.advance.float_sums import make_advance
from dask_graphflow.operators.vertex_values import VertexValues
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.edge_op import EdgeOp
from dask_graphflow.programs.vertex_expressions import VertexReader, read_columns
from dask_graphflow.showing.tables import counted

#: An edge program, or a mapping of columns to the expressions per vertex that change them.
Step = EdgeOp | Mapping[str, str]


def iterate(
    g: GraphView,
    steps: Sequence[tuple[Step, Mapping[str, Any]]],
    columns: Mapping[str, Any],
    params: Mapping[str, Any],
    *,
    until: str | None,
    fail: bool,
    max_iter: int,
    rule: str = "gemini",
    balance: str = "auto",
) -> None:
    """Repeat steps until a test holds. All members call it at once.

    Parameters
    ----------
    steps : sequence of (step, columns)
        The steps of an iteration. An edge program runs along all edges, on its own columns. Messages, and
        the expressions of one step over vertices, read the values from before the step.
    columns : mapping of str to array, shape (V_p,)
        The columns that expressions read and change in place.
    params : mapping of str to NumPy scalar
        The values that expressions read by name.
    until : str, optional
        A test that is made after each iteration. By default, `max_iter` iterations are run.
    fail : bool
        Whether it is an error if the test never holds.
    max_iter : int
        Maximum number of iterations.
    rule : {"gemini", "beamer", "push", "pull"}
        "push" pushes along all edges; the other rules pull.
    balance : str
        How edges are divided among threads; see :mod:`~dask_graphflow.kernels.policies`.

    Raises
    ------
    ConvergenceError
        The test does not hold after the last iteration.
    ExpressionError
        A sum contains values that are infinite or NaN.
    """
    dtypes = {name: column.dtype.name for name, column in columns.items()}
    read = partial(
        VertexReader, columns=dtypes, params={name: p.dtype.name for name, p in params.items()}
    )
    trees = [
        {}
        if isinstance(step, EdgeOp)
        else {name: read(name, step[name]).value(name) for name in step}
        for step, _ in steps
    ]
    test = None if until is None else read("until", until).question()
    everything = [tree for assigned in trees for tree in assigned.values()]
    everything += [] if test is None else [test]
    kept = {name for tree in everything for name, when in read_columns(tree) if when == "before"}
    before = {name: columns[name].copy() for name in sorted(kept)}
    values = VertexValues(g, columns, params, before)
    run: list[Callable[[], Any]] = []
    for (step, its), assigned in zip(steps, trees, strict=True):
        if isinstance(step, EdgeOp):
            view, op = along(g, step)
            advance = make_advance(view, op, its, balance=balance, synchronous=True)
            run.append(partial(advance.push if rule == "push" else advance.pull, view.everyone()))
        else:
            run.append(partial(values.assign, assigned))
    for _ in range(max_iter):
        for name, column in before.items():
            column[:] = columns[name]
        for once in run:
            once()
        if test is not None and values.shared(test):
            return
    if test is not None and fail:
        why = ""
        if test.kind in ("<", "<=", ">", ">="):
            left, right = (values.shared(side).item() for side in test.args)
            why = f", since {left:.6g} {test.kind} {right:.6g} is false"
        raise ConvergenceError(
            f"after {counted(max_iter, 'iteration')} until={until!r} does not hold{why}; give a larger "
            "max_iter, or set fail_on_nonconvergence=False to get the result so far"
        )
