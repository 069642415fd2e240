"""Checks of an algorithm's options, which run when the user makes the call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dask_graphflow.exceptions import OptionError
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.values import shown

__all__ = ["Check", "Choice", "Flag"]


class Check:
    """How one option is checked.

    Attributes
    ----------
    names_vertices : bool
        Whether the value names vertices by their ids, so that :meth:`resolve` has to find them.
    reads_frame : bool
        Whether the value is a frame that can be lazy. Then :meth:`check` returns it, and :meth:`resolve`
        gets the list of its partitions, the same in all members.
    """

    names_vertices: ClassVar[bool] = False
    reads_frame: ClassVar[bool] = False

    def check(self, name: str, value: Any, graph: Any) -> Any:
        """Return what is sent to the members for a value, or raise an error that says what is allowed."""
        raise NotImplementedError

    def resolve(self, g: Any, sent: Any) -> Any:
        """Return what the algorithm gets, in a member: for ids, its own vertices."""
        raise NotImplementedError


@dataclass(frozen=True)
class Choice(Check):
    """One of several names."""

    names: Sequence[str]

    def check(self, name: str, value: Any, graph: Any) -> str:
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

    def check(self, name: str, value: Any, graph: Any) -> bool:
        """Return the truth value."""
        if not isinstance(value, bool | np.bool_):
            raise OptionError(f"{name}={shown(value)}; give True or False")
        return bool(value)
