"""The command line, ``graphflow``: its commands, what it reads and writes, and how it fails."""

from __future__ import annotations

import io
import json
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
from distributed import LocalCluster
from fsspec.implementations.memory import MemoryFileSystem

import dask_graphflow as gf
from _graphflow_cli import NAMES, main
from dask_graphflow.api import rate_store
from dask_graphflow.cli import ALGORITHMS, engine, output

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
    made = np.random.default_rng(0).integers(0, 300, (200, 2))
    return pd.DataFrame(made, columns=["a", "b"]).assign(w=np.linspace(0, 1, 200))


def run(*arguments, code=0, stdin=None):
    """Run a command, check its exit code, and return what it wrote to stdout and stderr."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == code, (result.output, result.exception)
    return result.stdout, result.stderr


def failing(*arguments):
    """Run a command that fails with one line, and return it."""
    out, err = run(*arguments, code=1)
    assert out == ""
    assert err.startswith("graphflow: error: ")
    assert err.count("\n") == 1
    return err


def expected(edges):
    """Return the labels of components by NetworkX."""
    graph = nx.from_pandas_edgelist(edges, "a", "b")
    labels = {v: min(group) for group in nx.connected_components(graph) for v in group}
    return pd.DataFrame(sorted(labels.items()), columns=["vertex", "component"])


def check(labels, reference):
    pd.testing.assert_frame_equal(labels, reference, check_dtype=False)


def write_csv(edges, name="in.csv"):
    edges.to_csv(name, index=False)
    return [name]


# Every algorithm, and what options a command line can give.

OWN = {
    "bfs": ["--sources", "1"],
    "community-metrics": ["--communities", "communities.csv"],
    "earliest-arrival": [
        "--sources",
        "1",
        "--departure",
        "min",
        "--arrival",
        "min",
        "--start",
        "2",
    ],
    "ego-graph": ["--centers", "1"],
    "eigenvector-centrality": ["--undirected"],
    "induced-subgraph": ["--subset", "1,5", "--subset", "8"],
    "bipartite-projection": ["--side", "source"],
    "k-shortest-paths": ["--pairs", "pairs.csv", "--k", "2"],
    "maximum-flow": ["--sources", "1", "--sinks", "5"],
    "minimum-cut": ["--sources", "1", "--sinks", "5"],
    "simple-cycles": ["--max-length", "3", "--undirected"],
    "simple-paths": ["--pairs", "pairs.csv", "--max-length", "2"],
    "k-truss": ["--k", "2"],
    "neighbors": ["--sources", "1"],
    "personalized-pagerank": ["--sources", "8,1"],
    "random-walks": ["--starts", "1", "--length", "3"],
    "sample-neighbors": ["--seeds", "@seeds.csv", "--fanouts", "2,-1"],
    "shortest-paths": ["--sources", "1", "--targets", "5,2", "--weight", "km"],
    "sssp": ["--sources", "1", "--weight", "km"],
}
SAME = {  # the same options for the function
    "bfs": {"sources": [1]},
    "community-metrics": {"communities": pd.DataFrame({"v": [1, 2, 5, 8, 9], "c": list("abbcc")})},
    "earliest-arrival": {"sources": [1], "departure": "min", "arrival": "min", "start": 2},
    "ego-graph": {"centers": [1]},
    "eigenvector-centrality": {"directed": False},
    "induced-subgraph": {"subset": [1, 5, 8]},
    "bipartite-projection": {"side": "source"},
    "k-shortest-paths": {"pairs": pd.DataFrame({"x": [1, 8], "y": [5, 9]}), "k": 2},
    "maximum-flow": {"sources": [1], "sinks": [5]},
    "minimum-cut": {"sources": [1], "sinks": [5]},
    "simple-cycles": {"max_length": 3, "directed": False},
    "simple-paths": {"pairs": pd.DataFrame({"x": [1, 8], "y": [5, 9]}), "max_length": 2},
    "k-truss": {"k": 2},
    "neighbors": {"sources": [1]},
    "personalized-pagerank": {"sources": [8, 1]},
    "random-walks": {"starts": [1], "length": 3},
    "sample-neighbors": {"seeds": [1], "fanouts": [2, -1]},
    "sssp": {"sources": [1], "weight": "km"},
}
ROADS = pd.DataFrame({"a": [1, 1, 2, 8], "b": [2, 5, 5, 9], "km": [3.0, 1.0, 1.0, 2.0]})


@pytest.fixture
def roads():
    ROADS.to_csv("roads.csv", index=False)
    SAME["community-metrics"]["communities"].to_csv("communities.csv", index=False)
    pd.DataFrame({"id": [1]}).to_csv("seeds.csv", index=False)
    SAME["k-shortest-paths"]["pairs"].to_csv("pairs.csv", index=False)
    return ["roads.csv", *ENDS]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_gives_what_its_function_gives(name, roads):
    edges = ROADS
    if name == "earliest-arrival":
        edges = ROADS.assign(min=[3, 2, 4, 5])
        edges.to_csv("roads.csv")
    if name.startswith("bipartite"):
        edges = ROADS.assign(b=ROADS["b"] + 10)
        edges.to_csv("roads.csv")
    run(name, *roads, *OWN.get(name, ()), "-o", "out.parquet")
    if name == "shortest-paths":
        graph = gf.Graph(ROADS, source="a", target="b", weight="km")
        reference = graph.shortest_paths([1], [5, 2]).compute()
    else:
        function = getattr(gf, ALGORITHMS[name])
        reference = function(edges, source="a", target="b", **SAME.get(name, {})).compute()
    check(pd.read_parquet("out.parquet"), reference.reset_index(drop=True))


def test_the_paths_of_pairs_in_a_file(roads):
    run("shortest-paths", *roads, "--pairs", "pairs.csv", "--weight", "km", "-o", "out.parquet")
    pairs = SAME["k-shortest-paths"]["pairs"]
    graph = gf.Graph(ROADS, source="a", target="b", weight="km")
    check(pd.read_parquet("out.parquet"), graph.shortest_paths(pairs=pairs).compute())


GIVEN = [
    ("pagerank", "--alpha 0.5 --weight km", {"alpha": 0.5, "weight": "km"}),
    ("pagerank", "--tol none --max-iter 3", {"tol": None, "max_iter": 3}),
    ("pagerank", "--personalization start.csv", {"personalization": {1: 0.5, 2: 1.0}}),
    ("pagerank", "--undirected --precision float32", {"directed": False, "precision": "float32"}),
    ("core-number", "--directed", {"directed": True}),
    ("louvain", "--resolution 1,0.5", {"resolution": [1, 0.5]}),
    ("louvain", "--resolution 2", {"resolution": [2]}),
    ("betweenness-centrality", "--no-normalized --k 2", {"normalized": False, "k": 2}),
    ("edge-betweenness-centrality", "--k 2 --weight km", {"k": 2, "weight": "km"}),
    ("similarity", "--pairs pairs.csv", {"pairs": pd.DataFrame({"x": [1, 2], "y": [5, 1]})}),
    ("bridges", "--edge-columns km,a", {"columns": ["km", "a"]}),
    ("degrees", "--vertices seven.csv", {"vertices": [7]}),
    (
        "connected-components",
        "--weight km --thresholds 2,3",
        {"weight": "km", "thresholds": [2, 3]},
    ),
    ("connected-components", "--merge ring --chunk-size 1", {"merge": "ring", "chunk_size": 1}),
]


@pytest.mark.parametrize(("name", "text", "options"), GIVEN)
def test_options_are_those_of_the_function(name, text, options, roads):
    pd.DataFrame({"v": [1, 2], "w": [0.5, 1.0]}).to_csv("start.csv", index=False)
    pd.DataFrame({"x": [1, 2], "y": [5, 1]}).to_csv("pairs.csv", index=False)
    pd.DataFrame({"id": [7]}).to_csv("seven.csv", index=False)
    run(name, *roads, *text.split(), "-o", "out.parquet")
    reference = getattr(gf, ALGORITHMS[name])(ROADS, source="a", target="b", **options).compute()
    check(pd.read_parquet("out.parquet"), reference.reset_index(drop=True))


@pytest.mark.parametrize("names", ["zz", "km,km"])
def test_errors_about_columns_of_edges_name_the_option_that_was_given(names, roads):
    _, shown = run("bridges", *roads, "--edge-columns", names, code=1)
    assert "--edge-columns " in shown
    assert " --columns" not in shown


@pytest.mark.parametrize("command", NAMES)
def test_the_help_of_a_command_has_no_markup_and_no_word_of_python(command):
    out, _ = run(command, "--help")
    assert not re.search(r"``|:\w+:`|\bTrue\b|\bFalse\b", out)


def test_ids_are_of_the_type_of_the_column():
    pd.DataFrame({"a": ["x", "07"], "b": ["7", "x"]}).to_parquet("text.parquet")
    out, _ = run("bfs", "text.parquet", *ENDS, "--sources", "07", "-o", "-")
    assert out == "vertex,distance,predecessor\n07,0,\n7,2,x\nx,1,07\n"
    Path("in.csv").write_text("a,b\n007,7\n")
    assert "--text-ids" in run("components", "in.csv", *ENDS, "-o", "-", code=1)[1]
    numbers = ["--dtype", "a=int64,b=int64"]
    assert "vertex,component\n7,7\n" in run("components", "in.csv", *ENDS, *numbers, "-o", "-")[0]
    out, _ = run("components", "in.csv", *ENDS, "-o", "-", "--text-ids")
    assert out == "vertex,component\n007,007\n7,007\n"
    Path("in.csv").write_text("a,b\n7,7\n")
    _, err = run("bfs", "in.csv", *ENDS, "--sources", "x", code=2)
    assert "'x' is not an id of dtype int64; give a whole number" in err
    assert "--sources '8'" not in failing("bfs", "in.csv", *ENDS, "--sources", "8")


def test_types_of_text_can_be_set():
    Path("in.txt").write_text("1 2 3\n")
    told = json.loads(
        run("info", "in.txt", "--dtype", "src=str,dst=str,weight=float64", "--json")[0]
    )
    assert (told["column src"], told["column weight"]) == ("string", "float64")
    assert "not a list such as" in run("info", "in.txt", "--dtype", "str", code=2)[1]


def test_ids_of_several_columns():
    pd.DataFrame({"a": [1, 2], "k": ["x", "x"], "b": [2, 3]}).to_parquet("in.parquet")
    sides = ["--source", "a", "--source", "k", "--target", "b", "--target", "k"]
    out, _ = run("components", "in.parquet", *sides, "-o", "-")
    assert out.split() == [
        "vertex_0,vertex_1,component_0,component_1",
        "1,x,1,x",
        "2,x,1,x",
        "3,x,1,x",
    ]
    _, err = run("bfs", "in.parquet", *sides, "--sources", "1,x", code=2)
    assert "@PATH" in err
    Path("ids.csv").write_text("id,kind\n1,x\n")
    out, _ = run("bfs", "in.parquet", *sides, "--sources", "@ids.csv", "-o", "-")
    assert out.splitlines()[1] == "1,x,0,,"


@pytest.mark.parametrize(
    "names", [["source", "target"], ["src", "dst"], ["from", "to"], ["left", "right"]]
)
def test_usual_names_of_columns_are_the_default_ends(names, edges):
    write_csv(edges.rename(columns=dict(zip("ab", names, strict=True))))
    run("connected-components", "in.csv", "-o", "out.csv")
    check(pd.read_csv("out.csv"), expected(edges))
    for command in (["bfs", "--sources", "1"], ["pagerank"], ["estimate", "pagerank"]):
        message = failing(*command, *write_csv(edges))
        assert "--source and --target are not given" in message
        assert "the columns are 'a', 'b'" in message
    for command in (["pagerank"], ["info"], ["estimate", "pagerank"]):
        message = failing(*command, *write_csv(edges), "--source", "a")
        assert "--source is given without --target" in message


def test_seed_continues_from_an_earlier_result(edges):
    run("components", *write_csv(edges[:90]), *ENDS, "-o", "old.parquet")
    run("components", *write_csv(edges[90:]), *ENDS, "-o", "out.parquet", "--seed", "old.parquet")
    check(pd.read_parquet("out.parquet"), expected(edges))


def test_dropna_leaves_edges_out_and_large_integers_are_exact():
    large = 2**62 + 1
    Path("in.csv").write_text(f"a,b\n{large},{large + 2}\n,5\n")
    assert "1 null" in (message := failing("components", "in.csv", *ENDS))
    assert "Pass --dropna" in message
    out, _ = run("components", "in.csv", *ENDS, "-o", "-", "--dropna")
    assert out == f"vertex,component\n{large},{large}\n{large + 2},{large}\n"


def test_workers_give_the_same_labels_and_use_no_fixed_port(edges, monkeypatch):
    ports = []

    def start(**options):
        cluster = LocalCluster(**options)
        ports.append(cluster.scheduler.http_server.port)
        return cluster

    monkeypatch.setattr("distributed.LocalCluster", start)
    limits = ["--workers", 2, "--threads", 1, "--memory-limit", "1GB"]
    out, err = run("components", *write_csv(edges), *ENDS, "-o", "out.parquet", *limits)
    check(pd.read_parquet("out.parquet"), expected(edges))
    assert re.search(r"rows +\d", out)
    assert err == ""  # Dask warns if another process has the port
    assert 8787 not in ports


def test_a_memory_limit_that_is_too_low_for_a_worker_is_refused_at_once(edges, monkeypatch):
    started = []
    monkeypatch.setattr("distributed.LocalCluster", started.append)
    asked = ["components", *write_csv(edges), *ENDS, "-o", "out.parquet", "--workers", 2]
    err = failing(*asked, "--memory-limit", "100MB")
    assert not started
    advised = re.search(r"--memory-limit '(\w+)' or more", err)[1]
    engine.Engine(2, 1, parse_bytes(advised), show_progress=False)


# What is read, and what is written.


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("out.parquet", pd.read_parquet),
        ("out.csv", pd.read_csv),
        ("out.csv.gz", pd.read_csv),
        ("out.tsv", lambda name: pd.read_csv(name, sep="\t")),
        ("out.jsonl", lambda name: pd.read_json(name, lines=True)),
        ("out.jsonl.zst", lambda name: gf.read_edges(name).compute()),
        ("out/", pd.read_parquet),
        ("memory://out/labels.parquet", pd.read_parquet),
        ("memory://out/", pd.read_parquet),
    ],
)
def test_every_output_has_the_labels(edges, name, read):
    run("components", *write_csv(edges), *ENDS, "-o", name)
    check(read(name), expected(edges))
    if name[-1] != "/":
        assert "--overwrite" in failing("components", "in.csv", *ENDS, "-o", name)
        run("components", "in.csv", *ENDS, "-o", name, "--overwrite")
        check(read(name), expected(edges))


def test_standard_input_and_output(edges):
    text = edges.to_csv(index=False)
    out, _ = run("components", "-", "--format", "csv", *ENDS, "-o", "-", stdin=text)
    check(pd.read_csv(io.StringIO(out)), expected(edges))
    assert "--format" in run("components", "-", *ENDS, stdin=text, code=2)[1]


def test_without_a_file_the_first_rows_are_a_table():
    Path("in.txt").write_text("1 2\n")
    assert run("core-number", "in.txt") == ("vertex  core\n1       1\n2       1\n", "")
    Path("in.txt").write_text("".join(f"{i} {i + 1}\n" for i in range(1500)))
    out, _ = run("core-number", "in.txt")
    assert out.splitlines()[-1] == "... 1,481 more rows; -o FILE writes all"


def test_json_is_rows_or_a_summary():
    Path("in.txt").write_text("1 2\n")
    out, _ = run("core-number", "in.txt", "--json")
    assert [json.loads(line) for line in out.splitlines()] == [
        {"vertex": 1, "core": 1},
        {"vertex": 2, "core": 1},
    ]
    told = json.loads(run("core-number", "in.txt", "--json", "-o", "out.csv")[0])
    assert told["rows"] == 2
    assert told["core"] == {"min": 1, "max": 1, "distinct": 1}
    assert told["seconds"] > 0


def test_summary_says_what_was_found_and_quiet_says_nothing(monkeypatch):
    Path("in.csv").write_text("a,b\n1,2\n2,3\n8,9\n")
    out, err = run("components", "in.csv", *ENDS, "-o", "out.csv")
    lines = dict(line.split("  ", 1) for line in out.splitlines())
    assert lines["rows"].strip() == "5"
    assert lines["component"].strip() == "2 distinct, 1 to 8"
    assert int(lines["peak memory in MiB"].replace(",", "")) > 10
    monkeypatch.setattr(output, "COUNTED_ROWS", 4)
    out, _ = run("components", "in.csv", *ENDS, "-o", "out.csv", "--overwrite")
    assert re.search(r"component +1 to 8\n", out)
    assert err == ""
    assert run("components", "in.csv", *ENDS, "-o", "out.csv", "--overwrite", "-q") == ("", "")


@pytest.mark.parametrize("text", ["x, y", "", 'a "quote"', "two\nlines", "NA", "plain"])
def test_ids_come_back_as_they_went_in(text):
    frame = pd.DataFrame({"a": [text], "b": ["z"]})
    frame.to_parquet("in.parquet")
    run("convert", "in.parquet", "-o", "out.csv")
    found = gf.read_edges("out.csv", blocksize=None).compute()
    assert found.values.tolist() == frame.values.tolist()


# The commands that are not algorithms.


def test_convert_writes_the_edges_in_another_format(edges):
    write_csv(edges)
    run("convert", "in.csv", "-o", "out.parquet")
    check(pd.read_parquet("out.parquet"), edges)
    run("convert", "in.csv", "-o", "two.jsonl.gz", "--columns", "b,a")
    check(pd.read_json("two.jsonl.gz", lines=True), edges[["b", "a"]])


def test_info_counts_rows_vertices_and_degrees():
    Path("in.txt").write_text("1 2\n1 3\n1 2\n")
    told = json.loads(run("info", "in.txt", "--json")[0])
    assert told == {
        "column src": "int64", "column dst": "int64", "partitions": 1, "rows": 3, "vertices": 3,
        "edges": 3, "mean degree": 1.0, "largest in_degree": 2, "largest out_degree": 3,
        "smallest in_degree": 0, "smallest out_degree": 0,
    }  # fmt: skip
    Path("in.csv").write_text("x,y\n1,2\n")
    assert json.loads(run("info", "in.csv", "--json")[0])["rows"] == 1
    assert re.search(r"vertices +2\n", run("info", "in.csv", "--source", "x", "--target", "y")[0])


def test_an_estimate_reads_the_metadata_or_requires_the_sizes(edges, monkeypatch, tmp_path):
    monkeypatch.setattr(rate_store, "folder", lambda: tmp_path / "rates")
    edges.to_parquet("in.parquet")
    told = json.loads(run("estimate", "core-number", "in.parquet", *ENDS, "--json")[0])
    assert told["algorithm"] == "core_number"
    assert told["edges"] == 200
    assert "--num-edges" in failing("estimate", "bfs", *write_csv(edges), *ENDS)
    sizes = ["--num-edges", "10", "--num-vertices", "10"]
    assert "which fits" in run("estimate", "bfs", "in.csv", *ENDS, *sizes)[0]


def test_generate_rmat_is_the_same_for_every_number_of_partitions():
    run("generate", "rmat", "--scale", 8, "--seed", 3, "-o", "one.parquet")
    out, _ = run("generate", "rmat", "--scale", 8, "--seed", 3, "--npartitions", 3, "-o", "many/")
    assert len(list(Path("many").iterdir())) == 3
    check(pd.read_parquet("one.parquet"), pd.read_parquet("many"))
    assert re.search("rows +4,096", out)


def test_generate_grid_and_path():
    out, _ = run("generate", "grid", "--rows", 2, "--columns", 2, "-o", "-")
    assert out == "src,dst\n0,1\n0,2\n1,3\n2,3\n"
    assert run("generate", "path", "-n", 3, "-o", "-")[0] == "src,dst\n0,1\n1,2\n"
    run("generate", "rmat", "--scale", 33, "-o", "out.csv", code=2)


# What goes wrong.


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["edgs.csv", *ENDS], ["edgs.csv", "no such file", "'edges.csv'"]),
        (["edges.csv", "--source", "aa", "--target", "b"], ["--source 'aa'", "'a', 'b', 'w'"]),
        (["edges.csv", *ENDS, "--threshold", "1"], ["--weight", "'w'"]),
        (["edges.csv", *ENDS, "--format", "parquet"], ["cannot be read as Parquet", "--format"]),
        (["edges.csv", *ENDS, "--columns", "a,bb"], ["--columns", "'bb'", "did you mean 'b'"]),
        (["bad.csv", *ENDS], ["bad.csv: line 2: Expected 2 columns, got 1: 1"]),
        (["edges.csv", *ENDS, "--seed", "edges.csv"], ["seed", "'vertex'"]),
        (["text.csv", *ENDS, "--vertices", "edges.csv"], ["dtype", "--text-ids"]),
    ],
)
def test_bad_input_is_named_in_one_line(edges, arguments, words):
    write_csv(edges, "edges.csv")
    Path("bad.csv").write_text("a,b\n1\n")
    Path("text.csv").write_text("a,b\nx,y\n")
    message = failing("components", *arguments, "-o", "out.parquet")
    for word in words:
        assert word in message
    assert not Path("out.parquet").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("out", "does not say what to write"),
        ("out.txt", "does not say what to write"),
        ("out.parquet.gz", "does not say what to write"),
        ("nowhere/out.csv", "No such file"),
        ("in.csv/out.csv", "Not a directory"),
        ("foo://out.csv", "Protocol not known"),
    ],
)
def test_bad_output_is_named_before_anything_is_read(edges, name, words):
    write_csv(edges)
    assert words in failing("components", "no-such-input.csv", *ENDS, "-o", name)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Usage: "),
        (["components"], "Missing argument 'PATH...'"),
        (["pagrank", "x.csv"], "did you mean 'pagerank'?"),
        (["pagerank", "x.csv", "--alpha", "x"], "'x' is not a number such as 0.5"),
        (["pagerank", "x.csv", "--multi", "x"], "--multi"),
        (["components", "x.csv", "--thresholds", "a"], "not a list of numbers"),
        (["bfs", "x.csv"], "Missing option '--sources'"),
        (["pagerank", "x.csv", "--blocksize", "x"], "'x' is not a size"),
    ],
)
def test_wrong_usage_has_exit_code_2(arguments, words):
    _, err = run(*arguments, code=2)
    assert words in err


def test_debug_shows_the_traceback():
    _, err = run("components", "nowhere.csv", *ENDS, "--debug", code=1)
    assert err.startswith("Traceback")
    assert "\ngraphflow: error: nowhere.csv" in err


# What happens to an earlier output.


def break_while_computing(monkeypatch):
    Path("in.csv").write_text("a,b\n1,2\n3,\n")
    return 1


def break_while_moving(monkeypatch):
    def fail(old, new):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "replace", fail)
    return 1


def break_while_sending(monkeypatch):
    def put(self, local, remote, recursive):
        self.pipe(remote, b"half of it")
        raise OSError("connection lost")

    monkeypatch.setattr(MemoryFileSystem, "put", put)
    return 1


def interrupt_while_joining(monkeypatch):
    def join(rows, target):
        Path(target).touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(output, "_join_parquet", join)
    return 130


@pytest.mark.parametrize(
    ("name", "trouble"),
    [
        ("out.parquet", break_while_computing),
        ("out.parquet", break_while_moving),
        ("out.parquet", interrupt_while_joining),
        ("memory://out.parquet", break_while_sending),
        ("memory://out.parquet", interrupt_while_joining),
    ],
)
def test_an_earlier_output_outlives_a_failure(edges, monkeypatch, name, trouble):
    run("components", *write_csv(edges), *ENDS, "-o", name)
    before = pd.read_parquet(name)
    left = set(os.listdir())
    write_csv(edges[:1])
    code = trouble(monkeypatch)
    run("components", "in.csv", *ENDS, "-o", name, "--overwrite", code=code)
    check(pd.read_parquet(name), before)
    assert set(os.listdir()) == left
    assert len(MemoryFileSystem.store) == name.startswith("memory")


def folder_of_others(edges):
    os.mkdir("out")
    edges.to_parquet("out/other.parquet")
    return "out/", "folders are not replaced"


def folder_for_a_file(edges):
    os.mkdir("out.csv")
    Path("out.csv/other").touch()
    return "out.csv", "folders are not replaced"


def file_for_a_folder(edges):
    Path("out").touch()
    return "out/", "is a file"


@pytest.mark.parametrize("prepare", [folder_of_others, folder_for_a_file, file_for_a_folder])
def test_folders_are_never_replaced(edges, prepare):
    write_csv(edges)
    name, words = prepare(edges)
    assert words in failing("components", "in.csv", *ENDS, "-o", name, "--overwrite")


def hard_link():
    os.link("in.csv", "out.csv")
    return "in.csv", "out.csv"


def symbolic_link():
    os.symlink("in.csv", "out.csv")
    return "in.csv", "out.csv"


def cached_remote_file():
    MemoryFileSystem().pipe("/data/in.csv", Path("in.csv").read_bytes())
    return "simplecache::memory://data/in.csv", "memory://data/in.csv"


INPUTS = {
    "name": lambda: ("in.csv", "in.csv"),
    "glob": lambda: ("i*.csv", "in.csv"),
    "folder": lambda: (".", "in.csv"),
    "hard link": hard_link,
    "symbolic link": symbolic_link,
    "URL": lambda: ("in.csv", f"file://{os.getcwd()}/in.csv"),
    "cached remote file": cached_remote_file,
}


@pytest.mark.parametrize(
    ("option", "same"), [*(("PATH", same) for same in INPUTS), ("--vertices", "name")]
)
def test_no_file_that_is_read_is_overwritten(edges, same, option):
    write_csv(edges)
    name, out = INPUTS[same]()
    arguments = [name, *ENDS]
    if option != "PATH":
        write_csv(edges, "other.csv")
        arguments = ["other.csv", *ENDS, option, name]
    contents, stored = Path("in.csv").read_bytes(), dict(MemoryFileSystem.store)
    message = failing("components", *arguments, "-o", out, "--overwrite")
    assert f"{out}: would replace " in message
    assert contents == Path("in.csv").read_bytes()
    assert stored == MemoryFileSystem.store


def test_a_symbolic_link_stays_and_its_target_is_replaced(edges):
    write_csv(edges)
    Path("real.csv").touch()
    os.symlink("real.csv", "out.csv")
    run("components", "in.csv", *ENDS, "-o", "out.csv", "--overwrite")
    assert os.path.islink("out.csv")
    check(pd.read_csv("real.csv"), expected(edges))


# The program.


def test_long_work_shows_progress_on_a_terminal():
    termios = pytest.importorskip("termios")  # not on Windows
    run("generate", "path", "-n", 50, "-o", "in.csv", "-q")
    work = ["bfs", "in.csv", "--sources", "0", "-o", "out.csv"]
    leader, follower = os.openpty()
    os.set_blocking(leader, False)
    termios.tcsetwinsize(follower, (40, 100))
    command = [sys.executable, "-m", "dask_graphflow", *work]
    done = subprocess.run(command, stderr=follower, stdout=subprocess.PIPE, check=True)
    shown = os.read(leader, 1 << 16).decode()
    os.close(leader)
    os.close(follower)
    assert re.search(r"bfs: +\d+ supersteps", shown)
    assert " tasks" in shown
    assert done.stdout.startswith(b"rows ")


def test_version():
    assert run("--version")[0] == f"graphflow, version {gf.__version__}\n"


def test_the_package_runs_as_a_program(edges):
    command = [sys.executable, "-m", "dask_graphflow", "components", *write_csv(edges), *ENDS]
    done = subprocess.run(
        [*command, "-o", "out.parquet"], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert done.stdout.startswith("rows ")
    check(pd.read_parquet("out.parquet"), expected(edges))
