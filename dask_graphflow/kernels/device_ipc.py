"""Copies of device arrays between processes of the same machine (CUDA IPC).

The owner copies its arrays to memory that contains nothing else and sends a :class:`Shared`. The other
process opens that memory, copies the arrays and closes it. Arrays are not shared in place, because only
whole allocations can be opened. For a pool, this would be all of its memory, or nothing if it is CUDA's own
pool (``cudaMallocAsync``).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .device import namespace as cupy

CannotShare = cupy.cuda.runtime.CUDARuntimeError
"""The error if there is no memory to share, or if another process' memory cannot be opened."""

ALIGNMENT = 256  # arrays begin at a multiple of this number of bytes
BLOCK = 1 << 21  # CUDA can put small allocations into one block of this size, and shares the block
DEVICE_TO_DEVICE = 3  # cudaMemcpyDeviceToDevice


class Shared(NamedTuple):
    """Describes arrays that another process can copy.

    Attributes
    ----------
    handle : bytes
        CUDA's handle of the memory that contains the arrays.
    arrays : tuple of (int, str)
        The number of entries and the dtype of each array, in the order in which they are stored.
    """

    handle: bytes
    arrays: tuple[tuple[int, str], ...]


def share(arrays: Sequence[Any]) -> tuple[Shared, Any]:
    """Copy contiguous arrays to memory that other processes can read.

    Returns
    -------
    Shared
        The description to send to other processes.
    object
        The memory. Keep it until the other processes have read it.

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
    copies = [cupy.empty(count, dtype) for count, dtype in shared.arrays]
    runtime, stream = cupy.cuda.runtime, cupy.cuda.get_current_stream()
    begin = runtime.ipcOpenMemHandle(shared.handle)
    try:
        for place, array in zip(_places(shared.arrays), copies, strict=False):
            there = begin + place
            runtime.memcpyAsync(array.data.ptr, there, array.nbytes, DEVICE_TO_DEVICE, stream.ptr)
        stream.synchronize()
    finally:
        runtime.ipcCloseMemHandle(begin)
    return copies


def _places(arrays: Sequence[tuple[int, str]]) -> list[int]:
    """Return the offset in bytes at which each array begins, followed by the total size."""
    sizes = (
        -(-count * np.dtype(dtype).itemsize // ALIGNMENT) * ALIGNMENT for count, dtype in arrays
    )
    return list(itertools.accumulate(sizes, initial=0))
