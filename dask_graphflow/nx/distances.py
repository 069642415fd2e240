"""Distances in edges, in ascending order, and the nodes that can be reached."""

from __future__ import annotations

from functools import partial

import networkx as nx

from .converted import ConvertedGraph, Node
from .registry import networkx_function, register
from .searches import distances, require, search


@networkx_function
def has_path(G: ConvertedGraph, source: Node, target: Node) -> bool:
    """Return whether the target can be reached from the source."""
    require(G, "Source {} is not in G", source)
    require(G, "Target {} is not in G", target)
    reached = G.run("bfs", sources=[G.positions[source]], targets=[G.positions[target]])
    return bool(len(reached))


@networkx_function
def single_source_shortest_path_length(
    G: ConvertedGraph, source: Node, cutoff: float | None
) -> dict[Node, int]:
    """Return the number of edges to each node that can be reached from the source."""
    require(G, "Source {} is not in G", source)
    return distances(G, search(G, source, cutoff))


@networkx_function
def single_target_shortest_path_length(
    G: ConvertedGraph, target: Node, cutoff: float | None
) -> dict[Node, int]:
    """Return the number of edges from each node that can reach the target."""
    require(G, "Target {} is not in G", target)
    return distances(G, search(G, target, cutoff, reverse=True))


def _reached(reverse: bool, G: ConvertedGraph, source: Node) -> set[Node]:
    """Return the other nodes that can be reached from the source, or that can reach it."""
    _require_node(G, source)
    return {*G.nodes_at(search(G, source, reverse=reverse).vertex.to_numpy())} - {source}


register("descendants", partial(_reached, False))
register("ancestors", partial(_reached, True))


@networkx_function
def descendants_at_distance(G: ConvertedGraph, source: Node, distance: int) -> set[Node]:
    """Return the nodes at exactly this number of edges from the source."""
    _require_node(G, source)
    found = search(G, source, distance)
    return {*G.nodes_at(found.vertex.to_numpy()[found.distance == distance])}


def _require_node(G: ConvertedGraph, source: Node) -> None:
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
