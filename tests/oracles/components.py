"""Oracles of what is connected: components, bridges, forests and orders."""

from __future__ import annotations

from typing import Any

import networkx as nx

from .networks import Network
from .oracle import expect, oracle


def _smallest(parts: Any) -> dict[int, int]:
    return {v: min(part) for part in map(list, parts) for v in part}


@oracle()
def connected_components(net: Network, o: dict[str, Any], rows: Any) -> Any:
    return _smallest(nx.connected_components(net.graph(directed=False)))


@oracle()
def strongly_connected_components(net: Network, o: dict[str, Any], rows: Any) -> Any:
    return _smallest(nx.strongly_connected_components(net.graph().to_directed()))


def with_loops(net: Network) -> Any:
    graph = net.graph().to_directed()
    graph.add_edges_from((a, b) for a, b, _ in net.edges)
    return graph


@oracle()
def topological_order(net: Network, o: dict[str, Any], rows: Any) -> Any:
    graph = with_loops(net)
    expect(nx.is_directed_acyclic_graph(graph), "the graph has a cycle")
    return {v: i for i, some in enumerate(nx.topological_generations(graph)) for v in some}


@oracle()
def bridges(net: Network, o: dict[str, Any], rows: Any) -> Any:
    graph = nx.MultiGraph([(a, b) for a, b, _ in net.edges if a != b])
    return sorted(tuple(sorted(pair)) for pair in nx.bridges(graph))


@oracle()
def articulation_points(net: Network, o: dict[str, Any], rows: Any) -> Any:
    graph = net.graph(directed=False)
    points = {*nx.articulation_points(graph)}
    return {v: v in points for v in graph}


@oracle("any")
def minimum_spanning_forest(net: Network, o: dict[str, Any], rows: Any) -> Any:
    edges = [(w if net.weighted else 1.0, *sorted((a, b))) for a, b, w in net.edges if a != b]
    forest, found = nx.utils.UnionFind(net.vertices), []
    for w, a, b in sorted(edges):
        if forest[a] != forest[b]:
            forest.union(a, b)
            found.append((a, b, w) if net.weighted else (a, b))
    return sorted(found)
