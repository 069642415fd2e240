"""Time by chunk size, for powers of two from V/8 edges to E."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from . import machine, report
from .contenders import Settings, Threads
from .errors import UnusableInputError
from .inputs import Recipe
from .labels import Labels
from .timing import Spread, interleave, ratios

DEFAULT = "default"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument("--scale", type=int, default=20, help="2**scale ids (default 20)")
    parser.add_argument("--edge-factor", type=int, default=16, help="edges an id (default 16)")
    parser.add_argument("--seed", type=int, default=0, help="which R-MAT graph (default 0)")
    parser.add_argument("--repeat", type=int, default=5, help="rounds, after one to warm up")
    parser.add_argument(
        "--partitions",
        type=int,
        default=1,
        help="of the input; a chunk is never larger than one (default 1)",
    )


def run(options: argparse.Namespace) -> int:
    """Measure, print the results and store them."""
    if options.scale < 4 or options.repeat < 1:
        raise UnusableInputError("give --scale 4 or more and --repeat 1 or more")
    recipe = Recipe(options.scale, options.edge_factor, options.seed)
    settings = Settings(recipe, options.workers, options.partitions)
    results = sweep(settings, options.repeat)
    print(show(results))
    kept = report.keep(options.json, f"chunks-{recipe.short}", results)
    if kept is not None:
        print(f"\nkept in {kept}")
    return 0


def sweep(settings: Settings, repeat: int) -> dict[str, Any]:
    """Time every chunk size and the library's default in turn."""
    recipe = settings.recipe
    graph = recipe.load()
    edges = len(graph.frame)
    sizes = [1 << power for power in range(recipe.scale - 3, edges.bit_length())]
    sizes += [edges] if sizes[-1] < edges else []
    default = Threads(graph, settings, name=DEFAULT)
    default.start()
    contenders = [
        default,
        *(replace(default, options={"chunk_size": size}, name=str(size)) for size in sizes),
    ]
    reference: list[Labels] = []

    def check(name: str, outcome: Labels) -> None:
        if not reference:
            reference.append(outcome)
        outcome.agree(f"chunk size {name}", reference[0], f"chunk size {DEFAULT}")

    seconds = interleave(contenders, repeat, check)
    return {
        "benchmark": "chunks",
        "graph": recipe.title,
        "edges": edges,
        "ids": 1 << recipe.scale,
        "workers": settings.workers,
        "partitions": settings.partitions,
        "seconds": seconds,
    }


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    seconds = results["seconds"]
    swept = {name: values for name, values in seconds.items() if name != DEFAULT}
    best = min(swept, key=lambda name: Spread.of(swept[name]).median)
    rows = []
    for name, values in [*swept.items(), (DEFAULT, seconds[DEFAULT])]:
        rows.append(
            [
                name if name == DEFAULT else f"{int(name):,}",
                "" if name == DEFAULT else f"{int(name) / results['ids']:g}",
                *report.milliseconds(Spread.of(values)),
                report.times(ratios(values, swept[best])),
                "best" if name == best else "",
            ]
        )
    header = ["chunk size", "/ V", "min ms", "median", "max", "/ best", ""]
    return f"""\
Chunk sizes, threaded scheduler: {results["graph"]}, {results["edges"]:,} edges
{report.machine_line(machine.describe())}

{report.table(header, rows)}

{len(seconds[DEFAULT])} rounds, all sizes in turn, after one to warm up; \
threads: {results["workers"]}, partitions: {results["partitions"]}. All results agree.
/ best: time over that of the size with the least median, round by round: median (min to max)."""
