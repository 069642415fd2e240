"""Compare core numbers, centralities, triangles and communities on one GPU with cuGraph."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import dask

from benchmarks import report
from benchmarks.algorithms.agreement import Agreement
from benchmarks.algorithms.inputs import Inputs
from benchmarks.algorithms.rows import ROWS, Row
from benchmarks.alone import view
from benchmarks.errors import UnusableInputError
from benchmarks.timing import interleave
from dask_graphflow.algorithms.algorithm import ALGORITHMS

from . import algorithm_peers as peers
from . import algorithms, clock, floors, graphs, needs, oracles, ours, pool, tables
from .algorithms import FRAME, LOOP
from .peers import CUGRAPH

NOTES = f"""
All contenders in turn, after one round to warm up, by the wall, from an idle device to an idle device, on
graphs that are built and have no self-loops or repeated edges. {FRAME}: the whole call; {LOOP}:
the algorithm, to arrays; {peers.CALL}: the call. Scores are compared up to a factor.
Each library stops at its own measure of the tolerance."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=24, help="2**scale ids (default 24)")
    parser.add_argument("--edge-factor", type=int, default=16, help="edges an id (default 16)")
    parser.add_argument(
        "--only", default="", help=f"some of {','.join(peers.SCORES)}; default: all"
    )
    parser.add_argument("--peer", default="", help="cugraph, to measure it in turn")


def short(options: argparse.Namespace) -> str:
    """Return the name of the input for file names."""
    return f"scale{options.scale}"


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Time one algorithm after another."""
    names = options.only.split(",") if options.only else list(peers.SCORES)
    if unknown := [name for name in names if name not in peers.SCORES]:
        raise UnusableInputError(f"--only {unknown[0]}: there are {', '.join(peers.SCORES)}")
    if not 4 <= options.scale <= 31:
        raise UnusableInputError(f"--scale {options.scale}: give a number from 4 to 31")
    peer = needs.peers(options.peer, CUGRAPH)
    pool_bytes = pool.start()
    ends = graphs.rmat(options.scale, options.edge_factor << options.scale, seed=options.seed)
    inputs = Inputs.made(*ends)
    results: dict[str, Any] = {
        "benchmark": "device scores",
        "graph": f"R-MAT scale {options.scale}, edge factor {options.edge_factor}, seed {options.seed}",
        "pool_bytes": pool_bytes,
        "edges": inputs.sizes,
        "parts": [],
    }
    del ends
    with dask.config.set(scheduler="sync"):
        for name in names:
            results["parts"].append(compare(name, inputs, options.repeat, peer=peer))
            gc.collect()
    return results


def compare(name: str, inputs: Inputs, repeat: int, *, peer: bool) -> dict[str, Any]:
    """Time the contenders of one algorithm; one that fails is left out."""
    row = ROWS[name]
    dtype = "int32" if inputs.vertices < 2**31 else "int64"  # cuGraph takes longer with int64
    edges = graphs.frame(*(end.astype(dtype) for end in inputs.ends[row.graph]))
    directed = row.graph != "undirected"
    options = row.ours(inputs)
    graph = cache(lambda: algorithms.built(edges, directed=directed))
    g = cache(lambda: view(graph()))
    work: algorithms.Work = {
        FRAME: _or_reason(lambda: getattr(graph(), row.algorithm)(**options).compute()),
        LOOP: _or_reason(lambda: ALGORITHMS[row.algorithm].run(g(), **options).columns[row.column]),
    }
    theirs = cache(
        lambda: peers.build(
            edges, directed=directed, multi=False, transposed=peers.SCORES[name].transposed
        )
    )
    if peer:
        work[peers.CALL] = lambda: peers.score(name, theirs(), row.theirs(inputs))
    agreement, failures = Agreement(row.agrees, row.compared(inputs)), dict[str, str]()
    contenders = [clock.Wall(one, do) for one, do in work.items()]
    check = partial(_check, row, inputs, agreement)
    seconds = interleave(contenders, repeat, check, failures)
    peaks = pool.peaks(work, failures)
    return {
        "part": name,
        "edges": len(edges),
        "input_bytes": int(edges.memory_usage(index=False).sum()),
        "read_once_seconds": floors.reading(*ours.columns(edges, "src", "dst"), repeat),
        "contenders": {one: tables.contender(seconds, failures, peaks, one) for one in work},
    } | agreement.found()


def _or_reason(work: Callable[[], Any]) -> Callable[[], Any]:
    """Return the work with its errors converted to the reason in its row; other rows are still measured."""

    def done() -> Any:
        with clock.peer():
            return work()

    return done


def _check(
    row: Row, inputs: Inputs, agreement: Agreement, name: str, outcome: clock.Outcome
) -> None:
    found = oracles.by_id(outcome.found, row.column, inputs.vertices, 0)
    found = row.value(getattr(found, "get", lambda: found)(), inputs)
    agreement(name, clock.Outcome(outcome.seconds, found))


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    parts = [f"Scores on one GPU: {results['graph']}", tables.machine_line()]
    for one in results["parts"]:
        laid = tables.laid_out("cugraph / this", one, {FRAME: peers.CALL, LOOP: peers.CALL})
        answers = ", ".join(f"{name}: {answer}" for name, answer in one["answers"].items())
        differs = [f"{name}: {reason}" for name, reason in one["differs"].items()]
        title = f"\n{one['part']}, {one['edges']:,} edges, {report.mib(one['input_bytes'])}\n\n"
        parts.append("\n".join([f"{title}{laid}", f"answers: {answers}", *differs]))
    parts.append(NOTES)
    return "\n".join(parts)
