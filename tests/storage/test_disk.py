"""Graphs on disk: the same bits as in memory, in memory that does not grow with the edges, and errors."""

from __future__ import annotations

import contextlib
import gc
import gzip
import mmap
import os
import pickle
import resource
import signal
import sys
import time
import weakref
from functools import partial
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import most_memory
from dask.delayed import delayed
from shapes import ALSO_ASKED, ASKED, ENDS, KINDS, power_law, same

import dask_graphflow as gf
from dask_graphflow.api import storage_choice
from dask_graphflow.exceptions import GraphMemoryError, OptionError, OutputError
from dask_graphflow.graph import make_rows
from dask_graphflow.graph.edgelist import Ends
from dask_graphflow.kernels import disk, memory, read_ahead
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.host_threads import TURN, even_turns, turns
from dask_graphflow.kernels.rows import host as host_rows
from dask_graphflow.operators.forests import connected
from dask_graphflow.operators.intersect import triangle_counts as intersect
from dask_graphflow.tasks.parquet import rows_at_most
from dask_graphflow.tasks.reading import store

pytestmark = pytest.mark.usefixtures("host_memory")
QUICK = "pagerank", "bfs", "components"
SLOW = (
    "hits", "personalized pagerank", "strong components", "label propagation", "core numbers",
    "triangles", "clustering", "louvain", "leiden", "closeness", "independent set", "coloring",
    "bridges", "a program",
)  # fmt: skip


@pytest.fixture
def tiny(monkeypatch, small_files):
    """Make files, blocks and ranges tiny, and return the folder of the files."""
    for module, name, value in (
        (connected, "CHUNK", 1 << 10),
        (make_rows, "SHIFT", 1),
        (make_rows, "ENTRY", 1 << 17),
        (intersect, "ENTRY", 1 << 19),
        (disk, "AROUND", 15),
        (read_ahead, "PART", 1 << 40),
    ):
        monkeypatch.setattr(module, name, value)
    return small_files


@pytest.mark.parametrize(
    ("kind", "members", "directed"),
    [
        ("dense", 1, True),
        ("far apart", 3, False),
        pytest.param("strings", 1, False, marks=pytest.mark.slow),
        pytest.param("strings", 3, True, marks=pytest.mark.slow),
        pytest.param("dense", 2, False, marks=pytest.mark.slow),
    ],
)
def test_graphs_on_disk_and_in_memory_give_the_same_bits(built, tiny, rng, kind, directed):
    edges = KINDS[kind](power_law(rng))
    sources = edges.a.iloc[[0, 700]].tolist()
    in_memory = built(edges, directed=directed, storage="memory")
    on_disk = built(edges, directed=directed, storage="disk")
    assert (on_disk.num_vertices, on_disk.num_edges) == (
        in_memory.num_vertices,
        in_memory.num_edges,
    )
    for call in [*ASKED.values(), *ALSO_ASKED.values()]:
        same(call(on_disk, sources).compute(), call(in_memory, sources).compute())
    assert not list(tiny.iterdir())  # the files have no names


@pytest.mark.parametrize("multi", ["sum", "min", "first"])
@pytest.mark.parametrize("members", [1, 3])
def test_parallel_edges_are_merged_as_in_memory(built, tiny, rng, multi):
    edges = pd.DataFrame(rng.integers(0, 300, (5000, 2)), columns=["a", "b"])
    edges["w"] = rng.random(5000)
    same(*(
        built(edges, multi=multi, directed=False, storage=storage).edges().compute()
        for storage in ("disk", "memory")
    ))  # fmt: skip


def dense_graph(rng, edges, **options):
    """Return a persisted graph on disk with few vertices and many edges."""
    frame = pd.DataFrame(rng.integers(0, 500, (edges, 2)), columns=["a", "b"])
    options = {"directed": False, "storage": "disk"} | options
    return gf.Graph(
        dd.from_pandas(frame, npartitions=max(4, edges // 10_000)), **ENDS, **options
    ).persist()


@pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]
)
@pytest.mark.usefixtures("tiny")
def test_memory_does_not_grow_with_the_edges(rng, name):
    call = (ALSO_ASKED | ASKED)[name]
    few, many = peaks(rng, lambda graph: call(graph, [1, 2]).compute(scheduler="sync"))
    assert many < few + 1_000_000  # the ends of the other edges alone take 2,800,000 bytes


@pytest.mark.usefixtures("tiny")
def test_counting_and_saving_take_no_memory_for_the_edges(rng, tmp_path):
    few, many = peaks(rng, lambda graph: graph.num_edges)
    assert many < few + 1_000_000
    folders = iter(range(100))
    few, many = peaks(rng, lambda graph: graph.save(tmp_path / f"graph {next(folders)}"))
    assert many < few + 1_500_000  # a sample has up to 131,072 ends of 8 bytes


def peaks(rng, call):
    """Return the peaks of memory of a call on a graph with few edges, and on one with many."""
    found = [
        [most_memory(partial(call, dense_graph(rng, edges))) for edges in (50_000, 400_000)]
        for _ in range(3)  # kernels may be compiled in the first rounds
    ]
    return np.min(found, axis=0)


@pytest.mark.usefixtures("tiny")
def test_memory_of_a_build_does_not_grow_with_the_edges(rng):
    frames = [
        dd.from_delayed([delayed(random_edges)(i) for i in range(count)], meta=random_edges(0))
        for count in (5, 40)
    ]
    with dask.config.set(scheduler="sync"):
        _, few, many = (  # the first compiles the kernels
            most_memory(gf.Graph(edges, **ENDS, directed=False, storage="disk").persist)
            for edges in (frames[0], *frames)
        )
    assert many < few + 2_000_000  # the other edges take 5,600,000 bytes as they are read


@pytest.mark.parametrize("directed", [True, False])
def test_files_take_what_the_estimate_says(rng, tiny, monkeypatch, directed):
    spools, others, peaks = weakref.WeakSet(), weakref.WeakSet(disk._files), [0]
    empty, append = disk.empty, disk.Spool.append

    def look():
        open_ = [spool for spool in spools if not spool._file.closed]
        written = (dtype.itemsize * size for spool in open_ for dtype, size in spool._written)
        peaks.append(sum(map(len, set(disk._files) - set(others))) + sum(written))

    def looking_empty(*arguments):
        array = empty(*arguments)
        look()
        return array

    def looking_append(spool, array):
        spools.add(spool)
        append(spool, array)
        look()

    monkeypatch.setattr(disk, "empty", looking_empty)
    monkeypatch.setattr(disk.Spool, "append", looking_append)
    pairs = pd.DataFrame(rng.integers(0, 500, (200_000, 2)), columns=["a", "b"])
    edges = dd.from_pandas(pairs, npartitions=20)
    graph = gf.Graph(edges, **ENDS, directed=directed, storage="disk")
    with dask.config.set(scheduler="sync"):
        graph.pagerank().compute()
    about = gf.estimate(edges, "pagerank", **ENDS, directed=directed, storage="disk")
    (expected,) = about.disk_bytes_per_worker
    # Dense ids that begin at 0 are read as they are; the estimate counts a copy of them.
    assert 0.7 * expected < max(peaks) <= 1.02 * expected


def random_edges(seed):
    """Return a partition of 10,000 edges."""
    pairs = np.random.default_rng(seed).integers(0, 500, (10_000, 2))
    return pd.DataFrame(pairs, columns=["a", "b"])


def mapped_pages():
    """Return the bytes of mapped files in this process's memory."""
    return disk._memory_in_use()[1]


@pytest.mark.skipif(
    sys.platform != "linux", reason="other systems do not say how many pages there are"
)
def test_pages_are_let_go_before_they_exceed_the_budget(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "budget", lambda: 1 << 22)
    arrays = [disk.empty(1 << 22, "int64", str(tmp_path)) for _ in range(4)]  # 32 MB each
    before, most = mapped_pages(), 0
    for array in arrays:
        array[:] = 7
        most = max(most, mapped_pages() - before)
    deadline = time.monotonic() + 10
    while mapped_pages() - before > 1 << 24 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert mapped_pages() - before <= 1 << 24
    assert all((array == 7).all() for array in arrays)  # nothing was lost


@pytest.mark.usefixtures("tiny")
def test_pages_of_dealt_edges_are_let_go_before_ranges_are_sorted(rng, monkeypatch):
    steps, rows, let_go = [], host_rows.rows, disk.let_go
    monkeypatch.setattr(disk, "let_go", lambda: steps.append("pages") or let_go())
    monkeypatch.setattr(
        host_rows, "rows", lambda *of, **how: steps.append("rows") or rows(*of, **how)
    )
    dense_graph(rng, 50_000)
    assert steps.index("pages") < steps.index("rows")


def test_a_process_with_little_memory_leaves_less_of_it_to_pages():
    assert disk.part_of(900_000_000) == 150_000_000
    assert disk.part_of(400_000_000) == disk.LEAST_BUDGET


def test_a_piece_that_is_sent_is_on_disk_again(tmp_path):
    with dask.config.set(temporary_directory=str(tmp_path)):
        ends = Ends.of(pd.DataFrame({"a": np.arange(1 << 16)}))
        weights = np.arange(1 << 16, dtype="float64")
        piece = store(ends, ends, weights, 3)
        sent = pickle.loads(pickle.dumps(piece))
    for array in (sent.source.only.to_numpy(), sent.target.only.to_numpy(), sent.weight):
        assert disk.folder_of(array) == str(tmp_path)
        np.testing.assert_array_equal(array, np.arange(1 << 16))
    assert sent.partition == 3


def test_a_process_that_uses_much_of_its_memory_leaves_little_to_pages(monkeypatch):
    resident, mapped = disk._memory_in_use()
    used = resident - mapped
    for limit, least, most in (
        (int(used / disk.FULL), disk.LEAST_PAGES, disk.LEAST_PAGES + (1 << 23)),
        (int((used + (1 << 28)) / disk.FULL), (1 << 28) - (1 << 23), (1 << 28) + (1 << 23)),
    ):
        monkeypatch.setattr(disk, "memory", lambda limit=limit: limit)
        assert least <= disk._left(used) <= most


def test_arrays_and_views_know_that_they_are_on_disk(tmp_path):
    array = disk.empty((100, 200), "int64", str(tmp_path))
    assert disk.folder_of(array[3:].view("uint32")) == str(tmp_path)
    assert disk.folder_of(disk.beside(array[0], 1 << 16, "int32")) == str(tmp_path)
    assert disk.folder_of(array.copy()) is None
    assert disk.folder_of(disk.beside(array, 10, "int32")) is None  # too small for a file


def test_arrays_of_a_spool_come_back_in_order(tmp_path):
    spool, whole = disk.Spool(str(tmp_path)), disk.Spool(str(tmp_path))
    arrays = [np.arange(n, dtype=dtype) for n, dtype in ((5, "int32"), (0, "int8"), (9, "float64"))]
    for array in arrays:
        spool.append(array)
        whole.append(array.astype("int64"))
    for found, array in zip(spool.read_all(), arrays, strict=True):
        np.testing.assert_array_equal(found, array)
        assert found.dtype == array.dtype
    np.testing.assert_array_equal(whole.joined(), np.concatenate(arrays))
    assert not list(tmp_path.iterdir())


@pytest.fixture
def asked(monkeypatch):
    """Return a list that gets the first byte and the length of each piece that Linux is asked for."""
    pieces = []

    def madvise(_, advice, *piece):
        if advice == mmap.MADV_WILLNEED:
            pieces.append(piece)

    monkeypatch.setattr(disk.MappedFile, "madvise", madvise, raising=False)
    return pieces


def rows_on_disk(rng, folder):
    """Return 10,000 rows of 2048 bytes each on disk."""
    ends = disk.stored(rng.integers(0, 10_000, 5_120_000).astype("int32"), str(folder))
    return Rows(np.arange(10_001) * 512, ends, None, 0)


def test_rows_of_a_frontier_are_asked_for_before_the_kernel_gets_there(
    tmp_path, rng, asked, monkeypatch
):
    monkeypatch.setattr(read_ahead, "WINDOW", 1 << 18)
    rows, frontier = rows_on_disk(rng, tmp_path), np.arange(0, 10_000, 40)
    ranges = turns([0, 100, 250])  # of two threads
    reader = read_ahead._Reader(rows, frontier, ranges)
    assert reader.ask()
    assert 0 < sum(length for _, length in asked) < 1 << 19
    for item in range(150):
        ranges[0], ranges[TURN] = min(item, 100), 100 + item
        reader.ask()
        for at in {min(item, 99), 100 + item}:
            first = int(frontier[at]) * 2048
            assert any(start <= first and first + 2048 <= start + length for start, length in asked)
    assert not reader.ask()
    assert len(asked) == len(set(asked)) == 250
    assert sum(length for _, length in asked) <= 250 * 2 * mmap.PAGESIZE  # and nothing between


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_are_read_in_portions_whose_pages_fit_the_room(tmp_path, rng, monkeypatch, threads):
    room, block = 1 << 23, 1 << disk.AROUND
    monkeypatch.setattr(disk, "room", lambda: room * read_ahead.PART * threads)
    let_go = []
    monkeypatch.setattr(disk, "let_go", lambda: let_go.append(len(found)))
    rows, found = rows_on_disk(rng, tmp_path), []
    frontier = np.sort(rng.choice(10_000, 3_000, replace=False))
    for read, ranges in read_ahead.portions(rows, frontier, even_turns(3_000, threads)):
        np.testing.assert_array_equal(read.ends[:9], rows.ends[:9])
        for start, stop in zip(ranges[0::TURN], ranges[1::TURN], strict=True):
            taken = frontier[start:stop]
            blocks = np.concatenate([taken * 2048, taken * 2048 + 2047]) // block
            assert len(np.unique(blocks)) * block <= room
        found.append([range(*each) for each in ranges.reshape(-1, TURN)[:, :2].tolist()])
    assert len(found) > 1
    assert let_go == [*range(len(found) - 1)]  # before each portion but the last
    assert sorted(item for each in found for one in each for item in one) == [*range(3_000)]
    monkeypatch.setattr(disk, "room", lambda: rows.ends.nbytes * read_ahead.PART)
    assert len([*read_ahead.portions(rows, frontier, turns([0, 3_000]))]) == 1
    assert len(let_go) == len(found) - 1


def test_near_rows_are_asked_for_as_one_piece(tmp_path, rng, asked):
    rows, frontier = rows_on_disk(rng, tmp_path), np.arange(0, 10_000, 4)
    assert not read_ahead._Reader(rows, frontier, turns([0, len(frontier)])).ask()
    assert len(asked) <= 1 + rows.ends.nbytes // (read_ahead.PIECE - disk.SEEK)
    assert sum(length for _, length in asked) < rows.ends.nbytes + len(asked) * mmap.PAGESIZE


def test_entries_are_asked_for_before_they_are_taken(tmp_path, rng, asked):
    ends, at = rows_on_disk(rng, tmp_path).ends, np.array([5, 7, 9_000, 3_000_000, 5_119_999])
    for some in (at, at[:0], np.arange(0, len(ends), 100)):
        np.testing.assert_array_equal(disk.take(ends, some), np.array(ends)[some])
        np.testing.assert_array_equal(disk.take(np.array(ends), some), np.array(ends)[some])
        pieces, covered = [*asked], sum(length for _, length in asked)
        asked.clear()
        if some is at:
            assert len(pieces) == 4  # the first two are in one page
            assert covered <= 4 * 2 * mmap.PAGESIZE
    assert ends.nbytes - disk.SEEK < covered < ends.nbytes + len(pieces) * 2 * mmap.PAGESIZE
    assert len(pieces) == -(-ends.nbytes // disk.AHEAD)


def test_a_second_mapping_of_a_file_has_the_same_contents_and_ends_with_it(tmp_path, rng):
    rows = rows_on_disk(rng, tmp_path)
    with read_ahead.reading(rows, np.array([3]), turns([0, 1])) as read:
        assert read.ends.ctypes.data != rows.ends.ctypes.data
        np.testing.assert_array_equal(read.ends, rows.ends)
        assert disk.read_by_page(read.ends) is read.ends
        assert disk.folder_of(read.ends) == str(tmp_path)
    assert open_files(tmp_path) == 3  # one of each mapping, and one for more mappings
    del rows, read
    gc.collect()
    assert open_files(tmp_path) == 0


def open_files(folder):
    """Return how many descriptors this process has of files in a folder, which may be deleted."""
    found = 0
    for descriptor in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # that of the list itself
            found += os.readlink(f"/proc/self/fd/{descriptor}").startswith(str(folder))
    return found


@pytest.mark.parametrize("members", [1, 3])
def test_triangles_are_counted_block_by_block(built, tiny, rng, monkeypatch):
    edges, count, sizes = power_law(rng), intersect.Triangles._count, []
    in_memory, on_disk = (
        built(edges, directed=False, storage=storage) for storage in ("memory", "disk")
    )
    expected = in_memory.triangle_count().compute(), in_memory.clustering().compute()
    monkeypatch.setattr(intersect, "ENTRY", disk.budget() // 300)
    monkeypatch.setattr(
        intersect.Triangles, "_count", lambda *of: sizes.append(len(of[1].ends)) or count(*of)
    )
    same(on_disk.triangle_count().compute(), expected[0])
    same(on_disk.clustering().compute(), expected[1])
    assert sum(150 < size <= 300 for size in sizes) > 4


@pytest.mark.usefixtures("tiny")
def test_files_larger_than_the_budget_do_not_stay_in_the_cache(rng, tmp_path, monkeypatch):
    forgotten, advise = [], os.posix_fadvise
    monkeypatch.setattr(os, "posix_fadvise", lambda *of: forgotten.append(of[3]) or advise(*of))
    dense_graph(rng, 50_000).save(tmp_path / "small")
    assert not forgotten
    monkeypatch.setattr(disk, "budget", lambda: 1 << 16)
    graph = dense_graph(rng, 50_000)
    assert {*forgotten} == {os.POSIX_FADV_DONTNEED}
    forgotten.clear()
    graph.save(tmp_path / "large")
    assert forgotten
    same(gf.load_graph(tmp_path / "large").edges().compute(), graph.edges().compute())


@pytest.mark.usefixtures("tiny")
def test_a_full_disk_is_an_error_that_says_what_to_do(rng):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        with pytest.raises(
            OutputError, match=r"cannot be written to .*Free some space, or choose another"
        ):
            dense_graph(rng, 200_000).bfs([1]).compute(scheduler="sync")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_auto_chooses_the_disk_where_memory_is_short(rng, monkeypatch, tiny):
    edges = pd.DataFrame(rng.integers(0, 500, (5000, 2)), columns=["a", "b"])
    in_memory = gf.Graph(edges, **ENDS)
    assert storage(in_memory) == "in memory"
    monkeypatch.setattr(storage_choice, "machine_bytes", lambda: 100_000)
    on_disk = gf.Graph(edges, **ENDS)
    assert storage(on_disk) == (
        "on disk: to build it in memory may take 117.19 kiB, and there are 97.66 kiB"
    )
    same(on_disk.pagerank().compute(), in_memory.pagerank().compute())


def storage(graph):
    """Return what the repr of a graph says about its storage."""
    (line,) = (line for line in repr(graph).splitlines() if line.startswith("storage"))
    return line.removeprefix("storage").strip()


@pytest.mark.parametrize("rows", [200, 20_000])
@pytest.mark.parametrize("filesystem", ["fsspec", "arrow"])
def test_auto_knows_about_how_many_rows_parquet_files_have(
    rng, monkeypatch, tmp_path, filesystem, rows
):
    edges = pd.DataFrame(rng.integers(0, 500, (rows, 2)), columns=["a", "b"]).assign(w=1.0)
    dd.from_pandas(edges, npartitions=2).to_parquet(tmp_path)
    monkeypatch.setattr(storage_choice, "machine_bytes", lambda: 100_000)
    read = dd.read_parquet(tmp_path, filesystem=filesystem)
    where = "in memory" if rows == 200 else "on disk"
    for frame in (
        read,
        read[read.w > 0.5].assign(a=lambda frame: frame.a + 1).dropna(),
        dd.read_parquet(tmp_path, filesystem=filesystem, filters=[("a", ">", 3)])[["b", "a"]],
    ):
        assert storage(gf.Graph(frame, **ENDS)).split(":")[0] == where


@pytest.mark.parametrize(
    ("name", "lines", "where"),
    [
        ("few.txt", 200, "in memory"),
        ("many.txt", 20_000, "on disk"),
        ("many.csv", 20_000, "on disk"),
        ("many.txt.gz", 20_000, "in memory"),
    ],
)
def test_auto_knows_about_how_many_edges_text_files_have(monkeypatch, tmp_path, name, lines, where):
    edges = pd.DataFrame({"a": np.arange(lines), "b": 10})
    separator = "," if name.endswith("csv") else " "
    edges.to_csv(tmp_path / name, sep=separator, header=name.endswith("csv"), index=False)
    read = gf.read_edges(tmp_path / name, columns=["a", "b"])
    if not name.endswith("gz"):
        assert rows_at_most(read) == pytest.approx(lines, rel=0.01)
    monkeypatch.setattr(storage_choice, "machine_bytes", lambda: 100_000)
    assert storage(gf.Graph(read, **ENDS)).split(":")[0] == where


def test_the_repr_says_that_the_number_of_edges_is_not_known(tmp_path):
    (tmp_path / "web.txt.gz").write_bytes(gzip.compress(b"1 2\n2 3\n"))
    read = gf.read_edges(tmp_path / "web.txt.gz", columns=["a", "b"])
    unknown = "in memory: the number of edges is not known before they are read"
    for edges in (read, random_edges(0).pipe(dd.from_pandas).map_partitions(lambda frame: frame)):
        assert storage(gf.Graph(edges, **ENDS)) == unknown
        assert storage(gf.Graph(edges, **ENDS, storage="memory")) == "in memory"


def test_other_storage_is_refused():
    edges = pd.DataFrame({"a": [1], "b": [2]})
    with pytest.raises(OptionError, match=r"storage='disc'.*did you mean 'disk'"):
        gf.Graph(edges, **ENDS, storage="disc")


@pytest.mark.usefixtures("tiny")
def test_a_shard_on_disk_takes_no_memory_for_its_edges(rng):
    shard = dense_graph(rng, 200_000)._shards.built[0].compute(scheduler="sync")
    assert len(shard.out.ends) > 390_000
    assert sys.getsizeof(shard) < 100_000


def test_workers_of_a_cluster_store_edges_in_their_own_folders(client, rng):
    edges = dd.from_pandas(power_law(rng), npartitions=4)
    in_memory = gf.Graph(edges, **ENDS, shards=2, storage="memory")
    on_disk = gf.Graph(edges, **ENDS, shards=2, storage="disk").persist()
    same(on_disk.pagerank().compute(), in_memory.pagerank().compute())
    assert not any(client.run(left).values())


@pytest.mark.parametrize("lost", [False, True], ids=["all workers live", "a worker is lost"])
@pytest.mark.parametrize("shards", [1, 2])
def test_workers_read_edges_on_disk_for_themselves(mortal, tmp_path, shards, lost):
    edges = dd.from_map(slow_edges, range(12), folder=str(tmp_path), meta=random_edges(0))
    on_disk = gf.Graph(edges, **ENDS, shards=shards, storage="disk").persist()
    if lost:
        while len(list(tmp_path.iterdir())) < 4:
            time.sleep(0.01)
        os.kill(max(mortal.run(os.getpid).values()), signal.SIGKILL)
    there = gf.Graph(random_edges(0), **ENDS)
    same(on_disk.pagerank().compute(), there.pagerank().compute())
    assert not any(mortal.run(sent_reads).values())
    spilling = [one for one in mortal.run(spills).values() if one is not None]
    assert spilling
    assert not any(spilling)


def slow_edges(i, folder):
    """Return some of 10,000 edges; the first partitions take the longest."""
    Path(folder, str(i)).touch()
    time.sleep(0.02 * (12 - i))
    return random_edges(0)[i::12]


def sent_reads(dask_worker):
    """Return the reads whose results another worker sent to this one."""
    keys = [key for one in dask_worker.transfer_incoming_log for key in one["keys"]]
    return [key for key in keys if "graphflow-read" in str(key)]


def spills(dask_worker):
    """Return whether a worker with a graph spills when its process has many pages; None for others."""
    has_graph = any("graphflow-build" in str(key) for key in dask_worker.data)
    return bool(dask_worker.memory_manager.memory_spill_fraction) if has_graph else None


def left(dask_worker):
    """Return the files in the folder of a worker, apart from its own."""
    folder = dask_worker.local_directory
    return [name for name in os.listdir(folder) if name.startswith("tmp")]


@pytest.mark.usefixtures("tiny")
def test_functions_that_need_memory_for_every_edge_say_so_before_they_begin(rng, monkeypatch):
    graph = dense_graph(rng, 50_000)
    monkeypatch.setattr(memory, "CHECKED", 1)
    monkeypatch.setattr(memory, "_available", lambda: 1_000_000)
    graph.pagerank().compute()
    with pytest.raises(
        GraphMemoryError,
        match=r"truss_number of a graph whose edges are on disk needs .* for every edge",
    ):
        graph.truss_number().compute()
