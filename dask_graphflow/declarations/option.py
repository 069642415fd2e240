"""Checks of an algorithm's options, which run when the user makes the call.

The type of a parameter in the algorithm's signature declares an option: it is ``bool`` for a flag, and
otherwise ``Annotated`` with a check, such as ``Annotated[float, Number(low=0)]``. If the type allows None,
None is passed on without a check.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import Parameter
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from dask_graphflow.exceptions import OptionError
from dask_graphflow.operators.advance.direction import DIRECTION_RULES
from dask_graphflow.showing.arguments import members
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.values import shown


@dataclass(frozen=True)
class Check:
    """How one option is checked."""

    # Whether the value names vertices by their ids, so that :meth:`resolve` has to find them.
    names_vertices: ClassVar[bool] = False
    # Whether the value is a frame that can be lazy. Then :meth:`check` returns it, and :meth:`resolve` gets
    # the list of its partitions, the same in all members.
    reads_frame: ClassVar[bool] = False
    # How values are written on a command line, if the type does not say it; see :class:`Option`.
    kind: ClassVar[str] = ""
    optional: bool = field(default=False, kw_only=True)  # whether the option can also be None

    def check(self, name: str, value: Any, spec: Any) -> Any:
        """Return what is sent to the members for a value, or raise an error that says what is allowed.

        The value is not None if the option is :attr:`optional`.
        """
        raise NotImplementedError

    def resolve(self, g: Any, sent: Any) -> Any:
        """Return what the algorithm gets, in a member: for ids, its own vertices."""
        raise NotImplementedError

    def resolving(self, options: Mapping[str, Any], spec: Any) -> Callable[..., Any]:
        """Return :meth:`resolve`, or for a value that other options describe, what does this with them.

        All options are checked. Raise an error if they do not fit together.
        """
        return self.resolve


@dataclass(frozen=True)
class Choice(Check):
    """One of several names."""

    names: Sequence[str]

    def check(self, name: str, value: Any, spec: Any) -> str:
        """Return the name."""
        if not isinstance(value, str) or value not in self.names:
            raise OptionError(
                f"{name}={shown(value)}; give {', '.join(map(repr, self.names))}"
                f"{nearest(value, self.names)}"
            )
        return value


DirectionRule = Annotated[str, Choice(DIRECTION_RULES)]


@dataclass(frozen=True)
class Flag(Check):
    """True or False."""

    def check(self, name: str, value: Any, spec: Any) -> bool:
        """Return the truth value."""
        if not isinstance(value, bool | np.bool_):
            raise OptionError(f"{name}={shown(value)}; give True or False")
        return bool(value)


@dataclass(frozen=True)
class Option:
    """An option of a function: what it is called, takes and defaults to."""

    name: str
    # Its type, as in ``int | None``. The names of a choice are the arguments of a ``Literal``.
    type: Any
    # Its default value; ``inspect.Parameter.empty`` if it has to be given.
    default: Any = Parameter.empty
    # How values are checked; a check that allows everything if the function itself checks them.
    check: Check = field(default_factory=Check, kw_only=True)
    # How values are written on a command line; see :data:`KINDS`.
    kind: str = field(default="", kw_only=True)
    # What the command line says about it if the documentation of the function does not.
    help: str = field(default="", kw_only=True)
    # Whether it can be given without its name.
    positional: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if not self.kind:
            object.__setattr__(self, "kind", self.check.kind or _kind_of(self.type))

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is Parameter.empty

    @property
    def optional(self) -> bool:
        """Whether the type allows None."""
        return types.NoneType in members(self.type)

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values that are allowed, if the type is a ``Literal``."""
        literals = [one for one in members(self.type) if typing.get_origin(one) is Literal]
        return tuple(value for one in literals for value in typing.get_args(one))


#: How values of a type are written on a command line. The first type that a union has decides.
KINDS = {
    Literal: "choice",
    list: "numbers",
    Sequence: "numbers",
    Any: "frame",
    bool: "flag",
    int: "number",
    float: "number",
}


def _kind_of(hint: Any) -> str:
    origins = {typing.get_origin(one) or one for one in members(hint)}
    return next((kind for one, kind in KINDS.items() if one in origins), "")


def options_of(function: Callable[..., Any]) -> dict[str, Option]:
    """Return the options of an algorithm, which are the parameters after the graph's view."""
    hints = typing.get_type_hints(function, include_extras=True)
    _, *parameters = inspect.signature(function).parameters.values()
    return {p.name: _option(p, hints[p.name]) for p in parameters}


def _option(p: Parameter, hint: Any) -> Option:
    positional = p.kind is Parameter.POSITIONAL_OR_KEYWORD
    check: Check = Flag()
    if typing.get_origin(hint) is Annotated:
        (check,), hint = hint.__metadata__, hint.__origin__
        check = replace(check, optional=types.NoneType in members(hint))
    if isinstance(check, Choice):
        hint = Literal.__getitem__(tuple(check.names))
        hint = hint | None if check.optional else hint
    return Option(p.name, hint, p.default, check=check, positional=positional)
