"""Serialization of forests and their slices as arrays, which go from device to device without the host.

UCX can send arrays on devices directly. TCP cannot. If the receiver is on the same machine and can read the
memory of this process, it receives the location of the arrays, and copies them from there. Dask keeps a
forest until the receiver confirms that it has received it, and the forest keeps the copy.

:mod:`~dask_graphflow.api.components` makes every worker import this module if forests are on devices.
Without it, forests would be pickled, and CuPy pickles through host memory. A worker that has imported it
and one that has not cannot exchange forests.
"""

from __future__ import annotations

import importlib
import logging
import pickle
from typing import Any

from distributed.protocol import dask_deserialize, dask_serialize
from distributed.protocol.cuda import cuda_deserialize, cuda_serialize

from dask_graphflow.kernels import on_device
from dask_graphflow.scheduling.device_readers import can_read

from .forest import Entries, Forest

__all__: list[str] = []

logger = logging.getLogger(__name__)

LARGE = 1 << 23  # bytes; above this, host memory takes longer than the 5 ms to open shared memory


def _device_ipc() -> Any:
    # Imported late because the module needs CuPy, which machines without a GPU do not have.
    return importlib.import_module("dask_graphflow.kernels.device_ipc")


def _shared(context: dict[str, Any] | None, arrays: list[Any]) -> tuple[Any, Any] | None:
    """Copy arrays on this device for a receiver that can read them; return how to find the copy, and it.

    Return None if the receiver cannot read the copy or the arrays are too small to be worth it.
    """
    recipient = ((context or {}).get("recipient") or {}).get("address")
    if not all(on_device(array) for array in arrays) or sum(a.nbytes for a in arrays) < LARGE:
        return None
    if recipient is None or not can_read(recipient):
        return None
    ipc = _device_ipc()
    try:
        shared: tuple[Any, Any] = ipc.share(arrays)
    except ipc.CannotShare as error:  # such as if memory pools have taken all device memory
        logger.info("A forest is sent to %s through host memory: %s", recipient, error)
        return None
    return shared


def _register(serialize: Any, deserialize: Any) -> None:
    """Register forests and slices with one of Dask's serializer families, which already handles arrays."""

    def dump(
        forest: Forest | Entries, context: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], list[Any]]:
        restore, ((place, *arrays), *rest) = forest.__reduce__()
        if serialize is dask_serialize and (copy := _shared(context, arrays)):
            shared, memory = copy
            forest.sent.append(memory)
            return {"shared": pickle.dumps((restore, place, shared, rest))}, []
        headers, frames = [], []
        for array in arrays:
            try:
                dump_array = serialize.dispatch(type(array))
            except TypeError as error:
                # Dask then tries the next family. The family for devices does not handle host arrays.
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
