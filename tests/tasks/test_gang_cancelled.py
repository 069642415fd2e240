"""Runs that are cancelled or released leave nothing behind."""

from __future__ import annotations

import time

import pytest
from dask.delayed import delayed
from distributed import Event
from gangs import (
    KINDS,
    META,
    began,
    expected,
    found,
    frame,
    later_shard,
    left_on_scheduler,
    nothing_left,
    shard,
    shards_of,
    total,
)
from members import eventually

from dask_graphflow.tasks import gang

# This library cannot close sockets and event loops that a killed worker leaves behind.
pytestmark = pytest.mark.filterwarnings("default")


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
    assert eventually(lambda: all(mortal.run(running).values()))
    run.cancel()
    time.sleep(5)  # by now, the members would run, even on a busy machine
    assert not any(mortal.run(running).values())
    del run, shards
    assert nothing_left(mortal)


def delay_members():
    from dask_graphflow.tasks import membership

    secede = membership.secede
    membership.secede = lambda **options: secede(**options) or time.sleep(1)


def running(dask_worker):
    state = dask_worker.state
    return [str(task.key) for task in (*state.executing, *state.long_running)]


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


def test_releasing_a_result_cancels_its_run(client, tmp_path):
    run = gang.run(frame(2), total, META, 10**6, 0.001, tmp_path, name="released").persist()
    began(tmp_path, 2)
    del run
    assert nothing_left(client, 2)
