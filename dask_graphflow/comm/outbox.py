"""Boxes: entries of a column that are sent to one member, in the fewest bytes.

Of n entries that a box has room for, k have something to say. Values have s bytes, and indices i::

    nothing   k = 0                       0
    pairs     few: indices and values     k (s + i)
    marked    more: a bitmap and values   k s + n / 8
    dense     k = n: values               n s

So *pairs* end where k is n / 8 i, a 32nd of the entries, whatever their values are. The receiver is told
the same in every form: which entries, and their values. A box without values says only which entries.

(Selective communication, TOTEM [1]_, has pairs and the whole box, whose other entries have to do no harm;
with a bitmap they need not.)

.. [1] A. Gharaibeh, L. Beltrão Costa, E. Santos-Neto, M. Ripeanu, "A Yoke of Oxen and a Thousand Chickens
   for Heavy Lifting Graph Processing", PACT 2012.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import index_dtype, kernels_of, on_device

__all__ = ["FORMS", "Box", "Packed", "form", "pack", "unpack"]

FORMS = ("nothing", "pairs", "marked", "dense")


class Packed(NamedTuple):
    """A box as it is sent.

    Attributes
    ----------
    form : str
        One of :data:`FORMS`.
    entries : int
        Those that have something to say.
    dtype : numpy.dtype or None
        Of their values, if there are any.
    raw : array of uint8
        Values, and from the next multiple of 8 bytes on indices or bitmap.
    """

    form: str
    entries: int
    dtype: Any
    raw: np.ndarray


class Box:
    """Memory that is used again for every superstep's entries."""

    def __init__(self) -> None:
        # Few entries of a device are packed on the host, so supersteps may alternate between the two.
        self._memory: dict[bool, Any] = {}

    def room(self, size: int, like: Any = None) -> Any:
        """Return so many bytes where `like` lies, with what happens to be in them."""
        there = on_device(like)
        memory = self._memory.get(there)
        if memory is None or size > len(memory):
            most = 0 if memory is None else 2 * len(memory)
            memory = self._memory[there] = kernels_of("outbox", like).room(max(size, most))
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
    """Put entries into a box.

    Parameters
    ----------
    box : Box
        Its memory is what is returned.
    size : int
        Entries that there are.
    at : array of integers, shape (k,), or None
        Those that have something to say, ascending; None for all.
    column : array, or None
        What has the values; None where there are none.
    where : slice or array of integers, shape (k,)
        Where in `column` they are.
    """
    count = size if at is None else len(at)
    how = form(count, size)
    width = 0 if column is None else count * column.dtype.itemsize
    begin = -(-width // 8) * 8
    kernels = kernels_of("outbox", at if column is None else column)
    if how == "pairs":
        tail = at.astype(index_dtype(size), copy=False).view(np.uint8)
    elif how == "marked":
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
    return Packed(how, count, None if column is None else column.dtype, raw)


def unpack(packed: Packed, size: int) -> tuple[Any, Any]:
    """Return which entries a box tells of (None for all), and their values (None if it has none)."""
    how, count, dtype, raw = packed
    width = 0 if dtype is None else count * dtype.itemsize
    values = None if dtype is None else raw[:width].view(dtype)
    tail = raw[-(-width // 8) * 8 :]
    if how == "pairs":
        return tail.view(index_dtype(size)), values
    if how == "marked":
        return kernels_of("outbox", raw).from_marks(tail, size), values
    return (None if how == "dense" else tail[:0].view(index_dtype(size))), values
