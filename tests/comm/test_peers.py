"""How members share the memory of their devices, and how they leave it, with a stand-in for CUDA."""

from __future__ import annotations

import itertools
import logging
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from members import connecting, each, eventually
from test_carriers import processes, sent_around

from dask_graphflow.comm import exchange
from dask_graphflow.comm.carriers import carrier
from dask_graphflow.comm.channel import PeerLost

LOG = "dask_graphflow.comm.peers"


class RefusedError(Exception):
    pass


class Cuda:
    """A stand-in for the module of arenas: memory can be opened, kernels wait until they are stopped."""

    BLOCK, MEMBERS, np, CannotShare = 64, 4, np, RefusedError

    def __init__(self):
        self.arenas = []
        self.after_opening = {}  # by rank
        self.waiting = 0

    def Arena(self, size):  # noqa: N802
        arena = Arena(self, size)
        self.arenas.append(arena)
        return arena

    def Stop(self):  # noqa: N802
        return threading.Event()

    def starts(self, sizes):
        return list(itertools.accumulate(sizes, initial=0))

    def gang(self, rank, size, bounds, mail, stop):
        return SimpleNamespace(rank=rank, stop=stop)

    def wait(self, memory):
        """Wait in a kernel for the others, which do not come."""
        self.waiting += 1
        assert memory.gang.stop.wait(10)
        memory.check(True)

    @property
    def opened(self):
        return sum(len(arena.opened) for arena in self.arenas)


class Arena:
    def __init__(self, cuda, size):
        self.size, self.opened, self._cuda = size, [], cuda
        self.handle = f"{id(self)}".encode()

    def open(self, handles, rank):
        self.opened = [handle for handle in handles if handle != self.handle]
        self._cuda.after_opening.get(rank, lambda: None)()

    def columns(self, columns, lease):
        return [SimpleNamespace(lease=lease) for _ in columns]

    def close(self):
        self.opened = []


@pytest.fixture
def cuda(monkeypatch):
    made = Cuda()
    monkeypatch.setitem(sys.modules, "dask_graphflow.kernels.device_peers", made)
    return made


def peers_of(channels, kept):
    """Return what each member shares with the others, or None."""
    return each(
        lambda rank: carrier(channels[rank], kept[rank]).peers(channels[rank]), range(len(channels))
    )


def memory_of(channel, kept):
    """Return the shared memory of a member, and a column of it."""
    ends = range(0, 10 * channel.size + 1, 10)
    made = exchange.Exchange(channel, device=True)
    memory = made.shared_memory(list(ends), able=True)
    return memory, memory.columns(("int64", 10))


# Which way is taken


def test_members_share_memory_and_keep_it_for_the_next_run(cuda, caplog):
    caplog.set_level(logging.INFO, LOG)
    kept = processes(3)
    for _ in range(2):
        with connecting("sockets") as connect:
            channels = connect(3)
            assert all(peers_of(channels, kept))
            for channel in channels:
                channel.close()
    assert len(cuda.arenas) == 3
    assert caplog.messages == ["The kernels of 3 GPUs use each other's memory"] * 3


def on_another_machine(kept, cuda):
    kept[1].host += " another"


def without_a_view(kept, cuda):
    kept[1].there.why_not = lambda devices: "a process does not see"


def unopened(kept, cuda):
    def refuse():
        raise RefusedError("cudaErrorPeerAccessUnsupported")

    cuda.after_opening[1] = refuse


@pytest.mark.parametrize(
    ("so_that", "reason"),
    [
        (on_another_machine, "they are on different machines, or in different containers"),
        (without_a_view, "a process does not see"),
        (unopened, "cudaErrorPeerAccessUnsupported"),
    ],
)
def test_the_log_says_why_members_do_not_share_memory(cuda, caplog, so_that, reason):
    caplog.set_level(logging.INFO, LOG)
    kept = processes(2)
    so_that(kept, cuda)
    with connecting("sockets") as connect:
        assert peers_of(connect(2), kept) == [None, None]
    assert caplog.messages == [f"GPUs do not share memory, so members send messages: {reason}"] * 2
    assert not cuda.opened


def test_more_members_than_fit_the_kernels_send_messages(cuda, caplog):
    caplog.set_level(logging.INFO, LOG)
    with connecting("in-process") as connect:
        assert peers_of(connect(5), processes(5)) == [None] * 5
    assert "there are 5 members, and 4 can share memory" in caplog.text
    assert not cuda.arenas


def test_an_exchange_says_how_arrays_travel(cuda, monkeypatch):
    kept = processes(2)
    monkeypatch.setattr(
        exchange, "carrier", lambda channel, device: carrier(channel, kept[channel.rank])
    )

    def member(channel):
        made = exchange.Exchange(channel, device=True)
        before = made.transfer
        memory = made.shared_memory([0, 10, 20], able=True)
        known = made.transfer
        refused = exchange.Exchange(channel, device=True)
        unable = refused.shared_memory([0, 10, 20], able=channel.rank == 0)
        assert unable.columns(("int64", 10)) is None
        assert memory.columns(("int64", 10)) is not None
        return before, known, made.transfer, refused.transfer

    with connecting("sockets") as connect:
        assert each(member, connect(2)) == [("nccl", "nccl", "memory", "nccl")] * 2


# How members end


def test_a_kernel_that_waits_ends_when_its_run_is_aborted_and_then_memory_is_closed(
    cuda, monkeypatch
):
    kept = processes(2)
    monkeypatch.setattr(
        exchange, "carrier", lambda channel, device: carrier(channel, kept[channel.rank])
    )
    leaves = threading.Event()
    with connecting("sockets") as connect:
        channels = connect(2)

        def member(channel):
            memory, _ = memory_of(channel, kept)
            try:
                if channel.rank:
                    assert eventually(lambda: cuda.waiting)
                    raise ZeroDivisionError
                cuda.wait(memory)
            except (ZeroDivisionError, PeerLost) as error:
                channel.abort(error)
                leaves.wait(10)
                channel.close()
                return type(error)

        with ThreadPoolExecutor(2) as pool:
            waits, fails = (pool.submit(member, channel) for channel in channels)
            assert eventually(lambda: cuda.waiting and not kept[1].names())
            began = time.monotonic()
            channels[0].abort(ConnectionError())  # as Dask does once it knows of the failure
            assert eventually(lambda: all(process.there.made[0].aborts for process in kept))
            assert time.monotonic() - began < 2
            time.sleep(0.2)
            assert cuda.opened == 4  # the threads of the members might start kernels
            leaves.set()
            assert fails.result(10) is ZeroDivisionError
            assert waits.result(10) is PeerLost
        assert eventually(lambda: not cuda.opened)


def test_memory_is_closed_if_a_member_goes_while_it_is_made(cuda):
    kept = processes(2)
    with connecting("sockets") as connect:
        channels = connect(2)
        carriers = each(lambda rank: carrier(channels[rank], kept[rank]), range(2))
        cuda.after_opening[1] = lambda: channels[1].abort(ZeroDivisionError())

        def member(rank):
            with pytest.raises((PeerLost, ZeroDivisionError)):
                carriers[rank].peers(channels[rank])

        each(member, range(2))
        assert len(cuda.arenas) == 2
        assert not cuda.opened


def test_at_exit_all_memory_is_closed(cuda):
    kept = processes(2)
    with connecting("sockets") as connect:
        channels = connect(2)
        assert all(peers_of(channels, kept))
        for channel in channels:
            channel.close()
    assert cuda.opened == 2
    each(lambda process: process.drop_all(), kept)
    assert not cuda.opened
    with connecting("sockets") as connect:
        sent_around(connect(2), kept)
