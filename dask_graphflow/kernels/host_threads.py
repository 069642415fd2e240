"""Threads for host kernels, and the ranges from which they take work.

A kernel releases the GIL and is called once per *part*. The threads belong to a pool of this process and
are reused, because a superstep can take less time than starting a thread. The calling thread works too. If
no thread of the pool is free, it does all of the work, so several threads can call at the same time.

Within a kernel, work is divided into *mini-chunks* of :data:`MINI_CHUNK` items. Every part has its own
range. When it is done, it takes mini-chunks from the ranges of other parts (Gemini [1]_).

.. [1] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph Processing
   System", OSDI 2016.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Sequence
from functools import cache, partial
from queue import SimpleQueue
from typing import Any, TypeVar

import numpy as np

from .compiling import compiled as _compiled
from .compiling import inner as _inner
from .host_atomics import fetch_add

MINI_CHUNK = 64  # items; one word of a bitmap, so that no two threads write the same word
WORTH = 1 << 15  # items that take about as long as it takes to hand work to another thread
TURN = 8  # numbers per part, a cache line: next item, end, chunks taken, chunks stolen

Part = TypeVar("Part")


class _Call:
    """Work for a thread of the pool, which can be withdrawn until the thread begins."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work: Callable[[], object] | None = work
        self._takers = itertools.count()  # next(takers) is atomic, and the first taker decides
        self._ended = threading.Lock()
        self._ended.acquire()
        self.error: BaseException | None = None

    def run(self) -> None:
        """Do the work, unless it was withdrawn."""
        work = self._work
        if next(self._takers) or work is None:
            return
        try:
            work()
        except BaseException as error:  # the calling thread raises it
            self.error = error
        finally:
            self._work = work = None  # it refers to arrays
            self._ended.release()

    def withdraw(self) -> bool:
        """Return whether no thread has begun. Then none will."""
        if next(self._takers):
            return False
        self._work = None
        return True

    def wait(self) -> None:
        """Wait for the end of the work, which has begun."""
        self._ended.acquire()


class _Pool:
    """Threads that wait for calls. A call takes a third of the time that a ThreadPoolExecutor takes."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[_Call] = SimpleQueue()
        self._counting = threading.Lock()
        self._threads = self._busy = 0
        self._most = os.cpu_count() or 1

    def submit(self, call: _Call) -> None:
        """Let a thread do the work of a call; start one if all are busy, up to one per core."""
        with self._counting:
            self._busy += 1
            starts = self._threads < min(self._busy, self._most)
            self._threads += starts
        self._calls.put(call)
        if starts:
            threading.Thread(target=self._serve, name="graphflow", daemon=True).start()

    def _serve(self) -> None:
        while True:
            self._calls.get().run()
            with self._counting:
                self._busy -= 1


@cache
def _pool(process: int) -> _Pool:
    # One pool per process, because a forked process does not inherit its parent's threads.
    return _Pool()


def call(work: Callable[[int], object], helpers: int) -> list[_Call]:
    """Let threads of the pool call ``work(1)`` to ``work(helpers)`` when they are free."""
    calls = [_Call(partial(work, part)) for part in range(1, helpers + 1)]
    for one in calls:
        _pool(os.getpid()).submit(one)
    return calls


def withdraw(calls: list[_Call]) -> list[_Call]:
    """Withdraw the calls that no thread has begun; return the others."""
    return [one for one in calls if not one.withdraw()]


def share(work: Callable[[int], Part], parts: int, threads: int) -> list[Part]:
    """Call ``work(part)`` once for each part, on up to `threads` threads, and return the results."""
    if threads <= 1 or parts <= 1:
        return [work(part) for part in range(parts)]
    results: list[Any] = [None] * parts
    tickets = itertools.count()  # next(tickets) is atomic

    def run(_: int) -> None:
        while (part := next(tickets)) < parts:
            results[part] = work(part)

    helpers = call(run, min(threads, parts) - 1)
    try:
        run(0)
    finally:
        # Helpers that have not begun find no work any more.
        helpers = withdraw(helpers)
        for helper in helpers:
            helper.wait()
    for helper in helpers:
        if helper.error is not None:
            raise helper.error
    return results


def worth(threads: int, items: int) -> int:
    """Return how many of some threads are worth starting to pass once over this many items."""
    return max(1, min(threads, items // WORTH))


def run(kernel: Callable[..., Part], ranges: np.ndarray, *arguments: Any) -> list[Part]:
    """Call ``kernel(*arguments, ranges, part)`` for each part of `ranges`, with a thread for each."""
    parts = len(ranges) // TURN
    return share(lambda part: kernel(*arguments, ranges, part), parts, parts)


def even_cuts(count: int, parts: int) -> list[int]:
    """Return where each of some parts of equal size begins, and where the last one ends."""
    return [count * part // parts for part in range(parts + 1)]


def runs(lengths: Sequence[int], parts: int) -> list[list[tuple[int, int, int]]]:
    """Cut arrays, as if concatenated, into equal parts; return (array, start, stop) per part."""
    begins = list(itertools.accumulate(lengths, initial=0))
    return [
        [
            (array, max(low - begin, 0), min(high, stop) - begin)
            for array, (begin, stop) in enumerate(itertools.pairwise(begins))
            if low < stop and begin < high
        ]
        for low, high in itertools.pairwise(even_cuts(begins[-1], parts))
    ]


def in_parts(work: Callable[[int, int], Part], count: int, parts: int, threads: int) -> list[Part]:
    """Call ``work(start, stop)`` for each part of `count` items, on some threads; return the results."""
    cuts = even_cuts(count, parts)
    return share(lambda part: work(cuts[part], cuts[part + 1]), parts, threads)


def turns(bounds: Sequence[int]) -> np.ndarray:
    """Return ranges for :func:`take`: part `i` starts with items ``bounds[i]`` to ``bounds[i + 1] - 1``."""
    ranges = np.zeros((len(bounds) - 1) * TURN, np.int64)
    ranges[0::TURN], ranges[1::TURN] = bounds[:-1], bounds[1:]
    return ranges


def even_turns(count: int, parts: int, cost: np.ndarray | None = None) -> np.ndarray:
    """Divide `count` items into `parts` ranges of equal size, or of equal cost.

    Parameters
    ----------
    count, parts : int
        Number of items, and number of ranges.
    cost : ndarray of int64, shape (count + 1,), optional
        Total cost of all items before each item, such as the offsets of rows. If all costs are 0, the
        ranges have equal size. A cut by cost would put all items into one range, and threads would wait for
        each other.
    """
    if cost is None or cost[0] == cost[-1]:
        cuts = even_cuts(count, parts)[1:-1]
    else:
        wanted = [cost[0] + (cost[-1] - cost[0]) * part // parts for part in range(1, parts)]
        cuts = np.searchsorted(cost, wanted).tolist() if wanted else []
    whole = [min(-(-cut // MINI_CHUNK) * MINI_CHUNK, count) for cut in cuts]
    return turns([0, *whole, count])


def frontier_turns(costs: np.ndarray, parts: int) -> np.ndarray:
    """Divide the vertices of a frontier into `parts` ranges of equal cost.

    Ranges are not rounded to whole mini-chunks, because a frontier can have fewer vertices than a
    mini-chunk, and one of them can be a hub.

    Parameters
    ----------
    costs : ndarray of int64, shape (f + 1,)
        Total cost of all vertices before each vertex, followed by the total of all.
    parts : int
        Number of ranges.
    """
    wanted = costs[-1] * np.arange(1, parts) // parts
    return turns([0, *np.searchsorted(costs, wanted).tolist(), len(costs) - 1])


def stolen(ranges: np.ndarray) -> tuple[int, int]:
    """Return how many mini-chunks were taken from `ranges`, and how many of these were stolen."""
    counts = ranges.reshape(-1, TURN)
    return int(counts[:, 2].sum()), int(counts[:, 3].sum())


@partial(_compiled, inline="always")
def put(to, at, values, count):  # type: ignore[no-untyped-def]
    """Copy the first `count` values to ``to[at:]``.

    Numba compiles this loop in a hundredth of the time that it needs for an assignment to a slice, which
    can raise an error.
    """
    for i in range(count):
        to[at + i] = values[i]


@_inner
def take(ranges, part, size):  # type: ignore[no-untyped-def]
    """Take up to `size` items from the part's own range, or from another; return their start and stop.

    If start is not less than stop, no items are left.
    """
    parts = ranges.size // TURN
    for step in range(parts):
        other = part + step
        at = (other if other < parts else other - parts) * TURN
        # Read the range first: adding to an empty range would take its cache line from its owner.
        if ranges[at] < ranges[at + 1]:
            start = fetch_add(ranges, np.intp(at), np.int64(size))
            if start < ranges[at + 1]:
                ranges[part * TURN + 2] += 1
                ranges[part * TURN + 3] += step > 0
                stop = ranges[at + 1]
                return start, start + size if start + size < stop else stop
    return np.int64(0), np.int64(0)
