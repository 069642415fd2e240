"""Benchmarks of launches, commits and estimates, and the options of each command."""

from __future__ import annotations

import argparse
import json

import numpy as np
import pandas as pd
import pytest

from benchmarks import __main__ as command
from benchmarks.commands import compare, launches
from benchmarks.commands.algorithms import measure as measure_row
from benchmarks.lib import gpu, graphs, ours, rows, side
from benchmarks.lib.errors import ContenderFailedError, UnusableInputError

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


# Comparison with a commit, and estimates


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
        (["out-of-core", "--times", "0"], "--times and --repeat 1 or more"),
        (["compare", "--base", "nowhere"], "neither a commit of this repository nor a folder"),
        (["compare", "--base", ".", "--scale", "3"], "--scale 4 or more"),
        (["compare", "--base", ".", "--members", "0"], "--members 1 or more"),
        (["compare", "--base", ".", "--only", "dfs"], "--only dfs: there are bfs, build"),
        (["launches", "dfs"], "dfs: there are articulation_points, betweenness_centrality"),
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
    given = graphs.Inputs.of(8, 0, gpu=True)
    one = ours.Ours(given, 1, on_gpu=True)
    for name in ("build", "bfs", "sssp", "pagerank, float32", "core_number", "louvain"):
        row = measure_row(rows.ROWS[name], [one], given, 1, on_gpu=True)
        assert not row["differs"]
        assert row["peaks"]
