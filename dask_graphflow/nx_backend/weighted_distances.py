"""Weighted distances, in ascending order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx as nx

from .converted import ConvertedGraph, Node
from .registry import networkx_function
from .searches import distances, given_sources, require, weighted_search


@networkx_function
def multi_source_dijkstra_path_length(
    G: ConvertedGraph, sources: Iterable[Node], cutoff: float | None = None, weight: Any = "weight"
) -> dict[Node, float]:
    """Return the distance from the nearest source to each node that can be reached."""
    return _lengths(G, given_sources(G, sources), cutoff, weight)


@networkx_function
def single_source_dijkstra_path_length(
    G: ConvertedGraph, source: Node, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Node, float]:
    """Return the distance from the source to each node that can be reached."""
    require(G, "Node {} not found in graph", source)
    return _lengths(G, [source], cutoff, weight)


@networkx_function
def single_source_bellman_ford_path_length(
    G: ConvertedGraph, source: Node, weight: Any = "weight"
) -> dict[Node, float]:
    """Return the distance from the source to each node that can be reached."""
    require(G, "Source {} not in G", source)
    return _lengths(G, [source], None, weight)


@networkx_function
def dijkstra_path_length(
    G: ConvertedGraph, source: Node, target: Node, weight: Any = "weight"
) -> float:
    """Return the distance between two nodes."""
    require(G, "Node {} not found in graph", source)
    return _length_to(G, source, target, weight, "Node {} not reachable from {}")


@networkx_function
def bellman_ford_path_length(
    G: ConvertedGraph, source: Node, target: Node, weight: Any = "weight"
) -> float:
    """Return the distance between two nodes."""
    same = source == target
    require(G, "Node {} not found in graph" if same else "Source {} not in G", source)
    return _length_to(G, source, target, weight, "node {} not reachable from {}")


def _lengths(
    G: ConvertedGraph, sources: list[Node], cutoff: float | None, weight: Any
) -> dict[Node, float]:
    return distances(G, weighted_search(G, sources, weight, cutoff))


def _length_to(G: ConvertedGraph, source: Node, target: Node, weight: Any, message: str) -> float:
    lengths = {}
    if target in G:
        lengths = distances(G, weighted_search(G, [source], weight, targets=[target]))
    if target not in lengths:
        raise nx.NetworkXNoPath(message.format(target, source))
    return lengths[target] if source != target else 0
