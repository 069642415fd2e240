"""A saved graph that was damaged or replaced gives the right answer or a named error, and never a crash."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zlib
from datetime import timedelta, timezone
from pathlib import Path

import dateutil.tz
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from conftest import ENDS, host_only
from damage import forged, sealed

import dask_graphflow as gf
from _graphflow_cli import main
from dask_graphflow.exceptions import InputFileError, OptionError, OutputError, VertexTypeError
from dask_graphflow.storage import checksums, folders, manifest, stored_range

TEXT = pd.DataFrame({"a": ["ä", "b", "c"], "b": ["b", "c", "ä"], "w": [0.5, 2.0, 1.0]})
GAPS = pd.DataFrame({"a": [1, 2, 5, 5], "b": [2, 5, 1, 5]})


@pytest.fixture
def text(tmp_path):
    """Return the folder of a directed graph with weights, whose ids are text."""
    gf.Graph(TEXT, **ENDS, weight="w").save(tmp_path / "text")
    return tmp_path / "text"


@pytest.fixture
def gaps(tmp_path):
    """Return the folder of an undirected graph whose ids are integers with gaps."""
    gf.Graph(GAPS, **ENDS, directed=False).save(tmp_path / "gaps")
    return tmp_path / "gaps"


def rewrite(folder, change, **options):
    """Write the file of a graph again after a change of its batch, with checksums that fit."""
    (path,) = folder.glob("vertices-*")
    batch = pa.ipc.open_file(path.read_bytes()).get_batch(0)
    batches = change(batch)
    batches = batches if isinstance(batches, list) else [batches]
    schema = batches[0].schema.with_metadata(batch.schema.metadata)
    with pa.ipc.new_file(path, schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for one in batches:
            writer.write_batch(one.replace_schema_metadata(batch.schema.metadata))
    fit(folder)


def fit(folder, **entries):
    """Change entries of the manifest, and make all sizes and checksums fit."""
    about = json.loads((folder / "graph.json").read_text()) | entries
    for one in about["ranges"]:
        one["size"] = (folder / one["file"]).stat().st_size
    (folder / "graph.json").write_text(json.dumps(forged(about, folder)))


def first_version(folder):
    """Make a saved graph one of version 1 of the format."""
    about = json.loads((folder / "graph.json").read_text()) | {"version": 1}
    del about["checksum"], about["grains"]
    for one in about["ranges"]:
        del one["checksums"]
    (folder / "graph.json").write_text(json.dumps(about))


# Each byte and each entry


@pytest.mark.parametrize(
    ("graph", "what", "step"),
    [
        ("text", "bytes", 11),
        ("gaps", "forged bytes", 23),
        ("text", "entries", 1),
        ("gaps", "forged entries", 1),
        *(
            pytest.param(graph, what, 1, marks=pytest.mark.slow)
            for graph in ("text", "gaps")
            for what in ("bytes", "forged bytes")
        ),
    ],
)
def test_no_changed_byte_or_entry_crashes_or_gives_another_answer(graph, what, step, request):
    host_only("about files")
    program = Path(__file__).parents[1] / "damage.py"
    command = [sys.executable, program, request.getfixturevalue(graph), what, str(step)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    last = done.stdout.splitlines()[-1]
    assert done.returncode == 0, f"{last}: {done.stderr[-2000:]}"
    assert json.loads(last)["InputFileError"] > 10


# Arrow files with checksums that fit

VERSIONS = pytest.mark.parametrize("version", [pytest.param(1, marks=pytest.mark.slow), 2])


def column(batch, name, array):
    """Return a batch with another column of this name."""
    return batch.set_column(batch.schema.get_field_index(name), name, array)


def lists(batch, **arrays):
    """Return a batch whose outgoing edges have other ends or weights."""
    out = batch["out"]
    parts = {"end": out.values.field("end"), "weight": out.values.field("weight")} | arrays
    edges = pa.StructArray.from_arrays([*parts.values()], [*parts])
    return column(batch, "out", pa.LargeListArray.from_arrays(out.offsets, edges))


CHANGES = {
    "two batches": (lambda b: [b, b], "2 record batches"),
    "no batch": (lambda b: [b.slice(0, 0)], "0 rows instead of 3"),
    "another column": (lambda b: b.append_column("x", pa.array([1, 2, 3])), "the columns vertex, out"),
    "columns in another order": (
        lambda b: b.select(["vertex", "into", "out"]), "the columns vertex, into, out",
    ),
    "ids of another type": (lambda b: column(b, "vertex", pa.array([1, 2, 3])), "types .*int64"),
    "a null id": (lambda b: column(b, "vertex", pa.array(["a", None, "c"], pa.large_string())), "nulls"),
    "ends that are floats": (lambda b: lists(b, end=pa.array([1.0, 2.0, 0.0])), "column out"),
    "weights of another type": (lambda b: lists(b, weight=pa.array([1, 2, 3])), "column out"),
    "a null end": (lambda b: lists(b, end=pa.array([1, None, 0], pa.int32())), "nulls"),
    "a null weight": (lambda b: lists(b, weight=pa.array([1.0, None, 0.0])), "nulls"),
    "an end that is too large": (lambda b: lists(b, end=pa.array([1, 3, 0], pa.int32())), "does not exist"),
    "a negative end": (lambda b: lists(b, end=pa.array([1, -1, 0], pa.int32())), "does not exist"),
}  # fmt: skip


def refused(folder, message, version=2):
    """Check that a saved graph, perhaps as one of version 1 of the format, is refused when it is used."""
    if version == 1:
        first_version(folder)
    with pytest.raises(InputFileError, match=message):
        gf.load_graph(folder).degrees().compute()


@pytest.mark.parametrize(("change", "message"), CHANGES.values(), ids=CHANGES)
@VERSIONS
def test_files_of_other_contents_are_refused(text, change, message, version):
    rewrite(text, change)
    refused(text, message, version)


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([0, 2, 1, 3], "do not ascend"),
        ([0, 1, 2, 2**40], "larger than values array"),
        ([-5, 1, 2, 3], "Negative offsets"),
        ([1, 1, 2, 3], "do not cover all"),
        ([0, 1, 2, 2], "do not cover all"),
    ],
)
@VERSIONS
def test_offsets_of_other_lists_are_refused(text, offsets, message, version):
    (path,) = text.glob("vertices-*")
    data = bytearray(path.read_bytes())
    buffer = pa.py_buffer(data)
    own = pa.ipc.open_file(buffer).get_batch(0)["out"].offsets
    begin = own.buffers()[1].address - buffer.address
    written = np.array(offsets, "int64").tobytes()
    assert bytes(data[begin : begin + len(written)]) == np.arange(4).tobytes()
    del own, buffer
    data[begin : begin + len(written)] = written
    path.write_bytes(data)
    fit(text)
    refused(text, message, version)


def test_compressed_files_are_refused(tmp_path):
    gf.Graph(
        gf.generate.path(500).map_partitions(lambda e: e * 10**9), source="src", target="dst"
    ).save(tmp_path)
    rewrite(tmp_path, lambda batch: batch, compression="zstd")
    refused(tmp_path, "its arrays are compressed")


def test_text_that_is_not_utf8_is_refused(text):
    wrong = pa.array([b"a", b"\xff", b"c"], pa.large_binary()).view(pa.large_string())
    rewrite(text, lambda batch: column(batch, "vertex", wrong))
    refused(text, "UTF")


def test_numbers_without_a_vertex_are_marked_by_0_only(gaps):
    rewrite(gaps, lambda batch: column(batch, "exists", pa.array([0, 1, 1, 0, 7, 1], pa.uint8())))
    refused(gaps, "other than 0 and 1")


# The manifest


def ranges(**entries):
    """Return a change of the only range of a manifest."""
    return lambda about: about["ranges"][0].update(entries)


MANIFESTS = {
    "other file": (ranges(file="../vertices-0-3.arrow"), "cannot be in a file named"),
    "gap": (lambda about: about["ranges"].append(about["ranges"][0]), "does not begin where"),
    "too few": (lambda about: about.update(numbers=5), "do not cover all of the 5"),
    "too many vertices": (lambda about: about.update(vertices=4), "more vertices than the 3"),
    "too many edges": (lambda about: about.update(edges=10**9), "too small for 1,000,000,000"),
    "no checksums": (lambda about: about["ranges"][0]["checksums"].clear(), "0 checksums instead of 1"),
    "another grain": (lambda about: about.update(grain=8192), "multiples of 8,192"),
    "ids too large": (lambda about: about.update(first_id=2**70), "a whole number or null"),
    "ids that are no integers": (lambda about: about.update(first_id=3), "are integers"),
    "another width": (lambda about: about.update(source=["a", "c"]), "must name 1 columns"),
    "unknown dtype": (lambda about: about.update(id_dtypes=["abc"]), "cannot have the types"),
    "unknown weights": (lambda about: about.update(weight_dtype="float6"), "null or one of int32"),
    "a missing entry": (lambda about: about.pop("token"), "lacks 'token'"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "message"), MANIFESTS.values(), ids=MANIFESTS)
def test_manifests_with_other_entries_are_refused(text, change, message):
    about = json.loads((text / "graph.json").read_text())
    change(about)
    (text / "graph.json").write_text(json.dumps(sealed(about)))
    with pytest.raises(InputFileError, match=message):
        gf.load_graph(text)


@pytest.mark.parametrize(
    "text_of_json", ["[" * 100_000, "{]", "[1]", '{"format": 1' + "0" * 5000 + "}", "{", "7"]
)
def test_json_that_is_not_a_manifest_is_refused(text, text_of_json):
    (text / "graph.json").write_text(text_of_json)
    with pytest.raises(InputFileError, match="is not the manifest of a graph"):
        gf.load_graph(text)


def test_a_manifest_that_is_too_large_is_not_read(text):
    os.truncate(text / "graph.json", manifest.MOST_BYTES + 1)
    with pytest.raises(InputFileError, match="is not the manifest of a graph"):
        gf.load_graph(text)


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        (None, OptionError, "path=None; .* Give text or a pathlib.Path"),
        (b"graph", OptionError, "Give text"),
        ("abc://graph", None, "Protocol not known.*that fsspec knows"),
    ],
)
def test_paths_that_cannot_be_looked_up_are_refused(path, error, message):
    with pytest.raises(error or InputFileError, match=message):
        gf.load_graph(path)
    with pytest.raises(error or OutputError, match=message):
        gf.Graph(GAPS, **ENDS).save(path)


# What is checked, and when


def old(folder):
    """Give all files a time of change that lies long ago."""
    for path in folder.iterdir():
        os.utime(path, (1, 1))


def test_a_version_of_a_file_is_checked_once_by_a_process(text, monkeypatch):
    seen = []
    check = stored_range.first_wrong
    monkeypatch.setattr(
        stored_range, "first_wrong", lambda *given: seen.append(given) or check(*given)
    )
    old(text)
    g = gf.load_graph(text)
    first = [g.edges().compute() for _ in range(3)]
    assert len(seen) == 1
    (path,) = text.glob("vertices-*")
    path.write_bytes(path.read_bytes())  # the same bytes at another time
    assert g.edges().compute().equals(first[0])
    assert len(seen) == 2


def test_verify_reads_all_files_at_once(text, gaps):
    for folder in (text, gaps):
        old(folder)
        assert gf.load_graph(folder, verify=True).num_edges > 0
        (path,) = folder.glob("vertices-*")
        whole, stat = path.read_bytes(), path.stat()
        path.write_bytes(whole.replace(b"\x01\x00\x00\x00\x02", b"\x02\x00\x00\x00\x01", 1))
        assert path.read_bytes() != whole
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        gf.load_graph(folder)
        with pytest.raises(InputFileError, match="do not have their checksum"):
            gf.load_graph(folder, verify=True)
    with pytest.raises(OptionError, match="verify='yes'; give True or False"):
        gf.load_graph(text, verify="yes")


@pytest.mark.parametrize(
    ("entry", "message"),
    [("vertices", "3 vertices instead of 2"), ("edges", "the 2 of its manifest")],
)
def test_verify_counts_vertices_and_edges(text, entry, message):
    fit(text, **{entry: 2})
    with pytest.raises(InputFileError, match=message):
        gf.load_graph(text, verify=True)


def test_graphs_of_the_first_version_are_loaded(text, gaps):
    for folder in (text, gaps):
        wanted = gf.load_graph(folder)
        first_version(folder)
        found = gf.load_graph(folder, verify=True)
        assert found.edges().compute().equals(wanted.edges().compute())
        assert found.vertices().compute().equals(wanted.vertices().compute())


def test_a_folder_that_was_replaced_is_noticed(tmp_path):
    other = GAPS.assign(b=[5, 1, 2, 5])
    for name, edges in (("first", GAPS), ("second", other)):
        gf.Graph(edges, **ENDS).save(tmp_path / name)
    g = gf.load_graph(tmp_path / "first")
    shutil.rmtree(tmp_path / "first")
    shutil.copytree(tmp_path / "second", tmp_path / "first")
    with pytest.raises(InputFileError, match=r"of another graph.*Call load_graph again"):
        g.edges().compute()
    assert gf.load_graph(tmp_path / "first").edges().compute()["target"].tolist() == [5, 1, 2, 5]


def test_damage_is_noticed_where_files_cannot_be_mapped():
    path = "memory://damaged"
    options = {"storage_options": {"skip_instance_cache": True}}
    gf.Graph(GAPS, **ENDS).save(path, **options)
    g = gf.load_graph(path)
    fs = folders.Folder.of(path, None, InputFileError).fs
    (file,) = fs.glob("/damaged/vertices-*")
    data = bytearray(fs.cat_file(file))
    data[len(data) // 2] ^= 1
    fs.pipe_file(file, bytes(data))
    with pytest.raises(InputFileError, match=r"is damaged|is not the file"):
        g.edges().compute()


def test_checksums_of_blocks_are_those_of_the_written_bytes(monkeypatch):
    monkeypatch.setattr(checksums, "BLOCK", 10)
    written = bytearray()
    file = checksums.Summed(written.extend)
    data = np.random.default_rng(0).bytes(57)
    for low, high in ((0, 3), (3, 10), (10, 10), (10, 41), (41, 57)):
        assert file.write(data[low:high]) == high - low
    assert written == data
    assert file.checksums == [zlib.crc32(data[at : at + 10]) for at in range(0, 57, 10)]
    assert checksums.first_wrong(data, file.checksums, [(0, 57)], 2) is None
    changed = data[:33] + bytes([data[33] ^ 1]) + data[34:]
    assert checksums.first_wrong(changed, file.checksums, [(0, 57)], 2) == 30
    assert checksums.first_wrong(changed, file.checksums, [(0, 30), (40, 57)], 2) is None


# Time zones


@pytest.mark.parametrize(
    "zone",
    [
        dateutil.tz.tzoffset("XYZ", 3600),
        dateutil.tz.gettz("Europe/Berlin"),
        timezone(timedelta(hours=2), "CEST"),
        timezone(timedelta(hours=2, seconds=30)),
    ],
    ids=str,
)
def test_ids_with_a_time_zone_that_cannot_be_loaded_are_not_saved(tmp_path, zone):
    host_only("about time zones of pandas")
    times = pd.Series(pd.to_datetime(["2024-01-01", "2024-01-02"]))
    try:
        times = times.dt.tz_localize(zone)
    except AttributeError as error:  # pandas 2.0 with files of time zones
        pytest.skip(f"this pandas cannot use the time zone: {error}")
    edges = pd.DataFrame({"a": times, "b": times.iloc[::-1].array})
    with pytest.raises(VertexTypeError, match=r"cannot be saved.*tz_convert\('UTC'\)"):
        gf.Graph(edges, **ENDS).save(tmp_path / "graph")
    assert not (tmp_path / "graph").exists()
    converted = edges.apply(lambda ids: ids.dt.tz_convert("UTC"))
    gf.Graph(converted, **ENDS).save(tmp_path / "graph")
    found = gf.load_graph(tmp_path / "graph").vertices().compute()["vertex"]
    assert found.tolist() == times.tolist()


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "+02:00"])
def test_ids_with_other_time_zones_are_loaded_as_they_were_saved(tmp_path, zone):
    host_only("about time zones of pandas")
    times = pd.Series(pd.to_datetime(["2024-01-01T00:00", "2024-01-02T00:00"])).dt.tz_localize(zone)
    gf.Graph(pd.DataFrame({"a": times[:1], "b": times[1:].array}), **ENDS).save(tmp_path / "graph")
    found = gf.load_graph(tmp_path / "graph").vertices().compute()["vertex"]
    assert found.dtype == times.dtype
    assert found.tolist() == times.tolist()


# The command line


def test_info_describes_and_verifies_a_saved_graph(text):
    host_only("about files")
    told = json.loads(info(text, "--json").output)
    assert (told["vertices"], told["edges"], told["directed"]) == (3, 3, True)
    assert "--verify compares them" in told["checksums"]
    assert "all bytes match" in info(text, "--verify").output
    (path,) = text.glob("vertices-*")
    whole = path.read_bytes()
    path.write_bytes(whole[:-40] + b"?" + whole[-39:])
    broken = info(text, "--verify")
    assert broken.exit_code == 1
    assert "Files of the folder must not be changed" in broken.output
    assert info(text, "--source", "a").exit_code == 2
    assert info(text, text, "--verify").exit_code == 2


def info(*arguments):
    """Run ``graphflow info`` in this process."""
    return CliRunner().invoke(main, ["info", *map(str, arguments)])
