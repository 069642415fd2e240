"""Results with one row per source and vertex: their columns, and their rows from a search per source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.declarations.answer import Answer, OrNull, Result, rows, vertices
from dask_graphflow.operators.access import send_to_lister
from dask_graphflow.operators.view import GraphView


class SourceRows(NamedTuple):
    """A member's rows of a search from one source."""

    # Array of index, shape (r,). Numbers of owned vertices, in the order of their positions.
    vertices: Any
    distances: Any  # array, shape (r,)
    # Array of index, shape (r,). Vertex numbers; the dtype's maximum for the source.
    predecessors: Any


def search_rows(distance: str) -> Result:
    """Return the result of a search whose option `by_source` lists the rows of each source."""
    found = {"distance": distance, "predecessor": "id or null"}
    by_source = rows({"source": "id", "vertex": "id", **found})
    return vertices(found, instead={"by_source": by_source})


def answer_by_source(g: GraphView, sources: Any, searches: Iterator[SourceRows]) -> Answer:
    """Return the rows of all searches, sorted by source, then by vertex. All members call it.

    The sources are those of all members, ascending, and there is one search for each. Each member lists
    about as many sources as the others.
    """
    count = len(sources)
    listed = [send_to_lister(g, list(rows), at, count) for at, rows in enumerate(searches)]
    source = np.repeat(sources, [len(vertices) for vertices, *_ in listed])
    vertex, distance, predecessor = (np.concatenate(c) for c in zip(*listed, strict=True))
    none = predecessor == np.iinfo(predecessor.dtype).max
    columns = {"source": source, "vertex": vertex, "distance": distance}
    return Answer({**columns, "predecessor": OrNull(predecessor, none)})
