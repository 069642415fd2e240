"""``graphflow estimate``."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from dask_graphflow.cli import options

from .files import Files
from .output import Output
from .result_tables import summary_json


@click.command(
    epilog="For example: graphflow estimate pagerank edges.parquet --source a --target b"
)
@click.argument("algorithm")
@options.paths
@options.ends
@click.option("--weight", metavar="COLUMN", help="Column with the weights of the edges.")
@click.option("--directed/--undirected", default=True, help="Whether edges have a direction.")
@click.option("--num-edges", type=int, help="Number of edges, if it cannot be read from the files.")
@click.option(
    "--num-vertices", type=int, help="Number of vertices, if it cannot be read from the files."
)
@click.option("--supersteps", type=int, help="Number of supersteps; a typical value by default.")
@click.option("-k", "--k", type=int, help="Number of sources, if the algorithm has sources.")
@click.option("--top-k", type=int, help="Number of rows per vertex, if the algorithm limits it.")
@options.as_json
@options.reading
@options.debug
def estimate(
    algorithm: str,
    paths: tuple[str, ...],
    source: tuple[str, ...],
    target: tuple[str, ...],
    as_json: bool,
    **sizes: Any,
) -> None:
    """Predict the time and memory of a command on this machine, before it reads any edge.

    ALGORITHM is the name of the command, such as pagerank. Parquet files contain the number of edges and,
    if ids are integers close together, the number of vertices. For other files, give both.
    """
    from dask_graphflow.api.estimate import estimate as predicted

    reading = options.take_options(sizes, options.READING)
    with Output(None) as out:
        edges = Files(out, **reading).edges(paths, [*source, *target])
        result = predicted(
            edges,
            algorithm.replace("-", "_"),
            source=[*source] or None,
            target=[*target] or None,
            **sizes,
        )
    click.echo(summary_json(dataclasses.asdict(result)) if as_json else result)
