"""Channels: long messages arrive whole and in order, and no member waits for one that has left."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from members import KINDS, SECRET, by_sockets, connecting, contexts, each, reached
from wire import HOSTS, hosts

from dask_graphflow.comm import process_meeting
from dask_graphflow.comm.channel import PeerLost
from dask_graphflow.comm.sockets import Listener

LONG = 1 << 25  # bytes, more than any socket holds


class CancelError(Exception):
    pass


@pytest.fixture(params=KINDS)
def connected(request):
    with connecting(request.param) as connect:
        yield connect


def others(channel):
    return [rank for rank in range(channel.size) if rank != channel.rank]


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_messages_come_whole_and_in_order(connected, size):
    def message(source, to, number):
        numbers = np.arange(number * 1000) * source + to
        return [b"%d>%d" % (source, to), numbers, numbers[:3].astype("float32"), b""]

    def member(channel):
        for number in range(5):
            for to in others(channel):
                channel.send(to, *message(channel.rank, to, number))
        for source in others(channel):
            for number in range(5):
                expected = b"".join(map(bytes, message(source, channel.rank, number)))
                assert channel.receive(source) == expected

    channels = connected(size)
    each(member, channels)
    assert sum(channel.bytes_sent for channel in channels) == sum(
        channel.bytes_received for channel in channels
    )
    assert all(
        channel.rank == rank and channel.size == size for rank, channel in enumerate(channels)
    )


def test_long_messages_both_ways_at_once(connected):
    def member(channel):
        other = 1 - channel.rank
        sent = np.full(LONG // 8, channel.rank, "int64")
        channel.send(other, b"mine", sent)
        message = channel.receive(other)
        assert message[:4] == b"mine"
        assert len(message) == LONG + 4
        assert (np.frombuffer(message, "int64", offset=4) == other).all()

    each(member, connected(2))


def test_sending_does_not_wait_for_the_receiver(connected):
    left, right = connected(2)
    for _ in range(3):
        left.send(1, np.ones(LONG, "uint8"))
    assert right.bytes_received == 0
    assert [sum(right.receive(0)[:: 1 << 20]) for _ in range(3)] == [LONG >> 20] * 3


def test_the_receiver_owns_a_received_message(connected):
    left, right = connected(2)
    mine = np.zeros(10, "uint8")
    left.send(1, mine)
    theirs = right.receive(0)
    theirs[:] = b"0123456789"
    assert not mine.any()


@pytest.mark.parametrize("words", [1, 1 << 20])
def test_sent_parts_may_change_once_the_receiver_has_answered(connected, words):
    def member(channel):
        other = 1 - channel.rank
        boxes = np.zeros((2, words), "int64")
        for step in range(12):
            boxes[step % 2] = step
            channel.send(other, boxes[step % 2])
            assert (np.frombuffer(channel.receive(other), "int64") == step).all()

    each(member, connected(2))


def test_waiting_is_counted(connected):
    left, right = connected(2)
    sender = threading.Timer(0.2, left.send, (1, b"late"))
    sender.start()
    assert right.receive(0) == b"late"
    sender.join()
    assert 0.15 < right.seconds_waited < 2
    assert left.seconds_waited == 0


@pytest.mark.parametrize("started", [False, True], ids=["between messages", "within one"])
def test_abort_ends_a_waiting_member_and_is_final(connected, started):
    left, right, third = connected(3)
    if started:
        for _ in range(4):
            left.send(1, np.ones(LONG, "uint8"))  # which has to wait for room
    stop, when = CancelError("stop"), []

    def abort():
        when.append(time.perf_counter())
        left.abort(stop)
        left.abort(CancelError("too late to count"))

    timer = threading.Timer(0.2, abort)
    timer.start()
    with pytest.raises(CancelError, match="stop"):
        left.receive(2)
    assert time.perf_counter() - when[0] < 0.1
    timer.join()
    for call in (lambda: left.receive(1), lambda: left.send(1, b"more")):
        with pytest.raises(CancelError, match="stop"):
            call()
    with pytest.raises(PeerLost) as lost:
        third.receive(0)
    assert lost.value.rank == 0
    left.close()
    with pytest.raises(CancelError, match="stop"):
        left.receive(1)
    third.send(1, b"still here")
    assert right.receive(2) == b"still here"


@pytest.mark.parametrize("length", [10, LONG])
def test_a_member_that_leaves_has_delivered_its_messages(connected, length):
    left, right = connected(2)
    left.send(1, b"short")
    left.send(1, np.ones(length, "uint8"))
    going = threading.Thread(target=left.close)
    going.start()
    time.sleep(0.1)
    assert right.receive(0) == b"short"
    assert len(right.receive(0)) == length
    for _ in range(2):
        with pytest.raises(PeerLost) as lost:
            right.receive(0)
        assert lost.value.rank == 0
    going.join()
    with pytest.raises(ConnectionError, match="closed"):
        left.send(1, b"more")


def resources():
    """Return the threads and the open files and sockets of this process, and the connections in memory."""
    found = {thread.name for thread in threading.enumerate()} | process_meeting._offered.keys()
    for descriptor in map(int, os.listdir("/dev/fd")):
        with contextlib.suppress(OSError):  # the one that listed them is closed
            found.add((descriptor, os.fstat(descriptor).st_ino))
    return found


def left_behind(before):
    """Return the threads and files that were not there before, after ending ones had time to end."""
    for _ in range(50):
        if not (more := resources() - before):
            break
        time.sleep(0.1)
    return more


def close(channel):
    channel.close()


def abort(channel):
    channel.abort(CancelError("stop"))
    channel.close()


@pytest.mark.parametrize("end", [close, abort])
@pytest.mark.parametrize("tls", [None, contexts], ids=["plain", "tls"])
def test_nothing_is_left_behind(end, tls):
    tls = tls and tls()
    before = resources()
    channels = by_sockets(3, tls)
    sent = threading.Barrier(3)

    def member(channel):
        for to in others(channel):
            channel.send(to, np.ones(LONG, "uint8"))
        sent.wait(30)  # a member whose messages are read at once may not need a thread to send them
        sending = {thread.name for thread in threading.enumerate()}
        assert f"graphflow-send-{channel.rank}-{(channel.rank + 1) % 3}" in sending
        for source in others(channel):
            channel.receive(source)

    each(member, channels)
    assert resources() - before
    each(end, channels)
    assert not left_behind(before)


@pytest.mark.parametrize("here", [(), (0, 1)], ids=["sockets", "memory"])
@pytest.mark.parametrize("wrong", [0, 1])
def test_a_connection_without_the_secret_is_refused(wrong, here):
    before = resources()
    with pytest.raises(PeerLost):
        by_sockets(2, secrets={wrong: b"of another run"}, timeout=1, here=here)
    assert not left_behind(before)


@pytest.mark.parametrize("here", [(), (0, 1), (0, 1, 2)], ids=["sockets", "mixed", "memory"])
def test_a_missing_member_is_waited_for_until_the_timeout(here):
    before = resources()
    listeners = [Listener("127.0.0.1", SECRET) for _ in range(3)]
    addresses = [("127.0.0.1", listener.port) for listener in listeners]

    def member(rank):
        began = time.perf_counter()
        with pytest.raises(PeerLost) as lost:
            listeners[rank].connect(rank, addresses, 0.5, here)
        assert 0.4 < time.perf_counter() - began < 2
        return lost.value.rank

    assert each(member, range(2)) == [2, 2]
    listeners[2].close()
    assert not left_behind(before)


@pytest.mark.parametrize(
    ("rank", "here"),
    [(0, ()), (1, ()), (0, (0, 1)), (1, (0, 1))],
    ids=["listening", "calling", "lower in memory", "higher in memory"],
)
def test_abort_ends_a_member_that_still_connects(rank, here):
    before = resources()
    silent = socket.create_server(("127.0.0.1", 0))
    listener = Listener("127.0.0.1", SECRET)
    addresses = [silent.getsockname(), silent.getsockname()]
    timer = threading.Timer(0.2, listener.abort, (CancelError("stop"),))
    timer.start()
    began = time.perf_counter()
    with pytest.raises(CancelError, match="stop"):
        listener.connect(rank, addresses, 20, here)
    assert time.perf_counter() - began < 2
    timer.join()
    silent.close()
    assert not left_behind(before)


def test_a_member_that_stops_connecting_is_lost_for_those_that_met_it_in_memory():
    listeners = [Listener("127.0.0.1", SECRET) for _ in range(3)]
    addresses = [("127.0.0.1", listener.port) for listener in listeners]
    stop = CancelError("stop")

    def member(rank):
        if rank == 0:  # it is the only one that waits for member 2, which never comes
            with pytest.raises(CancelError, match="stop"):
                listeners[0].connect(0, addresses, 20, (0, 1))
            return
        channel = listeners[1].connect(1, addresses[:2], 20, (0, 1))
        listeners[0].abort(stop)
        with pytest.raises(PeerLost) as lost:
            channel.receive(0)
        assert lost.value.rank == 0
        channel.close()

    each(member, range(2))
    listeners[2].close()


@pytest.mark.parametrize("tls", [None, contexts], ids=["plain", "tls"])
def test_with_tls_nothing_can_be_read_in_transit(tls):
    tls = tls and tls()
    listeners = [Listener("127.0.0.1", SECRET, tls) for _ in range(2)]
    between = socket.create_server(("127.0.0.1", 0))
    seen = []

    def spy():
        near, _ = between.accept()
        far = reached(listeners[0].port)
        back = threading.Thread(target=copy, args=(far, near, []))
        back.start()
        copy(near, far, seen)
        back.join()

    spying = threading.Thread(target=spy)
    spying.start()
    addresses = [between.getsockname(), ("127.0.0.1", listeners[1].port)]
    left, right = each(lambda rank: listeners[rank].connect(rank, addresses, 20), range(2))
    right.send(0, b"a secret of the data's")
    assert left.receive(1) == b"a secret of the data's"
    each(close, (left, right))
    spying.join()
    between.close()
    seen = b"".join(seen)
    assert SECRET not in seen
    assert (b"a secret of the data's" in seen) == (tls is None)


def copy(source, to, seen):
    with source, to:
        while read := source.recv(1 << 16):
            seen.append(read)
            to.sendall(read)
        to.shutdown(socket.SHUT_WR)
        time.sleep(0.1)


CHILD = """
import sys
from dask_graphflow.comm import sockets
from dask_graphflow.comm.sockets import Listener
listener = Listener("127.0.0.1", b"of this run")
print(listener.port, flush=True)
channel = listener.connect(1, [("127.0.0.1", int(sys.stdin.readline())), None], 20)
channel.send(0, b"here")
channel.receive(0)
"""


def test_a_killed_process_is_noticed_at_once():
    listener = Listener("127.0.0.1", SECRET)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", CHILD], text=True, **pipes) as child:
        addresses = [None, ("127.0.0.1", int(child.stdout.readline()))]
        print(listener.port, file=child.stdin, flush=True)
        channel = listener.connect(0, addresses, 20)
        assert channel.receive(1) == b"here"
        killing = threading.Timer(0.2, child.send_signal, (signal.SIGKILL,))
        killing.start()
        began = time.perf_counter()
        with pytest.raises(PeerLost):
            channel.receive(1)
        assert time.perf_counter() - began < 2
        killing.join()
    channel.close()


MEMBER = """
import sys, time
import numpy as np
from dask_graphflow.comm.channel import PeerLost
from dask_graphflow.comm.sockets import Listener
listener = Listener(address, b"of this run")
print(listener.port, flush=True)
hosts = sys.stdin.readline().split()
channel = listener.connect(rank, list(zip(hosts[::2], map(int, hosts[1::2]))), 20)
other = 1 - rank
"""
EXCHANGING = """
boxes = np.zeros((2, 200_000))
for step in range(20):
    boxes[step % 2] = step
    channel.send(other, boxes[step % 2][: 200_000 if step % 5 == 0 else 10])
    assert (np.frombuffer(channel.receive(other)) == step).all()
channel.close()
print("exchanged", flush=True)
"""
# All times are cut down to a second; as they are, it takes up to 25 until a lost host is noticed.
QUICK = """
from dask_graphflow.comm import connections
for name in ("IDLE", "INTERVAL", "PROBES", "LOOK", "SILENCE"):
    setattr(connections, name, 1)
"""
WAITING = """
channel.send(other, b"here")
channel.receive(other)
print("met", flush=True)
time.sleep(float(sys.stdin.readline()))
for _ in range(COUNT):
    channel.send(other, bytes(1 << 24))
began = time.monotonic()
try:
    channel.receive(other)
except PeerLost:
    print(time.monotonic() - began, flush=True)
"""


def introduce(processes):
    """Give the members on two hosts their addresses."""
    ports = [process.stdout.readline().strip() for process in processes]
    for process in processes:
        print(*sum(zip(HOSTS, ports, strict=True), ()), file=process.stdin, flush=True)


@pytest.mark.slow
def test_messages_come_through_a_network_that_delays_and_loses():
    with hosts(MEMBER + EXCHANGING, delay=0.005, loss=0.02) as (processes, wire):
        introduce(processes)
        assert [process.stdout.readline() for process in processes] == ["exchanged\n"] * 2
        assert wire.lost


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 1], ids=["silent", "while sending"])
def test_a_host_that_dies_is_noticed(count):
    with hosts((QUICK + MEMBER + WAITING).replace("COUNT", str(count))) as (processes, wire):
        introduce(processes)
        assert [process.stdout.readline() for process in processes] == ["met\n"] * 2
        wire.cut = True
        for process in processes:
            print(0, file=process.stdin, flush=True)
        for process in processes:
            assert float(process.stdout.readline()) < 8
