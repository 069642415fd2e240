"""Minimum spanning trees. Of edges with the same weight, Kruskal's algorithm takes the first one.

The edges are numbered in the order in which NetworkX visits them in Kruskal's algorithm, and the numbers
are used as weights. So the trees are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from .converted import ConvertedGraph
from .registry import networkx_function


@networkx_function
def minimum_spanning_tree(
    G: ConvertedGraph, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> ConvertedGraph:
    """Return the graph of the edges of a minimum spanning tree, or of one of each component."""
    if G.directed:
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    edges = np.zeros(len(G.sources), bool)
    edges[_kruskal(G, weight)] = True
    return G.subgraph(np.ones(len(G), bool), edges)


@networkx_function
def minimum_spanning_edges(
    G: ConvertedGraph,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """Return the edges of a minimum spanning tree, by ascending weight."""
    edges = _kruskal(G, weight)
    ends = G.nodes_at(G.sources[edges]), G.nodes_at(G.targets[edges])
    if not data:
        return zip(*ends, strict=True)
    if G.data.edges is None:
        raise NotImplementedError("the attributes of the edges were not converted")
    return zip(*ends, [G.data.edges[edge] for edge in edges.tolist()], strict=True)


def _kruskal(G: ConvertedGraph, weight: Any) -> Any:
    """Return the positions of the edges of the minimum spanning tree, by ascending weight."""
    order = np.argsort(G.weights(weight), kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    found = G.compute(G.build(ranks), "minimum_spanning_forest")
    return order[np.sort(found.weight.to_numpy())]
