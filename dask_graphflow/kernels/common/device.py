"""Device kernels: CUDA C++ over CuPy arrays.

`threads` only affects the host; the device uses all of its threads. Work is queued on CuPy's current
stream. Functions that return numbers, such as :func:`hook`, wait for it.
"""

from __future__ import annotations

import importlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from dask_graphflow.exceptions import VertexTypeError
from dask_graphflow.kernels.gpu import load_cupy
from dask_graphflow.kernels.sources import THREADS, instance

cupy = load_cupy()
from dask_graphflow.kernels.launching import (  # noqa: E402
    READ,
    blocks_for,
    launch,
    launch_blocks,
    launch_resident,
    read,
)

from .giant import find_giant, hook_outside, queue_hook, worth_it  # noqa: E402

namespace = cupy
SAMPLED = 8  # a sample has one edge per this number of vertices
LARGE = 1 << 24  # several threads copy an array of at least this many bytes to the host
FETCHING, PART = 4, 1 << 22  # number of these threads, and bytes of pinned memory for each
ROUNDS, RUN = 16, 512  # as in forest.cu: items that a lane and a warp read, e.g. for labels


def asarray(series):
    if isinstance(series, cupy.ndarray):
        return series
    if not isinstance(series.dtype, np.dtype):  # nullable integers of pandas or Arrow
        series = series.astype(series.dtype.numpy_dtype)
    return series.to_cupy()


def to_host(array):
    if array.nbytes < LARGE:
        small: np.ndarray = cupy.asnumpy(array)
        return small
    array = cupy.ascontiguousarray(array)
    copied = np.empty(array.shape, array.dtype)
    made = cupy.cuda.get_current_stream().record()

    def fetch(part: int) -> None:
        with array.device:
            stream = cupy.cuda.Stream(non_blocking=True)
            stream.wait_event(made)
            memory = cupy.cuda.alloc_pinned_memory(PART)
            room = PART // array.itemsize
            for start in range(part * room, array.size, FETCHING * room):
                piece = array.reshape(-1)[start : start + room]
                buffer = np.frombuffer(memory, array.dtype, len(piece))
                piece.get(stream=stream, out=buffer, blocking=True)
                copied.reshape(-1)[start : start + len(piece)] = buffer

    # Several threads, because each one waits longer for memory that was never used than for the copy.
    with ThreadPoolExecutor(FETCHING, "graphflow-fetching") as threads:
        list(threads.map(fetch, range(FETCHING)))
    return copied


def count_true(marks):
    # CuPy compiles its own function for 5 seconds, and launches two kernels.
    if not marks.size:
        return 0
    with marks.device:
        total = cupy.zeros(1, "uint64")
        marks = cupy.ascontiguousarray(marks)
        launch_resident("count_true", marks.size // ROUNDS, marks, marks.size, total)
        return int(read(total)[0])


def wait():
    cupy.cuda.get_current_stream().synchronize()


def _indices(source: Any, target: Any) -> tuple[Any, Any]:
    """Return ids in a form that the kernels support: contiguous, and both int32 or both int64."""
    if source.dtype != target.dtype:
        source, target = source.astype("int64"), target.astype("int64")
    if source.dtype == np.uint64:
        # Ids of 2**63 or more become negative, so they are outside of every forest.
        source, target = source.view("int64"), target.view("int64")
    elif source.dtype not in (np.int32, np.int64):
        source, target = source.astype("int64"), target.astype("int64")
    return cupy.ascontiguousarray(source), cupy.ascontiguousarray(target)


# A sample takes 256 consecutive edges out of every ``256 * step``, which are read at the same speed as all
# edges. If there are many edges, one bit per vertex is used to skip the edges inside the largest tree.
def hook(parent, seen, source, target, *, base=0, step=1, cache=None, threads=1):
    return _hook(parent, seen, source, target, base, [step], cache)


def hook_sampled(parent, seen, source, target, *, base=0, step, cache=None, threads=1):
    return _hook(parent, seen, source, target, base, [step, 1], cache)


def _hook(
    parent: Any,
    seen: Any,
    source: Any,
    target: Any,
    base: int,
    steps: list[int],
    cache: dict[str, Any] | None,
) -> tuple[int, tuple[int, int] | None]:
    """Hook the edges once for each of `steps`, flatten the trees in between, and wait for the report."""
    if not len(source):
        return 0, None
    cache = {} if cache is None else cache
    with parent.device:
        source, target = _indices(source, target)
        report = cupy.empty(3, "int64")
        # Cleared by a kernel, because a copy from the host would queue behind the copies of the link.
        launch("clear_report", 1, report)
        edges = parent, seen if len(seen) else None, source, target, base, report
        giant = None
        try:
            for turn, step in enumerate(steps):
                if turn:
                    compress(parent)
                if step == 1 and worth_it(parent, source, target, base):
                    if "giant" not in cache:
                        giant = find_giant(parent, source, target, base)
                    hook_outside(*edges, giant or cache["giant"])
                else:
                    queue_hook(*edges, step=step)
            hooked, low, high = read(report).tolist()
            if giant and giant.exists():
                cache["giant"] = giant
        except BaseException:
            # Some edges may have been listed but not hooked. Another attempt must not skip them.
            cache.clear()
            raise
    return hooked, (low, high) if low <= high else None


def absorb(parent, entries, *, first=0, shift=0, slots=None, threads=1):
    if not len(entries):
        return 0
    with parent.device:
        where = None if slots is None else cupy.ascontiguousarray(slots, parent.dtype)
        report = cupy.empty(3, "int64")
        launch("clear_report", 1, report)
        kernel = instance("absorb", parent.dtype, entries.dtype)
        own = cupy.ascontiguousarray(entries), len(entries), np.uint64(first), np.int64(shift)
        launch(kernel, len(entries), parent, len(parent), *own, where, report)
        return int(read(report)[0])


def compress(parent, *, start=0, stop=None, threads=1):
    stop = len(parent) if stop is None else stop
    if start >= stop:
        return
    with parent.device:
        launch(instance("compress", parent.dtype), stop - start, parent, start, stop)


def mark_members(parent, seen, *, threads=1):
    if not len(parent):
        return
    with parent.device:
        launch(instance("mark_members", parent.dtype), len(parent), parent, seen, len(parent))


def labels(parent, seen, start, stop, *, base, dtype):
    native = dtype if dtype in (np.int32, np.int64) else np.dtype("int64")
    with parent.device:
        size = stop - start
        runs = -(-size // RUN)
        ends = cupy.empty(runs, "int64")
        if size:
            launch("count_seen", -(-size // ROUNDS), seen[start:stop], size, ends)
            cupy.cumsum(ends, out=ends)
        count = int(read(ends[-1:])[0]) if size else 0
        vertices, roots = cupy.empty(count, native), cupy.empty(count, native)
        if count:
            kernel, into = instance("write_labels", parent.dtype, native), (ends, vertices, roots)
            own = parent, seen, start, size, np.int64(base)
            launch(kernel, -(-size // ROUNDS), *own, *into)
        if native != dtype:
            vertices, roots = vertices.astype(dtype), roots.astype(dtype)
    return vertices, roots


def bounds(source, target, *, step=1):
    with source.device:
        source, target = source[::step], target[::step]
        if source.dtype != target.dtype or source.dtype not in (np.int32, np.int64):
            source, target = _indices(source, target)
        blocks = min(blocks_for(-(-len(source) // ROUNDS)), READ // 16)
        extremes = cupy.empty((blocks, 2), "int64")
        strides = (side.strides[0] // side.itemsize for side in (source, target))
        ends = [*zip((source, target), strides, strict=True)]
        kernel, count = instance("bounds", source.dtype), len(source)
        launch_blocks(kernel, blocks, THREADS, 0, *ends[0], *ends[1], count, extremes)
        lows, highs = read(extremes).T
    return int(lows.min()), int(highs.max())


def identity(size, dtype):
    parent = cupy.empty(size, dtype)
    if size:
        launch(instance("identity", parent.dtype), size, parent, size)
    return parent


def from_pandas(frame):
    # Imported here, because cuDF is only needed to copy frames to a GPU.
    cudf = importlib.import_module("cudf")
    try:
        return cudf.from_pandas(frame.reset_index(drop=True))
    except (TypeError, ValueError, NotImplementedError) as error:
        kinds = ", ".join(sorted({str(dtype) for dtype in frame.dtypes}))
        raise VertexTypeError(
            f"cuDF takes no ids of dtype {kinds} ({error}). Keep the ids in host memory, by leaving out "
            "device= or backend=, or convert the columns, for example with astype('str')"
        ) from error


def to_pandas(frame):
    return frame.to_pandas()
