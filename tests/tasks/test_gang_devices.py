"""Members that wait on a device for another one that is lost or fails."""

from __future__ import annotations

import functools
import os
import signal
import threading
import time

import dask
import pytest
from conftest import two_workers
from dask.delayed import delayed
from distributed import Client
from gangs import KINDS, META, began, expected, found, nothing_left, shard, shards_of, total
from members import eventually

from dask_graphflow.comm import carriers
from dask_graphflow.comm.channel import PeerLost
from dask_graphflow.tasks import gang

# This library cannot close sockets and event loops that a killed worker leaves behind.
pytestmark = pytest.mark.filterwarnings("default")


def on_a_device(channel, shard, rank, folder, broken):
    """Wait for the other member without reading its messages, as on a device, at the first attempt."""
    (folder / f"{rank}-{time.time_ns()}-{os.getpid()}").touch()
    if len(list(folder.iterdir())) <= 2:
        if broken and rank:
            raise PeerLost(0)
        aborted = threading.Event()
        channel.abort_too(aborted.set)
        aborted.wait(60)
        raise PeerLost(1 - rank)
    return total(channel, shard, rank)


@pytest.mark.parametrize("broken", [False, True], ids=["killed", "connection broken"])
@KINDS
def test_a_member_that_waits_on_its_device_for_a_lost_one_runs_again(
    mortal, tmp_path, kind, broken, caplog
):
    shards = shards_of(mortal, kind)
    run = mortal.compute(gang.run(shards, on_a_device, META, tmp_path, broken, alone=True))
    processes = began(tmp_path, 2)
    if not broken:
        os.kill(processes[1], signal.SIGKILL)
    assert found(run.result(timeout=30)) == expected(2)
    assert "runs again: " in caplog.text
    mortal.wait_for_workers(2, timeout=30)
    del run, shards
    assert nothing_left(mortal)


@pytest.mark.alone
@KINDS
def test_members_that_wait_on_their_devices_end_when_their_call_is_canceled(client, tmp_path, kind):
    shards = shards_of(client, kind)
    run = client.compute(gang.run(shards, on_a_device, META, tmp_path, False, alone=True))
    began(tmp_path, 2)
    run.cancel()
    del run, shards
    assert nothing_left(client)


@pytest.mark.slow
@KINDS
def test_a_member_that_waits_on_its_device_for_a_frozen_one_runs_again(tmp_path, kind, caplog):
    # The thread that waits sees nothing. Dask notices that the worker is silent.
    with (
        dask.config.set({"distributed.scheduler.worker-ttl": "1s"}),
        two_workers() as cluster,
        Client(cluster) as client,
    ):
        shards = shards_of(client, kind)
        run = client.compute(gang.run(shards, on_a_device, META, tmp_path, False, alone=True))
        os.kill(began(tmp_path, 2)[1], signal.SIGSTOP)
        assert found(run.result(timeout=50)) == expected(2)
        assert "runs again: " in caplog.text


class Communicator:
    def __init__(self, folder, size, name, rank):
        self.aborted = [folder / f"{name[0]}-{other}" for other in range(size)]
        self.own = self.aborted[rank]

    def swap(self, to, sent, source, size):
        # A kernel that waits for an array that is never sent.
        assert eventually(self.own.exists, 60)

    def abort(self):
        self.own.touch()
        assert eventually(lambda: all(file.exists() for file in self.aborted), 60)


class Nccl:
    """A stand-in for NCCL on a worker, with files in a folder that all workers share.

    As in NCCL, an abort ends what waits on its own device at once, and returns once all members abort.
    """

    def __init__(self, folder):
        self.folder = folder

    def device(self):
        return str(os.getpid()).encode()

    def ordinal(self):
        return 0

    def new_name(self):
        return (time.time_ns(),)

    def Communicator(self, size, name, rank, *, on):  # noqa: N802
        return Communicator(self.folder, size, name, rank)


class Kept(carriers.Communicators):
    def __init__(self, folder):
        super().__init__()
        self._nccl = Nccl(folder)

    def nccl(self):
        return self._nccl


@functools.cache
def kept_here(folder):
    """Return the communicators that this worker keeps."""
    return Kept(folder)


def on_devices(channel, shard, rank, folder, fails):
    carrier = carriers.carrier(channel, kept_here(folder))
    if fails and rank == 1:
        time.sleep(0.5)
        raise ZeroDivisionError("of member 1")
    if fails:
        carrier.take(1, 1, b"", 5, True)
    return total(channel, shard, rank)


def drop_here(folder):
    kept_here(folder).drop_all()


def test_a_member_fails_while_another_waits_on_its_device_and_the_next_run_works(client, tmp_path):
    shards = [delayed(shard)(i) for i in range(2)]
    lazy = gang.run(shards, on_devices, None, tmp_path, True, name="on-devices", alone=True)
    failed = client.compute(lazy)
    assert isinstance(failed[0].exception(timeout=10), ZeroDivisionError)
    del failed
    begin = time.monotonic()
    after = gang.run(shards, on_devices, None, tmp_path, False, name="after", alone=True)
    futures = client.compute(after)
    assert [found(part) for part in client.gather(futures)] == [
        {"rank": [rank], "total": [2]} for rank in range(2)
    ]
    assert time.monotonic() - begin < 10
    del futures
    client.run(drop_here, tmp_path)
    assert nothing_left(client)
