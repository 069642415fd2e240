"""Times work on a device: by the wall, waiting for it on both sides, or by its own events."""

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
    """The time of a run, and what it brought back."""

    seconds: float
    found: Any


@dataclass
class Wall:
    """Work timed from a device at rest to a device at rest again."""

    name: str
    work: Callable[[], Any]

    def run(self) -> Outcome:
        """Do it once."""
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
        """Do it once."""
        import cupy

        before, after = cupy.cuda.Event(), cupy.cuda.Event()
        wait()
        before.record()
        found = self.work()
        after.record()
        after.synchronize()
        return Outcome(cupy.cuda.get_elapsed_time(before, after) / 1e3, found)


def wait() -> None:
    """Wait until the current device has nothing left to do."""
    import cupy

    cupy.cuda.Device().synchronize()


def several(work: Callable[[], Any], repeat: int) -> list[float]:
    """Return the seconds of `repeat` runs by events, after one to warm up."""
    timed = Events("", work)
    return [timed.run().seconds for _ in range(repeat + 1)][1:]


@contextmanager
def peer() -> Iterator[None]:
    """Turn whatever stops a peer into a reason for its row: a peer may run out of memory."""
    try:
        yield
    except MemoryError as error:
        raise ContenderFailedError(f"out of memory: {_short(error)}") from error
    except Exception as error:
        raise ContenderFailedError(f"{type(error).__name__}: {_short(error)}") from error


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:MESSAGE]
