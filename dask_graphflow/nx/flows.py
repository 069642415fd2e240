"""Maximum flows and minimum cuts between two nodes."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pandas as pd

from .converted import ConvertedGraph, Node
from .registry import networkx_function


@networkx_function
def maximum_flow(
    flowG: ConvertedGraph, _s: Node, _t: Node, capacity: Any
) -> tuple[Any, dict[Node, dict[Node, Any]]]:
    """Return the value of a maximum flow, and the flow of each edge by its two ends."""
    found, G = _flow(flowG, _s, _t, capacity), flowG
    flows: dict[Node, dict[Node, Any]] = {node: {} for node in G}
    ends = G.nodes_at(G.sources), G.nodes_at(G.targets)
    for source, target in zip(*ends, strict=True):
        flows[source][target] = 0
        if not G.directed:
            flows[target][source] = 0
    ends = G.nodes_at(found.source.to_numpy()), G.nodes_at(found.target.to_numpy())
    for source, target, flow in zip(*ends, found.flow.tolist(), strict=True):
        flows[source][target] = flow
    return _value(G, found, _s), flows


@networkx_function
def maximum_flow_value(flowG: ConvertedGraph, _s: Node, _t: Node, capacity: Any) -> Any:
    """Return the value of a maximum flow."""
    return _value(flowG, _flow(flowG, _s, _t, capacity), _s)


@networkx_function
def minimum_cut(
    flowG: ConvertedGraph, _s: Node, _t: Node, capacity: Any
) -> tuple[Any, tuple[set[Node], set[Node]]]:
    """Return the value of a minimum cut and its two sides. The side of the sink is the smallest one."""
    found = flowG.run("minimum_cut", capacity, reverse=True, **_ends(flowG, _t, _s, capacity))
    side = {*flowG.nodes_at(found.source_side.to_numpy())}
    return found["cut"].to_numpy().sum().item(), ({*flowG} - side, side)


@networkx_function
def minimum_cut_value(flowG: ConvertedGraph, _s: Node, _t: Node, capacity: Any) -> Any:
    """Return the value of a minimum cut, which is that of a maximum flow."""
    return _value(flowG, _flow(flowG, _s, _t, capacity), _s)


def _ends(G: ConvertedGraph, source: Node, sink: Node, capacity: Any) -> dict[str, Any]:
    for node in (source, sink):
        if node not in G:
            raise nx.NetworkXError(f"node {node} not in graph")
    if source == sink:
        raise nx.NetworkXError("source and sink are the same node")
    kept = G.data.edges
    if capacity is None or (kept is not None and None in kept.values(capacity, None)):
        raise NotImplementedError("an edge without a capacity has an infinite one")
    return {"sources": G.positions[source], "sinks": G.positions[sink]}


def _flow(G: ConvertedGraph, source: Node, sink: Node, capacity: Any) -> pd.DataFrame:
    return G.run("maximum_flow", capacity, **_ends(G, source, sink, capacity))


def _value(G: ConvertedGraph, found: pd.DataFrame, source: Node) -> Any:
    flow, at = found.flow.to_numpy(), G.positions[source]
    return (flow[found.source == at].sum() - flow[found.target == at].sum()).item()
