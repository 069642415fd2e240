"""CUDA copies, streams and events, with which the link is implemented.

It also provides host memory that kernels read directly [1]_. Kernels run on CuPy's current stream, usually
the legacy default stream. A non-blocking stream does not synchronize with that stream, so only events order
the two.

.. [1] S. W. Min, V. S. Mailthody, Z. Qureshi, J. Xiong, E. Ebrahimi, W. Hwu, "EMOGI: Efficient
   Memory-access for Out-of-memory Graph-traversal In GPUs", PVLDB 14(2), 2020.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

# Its error says what to do without CuPy or a GPU.
from dask_graphflow.kernels.common.device import namespace as cupy

PROBE, PROBES = 1 << 24, 3  # bytes that are copied to measure the link, and number of copies


class Copies:
    """Copies from host memory to a device, on a stream of their own.

    Parameters
    ----------
    number : int, optional
        The device; by default, the calling thread's current device.

    Attributes
    ----------
    stream : cupy.cuda.Stream
        The stream on which the copies are queued.
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
        """Return `size` bytes of pinned host memory, which the device can copy from directly."""
        # From CuPy's pool, which reuses memory: pinning it takes longer than copying as many bytes. The
        # pool rounds sizes up to powers of two.
        return np.frombuffer(cupy.cuda.alloc_pinned_memory(size), "uint8", size)

    def device(self, size: int) -> Any:
        """Return `size` bytes on the device.

        The memory may have been freed by work that the current stream has not finished yet. Other streams
        have to wait for an event that is recorded on the current stream before they use it.
        """
        with self.attached():
            return cupy.empty(size, "uint8")

    def is_pinned(self, array: np.ndarray) -> bool:
        """Return whether `array` is in pinned memory, which the device can copy from directly."""
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
        """Return an event that occurs once `stream` has done all the work queued on it so far."""
        with self.attached():
            # Blocking: a thread that waits for the event leaves its core to the threads that copy.
            event = cupy.cuda.Event(block=True, disable_timing=True)
            event.record(stream)
        return event

    def wait(self, stream: Any, event: Any) -> None:
        """Make all work queued on `stream` from now on wait for an event. The caller does not wait."""
        with self.attached():
            stream.wait_event(event)


def linked(array: np.ndarray) -> Any:
    """Copy an array to pinned host memory; return a CuPy array of it, which kernels read over the link."""
    size = max(1, array.nbytes)
    # Not from CuPy's pool, which rounds up to powers of two: these arrays are large, and are kept.
    memory = cupy.cuda.PinnedMemory(size)
    there = np.frombuffer(cupy.cuda.PinnedMemoryPointer(memory, 0), array.dtype, array.size)
    there[:] = array
    device = cupy.cuda.runtime.getDevice()
    address = cupy.cuda.UnownedMemory(memory.ptr, size, memory, device)
    return cupy.ndarray(array.shape, array.dtype, cupy.cuda.MemoryPointer(address, 0))


def speed() -> float:
    """Return the speed of a copy from pinned memory to the current device, in bytes per second."""
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
