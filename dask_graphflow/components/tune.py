"""Measuring the best chunk size."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dask_graphflow.showing.bar import Kind, Shown, Step, listener

from .forest import Forest
from .plan import Plan

__all__ = ["Tuning", "tune_chunk_size"]

NEAR = 1.05  # a size this close to the fastest is as good


def _shown(step: Step) -> Shown:
    return Shown(step["done"], step["total"], f"chunks of {step['chunk_size']:,} edges")


@dataclass(frozen=True)
class Tuning:
    """The result of a sweep over chunk sizes.

    Attributes
    ----------
    chunk_size : int
        The best chunk size, in edges: the largest one whose time is within 5 % of the best time.
    seconds : dict of int to float
        Median time for each chunk size.
    """

    chunk_size: int
    seconds: dict[int, float]


def tune_chunk_size(
    source: Any,
    target: Any,
    *,
    sizes: Sequence[int] | None = None,
    repeat: int = 3,
    threads: int = 1,
    clock: Callable[[], float] = time.perf_counter,
    progress: Any = False,
) -> Tuning:
    """Measure which chunk size is fastest for connected components.

    The same edges are hooked in chunks of several sizes. With small chunks, trees are compressed often, and
    copying and hooking can overlap. Large chunks use the machine better.

    Parameters
    ----------
    source, target : array of integers, shape (m,)
        Edges with dense ids. The edges of one partition are enough.
    sizes : sequence of int, optional
        Chunk sizes to try, in edges. By default m, m / 2, m / 4, ..., m / 256.
    repeat : int
        How often to try each size; 3 by default. The sizes take turns.
    threads : int
        Number of host threads; 1 by default.
    clock : callable
        Function that returns the time in seconds.
    progress : bool or callable
        Report each try. True shows a progress bar in a terminal. A function is called with a dict that has
        the keys "chunk_size", "seconds", "done" and "total" (numbers of tries).

    Returns
    -------
    Tuning
        The best ``chunk_size``, and the ``seconds`` of each size.

    Raises
    ------
    OptionError
        `progress` is invalid.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> edges = gf.generate.rmat(10).compute()
    >>> found = gf.tune_chunk_size(edges.src.to_numpy(), edges.dst.to_numpy(), sizes=[4096, 16384])
    >>> found.chunk_size in found.seconds
    True
    """
    told = listener(progress, "tune_chunk_size", Kind("tries", _shown))
    edges = len(source)
    sizes = sorted(sizes or {max(1, edges >> shift) for shift in range(9)})
    low, high = int(min(source.min(), target.min())), int(max(source.max(), target.max()))
    taken: dict[int, list[float]] = {size: [] for size in sizes}
    for _ in range(repeat):
        for size in sizes:
            forest = Forest(source)
            forest.cover(low, high)
            sampled = forest.kernels.SAMPLED
            plan = replace(Plan.for_graph(len(forest.parent), edges, sampled=sampled), chunk=size)
            start = clock()
            forest.hook(source, target, plan=plan, threads=threads)
            forest.compress(threads=threads)
            taken[size].append(clock() - start)
            if told is not None:
                done = sum(map(len, taken.values()))
                about = {"chunk_size": size, "seconds": taken[size][-1]}
                told({**about, "done": done, "total": repeat * len(sizes)})
    if told is not None:
        told(None)
    seconds = {size: statistics.median(times) for size, times in taken.items()}
    best = min(seconds.values())
    return Tuning(max(size for size, time in seconds.items() if time <= NEAR * best), seconds)
