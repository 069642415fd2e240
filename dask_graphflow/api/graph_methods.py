"""The algorithms as methods of a graph. ``graph_methods.pyi`` has their types."""

from __future__ import annotations

from typing import Any

from dask_graphflow.algorithms import ALGORITHMS
from dask_graphflow.calls.call import ask

from .docstrings import function_documentation, method_documentation
from .lazy_methods import class_of_methods
from .signatures import Described, make, own_options


def _graph_method(name: str) -> Any:
    declared = ALGORITHMS[name]
    options = own_options(declared)

    def call(self: Any, **given: Any) -> Any:
        return ask(self._shards, declared.run, **given)

    documentation = method_documentation(name, function_documentation(declared, options))
    return make(name, Described(options, documentation), call, __name__, "GraphMethods")


GraphMethods = class_of_methods("GraphMethods", ALGORITHMS, _graph_method, __name__)
