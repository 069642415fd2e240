"""Gangs: all members at once, on any scheduler; placed, cancelled, lost, and run again."""

from __future__ import annotations

import functools
import gc
import itertools
import os
import signal
import ssl
import threading
import time

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.delayed import delayed
from distributed import (
    Client,
    Event,
    LocalCluster,
    Security,
    get_worker,
    wait,
    worker_client,
)
from members import SIZES, eventually
from members import certified as certified_in

from dask_graphflow.comm import carriers
from dask_graphflow.comm.channel import PeerLost
from dask_graphflow.exceptions import OptionError, WorkerLostError
from dask_graphflow.scheduling import gang
from dask_graphflow.scheduling.gang_expr import roster_of
from dask_graphflow.scheduling.membership import Membership
from dask_graphflow.scheduling.rendezvous import Rendezvous

# This library cannot close sockets and event loops that a killed worker leaves behind.
pytestmark = pytest.mark.filterwarnings("default")

META = pd.DataFrame({"rank": np.array([], "int64"), "total": np.array([], "int64")})

inside: list[int] = []  # ranks of members whose loop runs in this process


def total(channel, shard, rank, steps=1, pause=0.0, folder=None):
    """Add up the sums of all members repeatedly; record in a folder that the member began, and where."""
    inside.append(rank)
    try:
        if folder is not None:
            # In the name, because a text could be read before it is written.
            (folder / f"{rank}-{time.time_ns()}-{os.getpid()}").touch()
        own = int(np.asarray(shard).sum())
        for _ in range(steps):
            time.sleep(pause)
            found = own
            for k in range(1, channel.size):
                channel.send((rank + k) % channel.size, np.array([own]))
            for k in range(1, channel.size):
                found += np.frombuffer(channel.receive((rank - k) % channel.size), "int64")[0]
        return pd.DataFrame({"rank": [rank], "total": [found]})
    finally:
        inside.remove(rank)


def frame(parts):
    return dd.from_pandas(pd.DataFrame({"a": np.arange(100)}), npartitions=parts)


def shard(i):
    return np.full(2, i)


def expected(size, sum_=4950):
    return {"rank": list(range(size)), "total": [sum_] * size}


def found(result):
    return result.to_dict("list")


def shards_of(client, kind, parts=2):
    """Return lazy shards, or persisted shards whose members are already connected."""
    if kind == "lazy":
        return frame(parts)
    shards = frame(parts).persist()
    assert found(gang.run(shards, total, META).compute()) == expected(parts)
    return shards


KINDS = pytest.mark.parametrize("kind", ["lazy", "kept"])


def began(folder, count):
    """Wait until a number of members have begun; return the last process of each rank."""
    assert eventually(lambda: len(list(folder.iterdir())) >= count)
    notes = sorted([int(word) for word in path.name.split("-")] for path in folder.iterdir())
    return {rank: process for rank, _, process in notes}


def left_on_scheduler(dask_scheduler):
    """Return the scheduler's state of runs, and of the tasks of gangs."""
    plugin = dask_scheduler.plugins.get(Rendezvous.name)  # a gang with one member needs none
    runs = [] if plugin is None else [*plugin._runs, *plugin._turns]
    return [*runs, *(str(key) for key in dask_scheduler.tasks if "-gang-" in str(key))]


def left_on_worker(dask_worker):
    """Return the members on a worker: running, seceded, and in memory."""
    plugin = dask_worker.plugins.get(Membership.name)
    members = [] if plugin is None else [*plugin._members]
    members += [] if plugin is None else [*plugin.links._idle, *plugin.links._named]
    kept = [str(key) for key in dask_worker.data if "-gang-" in str(key)]
    threads = [t.name for t in threading.enumerate() if t.name.startswith("graphflow")]
    return [*inside, *members, *kept, *dask_worker.state.long_running, *threads]


def nothing_left(client, seconds=5.0):
    def nothing():
        gc.collect()  # results of earlier tests can be in reference cycles
        return not client.run_on_scheduler(left_on_scheduler) and not any(
            client.run(left_on_worker).values()
        )

    return eventually(nothing, seconds)


def addresses(client):
    return sorted(client.nthreads())


# What comes out


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


def test_a_gang_with_one_member_is_one_ordinary_task(client):
    result = gang.run(frame(1), total, META, 1000)
    tasks = result.optimize().__dask_graph__()
    assert len(tasks) == 2
    assert not any(map(roster_of, tasks.values()))
    assert found(result.compute()) == expected(1)
    (part,) = gang.run([delayed(np.arange)(100)], threads_and_messages, None)
    assert part.compute() == (1, 0)  # its worker has one thread


def threads_and_messages(channel, shard, rank):
    return gang.threads(), channel.bytes_sent


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


def test_a_worker_in_the_process_of_its_client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster),
    ):
        assert found(gang.run(frame(3), total, META).compute()) == expected(3)


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


def test_threads_of_a_process_are_shared_by_its_members(client):
    meta = META.rename(columns={"total": "threads"})
    with dask.config.set(scheduler="threads", num_workers=8):
        assert gang.run(frame(2), sharing, meta).compute().threads.tolist() == [4, 4]
    assert gang.run(frame(3), sharing, meta).compute().threads.tolist() == [1, 1, 1]


def sharing(channel, shard, rank):
    return pd.DataFrame({"rank": [rank], "threads": [gang.threads()]})


@pytest.mark.parametrize("timeout", ["soon", "0s", -1])
def test_an_invalid_timeout_is_refused(timeout):
    with (
        dask.config.set({"graphflow.gang.timeout": timeout}),
        pytest.raises(OptionError, match=r"graphflow\.gang\.timeout"),
    ):
        gang.run(frame(2), total, META)


# Where members run


def where(channel, shard, rank):
    return pd.DataFrame({"rank": [rank], "total": [hash_of(get_worker().address)]})


def hash_of(address):
    return int(address.rpartition(":")[2])


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


# Several runs at once


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


def later_shard(name, i):
    with worker_client():  # secedes
        Event(name).wait()
    return shard(i)


def connections(channel, shard, rank, run):
    """Return the sum of the ports of this member's connections."""
    part = total(channel, shard, rank)
    return part.assign(total=sum(peer._socket.getsockname()[1] for peer in channel.peers.values()))


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("size", [2, 3])
def test_runs_on_persisted_shards_keep_their_connections_until_the_shards_go(client, size, alone):
    def kept_them(shards):
        runs = [gang.run(shards, connections, META, run, alone=alone) for run in range(3)]
        return len({tuple(run.compute().total) for run in runs}) == 1

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


def test_a_gang_does_not_keep_threads_from_other_tasks(client, tmp_path):
    run = client.compute(gang.run(frame(2), total, META, 200, 0.01, tmp_path, name="long"))
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


# Runs that fail, lose workers or are cancelled


@pytest.mark.alone
@pytest.mark.parametrize("kind", ["lazy", "kept", "gathering"])
def test_a_cancelled_run_frees_its_threads(client, tmp_path, kind, caplog):
    waiting = kind == "gathering"
    if not waiting:
        shards = shards_of(client, kind)
    else:
        made = [client.submit(shard, 0), client.submit(later_shard, "never", 1)]
        shards = [delayed(future) for future in made]
    run = client.compute(gang.run(shards, total, META, 10**6, 0.001, tmp_path, name="cancelled"))
    if waiting:
        assert eventually(lambda: client.run_on_scheduler(left_on_scheduler), 5)
        time.sleep(0.2)
    else:
        began(tmp_path, 2)
    run.cancel()
    start = time.monotonic()
    if waiting:
        Event("never").set()
        del made
    del shards
    assert nothing_left(client)
    assert time.monotonic() - start < 5  # the run would take 1,000 s
    assert "runs again" not in caplog.text
    Event("never").clear()
    assert found(gang.run(frame(2), total, META).compute()) == expected(2)


def test_a_run_that_is_cancelled_before_its_members_begin(mortal):
    shards = shards_of(mortal, "kept")
    mortal.run(delay_members)
    run = mortal.compute(gang.run(shards, total, META, 10**6, 0.001, name="early"))
    assert eventually(lambda: all(mortal.run(long_running).values()))
    run.cancel()
    time.sleep(2)  # by now, the members would run
    assert not any(mortal.run(long_running).values())
    del run, shards
    assert nothing_left(mortal)


def delay_members():
    from dask_graphflow.scheduling import membership

    secede = membership.secede
    membership.secede = lambda: secede() or time.sleep(1)


def long_running(dask_worker):
    return [str(task.key) for task in dask_worker.state.long_running]


def test_a_run_that_is_cancelled_and_wanted_again_at_once(client, tmp_path):
    result = gang.run(frame(2), total, META, 300, 0.001, tmp_path, name="again")
    for i in range(4):
        # With another key each time, because a client considers a key cancelled even after a new call.
        run = client.compute((result.total + i).sum())
        began(tmp_path, 2 * i + 2)
        run.cancel()
    assert found(client.compute(result).result(timeout=20)) == expected(2)
    assert nothing_left(client)


@KINDS
def test_a_part_can_be_released_during_a_run(client, tmp_path, kind):
    shards = shards_of(client, kind)
    result = gang.run(shards, total, META, 100, 0.005, tmp_path, name="half")
    runs = client.compute(result.to_delayed())
    began(tmp_path, 2)
    del runs[1]
    assert found(runs[0].result(timeout=20)) == {"rank": [0], "total": [4950]}
    del runs, result, shards
    assert nothing_left(client)


@pytest.mark.slow
def test_a_single_member_runs_again_after_its_worker_was_killed(mortal, tmp_path):
    run = mortal.compute(gang.run(frame(1), total, META, 300, 0.005, tmp_path))
    os.kill(began(tmp_path, 1)[0], signal.SIGKILL)
    assert found(run.result(timeout=30)) == expected(1)
    assert len(list(tmp_path.iterdir())) == 2
    mortal.wait_for_workers(2, timeout=30)


@KINDS
def test_a_worker_killed_in_mid_run_changes_nothing(mortal, tmp_path, kind, caplog):
    shards = shards_of(mortal, kind)
    run = mortal.compute(gang.run(shards, total, META, 300, 0.005, tmp_path))
    os.kill(began(tmp_path, 2)[1], signal.SIGKILL)
    assert found(run.result(timeout=30)) == expected(2)
    assert len(list(tmp_path.iterdir())) >= 4  # both ran again
    assert "runs again: " in caplog.text
    mortal.wait_for_workers(2, timeout=30)
    assert found(gang.run(shards, total, META, 2).compute()) == expected(2)
    del run, shards
    assert nothing_left(mortal)


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


@pytest.mark.parametrize("dropped", [False, True], ids=["all kept", "the others dropped"])
@KINDS
def test_a_part_that_is_lost_after_the_run_is_made_again_by_all(mortal, tmp_path, kind, dropped):
    shards = shards_of(mortal, kind)
    result = gang.run(shards, total, META, 5, 0.0, tmp_path).persist()
    wait(result)
    if dropped:
        result = result.partitions[1].persist()
        kept = 1 if kind == "lazy" else 3  # the part, and the shards
        assert eventually(lambda: sum(map(bool, mortal.who_has().values())) == kept)
    os.kill(began(tmp_path, 2)[1], signal.SIGKILL)
    expected_now = {"rank": [1], "total": [4950]} if dropped else expected(2)
    assert found(mortal.compute(result).result(timeout=30)) == expected_now
    assert len(list(tmp_path.iterdir())) == 4
    del result, shards
    assert nothing_left(mortal)


def test_a_member_that_had_ended_runs_again_if_another_one_is_lost(mortal, tmp_path):
    run = mortal.compute(gang.run(frame(2), last_to_end, META, tmp_path))
    first = began(tmp_path, 2)
    assert eventually(lambda: mortal.run_on_scheduler(ended) == 1)
    os.kill(first[1], signal.SIGKILL)
    assert found(run.result(timeout=30)) == expected(2)
    assert sorted(int(path.name.split("-")[0]) for path in tmp_path.iterdir()) == [0, 0, 1, 1]
    del run
    assert nothing_left(mortal)


def last_to_end(channel, shard, rank, folder):
    again = len(list(folder.iterdir())) > 1
    part = total(channel, shard, rank, folder=folder)
    if rank and not again:
        time.sleep(30)
    return part


def ended(dask_scheduler):
    members = [
        t for t in dask_scheduler.tasks.values() if str(t.key).startswith("('last_to_end-gang")
    ]
    return sum(task.state == "memory" for task in members)


@pytest.mark.slow
@KINDS
def test_workers_killed_again_and_again_end_in_one_error(mortal, tmp_path, kind):
    shards = shards_of(mortal, kind)
    result = gang.run(shards, total, META, 10**6, 0.001, tmp_path, name="doomed")
    run = mortal.compute(result)
    for i in range(3):
        os.kill(began(tmp_path, 2 * i + 2)[1], signal.SIGKILL)
    start = time.monotonic()
    with pytest.raises(WorkerLostError, match=r"doomed-gang-\w+ was given up: .*lost 3 times"):
        run.result(timeout=60)
    assert time.monotonic() - start < 30
    run.release()  # which its exception's traceback refers to
    mortal.wait_for_workers(1, timeout=30)
    del result, shards
    assert nothing_left(mortal)
    assert found(gang.run(frame(2), total, META).compute()) == expected(2)


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

    def connect(self, rank, addresses, timeout):
        time.sleep(timeout)
        raise channel.PeerLost(1 - rank)

    sockets.Listener.connect = connect


@pytest.mark.slow
def test_connections_that_break_while_all_workers_live(mortal, tmp_path):
    result = gang.run(frame(2), breaking, META, tmp_path)
    assert found(mortal.compute(result).result(timeout=30)) == expected(2)
    assert len(list(tmp_path.iterdir())) == 1
    assert nothing_left(mortal)


def breaking(channel, shard, rank, folder):
    """Close the sockets of one member in its first run."""
    if rank == 0 and not list(folder.iterdir()):
        (folder / "broke").touch()
        for peer in channel.peers.values():
            peer.abort()
    return total(channel, shard, rank)


@pytest.mark.slow
def test_a_worker_that_is_retired_in_mid_run_changes_nothing(mortal, tmp_path):
    run = mortal.compute(gang.run(frame(2), total, META, 300, 0.005, tmp_path))
    began(tmp_path, 2)
    mortal.retire_workers(addresses(mortal)[:1])
    assert found(run.result(timeout=30)) == expected(2)
    del run
    assert nothing_left(mortal)


@pytest.mark.slow
def test_a_cluster_that_is_restarted_in_mid_run(mortal, tmp_path):
    run = mortal.compute(gang.run(frame(2), total, META, 10**6, 0.001, tmp_path))
    began(tmp_path, 2)
    mortal.restart()
    assert run.cancelled()
    assert nothing_left(mortal)
    assert found(gang.run(frame(2), total, META).compute()) == expected(2)


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


# Clusters of all kinds


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    key, certificate = certified_in(tmp_path_factory.mktemp("tls"))
    roles = {
        f"tls_{role}_{what}": path
        for role in ("client", "scheduler", "worker")
        for what, path in (("key", key), ("cert", certificate))
    }
    return Security(tls_ca_file=certificate, require_encryption=True, **roles)


def test_on_a_cluster_with_tls_members_talk_by_tls(certified):
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            security=certified,
            protocol="tls://",
            dashboard_address=":0",
        ) as cluster,
        Client(cluster, security=certified),
    ):
        assert gang.run(frame(2), encrypted, META).compute().total.tolist() == [1, 1]


def encrypted(channel, shard, rank):
    part = total(channel, shard, rank)
    (peer,) = channel.peers.values()
    return part.assign(total=sum(isinstance(part, ssl.SSLSocket) for part in vars(peer).values()))


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


@pytest.mark.slow
def test_clients_that_call_at_once(client):
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
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


def test_releasing_a_result_cancels_its_run(client, tmp_path):
    run = gang.run(frame(2), total, META, 10**6, 0.001, tmp_path, name="released").persist()
    began(tmp_path, 2)
    del run
    assert nothing_left(client, 2)


@pytest.mark.slow
def test_a_worker_that_joins_later(mortal):
    assert found(gang.run(frame(2), total, META).compute()) == expected(2)
    mortal.cluster.scale(3)
    mortal.wait_for_workers(3, timeout=30)
    ports = gang.run(frame(3), where, META).compute().total
    assert len(set(ports)) == 3


@pytest.mark.slow
def test_a_graph_made_before_there_is_a_cluster(tmp_path):
    result = gang.run(frame(2), total, META)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        assert found(client.compute(result).result(timeout=30)) == expected(2)
        assert nothing_left(client)
