"""Building a graph from a cuDF frame, and breadth-first search, PageRank and shortest paths on it."""

from __future__ import annotations

import argparse
import gc
import math
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import dask
import numpy as np

import dask_graphflow as gf
from benchmarks import report
from benchmarks.alone import view
from benchmarks.errors import DisagreementError, UnusableInputError
from benchmarks.timing import Spread, interleave
from dask_graphflow.algorithms.bfs import bfs
from dask_graphflow.algorithms.pagerank import pagerank
from dask_graphflow.algorithms.sssp import sssp

from . import algorithm_peers as peers
from . import clock, floors, graphs, needs, oracles, ours, pool, tables
from .peers import CUGRAPH

RMAT, GRID = "rmat", "grid"
BUILD = "graphflow, build"
FRAME = "graphflow, to a frame"
LOOP = "graphflow, loop alone"
NEAR = 1e-3  # relative tolerance between float32 and float64

NOTES = f"""
All contenders in turn, after one round to warm up, by the wall, from an idle device to an idle device.
Algorithms are on graphs that are built. {FRAME}: the whole call, to vertices, distances and predecessors
(or ranks); {LOOP}: the supersteps, and what finds predecessors, to arrays.
{peers.CALL}: the call, which also looks up all vertices for a search; {peers.ALONE}: what is
beneath it, with predecessors. {peers.GRAPH} drops repeated edges; {peers.MULTIGRAPH} keeps them, as
this does: so are the peer's graphs for PageRank and shortest paths. Distances hold for every edge and are
equal, along weights to {NEAR:g} of the peer's float32; ranks to {NEAR:g} of ones added up by atomics.
G edges/s of PageRank: of all iterations; / read once: reading all ends, for PageRank in each of them.
peak - input: device memory above what is there before the run, its result among it; / input: that over
the size of the frame of edges."""

Work = dict[str, Callable[[], Any]]
Check = Callable[[str, clock.Outcome], None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument(
        "--graph", default=RMAT, help=f"{RMAT} (default), {GRID}, or a Parquet file of roads"
    )
    parser.add_argument("--source", default="src", help="column of a file (default src)")
    parser.add_argument("--target", default="dst", help="column of a file (default dst)")
    parser.add_argument(
        "--scale", type=int, default=26, help=f"2**scale ids of {RMAT} or {GRID} (default 26)"
    )
    parser.add_argument("--edge-factor", type=int, default=16, help="edges an id (default 16)")
    parser.add_argument("--sources", type=int, default=3, help="to search from (default 3)")
    parser.add_argument("--iterations", type=int, default=20, help="of PageRank (default 20)")
    parser.add_argument(
        "--only",
        default="",
        help=f"of {','.join(PARTS)}; default: all, {','.join(BOTH_WAYS)} of another graph than {RMAT}",
    )
    parser.add_argument("--peer", default="", help="cugraph, to measure it in turn")


def short(options: argparse.Namespace) -> str:
    """Return the name of the input for file names."""
    if options.graph in (RMAT, GRID):
        return f"{'' if options.graph == RMAT else options.graph + '-'}scale{options.scale}"
    return Path(options.graph).stem


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Time the parts one after another; each one has its own graphs, which are freed after it."""
    there = tuple(PARTS) if options.graph == RMAT else BOTH_WAYS
    wanted = options.only.split(",") if options.only else there
    if unknown := [name for name in wanted if name not in there]:
        raise UnusableInputError(f"--only {unknown[0]}: there are {', '.join(there)}")
    if not 4 <= options.scale <= 31:
        raise UnusableInputError(f"--scale {options.scale}: give a number from 4 to 31")
    if min(options.edge_factor, options.sources, options.iterations) < 1:
        raise UnusableInputError("give --edge-factor, --sources and --iterations of 1 or more")
    options.peer = needs.peers(options.peer, CUGRAPH)
    pool_bytes, copied = pool.start(), floors.copying(options.repeat)
    title, ends, options.ids = made(options)
    edges = graphs.frame(*ends)
    results: dict[str, Any] = {
        "benchmark": "device algorithms",
        "graph": title,
        "pool_bytes": pool_bytes,
        "floors": copied,
        "edges": len(edges),
        "ids": options.ids,
        "input_bytes": int(sum(end.nbytes for end in ends)),
        "iterations": options.iterations,
        "read_once_seconds": floors.reading(*ends, options.repeat),
        "parts": [],
    }
    with dask.config.set(scheduler="sync"):
        for name, part in PARTS.items():
            if name in wanted:
                results["parts"] += part(edges, options)
                gc.collect()
    return results


def made(options: argparse.Namespace) -> tuple[str, tuple[Any, Any], int]:
    """Return the graph's name, the ends of its edges on the device, and its largest id plus 1."""
    if options.graph == RMAT:
        count = options.edge_factor << options.scale
        title = (
            f"R-MAT scale {options.scale}, edge factor {options.edge_factor}, seed {options.seed}"
        )
        return title, graphs.rmat(options.scale, count, seed=options.seed), 1 << options.scale
    if options.graph == GRID:
        source, target, ids = graphs.grid(options.scale)
        return f"grid of 2^{options.scale} ids", (source, target), ids
    source, target, ids = graphs.copies(options.graph, options.source, options.target, reach=0)
    return f"{Path(options.graph).name}, {ids:,} ids", (source, target), ids


def compare(
    title: str, edges: Any, work: Work, check: Check, options: argparse.Namespace
) -> dict[str, Any]:
    """Time contenders in turn, by wall-clock time."""
    failures: dict[str, str] = {}
    contenders = [clock.Wall(name, one) for name, one in work.items()]
    seconds = interleave(contenders, options.repeat, check, failures)
    peaks = pool.peaks(work, failures)
    return {
        "part": title,
        "edges": len(edges),
        "input_bytes": int(edges.memory_usage(index=False).sum()),
        "contenders": {name: tables.contender(seconds, failures, peaks, name) for name in work},
    }


def building(edges: Any, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Time building a directed and an undirected graph."""
    vertices = oracles.occurring(ours.columns(edges, "src", "dst"), options.ids)

    def check(name: str, outcome: clock.Outcome) -> None:
        if name == BUILD and outcome.found.num_vertices != vertices:
            raise DisagreementError(
                f"{name} has {outcome.found.num_vertices:,} vertices, and {vertices:,} have an edge"
            )

    def one(directed: bool) -> dict[str, Any]:
        work: Work = {BUILD: lambda: built(edges, directed=directed)}
        if options.peer:
            work[peers.GRAPH] = lambda: peers.build(edges, directed=directed, multi=False)
        if options.peer and directed:  # undirected, scale 26 has more edges than cuGraph can count
            work[peers.MULTIGRAPH] = lambda: peers.build(edges, directed=True, multi=True)
        kind = "directed" if directed else "undirected"
        return compare(f"build, {kind}", edges, work, check, options)

    return [one(directed) for directed in (True, False)]


def searching(edges: Any, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Time breadth-first search on an undirected graph."""
    graph = cache(lambda: built(edges, directed=False))
    g = cache(lambda: view(graph()))
    theirs = cache(lambda: peers.build(edges, directed=False, multi=False))

    def one(start: int) -> dict[str, Any]:
        work: Work = {
            FRAME: lambda: graph().bfs([start]).compute(),
            LOOP: lambda: bfs(g(), only(start)).columns["distance"],
        }
        if options.peer:
            work[peers.CALL] = lambda: peers.bfs(theirs(), start)
            work[peers.ALONE] = lambda: peers.bfs_alone(theirs(), start)
        check = distances_from(start, edges, options, weighted=False, directed=False)
        return compare(f"bfs from {start}, undirected", edges, work, check, options)

    return [one(start) for start in starts(edges, options.sources)]


def ranking(edges: Any, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Time PageRank on a directed graph, in float32 as the peer does for edges without weights."""
    graph = cache(lambda: built(edges, directed=True))
    g = cache(lambda: view(graph()))
    theirs = cache(lambda: peers.build(edges, directed=True, multi=True, transposed=True))
    vertices, rounds = options.ids, options.iterations
    truth = oracles.ranks(*ours.columns(edges, "src", "dst"), vertices, rounds)
    how: dict[str, Any] = {"tol": None, "max_iter": rounds, "precision": "float32"}
    work: Work = {
        FRAME: lambda: graph().pagerank(**how).compute(),
        LOOP: lambda: pagerank(g(), **how).columns["pagerank"],
    }
    if options.peer:
        work[peers.CALL] = lambda: peers.pagerank(theirs(), rounds)

    def check(name: str, outcome: clock.Outcome) -> None:
        found = oracles.by_id(outcome.found, "pagerank", vertices, 0)
        oracles.same(name, found, truth, NEAR)

    found = compare(f"pagerank, {rounds} iterations, float32", edges, work, check, options)
    return [found | {"edges": len(edges) * rounds}]


def finding(edges: Any, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Time shortest paths with float32 weights; a grid or roads are undirected, other graphs directed."""
    directed = options.graph == RMAT
    edges = edges.assign(weight=weights(len(edges), options.seed))
    graph = cache(lambda: built(edges, directed=directed, weight="weight"))
    g = cache(lambda: view(graph()))
    # Keep all parallel edges, as ours does. Otherwise cuGraph keeps any one of them, whatever its weight.
    theirs = cache(lambda: peers.build(edges, directed=directed, multi=True, weight="weight"))

    def one(start: int) -> dict[str, Any]:
        work: Work = {
            FRAME: lambda: graph().sssp([start]).compute(),
            LOOP: lambda: sssp(g(), only(start)).columns["distance"],
        }
        if options.peer:
            work[peers.CALL] = lambda: peers.sssp(theirs(), start)
            work[peers.ALONE] = lambda: peers.sssp_alone(theirs(), start)
        check = distances_from(start, edges, options, weighted=True, directed=directed)
        kind = "directed" if directed else "undirected"
        return compare(f"sssp from {start}, {kind}", edges, work, check, options)

    return [one(start) for start in starts(edges, options.sources)]


PARTS = {"build": building, "bfs": searching, "pagerank": ranking, "sssp": finding}
BOTH_WAYS = ("bfs", "sssp")  # the parts for a grid or roads, which are undirected


def built(edges: Any, **how: Any) -> gf.Graph:
    """Return a built graph of this library."""
    return gf.Graph(edges, source="src", target="dst", **how).persist()


def only(start: int) -> Any:
    """Return the number of a vertex as a device array; it equals the id, because ids are dense."""
    import cupy

    return cupy.array([start])


def weights(count: int, seed: int) -> Any:
    """Return float32 weights on the device, above 0 and up to 1."""
    import cupy

    drawn = cupy.random.default_rng(seed).random(count, dtype=np.float32)
    return cupy.maximum(1 - drawn, 2.0**-24)


def starts(edges: Any, count: int) -> list[int]:
    """Return ids that have a leaving edge: the sources of edges that are evenly spaced."""
    apart = max(1, len(edges) // count)
    return [int(edges["src"].iloc[at]) for at in range(0, len(edges), apart)][:count]


def distances_from(
    start: int, edges: Any, options: argparse.Namespace, *, weighted: bool, directed: bool
) -> Check:
    """Return a check that the first distances are correct for every edge, and that others equal them."""
    first: list[Any] = []

    def check(name: str, outcome: clock.Outcome) -> None:
        found = oracles.by_id(outcome.found, "distance", options.ids, math.inf)
        if not first:
            ends = ours.columns(edges, "src", "dst")
            weight = edges["weight"].values if weighted else None
            oracles.shortest(name, found, start, ends, weight, directed=directed)
            first.append(found)
        exact = name in (FRAME, LOOP) or not weighted
        oracles.same(name, found, first[0], 0 if exact else NEAR)

    return check


def against(contenders: Mapping[str, Any]) -> dict[str, str]:
    """Return the peer that each of our contenders is compared with."""
    alone = peers.ALONE if peers.ALONE in contenders else peers.CALL
    return {BUILD: peers.GRAPH, FRAME: peers.CALL, LOOP: alone}


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    reading = Spread.of(results["read_once_seconds"]).median
    parts = [
        f"Graphs on one GPU: {results['graph']}",
        f"{results['edges']:,} edges, {report.mib(results['input_bytes'])}",
        f"reading the edges once: {reading * 1e3:.3f} ms",
        tables.machine_line(),
        tables.copying(results["floors"]),
    ]
    for one in results["parts"]:
        found = one["contenders"]
        times = one["edges"] // results["edges"]
        floor = {"read_once_seconds": [times * s for s in results["read_once_seconds"]]}
        laid = tables.laid_out("cugraph / this", one | floor, against(found))
        parts.append(f"\n{one['part']}\n\n{laid}")
        if BUILD in found and found[BUILD]["peak_bytes"] is not None:
            total = found[BUILD]["peak_bytes"] / one["input_bytes"] + 1
            parts.append(f"the peak with the input, of {BUILD}: {total:.2f} of the input")
    parts.append(NOTES)
    return "\n".join(parts)
