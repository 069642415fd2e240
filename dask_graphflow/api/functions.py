"""The algorithms as functions and as methods of a frame. ``functions.pyi`` has their types."""

from __future__ import annotations

import inspect

from dask_graphflow.declarations.algorithm import ALGORITHMS

from .calls import caller, describe_algorithm, frame_method
from .connected_components import connected_components
from .signatures import describe, make

COMPONENTS = connected_components.__name__
calls = {name: caller(ALGORITHMS[name]) for name in sorted(ALGORITHMS)}
DESCRIBED = {name: describe_algorithm(name) for name in calls}
functions = {name: make(name, about, calls[name], __name__) for name, about in DESCRIBED.items()}
functions[COMPONENTS] = connected_components
calls[COMPONENTS] = inspect.unwrap(connected_components)
DESCRIBED[COMPONENTS] = describe(connected_components)
methods = {name: frame_method(name, DESCRIBED[name], calls[name], __name__) for name in calls}
FrameMethods = type("FrameMethods", (), {"__doc__": "The algorithms as methods.", **methods})

__all__ = sorted(functions)
globals().update(functions)
