"""The NetworkX backend "graphflow": functions of NetworkX that run on this library.

NetworkX finds the backend by the entry points of the package. For each call it asks :func:`can_run` about
the arguments, converts the graph, and calls the function of the same name. Each function has the signature
and the result of the NetworkX function.

To add a function, write it in the file of its family, add it to the table in ``_graphflow_networkx`` with
the options that it does not support, and list NetworkX's tests of it in ``tests/test_networkx.py``.
"""

from __future__ import annotations

from types import SimpleNamespace

# Importing a family of functions registers them.
from . import (  # noqa: F401
    acyclic,
    biconnected,
    centrality,
    coloring,
    communities,
    components,
    cores,
    distances,
    link_analysis,
    link_prediction,
    paths,
    spanning_trees,
    traversal,
    triangles,
    weighted_distances,
    weighted_paths,
)
from .convert import convert_from_nx, convert_to_nx
from .converted import ConvertedGraph
from .dispatch import can_run, on_start_tests, should_run
from .registry import REGISTERED

__all__ = ["ConvertedGraph", "backend", "convert_from_nx", "convert_to_nx"]

#: The object that NetworkX loads.
backend = SimpleNamespace(
    convert_from_nx=convert_from_nx,
    convert_to_nx=convert_to_nx,
    can_run=can_run,
    should_run=should_run,
    on_start_tests=on_start_tests,
    **REGISTERED,
)
