"""What an algorithm returns: columns with one value per vertex, per edge, or per row that it lists.

The declaration names the columns, with :func:`vertices`, :func:`edges` or :func:`rows`. The algorithm
returns them in an :class:`Answer`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dask_graphflow.operators.view import GraphView

from .spec import GraphSpec

Columns = Mapping[str, Any]
ColumnsOf = Callable[[GraphSpec, Mapping[str, Any]], Columns]


@dataclass(frozen=True)
class Result:
    """The rows and the columns of a result."""

    # {"vertices", "edges", "listed"}. "vertices": one row per vertex, with the column ``vertex`` first.
    # "edges": one row per edge, with the columns ``source``, ``target`` and, if edges have weights that the
    # algorithm does not ignore, ``weight`` first. "listed": the rows that the algorithm lists; see
    # :class:`Answer`.
    rows: str
    # The columns with their dtypes, after the first ones. "id" stands for vertex ids, and "id or null" for
    # vertex ids that can be null. Or a function that returns them for a graph's specification and the
    # checked options.
    columns: Columns | ColumnsOf
    # The results of calls that set an option.
    instead: Mapping[str, Result] = field(default_factory=dict)

    def of_call(self, options: Mapping[str, Any]) -> Result:
        """Return the result of a call with these options."""
        return next((one for name, one in self.instead.items() if options[name]), self)

    def all_columns(
        self, spec: GraphSpec, options: Mapping[str, Any], *, weighted: bool
    ) -> dict[str, Any]:
        """Return all columns of a call with their dtypes; `weighted` adds the weights of edges."""
        own = self.columns(spec, options) if callable(self.columns) else self.columns
        return {**spec.row_columns(self.rows, weighted=weighted and self.rows == "edges"), **own}


def vertices(
    columns: Columns | ColumnsOf, *, instead: Mapping[str, Result] | None = None
) -> Result:
    """Declare a result with one row per vertex; see :class:`Result`."""
    return Result("vertices", columns, instead or {})


def edges(columns: Columns | None = None) -> Result:
    """Declare a result with one row per edge, and further columns; see :class:`Result`."""
    return Result("edges", columns or {})


def rows(columns: Columns | ColumnsOf) -> Result:
    """Declare a result with the rows that the algorithm lists; see :class:`Result`."""
    return Result("listed", columns)


class OrNull(NamedTuple):
    """Vertex numbers, and which of them are null."""

    numbers: Any
    none: Any


class LabelColumn(NamedTuple):
    """Values of any type: row numbers in a frame, and the frame. All members have the same frame."""

    rows: Any
    names: Any


class LabelTypes(NamedTuple):
    """The types of a column of :class:`LabelColumn`: the dtype of each column of the frame."""

    dtypes: tuple[Any, ...]


@dataclass
class Answer:
    """What an algorithm returns: columns with one value per vertex, per edge, or per row that it lists."""

    # Dict of str to array. One value per position; see :class:`.GraphView`. A column of vertex ids holds
    # vertex numbers (see :attr:`.GraphView.numbers`), of this or other members' vertices, or an
    # :class:`OrNull` if some of the ids are null. If the algorithm declares :func:`rows`, it has one value
    # per row instead. All columns have the same length, which may differ between members and may be 0. The
    # result has the rows of the first member, then those of the second, and so on, in the order in which
    # each member lists them. So the algorithm decides which member lists a row; :func:`.send_rows` sends
    # rows to other members.
    columns: dict[str, Any]
    # Array of bool, shape (V_p,), or EdgeSet, or None. Positions, or edges if the rows are edges, that get
    # a row in the result; None for all. Listed rows do not use it.
    among: Any = None
    # The graph whose edges the answer is about, if the rows are edges: `columns` then have one entry per
    # edge in its ``rows("out")``. The members' results together have each edge once.
    edges: GraphView | None = None
