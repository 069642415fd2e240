"""Arguments of tasks that Dask's scheduler passes on without unpickling them."""

from __future__ import annotations

import pickle
from typing import Any

import cloudpickle

from .clients import find_imported


class Sealed:
    """An object that is pickled once, where it is made, and unpickled where it is used.

    A scheduler unpickles the tasks of a call, and pickles each of them again for its worker.
    """

    def __init__(self, value: Any) -> None:
        self._value, self._pickled = value, b""

    @property
    def value(self) -> Any:
        """The object."""
        if pickled := self._pickled:
            self._value, self._pickled = pickle.loads(pickled), b""
        return self._value

    def __getstate__(self) -> bytes:
        if self._pickled:
            return self._pickled
        distributed = find_imported("distributed")
        # Both pickle what is from the main module by value, because a worker has another one.
        dumps = cloudpickle if distributed is None else distributed.protocol.pickle
        pickled: bytes = dumps.dumps(self._value)
        return pickled

    def __setstate__(self, pickled: bytes) -> None:
        self._value, self._pickled = None, pickled
