"""Runs that cannot go on end in one error."""

from __future__ import annotations

import os
import signal
import time

import dask
import pytest
from dask.delayed import delayed
from distributed import wait
from gangs import KINDS, META, expected, found, frame, nothing_left, shard, shards_of, total
from members import eventually

from dask_graphflow.exceptions import OptionError, WorkerLostError
from dask_graphflow.tasks import gang

# This library cannot close sockets and event loops that a killed worker leaves behind.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize("scheduler", ["threads", "cluster"])
def test_an_error_of_one_member_is_the_error_of_the_run(client, scheduler):
    options = {} if scheduler == "cluster" else {"scheduler": scheduler}
    with pytest.raises(ZeroDivisionError, match="of member 1"):
        gang.run(frame(3), failing, META, name=f"failing-{scheduler}").compute(**options)
    assert nothing_left(client)
    assert found(gang.run(frame(3), total, META).compute(**options)) == expected(3)


@KINDS
def test_a_member_can_fail_although_its_part_is_not_wanted(client, kind):
    shards = shards_of(client, kind)
    run = client.compute(gang.run(shards, failing, META, name=f"unwanted-{kind}").partitions[0])
    assert isinstance(run.exception(timeout=20), ZeroDivisionError)
    run.release()
    del run, shards
    assert nothing_left(client)


def failing(channel, shard, rank):
    if rank == 1:
        raise ZeroDivisionError("of member 1")
    channel.receive((rank + 1) % channel.size)


def test_members_in_one_process_that_fail_are_not_run_again_for_the_other_parts():
    runs = []

    def slow_failure(channel, shard, rank):
        runs.append(rank)
        time.sleep(0.2)  # by now, the tasks of both parts are running
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        gang.run(frame(2), slow_failure, META).compute(scheduler="threads", num_workers=2)
    assert not eventually(lambda: len(runs) > 2, seconds=0.4)


@pytest.mark.parametrize("timeout", ["soon", "0s", -1])
def test_an_invalid_timeout_is_refused(timeout):
    with (
        dask.config.set({"graphflow.gang.timeout": timeout}),
        pytest.raises(OptionError, match=r"graphflow\.gang\.timeout"),
    ):
        gang.run(frame(2), total, META)


def test_a_member_that_gets_no_worker_ends_the_run(client):
    here, nowhere = client.submit(shard, 0), client.submit(shard, 1, resources={"none-has": 1})
    with dask.config.set({"graphflow.gang.timeout": "1s"}):
        result = gang.run([delayed(here), delayed(nowhere)], total, META, name="stuck")
    start = time.monotonic()
    run = client.compute(result)
    with pytest.raises(WorkerLostError, match="for 1 s, member 1 had no worker"):
        run.result(timeout=20)
    assert 1 <= time.monotonic() - start < 5
    run.release()  # which its exception's traceback refers to
    assert nothing_left(client)


@pytest.mark.slow
def test_a_shard_that_takes_longer_than_the_timeout_is_waited_for(client):
    with dask.config.set({"graphflow.gang.timeout": "0.5s"}):
        run = gang.run([delayed(shard)(0), delayed(slow_shard)(1)], total, META, name="waits")
    assert found(run.compute()) == expected(2, 2)


def slow_shard(i):
    time.sleep(1.5)
    return shard(i)


@pytest.mark.slow
def test_members_that_cannot_connect_end_the_run(mortal):
    with dask.config.set({"graphflow.gang.timeout": "1s"}):
        result = gang.run(frame(2), total, META, name="apart")

    mortal.run(put_a_firewall_up)
    run = mortal.compute(result)
    with pytest.raises(WorkerLostError, match="could not connect to each other within 1 s"):
        run.result(timeout=20)
    run.release()
    assert nothing_left(mortal)


def put_a_firewall_up():
    from dask_graphflow.comm import channel, sockets

    def connect(self, rank, addresses, timeout, here):
        time.sleep(timeout)
        raise channel.PeerLost(1 - rank)

    sockets.Listener.connect = connect


@pytest.mark.slow
def test_a_worker_that_keeps_silent_ends_the_run(mortal):
    shards = frame(2).persist()
    wait(shards)
    gang.run(shards, total, META).compute()
    silent = next(iter(mortal.run(os.getpid).values()))
    with dask.config.set({"graphflow.gang.timeout": "2s"}):
        result = gang.run(shards, total, META, 2)
    os.kill(silent, signal.SIGSTOP)
    try:
        with pytest.raises(
            WorkerLostError, match=r"for 2 s, member \d had no worker, or a worker that is silent"
        ):
            mortal.compute(result).result(timeout=20)
    finally:
        os.kill(silent, signal.SIGCONT)
    assert found(gang.run(shards, total, META, 3).compute()) == expected(2)


@pytest.mark.slow
def test_a_member_that_waits_for_one_that_has_ended(client):
    run = client.compute(gang.run(frame(2), waiting_in_vain, META))
    with pytest.raises(WorkerLostError, match="member 0 has ended, and another one waits for it"):
        run.result(timeout=20)
    run.release()
    assert nothing_left(client)


def waiting_in_vain(channel, shard, rank):
    return channel.receive(0) if rank else META
