"""The backend "graphflow" as NetworkX loads it: what it leaves to NetworkX imports nothing of this project.

NetworkX asks :func:`can_run` about the arguments of each call and, if it chose the backend itself,
:func:`should_run`. Then it converts the graph and calls the function of the same name. Only these two steps
import ``dask_graphflow``.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import networkx as nx

from . import FUNCTIONS

__all__ = ["backend", "function_of", "graph_of", "overridden", "signature_of"]

#: Functions of ``dask_graphflow.nx`` that NetworkX calls, besides those in the table.
HOOKS = "convert_from_nx", "convert_to_nx", "on_start_tests"
#: Functions that search from both ends in NetworkX if both are given.
BOTH_ENDS = "bidirectional_shortest_path", "has_path", "shortest_path", "shortest_path_length"
KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
#: The members by which a graph is read. NetworkX's functions use some of these, each function other ones.
MEMBERS = (
    *("__contains__", "__getitem__", "__iter__", "__len__", "_adj", "_node", "_pred", "_succ"),
    *("adj", "adjacency", "degree", "edges", "get_edge_data", "has_edge", "has_node"),
    *("has_predecessor", "has_successor", "in_degree", "in_edges", "is_directed"),
    *("is_multigraph", "nbunch_iter", "neighbors", "nodes", "number_of_edges"),
    *("number_of_nodes", "order", "out_degree", "out_edges", "pred", "predecessors"),
    *("size", "succ", "successors"),
)


def overridden(graph: Any) -> list[str]:
    """Return the members by which the class of a graph is read in another way than NetworkX's class."""
    own = type(graph)
    kind = next((base for base in own.__mro__ if base in KINDS), object)
    return [name for name in MEMBERS if getattr(own, name, None) is not getattr(kind, name, None)]


def function_of(name: str) -> Any:
    """Return NetworkX's function of a name in the table."""
    modules = nx, nx.community, nx.bipartite, nx.algorithms.connectivity.edge_kcomponents
    return next(getattr(module, name) for module in modules if hasattr(module, name))


@functools.cache
def signature_of(name: str) -> inspect.Signature:
    """Return the signature of NetworkX's function, which that of the backend's function agrees with."""
    return inspect.signature(function_of(name).orig_func)


def graph_of(name: str) -> str:
    """Return what NetworkX's function calls its graph."""
    return next(iter(signature_of(name).parameters))


def can_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | str:
    """Return whether a function supports the arguments of a call, or the reason why it does not."""
    signature, function = signature_of(name), FUNCTIONS[name]
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        return f"{name}() {error}"
    for option in function.unsupported:
        if option not in given:
            continue
        value, default = given[option], signature.parameters[option].default
        if type(value) is not type(default) or value != default:
            return f"{option}= is not supported"
    for option in ("weight", "distance"):
        if callable(given.get(option)):
            return f"{option}= has to be the name of an edge attribute"
    for kind in function.unsupported_graphs:
        if getattr(given[graph_of(name)], f"is_{kind}")():
            return f"{kind} graphs are not supported"
    if function.needs and all(given.get(option) is None for option in function.needs):
        needed = " or ".join(f"{option}=" for option in function.needs)
        return f"a call without {needed} is not supported"
    return True


def should_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | str:
    """Return whether a call is worth the conversion of its graph, or the reason why it is not.

    NetworkX asks this only if it chose the backend itself.
    """
    given, function = signature_of(name).bind(*args, **kwargs).arguments, FUNCTIONS[name]
    graph = given[graph_of(name)]
    if getattr(graph, "__networkx_backend__", None) == "graphflow":
        return True
    if others := overridden(graph):
        # NetworkX's functions also use other members than adj, so their results can differ from ours.
        return f"the class {type(graph).__name__} overrides {', '.join(others)}"
    if name in BOTH_ENDS and given.get("source") is not None and given.get("target") is not None:
        return "NetworkX searches from both ends, and visits few nodes"
    converted = _is_converted(graph)
    least = function.least_converted if converted else function.least_edges
    if least is None:
        return "NetworkX takes no longer than " + (
            "this backend" if converted else "the conversion of the graph"
        )
    if graph.number_of_edges() < least:
        return f"the graph has fewer than {least} edges"
    return True


def _is_converted(graph: Any) -> bool:
    """Return whether NetworkX keeps the graph converted for this backend."""
    cache = getattr(graph, "__networkx_cache__", None) or {}
    return "graphflow" in cache.get("backends", {})


class _Backend:
    """The object that NetworkX loads. Its functions import the project when they are called."""

    can_run = staticmethod(can_run)
    should_run = staticmethod(should_run)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in FUNCTIONS and name not in HOOKS:
            raise AttributeError(f"the backend graphflow has no function {name!r}")
        return functools.partial(_call, name)


def _call(name: str, /, *args: Any, **kwargs: Any) -> Any:
    project = importlib.import_module("dask_graphflow.nx")
    function = getattr(project, name) if name in HOOKS else project.REGISTERED[name]
    return function(*args, **kwargs)


#: The object that NetworkX loads.
backend = _Backend()
