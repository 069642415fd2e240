"""Files of edges in every format, with every compression, give the frame that pandas has."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse
from fsspec.implementations.memory import MemoryFileSystem

import dask_graphflow as gf
from dask_graphflow.exceptions import InputFileError, OptionError, UnknownColumnError
from dask_graphflow.graph.edge_files import lines, read_edges

ENDS = ["src", "dst"]
COMPRESS = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
    ".bz2": bz2.compress,
}


@pytest.fixture(autouse=True)
def _workplace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    MemoryFileSystem.store.clear()


@pytest.fixture
def edges():
    """Return edges that fill several blocks of a kilobyte."""
    random = np.random.default_rng(0)
    ends = pd.DataFrame(random.integers(0, 300, (400, 2)), columns=ENDS)
    ends = ends.drop_duplicates(ignore_index=True)
    return ends.assign(weight=random.integers(1, 100, len(ends)) / 8)


def csv_text(edges, **options):
    return edges.to_csv(index=False, **options).encode()


def mtx_text(edges, **options):
    size = edges[ENDS].to_numpy().max() + 1
    ends = edges.src, edges.dst
    matrix = scipy.sparse.coo_array((edges.weight, ends), shape=(size, size))
    scipy.io.mmwrite("made.mtx", matrix, **options)
    return Path("made.mtx").read_bytes()


def windows(content):
    return content.replace(b"\n", b"\r\n")


# The text of each format, by the extension that shows the format.
TEXTS = {
    "header.csv": csv_text,
    "bare.csv": lambda edges: csv_text(edges, header=False),
    "semicolons.csv": lambda edges: csv_text(edges, sep=";"),
    "quotes.csv": lambda edges: csv_text(edges, quoting=1),
    "windows.csv": lambda edges: windows(csv_text(edges)),
    "mark.csv": lambda edges: b"\xef\xbb\xbf" + csv_text(edges),
    "tabs.tsv": lambda edges: csv_text(edges, sep="\t"),
    "snap.txt": lambda edges: b"# web\n#src dst\n" + csv_text(edges, sep="\t", header=False),
    "blanks.txt": lambda edges: (
        b"  "
        + csv_text(edges, sep=" ", header=False).replace(b" ", b" \t ").replace(b"\n", b" \n  ")
    ),
    "comments.txt": lambda edges: csv_text(edges, sep=" ", header=False).replace(b"\n", b"\n# x\n"),
    "windows.txt": lambda edges: windows(b"# web\n" + csv_text(edges, sep="\t", header=False)),
    "graphalytics.e": lambda edges: csv_text(edges, sep=" ", header=False),
    "general.mtx": mtx_text,
    "lines.jsonl": lambda edges: edges.to_json(orient="records", lines=True).encode(),
}
# Gzip files with several members and zstd files with several frames are common.
WAYS = [(end, pieces) for end in COMPRESS for pieces in (1, 2)][1:]


def written(name, edges, end="", pieces=1):
    """Write edges to a file, compressed in some pieces, and return its name."""
    content = TEXTS[name](edges)
    half = len(content) // pieces
    parts = [content[:half], content[half:]] if pieces == 2 else [content]
    Path(name + end).write_bytes(b"".join(COMPRESS[end](part) for part in parts))
    return name + end


def check(frame, edges):
    assert isinstance(frame, dd.DataFrame)
    found = frame.compute(scheduler="sync").reset_index(drop=True)
    pd.testing.assert_frame_equal(found, dd.from_pandas(edges, npartitions=1).compute())


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize(("end", "pieces"), WAYS)
def test_every_text_format_with_every_compression_gives_the_edges(name, end, pieces, edges):
    check(gf.read_edges(written(name, edges, end, pieces)), edges)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("blocksize", [80, 81, 1000])
def test_blocks_of_every_size_have_every_line_once(name, blocksize, edges, monkeypatch):
    monkeypatch.setattr(read_edges, "SAMPLE_BYTES", 80)
    frame = gf.read_edges(written(name, edges), blocksize=blocksize)
    check(frame, edges)
    assert frame.npartitions > 4


@pytest.mark.parametrize("partitions", [1, 3])
def test_parquet_files_are_read_by_dask(partitions, edges):
    dd.from_pandas(edges, npartitions=partitions).to_parquet("edges.parquet", write_index=False)
    frame = gf.read_edges("edges.parquet")
    check(frame, edges)
    assert frame.npartitions == partitions
    check(gf.read_edges("edges.parquet/*.parquet", columns=ENDS), edges[ENDS])


def test_only_the_columns_that_are_used_are_parsed(edges, monkeypatch):
    asked = []
    parse = lines.Csv.parse

    def recorded(self, content, types):
        asked.append(types and [*types])
        return parse(self, content, types)

    monkeypatch.setattr(lines.Csv, "parse", recorded)
    check(gf.read_edges(written("header.csv", edges))[["dst"]], edges[["dst"]])
    assert asked == [None, ["dst"]]
    check(gf.read_edges(written("general.mtx", edges))[["weight"]], edges[["weight"]])


def test_several_files_globs_folders_and_urls_are_one_frame(edges):
    Path("in").mkdir()
    edges[:100].to_csv("in/a.csv", index=False)
    edges[100:].to_csv("in/b.csv.gz", index=False)
    Path("in/_SUCCESS").touch()
    Path("in/.hidden").touch()
    for path in ("in", "in/*", "in/*.csv*", ["in/a.csv", Path("in/b.csv.gz")]):
        check(gf.read_edges(path), edges)
    MemoryFileSystem().pipe("/in/a.csv", csv_text(edges))
    for path in ("memory://in", "memory://in/*.csv", "memory://in/a.csv"):
        check(gf.read_edges(path), edges)
    Path("[1].csv").write_bytes(csv_text(edges))
    check(gf.read_edges("[1].csv"), edges)


@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric"])
@pytest.mark.parametrize("end", ["", ".gz"])
def test_a_symmetric_matrix_has_the_edges_that_scipy_reads(symmetry, end, edges):
    both = edges[edges.src > edges.dst]
    both = pd.concat(
        [
            both,
            both.assign(
                src=both.dst, dst=both.src, weight=both.weight * (-1) ** (symmetry[1] == "k")
            ),
        ]
    )
    if symmetry == "symmetric":
        both = pd.concat([both, pd.DataFrame({"src": [299], "dst": [299], "weight": [0.5]})])
    name = written("general.mtx", both, end)
    Path(name).write_bytes(COMPRESS[end](mtx_text(both, symmetry=symmetry)))
    reference = scipy.io.mmread("made.mtx").tocoo()
    reference = pd.DataFrame({"src": reference.row, "dst": reference.col, "weight": reference.data})
    reference = reference.astype({"src": "int64", "dst": "int64"}).sort_values(
        ENDS, ignore_index=True
    )
    check(gf.read_edges(name).sort_values(ENDS, ignore_index=True), reference)


def test_a_pattern_matrix_has_no_weights():
    Path("x.mtx").write_text(
        "%%MatrixMarket matrix coordinate pattern symmetric\n% by hand\n3 3 2\n2 1\n3 3\n"
    )
    check(gf.read_edges("x.mtx"), pd.DataFrame({"src": [1, 2, 0], "dst": [0, 2, 1]}))


def test_vertices_of_graphalytics_are_one_column():
    Path("x.v").write_text("1\n2\n7\n")
    Path("x.e").write_text("1 2\n")
    frames = gf.read_edges("x.e"), gf.read_edges("x.v")
    check(frames[1], pd.DataFrame({"vertex": [1, 2, 7]}))
    found = gf.connected_components(frames[0], source="src", target="dst", vertices=frames[1])
    assert found.compute().component.tolist() == [1, 1, 7]


CELLS = {
    "as written": (
        "a,b\nNA,x\n,null\n1e5,\n",
        {"a": ["NA", None, "1e5"], "b": ["x", "null", None]},
    ),
    "large": (f"a,b\n{2**62 + 1},1\n,2\n", {"a": [2**62 + 1, None], "b": [1, 2]}),
    "quotes": ('a,b\n"x, ""y""",\'\n', {"a": ['x, "y"'], "b": ["'"]}),
    "blank lines": ("a,b\n\n1,2\n\n\n3,4", {"a": [1, 3], "b": [2, 4]}),
}


@pytest.mark.parametrize("name", CELLS)
def test_cells_of_csv_files_are_read_as_they_are_written(name):
    text, columns = CELLS[name]
    Path("x.csv").write_text(text)
    found = gf.read_edges("x.csv").compute(scheduler="sync")
    assert {
        c: found[c].astype(object).where(found[c].notna(), None).tolist() for c in found
    } == columns


def test_types_and_names_can_be_set():
    Path("x.csv").write_text("007,18446744073709551615\n7,1\n")
    frame = gf.read_edges("x.csv", columns=["a", "b"], dtype={"a": "str", "b": "uint64"})
    check(frame, pd.DataFrame({"a": ["007", "7"], "b": np.array([2**64 - 1, 1], "uint64")}))
    check(
        gf.read_edges("x.csv", dtype="str")[["dst"]], pd.DataFrame({"dst": [str(2**64 - 1), "1"]})
    )
    Path("y").write_text("1,2,2024\n")
    check(
        gf.read_edges("y", format="csv", header=True),
        pd.DataFrame({"1": [1], "2": [1], "2024": [1]})[:0],
    )


def test_a_file_that_changes_gives_other_keys(edges):
    keys = [
        gf.read_edges(written("header.csv", part)).__dask_keys__() for part in (edges[:9], edges)
    ]
    assert keys[0] != keys[1]


def test_line_breaks_in_cells_do_not_make_edges(monkeypatch):
    monkeypatch.setattr(read_edges, "SAMPLE_BYTES", 64)
    notes = ["x\n1,2,3\n4,5,6\n"] * 30
    edges = pd.DataFrame({"a": range(30), "note": notes, "b": range(30)})
    edges.to_csv("x.csv", index=False)
    with pytest.raises(InputFileError, match=r"x\.csv: .*not closed.*blocksize=None"):
        gf.read_edges("x.csv", blocksize=70).compute(scheduler="sync")
    check(gf.read_edges("x.csv", blocksize=None), edges)  # as it says


BAD = {  # what is written, the options, when it fails, and what the message says
    "missing": (
        "a.csv",
        "a,b\n1,2\n",
        {"path": "aa.csv"},
        "call",
        "no such file.*did you mean 'a.csv'",
    ),
    "no match": ("a.csv", "a,b\n1,2\n", {"path": "*.tsv"}, "call", "no such file"),
    "protocol": ("a.csv", "", {"path": "foo://x"}, "call", "Protocol not known"),
    "extension": (
        "a.dat",
        "1 2\n",
        {},
        "call",
        r"a\.dat: its extension '\.dat'.*\.parquet.*set format=",
    ),
    "columns": ("a.txt", "1 2 3 4\n", {}, "call", r"a\.txt: has 4 columns without names.*columns="),
    "names": (
        "a.txt",
        "1 2\n",
        {"columns": ["a"]},
        "call",
        "has 2 columns, and columns= has 1 name",
    ),
    "empty": ("a.csv", "", {}, "call", r"a\.csv: is empty"),
    "header": (
        "a.csv",
        "x,y,0.5\nx,y,0.7\n",
        {},
        "call",
        "the number '0.5' beside text.*header=True",
    ),
    "twice": ("a.csv", "a,a\n1,2\n", {}, "call", "two columns named 'a'"),
    "not UTF-8": ("a.csv", b"\xff\xfe,b\n", {}, "call", r"a\.csv: .*UTF-8"),
    "not gzip": ("a.csv.gz", "a,b\n1,2\n", {}, "call", r"a\.csv\.gz: cannot be read.*compression"),
    "not Parquet": (
        "a.parquet",
        "a,b\n1,2\n",
        {},
        "call",
        r"a\.parquet: cannot be read as Parquet",
    ),
    "array": (
        "a.mtx",
        "%%MatrixMarket matrix array real general\n2 2\n",
        {},
        "call",
        "begins with .*array",
    ),
    "complex": (
        "a.mtx",
        "%%MatrixMarket matrix coordinate complex general\n",
        {},
        "call",
        "complex values",
    ),
    "oblong": (
        "a.mtx",
        "%%MatrixMarket matrix coordinate real general\n2 3 0\n",
        {},
        "call",
        "square",
    ),
    "array of JSON": ("a.jsonl", "[1]\n", {}, "call", r"a\.jsonl: line 1: "),
    "many cells": (
        "a.txt",
        "#\n1 2\n\n# x\n3 4 5\n",
        {},
        "late",
        r"a\.txt: line 5: Expected 2 columns, got 3",
    ),
    "few cells": (
        "a.csv",
        "a,b\n1,2\n3\n",
        {},
        "late",
        r"a\.csv: line 3: Expected 2 columns, got 1: 3",
    ),
    "another type": (
        "a.csv",
        "a,b\n1,2\n3,x\n",
        {},
        "late",
        r"line 3: .*int64: invalid value 'x'.*dtype=",
    ),
    "cut off": ("a.jsonl", '{"a":1}\n{"a":\n', {}, "late", r"a\.jsonl: line 2: "),
}


@pytest.mark.parametrize("case", BAD)
def test_errors_name_the_file_and_the_line(case, monkeypatch):
    name, content, options, when, message = BAD[case]
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    options = {"path": name, **options}
    if when == "late":
        monkeypatch.setattr(read_edges, "SAMPLE_BYTES", 8)
        frame = gf.read_edges(**options)
        with pytest.raises(InputFileError, match=message):
            frame.compute(scheduler="sync")
    else:
        with pytest.raises(InputFileError, match=message):
            gf.read_edges(**options)


def test_options_that_do_not_fit_are_named(edges):
    edges.to_parquet("x.parquet")
    edges.to_csv("x.csv", index=False)
    with pytest.raises(OptionError, match=r"format='txt'; give .*did you mean 'text'"):
        gf.read_edges("x.csv", format="txt")
    with pytest.raises(OptionError, match="header=False is for CSV files"):
        gf.read_edges("x.parquet", header=False)
    with pytest.raises(OptionError, match="dtype='str' is for text files"):
        gf.read_edges("x.parquet", dtype="str")
    with pytest.raises(InputFileError, match=r"x\.csv is csv and .*x\.parquet is parquet.*format="):
        gf.read_edges(["x.csv", "x.parquet"])
    for options in ({"dtype": "strr"}, {"blocksize": "x"}, {"path": 5}):
        with pytest.raises(OptionError, match=f"^{next(iter(options))}=.*; give "):
            gf.read_edges(**{"path": "x.csv", **options})
    for options in ({"columns": "srcs"}, {"columns": ["srcs"]}, {"dtype": {"srcs": "str"}}):
        with pytest.raises(UnknownColumnError, match=r"'srcs', and .*did you mean 'src'"):
            gf.read_edges("x.csv", **options)


def test_error_names_a_file_whose_columns_differ_from_the_first_file():
    Path("a.csv").write_text("a,b\n1,2\n")
    Path("b.csv").write_text("b,a\n1,2\n")
    with pytest.raises(
        InputFileError, match=r"b\.csv: has the columns 'b', 'a'.*'a', 'b'.*one by one"
    ):
        gf.read_edges("*.csv").compute(scheduler="sync")


def test_quotes_are_not_special_in_text():
    Path("x.txt").write_text('"a b"\n"c d\n')
    check(gf.read_edges("x.txt"), pd.DataFrame({"src": ['"a', '"c'], "dst": ['b"', "d"]}))


def test_empty_files_have_no_edges():
    Path("a.txt").write_text("# nothing\n")
    Path("b.txt").write_text("# weights\n1 2 0.5\n")
    Path("c.txt").write_text("# a b c d")
    assert len(gf.read_edges("a.txt").compute(scheduler="sync")) == 0
    expected = pd.DataFrame({"src": [1], "dst": [2], "weight": [0.5]})
    check(gf.read_edges(["a.txt", "b.txt", "c.txt"]), expected)


@pytest.mark.gpu
def test_read_edges_uses_the_backend_of_dask(edges):
    pytest.importorskip("cudf")
    edges.to_parquet("x.parquet")
    with dask.config.set({"dataframe.backend": "cudf"}):
        for name in (*(written(name, edges) for name in TEXTS), "x.parquet"):
            frame = gf.read_edges(name)
            assert type(frame._meta).__module__.startswith("cudf")
            found = frame.compute(scheduler="sync").to_pandas().reset_index(drop=True)
            pd.testing.assert_frame_equal(found, edges, check_dtype=False)


def test_integers_with_nulls_in_parquet_files_stay_exact(tmp_path):
    big = 2**53 + 1
    ends = {"src": pa.array([big, big + 1, 7]), "dst": pa.array([big + 1, None, 8])}
    others = {"parent": pa.array([big, None, 5]), "seen": pa.array([True, None, False])}
    pq.write_table(pa.table(ends | others), tmp_path / "edges.parquet")
    edges = gf.read_edges(tmp_path / "edges.parquet")
    assert str(edges.dtypes["src"]) == "int64"
    found = edges.compute()
    assert found["parent"].dropna().tolist() == [big, 5]
    assert found["seen"].dropna().tolist() == [True, False]
    ids = gf.degrees(edges, dropna=True).compute()["vertex"]
    assert (ids.tolist(), str(ids.dtype)) == ([7, 8, big, big + 1], "int64")
