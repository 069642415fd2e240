"""The algorithms' functions, which accept a frame or a graph, and the methods of a frame.

A call binds its arguments once, to the signature of the function or method that the user called.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from inspect import Parameter
from typing import Any

from dask.typing import no_default

from dask_graphflow.algorithms import ALGORITHMS
from dask_graphflow.calls.call import ask
from dask_graphflow.declarations.algorithm import Algorithm
from dask_graphflow.exceptions import OptionError
from dask_graphflow.inputs.forms import values_of

from .docstrings import function_documentation, method_documentation
from .graph import Graph
from .signatures import Described, function_options, make, reading_options
from .timetable import TIMETABLE, timetable_of
from .types import ColumnName


def describe_algorithm(name: str) -> Described:
    """Return the options of an algorithm's function, and its documentation."""
    declared = ALGORITHMS[name]
    options = function_options(declared)
    return Described(options, function_documentation(declared, options))


def caller(declared: Algorithm) -> Callable[..., Any]:
    """Return what calls an algorithm on edges or a graph, given all options of its function by name."""
    defaults = {option.name: option.default for option in reading_options(declared)}
    build = inspect.unwrap(Graph.__init__)  # the arguments are bound already

    def call(edges: Any, **options: Any) -> Any:
        read = {name: options.pop(name) for name in defaults}
        if isinstance(edges, Graph):
            refuse_options(declared.name, read, defaults)
            return ask(edges._shards, declared.run, **options)
        if declared.weights == "ignored":
            read["weight"] = None
        elif declared.weights == "required" and read["weight"] is no_default:
            read["weight"] = values_of(edges)
        if declared.parallel:
            read["columns"] = options["columns"]
        graph = object.__new__(Graph)
        build(graph, edges, **read)
        if TIMETABLE in options and options[TIMETABLE] is None:
            options[TIMETABLE] = timetable_of(edges, graph._shards.spec.columns, options)
        return ask(graph._shards, declared.run, **options)

    return call


def frame_method(
    name: str, about: Described, function: Callable[..., Any], module: str
) -> Callable[..., Any]:
    """Return the method of a frame that calls a function, for the class ``FrameMethods`` in `module`."""

    def call_on_frame(self: Any, **options: Any) -> Any:
        return function(edges=self._frame, **options)

    options = [
        replace(option, type=ColumnName, default=Parameter.empty)
        if option.name == "weight" and ALGORITHMS[name].weights == "required"
        else option
        for option in about.options[1:]
    ]
    about = Described(options, method_documentation(name, about.documentation))
    return make(name, about, call_on_frame, module, "FrameMethods")


def refuse_options(name: str, values: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Raise if an option that says how to read a frame was given with a graph."""
    given = []
    for option, value in values.items():
        same = isinstance(value, str | bool | int) and value == defaults[option]
        if not same and value is not defaults[option]:
            given.append(option)
    if given:
        raise OptionError(
            f"{name} was called on a Graph with {', '.join(f'{one}=' for one in given)}; a "
            f"Graph already says how its edges are read. Leave {'it' if len(given) == 1 else 'them'} out, "
            "or give the frame instead of the Graph"
        )
