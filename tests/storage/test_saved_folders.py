"""Where a graph can be saved, what the folder contains, and which folders are refused."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys

import dask
import fsspec
import psutil
import pyarrow as pa
import pytest
from conftest import ENDS, frame, host_only, partitioned
from shapes import power_law, same

import dask_graphflow as gf
from dask_graphflow.exceptions import (
    BackendError,
    InputFileError,
    OptionError,
    OutputError,
    UsageError,
)
from dask_graphflow.kernels import disk
from dask_graphflow.storage import saved_members


@pytest.fixture
def saved(tmp_path):
    """Return the folder of a small saved graph."""
    edges = frame([(0, 1), (1, 2), (5, 2)]).assign(w=[1.5, 2.0, 0.5])
    gf.Graph(edges, **ENDS, weight="w").save(tmp_path / "graph")
    return tmp_path / "graph"


def test_the_files_can_be_read_without_this_library(saved):
    manifest = json.loads((saved / "graph.json").read_text())
    assert (manifest["vertices"], manifest["edges"], manifest["directed"]) == (4, 3, True)
    (one,) = manifest["ranges"]
    assert (saved / one["file"]).stat().st_size == one["size"]
    with pa.ipc.open_file(saved / one["file"]) as file:
        rows = file.read_all().to_pylist()
    edges = [
        (manifest["first_id"] + i, end["end"], end["weight"])
        for i, row in enumerate(rows)
        for end in row["out"]
    ]
    assert edges == [(0, 1, 1.5), (1, 2, 2.0), (5, 2, 0.5)]
    assert [row["exists"] for row in rows] == [1, 1, 1, 0, 0, 1]
    assert [len(row["into"]) for row in rows] == [0, 1, 2, 0, 0, 0]


def test_the_manifest_is_readable(saved):
    lines = (saved / "graph.json").read_text().splitlines()
    assert lines[1:3] == ['  "format": "dask_graphflow graph",', '  "version": 2,']
    assert sum('"file": "vertices' in line for line in lines) == 1


UNFINISHED = "saving the graph was not finished"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: shutil.rmtree(folder), "does not exist or is empty.*Check the path"),
        (lambda f: (f / "graph.json").unlink(), f"{UNFINISHED}.*Delete the folder"),
        (lambda f: (f / "graph.json").rename(f / "graph.json.partial"), UNFINISHED),
        ({"format": "another"}, "is not the manifest of a graph.*build a Graph from the edges"),
        ({"version": 3}, "version 3.*reads versions up to 2.*Install a newer dask_graphflow"),
        ({"ranges": [{}]}, "its checksum is .* instead of"),
        (lambda folder: cut(file_of(folder)), "bytes; it must have.*Copy the folder again"),
        (lambda folder: file_of(folder).unlink(), "lacks vertices-0-6.arrow.*Copy the whole"),
        (lambda folder: (folder / "edges-per-grain.arrow").unlink(), "lacks edges-per-grain"),
    ],
)
def test_damaged_and_foreign_folders_are_refused(saved, damage, message):
    manifest = saved / "graph.json"
    if isinstance(damage, dict):
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | damage))
    else:
        damage(saved)
    with pytest.raises(InputFileError, match=message):
        gf.load_graph(saved)


def file_of(folder):
    (file,) = folder.glob("vertices-*.arrow")
    return file


def cut(file):
    os.truncate(file, file.stat().st_size - 8)


def test_a_file_that_changes_after_the_graph_was_loaded_is_refused(saved):
    g = gf.load_graph(saved)
    size = file_of(saved).stat().st_size
    file_of(saved).write_bytes(bytes(size))
    with pytest.raises(InputFileError, match=r"is not the file of a saved graph.*Copy the folder"):
        g.pagerank().compute()
    cut(file_of(saved))
    with pytest.raises(InputFileError, match="bytes; it must have"):
        g.pagerank().compute()
    file_of(saved).unlink()
    with pytest.raises(InputFileError, match="does not exist; it must have"):
        g.pagerank().compute()


@pytest.mark.parametrize("damaged", ["vertices-0-3.arrow", "edges-per-grain.arrow"])
def test_a_file_with_other_contents_is_refused_when_it_is_read(tmp_path, damaged):
    gf.Graph(frame([("x", "y"), ("y", "z")], "str"), **ENDS).save(tmp_path)
    (tmp_path / damaged).write_bytes(bytes((tmp_path / damaged).stat().st_size))
    with pytest.raises(InputFileError, match="is not the file of a saved graph"):
        gf.load_graph(tmp_path, shards=2)


@pytest.mark.skipif(sys.platform != "linux", reason="about Linux")
def test_a_file_larger_than_memory_can_be_mapped(tmp_path):
    size = 2 * psutil.virtual_memory().total
    (tmp_path / "file").touch()
    os.truncate(tmp_path / "file", size)
    mapped = disk.opened(str(tmp_path / "file"), str(tmp_path))
    assert (len(mapped), mapped[size - 1]) == (size, 0)
    mapped[0] = 1
    with (tmp_path / "file").open("rb") as file:
        assert file.read(1) == b"\0"


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputFileError, match="not a saved graph"):
        gf.load_graph(tmp_path)
    g = gf.Graph(frame([(1, 2)]), **ENDS)
    with pytest.raises(OutputError, match=r"contains 1 other file; .*is empty or does not exist"):
        g.save(tmp_path)
    with pytest.raises(OutputError, match=r"notes.txt is a file"):
        g.save(tmp_path / "notes.txt")
    with pytest.raises(OutputError, match="cannot be made"):
        g.save(tmp_path / "notes.txt" / "graph")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_saved_graph_is_not_overwritten(saved):
    before = {path: path.read_bytes() for path in saved.iterdir()}
    with pytest.raises(OutputError, match=r"contains a saved graph.*Give another path"):
        gf.Graph(frame([(1, 2)]), **ENDS).save(saved)
    assert {path: path.read_bytes() for path in saved.iterdir()} == before


def test_a_full_disk_is_an_error_that_says_so(tmp_path, monkeypatch):
    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pa.ipc.RecordBatchFileWriter, "write_batch", full)
    with pytest.raises(OutputError, match=r"No space left.*Delete the folder"):
        gf.Graph(frame([(1, 2)]), **ENDS).save(tmp_path / "graph")
    with pytest.raises(InputFileError, match=UNFINISHED):
        gf.load_graph(tmp_path / "graph")


def test_a_killed_process_leaves_a_folder_that_is_refused(tmp_path):
    code = f"""
import os, signal
import dask_graphflow as gf
from dask_graphflow.storage import folders

folders.write_manifest = lambda folder, manifest: os.kill(os.getpid(), signal.SIGKILL)
gf.Graph(gf.generate.path(9), source="src", target="dst").save({str(tmp_path / "graph")!r})
"""
    ended = subprocess.run([sys.executable, "-c", code], check=False)
    assert ended.returncode == -signal.SIGKILL
    with pytest.raises(InputFileError, match=UNFINISHED):
        gf.load_graph(tmp_path / "graph")
    with pytest.raises(OutputError, match="contains 2 other files"):
        gf.Graph(frame([(1, 2)]), **ENDS).save(tmp_path / "graph")


@pytest.mark.parametrize("loading", [1, 3])
def test_a_graph_is_saved_in_ranges_where_files_cannot_be_mapped(
    built, rng, members, loading, monkeypatch
):
    host_only("about file systems")
    monkeypatch.setattr(saved_members, "MOST_BYTES", 4000)
    path = f"memory://graph-{members}-{loading}"
    edges = power_law(rng)
    g = built(edges.assign(a=edges.a.map("v{}".format), b=edges.b.map("v{}".format)))
    g.save(path, storage_options={"skip_instance_cache": True})
    files = fsspec.filesystem("memory").ls(path.removeprefix("memory:/"), detail=False)
    assert sum("vertices-" in file for file in files) > members
    found = gf.load_graph(path, shards=loading)
    for call in (lambda g: g.edges(), lambda g: g.pagerank(), lambda g: g.leiden()):
        same(call(found).compute(), call(g).compute())


def test_workers_save_and_load_their_parts(client, tmp_path, rng):
    host_only("about processes with host memory")
    edges = power_law(rng, size=30_000, edges=60_000)
    g = gf.Graph(partitioned(edges, 4), **ENDS, weight="w", shards=2).persist()
    g.save(tmp_path / "graph")
    assert len(list((tmp_path / "graph").glob("vertices-*"))) == 2
    for shards in (1, 2, 3):
        found = gf.load_graph(tmp_path / "graph", shards=shards).persist()
        same(found.pagerank().compute(), g.pagerank().compute())
        same(found.edges().compute(), g.edges().compute())
    with dask.config.set(scheduler="threads"):
        alone = gf.load_graph(tmp_path / "graph")
        assert alone.num_edges == 60_000
        alone = alone.pagerank().compute()
    same(alone, g.pagerank().compute())


def test_a_graph_whose_build_chooses_the_number_of_shards_is_saved(client, tmp_path, rng):
    host_only("about processes with host memory")
    edges = partitioned(power_law(rng, size=30_000, edges=60_000), 4)
    g = gf.Graph(edges, **ENDS, weight="w")
    assert "1 to 2, chosen by the build" in repr(g)
    g.to_undirected().save(tmp_path / "graph")
    found = gf.load_graph(tmp_path / "graph")
    assert not found.directed
    same(found.pagerank().compute(), g.to_undirected().pagerank().compute())


def test_a_shard_that_was_lost_with_its_worker_is_loaded_again(mortal, tmp_path, rng):
    host_only("about processes with host memory")
    edges = power_law(rng, size=30_000, edges=60_000)
    gf.Graph(partitioned(edges, 4), **ENDS, weight="w", shards=2).save(tmp_path)
    g = gf.load_graph(tmp_path, shards=2).persist()
    wanted = g.pagerank().compute()
    held = [address for address, keys in mortal.has_what().items() if keys]
    assert len(held) == 2
    mortal.restart_workers(held[:1])
    same(g.pagerank().compute(), wanted)


def test_the_folder_must_be_one_that_workers_and_client_share(client):
    g = gf.Graph(frame([(1, 2)]), **ENDS)
    with pytest.raises(OutputError, match="must use the same file system"):
        g.save("memory://not-shared")


def test_graphs_saved_in_one_folder_at_different_times_are_told_apart(client, tmp_path):
    folder = tmp_path / "graph"
    found = []
    for pairs in ([(1, 2), (2, 3)], [(1, 3), (3, 2)]):
        gf.Graph(frame(pairs), **ENDS).save(folder)
        found.append(gf.load_graph(folder).persist())
        found[-1].edges().compute()
        shutil.rmtree(folder)
    assert [g.edges().compute().target.tolist() for g in found] == [[2, 3], [3, 2]]


def test_a_hybrid_graph_is_refused(tmp_path):
    host_only("hybrid graphs take edges in host memory")
    g = gf.Graph(frame([(1, 2)]), **ENDS, hybrid=gf.Hybrid([1.0]))
    with pytest.raises(UsageError, match=r"built with hybrid=.*Build the graph without hybrid="):
        g.save(tmp_path / "graph")
    assert not (tmp_path / "graph").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shards": 0}, "shards=0; give a whole number, 1 or more, or None"),
        ({"backend": "polars"}, "backend='polars'; give 'pandas', 'cudf'"),
    ],
)
def test_bad_options_are_refused(saved, options, message):
    with pytest.raises(OptionError, match=message):
        gf.load_graph(saved, **options)


def test_a_graph_on_a_gpu_needs_one(saved):
    host_only("there is a GPU")
    with dask.config.set({"dataframe.backend": "cudf"}), pytest.raises(BackendError):
        gf.load_graph(saved)


def test_sizes_are_known_without_opening_the_files(saved):
    g = gf.load_graph(saved)
    file_of(saved).unlink()
    assert (g.num_vertices, g.num_edges, len(g)) == (4, 3, 4)
    assert gf.estimate(g, "bfs").seconds > 0
    assert f"yes; every compute() opens {saved}" in repr(g)
    assert "'a'" in repr(g)
    assert "'w'" in repr(g)
