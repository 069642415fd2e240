"""Weighted distances and paths from sources, by the names of Dijkstra and of Bellman and Ford.

The functions of one name differ in what they return: the distances, the paths, or both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import networkx as nx
import pandas as pd

from .converted import ConvertedGraph, Node
from .registry import networkx_function, register
from .searches import Read, distances, given_sources, path_to, paths, require, weighted_search


def _dijkstra(
    read: Read, G: ConvertedGraph, sources: Iterable[Node], cutoff: float | None, weight: Any
) -> dict[Node, Any]:
    """Return the distance from the nearest source, or a path, to each node that can be reached."""
    return read(G, weighted_search(G, given_sources(G, sources), weight, cutoff))


def _single_dijkstra(
    read: Read, G: ConvertedGraph, source: Node, cutoff: float | None, weight: Any
) -> dict[Node, Any]:
    return _dijkstra(read, G, [source], cutoff, weight)


def _single_bellman_ford(
    read: Read, G: ConvertedGraph, source: Node, weight: Any
) -> dict[Node, Any]:
    require(G, "Source {} not in G", source)
    return read(G, weighted_search(G, [source], weight))


for ending, read in {"path": paths, "path_length": distances}.items():
    register(f"multi_source_dijkstra_{ending}", partial(_dijkstra, read))
    register(f"single_source_dijkstra_{ending}", partial(_single_dijkstra, read))
    register(f"single_source_bellman_ford_{ending}", partial(_single_bellman_ford, read))


@networkx_function
def multi_source_dijkstra(
    G: ConvertedGraph, sources: Iterable[Node], target: Any, cutoff: float | None, weight: Any
) -> tuple[Any, Any]:
    """Return the distance from the nearest source and a path, to a node or to each that can be reached."""
    sources = given_sources(G, sources)
    if target in sources:
        return 0, [target]
    found = weighted_search(G, sources, weight, cutoff)
    return _distance_and_path(G, found, target, f"No path to {target}.")


@networkx_function
def single_source_dijkstra(
    G: ConvertedGraph, source: Node, target: Any, cutoff: float | None, weight: Any
) -> tuple[Any, Any]:
    """Return the distance from a source and a path, to a node or to each that can be reached."""
    found: tuple[Any, Any] = multi_source_dijkstra(G, [source], target, cutoff, weight)
    return found


@networkx_function
def single_source_bellman_ford(
    G: ConvertedGraph, source: Node, target: Any, weight: Any
) -> tuple[Any, Any]:
    """Return the distance from a source and a path, to a node or to each that can be reached."""
    same = source == target
    require(G, "Node {} is not found in the graph" if same else "Source {} not in G", source)
    if same:
        return 0, [source]
    found = weighted_search(G, [source], weight)
    problem = f"Target {target} cannot be reached from given sources"
    return _distance_and_path(G, found, target, problem)


def _distance_and_path(
    G: ConvertedGraph, found: pd.DataFrame, target: Any, problem: str
) -> tuple[Any, Any]:
    """Return the distance and the path to a node, or those of each node that was reached."""
    if target is None:
        return distances(G, found), paths(G, found)
    path = path_to(G, found, target, problem)
    return distances(G, found)[target], path


def _path(
    find: Callable[..., Any], G: ConvertedGraph, source: Node, target: Node, weight: Any
) -> list[Node]:
    """Return a shortest path between two nodes."""
    path: list[Node] = find(G, source, target, weight=weight)[1]
    return path


def length_to(method: str, G: ConvertedGraph, source: Node, target: Node, weight: Any) -> float:
    """Return the distance between two nodes, with the errors of one of NetworkX's methods."""
    dijkstra, lengths = method == "dijkstra", dict[Node, float]()
    found = dijkstra or source == target
    require(G, "Node {} not found in graph" if found else "Source {} not in G", source)
    if target in G:
        lengths = distances(G, weighted_search(G, [source], weight, targets=[target]))
    if target not in lengths:
        node = "Node" if dijkstra else "node"
        raise nx.NetworkXNoPath(f"{node} {target} not reachable from {source}")
    return lengths[target] if source != target else 0


METHODS: dict[str, Callable[..., Any]] = {
    "dijkstra": partial(single_source_dijkstra, cutoff=None),
    "bellman_ford": single_source_bellman_ford,
}
for method, find in METHODS.items():
    register(f"{method}_path", partial(_path, find))
    register(f"{method}_path_length", partial(length_to, method))
