"""The hooks that NetworkX calls before it calls a function of the backend."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from _graphflow_networkx import FUNCTIONS

from .adjacency import overridden
from .converted import ConvertedGraph
from .expected_failures import EXPECTED_FAILURES
from .registry import REASONS, REGISTERED

#: Functions that search from both ends in NetworkX if both are given.
BOTH_ENDS = "has_path", "shortest_path", "shortest_path_length"


@functools.cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(REGISTERED[name])


def can_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | str:
    """Return whether a function supports the arguments of a call, or the reason why it does not."""
    signature, function = _signature(name), FUNCTIONS[name]
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError as error:  # a newer NetworkX has more options
        return f"{name}() of this backend {error}"
    for option in function.unsupported:
        default = signature.parameters[option].default
        value = given.get(option, default)
        if type(value) is not type(default) or value != default:
            return f"{option}= is not supported"
    for option in ("weight", "distance"):
        if callable(given.get(option)):
            return f"{option}= has to be the name of an edge attribute"
    for kind in function.unsupported_graphs:
        if getattr(given["G"], f"is_{kind}")():
            return f"{kind} graphs are not supported"
    return (REASONS[name](**given) if name in REASONS else None) or True


def should_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | str:
    """Return whether a call is worth the conversion of its graph, or the reason why it is not.

    NetworkX asks this only if it chose the backend itself.
    """
    given, function = _signature(name).bind(*args, **kwargs).arguments, FUNCTIONS[name]
    graph = given["G"]
    if isinstance(graph, ConvertedGraph):
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
