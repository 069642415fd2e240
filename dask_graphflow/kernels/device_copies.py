"""Copies, streams and events of CUDA: what the link runs on.

The twin of :mod:`.host_copies`, with the same names and meanings, and what only a device has: memory of the
host's that kernels read themselves [1]_. Kernels run on CuPy's current stream,
mostly the legacy default one, and a non-blocking stream takes no notice of that: only events order the
two.

.. [1] S. W. Min, V. S. Mailthody, Z. Qureshi, J. Xiong, E. Ebrahimi, W. Hwu, "EMOGI: Efficient
   Memory-access for Out-of-memory Graph-traversal In GPUs", PVLDB 14(2), 2020.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from .device import namespace as cupy  # it says what to do where there is no CuPy or no GPU

__all__ = ["Copies", "linked", "speed"]

PROBE, PROBES = 1 << 24, 3  # bytes that tell how fast the link is, copied so often


class Copies:
    """Copies from host memory to a device, on a stream of their own.

    Parameters
    ----------
    number : int, optional
        The device; by default the calling thread's.

    Attributes
    ----------
    stream : cupy.cuda.Stream
        What the copies are queued on.
    """

    def __init__(self, number: int | None = None) -> None:
        self.number = cupy.cuda.runtime.getDevice() if number is None else number
        with self.attached():
            self.stream = cupy.cuda.Stream(non_blocking=True)

    def attached(self) -> AbstractContextManager[Any]:
        """Return a context in which the calling thread may use the device."""
        context: AbstractContextManager[Any] = cupy.cuda.Device(self.number)
        return context

    def pinned(self, size: int) -> Any:
        """Return `size` bytes of host memory that the device can copy from by itself."""
        # From CuPy's pool, which keeps it for the next call: to pin memory takes longer than to copy as
        # much. The pool takes powers of two.
        return np.frombuffer(cupy.cuda.alloc_pinned_memory(size), "uint8", size)

    def device(self, size: int) -> Any:
        """Return `size` bytes on the device.

        The memory may have been freed by work that the current stream has not done yet: other streams
        are to wait for an event recorded there first.
        """
        with self.attached():
            return cupy.empty(size, "uint8")

    def is_pinned(self, array: np.ndarray) -> bool:
        """Say whether the device can copy from `array` by itself."""
        first = array.ctypes.data
        runtime = cupy.cuda.runtime
        return array.size > 0 and all(
            runtime.pointerGetAttributes(address).type == runtime.memoryTypeHost
            for address in (first, first + array.nbytes - 1)
        )

    def copy(self, to: Any, source: np.ndarray) -> None:
        """Queue a copy of pinned memory to the device."""
        to.set(source, stream=self.stream)

    def current(self) -> Any:
        """Return the stream that the calling thread's kernels run on."""
        return cupy.cuda.get_current_stream(self.number)

    def record(self, stream: Any) -> Any:
        """Return an event that happens once `stream` has done all that it has been given."""
        with self.attached():
            # Blocking: a thread that waits for it leaves its core to those that copy.
            event = cupy.cuda.Event(block=True, disable_timing=True)
            event.record(stream)
        return event

    def wait(self, stream: Any, event: Any) -> None:
        """Let what `stream` is given from now on wait for an event; the caller does not wait."""
        with self.attached():
            stream.wait_event(event)


def linked(array: np.ndarray) -> Any:
    """Return a copy of an array in the host's memory, as one that the device in use reads over the link."""
    size = max(1, array.nbytes)
    # Not from CuPy's pool, which takes powers of two: these are large, and stay.
    memory = cupy.cuda.PinnedMemory(size)
    there = np.frombuffer(cupy.cuda.PinnedMemoryPointer(memory, 0), array.dtype, array.size)
    there[:] = array
    device = cupy.cuda.runtime.getDevice()
    address = cupy.cuda.UnownedMemory(memory.ptr, size, memory, device)
    return cupy.ndarray(array.shape, array.dtype, cupy.cuda.MemoryPointer(address, 0))


def speed() -> float:
    """Return the bytes a second of a copy from pinned memory to the device in use."""
    copies = Copies()
    source, to = copies.pinned(PROBE), copies.device(PROBE)
    source[:] = 1
    copies.wait(copies.stream, copies.record(copies.current()))
    best = float("inf")
    for _ in range(PROBES):
        copies.stream.synchronize()
        began = time.perf_counter()
        copies.copy(to, source)
        copies.stream.synchronize()
        best = min(best, time.perf_counter() - began)
    return PROBE / best
