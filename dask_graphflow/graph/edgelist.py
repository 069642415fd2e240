"""The edge list: what is checked at the call, and what is read from each partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from dask.dataframe.utils import UNKNOWN_CATEGORIES
from pandas.api import types as pdtypes

from dask_graphflow.exceptions import (
    NullVertexError,
    UnknownColumnError,
    VertexTypeError,
    WeightError,
    nearest,
)
from dask_graphflow.showing.tables import counted

__all__ = [
    "EdgeColumns",
    "Ends",
    "as_columns",
    "check_columns",
    "check_objects",
    "check_weight",
    "common_dtype",
    "is_integer",
    "value_dtype",
    "vertex_names",
]


def as_columns(columns: Any, role: str) -> list[Any]:
    """Return a column name, or several, as a list."""
    listed = list(columns) if isinstance(columns, list | tuple) else [columns]
    if not listed or any(c is None for c in listed):
        raise UnknownColumnError(
            f"{role}= is {columns!r}; give a column's name, or a list of names"
        )
    return listed


def vertex_names(stem: str, width: int) -> list[str]:
    """Return the result's column names for an id of `width` columns."""
    return [stem] if width == 1 else [f"{stem}_{i}" for i in range(width)]


def check_columns(frame: Any, columns: Sequence[Any], role: str) -> None:
    """Raise unless `frame` has every one of `columns`."""
    have = list(frame.columns)
    for column in columns:
        if column not in have:
            raise UnknownColumnError(
                f"{role}={column!r} is no column of the frame, which has "
                f"{', '.join(map(repr, have)) or 'none'}{nearest(column, have)}"
            )


def value_dtype(series: Any, role: str) -> Any:
    """Return the dtype of a column's ids, or raise where they cannot name a vertex.

    A categorical column stands for its values.
    """
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype) or type(dtype).__name__ == "CategoricalDtype":
        categories = dtype.categories
        if categories is None or (len(categories) and categories[0] == UNKNOWN_CATEGORIES):
            # What the categories are is known only once a partition is read; text is by far the
            # most common, and `_decode` raises if they turn out to be something else.
            return pd.Series(["a"]).dtype
        dtype = categories.dtype
    if pdtypes.is_float_dtype(dtype) or pdtypes.is_complex_dtype(dtype):
        raise VertexTypeError(
            f"{role}={series.name!r} has dtype {dtype}; ids are integers, strings, categoricals or "
            "dates. If the floats are whole numbers with gaps, drop the nulls and use "
            f"edges.astype({{{series.name!r}: 'int64'}})"
        )
    return dtype


def _kind(dtype: Any) -> str:
    if pdtypes.is_bool_dtype(dtype):
        return "bool"
    if pdtypes.is_integer_dtype(dtype):
        return "integer"
    if pdtypes.is_datetime64_any_dtype(dtype):
        return "datetime"
    if pdtypes.is_string_dtype(dtype) or pdtypes.is_object_dtype(dtype):
        return "string"
    return str(dtype)


def common_dtype(left: Any, right: Any, left_name: str, right_name: str) -> Any:
    """Return the dtype that holds the ids of two columns, or raise where they differ in kind."""
    if left == right:
        return left
    if _kind(left) != _kind(right):
        raise VertexTypeError(
            f"{left_name} has dtype {left} and {right_name} has dtype {right}; ids of one graph are "
            f"of one type. Convert one of them, for example with astype({{...: {str(left)!r}}})"
        )
    if _kind(left) == "integer":
        plain = [np.dtype(str(d).removesuffix("[pyarrow]").lower()) for d in (left, right)]
        wide = np.promote_types(*plain)
        if wide.kind == "f":
            raise VertexTypeError(
                f"{left_name} has dtype {left} and {right_name} has dtype {right}, which no integer "
                "type holds both; convert one of them with astype"
            )
        return wide
    return left


def is_integer(dtype: Any) -> bool:
    """Say whether ids of this dtype are integers."""
    return _kind(dtype) == "integer"


@dataclass(frozen=True)
class EdgeColumns:
    """Where a frame has its edges, and how to read a partition of it.

    Attributes
    ----------
    source, target : tuple
        The id columns, as many on each side.
    weight : column name or None
    names : tuple of str
        What the id columns are called in the result.
    dtypes : tuple
        Their dtypes there.
    dropna : bool
        Leave out edges with a null end, instead of raising.
    level : int or None
        Every edge of the frame counts for this threshold and those below it, whatever its weight.
    """

    source: tuple[Any, ...]
    target: tuple[Any, ...]
    names: tuple[str, ...]
    dtypes: tuple[Any, ...]
    weight: Any = None
    dropna: bool = False
    level: int | None = None

    @property
    def columns(self) -> list[Any]:
        """The columns to read, each once."""
        weight = [] if self.weight is None else [self.weight]
        return list(dict.fromkeys([*self.source, *self.target, *weight]))

    def ends(self, frame: Any) -> tuple[Ends, Ends, Any]:
        """Return a partition's sources and targets, and its weights.

        Raises
        ------
        NullVertexError
            An id is null and `dropna` is off.
        """
        ids = list(dict.fromkeys([*self.source, *self.target]))
        series = {
            column: frame[column] for column in ids
        }  # once: of cuDF's frames each takes its time
        for column in ids:
            values = series[column]
            if not _never_null(values.dtype) and (nulls := int(values.isna().sum())):
                if not self.dropna:
                    raise NullVertexError(
                        f"column {column!r} has {counted(nulls, 'null')} in a partition of "
                        f"{counted(len(frame), 'edge')}; an edge needs two ends. Pass dropna=True to leave "
                        "such edges out, or fill them before"
                    )
                frame = frame[values.notna()]
                series = {name: frame[name] for name in ids}
        weight = None if self.weight is None else frame[self.weight]
        kind = type(frame)
        return self._side(kind, series, self.source), self._side(kind, series, self.target), weight

    def _side(self, kind: type, series: dict[Any, Any], columns: tuple[Any, ...]) -> Ends:
        parts = {
            name: _decode(series[column], dtype)
            for name, column, dtype in zip(self.names, columns, self.dtypes, strict=True)
        }
        return Ends(kind, parts)


class Ends:
    """The sources or the targets of some edges: a series for each part of an id."""

    def __init__(self, kind: type, series: dict[str, Any]) -> None:
        self._kind = kind
        self.series = series

    @classmethod
    def of(cls, frame: Any) -> Ends:
        """Return the ids that a frame has."""
        return cls(type(frame), {name: frame[name] for name in frame.columns})

    def __len__(self) -> int:
        return len(next(iter(self.series.values())))

    @property
    def only(self) -> Any:
        """The series of ids that have one part."""
        (series,) = self.series.values()
        return series

    @cached_property
    def frame(self) -> Any:
        """The ids as a frame; making one takes longer than many a partition's components."""
        if len(self.series) == 1:
            ((name, only),) = self.series.items()
            return only.to_frame(name=name)  # shares memory, which the constructor does not
        return self._kind(self.series)


def _never_null(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "iub"


def _decode(series: Any, dtype: Any) -> Any:
    """Return ids as values of `dtype`: categoricals as what they stand for."""
    if hasattr(series.dtype, "categories"):
        categories = series.dtype.categories.dtype
        if _kind(categories) != _kind(dtype):
            raise VertexTypeError(
                f"column {series.name!r} is categorical with categories of dtype {categories}, which "
                "Dask did not know when the call was made; call "
                f"edges[{series.name!r}].cat.as_known() first, or convert the column with astype"
            )
        series = series.astype(categories)
    return series if series.dtype == dtype else series.astype(dtype)


def check_objects(series: pd.Series, role: str) -> None:
    """Raise if a pandas column of Python objects holds other ids than strings.

    Dask would turn them into their text.
    """
    if series.dtype == object:
        kind = pdtypes.infer_dtype(series, skipna=True)
        if kind not in ("string", "empty"):
            raise VertexTypeError(
                f"{role} column {series.name!r} holds Python objects ({kind}); ids are integers, strings, "
                "categoricals or dates, which can be hashed and sorted. Convert the column with "
                "infer_objects() or astype, or give an id of several parts as several columns"
            )


def check_weight(frame: Any, weight: Any) -> None:
    """Raise unless `weight` is a column of numbers."""
    check_columns(frame, [weight], "weight")
    dtype = frame._meta[weight].dtype
    if not pdtypes.is_numeric_dtype(dtype) or pdtypes.is_complex_dtype(dtype):
        raise WeightError(
            f"weight={weight!r} has dtype {dtype}; a weight is a real number. "
            "Convert it, for example with astype('float64')"
        )
