"""Kernels: one definition each, one twin for the host and one for the device."""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from dask_graphflow.exceptions import GraphMemoryError

from .gpu import require_gpu
from .memory import free_bytes, no_room, no_room_for_rows

__all__ = [
    "aligned",
    "device_link",
    "device_memory",
    "device_room",
    "empty_on",
    "index_dtype",
    "joined",
    "kernels_for",
    "kernels_of",
    "lift",
    "no_room",
    "no_room_on_device",
    "on_device",
    "require_gpu",
    "summable",
]

EDGES = {"ends", "weights"}  # of rows


def index_dtype(count: int) -> str:
    """Return the narrowest dtype of the kernels' that holds the indices of `count` items."""
    return "int32" if count <= 2**31 else "int64"


def summable(weights: Any) -> Any:
    """Return weights as a type in which several of them can be added up.

    Integers become int64, whose sums the kernels check, and floats become float64. Weights that have
    such a type are returned as they are.
    """
    wide = {"i": "int64", "f": "float64"}[weights.dtype.kind]
    return weights.astype(wide, copy=False)


def on_device(data: Any) -> bool:
    """Say whether a frame, a series or an array lies on a device."""
    return type(data).__module__.partition(".")[0] in ("cudf", "cupy")


def empty_on(device: bool) -> Any:
    """Return an empty array on the host or on the device in use."""
    if not device:
        return np.empty(0)
    from . import device as kernels

    return kernels.namespace.empty(0)


def kernels_for(data: Any) -> ModuleType:
    """Return the kernel module for where `data` (a frame, a series or an array) lies."""
    if on_device(data):
        from . import device

        return device
    from . import host

    return host


def device_room() -> int:
    """Return the bytes that there are for arrays on the device in use."""
    from . import device

    return free_bytes(device) or 0


def device_memory() -> int:
    """Return the bytes of memory of the device in use, free or not."""
    from . import device

    return int(device.namespace.cuda.runtime.memGetInfo()[1])


def no_room_on_device(needed: int | None = None) -> GraphMemoryError:
    """Return the error for a shard that the device in use has no room for, or not for so many bytes."""
    from . import device

    return no_room_for_rows(device, needed)


def device_link() -> float:
    """Return how many bytes a second reach the device in use from pinned memory; 0 without room."""
    from . import device_copies

    try:
        return device_copies.speed()
    except MemoryError:
        return 0.0


def aligned(value: Any, copies: dict[int, np.ndarray] | None = None) -> Any:
    """Return an array of the host, or a copy where it does not begin at a multiple of its items' size.

    What Dask has received may begin anywhere in a message. Kernels would be compiled anew for such arrays;
    and a compare-and-swap of an item that lies in two cache lines locks all of the machine's memory, for
    which Linux may make who does it wait (split lock detection): a merge took 10 s.

    Parameters
    ----------
    value : object
        Of a tuple, a list or a dict, what is in it.
    copies : dict, optional
        Copies by what they are of, to be shared as those are.
    """
    copies = {} if copies is None else copies
    if isinstance(value, np.ndarray):
        if not value.flags.aligned and id(value) not in copies:
            copies[id(value)] = value.copy()
        return copies.get(id(value), value)
    if isinstance(value, list):
        return [aligned(item, copies) for item in value]
    if isinstance(value, dict):
        return {name: aligned(item, copies) for name, item in value.items()}
    if isinstance(value, tuple):
        items = [aligned(item, copies) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def joined(column: Any) -> Any:
    """Return a column as one array. If it is a list of arrays, it is emptied, which frees them."""
    if not isinstance(column, list):
        return column
    whole = column[0] if len(column) == 1 else np.concatenate(column)
    column.clear()
    return whole


def lift(value: Any, *, linked: bool = False) -> Any:
    """Return an array, and what is in a tuple or a list, copied from the host to the device in use.

    Parameters
    ----------
    value : object
    linked : bool
        Whether rows' edges stay in pinned memory of the host: kernels read them over the link.

    Raises
    ------
    GraphMemoryError
        There is no room.
    """
    if isinstance(value, np.ndarray):
        from . import device

        try:
            return device.namespace.asarray(value)
        except MemoryError as error:
            raise no_room_on_device(value.nbytes) from error
    if isinstance(value, list):
        return [lift(item, linked=linked) for item in value]
    if isinstance(value, tuple):
        fields = getattr(value, "_fields", None)
        if fields is None:
            return tuple(lift(item, linked=linked) for item in value)
        stay = EDGES if linked and {*fields} >= EDGES else ()
        lifted = (
            _link(item) if name in stay else lift(item, linked=linked)
            for name, item in zip(fields, value, strict=True)
        )
        return type(value)(*lifted)
    return value


def _link(array: np.ndarray | None) -> Any:
    from . import device_copies

    return array if array is None else device_copies.linked(array)


def kernels_of(name: str, data: Any) -> ModuleType:
    """Return the kernels of a name, such as "rows", for where data (an array) lies."""
    return _module(f"device_{name}" if on_device(data) else f"host_{name}")


@cache
def _module(name: str) -> ModuleType:
    # Not an import statement: it is asked for where it is used, and takes Numba or CuPy then.
    return importlib.import_module(f".{name}", __name__)
