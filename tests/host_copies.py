"""Copies, streams and events in plain memory, so that the link can run without a device.

These are the names and meanings of :mod:`.device_copies`. A stream is a thread
that does its work in order, and an event is a flag that the thread sets. The protocol of the link,
including all of its races, can therefore run without a GPU.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np


class Event:
    """A point in a stream's work."""

    def __init__(self) -> None:
        self._flag = threading.Event()

    @property
    def done(self) -> bool:
        """Whether the stream has reached this point."""
        return self._flag.is_set()

    def set(self) -> None:
        """Record that the stream has reached this point."""
        self._flag.set()

    def synchronize(self) -> None:
        """Wait until the stream has reached this point."""
        self._flag.wait()


class Caller:
    """The calling thread as a stream: it runs all work immediately."""

    def queue(self, work: Callable[..., object], *arguments: Any) -> None:
        """Run some work."""
        work(*arguments)

    def synchronize(self) -> None:
        """Return immediately, because all work is done."""


class Stream:
    """Work that a thread runs in the order in which it was queued.

    As on a device, an error is not raised to the caller that queued the work, but by :meth:`synchronize`.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "graphflow-stream")
        self._error: BaseException | None = None

    def queue(self, work: Callable[..., object], *arguments: Any) -> None:
        """Queue work to run after everything that was queued before."""
        self._thread.submit(self._do, work, *arguments)

    def _do(self, work: Callable[..., object], *arguments: Any) -> None:
        try:
            work(*arguments)
        except BaseException as error:
            self._error = self._error or error

    def synchronize(self) -> None:
        """Wait until all queued work is done; raise the first error, if any."""
        self._thread.submit(int).result()
        error, self._error = self._error, None
        if error is not None:
            raise error


class _Pinned(np.ndarray):
    """An array that stands for pinned memory. Its views are pinned, too."""


class Copies:
    """Copies from host memory to a device, on a separate stream. Here, the device is also host memory.

    Attributes
    ----------
    stream : Stream
        The stream on which copies are queued.
    """

    def __init__(self) -> None:
        self.stream = Stream()

    def attached(self) -> AbstractContextManager[Any]:
        """Return a context in which the calling thread can use the device."""
        return nullcontext()

    def pinned(self, size: int) -> Any:
        """Return `size` bytes of pinned host memory."""
        return np.empty(size, "uint8").view(_Pinned)

    def device(self, size: int) -> Any:
        """Return `size` bytes on the device."""
        return np.empty(size, "uint8")

    def is_pinned(self, array: np.ndarray) -> bool:
        """Return whether `array` is in pinned memory."""
        return isinstance(array, _Pinned)

    def copy(self, to: Any, source: np.ndarray) -> None:
        """Queue a copy of pinned memory to the device."""
        self.stream.queue(np.copyto, to, source)

    def current(self) -> Any:
        """Return the stream on which kernels of the calling thread run."""
        return Caller()

    def record(self, stream: Any) -> Any:
        """Return an event that is set once `stream` has done all work queued so far."""
        event = Event()
        stream.queue(event.set)
        return event

    def wait(self, stream: Any, event: Any) -> None:
        """Make work that is queued on `stream` from now on wait for an event. The caller does not wait."""
        stream.queue(event.synchronize)
