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
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dask_graphflow.exceptions import OptionError
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.values import shown


@dataclass(frozen=True)
class Check:
    """How one option is checked.

    Attributes
    ----------
    names_vertices : bool
        Whether the value names vertices by their ids, so that :meth:`resolve` has to find them.
    reads_frame : bool
        Whether the value is a frame that can be lazy. Then :meth:`check` returns it, and :meth:`resolve`
        gets the list of its partitions, the same in all members.
    optional : bool
        Whether the option can also be None.
    """

    names_vertices: ClassVar[bool] = False
    reads_frame: ClassVar[bool] = False
    optional: bool = field(default=False, kw_only=True)

    def check(self, name: str, value: Any, spec: Any) -> Any:
        """Return what is sent to the members for a value, or raise an error that says what is allowed.

        The value is not None if the option is :attr:`optional`.
        """
        raise NotImplementedError

    def resolve(self, g: Any, sent: Any) -> Any:
        """Return what the algorithm gets, in a member: for ids, its own vertices."""
        raise NotImplementedError


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


@dataclass(frozen=True)
class Flag(Check):
    """True or False."""

    def check(self, name: str, value: Any, spec: Any) -> bool:
        """Return the truth value."""
        if not isinstance(value, bool | np.bool_):
            raise OptionError(f"{name}={shown(value)}; give True or False")
        return bool(value)


class Option(NamedTuple):
    """An option of an algorithm.

    Attributes
    ----------
    type : object
        Its type, without the check.
    check : Check
    """

    type: Any
    check: Check


def options_of(run: Callable[..., Any]) -> Mapping[str, Option]:
    """Return the options of an algorithm, which are the parameters after the graph's view."""
    hints = typing.get_type_hints(run, include_extras=True)
    return {name: _option(hints[name]) for name in list(inspect.signature(run).parameters)[1:]}


def _option(hint: Any) -> Option:
    if hint is bool:
        return Option(bool, Flag())
    (check,) = hint.__metadata__
    optional = types.NoneType in typing.get_args(hint.__origin__)
    return Option(hint.__origin__, replace(check, optional=optional))
