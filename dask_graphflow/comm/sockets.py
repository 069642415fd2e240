"""Connections between processes: one TCP connection for each pair of members of a gang.

The thread of the task reads its sockets itself, and writes what they take at once. A round trip of short
messages takes 30 us this way; with another thread or an event loop it would take 70 us or more. Longer
messages are left to two threads per peer, which are started when they are first needed. So all members may
send before any of them receives.

Members of one process hand each other messages in memory instead (:mod:`.process_meeting`).

When a connection begins, each side proves that it knows the run's secret (:mod:`.handshake`). With TLS
contexts the connection is encrypted. Without TLS, as in Dask, others on the network can read and change
messages.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterable, Sequence

from .channel import Channel
from .connections import SocketConnection
from .handshake import Contexts, Meeting
from .process_meeting import ProcessMeeting, wake


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

    def connect(
        self,
        rank: int,
        addresses: Sequence[tuple[str, int]],
        timeout: float,
        here: Iterable[int] = (),
    ) -> Channel:
        """Connect to all other members within `timeout` seconds, and close the port.

        `here` are the ranks of all members in this process; they connect in memory. It raises PeerLost if a
        member does not connect in time, or does not know the secret.
        """
        deadline = time.monotonic() + timeout
        beside = set(here) - {rank}
        others = set(range(len(addresses))) - beside - {rank}
        with contextlib.closing(self), ProcessMeeting(self._secret, rank, beside) as nearby:
            nearby.wait(timeout, lambda: self._error)
            meeting = Meeting(self._socket, rank, addresses, others, self._secret, self._contexts)
            lines = meeting.connect(deadline, lambda: self._error)
        peers = nearby.ends | {
            other: SocketConnection(line, f"graphflow-send-{rank}-{other}")
            for other, line in lines.items()
        }
        return Channel(rank, peers, encrypted=self._contexts is not None)

    def abort(self, error: BaseException) -> None:
        """Make a waiting or later :meth:`connect` raise `error`. Any thread may call this."""
        self._error = self._error or error
        wake()

    def close(self) -> None:
        """Close the port."""
        self._socket.close()
