"""What an algorithm returns: columns with one value per vertex, per edge, or per row that it lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from dask_graphflow.operators.view import GraphView


class OrNull(NamedTuple):
    """Vertex numbers, and which of them are null."""

    numbers: Any
    none: Any


class Labels(NamedTuple):
    """Values of any type: row numbers in a frame, and the frame. All members have the same frame."""

    rows: Any
    names: Any


class LabelTypes(NamedTuple):
    """The types of a column of :class:`Labels`: the dtype of each column of the frame."""

    dtypes: tuple[Any, ...]


@dataclass
class Answer:
    """What an algorithm returns: columns with one value per vertex, per edge, or per row that it lists.

    Attributes
    ----------
    columns : dict of str to array
        One value per position; see :class:`.GraphView`. A column of vertex ids holds vertex numbers (see
        :attr:`.GraphView.numbers`), of this or other members' vertices, or an :class:`OrNull` if some of
        the ids are null.

        If the algorithm is declared with ``rows="listed"``, it has one value per row instead. All columns
        have the same length, which may differ between members and may be 0. The result has the rows of the
        first member, then those of the second, and so on, in the order in which each member lists them. So
        the algorithm decides which member lists a row; :func:`.send_rows` sends rows to other members.
    among : array of bool, shape (V_p,), or EdgeSet, or None
        Positions, or edges if ``rows="edges"``, that get a row in the result; None for all. Listed rows do
        not use it.
    edges : GraphView or None
        The graph whose edges the answer is about, if ``rows="edges"``: `columns` then have one entry per
        edge in its ``rows("out")``. The members' results together have each edge once.
    """

    columns: dict[str, Any]
    among: Any = None
    edges: GraphView | None = None
