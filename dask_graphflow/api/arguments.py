"""Check the arguments of public functions, with errors that say how to write the call."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter
from typing import Any, TypeVar

from dask_graphflow.exceptions import ArgumentError
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.tables import counted
from dask_graphflow.showing.values import shown

__all__ = ["attribute_error", "bind", "explained"]

Function = TypeVar("Function", bound=Callable[..., Any])


def explained(function: Function) -> Function:
    """Return the function, which raises `ArgumentError` if it is called with wrong arguments."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        bind(function.__qualname__, signature, arguments, options)
        return function(*arguments, **options)

    return call  # type: ignore[return-value]


def bind(
    name: str, signature: inspect.Signature, arguments: Sequence[Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the value of each parameter in a call.

    Parameters
    ----------
    name : str
        The qualified name of the function.
    signature : Signature
    arguments : sequence
        The arguments that are given by position.
    options : mapping
        The arguments that are given by name.

    Raises
    ------
    ArgumentError
        The function cannot be called with these arguments.
    """
    try:
        bound = signature.bind(*arguments, **options)
    except TypeError as error:
        name = name.removesuffix(".__init__")
        for owner, written in (("FrameMethods.", "frame.gf."), ("GraphMethods.", "graph.")):
            name = name.replace(owner, written)
        parameters = [p for p in signature.parameters.values() if p.name != "self"]
        given = arguments[len(signature.parameters) - len(parameters) :]
        raise ArgumentError(_problem(name, parameters, given, options) or str(error)) from None
    bound.apply_defaults()
    return bound.arguments


def _problem(
    name: str, parameters: Sequence[Parameter], arguments: Sequence[Any], options: Mapping[str, Any]
) -> str:
    """Return the message for a call that does not fit the parameters."""
    names = [p.name for p in parameters]
    if unknown := [option for option in options if option not in names]:
        return (
            f"{name}() has no option {unknown[0]!r}; it has {', '.join(names)}"
            f"{nearest(unknown[0], names)}"
        )
    first = [p.name for p in parameters if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    if len(arguments) > len(first):
        rest = [p.name for p in parameters if p.name not in first and p.name not in options]
        extra = zip(rest, arguments[len(first) :], strict=False)
        call = ", ".join([*first, *(f"{option}={_short(value)}" for option, value in extra)])
        allowed = f"only {', '.join(first)}" if first else "none"
        return (
            f"{name}() was called with {counted(len(arguments), 'argument')} without a name; it allows "
            f"{allowed}. Name the others, such as {name}({call})"
        )
    given = {*first[: len(arguments)], *options}
    missing = [p.name for p in parameters if p.default is Parameter.empty and p.name not in given]
    if missing:
        return (
            f"{name}() was called without {missing[0]}, which has no default; give {missing[0]}=..."
        )
    return ""


def attribute_error(owner: str, name: str, candidates: Iterable[str]) -> AttributeError:
    """Return the error for a name that `owner` does not have, with the most similar public one."""
    # Libraries look for private names, and expect an answer at once.
    public = [] if name.startswith("_") else [one for one in candidates if not one.startswith("_")]
    return AttributeError(f"{owner} has no attribute {name!r}{nearest(name, public)}")


def _short(value: object) -> str:
    return shown(value) if isinstance(value, str | int | float | None) else "..."
