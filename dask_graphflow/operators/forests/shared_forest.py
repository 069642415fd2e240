"""State that all chains of a process share: a forest, and a link to the GPU if the forest is on one."""

from __future__ import annotations

import threading
import uuid
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakValueDictionary

from dask_graphflow.kernels.link import Link


class Shared:
    """A holder of one object. Many threads may change the object at once; only one at a time replaces it.

    Each process stores only one forest, and chains skip connections that other chains have found. A copy in
    another process has the connections found until then, which are all true. It makes its own link if it
    needs one.
    """

    def __init__(self, held: Any = None) -> None:
        self.held = held
        self._token = uuid.uuid4().hex
        _living[self._token] = self
        self._free = threading.Condition()
        self._users = 0
        self._link: Link | None = None
        self._free_link: Callable[[], Any] = lambda: None
        self.closed = False

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._token, self.held)

    def __sizeof__(self) -> int:
        return 0 if self.held is None else int(self.held.__sizeof__())

    @contextmanager
    def enter_with_others(self) -> Iterator[None]:
        """Enter together with other threads, while no thread is in :meth:`alone`."""
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
        """Wait until no other thread is in, and keep others out; or give up once `unless` returns True.

        Yields
        ------
        bool
            Whether this thread has exclusive access.
        """
        with self._free:
            self._free.wait_for(lambda: unless() or not self._users)
            yield not unless()
            self._free.notify_all()

    def close(self) -> None:
        """Free the link. No other chain may begin to hook, because the object is about to be merged."""
        with self.alone():
            self.closed = True
            self._free_link()

    def link(self, make: Callable[[], Link]) -> Link:
        """Return the link of this process to its device. Call `make` to create it if there is none.

        The link is closed and its buffers are freed with :meth:`close`, or once no chain of the process
        refers to this holder.
        """
        with self._free:
            if self._link is None:
                self._link = make()
                self._free_link = weakref.finalize(self, self._link.close)
                self._free_link.atexit = False
            return self._link


class Start:
    """What all chains of a process start from. On another worker, it has a holder without a forest.

    Dask gives every task of a worker the same object for the same key. A worker that begins late would
    otherwise fetch the forest that others have made until then.
    """

    def __init__(self, shared: Shared | None = None) -> None:
        self.shared = Shared() if shared is None else shared

    def open(self) -> Shared:
        """Return the holder for a new chain: another one if the members of a gang already use the first."""
        if self.shared.closed:
            self.shared = Shared()
        return self.shared

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_start, (self.shared._token,)


# The holders of this process, by token.
_living: WeakValueDictionary[str, Shared] = WeakValueDictionary()


def _restore(token: str, held: Any) -> Shared:
    """Return the holder that was pickled if it still exists in this process, and a copy otherwise.

    When memory is short, Dask writes each chain to disk separately, and each would come back with its own
    copy of the forest. The holder in memory has every connection that was written, and maybe more.
    """
    living = _living.get(token)
    return Shared(held) if living is None else living


def _restore_start(token: str) -> Start:
    return Start(_living.get(token))
