"""Vertices that a caller gives by their ids."""

from __future__ import annotations

import contextlib
import decimal
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dask_graphflow.exceptions import EdgeListError, UnknownVertexError, VertexTypeError
from dask_graphflow.graph import dtypes
from dask_graphflow.kernels import kernels_for, on_device
from dask_graphflow.showing.tables import counted
from dask_graphflow.showing.values import shown as as_text

from .advice import is_dask
from .arrow import as_frame
from .frames import are_integers, build, is_pandas


def unknown(ids: Any, lost: Any) -> UnknownVertexError:
    """Return the error for the rows of a frame of ids that are not in the graph."""
    return UnknownVertexError(
        f"{len(lost):,} of {counted(len(ids), 'id')} "
        f"{'is' if len(lost) == 1 else 'are'} not in the graph: {shown(ids.iloc[lost[:3]])}"
        f"{', ...' if len(lost) > 3 else ''}; no edge starts or ends there. Give ids that have an edge"
    )


def shown(ids: Any) -> str:
    """Return the ids of a frame as text."""
    rows = kernels_for(ids).to_pandas(ids).to_numpy().tolist()
    return ", ".join(repr(row[0] if len(row) == 1 else tuple(row)) for row in rows)


def to_frame(ids: Any, like: Any) -> Any:
    """Return ids that may be an array as a frame with the columns of `like`, the graph's ids."""
    return build(pd.DataFrame, {like.columns[0]: ids}) if isinstance(ids, np.ndarray) else ids


def named(given: Any, ids: Any, role: str = "sources") -> Any:
    """Return given ids as a frame with the columns and dtypes of `ids`. Errors name the option, `role`.

    Integers stay in host memory, because checking a few of them on a device takes milliseconds.
    """
    names = list(ids.columns)
    if is_dask(given):
        raise EdgeListError(
            f"{role} is a lazy {type(given).__name__}; give what its compute() returns"
        )
    if (text := _plain_text(given, ids)) is not None:
        return build(type(ids), {names[0]: text})
    given = as_frame(given, role)
    if hasattr(given, "columns"):
        if len(given.columns) != len(names):
            raise EdgeListError(
                f"{role} has {counted(len(given.columns), 'column')}; an id has "
                f"{counted(len(names), 'part')} here: give one column for each part, and no others"
            )
        given, kind = given.reset_index(drop=True), type(given)
        columns = [given.iloc[:, i] for i in range(len(names))]
    else:
        columns, kind = listed(given, len(names), role), pd.DataFrame
    if not len(columns[0]):
        raise EdgeListError(f"{role} has no vertex; give at least one")
    if any(map(_has_null, columns)):
        raise EdgeListError(f"{role} has a null, which cannot be an id; leave it out")
    types = {name: ids[name].dtype for name in names}
    host = all(map(dtypes.is_integer, types.values()))
    made: dict[str, Any] = dict(zip(names, columns, strict=True))
    if is_pandas(kind):
        made = {name: typed(column, role, types[name]) for name, column in made.items()}
    if is_pandas(kind) != (host or is_pandas(type(ids))):
        moved = brought(build(kind, made), pd.DataFrame() if host else ids)
        made = {name: moved[name] for name in names}
    made = {name: _convert(column, types[name], role) for name, column in made.items()}
    return build(pd.DataFrame if host else type(ids), made)


def plain_integers(given: Any, dtypes: Sequence[Any]) -> np.ndarray | None:
    """Return an integer, or a list or array of integers, as an array with the one dtype of the graph's ids.

    None if there are none, or if anything else is given, or an id that the dtype cannot hold. Then
    :func:`named` returns a frame, or raises. A frame takes longer to make than a small search.
    """
    if len(dtypes) > 1 or not are_integers(dtypes):
        return None
    given = [given] if type(given) is int else given
    if type(given) is list and set(map(type, given)) == {int}:
        # NumPy finds the limits of an array in less time than Python those of a list.
        with contextlib.suppress(OverflowError):
            given = np.array(given, np.int64)
    elif not (isinstance(given, np.ndarray) and given.ndim == 1 and given.dtype.kind in "iu"):
        return None
    if not len(given):
        return None
    array = isinstance(given, np.ndarray)
    low, high = (int(given.min()), int(given.max())) if array else (min(given), max(given))
    limits = np.iinfo(dtypes[0])
    # Older releases of NumPy would wrap what does not fit.
    if low < limits.min or high > limits.max:
        return None
    return np.array(given, dtypes[0])  # a copy: the caller may edit an array before compute()


def _plain_text(given: Any, ids: Any) -> pd.Series | None:
    """Return a text, or a list of texts, with the dtype of `ids`.

    None if there are none, or if anything else is given, or if the ids are not text of pandas.
    """
    given = [given] if type(given) is str else given
    if type(given) is not list or set(map(type, given)) != {str} or len(ids.columns) > 1:
        return None
    dtype = ids[ids.columns[0]].dtype
    if not isinstance(dtype, pd.StringDtype):
        return None
    with contextlib.suppress(UnicodeError):  # half of a surrogate pair
        return pd.Series(pd.array(given, dtype), copy=False)
    return None


def is_listed(given: Any) -> bool:
    """Say whether ids are given as a list, an array or a similar value, and not as a frame or a series."""
    return hasattr(given, "__iter__") and not (
        isinstance(given, str | bytes | dict)
        or is_dask(given)
        or any(hasattr(given, name) for name in ("columns", "to_frame", "to_pandas"))
    )


def listed(given: Any, width: int, role: str) -> list[pd.Series]:
    """Return an id, or a list, array or series of ids, as series of pandas, one per part of an id."""
    if _is_one(given, width):
        given = [given]
    if hasattr(given, "to_pandas"):
        given = given.to_pandas()
    if hasattr(given, "reset_index"):
        given = given.reset_index(drop=True)
    if on_device(given):
        given = kernels_for(given).to_host(given)
    ndim = getattr(given, "ndim", None)
    values = [given[()]] if ndim == 0 else given if ndim == 1 else list(given)
    if width == 1:
        return [_series(values)]
    if ndim == 2:  # each row of an array is an id
        values = [tuple(row) for row in values]
    if any(not isinstance(one, tuple | list) or len(one) != width for one in values):
        raise EdgeListError(
            f"{role.rstrip('=')}={as_text(given)}; an id has {width} parts here: give tuples of {width} "
            "parts"
        )
    return [_series(part) for part in zip(*values, strict=True)] or [_series([])] * width


def _series(values: Any) -> pd.Series:
    if not hasattr(values, "dtype") and set(map(type, values)) == {int}:
        # NumPy converts integers in half of the time that pandas takes to infer their dtype.
        with contextlib.suppress(OverflowError):
            return pd.Series(np.array(values, "int64"))
    # pandas would make floats of integers and None. The caller may edit an array before compute().
    return pd.Series(values, dtype=None if hasattr(values, "dtype") else object, copy=True)


def _is_one(sources: Any, width: int) -> bool:
    """Say whether this is one id with `width` parts, rather than several ids."""
    if isinstance(sources, str | bytes) or not hasattr(sources, "__iter__"):
        return True
    parts = isinstance(sources, tuple) and len(sources) == width > 1
    return parts and not any(isinstance(part, tuple | list) for part in sources)


def brought(frame: Any, like: Any) -> Any:
    """Return a frame converted to the backend of `like`: pandas or cuDF."""
    if is_pandas(type(frame)) == is_pandas(type(like)):
        return frame
    if is_pandas(type(frame)):
        return kernels_for(like).from_pandas(frame)
    return kernels_for(frame).to_pandas(frame)


def typed(values: pd.Series, role: str, dtype: Any = None) -> pd.Series:
    """Return given ids; if they are Python objects, with the dtype that fits their values.

    With `dtype`, that of the graph's ids, integers that do not fit in 64 bits are not in the graph.
    """
    if isinstance(values.dtype, np.dtype) and values.dtype.kind == "S":  # bytes of a fixed length
        values = values.astype(object)
    if values.dtype != object:
        return values
    if _has_null(values):
        whole = typed(values[values.notna()], role, dtype)
        return whole.astype(dtypes.nullable(whole.dtype)).reindex(values.index)
    with contextlib.suppress(
        OverflowError
    ):  # pandas 3.0 raises it for integers that no float can hold
        values = values.infer_objects()
    if values.dtype != object or (inferred := pd.api.types.infer_dtype(values)) == "string":
        return values
    if inferred == "integer" and dtype is not None and dtypes.is_integer(dtype):
        # These integers do not fit in 64 bits.
        unfit = [value for value in values if not _within(value, dtype)]
        raise _not_held(unfit[0], dtype, role)
    if inferred == "integer" and dtype is not None and dtypes.kind(dtype) == "decimal":
        values = values.map(decimal.Decimal)
    try:
        made = pd.arrays.ArrowExtensionArray(pa.array(list(values)))
        return pd.Series(made, index=values.index, name=values.name)
    except (pa.ArrowException, OverflowError) as error:
        dtypes.check_objects(values, role)
        raise VertexTypeError(f"{role} has values that cannot be ids: {error}") from error


def _has_null(values: Any) -> bool:
    # A Series of pandas takes longer than its array to count the nulls of a few ids.
    null = pd.isna(values.array) if isinstance(values, pd.Series) else values.isna()
    return bool(null.any())


def _within(value: int, dtype: Any) -> bool:
    low, high = dtypes.limits(dtype)
    return low <= value <= high


def _convert(values: Any, dtype: Any, role: str) -> Any:
    """Return given ids with the graph's dtype.

    Raises
    ------
    VertexTypeError
        The ids are of another kind.
    UnknownVertexError
        The graph's dtype cannot hold one of the ids, so no edge has it.
    """
    own = dtypes.vertex_dtype(values, role)
    if not (dtypes.is_integer(own) and dtypes.is_integer(dtype)):
        dtypes.common_dtype(dtype, own, "the edges' id", role)
    try:
        return dtypes.exactly(dtypes.values_of(values), dtype)
    except dtypes.Inexact as error:
        if error.value is None:
            raise VertexTypeError(
                f"{role} has dtype {own}, which cannot be converted to {dtype}, the dtype of the edges' "
                "ids; give ids of the edges' type"
            ) from error
        raise _not_held(error.value, dtype, role) from error


def _not_held(value: Any, dtype: Any, role: str) -> UnknownVertexError:
    value = value.item() if isinstance(value, np.integer) else value
    return UnknownVertexError(
        f"{as_text(value)} in {role} is not in the graph: its ids have dtype {dtype}, which cannot hold "
        "that value. Leave it out"
    )
