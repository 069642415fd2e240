"""Shortest paths, in edges or by weight, as lists of nodes."""

from __future__ import annotations

from typing import Any

import networkx as nx

from .converted import ConvertedGraph, Node
from .registry import networkx_function
from .searches import distances, path_to, paths, require, search, weighted_search
from .weighted_paths import length_to, single_source_bellman_ford

ALL_PAIRS = "all pairs of nodes are not supported; give source= or target="


@networkx_function
def shortest_path(
    G: ConvertedGraph, source: Node | None, target: Node | None, weight: Any, method: str
) -> Any:
    """Return a shortest path between two nodes, or each from a source, or each to a target."""
    end = _one_end(source, target, weight, method)
    if source is None or target is None:
        return paths(
            G, _find_reached(G, end, weight, method, source is None), backward=source is None
        )
    if weight is not None and method == "bellman-ford":
        return single_source_bellman_ford(G, source, target, weight)[1]
    require(G, "Source {} is not in G", source)
    require(G, "Target {} is not in G", target)
    found = _find_reached(G, source, weight, method)
    return path_to(G, found, target, f"No path between {source} and {target}.")


@networkx_function
def shortest_path_length(
    G: ConvertedGraph, source: Node | None, target: Node | None, weight: Any, method: str
) -> Any:
    """Return the distance between two nodes, or from a source, or to a target."""
    end = _one_end(source, target, weight, method)
    if source is None or target is None:
        return distances(G, _find_reached(G, end, weight, method, source is None))
    if weight is not None:
        return length_to(method, G, source, target, weight)
    require(G, "Source {} is not in G", source)
    require(G, "Target {} is not in G", target)
    found = G.run("bfs", sources=[G.positions[source]], targets=[G.positions[target]])
    if not len(found):
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return found.distance.iloc[0].item()


@networkx_function
def bidirectional_shortest_path(G: ConvertedGraph, source: Node, target: Node) -> list[Node]:
    """Return a shortest path between two nodes."""
    path: list[Node] = shortest_path(G, source, target, None, "dijkstra")
    return path


@networkx_function
def bidirectional_dijkstra(
    G: ConvertedGraph, source: Node, target: Node, weight: Any
) -> tuple[float, list[Node]]:
    """Return the distance between two nodes, and a shortest path."""
    for node, name in ((source, "Source"), (target, "Target")):
        require(G, name + " {} is not in G", node)
    if source == target:
        return 0, [source]
    found = weighted_search(G, [source], weight)
    path = path_to(G, found, target, f"No path between {source} and {target}.")
    return distances(G, found)[target], path


def _one_end(source: Node | None, target: Node | None, weight: Any, method: str) -> Node:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    if source is None and target is None:
        raise NotImplementedError(ALL_PAIRS)
    return target if source is None else source


def _find_reached(
    G: ConvertedGraph, end: Node, weight: Any, method: str, reverse: bool = False
) -> Any:
    if weight is None:
        require(G, "Source {} not in G", end)
        return search(G, end, reverse=reverse)
    bellman_ford = method == "bellman-ford"
    require(G, "Source {} not in G" if bellman_ford else "Node {} not found in graph", end)
    return weighted_search(G, [end], weight, reverse=reverse)
