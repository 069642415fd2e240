"""Edges that lie in host memory, on their way to a forest on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import require_gpu

from .link import Copies, Link

__all__ = ["CHUNK", "Device", "device", "new_link", "sent", "slices"]

# Edges of a buffer: 1.2 ms on the bus as int32, several times what a hook's calls take.
CHUNK = 1 << 23
SMALLEST_CHUNK = 1 << 16  # however few edges there seem to be
BUFFERS = 3  # copying and hooking overlap in two; the third evens out how long chunks take
# At least, for a worker for a GPU often has one thread, and one cannot fill the bus; and at most, for
# more threads wait for Python's lock longer than they copy.
STAGING_THREADS = 4, 6


class Device(NamedTuple):
    """What works where the forest lies."""

    kernels: ModuleType
    copies: Callable[[], Copies]


def device() -> Device:
    """Return what works on the GPU of this process.

    Raises
    ------
    BackendError
        It has none.
    """
    require_gpu()
    from dask_graphflow.kernels import device as kernels
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
    """Return a link that brings edges to the device.

    Parameters
    ----------
    like : sequence of array
        Edges of the kind that it is to bring: sources, targets, and levels where there are some.
    bounds : tuple of int
        The smallest and the largest id, as far as is known.
    chunk_size : int or None
        Edges of a buffer, if that was asked for.
    total : int
        Edges of the whole graph, as far as is known.
    threads : int
        Host threads that there are to use.
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


def sent(
    link: Link, source: Any, target: Any, level: Any, bounds: tuple[int, int]
) -> Generator[tuple[Any, Any, Any], None, None]:
    """Yield edges on the device chunk by chunk: sources, targets, and levels or None.

    Ids are sent as int32 where `bounds` says that all seem to fit: half as many bytes.
    """
    arrays = [source, target] if level is None else [source, target, level]
    # Closed also where the reader breaks off, so that the next one gets its turn.
    with closing(link.stream(*arrays, dtype="int32" if _fit(bounds) else None)) as chunks:
        for ends in chunks:
            yield ends if level is not None else (*ends, None)


def _fit(bounds: tuple[int, int]) -> bool:
    """Say whether ids within bounds can be sent as int32."""
    limits = np.iinfo("int32")
    return bool(limits.min <= bounds[0] and bounds[1] <= limits.max)


def slices(count: int, chunk_size: int | None) -> Iterator[slice]:
    """Yield the rows of each chunk of a frame that is copied to the device as a frame."""
    size = chunk_size or CHUNK
    for start in range(0, count, size):
        yield slice(start, start + size)
