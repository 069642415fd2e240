"""The algorithms as functions and as methods of a frame. ``functions.pyi`` has their types.

Each one is made when it is first used, because that imports its algorithm. So this module imports little,
although the package imports it for the methods of frames.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from dask_graphflow.algorithms import ALGORITHMS

from .lazy_methods import IMPORTING, class_of_methods

if TYPE_CHECKING:
    from .signatures import Described

COMPONENTS = "connected_components"  # of a frame: its own function, which builds no graph

__all__ = list(ALGORITHMS)


def describe(name: str) -> Described:
    """Return the options of a function, and its documentation."""
    from . import calls, signatures

    if name == COMPONENTS:
        return signatures.describe(__getattr__(name))
    return calls.describe_algorithm(name)


def __getattr__(name: str) -> Any:
    with IMPORTING:
        if name == COMPONENTS:
            from .connected_components import connected_components as function
        elif name in ALGORITHMS:
            from .calls import caller
            from .signatures import make

            function = make(name, describe(name), caller(ALGORITHMS[name]), __name__)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return globals().setdefault(name, function)  # the same object in all threads


def _frame_method(name: str) -> Any:
    from .calls import caller, frame_method

    components = name == COMPONENTS
    call = inspect.unwrap(__getattr__(name)) if components else caller(ALGORITHMS[name])
    return frame_method(name, describe(name), call, __name__)


FrameMethods = class_of_methods("FrameMethods", __all__, _frame_method, __name__)
