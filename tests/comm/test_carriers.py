"""How members send each other arrays on devices, with a stand-in for NCCL, so that no GPU is needed."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import numpy as np
import pytest
from members import by_sockets, connecting, each, eventually

from dask_graphflow.comm.carriers import Communicators, carrier
from dask_graphflow.comm.channel import PeerLost, in_process


class Nccl:
    """A stand-in for NCCL: members with the same name meet, and send each other arrays by queues.

    As in NCCL, an abort ends what waits on its own device at once, and returns once all members abort.
    """

    rooms: dict = {}  # noqa: RUF012
    lock = threading.Lock()

    def __init__(self, device, absent=False):
        self._device, self._absent = device, absent
        self.made = []

    def device(self):
        return self._device

    def ordinal(self):
        return 0

    def why_not(self, devices):
        return ""

    def new_name(self):
        return tuple(np.random.default_rng().integers(0, 256, 8).tolist())

    def to_host(self, array):
        return np.array(array)

    def to_device(self, array):
        return np.array(array)

    def Communicator(self, size, name, rank, *, on):  # noqa: N802
        while self._absent:
            time.sleep(0.01)  # like a call that waits forever
        with self.lock:
            room = self.rooms.setdefault(name, Room(size))
        self.made.append(Fake(name, rank, room))
        return self.made[-1]


class Room:
    """The state that the members of a communicator share."""

    def __init__(self, size):
        everyone = range(size)
        self.queues = {(one, other): SimpleQueue() for one in everyone for other in everyone}
        self.aborted = [threading.Event() for _ in everyone]


class Fake:
    def __init__(self, name, rank, room):
        self.name, self._rank, self._room = name, rank, room
        self.aborts = 0  # calls

    def swap(self, to, sent, source, size):
        if self.aborts:
            raise ConnectionError
        if sent is not None:
            self._room.queues[self._rank, to].put(np.array(sent))
        if size is None:
            return None
        found = np.empty(0, "uint8")
        if size:
            found = self._room.queues[source, self._rank].get(timeout=10)
        if found is None:
            raise ConnectionError
        assert len(found) == size
        return found

    def abort(self):
        self.aborts += 1
        self._room.aborted[self._rank].set()
        for (_, to), queue in self._room.queues.items():
            if to == self._rank:
                queue.put(None)
        for member in self._room.aborted:
            member.wait()


class Process(Communicators):
    """A process with a device of its own, or one that it shares."""

    def __init__(self, device, **how):
        super().__init__()
        self.there = Nccl(device, **how)

    def nccl(self):
        return self.there


def processes(size, same=False):
    return [Process(b"gpu" if same else f"gpu {rank}".encode()) for rank in range(size)]


def sent_around(channels, kept):
    """Make all members send each other their ranks; return the received values, and the carriers."""

    def member(rank):
        size = len(channels)
        one = carrier(channels[rank], kept[rank])
        raw = np.full(5, rank, "uint8")
        brought = [one.post((rank + step) % size, raw) for step in range(1, size)]
        found = []
        for step in range(1, size):
            to, source = (rank + step) % size, (rank - step) % size
            inline = np.full(5, source, "uint8") if len(brought[step - 1]) else np.empty(0, "uint8")
            found.append((source, one.take(to, source, inline, 5, True).tolist()))
        return found, one

    return each(member, range(len(channels)))


def test_messages_arrive_in_the_wanted_memory_beside_members_without_a_device():
    device = [True, False, True]
    kept = [Process(f"gpu {rank}".encode()) for rank in range(3)]
    on_device = []
    for process in kept:
        process.there.to_device = lambda raw: on_device.append(raw) or raw
    channels = in_process(3)

    def member(rank):
        one = carrier(channels[rank], kept[rank], device=device[rank])
        assert one.devices
        sent = np.full(5, rank, "uint8")
        brought = one.post((rank + 1) % 3, sent) if device[rank] else sent
        channels[rank].send((rank + 1) % 3, brought)
        source = (rank - 1) % 3
        inline = np.frombuffer(channels[rank].receive(source), "uint8")
        carried = 5 if device[source] else None
        return one.take((rank + 1) % 3, source, inline, carried, device[rank]).tolist()

    assert each(member, range(3)) == [[2] * 5, [0] * 5, [1] * 5]
    assert [raw[0] for raw in on_device] == [1]  # the other one came from a device
    assert [len(process.there.made) for process in kept] == [1, 0, 1]


def test_members_on_the_host_need_no_carrier():
    channels = in_process(2)
    kept = processes(2)
    carriers = each(lambda rank: carrier(channels[rank], kept[rank], device=False), range(2))
    assert not any(one.devices for one in carriers)
    assert all(one.take(1, 1, "brought", None, False) == "brought" for one in carriers)


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("same", [False, True], ids=["apart", "one device"])
def test_members_have_what_the_others_sent(size, same):
    with connecting("sockets") as connect:
        for found, _ in sent_around(connect(size), processes(size, same)):
            assert sorted(found) == sorted((source, [source] * 5) for source, _ in found)
            assert len(found) == size - 1


def test_members_of_one_device_do_without_nccl():
    with connecting("sockets") as connect:
        kept = processes(2, same=True)
        sent_around(connect(2), kept)
        assert not any(process.there.made for process in kept)


@pytest.mark.parametrize("hosts", [1, 2])
def test_encrypted_members_use_nccl_only_inside_a_machine(hosts):
    with connecting("tls") as connect:
        kept = processes(2)
        kept[1].host += str(hosts - 1)
        kept[0].host += "0"
        sent_around(connect(2), kept)
        assert [len(process.there.made) for process in kept] == [2 - hosts] * 2


def test_a_communicator_is_kept_for_later_runs():
    kept = processes(2)
    for _ in range(3):
        with connecting("sockets") as connect:
            channels = connect(2)
            sent_around(channels, kept)
            for channel in channels:
                channel.close()
    assert [len(process.there.made) for process in kept] == [1, 1]
    assert not any(one.aborts for process in kept for one in process.there.made)


def test_a_run_that_is_aborted_ends_its_communicator_and_the_next_makes_one():
    kept = processes(2)
    with connecting("sockets") as connect:
        channels = connect(2)
        sent_around(channels, kept)
        channels[1].abort(ValueError())
        channels[0].close()
    # The first member still has the communicator, and learns that the other one does not.
    with connecting("sockets") as connect:
        sent_around(connect(2), kept)
        assert [len(process.there.made) for process in kept] == [2, 2]
        assert eventually(lambda: all(process.there.made[0].aborts for process in kept))
        assert not any(process.there.made[1].aborts for process in kept)


def test_a_member_that_fails_can_say_so_while_another_waits_on_its_device():
    kept = processes(2)
    with connecting("sockets") as connect:
        channels, connected = connect(2), threading.Barrier(2, timeout=10)

        def member(rank):
            one = carrier(channels[rank], kept[rank])
            connected.wait()
            if rank:
                channels[rank].abort(ZeroDivisionError())  # as a task that fails
            else:
                with pytest.raises(PeerLost):
                    one.take(1, 1, b"", 5, True)

        with ThreadPoolExecutor(2) as pool:
            waits, fails = (pool.submit(member, rank) for rank in range(2))
            try:
                fails.result(timeout=10)
                assert not waits.done()
            finally:
                channels[0].abort(ZeroDivisionError())  # as Dask does once it knows of the failure
            waits.result(timeout=10)
    with connecting("sockets") as connect:
        sent_around(connect(2), kept)


def test_a_member_that_connects_to_a_lost_member_is_released():
    kept = [Process(b"0"), Process(b"1", absent=True)]
    channels = by_sockets(2)
    try:

        def member(rank):
            with pytest.raises(PeerLost):
                carrier(channels[rank], kept[rank])
            return True

        kept[0].there._absent = True
        threading.Timer(0.3, lambda: [channel.abort(ValueError()) for channel in channels]).start()
        begin = time.monotonic()
        assert each(member, range(2)) == [True, True]
        assert time.monotonic() - begin < 5
    finally:
        for process in kept:
            process.there._absent = False
        for channel in channels:
            channel.close()
