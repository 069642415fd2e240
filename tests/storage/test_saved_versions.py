"""Versions of saved graphs: updates are saved as changes, and each version can be loaded."""

from __future__ import annotations

import json
import os

import fsspec
import numpy as np
import pandas as pd
import pytest
from conftest import host_only, on_backend, on_host
from test_saved import IDS, WEIGHTS, equal, loaded

import dask_graphflow as gf
from dask_graphflow.calls import saving
from dask_graphflow.exceptions import InputFileError, OptionError, OutputError, UsageError
from dask_graphflow.storage import versions

pytestmark = pytest.mark.usefixtures("backend")


def drawn(rng, count, ids, weight, most=200):
    """Return random edges, with parallel edges and self-loops."""
    ends = (pd.Series(rng.integers(0, most, count)) for _ in range(2))
    frame = pd.DataFrame({name: ids(end) for name, end in zip("ab", ends, strict=True)})
    return frame if weight is None else frame.assign(w=rng.integers(1, 9, count).astype(weight))


def built(edges, directed, weight, **options):
    options |= {"weight": None if weight is None else "w", "directed": directed}
    return gf.Graph(edges, source="a", target="b", **options)


def some_edges(g, rng, count):
    """Return some of the edges of a graph as pairs to delete."""
    edges = g.edges().compute()
    count = min(count, len(edges) - 1)
    return edges.iloc[rng.choice(len(edges), count, replace=False), :2].set_axis([*"ab"], axis=1)


def ten_versions(path, rng, graph, ids, weight, shards, count=5):
    """Save a graph and some updates, each made from the graph as it is loaded; return all versions."""
    graph.save(path)
    made = [graph]
    for day in range(count):
        g = loaded(path, shards=shards)
        new = drawn(rng, 30, ids, weight, most=220 + 10 * day)
        gone = some_edges(made[-1], rng, 20).drop_duplicates()
        g = g.update(new, gone) if day % 2 else g.update(delete=gone).update(new)
        g.save(path, append=True)
        made.append(g.persist())
    return made


@pytest.mark.parametrize("kind", IDS)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("multi", ["keep", "sum", "first"])
@pytest.mark.parametrize("shards", [1, 3])
def test_every_version_is_the_graph_that_was_saved(
    tmp_path, rng, kind, weights, directed, multi, shards
):
    ids, weight = IDS[kind], WEIGHTS[weights]
    if weight is None and multi == "sum":
        multi = "keep"
    graph = built(drawn(rng, 900, ids, weight), directed, weight, multi=multi).persist()
    made = ten_versions(tmp_path / "graph", rng, graph, ids, weight, shards)
    # Every other day has two versions.
    newest = json.loads(max((tmp_path / "graph").glob("changes-*.json")).read_text())["number"]
    assert newest == 8
    for at, number in enumerate((0, 2, 3, 5, 6, 8)):
        equal(loaded(tmp_path / "graph", version=number), made[at])
    assert (tmp_path / "graph" / "base-3" / "graph.json").exists()
    equal(loaded(tmp_path / "graph"), made[-1])


def test_results_follow_from_version_to_version(tmp_path, rng):
    path = tmp_path / "graph"
    g = built(drawn(rng, 900, IDS["text"], None), False, None).persist()
    found = g.triangle_count().compute()
    g.save(path)
    for _ in range(5):
        g = loaded(path).update(drawn(rng, 9, IDS["text"], None), some_edges(loaded(path), rng, 5))
        again = g.triangle_count(previous=found).compute()
        found = g.triangle_count().compute()
        pd.testing.assert_frame_equal(again, found)
        g.save(path, append=True)
        assert loaded(path).num_edges == g.num_edges
    with pytest.raises(UsageError, match="previous"):
        loaded(path, version=2).triangle_count(previous=found).compute()


@pytest.mark.parametrize("kind", ["dense integers", "far integers", "text"])
@pytest.mark.parametrize("weight", [None, "float32"])
@pytest.mark.parametrize("shards", [1, 3])
def test_vertices_stay_when_a_later_version_deletes_their_edges(
    tmp_path, rng, kind, weight, shards
):
    ids, path = IDS[kind], tmp_path / "graph"
    g = built(drawn(rng, 900, ids, weight), False, weight).persist()
    g.save(path)
    new = drawn(rng, 9, ids, weight).assign(a=ids(pd.Series(range(300, 309))))
    turned = new.rename(columns={"a": "b", "b": "a"})[["a", "b"]]
    for batch in (new, None), (None, turned), (new[:3], None), (None, turned[:2]), (new[5:7], None):
        g = g.update(*batch).persist()
        g.save(path, append=True)
        equal(loaded(path, shards=shards), g)
    assert loaded(path).num_vertices == len(loaded(path).vertices())
    assert not list(path.glob("base-*"))


def test_only_what_changed_is_written(tmp_path, rng):
    path = tmp_path / "graph"
    built(drawn(rng, 20_000, IDS["text"], "float32"), True, "float32").save(path)
    before = {file.name: file.stat() for file in path.iterdir()}
    g = loaded(path).update(
        drawn(rng, 20, IDS["text"], "float32"), some_edges(loaded(path), rng, 5)
    )
    g.save(path, append=True)
    after = {file.name: file.stat() for file in path.iterdir()}
    assert all(after[name] == about for name, about in before.items() if name != "graph.json")
    assert after["graph.json"].st_mtime_ns == before["graph.json"].st_mtime_ns
    new = [about.st_size for name, about in after.items() if name not in before]
    assert len(new) == 3
    assert sum(new) < 20_000 < before["graph.json"].st_size + 20_000
    g.save(path, append=True)  # nothing is left to save
    assert len([*path.iterdir()]) == len(after)


STEPS = ("insert", "delete", "json", "whole")


@pytest.mark.parametrize("step", STEPS)
def test_a_writer_that_ends_early_leaves_the_versions_as_they_were(
    tmp_path, rng, monkeypatch, step
):
    path, ids = tmp_path / "graph", IDS["far integers"]
    built(drawn(rng, 300, ids, None), False, None).persist().save(path)
    old, new = (
        loaded(path),
        loaded(path).update(drawn(rng, 40, ids, None), some_edges(loaded(path), rng, 5)),
    )

    class EndedError(Exception):
        pass

    def end(*arguments, **options):
        raise EndedError

    with monkeypatch.context() as patch:
        if step == "whole":  # after some files were written
            patch.setattr(saving.folders, "write_manifest", end)
        elif step == "json":
            patch.setattr(os, "link", end)
        else:
            write = versions._write_frame

            def written(folder, name, frame):
                if step in name:
                    end()
                return write(folder, name, frame)

            patch.setattr(versions, "_write_frame", written)
        with pytest.raises(EndedError):
            new.save(path, append=True)
    if step == "whole":  # the version was there before
        equal(loaded(path), new)
        later = loaded(path).update(insert=drawn(rng, 1, ids, None))
        later.save(path, append=True)
        assert (path / "base-2" / "graph.json").exists()
        gf.vacuum(path)
        assert not (path / "base-1").exists()
        equal(loaded(path), later)
        return
    equal(loaded(path), old)
    assert not (path / "changes-1.json").exists()
    new.save(path, append=True)
    equal(loaded(path), new)
    equal(loaded(path, version=0), old)


def test_a_version_that_cannot_be_stored_as_a_whole_can_be_loaded(tmp_path, rng, monkeypatch):
    path, ids = tmp_path / "graph", IDS["text"]
    built(drawn(rng, 300, ids, None), False, None).persist().save(path)
    new = loaded(path).update(drawn(rng, 100, ids, None)).persist()

    def fail(*arguments):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(saving.folders, "write_manifest", fail)
        with pytest.raises(OutputError, match=r"version 1 of .* was saved, and .* no space left"):
            new.save(path, append=True)
    equal(loaded(path), new)
    loaded(path).update(drawn(rng, 1, ids, None)).save(path, append=True)  # the advice works
    assert (path / "base-2" / "graph.json").exists()
    assert "base-1" in gf.vacuum(path, keep=9)
    assert loaded(path).num_edges == 401


def test_a_folder_that_cannot_be_listed_is_refused(tmp_path, rng, monkeypatch):
    path = tmp_path / "graph"
    built(drawn(rng, 300, IDS["text"], None), False, None).save(path)

    def fail(*arguments):
        raise PermissionError("permission denied")

    monkeypatch.setattr(versions.Folder, "sizes", fail)
    for call in (loaded, gf.vacuum):
        with pytest.raises(InputFileError, match=r"cannot be read: .* Correct its permissions"):
            call(path)


def test_the_second_of_two_writers_gets_an_error(tmp_path, rng, monkeypatch):
    path, ids = tmp_path / "graph", IDS["dense integers"]
    built(drawn(rng, 3000, ids, None), True, None).persist().save(path)
    one, other = (loaded(path).update(insert=drawn(rng, 9, ids, None)) for _ in range(2))
    link = os.link

    def late(source, target):
        monkeypatch.setattr(os, "link", link)
        one.save(path, append=True)
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(OutputError, match="another process has written version 1 of"):
        other.save(path, append=True)
    equal(loaded(path), one)
    assert not [name for name in os.listdir(path) if "partial" in name]
    # The advice works.
    with pytest.raises(OutputError, match=r"newest version of .* is 1, and this graph was made"):
        other.save(path, append=True)
    again = loaded(path).update(insert=drawn(rng, 9, ids, None))
    again.save(path, append=True)
    equal(loaded(path), again)


def test_whoever_loaded_an_earlier_version_keeps_it(tmp_path, rng):
    path, ids = tmp_path / "graph", IDS["text"]
    graph = built(drawn(rng, 900, ids, None), False, None).persist()
    made = ten_versions(path, rng, graph, ids, None, 1, count=1)
    lazy, kept = loaded(path), loaded(path).persist()
    for _ in range(3):
        loaded(path).update(insert=drawn(rng, 60, ids, None)).save(path, append=True)
    equal(lazy, made[1])
    equal(kept, made[1])


def test_vacuum_deletes_what_no_kept_version_needs(tmp_path, rng):
    path, ids = tmp_path / "graph", IDS["text"]
    graph = built(drawn(rng, 900, ids, "float64"), False, "float64").persist()
    made = ten_versions(path, rng, graph, ids, "float64", 1)
    assert gf.vacuum(path, keep=9) == []
    (path / "changes-9-0a1b2c3d-insert.parquet").write_text("of a writer that ended early")
    size = sum(file.stat().st_size for file in path.rglob("*.*"))
    gone = gf.vacuum(path)
    assert "changes-9-0a1b2c3d-insert.parquet" in gone
    assert "vertices-0-" in "".join(gone)
    assert sum(file.stat().st_size for file in path.rglob("*.*")) < size / 2
    equal(loaded(path), made[-1])
    with pytest.raises(InputFileError, match=r"has no version 1; those that can be loaded: \d"):
        loaded(path, version=1)
    later = loaded(path).update(insert=drawn(rng, 5, ids, "float64"))
    later.save(path, append=True)
    equal(loaded(path), later)
    assert gf.vacuum(path) == []
    with pytest.raises(OptionError, match="keep"):
        gf.vacuum(path, keep=0)


def test_damaged_changes_are_noticed(tmp_path, rng):
    path, ids = tmp_path / "graph", IDS["text"]
    built(drawn(rng, 3000, ids, None), False, None).persist().save(path)
    for _ in range(2):
        loaded(path).update(insert=drawn(rng, 9, ids, None)).save(path, append=True)
    parquet, about = next(path.glob("changes-2-*.parquet")), path / "changes-2.json"
    whole = parquet.read_bytes()
    parquet.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    with pytest.raises(InputFileError, match="checksums"):
        loaded(path).edges().compute()
    with pytest.raises(InputFileError, match="checksums"):
        loaded(path, verify=True)
    parquet.write_bytes(whole[:-1])
    with pytest.raises(InputFileError, match=f"it must have {len(whole):,} bytes"):
        loaded(path)
    assert len(loaded(path, version=1).edges()) == 3009  # a damaged version does not harm others
    parquet.write_bytes(whole)
    text = about.read_text()
    for wrong, match in (
        (text.replace('"inserted": 9', '"inserted": 8'), "its checksum is wrong"),
        (text.replace('"version": 1', '"version": 2'), "Install a newer"),
        (text[:-9], "does not describe changes"),
        ((path / "changes-1.json").read_text(), "its entries are not those of a version"),
    ):
        about.write_text(wrong)
        with pytest.raises(InputFileError, match=match):
            loaded(path)
    about.write_text(text)
    (path / "changes-1.json").rename(path / "changes-1.bak")
    with pytest.raises(InputFileError, match="has no version 2; those that can be loaded: 0"):
        loaded(path)


def test_graphs_of_other_folders_cannot_be_appended(tmp_path, rng):
    ids = IDS["text"]
    graph = built(drawn(rng, 300, ids, None), True, None).persist()
    graph.save(tmp_path / "one")
    new = drawn(rng, 3, ids, None)
    with pytest.raises(UsageError, match="Load that graph, update it"):
        built(new, True, None).save(tmp_path / "one", append=True)
    with pytest.raises(UsageError, match="Load that graph"):
        graph.update(new).save(tmp_path / "two", append=True)
    with pytest.raises(UsageError, match="Load that graph"):  # not an update
        loaded(tmp_path / "one").reverse().save(tmp_path / "one", append=True)
    with pytest.raises(OptionError, match="version"):
        loaded(tmp_path / "one", version=-1)
    graph.update(new).save(tmp_path / "one", append=True)  # saved before it was updated
    assert loaded(tmp_path / "one").num_edges == 303


def test_a_folder_can_be_named_in_several_ways(tmp_path, rng, monkeypatch):
    path, ids = tmp_path / "graph", IDS["text"]
    built(drawn(rng, 300, ids, None), True, None).persist().save(path)
    (tmp_path / "link").symlink_to(path)
    monkeypatch.chdir(path)
    for name in (path, "../graph", "../link", f"file://{path}"):
        loaded(name).update(drawn(rng, 1, ids, None)).save("../link/../graph/", append=True)
    assert loaded(path).num_edges == 304


def test_a_version_whose_files_are_gone_says_so(tmp_path, rng):
    path, ids = tmp_path / "graph", IDS["text"]
    built(drawn(rng, 300, ids, None), True, None).persist().save(path)
    loaded(path).update(drawn(rng, 3, ids, None)).save(path, append=True)
    lazy = loaded(path)
    path.rename(tmp_path / "moved")
    with pytest.raises(  # whichever file is read first
        InputFileError, match=r"(changes-1|vertices-0)-.* cannot be read: .* Load the graph again"
    ):
        lazy.edges().compute()
    assert len(loaded(tmp_path / "moved").edges()) == 303  # the advice works


def test_versions_in_another_file_system(rng):
    host_only("the file system is in the memory of this process")
    fs, ids = fsspec.filesystem("memory"), IDS["text"]
    path = "memory://versions/graph"
    built(drawn(rng, 300, ids, None), False, None).persist().save(path)
    try:
        g = loaded(path).update(insert=drawn(rng, 5, ids, None)).persist()
        g.save(path, append=True)
        equal(loaded(path), g)
    finally:
        fs.rm("/versions", recursive=True)


def test_weights_and_ids_of_integers_keep_their_dtypes(tmp_path):
    edges = pd.DataFrame({"a": np.arange(5, dtype="int16"), "b": 7, "w": np.int64(2) ** 60})
    edges = edges.astype({"b": "int16"})
    graph = on_host(gf.Graph(on_backend(edges), source="a", target="b", weight="w"))
    graph.persist().save(tmp_path / "graph")
    g = loaded(tmp_path / "graph").update(insert=edges.iloc[:2].assign(a=9))
    g.save(tmp_path / "graph", append=True)
    equal(loaded(tmp_path / "graph"), g)
    assert [*map(str, loaded(tmp_path / "graph").edges().dtypes)] == ["int16", "int16", "int64"]
