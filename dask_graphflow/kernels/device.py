"""Device kernels: CUDA C++ over CuPy arrays.

Every function here has a twin of the same name and meaning in :mod:`.host`, where each is
described. `threads` is the host's; the device uses all it has. Work is queued on CuPy's current
stream, and only :func:`hook` waits for it, to report.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from dask_graphflow.exceptions import BackendError

from .sources import KERNELS, OPTIONS, THREADS, instance, source

_INSTALL = 'pip install "dask-graphflow[cuda13]" (or [cuda12], as nvidia-smi says)'

try:
    import cupy
except ImportError as error:
    raise BackendError(
        f"data on a GPU takes CuPy, which cannot be imported here ({error}); {_INSTALL}"
    ) from error
try:
    cupy.cuda.runtime.getDeviceCount()
except cupy.cuda.runtime.CUDARuntimeError as error:
    raise BackendError(
        f"CuPy {cupy.__version__} is here, but no GPU that it can use ({error}); run nvidia-smi to "
        f"see the GPUs and the CUDA version that the driver supports, then {_INSTALL}"
    ) from error

namespace = cupy
NULL = np.uint64(0)  # a pointer to nothing
BLOCKS = 32  # for each multiprocessor: several times what fits at once, so that none is left idle


def asarray(series: Any) -> Any:
    """Return the values of a cuDF Series or a CuPy array, without a copy where that can be."""
    if isinstance(series, cupy.ndarray):
        return series
    if not isinstance(series.dtype, np.dtype):  # integers of pandas' or Arrow's that may be null
        series = series.astype(series.dtype.numpy_dtype)
    return series.to_cupy()


def to_host(array: Any) -> np.ndarray:
    """Return `array` in host memory."""
    copied: np.ndarray = cupy.asnumpy(array)
    return copied


@cache
def _attribute(name: str, device: int) -> int:
    return int(cupy.cuda.Device(device).attributes[name])


@cache
def _module(name: str) -> Any:
    # CuPy loads it on each device that asks, and keeps what was compiled on disk.
    return cupy.RawModule(code=source(name), options=OPTIONS, name_expressions=KERNELS[name])


@cache
def _kernel(name: str, device: int) -> Any:
    return _module("forest.cu").get_function(name)


def _launch(name: str, items: int, *arguments: Any) -> None:
    """Run a kernel on the current device, with at most a thread an item."""
    device = cupy.cuda.runtime.getDevice()
    blocks = min(-(-items // THREADS), BLOCKS * _attribute("MultiProcessorCount", device))
    _kernel(name, device)((blocks,), (THREADS,), arguments)


def _indices(source: Any, target: Any) -> tuple[Any, Any]:
    """Return ids in a form that there are kernels for: contiguous, both int32 or both int64."""
    if source.dtype != target.dtype:
        source, target = source.astype("int64"), target.astype("int64")
    if source.dtype == np.uint64:
        # Ids past 2**63 turn negative: outside every forest.
        source, target = source.view("int64"), target.view("int64")
    elif source.dtype not in (np.int32, np.int64):
        source, target = source.astype("int64"), target.astype("int64")
    return cupy.ascontiguousarray(source), cupy.ascontiguousarray(target)


def hook(
    parent: Any,
    seen: Any,
    source: Any,
    target: Any,
    *,
    base: int = 0,
    step: int = 1,
    threads: int = 1,
) -> tuple[int, tuple[int, int] | None]:
    """Join the trees of the two ends of edges; see :func:`.host.hook`.

    A sample takes 256 neighbouring edges of every ``256 * step``, which are read as fast as all
    edges are; the host takes every `step`-th. A full pass over a forest larger than the cache
    first notes the vertices of the largest tree in a bitmap, and skips edges between them by it.
    """
    if not len(source):
        return 0, None
    limits = np.iinfo(np.int64)
    with parent.device:
        source, target = _indices(source, target)
        report = cupy.array([0, limits.max, limits.min], dtype="int64")
        giant = members = NULL
        if step == 1 and _needs_bitmap(parent, source):
            giant, members = _mark_giant(parent, source, base)
        _launch(
            instance("hook", parent.dtype, source.dtype),
            max(len(source) // step, 1),
            parent,
            seen if len(seen) else NULL,
            np.uint64(len(parent)),
            source,
            target,
            np.uint64(len(source)),
            np.int64(base),
            np.uint64(step),
            giant,
            members,
            report,
        )
        hooked, low, high = report.get().tolist()
    return hooked, (low, high) if low <= high else None


def _needs_bitmap(parent: Any, source: Any) -> bool:
    """Say whether a pass is long, and its reads of parents would mostly miss the L2 cache."""
    cached = _attribute("L2CacheSize", parent.device.id)
    return len(source) >= len(parent) and bool(parent.nbytes > cached // 2)


def _mark_giant(parent: Any, source: Any, base: int) -> tuple[Any, Any]:
    """Return the root of the tree that most edges lie in, or -1, and its vertices as a bitmap."""
    giant = cupy.empty(1, parent.dtype)
    members = cupy.empty(-(-len(parent) // 32), "uint32")
    size = np.uint64(len(parent))
    _launch(
        instance("choose_giant", parent.dtype, source.dtype),
        1,  # one block
        parent,
        size,
        source,
        np.uint64(len(source)),
        np.int64(base),
        giant,
    )
    _launch(instance("mark_giant", parent.dtype), len(parent), parent, size, giant, members)
    return giant, members


def hook_plain(
    parent: Any, source: Any, target: Any, *, base: int = 0, fresh: bool, threads: int = 1
) -> None:
    """Take a head start without atomics, which may lose edges; see :func:`.host.hook_plain`."""
    if not len(source):
        return
    with parent.device:
        source, target = _indices(source, target)
        _launch(
            instance("hook_plain", parent.dtype, source.dtype),
            len(source),
            parent,
            np.uint64(len(parent)),
            source,
            target,
            np.uint64(len(source)),
            np.int64(base),
            np.bool_(fresh),
        )


def compress(parent: Any, *, start: int = 0, stop: int | None = None, threads: int = 1) -> None:
    """Point every vertex from `start` to before `stop` at its root (multiple pointer jumping)."""
    stop = len(parent) if stop is None else stop
    if start >= stop:
        return
    with parent.device:
        _launch(
            instance("compress", parent.dtype),
            stop - start,
            parent,
            np.uint64(start),
            np.uint64(stop),
        )


def mark_members(parent: Any, seen: Any, *, threads: int = 1) -> None:
    """Set ``seen`` to 1 for every vertex that some hooked edge touched; `parent` is flat."""
    if not len(parent):
        return
    with parent.device:
        _launch(
            instance("mark_members", parent.dtype),
            len(parent),
            parent,
            seen,
            np.uint64(len(parent)),
        )


def identity(size: int, dtype: Any) -> Any:
    """Return a forest of `size` roots."""
    return cupy.arange(size, dtype=dtype)
