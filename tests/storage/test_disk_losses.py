"""Graphs on disk whose worker is lost, whose process is killed, or whose disk is full."""

from __future__ import annotations

import errno
import gc
import os
import pathlib
import pickle
import resource
import signal
import subprocess
import sys
import time

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.delayed import delayed
from distributed import wait
from members import eventually
from shapes import ENDS, power_law, same

import dask_graphflow as gf
from dask_graphflow.exceptions import OutputError
from dask_graphflow.graph import make_rows
from dask_graphflow.kernels import disk, is_on_disk

# Sockets and event loops that a killed worker leaves behind are not this library's to close.
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.usefixtures("host_memory")]


def on_disk(shard):
    """Return whether the rows of a shard are on disk."""
    return is_on_disk(shard.out.ends)


def are_on_disk(graph):
    """Return which shards of a persisted graph are on disk, each asked where it is."""
    return list(dask.compute(*(delayed(on_disk)(shard) for shard in graph._shards.built)))


def folders(client):
    """Return the local directory of each worker, by its address."""
    found = client.run(lambda dask_worker: dask_worker.local_directory)
    return {worker: pathlib.Path(folder) for worker, folder in found.items()}


def left(folders):
    """Return the files that are left in the folders of workers, apart from Dask's own."""
    return [path for folder in folders if folder.exists() for path in folder.glob("tmp*")]


def graph_of(edges, partitions=4, **options):
    frame = dd.from_pandas(edges, npartitions=partitions)
    return gf.Graph(frame, **ENDS, weight="w", directed=False, **options)


def test_a_worker_lost_between_two_calls_changes_nothing(mortal, rng):
    edges = power_law(rng, 20_000, 100_000)
    with dask.config.set(scheduler="threads"):
        in_memory = graph_of(edges, storage="memory").persist()
        wanted = in_memory.bfs([0]).compute(), in_memory.pagerank().compute()
    graph = graph_of(edges, shards=2, storage="disk").persist()
    same(graph.bfs([0]).compute(), wanted[0])
    assert are_on_disk(graph) == [True, True]
    there = folders(mortal)
    os.kill(next(iter(mortal.run(os.getpid).values())), signal.SIGKILL)
    same(graph.bfs([0]).compute(), wanted[0])
    mortal.wait_for_workers(2, timeout=60)
    same(graph.pagerank().compute(), wanted[1])
    assert are_on_disk(graph) == [True, True]
    assert not left([*there.values(), *folders(mortal).values()])


def slowly(i, folder):
    """Return a partition of 20,000 edges after a while."""
    (pathlib.Path(folder) / f"{os.getpid()}-{i}").touch()
    time.sleep(0.2)
    pairs = np.random.default_rng(i).integers(0, 20_000, (20_000, 2))
    return pd.DataFrame(pairs, columns=["a", "b"])


@pytest.mark.slow
def test_a_worker_killed_while_it_builds_changes_nothing(mortal, tmp_path):
    meta = pd.DataFrame({"a": [0], "b": [0]}).iloc[:0]
    edges = dd.from_map(slowly, range(8), folder=str(tmp_path), meta=meta)
    there = folders(mortal)
    graph = gf.Graph(edges, **ENDS, shards=2, storage="disk").persist()
    eventually(lambda: len(list(tmp_path.iterdir())) >= 3)
    begun = next(tmp_path.iterdir())
    os.kill(int(begun.name.partition("-")[0]), signal.SIGKILL)
    found = graph.pagerank().compute()
    assert are_on_disk(graph) == [True, True]
    with dask.config.set(scheduler="threads"):
        same(found, gf.Graph(edges, **ENDS, storage="memory").pagerank().compute())
    mortal.wait_for_workers(2, timeout=60)
    assert not left([*there.values(), *folders(mortal).values()])


@pytest.mark.slow
def test_the_shard_of_a_worker_that_retires_stays_on_disk(mortal, rng):
    edges = power_law(rng, 20_000, 100_000)
    graph = graph_of(edges, shards=2, storage="disk").persist()
    wanted = graph.pagerank().compute()
    wait(mortal.futures)
    mortal.retire_workers([next(iter(folders(mortal)))])
    assert are_on_disk(graph) == [True, True]
    same(graph.pagerank().compute(), wanted)


def test_a_shard_that_is_sent_or_spilled_stays_on_disk(rng, tmp_path):
    edges = power_law(rng, 20_000, 100_000)
    with dask.config.set(scheduler="sync", temporary_directory=str(tmp_path)):
        graph = graph_of(edges, storage="disk").persist()
        graph.pagerank().compute()
        shard = graph._shards.built[0].compute()
        sent = pickle.loads(pickle.dumps(shard))
    assert on_disk(sent)
    assert is_on_disk(sent.made("hub rows out").rows.weights)
    assert is_on_disk(sent.out.offsets)
    assert not is_on_disk(sent.made("occurs"))
    np.testing.assert_array_equal(sent.out.ends, shard.out.ends)
    assert not list(tmp_path.iterdir())


def test_a_killed_process_leaves_no_file(tmp_path):
    code = f"""
import os, signal
import dask
import dask_graphflow as gf
from dask_graphflow.kernels import is_on_disk

dask.config.set(temporary_directory={str(tmp_path)!r}, scheduler="sync")
edges = gf.generate.grid(200, 200, npartitions=4)
graph = gf.Graph(edges, source="src", target="dst", storage="disk").persist()
assert is_on_disk(graph._shards.built[0].compute().out.ends)
assert not os.listdir({str(tmp_path)!r})
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", code], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not list(tmp_path.iterdir())


@pytest.fixture
def small_disk(monkeypatch, tmp_path):
    """Return a function that limits the number of writes until the disk is full."""
    writes = []
    reserve, append = disk._reserve, disk.Spool.append

    class Full:
        def write(self, data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def tell(self):
            return 0

        def seek(self, at):
            pass

        def close(self):
            pass

    def reserving(file, nbytes, folder):
        writes.append(nbytes)
        if len(writes) > limit[0]:
            Full().write(b"")
        reserve(file, nbytes, folder)

    def appending(spool, array):
        writes.append(len(array))
        if len(writes) > limit[0]:
            spool._file.close()
            spool._file = Full()
        append(spool, array)

    limit = [10**9]
    monkeypatch.setattr(disk, "_reserve", reserving)
    monkeypatch.setattr(disk.Spool, "append", appending)
    monkeypatch.setattr(make_rows, "PIECE", 1 << 13)

    def after(count):
        writes.clear()
        limit[0] = count

    after.writes = writes
    with dask.config.set(temporary_directory=str(tmp_path), scheduler="sync"):
        yield after


def test_a_disk_that_is_full_at_any_time_is_a_named_error(small_disk, rng, tmp_path):
    graph = graph_of(power_law(rng, 20_000, 100_000), storage="disk")
    wanted = graph.pagerank().compute()
    every = len(small_disk.writes)
    assert every > 30
    for count in range(0, every, every // 8):
        small_disk(count)
        with pytest.raises(OutputError, match=r"No space left on device.*Free some space"):
            graph.pagerank().compute()
        assert not list(tmp_path.iterdir())
    small_disk(10**9)
    same(graph.pagerank().compute(), wanted)


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_a_full_disk_frees_what_the_call_wrote(small_disk, rng, scheduler, monkeypatch):
    graph = graph_of(power_law(rng, 20_000, 100_000), partitions=1, storage="disk")
    monkeypatch.setattr(gc, "collect", lambda: 0)  # which would hide what stays
    gc.disable()
    try:
        with dask.config.set(scheduler=scheduler):
            graph.pagerank().compute()
            small_disk(len(small_disk.writes) - 1)
            with pytest.raises(OutputError):
                graph.pagerank().compute()
        assert not eventually_open()
    finally:
        gc.enable()


def eventually_open():
    """Return the files that stay open, once the threads of the failed call have ended."""
    eventually(lambda: not len(disk._files))
    return list(disk._files)


def test_files_that_only_garbage_refers_to_make_room(small_disk, tmp_path, monkeypatch):
    write, collected, values = disk.write, [], np.arange(100_000)

    def partly(file, data, *, steadily):
        file.write(memoryview(data).cast("B")[: data.nbytes if collected else 1000])
        if not collected:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(gc, "collect", lambda: collected.append(small_disk(10**9)))
    monkeypatch.setattr(disk, "write", partly)
    np.testing.assert_array_equal(disk.stored(values, str(tmp_path)), values)
    monkeypatch.setattr(disk, "write", write)
    small_disk(0)
    assert is_on_disk(disk.empty(100_000, "int64", str(tmp_path)))
    assert len(collected) == 2


@pytest.mark.slow
def test_a_full_disk_of_one_worker_is_a_named_error_at_the_client(mortal, rng):
    graph = graph_of(power_law(rng, 20_000, 100_000), shards=2, storage="disk")
    wanted = graph.pagerank().compute()
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    one, limit = [next(iter(folders(mortal)))], (100_000, unlimited[1])
    mortal.run(resource.setrlimit, resource.RLIMIT_FSIZE, limit, workers=one)
    with pytest.raises(OutputError, match=r"cannot be written to .*Free some space"):
        graph.pagerank().compute()
    assert not left(folders(mortal).values())
    mortal.run(resource.setrlimit, resource.RLIMIT_FSIZE, unlimited, workers=one)
    same(graph.pagerank().compute(), wanted)


def test_a_persisted_graph_works_on_once_there_is_room(small_disk, rng):
    graph = graph_of(power_law(rng, 20_000, 100_000), storage="disk").persist()
    small_disk(0)
    for call in (graph.pagerank, graph.core_number):
        with pytest.raises(OutputError, match="No space left on device"):
            call().compute()
    small_disk(10**9)
    with dask.config.set(scheduler="threads"):
        in_memory = graph_of(power_law(np.random.default_rng(7), 20_000, 100_000), storage="memory")
        same(graph.pagerank().compute(), in_memory.pagerank().compute())
        same(graph.core_number().compute(), in_memory.core_number().compute())


def test_a_folder_that_does_not_exist_is_a_named_error(tmp_path, rng):
    missing, edges = str(tmp_path / "missing"), power_law(rng, 20_000, 100_000)
    with (
        dask.config.set(temporary_directory=missing, scheduler="sync"),
        pytest.raises(
            OutputError, match=r"cannot be written to .*missing.*or choose another folder"
        ),
    ):
        graph_of(edges, storage="disk").persist()
    with pytest.raises(OutputError, match="a file of a graph on disk cannot be written to"):
        disk.Spool(missing)
