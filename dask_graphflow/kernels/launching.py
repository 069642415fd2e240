"""Launching: CUDA kernels are compiled when first asked for, and run on CuPy's current stream."""

from __future__ import annotations

from functools import cache
from typing import Any

import cupy
import numpy as np

from .sources import GANG, KERNELS, OPTIONS, THREADS, source

__all__ = ["NULL", "attribute", "blocks_for", "launch", "launch_blocks", "launch_gang"]

NULL = np.uint64(0)  # a pointer to nothing

BLOCKS = 32  # for each multiprocessor: several times what fits at once, so that none is left idle
_FILES = {name: file for file, names in KERNELS.items() for name in names}


@cache
def _attribute(name: str, device: int) -> int:
    return int(cupy.cuda.Device(device).attributes[name])


def attribute(name: str) -> int:
    """Return what CUDA says of the current device."""
    return _attribute(name, cupy.cuda.runtime.getDevice())


@cache
def _module(file: str) -> Any:
    # CuPy loads it on each device that asks, and keeps what was compiled on disk.
    return cupy.RawModule(code=source(file), options=OPTIONS, name_expressions=KERNELS[file])


@cache
def _kernel(name: str, device: int, shares: bool = False) -> Any:
    kernel = _module(_FILES[name]).get_function(name)
    if shares:
        # All there is: the limit belongs to the function, and a smaller one would stop larger launches.
        most = _attribute("MaxSharedMemoryPerBlockOptin", device)
        kernel.max_dynamic_shared_size_bytes = most - kernel.shared_size_bytes
    return kernel


def launch(name: str, items: int, *arguments: Any) -> None:
    """Run a kernel on the current device, with at most a thread an item."""
    launch_blocks(name, blocks_for(items), THREADS, 0, *arguments)


def blocks_for(items: int) -> int:
    """Return how many blocks of THREADS suit so many items."""
    return max(1, min(-(-items // THREADS), BLOCKS * attribute("MultiProcessorCount")))


def launch_blocks(name: str, blocks: int, threads: int, shared: int, *arguments: Any) -> None:
    """Run a kernel in so many blocks of threads, each with `shared` bytes of shared memory."""
    device = cupy.cuda.runtime.getDevice()
    kernel = _kernel(name, device, shares=shared > 0)
    kernel((blocks,), (threads,), arguments, shared_mem=shared)


def launch_gang(name: str, *arguments: Any) -> None:
    """Run a kernel whose blocks wait for each other: one a multiprocessor, all of them at once."""
    device = cupy.cuda.runtime.getDevice()
    blocks = attribute("MultiProcessorCount")
    # So launched that it fails rather than waits for ever where they do not all fit.
    run = _kernel(name, device).kernel
    run((blocks,), (GANG,), arguments, enable_cooperative_groups=True)
