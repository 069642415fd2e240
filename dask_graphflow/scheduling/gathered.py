"""Work on all partitions of a frame at once, in one task: its parts are read, gathered, and a result cut.

::

    read       each partition, into what is gathered of it
    build      all of them, into one object, which may be kept
    run        what is asked of that object, as frames
    part       each frame

What is built lies in one process, which may use all threads that the worker has.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import dask.dataframe as dd
from dask.base import tokenize
from dask.delayed import Delayed, delayed

from .expr import Held, as_computed, collection

__all__ = ["build", "columns", "frames", "parts_of", "run"]


def build(
    frame: Any, read: Callable[[Any, int], Any], gather: Callable[[list[Any]], Any]
) -> Delayed:
    """Return, lazily, what is made of all partitions of a frame.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame or Held
    read : callable
        Takes a partition and its number.
    gather : callable
        Takes what `read` returned of each, in a list that nobody else has: it may be emptied.
    """
    name, parts = parts_of(frame)
    token = tokenize(name, read, gather)
    pieces = [
        delayed(read)(part, i, dask_key_name=("graph-read-" + token, i))
        for i, part in enumerate(parts)
    ]
    return delayed(gather)(pieces, dask_key_name=f"graph-build-{token}")


def parts_of(frame: Any) -> tuple[str, list[Delayed]]:
    """Return what tells a frame from others, and its partitions."""
    if not isinstance(frame, Held):
        whole = collection(as_computed(frame, list(frame.columns)))
        return frame.expr._name, whole.to_delayed()
    name = f"held-{tokenize(frame)}"
    return name, [Delayed(name, {name: (frame,)})]


def run(built: Delayed, name: str, work: Callable[..., Any], *arguments: Any) -> Delayed:
    """Return, lazily, what `work` makes of something built."""
    token = tokenize(built.key, work, arguments)
    return delayed(work)(built, *arguments, dask_key_name=f"{name}-{token}")


def frames(result: Delayed, which: Sequence[int], meta: Any) -> dd.DataFrame:
    """Return some of a list of frames, lazily, as the partitions of one."""
    name = f"{result.key}-part"
    cut = [delayed(operator.getitem)(result, at, dask_key_name=(name, at)) for at in which]
    return collection(dd.from_delayed(cut, meta=meta, verify_meta=False).expr)


def columns(parts: Sequence[Delayed], which: int, meta: Any) -> dd.DataFrame:
    """Return one frame of each of some lists of frames, lazily, as the partitions of one."""
    name = f"{tokenize([part.key for part in parts])}-{which}"
    cut = [
        delayed(operator.getitem)(part, which, dask_key_name=(f"graph-part-{name}", i))
        for i, part in enumerate(parts)
    ]
    return collection(dd.from_delayed(cut, meta=meta, verify_meta=False).expr)
