"""Strangers at the port of a member: they cannot keep the members of a run apart, or slow them down.

All strangers are on the loopback interface, and there are at most 300 at a time.
"""

from __future__ import annotations

import socket
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from types import SimpleNamespace

import pytest
from members import SECRET, contexts, reached

from dask_graphflow.comm import handshake
from dask_graphflow.comm.sockets import Listener
from dask_graphflow.tasks.membership import _hosts

COUNT = 300
SOON = 1.0  # seconds that all strangers together may cost
HELLO = handshake.HELLO.pack(1, 0, bytes(32)) + bytes(32)  # with a proof that is wrong


def hung_up(line, within=10.0):
    """Return whether the other side closes a connection without sending anything."""
    line.settimeout(within)
    try:
        return line.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


class Gathering:
    """Members that come one after the other; member 0 is there from the start.

    Attributes
    ----------
    port : int
        The port of member 0.
    """

    def __init__(self, size, tls=None):
        self._listeners = [Listener("127.0.0.1", SECRET, tls) for _ in range(size)]
        self._ports = [listener.port for listener in self._listeners]
        self.port = self._ports[0]
        self._pool = ThreadPoolExecutor(size)
        self._coming = {}
        self.bring(0)

    def bring(self, rank, port=None):
        """Start a member, which finds member 0 at a given port."""
        ports = [port or self.port, *self._ports[1:]]
        addresses = [("127.0.0.1", one) for one in ports]
        connect = self._listeners[rank].connect
        self._coming[rank] = self._pool.submit(connect, rank, addresses, 20)

    def channels(self):
        """Return the channels of all members, once all are connected."""
        return {rank: one.result() for rank, one in self._coming.items()}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        over = ConnectionError("the test is over")
        for listener in self._listeners:
            listener.abort(over)
        for one in self._coming.values():
            if one.exception() is None:
                one.result().abort(over)
                one.result().close()
        self._pool.shutdown()
        for listener in self._listeners:
            listener.close()


def talk(members):
    """Make each member send its rank to all others."""
    channels = members.channels()
    for rank, channel in channels.items():
        for other in channels:
            if other != rank:
                channel.send(other, b"from %d" % rank)
    for rank, channel in channels.items():
        for other in channels:
            if other != rank:
                assert channel.receive(other) == b"from %d" % other


def silent(line):
    pass


def dripping(line):
    line.send(HELLO[:1])


def guessing(line):
    line.send(HELLO)


def browsing(line):
    line.send(b"GET / HTTP/1.1\r\n\r\n" + bytes(1000))


def leaving(line):
    line.close()


@pytest.mark.alone
@pytest.mark.parametrize("tls", [None, contexts], ids=["plain", "tls"])
@pytest.mark.parametrize("acts", [silent, dripping, guessing, browsing, leaving])
def test_members_do_not_wait_for_strangers(acts, tls):
    with Gathering(2, tls and tls()) as members:
        lines = [reached(members.port) for _ in range(COUNT)]
        for line in lines:
            acts(line)
        began = time.perf_counter()
        members.bring(1)
        talk(members)
        assert time.perf_counter() - began < SOON
        for line in lines:
            line.close()


def test_a_silent_stranger_is_disconnected(monkeypatch):
    monkeypatch.setattr(handshake, "PATIENCE", 0.2)
    with Gathering(2) as members, reached(members.port) as line:
        began = time.perf_counter()
        assert hung_up(line)
        assert 0.15 < time.perf_counter() - began < 5
        members.bring(1)
        talk(members)


@pytest.mark.parametrize("acts", [guessing, browsing])
def test_a_wrong_hello_is_disconnected_at_once(acts, monkeypatch):
    monkeypatch.setattr(handshake, "PATIENCE", 20.0)
    with Gathering(2) as members, reached(members.port) as line:
        acts(line)
        assert hung_up(line, 5)


def test_a_stranger_at_the_port_of_a_member_is_not_taken_for_it():
    listener = Listener("127.0.0.1", SECRET)
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:
        connecting = pool.submit(listener.connect, 1, [server.getsockname(), None], 20)
        line, _ = server.accept()
        with line:
            read_bytes(line, len(HELLO))
            line.sendall(bytes(64))
            assert hung_up(line)
        listener.abort(ConnectionError("the test is over"))
        with pytest.raises(ConnectionError, match="the test is over"):
            connecting.result(20)


# A relay between a member and the port that it calls


@contextmanager
def between(port, treat):
    """Return a port that passes on what is sent to it, once `treat` returns the data instead of None."""
    server = socket.create_server(("127.0.0.1", 0))

    def copy(source, to):
        with suppress(OSError):
            while data := source.recv(1 << 16):
                to.sendall(data)
        with suppress(OSError):
            to.shutdown(socket.SHUT_RDWR)

    def serve():
        hello = None
        while hello is None:
            near, _ = server.accept()
            hello = treat(near)
            if hello is None:
                near.close()
        with near, reached(port) as far:
            far.sendall(hello)
            back = threading.Thread(target=copy, args=(far, near))
            back.start()
            copy(near, far)
            back.join()

    with server, ThreadPoolExecutor(1) as pool:
        serving = pool.submit(serve)
        yield server.getsockname()[1]
        serving.result(20)


def read_bytes(line, size):
    data = b""
    while len(data) < size:
        more = line.recv(size - len(data))
        assert more
        data += more
    return data


def test_a_member_that_was_taken_for_a_stranger_calls_again():
    calls = []

    def treat(near):
        calls.append(near)
        return read_bytes(near, len(HELLO)) if len(calls) == 3 else None

    with ExitStack() as stack:
        members = Gathering(2)
        port = stack.enter_context(between(members.port, treat))
        stack.enter_context(members)
        members.bring(1, port)
        talk(members)
    assert len(calls) == 3


def test_a_replayed_hello_is_refused():
    heard = []

    def treat(near):
        heard.append(read_bytes(near, len(HELLO)))
        return heard[0]

    with ExitStack() as stack:
        members = Gathering(3)
        port = stack.enter_context(between(members.port, treat))
        stack.enter_context(members)
        members.bring(1, port)
        time.sleep(0.2)
        with reached(members.port) as stranger:
            stranger.sendall(heard[0])
            assert hung_up(stranger)
        members.bring(2)
        talk(members)


def test_a_member_does_not_take_its_own_proof():
    def treat(near):
        hello = read_bytes(near, len(HELLO))
        if not parrots:
            with reached(members.port) as stranger:
                stranger.sendall(hello)
                stranger.sendall(read_bytes(stranger, 64)[32:])
                parrots.append(hung_up(stranger))
            return None
        return hello

    parrots = []
    with ExitStack() as stack:
        members = Gathering(2)
        port = stack.enter_context(between(members.port, treat))
        stack.enter_context(members)
        members.bring(1, port)
        talk(members)
    assert parrots == [True]


# On clusters


@pytest.mark.parametrize(
    ("listens", "known", "hosts"),
    [
        ("inproc://10.1.2.3/45/1", "inproc://10.1.2.3/45/1", ("127.0.0.1", "127.0.0.1")),
        ("tcp://0.0.0.0:5000", "tcp://127.0.0.1:5000", ("127.0.0.1", "127.0.0.1")),
        ("tls://[::]:5000", "tls://[::1]:5000", ("::1", "::1")),
        ("tcp://0.0.0.0:5000", "tcp://10.1.2.3:5000", ("0.0.0.0", "10.1.2.3")),
        ("tcp://10.1.2.3:5000", "tcp://worker-7:5000", ("10.1.2.3", "worker-7")),
    ],
)
def test_members_listen_where_others_call_them(listens, known, hosts):
    assert _hosts(SimpleNamespace(listen_address=listens, address=known)) == hosts


met: list[int] = []  # how many strangers came each time, in this process


@pytest.mark.alone
def test_a_stream_of_strangers_does_not_prevent_members_from_connecting():
    over = threading.Event()

    def come(port):
        lines = deque()
        while not over.is_set():
            line = socket.socket()
            line.setblocking(False)
            line.connect_ex(("127.0.0.1", port))
            lines.append(line)
            if len(lines) > COUNT:
                lines.popleft().close()
        for line in lines:
            line.close()

    with Gathering(2) as members:
        reached(members.port).close()
        coming = threading.Thread(target=come, args=(members.port,))
        coming.start()
        time.sleep(0.2)
        began = time.perf_counter()
        members.bring(1)
        try:
            talk(members)
            assert time.perf_counter() - began < SOON
        finally:
            over.set()
            coming.join()


def is_open(port):
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


def test_the_port_is_open_only_while_members_are_missing():
    early = Listener("127.0.0.1", SECRET)
    assert not is_open(early.port)
    early.close()
    with Gathering(3) as members:
        reached(members.port).close()
        members.bring(1)
        time.sleep(0.1)
        assert is_open(members.port)
        members.bring(2)
        talk(members)
        assert not is_open(members.port)


def known(dask_scheduler):
    return len(dask_scheduler.tasks)
