"""The algorithms' functions, which accept a frame or a graph, and the methods of a frame."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from dask.typing import no_default

from dask_graphflow.exceptions import OptionError
from dask_graphflow.inputs.forms import values_of
from dask_graphflow.runtime.algorithm import ALGORITHMS

from . import signatures
from .docstrings import docstring, method_docstring
from .graph import Graph

__all__ = ["frame_method", "function", "refuse_options"]


def function(name: str, module: str) -> Callable[..., Any]:
    """Return the function of an algorithm, for a module."""
    declared = ALGORITHMS[name]
    parameters = signatures.function_parameters(declared)
    reading = [p.name for p in signatures.reading_parameters(declared)]

    def call(edges: Any, **options: Any) -> Any:
        read = {p: options.pop(p) for p in reading}
        if isinstance(edges, Graph):
            refuse_options(made, read)
        else:
            if declared.weights == "ignored":
                read["weight"] = None
            elif declared.weights == "required" and read["weight"] is no_default:
                read["weight"] = values_of(edges)
            edges = Graph(edges, **read)
        return getattr(edges, name)(**options)

    doc = docstring(name, {p.name: p for p in parameters})
    made = signatures.make(name, parameters, call, doc, module)
    return made


def frame_method(function: Callable[..., Any], module: str) -> Callable[..., Any]:
    """Return the method of a frame that calls a function, for the class ``FrameMethods`` in `module`."""
    name, parameters = function.__name__, inspect.signature(function).parameters

    def call(self: Any, **options: Any) -> Any:
        return function(self._frame, **options)

    doc = method_docstring(name, function.__doc__)
    taken = signatures.frame_method_parameters(name, [*parameters.values()])
    return signatures.make(name, taken, call, doc, module, "FrameMethods")


def refuse_options(function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Raise if an option that says how to read a frame was given with a graph."""
    given, parameters = [], inspect.signature(function).parameters
    for option, value in options.items():
        default = parameters[option].default
        same = isinstance(value, str | bool | int) and value == default
        if not same and value is not default:
            given.append(option)
    if given:
        raise OptionError(
            f"{function.__name__} was called on a Graph with {', '.join(f'{name}=' for name in given)}; a "
            f"Graph already says how its edges are read. Leave {'it' if len(given) == 1 else 'them'} out, "
            "or give the frame instead of the Graph"
        )
