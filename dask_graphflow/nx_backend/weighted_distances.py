"""Weighted distances, in ascending order."""

from __future__ import annotations

from typing import Any

import networkx as nx

from .converted import ConvertedGraph, Node
from .registry import networkx_function
from .searches import distances, require, weighted_search


@networkx_function
def dijkstra_path_length(G: ConvertedGraph, source: Node, target: Node, weight: Any) -> float:
    """Return the distance between two nodes."""
    require(G, "Node {} not found in graph", source)
    return _length_to(G, source, target, weight, "Node {} not reachable from {}")


@networkx_function
def bellman_ford_path_length(G: ConvertedGraph, source: Node, target: Node, weight: Any) -> float:
    """Return the distance between two nodes."""
    same = source == target
    require(G, "Node {} not found in graph" if same else "Source {} not in G", source)
    return _length_to(G, source, target, weight, "node {} not reachable from {}")


def _length_to(G: ConvertedGraph, source: Node, target: Node, weight: Any, message: str) -> float:
    lengths = {}
    if target in G:
        lengths = distances(G, weighted_search(G, [source], weight, targets=[target]))
    if target not in lengths:
        raise nx.NetworkXNoPath(message.format(target, source))
    return lengths[target] if source != target else 0
