"""Time work on a device: by wall-clock time from idle to idle, or by CUDA events."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.errors import ContenderFailedError

MESSAGE = 200  # characters of a peer's error that a table has room for


@dataclass(frozen=True)
class Outcome:
    """The time of a run, and its result."""

    seconds: float
    found: Any


@dataclass
class Wall:
    """Work timed from an idle device until the device is idle again."""

    name: str
    work: Callable[[], Any]

    def run(self) -> Outcome:
        """Do the work once."""
        wait()
        begin = time.perf_counter()
        found = self.work()
        wait()
        return Outcome(time.perf_counter() - begin, found)


@dataclass
class Events:
    """Work timed by events before and after it on the current stream."""

    name: str
    work: Callable[[], Any]

    def run(self) -> Outcome:
        """Do the work once."""
        import cupy

        before, after = cupy.cuda.Event(), cupy.cuda.Event()
        wait()
        before.record()
        found = self.work()
        after.record()
        after.synchronize()
        return Outcome(cupy.cuda.get_elapsed_time(before, after) / 1e3, found)


def wait() -> None:
    """Wait until the current device is idle."""
    import cupy

    cupy.cuda.Device().synchronize()


def several(work: Callable[[], Any], repeat: int) -> list[float]:
    """Return the seconds of `repeat` runs by events, after a run to warm up."""
    timed = Events("", work)
    return [timed.run().seconds for _ in range(repeat + 1)][1:]


@contextmanager
def peer() -> Iterator[None]:
    """Convert an error of a peer, such as running out of memory, to the reason shown in its row."""
    try:
        yield
    except MemoryError as error:
        raise ContenderFailedError(f"out of memory: {_short(error)}") from error
    except Exception as error:
        raise ContenderFailedError(f"{type(error).__name__}: {_short(error)}") from error


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:MESSAGE]
