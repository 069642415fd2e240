"""Distances in edges, in ascending order, and the nodes that can be reached."""

from __future__ import annotations

import networkx as nx

from .converted import ConvertedGraph, Node
from .registry import networkx_function
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
    G: ConvertedGraph, source: Node, cutoff: float | None = None
) -> dict[Node, int]:
    """Return the number of edges to each node that can be reached from the source."""
    require(G, "Source {} is not in G", source)
    return distances(G, search(G, source, cutoff))


@networkx_function
def single_target_shortest_path_length(
    G: ConvertedGraph, target: Node, cutoff: float | None = None
) -> dict[Node, int]:
    """Return the number of edges from each node that can reach the target."""
    require(G, "Target {} is not in G", target)
    return distances(G, search(G, target, cutoff, reverse=True))


@networkx_function
def descendants(G: ConvertedGraph, source: Node) -> set[Node]:
    """Return the other nodes that can be reached from the source."""
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    return {*G.nodes_at(search(G, source).vertex.to_numpy())} - {source}


@networkx_function
def ancestors(G: ConvertedGraph, source: Node) -> set[Node]:
    """Return the other nodes that can reach the source."""
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    return {*G.nodes_at(search(G, source, reverse=True).vertex.to_numpy())} - {source}


@networkx_function
def descendants_at_distance(G: ConvertedGraph, source: Node, distance: int) -> set[Node]:
    """Return the nodes at exactly this number of edges from the source."""
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    found = search(G, source, distance)
    return {*G.nodes_at(found.vertex.to_numpy()[found.distance == distance])}
