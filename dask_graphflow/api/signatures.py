"""Signatures of the public functions and methods, which follow from the algorithms' declarations."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable, Iterable, Sequence
from inspect import Parameter
from typing import Any

from dask.typing import no_default

from dask_graphflow import algorithms
from dask_graphflow.runtime.algorithm import ALGORITHMS, Algorithm, ask
from dask_graphflow.runtime.options import Choice, Option
from dask_graphflow.showing.arguments import bind

from .docstrings import docstring, method_docstring
from .types import Multi

__all__ = [
    "TRACE",
    "frame_method_parameters",
    "function_parameters",
    "graph_method",
    "make",
    "reading_parameters",
]

for module in pkgutil.iter_modules(algorithms.__path__):
    importlib.import_module(f"{algorithms.__name__}.{module.name}")


def option(name: str, type_name: str, default: Any = Parameter.empty) -> Parameter:
    """Return a parameter that is given by its name. The annotation is source code."""
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=type_name)


def literal(names: Iterable[str]) -> str:
    """Return the type of an option that is one of some names, as source code."""
    return f"Literal[{', '.join(map(repr, names))}]"


READING = (
    option("source", "ColumnNames | None", None),
    option("target", "ColumnNames | None", None),
    option("weight", "ColumnName | None", no_default),
    option("directed", "bool | None", None),
    option("multi", literal(typing.get_args(Multi)), "keep"),
    option("vertices", "Any", None),
    option("dropna", "bool", False),
    option("device", literal(["gpu"]) + " | None", None),
)
SELF = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
TRACE = option("trace", "bool", False)
PROGRESS = option("progress", "Listener", False)


def reading_parameters(declared: Algorithm) -> list[Parameter]:
    """Return the parameters that say how a frame is read. A graph does not allow them."""
    unweighted = ("weight", "multi") if declared.weights == "ignored" else ()
    return [
        option("directed", "bool", False) if p.name == "directed" and not declared.directed else p
        for p in READING
        if p.name not in unweighted
    ]


def own_parameters(declared: Algorithm) -> list[Parameter]:
    """Return the parameters of an algorithm, and those of its supersteps."""
    _, *own = inspect.signature(declared.run).parameters.values()
    typed = [p.replace(annotation=_type_name(declared.options[p.name])) for p in own]
    return typed + ([TRACE, PROGRESS] if declared.supersteps else [])


def method_parameters(declared: Algorithm) -> list[Parameter]:
    """Return the parameters of a method of a graph."""
    return [SELF, *own_parameters(declared)]


def function_parameters(declared: Algorithm) -> list[Parameter]:
    """Return the parameters of a function of a frame or a graph."""
    reading = reading_parameters(declared)
    own = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in own_parameters(declared)]
    required = [p for p in own if p.default is Parameter.empty]
    optional = [p for p in own if p.default is not Parameter.empty]
    edges = Parameter("edges", Parameter.POSITIONAL_OR_KEYWORD, annotation="Edges | Graph")
    return [edges, *reading[:2], *required, *reading[2:], *optional]


def graph_method(name: str, module: str) -> Callable[..., Any]:
    """Return the method of an algorithm, for the class ``GraphMethods`` in `module`."""
    run, parameters = ALGORITHMS[name].run, method_parameters(ALGORITHMS[name])

    def call(self: Any, **options: Any) -> Any:
        return ask(self._shards, run, **options)

    doc = method_docstring(name, docstring(name, {p.name: p for p in parameters}))
    return make(name, parameters, call, doc, module, "GraphMethods")


def frame_method_parameters(name: str, parameters: Sequence[Parameter]) -> list[Parameter]:
    """Return the parameters of a method of a frame, from those of the function `name`."""
    required = ALGORITHMS[name].weights == "required"
    return [
        SELF,
        *(
            p.replace(default=p.empty, annotation="ColumnName")
            if required and p.name == "weight"
            else p
            for p in parameters[1:]
        ),
    ]


def make(
    name: str,
    parameters: Sequence[Parameter],
    call: Callable[..., Any],
    doc: str | None,
    module: str,
    owner: str = "",
) -> Callable[..., Any]:
    """Return a function or method that has the given parameters.

    Parameters
    ----------
    name : str
        Its name.
    parameters : sequence of Parameter
        Its parameters.
    call : callable
        What it calls, with all arguments by name.
    doc : str or None
        Its docstring.
    module, owner : str
        The module, and for a method the class, in which pickle looks it up.
    """
    result = "Any" if TRACE in parameters else "dd.DataFrame"
    signature = inspect.Signature(parameters, return_annotation=result)

    def function(*arguments: Any, **options: Any) -> Any:
        return call(**bind(function.__qualname__, signature, arguments, options))

    function.__name__, function.__module__, function.__doc__ = name, module, doc
    function.__qualname__ = f"{owner}.{name}" if owner else name
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def _type_name(of: Option) -> str:
    """Return the type of an option as source code."""
    kind, check = of
    if isinstance(check, Choice):
        return literal(check.names) + " | None" * check.optional
    if {Any} & {kind, *typing.get_args(kind)}:
        return "Any"
    return kind.__name__ if isinstance(kind, type) else str(kind).replace("collections.abc.", "")
