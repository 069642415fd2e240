"""Calls that convert columns, for error messages, by the methods of the frame that the caller gave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

To = Literal["text", "integers", "floats", "whole decimals"]

# What a message calls the frames whose columns hold ids; other names are options with ids.
FRAMES = {
    "edges": "edges",
    "source": "edges",
    "target": "edges",
    "vertices": "vertices",
    "seed": "seed",
    "labels": "labels",
    "previous": "previous",
}
ARROW = {"integers": "int64", "floats": "float64"}
PANDAS = {"integers": "Int64", "floats": "float64"}  # Int64 keeps nulls, and does not round
POLARS = {"integers": "pl.Int64", "floats": "pl.Float64", "whole decimals": "pl.Decimal(38, 0)"}
SQL = {
    "text": "VARCHAR",
    "integers": "BIGINT",
    "floats": "DOUBLE",
    "whole decimals": "DECIMAL(38, 0)",
}


def is_dask(given: Any) -> bool:
    """Say whether this is a lazy object of Dask, or of a library that can use Dask and does."""
    if isinstance(given, type) or not hasattr(given, "__dask_graph__"):
        return False
    return type(given).__module__.startswith("dask") or given.__dask_graph__() is not None


def library_of(given: Any) -> str:
    """Return the name of the library whose methods a frame has, or the frame in it, for narwhals."""
    # A frame of pandas takes long to say that it has no attribute; its type does not.
    given = given.to_native() if hasattr(type(given), "to_native") else given
    name = type(given).__module__.partition(".")[0].lstrip("_")
    return name if name in ("dask", "polars", "pyarrow", "duckdb", "numpy") else "pandas"


def convert(role: str, library: str, columns: Sequence[Any], to: To, *, lists: bool = False) -> str:
    """Return a call that converts columns of a frame, whose nulls stay nulls.

    `role` is one of :data:`FRAMES`, `library` the result of :func:`library_of`, and `to` "text",
    "integers", "floats" or "whole decimals". `lists`: the columns contain lists.
    """
    frame, names = FRAMES.get(role, role), list(dict.fromkeys(columns))
    if library == "duckdb":
        quoted = ['"' + str(name).replace('"', '""') + '"' for name in names]
        casts = ", ".join(f"{name}::{SQL[to]} AS {name}" for name in quoted)
        return f"{frame}.select({f'* REPLACE ({casts})'!r})"
    if library == "polars" and to == "text":
        # Lists come as series, and polars warns about str itself.
        make = "lambda value: str(value.to_list())" if lists else "'{}'.format"
        made = ", ".join(
            f"pl.col({name!r}).map_elements({make}, return_dtype=pl.String)" for name in names
        )
        return f"{frame}.with_columns({made})"
    if library == "polars":
        casts = ", ".join(f"{name!r}: {POLARS[to]}" for name in names)
        return f"{frame}.cast({{{casts}}})"
    if library == "pyarrow":
        call = frame
        for name in names:
            made = f"{frame}[{name!r}].cast({ARROW.get(to)!r})"
            if to == "text":
                values = f"{frame}[{name!r}].to_pylist()"
                made = f"pa.array([None if v is None else str(v) for v in {values}])"
            call += f".set_column({frame}.column_names.index({name!r}), {name!r}, {made})"
        return call
    if library == "numpy":
        return f"{frame}.astype({'str' if to == 'text' else repr(ARROW[to])})"
    if to == "text":
        meta = ", meta=({name!r}, 'str')" if library == "dask" else ""
        make = "lambda value: str(value.tolist())" if lists else "str"  # of arrays of NumPy
        texts = ", ".join(
            f"{name!r}: {frame}[{name!r}].map({make}, na_action='ignore'{meta.format(name=name)})"
            for name in names
        )
        return f"{frame}.assign(**{{{texts}}})"
    return f"{frame}.astype({dict.fromkeys(names, PANDAS[to])!r})"


def texts(option: str) -> str:
    """Return an expression for the ids of an option as text."""
    return f"[str(value) for value in {option.rstrip('=')}]"
