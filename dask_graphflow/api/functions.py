"""The algorithms as functions and as methods of a frame. ``functions.pyi`` has their types."""

from __future__ import annotations

from dask_graphflow.runtime.algorithm import ALGORITHMS

from .calls import frame_method, function
from .components import connected_components

functions = {"connected_components": connected_components}
functions |= {
    name: function(name, __name__) for name in sorted(ALGORITHMS.keys() - functions.keys())
}
methods = {name: frame_method(made, __name__) for name, made in functions.items()}
FrameMethods = type("FrameMethods", (), {"__doc__": "The algorithms as methods.", **methods})

__all__ = sorted(functions)
globals().update(functions)
