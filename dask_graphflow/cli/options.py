"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

Command = Callable[..., Any]
READING = ("format", "columns", "header", "dtype", "text_ids", "blocksize")
RUNNING = ("output", "overwrite", "as_json", "workers", "threads", "memory_limit", "quiet")
FORMATS = ("parquet", "csv", "text", "mtx", "jsonl")


def _note_debug(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.meta["debug"] = value


def _bytes(_: click.Context, option: click.Parameter, value: str | None) -> int | None:
    """Read ``4GB``."""
    if value is None:
        return None
    from dask.utils import parse_bytes

    try:
        size = int(parse_bytes(value))
    except ValueError:
        size = 0
    if size <= 0:
        raise click.BadParameter(f"{value!r} is not a size; write it like 4GB or 512MiB")
    return size


def _blocksize(ctx: click.Context, option: click.Parameter, value: str) -> int | None:
    return None if value.lower() == "none" else _bytes(ctx, option, value)


def names(_: click.Context, __: click.Parameter, value: str | None) -> list[str] | None:
    """Read ``a,b``."""
    return None if value is None else value.split(",")


def _types(_: click.Context, __: click.Parameter, value: str | None) -> dict[str, str]:
    """Read ``a=str,w=float64``."""
    pairs = [part.rpartition("=") for part in value.split(",")] if value else []
    if not all(name for name, _, _ in pairs):
        raise click.BadParameter(f"{value!r} is not a list such as name=str,weight=float64")
    return {name: dtype for name, _, dtype in pairs}


def take_options(given: dict[str, Any], which: Sequence[str]) -> dict[str, Any]:
    """Remove the options `which` from those that were given, and return them."""
    return {name: given.pop(name) for name in which}


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return a decorator that adds options, which the help shows in this order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


paths = click.argument("paths", nargs=-1, required=True, metavar="PATH...")

ends = together(
    click.option(
        "--source",
        multiple=True,
        metavar="COLUMN",
        help="Column with the vertex where each edge starts; repeat it for an id of several columns. By "
        "default the columns named source and target, src and dst, from and to, or left and right.",
    ),
    click.option(
        "--target", multiple=True, metavar="COLUMN", help="Column with the vertex where it ends."
    ),
)

reading = together(
    click.option(
        "--format",
        type=click.Choice(FORMATS),
        help="Format of the PATHs; by default, their extensions show it.",
    ),
    click.option(
        "--columns",
        metavar="NAME,NAME,...",
        callback=names,
        help="The columns to read, or their names if the file does not name them.",
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line of a CSV file has the names of the columns; by default it has if no "
        "cell of it is a number.",
    ),
    click.option(
        "--dtype",
        metavar="NAME=TYPE,...",
        callback=_types,
        help="Types of columns in text files, such as weight=float64; the first MiB shows the others.",
    ),
    click.option(
        "--text-ids", is_flag=True, help="Keep ids in text files as they are written, such as 007."
    ),
    click.option(
        "--blocksize",
        metavar="SIZE",
        default="64MiB",
        callback=_blocksize,
        help="Size of the blocks in which text files are read, 64MiB by default; none reads each file as a "
        "whole, which is needed if cells contain line breaks.",
    ),
)

debug = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_note_debug,
    help="Show the full traceback if an error occurs.",
)

threads = click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="Number of threads per process; by default the cores are divided evenly.",
)

running = together(
    click.option(
        "--workers",
        type=click.IntRange(min=0),
        default=0,
        help="Number of worker processes; 0, the default, uses threads in this process.",
    ),
    threads,
    click.option(
        "--memory-limit",
        metavar="SIZE",
        callback=_bytes,
        help="Memory limit of each worker, for example 4GB.",
    ),
)

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for use by programs.")

common = together(
    click.option("--quiet", "-q", is_flag=True, help="Show no progress bar and no summary."), debug
)

overwrite = click.option(
    "--overwrite",
    is_flag=True,
    help="Replace an earlier output file, once the new one is complete. A file that the command reads is "
    "never replaced.",
)


def output(*, required: bool) -> Callable[[Command], Command]:
    """Return a decorator that adds ``--output`` and ``--overwrite``."""
    otherwise = "" if required else " By default, the first rows are shown as a table."
    return together(
        click.option(
            "--output",
            "-o",
            required=required,
            metavar="OUT",
            help="Output path: a file that ends in .parquet, .csv, .tsv or .jsonl, also followed by .gz or "
            f".zst; a folder of Parquet files if it ends in /; - for CSV on standard output.{otherwise}",
        ),
        overwrite,
    )
