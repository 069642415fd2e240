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
#: What :func:`reason_against` added: functions that return why a call is not supported, or None.
REASONS: dict[str, Callable[..., str | None]] = {}


def networkx_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function of the backend: register it, and make it raise the errors of NetworkX.

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

    REGISTERED[function.__name__] = call
    return call


def reason_against(*functions: Callable[..., Any]) -> Callable[[Callable[..., str | None]], None]:
    """Decorate a function that takes the arguments of `functions` and returns why they are not supported.

    It returns None if they are.
    """

    def register(reason: Callable[..., str | None]) -> None:
        REASONS.update((function.__name__, reason) for function in functions)

    return register
