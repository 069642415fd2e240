"""The memory that is available, and the errors that say that it is not enough."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

from dask_graphflow.exceptions import GraphMemoryError

from .common import CommonKernels

PROCESS = 300_000_000  # bytes of a process with its modules imported and the kernels compiled
CHECKED = 1 << 28  # bytes from which on :func:`check_room` looks for room
MOST = 1 << 62  # bytes of an array
_DEVICE = (
    "What helps: a larger RMM pool (rmm_pool_size= of dask-cuda) or none; edges that are read "
    "rather than persisted on the GPU, or smaller partitions; spilling (enable_cudf_spill=True); "
    "a GPU with more memory; or the host, by edges.to_backend('pandas')"
)
_HOST = (
    "What helps: edges that are read rather than persisted, or smaller partitions; a higher memory "
    "limit, if one is set; or a machine with more memory"
)


def no_room(kernels: CommonKernels, *, vertices: int, needed: int, held: int) -> GraphMemoryError:
    """Return the error for a forest that could not be allocated.

    Parameters
    ----------
    kernels : CommonKernels
        Those of the host or the device, where the forest was to be allocated.
    vertices : int
        Number of vertices of the forest.
    needed : int
        Size of the forest in bytes.
    held : int
        Size in bytes of the forest that it was to replace. Both are in memory while the new one is filled.
    """
    on_device = kernels.namespace.__name__ == "cupy"
    available, there = _on_device(kernels.namespace) if on_device else _on_host()
    beside = f" in addition to the {_bytes(held)} of the one it replaces" if held else ""
    return GraphMemoryError(
        f"a forest of {vertices:,} vertices needs {_bytes(needed)}{beside}, and there is {there}. "
        "It has one entry per vertex. If ids are integers without large gaps, each integer from the "
        "smallest to the largest id has an entry, used or not. More workers or GPUs do not help, "
        "because each of them holds a whole forest. Ids without gaps need less, and so do fewer "
        f"thresholds, because each of them has its own forest. {_DEVICE if on_device else _HOST}",
        needed=needed,
        available=available,
    )


def no_room_for_rows(kernels: CommonKernels, needed: int | None) -> GraphMemoryError:
    """Return the error for rows and columns of a shard that do not fit on the device."""
    available, there = _on_device(kernels.namespace)
    more = "more room" if needed is None else f"{_bytes(needed)} more"
    return GraphMemoryError(
        f"a shard of a graph needs {more} on a GPU, and there is {there}. What helps: a "
        "smaller share for workers with a GPU (hybrid=Hybrid(shares={'gpu': ..., 'cpu': ...})), or 'auto', "
        "which leaves room; or more GPUs",
        needed=needed or 0,
        available=available,
    )


def check_room(
    kernels: CommonKernels, nbytes: float, contents: str, advice: str, limit: float = math.inf
) -> None:
    """Raise if the host or the device has no room for arrays that are about to be filled.

    Linux grants more memory than the machine has, and ends a process that then fills it.

    Parameters
    ----------
    kernels : CommonKernels
        Those of the host or the device.
    nbytes : float
        Bytes that are needed. Small numbers are not checked, because the check takes time.
    contents, advice : str
        What needs the bytes, and what to do if they are missing. Both are part of the message.
    limit : float
        Bytes that the process may use, if that is less than what the machine has.
    """
    if nbytes < CHECKED:
        return
    on_device = kernels.namespace.__name__ == "cupy"
    available, there = _on_device(kernels.namespace) if on_device else _on_host()
    if limit < (MOST if available is None else available):
        available, there = int(limit), f"a limit of {_bytes(int(limit))}"
    if nbytes > (MOST if available is None else available):
        raise GraphMemoryError(
            f"{contents} needs {_bytes(int(nbytes))}, and there is {there}. {advice}",
            needed=int(nbytes),
            available=available,
        )


def free_bytes(kernels: CommonKernels) -> int | None:
    """Return the bytes available for arrays on the host or the device; None if this is not known."""
    on_device = kernels.namespace.__name__ == "cupy"
    return (_on_device(kernels.namespace) if on_device else _on_host())[0]


def _on_device(cupy: Any) -> tuple[int, str]:
    """Return the bytes available to CuPy's allocator on the current device, and a text that says so."""
    free, total = cupy.cuda.runtime.memGetInfo()
    of_gpu = f"of the GPU's {_bytes(total)}"
    rmm = sys.modules.get("rmm")
    # cuDF makes CuPy allocate through RMM.
    if rmm is not None and _module_of(cupy.cuda.get_allocator()) == "rmm":
        pool, used = _rmm_pool(rmm.mr.get_current_device_resource())
        if pool is not None:
            # The pool would have grown if that were allowed and enough memory were free outside of it.
            outside = f"which cannot grow enough; {_bytes(free)} {of_gpu} are free outside"
            if used is None:
                return pool, (
                    f"RMM's pool of {_bytes(pool)}, less what other data takes in it, {outside}"
                )
            return pool - used, f"{_bytes(pool - used)} in RMM's pool of {_bytes(pool)}, {outside}"
        return free, f"{_bytes(free)} {of_gpu} free"
    own = cupy.get_default_memory_pool()
    free += own.free_bytes()
    limit = own.get_limit()
    if limit and limit - own.used_bytes() < free:
        free = max(limit - own.used_bytes(), 0)
        return free, f"{_bytes(free)} left of CuPy's limit of {_bytes(limit)}"
    return free, f"{_bytes(free)} {of_gpu} free"


def _module_of(function: Any) -> str:
    return str(getattr(function, "__module__", "")).partition(".")[0]


def _rmm_pool(resource: Any) -> tuple[int | None, int | None]:
    """Return the size of the pool behind an RMM resource, and how many of its bytes are in use.

    Either is None if no resource reports it. A pool only knows its size. The bytes in use are only counted
    by an adaptor that the user puts around the pool.
    """
    used = None
    while resource is not None:
        if hasattr(resource, "allocation_counts"):
            used = int(resource.allocation_counts.current_bytes)
        elif hasattr(resource, "get_allocated_bytes"):
            used = int(resource.get_allocated_bytes())
        if hasattr(resource, "pool_size"):
            return int(resource.pool_size()), used
        resource = resource.get_upstream() if hasattr(resource, "get_upstream") else None
    return None, used


def _on_host() -> tuple[int | None, str]:
    """Return the bytes available in host memory, and a text that says so."""
    room = [free for free in (_available(), _below_limit()) if free is not None]
    if not room:
        return None, "less than that"
    return min(room), _bytes(min(room))


@cache
def machine_bytes() -> int:
    """Return the bytes of memory of this machine, or of this process's control group if that has fewer."""
    least = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in ("memory.max", "memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):  # there is no limit, or it is "max"
            least = min(least, int(Path("/sys/fs/cgroup", limit).read_text(encoding="ascii")))
    return least


def _available() -> int | None:
    """Return the bytes that programs can allocate without swapping, according to Linux."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    fields = dict(line.split(":", 1) for line in lines)
    return int(fields["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in fields else None


def _below_limit() -> int | None:
    """Return the bytes of address space that this process may still use, if this is limited."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return max(limit - pages * resource.getpagesize(), 0)
    except (ImportError, OSError):
        return None


def _bytes(count: int) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20)):
        if count >= size:
            return f"{count:,} bytes ({count / size:.1f} {unit})"
    return f"{count:,} bytes"
