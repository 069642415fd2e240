"""The parts of the benchmarks that need no GPU: the harness, checks, peers, members and memory."""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import sys

import numpy as np
import pandas as pd
import pytest

import dask_graphflow as gf
from benchmarks import __main__ as command
from benchmarks.commands import (
    first_calls,
    from_a_table,
    on_disk,
    out_of_core,
    under_limit,
)
from benchmarks.commands.algorithms import measure as measure_row
from benchmarks.lib import (
    agreement,
    control_group,
    gpu,
    graphs,
    harness,
    machine,
    ours,
    report,
    rows,
)
from benchmarks.lib.errors import ContenderFailedError, DisagreementError
from benchmarks.lib.harness import Outcome, ratios, take_turns
from benchmarks.peers import cugraph, host, limited, limited_program, program

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


def test_the_fastest_of_several_runs_in_a_row_counts(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(harness.time, "perf_counter", lambda: now[0])

    def timed(*seconds, trials):
        left = list(seconds)

        def work():
            now[0] += left.pop(0)
            return len(left)

        return harness.timed(work, trials=trials)

    assert timed(0.25, 0.125, 0.5, 0.0625, trials=3) == Outcome(0.125, 1)
    assert timed(2.0, 1.0, trials=3) == Outcome(2.0, 1)  # enough
    assert timed(0.25, 0.125, trials=1) == Outcome(0.25, 1)


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


# Algorithms beside peers

ARGUMENTS = ["--repeat", "1", "--workers", "2", "--peers", "scipy", "gap"]


@pytest.mark.parametrize("graph", ["scale6", "path"])
def test_algorithms_agree_with_a_peer_in_its_own_process(graph, tmp_path, capsys):
    names = [
        "build",
        rows.FRAME_COMPONENTS,
        "bfs",
        "sssp",
        "pagerank",
        rows.SCC,
        "minimum_spanning_forest",
    ]
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
        mine = {"build": {ours.LOOP}, rows.FRAME_COMPONENTS: {ours.FRAME}}
        assert set(row["seconds"]) == {"scipy"} | mine.get(name, {ours.LOOP, ours.FRAME})
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

    monkeypatch.setattr("benchmarks.commands.algorithms.measure", measured)
    path = tmp_path / "results.json"
    asked = ["--scale", "6", "5", "--repeat", "1", "--only", "degrees", "bfs"]
    assert command.main(["algorithms", *asked, "--json", str(path)]) == 1
    graphs = json.loads(path.read_text())["graphs"]
    assert [*graphs] == ["scale6"]
    assert [*graphs["scale6"]] == ["degrees"]


def test_failing_peers_do_not_end_the_others(tmp_path):
    given = graphs.Inputs.of(5, 0)
    options = argparse.Namespace(python=sys.executable, workers=1, timeout=60.0)
    peer = host.Peer("scipy", tmp_path, given, options)  # no graph was written
    try:
        assert peer.missing() is None
        for _ in range(2):
            with pytest.raises(ContenderFailedError, match="FileNotFoundError"):
                peer.run(rows.ROWS["hits"])
    finally:
        peer.close()


@pytest.mark.parametrize("name", ["build", "bfs", rows.FRAME_COMPONENTS])
def test_all_contenders_run_equally_often_in_a_row(name, tmp_path, monkeypatch):
    trials, row, given = [], rows.ROWS[name], graphs.Inputs.of(5, 0)

    def timed(work, wait, most=1):
        trials.append(most)
        return harness.timed(work, wait, most)

    def answered(request):
        trials.append(request["trials"])
        return {"seconds": 1.0, "path": None}

    def times(self, heading, program, *arguments):
        if heading == "Trial Time":
            assert arguments[-2] == "-n"
            trials.append(arguments[-1])
        return [1.0]

    monkeypatch.setattr(ours, "timed", timed)
    monkeypatch.setattr(host.Gap, "_times", times)
    options = argparse.Namespace(python=sys.executable, workers=1, timeout=60.0, gap=str(tmp_path))
    peer = host.Peer("scipy", tmp_path, given, options)
    peer._can, peer._process = [row.algorithm], StubProcess(answered)
    for one in (ours.Ours(given, 1), peer, host.Gap("gap", tmp_path, given, options)):
        for run in one.contenders(row).values():
            run()
    assert set(trials) == {harness.TRIALS if name == "bfs" else 1}


def test_gap_finds_shortest_paths_with_the_fastest_bucket_width(tmp_path, monkeypatch):
    widths = []

    def times(self, heading, program, *arguments):
        if heading == "Trial Time":
            widths.append(int(arguments[arguments.index("-d") + 1]))
            return [1.0 + abs(widths[-1] - host.DELTAS[1])]
        return [1.0]

    monkeypatch.setattr(host.Gap, "_times", times)
    peer = host.Gap("gap", tmp_path, graphs.Inputs.of(5, 0), argparse.Namespace(gap=str(tmp_path)))
    assert [peer.run(rows.ROWS["sssp"]).seconds for _ in range(2)] == [1.0, 1.0]
    assert widths == [*host.DELTAS, host.DELTAS[1], host.DELTAS[1]]


def test_a_peer_runs_several_times_in_a_row():
    runs = []

    class Library:
        graph = str

        def bfs(self, g, sources):
            return lambda: runs.append(sources), None

    asked = {"algorithm": "bfs", "graph": "edges", "options": {"sources": [1]}, "wanted": False}
    for trials, enough, made in ((3, 60.0, 3), (3, 0.0, 1), (1, 60.0, 1)):
        runs.clear()
        program.answered(
            Library(), {**asked, "from_edges": False, "trials": trials, "enough": enough}
        )
        assert runs == [[1]] * made


class StubProcess:
    """Answers requests without a process."""

    running = True

    def __init__(self, answered):
        self._answered = answered

    def send(self, request):
        self._answer = self._answered(request)

    def receive(self, seconds):
        return self._answer


@pytest.mark.parametrize("name", ["bfs", "strongly_connected_components"])
def test_rows_go_on_without_cugraph(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "cugraph", None)
    given = graphs.Inputs.of(6, 0)
    peer = object.__new__(cugraph.Cugraph)
    peer.inputs = given
    row = measure_row(rows.ROWS[name], [ours.Ours(given, 1), peer], given, 1)
    assert set(row["seconds"]) == {ours.LOOP, ours.FRAME}
    assert row["answers"][ours.LOOP] == row["answers"][ours.FRAME] != "differs"
    assert "cugraph" in row["failures"]["cugraph"]


def test_every_call_of_cugraph_has_a_row():
    algorithms = {row.algorithm for row in rows.ROWS.values()}
    assert set(cugraph.CALLS) <= algorithms


# Members, files, first calls


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
        limited_program.main(library, call, json.dumps(options))
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
    assert [line.split(",")[0] for line in shown.splitlines()[3:5]] == ["build", "bfs"]
    assert re.search(r"^scipy bfs +4,096 +[\d.]+ +\d+ MiB$", shown, re.MULTILINE)
    assert "left out graphframes: give its jar" in errors


@only_root
@pytest.mark.parametrize(
    ("more", "reason"), [({"limit": "20MB"}, "out of memory"), ({"timeout": 0}, "more than 0 s")]
)
def test_a_peer_that_does_not_end_tries_half_of_the_files(more, reason, tmp_path):
    gf.generate.rmat(8, npartitions=2).to_parquet(tmp_path)
    options = argparse.Namespace(edges=str(tmp_path), **{**under_limit_options, **more})
    tries = limited.measured(options)["scipy"]["bfs"]
    assert [(one["edges"], one["failed"]) for one in tries] == [(4096, reason), (2048, reason)]


@pytest.mark.slow
def test_first_calls_compile_once(tmp_path):
    options = argparse.Namespace(repeat=1, workers=1)
    times = first_calls.measured(
        "connected_components", graphs.Inputs.of(4, 0), tmp_path, {}, options
    )
    (once,) = times
    assert once["first"]["compiling"] > 0
    assert once["first"]["kernels"]
    assert once["cached"]["cpu"] < once["first"]["cpu"]
    table = first_calls.table({"connected_components": times}).splitlines()
    assert table[2].split()[2] == str(len(once["first"]["kernels"]))


def test_out_of_core_compares_with_the_labels_of_the_host():
    edges = pd.DataFrame({"src": [5, 1, 7], "dst": [1, 2, 7]}, dtype="int32")
    assert out_of_core.expected(edges).tolist() == [1, 1, 1, 7]
