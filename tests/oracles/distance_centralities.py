"""Oracles of centralities that are defined by shortest paths."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import networkx as nx

from .networks import Network
from .oracle import FLAG, SAMPLE, SEED, expect, maybe, oracle, sample, some
from .paths import distances


class Chosen(Random):
    """Lets NetworkX take the vertices of a sample."""

    def __init__(self, chosen: list[int]) -> None:
        super().__init__()
        self.chosen = chosen

    def sample(self, population: Any, k: Any, **_: Any) -> Any:
        return self.chosen


@oracle("positive", k=SAMPLE, sources=maybe(some), normalized=FLAG, endpoints=FLAG, seed=SEED)
def betweenness_centrality(net: Network, o: dict[str, Any], rows: Any) -> Any:
    return between(nx.betweenness_centrality, net, o)


@oracle("positive", k=SAMPLE, sources=maybe(some), normalized=FLAG, seed=SEED)
def edge_betweenness_centrality(net: Network, o: dict[str, Any], rows: Any) -> Any:
    found, graph = between(nx.edge_betweenness_centrality, net, o), net.lightest()
    ends = {edge: edge if net.directed else tuple(sorted(edge)) for edge in found}
    weight = {edge: (graph.edges[edge]["weight"],) if net.weighted else () for edge in found}
    return sorted((*ends[edge], *weight[edge], value) for edge, value in found.items())


def between(function: Callable[..., Any], net: Network, o: dict[str, Any]) -> Any:
    chosen = sorted({*o["sources"]}) if "sources" in o else sample(net, o)
    how: dict[str, Any] = {name: o[name] for name in ("normalized", "endpoints") if name in o}
    how["k"] = None if len(chosen) == len(net.vertices) else len(chosen)
    graph = net.lightest() if net.weighted else net.graph()
    how["weight"] = "weight" if net.weighted else None
    return function(graph, seed=Chosen(chosen), **how)


def near_counts(net: Network, o: dict[str, Any]) -> tuple[Any, Any]:
    """Return the distances from sampled vertices that reach each vertex, and how many could."""
    chosen = sample(net, o)
    found: dict[int, list[float]] = {v: [] for v in net.vertices}
    for source in chosen:
        for v, d in distances(net, [source], hops=not net.weighted).items():
            found[v] += [d] if v != source else []
    return found, {v: max(1, len(chosen) - (v in chosen)) for v in found}


@oracle("sums", wf_improved=FLAG, k=SAMPLE, seed=SEED)
def closeness_centrality(net: Network, o: dict[str, Any], rows: Any) -> Any:
    found, others = near_counts(net, o)
    share = {v: len(d) / others[v] if o.get("wf_improved", True) else 1.0 for v, d in found.items()}
    return {v: share[v] * len(d) / sum(d) if sum(d) else 0.0 for v, d in found.items()}


@oracle("sums", k=SAMPLE, seed=SEED)
def harmonic_centrality(net: Network, o: dict[str, Any], rows: Any) -> Any:
    found, others = near_counts(net, o)
    scale = {v: max(1, len(found) - 1) / others[v] for v in found}
    return {v: scale[v] * sum(1 / x for x in d if x) for v, d in found.items()}


SEARCHES = [None, None, 1, 2, 5, 10**12], [0, -1, 1.5, True]


def eccentricities(net: Network) -> dict[int, int]:
    graph = net.graph(directed=False)
    return {v: max(nx.single_source_shortest_path_length(graph, v).values()) for v in graph}


@oracle(k=SEARCHES)
def eccentricity(net: Network, o: dict[str, Any], rows: Any) -> Any:
    expected = eccentricities(net)
    if o.get("k") is None:
        return expected
    expect([row[0] for row in rows] == sorted(expected), "each vertex has a row")
    for vertex, lower, upper in rows:
        expect(lower <= expected[vertex] <= upper, f"bounds of {vertex}: {lower}, {upper}")
    return None


@oracle(k=SEARCHES)
def diameter(net: Network, o: dict[str, Any], rows: Any) -> Any:
    largest = max(eccentricities(net).values(), default=0)
    if o.get("k") is None:
        return [(largest, largest)]
    ((lower, upper),) = rows
    expect(lower <= largest <= upper, f"bounds {lower}, {upper} of {largest}")
    return None
