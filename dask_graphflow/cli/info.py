"""``graphflow info``."""

from __future__ import annotations

from typing import Any

import click

from dask_graphflow.cli import options
from dask_graphflow.graph.edgelist import default_ends

from .engine import Engine
from .files import STDIN, Files
from .output import Output
from .result_tables import summary_json, summary_text


@click.command(epilog="For example: graphflow info edges.parquet --source a --target b")
@options.paths
@options.ends
@click.option(
    "--verify",
    is_flag=True,
    help="PATH is the folder of a saved graph: read all of its files, and check every byte.",
)
@options.as_json
@options.reading
@options.running
@options.common
def info(
    paths: tuple[str, ...],
    source: tuple[str, ...],
    target: tuple[str, ...],
    verify: bool,
    as_json: bool,
    workers: int,
    threads: int | None,
    memory_limit: int | None,
    quiet: bool,
    **reading: Any,
) -> None:
    """Show the columns of the edges in PATHs, and the size and the degrees of their graph.

    The vertices and their degrees are counted if the columns of the ends are known. Parallel edges count
    separately. If PATH is the folder of a saved graph, show what its manifest says.
    """
    from dask_graphflow.calls import saving

    show = summary_json if as_json else summary_text
    if len(paths) == 1 and paths[0] != STDIN and (verify or saving.is_saved(paths[0])):
        if source or target:
            raise click.UsageError(
                f"{paths[0]} is a saved graph, whose ends are known. Omit --source and --target."
            )
        click.echo(show(saving.describe_saved(paths[0], verify=verify)))
        return
    if verify:
        raise click.UsageError("--verify checks one saved graph. Give the path of one folder.")
    with (
        Output(None) as out,
        Engine(workers, threads, memory_limit, show_progress=not quiet) as engine,
    ):
        edges = Files(out, **reading).edges(paths, [*source, *target])
        told: dict[str, Any] = {
            f"column {name}": str(dtype) for name, dtype in edges.dtypes.items()
        }
        told["partitions"] = edges.npartitions
        ends: tuple[Any, Any] | None = [*source] or None, [*target] or None
        if not (source or target):
            ends = default_ends(list(edges.columns))
        if ends is None:
            (told["rows"],) = engine.compute(edges.map_partitions(len).sum())
        else:
            told |= _count(engine, edges, *ends)
        told = {
            name: value.item() if hasattr(value, "item") else value for name, value in told.items()
        }
    click.echo(show(told))


def _count(engine: Engine, edges: Any, source: Any, target: Any) -> dict[str, Any]:
    """Return the numbers of rows and vertices, and the range and the mean of the degrees."""
    from dask_graphflow.api.functions import degrees

    columns = ["in_degree", "out_degree"]
    counted = degrees(edges, source=source, target=target, dropna=True)[columns]
    rows, vertices, total, low, high = engine.compute(
        edges.map_partitions(len).sum(),
        counted.map_partitions(len).sum(),
        counted.sum(),
        counted.min(),
        counted.max(),
    )
    told = {"rows": rows, "vertices": vertices, "edges": total["in_degree"]}
    if vertices:
        told["mean degree"] = round(total["in_degree"] / vertices, 3)
        told |= {f"largest {column}": high[column] for column in columns}
        told |= {f"smallest {column}": low[column] for column in columns}
    return told
