"""Device memory: one RMM pool for cuDF, cuGraph and CuPy alike, and the peak of a run."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.errors import ContenderFailedError

from . import clock

FRACTION = 0.85  # of the free memory: kernels, cuGraph's handles and UCX want some beside it
ALIGNMENT = 256  # RMM's


def start(cap: int | None = None) -> int:
    """Make the pool, and let CuPy have its memory from there; return its size in bytes.

    Parameters
    ----------
    cap : int, optional
        The pool's size, never to be passed; by default most of the free memory, and it may grow.
    """
    import cupy
    import rmm
    from rmm.allocators.cupy import rmm_cupy_allocator

    free, _ = cupy.cuda.runtime.memGetInfo()
    size = (int(free * FRACTION) if cap is None else cap) // ALIGNMENT * ALIGNMENT
    rmm.reinitialize(
        pool_allocator=True,
        initial_pool_size=size,
        maximum_pool_size=None if cap is None else size,
    )
    cupy.cuda.set_allocator(rmm_cupy_allocator)
    return size


def peak(work: Callable[[], Any]) -> int:
    """Return the most bytes that a run has at once, above what is there when it begins.

    Its result counts. The run is not timed: counting every allocation takes time.
    """
    import rmm.statistics

    gc.collect()
    with rmm.statistics.statistics():
        work()
        clock.wait()
        counted = rmm.statistics.get_statistics()
    gc.collect()
    return int(counted.peak_bytes)


def peaks(work: Mapping[str, Callable[[], Any]], failures: Mapping[str, str]) -> dict[str, int]:
    """Return each contender's peak, and tell which cannot do this time what it did before."""
    found = {}
    for name, one in work.items():
        if name in failures:
            continue
        try:
            found[name] = peak(one)
        except ContenderFailedError as error:
            print(f"no peak of {name}: {error}", file=sys.stderr)
    return found
