"""Minimum and maximum spanning trees; of edges with the same weight, the first one is taken.

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
    return _tree(G, _kruskal(G, weight))


@networkx_function
def maximum_spanning_tree(
    G: ConvertedGraph, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> ConvertedGraph:
    """Return the graph of the edges of a maximum spanning tree, or of one of each component."""
    return _tree(G, _kruskal(G, weight, -1))


def _tree(G: ConvertedGraph, edges: Any) -> ConvertedGraph:
    kept = np.zeros(len(G.sources), bool)
    kept[edges] = True
    return G.subgraph(np.ones(len(G), bool), kept)


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
    return _edges(G, _kruskal(G, weight), data)


@networkx_function
def maximum_spanning_edges(
    G: ConvertedGraph,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """Return the edges of a maximum spanning tree, by descending weight."""
    return _edges(G, _kruskal(G, weight, -1), data)


def _edges(G: ConvertedGraph, edges: Any, data: bool) -> Iterator[tuple[Any, ...]]:
    ends = G.nodes_at(G.sources[edges]), G.nodes_at(G.targets[edges])
    if not data:
        return zip(*ends, strict=True)
    if G.data.edges is None:
        raise NotImplementedError("the attributes of the edges were not converted")
    return zip(*ends, [dict(G.data.edges[edge]) for edge in edges.tolist()], strict=True)


def _kruskal(G: ConvertedGraph, weight: Any, sign: int = 1) -> Any:
    """Return the positions of the edges of the minimum spanning tree in the order of their weights.

    A negative sign takes the maximum spanning tree.
    """
    if G.directed:
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    order = np.argsort(sign * G.weights(weight), kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    found = G.compute(G.build(ranks), "minimum_spanning_forest")
    return order[np.sort(found.weight.to_numpy())]
