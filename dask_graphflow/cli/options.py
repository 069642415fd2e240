"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

DEBUG = "dask_graphflow.debug"


def _note_debug(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.meta[DEBUG] = value


debug = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_note_debug,
    help="Show the full traceback if an error occurs.",
)


def common(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--quiet`` and ``--debug``."""
    return click.option("--quiet", "-q", is_flag=True, help="Show no progress bar and no summary.")(
        debug(command)
    )


def output(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--output`` and ``--overwrite``."""
    command = click.option(
        "--overwrite",
        is_flag=True,
        help="Replace an earlier output, once the new one is complete. A file that the command reads is "
        "never replaced, and a folder only if nothing but earlier outputs of graphflow is in it.",
    )(command)
    return click.option(
        "--output",
        "-o",
        required=True,
        metavar="OUT",
        help="Output path: a file if it ends in .parquet or .csv, a folder of Parquet files if it "
        "ends in /.",
    )(command)


threads = click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="Number of threads per process; by default the cores are divided evenly.",
)
