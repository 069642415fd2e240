"""Connections between members of one process, which hand messages to each other in memory.

Members share a process if there are more of them than workers, for example until a lost worker is replaced.
A socket would take system calls for each message, and the interpreter's lock around each of these.
"""

from __future__ import annotations

import threading
from queue import Empty, SimpleQueue

from .connections import Connection

Inbox = SimpleQueue[memoryview | None | OSError]
"""Messages of one member to another: None if it has left the run, and an error after the last one."""


class MemoryConnection(Connection):
    """One end of a connection in memory; see :func:`pair`."""

    def __init__(self, inbox: Inbox, outbox: Inbox, over: threading.Event) -> None:
        super().__init__()
        self._inbox, self._outbox, self._over = inbox, outbox, over
        self._error: OSError | None = None  # the last entry of the inbox, once it is reached

    def send(self, views: list[memoryview]) -> None:
        """Send a copy of a message."""
        self.check()
        self._outbox.put(memoryview(bytearray().join(views)))

    def check(self) -> None:
        """See :meth:`.Connection.check`."""
        if self._over.is_set():
            raise self._error or ConnectionResetError()

    def flush(self) -> None:
        """See :meth:`.Connection.flush`."""

    def abort(self) -> None:
        """See :meth:`.Connection.abort`."""
        if self._error is None:
            self._error = ConnectionAbortedError()
            self._over.set()
            self._outbox.put(ConnectionResetError())
            self._inbox.put(self._error)

    def close(self) -> None:
        """See :meth:`.Connection.close`."""

    def _send_end(self) -> None:
        self.check()
        self._outbox.put(None)

    def _next(self, patience: float | None) -> memoryview | None:
        if self._error is not None:
            raise self._error
        try:
            came = self._inbox.get(timeout=patience)
        except Empty:
            raise TimeoutError from None
        if isinstance(came, OSError):
            self._error = came
            raise came
        return came


def pair() -> tuple[MemoryConnection, MemoryConnection]:
    """Return both ends of a new connection.

    A message is copied once, when it is sent. So the sender may change the parts at once, and the receiver
    may write to the message.
    """
    left, right, over = Inbox(), Inbox(), threading.Event()
    return MemoryConnection(left, right, over), MemoryConnection(right, left, over)
