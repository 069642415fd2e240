"""Shortest paths by weight, as lists of nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx as nx

from .converted import ConvertedGraph, Node
from .registry import networkx_function
from .searches import distances, path_to, paths, require, weighted_search

Paths = dict[Node, list[Node]]


@networkx_function
def multi_source_dijkstra(
    G: ConvertedGraph,
    sources: Iterable[Node],
    target: Node | None = None,
    cutoff: float | None = None,
    weight: Any = "weight",
) -> tuple[Any, Any]:
    """Return the distance from the nearest source and a path, to a node or to each that can be reached."""
    return _from_sources(G, sources, target, cutoff, weight)


def _from_sources(
    G: ConvertedGraph, sources: Iterable[Node], target: Any, cutoff: float | None, weight: Any
) -> tuple[Any, Any]:
    sources = list(sources)
    if not sources:
        raise ValueError("sources must not be empty")
    for source in sources:
        require(G, "Node {} not found in graph", source)
    if target in sources:
        return 0, [target]
    found = weighted_search(G, sources, weight, cutoff)
    if target is None:
        return distances(G, found), paths(G, found)
    path = path_to(G, found, target)
    if path is None:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return distances(G, found)[target], path


@networkx_function
def multi_source_dijkstra_path(
    G: ConvertedGraph, sources: Iterable[Node], cutoff: float | None = None, weight: Any = "weight"
) -> Paths:
    """Return a shortest path from the nearest source to each node that can be reached."""
    found: Paths = _from_sources(G, sources, None, cutoff, weight)[1]
    return found


@networkx_function
def single_source_dijkstra(
    G: ConvertedGraph,
    source: Node,
    target: Node | None = None,
    cutoff: float | None = None,
    weight: Any = "weight",
) -> tuple[Any, Any]:
    """Return the distance from a source and a path, to a node or to each that can be reached."""
    return _from_sources(G, [source], target, cutoff, weight)


@networkx_function
def single_source_dijkstra_path(
    G: ConvertedGraph, source: Node, cutoff: float | None = None, weight: Any = "weight"
) -> Paths:
    """Return a shortest path from the source to each node that can be reached."""
    found: Paths = _from_sources(G, [source], None, cutoff, weight)[1]
    return found


@networkx_function
def dijkstra_path(
    G: ConvertedGraph, source: Node, target: Node, weight: Any = "weight"
) -> list[Node]:
    """Return a shortest path between two nodes."""
    path: list[Node] = _from_sources(G, [source], target, None, weight)[1]
    return path


@networkx_function
def single_source_bellman_ford(
    G: ConvertedGraph, source: Node, target: Node | None = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    """Return the distance from a source and a path, to a node or to each that can be reached."""
    return _bellman_ford(G, source, target, weight)


def _bellman_ford(G: ConvertedGraph, source: Node, target: Any, weight: Any) -> tuple[Any, Any]:
    same = source == target
    require(G, "Node {} is not found in the graph" if same else "Source {} not in G", source)
    if same:
        return 0, [source]
    found = weighted_search(G, [source], weight)
    if target is None:
        return distances(G, found), paths(G, found)
    path = path_to(G, found, target)
    if path is None:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    return distances(G, found)[target], path


@networkx_function
def single_source_bellman_ford_path(
    G: ConvertedGraph, source: Node, weight: Any = "weight"
) -> Paths:
    """Return a shortest path from the source to each node that can be reached."""
    found: Paths = _bellman_ford(G, source, None, weight)[1]
    return found


@networkx_function
def bellman_ford_path(
    G: ConvertedGraph, source: Node, target: Node, weight: Any = "weight"
) -> list[Node]:
    """Return a shortest path between two nodes."""
    path: list[Node] = _bellman_ford(G, source, target, weight)[1]
    return path
