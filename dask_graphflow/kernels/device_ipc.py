"""Arrays on a device that another process of the same machine copies from there (CUDA IPC).

The owner copies its arrays to memory that holds nothing else and sends a :class:`Shared`. The other process
opens that memory, copies the arrays and closes it. Arrays are not shared where they are, because only
whole allocations can be opened: all of a pool's memory, or nothing, if it is CUDA's own pool
(``cudaMallocAsync``).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .device import namespace as cupy

__all__ = ["CannotShare", "Shared", "copied", "share"]

CannotShare = cupy.cuda.runtime.CUDARuntimeError
"""What is raised where there is no memory to share, or another process' memory cannot be opened."""

ALIGNMENT = 256  # bytes that arrays begin at a multiple of
BLOCK = 1 << 21  # bytes that CUDA may put several smaller allocations into; it shares them all
DEVICE_TO_DEVICE = 3  # cudaMemcpyDeviceToDevice


class Shared(NamedTuple):
    """What another process needs to find arrays.

    Attributes
    ----------
    handle : bytes
        Names the memory that they are in.
    arrays : tuple of (int, str)
        Each array's number of entries and dtype, in the order in which the memory has them.
    """

    handle: bytes
    arrays: tuple[tuple[int, str], ...]


def share(arrays: Sequence[Any]) -> tuple[Shared, Any]:
    """Copy contiguous arrays to where other processes can read them.

    Returns
    -------
    Shared
        How they find them.
    object
        The memory: to be kept until they have read it.

    Raises
    ------
    CannotShare
        Too little memory is free outside of the pools.
    """
    own = tuple((len(array), array.dtype.str) for array in arrays)
    *places, size = _places(own)
    memory = cupy.cuda.Memory(max(size, BLOCK))
    runtime, stream = cupy.cuda.runtime, cupy.cuda.get_current_stream()
    for place, array in zip(places, arrays, strict=True):
        there = memory.ptr + place
        runtime.memcpyAsync(there, array.data.ptr, array.nbytes, DEVICE_TO_DEVICE, stream.ptr)
    stream.synchronize()
    return Shared(runtime.ipcGetMemHandle(memory.ptr), own), memory


def copied(shared: Shared) -> list[Any]:
    """Return copies of another process' arrays.

    Raises
    ------
    CannotShare
        The memory cannot be opened here.
    """
    found = [cupy.empty(count, dtype) for count, dtype in shared.arrays]
    runtime, stream = cupy.cuda.runtime, cupy.cuda.get_current_stream()
    begin = runtime.ipcOpenMemHandle(shared.handle)
    try:
        for place, array in zip(_places(shared.arrays), found, strict=False):
            there = begin + place
            runtime.memcpyAsync(array.data.ptr, there, array.nbytes, DEVICE_TO_DEVICE, stream.ptr)
        stream.synchronize()
    finally:
        runtime.ipcCloseMemHandle(begin)
    return found


def _places(arrays: Sequence[tuple[int, str]]) -> list[int]:
    """Return where each array begins in the memory, in bytes, and where the last one ends."""
    sizes = (
        -(-count * np.dtype(dtype).itemsize // ALIGNMENT) * ALIGNMENT for count, dtype in arrays
    )
    return list(itertools.accumulate(sizes, initial=0))
