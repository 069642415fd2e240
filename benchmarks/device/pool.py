"""Device memory: one RMM pool for cuDF, cuGraph and CuPy, and the peak memory of a run."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.errors import ContenderFailedError

from . import clock

FRACTION = 0.85  # of the free memory; kernels, cuGraph's handles and UCX need some outside the pool
ALIGNMENT = 256  # bytes, required by RMM


def start(cap: int | None = None) -> int:
    """Create the pool, let CuPy allocate from it, and return its size in bytes.

    Parameters
    ----------
    cap : int, optional
        Fixed size of the pool. By default, the pool starts with most of the free memory, and may grow.
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
    """Return the peak memory of a run in bytes, above the memory in use before it.

    The result of the run counts too. The run is not timed, because counting every allocation takes time.
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
    """Return the peak memory of each contender, and print which ones fail in this run."""
    found = {}
    for name, one in work.items():
        if name in failures:
            continue
        try:
            found[name] = peak(one)
        except ContenderFailedError as error:
            print(f"no peak of {name}: {error}", file=sys.stderr)
    return found
