"""Connect the members of a run to each other by sockets, even if strangers connect to their ports.

Each member calls the members of lower rank and is called by those of higher rank. One thread serves
all connections: it waits until any of them is ready, so a silent stranger does not delay the others.

The caller speaks first: its hello carries a proof (an HMAC) that it knows the run's secret. Then the called
member proves the same, and then the caller proves that its hello was not a recording:

1. the caller sends both ranks, a nonce, and the HMAC of these;
2. the called member sends a nonce of its own, and the HMAC of everything sent so far;
3. the caller sends its own HMAC of everything sent so far.

A true member sends its hello as soon as it is connected. A connection that has sent no hello for
:data:`PATIENCE` seconds is closed, and the oldest such connection is closed as soon as there are more than
:data:`PENDING`. A true member whose connection was closed calls again.
"""

from __future__ import annotations

import errno
import hmac
import os
import secrets
import selectors
import socket
import ssl as tls
import struct
import time
from collections.abc import Callable, Generator, Sequence
from typing import Any

from .channel import PeerLost

Contexts = tuple[tls.SSLContext, tls.SSLContext]
Steps = Generator[int, None, int]
"""The steps of a conversation: yields the event to wait for, and returns the rank of the other member."""

PATIENCE = 2.0  # seconds for making a connection, and for a caller to send its hello
PENDING = 64  # callers without a hello
BACKLOG = 1024  # connections that the system may queue until we accept them
BATCH = 64  # connections to accept before open connections get their turn
AGAIN = 0.001, 0.02  # seconds until a member is called again: at first, and at most
LOOK = 0.05  # seconds between checks whether the run is over

HELLO = struct.Struct("<II32s")  # rank of the caller, rank of the called member, nonce
NONCE = PROOF = 32  # bytes

# These errors mean that the other member does not listen yet, was too busy, or took us for a stranger.
RETRIED = (ConnectionError, TimeoutError, tls.SSLEOFError)


class _Talk:
    """A connection on which one side or both still have to prove that they know the secret.

    Attributes
    ----------
    line : socket or SSLSocket
    steps : generator
    until : float
        When to give up, by the monotonic clock.
    called : int or None
        The member that was called; None if we were called.
    heard : bool
        Whether the caller has sent a hello that only a member can make.
    watched : bool
        Whether the connection is registered with the selector.
    """

    def __init__(self, line: socket.socket, called: int | None) -> None:
        line.setblocking(False)
        self.line, self.called = line, called
        self.until = time.monotonic() + PATIENCE
        self.heard = self.watched = False
        self.steps: Steps


class Meeting:
    """The sockets of one member, while they are being connected.

    Parameters
    ----------
    listening : socket
        A socket that is bound and not listening yet, so that nobody can connect before the run starts. It
        is closed once all members of higher rank are connected.
    rank : int
        This member's rank.
    addresses : sequence of (host, port)
        The addresses of all members, by rank.
    others : set of int
        The members to connect to.
    secret : bytes or bytearray
        The run's secret.
    contexts : (SSLContext, SSLContext) or None
        TLS contexts for accepted connections and for calls.
    """

    def __init__(
        self,
        listening: socket.socket,
        rank: int,
        addresses: Sequence[tuple[str, int]],
        others: set[int],
        secret: bytes | bytearray,
        contexts: Contexts | None,
    ) -> None:
        self._listening, self._rank, self._addresses = listening, rank, addresses
        self._others = others
        self._secret, self._contexts = secret, contexts
        self._lines: dict[int, socket.socket] = {}
        self._talks: dict[_Talk, None] = {}  # oldest first
        self._hellos: set[bytes] = set()
        called = {other for other in others if other < rank}
        self._callers = others - called  # members that still have to call
        self._due = dict.fromkeys(called, 0.0)  # when to call each member next
        self._tries = dict.fromkeys(called, 0)
        self._deadline = 0.0
        self._selector = selectors.DefaultSelector()

    def connect(
        self, deadline: float, error: Callable[[], BaseException | None]
    ) -> dict[int, socket.socket]:
        """Return a socket that is connected to each of the other members, by rank.

        It gives up at `deadline`, by the monotonic clock. While it waits, it calls `error` repeatedly, and
        raises the exception that it returns. It raises PeerLost if a member cannot be reached, or does not
        call in time.
        """
        self._deadline = deadline
        try:
            self._where = {other: self._resolve(other) for other in self._due}
            if self._callers:
                self._listening.setblocking(False)
                self._listening.listen(BACKLOG)
                self._selector.register(self._listening, selectors.EVENT_READ)
            while len(self._lines) < len(self._others):
                if (stop := error()) is not None:
                    raise stop
                self._look()
        except BaseException:
            for line in self._lines.values():
                line.close()
            raise
        finally:
            for talk in self._talks:
                talk.line.close()
            self._selector.close()
        return self._lines

    def _look(self) -> None:
        """Do everything that is due, and then serve the connections that are ready."""
        now = time.monotonic()
        if now >= self._deadline:
            raise PeerLost(min(self._others - self._lines.keys()))
        for talk in [talk for talk in self._talks if now >= talk.until]:
            self._drop(talk, TimeoutError())
        for other in [other for other, due in self._due.items() if now >= due]:
            self._call(other)
        wait = min([LOOK, *(due - now for due in self._due.values())])
        for key, _ in self._selector.select(max(0.0, wait)):
            if key.fileobj is self._listening:
                if self._callers:  # otherwise the listening socket was closed just now
                    self._accept()
            elif key.data in self._talks:  # otherwise it was dropped for a newer connection
                self._advance(key.data)

    def _accept(self) -> None:
        for _ in range(BATCH):
            strangers = [talk for talk in self._talks if talk.called is None and not talk.heard]
            try:
                line, _address = self._listening.accept()
            except BlockingIOError:
                return
            except OSError:  # perhaps strangers use up the file descriptors of this process
                for talk in strangers:
                    self._drop(talk)
                if not strangers:
                    time.sleep(AGAIN[0])
                return
            if len(strangers) >= PENDING:
                self._drop(strangers[0])
            talk = _Talk(line, None)
            talk.steps = self._answer(talk)
            self._talks[talk] = None
            self._advance(talk)
            if not self._callers:
                return

    def _call(self, other: int) -> None:
        del self._due[other]
        where = self._where[other]
        family, address = where[self._tries[other] % len(where)]
        self._tries[other] += 1
        try:
            line = socket.socket(family, socket.SOCK_STREAM)
        except OSError:  # perhaps too many files are open, or there is no IPv6 here
            self._due[other] = time.monotonic() + AGAIN[1]
            return
        talk = _Talk(line, other)
        talk.steps = self._introduce(talk, other, address)
        self._talks[talk] = None
        self._advance(talk)

    def _resolve(self, other: int) -> list[tuple[int, Any]]:
        host, port = self._addresses[other]
        try:
            addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise PeerLost(other) from error
        return [(one[0], one[4]) for one in addresses]

    def _advance(self, talk: _Talk) -> None:
        """Continue a conversation until it has to wait, ends, or fails."""
        try:
            event = next(talk.steps)
        except StopIteration as done:
            self._forget(talk)
            self._lines[done.value] = talk.line
            if talk.called is None:
                self._callers.remove(done.value)
                if not self._callers:
                    self._selector.unregister(self._listening)
                    self._listening.close()
        except OSError as error:
            self._drop(talk, error)
        else:
            watch = self._selector.modify if talk.watched else self._selector.register
            watch(talk.line, event, talk)
            talk.watched = True

    def _drop(self, talk: _Talk, error: OSError | None = None) -> None:
        self._forget(talk)
        talk.line.close()
        if talk.called is None:
            return
        if not isinstance(error, RETRIED):
            raise PeerLost(talk.called) from error
        first, most = AGAIN
        pause = min(most, first * 2 ** min(self._tries[talk.called], 10))
        self._due[talk.called] = time.monotonic() + pause

    def _forget(self, talk: _Talk) -> None:
        del self._talks[talk]
        if talk.watched:
            self._selector.unregister(talk.line)

    # Conversations

    def _introduce(self, talk: _Talk, other: int, address: Any) -> Steps:
        failed = talk.line.connect_ex(address)
        if failed == errno.EINPROGRESS:
            yield selectors.EVENT_WRITE
            failed = talk.line.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if failed:
            # Python chooses the subclass, such as ConnectionRefusedError, by the error number.
            raise OSError(failed, os.strerror(failed))
        talk.until = self._deadline  # the connection is made, so PATIENCE no longer applies
        if self._contexts is not None:
            context = self._contexts[1]
            name = self._addresses[other][0] if context.check_hostname else None
            yield from _encrypt(talk, context, server_hostname=name)
        hello = HELLO.pack(self._rank, other, secrets.token_bytes(NONCE))
        _send(talk, hello + self._prove(b"hello", hello))
        nonce = yield from _read(talk, NONCE)
        yield from self._check_proof(talk, b"called", hello + nonce)
        _send(talk, self._prove(b"caller", hello + nonce))
        return other

    def _answer(self, talk: _Talk) -> Steps:
        if self._contexts is not None:
            yield from _encrypt(talk, self._contexts[0], server_side=True)
        hello = yield from _read(talk, HELLO.size)
        yield from self._check_proof(talk, b"hello", hello)
        caller, called, _ = HELLO.unpack(hello)
        if called != self._rank or hello in self._hellos:  # a known hello is a replay by a stranger
            raise ConnectionError
        self._hellos.add(hello)
        talk.heard, talk.until = True, self._deadline
        nonce = secrets.token_bytes(NONCE)
        _send(talk, nonce + self._prove(b"called", hello + nonce))
        yield from self._check_proof(talk, b"caller", hello + nonce)
        if caller not in self._callers:
            raise ConnectionError
        return int(caller)

    def _prove(self, side: bytes, said: bytes) -> bytes:
        # The proof contains the side that gives it. Otherwise a stranger could send our own proof back.
        return hmac.digest(self._secret, side + said, "sha256")

    def _check_proof(self, talk: _Talk, side: bytes, said: bytes) -> Generator[int, None, None]:
        proof = yield from _read(talk, PROOF)
        if not hmac.compare_digest(proof, self._prove(side, said)):
            raise ConnectionError


def _encrypt(talk: _Talk, context: tls.SSLContext, **side: Any) -> Generator[int, None, None]:
    wrapped = context.wrap_socket(talk.line, do_handshake_on_connect=False, **side)
    talk.line = wrapped
    while True:
        try:
            wrapped.do_handshake()
            return
        except tls.SSLWantReadError:
            yield selectors.EVENT_READ
        except tls.SSLWantWriteError:
            yield selectors.EVENT_WRITE


def _send(talk: _Talk, data: bytes) -> None:
    # Nothing else is waiting to be sent, so a healthy connection takes all bytes at once.
    if talk.line.send(data) < len(data):
        raise ConnectionError


def _read(talk: _Talk, size: int) -> Generator[int, None, bytes]:
    read = b""
    while len(read) < size:
        try:
            more = talk.line.recv(size - len(read))
        except (BlockingIOError, tls.SSLWantReadError):
            yield selectors.EVENT_READ
            continue
        except tls.SSLWantWriteError:
            yield selectors.EVENT_WRITE
            continue
        if not more:
            raise ConnectionResetError
        read += more
    return read
