"""The member that the tests of gangs run, how to wait for it, and what it leaves behind."""

from __future__ import annotations

import gc
import os
import threading
import time

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Event, get_worker, worker_client
from members import eventually

from dask_graphflow.tasks import gang
from dask_graphflow.tasks.membership import Membership
from dask_graphflow.tasks.rendezvous import Rendezvous

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


def where(channel, shard, rank):
    return pd.DataFrame({"rank": [rank], "total": [hash_of(get_worker().address)]})


def hash_of(address):
    return int(address.rpartition(":")[2])


def later_shard(name, i):
    with worker_client():  # secedes
        Event(name).wait()
    return shard(i)
