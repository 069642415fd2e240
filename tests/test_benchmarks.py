"""The benchmarks' parts that take no GPU: checks of results, tables, options, and what they refuse."""

from __future__ import annotations

import argparse
import gc
import json
import sys

import numpy as np
import pandas as pd
import pytest
from test_cuda_compile import nvrtc  # noqa: F401

import dask_graphflow as gf
from benchmarks import __main__ as command
from benchmarks import (
    compare,
    first_calls,
    machine,
    members,
    report,
    side,
    soak,
)
from benchmarks.algorithms.agreement import Agreement
from benchmarks.algorithms.inputs import Inputs
from benchmarks.algorithms.peers import Peer
from benchmarks.algorithms.rows import ROWS
from benchmarks.device import (
    agreement,
    algorithms,
    clock,
    floors,
    graphs,
    needs,
    oracles,
    out_of_core,
    pool,
    scores,
    tables,
    two,
)
from benchmarks.errors import ContenderFailedError, DisagreementError, UnusableInputError
from benchmarks.graphs.edges import Timed
from benchmarks.soak import calls
from benchmarks.timing import interleave
from dask_graphflow.components import serialization
from dask_graphflow.graph.partition import GRAIN
from dask_graphflow.scheduling import device_readers

OURS = pd.DataFrame({"vertex": [1, 2, 3, 5, 8, 9], "component": [1, 1, 1, 5, 5, 9]})


def peer(labels):
    """Return a peer's frame: its own order and numbering."""
    frame = pd.DataFrame({"vertex": list(labels), "labels": list(labels.values())})
    return frame.iloc[::-1].reset_index(drop=True)


def test_labels_in_another_order_and_numbering_are_the_same_partition():
    labels = {1: 40, 2: 40, 3: 40, 5: 7, 8: 7, 9: 0}
    assert agreement.same_partition("peer", peer(labels), OURS) == 0


def test_a_peer_may_leave_out_only_vertices_that_are_alone():
    labels = {1: 40, 2: 40, 3: 40, 5: 7, 8: 7}
    assert agreement.same_partition("peer", peer(labels), OURS) == 1
    del labels[8]
    with pytest.raises(DisagreementError, match="not alone"):
        agreement.same_partition("peer", peer(labels), OURS)


@pytest.mark.parametrize(
    "labels",
    [
        {1: 40, 2: 40, 3: 40, 5: 40, 8: 40, 9: 0},  # two of ours joined
        {1: 40, 2: 40, 3: 41, 5: 7, 8: 7, 9: 0},  # one of ours split
        {1: 40, 2: 40, 3: 7, 5: 7, 8: 41, 9: 0},  # as many, others
    ],
)
def test_another_partition_is_found_out(labels):
    with pytest.raises(DisagreementError, match="overlap"):
        agreement.same_partition("peer", peer(labels), OURS)


def test_a_vertex_that_we_lack_is_found_out():
    labels = {1: 40, 2: 40, 3: 40, 5: 7, 8: 7, 9: 0, 10: 3}
    with pytest.raises(DisagreementError, match="7 vertices of which 6"):
        agreement.same_partition("peer", peer(labels), OURS)


def test_the_first_wrong_value_is_named():
    truth = OURS["vertex"].to_numpy(), OURS["component"].to_numpy()
    agreement.equal("ours", truth, truth)
    wrong = truth[1].copy()
    wrong[4] = 8
    with pytest.raises(DisagreementError, match=r"1 wrong components.*row 4, is 8 and should be 5"):
        agreement.equal("ours", (truth[0], wrong), truth)
    with pytest.raises(DisagreementError, match="5 vertices, and 6"):
        agreement.equal("ours", (truth[0][1:], truth[1][1:]), truth)


def test_answers_of_several_libraries_are_compared():
    check = Agreement("partition")
    check("ours", Timed(1.0, np.array([0, 0, 2])))
    check("peer", Timed(1.0, np.array([7, 7, 1])))
    check("other", Timed(1.0, np.array([7, 8, 1])))
    check("without", Timed(1.0))
    found = check.found()
    assert found["answers"] == {"ours": "same", "peer": "same", "other": "differs"}
    assert found["differs"] == {"other": "differs from the first answer at 1 vertices"}
    scaled = Agreement("near", np.array([True, True, False]))
    scaled("ours", Timed(1.0, np.array([1.0, 3.0, 9.0])))
    scaled("peer", Timed(1.0, np.array([2.0, 6.0, 0.0])))
    assert not scaled.found()["differs"]


def test_every_algorithm_beside_a_peer_in_a_process_of_its_own(tmp_path, capsys):
    pytest.importorskip("scipy")
    where = tmp_path / "found.json"
    some = (
        "hits",
        "closeness_centrality",
        "strongly_connected_components",
        "personalized_pagerank",
        "minimum_spanning_forest",
        "louvain",
    )
    arguments = [
        "--scale",
        "6",
        "--repeat",
        "1",
        "--workers",
        "2",
        "--peers",
        "scipy,gap",
        "--json",
    ]
    assert command.main(["algorithms", "--only", *some, *arguments, str(where)]) == 0
    rows = json.loads(where.read_text())["rows"]
    assert set(rows) == set(some)
    both = rows["strongly_connected_components"]
    assert both["answers"] == dict.fromkeys(("graphflow", "graphflow, to a frame", "scipy"), "same")
    forests = rows["minimum_spanning_forest"]["answers"].values()
    assert len(forests) == 3
    assert len(set(forests)) == 1
    assert not any(row["failures"] or row["differs"] for row in rows.values())
    assert "left out gap" in capsys.readouterr().err


def test_a_peer_that_fails_does_not_end_the_others(tmp_path):
    inputs = Inputs.of(5, 4, 0)
    options = argparse.Namespace(python=sys.executable, workers=1, timeout=60.0)
    peer = Peer("scipy", str(tmp_path), inputs, options)  # no graph was written
    try:
        assert peer.missing() is None
        for _ in range(2):
            with pytest.raises(ContenderFailedError, match="FileNotFoundError"):
                peer.run(ROWS["hits"])
    finally:
        peer.close()


def test_a_peer_on_a_device_that_fails_does_not_end_the_others(monkeypatch):
    """On the host, with a peer that always fails."""
    monkeypatch.setattr(clock, "wait", lambda: None)
    monkeypatch.setattr(pool, "peaks", lambda work, failures: {})
    monkeypatch.setattr(floors, "reading", lambda source, target, repeat: [1e-3])
    frame = lambda source, target: pd.DataFrame({"src": source, "dst": target})  # noqa: E731
    monkeypatch.setattr(scores.graphs, "frame", frame)
    monkeypatch.setitem(sys.modules, "cugraph", None)
    inputs = Inputs.of(6, 8, 0)
    for name in scores.peers.SCORES:
        found = scores.compare(name, inputs, 1, peer=True)
        answers = found["answers"]
        assert answers.keys() == {scores.FRAME, scores.LOOP}
        # The loop and the call find the same, also where a row shows a value.
        assert answers[scores.FRAME] == answers[scores.LOOP] != "differs"
        assert "cugraph" in found["contenders"]["cugraph"]["failed"]
        assert found["contenders"][scores.LOOP]["seconds"]


class Contender:
    def __init__(self, name, seconds, fails_in=None):
        self.name, self.seconds, self.fails_in, self.runs = name, seconds, fails_in, 0

    def run(self):
        self.runs += 1
        if self.runs == self.fails_in:
            with clock.peer():
                raise MemoryError("std::bad_alloc:\n out_of_memory")
        return clock.Outcome(self.seconds * self.runs, self.name)


def test_a_contender_that_fails_is_left_out_and_the_others_go_on():
    failures = {}
    work = [Contender("a", 1), Contender("b", 1, fails_in=2), Contender("c", 2)]
    checked = []
    seconds = interleave(work, 3, lambda name, outcome: checked.append(name), failures)
    assert seconds == {"a": [2, 3, 4], "c": [4, 6, 8]}
    assert failures == {"b": "out of memory: std::bad_alloc: out_of_memory"}
    assert checked == ["a", "b", "c", "a", "c", "a", "c", "a", "c"]
    assert work[1].runs == 2


def test_without_a_place_for_failures_one_ends_it():
    with pytest.raises(ContenderFailedError, match="bad_alloc"):
        interleave([Contender("b", 1, fails_in=1)], 3, lambda name, outcome: None)


def test_a_result_is_gone_before_the_next_contender_runs():
    class Large:
        alive = 0

        def __init__(self):
            Large.alive += 1

        def __del__(self):
            Large.alive -= 1

    class Holder:
        def __init__(self, name):
            self.name = name

        def run(self):
            gc.collect()
            assert Large.alive == 0
            return clock.Outcome(1, Large())

    interleave([Holder("a"), Holder("b")], 2, lambda name, outcome: None)


CONTENDERS = {
    "ours": {"seconds": [0.001, 0.002, 0.004], "peak_bytes": 3 << 20, "failed": None},
    "peer": {"seconds": [0.1, 0.4, 0.2], "peak_bytes": None, "failed": None},
    "other": {"seconds": [], "peak_bytes": None, "failed": "out of memory: 1 GiB"},
}


def test_a_row_has_times_rates_and_ratios_round_by_round():
    ours, theirs, other = tables.rows(
        CONTENDERS,
        4_000_000,
        against={"ours": "peer", "peer": "other"},
        floor=[0.0004, 0.0005, 0.0006],
        input_bytes=2 << 20,
        forest_bytes=1 << 20,
    )
    assert ours == [
        "ours", "1.00", "2.00", "4.00", "2.00", "100.00 (50.00 to 200.00)", "4.0", "3 MiB", "1.50", "3.00",
    ]  # fmt: skip
    assert theirs == ["peer", "100.00", "200.00", "400.00", "0.02", "-", "400.0", "-", "-", "-"]
    assert other == ["other", "failed", *["-"] * 8]


def test_why_a_contender_failed_stands_below_the_table():
    text = tables.table("peer / this", tables.rows(CONTENDERS, 1), CONTENDERS)
    assert text.splitlines()[-1] == "other failed: out of memory: 1 GiB"


def test_the_larger_part_is_of_each_round_and_of_the_faster_way():
    found = {
        out_of_core.DRIVER: {"seconds": [4.0, 4.0, 1.0]},
        out_of_core.STAGED: {"seconds": [2.0, 5.0, 2.0]},
        out_of_core.PINNED: {"seconds": [0.1, 0.1, 0.1]},
        out_of_core.COMPUTING: {"seconds": [3.0, 3.0, 3.0]},
    }
    assert out_of_core.larger_part(found) == [3.0, 4.0, 3.0]
    found = {
        out_of_core.READING: {"seconds": [2.0, 5.0]},
        out_of_core.COMPUTING: {"seconds": [3.0, 3.0]},
    }
    assert out_of_core.larger_part(found) == [3.0, 5.0]


def test_what_was_found_is_laid_out_by_id():
    frame = pd.DataFrame({"vertex": [3, 0], "distance": [oracles.NEVER, 2]})
    expected = [2, np.inf, np.inf, np.inf, np.inf]
    assert oracles.by_id(frame, "distance", 5, np.inf).tolist() == expected
    pair = np.array([3, 0]), np.array([np.finfo("float32").max, 2], "float32")
    assert oracles.by_id(pair, "distance", 5, np.inf).tolist() == expected
    levels = np.array([2, -1, -1], "int32")
    assert oracles.by_id(levels, "distance", 5, np.inf).tolist() == expected


def test_values_are_the_same_or_near_and_infinite_where_the_truth_is():
    truth = np.array([0, 1, 8, np.inf])
    oracles.same("peer", truth, truth)
    near = np.array([0, 1, 8.001, np.inf])
    oracles.same("peer", near, truth, 1e-3)
    with pytest.raises(DisagreementError, match=r"1 wrong.*vertex 2, is 8\.001 and should be 8\.0"):
        oracles.same("peer", near, truth)
    for wrong in ([0, 1, np.inf, np.inf], [0, 1, 8, 9], [0, 1, 8, np.nan]):
        with pytest.raises(DisagreementError, match="1 wrong"):
            oracles.same("peer", np.array(wrong), truth, 1e-3)


def test_a_part_has_its_peak_with_the_input_too():
    found = {name: {**one, "peak_bytes": 3 << 20} for name, one in CONTENDERS.items()}
    built = {algorithms.BUILD: found["ours"], algorithms.peers.GRAPH: found["peer"]}
    ranked = {algorithms.LOOP: found["ours"], algorithms.peers.CALL: found["peer"]}
    results = {
        "graph": "R-MAT",
        "edges": 1_000_000,
        "input_bytes": 2 << 20,
        "read_once_seconds": [0.0001],
        "floors": {"copy_bytes": 1, "copy_seconds": [1], "link_bytes": 1, "link_seconds": [1]},
        "parts": [
            {"part": name, "edges": edges, "input_bytes": 2 << 20, "contenders": contenders}
            for name, edges, contenders in (
                ("build", 1_000_000, built),
                ("pagerank", 20_000_000, ranked),
            )
        ],
    }
    text = algorithms.show(results)
    rows = {line.split("  ")[0]: " ".join(line.split()[-8:]) for line in text.splitlines()}
    assert rows[algorithms.BUILD] == "(50.00 to 200.00) 20.0 3 MiB 1.50 -"
    assert rows[algorithms.LOOP] == "(50.00 to 200.00) 1.0 3 MiB 1.50 -"
    assert "the peak with the input, of graphflow, build: 2.50 of the input" in text


@pytest.mark.parametrize("zigzag", [False, True])
def test_a_path_crosses_between_members_once_or_always(zigzag):
    found = members.path(zigzag=zigzag).compute()
    assert len(set(found.to_numpy().ravel())) == members.PATH
    assert found["dst"].to_numpy()[:-1].tolist() == found["src"].to_numpy()[1:].tolist()
    assert found.to_numpy().max() < 2 * GRAIN
    crosses = (found["src"] < GRAIN) != (found["dst"] < GRAIN)
    assert crosses.sum() == (members.PATH - 1 if zigzag else 1)


def test_members_are_timed_in_turn_and_have_to_agree():
    sides = [members.Side("one", 1, 2), members.Side("two", 2, 2)]
    for one in sides:
        one.load(members.path(zigzag=True))
    built = members.in_turn(sides, members.Side.build, 1)
    for one in sides:
        one.keep()
    called = members.in_turn(sides, members.Side.call, 1)
    text = members.show({"graph": "path", "workers": 2, "phases": {"build": built, "bfs": called}})
    assert [line.split("  ")[0] for line in text.splitlines()[5:7]] == ["build", "bfs"]
    sides[1].load(members.path())
    sides[1].keep()
    with pytest.raises(DisagreementError, match="two found something else than one"):
        members.in_turn(sides, members.Side.call, 1)


def test_forests_go_through_host_memory_where_that_is_asked_for():
    try:
        two.send_forests(through_host=True)
        assert not serialization.can_read("tcp://127.0.0.1:1")
    finally:
        two.send_forests(through_host=False)
    assert serialization.can_read is device_readers.can_read


def test_workers_that_share_a_gpu_have_their_ways_in_one_table():
    seconds = {name: {**CONTENDERS["ours"]} for name in two.OURS}
    seconds |= {name + two.HOST: {**CONTENDERS["peer"]} for name in two.OURS}
    found = {
        "graph": "R-MAT", "protocol": "tcp", "edges": 8, "partitions": 2, "vertices": 4, "components": 1,
        "partitions_a_worker": [1, 1], "copies_forests": True, "contenders": seconds,
    }  # fmt: skip
    text = two.show({"gpus": 2, "one_gpu": True, "graphs": [found]})
    assert "on 2 workers that share one GPU" in text
    assert "The workers can copy forests from GPU to GPU" in text
    assert text.count("100.00 (50.00 to 200.00)") == 2


def compared(arguments, kept):
    """Compare the working tree with itself on the smallest graphs, and return the rows by section."""
    asked = ["--base", str(compare.ROOT), "--scale", "4", "--json", str(kept), *arguments]
    code = command.main(["compare", *asked])
    rows = json.loads(kept.read_text())["rows"]
    assert code == 0, [row["failed"] for row in rows]
    builds = [row for row in rows if row["section"].startswith("builds")]
    return builds, [row for row in rows if row not in builds]


def test_estimates_stand_beside_whole_calls(tmp_path, capsys):
    kept = tmp_path / "kept.json"
    calls = ["sssp", "similarity", "shortest_paths"]
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


def test_a_tree_beside_itself_has_ratios_and_the_same_bits(tmp_path, capsys):
    asked = ["--repeat", "2", "--only", "path", "build", "bfs"]
    builds, (row,) = compared(asked, tmp_path / "results.json")
    assert [build["name"] for build in builds] == list(side.BUILDS)
    assert row["same_bits"]
    for measure in ("call", "supersteps", "lazy"):
        assert {name: len(values) for name, values in row["measures"][measure].items()} == {
            "this": 2,
            "base": 2,
        }
    lines = capsys.readouterr().out.splitlines()
    (line,) = (line for line in lines if line.startswith("path, bfs"))
    assert line.endswith("yes")
    assert line.count(" to ") == 2
    assert "same bits: 1 of 1 rows; failed: 0" in lines


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


def test_a_base_that_cannot_be_imported_fails_its_rows(tmp_path, capsys):
    (tmp_path / "dask_graphflow").mkdir()
    (tmp_path / "dask_graphflow" / "__init__.py").write_text("raise ImportError('half a copy')")
    asked = ["--scale", "4", "--only", "small", "bfs"]
    assert command.main(["compare", "--base", str(tmp_path), *asked]) == 1
    out = capsys.readouterr().out
    assert "small, bfs, 1  failed: base: the process ended: ImportError: half a copy" in out


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
def test_sides_take_turns_at_being_first_and_a_failed_row_leaves_the_others(capsys):
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
def test_a_result_with_other_bits_is_found_out(capsys):
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
def test_a_commit_is_checked_out_for_as_long_as_it_is_measured():
    with compare.checkout("HEAD") as (folder, commit):
        assert (folder / "dask_graphflow" / "__init__.py").is_file()
        assert len(commit) == 40
    assert not folder.exists()


def test_an_answer_is_the_truth_or_rows_of_it_in_order():
    truth = pd.DataFrame({"vertex": [1, 3, 5, 7], "rank": [0.5, 0.25, 0.125, 0.125]})
    assert calls.is_answer(truth, truth, whole=True)
    assert calls.is_answer(truth[1:3], truth, whole=False)
    assert calls.is_answer(truth[:0], truth, whole=False)
    assert not calls.is_answer(truth[1:], truth, whole=True)
    assert not calls.is_answer(truth.iloc[[0, 2]], truth, whole=False)
    wrong = truth.assign(rank=np.nextafter(truth["rank"], 1))
    assert not calls.is_answer(wrong, truth, whole=True)
    assert not calls.is_answer(wrong[1:3], truth, whole=False)


SOAKED = {
    "minutes": 1,
    "workers": 2,
    "callers": 3,
    "kill_every": 4,
    "seed": 0,
    "counts": {**dict.fromkeys(soak.ALLOWED, 3), **dict.fromkeys(soak.FAULTS, 0)},
    "slowest_seconds": 5.0,
    "left": [],
    "memory_bytes": [{"a worker": 100 << 20}, {"a worker": 105 << 20}],
    "errors": [{"what": "WorkerLostError", "when": "", "call": "bfs", "told": "three times"}],
}


def test_a_soak_in_which_workers_were_lost_has_no_faults():
    assert soak.faults(SOAKED) == []
    text = soak.show(SOAKED)
    assert text.endswith("nothing is wrong")
    assert "three times" not in text


@pytest.mark.parametrize(
    ("what", "value", "fault"),
    [
        *(("counts", {**SOAKED["counts"], name: 2}, f"2 {name}") for name in soak.FAULTS),
        ("left", ["thread graphflow-gang_0"], "1 left"),
        ("memory_bytes", [{"a worker": 100 << 20}, {"a worker": 111 << 20}], "a worker grew"),
    ],
)
def test_a_soak_names_what_is_wrong(what, value, fault):
    results = {**SOAKED, what: value}
    assert soak.faults(results) == [fault]
    assert soak.show(results).endswith(f"wrong here: {fault}")


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of what killed workers leave behind
def test_a_short_soak_has_right_answers_kills_and_cancels():
    results = soak.soak(0.2, 2, 2, seed=1)
    assert soak.faults(results) == []
    assert all(results["counts"][what] for what in ("right", "cancelled", "killed"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["members", "--workers", "1"], "--workers 2, or more"),
        (["compare", "--base", "nowhere"], "neither a commit of this repository nor a folder"),
        (["compare", "--base", ".", "--scale", "3"], "--scale 4 or more"),
        (["compare", "--base", ".", "--members", "0"], "--members 1 or more"),
        (["compare", "--base", ".", "--only", "dfs"], "--only dfs: there are bfs, build"),
        (["soak", "--workers", "1"], "--workers 2 or more"),
        (["soak", "--minutes", "0"], "--minutes and --kill-every above 0"),
    ],
)
def test_options_that_cannot_be_measured_are_refused_at_once(arguments, message, capsys):
    assert command.main(arguments) == 1
    assert message in capsys.readouterr().err


TOPOLOGY = """\
\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV18\t0-31\t0
GPU1\tNV18\t X \t0-31\t0

Legend:
  NV#  = Connection traversing a bonded set of # NVLinks
"""


def test_the_gpus_their_driver_and_links_are_described():
    found = machine.parse_gpus("Some GPU, 1024, 5.1\nSome GPU, 1024, 5.1\n", TOPOLOGY)
    assert found["devices"] == [{"name": "Some GPU", "memory_mib": 1024}] * 2
    assert report.gpu_line(found) == "2 x Some GPU, 1,024 MiB, linked by NV18, driver 5.1"
    alone = machine.parse_gpus("Some GPU, 1024, 5.1", "")
    assert report.gpu_line(alone) == "1 x Some GPU, 1,024 MiB, driver 5.1"


def test_the_commit_comes_from_the_environment_where_it_is_told(monkeypatch):
    monkeypatch.setenv("GRAPHFLOW_COMMIT", "abc123")
    assert machine.commit() == "abc123"


def test_results_go_to_the_folder_that_was_asked_for(tmp_path):
    kept = report.keep("auto", "device-some", {"benchmark": "some"}, tmp_path / "new")
    assert kept.parent == tmp_path / "new"
    assert kept.name.startswith("device-some-")
    assert json.loads(kept.read_text())["benchmark"] == "some"


@pytest.fixture
def stack(monkeypatch):
    """Let what is checked before CuPy is imported pass."""
    monkeypatch.setattr(needs, "check", lambda *modules: None)


@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["components", "--scale", "22,x"], "--scale 22,x: give numbers from 4 to 31"),
        (["components", "--scale", "40"], "--scale 40"),
        (["components", "--peer", "gunrock"], "the only peer here is cugraph"),
        (["components", "--repeat", "0"], "--repeat 0"),
        (["components", "--out", "there", "--json", "a.json"], "leave out --json"),
        (["algorithms", "--scale", "40"], "--scale 40: give a number from 4 to 31"),
        (["algorithms", "--sources", "0"], "--iterations of 1 or more"),
        (["algorithms", "--only", "bfs,dfs"], "--only dfs: there are build, bfs, pagerank, sssp"),
        (["algorithms", "--graph", "grid", "--only", "build"], "--only build: there are bfs, sssp"),
        (["algorithms", "--peer", "gunrock"], "the only peer here is cugraph"),
        (["two", "--protocol", "ucx"], "give ucxx, tcp or both"),
        (["two", "--peer", "cugraph"], "the only peer here is dask-cugraph"),
        (["two", "--one-gpu"], "--one-gpu and --through-host need --protocol tcp"),
        (["two", "--through-host", "--protocol", "ucxx,tcp"], "need --protocol tcp"),
        (["out-of-core", "--input", "csv"], "give memory, parquet or both"),
    ],
)
def test_what_cannot_be_measured_is_refused_at_once(arguments, message, capsys):
    assert command.main(["device", *arguments]) == 1
    assert message in capsys.readouterr().err


def test_what_is_missing_is_named_with_how_to_install_it(monkeypatch):
    monkeypatch.setattr(needs.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        UnusableInputError, match=r"cugraph not installed; pip install cugraph-cu13"
    ):
        needs.peers("cugraph", "cugraph")
    assert not needs.peers("", "cugraph")
    with pytest.raises(
        UnusableInputError, match=r"cupy, rmm, cudf not installed; pip install [^;]*$"
    ):
        needs.check("cupy", "rmm", "cudf")


def test_the_graphs_kernels_compile(nvrtc):  # noqa: F811
    wrapped = """
extern "C" __global__ void rmat(
    word_t first, word_t seed, int scale, word_t vertices, int* sources, int* targets, long long n
) {
    typedef int T;
    for (long long i = 0; i < n; ++i) { T src, dst; LOOP sources[i] = src; targets[i] = dst; }
}
extern "C" __global__ void lower(const int s, const int d, int* label, int* changed) {
    typedef int T;
    LOWER
}
"""
    checks = """
extern "C" __global__ void settle(
    int s, int d, float w, const double* distance, int* shorter, signed char* reached
) {
    SETTLE
}
extern "C" __global__ void add(int s, int d, const double* value, double* sums) {
    ADD
}
"""
    body = wrapped.replace("LOOP", graphs.RMAT_LOOP).replace("LOWER", graphs.LOWER)
    body += checks.replace("SETTLE", oracles.SETTLE).replace("ADD", oracles.ADD)
    source = graphs.RMAT_FUNCTIONS + body
    _, size, _ = nvrtc.compile(source, "graphs.cu", ("-std=c++17", "-arch=sm_90"), ())
    assert size > 0


@pytest.mark.gpu
def test_parts_of_an_rmat_graph_are_parts_of_the_whole():
    cupy = pytest.importorskip("cupy")
    whole = graphs.rmat(12, 10_000, seed=3)
    parts = list(graphs.rmat_parts(12, 10_000, seed=3, part=4096))
    for end, pieces in zip(whole, zip(*parts, strict=True), strict=True):
        assert bool((cupy.concatenate(pieces) == end).all())
        assert 0 <= int(end.min()) <= int(end.max()) < 1 << 12
    few = graphs.rmat(12, 10_000, seed=3, vertices=3000)
    assert int(max(end.max() for end in few)) < 3000


@pytest.mark.gpu
@pytest.mark.parametrize("shape", ["rmat", "grid", "path"])
def test_label_propagation_finds_what_scipy_finds(shape):
    cupy = pytest.importorskip("cupy")
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if shape == "rmat":
        source, target, n = *graphs.rmat(11, 1500), 1 << 11
    else:
        source, target, n = graphs.grid(11) if shape == "grid" else graphs.path(2000)
        source, target = graphs.with_permuted_ids(source, target, n, seed=5)
        source, target = graphs.in_another_order(source, target, seed=5)
    ids, smallest = map(cupy.asnumpy, graphs.truth(graphs.whole((source, target)), n))
    ends = cupy.asnumpy(source), cupy.asnumpy(target)
    assert ids.tolist() == np.unique(np.concatenate(ends)).tolist()
    count, labels = connected_components(coo_array((np.ones(len(ends[0])), ends), shape=(n, n)))
    expected = pd.Series(ids).groupby(labels[ids]).transform("min").tolist()
    assert smallest.tolist() == expected
    assert shape == "rmat" or count == 1


@pytest.mark.gpu
@pytest.mark.parametrize("directed", [True, False])
def test_distances_are_those_of_the_edges_and_no_others(directed):
    cupy = pytest.importorskip("cupy")
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    ends = graphs.rmat(9, 2000, seed=2)
    weight = algorithms.weights(2000, 2)
    assert 0 < float(weight.min()) <= float(weight.max()) <= 1
    source, target, length = (cupy.asnumpy(array) for array in (*ends, weight))
    least = pd.Series(length.astype("float64")).groupby([source, target]).min()
    where = [least.index.get_level_values(level) for level in (0, 1)]
    matrix = coo_array((least.to_numpy(), where), shape=(512, 512)).tocsr()
    start = int(source[0])
    found = cupy.asarray(dijkstra(matrix, directed=directed, indices=start))
    oracles.shortest("scipy", found, start, ends, weight, directed=directed)
    far = int(cupy.where(cupy.isfinite(found), found, 0).argmax())
    for wrong in (found[far] * 2, found[far] * 0.999, np.inf):
        other = found.copy()
        other[far] = wrong
        with pytest.raises(DisagreementError):
            oracles.shortest("other", other, start, ends, weight, directed=directed)


@pytest.mark.gpu
def test_ranks_added_up_by_atomics_are_the_librarys():
    cupy = pytest.importorskip("cupy")
    ends = graphs.rmat(9, 2000, seed=2)
    found = cupy.asnumpy(oracles.ranks(*ends, 512, 20))
    frame = pd.DataFrame(dict(zip(("src", "dst"), map(cupy.asnumpy, ends), strict=True)))
    theirs = gf.pagerank(frame, source="src", target="dst", tol=None, max_iter=20).compute()
    np.testing.assert_allclose(found[theirs["vertex"]], theirs["pagerank"], rtol=1e-9)
    assert np.isclose(found.sum(), 1)


@pytest.mark.gpu
def test_ids_as_strings_come_back_and_keep_their_order():
    cupy = pytest.importorskip("cupy")
    pytest.importorskip("cudf")
    numbers = cupy.asarray([0, 5, 10, 999, 10**9 - 1])
    strings = graphs.as_strings(numbers)
    assert strings.to_arrow().to_pylist() == sorted(strings.to_arrow().to_pylist())
    assert graphs.as_numbers(strings).tolist() == numbers.tolist()


@pytest.mark.gpu
def test_a_peak_counts_what_lies_beside_the_result_and_not_what_was_there():
    cupy = pytest.importorskip("cupy")
    rmm = pytest.importorskip("rmm")
    from rmm.allocators.cupy import rmm_cupy_allocator

    before = rmm.mr.get_current_device_resource()
    with cupy.cuda.using_allocator(rmm_cupy_allocator):
        there = cupy.zeros(1 << 20, "uint8")

        def work():
            beside = cupy.zeros(3 << 20, "uint8")
            return beside[: 1 << 20] + there

        assert pool.peak(work) == 4 << 20
    assert rmm.mr.get_current_device_resource() is before


def test_a_first_call_is_measured_with_an_empty_cache_and_then_with_what_it_left_there():
    options = argparse.Namespace(scale=4, workers=1)
    found = first_calls.measured("connected_components", options)
    assert found["first"]["compiling"] > 0
    assert found["first"]["kernels"]
    assert not found["cached"]["kernels"]
    table = first_calls.table({"connected_components": [found]}).splitlines()
    assert table[0].split() == [
        "function",
        "first",
        "CPU",
        "compiling",
        "kernels",
        "cached",
        "second",
    ]
    assert table[2].split()[4] == str(len(found["first"]["kernels"]))
