"""Arrays on a device that another process of the same machine copies from there (CUDA IPC).

The owner of the memory sends a :class:`Shared`. The other process opens it, copies it and closes it, which
takes 2 ms and the time of the copy. Until then the owner must neither change nor free the array. Memory of
CUDA's own pool (``cudaMallocAsync``) cannot be opened by others. Small allocations are not shared either:
CUDA puts several of them into one block, and shares the whole block.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, NamedTuple

from .device import namespace as cupy

__all__ = ["CannotShare", "Shared", "copied", "share"]

CannotShare = cupy.cuda.runtime.CUDARuntimeError
"""What is raised where memory cannot be shared, or another process' memory cannot be opened."""

BLOCK = 1 << 21  # bytes of CUDA's blocks; a larger allocation has blocks of its own
DEVICE_TO_DEVICE = 3  # cudaMemcpyDeviceToDevice
INVALID = 1  # cudaErrorInvalidValue


class Shared(NamedTuple):
    """What another process needs to find an array.

    Attributes
    ----------
    handle : bytes or None
        Names the allocation that the array is in; None for an empty array.
    offset : int
        Where in it the array begins, in bytes.
    size : int
        Number of entries.
    dtype : str
    """

    handle: bytes | None
    offset: int
    size: int
    dtype: str


def share(array: Any) -> Shared:
    """Return how other processes find a contiguous array. All that writes to it has ended then.

    Raises
    ------
    CannotShare
        Memory of this kind cannot be shared.
    """
    if not array.nbytes:
        return Shared(None, 0, 0, array.dtype.str)
    cupy.cuda.get_current_stream().synchronize()
    at = array.data.ptr
    begin = _allocation(at)
    handle = cupy.cuda.runtime.ipcGetMemHandle(at)
    return Shared(handle, at - begin, len(array), array.dtype.str)


def copied(shared: Shared) -> Any:
    """Return a copy of another process' array.

    Raises
    ------
    CannotShare
        The memory cannot be opened here.
    """
    found = cupy.empty(shared.size, shared.dtype)
    if shared.handle is None:
        return found
    runtime, stream = cupy.cuda.runtime, cupy.cuda.get_current_stream()
    begin = runtime.ipcOpenMemHandle(shared.handle)
    try:
        there = begin + shared.offset
        runtime.memcpyAsync(found.data.ptr, there, found.nbytes, DEVICE_TO_DEVICE, stream.ptr)
        stream.synchronize()
    finally:
        runtime.ipcCloseMemHandle(begin)
    return found


def _allocation(at: int) -> int:
    """Return where the allocation begins that an address is in, if it can be shared."""
    begin, size = ctypes.c_uint64(), ctypes.c_size_t()
    failed = _driver().cuMemGetAddressRange_v2(
        ctypes.byref(begin), ctypes.byref(size), ctypes.c_uint64(at)
    )
    if failed or size.value < BLOCK:
        raise CannotShare(failed or INVALID)
    return begin.value


@cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")
