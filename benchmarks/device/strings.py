"""Components of pairs of strings on one GPU, from a cuDF frame to a label frame."""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.errors import UnusableInputError
from benchmarks.timing import interleave

from . import agreement, clock, floors, graphs, needs, ours, peers, pool, tables

AGAINST = {ours.END_TO_END: peers.END_TO_END}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--pairs", type=int, default=100_000_000, help="edges (default 10**8)")
    parser.add_argument("--ids", type=int, help="to draw from (default: half as many as pairs)")
    parser.add_argument("--peer", default="", help="cugraph, to measure it in turn")


def short(options: argparse.Namespace) -> str:
    """Return the name of the input for file names."""
    return f"{options.pairs}"


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Time this library and the peer in turn."""
    ids = options.ids or max(2, options.pairs // 2)
    if options.pairs < 1 or not 2 <= ids < graphs.STRING_BASE:
        raise UnusableInputError("give --pairs 1 or more and --ids from 2 to below 10**9")
    peer = needs.peers(options.peer, peers.CUGRAPH)
    pool_bytes = pool.start()
    copied = floors.copying(options.repeat)
    ends = graphs.random_pairs(options.pairs, ids, options.seed)
    truth = graphs.truth(graphs.whole(ends), ids)
    edges = graphs.frame(*(graphs.as_strings(end) for end in ends))
    del ends
    failures: dict[str, str] = {}
    left_out: dict[str, int] = {}

    def check(name: str, outcome: clock.Outcome) -> None:
        found = outcome.found
        if name == ours.END_TO_END:
            vertices, smallest = (graphs.as_numbers(found[one]) for one in ("vertex", "component"))
            agreement.equal(name, (vertices, smallest), truth)
        else:
            found = found.assign(vertex=graphs.as_numbers(found["vertex"]).astype("int32"))
            expected = graphs.label_frame(*truth)
            left_out[name] = agreement.same_partition(name, found, expected)

    work = {ours.END_TO_END: lambda: ours.end_to_end(edges)}
    if peer:
        work[peers.END_TO_END] = lambda: peers.end_to_end(edges)
    seconds = interleave(
        [clock.Wall(name, one) for name, one in work.items()], options.repeat, check, failures
    )
    peaks = pool.peaks(work, failures)
    return {
        "benchmark": "device strings",
        "graph": f"{options.pairs:,} random pairs of {ids:,} strings of ten digits",
        "pool_bytes": pool_bytes,
        "floors": copied,
        "edges": options.pairs,
        "vertices": len(truth[0]),
        "components": int((truth[0] == truth[1]).sum()),
        "input_bytes": int(edges.memory_usage(index=False, deep=True).sum()),
        "forest_bytes": 4 * len(truth[0]),
        "left_out_by_peer": left_out,
        "contenders": {name: tables.contender(seconds, failures, peaks, name) for name in work},
    }


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    return f"""\
Connected components on one GPU, from a cuDF frame of strings to a label frame: {results["graph"]}
{results["edges"]:,} edges ({results["input_bytes"] / 2**20:,.0f} MiB), \
{results["vertices"]:,} vertices with an edge, {results["components"]:,} components
{tables.machine_line()}
{tables.copying(results["floors"])}

{tables.laid_out("cugraph / this", results, AGAINST)}

All contenders in turn, after one round to warm up, by the wall. Ours is equal to what label
propagation finds; the peer parts the vertices likewise.
{tables.FORESTS}"""
