"""The functions of the backend by name, with the errors of NetworkX instead of this library's.

A function takes the options of NetworkX's function that it uses. NetworkX's signature says what they are by
default. The options that no function uses are in the table of ``_graphflow_networkx``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import networkx as nx

from _graphflow_networkx import FUNCTIONS
from _graphflow_networkx.backend import graph_of, signature_of
from dask_graphflow.algorithms import ALGORITHMS
from dask_graphflow.declarations.algorithm import Algorithm
from dask_graphflow.exceptions import ConvergenceError, OptionError, WeightError

from .converted import ConvertedGraph

#: The functions of the backend. :func:`register` adds each of them.
REGISTERED: dict[str, Callable[..., Any]] = {}
TAKES: dict[str, set[str]] = {}  # the options that each of them takes
WEIGHTS = "weight", "distance"  # what NetworkX calls the option with the attribute of the edges


def networkx_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function of the backend with the name of NetworkX's function; see :func:`register`."""
    register(function.__name__, function, inspect.signature(function).parameters)
    return function


def register(name: str, function: Callable[..., Any], takes: Iterable[str] | None = None) -> None:
    """Register a function of the backend, and make it raise the errors of NetworkX.

    A value that this library refuses raises `NotImplementedError`. NetworkX then runs its own function,
    unless the caller asked for this backend by name. By default, the function takes its parameters as
    options.
    """
    takes = {*(inspect.signature(function).parameters if takes is None else takes)}
    known = {*takes, *FUNCTIONS[name].unsupported}

    def call(*arguments: Any, **options: Any) -> Any:
        theirs = signature_of(name)
        # An older NetworkX does not have all of the options.
        ours = {o: options.pop(o) for o in takes - {*theirs.parameters} if o in options}
        try:
            bound = theirs.bind(*arguments, **options)
            if new := [option for option in bound.arguments if option not in known]:
                raise TypeError(f"got an unexpected keyword argument {new[0]!r}")
        except TypeError as error:  # a newer NetworkX has more options
            raise NotImplementedError(f"{name}() of this backend {error}") from error
        bound.apply_defaults()
        given = bound.arguments | ours
        graph = given[graph_of(name)]
        max_iter = given.get("max_iter", 1)
        if len(graph) and max_iter <= 0:
            raise nx.PowerIterationFailedConvergence(max_iter)
        try:
            return function(**{o: value for o, value in given.items() if o in takes})
        except ConvergenceError as error:
            raise nx.PowerIterationFailedConvergence(max_iter) from error
        except (OptionError, WeightError) as error:
            raise NotImplementedError(str(error)) from error

    REGISTERED[name], TAKES[name] = call, takes


def _by_node(
    declared: Algorithm, column: str, *, G: ConvertedGraph, **options: Any
) -> dict[Any, Any]:
    """Return a column of an algorithm as a dict keyed by node."""
    weight = next((options.pop(name) for name in WEIGHTS if name in options), None)
    for name in options:
        if declared.options[name].type is bool:
            options[name] = bool(options[name])
    return G.by_node(G.run(declared.name, weight, **options)[column])


for algorithm in ALGORITHMS.values():
    for name, column in algorithm.networkx.items():
        used = {"G", *WEIGHTS, *algorithm.options} & {*signature_of(name).parameters}
        register(name, functools.partial(_by_node, algorithm, column), used)
