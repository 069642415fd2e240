"""The NetworkX backend "graphflow": functions of NetworkX that run on this library.

NetworkX finds the backend by the entry points of the package. For each call it asks :func:`can_run` about
the arguments, converts the graph, and calls the function of the same name in ``functions.py``.
"""

from __future__ import annotations

from types import SimpleNamespace

from _graphflow_networkx import FUNCTIONS

from . import functions
from .convert import ConvertedGraph, convert_from_nx, convert_to_nx
from .dispatch import can_run, on_start_tests, should_run

__all__ = ["ConvertedGraph", "backend", "convert_from_nx", "convert_to_nx"]

#: The object that NetworkX loads.
backend = SimpleNamespace(
    convert_from_nx=convert_from_nx,
    convert_to_nx=convert_to_nx,
    can_run=can_run,
    should_run=should_run,
    on_start_tests=on_start_tests,
    **{name: getattr(functions, name) for name in FUNCTIONS},
)
