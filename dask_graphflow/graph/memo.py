"""A cache for objects that are derived from a graph when they are first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from dask_graphflow.kernels import aligned, disk, each_array, is_on_disk


class _OnDisk:
    """An array on disk while it is pickled. Whoever unpickles it gets an array that is on disk again."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __reduce__(self) -> Any:
        return disk.stored, (self._array, disk.folder_of(self._array))


class Memo:
    """Caches objects derived from it, by name."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}
        self._making = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_making"]
        state["_made"] = each_array(
            self._made, lambda array: _OnDisk(array) if is_on_disk(array) else array
        )
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(aligned(state), _making=threading.RLock())

    def __sizeof__(self) -> int:
        # Cached objects may share arrays, so each array counts once. Those on disk take no memory.
        once = {id(one): one for one in _arrays(self._made.values()) if not is_on_disk(one)}
        return sum(int(array.nbytes) for array in once.values())

    def has(self, name: str) -> bool:
        """Say whether an object is cached under a name."""
        return name in self._made

    def made(self, name: str) -> Any:
        """Return the object that is cached under a name."""
        return self._made[name]

    def kept(self, name: str, make: Callable[[], Any]) -> Any:
        """Return the object that is cached under a name, or make it now and cache it.

        `make` must not send messages: other members may be waiting, or may have the object already.
        """
        with self._making:
            if name not in self._made:
                self._made[name] = make()
            return self._made[name]

    def drop(self, name: str) -> None:
        """Cache an object no longer, if it is cached."""
        with self._making:
            self._made.pop(name, None)


def _arrays(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _arrays(value)
        elif isinstance(value, Memo):
            yield from _arrays(value._made.values())
        elif hasattr(value, "nbytes"):
            yield value
