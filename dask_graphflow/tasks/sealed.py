"""Arguments of tasks that Dask's scheduler passes on without unpickling them."""

from __future__ import annotations

import pickle
from typing import Any

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

    def __getstate__(self) -> tuple[Any, bytes]:
        distributed = find_imported("distributed")  # always imported if there is a cluster
        if distributed is None or self._pickled:
            return self._value, self._pickled
        return None, distributed.protocol.pickle.dumps(self._value)

    def __setstate__(self, state: tuple[Any, bytes]) -> None:
        self._value, self._pickled = state
