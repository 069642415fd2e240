"""Connections: a socket to another member, which the task's thread reads, and writes while it takes more.

Long messages are written, and those that follow on long ones read, by threads: they travel while the task
computes.

A host that dies says nothing. Where nothing is on its way to it, TCP's keep-alive notices. Where something
is, that does not run, and TCP goes on for a quarter of an hour; its user timeout is shorter, but also ends
connections to members that live and do not read for long, in a superstep of their own. So who waits looks
now and then whether the other machine acknowledges what is sent to it.
"""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import struct
import threading
import time
from collections import deque
from queue import SimpleQueue
from typing import Protocol

import numpy as np

__all__ = ["Connection"]

LENGTH = struct.Struct("<Q")
LONG = 1 << 20  # bytes of a message after which the next is read ahead
RECORD = 1 << 14  # bytes that TLS encrypts at a time
AT_ONCE = 64  # parts that are written at a time; systems have a limit
IDLE, INTERVAL, PROBES = 10, 5, 3  # of keep-alive: seconds, seconds, count
AWAKE = 50e-6  # seconds that a reader looks again before it sleeps: to be woken takes as long
LOOK, SILENCE = 5, 20  # seconds between looks at a peer that is waited for; without a sign of life


class Connection:
    """A socket to another member.

    Parameters
    ----------
    line : socket or SSLSocket
        Connected; this object closes it.
    name : str
        Of the thread that writes, if one is needed.
    """

    def __init__(self, line: socket.socket, name: str) -> None:
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
        self._reading_ahead = False  # the next message, for the one who receives it
        self._wanted = threading.Semaphore(0)
        self._ahead: SimpleQueue[memoryview | OSError] = SimpleQueue()

    def send(self, views: list[memoryview]) -> None:
        """Send a message: write what the socket takes at once; leave the rest to a thread."""
        views = [memoryview(LENGTH.pack(sum(map(len, views)))), *views]
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

    def receive(self) -> memoryview:
        """Wait for the next message.

        After a long one the next is read ahead by a thread: it is likely to be long too, and comes while
        the caller does something else.
        """
        if self._reading_ahead:
            came, self._reading_ahead = self._ahead.get(), False
            if isinstance(came, OSError):
                raise came
            message = came
        else:
            message = self._read()
        self._reading_ahead = len(message) >= LONG
        if self._reading_ahead:
            self._wanted.release()
            if self._reader is None:
                self._reader = threading.Thread(
                    target=self._read_ahead, name=f"{self._name}-reader", daemon=True
                )
                self._reader.start()
        return message

    def flush(self) -> None:
        """Wait until the system has all that was sent."""
        with self._changed:
            self._changed.wait_for(lambda: not self._unsent or self._error is not None)

    def abort(self) -> None:
        """End what waits in any thread."""
        with contextlib.suppress(OSError):
            # That of an SSLSocket ends encryption too.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
        self._fail(ConnectionAbortedError())

    def close(self) -> None:
        """Leave neither thread nor socket. What was not flushed is lost."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._wanted.release()
        for thread in (self._thread, self._reader):
            if thread is not None:
                thread.join()
        self._socket.close()

    def _read(self) -> memoryview:
        self._fill(self._length)
        # Not a bytearray, which is filled with zeros first: 8 MB took a fifth longer.
        message = np.empty(LENGTH.unpack(self._length), np.uint8).data
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
            del (
                views
            )  # or the message would stay in memory while this thread waits for the next one

    def _fail(self, error: OSError) -> None:
        with self._changed:
            self._error = self._error or error
            self._unsent.clear()
            self._changed.notify_all()


def _after(views: list[memoryview], written: int) -> list[memoryview]:
    """Return what comes after so many bytes."""
    for i, view in enumerate(views):
        if written < len(view):
            return [view[written:], *views[i + 1 :]]
        written -= len(view)
    return []


class _Line(Protocol):
    """A socket that one thread reads, and one at a time writes."""

    def offer(self, views: list[memoryview]) -> int:
        """Write what is taken at once; return how many bytes."""

    def write(self, views: list[memoryview]) -> int:
        """Write some, and wait until some is taken; return how many bytes."""

    def read(self, view: memoryview) -> int:
        """Read some, and wait until there is some; return how many bytes."""


class _Plain:
    def __init__(self, line: socket.socket) -> None:
        self._socket = line
        # The system's timeouts: with Python's each call would be two.
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


class _Secure:
    """With TLS, whose state both directions change: so a lock, and never waiting under it."""

    def __init__(self, line: ssl.SSLSocket) -> None:
        self._socket = line
        self._lock = threading.Lock()
        line.setblocking(False)

    def offer(self, views: list[memoryview]) -> int:
        written = 0
        try:
            while views:
                # What was refused is to be offered again, with more after it if anything.
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

    def _wait(self, event: int) -> None:
        poll = select.poll()
        poll.register(self._socket, event)
        if not poll.poll(LOOK * 1000):
            _look(self._socket)


def _some(count: int) -> int:
    if count == 0:
        raise ConnectionResetError
    return count


def _front(views: list[memoryview], size: int) -> memoryview | bytearray:
    """Return the first bytes of views, at most so many."""
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
    """Raise where what was sent, or could be, is not acknowledged, and nothing else is.

    To be called after waiting: what was sent before has had its time.
    """
    if hasattr(socket, "TCP_INFO"):
        # struct tcp_info; how often data was sent again is not counted where that fails here already, as
        # without a link. A peer that only does not read has acknowledged what was sent, has no window for
        # more, and acknowledges probes, if seldom.
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
