"""The two sides of a bipartite graph, without regard to the directions of edges, and its matchings."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from .components import is_connected
from .converted import ConvertedGraph, Data, Node
from .registry import networkx_function, register


@networkx_function
def color(G: ConvertedGraph) -> dict[Node, int]:
    """Return 0 or 1 for each node, so that each edge joins a 0 and a 1."""
    return G.by_node(pd.Series(_colors(G)))


@networkx_function
def is_bipartite(G: ConvertedGraph) -> bool:
    """Return whether the nodes have two sides, and each edge joins one side to the other."""
    try:
        _colors(G)
    except nx.NetworkXError:
        return False
    return True


@networkx_function
def sets(G: ConvertedGraph, top_nodes: Any) -> tuple[set[Node], set[Node]]:
    """Return the nodes of each of the two sides."""
    if top_nodes is not None:
        top = set(top_nodes)
        return top, {*G} - top
    if not is_connected("connected_components", G):
        raise nx.AmbiguousSolution("Disconnected graph: Ambiguous solution for bipartite sets.")
    colors = _colors(G)
    return {*G.nodes_at(colors == 1)}, {*G.nodes_at(colors == 0)}


def _matching(G: ConvertedGraph, top_nodes: Any) -> dict[Node, Node]:
    """Return a maximum matching, by the nodes of both sides."""
    top, _ = sets(G, top_nodes)
    on_top = np.zeros(len(G), bool)
    if not all(node in G for node in top):  # the two functions of NetworkX do not treat it alike
        raise NotImplementedError("a node of the top side is not in the graph")
    on_top[[G.positions[node] for node in top]] = True
    if (on_top[G.sources] == on_top[G.targets]).any():
        raise NotImplementedError("an edge joins two nodes of the same side")
    source = np.where(on_top[G.sources], G.sources, G.targets)
    target = np.where(on_top[G.sources], G.targets, G.sources)
    ahead = ConvertedGraph(G.nodes, source, target, {}, directed=True, multigraph=True, data=Data())
    found = ahead.run("bipartite_matching")
    ends = (G.nodes_at(found[side].to_numpy()) for side in ("source", "target"))
    pairs = dict(zip(*ends, strict=True))
    return pairs | {right: left for left, right in pairs.items()}


register("hopcroft_karp_matching", _matching)
register("eppstein_matching", _matching)


def _colors(G: ConvertedGraph) -> np.ndarray:
    """Return the color of each node by the parity of its distance from the first node of its component.

    NetworkX starts at the first node that an edge leaves, and gives it the color 1. A node without an edge
    has the color 0.
    """
    colors = np.zeros(len(G), np.int64)
    if not len(G.sources):
        return colors
    starts = np.unique(G.sources if G.directed else np.concatenate([G.sources, G.targets]))
    components = G.run("connected_components").component.to_numpy()
    _, first = np.unique(components[starts], return_index=True)
    either = G
    if G.directed:
        ends = G.sources, G.targets
        either = ConvertedGraph(G.nodes, *ends, {}, directed=False, multigraph=True, data=Data())
    found = either.run("bfs", sources=starts[first].tolist())
    colors[found.vertex.to_numpy()] = 1 - found.distance.to_numpy() % 2
    if (colors[G.sources] == colors[G.targets]).any():
        raise nx.NetworkXError("Graph is not bipartite.")
    return colors
