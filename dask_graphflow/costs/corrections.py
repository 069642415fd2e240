"""Corrections of the rates that estimates use, learned from the times of real calls.

A calibration of a busy machine, or the rates of a typical machine, can be far from the rates that calls
reach. So each call adds the rate that it reached to a file next to the stored rates, which keeps the last
few calls of each kernel. An estimate compares the rates that it would use with these, and multiplies them
by the median of the ratios.
"""

from __future__ import annotations

import math
import statistics
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from dask_graphflow.exceptions import OptionError
from dask_graphflow.graph.shard import Shard

from . import store
from .cost import Cost, is_sparse
from .curves import CURVES, SERIAL, Rates

__all__ = ["corrected", "forget", "learn"]

# Work of one thread is left out, because other programs slow it less than the work of all threads.
KERNELS = CURVES.keys() - SERIAL
SHORTEST = 0.02  # seconds: shorter calls vary too much
KEPT = 9  # calls of each kernel
ENOUGH = 3  # calls that correct a rate
DEAR = 20  # a call counts if it took at least this many times as long as a write
MOST = 16.0  # a rate is at most multiplied or divided by this
FAR = 2.0  # if rates are off by more than this, all of them are assumed to be off

Calls = dict[str, list[tuple[int, float]]]  # vertices and edges per second, by kernel

_called: WeakKeyDictionary[Shard, set[str]] = WeakKeyDictionary()
_writing: dict[Path, float] = {}  # seconds of the last write by folder; infinite if it failed


def learn(cost: Cost, name: str, shard: Shard, seconds: float, *, steps: int, threads: int) -> None:
    """Keep the rate that a call reached, unless it says little about the kernel.

    Some calls do not count:

    - the first call of an algorithm on a graph, which may compile kernels, and makes rows that later calls
      reuse;
    - short calls, and calls that spend most of the time on launching supersteps;
    - calls on hybrid graphs, and on graphs unlike the ones that rates are measured on: with few edges per
      vertex, or directed if the algorithm uses both directions.

    Parameters
    ----------
    cost : Cost
        Cost of the algorithm, which must be a reference. The options of the call must not skip any of its
        work.
    name : str
        Name of the algorithm.
    shard : Shard
        The whole graph.
    seconds : float
        Time that the member spent on the call.
    steps : int
        Number of supersteps that the call did.
    threads : int
        Number of host threads that the call used.
    """
    first = name not in (called := _called.setdefault(shard, set()))
    called.add(name)
    if first or seconds < SHORTEST or not shard.has("out"):
        return
    edges, vertices = len(shard.out.ends), shard.count
    # A search of a directed graph, and labels there, may follow each edge once or twice.
    unlike = cost.both_ways and shard.directed
    unlike |= is_sparse(vertices, edges / (1 if shard.directed else 2))
    if unlike or shard.host is not shard or shard.placed is not None:
        return
    if seconds < DEAR * _writing.get(folder := store.folder(), 0.0):
        _writing[folder] /= 2  # a network file system may be faster later
        return
    # With a rate of 1, the computing seconds are the number of edges that the kernel followed.
    work = cost.seconds([edges], [1.0], steps=steps)
    computing = seconds - work["launching"]
    if work["computing"] and computing > seconds / 2:
        _add(cost.kernel, vertices, work["computing"] / computing, shard.on_device, threads)


def corrected(
    rates: Rates, alone: Rates, device: bool, threads: int
) -> tuple[Rates, dict[str, int]]:
    """Return a worker's rates corrected by calls on this machine, and the number of calls by kernel.

    A kernel with too few calls keeps its rate, unless the other kernels show that all rates are far off, as
    on a busy machine.

    Parameters
    ----------
    rates : Rates
        The rates to correct.
    alone : Rates
        The rates of the worker while the other workers of the machine are idle. Calls are compared with
        these.
    device : bool
        Whether the worker uses a GPU.
    threads : int
        Number of host threads of the worker.
    """
    factors: dict[str, float] = {}
    counts: dict[str, int] = {}
    for kernel, calls in _read(device, threads).items():
        if getattr(alone, kernel) and len(calls) >= ENOUGH:
            reached = (rate / alone.rate(kernel, vertices) for vertices, rate in calls)
            factors[kernel] = min(max(statistics.median(reached), 1 / MOST), MOST)
            counts[kernel] = len(calls)
    typical = statistics.median(factors.values()) if factors else 1.0
    if not 1 / FAR <= typical <= FAR:
        total = sum(counts.values())
        factors = dict.fromkeys(KERNELS, typical) | factors
        counts = dict.fromkeys(KERNELS, total) | counts
    curves: dict[str, Any] = {
        kernel: tuple(factor * rate for rate in getattr(rates, kernel))
        for kernel, factor in factors.items()
    }
    return replace(rates, **curves), counts


def forget(device: bool, threads: int) -> None:
    """Delete the stored calls of a kind of worker on this machine."""
    with suppress(OSError):
        _path(device, threads).unlink()


def _path(device: bool, threads: int) -> Path:
    return store.folder() / store.file_name(device, threads, start="calls")


def _read(device: bool, threads: int) -> Calls:
    held = store.held(_path(device, threads), store.about(device, threads))
    try:
        found = {
            kernel: [(int(v), float(r)) for v, r in calls]
            for kernel, calls in held["calls"].items()
        }
    except (AttributeError, KeyError, TypeError, ValueError):
        return {}
    rates = [rate for calls in found.values() for _, rate in calls]
    return found if found.keys() <= KERNELS and all(0 < r < math.inf for r in rates) else {}


def _add(kernel: str, vertices: int, rate: float, device: bool, threads: int) -> None:
    path, began = _path(device, threads), time.perf_counter()
    try:
        calls = _read(device, threads)
        calls[kernel] = [*calls.get(kernel, []), (vertices, rate)][-KEPT:]
        held: dict[str, Any] = {"made": time.time(), "busy": False, "calls": calls}
        store.write(path, {**store.about(device, threads), **held})
        _writing[path.parent] = time.perf_counter() - began
    except OptionError:  # invalid configuration: an estimate reports it, a call ignores it
        return
    except OSError:
        _writing[path.parent] = math.inf
