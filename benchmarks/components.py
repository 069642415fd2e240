"""Compare connected components, from an edge list to labels, with other libraries."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from . import machine, peers, report
from .contenders import PROCESSES, THREADS, Settings, make
from .errors import UnusableInputError
from .inputs import Graph, Recipe
from .labels import Labels
from .peak import peak_memory
from .peers import gap
from .timing import Spread, interleave, ratios

NOTES = """\
/ threads, / processes: time over this library's, round by round: median (min to max).
threads: from a frame persisted in this process to a pandas frame of labels.
processes: workers of one thread each; what begins in memory begins in theirs, where labels stay.
peak / input: the most memory in one run above what is resident with the input loaded, over the
edge list's size; each in a process of its own, and for processes the workers' together."""
GAP_NOTES = f"""
gap: its build time and the fastest of {gap.TRIALS} trials, as it prints them. Not counted: reading
the file, and removing duplicate edges. It tells no labels, so the number of components and the
sizes of the largest are checked. Its memory is the whole program's, with its edge list."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=20, help="2**scale ids (default 20)")
    parser.add_argument("--edge-factor", type=int, default=16, help="edges an id (default 16)")
    parser.add_argument("--seed", type=int, default=0, help="which R-MAT graph (default 0)")
    parser.add_argument("--graph", metavar="PATH", help="a Parquet graph instead of R-MAT")
    parser.add_argument("--source", default="src", help="column of --graph (default src)")
    parser.add_argument("--target", default="dst", help="column of --graph (default dst)")
    parser.add_argument(
        "--input",
        choices=["memory", "parquet"],
        default="memory",
        help="where a run begins: at a frame in memory (default), or at Parquet on the disk",
    )
    parser.add_argument(
        "--peers",
        default="",
        help=f"others to measure, separated by commas: {', '.join(peers.names())}",
    )
    parser.add_argument("--gap-cc", metavar="PATH", help="GAP's cc program, or set GAP_CC")
    parser.add_argument("--repeat", type=int, default=5, help="rounds, after one to warm up")
    parser.add_argument("--partitions", type=int, default=8, help="of the input (default 8)")
    parser.add_argument("--no-memory", action="store_true", help="leave out the peak memory")


def run(options: argparse.Namespace) -> int:
    """Measure, print the results and store them."""
    if options.repeat < 1:
        raise UnusableInputError(f"--repeat {options.repeat}: give 1 or more")
    if options.gap_cc:
        os.environ["GAP_CC"] = options.gap_cc
    recipe = Recipe(
        options.scale,
        options.edge_factor,
        options.seed,
        options.graph,
        options.source,
        options.target,
    )
    names = [THREADS, PROCESSES, *_peers(options)]
    with ExitStack() as stack:
        graph = recipe.load()
        parquet = None
        if options.input == "parquet":
            parquet = options.graph or stack.enter_context(_written(recipe, options.partitions))
        settings = Settings(recipe, options.workers, options.partitions, parquet)
        results = measure(names, graph, settings, options.repeat, memory=not options.no_memory)
    print(show(results))
    kept = report.keep(options.json, f"components-{recipe.short}", results)
    if kept is not None:
        print(f"\nkept in {kept}")
    return 0


def measure(
    names: list[str], graph: Graph, settings: Settings, repeat: int, *, memory: bool
) -> dict[str, Any]:
    """Time the contenders in turn and check their results against each other."""
    reference: list[tuple[str, Labels]] = []

    def check(name: str, outcome: Any) -> None:
        if not reference:
            reference.append((name, outcome))
        outcome.agree(name, reference[0][1], reference[0][0])

    contenders = [make(name, graph, settings) for name in names]
    with ExitStack() as stack:
        for contender in contenders:
            contender.start()
            stack.callback(contender.stop)
        seconds = interleave(contenders, repeat, check)
        tasks = {contender.name: contender.tasks() for contender in contenders}
    # The timing is over and the cluster is closed, so a contender has the machine to itself.
    peaks = {name: peak_memory(name, settings) if memory else None for name in names}
    sizes = reference[0][1].sizes()
    return {
        "benchmark": "components",
        "graph": settings.recipe.title,
        "begins_at": "memory" if settings.parquet is None else "parquet",
        "edges": len(graph.frame),
        "vertices": len(reference[0][1].vertices),
        "components": len(sizes),
        "largest_component": int(sizes[0]),
        "input_bytes": graph.nbytes,
        "workers": settings.workers,
        "partitions": settings.partitions,
        "contenders": {
            name: {"seconds": seconds[name], "peak_bytes": peaks[name], "tasks": tasks[name]}
            for name in names
        },
    }


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    measured = results["contenders"]
    header = ["", "min ms", "median", "max", "M edges/s", "/ threads", "/ processes"]
    header += ["peak / input", "tasks"]
    rows = []
    for name, one in measured.items():
        spread = Spread.of(one["seconds"])
        row = [name, *report.milliseconds(spread)]
        row.append(f"{results['edges'] / spread.median / 1e6:.1f}")
        row += [
            report.times(ratios(one["seconds"], measured[ours]["seconds"]))
            for ours in (THREADS, PROCESSES)
        ]
        peak, tasks = one["peak_bytes"], one["tasks"]
        row.append("-" if peak is None else f"{peak / results['input_bytes']:.2f}")
        row.append("-" if tasks is None else str(tasks))
        rows.append(row)
    begin = {"memory": "a frame in memory", "parquet": "Parquet files"}[results["begins_at"]]
    text = f"""\
Connected components, from {begin} to labels: {results["graph"]}
{results["edges"]:,} edges ({report.mib(results["input_bytes"])}), \
{results["vertices"]:,} vertices with an edge, {results["components"]:,} components, \
the largest of {results["largest_component"]:,}
{report.machine_line(machine.describe())}

{report.table(header, rows)}

{len(measured[THREADS]["seconds"])} rounds, all contenders in turn, after one to warm up; \
cores: {results["workers"]}, partitions: {results["partitions"]}. All results agree.
{NOTES}"""
    return text + GAP_NOTES if gap.NAME in measured else text


def _peers(options: argparse.Namespace) -> list[str]:
    """Return the requested peers that can run, and print the others with the reason."""
    usable = []
    for name in dict.fromkeys(filter(None, map(str.strip, options.peers.split(",")))):
        reason = peers.load(name).available()
        if name == gap.NAME and options.input == "parquet":
            reason = "it reads no Parquet"
        if reason is None:
            usable.append(name)
        else:
            print(f"left out {name}: {reason}", file=sys.stderr)
    return usable


@contextmanager
def _written(recipe: Recipe, partitions: int) -> Iterator[str]:
    """Write the graph to Parquet files in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="graphflow-edges-") as folder:
        recipe.lazy(partitions).to_parquet(folder, compute_kwargs={"scheduler": "threads"})
        yield folder
