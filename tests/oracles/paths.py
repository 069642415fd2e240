"""Oracles of searches and shortest paths."""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from itertools import islice, pairwise
from typing import Any

import networkx as nx

from .networks import Network, same
from .oracle import FLAG, expect, maybe, oracle, paired, some


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


@oracle("sums", sources=some, targets=some, pairs=maybe(paired))
def shortest_paths(net: Network, o: dict[str, Any], rows: Any) -> None:
    if o.get("pairs") is not None:
        between_pairs(net, o["pairs"], rows)
        return
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


def between_pairs(net: Network, pairs: list[tuple[int, int]], rows: Any) -> None:
    """Each path leads back along the smallest vertices from which a shortest path can come."""
    found = defaultdict(list)
    for source, target, length, step, vertex in rows:
        found[source, target].append((length, step, vertex))
    expect(list(found) == sorted(found), f"pairs {list(found)}")
    near = net.near()
    for source in {a for a, _ in pairs}:
        reach = distances(net, [source], hops=not net.weighted)
        targets = {b for a, b in pairs if a == source} & {*reach}
        expect({b for a, b in found if a == source} == targets, f"targets of {source}")
        for target in targets:
            lengths, steps, path = zip(*found[source, target], strict=True)
            expect(steps == (*range(len(path)),), f"steps {steps}")
            expect(path[0] == source and path[-1] == target, f"path {path}")
            expect(math.isclose(lengths[0], reach[target], abs_tol=1e-9), f"length {lengths[0]}")
            for before, vertex in pairwise(path):
                ahead = [u for u in reach if reach[u] < reach[vertex] and any(
                    v == vertex and reach[u] + w == reach[vertex] for v, w in near[u])]  # fmt: skip
                expect(
                    before == min(ahead, default=before), f"{before} before {vertex}, not {ahead}"
                )


@oracle("sums", pairs=paired, k=([1, 2, 3, 7], [0, -1, 1.5, None]))
def k_shortest_paths(net: Network, o: dict[str, Any], rows: Any) -> None:
    """The lengths are those of NetworkX, and the paths have them; ties are in the order of the ids."""
    found = defaultdict(list)
    for source, target, rank, length, step, vertex in rows:
        paths = found[source, target]
        if step == 0:
            expect(rank == len(paths), f"rank {rank} of {source}, {target}")
            paths.append((length, []))
        expect(length == paths[-1][0] and step == len(paths[-1][1]), f"step {step} of {paths[-1]}")
        paths[-1][1].append(vertex)
    expect(list(found) == sorted(found), f"pairs {list(found)}")
    expect({*found} <= {*o["pairs"]}, f"pairs {list(found)}")
    graph = net.lightest()
    graph.remove_edges_from([(a, b) for a, b, w in graph.edges(data="weight") if w == math.inf])
    weight = "weight" if net.weighted else None
    for source, target in {*o["pairs"]}:
        paths, expected = found[source, target], []
        with contextlib.suppress(nx.NetworkXNoPath):
            simple = nx.shortest_simple_paths(graph, source, target, weight)
            expected = [[source]] if source == target else [*islice(simple, o["k"])]
        lengths = [nx.path_weight(graph, path, "weight") if weight else len(path) - 1.0
                   for path in expected]  # fmt: skip
        same_lengths = same([(a,) for a, _ in paths], [(b,) for b in lengths], 1e-9)
        expect(same_lengths, f"lengths {paths}, expected {expected}")
        exact = all(float(w).is_integer() and w < 2**40 for w in net.weights)
        expect(not exact or paths == sorted(paths), f"order of {paths}")
        for length, path in paths:
            expect(nx.is_simple_path(graph, path), f"path {path}")
            expect((path[0], path[-1]) == (source, target), f"path {path}")
            own = nx.path_weight(graph, path, "weight") if weight else len(path) - 1
            expect(math.isclose(own, length, abs_tol=1e-9), f"length {length} of {path}")
        expect(len({tuple(path) for _, path in paths}) == len(paths), f"a path repeats in {paths}")
