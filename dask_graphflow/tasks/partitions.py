"""Partitions of lazy frames as Delayed objects, and lazy frames made of tasks that return several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dask.base import tokenize
from dask.delayed import Delayed

from .expr import Empty, Held, as_computed, collection
from .gang_expr import Items, Parts
from .names import named


def partitions_of(frame: Any) -> list[Delayed]:
    """Return the partitions of a frame."""
    if not isinstance(frame, Held):
        whole = collection(as_computed(frame, list(frame.columns)))
        return list(whole.to_delayed())
    name = named("held", tokenize(frame))
    return [Delayed(name, {name: (frame,)})]


def frames(results: Sequence[Delayed], which: Sequence[int], meta: Any) -> Any:
    """Return a lazy frame of the items `which` of each result; one partition per item."""
    return collection(Items(Parts(results), tuple(which), Empty.of(meta)))
