"""Threads for host kernels, and the ranges that they take work from.

A kernel releases the GIL and is called once a *part*. The threads that are lent are this process's own
and stay for the next call: a superstep may take less time than starting a thread. Who calls works too,
and does alone what no thread was free for, so several threads may call at once.

Within a kernel, work is shared out in *mini-chunks* of :data:`MINI_CHUNK` items. Every part has a range of
its own, and goes on with those of the others when it is done (Gemini [1]_).

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
from .host_atomics import fetch_add

__all__ = [
    "MINI_CHUNK",
    "TURN",
    "even_turns",
    "frontier_turns",
    "put",
    "share",
    "stolen",
    "take",
    "turns",
]

MINI_CHUNK = 64  # items: a word of a bitmap, so that no two threads write one
TURN = 8  # numbers a part: next item, last item, chunks taken, chunks stolen; a cache line

Part = TypeVar("Part")


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    # By process: a fork has none of its parent's threads.
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="graphflow")


def share(work: Callable[[int], Part], parts: int, threads: int) -> list[Part]:
    """Call ``work(part)`` once for each part, on up to `threads` threads, and return the results."""
    if threads <= 1 or parts <= 1:
        return [work(part) for part in range(parts)]
    results: list[Any] = [None] * parts
    tickets = itertools.count()  # next() on it is atomic

    def run() -> None:
        while (part := next(tickets)) < parts:
            results[part] = work(part)

    pool = _pool(os.getpid())
    helpers = [pool.submit(run) for _ in range(min(threads, parts) - 1)]
    try:
        run()
    finally:
        # One that has not begun would find nothing left to do.
        waited = [helper for helper in helpers if not helper.cancel()]
        for helper in waited:
            helper.exception()
    for helper in waited:
        helper.result()
    return results


def turns(bounds: Sequence[int]) -> np.ndarray:
    """Return ranges for :func:`take`: part `i` begins with ``bounds[i]`` to ``bounds[i + 1] - 1``."""
    ranges = np.zeros((len(bounds) - 1) * TURN, np.int64)
    ranges[0::TURN], ranges[1::TURN] = bounds[:-1], bounds[1:]
    return ranges


def even_turns(count: int, parts: int, cost: np.ndarray | None = None) -> np.ndarray:
    """Share `count` items out to `parts`, in ranges that are of as many items, or cost the same.

    Parameters
    ----------
    count, parts : int
        Items, and parts to make.
    cost : ndarray of int64, shape (count + 1,), optional
        What all items before each one cost together: for rows, their offsets. Where none costs anything
        they are shared out evenly: else one range had them all, and threads would wait for each other.
    """
    if cost is None or cost[0] == cost[-1]:
        cuts = [count * part // parts for part in range(1, parts)]
    else:
        wanted = [cost[0] + (cost[-1] - cost[0]) * part // parts for part in range(1, parts)]
        cuts = np.searchsorted(cost, wanted).tolist() if wanted else []
    whole = [min(-(-cut // MINI_CHUNK) * MINI_CHUNK, count) for cut in cuts]
    return turns([0, *whole, count])


def frontier_turns(costs: np.ndarray, parts: int) -> np.ndarray:
    """Share a frontier's vertices out to `parts`, in ranges that cost the same.

    Not in whole mini-chunks: a frontier may be of fewer vertices than that, and one be a hub.

    Parameters
    ----------
    costs : ndarray of int64, shape (f + 1,)
        What all vertices before each one cost together, and all of them.
    parts : int
        Parts to make.
    """
    wanted = costs[-1] * np.arange(1, parts) // parts
    return turns([0, *np.searchsorted(costs, wanted).tolist(), len(costs) - 1])


def stolen(ranges: np.ndarray) -> tuple[int, int]:
    """Return how many mini-chunks were taken from `ranges`, and how many of them were stolen."""
    counts = ranges.reshape(-1, TURN)
    return int(counts[:, 2].sum()), int(counts[:, 3].sum())


@partial(_compiled, inline="always")
def put(to, at, values, count):  # type: ignore[no-untyped-def]
    """Copy the first `count` values to `to`, from `at` on.

    Numba compiles a loop in a hundredth of the time of an assignment to a slice, which can raise an error.
    """
    for i in range(count):
        to[at + i] = values[i]


@_compiled
def take(ranges, part, size):  # type: ignore[no-untyped-def]
    """Take `size` items of the part's own range, or of another's; return from where to where.

    Nothing is left where the first is not before the second.
    """
    parts = ranges.size // TURN
    for step in range(parts):
        other = part + step
        at = (other if other < parts else other - parts) * TURN
        # Looked at first: adding to a range that is used up takes its cache line from its owner.
        if ranges[at] < ranges[at + 1]:
            start = fetch_add(ranges, np.intp(at), np.int64(size))
            if start < ranges[at + 1]:
                ranges[part * TURN + 2] += 1
                ranges[part * TURN + 3] += step > 0
                stop = ranges[at + 1]
                return start, start + size if start + size < stop else stop
    return np.int64(0), np.int64(0)
