"""The chunk size, found by trying."""

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
    """A sweep over chunk sizes.

    Attributes
    ----------
    chunk_size : int
        The one to use: the largest whose time is within 5 % of the best.
    seconds : dict of int to float
        The median time of each size tried.
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
    """Hook the same edges in chunks of several sizes, and see which takes least.

    Small chunks are made flat often, and let copying and hooking overlap; large ones fill the machine.
    Where the plan's rule does not bind, the best lies in between.

    Parameters
    ----------
    source, target : array of integers, shape (m,)
        Edges of dense ids: those of a partition are enough.
    sizes : sequence of int, optional
        Sizes to try; by default powers of two from 1/256 of the edges to all.
    repeat : int
        Times that each size is tried, in turn.
    threads : int
        Host threads to use.
    clock : callable
        Tells seconds.
    progress : bool or callable
        True for a bar in a terminal. A function is called after each try with a dict: "chunk_size"; its
        "seconds"; "done", how many tries there were, and "total", how many there will be.

    Returns
    -------
    Tuning
        The ``chunk_size`` to use, and the ``seconds`` of each that was tried.

    Raises
    ------
    OptionError
        `progress` is neither.

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
