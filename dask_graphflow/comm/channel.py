"""Channels: how the members of a gang send each other messages.

A *gang* is a run of so many members, ranked from 0, each in a task of its own. Each has a channel, of which
there are two: :func:`in_process` for threads of one process, and :mod:`.sockets` between processes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Protocol

__all__ = ["Aborts", "Channel", "PeerLost", "buffers", "in_process"]


class PeerLost(ConnectionError):  # noqa: N818
    """A member of the gang has gone, or cannot be reached any more.

    For those who started the gang: who called it is told by a
    :class:`~dask_graphflow.exceptions.WorkerLostError` instead.

    Attributes
    ----------
    rank : int
        The member that was waited for. It may have gone because another one did.
    """

    def __init__(self, rank: int) -> None:
        super().__init__(f"member {rank} of the gang has gone, or cannot be reached any more")
        self.rank = rank

    def __reduce__(self) -> tuple[type[PeerLost], tuple[int]]:
        return type(self), (self.rank,)


class Channel(Protocol):
    """What a member sends and receives by. One thread does both; any may abort.

    Attributes
    ----------
    rank, size : int
        Which member this is, of how many.
    bytes_sent, bytes_received : int
        By messages so far.
    seconds_waited : float
        Spent in :meth:`receive` so far.
    encrypted : bool
        Whether nobody on the way can read what is sent.
    """

    rank: int
    size: int
    encrypted: bool
    bytes_sent: int
    bytes_received: int
    seconds_waited: float

    def send(self, to: int, *parts: Any) -> None:
        """Send a message; return before it was received, however long it is.

        Parameters
        ----------
        to : int
            Another member.
        *parts : bytes, memoryview or ndarray
            C-contiguous; one after the other they are the message. They may be changed again once a
            message has come from that member which it sent after it had received this one; or after
            :meth:`close`.

        Raises
        ------
        PeerLost
            That member is known to have gone.
        """

    def receive(self, source: int) -> memoryview:
        """Wait for the next message of another member.

        Returns
        -------
        memoryview of bytes
            Writable, and nobody else's.

        Raises
        ------
        PeerLost
            That member has gone, and all that it had sent was received.
        """

    def abort(self, error: BaseException) -> None:
        """Have all calls that wait and all later ones raise `error`; the other members lose this one.

        From any thread. What was sent may be lost.
        """

    def narrow(self, size: int) -> None:
        """Go on as a gang of the first `size` members, of which this is one. The others have left."""

    def abort_too(self, end: Callable[[], Any]) -> None:
        """Have `end` called where this is aborted, or at once if it is; not after :meth:`close`."""

    def close(self) -> None:
        """Go, once all that was sent is on its way. Nothing is left then: no thread, no socket."""


def buffers(parts: tuple[Any, ...]) -> list[memoryview]:
    """Return the bytes of a message's parts, without copies; empty parts are left out."""
    views = [memoryview(part) for part in parts]
    return [view.cast("B") for view in views if view.nbytes]


def in_process(size: int) -> list[Channel]:
    """Return the channels of a gang whose members are threads of this process.

    A message is copied once, when it is sent: the sender may change its parts at once, and the receiver
    may write into what it has. Handing over the parts themselves would be safe for neither.
    """
    members: list[_InProcess] = []
    members += [_InProcess(rank, size, members) for rank in range(size)]
    return list(members)


class Aborts:
    """What is to end with a channel."""

    def __init__(self) -> None:
        self._ends: list[Callable[[], Any]] = []
        self._aborted = False
        self._lock = threading.Lock()

    def add(self, end: Callable[[], Any]) -> None:
        """Have `end` called by :meth:`call`, or at once after it."""
        with self._lock:
            if not self._aborted:
                self._ends.append(end)
                return
        end()

    def call(self) -> None:
        """Call all, once."""
        with self._lock:
            self._aborted = True
            ends, self._ends = self._ends, []
        for end in ends:
            end()

    def clear(self) -> None:
        """Forget them."""
        with self._lock:
            self._ends = []


class _InProcess:
    encrypted = True

    def __init__(self, rank: int, size: int, members: list[_InProcess]) -> None:
        self.rank, self.size = rank, size
        self.bytes_sent = self.bytes_received = 0
        self.seconds_waited = 0.0
        self._members = members
        # By sender: messages, and at last an error.
        self._inboxes: list[SimpleQueue[memoryview | BaseException]] = [
            SimpleQueue() for _ in range(size)
        ]
        self._error: BaseException | None = None
        self._aborts = Aborts()

    def send(self, to: int, *parts: Any) -> None:
        if self._error is not None:
            raise self._error
        if self._members[to]._error is not None:
            raise PeerLost(to)
        message = memoryview(bytearray().join(buffers(parts)))
        self._members[to]._inboxes[self.rank].put(message)
        self.bytes_sent += len(message)

    def receive(self, source: int) -> memoryview:
        if self._error is not None:
            raise self._error
        began = time.perf_counter()
        message = self._inboxes[source].get()
        self.seconds_waited += time.perf_counter() - began
        if isinstance(message, BaseException):
            self._inboxes[source].put(message)  # for the next one who asks
            raise message
        self.bytes_received += len(message)
        return message

    def abort(self, error: BaseException) -> None:
        if self._error is not None:
            return
        self._error = error
        for member in self._members:
            member._inboxes[self.rank].put(PeerLost(self.rank))
        for inbox in self._inboxes:
            inbox.put(error)
        self._aborts.call()

    def narrow(self, size: int) -> None:
        self.size = size

    def abort_too(self, end: Callable[[], Any]) -> None:
        self._aborts.add(end)

    def close(self) -> None:
        self._aborts.clear()
        self.abort(ConnectionError("the channel was closed"))
