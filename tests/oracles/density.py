"""Oracles of triangles, cores and trusses."""

from __future__ import annotations

from typing import Any

import networkx as nx

from .networks import Network
from .oracle import oracle


@oracle()
def clustering(net: Network, o: dict[str, Any], rows: Any) -> Any:
    graph, found = net.graph(), {}
    if not net.directed:
        return {v: float(c) for v, c in nx.clustering(graph).items()}
    for v in graph:
        near = {*nx.all_neighbors(graph, v)}
        edges = graph.subgraph(near).number_of_edges()
        found[v] = edges / max(1, len(near) * (len(near) - 1))
    return found


@oracle()
def core_number(net: Network, o: dict[str, Any], rows: Any) -> Any:
    return nx.core_number(net.graph())


@oracle("any", k=([None, 0, 1, 2, 3, 10**12], [-1, 1.5, "2"]))
def k_core(net: Network, o: dict[str, Any], rows: Any) -> Any:
    core, k = nx.core_number(net.graph()), o.get("k")
    k = max(core.values(), default=0) if k is None else k
    return net.rows(lambda a, b: core[a] >= k and core[b] >= k)


@oracle("any", k=([2, 3, 4, 5, 10**12], [1, 0, -1, 2.5, None]))
def k_truss(net: Network, o: dict[str, Any], rows: Any) -> Any:
    pairs = {frozenset(edge) for edge in nx.k_truss(net.graph(directed=False), o["k"]).edges}
    return net.rows(lambda a, b: frozenset((a, b)) in pairs)


@oracle()
def truss_number(net: Network, o: dict[str, Any], rows: Any) -> Any:
    graph, found, k = net.graph(directed=False), {}, 2
    while graph := nx.k_truss(graph, k):
        found |= {tuple(sorted(edge)): k for edge in graph.edges}
        k += 1
    return [(a, b, found[a, b]) for a, b in sorted(found)]


@oracle()
def triangle_count(net: Network, o: dict[str, Any], rows: Any) -> Any:
    return nx.triangles(net.graph(directed=False))
