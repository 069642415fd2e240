"""Oracles of searches and shortest paths."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise
from typing import Any

import networkx as nx

from .networks import Network, same
from .oracle import FLAG, expect, maybe, oracle, some


def distances(network: Network, sources: list[int], *, hops: bool = True) -> dict[int, float]:
    """Return the distance from the nearest source to each vertex, if it is finite."""
    graph = network.lightest()
    weight = (lambda a, b, edge: 1) if hops else "weight"
    reach = nx.multi_source_dijkstra_path_length(graph, {*sources}, weight=weight)
    return {v: distance for v, distance in reach.items() if distance < math.inf}


def searched(net: Network, o: dict[str, Any], rows: Any, *, hops: bool) -> Any:
    if o.get("by_source"):
        sources = [source for source, *_ in rows]
        expect(sources == sorted(sources), f"sources {sources}")
        expect({*sources} <= {*o["sources"]}, f"sources {sources}")
        for source in {*o["sources"]}:
            own = [row for first, *row in rows if first == source]
            searched(net, o | {"sources": [source], "by_source": False}, own, hops=hops)
        return
    limit = o.get("depth_limit" if hops else "cutoff")
    reach = distances(net, o["sources"], hops=hops)
    reach = {v: d for v, d in reach.items() if limit is None or d <= limit * (1 + 1e-12)}
    near, sources = net.near(), {*o["sources"]}
    for vertex, distance, before in rows:
        if before < 0:
            expect(vertex in sources or not distance, f"no predecessor of {vertex}")
            continue
        steps = [1 if hops else w for b, w in near[before] if b == vertex]
        best = min((abs(reach[before] + w - distance) for w in steps), default=math.inf)
        expect(best <= 1e-9 * max(1, distance), f"predecessor {before} of {vertex} at {distance}")
    wanted = o.get("targets", list(reach))
    kind = int if hops else float
    compared = [(v, d) for v, d, _ in rows]
    expected = [(v, kind(reach[v])) for v in sorted({*wanted} & {*reach})]
    expect(same(compared, expected, 1e-9), f"found {compared}, expected {expected}")


@oracle(sources=some, targets=maybe(some), depth_limit=([None, 0, 1, 3, 10**12], [-1, 1.5]),
        direction=(["beamer", "gemini", "push", "pull"], ["up", None]), by_source=FLAG)  # fmt: skip
def bfs(net: Network, o: dict[str, Any], rows: Any) -> None:
    searched(net, o, rows, hops=True)


@oracle("sums", sources=some, targets=maybe(some),
        cutoff=([None, 0, 0.0, 2.5, 1e300, math.inf], [-1.0, math.nan, "far"]), by_source=FLAG)  # fmt: skip
def sssp(net: Network, o: dict[str, Any], rows: Any) -> None:
    searched(net, o, rows, hops=False)


@oracle("sums", sources=some, targets=some)
def shortest_paths(net: Network, o: dict[str, Any], rows: Any) -> None:
    hops, near, paths = not net.weighted, net.near(), defaultdict(list)
    reach = distances(net, o["sources"], hops=hops)
    for target, step, vertex in rows:
        expect(step == len(paths[target]), f"step {step} of the path to {target}")
        paths[target].append(vertex)
    expect(list(paths) == sorted({*o["targets"]} & {*reach}), f"paths to {list(paths)}")
    for target, path in paths.items():
        expect(path[0] in o["sources"] and path[-1] == target, f"path {path} to {target}")
        length = sum(min(1 if hops else w for v, w in near[a] if v == b)
                     for a, b in pairwise(path))  # fmt: skip
        expect(math.isclose(length, reach[target], abs_tol=1e-9), f"length {length} of {path}")
