"""Launching CUDA kernels: they are compiled on first use, and run on CuPy's current stream."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import cupy
import numpy as np

from .sources import GANG, KERNELS, OPTIONS, THREADS, source

NULL = np.uint64(0)  # a null pointer, which CuPy has no word for

READ = 1 << 16  # most bytes that :func:`read` returns
BLOCKS = 32  # per multiprocessor: several times as many as fit at once, so that none is left idle
RESIDENT = 8  # blocks per multiprocessor, about as many as fit at once
_FILES = {name: file for file, names in KERNELS.items() for name in names}


@cache
def _attribute(name: str, device: int) -> int:
    return int(cupy.cuda.Device(device).attributes[name])


def attribute(name: str) -> int:
    """Return a CUDA attribute of the current device."""
    return _attribute(name, cupy.cuda.runtime.getDevice())


@cache
def _module(name: str) -> Any:
    # A file has one kernel for each combination of types, of which a process uses few, so each is compiled
    # by itself. CuPy loads the module on each device that uses it, and caches the compiled code on disk.
    return cupy.RawModule(code=source(_FILES[name]), options=OPTIONS, name_expressions=(name,))


@cache
def _kernel(name: str, device: int, shares: bool = False) -> Any:
    kernel = _module(name).get_function(name)
    if shares:
        # Allow all of the shared memory. The limit belongs to the function, so a smaller limit would make
        # larger launches fail.
        most = _attribute("MaxSharedMemoryPerBlockOptin", device)
        kernel.max_dynamic_shared_size_bytes = most - kernel.shared_size_bytes
    return kernel


def launch(kernel: Any, items: int, *arguments: Any) -> None:
    """Run a kernel on the current device, with up to one thread per item.

    None stands for a null pointer. Python's numbers have 64 bits in a kernel; others are given as NumPy's.
    """
    launch_blocks(kernel, blocks_for(items), THREADS, 0, *arguments)


def launch_resident(kernel: Any, items: int, *arguments: Any) -> None:
    """Run a kernel in few blocks, because each adds to the same totals at its end."""
    launch_blocks(kernel, resident_blocks(items), THREADS, 0, *arguments)


def resident_blocks(items: int) -> int:
    """Return the number of blocks to launch if each of them adds to the same totals at its end."""
    return max(1, min(-(-items // THREADS), RESIDENT * attribute("MultiProcessorCount")))


def blocks_for(items: int) -> int:
    """Return the number of blocks of THREADS threads to launch for `items` items."""
    return max(1, min(-(-items // THREADS), BLOCKS * attribute("MultiProcessorCount")))


def launch_blocks(kernel: Any, blocks: int, threads: int, shared: int, *arguments: Any) -> None:
    """Run a kernel in `blocks` blocks of `threads` threads, each with `shared` bytes of shared memory.

    The kernel is given by its name, or as a function of CuPy.
    """
    function = _function(kernel, shared)
    function((blocks,), (threads,), _values(arguments), shared_mem=shared)


def _function(kernel: Any, shared: int) -> Any:
    if isinstance(kernel, str):
        return _kernel(kernel, cupy.cuda.runtime.getDevice(), shares=shared > 0)
    return kernel


def _values(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(NULL if one is None else one for one in arguments)


def launch_gang(kernel: Any, *arguments: Any, blocks: int | None = None, shared: int = 0) -> None:
    """Run a kernel whose blocks wait for each other, and therefore all run at the same time.

    See :func:`launch_blocks`. By default, there is one block per multiprocessor; :func:`gang_blocks` says
    how many fit.
    """
    blocks = attribute("MultiProcessorCount") if blocks is None else blocks
    # A cooperative launch fails if the blocks do not all fit at once, instead of waiting forever.
    function, values = _function(kernel, shared).kernel, _values(arguments)
    function((blocks,), (GANG,), values, shared_mem=shared, enable_cooperative_groups=True)


def gang_blocks(name: str, shared: int = 0) -> int:
    """Return the largest number of blocks of a kernel that can run at the same time on this device."""
    return _gang_blocks(name, cupy.cuda.runtime.getDevice(), shared)


@cache
def _gang_blocks(name: str, device: int, shared: int) -> int:
    function = _kernel(name, device, shares=shared > 0).kernel.ptr
    each = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(function, GANG, shared)
    return int(each) * _attribute("MultiProcessorCount", device)


_threads = threading.local()  # pinned memory of each thread, into which the device copies numbers


def struct_of(members: str) -> np.dtype[Any]:
    """Return a struct of CUDA C++ whose members all have 8 bytes: pointers, and numbers of at least 0."""
    return np.dtype([(member, "u8") for member in members.split()])


def read(array: Any) -> np.ndarray:
    """Wait for a few numbers that kernels compute, and return a copy of them in host memory.

    A copy to pinned memory takes one transfer; one to other memory takes two.
    """
    if not hasattr(_threads, "pinned"):
        _threads.pinned = np.frombuffer(cupy.cuda.alloc_pinned_memory(READ), "uint8", READ)
    here = _threads.pinned[: array.nbytes].view(array.dtype).reshape(array.shape)
    array.get(out=here)
    numbers: np.ndarray = here.copy()
    return numbers
