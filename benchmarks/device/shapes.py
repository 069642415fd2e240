"""Compare graphs of other shapes on one GPU with R-MAT graphs with the same numbers of ids and edges."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Iterator
from typing import Any

from benchmarks.errors import UnusableInputError
from benchmarks.timing import interleave

from . import agreement, clock, floors, graphs, ours, pool, tables

SHAPES = ("grid", "path", "copies")
REACH = 1 << 24  # approximate number of ids of all copies of a graph together


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this benchmark's options."""
    parser.add_argument(
        "--shapes", default="", help=f"of {','.join(SHAPES)}; default: all, copies with --graph"
    )
    parser.add_argument("--grid", type=int, default=24, help="2**grid ids (default 24)")
    parser.add_argument("--path", type=int, default=100_000_000, help="ids (default 100_000_000)")
    parser.add_argument("--graph", metavar="PATH", help="a Parquet graph, for copies")
    parser.add_argument("--source", default="src", help="column of --graph (default src)")
    parser.add_argument("--target", default="dst", help="column of --graph (default dst)")


def short(options: argparse.Namespace) -> str:
    """Return the name of the input for file names."""
    return "-".join(wanted(options))


def wanted(options: argparse.Namespace) -> list[str]:
    """Return the shapes to measure."""
    if not options.shapes:
        return [name for name in SHAPES if name != "copies" or options.graph]
    names = list(options.shapes.split(","))
    unknown = [name for name in names if name not in SHAPES]
    if unknown:
        raise UnusableInputError(f"--shapes {unknown[0]}: there are {', '.join(SHAPES)}")
    if "copies" in names and not options.graph:
        raise UnusableInputError("--shapes copies needs the graph to copy: give --graph PATH")
    return names


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Time every shape, in each order of its ids and edges."""
    names = wanted(options)
    if not 2 <= options.grid <= 30 or not 2 <= options.path < 1 << 31:
        raise UnusableInputError("give --grid from 2 to 30 and --path from 2 to 2**31 - 1")
    pool_bytes = pool.start()
    results: dict[str, Any] = {
        "benchmark": "device graphs",
        "pool_bytes": pool_bytes,
        "floors": floors.copying(options.repeat),
        "graphs": [],
    }
    for name in names:
        for title, source, target, vertices in written(name, options):
            found = compare(source, target, vertices, options)
            results["graphs"].append({"graph": title, **found})
            del source, target
            gc.collect()
    return results


def written(name: str, options: argparse.Namespace) -> Iterator[tuple[str, Any, Any, int]]:
    """Yield a shape as it is, with permuted ids, and with permuted ids and edges."""
    if name == "grid":
        title, graph = f"grid of 2^{options.grid} ids", graphs.grid(options.grid)
    elif name == "path":
        title, graph = f"path of {options.path:,} ids", graphs.path(options.path)
    else:
        graph = graphs.copies(options.graph, options.source, options.target, REACH)
        title = f"copies of {options.graph.rpartition('/')[2]}, {graph[2]:,} ids"
    source, target, vertices = graph
    del graph
    yield f"{title}, in order", source, target, vertices
    source, target = graphs.with_permuted_ids(source, target, vertices, options.seed)
    yield f"{title}, ids permuted", source, target, vertices
    source, target = graphs.in_another_order(source, target, options.seed)
    yield f"{title}, ids and edges permuted", source, target, vertices


def compare(source: Any, target: Any, vertices: int, options: argparse.Namespace) -> dict[str, Any]:
    """Time a graph and an R-MAT graph of its size in turn: the whole call, and the kernels alone."""
    scale = (vertices - 1).bit_length()
    like = graphs.rmat(scale, len(source), seed=options.seed, vertices=vertices)
    ends = {"": (source, target), ", R-MAT": like}
    edges = {kind: graphs.frame(*pair) for kind, pair in ends.items()}
    truths = {kind: graphs.truth(graphs.whole(pair), vertices) for kind, pair in ends.items()}

    def check(name: str, outcome: clock.Outcome) -> None:
        found, truth = outcome.found, truths[", R-MAT" if name.endswith(", R-MAT") else ""]
        if name.startswith(ours.KERNELS):
            agreement.equal(name, ours.labels_of(found, vertices), truth)
        else:
            agreement.equal(name, ours.columns(found, "vertex", "component"), truth)

    work: list[Any] = []
    for kind in ends:
        work.append(clock.Wall(ours.END_TO_END + kind, _end_to_end(edges[kind])))
        work.append(clock.Events(ours.KERNELS + kind, _kernels(ends[kind], vertices)))
    seconds = interleave(work, options.repeat, check)
    peaks = pool.peaks({one.name: one.work for one in work}, {})
    return {
        "edges": len(source),
        "ids": vertices,
        "components": {
            kind or "this": int((truth[0] == truth[1]).sum()) for kind, truth in truths.items()
        },
        "input_bytes": int(source.nbytes + target.nbytes),
        "forest_bytes": 4 * vertices,
        "read_once_seconds": floors.reading(source, target, options.repeat),
        "contenders": {one.name: tables.contender(seconds, {}, peaks, one.name) for one in work},
    }


def _end_to_end(edges: Any) -> Any:
    return lambda: ours.end_to_end(edges)


def _kernels(ends: tuple[Any, Any], vertices: int) -> Any:
    return lambda: ours.forest_of(*ends, vertices)


def show(results: dict[str, Any]) -> str:
    """Format the results as text."""
    # The time on each shape is divided by the time on R-MAT. With a peer, the ratio is the other way round.
    against = {name + ", R-MAT": name for name in (ours.END_TO_END, ours.KERNELS)}
    parts = [
        "Connected components on one GPU, beside R-MAT graphs of as many ids and edges",
        tables.machine_line(),
        tables.copying(results["floors"]),
    ]
    parts += [
        f"\n{one['graph']}: {one['edges']:,} edges, {one['components']['this']:,} components\n\n"
        + tables.laid_out("shape / R-MAT", one, against)
        for one in results["graphs"]
    ]
    parts.append(f"""
shape / R-MAT: the shape's time over that of the R-MAT graph, round by round, beside the latter.
End to end by the wall, the kernels by events. Results are equal to label propagation's.
{tables.FORESTS}""")
    return "\n".join(parts)
