"""``graphflow generate``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from dask_graphflow.cli import options

from .run import run

__all__ = ["generate"]


@click.group()
def generate() -> None:
    """Write the edges of a generated graph, in columns src and dst."""


def _writes_edges(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that all graphs share."""
    return options.together(
        options.output(required=True),
        options.as_json,
        click.option(
            "--npartitions", type=click.IntRange(min=1), help="Number of partitions to generate."
        ),
        options.threads,
        options.common,
    )(command)


@generate.command()
@click.option(
    "--scale",
    type=click.IntRange(1, 32),
    required=True,
    help="Base-2 logarithm of the number of vertex ids.",
)
@click.option(
    "--edge-factor",
    type=click.IntRange(min=1),
    default=16,
    show_default=True,
    help="Number of edges per vertex id.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the random generator.",
)
@_writes_edges
def rmat(scale: int, edge_factor: int, seed: int, npartitions: int | None, **running: Any) -> None:
    """Write a power-law graph: Graph500 R-MAT with permuted ids."""
    from dask_graphflow.inputs import generate as graphs

    edges = graphs.rmat(scale, edge_factor=edge_factor, seed=seed, npartitions=npartitions)
    run(lambda _: edges, **running)


@generate.command()
@click.option(
    "--rows", type=click.IntRange(min=1), required=True, help="Number of rows of vertices."
)
@click.option(
    "--columns", type=click.IntRange(min=1), required=True, help="Number of columns of vertices."
)
@_writes_edges
def grid(rows: int, columns: int, npartitions: int | None, **running: Any) -> None:
    """Write a two-dimensional grid, as sparse as a road network."""
    from dask_graphflow.inputs import generate as graphs

    edges = graphs.grid(rows, columns, npartitions=npartitions)
    run(lambda _: edges, **running)


@generate.command()
@click.option("-n", type=click.IntRange(min=1), required=True, help="Number of vertices.")
@_writes_edges
def path(n: int, npartitions: int | None, **running: Any) -> None:
    """Write the path 0 - 1 - 2 - ..., whose diameter is the largest."""
    from dask_graphflow.inputs import generate as graphs

    edges = graphs.path(n, npartitions=npartitions)
    run(lambda _: edges, **running)
