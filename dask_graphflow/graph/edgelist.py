"""The edge list: checks at the call, and reading of each partition."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.exceptions import (
    EdgeListError,
    NullVertexError,
    OptionError,
    UnknownColumnError,
    VertexTypeError,
    WeightError,
    missing_column,
)
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.tables import counted
from dask_graphflow.showing.values import shown

from . import dtypes, frames
from .advice import convert
from .dtypes import Inexact

BATCHES = ("insert", "delete", "vertices")  # what the caller calls frames with changes of a graph

# The columns of both ends, if the caller does not name them.
DEFAULT_ENDS = (("source", "target"), ("src", "dst"), ("from", "to"), ("left", "right"))


def default_ends(have: Sequence[Any]) -> tuple[str, str] | None:
    """Return the columns of both ends if the caller names none, or None if they are not clear."""
    usual = usual_ends(have)
    return usual[0] if len(usual) == 1 else None


def usual_ends(have: Sequence[Any]) -> list[tuple[str, str]]:
    """Return the pairs of usual names of both ends that are among the columns of a frame."""
    return [pair for pair in DEFAULT_ENDS if all(name in have for name in pair)]


def ends_of(source: Any, target: Any, have: Sequence[Any]) -> tuple[Any, Any]:
    """Return the columns of both ends of an edge: the given ones, or the usual names that a frame has.

    It raises :class:`.UnknownColumnError` if only one of them is given, or if `have`, the columns of the
    frame, are not exactly one pair of the usual names.
    """
    if source is not None and target is not None:
        return source, target
    if source is None and target is None and (ends := default_ends(have)):
        return ends
    usual = usual_ends(have)
    pairs = [f"{one!r} and {other!r}" for one, other in usual or DEFAULT_ENDS]
    default = f"{', '.join(pairs[:-1])} or {pairs[-1]}" if len(pairs) > 1 else pairs[0]
    if source is not None or target is not None:
        given, missing = ("source", "target") if target is None else ("target", "source")
        problem = f"{given}= is given without {missing}="
    elif usual:
        problem = (
            f"source= and target= are not given, and both {' and also '.join(pairs)} are columns"
        )
    else:
        problem = f"source= and target= are not given, and the frame does not have their defaults {default}"
    raise UnknownColumnError(
        f"{problem}; the columns are {', '.join(map(repr, have)) or 'none'}. Name the two columns with the "
        "ids at the ends of each edge, such as source='a', target='b'"
    )


def used_columns(
    source: Any, target: Any, weight: Any, further: Any, have: Sequence[Any]
) -> Sequence[Any]:
    """Return the columns that a call uses, or all of a frame's columns if it does not have one of them.

    Raise if the ends are not clear; see :func:`ends_of`.
    """
    named = [*ends_of(source, target, have), *(one for one in (weight, further) if one is not None)]
    used = [*itertools.chain(*(n if isinstance(n, list | tuple) else [n] for n in named))]
    return used if all(is_name(name) and name in have for name in used) else have


def as_columns(columns: Any, role: str, have: Sequence[Any] = ()) -> list[Any]:
    """Return a column name, or several, as a list.

    A tuple stands for several names, unless it is one of the names in `have`.
    """
    one = isinstance(columns, tuple) and any(columns == name for name in have)
    listed = list(columns) if isinstance(columns, list | tuple) and not one else [columns]
    if not listed or any(c is None or c is pd.NA for c in listed):
        raise UnknownColumnError(
            f"{role}= is {shown(columns)}; give a column's name, or a list of names"
        )
    for column in listed:
        if not is_name(column):
            kind = type(column)
            raise UnknownColumnError(
                f"{role}= has a {kind.__module__.partition('.')[0]} {kind.__name__} in place of a "
                "column's name; give the name, or a list of names"
            )
    return listed


def is_name(column: Any) -> bool:
    """Say whether this may be a column's name, rather than the column itself or an expression."""
    return isinstance(column, Hashable) and isinstance(column == column, bool | np.bool_)


def vertex_names(stem: str, width: int) -> list[str]:
    """Return the result's column names for an id of `width` parts."""
    return [stem] if width == 1 else [f"{stem}_{i}" for i in range(width)]


def check_columns(frame: Any, columns: Sequence[Any], role: str) -> None:
    """Raise unless `frame` has each of `columns` exactly once."""
    have = list(frame.columns)
    for column in columns:
        if (count := have.count(column)) > 1:
            raise EdgeListError(
                f"{role}={shown(column)} names {count} columns of the frame; give each column a name of "
                "its own, for example with frame.set_axis([...], axis=1)"
            )
        if column not in have:
            raise UnknownColumnError(
                f"{role}={shown(column)} is not a column of the frame, which has "
                f"{', '.join(map(repr, have)) or 'none'}{nearest(column, have)}"
            )


def check_distinct(names: Sequence[Any], role: str) -> None:
    """Raise if a column is named twice."""
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise OptionError(f"{role}={shown([*names])} names {twice!r} twice; name each column once")


@dataclass(frozen=True)
class EdgeColumns:
    """Which columns of a frame define its edges, and how to read a partition."""

    # Tuple. The id columns; both sides have the same number of columns.
    source: tuple[Any, ...]
    target: tuple[Any, ...]
    names: tuple[str, ...]  # the names of the id columns in the result
    dtypes: tuple[Any, ...]  # tuple. The dtypes of the id columns in the result.
    weight: Any = None  # column name or None
    dropna: bool = False  # whether to leave out edges with a null end, instead of raising
    # If given, every edge of the frame counts for this threshold and the lower ones, whatever its weight.
    level: int | None = None
    weight_dtype: Any = None  # dtype or None. The dtype of the weights in Dask's metadata.
    # What the caller calls the frame, and the library whose methods it has, for error messages.
    role: str = "edges"
    library: str = "pandas"

    @property
    def columns(self) -> list[Any]:
        """The columns to read, without duplicates."""
        weight = [] if self.weight is None else [self.weight]
        return list(dict.fromkeys([*self.source, *self.target, *weight]))

    def ends(self, frame: Any, partition: int = 0) -> tuple[Ends, Ends, Any]:
        """Return a partition's sources and targets, and its weights.

        The ids are converted to :attr:`dtypes`. The weights are numbers of any dtype; see
        :meth:`exact_weight`.

        Raises
        ------
        UnknownColumnError
            The partition lacks a column.
        NullVertexError
            An id is null and `dropna` is off.
        VertexTypeError, WeightError
            The partition's dtype differs from Dask's metadata, and some value does not fit.
        """
        ids = list(dict.fromkeys([*self.source, *self.target]))
        where = f"partition {partition} of {self.role}"

        # Each column once, because this is slow for cuDF.
        series = {column: dtypes.values_of(column_of(frame, column, where)) for column in ids}
        weight = None if self.weight is None else column_of(frame, self.weight, where)
        whole = None
        for column, values in series.items():
            if not _never_null(values.dtype) and (nulls := int(values.isna().sum())):
                if not self.dropna:
                    advice = "Pass dropna=True to leave such edges out, or fill them before"
                    # Graph.update does not have this option. Vertices of other calls have a level.
                    if self.role in BATCHES and self.level is None:
                        advice = f"Leave such rows out of {self.role}, or fill them before"
                    raise NullVertexError(
                        f"column {column!r} has {counted(nulls, 'null')} in a partition of "
                        f"{counted(len(frame), 'edge')}; an edge needs two ends. {advice}"
                    )
                whole = values.notna() if whole is None else whole & values.notna()
        if whole is not None:
            series = {column: values[whole] for column, values in series.items()}
            weight = None if weight is None else weight[whole]
        weight = None if weight is None else self._weight(weight, where)

        def side(columns: tuple[Any, ...]) -> Ends:
            parts = zip(self.names, columns, self.dtypes, strict=True)
            converted = {
                name: self._ids(series[column], dtype, frame, where)
                for name, column, dtype in parts
            }
            return Ends(type(frame), converted)

        return side(self.source), side(self.target), weight

    def _ids(self, series: Any, dtype: Any, frame: Any, where: str) -> Any:
        """Return ids converted to the dtype that all partitions must have."""
        if series.dtype == dtype or not len(series):
            return dtypes.exactly(series, dtype)
        actual, announced = dtypes.kind(series.dtype), dtypes.kind(dtype)
        whole = actual == "float" and announced == "integer"
        try:
            if actual != announced and not whole and {actual, announced} != {"decimal", "integer"}:
                raise Inexact
            return dtypes.exactly(series, dtype)
        except Inexact as error:
            name, value = series.name, error.value
            if hasattr(frame[name].dtype, "categories"):
                advice = (
                    "Dask did not know the column's categories when the call was made. Find them before "
                    f"the call, for example with {self.role}.categorize([{name!r}])"
                )
            elif whole and value is not None and abs(value) < 2**53:
                advice = (
                    "Ids are whole numbers. Correct such rows or leave them out, for example with "
                    f"{self.role}[{self.role}[{name!r}] % 1 == 0]"
                )
            elif whole:
                advice = (
                    "A float above 2**53 may have been rounded. Read the column as Int64, which can "
                    "hold nulls"
                )
            else:
                advice = self._one_dtype(name, series.dtype, dtype)
            raise VertexTypeError(_say_difference(where, series, dtype, value) + advice) from error

    def _one_dtype(self, column: Any, actual: Any, announced: Any) -> str:
        """Return advice, as the end of a message, on how to give all partitions one dtype."""
        kinds = {dtypes.kind(actual), dtypes.kind(announced)}
        if kinds == {"datetime", "datetime with a time zone"}:
            return "Give all partitions a time zone before the call, or none"
        try:
            wide = dtypes.common_dtype(announced, actual, "", "")
        except VertexTypeError:
            if self.role != "edges":
                return f"Give ids of the edges' type in all partitions of {self.role}"
            wide = "str"
        if wide == announced and kinds != {"string"}:
            return "Correct such rows or leave them out"
        columns = dict.fromkeys(
            name
            for pair in zip(self.source, self.target, strict=True)
            if column in pair
            for name in pair
        )
        argument = repr(dict.fromkeys(columns, str(wide)))
        if self.role == "vertices" and len(self.names) == 1:  # `vertices` may be a series
            argument = repr(str(wide))
        return (
            "Give all partitions one dtype before the call, for example with "
            f"{self.role}.astype({argument})"
        )

    def _weight(self, weight: Any, where: str) -> Any:
        if dtypes.number_dtype(weight.dtype) is not None:
            try:
                return dtypes.numbers_of(weight)
            except Inexact as error:
                raise WeightError(
                    f"weight column {self.weight!r} holds {shown(error.value)} in {where}; weights that "
                    "are whole numbers have at most 64 bits. Make them floats, for example with "
                    + convert(self.role, self.library, [self.weight], "floats")
                ) from error
        if weight.isna().all():  # a column without values is often read as objects
            return type(weight)(np.nan, index=weight.index, dtype="float64", name=weight.name)
        raise WeightError(
            f"weight column {self.weight!r} has dtype {weight.dtype} in {where}, but Dask's metadata says "
            f"{self.weight_dtype}; a weight is a real number. Convert the column before the call, for "
            f"example with {self.role}.astype({{{self.weight!r}: 'float64'}})"
        )

    def exact_weight(self, weight: Any, partition: int = 0) -> Any:
        """Return weights without nulls, converted to the dtype that all partitions must have.

        Raises
        ------
        WeightError
            The partition's dtype differs from Dask's metadata, and some value does not fit.
        """
        try:
            return dtypes.exactly(weight, self.weight_dtype)
        except Inexact as error:
            where = f"partition {partition} of {self.role}"
            raise WeightError(
                _say_difference(where, weight, self.weight_dtype, error.value)
                + "Give all partitions one dtype before the call, for example with "
                f"{self.role}.astype({{{self.weight!r}: 'float64'}})"
            ) from error


def column_of(frame: Any, column: Any, where: str) -> Any:
    """Return a column of a partition.

    Raises
    ------
    EdgeListError
        The partition has no such column, or has several.
    """
    try:
        selected = frame[column]
    except KeyError as error:
        raise missing_column(frame, column, where) from error
    if len(selected.shape) != 1:
        raise EdgeListError(
            f"{where} has several columns {column!r}; give each column a name of its own"
        )
    return selected


def _say_difference(where: str, series: Any, dtype: Any, value: Any) -> str:
    """Return the beginning of a message: the two dtypes of a column, and the value that does not fit."""
    holds = "" if value is None else f" and holds {_shown(value)}"
    return (
        f"column {series.name!r} has dtype {series.dtype} in {where}{holds}, but it is read as {dtype}, "
        f"as Dask's metadata says, which cannot hold {'these values' if value is None else 'that'}. "
    )


def _shown(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)


class Ends:
    """The sources or the targets of some edges: one series for each part of an id.

    Attributes
    ----------
    series : dict of str to Series
    folder : str or None
        The folder in which the values are in files; None if they are in memory.
    bounds : tuple of int or None
        The smallest and the largest value, if there are some, and they are integers in files.
    """

    def __init__(
        self,
        kind: type,
        series: dict[str, Any],
        folder: str | None = None,
        bounds: tuple[int, int] | None = None,
    ) -> None:
        self._kind = kind
        self.series, self.folder, self.bounds = series, folder, bounds

    @classmethod
    def of(cls, frame: Any) -> Ends:
        """Return the ids in a frame."""
        return cls(type(frame), {name: frame[name] for name in frame.columns})

    def holding(self, series: dict[str, Any]) -> Ends:
        """Return other ids in the same kind of frame."""
        return Ends(self._kind, series)

    def __len__(self) -> int:
        return len(next(iter(self.series.values())))

    def stored(self, folder: str) -> Ends:
        """Return the same ids, in files of a folder where possible."""
        moved = {name: frames.stored(series, folder) for name, series in self.series.items()}
        bounds = None
        if len(self) and len(moved) == 1 and dtypes.is_integer(self.only.dtype):
            values = frames.values(self.only)
            bounds = int(values.min()), int(values.max())  # while they are in memory
        return Ends(self._kind, moved, folder, bounds)

    @property
    def only(self) -> Any:
        """The series of ids; only for ids that have one part."""
        (series,) = self.series.values()
        return series

    @cached_property
    def like(self) -> Any:
        """An empty frame with the columns and dtypes of the ids."""
        types = tuple(one.dtype for one in self.series.values())
        if frames.are_integers(types):
            return frames.no_integers(self._kind, tuple(self.series), types)
        return frames.empty_like(self.frame)

    @cached_property
    def frame(self) -> Any:
        """The ids as a frame. Making one often takes longer than the components of a partition."""
        if len(self.series) == 1:
            ((name, only),) = self.series.items()
            return only.to_frame(name=name)  # shares memory, unlike the constructor
        return self._kind(self.series)


def _never_null(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "iub"


def check_weight(frame: Any, weight: Any, library: str = "pandas") -> None:
    """Raise unless `weight` is a column of numbers; see :func:`.advice.library_of` for `library`."""
    as_columns([weight], "weight")
    check_columns(frame, [weight], "weight")
    dtype = frame._meta[weight].dtype
    if dtypes.number_dtype(dtype) is None:
        raise WeightError(
            f"weight={weight!r} has dtype {dtypes.values_dtype(dtype)}; a weight is a real number. If the "
            f"column holds numbers, convert it, for example with "
            f"{convert('edges', library, [weight], 'floats')}; otherwise name another column"
        )
