"""Calls that no worker may run, and calls that kill their workers, end in an error that says what to do."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
import threading

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, two_workers
from distributed import Client, LocalCluster, get_worker, worker_client
from gangs import nothing_left
from members import eventually

import dask_graphflow as gf
from dask_graphflow.exceptions import WorkerLostError
from dask_graphflow.tasks import clients

# This library cannot close sockets and event loops that a killed worker leaves behind.
pytestmark = pytest.mark.filterwarnings("default")

NOWHERE = "tcp://127.0.0.1:1"


def part(i):
    return pd.DataFrame(np.random.default_rng(i).integers(0, 50, (100, 2)), columns=["a", "b"])


def edges(count=2, read=part):
    return dd.from_map(read, range(count), meta=part(0).iloc[:0])


CALLS = {
    "components": lambda read: gf.connected_components(edges(read=read), **ENDS),
    "one member": lambda read: gf.Graph(edges(read=read), **ENDS, shards=1).bfs([0]),
    "two members": lambda read: gf.Graph(edges(read=read), **ENDS, shards=2).core_number(),
    "on disk": lambda read: gf.Graph(edges(read=read), **ENDS, shards=2, storage="disk").pagerank(),
    "a frame of a result": lambda read: gf.bfs(edges(read=read), **ENDS, sources=[0]).nlargest(
        1, "distance"
    ),
    "a frame made before": lambda read: gf.bfs(
        edges(read=read).drop_duplicates(split_out=2), **ENDS, sources=[0]
    ),
}


@pytest.fixture(autouse=True)
def impatient():
    """Give up tasks that have no worker after one second."""
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1s"}):
        yield


@pytest.fixture(scope="module")
def workers():
    """Return a client of a cluster of two workers in this process, whose number a test may change."""
    options = {"processes": False, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        wait_for(client, 2)
        yield client


def wait_for(client, count):
    """Wait until the scheduler has so many workers, and the cluster has heard of it."""
    listed = client.cluster.scheduler_info["workers"]
    assert eventually(lambda: len(client.nthreads()) == len(listed) == count, seconds=30)


@pytest.fixture
def no_collection():
    """Do not look for garbage: the failed tasks of a graph have to go with the last name for it."""
    gc.disable()
    yield
    gc.enable()


def without_workers(client):
    # After this time, a cluster closes the worker that has a lost one's name, unless it lists it already.
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}):
        client.cluster.scale(0)
        wait_for(client, 0)


def with_workers(client):
    client.cluster.scale(2)
    wait_for(client, 2)


def test_calls_without_a_worker_end_and_work_once_there_is_one(workers):
    without_workers(workers)
    for call in CALLS.values():
        with pytest.raises(
            WorkerLostError, match=r"the cluster had no worker.*cluster\.scale\(2\)"
        ):
            call(part).compute()
    with_workers(workers)
    for call in CALLS.values():
        assert len(call(part).compute())


@pytest.mark.parametrize(
    "ask",
    [
        lambda graph: graph.persist().num_edges,
        lambda graph: graph.persist().to_networkx(),
        lambda graph: graph.persist().save("unused"),
        lambda graph: gf.plot.neighborhood(graph, 0),
        lambda graph: dask.compute(graph.bfs([0]), graph.degrees()),
    ],
    ids=["num_edges", "to_networkx", "save", "plot", "several"],
)
def test_persisted_graphs_and_several_results_end_too(
    workers, ask, no_collection, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    without_workers(workers)
    graph = gf.Graph(edges(), **ENDS, shards=2)
    with pytest.raises(WorkerLostError, match="no worker"):
        ask(graph)
    with_workers(workers)
    assert graph.persist().num_edges == 200


@pytest.mark.parametrize(
    "restriction",
    [{"workers": [NOWHERE]}, {"workers": ["alice"]}, {"resources": {"X": 1}}],
    ids=["address", "name", "resource"],
)
@pytest.mark.parametrize("name", ["components", "one member", "two members"])
def test_a_restriction_that_no_worker_fulfills_is_named(workers, restriction, name):
    run = workers.compute(CALLS[name](part), **restriction)
    named = "X=1" if "resources" in restriction else restriction["workers"][0]
    with pytest.raises(WorkerLostError, match=f"restricted to .*{named}.*leave out"):
        run.result(timeout=20)
    run.release()
    assert len(workers.compute(CALLS[name](part)).result(timeout=20))


def test_a_task_that_allows_other_workers_runs_there(workers):
    call = CALLS["two members"](part)
    loose = {"workers": [NOWHERE], "allow_other_workers": True}
    assert len(workers.compute(call, **loose).result(timeout=20)) == 50


def test_tasks_of_other_libraries_wait_for_a_worker(workers):
    gf.bfs(edges(), **ENDS, sources=[0]).compute()
    other = workers.submit(int, workers=[NOWHERE], pure=False)
    with pytest.raises(WorkerLostError):
        workers.compute(CALLS["one member"](part), workers=[NOWHERE]).result(timeout=20)
    assert other.status == "pending"


def test_a_longer_limit_of_dask_for_missing_workers_holds(workers):
    with dask.config.set({"distributed.scheduler.no-workers-timeout": "2s"}):
        run = workers.compute(gf.degrees(edges(3), **ENDS), workers=[NOWHERE])
        with pytest.raises(WorkerLostError, match="for 2 s"):
            run.result(timeout=20)


def deadly(i):
    """Kill the worker that reads the first partition: a second loss might come after the call's error."""
    if i == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return part(i)


@pytest.fixture
def brittle():
    """Return a client of a cluster that gives up a task at the first loss of its worker."""
    settings = {
        "distributed.scheduler.allowed-failures": 1,
        "distributed.deploy.lost-worker-timeout": "1h",
    }
    with dask.config.set(settings), two_workers() as cluster, Client(cluster) as client:
        yield client


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(call, id=name, marks=[] if "member" in name else [pytest.mark.slow])
        for name, call in CALLS.items()
    ],
)
def test_a_call_that_kills_its_workers_ends_and_the_next_call_works(brittle, call):
    with pytest.raises(WorkerLostError, match=r"lost 1 time while.*No nanny of Dask.*call again"):
        call(deadly).compute()
    brittle.wait_for_workers(2, timeout=60)
    assert len(call(part).compute())
    assert nothing_left(brittle)


def greedy(i):
    worker = get_worker()
    event = {"worker": worker.address, "pid": os.getpid(), "rss": 950_000_000}
    with worker_client() as client:
        client.log_event("worker-restart-memory", event)  # as the nanny does
    return deadly(0)


@pytest.mark.slow
def test_the_error_names_the_memory_if_a_nanny_ended_the_worker(brittle):
    with pytest.raises(WorkerLostError, match=r"used 906.0 MiB.*memory_limit='1900MB'"):
        gf.degrees(edges(read=greedy), **ENDS).compute()


def test_a_module_that_another_thread_imports_is_waited_for(tmp_path, monkeypatch):
    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(0.3)\nready = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert clients.find_imported("slow_to_import") is None
    other = threading.Thread(target=importlib.import_module, args=["slow_to_import"])
    other.start()
    assert eventually(lambda: "slow_to_import" in sys.modules)
    assert clients.find_imported("slow_to_import").ready
    other.join()
    monkeypatch.delitem(sys.modules, "slow_to_import")
