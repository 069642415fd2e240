"""Channels: how the members of a gang send each other messages.

The members of a *gang* are ranked from 0. Each runs in a task of its own and has its own channel. There are
two kinds of channel: :func:`in_process` for threads of one process, and :mod:`.sockets` between processes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Protocol

from .resources import Resources


class PeerLost(ConnectionError):  # noqa: N818
    """A member of the gang has gone, or cannot be reached any more.

    Only the code that started the gang sees this error. The user gets a
    :class:`~dask_graphflow.exceptions.WorkerLostError` instead.

    Attributes
    ----------
    rank : int
        The member that this member was waiting for. It may have gone because another member did.
    """

    def __init__(self, rank: int) -> None:
        super().__init__(f"member {rank} of the gang has gone, or cannot be reached any more")
        self.rank = rank

    def __reduce__(self) -> tuple[type[PeerLost], tuple[int]]:
        return type(self), (self.rank,)


class Channel(Protocol):
    """A member's connection to the others. One thread sends and receives; any thread may abort.

    Attributes
    ----------
    rank, size : int
        The rank of this member, and the number of members.
    bytes_sent, bytes_received : int
        Total size of the messages so far.
    seconds_waited : float
        Time spent in :meth:`receive` so far.
    encrypted : bool
        Whether messages are safe from being read in transit.
    resources : Resources
        What the member may use of its process. Whoever starts the member sets it.
    left : threading.Event
        Set when the member has left the gang: from then on, its thread does nothing for it.
    """

    rank: int
    size: int
    encrypted: bool
    bytes_sent: int
    bytes_received: int
    seconds_waited: float
    resources: Resources
    left: threading.Event

    def send(self, to: int, *parts: Any) -> None:
        """Send a message without waiting until it is received, however long it is.

        Parameters
        ----------
        to : int
            The rank of another member.
        *parts : bytes, memoryview or ndarray
            The parts of the message, in order. They must be C-contiguous. Do not change them until the
            receiver has answered: once a message arrives that `to` sent after it received this one, or
            after :meth:`close`, they may be changed again.

        Raises
        ------
        PeerLost
            Member `to` is known to have gone.
        """

    def receive(self, source: int) -> memoryview:
        """Wait for the next message from another member.

        Returns
        -------
        memoryview of bytes
            Writable. The caller owns it.

        Raises
        ------
        PeerLost
            That member has gone, and all messages that it sent were received.
        """

    def abort(self, error: BaseException) -> None:
        """Make all waiting and all later calls raise `error`. The other members lose this one.

        Any thread may call this. Messages in transit may be lost.
        """

    def narrow(self, size: int) -> None:
        """Continue as a gang of the first `size` members, including this one. The others have left."""

    def abort_too(self, end: Callable[[], Any]) -> None:
        """Call `end` when the channel is aborted, or at once if it already is. :meth:`close` cancels it."""

    def close(self) -> None:
        """Leave the gang once all sent messages are on their way. End all threads, close all sockets."""


def buffers(parts: tuple[Any, ...]) -> list[memoryview]:
    """Return the bytes of a message's parts without copying them. Empty parts are left out."""
    views = [memoryview(part) for part in parts]
    return [view.cast("B") for view in views if view.nbytes]


def in_process(size: int) -> list[Channel]:
    """Return the channels of a gang whose members are threads of this process.

    A message is copied once, when it is sent. So the sender may change the parts at once, and the receiver
    may write to the message.
    """
    members: list[_InProcess] = []
    members += [_InProcess(rank, size, members) for rank in range(size)]
    return list(members)


class Aborts:
    """Functions to call when a channel is aborted."""

    def __init__(self) -> None:
        self._ends: list[Callable[[], Any]] = []
        self._aborted = False
        self._lock = threading.Lock()

    def add(self, end: Callable[[], Any]) -> None:
        """Let :meth:`call` call `end`. If :meth:`call` already ran, call `end` at once."""
        with self._lock:
            if not self._aborted:
                self._ends.append(end)
                return
        end()

    def call(self) -> None:
        """Call each function once."""
        with self._lock:
            self._aborted = True
            ends, self._ends = self._ends, []
        for end in ends:
            end()

    def clear(self) -> None:
        """Forget all functions."""
        with self._lock:
            self._ends = []


class OwnSide:
    """What a channel of either kind knows about itself."""

    def __init__(self, rank: int, size: int, *, encrypted: bool) -> None:
        self.rank, self.size, self.encrypted = rank, size, encrypted
        self.bytes_sent = self.bytes_received = 0
        self.seconds_waited = 0.0
        self.resources = Resources()
        self.left = threading.Event()
        self._error: BaseException | None = None
        self._aborts = Aborts()

    def narrow(self, size: int) -> None:
        """See :meth:`.Channel.narrow`."""
        self.size = size

    def abort_too(self, end: Callable[[], Any]) -> None:
        """See :meth:`.Channel.abort_too`."""
        self._aborts.add(end)


class _InProcess(OwnSide):
    def __init__(self, rank: int, size: int, members: list[_InProcess]) -> None:
        super().__init__(rank, size, encrypted=True)
        self._members = members
        # One inbox per sender. It contains messages, and an error as its last entry.
        self._inboxes: list[SimpleQueue[memoryview | BaseException]] = [
            SimpleQueue() for _ in range(size)
        ]

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
            self._inboxes[source].put(message)  # so that later calls also raise it
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

    def close(self) -> None:
        self.left.set()
        self._aborts.clear()
        self.abort(ConnectionError("the channel was closed"))
