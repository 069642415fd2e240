"""Connections to another member: what all kinds do, and the kind that uses a socket.

The task's thread reads the socket, and writes what it takes at once. Other threads write the rest of long
messages, and read the messages that follow long ones. So long messages are in transit while the task
computes.

A host that dies does not close its connections. TCP's keep-alive notices this only while no data is on its
way to that host. While data is on its way, keep-alive does not run, and TCP retries for a quarter of an
hour. TCP's user timeout is shorter, but it also ends connections to members that are alive and do not read
for a long time because they are busy in a superstep. Therefore a thread that waits checks from time to time
whether the other machine acknowledges the data sent to it.
"""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import struct
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from queue import Empty, SimpleQueue
from typing import Protocol

import numpy as np

LENGTH = struct.Struct("<Q")
LONG = 1 << 20  # bytes; after a message of this size or more, the next one is read ahead
RECORD = 1 << 14  # bytes that TLS encrypts at a time
END = (1 << 64) - 1  # in place of a length: the sender has left the run
AT_ONCE = 64  # message parts per system call; operating systems limit this number
IDLE, INTERVAL, PROBES = 10, 5, 3  # keep-alive: seconds, seconds, count
AWAKE = 50e-6  # seconds that a reader polls before it sleeps; waking up takes as long
LOOK, SILENCE = 5, 20  # seconds between checks of a peer; seconds of silence until it is lost


class Connection(ABC):
    """A connection to another member, for one run after another."""

    def __init__(self) -> None:
        # How often the peer says that it has left a run, before any message of this one.
        self._ends = 0

    @abstractmethod
    def send(self, views: list[memoryview]) -> None:
        """Send a message without waiting until it is received."""

    def leave(self) -> None:
        """Tell the peer that this run has ended here. The connection can be used for another run."""
        self._send_end()
        self._ends += 1

    def receive(self, patience: float | None = None) -> memoryview:
        """Wait for the next message.

        Raise TimeoutError if none begins to arrive within `patience` seconds.
        """
        while self._ends:
            if self._next(patience) is not None:
                raise ConnectionAbortedError("a message of an earlier run was not received")
            self._ends -= 1
        message = self._next(patience)
        if message is None:
            raise ConnectionResetError("the peer has left the run")
        return message

    @abstractmethod
    def check(self) -> None:
        """Raise an error if the connection is known to be broken."""

    @abstractmethod
    def flush(self) -> None:
        """Wait until the peer can receive everything that was sent, even if this process ends."""

    @abstractmethod
    def abort(self) -> None:
        """Make all threads that wait for this connection fail, on both sides."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection, after :meth:`abort`. Messages that were not flushed are lost."""

    @abstractmethod
    def _send_end(self) -> None:
        """Send what says that the run has ended here."""

    @abstractmethod
    def _next(self, patience: float | None) -> memoryview | None:
        """Return the next message; None if the peer has left the run."""


class SocketConnection(Connection):
    """A connected socket to another member, which this object closes.

    After a long message, a thread reads the next one ahead. That one is likely to be long too, so it
    arrives while the task's thread does something else. The name is that of the thread that writes, if one
    is needed.
    """

    def __init__(self, line: socket.socket, name: str) -> None:
        super().__init__()
        self._socket, self._name = line, name
        _tune(line)
        self._line: _Line = _Secure(line) if isinstance(line, ssl.SSLSocket) else _Plain(line)
        self._unsent: deque[memoryview] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._error: OSError | None = None
        self._ended = False
        self._length = memoryview(bytearray(LENGTH.size))
        self._reader: threading.Thread | None = None
        self._reading_ahead = False  # whether the reader thread reads the next message
        self._wanted = threading.Semaphore(0)
        self._ahead: SimpleQueue[memoryview | OSError | None] = SimpleQueue()

    def send(self, views: list[memoryview]) -> None:
        """Send a message: write what the socket takes at once, and leave the rest to a thread."""
        self._put([memoryview(LENGTH.pack(sum(map(len, views)))), *views])

    def _send_end(self) -> None:
        self._put([memoryview(LENGTH.pack(END))])

    def _put(self, views: list[memoryview]) -> None:
        with self._changed:
            if self._error is not None:
                raise self._error
            if not self._unsent:
                views = _after(views, self._line.offer(views))
                if not views:
                    return
            self._unsent.extend(views)
            self._changed.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(target=self._write, name=self._name, daemon=True)
                self._thread.start()

    def check(self) -> None:
        """See :meth:`Connection.check`."""
        if self._error is not None:
            raise self._error
        with contextlib.suppress(BlockingIOError):
            # Not SSLSocket.recv, which would decrypt what it returns.
            flags = socket.MSG_PEEK | socket.MSG_DONTWAIT
            _some(len(socket.socket.recv(self._socket, 1, flags)))

    def _next(self, patience: float | None) -> memoryview | None:
        if self._reading_ahead:
            try:
                came = self._ahead.get(timeout=patience)
            except Empty:
                raise TimeoutError from None
            self._reading_ahead = False
            if isinstance(came, OSError):
                raise came
            message = came
        else:
            if patience is not None:
                self._line.wait(patience)
            message = self._read()
        self._reading_ahead = message is not None and len(message) >= LONG
        if self._reading_ahead:
            self._wanted.release()
            if self._reader is None:
                self._reader = threading.Thread(
                    target=self._read_ahead, name=f"{self._name}-reader", daemon=True
                )
                self._reader.start()
        return message

    def flush(self) -> None:
        """Wait until the operating system has taken everything that was sent."""
        with self._changed:
            self._changed.wait_for(lambda: not self._unsent or self._error is not None)

    def abort(self) -> None:
        """See :meth:`Connection.abort`."""
        with contextlib.suppress(OSError):
            # Not SSLSocket.shutdown, which would also end the encryption.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
        self._fail(ConnectionAbortedError())

    def close(self) -> None:
        """End the threads and close the socket. Data that was not flushed is lost."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._wanted.release()
        for thread in (self._thread, self._reader):
            if thread is not None:
                thread.join()
        self._socket.close()

    def _read(self) -> memoryview | None:
        self._fill(self._length)
        (length,) = LENGTH.unpack(self._length)
        if length == END:
            return None
        # A bytearray would be filled with zeros first: 8 MB took a fifth longer.
        message = np.empty(length, np.uint8).data
        self._fill(message)
        return message

    def _fill(self, view: memoryview) -> None:
        while view:
            view = view[self._line.read(view) :]

    def _read_ahead(self) -> None:
        while True:
            self._wanted.acquire()
            if self._ended:
                return
            try:
                self._ahead.put(self._read())
            except OSError as error:
                self._ahead.put(error)

    def _write(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._unsent or self._ended)
                views = [self._unsent[i] for i in range(min(AT_ONCE, len(self._unsent)))]
            if not views:
                return
            try:
                written = self._line.write(views)
            except OSError as error:
                self._fail(error)
                continue
            with self._changed:
                if self._error is None:
                    for _ in range(len(views)):
                        self._unsent.popleft()
                    self._unsent.extendleft(reversed(_after(views, written)))
                    self._changed.notify_all()
            # Otherwise the message would stay in memory while this thread waits for the next one.
            del views

    def _fail(self, error: OSError) -> None:
        with self._changed:
            self._error = self._error or error
            self._unsent.clear()
            self._changed.notify_all()


def _after(views: list[memoryview], written: int) -> list[memoryview]:
    """Return the views without their first `written` bytes."""
    for i, view in enumerate(views):
        if written < len(view):
            return [view[written:], *views[i + 1 :]]
        written -= len(view)
    return []


class _Line(Protocol):
    """A socket that one thread reads. Only one thread at a time writes."""

    def offer(self, views: list[memoryview]) -> int:
        """Write the bytes that the socket takes without waiting; return their number."""

    def write(self, views: list[memoryview]) -> int:
        """Wait until the socket takes some bytes, and return their number."""

    def read(self, view: memoryview) -> int:
        """Wait until there are bytes to read; read some, and return their number."""

    def wait(self, patience: float) -> None:
        """Wait until there are bytes to read; raise a TimeoutError after so many seconds."""


class _Plain:
    def __init__(self, line: socket.socket) -> None:
        self._socket = line
        # These are the system's timeouts. With Python's, every call would take two system calls.
        line.settimeout(None)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            line.setsockopt(socket.SOL_SOCKET, option, struct.pack("@ll", LOOK, 0))

    def offer(self, views: list[memoryview]) -> int:
        try:
            return self._socket.sendmsg(views, (), socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 0

    def write(self, views: list[memoryview]) -> int:
        while True:
            try:
                return self._socket.sendmsg(views)
            except BlockingIOError:
                _look(self._socket)

    def read(self, view: memoryview) -> int:
        sleep = time.perf_counter() + AWAKE
        while True:
            waits = time.perf_counter() >= sleep
            try:
                return _some(self._socket.recv_into(view, 0, 0 if waits else socket.MSG_DONTWAIT))
            except BlockingIOError:
                if waits:
                    _look(self._socket)

    def wait(self, patience: float) -> None:
        if not _ready(self._socket, select.POLLIN, patience):
            raise TimeoutError


class _Secure:
    """A TLS socket. Reads and writes both change its state, so they take a lock and never wait under it."""

    def __init__(self, line: ssl.SSLSocket) -> None:
        self._socket = line
        self._lock = threading.Lock()
        line.setblocking(False)

    def offer(self, views: list[memoryview]) -> int:
        written = 0
        try:
            while views:
                # TLS requires that refused bytes are offered again first. More bytes may follow them.
                record = _front(views, RECORD)
                with self._lock:
                    taken = self._socket.send(record)
                views = _after(views, taken)
                written += taken
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        return written

    def write(self, views: list[memoryview]) -> int:
        while True:
            written = self.offer(views)
            if written:
                return written
            self._wait(select.POLLOUT)

    def read(self, view: memoryview) -> int:
        while True:
            try:
                with self._lock:
                    return _some(self._socket.recv_into(view))
            except ssl.SSLWantReadError:
                self._wait(select.POLLIN)

    def wait(self, patience: float) -> None:
        if not self._socket.pending() and not _ready(self._socket, select.POLLIN, patience):
            raise TimeoutError

    def _wait(self, event: int) -> None:
        if not _ready(self._socket, event, LOOK):
            _look(self._socket)


def _ready(line: socket.socket, event: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(line, event)
    return bool(poll.poll(seconds * 1000))


def _some(count: int) -> int:
    if count == 0:
        raise ConnectionResetError
    return count


def _front(views: list[memoryview], size: int) -> memoryview | bytearray:
    """Return the first bytes of the views, at most `size`."""
    if len(views) == 1 or len(views[0]) >= size:
        return views[0][:size]
    front = bytearray()
    for view in views:
        front += view[: size - len(front)]
    return front


def _tune(line: socket.socket) -> None:
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    times = {"TCP_KEEPIDLE": IDLE, "TCP_KEEPINTVL": INTERVAL, "TCP_KEEPCNT": PROBES}
    for name, value in times.items():
        if hasattr(socket, name):  # not every system has all of them
            line.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _look(line: socket.socket) -> None:
    """Raise TimeoutError if data was sent, or could be, and the peer has acknowledged nothing for a while.

    Call this after waiting, so that the peer has had time to acknowledge earlier data.
    """
    if hasattr(socket, "TCP_INFO"):
        # Read struct tcp_info. Its count of retransmissions cannot be used, because it does not rise if
        # sending fails on this machine, for example without a link. A peer that is alive and does not read
        # has acknowledged what was sent, has no window for more, and still acknowledges probes, if rarely.
        info = line.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
        segment, unacknowledged, quiet = (
            struct.unpack_from("@I", info, at)[0] for at in (16, 24, 56)
        )
        stuck = unacknowledged > 0
        if len(info) == 232:  # Linux 5.4: tcpi_notsent_bytes, tcpi_snd_wnd
            unsent, window = (struct.unpack_from("@I", info, at)[0] for at in (144, 228))
            stuck |= 0 < min(unsent, 2 * segment) <= window
        if stuck and quiet > SILENCE * 1000:
            raise TimeoutError
