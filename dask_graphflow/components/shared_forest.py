"""What all chains of a process share: a forest, and the link to the GPU that it may lie on."""

from __future__ import annotations

import threading
import uuid
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakValueDictionary

from .link import Link

__all__ = ["Shared"]


class Shared:
    """A holder of one object that many threads change at once, and one thread at a time replaces.

    Dask hands every task of a worker the same object for the same key. So what holds a chain's forest
    at its start holds it for every chain on that worker: memory is one forest a process, and what one
    chain found the others skip. A worker that fetches the holder from another gets a copy, with
    whatever was found until then: true connections all, and makes a link of its own where it needs one.
    """

    def __init__(self, held: Any = None) -> None:
        self.held = held
        self._token = uuid.uuid4().hex
        _living[self._token] = self
        self._free = threading.Condition()
        self._users = 0
        self._link: Link | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._token, self.held)

    def __sizeof__(self) -> int:
        return 0 if self.held is None else int(self.held.__sizeof__())

    @contextmanager
    def beside_others(self) -> Iterator[None]:
        """Let several threads in, while none is alone."""
        with self._free:
            self._users += 1
        try:
            yield
        finally:
            with self._free:
                self._users -= 1
                self._free.notify_all()

    @contextmanager
    def alone(self, unless: Callable[[], bool] = lambda: False) -> Iterator[bool]:
        """Wait until nobody is in, and let nobody else in; or give up once `unless` holds.

        Yields
        ------
        bool
            Whether one is alone.
        """
        with self._free:
            self._free.wait_for(lambda: unless() or not self._users)
            yield not unless()
            self._free.notify_all()

    def link(self, make: Callable[[], Link]) -> Link:
        """Return the link of this process to its device, made by `make` if there is none.

        It is closed, and its buffers are free, once no chain of the process has this holder any more.
        """
        with self._free:
            if self._link is None:
                self._link = make()
                weakref.finalize(self, self._link.close).atexit = False
            return self._link


# The holders of this process, by token.
_living: WeakValueDictionary[str, Shared] = WeakValueDictionary()


def _restored(token: str, held: Any) -> Shared:
    """Return the holder that was pickled, if it still lives in this process, or else a copy.

    When memory is short, Dask writes each chain to disk by itself, and all of them would come back with a
    forest of their own. The living holder has found all that it had found when it was written, and more.
    """
    living = _living.get(token)
    return Shared(held) if living is None else living
