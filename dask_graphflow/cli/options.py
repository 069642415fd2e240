"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

__all__ = ["DEBUG", "common", "debug", "output", "threads"]

DEBUG = "dask_graphflow.debug"


def _note_debug(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.meta[DEBUG] = value


debug = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_note_debug,
    help="Show the traceback of an error.",
)


def common(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--quiet`` and ``--debug``."""
    return click.option("--quiet", "-q", is_flag=True, help="No progress bar and no summary.")(
        debug(command)
    )


def output(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--output`` and ``--overwrite``."""
    command = click.option(
        "--overwrite",
        is_flag=True,
        help="Replace an earlier output, once the new one is complete. A folder is only replaced if "
        "nothing but earlier outputs of graphflow is in it.",
    )(command)
    return click.option(
        "--output",
        "-o",
        required=True,
        metavar="OUT",
        help="One file, for a name in .parquet or .csv; or a folder of Parquet files, for a name "
        "that ends in /.",
    )(command)


threads = click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="Threads of each process; by default the cores are shared out.",
)
