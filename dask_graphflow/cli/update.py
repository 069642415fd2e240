"""``graphflow update``."""

from __future__ import annotations

from typing import Any

import click

from dask_graphflow.cli import options

from .engine import Engine
from .files import Files
from .output import Output
from .result_tables import summary_json, summary_text


@click.command(
    epilog="For example: graphflow update graph/ --insert new.parquet --delete old.parquet"
)
@click.argument("folder")
@click.option(
    "--insert",
    multiple=True,
    metavar="PATH",
    help="File with new edges, in columns named as those of the graph; repeatable.",
)
@click.option(
    "--delete", multiple=True, metavar="PATH", help="File with edges to delete; repeatable."
)
@click.option(
    "--missing",
    type=click.Choice(["raise", "ignore"]),
    default="raise",
    show_default=True,
    help="What to do if an edge to delete is not in the graph.",
)
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    metavar="N",
    help="Afterwards, delete the files that the newest N versions do not need.",
)
@options.as_json
@options.reading
@options.running
@options.common
def update(
    folder: str,
    insert: tuple[str, ...],
    delete: tuple[str, ...],
    missing: Any,
    keep: int | None,
    as_json: bool,
    workers: int,
    threads: int | None,
    memory_limit: int | None,
    quiet: bool,
    **reading: Any,
) -> None:
    """Add a version to the saved graph in FOLDER: edges are deleted, then others are inserted."""
    from dask_graphflow.api.load import load_graph
    from dask_graphflow.api.vacuum import vacuum

    if not (insert or delete):
        raise click.UsageError("Give --insert, --delete or both.")
    with (
        Output(None) as out,
        Engine(workers, threads, memory_limit, show_progress=not quiet),
    ):
        graph, files = load_graph(folder, backend="pandas"), Files(out, **reading)
        columns = graph._shards.spec.columns
        ids = [*columns.source, *columns.target]
        edges = {
            name: files.edges(paths, ids)
            for name, paths in (("insert", insert), ("delete", delete))
            if paths
        }
        newer = graph.update(**edges, missing=missing).persist()
        newer.save(folder, append=True)
        told: dict[str, Any] = {"vertices": newer.num_vertices, "edges": newer.num_edges}
        if keep is not None:
            told["deleted files"] = len(vacuum(folder, keep=keep))
    if not quiet:
        click.echo((summary_json if as_json else summary_text)(told))
