"""Helpers of the algorithms' functions, which accept a frame or a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dask_graphflow.exceptions import OptionError

from .graph import Graph

__all__ = ["as_graph", "refuse_options"]


def as_graph(function: Callable[..., Any], edges: Any, **options: Any) -> Graph:
    """Return the graph that a function is called on, or a new graph if it is called on a frame.

    Parameters
    ----------
    function : callable
        The function that was called.
    edges : frame or Graph
        A graph is returned as it is.
    **options
        Options that say how to read a frame; see :class:`.Graph`. None of them may be given with a graph.
    """
    if isinstance(edges, Graph):
        refuse_options(function, options)
        return edges
    return Graph(edges, **options)


def refuse_options(function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Raise if an option that says how to read a frame was given with a graph."""
    given = []
    for option, value in options.items():
        default = (function.__kwdefaults__ or {})[option]
        same = isinstance(value, str | bool | int) and value == default
        if not same and value is not default:
            given.append(option)
    if given:
        raise OptionError(
            f"{function.__name__} was called on a Graph with {', '.join(f'{name}=' for name in given)}; a "
            f"Graph already says how its edges are read. Leave {'it' if len(given) == 1 else 'them'} out, "
            "or give the frame instead of the Graph"
        )
