"""The commands of the algorithms, made from their declarations.

An option of the function becomes an option of the same name. Its kind says how text becomes a value, and
its documentation is the help.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import click

from dask_graphflow.api import functions
from dask_graphflow.api.signatures import Described
from dask_graphflow.cli import options
from dask_graphflow.declarations.option import Option
from dask_graphflow.declarations.previous import Previous
from dask_graphflow.graph.edgelist import default_ends

from .docs import described, plain
from .errors import FURTHER
from .files import Files
from .output import Output
from .run import run
from .shortest_paths import DESCRIBED, shortest_paths

NONE = object()  # the value of an option that is given as none
# Options that do not become options of the command.
HERE = {"edges", "source", "target", "timetable", "trace", "progress", "inputs"}


def algorithm_command(function_name: str) -> click.Command:
    """Return the command of an algorithm."""
    if function_name == shortest_paths.__name__:
        return _command(shortest_paths, DESCRIBED)
    return _command(getattr(functions, function_name), functions.describe(function_name))


def _command(function: Callable[..., Any], about: Described) -> click.Command:
    """Return the command of a function that takes edges."""
    taken = {option.name: option for option in about.options}

    def callback(paths: tuple[str, ...], **given: Any) -> None:
        reading = options.take_options(given, options.READING)
        running = options.take_options(given, options.RUNNING)
        given |= {name: given.pop(own) for name, own in FURTHER.items() if own in given}
        chosen = {name: value for name, value in given.items() if value is not None and value != ()}

        def frame_of(out: Output) -> Any:
            call = _arguments(Files(out, **reading), paths, chosen, taken)
            if "progress" in taken:
                call["progress"] = not running["quiet"]
            return function(**call)

        run(frame_of, **running)

    # A command reads its graph from files, so there is no earlier version of it.
    left_out = HERE | {name for name, option in taken.items() if option.kind == Previous.kind}
    own = {
        name: plain(about.documentation.of(name), taken) for name in taken if name not in left_out
    }
    add = options.together(
        options.paths,
        options.ends,
        *(_option(taken[name], text or taken[name].help) for name, text in own.items()),
        options.output(required=False),
        options.as_json,
        options.reading,
        options.running,
        options.common,
    )
    name = function.__name__.replace("_", "-")
    text = described(about.documentation, taken) or name
    return click.command(name, help=text, short_help=text.partition("\n\n")[0])(add(callback))


def _option(of: Option, text: str) -> Callable[[options.Command], options.Command]:
    """Return the option of a command for an option of its function, with a help text."""
    own = FURTHER.get(of.name, of.name)
    name, kind, default = f"--{own.replace('_', '-')}", dict[str, Any](), ""
    match of.kind:
        case "choice":
            kind = {"type": click.Choice([str(choice) for choice in of.choices])}
        case "ids":
            kind = {"multiple": True, "metavar": "ID,ID,..."}
            text = f"{text} Separate ids by commas; @PATH reads them from a file."
        case "column":
            kind = {"metavar": "COLUMN"}
        case "names":
            kind = {"callback": options.names, "metavar": "NAME,NAME,..."}
        case "switch":
            kind, text = {"is_flag": True, "default": None}, of.help
        case "direction":
            on, off = "--directed", "--undirected"
            default = f" {on if of.default is None else off} is the default."
            name, kind, text = (
                f"{on}/{off}",
                {"default": None},
                _name_flags(text, on, off) + default,
            )
        case "flag":
            on, off = name, f"--no-{name[2:]}"
            name, kind, text = f"{on}/{off}", {"default": None}, _name_flags(text, on, off)
        case "number":
            kind = {"callback": partial(_number, optional=of.optional), "metavar": "NUMBER"}
        case "time":
            kind = {"callback": _time, "metavar": "TIME"}
        case "numbers":
            kind = {"callback": _numbers, "metavar": "NUMBER,NUMBER,..."}
        case _:
            kind, text = {"metavar": "PATH"}, f"{text} PATH is a file with such a frame."
    return click.option(name, required=of.required, help=text, **kind)


def _name_flags(text: str, on: str, off: str) -> str:
    """Replace True and False in the description of a flag by its two options."""
    return re.sub(r"\bFalse\b", off, re.sub(r"\bTrue\b", on, text))


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


def _time(_: click.Context, __: click.Parameter, value: str | None) -> Any:
    """Read ``30``, or text such as ``2026-03-01 08:00``, which the function reads."""
    try:
        return None if value is None else int(value)
    except ValueError:
        return value


def _arguments(
    files: Files, paths: tuple[str, ...], given: dict[str, Any], taken: Mapping[str, Option]
) -> dict[str, Any]:
    """Return the arguments of the function: with frames for paths, and ids for text."""
    sides = {side: list(given.pop(side, ())) for side in ("source", "target")}
    edges = files.edges(paths, [*sides["source"], *sides["target"]])
    if not any(sides.values()) and (default := default_ends(list(edges.columns))):
        sides |= {side: [name] for side, name in zip(sides, default, strict=True)}
    source = sides["source"]
    call: dict[str, Any] = {"edges": edges}
    for side, columns in sides.items():
        call[side] = columns[0] if len(columns) == 1 else columns or None
    for name, value in given.items():
        match taken[name].kind:
            case "ids":
                call[name] = _ids(files, name, value, edges, source)
            case "table":
                call[name] = _id_table(files, name, value, edges, source, 1)
            case "pairs":
                call[name] = _id_table(files, name, value, edges, source, 2)
            case "vertices":
                call[name] = files.frame(value, ids=max(1, len(source)))
            case "frame":
                call[name] = files.frame(value, ids=None)
            case _:
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
