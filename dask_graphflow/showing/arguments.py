"""Check the arguments of public functions, with errors that say how to write the call."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import date
from enum import Enum
from inspect import Parameter
from types import UnionType
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from dask_graphflow.exceptions import ArgumentError

from .aliases import ALIASES, SENTENCES
from .suggestions import nearest, same_meaning
from .tables import counted
from .values import shown

__all__ = ["READING", "ColumnName", "bind", "explained", "members"]

# Other hashable objects work too, but no type excludes floats, which are more often mistakes than names.
ColumnName = str | bytes | int | np.integer[Any] | date | Enum | tuple[Hashable, ...]
Function = TypeVar("Function", bound=Callable[..., Any])

#: The options that say how a frame becomes a graph.
READING = ("source", "target", "weight", "directed", "multi", "vertices", "dropna", "device")
LONGEST = 60  # characters of a value in a suggested call


def explained(function: Function, *, advice: str = "") -> Function:
    """Return the function, which raises `ArgumentError` if it is called with wrong arguments.

    `advice` says what to write instead of a call with unknown options.
    """
    signature, types = inspect.signature(function), functools.partial(_types, function)

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        bind(function.__qualname__, signature, arguments, options, types, advice=advice)
        return function(*arguments, **options)

    return call  # type: ignore[return-value]


def _types(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of a function's parameters; those that only type checkers import are objects."""
    missing: dict[str, Any] = {}
    while True:
        try:
            return get_type_hints(function, localns=missing)
        except NameError as error:
            missing[str(error.name)] = object


def bind(
    name: str,
    signature: inspect.Signature,
    arguments: Sequence[Any],
    options: Mapping[str, Any],
    types: Callable[[], Mapping[str, Any]],
    *,
    advice: str = "",
) -> dict[str, Any]:
    """Return the value of each parameter in a call, or raise `ArgumentError`.

    `name` is the qualified name of the function. `types` returns the types of its parameters, which the
    advice about a wrong call considers.
    """
    try:
        bound = signature.bind(*arguments, **options)
    except TypeError as error:
        call = _call(name, signature, arguments, options)._replace(types=types(), advice=advice)
        problem = _unknown(call) or _unnamed(call) or _missing(call) or str(error)
        raise ArgumentError(problem) from None
    bound.apply_defaults()
    return bound.arguments


class _Call(NamedTuple):
    """A call that does not fit the parameters of its function."""

    name: str  # the function as users write it
    parameters: list[Parameter]  # its parameters, without ``self``
    values: Sequence[Any]  # the arguments without a name
    options: Mapping[str, Any]  # the arguments by name
    columns: list[Any]  # the columns of the frame of edges, if it is a frame
    types: Mapping[str, Any] = {}  # the types of the parameters
    advice: str = ""  # see :func:`explained`

    @property
    def names(self) -> list[str]:
        """The names of the parameters."""
        return [p.name for p in self.parameters]


def _call(
    name: str,
    signature: inspect.Signature,
    arguments: Sequence[Any],
    options: Mapping[str, Any],
) -> _Call:
    """Return a call that does not fit the parameters, in the words of the user."""
    name = name.removesuffix(".__init__")
    for owner, written in (
        ("FrameMethods.", "frame.gf."),
        ("GraphMethods.", "graph."),
        ("GraphContents.", "graph."),
        ("GraphUpdates.", "graph."),
    ):
        name = name.replace(owner, written)
    parameters = [p for p in signature.parameters.values() if p.name != "self"]
    given = arguments[len(signature.parameters) - len(parameters) :]
    edges = getattr(arguments[0], "_frame", arguments[-len(given)]) if arguments and given else None
    return _Call(name, parameters, given, options, _columns(options.get("edges", edges)))


def _columns(edges: Any) -> list[Any]:
    """Return the columns of a frame of any library, or none for other edges."""
    if hasattr(edges, "collect_schema"):  # a lazy frame of polars warns about its columns
        return list(edges.collect_schema().names())
    names: Any = getattr(edges, "column_names", None) or getattr(edges, "columns", ())
    return [] if callable(names) else list(names)


def _unknown(call: _Call) -> str:
    """Return the message for an option that the function does not have."""
    unknown = next((option for option in call.options if option not in call.names), None)
    if unknown is None:
        return ""
    has = f"it has {', '.join(call.names)}" if call.names else "it has none"
    return f"{call.name}() has no option {unknown!r}; {has}{_instead(call, unknown)}"


def _instead(call: _Call, unknown: str) -> str:
    """Return what to write instead of an unknown option."""
    value = call.options[unknown]
    wrong = set()
    if unknown.lower() in ALIASES and call.name != "Graph":
        wrong.add("vertices")  # others select rows of the result with such an option
    if call.columns and not _is_column(value, call.columns):
        wrong |= {"source", "target"}
    names = [name for name in call.names if name not in wrong]
    meant = same_meaning(unknown, names)
    reading = unknown if unknown in READING else same_meaning(unknown, READING)
    if meant is None and reading is not None and call.name.startswith("graph."):
        return f"; a Graph takes it when it is made: Graph(edges, {reading}={_short(value)})"
    if meant is None and reading == "weight" and "dropna" in names:
        return f"; it does not use weights, so leave out {unknown}="
    sentence = call.advice or SENTENCES.get(unknown.lower())
    return nearest(unknown, names) or (f"; {sentence}" if sentence else "")


def _unnamed(call: _Call) -> str:
    """Return the message for arguments that have to be given by name."""
    first = [p.name for p in call.parameters if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    if len(call.values) <= len(first):
        return ""
    left = [p for p in call.parameters if p.name not in first and p.name not in call.options]
    named = dict(call.options) | _named(left, call.values[len(first) :], call)
    written = [*first, *(f"{option}={_short(value)}" for option, value in named.items())]
    written += [f"{p.name}=..." for p in left if p.default is p.empty and p.name not in named]
    allowed = f"only {', '.join(first)}" if first else "none"
    return (
        f"{call.name}() was called with {counted(len(call.values), 'argument')} without a name; it allows "
        f"{allowed}. Name the others, such as {call.name}({', '.join(written)})"
    )


def _named(parameters: list[Parameter], values: Sequence[Any], call: _Call) -> dict[str, Any]:
    """Return values without a name by the options that they were probably meant for.

    Columns of the frame are the ends of the edges and the weight. Other values are the options that must be
    given, then those whose type they have.
    """
    left, columns = {p.name: _members(call.types.get(p.name)) for p in parameters}, call.columns
    required = [p.name for p in parameters if p.default is p.empty]
    ends_first = not required or _is_column(values[0], columns)
    found: dict[str, Any] = {}
    for value in values:
        typed = [name for name, types in left.items() if _allows(types, value)]
        meant = [name for name in typed if _choices(left[name])]
        if ends_first and _is_text(value):
            meant += ["source", "target", "weight"]
        elif _is_column(value, columns):
            meant += ["weight"]
        meant += required
        meant += [name for name in typed if name not in READING]
        meant += [name for name, types in left.items() if Any in types]
        option = next((name for name in [*meant, *typed] if name in left), None)
        if option is not None:
            found[option] = value
            del left[option]
    return found


def _is_text(value: Any) -> bool:
    parts = value if isinstance(value, list | tuple) else [value]
    return all(isinstance(part, str) for part in parts)


def _is_column(value: Any, columns: list[Any]) -> bool:
    return _is_text(value) and all(
        part in columns for part in ([value] if isinstance(value, str) else value)
    )


def members(hint: Any) -> tuple[Any, ...]:
    """Return the types of a union, or the type itself."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _members(hint: Any) -> set[Any]:
    """Return the members of a type without what is in brackets, except for choices."""
    return {one if get_origin(one) is Literal else get_origin(one) or one for one in members(hint)}


def _choices(types: set[Any]) -> list[Any]:
    return [value for one in types if get_origin(one) is Literal for value in get_args(one)]


def _allows(types: set[Any], value: Any) -> bool:
    """Say whether one of some types is the type of a value; a column has a text as its name."""
    if choices := _choices(types):
        return isinstance(value, str) and value in choices
    if types >= _members(ColumnName):
        return isinstance(value, str)
    kinds: dict[Any, set[Any]] = {int: {int, float}, list: {list, Sequence}}
    basic = isinstance(value, bool | int | float | str | list)
    return bool(types & kinds.get(type(value), {type(value) if basic else Any}))


def _missing(call: _Call) -> str:
    """Return the message for an option that has to be given."""
    first = [p.name for p in call.parameters if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    given = {*first[: len(call.values)], *call.options}
    missing = [p.name for p in call.parameters if p.default is p.empty and p.name not in given]
    if not missing:
        return ""
    name = missing[0]
    text = f"{call.name}() was called without {name}, which has no default; give {name}=..."
    for option, value in call.options.items():
        if same_meaning(option, [name]) and not _is_column(value, call.columns):
            short = _short(value)
            return f"{text}; did you mean {name}={short} instead of {option}={short}?"
    return text


def _short(value: object) -> str:
    """Return a value as source code, or dots if it is long or not a simple value."""
    simple = isinstance(value, str | int | float | list | tuple | None)
    text = shown(value) if simple else "..."
    return text if len(text) <= LONGEST else "..."
