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
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np

from .compiling import compiled as _compiled
from .compiling import inner as _inner
from .host_atomics import fetch_add

MINI_CHUNK = 64  # items; one word of a bitmap, so that no two threads write the same word
WORTH = 1 << 15  # items that take about as long as it takes to hand work to another thread
TURN = 8  # numbers per part, a cache line: next item, end, chunks taken, chunks stolen

Part = TypeVar("Part")


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    # One pool per process, because a forked process does not inherit its parent's threads.
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="graphflow")


def share(work: Callable[[int], Part], parts: int, threads: int) -> list[Part]:
    """Call ``work(part)`` once for each part, on up to `threads` threads, and return the results."""
    if threads <= 1 or parts <= 1:
        return [work(part) for part in range(parts)]
    results: list[Any] = [None] * parts
    tickets = itertools.count()  # next(tickets) is atomic

    def run() -> None:
        while (part := next(tickets)) < parts:
            results[part] = work(part)

    pool = _pool(os.getpid())
    helpers = [pool.submit(run) for _ in range(min(threads, parts) - 1)]
    try:
        run()
    finally:
        # Cancel helpers that have not started, because no work is left for them.
        waited = [helper for helper in helpers if not helper.cancel()]
        for helper in waited:
            helper.exception()
    for helper in waited:
        helper.result()
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
