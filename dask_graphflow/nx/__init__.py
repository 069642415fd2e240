"""The NetworkX backend "graphflow": functions of NetworkX that run on this library.

NetworkX finds the backend by the entry points of the package, which are in ``_graphflow_networkx``. It
converts the graph of a call, and calls the function of the same name with the options that it takes. Each
function has the result of the NetworkX function.

To add a function, write it in the file of its family, or declare it with its algorithm (``networkx=``). Add
it to the table in ``_graphflow_networkx`` with the options that it does not support, and list NetworkX's
tests of it in ``tests/nx/test_networkx.py``.
"""

from __future__ import annotations

from _graphflow_networkx.backend import backend

# Importing a family of functions registers them.
from . import (  # noqa: F401
    acyclic,
    all_pairs,
    attracting,
    biconnected,
    bipartite,
    centrality,
    coloring,
    communities,
    components,
    cores,
    distances,
    flows,
    link_analysis,
    link_prediction,
    shortest_paths,
    simple_paths,
    spanning_trees,
    traversal,
    trees,
    triangles,
    weighted_paths,
)
from .convert_back import convert_to_nx
from .convert_graphs import convert_from_nx
from .converted import ConvertedGraph
from .expected_failures import on_start_tests
from .registry import REGISTERED

__all__ = [
    "REGISTERED",
    "ConvertedGraph",
    "backend",
    "convert_from_nx",
    "convert_to_nx",
    "on_start_tests",
]
