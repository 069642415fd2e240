"""The algorithms as methods of a graph. ``graph_methods.pyi`` has their types."""

from __future__ import annotations

from dask_graphflow.runtime.algorithm import ALGORITHMS

from .signatures import graph_method

__all__ = ["GraphMethods"]


methods = {name: graph_method(name, __name__) for name in sorted(ALGORITHMS)}
GraphMethods = type("GraphMethods", (), {"__doc__": "The algorithms as methods.", **methods})
