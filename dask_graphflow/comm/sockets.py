"""Channels between processes: one TCP connection for each pair of members of a gang.

The thread of the task reads its sockets itself, and writes what they take at once. A round trip of short
messages takes 30 us this way; with another thread or an event loop it would take 70 us or more. Longer
messages are left to two threads per peer, which are started when they are first needed. So all members may
send before any of them receives.

When a connection begins, each side proves that it knows the run's secret (:mod:`.handshake`). With TLS
contexts the connection is encrypted. Without TLS, as in Dask, others on the network can read and change
messages.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Sequence
from typing import Any

from .channel import OwnSide, PeerLost, buffers
from .connections import Connection
from .handshake import Contexts, Meeting


class Listener:
    """A port on which the other members of a run connect to this one.

    Parameters
    ----------
    host : str
        The address of this machine to listen on.
    secret : bytes or bytearray
        The run's secret. It is read when the members connect.
    ssl : (SSLContext, SSLContext), optional
        TLS contexts for accepted connections and for calls.

    Attributes
    ----------
    port : int
        The port number. It is reserved at once, and open only while the members connect.
    """

    def __init__(self, host: str, secret: bytes | bytearray, ssl: Contexts | None = None) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        try:
            if family == socket.AF_INET6:
                self._socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            self._socket.bind((host, 0))
        except BaseException:
            self._socket.close()
            raise
        self.port: int = self._socket.getsockname()[1]
        self._secret, self._contexts = secret, ssl
        self._error: BaseException | None = None

    def connect(self, rank: int, addresses: Sequence[tuple[str, int]], timeout: float) -> Sockets:
        """Connect to all other members within `timeout` seconds, and close the port.

        It raises PeerLost if a member does not connect in time, or does not know the secret.
        """
        meeting = Meeting(self._socket, rank, addresses, self._secret, self._contexts)
        with contextlib.closing(self):
            lines = meeting.connect(time.monotonic() + timeout, lambda: self._error)
        peers = {
            other: Connection(line, f"graphflow-send-{rank}-{other}")
            for other, line in lines.items()
        }
        return Sockets(rank, peers, encrypted=self._contexts is not None)

    def abort(self, error: BaseException) -> None:
        """Make a waiting or later :meth:`connect` raise `error`. Any thread may call this."""
        self._error = self._error or error

    def close(self) -> None:
        """Close the port."""
        self._socket.close()


class Sockets(OwnSide):
    """A :class:`~.channel.Channel` on connections, which :class:`~.links.KeptLinks` may keep afterwards.

    Attributes
    ----------
    peers : dict of int to Connection
        The connections to the other members, by rank.
    """

    def __init__(self, rank: int, peers: dict[int, Connection], *, encrypted: bool) -> None:
        super().__init__(rank, len(peers) + 1, encrypted=encrypted)
        self.peers = peers
        self._lock = threading.Lock()

    def send(self, to: int, *parts: Any) -> None:
        """See :meth:`.Channel.send`."""
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
        """See :meth:`.Channel.receive`."""
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
        """See :meth:`.Channel.abort`."""
        # The lock prevents an abort during close: a closed socket's number may already be reused.
        with self._lock:
            if self._error is None:
                self._error = error
                for peer in self.peers.values():
                    peer.abort()
        self._aborts.call()

    def close(self) -> None:
        """See :meth:`.Channel.close`."""
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
