"""Minimum and maximum spanning trees; of edges with the same weight, the first one is taken.

The edges are numbered in the order in which NetworkX visits them in Kruskal's algorithm, and the numbers
are used as weights. So the trees are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import networkx as nx
import numpy as np

from .converted import ConvertedGraph
from .registry import register


def _tree(sign: int, G: ConvertedGraph, weight: Any, ignore_nan: bool) -> ConvertedGraph:
    """Return the graph of the edges of a spanning tree, or of one of each component."""
    kept = np.zeros(len(G.sources), bool)
    kept[_kruskal(G, weight, sign)] = True
    return G.subgraph(np.ones(len(G), bool), kept)


def _edges(
    sign: int, G: ConvertedGraph, weight: Any, keys: bool, data: bool, ignore_nan: bool
) -> Iterator[tuple[Any, ...]]:
    """Return the edges of a spanning tree, in the order of their weights."""
    edges = _kruskal(G, weight, sign)
    ends = G.nodes_at(G.sources[edges]), G.nodes_at(G.targets[edges])
    if not data:
        return zip(*ends, strict=True)
    if G.data.edges is None:
        raise NotImplementedError("the attributes of the edges were not converted")
    return zip(*ends, G.data.edges.take(edges).as_dicts(), strict=True)


for which, sign in {"minimum": 1, "maximum": -1}.items():
    register(f"{which}_spanning_tree", partial(_tree, sign))
    register(f"{which}_spanning_edges", partial(_edges, sign))


def _kruskal(G: ConvertedGraph, weight: Any, sign: int) -> Any:
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
