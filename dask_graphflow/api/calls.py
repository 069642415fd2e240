"""What the generated functions share: they take a frame or a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dask_graphflow.algorithms.algorithm import ALGORITHMS
from dask_graphflow.exceptions import OptionError

from . import inputs
from .graph import Graph

__all__ = ["as_graph", "check_ends", "refuse_options"]

DEFAULTS = {
    "source": None,
    "target": None,
    "weight": None,
    "multi": "keep",
    "vertices": None,
    "dropna": False,
}


def as_graph(name: str, edges: Any, **options: Any) -> Graph:
    """Return the graph that an algorithm is called on, which is built from the edges if they are a frame.

    Parameters
    ----------
    name : str
        Name of the algorithm.
    edges : frame or Graph
        A graph is returned as it is.
    **options
        How the frame is read; see :class:`.Graph`. None of them may be given with a graph.
    """
    if isinstance(edges, Graph):
        refuse_options(name, options, {**DEFAULTS, "directed": ALGORITHMS[name].directed})
        return edges
    check_ends(name, edges, options["source"], options["target"])
    if options["vertices"] is None:
        del options["vertices"]
    return Graph(edges, **options)


def check_ends(name: str, edges: Any, source: Any, target: Any) -> None:
    """Raise unless both ends of the edges of a frame are named."""
    ends = {"source": source, "target": target}
    if missing := [f"{end}=" for end, column in ends.items() if column is None]:
        inputs.as_dask(edges, "edges")  # raises if they are not a frame
        raise OptionError(
            f"{name} was called on a frame without {' and '.join(missing)}; name the columns with the ids "
            "at the two ends of each edge"
        )


def refuse_options(name: str, options: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Raise if an option that says how to read a frame was given with a graph."""
    given = []
    for option, value in options.items():
        default = defaults[option]
        same = isinstance(value, str | bool | int) and value == default
        if not same and value is not default:
            given.append(option)
    if given:
        raise OptionError(
            f"{name} was called on a Graph with {', '.join(f'{option}=' for option in given)}; a Graph "
            f"already says how its edges are read. Leave {'it' if len(given) == 1 else 'them'} out, or "
            "give the frame instead of the Graph"
        )
