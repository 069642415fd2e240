"""Rows by the numbers inside a partition, on the device; :mod:`.host_local_rows` has the twins.

What is owned and what is not are taken out by masks, each in its order, and put where the rows have room
for them: nothing is sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import index_dtype
from .device import namespace as cupy
from .device_bitmap import from_words, running, to_words
from .host_rows import Rows

__all__ = ["globalized", "localized"]


def localized(
    rows_: Any, bounds: Sequence[int], part: int, *, threads: int = 1
) -> tuple[Rows, Any, Any, list[int]]:
    """Number ends as they are numbered inside a partition; see :func:`.host_local_rows.localized`."""
    low, high = bounds[part], bounds[part + 1]
    offsets, ends = rows_.offsets, rows_.ends
    with ends.device:
        own = (ends >= low) & (ends < high)
        middle = offsets[:-1] + _counts(own, offsets)
        remote = ends[~own]
        slots = from_words(to_words(remote, bounds[-1]), ends.dtype)
        inner = _pieces(offsets[:-1], middle, len(ends))
        made = cupy.empty(len(ends), index_dtype(high - low + len(slots)))
        made[inner] = (ends[own] - low).astype(made.dtype)
        made[~inner] = (cupy.searchsorted(slots, remote) + (high - low)).astype(made.dtype)
        vertices = None if rows_.vertices is None else (rows_.vertices - low).astype(made.dtype)
        local = Rows(
            vertices,
            offsets,
            made,
            _moved(rows_.weights, own, inner),
            rows_.first - low,
            rows_.bitmap,
        )
        starts = cupy.searchsorted(slots, cupy.asarray(bounds, "int64"))
        return local, middle, slots, starts.tolist()


def globalized(
    rows_: Any, middle: Any, slots: Any, low: int, high: int, *, threads: int = 1
) -> Rows:
    """Make the rows that :func:`localized` was given; see :func:`.host_local_rows.globalized`."""
    offsets, ends = rows_.offsets, rows_.ends
    with ends.device:
        own = ends < high - low
        remote = slots[ends[~own] - (high - low)]
        lower = cupy.zeros(len(ends), bool)
        lower[~own] = remote < low
        starts = offsets[:-1] + _counts(lower, offsets)
        inner = _pieces(starts, starts + middle - offsets[:-1], len(ends))
        made = cupy.empty(len(ends), slots.dtype)
        made[inner] = ends[own].astype(slots.dtype) + low
        made[~inner] = remote
        vertices = None
        if rows_.vertices is not None:
            vertices = rows_.vertices.astype(slots.dtype) + low
        return Rows(
            vertices,
            offsets,
            made,
            _moved(rows_.weights, own, inner),
            rows_.first + low,
            rows_.bitmap,
        )


def _counts(flags: Any, offsets: Any) -> Any:
    """Return how many flags of each row are set."""
    before = cupy.zeros(len(flags) + 1, "int64")
    before[1:] = running(flags)
    return cupy.diff(before[offsets])


def _pieces(starts: Any, stops: Any, size: int) -> Any:
    """Return which of `size` entries lie in a piece; pieces may be empty, and do not overlap."""
    filled = stops > starts
    steps = cupy.zeros(size + 1, "int8")
    # No two that are not empty begin, or end, at the same entry.
    steps[starts[filled]] += 1
    steps[stops[filled]] -= 1
    return cupy.cumsum(steps, dtype="int8")[:-1].astype(bool)


def _moved(weights: Any, old: Any, new: Any) -> Any:
    """Put what lies where `old` is set to where `new` is set, and the rest to the rest."""
    if weights is None:
        return None
    made = cupy.empty_like(weights)
    made[new], made[~new] = weights[old], weights[~old]
    return made
