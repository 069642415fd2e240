"""``graphflow components``."""

from __future__ import annotations

from typing import Any

import click

from dask_graphflow.cli import options

from .summary import Summary, count_components


def _number(text: str) -> float:
    """Return a number; whole numbers are exact."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _threshold(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    """Read ``0.9``."""
    if value is None:
        return None
    try:
        return _number(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a number such as 0.9") from None


def _thresholds(_: click.Context, __: click.Parameter, value: str | None) -> list[float] | None:
    """Read ``0.9,0.95``."""
    if value is None:
        return None
    try:
        return [_number(number) for number in value.split(",")]
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list of numbers such as 0.9,0.95") from None


def _character(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Read ``;``."""
    if value is not None and (len(value) != 1 or not value.isascii() or value in '"\r\n'):
        raise click.BadParameter(f"{value!r} is not one ASCII character such as ';'")
    return value


def _bytes(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
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


@click.command(
    epilog="For example: graphflow components pairs.parquet --source a --target b -o labels.parquet"
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--source",
    required=True,
    multiple=True,
    metavar="COLUMN",
    help="Column with the vertex at one end of each edge.",
)
@click.option(
    "--target",
    required=True,
    multiple=True,
    metavar="COLUMN",
    help="Column with the vertex at the other end.",
)
@options.output
@click.option("--weight", metavar="COLUMN", help="What a threshold is compared with.")
@click.option(
    "--threshold",
    metavar="T",
    callback=_threshold,
    help="Only edges that weigh at least this much connect.",
)
@click.option(
    "--thresholds",
    metavar="T,T,...",
    callback=_thresholds,
    help="Several thresholds in one pass over the edges; a component column for each.",
)
@click.option(
    "--vertices",
    metavar="PATH",
    help="File with all vertex ids; adds vertices that have no edge to the output.",
)
@click.option(
    "--vertex-column",
    multiple=True,
    metavar="COLUMN",
    help="Id column in the --vertices file; required if the file has other columns too.",
)
@click.option(
    "--seed",
    metavar="PATH",
    help="File with an earlier result to update; PATHs then contain only the new edges.",
)
@click.option(
    "--merge",
    type=click.Choice(["tree", "one-way", "ring"]),
    default="tree",
    show_default=True,
    help="Order in which partial results are merged.",
)
@click.option(
    "--chunk-size",
    type=click.IntRange(min=1),
    metavar="EDGES",
    help="Number of edges to process before trees are compressed again.",
)
@click.option("--dropna", is_flag=True, help="Skip edges with a missing id.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["auto", "parquet", "csv"]),
    default="auto",
    show_default=True,
    help="Format of the PATHs; auto uses the file names, then the first bytes.",
)
@click.option(
    "--separator",
    metavar="CHARACTER",
    callback=_character,
    help="Separator of CSV fields; by default a comma, or a tab for .tsv and .tab files.",
)
@click.option(
    "--header/--no-header",
    default=None,
    help="Whether CSV files begin with a line of column names. By default they do, but a name that is "
    "a number is an error. Without names, the columns are named 0, 1, and so on. A --seed file always "
    "has names.",
)
@click.option(
    "--text-ids/--integer-ids",
    default=None,
    help="Type of ids in CSV files. By default, ids stay as they are written: they are integers if "
    "every one is written as an integer is, and text otherwise. As integers, 007, 7.0 and 7 are one id.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=0),
    default=0,
    help="Number of worker processes; 0, the default, uses threads in this process.",
)
@options.threads
@click.option(
    "--memory-limit",
    metavar="SIZE",
    callback=_bytes,
    help="Memory limit of each worker, for example 4GB; a lower limit reads smaller blocks.",
)
@options.common
def components(
    paths: tuple[str, ...],
    source: tuple[str, ...],
    target: tuple[str, ...],
    output: str,
    overwrite: bool,
    weight: str | None,
    threshold: float | None,
    thresholds: list[float] | None,
    vertices: str | None,
    vertex_column: tuple[str, ...],
    seed: str | None,
    merge: str,
    chunk_size: int | None,
    dropna: bool,
    kind: str,
    separator: str | None,
    header: bool | None,
    text_ids: bool | None,
    workers: int,
    threads: int | None,
    memory_limit: int | None,
    quiet: bool,
) -> None:
    """Find the connected components of the graph with the edges in PATHs.

    PATHs are Parquet or CSV files, folders or globs, on the local machine or on any file system
    that fsspec supports (s3://..., gs://..., https://...). The output has one row per vertex,
    sorted by vertex, with the vertex and its component. A component is named after its smallest
    vertex. If an id consists of several columns, repeat --source and --target.
    """
    if vertex_column and not vertices:
        raise click.UsageError("--vertex-column needs --vertices.")
    summary = Summary()
    from .csv_files import Format, ReadAgain
    from .engine import Engine
    from .files import find_files
    from .reading import Reader
    from .writing import Output

    settings = {
        "source": list(source),
        "target": list(target),
        "weight": weight,
        "threshold": threshold,
        "thresholds": thresholds,
        "merge": merge,
        "chunk_size": chunk_size,
        "dropna": dropna,
    }

    with (
        Output(output, overwrite=overwrite) as out,
        Engine(workers, threads, memory_limit, show_progress=not quiet) as engine,
    ):
        inputs = {"edges": find_files(paths)}
        inputs |= {
            name: find_files([path])
            for name, path in (("vertices", vertices), ("seed", seed))
            if path
        }
        out.keep(file for files in inputs.values() for file in files)
        csv = Format(separator, header, text_ids, width=len(source))
        reader = Reader(engine.block_bytes, out.scratch, csv)
        while True:
            try:
                edges, labels = _find(reader, inputs, vertex_column, kind, settings)
                counts = count_components(labels, len(source), thresholds)
                parts, counts = engine.compute(out.parts(labels), counts)
                break
            except ReadAgain as reason:
                reader = reader.knowing(reason)
        out.publish(parts)
        summary["vertices"] = int(parts["rows"].sum())
        summary["edges"] = edges.rows()
        summary.add_components(counts)
        summary.finish(output, engine.peak_memory())
    if not quiet:
        click.echo(summary)


def _find(
    reader: Any,
    inputs: dict[str, Any],
    vertex_column: tuple[str, ...],
    kind: str,
    settings: dict[str, Any],
) -> tuple[Any, Any]:
    """Return the table of edges, and the components, lazily."""
    from dask_graphflow import connected_components

    # A threshold without a weight is an error that lists the columns, so read all of them.
    weight, thresholds = settings["weight"], (settings["threshold"], settings["thresholds"])
    incomplete = weight is None and thresholds != (None, None)
    ids = None if incomplete else [*settings["source"], *settings["target"]]
    edges = reader.read(inputs["edges"], ids, weight, kind)
    tables = {}
    if "vertices" in inputs:
        tables["vertices"] = reader.read_vertices(inputs["vertices"], vertex_column)
    if "seed" in inputs:
        tables["seed"] = reader.read_seed(inputs["seed"])
    reader.check_texts(edges, *tables.values())
    frames = {name: table.frame for name, table in tables.items()}
    return edges, connected_components(edges.frame, **settings, **frames)
