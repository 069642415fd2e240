"""Oracles of what neighbors say: degrees, subgraphs, colors and independent sets."""

from __future__ import annotations

from collections import Counter
from typing import Any

import networkx as nx

from .networks import Network
from .oracle import SEED, expect, oracle, some
from .paths import distances


@oracle()
def degrees(net: Network, o: dict[str, Any], rows: Any) -> Any:
    leaving = {v: len(ends) for v, ends in net.near().items()}
    entering = Counter(b for _, b, _ in net.edges)
    return {v: (entering[v], leaving[v]) for v in leaving} if net.directed else leaving


@oracle()
def degree_centrality(net: Network, o: dict[str, Any], rows: Any) -> Any:
    graph = nx.MultiDiGraph() if net.directed else nx.MultiGraph()
    graph.add_nodes_from(net.vertices)
    graph.add_edges_from(edge[:2] for edge in net.edges)
    names = ["degree", "in_degree", "out_degree"] if net.directed else ["degree"]
    found = [getattr(nx, f"{name}_centrality")(graph) for name in names]
    return {v: [float(scores[v]) for scores in found] for v in graph}


@oracle("any", centers=some, radius=([0, 1, 2, 10**12], [-1, 0.5, None]))
def ego_graph(net: Network, o: dict[str, Any], rows: Any) -> Any:
    reach = {v for v, d in distances(net, o["centers"]).items() if d <= o.get("radius", 1)}
    return net.rows(lambda a, b: {a, b} <= reach)


@oracle("any", subset=some)
def induced_subgraph(net: Network, o: dict[str, Any], rows: Any) -> Any:
    return net.rows(lambda a, b: {a, b} <= {*o["subset"]})


@oracle("any", sources=some)
def neighbors(net: Network, o: dict[str, Any], rows: Any) -> Any:
    return net.rows(lambda a, b: a in o["sources"] or (not net.directed and b in o["sources"]))


@oracle(seed=SEED)
def maximal_independent_set(net: Network, o: dict[str, Any], rows: Any) -> None:
    graph, chosen = net.graph(directed=False), dict(rows)
    for v in graph:
        near = any(chosen[u] for u in graph[v])
        expect(chosen[v] != near, f"vertex {v} is selected: {chosen[v]}, and a neighbor: {near}")


@oracle(seed=SEED)
def greedy_color(net: Network, o: dict[str, Any], rows: Any) -> None:
    graph, color = net.graph(directed=False), dict(rows)
    for v in graph:
        # Vertices are colored by descending degree, so the colors below are those of larger neighbors.
        before = {color[u] for u in graph[v] if graph.degree(u) >= graph.degree(v)}
        expect({*range(color[v])} <= before, f"vertex {v} has color {color[v]}")
        expect(
            all(color[u] != color[v] for u in graph[v]), f"a neighbor of {v} has color {color[v]}"
        )
