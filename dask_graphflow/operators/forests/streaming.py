"""Streaming of edges from host memory to a forest on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import require_gpu
from dask_graphflow.kernels.common import CommonKernels
from dask_graphflow.kernels.link import Link

# Edges per buffer. As int32 they take 1.2 ms on the bus, several times as long as the calls of a hook.
CHUNK = 1 << 23
SMALLEST_CHUNK = 1 << 16  # lower limit if there seem to be few edges
BUFFERS = 3  # with two, copying and hooking overlap; the third evens out differences between chunks
# Least and most threads. A worker for a GPU often has one thread, and one thread cannot fill the bus. More
# threads than the maximum would wait for Python's lock longer than they copy.
STAGING_THREADS = 4, 6


class Device(NamedTuple):
    """The kernels and copies of the device that stores the forest."""

    kernels: CommonKernels
    copies: Callable[[], Any]


def device() -> Device:
    """Return the kernels and copies for the GPU of this process.

    Raises
    ------
    BackendError
        The process has no GPU.
    """
    require_gpu()
    from dask_graphflow.kernels.common import device as kernels
    from dask_graphflow.kernels.device_copies import Copies as DeviceCopies

    return Device(kernels, DeviceCopies)


def new_link(
    *,
    like: Sequence[Any],
    bounds: tuple[int, int],
    chunk_size: int | None,
    total: int,
    threads: int,
) -> Link:
    """Return a link that copies edges to the device, by 4 to 6 of the threads.

    `like` has arrays with the dtypes that the link will copy: sources, targets, and levels if there are
    any. `bounds` are the smallest and the largest id, and `total` the number of edges of the whole graph,
    as far as is known. `chunk_size` is the number of edges per buffer, if the user chose one.
    """
    chunk = chunk_size or min(CHUNK, max(total, SMALLEST_CHUNK))
    most = 4 if _fit(bounds) else 8
    return Link(
        device().copies(),
        chunk=chunk,
        buffers=BUFFERS,
        edge_bytes=sum(min(array.dtype.itemsize, most) for array in like),
        threads=min(max(threads, STAGING_THREADS[0]), STAGING_THREADS[1]),
    )


def send_edges(
    link: Link, source: Any, target: Any, level: Any, bounds: tuple[int, int]
) -> Generator[tuple[Any, Any, Any], None, None]:
    """Yield edges on the device chunk by chunk: sources, targets, and levels or None.

    If `bounds` suggests that all ids fit int32, they are sent as int32, which halves the bytes of int64.
    """
    arrays = [source, target] if level is None else [source, target, level]
    # Close the stream even if the reader stops early, so that the next reader gets its turn.
    with closing(link.stream(*arrays, dtype="int32" if _fit(bounds) else None)) as chunks:
        for ends in chunks:
            yield ends if level is not None else (*ends, None)


def _fit(bounds: tuple[int, int]) -> bool:
    """Return whether ids within bounds can be sent as int32."""
    limits = np.iinfo("int32")
    return bool(limits.min <= bounds[0] and bounds[1] <= limits.max)


def slices(count: int, chunk_size: int | None) -> Iterator[slice]:
    """Yield the row slice of each chunk of a frame. The chunks are copied to the device as frames."""
    size = chunk_size or CHUNK
    for start in range(0, count, size):
        yield slice(start, start + size)
