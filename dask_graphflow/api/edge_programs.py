"""Edge programs of a user: what is checked when :meth:`.Graph.run` is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dask_graphflow.algorithms.edge_program import ITSELF, run_program
from dask_graphflow.algorithms.options import Choice, check_count
from dask_graphflow.exceptions import EdgeListError, OptionError
from dask_graphflow.graph.edgelist import vertex_names
from dask_graphflow.graph.vertex_ids import named as named_ids
from dask_graphflow.kernels import kernels_for, policies
from dask_graphflow.kernels.edge_expr import COLUMN_TYPES, NUMBER_TYPES, scalar
from dask_graphflow.kernels.edge_op import EdgeOp
from dask_graphflow.operators.direction import WAYS
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.tables import counted

__all__ = ["run"]


def run(
    graph: Any,
    op: EdgeOp,
    *,
    columns: Mapping[str, Any],
    start: Any = None,
    max_iter: int | None = None,
    direction: str = "gemini",
    balance: str = "auto",
    trace: bool = False,
    progress: Any = False,
) -> Any:
    """Run an edge program until no vertex changes: see :meth:`.graph.Graph.run`."""
    Choice(WAYS).check("direction", direction, graph)
    policies.check(balance, policies.POLICIES if graph.on_device else policies.HOST_POLICIES)
    check_count("max_iter", max_iter, optional=True)
    missing, spare = set(op.columns) - set(columns), set(columns) - set(op.columns)
    if missing or spare:
        raise OptionError(
            f"columns gives {sorted(columns)}, and {op.name!r} has {list(op.columns)}; give each of those"
        )
    dtypes: dict[str, Any] = {name: _begins(name, columns[name]) for name in op.columns}
    weight = "float64" if graph.weighted else None
    for index in ("int32", "int64"):  # the dtype of vertex numbers is known once the graph is built
        bound = {name: index if dtype == "id" else dtype for name, dtype in dtypes.items()}
        op.bind(bound, index_dtype="int32", weight_dtype=weight)
    given = None if start is None else _started(graph, op, dtypes, start)
    settings = {"rule": direction, "balance": balance, "max_iter": max_iter}
    asked = op, {name: columns[name] for name in op.columns}, given, settings
    shown: dict[str, Any] = {"trace": trace, "progress": progress}
    return graph._ask(op.name, run_program, dtypes, *asked, **shown)


def _begins(name: str, value: Any) -> Any:
    """Return the dtype of a column that begins with a value, or "id" for one that begins as "vertex"."""
    if isinstance(value, str) and value == ITSELF:
        return "id"
    number = scalar(value)
    if number is None:
        raise OptionError(
            f"columns[{name!r}]={value!r}; give a number of {', '.join(COLUMN_TYPES)}, for example 0, 0.0 "
            f"or np.int32(0), or give {ITSELF!r}"
        )
    return number.dtype


def _started(
    graph: Any, op: EdgeOp, dtypes: Mapping[str, Any], start: Any
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Return the ids that `start` names, and its values of the program's columns: numbers, and ids."""
    if not hasattr(start, "columns"):
        raise EdgeListError(
            f"start is a {type(start).__name__}; give a frame of ids, and of the columns that begin "
            "otherwise there"
        )
    width = len(graph._ids.columns)
    # As results name their columns: a "vertex" column has one for each part of an id.
    parts = {name: vertex_names(name, width if dtypes[name] == "id" else 1) for name in op.columns}
    named = [name for name in op.columns if set(parts[name]) & set(start.columns)]
    taken = {part for name in named for part in parts[name]}
    others = [name for name in start.columns if name not in taken]
    ids = named_ids(start[others[:width]], graph._ids)
    if unknown := others[width:]:
        raise OptionError(
            f"start has a column {unknown[0]!r}; after {counted(width, 'column')} of ids "
            f"give only columns of {op.name!r}, which has {', '.join(map(repr, op.columns))}"
            f"{nearest(unknown[0], op.columns)}"
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
            vertices[name] = named_ids(start[parts[name]], graph._ids)
        else:
            numbers[name] = _fitting(start[name], name, np.dtype(dtypes[name]))
    rows = start.drop_duplicates()[others]
    if bool((repeated := rows.duplicated()).any()):
        first = kernels_for(rows).to_pandas(rows[repeated]).iloc[0].tolist()
        raise EdgeListError(
            f"start gives vertex {first[0] if width == 1 else tuple(first)!r} different values in "
            "different rows; give each vertex one row"
        )
    return ids, numbers, vertices


def _fitting(given: Any, name: str, dtype: np.dtype[Any]) -> np.ndarray:
    """Return a column of `start` in the dtype of the program's column; raise where a value does not fit.

    As for literals of programs, whole numbers fit if they are exact, and floats if they only have to be
    rounded. Truth values and numbers do not mix.
    """
    plain = isinstance(given.dtype, np.dtype) and given.dtype.kind == "f"  # a NaN there is a value
    if bool(given.isna().any()) and not (plain and not getattr(given, "null_count", 0)):
        raise OptionError(
            f"start has a null in column {name!r}; give a value for each vertex, or leave these rows out"
        )
    values: np.ndarray = given.to_numpy()
    if values.dtype == object:
        values = np.array(values.tolist())
    if values.dtype == dtype:
        return values
    kinds = "b" if dtype.kind == "b" else "iuf"
    if values.dtype.kind not in kinds or values.ndim != 1:
        raise OptionError(
            f"start has dtype {given.dtype} in column {name!r}, and the column is {dtype}; give "
            f"{'True or False' if kinds == 'b' else 'numbers'}"
        )
    with np.errstate(all="ignore"):
        found: np.ndarray = values.astype(dtype)
        if dtype.kind == "f" and values.dtype.kind == "f":
            fits = np.isfinite(found) | ~np.isfinite(values)
        elif dtype.kind == "f":
            exact = 2 ** (np.finfo(dtype).nmant + 1)
            fits = (values <= exact) & (values >= -exact)
            large = np.flatnonzero(~fits)
            fits[large] = [int(found[i]) == int(values[i]) for i in large]
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
    return found
