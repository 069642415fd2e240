"""Connections between members of one process, which hand messages to each other in memory.

Members share a process if there are more of them than workers, for example until a lost worker is replaced.
On a socket, both would wait for the interpreter's lock after each system call.
"""

from __future__ import annotations

import threading
from queue import Empty, SimpleQueue

from .connections import Connection

Inbox = SimpleQueue[memoryview | None]
"""What one member has sent to another: messages, and None when it has left a run or has gone."""


class MemoryConnection(Connection):
    """One end of a connection in memory; see :func:`pair`."""

    def __init__(self, inbox: Inbox, outbox: Inbox, over: threading.Event) -> None:
        super().__init__()
        self._inbox, self._outbox, self._over = inbox, outbox, over

    def send(self, views: list[memoryview]) -> None:
        """Send a copy of a message."""
        self._put(memoryview(bytearray().join(views)))

    def check(self) -> None:
        """See :meth:`.Connection.check`."""
        if self._over.is_set():
            raise ConnectionResetError

    def flush(self) -> None:
        """See :meth:`.Connection.flush`."""

    def abort(self) -> None:
        """See :meth:`.Connection.abort`."""
        self._over.set()
        for box in (self._outbox, self._inbox):
            box.put(None)  # wakes a thread that waits

    def close(self) -> None:
        """See :meth:`.Connection.close`."""

    def _send_end(self) -> None:
        self._put(None)

    def _put(self, message: memoryview | None) -> None:
        self.check()
        self._outbox.put(message)

    def _next(self, patience: float | None) -> memoryview | None:
        if self._inbox.empty():
            self.check()
        try:
            return self._inbox.get(timeout=patience)
        except Empty:
            raise TimeoutError from None


def pair() -> tuple[MemoryConnection, MemoryConnection]:
    """Return both ends of a new connection.

    A message is copied once, when it is sent. So the sender may change the parts at once, and the receiver
    may write to the message.
    """
    left, right, over = Inbox(), Inbox(), threading.Event()
    return MemoryConnection(left, right, over), MemoryConnection(right, left, over)
