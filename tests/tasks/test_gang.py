"""Gangs: all members at once, on any scheduler, beside their shards."""

from __future__ import annotations

import time

import dask
import numpy as np
import pandas as pd
import pytest
from dask.delayed import delayed
from distributed import get_worker, wait
from gangs import (
    META,
    addresses,
    expected,
    found,
    frame,
    hash_of,
    nothing_left,
    shard,
    total,
    where,
)
from members import SIZES

from dask_graphflow.tasks import gang
from dask_graphflow.tasks.failing import send_now
from dask_graphflow.tasks.gang_expr import roster_of

# This library cannot close sockets and event loops that a killed worker leaves behind.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize(
    ("size", "scheduler"),
    [(1, "sync"), (2, "processes"), (3, "sync"), (2, "threads"), (5, "threads")],
)
def test_the_same_parts_without_a_cluster(size, scheduler):
    result = gang.run(frame(size), total, META, 3)
    assert found(result.compute(scheduler=scheduler)) == expected(size)


@pytest.mark.parametrize("size", SIZES)
def test_the_same_parts_on_a_cluster_of_two_threads(client, size):
    result = gang.run(frame(size), total, META, 3)
    assert found(result.compute()) == expected(size)
    assert found(result.compute()) == expected(size)
    assert nothing_left(client)


def test_nothing_runs_at_the_call_and_supersteps_take_no_tasks(client):
    before = len(client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_log))
    short, long = (gang.run(frame(4), total, META, steps) for steps in (1, 1000))
    assert (
        len(client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_log)) == before
    )
    tasks = [len(result.optimize().__dask_graph__()) for result in (short, long)]
    assert tasks == [3 * 4] * 2  # partitions, whether they are ready, members
    assert found(long.compute()) == expected(4)


def test_a_run_on_persisted_shards_has_one_task_per_member(client):
    shards = frame(3).persist()
    tasks = gang.run(shards, total, META).optimize().__dask_graph__()
    assert sum(roster_of(task) is not None for task in tasks.values()) == 3
    assert len(tasks) == 3 + 3  # and the futures of the shards


@pytest.mark.parametrize("to", ["client_comms", "stream_comms"])
def test_a_call_does_not_wait_between_two_messages_of_the_scheduler(client, to):
    shards = frame(2).persist()
    wait(shards)
    result = gang.run(shards, total, META, name=f"prompt-{to}")
    client.run_on_scheduler(set_pauses, to, 5)
    began = time.monotonic()
    if to == "client_comms":
        result = result.persist()
        wait(result)
    else:
        assert found(result.compute()) == expected(2)
    took = time.monotonic() - began
    client.run_on_scheduler(set_pauses, to, 0.002)
    assert took < 4


def set_pauses(to, seconds, dask_scheduler):
    """Set how long Dask waits after a message to clients or to workers."""
    for comm in getattr(dask_scheduler, to).values():
        comm.interval = seconds
        send_now(comm)


class ForMembers:
    """An argument that only a task of a worker can unpickle."""

    def __dask_tokenize__(self):
        return "for-members"

    def __getstate__(self):
        return 1

    def __setstate__(self, state):
        self.where = get_worker().address


def total_of(channel, shard, rank, argument):
    assert argument.where == get_worker().address
    return total(channel, shard, rank)


@pytest.mark.parametrize("size", [1, 2])
def test_arguments_are_unpickled_by_the_members_only(client, size):
    result = gang.run(frame(size), total_of, META, ForMembers())
    assert found(result.compute()) == expected(size)


def test_a_gang_with_one_member_is_one_ordinary_task(client):
    result = gang.run(frame(1), total, META, 1000)
    tasks = result.optimize().__dask_graph__()
    assert len(tasks) == 2
    assert not any(map(roster_of, tasks.values()))
    assert found(result.compute()) == expected(1)
    (part,) = gang.run([delayed(np.arange)(100)], threads_and_messages, None)
    assert part.compute() == (1, 0)  # its worker has one thread


def threads_and_messages(channel, shard, rank):
    return channel.resources.threads, channel.bytes_sent


@pytest.mark.parametrize("scheduler", ["sync", "cluster"])
def test_a_single_part_can_be_computed(client, scheduler):
    options = {} if scheduler == "cluster" else {"scheduler": scheduler}
    result = gang.run(frame(3), total, META)
    assert found(result.partitions[1].compute(**options)) == {"rank": [1], "total": [4950]}
    assert found(result.to_delayed()[2].compute(**options)) == {"rank": [2], "total": [4950]}
    assert result.total.max().compute(**options) == 4950


@pytest.mark.parametrize("persisted", [False, True])
@pytest.mark.parametrize("scheduler", ["threads", "cluster"])
def test_shards_and_parts_that_are_no_frames(client, scheduler, persisted):
    with dask.config.set({} if scheduler == "cluster" else {"scheduler": scheduler}):
        shards = [delayed(shard)(i) for i in range(3)]
        doubled = gang.run(shards, double, None)
        if persisted:
            doubled = list(dask.persist(*doubled))
        assert found(gang.run(doubled, total, META).compute()) == expected(3, 12)
        assert doubled[2].compute().tolist() == [4, 4]


def double(channel, shard, rank):
    return 2 * shard


def test_persisted_and_other_shards_have_different_keys(client):
    shards = [delayed(shard)(i) for i in range(2)]
    kept = list(dask.persist(*shards))
    names = [gang.run(each, total, META).expr._name for each in (kept, shards, kept, shards)]
    assert names[0] == names[2] != names[1] == names[3]
    frames = frame(2).persist()
    assert gang.run(frames, total, META).expr._name != gang.run(frame(2), total, META).expr._name


def test_a_scheduler_inside_a_task_of_a_cluster(client):
    def inner():
        return gang.run(frame(2), total, META).compute(scheduler="sync")

    assert found(client.submit(inner).result(timeout=20)) == expected(2)


def test_threads_of_a_process_are_shared_by_its_members(client):
    meta = META.rename(columns={"total": "threads"})
    with dask.config.set(scheduler="threads", num_workers=8):
        assert gang.run(frame(2), sharing, meta).compute().threads.tolist() == [4, 4]
    assert gang.run(frame(3), sharing, meta).compute().threads.tolist() == [1, 1, 1]


def sharing(channel, shard, rank):
    return pd.DataFrame({"rank": [rank], "threads": [channel.resources.threads]})


def test_members_run_on_distinct_workers_although_one_worker_holds_all_shards(client):
    home = addresses(client)[0]
    shards = [client.submit(shard, i, workers=[home], key=f"crowded-{i}") for i in range(4)]
    wait(shards)
    for size, most in ((2, 1), (4, 2)):
        parts = [delayed(future) for future in shards[:size]]
        ports = gang.run(parts, where, META, name="distinct").compute().total
        assert ports.value_counts().tolist() == [most] * 2


def test_members_run_where_their_shards_are(client):
    for swapped in (False, True):
        homes = addresses(client)[:: -1 if swapped else 1]
        shards = [
            client.submit(shard, i, workers=[home], key=f"shard-{i}-{swapped}")
            for i, home in enumerate(homes)
        ]
        wait(shards)
        kept = [delayed(future) for future in shards]
        ports = gang.run(kept, where, META, name="beside").compute().total
        assert list(ports) == [hash_of(home) for home in homes]
        assert all(len(where) == 1 for where in client.who_has(shards).values())


def test_tasks_that_make_the_shards_are_placed_too(client):
    result = gang.run(frame(2).map_partitions(at_once, meta={"a": "int64"}), where, META)
    ports = result.compute().total
    assert len(set(ports)) == 2


def at_once(part):
    return part.assign(a=hash_of(get_worker().address))
