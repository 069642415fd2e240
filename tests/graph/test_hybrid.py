"""Clusters of two kinds of workers: which workers are started, of which kind, and where members run.

No GPU is needed: a stand-in for Dask-CUDA starts workers that only have the resource.
"""

from __future__ import annotations

import os
import signal
import sys
import types

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.system import CPU_COUNT
from distributed import Client, Event, LocalCluster, get_worker
from distributed.diagnostics import nvml
from distributed.system import MEMORY_LIMIT

import dask_graphflow as gf
from dask_graphflow.exceptions import BackendError, OptionError
from dask_graphflow.tasks import gang, gang_build, hybrid_cluster, placement

# This library cannot close sockets and event loops that a killed worker leaves behind.
pytestmark = pytest.mark.filterwarnings("default")

META = pd.DataFrame({"rank": np.array([], "int64"), "total": np.array([], "int64")})


class StandIn(LocalCluster):
    """The part of dask_cuda.LocalCUDACluster that hybrid_cluster() needs, without a GPU."""

    def __init__(self, n_workers, pre_import=None, **options):
        super().__init__(n_workers=0, processes=True, **options)
        self.pre_import = pre_import
        # As Dask-CUDA does, but with a module that exists.
        of_each = self.new_spec["options"]
        of_each["preload"] = [*of_each.get("preload", []), "colorsys"]
        of_each["preload_argv"] = [*of_each.get("preload_argv", []), "--create-cuda-context"]
        self.scale(n_workers)
        self.sync(self._correct_state)

    def new_worker_spec(self):
        number = len(self.worker_spec)
        # Distributed asks NVML for the first GPU of the list, so it must exist where there is only one.
        env = {"CUDA_VISIBLE_DEVICES": f"0,{number + 1}"}
        return {number: {**self.new_spec, "options": {**self.new_spec["options"], "env": env}}}


@pytest.fixture(scope="module")
def cluster():
    # On a busy machine Dask steals tasks from their worker, since it may run them elsewhere.
    no_stealing = dask.config.set({"distributed.scheduler.work-stealing": False})
    with pytest.MonkeyPatch.context() as patch, no_stealing:
        patch.setitem(sys.modules, "dask_cuda", types.SimpleNamespace(LocalCUDACluster=StandIn))
        patch.setattr(hybrid_cluster, "_visible", lambda: 2)
        cluster = gf.hybrid_cluster(
            threads=1, gpu_options={"pre_import": "cudf"}, dashboard_address=":0"
        )
    with cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with Client(cluster) as client:
        yield client


# What is started


@pytest.mark.slow
def test_a_hybrid_cluster_has_one_worker_per_gpu_and_one_for_the_cpu(cluster):
    options = {name: worker["options"] for name, worker in cluster.worker_spec.items()}
    assert list(options) == [0, 1, "cpu-0"]
    assert cluster.pre_import == "cudf"
    assert [one["resources"] for one in options.values()] == [{"GPU": 1}, {"GPU": 1}, {"CPU": 1}]
    visible = [one["env"]["CUDA_VISIBLE_DEVICES"] for one in options.values()]
    assert visible == ["0,1", "0,2", ""]
    assert {one["memory_limit"] for one in options.values()} == {1 / 3}
    assert options[0]["preload"] == ["colorsys"]
    assert not {"preload", "preload_argv"} & options["cpu-0"].keys()


def test_workers_without_a_gpu_see_none(client):
    visible = client.run(lambda: os.environ["CUDA_VISIBLE_DEVICES"])
    assert [visible[worker.address] for worker in placement.workers()] == ["0,1", "0,2", ""]


def test_several_workers_where_there_is_no_gpu():
    asked = {"gpu_options": {"pre_import": "cudf"}, "dashboard_address": ":0"}
    with gf.hybrid_cluster(0, cpu_workers=2, **asked) as cluster, Client(cluster) as client:
        threads = max(1, CPU_COUNT // 2)
        kinds = [(worker.threads, worker.kind) for worker in placement.workers()]
        assert kinds == [(threads, "cpu")] * 2
        about = placement.describe_workers(client).values()
        assert [one["resources"] for one in about] == [{"CPU": 1}] * 2
        assert [one["memory_limit"] for one in about] == [int(MEMORY_LIMIT / 2)] * 2


@pytest.mark.parametrize(
    ("gpus", "visible", "options", "message"),
    [
        (3, None, {}, "gpus=3, but this machine has 2"),
        (2, "1", {}, "gpus=2, but this machine has 1"),
        (1, "", {}, "gpus=1, but this machine has 0"),
        (1, "-1,0", {}, "gpus=1, but this machine has 0"),
        (-1, None, {}, "gpus=-1; give a whole number, 0 or more"),
        (0, None, {"cpu_workers": 0}, "cpu_workers=0; give a whole number, 1 or more"),
        (0, None, {"threads": 0.5}, "threads=0.5; give a whole number, 1 or more"),
        (2, None, {"cpu_workers": 0}, r"need Dask-CUDA.*or give gpus=0"),
        (None, "0,1", {}, r"need Dask-CUDA.*or give gpus=0"),
    ],
)
def test_an_invalid_cluster_is_refused(monkeypatch, gpus, visible, options, message):
    monkeypatch.setitem(sys.modules, "dask_cuda", None)
    monkeypatch.setattr(nvml, "device_get_count", lambda: 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    with pytest.raises((BackendError, OptionError), match=message):
        gf.hybrid_cluster(gpus, **options)


# Which are which


def test_workers_with_a_gpu_come_first(client):
    there = placement.workers()
    names = placement.describe_workers(client)
    assert [names[worker.address]["name"] for worker in there] == [0, 1, "cpu-0"]
    assert [worker[1:] for worker in there] == [(1, "gpu"), (1, "gpu"), (1, "cpu")]
    with dask.config.set(scheduler="threads"):
        assert placement.workers() == ()


def test_a_task_knows_whether_its_worker_has_a_gpu(client):
    there = placement.workers()
    known = [
        client.submit(placement.on_gpu_worker, workers=[worker.address], pure=False)
        for worker in there
    ]
    assert client.gather(known) == [True, True, False]
    assert not placement.on_gpu_worker()


# Where members run


def port(address):
    return int(address.rpartition(":")[2])


def here():
    return port(get_worker().address)


def made(i):
    return pd.DataFrame({"a": [i] * 3, "made": here()})


def read(part, number):
    return part.assign(read=here())


def where(channel, shard, rank):
    """Return where a member runs, and where its partitions were made and read."""
    pieces = pd.concat(shard)
    return [here(), *pieces.made.unique(), *pieces["read"].unique()]


def total(channel, shard, rank, waits=None):
    """Add up the sums of all members; wait for an event in the middle."""
    own = int(sum(piece.a.sum() for piece in shard))
    for k in range(1, channel.size):
        channel.send((rank + k) % channel.size, np.array([own]))
    if waits is not None:
        Event(f"{waits}-{rank}").set()
        Event(waits).wait()
    found = own
    for k in range(1, channel.size):
        found += np.frombuffer(channel.receive((rank - k) % channel.size), "int64")[0]
    return pd.DataFrame({"rank": [rank], "total": [found]})


def unread(part, number):
    return part


def frame(count, salt):
    meta = {"a": "int64", "made": "int64"}
    return dd.from_map(made, [10 * salt + i for i in range(count)], meta=meta)


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("asked", [(0, 1, 2), (2, 1, 0), (1, 2), (2, 0, 2, 2), (1,)])
def test_members_and_their_partitions_are_on_the_named_workers(client, asked, alone):
    there = [worker.address for worker in placement.workers()]
    workers = [there[i] for i in asked]
    salt = hash((asked, alone)) % 10**6
    frames = [(frame(6, salt), ["a", "made"], read)]
    reads = gang_build.deal_reads(frames, len(asked), workers=workers, alone=alone)
    parts = gang.run(reads, where, None, name="where", alone=alone)
    assert list(dask.compute(*parts)) == [[port(worker)] * 3 for worker in workers]


def test_members_whose_worker_is_lost_run_elsewhere(client):
    there = [worker.address for worker in placement.workers()]
    expected = {"rank": [0, 1, 2], "total": [3 * sum(range(20, 26))] * 3}
    asked = [there[2], there[0], there[1]]

    def run(args=(), workers=None):
        frames = [(frame(6, 2), ["a", "made"], unread)]
        reads = gang_build.deal_reads(frames, 3, workers=workers)
        return gang.run(reads, total, META, *args, name="total")

    assert run().compute().to_dict("list") == expected
    running = client.compute(run(args=("lost",), workers=asked))
    for rank in range(3):
        assert Event(f"lost-{rank}").wait(20)
    os.kill(client.run(os.getpid)[there[2]], signal.SIGKILL)
    Event("lost").set()
    assert running.result(timeout=30).to_dict("list") == expected
    assert run(workers=asked).compute().to_dict("list") == expected  # it is gone from the start
