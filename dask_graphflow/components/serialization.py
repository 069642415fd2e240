"""Serialization of forests and their slices: as arrays, which go from device to device without the host.

UCX takes arrays on devices as they are. TCP does not: if the receiver is on the same machine and can read
this process' memory, it is sent where a copy of the arrays is, and copies them from there. Dask keeps a
forest until the receiver has said that it has it, and the forest keeps the copy.

:mod:`~dask_graphflow.api.components` has every worker import it if forests are on devices: without it they
would be pickled, and CuPy pickles through host memory. A worker with it and one without would not
understand each other.
"""

from __future__ import annotations

import importlib
import pickle
from typing import Any

from distributed.protocol import dask_deserialize, dask_serialize
from distributed.protocol.cuda import cuda_deserialize, cuda_serialize

from dask_graphflow.kernels import on_device
from dask_graphflow.scheduling.device_readers import can_read

from .forest import Entries, Forest

__all__: list[str] = []

LARGE = 1 << 23  # bytes of a forest that take longer through host memory than the 5 ms to open it


def _device_ipc() -> Any:
    # Not an import statement: it takes CuPy, which a host does without.
    return importlib.import_module("dask_graphflow.kernels.device_ipc")


def _shared(context: dict[str, Any] | None, arrays: list[Any]) -> tuple[Any, Any] | None:
    """Return how the receiver finds a copy of arrays on this device, and the copy, if it can read it."""
    recipient = ((context or {}).get("recipient") or {}).get("address")
    if not all(on_device(array) for array in arrays) or sum(a.nbytes for a in arrays) < LARGE:
        return None
    if recipient is None or not can_read(recipient):
        return None
    ipc = _device_ipc()
    try:
        shared: tuple[Any, Any] = ipc.share(arrays)
    except ipc.CannotShare:  # the pools may have left no memory
        return None
    return shared


def _register(serialize: Any, deserialize: Any) -> None:
    """Teach one of Dask's families of serialisers forests and slices, by what it knows of arrays."""

    def dump(
        forest: Forest | Entries, context: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], list[Any]]:
        restore, ((place, *arrays), *rest) = forest.__reduce__()
        if serialize is dask_serialize and (found := _shared(context, arrays)):
            shared, memory = found
            forest.sent.append(memory)
            return {"shared": pickle.dumps((restore, place, shared, rest))}, []
        headers, frames = [], []
        for array in arrays:
            try:
                dump_array = serialize.dispatch(type(array))
            except TypeError as error:
                # The next family is tried: that for devices knows no arrays of the host.
                raise NotImplementedError(type(array).__name__) from error
            header, own = dump_array(array)
            headers.append((type(array), header, len(own)))
            frames += own
        return {"forest": pickle.dumps((restore, place, headers, rest))}, frames

    def load(header: dict[str, Any], frames: list[Any]) -> Forest | Entries:
        if "shared" in header:
            restore, place, shared, rest = pickle.loads(header["shared"])
            there: Forest | Entries = restore((place, *_device_ipc().copied(shared)), *rest)
            return there
        restore, place, headers, rest = pickle.loads(header["forest"])
        arrays = []
        for kind, array_header, count in headers:
            own, frames = frames[:count], frames[count:]
            arrays.append(deserialize.dispatch(kind)(array_header, own))
        forest: Forest | Entries = restore((place, *arrays), *rest)
        return forest

    for kind in (Forest, Entries):
        serialize.register(kind, dump)
        deserialize.register(kind, load)


_register(cuda_serialize, cuda_deserialize)
_register(dask_serialize, dask_deserialize)
