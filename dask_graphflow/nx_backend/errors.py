"""Conversion of this library's errors to errors of NetworkX."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import networkx as nx

from dask_graphflow.exceptions import ConvergenceError, OptionError, WeightError


def with_networkx_errors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function of the backend, so that it raises the errors of NetworkX.

    A value that this library refuses raises `NotImplementedError`. NetworkX then runs its own function,
    unless the caller asked for this backend by name.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        given = signature.bind(*arguments, **options)
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

    return call
