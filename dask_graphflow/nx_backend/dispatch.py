"""The hooks that NetworkX calls before it calls a function of the backend."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from _graphflow_networkx import FUNCTIONS

from . import functions
from .adjacency import overridden
from .convert import ConvertedGraph
from .expected_failures import EXPECTED_FAILURES


@functools.cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(getattr(functions, name))


def can_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | str:
    """Return whether a function supports the arguments of a call, or the reason why it does not."""
    signature = _signature(name)
    given = signature.bind(*args, **kwargs).arguments
    for option in FUNCTIONS[name].unsupported:
        default = signature.parameters[option].default
        if option in given and given[option] is not default:
            return f"{option}= is not supported"
    if callable(given.get("weight")):
        return "weight= has to be the name of an edge attribute"
    return True


def should_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | str:
    """Return whether a call is worth the conversion of its graph, or the reason why it is not.

    NetworkX asks this only if it chose the backend itself.
    """
    graph, function = _signature(name).bind(*args, **kwargs).arguments["G"], FUNCTIONS[name]
    if isinstance(graph, ConvertedGraph):
        return True
    if others := overridden(graph):
        # NetworkX's functions also use other members than adj, so their results can differ from ours.
        return f"the class {type(graph).__name__} overrides {', '.join(others)}"
    if graph.number_of_edges() < function.least_edges:
        return f"the graph has fewer than {function.least_edges} edges"
    if function.linear and not _is_converted(graph):
        return "NetworkX takes no longer than the conversion of the graph"
    return True


def _is_converted(graph: Any) -> bool:
    """Return whether NetworkX keeps the graph converted for this backend."""
    cache = getattr(graph, "__networkx_cache__", None) or {}
    return "graphflow" in cache.get("backends", {})


def on_start_tests(items: Sequence[Any]) -> None:
    """Mark the tests of NetworkX that are expected to fail with this backend.

    NetworkX calls this when its own tests are run with ``NETWORKX_TEST_BACKEND=graphflow``. A marked test
    that passes is an error.
    """
    import pytest

    for item in items:
        for name, reason in EXPECTED_FAILURES.items():
            if item.nodeid.endswith(name):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
