"""Channels between processes: a TCP connection for each two members of a gang.

The thread of the task reads its sockets itself, and writes what they take at once: short messages go and
come in 30 us, of which another thread or an event loop would make 70 and more. What is too long for that is
left to threads, two a peer, made when they are first needed: so all may send before any receives.

A connection begins with a proof by either side that it knows the run's secret; a stranger is hung up on.
With TLS contexts it is encrypted; without, as in Dask, what follows can be read and changed on the way.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import ssl as tls
import struct
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from .channel import Aborts, Channel, PeerLost, buffers
from .connections import Connection, shut

__all__ = ["Listener"]

Contexts = tuple[tls.SSLContext, tls.SSLContext]

HANDSHAKE = 5.0  # seconds that a stranger may take
HELLO = struct.Struct("<II32s")  # who calls, who is called, a nonce
PROOF = 32  # bytes


class Listener:
    """A port where the other members of a run find this one.

    Parameters
    ----------
    host : str
        The address to listen on: this machine's that the others know.
    secret : bytes or bytearray
        The run's. It is looked at when the members connect.
    ssl : (SSLContext, SSLContext), optional
        For the connections that are accepted, and for those that are made.

    Attributes
    ----------
    port : int
        It is open at once.
    """

    def __init__(self, host: str, secret: bytes | bytearray, ssl: Contexts | None = None) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, 0), family=family, backlog=128)
        self.port: int = self._socket.getsockname()[1]
        self._secret, self._contexts = secret, ssl
        self._error: BaseException | None = None
        self._open: list[socket.socket] = []

    def connect(self, rank: int, addresses: Sequence[tuple[str, int]], timeout: float) -> Channel:
        """Connect to all other members, and stop listening.

        Parameters
        ----------
        rank : int
            Which member this is.
        addresses : sequence of (host, port)
            Of all members, by rank.
        timeout : float
            Seconds that this may take.

        Returns
        -------
        Channel

        Raises
        ------
        PeerLost
            A member was not there in time, or does not know the secret.
        """
        deadline = time.monotonic() + timeout
        lines: dict[int, socket.socket] = {}
        try:
            # Lower ranks are called, higher ones call: the first member has nobody to call, and so
            # each in turn comes to answer.
            for other in range(rank):
                lines[other] = self._call(rank, other, addresses[other], deadline)
            while len(lines) < len(addresses) - 1:
                missing = next(o for o in range(rank + 1, len(addresses)) if o not in lines)
                answered = self._answer(rank, missing, deadline)
                if answered is not None:
                    lines[answered[0]] = answered[1]
            if self._error is not None:
                raise self._error
            return _Sockets(rank, lines, encrypted=self._contexts is not None)
        except BaseException:
            for line in self._open:
                line.close()
            raise
        finally:
            self.close()

    def abort(self, error: BaseException) -> None:
        """Have a :meth:`connect` that waits, or a later one, raise `error`. From any thread."""
        self._error = self._error or error
        for line in (self._socket, *self._open):
            shut(line)

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()

    def _call(
        self, rank: int, other: int, address: tuple[str, int], deadline: float
    ) -> socket.socket:
        try:
            line = socket.create_connection(address, timeout=_left(deadline))
            self._open.append(line)
            if self._contexts is not None:
                context = self._contexts[1]
                name = address[0] if context.check_hostname else None
                line = self._secured(line, context.wrap_socket(line, server_hostname=name))
            nonce = secrets.token_bytes(32)
            line.sendall(HELLO.pack(rank, other, nonce))
            answer = _read(line, 32 + PROOF, deadline)
            said = HELLO.pack(rank, other, nonce) + answer[:32]
            if not hmac.compare_digest(answer[32:], self._proof(b"called", said)):
                raise ConnectionError
            line.sendall(self._proof(b"caller", said))
        except OSError as error:
            raise self._error or PeerLost(other) from error
        return line

    def _answer(self, rank: int, missing: int, deadline: float) -> tuple[int, socket.socket] | None:
        """Answer the next call; return who it was, or None where it was a stranger."""
        try:
            self._socket.settimeout(_left(deadline))
            line, _ = self._socket.accept()
        except OSError as error:
            raise self._error or PeerLost(missing) from error
        self._open.append(line)
        until = min(deadline, time.monotonic() + HANDSHAKE)
        try:
            line.settimeout(_left(until))
            if self._contexts is not None:
                wrapped = self._contexts[0].wrap_socket(line, server_side=True)
                line = self._secured(line, wrapped)
            hello = _read(line, HELLO.size, until)
            caller, called, _nonce = HELLO.unpack(hello)
            nonce = secrets.token_bytes(32)
            line.sendall(nonce + self._proof(b"called", hello + nonce))
            proof = _read(line, PROOF, until)
            if called == rank and hmac.compare_digest(proof, self._proof(b"caller", hello + nonce)):
                return caller, line
        except OSError:
            pass
        if self._error is not None:
            raise self._error
        self._open.remove(line)
        line.close()
        return None

    def _secured(self, line: socket.socket, wrapped: tls.SSLSocket) -> tls.SSLSocket:
        self._open[self._open.index(line)] = wrapped
        return wrapped

    def _proof(self, side: bytes, said: bytes) -> bytes:
        # It names the side that gives it, or else a stranger could send ours back to us.
        return hmac.digest(self._secret, side + said, "sha256")


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _read(line: socket.socket, size: int, deadline: float) -> bytes:
    read = b""
    while len(read) < size:
        line.settimeout(_left(deadline))
        more = line.recv(size - len(read))
        if not more:
            raise ConnectionError
        read += more
    return read


class _Sockets:
    def __init__(self, rank: int, lines: dict[int, socket.socket], *, encrypted: bool) -> None:
        self.rank, self.size, self.encrypted = rank, len(lines) + 1, encrypted
        self.bytes_sent = self.bytes_received = 0
        self.seconds_waited = 0.0
        self._peers = {
            other: Connection(line, f"graphflow-send-{rank}-{other}")
            for other, line in lines.items()
        }
        self._error: BaseException | None = None
        self._lock = threading.Lock()
        self._aborts = Aborts()

    def send(self, to: int, *parts: Any) -> None:
        if self._error is not None:
            raise self._error
        views = buffers(parts)
        size = sum(map(len, views))
        try:
            self._peers[to].send(views)
        except OSError as error:
            raise self._error or PeerLost(to) from error
        self.bytes_sent += size

    def receive(self, source: int) -> memoryview:
        if self._error is not None:
            raise self._error
        began = time.perf_counter()
        try:
            message = self._peers[source].receive()
        except OSError as error:
            raise self._error or PeerLost(source) from error
        self.seconds_waited += time.perf_counter() - began
        self.bytes_received += len(message)
        return message

    def abort(self, error: BaseException) -> None:
        # Under a lock: the number of a socket that is being closed may be another's already.
        with self._lock:
            if self._error is None:
                self._error = error
                for peer in self._peers.values():
                    peer.abort()
        self._aborts.call()

    def abort_too(self, end: Callable[[], Any]) -> None:
        self._aborts.add(end)

    def close(self) -> None:
        if self._error is None:
            for peer in self._peers.values():
                peer.flush()
            self._aborts.clear()
        self.abort(ConnectionError("the channel was closed"))
        with self._lock:
            for peer in self._peers.values():
                peer.close()
