"""The algorithms as methods of a graph. ``graph_methods.pyi`` has their types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dask_graphflow.calls.call import ask
from dask_graphflow.declarations.algorithm import ALGORITHMS, Algorithm

from .docstrings import function_documentation, method_documentation
from .signatures import Described, make, own_options


def _method(declared: Algorithm) -> Callable[..., Any]:
    options, name = own_options(declared), declared.name

    def call(self: Any, **given: Any) -> Any:
        return ask(self._shards, declared.run, **given)

    documentation = method_documentation(name, function_documentation(declared, options))
    return make(name, Described(options, documentation), call, __name__, "GraphMethods")


methods = {name: _method(ALGORITHMS[name]) for name in sorted(ALGORITHMS)}
GraphMethods = type("GraphMethods", (), {"__doc__": "The algorithms as methods.", **methods})
