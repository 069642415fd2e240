"""Results with one row per source and vertex: their columns, and their rows from a search per source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.operators.access import send_to_lister
from dask_graphflow.operators.view import GraphView
from dask_graphflow.runtime.algorithm import Columns, ColumnsOf, Listed
from dask_graphflow.runtime.answer import Answer, OrNull
from dask_graphflow.runtime.spec import GraphSpec


class Reached(NamedTuple):
    """A member's rows of a search from one source.

    Attributes
    ----------
    vertices : array of index, shape (r,)
        Numbers of owned vertices, in the order of their positions.
    distances : array, shape (r,)
    predecessors : array of index, shape (r,)
        Vertex numbers; the dtype's maximum for the source.
    """

    vertices: Any
    distances: Any
    predecessors: Any


def search_columns(distance: str) -> ColumnsOf:
    """Return the columns of a search whose option `by_source` adds the source.

    Parameters
    ----------
    distance : str
        The dtype of distances.
    """
    return partial(_columns, distance)


def _columns(distance: str, spec: GraphSpec, options: Mapping[str, Any]) -> Columns:
    found = {"distance": distance, "predecessor": "id or null"}
    if options["by_source"]:
        return Listed({"source": "id", "vertex": "id", **found})
    return found


def answer_by_source(g: GraphView, sources: Any, searches: Iterator[Reached]) -> Answer:
    """Return the rows of all searches, sorted by source, then by vertex. All members call it.

    Each member lists about as many sources as the others.

    Parameters
    ----------
    sources : array of index, shape (s,)
        Numbers of the sources of all members, ascending.
    searches : iterator of Reached
        One per source, in the same order on all members.
    """
    count = len(sources)
    listed = [send_to_lister(g, list(rows), at, count) for at, rows in enumerate(searches)]
    source = np.repeat(sources, [len(vertices) for vertices, *_ in listed])
    vertex, distance, predecessor = (np.concatenate(c) for c in zip(*listed, strict=True))
    none = predecessor == np.iinfo(predecessor.dtype).max
    columns = {"source": source, "vertex": vertex, "distance": distance}
    return Answer({**columns, "predecessor": OrNull(predecessor, none)})
