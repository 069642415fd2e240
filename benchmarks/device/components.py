"""Components of R-MAT graphs on one GPU, from a cuDF frame to a label frame, and the kernels alone."""

from __future__ import annotations

import argparse
import gc
from typing import Any

from benchmarks.errors import ContenderFailedError, UnusableInputError
from benchmarks.timing import Spread, interleave

from . import agreement, clock, floors, graphs, needs, ours, peers, pool, tables

AGAINST = {ours.END_TO_END: peers.END_TO_END, ours.KERNELS: peers.ALGORITHM}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", default="22", help="2**scale ids; several: 22,24,26")
    parser.add_argument("--edge-factor", type=int, default=16, help="edges an id (default 16)")
    parser.add_argument("--peer", default="", help="cugraph, to measure it in turn")


def short(options: argparse.Namespace) -> str:
    """Return the name of the input for file names."""
    return f"scale{options.scale}".replace(",", "-")


def scales(given: str) -> list[int]:
    """Parse the scales."""
    try:
        found = [int(one) for one in given.split(",")]
    except ValueError:
        found = []
    if not found or not all(4 <= one <= 31 for one in found):
        raise UnusableInputError(f"--scale {given}: give numbers from 4 to 31, as in 22,24,26")
    return found


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Time one scale after another."""
    wanted = scales(options.scale)
    peer = needs.peers(options.peer, peers.CUGRAPH)
    if options.edge_factor < 1:
        raise UnusableInputError("give --edge-factor 1 or more")
    pool_bytes = pool.start()
    results: dict[str, Any] = {
        "benchmark": "device components",
        "pool_bytes": pool_bytes,
        "floors": floors.copying(options.repeat),
        "graphs": [],
    }
    for scale in wanted:
        edges = graphs.rmat_part(0, options.edge_factor << scale, scale=scale, seed=options.seed)
        title = f"R-MAT scale {scale}, edge factor {options.edge_factor}, seed {options.seed}"
        one = {"graph": title, **compare(edges, 1 << scale, options.repeat, peer=peer)}
        results["graphs"].append(one)
        del edges
        gc.collect()
    return results


def compare(edges: Any, vertices: int, repeat: int, *, peer: bool) -> dict[str, Any]:
    """Time one graph: the whole calls in turn with the peer, then the kernels with its algorithm."""
    ends = ours.columns(edges, "src", "dst")
    truth = graphs.truth(graphs.whole(ends), vertices)
    expected = graphs.label_frame(*truth)
    failures: dict[str, str] = {}
    left_out: dict[str, int] = {}

    def check(name: str, outcome: clock.Outcome) -> None:
        found = outcome.found
        if name == ours.END_TO_END:
            agreement.equal(name, ours.columns(found, "vertex", "component"), truth)
        elif name == ours.KERNELS:
            agreement.equal(name, ours.labels_of(found, vertices), truth)
        else:
            left_out[name] = agreement.same_partition(name, found, expected)

    work = {ours.END_TO_END: lambda: ours.end_to_end(edges)}
    if peer:
        work[peers.END_TO_END] = lambda: peers.end_to_end(edges)
    seconds = interleave(
        [clock.Wall(name, one) for name, one in work.items()], repeat, check, failures
    )
    alone: list[Any] = [clock.Events(ours.KERNELS, lambda: ours.forest_of(*ends, vertices))]
    built: list[Any] = []
    if peer:
        try:
            with clock.peer():
                built.append(peers.build(edges))
            alone.append(clock.Wall(peers.ALGORITHM, lambda: peers.algorithm(built[0])))
        except ContenderFailedError as error:
            failures[peers.ALGORITHM] = str(error)
    seconds |= interleave(alone, repeat, check, failures)
    built.clear()

    work[ours.KERNELS] = lambda: ours.forest_of(*ends, vertices)
    peaks = pool.peaks(work, failures)
    names = [ours.END_TO_END, ours.KERNELS, *([*AGAINST.values()] if peer else [])]
    return {
        "edges": len(edges),
        "ids": vertices,
        "vertices": len(truth[0]),
        "components": int((truth[0] == truth[1]).sum()),
        "input_bytes": int(sum(end.nbytes for end in ends)),
        "forest_bytes": 4 * vertices,
        "read_once_seconds": floors.reading(*ends, repeat),
        "left_out_by_peer": left_out,
        "contenders": {name: tables.contender(seconds, failures, peaks, name) for name in names},
    }


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    parts = [
        "Connected components on one GPU, from a cuDF frame to a label frame",
        tables.machine_line(),
        tables.copying(results["floors"]),
    ]
    for one in results["graphs"]:
        reading = Spread.of(one["read_once_seconds"]).median
        parts.append(
            f"\n{one['graph']}: {one['edges']:,} edges ({one['input_bytes'] / 2**20:,.0f} MiB), "
            f"{one['vertices']:,} vertices with an edge, {one['components']:,} components; "
            f"reading the edges once: {reading * 1e3:.3f} ms\n\n"
            + tables.laid_out("cugraph / this", one, AGAINST)
        )
    parts.append(f"""
All contenders in turn, after one round to warm up. End to end and cuGraph's algorithm by the wall,
from an idle device to an idle device; the kernels by events. Results are equal to label propagation's.
{tables.FORESTS}""")
    return "\n".join(parts)
