"""Compare random walks and neighborhood sampling on one GPU with cuGraph."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import dask
import numpy as np

from benchmarks.alone import view
from benchmarks.errors import ContenderFailedError, UnusableInputError
from benchmarks.timing import interleave
from dask_graphflow.algorithms.algorithm import ALGORITHMS

from . import algorithm_peers as peers
from . import algorithms, clock, graphs, needs, pool, tables
from .algorithms import FRAME, LOOP
from .peers import CUGRAPH

WALKS = "random_walks"
WORK: dict[str, tuple[str, dict[str, Any]]] = {
    "uniform walks": (WALKS, {}),
    "node2vec, p = 0.5, q = 2": (WALKS, {"p": 0.5, "q": 2.0}),
    "node2vec, p = 4, q = 0.25": (WALKS, {"p": 4.0, "q": 0.25}),
    "samples": ("sample_neighbors", {"fanouts": (25, 10)}),
}
NOTES = f"""
All contenders in turn, after one round to warm up, by the wall, from an idle device to an idle device, on
an undirected graph that is built. {FRAME}: the whole call; {LOOP}: the algorithm, to arrays;
{peers.CALL}: the call. All steps of our walks are checked to be edges.
cuGraph samples all seeds together."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=22, help="2**scale ids (default 22)")
    parser.add_argument("--edge-factor", type=int, default=16, help="edges an id (default 16)")
    parser.add_argument("--starts", type=int, default=512, help="walks and seeds (default 512)")
    parser.add_argument("--length", type=int, default=80, help="steps of a walk (default 80)")
    parser.add_argument("--peer", default="", help="cugraph, to measure it in turn")


def short(options: argparse.Namespace) -> str:
    """Return the name of the input for file names."""
    return f"scale{options.scale}-starts{options.starts}"


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Time one kind of walk or sample after another."""
    if not 4 <= options.scale <= 31:
        raise UnusableInputError(f"--scale {options.scale}: give a number from 4 to 31")
    peer = needs.peers(options.peer, CUGRAPH)
    pool_bytes = pool.start()
    ends = graphs.rmat(options.scale, options.edge_factor << options.scale, seed=options.seed)
    edges = graphs.frame(*(end.astype("int32") for end in ends))
    vertices = np.unique(ends[0])
    starts = vertices[:: max(1, len(vertices) // options.starts)][: options.starts].astype("int32")
    with dask.config.set(scheduler="sync"):
        graph = algorithms.built(edges, directed=False, multi="first")
        theirs = cache(partial(peers.build, edges, directed=False, multi=False))
        parts = []
        for name in WORK:
            work = contenders(name, graph, starts, options.length, theirs if peer else None)
            parts.append({"part": name, **timed(work, graph, options.repeat)})
            gc.collect()
    return {
        "benchmark": "device walks",
        "graph": f"R-MAT scale {options.scale}, edge factor {options.edge_factor}, seed {options.seed}",
        "starts": len(starts),
        "length": options.length,
        "pool_bytes": pool_bytes,
        "parts": parts,
    }


def contenders(
    name: str, graph: Any, starts: Any, length: int, theirs: Callable[[], Any] | None
) -> algorithms.Work:
    """Return the contenders of a row."""
    algorithm, options = WORK[name]
    g, positions = view(graph), starts.astype("int64")
    options = {**options, "length": length} if algorithm == WALKS else options
    work: algorithms.Work = {
        FRAME: lambda: getattr(graph, algorithm)(starts, **options).compute(),
        LOOP: lambda: ALGORITHMS[algorithm].run(g, positions, **options).columns,
    }
    if theirs is not None:
        work[peers.CALL] = lambda: peers.choices(theirs(), starts, **options)
    return work


def timed(work: algorithms.Work, graph: Any, repeat: int) -> dict[str, Any]:
    """Time the contenders of one row; one that fails is left out."""
    failures = dict[str, str]()
    made = [clock.Wall(one, do) for one, do in work.items()]
    seconds = interleave(made, repeat, partial(_check, graph), failures)
    peaks = pool.peaks(work, failures)
    return {
        "edges": graph.num_edges,
        "contenders": {one: tables.contender(seconds, failures, peaks, one) for one in work},
    }


def _check(graph: Any, name: str, outcome: clock.Outcome) -> None:
    """Raise unless all steps of our walks follow edges."""
    import cupy

    found = outcome.found
    if name == peers.CALL or "walk" not in found:
        return
    walk, vertex = (cupy.asarray(found[column]).astype("int64") for column in ("walk", "vertex"))
    rows = view(graph).rows("out")
    size = len(rows.offsets)
    edges = cupy.searchsorted(rows.offsets[1:], cupy.arange(len(rows.ends)), side="right") * size
    edges += rows.ends
    steps = (vertex[:-1] * size + vertex[1:])[walk[1:] == walk[:-1]]
    at = cupy.minimum(cupy.searchsorted(edges, steps), len(edges) - 1)
    if not (edges[at] == steps).all():
        raise ContenderFailedError(f"{name}: a step is not an edge")


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    about = f"{results['starts']} starts, walks of {results['length']} steps"
    parts = [f"Walks on one GPU: {results['graph']}, {about}", tables.machine_line()]
    for one in results["parts"]:
        laid = tables.laid_out("cugraph / this", one, {FRAME: peers.CALL, LOOP: peers.CALL})
        parts.append(f"\n{one['part']}, {one['edges']:,} edges\n\n{laid}")
    parts.append(NOTES)
    return "\n".join(parts)
