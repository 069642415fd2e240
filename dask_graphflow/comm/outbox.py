"""Boxes: entries of a column that are sent to one member, in as few bytes as possible.

A box has room for n entries, and k of them are sent. A value takes s bytes, and an index takes i bytes.
The form with the fewest bytes is used::

    nothing   k = 0                       0
    pairs     few: indices and values     k (s + i)
    marked    more: a bitmap and values   k s + n / 8
    dense     k = n: values               n s

So *pairs* is used while k is below n / (8 i), which is a 32nd of the entries if i is 4, for any type of
values. Every form tells the receiver which entries are sent, and their values. A box without values tells
only which entries.

(Selective communication in TOTEM [1]_ has only two forms: pairs and the whole box. In a whole box, the
entries that are not meant to be sent must be harmless. A bitmap removes this condition.)

.. [1] A. Gharaibeh, L. Beltrão Costa, E. Santos-Neto, M. Ripeanu, "A Yoke of Oxen and a Thousand Chickens
   for Heavy Lifting Graph Processing", PACT 2012.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import index_dtype, on_device
from dask_graphflow.kernels import outbox as outbox_kernels

FORMS = ("nothing", "pairs", "marked", "dense")


class Packed(NamedTuple):
    """A box as it is sent."""

    form: str  # one of :data:`FORMS`
    entries: int  # number of entries that are sent
    dtype: Any  # numpy.dtype or None. The dtype of the values; None if no values are sent.
    # Array of uint8. The values, followed by the indices or the bitmap from the next multiple of 8 bytes
    # on.
    raw: np.ndarray


class Box:
    """Memory that is reused for the entries of every superstep."""

    def __init__(self) -> None:
        # If few entries of a device column are sent, they are packed on the host. So supersteps may
        # alternate between the two.
        self._memory: dict[bool, Any] = {}

    def room(self, size: int, like: Any = None) -> Any:
        """Return `size` uninitialized bytes on the host or the device, where `like` is stored."""
        there = on_device(like)
        memory = self._memory.get(there)
        if memory is None or size > len(memory):
            most = 0 if memory is None else 2 * len(memory)
            memory = self._memory[there] = outbox_kernels.of(like).room(max(size, most))
        return memory[:size]


def form(count: int, size: int) -> str:
    """Return the form that takes the fewest bytes for `count` of `size` entries.

    Examples
    --------
    >>> [form(count, 1000) for count in (0, 1, 31, 32, 999, 1000)]
    ['nothing', 'pairs', 'pairs', 'marked', 'marked', 'dense']
    """
    if count in (0, size):
        return "dense" if count else "nothing"
    return "pairs" if count * np.dtype(index_dtype(size)).itemsize < -(-size // 8) else "marked"


def pack(box: Box, size: int, at: Any, column: Any, where: Any) -> Packed:
    """Put entries into a box, in its memory, which has room for `size` entries.

    `at` has their ascending indices, or is None for all. Their values are those of `column` at `where`; no
    values are sent if `column` is None.
    """
    count = size if at is None else len(at)
    packed_form = form(count, size)
    width = 0 if column is None else count * column.dtype.itemsize
    begin = -(-width // 8) * 8
    kernels = outbox_kernels.of(at if column is None else column)
    if packed_form == "pairs":
        tail = at.astype(index_dtype(size), copy=False).view(np.uint8)
    elif packed_form == "marked":
        tail = kernels.to_marks(at, size)
    else:
        begin, tail = width, None
    raw = box.room(begin + (0 if tail is None else len(tail)), at if column is None else column)
    if tail is not None:
        raw[begin:] = tail
    if width:
        values = raw[:width].view(column.dtype)
        if isinstance(where, slice):
            values[:] = column[where]
        else:
            kernels.take(column, where, values)
    return Packed(packed_form, count, None if column is None else column.dtype, raw)


def unpack(packed: Packed, size: int) -> tuple[Any, Any]:
    """Return the indices of a box's entries (None for all), and their values (None if it has none)."""
    packed_form, count, dtype, raw = packed
    width = 0 if dtype is None else count * dtype.itemsize
    values = None if dtype is None else raw[:width].view(dtype)
    tail = raw[-(-width // 8) * 8 :]
    if packed_form == "pairs":
        return tail.view(index_dtype(size)), values
    if packed_form == "marked":
        return outbox_kernels.of(raw).from_marks(tail, size), values
    return (None if packed_form == "dense" else tail[:0].view(index_dtype(size))), values
