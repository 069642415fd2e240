"""Several runs at once: they share workers or take turns, and keep their connections."""

from __future__ import annotations

import functools
import itertools
import threading
import time

import dask
import pytest
from conftest import two_workers
from dask.delayed import delayed
from distributed import Client, Event
from gangs import (
    KINDS,
    META,
    addresses,
    began,
    expected,
    found,
    frame,
    later_shard,
    nothing_left,
    shards_of,
    total,
)
from members import eventually

from dask_graphflow.tasks import gang

# This library cannot close sockets and event loops that a killed worker leaves behind.
pytestmark = pytest.mark.filterwarnings("default")


def test_gangs_whose_members_come_in_opposite_order_both_end(client):
    homes, runs = addresses(client), []
    for run in range(2):
        shards = [
            client.submit(later_shard, f"ready-{run}-{i}", i, workers=[home])
            for i, home in enumerate(homes)
        ]
        parts = [delayed(future) for future in shards]
        runs.append(client.compute(gang.run(parts, total, META, 50, 0.001, name=f"opposite{run}")))
    for run, i in ((0, 0), (1, 1), (0, 1), (1, 0)):
        Event(f"ready-{run}-{i}").set()
        time.sleep(0.1)
    assert [found(run.result(timeout=20)) for run in runs] == [expected(2, 2)] * 2


def connections(channel, shard, rank, run):
    """Return how many runs have used this member's connections."""
    part = total(channel, shard, rank)
    for peer in channel.peers.values():
        peer.runs = getattr(peer, "runs", 0) + 1
    (runs,) = {peer.runs for peer in channel.peers.values()}
    return part.assign(total=runs)


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("size", [2, 3])
def test_runs_on_persisted_shards_keep_their_connections_until_the_shards_go(client, size, alone):
    def kept_them(shards):
        runs = [gang.run(shards, connections, META, run, alone=alone) for run in range(3)]
        ends = [run.compute().total.tolist() for run in runs]
        return ends == [[count + run for count in ends[0]] for run in range(3)]

    shards = frame(size).persist()
    # A member that is late makes new ones.
    assert eventually(functools.partial(kept_them, shards))
    assert not kept_them(frame(size))
    del shards
    assert nothing_left(client)


@pytest.mark.parametrize("alone", [False, True])
def test_runs_at_once_on_the_same_persisted_shards(client, alone):
    shards = shards_of(client, "kept")
    for again in range(3):
        results = [
            gang.run(shards, total, META, 10 + again, 0.002, name=f"{i}", alone=alone)
            for i in range(6)
        ]
        runs = [client.compute(result) for result in results]
        assert [found(run.result(timeout=20)) for run in runs] == [expected(2)] * 6
    del shards, results, runs
    assert nothing_left(client)


def overlap(folder, alone, client, shards=()):
    runs = [
        client.compute(gang.run(one, noting, META, folder, run, name="noting", alone=alone))
        for run, one in enumerate(shards or [frame(2) for _ in range(3)])
    ]
    assert [found(run.result(timeout=20)) for run in runs] == [expected(2)] * len(runs)
    spans = [sorted(map(int, path.read_text().split())) for path in sorted(folder.iterdir())]
    spans.sort()
    return sum(a[1] > b[0] for a, b in itertools.pairwise(spans))


def noting(channel, shard, rank, folder, run):
    start = time.time_ns()
    part = total(channel, shard, rank, 10, 0.02)
    if rank == 0:
        (folder / f"{run}").write_text(f"{start} {time.time_ns()}")
    return part


@pytest.mark.parametrize("alone", [False, True])
def test_runs_share_workers_unless_they_are_to_be_alone(client, tmp_path, alone):
    assert overlap(tmp_path, alone, client) == (0 if alone else 2)
    assert nothing_left(client)


def test_runs_that_are_to_be_alone_also_take_turns_on_kept_connections(client, tmp_path):
    shards = [frame(2).rename(columns={"a": name}).persist() for name in "bcd"]
    for one in shards:
        assert found(gang.run(one, total, META, alone=True).compute()) == expected(2)
    assert overlap(tmp_path, True, client, [*shards, frame(2), *shards]) == 0
    del shards, one
    assert nothing_left(client)


@KINDS
def test_a_gang_does_not_keep_threads_from_other_tasks(client, tmp_path, kind):
    shards = shards_of(client, kind)
    assert found(gang.run(shards, total, META, name="short").compute()) == expected(2)
    run = client.compute(gang.run(shards, total, META, 200, 0.01, tmp_path, name="long"))
    began(tmp_path, 2)
    assert client.submit(sum, [1, 2], pure=False).result(timeout=1) == 3
    assert not run.done()
    assert found(run.result(timeout=20)) == expected(2)


def test_the_same_result_wanted_twice_at_once_is_one_run(client, tmp_path):
    result = gang.run(frame(2), total, META, 50, 0.005, tmp_path, name="twice")
    with Client(client.scheduler.address, set_as_default=False) as other:
        runs = [client.compute(result), other.compute(result)]
        assert [found(run.result(timeout=20)) for run in runs] == [expected(2)] * 2
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.slow
def test_clients_that_call_at_once():
    with (
        # `as_current` sets this for the whole process. Of two threads, either can be the last to reset it.
        dask.config.set(scheduler="dask.distributed"),
        two_workers() as cluster,
        Client(cluster, set_as_default=False) as one,
        Client(cluster, set_as_default=False) as two,
    ):
        answers = {}

        def call(which, client):
            with client.as_current():
                result = gang.run(frame(2), total, META, name=f"of-{which}")
                answers[which] = found(client.compute(result).result(timeout=20))

        threads = [threading.Thread(target=call, args=pair) for pair in (("a", one), ("b", two))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == {"a": expected(2), "b": expected(2)}
