"""Copies, streams and events in plain memory: what the link runs on where there is no device.

The twin of :mod:`.device_copies`, with the same names and meanings. A stream is a thread that does what
it is given in order, an event a flag that it sets. So the link's protocol, every race in it included,
runs without a GPU.

:func:`narrow` is for both: it copies from host memory to host memory, on the way to a device.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import numpy as np

__all__ = ["Caller", "Copies", "Event", "Stream", "narrow"]


class Event:
    """A point in a stream's work."""

    def __init__(self) -> None:
        self._flag = threading.Event()

    @property
    def done(self) -> bool:
        """Whether the stream has come there."""
        return self._flag.is_set()

    def set(self) -> None:
        """Say that the stream has come there."""
        self._flag.set()

    def synchronize(self) -> None:
        """Wait until the stream has come there."""
        self._flag.wait()


class Caller:
    """The calling thread as a stream: whatever it is given is done at once."""

    def queue(self, work: Callable[..., object], *arguments: Any) -> None:
        """Do some work."""
        work(*arguments)

    def synchronize(self) -> None:
        """Wait for nothing: all is done."""


class Stream:
    """Work that a thread does in the order in which it is given.

    As on a device, who queues work is not told that it failed: whoever waits for the stream is.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "graphflow-stream")
        self._error: BaseException | None = None

    def queue(self, work: Callable[..., object], *arguments: Any) -> None:
        """Have some work done after all that was queued before."""
        self._thread.submit(self._do, work, *arguments)

    def _do(self, work: Callable[..., object], *arguments: Any) -> None:
        try:
            work(*arguments)
        except BaseException as error:
            self._error = self._error or error

    def synchronize(self) -> None:
        """Wait until all that was queued is done; raise the first error there was."""
        self._thread.submit(int).result()
        error, self._error = self._error, None
        if error is not None:
            raise error


class _Pinned(np.ndarray):
    """An array in memory that a device could copy from by itself; so are its views."""


class Copies:
    """Copies from host memory to a device, here host memory too, on a stream of their own.

    Attributes
    ----------
    stream : Stream
        What the copies are queued on.
    """

    def __init__(self) -> None:
        self.stream = Stream()

    def attached(self) -> AbstractContextManager[Any]:
        """Return a context in which the calling thread may use the device."""
        return nullcontext()

    def pinned(self, size: int) -> Any:
        """Return `size` bytes of host memory that the device can copy from by itself."""
        return np.empty(size, "uint8").view(_Pinned)

    def device(self, size: int) -> Any:
        """Return `size` bytes on the device."""
        return np.empty(size, "uint8")

    def is_pinned(self, array: np.ndarray) -> bool:
        """Say whether the device can copy from `array` by itself."""
        return isinstance(array, _Pinned)

    def copy(self, to: Any, source: np.ndarray) -> None:
        """Queue a copy of pinned memory to the device."""
        self.stream.queue(np.copyto, to, source)

    def current(self) -> Any:
        """Return the stream that the calling thread's kernels run on."""
        return Caller()

    def record(self, stream: Any) -> Any:
        """Return an event that happens once `stream` has done all that it has been given."""
        event = Event()
        stream.queue(event.set)
        return event

    def wait(self, stream: Any, event: Any) -> None:
        """Let what `stream` is given from now on wait for an event; the caller does not wait."""
        stream.queue(event.synchronize)


def narrow(source: np.ndarray, to: np.ndarray) -> bool:
    """Copy integers to an array of another type of integers; say whether each fits there.

    They are read once, and all of them with Python's lock let go of.
    """
    if not source.dtype.isnative:
        source = source.astype(source.dtype.newbyteorder("="))
    own, other = np.iinfo(source.dtype), np.iinfo(to.dtype)
    low, high = max(own.min, other.min), min(own.max, other.max)
    return bool(_narrow()(source, to, source.dtype.type(low), source.dtype.type(high)))


@cache
def _narrow() -> Any:
    from .compiling import compiled  # imported here, since only wide ids need Numba

    # No way out of the loop: so it takes several integers an instruction.
    def narrow(source: Any, to: Any, low: Any, high: Any) -> bool:
        fits = True
        for i in range(len(source)):
            value = source[i]
            fits &= (low <= value) & (value <= high)
            to[i] = value
        return fits

    return compiled(narrow)
