"""Calls on workers that Dask has paused because of their memory: each ends, or says what limit suffices."""

from __future__ import annotations

import time

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS
from distributed import Client, Event, LocalCluster, Status, get_worker, wait
from members import eventually
from test_fitting import advised

import dask_graphflow as gf
from dask_graphflow.comm import resources
from dask_graphflow.exceptions import GraphMemoryError
from dask_graphflow.tasks import pauses

LIMIT = 10**9
EDGES = pd.DataFrame({"a": np.arange(8), "b": np.arange(1, 9)})

uses: dict[str, int] = {}  # bytes that each worker uses, by address


def fill(worker, share=0.9):
    uses[worker.address] = int(share * LIMIT)


def fill_for_a_while(_):
    fill(get_worker())
    time.sleep(2)
    uses.clear()


def part(i, filling=()):
    if i in filling:
        fill(get_worker())
        time.sleep(0.3)  # until Dask has paused the worker
    return EDGES.iloc[4 * i : 4 * i + 4]


def edges(filling=()):
    return dd.from_map(part, [0, 1], filling=filling, meta=EDGES.iloc[:0])


@pytest.fixture
def cluster(monkeypatch):
    """Return a cluster of two workers in this process that use as much memory as `uses` says."""
    uses.clear()
    for module in (resources, pauses):
        monkeypatch.setattr(module, "give_back", lambda: None)
    monkeypatch.setattr(pauses, "LOOK", 0.05)
    options = {"processes": False, "dashboard_address": ":0", "memory_limit": LIMIT}
    # Otherwise the other worker may take over a task of a worker that a test keeps busy.
    no_stealing = dask.config.set({"distributed.scheduler.work-stealing": False})
    with (
        no_stealing,
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        Client(cluster),
    ):
        for worker in cluster.workers.values():
            at = worker.address
            monkeypatch.setattr(
                worker.monitor, "get_process_memory", lambda at=at: uses.get(at, LIMIT // 10)
            )
        yield cluster


def fill_all(cluster):
    for worker in cluster.workers.values():
        fill(worker)
    assert eventually(lambda: not cluster.scheduler.running)


CALLS = {
    "components": lambda: gf.connected_components(edges(), **ENDS),
    "one member": lambda: gf.Graph(edges(), **ENDS, shards=1).bfs([0]),
    "two members": lambda: gf.Graph(edges(), **ENDS, shards=2).pagerank(),
    "a frame made from a result": lambda: gf.bfs(edges(), **ENDS, sources=[0]).nlargest(
        1, "distance"
    ),
    "a frame that Dask computes before": lambda: gf.bfs(
        edges().drop_duplicates(split_out=2), **ENDS, sources=[0]
    ),
}


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(call, id=name, marks=[pytest.mark.slow] if "a frame" in name else [])
        for name, call in CALLS.items()
    ],
)
def test_a_call_raises_if_all_workers_stay_paused(cluster, call):
    fill_all(cluster)
    with pytest.raises(GraphMemoryError, match="cannot free or write to disk") as refused:
        call().compute()
    assert advised(refused.value) == refused.value.needed > LIMIT


@pytest.mark.slow
def test_a_persisted_graph_raises_if_its_worker_is_paused_later(cluster):
    graph = gf.Graph(edges(), **ENDS, shards=2).persist()
    assert len(graph.bfs([0]).compute()) == 9
    fill_all(cluster)
    with pytest.raises(GraphMemoryError):
        graph.pagerank().compute()
    uses.clear()
    assert len(graph.bfs([1]).compute()) == 8


@pytest.mark.slow
@pytest.mark.parametrize("members", [1, 2])
def test_a_call_raises_if_all_workers_are_paused_on_the_way(cluster, members):
    graph = gf.Graph(edges(filling=[0, 1]), **ENDS, shards=members)
    with pytest.raises(GraphMemoryError, match="memory_limit="):
        graph.bfs([0]).compute()


def test_a_member_does_not_wait_for_one_on_a_paused_worker(cluster):
    client = Client.current()
    # Each of them gets a shard.
    assert eventually(lambda: len(cluster.scheduler.running) == len(cluster.workers))
    graph = gf.Graph(edges(), **ENDS, shards=2).persist()
    assert graph.num_edges == 8  # waits until the shards are built, on both workers
    full, other = cluster.workers.values()
    busy = Event("busy")
    there = client.submit(busy.wait, workers=[full.address], pure=False)
    assert eventually(lambda: there.key in full.state.tasks)
    result = client.compute(graph.bfs([0]))
    assert eventually(lambda: other.state.long_running)  # its member has joined
    fill(full)
    assert eventually(lambda: full.status == Status.paused)
    busy.set()
    with pytest.raises(GraphMemoryError, match="memory_limit="):
        result.result()
    assert eventually(lambda: not other.state.long_running)


def test_a_task_that_may_run_on_other_workers_does_not_wait_for_a_paused_one(cluster):
    full, other = cluster.workers.values()
    fill_all(cluster)
    call = gf.bfs(edges(), **ENDS, sources=[0])
    at = {"workers": [full.address], "allow_other_workers": True}
    result = Client.current().compute(call, **at)
    assert eventually(lambda: cluster.scheduler.unrunnable)
    del uses[other.address]
    assert len(result.result(timeout=20)) == 9


def test_a_task_that_only_a_paused_worker_may_run_raises(cluster):
    full, _ = cluster.workers.values()
    fill(full)
    assert eventually(lambda: full.status == Status.paused)
    result = Client.current().compute(gf.degrees(edges(), **ENDS), workers=[full.address])
    with pytest.raises(GraphMemoryError, match="cannot free or write to disk"):
        result.result(timeout=20)


def test_a_worker_that_can_free_memory_resumes(cluster, monkeypatch):
    fill_all(cluster)
    monkeypatch.setattr(pauses, "give_back", uses.clear)
    assert len(gf.bfs(edges(), **ENDS, sources=[0]).compute()) == 9


@pytest.mark.slow
def test_a_call_waits_for_a_task_that_may_free_memory(cluster):
    busy = Client.current().map(fill_for_a_while, range(2), pure=False)
    assert eventually(lambda: not cluster.scheduler.running)
    assert len(gf.bfs(edges(), **ENDS, sources=[0]).compute()) == 9
    wait(busy)


def test_tasks_of_other_libraries_wait_for_a_paused_worker(cluster):
    gf.bfs(edges(), **ENDS, sources=[0]).compute()
    fill_all(cluster)
    other = Client.current().submit(lambda: 1, pure=False)
    with pytest.raises(GraphMemoryError):
        gf.bfs(edges(), **ENDS, sources=[1]).compute()
    assert other.status == "pending"
    uses.clear()
    assert other.result() == 1


@pytest.mark.slow
def test_calls_that_were_made_without_a_client_raise_too(cluster):
    with dask.config.set(scheduler="sync"):
        first, second = (gf.Graph(edges(), **ENDS, shards=1).bfs([source]) for source in (0, 1))
    assert len(first.compute()) == 9
    fill_all(cluster)
    with pytest.raises(GraphMemoryError):
        second.compute()
