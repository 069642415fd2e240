"""Signatures of the public functions and methods, which follow from the algorithms' declarations."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import Parameter
from types import NoneType
from typing import Any, Literal, NamedTuple

from dask.typing import no_default

from dask_graphflow.declarations.algorithm import Algorithm
from dask_graphflow.declarations.documentation import Documentation
from dask_graphflow.declarations.option import Option
from dask_graphflow.showing.arguments import bind, members

from .types import ColumnName, ColumnNames, Listener, Multi

READING = (
    Option("source", ColumnNames | None, None, kind="columns"),
    Option("target", ColumnNames | None, None, kind="columns"),
    Option(
        "weight", ColumnName | None, no_default, kind="column",
        help="Column with the weights of the edges.",
    ),
    Option(
        "directed", bool | None, None, kind="direction",
        help="Whether an edge leads only from its source to its target, or in both directions.",
    ),
    Option(
        "multi", Multi, "keep",
        help="What to do with parallel edges: keep all of them, or merge them into one, with the sum, the "
        "smallest or the first of their weights. They are kept by default.",
    ),
    Option(
        "vertices", Any, None, kind="vertices",
        help="All vertex ids, in the first columns; adds vertices without an edge.",
    ),
    Option("dropna", bool, False, kind="switch", help="Skip edges with a missing id."),
    Option(
        "device", Literal["gpu"] | None, None,
        help="Run on a GPU (gpu), although the edges are read into host memory.",
    ),
)  # fmt: skip
COLUMNS = Option("columns", ColumnNames | None, None, kind="names")
TRACE = Option("trace", bool, False)
PROGRESS = Option("progress", Listener, False)
EDGES = Option("edges", "Edges | Graph", positional=True)
SELF = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
#: The types with a name of their own, as source code.
NAMES = {
    ColumnName: "ColumnName",
    ColumnName | None: "ColumnName | None",
    ColumnNames | None: "ColumnNames | None",
    Listener: "Listener",
    NoneType: "None",
}


class Described(NamedTuple):
    """The options of a public function, and its documentation."""

    options: Sequence[Option]
    documentation: Documentation


def describe(function: Callable[..., Any]) -> Described:
    """Return the options of a function that is not made from a declaration.

    Options that say how a frame is read are of the same kinds as in :data:`READING`.
    """
    reading = {option.name: option for option in READING}
    hints = typing.get_type_hints(function)
    options = [
        replace(reading[p.name], type=hints[p.name], default=p.default)
        if p.name in reading
        else Option(p.name, hints[p.name], p.default)
        for p in inspect.signature(function).parameters.values()
    ]
    return Described(options, Documentation.parse(function.__doc__))


def reading_options(declared: Algorithm) -> list[Option]:
    """Return the options that say how a frame is read. A graph does not allow them."""
    unweighted = ("weight", "multi") if declared.weights == "ignored" else ()
    return [
        replace(option, type=bool, default=False)
        if option.name == "directed" and not declared.directed
        else option
        for option in READING
        if option.name not in unweighted
    ]


def own_options(declared: Algorithm) -> list[Option]:
    """Return the options of an algorithm, and those for its edges' columns and its supersteps."""
    return [
        *declared.options.values(),
        *([COLUMNS] if declared.parallel else []),
        *([TRACE, PROGRESS] if declared.supersteps else []),
    ]


def function_options(declared: Algorithm) -> list[Option]:
    """Return the options of a function of a frame or a graph."""
    reading = reading_options(declared)
    own = [replace(option, positional=False) for option in own_options(declared)]
    required = [option for option in own if option.required]
    optional = [option for option in own if not option.required]
    return [EDGES, *reading[:2], *required, *reading[2:], *optional]


def make(
    name: str,
    about: Described,
    call: Callable[..., Any],
    module: str,
    owner: str = "",
) -> Callable[..., Any]:
    """Return a function or method that has the given options and docstring.

    It gives all arguments by name to `call`. Pickle looks it up in the module and, for a method, in the
    class `owner`.
    """
    options, documentation = about
    result = "Any" if TRACE in options else "dd.DataFrame"
    parameters = [*([SELF] if owner else []), *map(parameter, options)]
    signature = inspect.Signature(parameters, return_annotation=result)
    types = {option.name: option.type for option in options}

    def function(*arguments: Any, **given: Any) -> Any:
        return call(**bind(function.__qualname__, signature, arguments, given, lambda: types))

    function.__name__, function.__module__ = name, module
    function.__doc__ = str(documentation) if documentation.description else None
    function.__qualname__ = f"{owner}.{name}" if owner else name
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def parameter(option: Option) -> Parameter:
    """Return an option as a parameter of a signature. The annotation is source code, for the stubs."""
    kind = Parameter.POSITIONAL_OR_KEYWORD if option.positional else Parameter.KEYWORD_ONLY
    return Parameter(option.name, kind, default=option.default, annotation=_source(option.type))


def _source(hint: Any) -> str:
    if isinstance(hint, str) or hint in NAMES:
        return hint if isinstance(hint, str) else NAMES[hint]
    parts = members(hint)
    if Any in parts:
        return "Any"
    if len(parts) > 1:
        return " | ".join(map(_source, parts))
    if typing.get_origin(hint) is Literal:
        return f"Literal[{', '.join(map(repr, typing.get_args(hint)))}]"
    return hint.__name__ if type(hint) is type else str(hint).replace("collections.abc.", "")
