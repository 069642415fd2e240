"""The largest communities of a graph, and the numbers of edges between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.algorithms.community_metrics.which_community import Communities
from dask_graphflow.api.graph import Graph
from dask_graphflow.graph.blocks import blocks
from dask_graphflow.operators.access import sources_of, wide_column
from dask_graphflow.operators.view import GraphView
from dask_graphflow.operators.whole_weights import own_sums
from dask_graphflow.runtime.answer import Answer
from dask_graphflow.runtime.call import Call

from .given import computed

COMMUNITIES = Communities()
NUMBERS = ("first", "second", "size", "edges", "count")


@dataclass(frozen=True)
class Quotient:
    """The largest communities of a graph, the largest first.

    Attributes
    ----------
    count : int
        Number of all communities.
    names : pandas.DataFrame
        For each community, the id of the vertex with the most edges.
    sizes : ndarray of int64, shape (k,)
        Number of vertices of each community.
    edges : ndarray of int64, shape (k, k)
        Number of edges between two communities; on the diagonal, of edges inside one. Directions and
        self-loops are left out.
    inside : ndarray of float64, shape (k,)
        Share of the edges of each community that stay inside, from 0 to 1; 1 if it has no edge.
    """

    count: int
    names: pd.DataFrame
    sizes: np.ndarray
    edges: np.ndarray
    inside: np.ndarray


def quotient(graph: Graph, communities: Any, limit: int) -> Quotient:
    """Return the `limit` largest communities of a graph; at equal size, smaller communities come first."""
    spec = graph._shards.spec
    frames = {"communities": COMMUNITIES.check("communities", communities, spec)}
    columns = {"name": "id", **dict.fromkeys(NUMBERS, "int64")}
    call = Call("quotient", _quotient, columns, rows="listed")
    rows = computed(call.send(graph._shards, limit, frames=frames))
    k = int(rows["first"].max()) + 1 if len(rows) else 0
    names, own = list(rows.columns[: spec.id_width]), rows["first"] == rows["second"]
    ends = rows["edges"].to_numpy().reshape(k, k + 1)
    edges, others = ends[:, :k].copy(), ends[:, k]
    np.fill_diagonal(edges, edges.diagonal() // 2)  # an edge inside has both its ends there
    cut = edges.sum(axis=1) - edges.diagonal() + others
    inside = edges.diagonal() / np.maximum(edges.diagonal() + cut, 1)
    inside[edges.diagonal() + cut == 0] = 1
    largest = rows[own]
    return Quotient(
        int(rows["count"].max()) if k else 0,
        largest[names],
        largest["size"].to_numpy(),
        edges,
        inside,
    )


def _quotient(g: GraphView, frames: Mapping[str, Any], limit: int) -> Answer:
    """Return the numbers of ends of edges for each pair of large communities; the first member lists them.

    A pair is the places of two communities, sorted by size. The last place stands for all others.
    """
    community, names = COMMUNITIES.resolve(g, frames["communities"])
    size = sum(g.member.exchange.all_gather(own_sums(community[community >= 0], None, len(names))))
    largest = np.argsort(-size, kind="stable")[:limit]
    k = len(largest)
    place = np.full_like(size, k, shape=len(names) + 1)
    place[largest] = np.arange(k, like=place)
    own = place[community]
    ends = sum(g.member.exchange.all_gather(_ends(g, wide_column(g, own), k + 1))).reshape(
        k + 1, k + 1
    )
    ends = ends + ends.T if g.directed else ends
    leaders = _leaders(g, own, k)
    listed = k * (k + 1) if g.member.exchange.rank == 0 else 0
    at = np.arange(listed, like=place)
    first, second = at // (k + 1), at % (k + 1)
    return Answer(
        {
            "name": leaders[first],
            "first": first,
            "second": second,
            "size": size[largest][first],
            "edges": ends[first, second],
            "count": np.full_like(first, len(names)),
        }
    )


def _ends(g: GraphView, places: Any, count: int) -> Any:
    """Return the number of this member's edges for each pair of places: array, shape (count**2,)."""
    rows = g.member.local("out").rows._replace(weights=None)
    counts = np.zeros_like(places, "int64", shape=count * count)
    for _, block in blocks(rows):
        owners = sources_of(g, block)
        apart = owners != block.ends
        pairs = places[owners[apart]] * count + places[block.ends[apart]]
        counts += own_sums(pairs, None, count * count)
    return counts


def _leaders(g: GraphView, places: Any, count: int) -> Any:
    """Return the number of the vertex with the most edges of each of the first places.

    Ties go to the smaller number.
    """
    degrees = g.degrees + g.T.degrees if g.directed else g.degrees
    keys = degrees * g.size + (g.size - 1 - g.numbers)
    best = np.full_like(keys, -1, shape=count)
    for place in range(count):
        of_place = keys[places == place]
        if len(of_place):
            best[place] = of_place.max()
    return g.size - 1 - g.elementwise_max(best) % g.size
