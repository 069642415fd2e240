"""Edge programs whose dtypes are known, as the compilers for the host and the device read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from .after import TypedAfter
from .expressions import Node, Reader, Scope

# The target's new value by slot. For "min" and "max" as in NumPy: a NaN wins over every number and then
# stays. If two values are equal, the old one stays.
_COMBINE = {
    "min": "message if message < old or message != message else old",
    "max": "message if message > old or message != message else old",
    "add": "old + message",
    "or": "old | message",
}


@dataclass(frozen=True)
class Code:
    """Functions written by hand instead of expressions; see :meth:`.EdgeOp.from_code`."""

    signal: Callable[..., Any]
    cond: Callable[..., Any] | None
    cuda: str
    columns: tuple[str, ...]
    needs_weight: bool


class TypedProgram(NamedTuple):
    """An edge program with a dtype for everything that it reads."""

    # See :class:`.EdgeOp`.
    name: str
    target: str
    slot: str
    first_hit: bool
    # The dtypes of the columns and of the parameters, sorted by name.
    columns: dict[str, str]
    params: dict[str, str]
    index_dtype: str  # the dtype of vertex ids
    # The dtype of weights; None if the program does not read them, so that they need not be loaded.
    weight_dtype: str | None
    # The signal and cond as typed trees, or the functions written by hand.
    code: tuple[Node, Node] | Code
    after: TypedAfter | None = None

    @property
    def value_dtype(self) -> str:
        """The dtype of the target, and of messages."""
        return self.columns[self.target]

    @property
    def combine(self) -> Node:
        """The target's new value, from its ``old`` value and a ``message``."""
        scope = Scope(dict.fromkeys(("old", "message"), self.value_dtype), self.columns)
        return Reader("combine", _COMBINE[self.slot], scope).signal(self.target)
