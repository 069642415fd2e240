"""What an algorithm returns: columns with one value per vertex, or per edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from dask_graphflow.operators.view import GraphView

__all__ = ["Answer", "OrNull"]


class OrNull(NamedTuple):
    """Vertex numbers, and which of them are null."""

    numbers: Any
    none: Any


@dataclass
class Answer:
    """What an algorithm returns: columns with one value per vertex, or per edge.

    Attributes
    ----------
    columns : dict of str to array
        One value per position; see :class:`.GraphView`. A column of vertex ids holds vertex numbers, or an
        :class:`OrNull` if some of the ids are null.
    among : array of bool, shape (V_p,), or None
        Positions that get a row in the result; None for all vertices.
    edges : GraphView or None
        The graph whose edges the answer is about, if it is about edges: `columns` and `among` then have one
        entry per edge in its ``rows("out")``. The members' results together have each edge once.
    """

    columns: dict[str, Any]
    among: Any = None
    edges: GraphView | None = None
