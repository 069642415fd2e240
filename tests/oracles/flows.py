"""Oracles of flows, cuts and matchings."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms.flow import edmonds_karp
from scipy.optimize import linear_sum_assignment

from .components import with_loops
from .networks import Network
from .oracle import expect, oracle, some

SOURCE, SINK = "source", "sink"
CLOSE = {"rel_tol": 1e-9, "abs_tol": 1e-9}


def capacities(net: Network) -> Any:
    """Return the graph of NetworkX with the capacities of parallel edges added up."""
    graph = nx.DiGraph()
    graph.add_nodes_from(net.vertices)
    for a, ends in net.near().items():
        for b, w in ends:
            if a != b:
                before = graph.get_edge_data(a, b, {"capacity": 0})["capacity"]
                graph.add_edge(a, b, capacity=before + Fraction(w))
    return graph


def residual(net: Network, o: dict[str, Any]) -> Any:
    """Return the residual network of a maximum flow from one source to one sink before and after all."""
    graph = capacities(net)
    graph.add_edges_from((SOURCE, v) for v in o["sources"])
    graph.add_edges_from((v, SINK) for v in o["sinks"])
    if not nx.has_path(graph, SOURCE, SINK):
        for v in o["sinks"]:
            graph.add_edge(SOURCE, v, capacity=0)
    return edmonds_karp(graph, SOURCE, SINK)


@oracle("sums", sources=some, sinks=some)
def maximum_flow(net: Network, o: dict[str, Any], rows: Any) -> None:
    graph, left = capacities(net), dict.fromkeys(net.vertices, 0.0)
    pairs = [row[:2] for row in rows]
    expect(pairs == sorted({*pairs}), f"pairs are not sorted, or repeat: {rows}")
    for a, b, flow in rows:
        most = graph.get_edge_data(a, b, {"capacity": 0})["capacity"]
        expect(0 < flow <= most or math.isclose(flow, most, **CLOSE), f"{a} to {b}: {flow}")
        expect((b, a) not in pairs, f"flow both ways between {a} and {b}")
        left[a] += flow
        left[b] -= flow
    scale = max([1.0, *net.weights])
    for v, flow in left.items():
        if v not in (*o["sources"], *o["sinks"]):
            expect(math.isclose(flow / scale, 0, **CLOSE), f"flow of {flow} is left at {v}")
    value, most = sum(left[v] for v in {*o["sources"]}), residual(net, o).graph["flow_value"]
    expect(math.isclose(value / scale, most / Fraction(scale), **CLOSE), f"{value}, not {most}")


@oracle("sums", sources=some, sinks=some)
def minimum_cut(net: Network, o: dict[str, Any], rows: Any) -> Any:
    network = residual(net, o)
    scale = max([1.0, *net.weights])
    value, least = math.fsum(cut for *_, cut in rows), network.graph["flow_value"]
    expect(math.isclose(value / scale, least / Fraction(scale), **CLOSE), f"{value}, not {least}")
    inside = {v for v, side, _ in rows if side}
    expect({*o["sources"]} <= inside and not {*o["sinks"]} & inside, f"sides: {rows}")
    if any(not (4 * w).is_integer() or w > 2**40 for w in net.weights):
        inside = {SOURCE, *inside}  # capacities are rounded, so there may be more minimum cuts
    else:
        network.remove_edges_from(
            [(a, b) for a, b, e in network.edges(data=True) if e["flow"] == e["capacity"]]
        )
        inside = {SOURCE, *nx.descendants(network, SOURCE)}
    graph = capacities(net)
    cut = {
        v: float(sum(e["capacity"] for _, b, e in graph.edges(v, data=True) if b not in inside))
        for v in net.vertices
    }
    return [(v, v in inside, cut[v] if v in inside else 0.0) for v in net.vertices]


@oracle("sums")
def bipartite_matching(net: Network, o: dict[str, Any], rows: Any) -> None:
    graph, heaviest = with_loops(net).to_undirected(), {}
    left = {a for a, _, _ in net.edges}
    if not net.directed:
        parts = [nx.single_source_shortest_path_length(graph, v) for v in net.vertices]
        left = {
            v for v, steps in zip(net.vertices, parts, strict=True) if steps[min(steps)] % 2 == 0
        }
    for a, b, w in net.edges:
        ends = (a, b) if a in left else (b, a)
        heaviest[ends] = max(heaviest.get(ends, 0), w if net.weighted else 1.0)
    for side in (0, 1):
        ends = [row[side] for row in rows]
        expect(len({*ends}) == len(ends), f"a vertex is matched twice: {rows}")
    expect([row[0] for row in rows] == sorted(row[0] for row in rows), f"not sorted: {rows}")
    for a, b, *w in rows:
        expect((a, b) in heaviest and (not w or w == [heaviest[a, b]]), f"no edge: {a, b, w}")
    table = np.zeros([max(net.vertices, default=0) + 1] * 2)
    for ends, w in heaviest.items():
        table[ends] = w
    found = math.fsum(row[2] if net.weighted else 1 for row in rows)
    most = table[linear_sum_assignment(table, maximize=True)].sum()
    expect(math.isclose(found, most, **CLOSE), f"{found}, not {most}: {rows}")
