"""Kernels: each has a version for the host and one for the device, with the same name and meaning.

`threads` is the number of threads that a kernel uses on the host. A device always uses all of its threads.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphflow.exceptions import GraphMemoryError

from . import disk
from .binding import bind, on_device
from .common import CommonKernels
from .gpu import require_gpu
from .memory import check_room, free_bytes, no_room, no_room_for_rows

__all__ = [
    "aligned",
    "all_true",
    "allocate_like",
    "as_stored",
    "check_room",
    "count_true",
    "device_link",
    "device_memory",
    "device_room",
    "disk",
    "each_array",
    "empty_on",
    "index_dtype",
    "is_on_disk",
    "joined",
    "kernels_for",
    "lift",
    "move_to",
    "no_room",
    "no_room_on_device",
    "on_device",
    "require_gpu",
    "sorted_unique",
    "summable",
]

EDGES = {"ends", "weights"}  # the fields of Rows with one entry per edge
LIFTED = 1 << 22  # entries of an array on disk that are copied to a device at a time


def index_dtype(count: int) -> str:
    """Return the narrowest index dtype of the kernels that can hold the indices of `count` items."""
    return "int32" if count <= 2**31 else "int64"


def sorted_unique(values: Any) -> Any:
    """Return the distinct values of an array of integers, in ascending order.

    On the host, ``numpy.unique`` takes 20 times as long since version 2.3, because it uses a hash table.
    """
    if on_device(values):
        return kernels_for(values).namespace.unique(values)
    ordered = np.sort(values)
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def count_true(marks: Any) -> int:
    """Return how many entries of an array of bool are true."""
    assert marks.dtype == bool, marks.dtype  # the kernel would read other numbers byte by byte
    counted: int = kernels_for(marks).count_true(marks)
    return counted


def all_true(marks: Any) -> bool:
    """Return whether all entries of an array of bool are true."""
    return count_true(marks) == len(marks)


def summable(weights: Any) -> Any:
    """Return weights as a type in which several of them can be added up.

    Integers become int64, whose sums the kernels check, and floats become float64. Weights that already
    have one of these types are returned as they are.
    """
    wide = {"i": "int64", "f": "float64"}[weights.dtype.kind]
    return weights.astype(wide, copy=False)


def allocate_like(array: Any, shape: Any, dtype: Any) -> Any:
    """Return a new array where another one is: in the memory of the host or a device, or on disk."""
    if on_device(array):
        return np.empty_like(array, dtype, shape=shape)
    return disk.beside(array, shape, dtype)


def as_stored(like: Any, array: Any) -> Any:
    """Return an array, moved to disk if `like` is there."""
    folder = disk.folder_of(like)
    there = folder is None or disk.folder_of(array) is not None
    return array if there else disk.stored(array, folder)


def is_on_disk(array: Any) -> bool:
    """Return whether an array is in a file (:mod:`.disk`)."""
    return disk.folder_of(array) is not None


def empty_on(device: bool) -> Any:
    """Return an empty array on the host or on the current device."""
    if not device:
        return np.empty(0)
    from .common import device as kernels

    return kernels.namespace.empty(0)


kernels_for: Callable[[Any], CommonKernels] = bind("dask_graphflow.kernels.common")
"""Return the common kernels for the host or device that stores some data (a frame, series or array)."""


def device_room() -> int:
    """Return the number of bytes available for arrays on the current device."""
    from .common import device

    return free_bytes(device) or 0


def device_memory() -> int:
    """Return the total memory of the current device in bytes, free or not."""
    from .common import device

    return int(device.namespace.cuda.runtime.memGetInfo()[1])


def no_room_on_device(needed: int | None = None) -> GraphMemoryError:
    """Return the error for a shard that does not fit on the current device.

    Parameters
    ----------
    needed : int, optional
        The number of bytes that could not be allocated, if known.
    """
    from .common import device

    return no_room_for_rows(device, needed)


def device_link() -> float:
    """Return the speed of copies from pinned memory to the current device, in bytes per second.

    The result is 0 if there is too little memory to measure it.
    """
    from . import device_copies

    try:
        return device_copies.speed()
    except MemoryError:
        return 0.0


def values_of(series: Any) -> np.ndarray:
    """Return a pandas Series as an array, which is not a copy and may not be :func:`.aligned`."""
    dtype = getattr(series.dtype, "numpy_dtype", None)  # of nullable numbers, and of Arrow's
    if dtype is None or dtype.kind not in "biuf" or series.hasnans:
        dtype = None
    # Without this dtype, a pandas before version 2.2 returns Python objects.
    values: np.ndarray = series.to_numpy(dtype)
    return values


def aligned(value: Any) -> Any:
    """Return a host array, or an aligned copy if its data is not aligned to the size of its items.

    An array that Dask received may begin at any byte of a message. The kernels would have to be compiled
    again for such an array. A compare-and-swap of an item that spans two cache lines also locks all of the
    machine's memory, and Linux may slow that process down (split lock detection): one merge took 10 s.

    Parameters
    ----------
    value : object
        An array, or a tuple, list or dict whose items are processed recursively; see :func:`each_array`.
    """
    return each_array(value, lambda array: array if array.flags.aligned else array.copy())


def each_array(
    value: Any,
    change: Callable[[np.ndarray], Any],
    changed: dict[int, Any] | None = None,
    edges: Callable[[np.ndarray], Any] | None = None,
) -> Any:
    """Return a value with what `change` returns in place of each host array.

    Parameters
    ----------
    value : object
        An array, or a tuple, list or dict whose items are processed recursively. Any other object is
        returned as it is.
    change : callable
    changed : dict, optional
        The results so far, by the `id` of the array, so that repeated arrays share one result.
    edges : callable, optional
        What to do with the ends and the weights of rows instead.
    """
    changed = {} if changed is None else changed
    if isinstance(value, np.ndarray):
        if id(value) not in changed:
            changed[id(value)] = change(value)
        return changed[id(value)]
    if isinstance(value, list):
        return [each_array(item, change, changed, edges) for item in value]
    if isinstance(value, dict):
        return {name: each_array(item, change, changed, edges) for name, item in value.items()}
    if isinstance(value, tuple):
        names = getattr(value, "_fields", ())
        of_edges = EDGES if {*names} >= EDGES else ()
        items = [
            each_array(item, (name in of_edges and edges) or change, changed, edges)
            for name, item in itertools.zip_longest(names, value)
        ]
        return type(value)(*items) if names else tuple(items)
    return value


def move_to(array: Any, values: Any) -> Any:
    """Return values copied to the memory of an array, if necessary."""
    if on_device(array):
        return kernels_for(array).namespace.asarray(values)
    return kernels_for(values).to_host(values)


def joined(column: Any) -> Any:
    """Return a column as one array. A list of arrays is concatenated, and emptied to free the arrays.

    The array is on disk if the longest of them is.
    """
    if not isinstance(column, list):
        return column
    longest = max(column, key=len)
    if len(column) == 1:
        whole = longest
    elif is_on_disk(longest):
        whole = np.concatenate(
            column, out=allocate_like(longest, sum(map(len, column)), longest.dtype)
        )
    else:
        whole = np.concatenate(column)
    column.clear()
    return whole


def lift(value: Any, *, linked: bool = False) -> Any:
    """Copy an array, or the arrays in a tuple or list, from the host to the current device.

    Parameters
    ----------
    value : object
    linked : bool
        Whether the edges of rows stay in pinned host memory, where kernels read them over the link.
        False by default.

    Raises
    ------
    GraphMemoryError
        The device does not have enough memory, or the host has not enough for edges that stay there.
    """

    def copy(array: np.ndarray) -> Any:
        from .common import device

        try:
            return _copied(device.namespace, array)
        except MemoryError as error:
            raise no_room_on_device(array.nbytes) from error

    return each_array(value, copy, edges=_link if linked else None)


def _copied(namespace: Any, array: np.ndarray) -> Any:
    """Return a copy of an array on a device. CuPy copies through pinned memory of the size of the array."""
    if not is_on_disk(array):
        return namespace.asarray(array)
    copy = namespace.empty(array.shape, array.dtype)
    for low in range(0, len(array), LIFTED):
        part = slice(low, low + LIFTED)
        copy[part] = namespace.asarray(array[part])
    return copy


def _link(array: np.ndarray) -> Any:
    """Return edges in pinned host memory as an array of the device."""
    from . import device_copies

    if is_on_disk(array):
        check_room(
            kernels_for(array),
            array.nbytes,
            "a copy of edges on disk from which a GPU without room for them can read",
            "Leave out device='gpu', or use more GPUs or more memory",
            limit=disk.memory(),
        )
    return device_copies.linked(array)
