"""What a search found: a row per vertex, or per source and vertex if each source is searched by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.declarations.answer import Answer, OrNull, Result, rows, vertices
from dask_graphflow.declarations.previous import Previous
from dask_graphflow.declarations.vertex_options import only
from dask_graphflow.operators.access import send_to_lister
from dask_graphflow.operators.priorities import places_of
from dask_graphflow.operators.search.repair import (
    distances_pay,
    levels_pay,
    never_reached,
    repair_paths,
)
from dask_graphflow.operators.view import GraphView

# A member's rows of a search from one source: numbers of owned vertices in the order of their positions,
# distances, and numbers of predecessors; the dtype's maximum for the source.
SourceRows = tuple[Any, Any, Any]


class SearchResult(NamedTuple):
    """What a search found. Arrays have one entry per owned vertex."""

    reached: Any  # array of bool
    distances: Any
    predecessors: Any  # array of index. Vertex numbers.
    none: Any  # array of bool. Which vertices have no predecessor.

    @staticmethod
    def declare(distance: str) -> Result:
        """Declare the result of a search whose option `by_source` lists the rows of each source."""
        found = {"distance": distance, "predecessor": "id or null"}
        by_source = rows({"source": "id", "vertex": "id", **found})
        return vertices(found, instead={"by_source": by_source})

    @staticmethod
    def earlier(distance: str) -> Previous:
        """Declare the option that takes the result of an earlier version of the graph."""
        fills = {"distance": never_reached(distance)}
        without = "targets", "by_source"
        rule = distances_pay if np.dtype(distance).kind == "f" else levels_pay
        return Previous(fills, ["predecessor"], alone=True, pays=rule, without=without)

    @staticmethod
    def answer_repaired(
        g: GraphView, previous: Mapping[str, Any] | None, sources: Any, cutoff: float | None
    ) -> Answer | None:
        """Bring an earlier result up to date; the answer is None if a search would be as fast."""
        if previous is None:
            return None
        ids, cutoff = previous["predecessor"], math.inf if cutoff is None else float(cutoff)

        def precedes(above: Any, below: Any) -> Any:
            return ids.equal(g, below, above)

        done = repair_paths(g, previous["distance"], precedes, sources, cutoff)
        if done is None:
            return None
        found, every = done
        if every:
            result = SearchResult(found.reached, *found, found.predecessor < 0)
            return result.answer(None)
        new = np.flatnonzero(found.predecessor >= 0)
        predecessors = ids.replaced(g, new, found.predecessor[new])
        columns = {"distance": found.distance, "predecessor": predecessors}
        return Answer(columns, among=found.reached)

    def answer(self, targets: Any) -> Answer:
        """Return the answer with the rows of the vertices, or of the targets if any, that were reached."""
        predecessors = OrNull(self.predecessors, self.none)
        columns = {"distance": self.distances, "predecessor": predecessors}
        return Answer(columns, among=only(targets, self.reached))

    def rows(self, g: GraphView, targets: Any) -> SourceRows:
        """Return the same rows as those of one of several sources."""
        at = np.flatnonzero(only(targets, self.reached))
        never = np.iinfo(self.predecessors.dtype).max
        predecessors = np.where(self.none[at], never, self.predecessors[at])
        return g.numbers[at], self.distances[at], predecessors.astype(g.index)

    @staticmethod
    def answer_by_source(
        g: GraphView, sources: Any, search_each: Callable[[Any, int], Iterator[SourceRows]]
    ) -> Answer:
        """Return the rows of all searches, sorted by source, then by vertex. All members call it.

        A member gives the positions of the sources that it owns. `search_each` takes the index of each
        source among all sources, which is -1 for other vertices, and the number of sources. It yields the
        rows of one search after another. Each member lists about as many sources as the others.
        """
        places, every = places_of(g, sources)
        searches = enumerate(search_each(places, len(every)))
        listed = [send_to_lister(g, list(found), at, len(every)) for at, found in searches]
        source = np.repeat(every, [len(vertices) for vertices, *_ in listed])
        vertex, distance, predecessor = (np.concatenate(c) for c in zip(*listed, strict=True))
        none = predecessor == np.iinfo(predecessor.dtype).max
        columns = {"source": source, "vertex": vertex, "distance": distance}
        return Answer({**columns, "predecessor": OrNull(predecessor, none)})
