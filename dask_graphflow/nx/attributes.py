"""Attributes of nodes and edges, in columns."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from dask_graphflow.inputs.adjacency_rows import chunks_of


class Attributes:
    """The attributes of each node or edge, of any type.

    They are in columns if all nodes or edges have the same ones, because a copy of each dict takes several
    times as long.

    Parameters
    ----------
    count : int
        The number of nodes or edges.
    columns : dict, optional
        An array of objects for each attribute.
    dicts : array of dict, optional
        The attributes of each node or edge, if there are no columns.
    """

    def __init__(self, count: int, columns: dict[Any, Any] | None, dicts: Any = None) -> None:
        self.count = count
        self.columns = columns
        self.dicts = dicts

    @classmethod
    def of(cls, data: Iterable[dict[Any, Any]]) -> Attributes:
        """Return the attributes in some dicts, which can change afterwards."""
        data, count = iter(data), 0
        columns: dict[Any, list[Any]] = {}
        for chunk in chunks_of(data):
            found = _columns(chunk, columns if count else chunk[0])
            if found is None:
                dicts = dicts_of(count, columns)
                dicts += map(dict, itertools.chain(chunk, data))
                return cls(len(dicts), None, objects(dicts))
            for name, values in found.items():
                columns.setdefault(name, []).extend(values)
            count += len(chunk)
        return cls(count, {name: objects(values) for name, values in columns.items()})

    def take(self, chosen: Any) -> Attributes:
        """Return the attributes at some positions, or where an array of bool is true."""
        positions = np.arange(self.count)[chosen]
        if self.columns is None:
            return Attributes(len(positions), None, self.dicts[positions])
        columns = {name: values[positions] for name, values in self.columns.items()}
        return Attributes(len(positions), columns)

    def values(self, name: Any, default: Any) -> list[Any]:
        """Return an attribute of each node or edge."""
        if self.columns is None:
            return [attributes.get(name, default) for attributes in self.dicts]
        return self.columns[name].tolist() if name in self.columns else [default] * self.count

    def as_dicts(self) -> list[dict[Any, Any]]:
        """Return the attributes of each node or edge as a new dict."""
        if self.columns is None:
            return list(map(dict, self.dicts))
        return dicts_of(
            self.count, {name: values.tolist() for name, values in self.columns.items()}
        )


def _columns(dicts: list[dict[Any, Any]], names: Iterable[Any]) -> dict[Any, list[Any]] | None:
    """Return the values of each name, or None if a dict has other names."""
    names = list(names)
    # A subclass of dict can have values for other names, as a defaultdict does.
    if {*map(type, dicts)} != {dict} or {*map(len, dicts)} != {len(names)}:
        return None
    try:
        return {name: list(map(operator.itemgetter(name), dicts)) for name in names}
    except KeyError:
        return None


def dicts_of(count: int, columns: dict[Any, list[Any]]) -> list[dict[Any, Any]]:
    """Return a dict for each row of some columns."""
    if not columns:
        return [{} for _ in range(count)]
    if len(columns) == 1:
        ((name, values),) = columns.items()
        return [{name: value} for value in values]
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def objects(values: list[Any]) -> Any:
    """Return an array of objects, also if each object is a sequence."""
    return np.fromiter(values, object, len(values))


def numbers(values: list[Any], attribute: Any) -> Any:
    """Return the values of an edge attribute as an array of int64 or float64.

    Raises
    ------
    NotImplementedError
        A value is not a number.
    """
    try:
        array = np.array(values)
    except ValueError:  # lists of different lengths
        array = np.array(None)
    if not values or (array.ndim == 1 and array.dtype.kind in "bi"):
        return array.astype(np.int64)
    if array.ndim == 1 and array.dtype.kind in "uf":
        return array.astype(np.float64)
    raise NotImplementedError(f"the edge attribute {attribute!r} has values that are not numbers")
