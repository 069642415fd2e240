"""The parts of the benchmarks that need no GPU: the harness, checks, options, and each command."""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import sys

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import dask_graphflow as gf
from benchmarks import __main__ as command
from benchmarks import (
    compare,
    components,
    control_group,
    cugraph,
    first_calls,
    from_a_table,
    gpu,
    launches,
    machine,
    memory,
    on_disk,
    out_of_core,
    report,
    side,
    soak,
    under_limit,
    under_limit_peer,
    under_limit_peers,
)
from benchmarks.algorithms import agreement, inputs, ours, peers, rows
from benchmarks.algorithms import measure as measure_row
from benchmarks.errors import ContenderFailedError, DisagreementError, UnusableInputError
from benchmarks.harness import Outcome, ratios, take_turns
from benchmarks.soak import calls

# The harness


def contender(name, seconds, fails_in=None):
    runs = []

    def run():
        runs.append(name)
        if len(runs) == fails_in:
            with gpu.peer_errors():
                raise MemoryError("std::bad_alloc:\n out_of_memory")
        return Outcome(seconds * len(runs), name)

    return {name: run}


def test_contenders_take_turns_without_those_that_fail():
    failures, checked = {}, []
    work = contender("a", 1) | contender("b", 1, fails_in=2) | contender("c", 2)
    seconds = take_turns(work, 3, lambda name, answer: checked.append(answer), failures)
    assert seconds == {"a": [2, 3, 4], "c": [4, 6, 8]}
    assert failures == {"b": "out of memory: std::bad_alloc: out_of_memory"}
    assert checked == ["a", "b", "c", "a", "c", "a", "c", "a", "c"]
    table = report.comparison(seconds, "a", {"answer": {"c": "same"}}, failures).splitlines()
    assert " ".join(table[3].split()) == "c 4000.00 6000.00 8000.00 2.00 (2.00 to 2.00) same"
    assert table[-1] == "b failed: out of memory: std::bad_alloc: out_of_memory"
    with pytest.raises(ContenderFailedError, match="bad_alloc"):
        take_turns(contender("b", 1, fails_in=1), 3, lambda name, answer: None)


def test_a_slow_contender_runs_only_once():
    work = contender("a", 1) | contender("b", 2)
    seconds = take_turns(work, 3, lambda name, answer: None, patience={"a": 2, "b": 1.5})
    assert seconds == {"a": [2, 3, 4], "b": [2]}
    assert ratios(seconds["b"], seconds["a"]).median == 1


def test_answers_are_freed_before_the_next_contender_runs():
    class Large:
        alive = 0

        def __init__(self):
            Large.alive += 1

        def __del__(self):
            Large.alive -= 1

    def run():
        gc.collect()
        assert Large.alive == 0
        return Outcome(1, Large())

    take_turns({"a": run, "b": run}, 2, lambda name, answer: None)


TOPOLOGY = "\tGPU0\tGPU1\nGPU0\t X \tNV18\t0-31\nGPU1\tNV18\t X \t0-31\n"


def test_results_are_stored_with_the_machine_and_its_gpus(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GRAPHFLOW_COMMIT", "abc123")
    report.show("text", {"x": 1}, "some", argparse.Namespace(json=None, out=tmp_path / "new"))
    (path,) = (tmp_path / "new").glob("some-*.json")
    stored = json.loads(path.read_text())
    assert (stored["x"], stored["machine"]["commit"]) == (1, "abc123")
    assert "commit abc123" in capsys.readouterr().out
    gpus = machine.parse_gpus("Some GPU, 1024, 5.1\nSome GPU, 1024, 5.1\n", TOPOLOGY)
    assert report.gpu_line(gpus) == "2 x Some GPU, 1,024 MiB, linked by NV18, driver 5.1"


# Answers


def test_answers_of_several_libraries_are_compared():
    check = agreement.Agreement("partition")
    for name, answer in (("ours", [0, 0, 2]), ("peer", [7, 7, 1]), ("other", [7, 8, 1])):
        check(name, answer)
    check("without", None)
    assert check.answers == {"ours": "same", "peer": "same", "other": "differs"}
    assert check.differs == {"other": "differs from the first answer at 1 vertices"}
    scaled = agreement.Agreement("near", np.array([True, True, False]))
    scaled("ours", [1.0, 3.0, 9.0])
    scaled("peer", [2.0, 6.0, 0.0])
    assert not scaled.differs
    distances = agreement.Agreement("equal")
    for name, last in (("ours", np.inf), ("peer", np.inf), ("other", 7.0)):
        distances(name, [0.0, last])
    assert [*distances.differs] == ["other"]


def test_unreachable_vertices_are_infinitely_far_for_every_library():
    for missing in ([-1], [2**31 - 1], [np.finfo("float32").max]):
        values = np.array([2, *missing])
        dense = agreement.by_vertex(np.array([3, 0]), values, 5, np.inf)
        assert dense.tolist() == [np.inf, np.inf, np.inf, 2, np.inf]


@pytest.mark.parametrize("directed", [True, False])
def test_only_the_shortest_distances_pass_the_check(directed):
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    rng = np.random.default_rng(2)
    source, target = rng.integers(0, 64, (2, 90))
    weight = rng.integers(1, 9, 90).astype("float64")
    least = pd.Series(weight).groupby([source, target]).min()
    ends = [least.index.get_level_values(level) for level in (0, 1)]
    matrix = coo_array((least.to_numpy(), ends), shape=(64, 64)).tocsr()
    distance = dijkstra(matrix, directed=directed, indices=source[0])
    given = (source[0], (source, target), weight)
    agreement.check_shortest(distance, *given, directed=directed)
    far = int(np.where(np.isfinite(distance), distance, 0).argmax())
    for wrong in (distance[far] + 1, distance[far] - 1, np.inf):
        other = distance.copy()
        other[far] = wrong
        with pytest.raises(DisagreementError):
            agreement.check_shortest(other, *given, directed=directed)


# Algorithms and components beside peers

ARGUMENTS = ["--repeat", "1", "--workers", "2", "--peers", "scipy", "gap"]


@pytest.mark.parametrize("graph", ["scale6", "path"])
def test_algorithms_agree_with_a_peer_in_its_own_process(graph, tmp_path, capsys):
    names = ["build", "bfs", "sssp", "pagerank", rows.SCC, "minimum_spanning_forest"]
    path = tmp_path / "results.json"
    if graph == "path":
        edges = pd.DataFrame({"from": [*"abcd"], "to": [*"bcde"]})
        edges.to_parquet(tmp_path / "path.parquet")
        asked = ["--graph", str(tmp_path / "path.parquet")]
    else:
        asked = ["--scale", "6"]
    arguments = ["algorithms", *asked, *ARGUMENTS, "--json", str(path), "--only", *names]
    assert command.main(arguments) == 0
    measured = json.loads(path.read_text())["graphs"][graph]
    assert [*measured] == names
    for name, row in measured.items():
        assert not row["failures"] | row["differs"]
        assert set(row["seconds"]) == {ours.LOOP, "scipy"} | (
            {ours.FRAME} if name != "build" else set()
        )
        answers = {"build": 0, "minimum_spanning_forest": 1}.get(name, 3)
        assert len(set(row["answers"].values())) == min(answers, 1)
    printed = capsys.readouterr()
    assert "left out gap: give the folder" in printed.err
    (line,) = (line for line in printed.out.splitlines() if line.endswith("fastest peer / this"))
    table = printed.out.partition(line)[2].splitlines()[2:]
    assert [row.split("  ")[0] for row in table[: len(names)]] == names
    assert all(row.endswith(" scipy") for row in table[: len(names)])


def test_an_interrupted_run_stores_its_rows_so_far(tmp_path, monkeypatch):
    calls = []

    def measured(row, *arguments, **options):
        calls.append(row)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return measure_row(row, *arguments, **options)

    monkeypatch.setattr("benchmarks.algorithms.measure", measured)
    path = tmp_path / "results.json"
    asked = ["--scale", "6", "--repeat", "1", "--only", "degrees", "bfs", "--json", str(path)]
    assert command.main(["algorithms", *asked]) == 1
    assert [*json.loads(path.read_text())["graphs"]["scale6"]] == ["degrees"]


def test_failing_peers_do_not_end_the_others(tmp_path):
    given = inputs.Inputs.of(5, 0)
    options = argparse.Namespace(python=sys.executable, workers=1, timeout=60.0)
    peer = peers.Peer("scipy", tmp_path, given, options)  # no graph was written
    try:
        assert peer.missing() is None
        for _ in range(2):
            with pytest.raises(ContenderFailedError, match="FileNotFoundError"):
                peer.run(rows.ROWS["hits"])
    finally:
        peer.close()


@pytest.mark.parametrize("name", ["bfs", "strongly_connected_components"])
def test_rows_go_on_without_cugraph(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "cugraph", None)
    given = inputs.Inputs.of(6, 0)
    peer = object.__new__(cugraph.Cugraph)
    peer.inputs = given
    row = measure_row(rows.ROWS[name], [ours.Ours(given, 1), peer], given, 1)
    assert set(row["seconds"]) == {ours.LOOP, ours.FRAME}
    assert row["answers"][ours.LOOP] == row["answers"][ours.FRAME] != "differs"
    assert "cugraph" in row["failures"]["cugraph"]


def test_every_call_of_cugraph_has_a_row():
    algorithms = {row.algorithm for row in rows.ROWS.values()}
    assert set(cugraph.CALLS) <= algorithms


@pytest.mark.parametrize("ids", ["numbers", pytest.param("strings", marks=pytest.mark.slow)])
def test_components_agree_with_a_peer(ids, tmp_path):
    edges = pd.DataFrame({"from": [1, 2, 5, 8, 9], "to": [2, 3, 8, 8, 9]})
    edges = edges.astype(str) if ids == "strings" else edges
    edges.to_parquet(tmp_path / "edges.parquet")
    graph = ["--graph", str(tmp_path / "edges.parquet"), "--source", "from", "--target", "to"]
    path = tmp_path / "results.json"
    assert command.main(["components", *graph, *ARGUMENTS, "--json", str(path)]) == 0
    results = json.loads(path.read_text())
    assert set(results["seconds"]) == {components.OURS, components.PROCESSES, "scipy"}
    assert results["differs"] == {}


# Members, memory, first calls


@pytest.mark.slow
def test_members_return_the_same_bits(tmp_path, capsys):
    path = tmp_path / "results.json"
    arguments = ["--scale", "4", "--repeat", "1", "--only", "path", "bfs", "--json", str(path)]
    assert command.main(["members", *arguments]) == 0
    (row,) = json.loads(path.read_text())["rows"]
    assert [*row["seconds"]] == [
        "one member", "2 members, threads", "2 members, processes", "as built, processes",
    ]  # fmt: skip
    assert all(len(row["supersteps"][name]) == 1 for name in row["seconds"])
    assert "path, bfs" in capsys.readouterr().out


def test_memory_checks_the_components(tmp_path):
    options = argparse.Namespace(scale=4)
    memory.write(tmp_path, 0, 2000, options)
    edges = dd.read_parquet(tmp_path).compute()
    assert ((edges["src"] - edges["dst"]) % memory.GROUPS == 0).all()
    labels = pd.DataFrame({"vertex": range(16), "component": [*range(8), *range(8)]})
    memory.check(labels, 2000, 4)
    with pytest.raises(DisagreementError, match="cannot be in component"):
        memory.check(labels.assign(component=0), 2000, 4)


@pytest.mark.usefixtures("host_memory")
@pytest.mark.parametrize(
    ("ids", "question", "column"),
    [("from-0", "connected_components", "component"), ("far-apart", "pagerank", "pagerank")],
)
def test_the_answer_from_a_table_is_that_of_the_function(
    ids, question, column, tmp_path, monkeypatch
):
    connect = pytest.importorskip("duckdb").connect
    monkeypatch.setattr(from_a_table, "SLOW", 0.0)  # one run of each contender is enough
    table = tmp_path / "edges.duckdb"
    options = argparse.Namespace(
        edges=3000, scale=10, ids=ids, peers=["scipy", "networkx"], repeat=1, workers=1
    )
    vertices = from_a_table.write(table, options)
    with connect(str(table)) as connection:
        edges = connection.execute("FROM edges").df()
    assert len(edges) == 3000
    found = from_a_table.measured(table, question, options)
    assert not found["failures"]
    assert [len(times) for times in found["seconds"].values()] == [1, 1, 1]
    assert min(found["peak_bytes"].values()) > 50 << 20
    more = {"tol": 1e-6 / vertices} if question == "pagerank" else {}
    wanted = getattr(gf, question)(edges, **more).compute()
    assert (wanted.vertex.max() < vertices) == (ids == "from-0")
    assert np.load(tmp_path / "graphflow.npy").tolist() == wanted[column].tolist()


@pytest.mark.slow
@pytest.mark.usefixtures("host_memory")
def test_graphs_on_disk_and_in_memory_take_turns(tmp_path):
    gf.generate.rmat(8, npartitions=2).to_parquet(tmp_path)
    seconds, peaks = on_disk.measured(str(tmp_path), argparse.Namespace(repeat=1, workers=1))
    assert {*seconds} == {*on_disk.CALLS}
    assert all(len(times) == 1 for both in seconds.values() for times in both.values())
    assert min(peaks.values()) > 50 << 20


@pytest.mark.parametrize("library", ["scipy", "networkit"])
def test_the_answer_of_a_peer_under_a_limit_is_that_of_the_function(library, tmp_path):
    pytest.importorskip(library)
    edges = gf.generate.rmat(8, edge_factor=2).compute()
    edges = edges[edges.src != edges.dst]  # SciPy counts a loop twice
    edges.to_parquet(tmp_path / "edges.parquet")
    answer = tmp_path / "answer.parquet"
    options = {"files": [str(tmp_path / "edges.parquet")], "result": str(answer), "threads": 1}
    g = gf.Graph(edges, directed=False).persist()

    def both(call, mine):
        under_limit_peer.main(library, call, json.dumps(options))
        theirs = pd.read_parquet(answer).set_index("vertex")["value"]
        found = mine.compute().set_index("vertex").iloc[:, 0]
        return found, theirs[found.index]

    mine, theirs = both("connected_components", g.connected_components())
    assert len(mine.unique()) == len(theirs.unique()) == len({*zip(mine, theirs, strict=True)})
    mine, theirs = both("bfs", g.bfs([0]))
    assert (np.isfinite(mine) == theirs.notna()).all()
    mine, theirs = both("pagerank", g.pagerank(max_iter=10, tol=None))
    np.testing.assert_allclose(theirs / theirs.sum(), mine / mine.sum(), 1e-4)


under_limit_options = {
    "folder": None, "limit": "1GB", "only": ["bfs"], "peers": ["graphframes", "scipy"],
    "python": sys.executable, "graphframes": None, "timeout": 60, "workers": 1, "json": None, "out": None,
}  # fmt: skip
only_root = pytest.mark.skipif(
    not os.access(control_group.GROUPS, os.W_OK),
    reason="only root can limit the memory of a process",
)


@pytest.mark.slow
@only_root
def test_functions_and_peers_are_measured_under_a_limit_of_memory(tmp_path, capsys):
    gf.generate.rmat(8, npartitions=2).to_parquet(tmp_path)
    assert under_limit.run(argparse.Namespace(edges=str(tmp_path), **under_limit_options)) == 0
    shown, errors = capsys.readouterr()
    assert "in 0.93 GiB" in shown
    assert [line.split()[0] for line in shown.splitlines()[3:5]] == ["build", "bfs"]
    assert re.search(r"^scipy bfs +4,096 +[\d.]+ +\d+ MiB$", shown, re.MULTILINE)
    assert "left out graphframes: give its jar" in errors


@only_root
@pytest.mark.parametrize(
    ("more", "reason"), [({"limit": "20MB"}, "out of memory"), ({"timeout": 0}, "more than 0 s")]
)
def test_a_peer_that_does_not_end_tries_half_of_the_files(more, reason, tmp_path):
    gf.generate.rmat(8, npartitions=2).to_parquet(tmp_path)
    options = argparse.Namespace(edges=str(tmp_path), **{**under_limit_options, **more})
    tries = under_limit_peers.measured(options)["scipy"]["bfs"]
    assert [(one["edges"], one["failed"]) for one in tries] == [(4096, reason), (2048, reason)]


@pytest.mark.slow
def test_first_calls_compile_once():
    options = argparse.Namespace(scale=4, workers=1)
    times = first_calls.measured("connected_components", options)
    assert times["first"]["compiling"] > 0
    assert times["first"]["kernels"]
    assert not times["cached"]["kernels"]
    table = first_calls.table({"connected_components": [times]}).splitlines()
    assert table[2].split()[4] == str(len(times["first"]["kernels"]))


def test_out_of_core_compares_with_the_labels_of_the_host():
    edges = pd.DataFrame({"src": [5, 1, 7], "dst": [1, 2, 7]}, dtype="int32")
    assert out_of_core.expected(edges).tolist() == [1, 1, 1, 7]


# Launches


def event(kind, start, length, name="kernel"):
    return {"cat": kind, "ts": start, "dur": length, "name": name}


def test_a_device_is_busy_while_anything_runs_on_it():
    events = [
        event("kernel", 1_000_000, 500_000, "a"),
        event("gpu_memcpy", 1_400_000, 200_000),  # overlaps the kernel
        event("kernel", 2_000_000, 100_000, "b"),
        event("kernel", 3_000_000, 100_000, "b"),
        event("cuda_runtime", 0, 9_000_000),
        {"ph": "M", "name": "process_name"},
    ]
    found = launches.activity(reversed(events))
    assert found["busy"] == pytest.approx(0.8)
    assert (found["launches"], found["copies"]) == (3, 1)
    assert [name for name, _ in launches.most_launched(found, 1)] == ["b"]
    row = {"seconds": [3.0, 1.0, 1.6], "supersteps": 2, **found}
    assert launches.cells(row) == ["1600.00", "800.00", "50%", "2", "3", "1.5", "1"]


@pytest.mark.parametrize("graph", launches.GRAPHS)
def test_launches_are_counted_in_one_run_of_the_algorithm_alone(graph):
    made = launches.edges_of(graph, argparse.Namespace(scale=5, side=8))
    graphs = launches.Graphs(made, 2, lambda frame: frame)
    watched = []

    def watch(work):
        watched.append(work)
        work()
        return launches.activity([event("kernel", 0, 1)])

    row = launches.measured(graphs, "bfs", 2, watch)
    assert len(row["seconds"]) == 2
    _, steps = graphs.graph("bfs").bfs(made.start, trace=True)
    assert row["supersteps"] == len(steps.compute())
    assert len(watched) == row["launches"] == 1
    assert "KeyError" in launches.measured(graphs, "bfs", 1, lambda work: {}["busy"])["failed"]


# Comparison with a commit, estimates and soak


def compared(arguments, kept):
    """Compare the working tree with itself on the smallest graphs, and return the rows by section."""
    asked = ["--base", str(compare.ROOT), "--scale", "4", "--json", str(kept), *arguments]
    code = command.main(["compare", *asked])
    rows = json.loads(kept.read_text())["rows"]
    assert code == 0, [row["failed"] for row in rows]
    builds = [row for row in rows if row["section"].startswith("builds")]
    return builds, [row for row in rows if row not in builds]


def test_estimates_are_compared_with_whole_calls(tmp_path, capsys):
    kept = tmp_path / "kept.json"
    calls = ["sssp"]
    asked = ["--size", "100", "--graphs", "star", "--json", str(kept)]
    assert command.main(["estimates", "--calls", *calls, *asked]) == 0
    rows = json.loads(kept.read_text())["rows"]
    assert [row["call"] for row in rows] == calls
    for row in rows:
        assert row["estimated"] == pytest.approx(sum(row["parts"].values()))
        assert row["seconds"] > 0 < row["bound"]
    assert "| `sssp` |" in capsys.readouterr().out
    assert command.main(["estimates", "--kept", str(kept)]) == 0
    assert "| `sssp` |" in capsys.readouterr().out


def test_a_working_tree_returns_the_same_bits_as_itself(tmp_path, capsys):
    arguments = ["--repeat", "2", "--only", "path", "bfs"]
    builds, (row,) = compared(arguments, tmp_path / "results.json")
    assert not builds
    assert row["same_bits"]
    assert set(row["measures"]) == {"call", "supersteps", "lazy"}
    for sides in row["measures"].values():
        assert {name: len(values) for name, values in sides.items()} == {"this": 2, "base": 2}
    assert "same bits: 1 of 1 rows; failed: 0" in capsys.readouterr().out.splitlines()


@pytest.mark.slow
def test_members_are_compared_as_threads_and_as_processes(tmp_path):
    asked = ["--repeat", "1", "--only", "path", "build", *side.CALLS, "--members", "1", "2"]
    builds, calls = compared(asked, tmp_path / "results.json")
    wheres = ["1", "2, threads", "2, processes"]
    assert [row["where"] for row in builds] == [where for where in wheres for _ in side.BUILDS]
    assert [row["where"] for row in calls if row["name"] == "pagerank"] == wheres
    assert {row["name"] for row in calls} == set(side.CALLS)
    assert all(row["same_bits"] for row in calls)


@pytest.mark.parametrize(("gpus", "where"), [(1, ["threads"]), (2, ["threads", "processes"])])
def test_members_run_in_processes_if_there_is_a_gpu_for_each(gpus, where, monkeypatch):
    monkeypatch.setattr(compare.machine, "gpu_count", lambda: gpus)
    options = argparse.Namespace(gpu=True, members=[1, 2], only=["grid", "bfs"])
    wheres = [task.where for task in compare.plan(options)["grid"]]
    assert wheres == ["1", *(f"2, {one}" for one in where)]


class Answering:
    """A side that answers at once, or never."""

    def __init__(self, name, log, bits="bits", fails=()):
        self.name, self.log, self.bits, self.fails = name, log, bits, fails

    def start(self):
        pass

    loaded = start

    def ask(self, asked):
        if asked["name"] in self.fails:
            raise ContenderFailedError("no answer within 120 s")
        self.log.append(self.name)
        if asked["first"]:
            return {"measures": {}, "bits": self.bits}
        return {"measures": {"call": 0.002 if self.name == "this" else 0.001}}


@pytest.fixture
def answering(monkeypatch):
    monkeypatch.setattr(compare, "Process", Answering)


@pytest.mark.usefixtures("answering")
def test_sides_alternate_and_a_failed_row_does_not_end_the_others(capsys):
    log = []
    sides = {name: Answering(name, log, fails=["sssp"]) for name in ("this", "base")}
    tasks = [compare.Task("grid", "call", name, 1, False) for name in ("sssp", "bfs")]
    failed, row = compare.rows_of(tasks, sides, 3, 60)
    assert log == ["this", "base", "base", "this", "this", "base", "base", "this"]
    assert row["measures"] == {"call": {"this": [0.002] * 3, "base": [0.001] * 3}}
    assert row["same_bits"] is True
    assert failed["failed"].endswith("no answer within 120 s")
    lines = compare.show(
        {"base": {"given": "there", "commit": None}, "workers": 2, "rows": [failed, row]}
    ).splitlines()
    (line,) = (line for line in lines if line.startswith("grid, bfs"))
    assert " ".join(line.split()) == "grid, bfs 1 2.00 1.00 2.00 (2.00 to 2.00) - - - yes"
    (line,) = (line for line in lines if line.startswith("grid, sssp"))
    assert line.startswith("grid, sssp, 1  failed: ")
    assert capsys.readouterr().err.count("\n") == 2


@pytest.mark.usefixtures("answering")
def test_different_bits_are_reported(capsys):
    sides = {name: Answering(name, [], bits=name) for name in ("this", "base")}
    (row,) = compare.rows_of([compare.Task("grid", "call", "bfs", 1, False)], sides, 1, 60)
    assert row["same_bits"] is False
    assert "OTHER BITS" in capsys.readouterr().err


def test_a_hash_covers_values_dtypes_and_order():
    frame = pd.DataFrame({"vertex": [1, 2, 3], "rank": [0.5, 0.25, 0.0]})
    others = [
        frame.assign(rank=np.nextafter(frame["rank"], 1)),
        frame.assign(rank=[0.5, 0.25, -0.0]),
        frame.astype({"vertex": "int32"}),
        frame[::-1],
        frame.rename(columns={"rank": "pagerank"}),
    ]
    assert side.digest(frame) == side.digest(frame.copy())
    assert len({side.digest(one) for one in (frame, *others)}) == 1 + len(others)


@pytest.mark.skipif(not (compare.ROOT / ".git").exists(), reason="needs the history")
def test_a_worktree_is_removed_after_the_comparison():
    with compare.checkout("HEAD") as (folder, commit):
        assert (folder / "dask_graphflow" / "__init__.py").is_file()
        assert len(commit) == 40
    assert not folder.exists()


def test_partial_answers_are_consecutive_rows_of_the_whole():
    truth = pd.DataFrame({"vertex": [1, 3, 5, 7], "rank": [0.5, 0.25, 0.125, 0.125]})
    assert calls.is_answer(truth, truth, whole=True)
    assert calls.is_answer(truth[1:3], truth, whole=False)
    assert calls.is_answer(truth[:0], truth, whole=False)
    assert not calls.is_answer(truth[1:], truth, whole=True)
    assert not calls.is_answer(truth.iloc[[0, 2]], truth, whole=False)
    wrong = truth.assign(rank=np.nextafter(truth["rank"], 1))
    assert not calls.is_answer(wrong, truth, whole=True)
    assert not calls.is_answer(wrong[1:3], truth, whole=False)


def soaked(**changes):
    counts = {**dict.fromkeys(soak.ALLOWED, 3), **dict.fromkeys(soak.FAULTS, 0)}
    memory = [{"a worker": 100 << 20}, {"a worker": 105 << 20}]
    results = {"counts": counts, "left": [], "memory_bytes": memory, "errors": []}
    about = {
        "minutes": 1,
        "workers": 2,
        "callers": 3,
        "kill_every": 4,
        "seed": 0,
        "slowest_seconds": 5,
    }
    changed = {**counts, **changes.pop("counts", {})}
    return {**about, **results, "counts": changed, **changes}


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({}, []),
        ({"counts": {"WorkerLostError": 9}}, []),
        *(({"counts": {name: 2}}, [f"2 {name}"]) for name in soak.FAULTS),
        ({"left": ["thread graphflow-gang_0"]}, ["1 left"]),
        ({"memory_bytes": [{"a worker": 100}, {"a worker": 111}]}, ["a worker grew"]),
    ],
)
def test_faults_of_a_soak_are_named(changes, faults):
    results = soaked(**changes)
    assert soak.faults(results) == faults
    last = f"wrong here: {faults[0]}" if faults else "nothing is wrong"
    assert soak.show(results).endswith(last)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # from what killed workers leave behind
def test_a_short_soak_has_correct_answers_kills_and_cancellations():
    results = soak.soak(0.2, 2, 2, seed=1)
    assert soak.faults(results) == []
    assert all(results["counts"][what] for what in ("right", "cancelled", "killed"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["members", "--members", "1"], "--members 2 or more"),
        (["members", "--peers", "dask-cugraph"], "--peers needs --gpu"),
        (["algorithms", "--scale", "3"], "--scale from 4 to 31"),
        (["algorithms", "--peers", "cugraph"], "--peers cugraph needs --gpu"),
        (["algorithms", "--graph", "x.parquet", "--gpu"], "leave out --gpu"),
        (["algorithms", "--graph", "nowhere.parquet"], "nowhere.parquet cannot be read"),
        (
            ["from-a-table", "--edges", "900", "--scale", "4"],
            "of 900 edges between 2**4 ids are distinct",
        ),
        (["components", "--scale", "40"], "--scale from 4 to 31"),
        (["out-of-core", "--times", "0"], "--times and --repeat 1 or more"),
        (["compare", "--base", "nowhere"], "neither a commit of this repository nor a folder"),
        (["compare", "--base", ".", "--scale", "3"], "--scale 4 or more"),
        (["compare", "--base", ".", "--members", "0"], "--members 1 or more"),
        (["compare", "--base", ".", "--only", "dfs"], "--only dfs: there are bfs, build"),
        (["launches", "dfs"], "dfs: there are articulation_points, betweenness_centrality"),
        (["soak", "--workers", "1"], "--workers 2 or more"),
        (["soak", "--minutes", "0"], "--minutes and --kill-every above 0"),
    ],
)
def test_invalid_options_are_rejected_at_once(arguments, message, capsys):
    if arguments[0] == "from-a-table":
        pytest.importorskip("duckdb")
    assert command.main(arguments) == 1
    assert message in capsys.readouterr().err


def test_missing_packages_are_named_with_their_installation(monkeypatch):
    monkeypatch.setattr(gpu.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UnusableInputError, match="cugraph not installed; pip install cugraph-cu13"):
        gpu.check("cugraph")
    with pytest.raises(UnusableInputError, match=r"cupy, rmm not installed; pip install \"dask-gr"):
        gpu.check("cupy", "rmm")


@pytest.mark.gpu
def test_the_peak_excludes_memory_in_use_before_the_run():
    cupy = pytest.importorskip("cupy")
    pytest.importorskip("rmm")
    from rmm.allocators.cupy import rmm_cupy_allocator

    with cupy.cuda.using_allocator(rmm_cupy_allocator):
        before = cupy.zeros(1 << 20, "uint8")

        def work():
            beside = cupy.zeros(3 << 20, "uint8")
            return beside[: 1 << 20] + before

        assert gpu.peak(work) == 4 << 20


@pytest.mark.gpu
def test_algorithms_agree_on_a_device(tmp_path):
    pytest.importorskip("cudf")
    given = inputs.Inputs.of(8, 0, gpu=True)
    one = ours.Ours(given, 1, on_gpu=True)
    for name in ("build", "bfs", "sssp", "pagerank, float32", "core_number", "louvain"):
        row = measure_row(rows.ROWS[name], [one], given, 1, on_gpu=True)
        assert not row["differs"]
        assert row["peaks"]
