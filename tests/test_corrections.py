"""Rates that real calls correct: which calls count, what an estimate makes of them, and what is kept."""

from __future__ import annotations

import json

import dask
import pytest
from conftest import partitioned
from distributed import Client, LocalCluster

import dask_graphflow as gf
from dask_graphflow.api import results
from dask_graphflow.costs import ClusterSpec, Rates, corrections, store
from dask_graphflow.costs.curves import CURVES
from dask_graphflow.costs.defaults import default_rates
from dask_graphflow.costs.table import COSTS
from dask_graphflow.scheduling import placement

ENDS = {"source": "src", "target": "dst"}
EDGES = gf.generate.rmat(8).compute().assign(weight=1.0)
SOURCE = int(EDGES.src[0])
THREADS = placement.task_threads(1)
TRUE = 1e5  # edges per second that calls reach by the clock of these tests
STEPS = 20
PAGERANK = {"max_iter": STEPS, "tol": None}
MEASURE = "dask_graphflow.costs.microbenchmarks.measure"
DEAR = corrections.DEAR


def rates(rate):
    return Rates((1,), **dict.fromkeys(CURVES, (rate,)))


class Clock:
    """A clock by which each call takes some seconds."""

    def __init__(self, seconds):
        self.seconds, self.now = seconds, 0.0

    def perf_counter(self):
        self.now += self.seconds
        return self.now


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_known", {})
    monkeypatch.setattr(corrections, "_writing", {})
    monkeypatch.setattr(corrections, "SHORTEST", 0.02)
    monkeypatch.setattr(corrections, "DEAR", 1e-9)  # under load, some writes are slow
    with dask.config.set({"graphflow.calibration.path": str(tmp_path / "kept")}):
        yield tmp_path / "kept"


@pytest.fixture
def clock(monkeypatch):
    made = Clock(true_seconds())
    monkeypatch.setattr(results, "time", made)
    return made


def built(**options):
    return gf.Graph(partitioned(EDGES, 2), **{**ENDS, "directed": False, **options}).persist()


def estimate(graph, **options):
    return gf.estimate(graph, "pagerank", supersteps=STEPS, **options)


def true_seconds():
    """Return the seconds of supersteps of PageRank at the true rate."""
    cluster = ClusterSpec(threads=THREADS, rates=rates(TRUE))
    parts = estimate(built(), cluster=cluster).parts
    return parts["computing"] + parts["launching"]


def call(graph, times, algorithm="pagerank", **options):
    for _ in range(times):
        getattr(graph, algorithm)(
            **(options if algorithm != "pagerank" else PAGERANK | options)
        ).compute()


def files(folder):
    return sorted(path for path in folder.glob("calls-*")) if folder.exists() else []


def keep(rate, monkeypatch, threads=THREADS):
    """Calibrate a kind of worker to some rate."""
    with monkeypatch.context() as patched:
        patched.setattr(MEASURE, lambda *_, **__: rates(rate))
        gf.calibrate(ClusterSpec(threads=threads))


# What an estimate makes of calls


@pytest.mark.parametrize("wrong", [1 / 14, 1 / 3, 1, 14])
def test_rates_are_corrected_by_three_calls(kept, clock, monkeypatch, wrong):
    keep(TRUE * wrong, monkeypatch)
    graph = built()
    call(graph, 3)  # the first one does not count
    before = estimate(graph)
    call(graph, 1)
    after = estimate(graph)
    true = estimate(graph, cluster=ClusterSpec(threads=THREADS, rates=rates(TRUE)))
    assert before.parts["computing"] == pytest.approx(true.parts["computing"] / wrong)
    assert after.parts["computing"] == pytest.approx(true.parts["computing"], rel=0.1)
    assert "corrected" not in before.reason
    assert "the rate of pulls is corrected by the times of 3 calls" in after.reason
    # Other rates are corrected only if these are far off.
    other = gf.estimate(graph, "label_propagation")
    assert ("the rate of labels is corrected by" in other.reason) == (wrong != 1)
    assert after.parts["building"] == pytest.approx(true.parts["building"], rel=0.1)
    assert "rate of hooks is corrected by" in gf.estimate(EDGES, **ENDS).reason or wrong == 1


def test_a_typical_machines_rates_are_corrected_too_but_by_no_more_than_16(kept, clock):
    clock.seconds = 1e6
    graph = built()
    before = estimate(graph)
    call(graph, 4)
    after = estimate(graph)
    assert after.parts["computing"] == pytest.approx(16 * before.parts["computing"])
    assert "typical machine" in after.reason
    assert "corrected by the times of 3 calls" in after.reason


def test_the_last_nine_calls_count_and_one_that_was_disturbed_does_not_matter(kept, clock):
    graph = built()
    clock.seconds *= 10
    call(graph, 6)
    clock.seconds /= 10
    call(graph, 9)
    once = estimate(graph)
    assert "9 calls" in once.reason
    clock.seconds *= 50
    call(graph, 1)
    assert estimate(graph).parts["computing"] == pytest.approx(once.parts["computing"])
    (path,) = files(kept)
    (calls,) = json.loads(path.read_text())["calls"].values()
    assert len(calls) == 9


def test_a_calibration_forgets_the_calls_of_what_it_measures(kept, clock, monkeypatch):
    keep(TRUE, monkeypatch)
    graph = built()
    call(graph, 4)
    keep(TRUE, monkeypatch, threads=THREADS + 1)
    assert "corrected" in estimate(graph).reason
    monkeypatch.setattr(MEASURE, None)
    gf.calibrate(fresh=False)
    assert "corrected" in estimate(graph).reason
    keep(2 * TRUE, monkeypatch)
    assert not files(kept)
    assert "corrected" not in estimate(graph).reason


def test_calls_on_workers_are_read_where_they_ran(kept, clock):
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster),
    ):
        graph = built(shards=1)
        before = estimate(graph)
        for alpha in 0.5, 0.6, 0.7, 0.8:  # no result is on the workers already
            call(graph, 1, alpha=alpha, **PAGERANK)
        after = estimate(graph)
    assert "corrected" not in before.reason
    assert "corrected by the times of 3 calls" in after.reason
    alone = default_rates(False, 1).rate("pulls", 256)
    (path,) = files(kept)
    reached = json.loads(path.read_text())["calls"]["pulls"]
    assert path.name.endswith("-cpu-1.json")
    assert [size for size, _ in reached] == [256] * 3
    factor = max(reached[0][1] / alone, 1 / 16)
    assert after.parts["computing"] == pytest.approx(before.parts["computing"] / factor)


# Which calls count

COUNTED = [
    ("pagerank", PAGERANK, {}),
    ("pagerank", {**PAGERANK, "alpha": 0.5}, {"directed": True}),
    ("label_propagation", {"max_iter": 3}, {}),
    ("bfs", {"sources": SOURCE}, {}),
    ("sssp", {"sources": SOURCE}, {"weight": "weight"}),
]
NOT_COUNTED = [
    ("pagerank", PAGERANK, {"shards": 2}),
    ("hits", {}, {}),  # its passes are not those that are measured
    ("bfs", {"sources": SOURCE, "depth_limit": 1}, {}),
    ("bfs", {"sources": SOURCE, "targets": SOURCE}, {}),
    ("sssp", {"sources": SOURCE, "cutoff": 0.5}, {"weight": "weight"}),
    ("bfs", {"sources": SOURCE}, {"directed": True}),
    ("label_propagation", {"max_iter": 3}, {"directed": True}),
    ("degrees", {}, {}),
]


@pytest.mark.parametrize(("algorithm", "options", "graph"), COUNTED)
def test_calls_whose_work_was_measured_count_from_the_second_one(
    kept, clock, algorithm, options, graph
):
    graph = built(**graph)
    call(graph, 1, algorithm, **options)
    assert not files(kept)
    call(graph, 2, algorithm, **options)
    (path,) = files(kept)
    ((kernel, calls),) = json.loads(path.read_text())["calls"].items()
    assert kernel == COSTS[algorithm].kernel
    assert len(calls) == 2
    assert store.entries() == []  # nothing was calibrated


@pytest.mark.parametrize(("algorithm", "options", "graph"), NOT_COUNTED)
def test_calls_whose_work_is_not_known_do_not_count(kept, clock, algorithm, options, graph):
    call(built(**graph), 3, algorithm, **options)
    assert not files(kept)


@pytest.mark.parametrize(
    ("seconds", "edges"), [(0.019, EDGES), (0.1, EDGES[:300])], ids=["short", "sparse"]
)
def test_short_calls_and_those_on_sparse_graphs_do_not_count(kept, clock, seconds, edges):
    clock.seconds = seconds
    call(gf.Graph(edges, **ENDS, directed=False).persist(), 3, "label_propagation", max_iter=1)
    assert not files(kept)


def test_a_call_that_only_launches_supersteps_does_not_count(kept, clock):
    clock.seconds = 0.2  # of which 0.12 are for launching
    call(built(), 3, max_iter=2000, tol=None)
    assert not files(kept)


def test_calls_on_a_graph_that_is_not_persisted_do_not_count(kept, clock):
    graph = gf.Graph(EDGES, **ENDS, directed=False)
    call(graph, 3)
    assert not files(kept)


def test_where_writing_is_slow_only_long_calls_write(kept, clock, monkeypatch):
    monkeypatch.setattr(corrections, "DEAR", DEAR)
    graph = built()
    call(graph, 2)
    monkeypatch.setitem(corrections._writing, kept, clock.seconds / 5)
    (path,) = files(kept)
    path.unlink()
    call(graph, 2)
    assert not files(kept)
    call(graph, 1)  # it is tried again after a while
    assert files(kept)


# What is kept


@pytest.mark.parametrize(
    "changed",
    ["", "{", "null", '"x"', {"version": "0.0"}, {"made": 0.0}]
    + [{"calls": calls} for calls in (1, None, {"pulls": 3}, {"pulls": [[1]]}, {"cook": []})]
    + [{"calls": {"pulls": [[1, rate]] * 3}} for rate in (0, -1, "x", float("nan"), 1e999)],
    ids=repr,
)
def test_a_file_that_is_stale_or_broken_is_ignored(kept, clock, changed):
    graph = built()
    plain = estimate(graph)
    call(graph, 4)
    (path,) = files(kept)
    held = json.loads(path.read_text())
    path.write_text(changed if isinstance(changed, str) else json.dumps(held | changed))
    assert estimate(graph) == plain
    call(graph, 1)
    assert [len(calls) for calls in json.loads(path.read_text())["calls"].values()] == [1]


def test_a_folder_that_cannot_be_written_is_tried_once(kept, clock, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    tried = []

    def write(path, held):
        tried.append(path)
        return written(path, held)

    written = store.write
    monkeypatch.setattr(store, "write", write)
    graph = built()
    with dask.config.set({"graphflow.calibration.path": str(tmp_path / "file" / "under")}):
        call(graph, 5)
        assert "corrected" not in estimate(graph).reason
    assert len(tried) == 1


def test_an_age_that_is_none_is_no_error_of_a_call(kept, clock):
    with dask.config.set({"graphflow.calibration.age": "soon"}):
        call(built(), 3)
    assert not files(kept)
