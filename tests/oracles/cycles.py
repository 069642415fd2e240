"""Oracles of simple cycles and simple paths."""

from __future__ import annotations

from typing import Any

import networkx as nx

from .networks import Network
from .oracle import maybe, oracle, paired, some


@oracle(max_length=([1, 2, 3, 4], [0, -1, 1.5, None]), through=maybe(some),
        min_length=([1, 1, 2, 3], [0, -1, 1.5]), top=([None, 1, 5, 10**12], [0, -1, 1.5]))  # fmt: skip
def simple_cycles(net: Network, o: dict[str, Any], rows: Any) -> Any:
    graph = nx.MultiDiGraph() if net.directed else nx.MultiGraph()
    graph.add_edges_from(edge[:2] for edge in net.edges)
    least, through = o.get("min_length", 1), o.get("through")
    found = set()
    for cycle in nx.simple_cycles(graph, length_bound=o["max_length"]):
        first = cycle.index(min(cycle))
        cycle = cycle[first:] + cycle[:first]
        if not net.directed:
            cycle[1:] = min(cycle[1:], cycle[:0:-1])
        if len(cycle) >= least and (through is None or {*through} & {*cycle}):
            found.add(tuple(cycle))
    return [
        (number, step, source, cycle[(step + 1) % len(cycle)])
        for number, cycle in enumerate(
            sorted(found, key=lambda one: (len(one), one))[: o.get("top")]
        )
        for step, source in enumerate(cycle)
    ]


@oracle(pairs=paired, max_length=([1, 2, 3, 4], [0, -1, 1.5, None]))
def simple_paths(net: Network, o: dict[str, Any], rows: Any) -> Any:
    graph, paths = net.graph(), []
    for source, target in o["pairs"]:
        found = nx.all_simple_paths(graph, source, target, cutoff=o["max_length"])
        ways = sorted(map(tuple, found), key=lambda one: (len(one), one))
        paths += [(source, target, way) for way in ways]
    return [
        (source, target, number, step, vertex)
        for number, (source, target, way) in enumerate(paths)
        for step, vertex in enumerate(way)
    ]
