"""Shortest paths by weight, as lists of nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from .converted import ConvertedGraph, Node
from .registry import networkx_function
from .searches import distances, given_sources, path_to, paths, require, weighted_search

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
    sources = given_sources(G, sources)
    if target in sources:
        return 0, [target]
    found = weighted_search(G, sources, weight, cutoff)
    return _distance_and_path(G, found, target, f"No path to {target}.")


def _distance_and_path(
    G: ConvertedGraph, found: pd.DataFrame, target: Any, problem: str
) -> tuple[Any, Any]:
    """Return the distance and the path to a node, or those of each node that was reached."""
    if target is None:
        return distances(G, found), paths(G, found)
    path = path_to(G, found, target, problem)
    return distances(G, found)[target], path


@networkx_function
def multi_source_dijkstra_path(
    G: ConvertedGraph, sources: Iterable[Node], cutoff: float | None = None, weight: Any = "weight"
) -> Paths:
    """Return a shortest path from the nearest source to each node that can be reached."""
    return paths(G, weighted_search(G, given_sources(G, sources), weight, cutoff))


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
    return paths(G, weighted_search(G, given_sources(G, [source]), weight, cutoff))


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
    problem = f"Target {target} cannot be reached from given sources"
    return _distance_and_path(G, found, target, problem)


@networkx_function
def single_source_bellman_ford_path(
    G: ConvertedGraph, source: Node, weight: Any = "weight"
) -> Paths:
    """Return a shortest path from the source to each node that can be reached."""
    require(G, "Source {} not in G", source)
    return paths(G, weighted_search(G, [source], weight))


@networkx_function
def bellman_ford_path(
    G: ConvertedGraph, source: Node, target: Node, weight: Any = "weight"
) -> list[Node]:
    """Return a shortest path between two nodes."""
    path: list[Node] = _bellman_ford(G, source, target, weight)[1]
    return path
