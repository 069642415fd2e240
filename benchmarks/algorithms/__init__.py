"""Compare building a graph, and every algorithm that other libraries also have, on the host or on a GPU."""

from __future__ import annotations

import argparse
import gc
from contextlib import ExitStack
from typing import Any

import numpy as np

from benchmarks import cugraph, gpu, report
from benchmarks.errors import UnusableInputError
from benchmarks.harness import take_turns

from . import peers
from .agreement import Agreement, check_shortest
from .inputs import DIRECTED, Inputs
from .ours import FRAME, LOOP, Ours
from .rows import ROWS, Row

NOTES = f"""\
All contenders take turns, after one round to warm up. Graphs are built, and the answers of peers copied,
outside the timing. {LOOP}: the algorithm, to arrays; {FRAME}: the whole call on a persisted
graph; the other rows are peers, and a ratio above 1 means that a peer takes longer. "answer" is "same" if
it equals the first one, or the number of colors, the modularity, or the sum of weights. Answers are not
compared if a peer makes random choices itself, defines the score in another way, or prints no answer."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=16, help="2**scale ids (default 16)")
    parser.add_argument("--seed", type=int, default=0, help="which R-MAT graph (default 0)")
    parser.add_argument(
        "--only", nargs="+", choices=list(ROWS), default=list(ROWS), metavar="NAME",
        help=f"some of {', '.join(ROWS)}",
    )  # fmt: skip
    peers.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Measure, print the results and store them."""
    if options.repeat < 1 or not 4 <= options.scale <= 31:
        raise UnusableInputError("give --repeat 1 or more, and --scale from 4 to 31")
    if options.gpu:
        gpu.start(peer=cugraph.NAME in options.peers)
    with ExitStack() as stack:
        inputs = Inputs.of(options.scale, options.seed, gpu=options.gpu)
        contestants: list[Any] = [Ours(inputs, options.workers, on_gpu=options.gpu)]
        if not options.gpu:
            contestants += peers.started(options, inputs, stack)
        elif cugraph.NAME in options.peers:
            contestants.append(cugraph.Cugraph(inputs))
        results: dict[str, Any] = {
            "benchmark": "algorithms",
            "graph": f"R-MAT scale {options.scale}, seed {options.seed}",
            "gpu": options.gpu,
            "workers": options.workers,
            "versions": {one.name: one.version for one in contestants[1:]},
            "rows": {},
        }
        for name in options.only:
            row = measure(ROWS[name], contestants, inputs, options.repeat, on_gpu=options.gpu)
            results["rows"][name] = row
            columns = {"answer": row["answers"]}
            if options.gpu:
                columns["peak"] = {who: report.mib(peak) for who, peak in row["peaks"].items()}
            print(f"\n{name}, {row['edges']:,} edges, on the graph {row['graph']}")
            print(
                report.comparison(row["seconds"], LOOP, columns, row["failures"] | row["differs"])
            )
            gc.collect()
    text = f"\n{NOTES}\n{results['graph']}; cores: {options.workers}; peers: {results['versions']}"
    where = "gpu-" if options.gpu else ""
    report.show(text, results, f"algorithms-{where}scale{options.scale}", options)
    return int(any(row["differs"] for row in results["rows"].values()))


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

    seconds = take_turns(contenders, repeat, check, failures)
    return {
        "graph": row.graph,
        "edges": len(inputs.ends(row.graph)[0]),
        "seconds": seconds,
        "failures": failures,
        "answers": agreement.answers,
        "differs": agreement.differs,
        "peaks": {name: gpu.peak(contenders[name]) for name in seconds} if on_gpu else {},
    }
