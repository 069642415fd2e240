"""Runs that lose a worker, a connection or a part run again."""

from __future__ import annotations

import os
import signal
import time

import pytest
from distributed import wait
from gangs import (
    KINDS,
    META,
    addresses,
    began,
    expected,
    found,
    frame,
    nothing_left,
    shards_of,
    total,
)
from members import eventually

from dask_graphflow.exceptions import WorkerLostError
from dask_graphflow.tasks import gang

# This library cannot close sockets and event loops that a killed worker leaves behind.
pytestmark = pytest.mark.filterwarnings("default")


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


def test_members_of_one_process_lose_one_of_another_process(mortal, tmp_path):
    run = mortal.compute(gang.run(frame(3), total, META, 300, 0.005, tmp_path))
    processes = list(began(tmp_path, 3).values())
    (alone,) = (process for process in processes if processes.count(process) == 1)
    os.kill(alone, signal.SIGKILL)
    assert found(run.result(timeout=30)) == expected(3)
    assert found(gang.run(frame(3), total, META, 2).compute()) == expected(3)
    del run
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
        t
        for t in dask_scheduler.tasks.values()
        if str(t.key).startswith("('graphflow-last-to-end-gang")
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
    with pytest.raises(WorkerLostError, match=r"doomed-gang.* was given up: .*lost"):
        run.result(timeout=60)
    assert time.monotonic() - start < 30
    run.release()  # which its exception's traceback refers to
    mortal.wait_for_workers(1, timeout=30)
    del result, shards
    assert nothing_left(mortal)
    assert found(gang.run(frame(2), total, META).compute()) == expected(2)


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
