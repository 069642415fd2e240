"""Classes whose methods are made when they are first used, because a method imports its algorithm."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

# A thread has it while a name or a method imports what it needs. Modules of Dask import each other, and if
# several threads began with different ones, Python would give one of them half of a module.
IMPORTING = threading.RLock()


class _LazyMethod:
    """Makes a method on first use, and then takes its own place in the class."""

    def __init__(self, make: Callable[[str], Any]) -> None:
        self._make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        # Pickle needs the same object in all threads.
        with IMPORTING:
            if "method" not in vars(self):
                self.method = self._make(self._name)
        method = self.method
        setattr(self._owner, self._name, method)
        return method.__get__(instance, owner)


def class_of_methods(
    name: str, methods: Iterable[str], make: Callable[[str], Any], module: str
) -> type:
    """Return a class, for `module`, with methods that ``make(name)`` makes on first use."""
    attributes = {method: _LazyMethod(make) for method in methods}
    about = {"__doc__": "The algorithms as methods.", "__module__": module}
    return type(name, (), about | attributes)
