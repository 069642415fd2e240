"""Edge programs of a user: the checks and setup when :meth:`.Graph.run` is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dask_graphflow.algorithms.edge_program.edge_program import ITSELF, run_program
from dask_graphflow.algorithms.edge_program.iteration import Step
from dask_graphflow.calls.call import Call
from dask_graphflow.calls.shards import Shards
from dask_graphflow.declarations.number_options import check_count
from dask_graphflow.declarations.option import Choice, Flag
from dask_graphflow.declarations.spec import GraphSpec
from dask_graphflow.exceptions import EdgeListError, OptionError
from dask_graphflow.graph.arrow import as_frame
from dask_graphflow.graph.edgelist import vertex_names
from dask_graphflow.graph.frames import to_pandas
from dask_graphflow.graph.vertex_ids import named as named_ids
from dask_graphflow.kernels import policies
from dask_graphflow.operators.advance.direction import DIRECTION_RULES
from dask_graphflow.programs.edge_op import EdgeOp
from dask_graphflow.programs.expressions import (
    COLUMN_TYPES,
    FUNCTIONS,
    NUMBER_TYPES,
    RESERVED,
    is_plain,
    scalar,
)
from dask_graphflow.programs.vertex_expressions import NAMES, VertexReader
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.tables import counted
from dask_graphflow.showing.values import shown
from dask_graphflow.tasks.progress import Progress, listener


def run(
    shards: Shards,
    op: EdgeOp | list[Any] | tuple[Any, ...],
    *,
    columns: Mapping[str, Any],
    start: Any,
    params: Mapping[str, Any] | None,
    until: str | None,
    max_iter: int | None,
    fail_on_nonconvergence: bool,
    direction: str,
    balance: str,
    trace: bool,
    progress: Any,
) -> Any:
    """Run an edge program, or repeat steps; see :meth:`.graph.Graph.run`."""
    spec = shards.spec
    Choice(DIRECTION_RULES).check("direction", direction, spec)
    policies.check(balance, policies.POLICIES if spec.on_device else policies.HOST_POLICIES)
    Flag().check("fail_on_nonconvergence", fail_on_nonconvergence, spec)
    settings: dict[str, Any] = {"rule": direction, "balance": balance, "max_iter": max_iter}
    steps = [op] if isinstance(op, EdgeOp) else _steps(op)
    if isinstance(op, EdgeOp):
        if until is not None:
            raise OptionError(
                f"until={shown(until)} with {op}, which ends when no vertex changes; give a list of steps, "
                "such as [op], to repeat it until a test holds"
            )
        check_count("max_iter", max_iter, optional=True)
        name = op.name
    else:
        if max_iter is None:
            raise OptionError(
                "max_iter=None with a list of steps; give a maximum number of iterations"
            )
        check_count("max_iter", max_iter)
        settings |= {"until": until, "fail": fail_on_nonconvergence}
        name = "-".join(step.name for step in steps if isinstance(step, EdgeOp)) or "vertices"
    if not isinstance(columns, Mapping):
        raise OptionError(
            f"columns={shown(columns)}; give a dict of the columns and their initial values, for example "
            "{'rank': 0.0}"
        )
    numbers = _numbers({} if params is None else params)
    dtypes = _dtypes(spec, steps, columns, numbers, until)
    if isinstance(op, EdgeOp):
        dtypes = {column: dtypes[column] for column in op.columns}
    given = None if start is None else _read_start(spec, name, dtypes, start)
    _check_names(spec, dtypes)
    begin = {column: _begins(column, columns[column]) for column in dtypes}
    asked = op if isinstance(op, EdgeOp) else steps, begin, numbers, given, settings
    trace = Flag().check("trace", trace, spec)
    call = Call(
        name,
        run_program,
        {**spec.row_columns("vertices"), **dtypes},
        trace=trace,
        progress=Progress(listener(progress, name)),
    )
    return call.send(shards, *asked)


def _steps(given: Any) -> list[Step]:
    """Return the steps of an iteration."""
    allowed = (
        "an EdgeOp, or a dict of expressions by the columns that they change, for example "
        "{'rank': '0.15 / n + 0.85 * sum'}"
    )
    if not isinstance(given, list | tuple) or not given:
        raise OptionError(
            f"{shown(given)} is not a program; give an EdgeOp, or a list of steps: each is {allowed}"
        )
    for step in given:
        texts = [*step, *step.values()] if isinstance(step, Mapping) else []
        if not isinstance(step, EdgeOp) and not (texts and all(isinstance(t, str) for t in texts)):
            raise OptionError(f"{shown(step)} is not a step; give {allowed}")
    return [step if isinstance(step, EdgeOp) else dict(step) for step in given]


def _numbers(params: Any) -> dict[str, Any]:
    """Return the parameters as NumPy scalars."""
    if not isinstance(params, Mapping):
        raise OptionError(f"params={shown(params)}; give a dict of names and numbers")
    scalars = {}
    for name, value in params.items():
        _check_name("params", name)
        scalars[name] = scalar(value)
        if scalars[name] is None:
            raise OptionError(
                f"params[{name!r}]={shown(value)}; give True, False, an int that int64 can hold, a float "
                f"or a NumPy number of {', '.join(COLUMN_TYPES)}"
            )
    return scalars


def _check_name(option: str, name: Any, *taken: str) -> None:
    taken = (*RESERVED, *FUNCTIONS, *NAMES, *taken)
    if not is_plain(name) or name in taken:
        raise OptionError(
            f"{option} has {name!r}, which expressions per vertex cannot read; a name consists of ASCII "
            f"letters, digits and _, does not begin with a digit, and is not {', '.join(taken)}. Rename it"
        )


def _dtypes(
    spec: GraphSpec,
    steps: Sequence[Step],
    columns: Mapping[str, Any],
    numbers: Mapping[str, Any],
    until: str | None,
) -> dict[str, Any]:
    """Check a program, and return the dtype of each column; "id" for a column that begins as "vertex"."""
    readers: list[VertexReader] = []
    dtypes: dict[str, Any] = {}
    for name, value in columns.items():
        begin = _begins(name, value)
        if isinstance(begin, str) and begin != ITSELF:
            label = f"columns[{name!r}], which is not {ITSELF!r}"
            readers.append(_reader(label, begin, {}, numbers))
            dtypes[name] = np.dtype(readers[-1].begin().dtype)
        else:
            dtypes[name] = "id" if isinstance(begin, str) else begin.dtype
    ops = [step for step in steps if isinstance(step, EdgeOp)]
    assigned = [
        (i, name, text)
        for i, step in enumerate(steps)
        if not isinstance(step, EdgeOp)
        for name, text in step.items()
    ]
    used = {name for op in ops for name in op.columns} | {name for _, name, _ in assigned}
    _check_columns(columns, used, used | set(columns))
    weight = "float64" if spec.weighted else None
    for index in ("int32", "int64"):  # the dtype of vertex numbers is known once the graph is built
        bound = {name: index if dtype == "id" else dtype.name for name, dtype in dtypes.items()}
        for op in ops:
            _check_bound(op, bound, weight)
        for i, name, text in assigned:
            readers.append(_reader(f"steps[{i}][{name!r}]", text, bound, numbers))
            readers[-1].value(name)
            if dtypes[name] == "id":
                raise OptionError(
                    f"steps[{i}] changes column {name!r}, which begins as {ITSELF!r}; only edge programs "
                    "change such a column: begin it with a number"
                )
        if until is not None:
            readers.append(_reader("until", until, bound, numbers))
            readers[-1].question()
    used |= {name for reader in readers for name, _ in reader.columns}
    _check_columns(columns, used, used)
    if spare := sorted(set(numbers) - {name for reader in readers for name in reader.names}):
        raise OptionError(
            f"params gives {spare[0]!r}, which no expression per vertex reads; leave it out, or give it to "
            "an EdgeOp"
        )
    if len(assigned) + (until is not None):
        for name in columns:
            _check_name("columns", name, *numbers)
    return dtypes


def _check_names(spec: GraphSpec, dtypes: Mapping[str, Any]) -> None:
    """Raise if two columns of the result have the same name."""
    width = spec.id_width
    taken = dict.fromkeys(vertex_names("vertex", width), "the id of the vertex")
    for column, dtype in dtypes.items():
        for name in vertex_names(column, width if dtype == "id" else 1):
            if name in taken:
                raise OptionError(
                    f"columns= has {column!r}, whose values would be named {name!r} in the result, like "
                    f"{taken[name]}; give the column another name"
                )
            taken[name] = f"those of column {column!r}"


def _reader(
    label: str, text: Any, columns: Mapping[str, str], numbers: Mapping[str, Any]
) -> VertexReader:
    if not isinstance(text, str):
        raise OptionError(
            f"{label}={shown(text)}; give an expression, for example 'total(x) < 1e-6'"
        )
    return VertexReader(label, text, columns, {name: v.dtype.name for name, v in numbers.items()})


def _check_columns(columns: Mapping[str, Any], needed: set[str], allowed: set[str]) -> None:
    if needed - set(columns) or set(columns) - allowed:
        raise OptionError(
            f"columns= has {sorted(columns)}, but the columns of the program are {sorted(needed)}; give an "
            "initial value for each of them"
        )


def _check_bound(op: EdgeOp, dtypes: Mapping[str, str], weight: str | None) -> None:
    floats = dtypes[op.target].startswith("float") and isinstance(op.signal, str)
    # The types of a sum of floats are the same as for any other slot.
    op = replace(op, slot="max") if op.slot == "add" and floats else op
    op.bind(dtypes, index_dtype="int32", weight_dtype=weight)


def _begins(name: str, value: Any) -> Any:
    """Return the start value of a column: a NumPy scalar, or a text."""
    start = value if isinstance(value, str) else scalar(value)
    if start is None:
        raise OptionError(
            f"columns[{name!r}]={shown(value)}; give a number of type {', '.join(COLUMN_TYPES)}, such as "
            f"0, 0.0 or np.int32(0), or {ITSELF!r}, or an expression such as '1 / n'"
        )
    return start


def _read_start(
    spec: GraphSpec, program: str, dtypes: Mapping[str, Any], start: Any
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Return the ids in `start`, and its values for the program's columns: numbers, and ids."""
    start = as_frame(start, "start")
    if not hasattr(start, "columns"):
        raise EdgeListError(
            f"start is a {type(start).__name__}; give a frame with ids, followed by the columns "
            "that have other initial values for them"
        )
    width = spec.id_width
    # Columns are named as in results: a "vertex" column has one column for each part of an id.
    parts = {name: vertex_names(name, width if dtypes[name] == "id" else 1) for name in dtypes}
    named = [name for name in dtypes if set(parts[name]) & set(start.columns)]
    taken = {part for name in named for part in parts[name]}
    others = [name for name in start.columns if name not in taken]
    ids = named_ids(start[others[:width]], spec.ids, "start")
    if unknown := others[width:]:
        raise OptionError(
            f"start has a column {unknown[0]!r}, which {program!r} does not have; after "
            f"{counted(width, 'column')} of ids, give only its columns, {', '.join(map(repr, dtypes))}"
            f"{nearest(unknown[0], dtypes)}"
        )
    numbers, vertices = {}, {}
    for name in named:
        if missing := [part for part in parts[name] if part not in start.columns]:
            raise OptionError(
                f"start lacks the column {missing[0]!r}; a column that begins as {ITSELF!r} takes ids, "
                f"which have {counted(width, 'part')} here: give the columns "
                f"{', '.join(map(repr, parts[name]))}"
            )
        if dtypes[name] == "id":
            vertices[name] = named_ids(start[parts[name]], spec.ids, "start")
        else:
            numbers[name] = _fit_column(start[name], name, np.dtype(dtypes[name]))
    rows = start.drop_duplicates()[others]
    if bool((repeated := rows.duplicated()).any()):
        first = to_pandas(rows[repeated]).iloc[0].tolist()
        raise EdgeListError(
            f"start gives vertex {first[0] if width == 1 else tuple(first)!r} different values in "
            "different rows; give each vertex one row"
        )
    return ids, numbers, vertices


def _fit_column(given: Any, name: str, dtype: np.dtype[Any]) -> np.ndarray:
    """Return a column of `start` in the dtype of the program's column; raise if a value does not fit.

    The rules are those for literals in programs: whole numbers fit if they are exact, and floats fit if
    they only have to be rounded. Booleans and numbers do not mix.
    """
    plain = isinstance(given.dtype, np.dtype) and given.dtype.kind == "f"  # a NaN there is a value
    if bool(given.isna().any()) and not (plain and not getattr(given, "null_count", 0)):
        raise OptionError(
            f"start has a null in column {name!r}; give a value for each vertex, or leave these rows out"
        )
    values: np.ndarray = given.to_numpy(copy=True)  # the caller may edit the frame before compute()
    if values.dtype == object:
        values = np.array(values.tolist())
    if values.dtype == dtype:
        return values
    kinds = "b" if dtype.kind == "b" else "iuf"
    if values.dtype.kind not in kinds or values.ndim != 1:
        raise OptionError(
            f"start has dtype {given.dtype} in column {name!r}, but the program's column is {dtype}; give "
            f"{'True or False' if kinds == 'b' else 'numbers'}"
        )
    with np.errstate(all="ignore"):
        converted: np.ndarray = values.astype(dtype)
        if dtype.kind == "f" and values.dtype.kind == "f":
            fits = np.isfinite(converted) | ~np.isfinite(values)
        elif dtype.kind == "f":
            exact = 2 ** (np.finfo(dtype).nmant + 1)
            fits = (values <= exact) & (values >= -exact)
            large = np.flatnonzero(~fits)
            fits[large] = [int(converted[i]) == int(values[i]) for i in large]
        elif values.dtype.kind == "f":
            limits = np.iinfo(dtype)
            fits = (
                (values >= limits.min) & (values < limits.max + 1.0) & (values == np.trunc(values))
            )
        else:
            fits = (values >= np.iinfo(dtype).min) & (values <= np.iinfo(dtype).max)
    if not fits.all():
        value = values[~fits][0].item()
        its = values.dtype.name
        begin = f", or begin the column with a number of {its}, such as np.{its}(0)"
        begin = begin if its in NUMBER_TYPES else ""
        raise OptionError(
            f"start gives column {name!r} the value {value!r}, which {dtype} cannot hold; give values of "
            f"{dtype}{begin}"
        )
    return converted
