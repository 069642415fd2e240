"""Channels: how the members of a gang send each other messages.

The members of a *gang* are ranked from 0. Each runs in a task of its own and has its own channel. A channel
has one connection to each other member: in memory if both are in one process (:mod:`.memory`), otherwise a
socket (:mod:`.sockets`).
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from .connections import Connection
from .memory import pair
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


class Channel:
    """A member's connections to the others. One thread sends and receives; any thread may abort.

    Parameters
    ----------
    rank : int
        The rank of this member.
    peers : dict of int to Connection
        The connections to the other members, by rank. :class:`~.member_links.KeptLinks` may keep them.
    encrypted : bool
        Whether messages are safe from being read in transit.

    Attributes
    ----------
    size : int
        The number of members.
    bytes_sent, bytes_received : int
        Total size of the messages so far.
    seconds_waited : float
        Time spent in :meth:`receive` so far.
    resources : Resources
        What the member may use of its process. Whoever starts the member sets it.
    left : threading.Event
        Set when the member has left the gang: from then on, its thread does nothing for it.
    """

    def __init__(self, rank: int, peers: Mapping[int, Connection], *, encrypted: bool) -> None:
        self.rank, self.size, self.peers, self.encrypted = rank, len(peers) + 1, peers, encrypted
        self.bytes_sent = self.bytes_received = 0
        self.seconds_waited = 0.0
        self.resources = Resources()
        self.left = threading.Event()
        self._error: BaseException | None = None
        self._aborts = Aborts()
        self._lock = threading.Lock()

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
        if self._error is not None:
            raise self._error
        views = buffers(parts)
        size = sum(map(len, views))
        try:
            self.peers[to].send(views)
        except OSError as error:
            raise self._error or PeerLost(to) from error
        self.bytes_sent += size

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
        if self._error is not None:
            raise self._error
        began = time.perf_counter()
        try:
            message = self.peers[source].receive()
        except OSError as error:
            raise self._error or PeerLost(source) from error
        self.seconds_waited += time.perf_counter() - began
        self.bytes_received += len(message)
        return message

    def abort(self, error: BaseException) -> None:
        """Make all waiting and all later calls raise `error`. The other members lose this one.

        Any thread may call this. Messages in transit may be lost.
        """
        # The lock prevents an abort during close: a closed socket's number may already be reused.
        with self._lock:
            if self._error is None:
                self._error = error
                for peer in self.peers.values():
                    peer.abort()
        self._aborts.call()

    def narrow(self, size: int) -> None:
        """Continue as a gang of the first `size` members, including this one. The others have left."""
        self.size = size

    def abort_too(self, end: Callable[[], Any]) -> None:
        """Call `end` when the channel is aborted, or at once if it already is. :meth:`close` cancels it."""
        self._aborts.add(end)

    def close(self) -> None:
        """Leave the gang once all sent messages are on their way. End all threads, close all sockets."""
        self.left.set()
        if self._error is None:
            for peer in self.peers.values():
                peer.flush()
            self._aborts.clear()
        self.abort(ConnectionError("the channel was closed"))
        with self._lock:
            for peer in self.peers.values():
                peer.close()

    def leave(self) -> bool:
        """Leave the gang; return whether the connections can be used for another run."""
        try:
            for peer in self.peers.values():
                peer.leave()
            for peer in self.peers.values():
                peer.flush()
                peer.check()
        except OSError:
            self.close()
            return False
        self.left.set()
        self._aborts.clear()
        return True


def buffers(parts: tuple[Any, ...]) -> list[memoryview]:
    """Return the bytes of a message's parts without copying them. Empty parts are left out."""
    views = [memoryview(part) for part in parts]
    return [view.cast("B") for view in views if view.nbytes]


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


def in_process(size: int) -> list[Channel]:
    """Return the channels of a gang whose members are threads of this process."""
    peers: list[dict[int, Connection]] = [{} for _ in range(size)]
    for left, right in itertools.combinations(range(size), 2):
        peers[left][right], peers[right][left] = pair()
    return [Channel(rank, peers[rank], encrypted=True) for rank in range(size)]
