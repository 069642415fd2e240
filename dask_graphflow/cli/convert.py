"""``graphflow convert``."""

from __future__ import annotations

from typing import Any

import click

from dask_graphflow.cli import options

from .files import Files
from .run import run


@click.command(epilog="For example: graphflow convert web.txt.gz -o web.parquet")
@options.paths
@options.output(required=True)
@options.as_json
@options.reading
@options.running
@options.common
def convert(paths: tuple[str, ...], **given: Any) -> None:
    """Write the edges in PATHs to a file of another format."""
    reading = options.take_options(given, options.READING)
    run(lambda out: Files(out, **reading).edges(paths), **given)
