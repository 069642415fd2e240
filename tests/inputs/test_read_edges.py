"""Files of edges in every format, with every compression, give the frame that pandas has."""

from __future__ import annotations

import bz2
import gzip
import io
import random
import re
import sys
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
from dask_graphflow.inputs.files import cells, csv_lines, read_edges
from dask_graphflow.inputs.files.lines import BadLine

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


@pytest.mark.parametrize(
    ("name", "end", "pieces"),
    [
        # A format does not know how a file is compressed, so most combinations are slow cases.
        pytest.param(name, *way, marks=[] if i % len(WAYS) == j or i < 2 else [pytest.mark.slow])
        for i, name in enumerate(TEXTS)
        for j, way in enumerate(WAYS)
    ],
)
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
    parse = csv_lines.Csv.parse

    def recorded(self, content, types):
        asked.append(types and [*types])
        return parse(self, content, types)

    monkeypatch.setattr(csv_lines.Csv, "parse", recorded)
    frame = gf.read_edges(written("header.csv", edges))[["dst"]]
    asked.clear()
    check(frame, edges[["dst"]])
    assert asked == [["dst"]]
    check(gf.read_edges(written("general.mtx", edges))[["weight"]], edges[["weight"]])


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_hidden_folders_are_not_read_unless_they_are_named(ending):
    for place, first in ((".", 1), ("_temporary/0", 3), (".tmp", 5), ("part/.tmp", 7)):
        Path(".tmp/in", place).mkdir(parents=True, exist_ok=True)
        frame = pd.DataFrame({"src": [first], "dst": [first + 1]})
        write = frame.to_parquet if ending == "parquet" else frame.to_csv
        write(Path(".tmp/in", place, f"[1].{ending}"), index=False)
    Path(".tmp/in/_SUCCESS").touch()
    Path(".tmp/none/_x").mkdir(parents=True)
    Path(".tmp/none/_x/.a.csv").touch()

    def found(path):
        return gf.read_edges(path).src.compute(scheduler="sync").tolist()

    assert found(".tmp/in") == found(".tmp/in/*") == found(".tmp/**") == [1]
    assert found(".tmp/in/_temporary") == found(".tmp/in/_*/0") == [3]
    assert found(".tmp/in/**/.tmp") == [5, 7]
    with pytest.raises(InputFileError, match="no such file"):
        found(".tmp/none")


def test_parquet_files_that_an_old_metadata_file_does_not_list_are_read(edges):
    dd.from_pandas(edges[:100], npartitions=1).to_parquet(
        "x", write_index=False, write_metadata_file=True
    )
    edges[100:].to_parquet("x/part.10.parquet", index=False)
    check(gf.read_edges("x"), edges)


def test_the_time_for_quotes_does_not_depend_on_calls_for_each_cell():
    def calls(rows):
        content = b'"a ""b""","c"\n' * rows
        found = []
        sys.setprofile(lambda _frame, event, _arg: found.append(event))
        try:
            csv_lines.Csv(("a", "b"), separator=",").parse(content, None)
        finally:
            sys.setprofile(None)
        return len(found)

    assert calls(1000) == calls(10)


@pytest.mark.parametrize("end", list(COMPRESS)[1:])
def test_a_compressed_file_whose_end_is_missing_is_refused(end, edges):
    name = written("header.csv", edges, end)
    content = Path(name).read_bytes()
    for damaged in (content[:-1], content[: len(content) // 2], content + b"more"):
        Path(name).write_bytes(damaged)
        with pytest.raises(InputFileError, match=rf"header\.csv\{end}: cannot be read"):
            gf.read_edges(name).compute(scheduler="sync")


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


MATRICES = {  # what the first line says, and the lines below it
    "real values that look whole": ("real general", "2 2 2\n1 2 1\n2 1 0.5\n"),
    "whole numbers": ("integer general", "2 2 1\n1 2 9007199254740993\n"),
    "64 bits": ("unsigned-integer general", "2 2 1\n1 2 18446744073709551615\n"),
    "double": ("double general", "2 2 1\n1 2 -.5e-3\n"),
    "capitals": ("REAL General", "2 2 1\n1 2 1."),
    "hermitian": ("real hermitian", "2 2 2\n2 1 3\n1 1 2\n"),
    "above the diagonal": ("real symmetric", "2 2 1\n1 2 3\n"),
    "skew-symmetric": ("integer skew-symmetric", "2 2 2\n2 1 3\n1 1 2\n"),
    "blank lines": ("pattern general", "% by hand\n\n2 2 2\n\n1 2\n\n2 1\n\n"),
    "blanks and tabs": ("pattern general", " 2\t2  1 \n 01\t2 \n"),
    "no entries": ("real general", "3 3 0"),
    "entries that are missing": ("pattern general", "4 4 4\n1 2\n2 3\n"),
    "cut in a number": ("pattern general", "40 40 2\n1 2\n2 "),
    "too many entries": ("pattern general", "4 4 1\n1 2\n2 3\n"),
    "row 0": ("pattern general", "4 4 2\n1 2\n0 1\n"),
    "column 9": ("pattern general", "4 4 2\n1 2\n1 9\n"),
    "a negative row": ("pattern general", "4 4 1\n-1 2\n"),
    "a hexadecimal row": ("pattern general", "4 4 1\n0x1 2\n"),
    "a row beyond 64 bits": ("pattern general", "4 4 1\n99999999999999999999 2\n"),
    "a size beyond 64 bits": ("pattern general", "99999999999999999999 99999999999999999999 0\n"),
    "no value": ("real general", "2 2 1\n1 2\n"),
    "no sizes": ("pattern general", "% by hand\n"),
    "one size": ("pattern general", "3\n1 2\n"),
    "four sizes": ("pattern general", "2 2 1 5\n1 2\n"),
    "negative sizes": ("pattern general", "-2 -2 1\n1 2\n"),
}


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("case", MATRICES)
def test_matrices_are_read_or_refused_as_scipy_does(case, line_end):
    kind, text = MATRICES[case]
    content = f"%%MatrixMarket matrix coordinate {kind}\n{text}".replace("\n", line_end).encode()
    Path("x.mtx").write_bytes(content)
    try:
        matrix = scipy.io.mmread(io.BytesIO(content)).tocoo()
    except (ValueError, OverflowError):
        with pytest.raises(InputFileError, match=r"x\.mtx: "):
            gf.read_edges("x.mtx").compute(scheduler="sync")
        return
    found = gf.read_edges("x.mtx").compute(scheduler="sync")
    columns = [matrix.row, matrix.col, matrix.data][: found.shape[1]]
    entries = zip(*(column.tolist() for column in columns), strict=True)
    assert sorted(map(tuple, found.to_numpy(object).tolist())) == sorted(entries)
    assert found.dtypes.iloc[2:].tolist() == [matrix.dtype] * (found.shape[1] - 2)


@pytest.mark.parametrize("lost", [1, 300])
def test_a_matrix_of_several_blocks_that_lacks_entries_is_refused(lost, edges, monkeypatch):
    monkeypatch.setattr(read_edges, "SAMPLE_BYTES", 200)
    whole = mtx_text(edges)
    Path("x.mtx").write_bytes(b"\n".join(whole.splitlines()[:-lost]))
    frame = gf.read_edges("x.mtx", blocksize=200)
    assert frame.npartitions > 4
    with pytest.raises(
        InputFileError, match=rf"has {len(edges) - lost} entries.* says {len(edges)}\."
    ):
        frame.compute(scheduler="sync")


def test_each_matrix_of_a_call_has_its_own_size(edges, monkeypatch):
    monkeypatch.setattr(read_edges, "SAMPLE_BYTES", 200)
    edges = edges.sort_values(ENDS, ignore_index=True)
    small = edges[(edges.src < 40) & (edges.dst < 40)]
    for name, part in (("a.mtx", small), ("b.mtx", edges)):
        Path(name).write_bytes(mtx_text(part))
    check(
        gf.read_edges(["a.mtx", "b.mtx"], blocksize=200),
        pd.concat([small, edges], ignore_index=True),
    )
    last = Path("b.mtx").read_bytes().splitlines()
    Path("b.mtx").write_bytes(b"\n".join([*last[:-1], b"301 1 0.5"]))
    with pytest.raises(InputFileError, match=rf"b\.mtx: line {len(last)}: 301 is not a row"):
        gf.read_edges(["a.mtx", "b.mtx"], blocksize=200).compute(scheduler="sync")


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


AS_WRITTEN = {  # a cell: its column's type if the first lines have it, and the error if later lines have it
    "5": ("int64", ""),
    " 5": ("int64", ""),
    "-1": ("int64", ""),
    "9223372036854775807": ("int64", ""),
    "0": ("int64", ""),
    "007": ("string", "'007' would become 7"),
    "00": ("string", "'00' would become 0"),
    "-05": ("string", "'-05' would become -5"),
    "-0": ("string", "'-0' would become 0"),
    "0x1F": ("string", "'0x1F' would become 31"),
    "0X1f": ("string", "'0X1f' would become 31"),
    "0b1": ("string", "invalid value '0b1'"),
    "0o7": ("string", "invalid value '0o7'"),
    "1_000": ("string", "invalid value '1_000'"),
    "\N{ARABIC-INDIC DIGIT THREE}": ("string", "invalid value"),
    "True": ("string", "invalid value 'True'"),
    "2024-01-01": ("string", "invalid value '2024-01-01'"),
    "5\0": ("string", "invalid value '5"),
    "9223372036854775808": ("uint64", "invalid value '9223372036854775808'"),
    "-9223372036854775809": ("string", "invalid value '-9223372036854775809'"),
    "18446744073709551616": ("string", "invalid value '18446744073709551616'"),
    # Floats are refused as ids.
    "1e5": ("float64", "invalid value '1e5'"),
    "+5": ("float64", "invalid value"),
    "1.0": ("float64", "invalid value '1.0'"),
    "NaN": ("float64", "invalid value 'NaN'"),
    "Infinity": ("float64", "invalid value 'Infinity'"),
}


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.txt"])
@pytest.mark.parametrize("cell", AS_WRITTEN)
def test_an_id_leaves_as_it_is_written_or_is_refused(cell, name, monkeypatch):
    dtype, error = AS_WRITTEN[cell]
    separator = {"x.csv": ",", "x.tsv": "\t", "x.txt": " "}[name]
    rows = [f"{cell}{separator}1", *[f"3{separator}4"] * 5]
    Path(name).write_text("\n".join(rows))
    found = gf.read_edges(name, **({} if name == "x.txt" else {"header": False}))
    assert found.src.dtype == dtype
    assert found.dst.dtype == "int64"
    if dtype != "float64":
        assert str(found.src.compute(scheduler="sync")[0]) == cell.strip()
    monkeypatch.setattr(read_edges, "SAMPLE_BYTES", 8)
    Path(name).write_text("\n".join(rows[::-1]))
    found = gf.read_edges(name, **({} if name == "x.txt" else {"header": False}))
    if error:
        with pytest.raises(InputFileError, match=f"line 6: .*{error}"):
            found.compute(scheduler="sync")
    else:
        assert found.src.compute(scheduler="sync").tolist() == [3] * 5 + [int(cell)]


def test_leading_zeros_are_read_as_numbers_on_request():
    Path("x.csv").write_text("src,dst\n007,0\n7,-01\n")
    check(gf.read_edges("x.csv", dtype="int64"), pd.DataFrame({"src": [7, 7], "dst": [0, -1]}))
    Path("x.csv").write_text("src,dst\n0x1F,0\n")
    with pytest.raises(InputFileError, match="line 2: '0x1F' would become 31"):
        gf.read_edges("x.csv", dtype="int64").compute(scheduler="sync")


def test_an_unusual_integer_is_found_wherever_a_file_is_cut(monkeypatch):
    monkeypatch.setattr(cells, "PIECE", 7)
    for before in range(20):
        content = b"1,2\n" * before + b"5,06\n" + b"1,2\n" * 3
        with pytest.raises(BadLine, match="'06' would become 6") as caught:
            csv_lines.Csv(("a", "b"), separator=",").parse(content, {"b": pa.int64()})
        assert caught.value.row == before + 1


LAYOUTS = {  # by the extension of a file: its text, and its edges or the error
    "csv": {
        "old Macs": ("src,dst\r1,2\r2,3\r", [[1, 2], [2, 3]]),
        "blank lines first": ("\n\r\nsrc,dst\n1,2\n", [[1, 2]]),
        "a name of 140 KB": (f"src,dst,{'x' * 140_000}\n1,2,0\n", [[1, 2, 0]]),
        "commas in names": ('"src, from";"dst, to"\n1;2\n', [[1, 2]]),
        "a line break in a name": ('"src","dst","a\n""b"""\n1,2,3\n', [[1, 2, 3]]),
        "a separator in a cell": ('src;dst\na,"b;c\n', [['a,"b', "c"]]),
        "a quote in a cell": ('src,dst\na"b,c"\n', [['a"b', 'c"']]),
        "trailing separators": ("src,dst,\n1,2,\n", [[1, 2, None]]),
        "a null byte": ("src,dst\na\0,b\n", [["a\0", "b"]]),
        "hexadecimal first line": ("0x1F,0x2A\n0x01,0x02\n", [["0x1F", "0x2A"], ["0x01", "0x02"]]),
        "dates in the first line": (
            "a,b,2024-01-01\nc,d,2024-01-02\n",
            "value '2024-01-01' beside",
        ),
        "more cells than names": ("src,dst\n1,2,\n", "line 2: Expected 2 columns, got 3"),
        "more names than cells": ("src,dst,w\n1,2\n", "line 2: Expected 3 columns, got 2"),
        "a quote that is open in a name": ('"src","dst\n1,2\n', "a quote in its first line"),
        "a quote that is open": ('src,dst\n1,"2\n', "a quote is not closed"),
        "a line after quotes": ('src,dst\n"a","b"\n"c"\n', "line 3: Expected 2 columns, got 1"),
        "a line after line breaks": ('src,dst\n"a\nb","b"\n"c"\n', r"x\.csv: Expected 2 columns"),
        "Latin-1": (b"src,dst\na,b\n\xe9,c\n", "line 3: .*UTF8"),
    },
    "txt": {
        "names": ("FromNodeId ToNodeId\n1 2\n2 3\n", [[1, 2], [2, 3]]),
        "names after comments": ("# web\n\nFrom\tTo\n007\t008\n", [["007", "008"]]),
        "names, or two ids": ("Source Target\na b\n", "set header=True"),
        "more cells than names in text": ("From To\n1 2 0.5\n", "set header=True"),
        "ids only": ("a b\nc d\n", [["a", "b"], ["c", "d"]]),
        "a number beside text": ("a 1\n2 3\n", [["a", 1], ["2", 3]]),
        "dates": ("a 2024-01-01\nc 2024-01-02\n", [["a", "2024-01-01"], ["c", "2024-01-02"]]),
        "percent encoding": ("%C3%A9 b\nc %d\n", [["%C3%A9", "b"], ["c", "%d"]]),
        "old Macs and comments": ("# web\r1 2\r# x\r2 3\r", [[1, 2], [2, 3]]),
        "a mark and comments": ("\ufeff# web\n1 2\n", [[1, 2]]),
        "a no-break space": ("a\xa0x b\n", [["a\xa0x", "b"]]),
        "blanks and tabs": ("New York\tBoston\n", "tabs and also blanks.*format='csv'"),
        "blanks, tabs and numbers": ("1 2\t0.5\n", [[1, 2, 0.5]]),
    },
    "edgelist": {
        "names and weights": ("node other weight\na b 0.5\n", [["a", "b", 0.5]]),
    },
    "edges": {
        "KONECT": ("% asym posweighted\n% 2 3 3\n1 2 1\n2 3 4\n", [[1, 2, 1], [2, 3, 4]]),
        "Network Repository": ("%%MatrixMarket\n%===\n1 2\n% x\n3 4\n", [[1, 2], [3, 4]]),
        "commas in text": ("1,2\n3,4\n", "no blank and no tab.*format='csv'"),
    },
    "jsonl": {
        "JSON without a line end": ('{"a":1,"b":2}', [[1, 2]]),
        "JSON of Windows": ('\ufeff{"a":1,"b":2}\r\n\r\n{"a":3,"b":4}\r\n', [[1, 2], [3, 4]]),
        "keys that are missing": ('{"a":1}\n{"b":2}\n', [[1, None], [None, 2]]),
        "JSON of 64 bits": (f'{{"a":{2**64 - 1},"b":1}}\n', [[2**64 - 1, 1]]),
        "nested values": ('{"a":1,"b":2,"c":[3],"d":{"a":4}}\n', [[1, 2]]),
        "nested values only": ('{"c":[3]}\n', "only nested values"),
        "keys twice": ('{"a":1}\n{"a":1,"a":2}\n', "line 2: .*twice"),
        "two objects in a line": ('{"a":1} {"a":2}\n{"a":3 "b":4}\n', "line 1: .*Extra data"),
        "a comma is missing": ('{"a":1}\n\n{"a":3 "b":4}\n', "line 3: .*delimiter: column 8"),
        "a line of null": ("null\n", "line 1: is not a JSON object"),
        "an object in two lines": ('{"a":1,\n"b":2}\n', "line 1: is not a JSON object"),
        "deep lists": (f'{{"a":{"[" * 200_000}{"]" * 200_000}}}\n', "line 1: .*recursion"),
        "another JSON type": ('{"a":1}\n{"a":"x"}\n', "line 2: .*number to string"),
        "half a character": ('{"a":"\\ud83d"}\n', "line 1: .*surrogate"),
        "a value that is not UTF-8": (b'{"a":1}\n\n{"a":"\xff"}\n', "line 3: .*is not UTF-8"),
        "a key that is not UTF-8": (b'{"a":1}\n{"\xd7":2}\n', "line 2: .*is not UTF-8"),
    },
}


@pytest.mark.parametrize(
    ("extension", "case"),
    [(extension, case) for extension in LAYOUTS for case in LAYOUTS[extension]],
)
def test_unusual_files_have_the_right_edges_or_a_named_error(extension, case):
    name, (text, expected) = f"x.{extension}", LAYOUTS[extension][case]
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    if isinstance(expected, str):
        with pytest.raises(InputFileError, match=expected):
            gf.read_edges(name).compute(scheduler="sync")
    else:
        found = gf.read_edges(name).compute(scheduler="sync").astype(object)
        assert found.where(found.notna(), None).to_numpy().tolist() == expected


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


# What is written, what the message says, and perhaps options: of errors at the call, and of later ones.
BAD_AT_THE_CALL = {
    "missing": ("a.csv", "a,b\n1,2\n", "no such file.*did you mean 'a.csv'", {"path": "aa.csv"}),
    "no match": ("a.csv", "a,b\n1,2\n", "no such file", {"path": "*.tsv"}),
    "protocol": ("a.csv", "", "Protocol not known", {"path": "foo://x"}),
    "extension": ("a.dat", "1 2\n", r"a\.dat: its extension '\.dat'.*\.parquet.*set format="),
    "columns": ("a.txt", "1 2 3 4\n", r"a\.txt: has 4 columns without names.*columns="),
    "names": ("a.txt", "1 2\n", "has 2 columns, and columns= has 1 name", {"columns": ["a"]}),
    "empty": ("a.csv", "", r"a\.csv: is empty"),
    "header": ("a.csv", "x,y,0.5\nx,y,0.7\n", "the value '0.5' beside text.*header=True"),
    "twice": ("a.csv", "a,a\n1,2\n", "two columns named 'a'"),
    "not UTF-8": ("a.csv", b"\xff\xfe,b\n", r"a\.csv: .*UTF-8"),
    "not gzip": ("a.csv.gz", "a,b\n1,2\n", r"a\.csv\.gz: cannot be read.*compression"),
    "not Parquet": ("a.parquet", "a,b\n1,2\n", r"a\.parquet: cannot be read as Parquet"),
    "array": ("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n", "begins with .*array"),
    "complex": ("a.mtx", "%%MatrixMarket matrix coordinate complex general\n", "complex values"),
    "oblong": ("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 0\n", "square"),
    "array of JSON": ("a.jsonl", "[1]\n", r"a\.jsonl: line 1: "),
}
BAD_LATER = {
    "many cells": ("a.txt", "#\n1 2\n\n# x\n3 4 5\n", r"a\.txt: line 5: Expected 2 columns, got 3"),
    "few cells": ("a.csv", "a,b\n1,2\n3\n", r"a\.csv: line 3: Expected 2 columns, got 1: 3"),
    "another type": ("a.csv", "a,b\n1,2\n3,x\n", r"line 3: .*int64: invalid value 'x'.*dtype="),
    "cut off": ("a.jsonl", '{"a":1}\n{"a":\n', r"a\.jsonl: line 2: "),
}


@pytest.mark.parametrize("case", [*BAD_AT_THE_CALL, *BAD_LATER])
def test_errors_name_the_file_and_the_line(case, monkeypatch):
    name, content, message, *more = (BAD_AT_THE_CALL | BAD_LATER)[case]
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    options = {"path": name} | dict(*more)
    if case in BAD_LATER:
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
    with pytest.raises(OptionError, match="header=False is for CSV and text files"):
        gf.read_edges("x.parquet", header=False)
    with pytest.raises(OptionError, match="dtype='str' is for text files"):
        gf.read_edges("x.parquet", dtype="str")
    with pytest.raises(OptionError, match=r"path=\[\] has no path; give at least one"):
        gf.read_edges([])
    for dtype in ("complex128", "category", "float16", "period[D]"):
        with pytest.raises(
            OptionError, match=f"{re.escape(dtype)}' for the column 'src'; give a dtype"
        ):
            gf.read_edges("x.csv", dtype=dtype)
    check(gf.read_edges(b"x.csv"), edges)
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


def damaged(content, random):
    """Return a content with some bytes replaced, removed or repeated."""
    content = bytearray(content)
    for _ in range(random.choice([1, 1, 2, 8])):
        start = random.randrange(len(content) + 1)
        end = min(len(content), start + random.choice([0, 1, 1, 5, 50]))
        new = random.choice([b"", bytes(content[start:end]) * 2, random.randbytes(1), *FRAGMENTS])
        content[start:end] = new
    return bytes(content)


FRAGMENTS = [
    *(b'"', b"\n", b"\r", b"\0", b",", b" ", b"\t", b"%", b"#", b"{", b"}", b"[", b"\xff", b"\\"),
    *(
        b"0x1F",
        b"007",
        b"-0",
        b"1e400",
        b"NaN",
        b"null",
        b"9" * 30,
        b"-",
        b"\xef\xbb\xbf",
        b"\xf0\x9f",
    ),
]


@pytest.mark.parametrize("name", [*TEXTS, "header.csv.gz", "lines.jsonl.zst", "x.parquet"])
def test_damaged_files_end_in_a_frame_or_a_named_error(name, edges, monkeypatch):
    monkeypatch.setattr(read_edges, "SAMPLE_BYTES", 100)
    edges = edges[:30]
    if name == "x.parquet":
        edges.to_parquet(name)
    else:
        kind = name.removesuffix(".gz").removesuffix(".zst")
        written(kind, edges, name.removeprefix(kind))
    whole, random_bytes, ends = Path(name).read_bytes(), random.Random(name), set()
    for _ in range(25):
        Path(name).write_bytes(damaged(whole, random_bytes))
        try:
            frame = gf.read_edges(name, blocksize=random_bytes.choice([100, 150, None]))
            # Dask reads the pages of Parquet files, and raises PyArrow's errors for them.
            ends.add(len(frame if name == "x.parquet" else frame.compute(scheduler="sync")) > 0)
        except gf.GraphflowError:
            ends.add("error")
        except (OSError, pa.ArrowException):
            assert name == "x.parquet"
    assert "error" in ends


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
