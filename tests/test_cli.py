"""The command line, ``graphflow``: what it reads and writes, what it says, and how it fails."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from dask.utils import parse_bytes
from fsspec.implementations.memory import MemoryFileSystem

import dask_graphflow
from dask_graphflow.cli import csv_files, csv_records, engine, main, writing
from dask_graphflow.cli.csv_files import Format
from dask_graphflow.cli.files import find_files
from dask_graphflow.cli.reading import Reader
from dask_graphflow.exceptions import InputFileError

ENDS = ["--source", "a", "--target", "b"]


@pytest.fixture(autouse=True)
def _workplace(tmp_path, monkeypatch):
    """Run in a folder of its own, with no files in the memory file system."""
    monkeypatch.chdir(tmp_path)
    yield
    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]
    assert not list(tmp_path.glob(".graphflow-*")), "a scratch folder was left"


@pytest.fixture
def edges():
    made = np.random.default_rng(0).integers(0, 3000, (2000, 2))
    return pd.DataFrame(made, columns=["a", "b"]).assign(w=np.linspace(0, 1, 2000))


def run(*arguments, code=0):
    """Run a command, check its exit code, and return what it wrote to stdout and stderr."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result.stdout, result.stderr


def failing(*arguments):
    """Run a command that fails with one line, and return it."""
    out, err = run(*arguments, code=1)
    assert out == ""
    assert err.startswith("graphflow: error: ")
    assert err.count("\n") == 1
    return err


def expected(edges, ids=()):
    """Return the labels by NetworkX."""
    graph = nx.Graph()
    graph.add_nodes_from(ids)
    graph.add_edges_from(edges[["a", "b"]].itertuples(index=False, name=None))
    labels = {v: min(group) for group in nx.connected_components(graph) for v in group}
    return pd.DataFrame(sorted(labels.items()), columns=["vertex", "component"])


def check(labels, reference):
    pd.testing.assert_frame_equal(labels, reference, check_dtype=False)


# What is read, and what is written.


def write_parquet(edges):
    edges.to_parquet("in.parquet", row_group_size=300)
    return ["in.parquet"]


def write_csv(edges, name="in.csv", **options):
    edges.to_csv(name, index=False, **options)
    return [name]


def write_folder(edges):
    os.mkdir("in")
    edges[:700].to_parquet("in/0.parquet")
    edges[700:].to_parquet("in/1.parquet")
    Path("in/_SUCCESS").touch()
    return ["in"]


def write_for_glob(edges):
    write_csv(edges[:700], "in-0.csv")
    write_csv(edges[700:][["w", "b", "a"]], "in-1.csv")
    return ["in-*.csv"]


def write_two(edges):
    edges[:700].to_parquet("x")
    edges[700:].to_parquet("y")
    return ["x", "y"]


INPUTS = {
    "Parquet": write_parquet,
    "CSV": write_csv,
    "gzipped CSV": lambda edges: write_csv(edges, "in.csv.gz"),
    "TSV": lambda edges: write_csv(edges, "in.tsv", sep="\t"),
    "folder": write_folder,
    "pattern": write_for_glob,
    "two files": write_two,
    "remote folder": lambda edges: write_csv(edges, "memory://in/edges.csv") and ["memory://in"],
}


@pytest.mark.parametrize("write", INPUTS.values(), ids=INPUTS)
def test_every_input_gives_the_labels_of_networkx(edges, write):
    out, err = run("components", *write(edges), *ENDS, "-o", "out.parquet")
    check(pd.read_parquet("out.parquet"), expected(edges))
    assert "edges        2,000" in out
    assert err == ""


@pytest.mark.parametrize(
    ("output", "read"),
    [
        ("out.parquet", pd.read_parquet),
        ("out.csv", pd.read_csv),
        ("out.tsv", lambda name: pd.read_csv(name, sep="\t")),
        ("out/", pd.read_parquet),
        ("memory://out/labels.parquet", pd.read_parquet),
        ("memory://out/labels.csv", pd.read_csv),
        ("memory://out/", pd.read_parquet),
    ],
)
def test_every_output_has_the_same_labels_the_second_time_too(edges, output, read):
    run("components", *write_parquet(edges), *ENDS, "-o", output)
    run("components", "in.parquet", *ENDS, "-o", output, "--overwrite")
    check(read(output), expected(edges))


def test_workers_give_the_same_labels_also_if_files_have_to_be_read_again(edges, monkeypatch):
    in_small_pieces(monkeypatch, 2000)
    edges = edges.astype(str).replace("0", "007")
    limits = ["--workers", 2, "--threads", 1, "--memory-limit", "1GB"]
    write_csv(edges)
    with open("in.csv", "a") as file:
        file.write('2999,"two\nlines",""\n')
    edges.loc[len(edges)] = ["2999", "two\nlines", ""]
    out, err = run("components", "in.csv", *ENDS, "-o", "out.parquet", *limits)
    check(pd.read_parquet("out.parquet"), expected(edges))
    assert "edges        2,001" in out
    assert err == ""


def test_a_memory_limit_that_is_too_low_for_a_worker_is_refused_at_once(edges, monkeypatch):
    asked = ["components", *write_csv(edges), *ENDS, "-o", "out.parquet", "--workers", 2]
    started = []
    monkeypatch.setattr("distributed.LocalCluster", started.append)
    err = failing(*asked, "--memory-limit", "100MB")
    assert not started
    advised = re.search(r"--memory-limit '(\w+)' or more", err)[1]
    engine.Engine(2, 1, parse_bytes(advised), show_progress=False)


def test_ids_of_several_columns():
    pd.DataFrame({"a": [1, 2], "k": ["x", "x"], "b": [2, 3]}).to_parquet("in.parquet")
    sides = ["--source", "a", "--source", "k", "--target", "b", "--target", "k"]
    run("components", "in.parquet", *sides, "-o", "out.csv")
    assert Path("out.csv").read_text().split() == [
        "vertex_0,vertex_1,component_0,component_1",
        "1,x,1,x",
        "2,x,1,x",
        "3,x,1,x",
    ]


def test_vertices_without_an_edge_appear(edges):
    pd.DataFrame({"name": ["n"] * 3000, "id": range(3000)}).to_parquet("ids.parquet")
    vertices = ["--vertices", "ids.parquet", "--vertex-column", "id"]
    run("components", *write_parquet(edges), *ENDS, *vertices, "-o", "out.parquet")
    check(pd.read_parquet("out.parquet"), expected(edges, range(3000)))


def test_seed_goes_on_from_an_earlier_result(edges):
    edges[:900].to_csv("old.csv", index=False)
    edges[900:].to_csv("new.csv", index=False)
    run("components", "old.csv", *ENDS, "-o", "old.parquet")
    run("components", "new.csv", *ENDS, "-o", "out.parquet", "--seed", "old.parquet")
    check(pd.read_parquet("out.parquet"), expected(edges))


def test_thresholds_have_a_column_and_a_summary_each(edges):
    weights = ["--weight", "w", "--thresholds", "0.9,0.5"]
    out, _ = run("components", *write_csv(edges), *ENDS, *weights, "-o", "out.parquet")
    labels = pd.read_parquet("out.parquet")
    for threshold in (0.5, 0.9):
        ids = edges[["a", "b"]].to_numpy().ravel().tolist()
        reference = expected(edges[edges.w >= threshold], ids)
        check(labels[["vertex"]].assign(component=labels[f"component_{threshold}"]), reference)
        assert f"components at {threshold}  {reference['component'].nunique():,}" in out


def test_dropna_leaves_edges_out_and_large_integers_exact():
    large = 2**62 + 1
    pd.DataFrame({"a": pd.array([large, None], "Int64"), "b": [large + 2, 5]}).to_parquet("in.pq")
    run("components", "in.pq", *ENDS, "-o", "out.csv", "--dropna")
    assert (
        Path("out.csv").read_text() == f"vertex,component\n{large},{large}\n{large + 2},{large}\n"
    )


def in_small_pieces(monkeypatch, size=8):
    """Have CSV files looked at and read a line or two at a time."""
    for module, name in (
        (csv_files, "SAMPLE_BYTES"),
        (engine, "LEAST_BLOCK_BYTES"),
        (engine, "BLOCK_BYTES"),
    ):
        monkeypatch.setattr(module, name, size)


LINES = {
    "whole numbers": "1,2\n,3\n4,\n5,6\n",
    "quoted": '"1","2"\n,"3"\n"4",\n5,6\n',
    "as pandas writes them": "1.0,2\n,3\n4.0,\n5.0,6\n",
    "only some as fractions": "1,2\n,3.0\n4,\n5,6.0\n",
    "empty at first": ",3\n4,\n" * 30 + "1,2.0\n5,6.0\n",
    "marked": "1,2\nNaN,3\n4,NA\n5,6\n",
    "padded": "01, 2\n,3\n+4,\n5 ,6e0\n",
}


@pytest.mark.parametrize("lines", LINES)
@pytest.mark.parametrize("cut", [False, True], ids=["one block", "many blocks"])
def test_dropna_leaves_out_edges_of_csv_files_with_nulls_among_integers(lines, cut, monkeypatch):
    if cut:
        in_small_pieces(monkeypatch)
    Path("in.csv").write_text("a,b\n" + LINES[lines])
    arguments = ["in.csv", *ENDS] + ["--integer-ids"] * (lines not in ("whole numbers", "quoted"))
    run("components", *arguments, "--dropna", "-o", "out.csv")
    assert Path("out.csv").read_text() == "vertex,component\n1,1\n2,1\n5,5\n6,5\n"
    assert "--dropna" in failing("components", *arguments, "-o", "other.csv")


def test_weights_of_csv_files_are_exact_whole_numbers_and_fractions_among_them(monkeypatch):
    in_small_pieces(monkeypatch)
    large = 2**53
    weights = ["", large, large + 1, 0.5, "", large + 2, -1, 0.3]
    lines = [f"{2 * i},{2 * i + 1},{w}" for i, w in enumerate(weights)]
    Path("in.csv").write_text("\n".join(["a,b,w", *lines]))
    limits = ["--weight", "w", "--thresholds", f"-inf,0.3,0.30000000000000004,{large},{large + 1}"]
    out, _ = run("components", "in.csv", *ENDS, *limits, "-o", "out.parquet")
    labels = pd.read_parquet("out.parquet")
    counts = {"-inf": 6, "0.3": 5, "0.30000000000000004": 4, str(large): 3, str(large + 1): 2}
    assert list(labels)[1:] == [f"component_{name}" for name in counts]
    for name, count in counts.items():
        assert labels[f"component_{name}"].nunique() == 16 - count
        assert f"components at {name} " in out


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("2.5", "numbers that are not whole"),
        ("1e300", "numbers that are not whole"),
        ("x", "ids that are not numbers"),
    ],
)
def test_integer_ids_refuse_what_is_not_a_whole_number(value, words):
    Path("in.csv").write_text(f"a,b\n1,2\n{value},3\n")
    message = failing("components", "in.csv", *ENDS, "-o", "out.csv", "--integer-ids")
    assert f"in.csv: column 'a' has {words}" in message
    run("components", "in.csv", *ENDS, "-o", "out.csv")  # as it says


WRITTEN = {
    "large": ["9223372036854775808", "18446744073709551615"],
    "exponent": ["1e5", "100000"],
    "hexadecimal": ["0xFFFFFFF", "268435455"],
    "zeros": ["007", "7", "0", "-0", "00"],
    "signs": ["+7", "-7", "7"],
    "fractions": ["1.0", "1", "2.50", "2.5"],
    "spaces": [" 7", "7 ", "7"],
    "dates": ["2024-01-05", "2024-01-05 00:00", "2024-1-5"],
    "truths": ["true", "True", "TRUE"],
    "markers": ["NA", "null", "nan", "None", "NaN", "N/A", "#N/A"],
    "quotes": ['x, "y"', "two\nlines", "carriage\rreturn", ""],
    "accents": ["é", "e\u0301", "\ufeffx", "x"],
}


PLACES = ["first", "other file", "vertices", "seed"]


@pytest.mark.parametrize(
    ("kinds", "where"),
    [
        (["quotes"], "last"),
        ([kind for kind in WRITTEN if kind != "quotes"], "last"),
        *((["zeros"], where) for where in PLACES),
    ],
    ids=["quotes", "other kinds", *PLACES],
)
def test_ids_of_csv_files_stay_as_they_are_written(kinds, where, monkeypatch):
    in_small_pieces(monkeypatch)
    integers = [*map(str, range(100, 110))]
    ids = list(dict.fromkeys(name for kind in kinds for name in WRITTEN[kind]))
    files = {
        "last": {"in": [*integers, *ids]},
        "first": {"in": [*ids, *integers]},
        "other file": {"in": integers, "in-2": ids},
    }.get(where, {"in": integers, where: ids})
    for name, column in files.items():
        frame = pd.DataFrame({"a": column, "b": column})
        quoting = csv.QUOTE_ALL if kinds == ["quotes"] else csv.QUOTE_MINIMAL
        frame.to_csv(f"{name}.csv", index=False, quoting=quoting)
    options = {"vertices": ["--vertices", "vertices.csv", "--vertex-column", "a"]}
    if where == "seed":
        frame.to_csv("seed.csv", index=False, header=["vertex", "component"])
        options["seed"] = ["--seed", "seed.csv"]
    run("components", "in*.csv", *ENDS, *options.get(where, []), "-o", "out.csv")
    labels = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    assert labels.values.tolist() == [[name, name] for name in sorted([*integers, *ids])]
    run("components", "in*.csv", *ENDS, "--seed", "out.csv", "-o", "again.csv")
    check(pd.read_csv("again.csv", dtype=str, keep_default_na=False), labels)


NOTES = [
    "two\nlines",
    'a "quote", and a comma',
    "1,2\n3,4\n",
    "",
    '"\n"',
    "\r\n5,6\r\n",
    "x" * 50,
    "7,8\n" * 10,
]


@pytest.mark.parametrize("block_bytes", [1, 9, 40, 1000, 1 << 20])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("named", ["header", "quoted header", "no header", "byte order mark"])
def test_blocks_of_csv_files_are_cut_between_records(
    block_bytes, end, named, tmp_path, monkeypatch
):
    monkeypatch.setattr(csv_files, "SAMPLE_BYTES", 8)
    monkeypatch.setattr(csv_records, "PIECE_BYTES", 7)
    rows = [[f"{i}", note, f"{i + 1}"] for i, note in enumerate(NOTES * 3)]
    header = ["a", "two\nlines" if named == "quoted header" else "note", "b"]
    with open("in.csv", "w", newline="", encoding="utf-8-sig" if "mark" in named else None) as out:
        csv.writer(out, lineterminator=end).writerows(
            rows if named == "no header" else [header, *rows]
        )
    ids, how = ["a", "b"], Format(header=None)
    if named == "no header":
        ids, how = ["0", "2"], Format(header=False)
    files = find_files(["in.csv"])
    try:
        table = Reader(block_bytes, tmp_path, how).read(files, ids)
        found = table.frame.compute(scheduler="sync")
    except csv_files.ReadAgain as why:
        table = Reader(block_bytes, tmp_path, how).knowing(why).read(files, ids)
        found = table.frame.compute(scheduler="sync")
    assert found.values.tolist() == [[int(a), int(b)] for a, _, b in rows]
    assert table.rows() == len(rows)
    assert block_bytes > 40 or table.frame.npartitions > 5


@pytest.mark.parametrize("record", [0, 1, 30])
@pytest.mark.parametrize("block_bytes", [40, 1 << 20])
@pytest.mark.parametrize("sample_bytes", [8, 1 << 20])
def test_a_quote_that_is_never_closed_does_not_hide_edges(
    record, block_bytes, sample_bytes, tmp_path, monkeypatch
):
    monkeypatch.setattr(csv_files, "SAMPLE_BYTES", sample_bytes)
    lines = ["a,note,b", *(f"{i},'',{i}" for i in range(40))]
    lines[record] = lines[record].replace(",", ',"', 1)
    Path("in.csv").write_text("\n".join(lines).replace("'", '"'))
    words = f"never closed in the record that begins with '{lines[record][:3]}"
    for known in (False, True):
        reader = Reader(block_bytes, tmp_path, Format(quoted=known))
        with pytest.raises(InputFileError, match=words):
            reader.read(find_files(["in.csv"]), ["a", "b"]).frame.compute(scheduler="sync")


@pytest.mark.parametrize("name", ["in.csv", "in.csv.gz"])
def test_a_file_without_a_header_loses_no_edge(name):
    pd.DataFrame([[1, 2, 0.5], [2, 3, 0.25]]).to_csv(name, index=False, header=False)
    weight = ["--weight", "0.5", "--threshold", 0]
    for first in (["--source", "1", "--target", "2"], ["--source", "1", "--target", "x"], ENDS):
        message = failing("components", name, *first, *weight, "-o", "out.csv")
        assert "first line has the number" in message
        assert "--no-header" in message
    named = ["--source", "0", "--target", "1", "--weight", "2", "--threshold", 0]
    out, _ = run("components", name, *named, "--no-header", "-o", "out.csv")  # as it says
    assert "vertices     3\nedges        2\n" in out


def test_no_edges_give_no_labels(edges):
    edges[:0].astype({"a": "int64", "b": "int64"}).to_parquet("in.parquet")
    out, _ = run("components", "in.parquet", *ENDS, "-o", "out.parquet")
    assert pd.read_parquet("out.parquet").columns.tolist() == ["vertex", "component"]
    assert "vertices     0\nedges        0\ncomponents   0\n" in out


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*", ["in/y.csv", "x.csv"]),
        ("**", ["in/y.csv", "x.csv"]),
        ("*.csv", ["x.csv"]),
        (".h*", [".h.csv"]),
        (".g*", [".graphflow-1/part"]),
        (".graphflow-1/*", [".graphflow-1/part"]),
    ],
)
def test_a_glob_matches_files_once_and_hidden_ones_only_if_it_names_them(pattern, found, tmp_path):
    os.mkdir(".graphflow-1")
    os.mkdir("in")
    for name in ("x.csv", "in/y.csv", ".h.csv", ".graphflow-1/part"):
        Path(name).touch()
    names = [os.path.relpath(file.path, tmp_path) for file in find_files([pattern])]
    os.rename(".graphflow-1", "seen")
    assert names == found


# How the input is cut into blocks.


@pytest.mark.parametrize("block_bytes", [200, 5_000, 1 << 20])
@pytest.mark.parametrize("write", [write_for_glob, write_folder])
def test_blocks_hold_every_row_once(edges, write, block_bytes, tmp_path):
    table = Reader(block_bytes, tmp_path, Format()).read(find_files(write(edges)), ["a", "b"])
    pd.testing.assert_frame_equal(
        table.frame.compute(scheduler="sync").reset_index(drop=True), edges[["a", "b"]]
    )
    assert table.rows() == len(edges)


# What goes wrong.


@pytest.mark.parametrize(
    ("prepare", "arguments", "words"),
    [
        (None, ["edgs.csv"], ["edgs.csv", "no such file", "'edges.csv'"]),
        (None, ["*.orc"], ["*.orc", "no such file"]),
        (None, ["foo://x"], ["foo://x", "Protocol not known"]),
        (None, ["edges.csv", "--source", "aa"], ["--source 'aa'", "'a', 'b', 'w'"]),
        (None, ["edges.csv", "--threshold", "1"], ["--weight", "'w'"]),
        (None, ["edges.csv", "--weight", "w"], ["'w'", "--threshold"]),
        (None, ["edges.csv", "--vertices", "edges.csv"], ["--vertex-column"]),
        (
            None,
            ["edges.csv", "--vertices", "edges.csv", "--vertex-column", "aa"],
            ["--vertex-column 'aa'", "did you mean 'a'"],
        ),
        (None, ["edges.csv", "--format", "parquet"], ["not a Parquet file", "--format csv"]),
        (b"nonsense", ["bad.parquet"], ["bad.parquet", "not a Parquet file"]),
        (b"PAR1 but cut off", ["bad"], ["not a Parquet file"]),
        (b"", ["bad.csv"], ["bad.csv", "is empty"]),
        (b"\xff\xfe\x00a", ["bad.csv"], ["bad.csv", "UTF-8"]),
        (b"a,b\n1,2\n3\n", ["bad.csv"], ["bad.csv", "Expected 2 columns, got 1"]),
        (b"a,b\n1,2\n,3\n", ["bad.csv"], ["'a'", "1 null", "--dropna"]),
        (b"a,a\n1,2\n", ["bad.csv"], ["bad.csv", "two columns named 'a'", "--no-header"]),
        (b"a,b,w\n1,2,x\n", ["bad.csv", "--weight", "w", "--threshold", "1"], ["'x'", "--weight"]),
        (b"a,b\n1,2\n\xff,3\n", ["bad.csv"], ["bad.csv", "UTF-8"]),
        (b"a,c\n1,2\n", ["edges.csv", "bad.csv"], ["bad.csv", "no column 'b'"]),
        (b"PAR1", ["edges.csv", "bad.parquet"], ["edges.csv is CSV", "--format"]),
    ],
)
def test_bad_input_is_named_in_one_line(edges, prepare, arguments, words):
    edges.to_csv("edges.csv", index=False)
    if prepare is not None:
        Path(next(name for name in arguments if name.startswith("bad"))).write_bytes(prepare)
    given = ENDS if "--source" not in arguments else ["--target", "b"]
    message = failing("components", *arguments, *given, "-o", "out.parquet")
    for word in words:
        assert word in message
    assert not Path("out.parquet").exists()


def test_parquet_files_of_different_types_are_named(edges):
    edges.to_parquet("x.parquet")
    edges.astype({"b": "int32"}).to_parquet("y.parquet")
    message = failing("components", "x.parquet", "y.parquet", *ENDS, "-o", "out.parquet")
    assert "y.parquet: column 'b' is int32" in message
    assert "int64" in message


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("out", ["does not say what to write", ".parquet"]),
        ("nowhere/out.csv", ["does not exist"]),
        ("in.csv/out.csv", ["not a folder"]),
        ("foo://out.csv", ["Protocol not known"]),
    ],
)
def test_bad_output_is_named_before_anything_is_read(edges, output, words):
    write_csv(edges)
    message = failing("components", "no-such-input.csv", *ENDS, "-o", output)
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    "arguments", [[], ["components"], ["components", "x", "--thresholds", "a"]]
)
def test_wrong_usage_has_exit_code_2(arguments):
    ends = [*ENDS, "-o", "out.csv"] if len(arguments) > 1 else []
    _, err = run(*arguments, *ends, code=2)
    assert "Usage: " in err


def test_debug_shows_the_traceback(edges):
    _, err = run("components", "nowhere.csv", *ENDS, "-o", "out.csv", "--debug", code=1)
    assert err.startswith("Traceback")
    assert "\ngraphflow: error: nowhere.csv" in err


# What happens to an earlier output.


@pytest.mark.parametrize("output", ["out.parquet", "out/", "memory://out.parquet", "memory://out/"])
def test_an_existing_output_is_refused(edges, output):
    run("components", *write_csv(edges), *ENDS, "-o", output)
    before = pd.read_parquet(output)
    edges[:1].to_csv("in.csv", index=False)
    assert "--overwrite" in failing("components", "in.csv", *ENDS, "-o", output)
    pd.testing.assert_frame_equal(pd.read_parquet(output), before)


def break_while_computing(monkeypatch):
    Path("in.csv").write_text("a,b\n1,2\n3,\n")
    return 1


def break_while_moving(monkeypatch):
    replace = os.rename

    def fail_once(old, new):
        if Path(old).name == "built":
            raise OSError(5, "Input/output error")
        replace(old, new)

    monkeypatch.setattr(os, "replace", fail_once)
    monkeypatch.setattr(os, "rename", fail_once)
    return 1


def interrupt_while_building(monkeypatch):
    def build(files, target):
        Path(target).touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(writing, "_join_parquet", build)
    return 130


@pytest.mark.parametrize(
    ("output", "trouble"),
    [
        ("out.parquet", break_while_computing),
        ("out.parquet", break_while_moving),
        ("out.parquet", interrupt_while_building),
        ("out/", break_while_computing),
        ("out/", break_while_moving),
        ("memory://out.parquet", interrupt_while_building),
    ],
)
def test_an_earlier_output_outlives_a_failure(edges, monkeypatch, output, trouble):
    edges.to_parquet("in.parquet")
    run("components", *write_csv(edges), *ENDS, "-o", output)
    before = pd.read_parquet(output)
    left = set(os.listdir())
    edges[:1].to_csv("in.csv", index=False)
    code = trouble(monkeypatch)
    run("components", "in.csv", *ENDS, "-o", output, "--overwrite", code=code)
    pd.testing.assert_frame_equal(pd.read_parquet(output), before)
    assert set(os.listdir()) == left
    assert len(MemoryFileSystem.store) == output.startswith("memory")


def listing():
    """Return all files, folders and links but for scratch folders, and when each was changed."""
    paths = [path for path in Path().rglob("*") if ".graphflow-" not in str(path)]
    return {path: path.lstat().st_mtime_ns for path in paths}


def linked_part():
    os.rename("out/part-00000.parquet", "kept.parquet")
    os.symlink("../kept.parquet", "out/part-00000.parquet")


def a_file():
    os.rename("out", "out-earlier")
    Path("out").touch()


PUT = {
    "marker": lambda: Path("out/_SUCCESS").touch(),
    "hidden": lambda: Path("out/.git").mkdir(),
    "other data": lambda: pd.DataFrame({"a": [1]}).to_parquet("out/other.parquet"),
    "other part": lambda: pd.DataFrame({"a": [1]}).to_parquet("out/part-00001.parquet"),
    "rewritten part": lambda: pd.read_parquet("out").to_parquet("out/part-00000.parquet"),
    "linked part": linked_part,
    "dangling link": lambda: os.symlink("nowhere", "out/part-00001.parquet"),
    "a file": a_file,
}


@pytest.mark.parametrize("put", PUT.values(), ids=PUT)
@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_overwrite_removes_only_what_an_earlier_run_wrote(edges, put, when, monkeypatch):
    run("components", *write_csv(edges), *ENDS, "-o", "out/")
    compute, seen = engine.Engine.compute, []

    def others_come(*given):
        put()
        seen.append(listing())
        return compute(*given)

    if when == "before":
        others_come(engine.Engine(0, 1, None, show_progress=False))
    else:
        monkeypatch.setattr(engine.Engine, "compute", others_come)
    message = failing("components", "in.csv", *ENDS, "-o", "out/", "--overwrite")
    assert message.startswith("graphflow: error: out/: is ")
    assert message.endswith("give another name\n")
    assert listing() == seen[0]


@pytest.mark.parametrize("output", ["out.csv", "out/"])
def test_a_link_that_leads_nowhere_is_not_followed(edges, output):
    write_csv(edges)
    os.symlink("nowhere", output.rstrip("/"))
    message = failing("components", "in.csv", *ENDS, "-o", output, "--overwrite")
    assert "symbolic link to nowhere" in message
    assert not os.path.exists("nowhere")
    os.unlink(output.rstrip("/"))
    run("components", "in.csv", *ENDS, "-o", output)


def test_a_link_stays_and_what_it_points_to_is_replaced(edges):
    write_csv(edges)
    Path("real.csv").touch()
    os.symlink("real.csv", "out.csv")
    run("components", "in.csv", *ENDS, "-o", "out.csv", "--overwrite")
    assert os.path.islink("out.csv")
    check(pd.read_csv("real.csv"), expected(edges))


def linked_input(link):
    def put():
        os.makedirs("kept")
        os.rename("in.csv", "kept/edges.csv")
        link("kept/edges.csv", "in.csv")
        return "in.csv", "kept/edges.csv"

    return put


def folder_of_inputs():
    run("components", "in.csv", *ENDS, "-o", "out/")
    return "out", "out/"


def linked_part_of_a_folder():
    run("components", "in.csv", *ENDS, "-o", "out/")
    os.link("out/part-00000.parquet", "in.parquet")
    return "in.parquet", "out/"


def remote(path, output):
    def put():
        run(
            "components",
            "in.csv",
            *ENDS,
            "-o",
            f"memory://data/{'' if output[-1] == '/' else 'x.csv'}",
        )
        return path, output

    return put


SAME = {
    "name": lambda: ("in.csv", "in.csv"),
    "glob": lambda: ("i*.csv", "in.csv"),
    "folder": lambda: (".", "in.csv"),
    "symbolic link to the input": lambda: os.symlink("in.csv", "out.csv") or ("in.csv", "out.csv"),
    "hard link": linked_input(os.link),
    "URL": lambda: ("in.csv", f"file://{os.getcwd()}/in.csv"),
    "folder of inputs": folder_of_inputs,
    "link to a file of a folder": linked_part_of_a_folder,
    "cached remote file": remote("simplecache::memory://data/x.csv", "memory://data/x.csv"),
    "remote folder": remote("memory://data", "memory://data/"),
}


@pytest.mark.parametrize(
    ("option", "same"),
    [*(("PATH", same) for same in SAME), ("--vertices", "name"), ("--seed", "name")],
)
def test_no_file_that_is_read_is_overwritten(edges, same, option):
    write_csv(edges[["a", "b"]])
    name, output = SAME[same]()
    columns = ["--source", "vertex", "--target", "component"] if name[0] in "olm" else ENDS
    edges[["a", "b"]].to_csv("other.txt", index=False)
    arguments = [name, *columns]
    if option != "PATH":
        arguments = ["other.txt", *ENDS, option, name]
    contents = [path.read_bytes() for path in listing() if path.is_file()]
    stored = dict(MemoryFileSystem.store)
    message = failing("components", *arguments, "-o", output, "--overwrite")
    assert f"{output}: would replace " in message
    assert contents == [path.read_bytes() for path in listing() if path.is_file()]
    assert stored == MemoryFileSystem.store


# What it says.


def test_summary_says_what_was_found():
    Path("in.csv").write_text("a,b\n1,2\n2,3\n8,9\n")
    out, err = run("components", "in.csv", *ENDS, "-o", "out.csv")
    lines = dict(line.split("  ", 1) for line in out.splitlines())
    assert {name: lines[name].strip() for name in list(lines)[:4]} == {
        "vertices": "5",
        "edges": "3",
        "components": "2",
        "largest": "3 vertices, 1",
    }
    assert float(lines["seconds"]) > 0
    assert float(lines["peak memory"].removesuffix(" MiB").replace(",", "")) > 10
    assert err == ""


def test_quiet_says_nothing(edges):
    assert run("components", *write_csv(edges), *ENDS, "-o", "out.csv", "--quiet") == ("", "")
    assert run("generate", "path", "-n", 5, "-o", "path.csv", "-q") == ("", "")


def test_version():
    assert run("--version")[0] == f"graphflow, version {dask_graphflow.__version__}\n"


def test_as_a_program(edges):
    command = [sys.executable, "-m", "dask_graphflow", "components", *write_parquet(edges), *ENDS]
    done = subprocess.run(
        [*command, "-o", "out.parquet"], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert done.stdout.startswith("vertices ")
    check(pd.read_parquet("out.parquet"), expected(edges))


# Generated graphs.


def test_generate_rmat_is_the_same_for_every_number_of_pieces():
    out, _ = run("generate", "rmat", "--scale", 8, "--seed", 3, "-o", "one.parquet")
    run("generate", "rmat", "--scale", 8, "--seed", 3, "--npartitions", 3, "-o", "many/")
    assert len(list(Path("many").iterdir())) == 3
    pd.testing.assert_frame_equal(pd.read_parquet("one.parquet"), pd.read_parquet("many"))
    assert "edges        4,096" in out


def test_generate_grid_and_path():
    run("generate", "grid", "--rows", 2, "--columns", 2, "-o", "grid.csv")
    run("generate", "path", "-n", 3, "-o", "path.csv")
    assert Path("grid.csv").read_text() == "src,dst\n0,1\n0,2\n1,3\n2,3\n"
    assert Path("path.csv").read_text() == "src,dst\n0,1\n1,2\n"


def test_generate_refuses_what_is_there_and_what_cannot_be():
    run("generate", "path", "-n", 3, "-o", "path.csv")
    assert "--overwrite" in failing("generate", "path", "-n", 3, "-o", "path.csv")
    run("generate", "rmat", "--scale", 33, "-o", "out.csv", code=2)


def test_text_in_a_parquet_file_makes_the_ids_of_csv_files_text():
    pd.DataFrame({"id": ["x", "7"]}).to_parquet("ids.parquet")
    Path("in.csv").write_text("a,b\n10,9\n")
    run("components", "in.csv", *ENDS, "--vertices", "ids.parquet", "-o", "out.csv")
    rows = ["vertex,component", "10,10", "7,7", "9,10", "x,x"]
    assert Path("out.csv").read_text().split() == rows


def test_integers_in_a_parquet_file_do_not_go_with_text_in_a_csv_file():
    pd.DataFrame({"vertex": [7], "component": [7]}).to_parquet("seed.parquet")
    Path("in.csv").write_text("a,b\n007,9\n")
    arguments = ["in.csv", *ENDS, "--seed", "seed.parquet", "-o", "out.csv"]
    assert "with --text-ids or --integer-ids" in failing("components", *arguments)
    run("components", *arguments, "--integer-ids")  # as it says
    assert Path("out.csv").read_text().split() == ["vertex,component", "7,7", "9,7"]


def test_only_those_columns_of_an_id_are_text_that_have_text():
    Path("in.csv").write_text("a,k,b\n10,x,9\n10,1,11\n")
    sides = ["--source", "a", "--source", "k", "--target", "b", "--target", "k"]
    run("components", "in.csv", *sides, "-o", "out.parquet")
    labels = pd.read_parquet("out.parquet")
    assert labels.values.tolist() == [
        [9, "x", 9, "x"],
        [10, "1", 10, "1"],
        [10, "x", 9, "x"],
        [11, "1", 10, "1"],
    ]


def test_a_quote_that_does_not_begin_a_cell_is_a_character(tmp_path):
    lines = [f'{i},5" pipe,{i + 1}' for i in range(50)]
    Path("in.csv").write_text("\n".join(["a,note,b", *lines]))
    for known in (False, True):
        how = Format(quoted=known)
        table = Reader(40, tmp_path, how).read(find_files(["in.csv"]), ["a", "b"])
        assert table.frame.compute(scheduler="sync")["a"].tolist() == list(range(50))


def test_a_cell_may_be_larger_than_arrows_blocks():
    note = "1,2\n" * 600_000
    Path("in.csv").write_text(f'a,note,b\n1,"{note}",2\n2,,3\n')
    out, _ = run("components", "in.csv", *ENDS, "-o", "out.csv")
    assert "vertices     3\nedges        2\n" in out


def test_a_header_may_have_numbers_if_asked_or_in_other_columns():
    Path("in.csv").write_text("0,1,2024\n5,6,7\n")
    ends = ["--source", "0", "--target", "1"]
    out, _ = run("components", "in.csv", *ends, "--header", "-o", "out.csv")
    assert "edges        1\n" in out
    Path("in.csv").write_text("a,b,2024\n5,6,7\n")
    run("components", "in.csv", *ENDS, "-o", "out.csv", "--overwrite")


def test_vertices_without_a_header_are_all_read_and_a_seed_has_one():
    Path("ids.csv").write_text("7\n8\n")
    Path("in.csv").write_text("1,2\n")
    Path("seed.csv").write_text("vertex,component\n2,2\n3,2\n")
    ends, vertices = ["--source", "0", "--target", "1"], ["--vertices", "ids.csv"]
    Path("named.csv").write_text("0,1\n1,2\n")
    message = failing("components", "named.csv", *ends, *vertices, "-o", "out.csv")
    assert "--no-header" in message
    seed = ["--seed", "seed.csv"]
    run("components", "in.csv", *ends, *vertices, *seed, "--no-header", "-o", "out.csv")
    rows = ["vertex,component", "1,1", "2,1", "3,1", "7,7", "8,8"]
    assert Path("out.csv").read_text().split() == rows


def test_rows_of_a_block_read_twice_count_once(edges, tmp_path):
    files = find_files(write_csv(edges))
    table = Reader(5_000, tmp_path, Format()).read(files, ["a", "b"])
    for _ in range(2):
        table.frame.compute(scheduler="sync")
    assert table.rows() == len(edges)


def test_no_permission_to_write_is_named(edges, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(writing.tempfile, "mkdtemp", refuse)
    message = failing("components", *write_csv(edges), *ENDS, "-o", "out.csv")
    assert "out.csv: no permission to write there" in message


def test_a_remote_transfer_that_fails_leaves_nothing(edges, monkeypatch):
    def put(self, local, remote, recursive):
        self.pipe(remote, b"half of it")
        raise OSError("connection lost")

    run("components", *write_csv(edges), *ENDS, "-o", "memory://out.csv")
    before = dict(MemoryFileSystem.store)
    monkeypatch.setattr(MemoryFileSystem, "put", put)
    message = failing("components", "in.csv", *ENDS, "-o", "memory://out.csv", "--overwrite")
    assert "connection lost" in message
    assert before == MemoryFileSystem.store


def test_overwrite_leaves_other_files_on_a_remote_file_system(edges):
    run("components", *write_csv(edges), *ENDS, "-o", "memory://out/")
    MemoryFileSystem().pipe("/out/letter.txt", b"")
    before = dict(MemoryFileSystem.store)
    message = failing("components", "in.csv", *ENDS, "-o", "memory://out/", "--overwrite")
    assert "'letter.txt'" in message
    assert before == MemoryFileSystem.store


def test_a_folder_of_data_in_the_place_of_a_file_is_not_overwritten(edges):
    os.mkdir("out.parquet")
    edges.to_parquet("out.parquet/part.0.parquet")
    arguments = [*write_csv(edges), *ENDS, "-o", "out.parquet", "--overwrite"]
    assert "'part.0.parquet'" in failing("components", *arguments)
    assert len(pd.read_parquet("out.parquet")) == len(edges)
    os.rename("out.parquet/part.0.parquet", "moved.parquet")  # as the message says
    run("components", *arguments)
    check(pd.read_parquet("out.parquet"), expected(edges))


def test_a_link_to_the_input_that_is_put_at_the_output_meanwhile_is_not_overwritten(
    edges, monkeypatch
):
    def compute(*given):
        os.symlink("in.csv", "out.csv")
        return original(*given)

    write_csv(edges)
    original = engine.Engine.compute
    monkeypatch.setattr(engine.Engine, "compute", compute)
    message = failing("components", "in.csv", *ENDS, "-o", "out.csv", "--overwrite")
    assert "would replace" in message
    assert len(pd.read_csv("in.csv")) == len(edges)
