"""``graphflow convert``."""

from __future__ import annotations

from typing import Any

import click

from dask_graphflow.cli import options

from .files import Files
from .output import Output
from .run import run


@click.command(epilog="For example: graphflow convert web.txt.gz -o web.parquet")
@options.paths
@options.output(required=True)
@options.as_json
@options.reading
@options.running
@options.common
def convert(
    paths: tuple[str, ...],
    format: str | None,
    columns: list[str] | None,
    header: bool | None,
    text_ids: bool,
    blocksize: int | None,
    **running: Any,
) -> None:
    """Write the edges in PATHs to a file of another format."""

    def frame_of(out: Output) -> Any:
        files = Files(
            out,
            format=format,
            columns=columns,
            header=header,
            text_ids=text_ids,
            blocksize=blocksize,
        )
        return files.edges(paths)

    run(frame_of, **running)
