"""The functions of the backend by name, with the errors of NetworkX instead of this library's."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import networkx as nx

from dask_graphflow.exceptions import ConvergenceError, OptionError, WeightError

#: The functions of the backend. :func:`networkx_function` adds each of them.
REGISTERED: dict[str, Callable[..., Any]] = {}


def networkx_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function of the backend: register it, and make it raise the errors of NetworkX.

    A value that this library refuses raises `NotImplementedError`. NetworkX then runs its own function,
    unless the caller asked for this backend by name.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        try:
            given = signature.bind(*arguments, **options)
        except TypeError as error:  # a newer NetworkX has more options
            name = function.__name__
            raise NotImplementedError(f"{name}() of this backend {error}") from error
        given.apply_defaults()
        max_iter = given.arguments.get("max_iter", 1)
        if len(given.arguments["G"]) and max_iter <= 0:
            raise nx.PowerIterationFailedConvergence(max_iter)
        try:
            return function(*given.args, **given.kwargs)
        except ConvergenceError as error:
            raise nx.PowerIterationFailedConvergence(max_iter) from error
        except (OptionError, WeightError) as error:
            raise NotImplementedError(str(error)) from error

    REGISTERED[function.__name__] = call
    return call
