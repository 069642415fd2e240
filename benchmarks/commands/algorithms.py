"""Compare building a graph, and every algorithm that other libraries also have, on the host or on a GPU."""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.lib import gpu, report
from benchmarks.lib.agreement import Agreement, check_shortest
from benchmarks.lib.errors import UnusableInputError
from benchmarks.lib.graphs import DIRECTED, Inputs
from benchmarks.lib.harness import ENOUGH, TRIALS, Spread, ratios, take_turns
from benchmarks.lib.ours import FRAME, LOOP, Ours
from benchmarks.lib.rows import ROWS, Row
from benchmarks.peers import cugraph, host
from benchmarks.peers.host import DELTAS

SLOW = 1.0
NOTES = f"""\
All contenders take turns, after one round to warm up. The fastest of up to {TRIALS} runs in a row counts,
whose data is in the caches. After {ENOUGH:g} s there is no other run in a row, and a graph that is built in
the timing is built once. A peer on the host whose first run takes more than {SLOW:g} s is run once.
Otherwise, graphs are built, and the answers of peers copied, outside the timing. {LOOP}: the
algorithm, to arrays; {FRAME}: the whole call on a persisted graph; the other rows are peers, and
a ratio above 1 means that a peer takes longer. "answer" is "same" if it equals the first one, or the number
of colors, the modularity, or the sum of weights. Answers are not compared if a peer makes random choices
itself, defines the score in another way, or prints no answer. The last table divides the time of the
fastest peer by that of this library; below 1, the peer is faster. GAP leaves out repeated edges when it
builds a graph. Its shortest paths have no predecessors, and the fastest of {len(DELTAS)} bucket widths."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument(
        "--scale", type=int, nargs="+", default=[],
        help="R-MAT graphs of 2**scale ids (default 16, if there is no --graph)",
    )  # fmt: skip
    parser.add_argument(
        "--graph", nargs="+", default=[], metavar="FILE",
        help="Parquet files whose first two columns are the ends of edges; not with --gpu",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="which R-MAT graph (default 0)")
    parser.add_argument(
        "--only", nargs="+", choices=list(ROWS), default=list(ROWS), metavar="NAME",
        help=f"some of {', '.join(ROWS)}",
    )  # fmt: skip
    host.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Measure, print the results and store them."""
    scales = options.scale or ([] if options.graph else [16])
    if options.repeat < 1 or not all(4 <= scale <= 31 for scale in scales):
        raise UnusableInputError("give --repeat 1 or more, and --scale from 4 to 31")
    if options.gpu:
        if options.graph:
            raise UnusableInputError("--graph is measured on the host; leave out --gpu")
        gpu.start(peer=cugraph.NAME in options.peers)
    results: dict[str, Any] = {
        "benchmark": "algorithms",
        "seed": options.seed,
        "gpu": options.gpu,
        "workers": options.workers,
        "versions": {},
        "graphs": {},
    }
    made = {
        f"scale{scale}": partial(Inputs.of, scale, options.seed, gpu=options.gpu)
        for scale in scales
    }
    made |= {Path(path).stem: partial(Inputs.read, path) for path in options.graph}
    try:
        for graph, inputs in made.items():
            print(f"\n{graph}", flush=True)
            rows = results["graphs"][graph] = {}
            began = time.monotonic()
            for name, row in on_graph(inputs(), options, results["versions"]):
                rows[name] = row
                show(name, row, time.monotonic() - began)
            gc.collect()
    except KeyboardInterrupt:  # a run on a GPU has a time limit
        print("\nInterrupted: only the rows so far are stored", flush=True)
    text = f"\n{summary(results['graphs'])}\n\n{NOTES}\ncores: {options.workers}; {results['versions']}"
    where = "gpu-" if options.gpu else ""
    report.show(text, results, f"algorithms-{where}{'-'.join(made)}", options)
    every = [row for graph in results["graphs"].values() for row in graph.values()]
    complete = len(every) == len(made) * len(options.only)
    return int(not complete or any(row["differs"] for row in every))


def on_graph(
    inputs: Inputs, options: argparse.Namespace, versions: dict[str, str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Measure all rows on one edge list, and yield their names and results; add the peers' versions."""
    with ExitStack() as stack:
        contestants: list[Any] = [Ours(inputs, options.workers, on_gpu=options.gpu)]
        if not options.gpu:
            contestants += host.started(options, inputs, stack)
        elif cugraph.NAME in options.peers:
            contestants.append(cugraph.Cugraph(inputs))
        versions |= {one.name: one.version for one in contestants[1:]}
        # From here on, collections pass over what the libraries consist of. They took most of the time.
        gc.collect()
        gc.freeze()
        for name in options.only:
            yield name, measure(ROWS[name], contestants, inputs, options.repeat, on_gpu=options.gpu)


def show(name: str, row: Mapping[str, Any], elapsed: float) -> None:
    """Print the measurements of a row, which ended after some seconds."""
    columns = {"answer": row["answers"]}
    if row["peaks"]:
        columns["peak"] = {who: report.mib(peak) for who, peak in row["peaks"].items()}
    print(f"\n{name}, {row['edges']:,} edges, on the graph {row['graph']}; after {elapsed:.0f} s")
    reasons = row["failures"] | row["differs"]
    print(report.comparison(row["seconds"], base(row), columns, reasons), flush=True)


def base(row: dict[str, Any]) -> str:
    """Return the contender that peers are compared with: the loop alone if it gives the whole answer."""
    return LOOP if LOOP in row["seconds"] else FRAME


def summary(graphs: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Return the table of all rows: for each graph, this library's time, and the fastest peer's over it."""
    header = ["", *(cell for graph in graphs for cell in (f"{graph}, ms", "fastest peer / this"))]
    names = dict.fromkeys(name for rows in graphs.values() for name in rows)
    lines = [
        [name, *(cell for rows in graphs.values() for cell in _cells(rows.get(name)))]
        for name in names
    ]
    return report.table(header, lines)


def _cells(row: dict[str, Any] | None) -> list[str]:
    if row is None:
        return ["-", "-"]
    own, seconds = base(row), row["seconds"]
    if own not in seconds:
        return ["failed", "-"]
    others = {
        name: ratios(seconds[name], seconds[own]) for name in seconds if name not in (LOOP, FRAME)
    }
    time = f"{Spread.of(seconds[own]).median * 1e3:.2f}"
    if not others:
        return [time, "-"]
    fastest = min(others, key=lambda name: others[name].median)
    return [time, f"{others[fastest].median:.2f} {fastest}"]


def measure(
    row: Row, contestants: list[Any], inputs: Inputs, repeat: int, *, on_gpu: bool = False
) -> dict[str, Any]:
    """Time all contenders of one row in turn."""
    contenders: dict[str, Any] = {}
    for one in contestants:
        contenders |= one.contenders(row)
    agreement, failures = Agreement(row.rule, row.compared(inputs)), dict[str, str]()

    def check(name: str, answer: Any) -> None:
        if row.column == "distance" and not agreement.answers:
            columns = inputs.columns(row.graph)
            check_shortest(
                np.asarray(answer, like=columns["source"]),
                row.vertices(inputs)[0],
                (columns["source"], columns["target"]),
                columns.get("weight"),
                directed=row.graph in DIRECTED,
            )
        agreement(name, answer)

    # A warm-up of this library or of a GPU also compiles kernels.
    peers_here = [] if on_gpu else [name for name in contenders if name not in (LOOP, FRAME)]
    patience = dict.fromkeys(peers_here, SLOW)
    seconds = take_turns(contenders, repeat, check, failures, patience)
    return {
        "graph": row.graph,
        "edges": len(inputs.ends(row.graph)[0]),
        "seconds": seconds,
        "failures": failures,
        "answers": agreement.answers,
        "differs": agreement.differs,
        "peaks": {name: gpu.peak(contenders[name]) for name in seconds} if on_gpu else {},
    }
