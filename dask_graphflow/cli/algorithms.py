"""The commands of the algorithms, made from their declarations.

A parameter of the function becomes an option of the same name. Its type in the signature says how text
becomes a value, and its entry in the docstring is the help.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import partial
from inspect import Parameter
from typing import Any

import click

from dask_graphflow.api import functions
from dask_graphflow.cli import options
from dask_graphflow.graph.edgelist import default_ends
from dask_graphflow.runtime.algorithm import ALGORITHMS
from dask_graphflow.runtime.options import Check
from dask_graphflow.runtime.vertex_options import VertexIds, VertexPairs

from . import paths
from .docs import documented
from .files import Files
from .output import Output
from .run import run

NONE = object()  # the value of an option that is given as none
# How a frame becomes a graph. Functions refer to Graph for these parameters.
OF_GRAPHS = {
    "weight": "Column with the weights of the edges.",
    "directed": "Whether an edge leads only from its source to its target, or in both directions.",
    "multi": "What to do with parallel edges: keep all of them, or merge them into one, with the sum, the "
    "smallest or the first of their weights. They are kept by default.",
    "vertices": "All vertex ids, in the first columns; adds vertices without an edge.",
    "dropna": "Skip edges with a missing id.",
    "device": "Run on a GPU (gpu), although the edges are read into host memory.",
}
# Parameters that do not become options.
HERE = {"edges", "source", "target", "trace", "progress", "inputs"}
SEE_GRAPH = "How the edges of a frame become a graph"


def algorithm_command(function_name: str) -> click.Command:
    """Return the command of an algorithm."""
    if function_name == paths.shortest_paths.__name__:
        return _command(paths.shortest_paths, paths.CHECKS)
    checks = {name: option.check for name, option in ALGORITHMS[function_name].options.items()}
    return _command(getattr(functions, function_name), checks)


def _command(function: Callable[..., Any], checks: Mapping[str, Check]) -> click.Command:
    """Return the command of a function that takes edges."""
    described, helps = documented(function)
    own = [p for p in inspect.signature(function).parameters.values() if p.name not in HERE]

    def callback(paths: tuple[str, ...], **given: Any) -> None:
        reading = options.taken(given, options.READING)
        running = options.taken(given, options.RUNNING)
        chosen = {name: value for name, value in given.items() if value is not None and value != ()}

        def frame_of(out: Output) -> Any:
            call = _arguments(Files(out, **reading), paths, chosen, checks)
            if "progress" in inspect.signature(function).parameters:
                call["progress"] = not running["quiet"]
            return function(**call)

        run(frame_of, **running)

    add = options.together(
        options.paths,
        options.ends,
        *(_option(p, checks.get(p.name), helps.get(p.name, "")) for p in own),
        options.output(required=False),
        options.as_json,
        options.reading,
        options.running,
        options.common,
    )
    short = described.partition("\n\n")[0]
    name = function.__name__.replace("_", "-")
    return click.command(name, help=described, short_help=short)(add(callback))


def _option(
    p: Parameter, check: Check | None, described: str
) -> Callable[[options.Command], options.Command]:
    """Return the option of a parameter."""
    name = f"--{p.name.replace('_', '-')}"
    required = p.default is Parameter.empty
    if p.name == "dropna" or described.startswith(SEE_GRAPH):
        described = OF_GRAPHS[p.name]
    kind: dict[str, Any]
    if p.annotation.startswith("Literal"):
        kind = {"type": click.Choice(re.findall("'(.*?)'", p.annotation))}
    elif isinstance(check, VertexIds):
        kind = {"multiple": True, "metavar": "ID,ID,..."}
        described = re.sub(r"[^.]*\btuple\b[^.]*\.", "", described)
        described = f"{described} Separate ids by commas; @PATH reads them from a file."
    elif p.name == "weight":
        kind = {"metavar": "COLUMN"}
    elif p.name == "dropna":
        kind = {"is_flag": True, "default": None}
    elif p.name == "directed":
        name, kind = "--directed/--undirected", {"default": None}
        described = _said(described, "--directed", "--undirected")
        described += f" {'--undirected' if p.default is False else '--directed'} is the default."
    elif "Sequence" in p.annotation or "list" in p.annotation:
        kind = {"callback": _numbers, "metavar": "NUMBER,NUMBER,..."}
    elif p.annotation.startswith("Any"):
        kind = {"metavar": "PATH"}
        described = f"{described} PATH is a file with such a frame."
    elif p.annotation.startswith("bool"):
        described = _said(described, name, f"--no-{name[2:]}")
        name, kind = f"{name}/--no-{name[2:]}", {"default": None}
    elif p.annotation.startswith(("int", "float")):
        kind = {"type": str, "callback": partial(_number, optional="None" in p.annotation)}
        kind["metavar"] = "NUMBER"
    else:
        kind = {"metavar": "TEXT"}
    return click.option(name, required=required, help=described, **kind)


def _said(described: str, on: str, off: str) -> str:
    """Replace True and False in the description of a flag by its two options."""
    return re.sub(r"\bFalse\b", off, re.sub(r"\bTrue\b", on, described))


def _to_number(text: str) -> float:
    """Return a number; whole numbers are exact."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _number(_: click.Context, __: click.Parameter, value: str | None, *, optional: bool) -> Any:
    """Read ``0.5``, or ``none`` if the option can be None."""
    if value is None:
        return None
    if optional and value.lower() == "none":
        return NONE
    try:
        return _to_number(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a number such as 0.5") from None


def _numbers(_: click.Context, __: click.Parameter, value: str | None) -> Any:
    """Read ``0.5`` or ``0.5,1``."""
    if value is None:
        return None
    try:
        numbers = [_to_number(part) for part in value.split(",")]
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list of numbers such as 1,2.5") from None
    return numbers


def _arguments(
    files: Files, paths: tuple[str, ...], given: dict[str, Any], checks: Mapping[str, Check]
) -> dict[str, Any]:
    """Return the arguments of the function: with frames for paths, and ids for text."""
    sides = {side: list(given.pop(side, ())) for side in ("source", "target")}
    edges = files.edges(paths, [*sides["source"], *sides["target"]])
    if not any(sides.values()) and (default := default_ends(list(edges.columns))):
        sides |= {side: [name] for side, name in zip(sides, default, strict=True)}
    width = max(1, len(sides["source"]))
    call: dict[str, Any] = {"edges": edges}
    for side, columns in sides.items():
        call[side] = columns[0] if len(columns) == 1 else columns or None
    for name, value in given.items():
        check = checks.get(name)
        if isinstance(check, VertexIds):
            call[name] = _ids(files, name, value, edges, sides["source"])
        elif isinstance(check, VertexPairs):
            call[name] = _id_table(files, name, value, edges, sides["source"], 2)
        elif check is not None and check.names_vertices:
            call[name] = _id_table(files, name, value, edges, sides["source"], 1)
        elif name in ("vertices", "seed") and isinstance(value, str):
            call[name] = files.frame(value, ids=None if name == "seed" else width)
        elif check is not None and check.reads_frame:
            call[name] = files.frame(value, width)
        else:
            call[name] = None if value is NONE else value
    return call


def _ids(files: Files, name: str, texts: tuple[str, ...], edges: Any, source: list[str]) -> Any:
    """Return the ids that an option names, with the dtype of the id column."""
    hint = f"--{name.replace('_', '-')}"
    if len(texts) == 1 and texts[0].startswith("@"):
        return _id_table(files, name, texts[0], edges, source, 1)
    if len(source) > 1:
        raise click.BadParameter(
            "write ids of several columns to a file, and give @PATH", param_hint=hint
        )
    ids = [part for text in texts for part in text.split(",")]
    if not source or source[0] not in edges.columns:
        return ids  # the function says that there is no such column
    return _with_dtype(ids, edges.dtypes[source[0]], hint)


def _id_table(files: Files, name: str, path: str, edges: Any, source: list[str], ends: int) -> Any:
    """Return the frame that an option names, whose first columns are the ids of one or two vertices.

    A text file has no type for most ids, so they are read as text, and converted here.
    """
    from dask_graphflow.graph.dtypes import kind

    width = max(1, len(source))
    frame = files.frame(path, ends * width).compute()
    hint = f"--{name.replace('_', '-')}"
    for column, end in zip(frame.columns, source * ends, strict=False):
        ids = frame[column]
        if end in edges.columns and kind(ids.dtype) == "string" and ids.notna().all():
            made = _with_dtype(ids.tolist(), edges.dtypes[end], hint)
            frame[column] = made.set_axis(frame.index)
    return frame


def _with_dtype(ids: list[str], dtype: Any, hint: str) -> Any:
    from .ids import read_ids

    try:
        return read_ids(ids, dtype)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=hint) from error
