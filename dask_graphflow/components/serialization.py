"""Serialization of forests and their slices: as arrays, which go from device to device without the host.

:mod:`~dask_graphflow.api.components` has every worker import it if forests are on devices: without it they
would be pickled, and CuPy pickles through host memory. A worker with it and one without would not
understand each other.
"""

from __future__ import annotations

import pickle
from typing import Any

from distributed.protocol import dask_deserialize, dask_serialize
from distributed.protocol.cuda import cuda_deserialize, cuda_serialize

from .forest import Entries, Forest

__all__: list[str] = []


def _register(serialize: Any, deserialize: Any) -> None:
    """Teach one of Dask's families of serialisers forests and slices, by what it knows of arrays."""

    def dump(forest: Forest | Entries) -> tuple[dict[str, Any], list[Any]]:
        restore, ((place, *arrays), *rest) = forest.__reduce__()
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
