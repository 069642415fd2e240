"""Reports of a run: its progress while it runs, and its trace afterwards."""

from __future__ import annotations

import contextvars
import gc
import io
import sys
import threading
import time
import weakref
from functools import partial
from types import SimpleNamespace

import dask
import pandas as pd
import pytest
from conftest import ENDS, frame, partitioned
from distributed import Client, wait

import dask_graphflow as gf
from dask_graphflow.comm.exchange import HEADER
from dask_graphflow.exceptions import ConvergenceError, OptionError
from dask_graphflow.tasks import progress

LABEL = gf.EdgeOp("label", target="least", signal="least[src]", slot="min")
ASKED = {
    "bfs": lambda g, **options: g.bfs([0], **options),
    "sssp": lambda g, **options: g.sssp([0], **options),
    "pagerank": lambda g, **options: g.pagerank(**options),
    "run": lambda g, **options: g.run(LABEL, columns={"least": "vertex"}, **options),
    "components": lambda g, **options: g.connected_components(**options),
}
STEP = ["superstep", "direction", "frontier", "edges", "bytes", "seconds"]


TREE = [(i, 2 * i + j) for i in range(4500) for j in (1, 2)]  # each of three members has a part


def graph(shards=1):
    """Return a built graph."""
    edges = partitioned(frame(TREE).assign(w=1.0), 4)
    return gf.Graph(edges, **ENDS, weight="w", directed=False, shards=shards).persist()


# In one process


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("name", ASKED)
def test_progress_reports_equal_the_trace(scheduler, name, shards):
    told = []
    found, trace = ASKED[name](graph(shards), trace=True, progress=told.append)
    _, trace = dask.compute(found, trace)
    first = trace if shards == 1 else trace[trace.member == 0]
    assert told
    assert all(list(step) == STEP for step in told)
    columns = [column for column in STEP if column in trace]
    pd.testing.assert_frame_equal(pd.DataFrame(told)[columns], first[columns])
    assert all((step["bytes"] > 0) == (shards > 1) for step in told)


@pytest.mark.parametrize("shards", [1, 2])
def test_progress_is_reported_while_the_run_goes_on(scheduler, shards):
    """An error in the function ends the run."""
    told = []

    def stop(step):
        told.append(step["superstep"])
        if step["superstep"] == 2:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        graph(shards).pagerank(progress=stop).compute()
    assert told == [0, 1, 2]


@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize("trace", [False, True])
def test_the_result_is_the_same_one(scheduler, shards, trace):
    g, told = graph(shards), []
    quiet = g.bfs([0], trace=trace)
    loud = g.bfs([0], trace=trace, progress=told.append)
    if trace:
        quiet, loud = quiet[0], loud[0]
    assert loud.__dask_keys__() == quiet.__dask_keys__()
    pd.testing.assert_frame_equal(*dask.compute(quiet, loud))
    assert [step["superstep"] for step in told] == list(range(len(told)))


def test_the_last_call_determines_the_progress_function(scheduler):
    g, first, second = graph(2), [], []
    asked = g.bfs([0], progress=first.append)
    again = g.bfs([0], progress=second.append)
    asked.compute()
    assert not first
    assert second
    count = len(second)
    g.bfs([0]).compute()
    again.compute()
    assert len(second) == count


def test_a_progress_function_is_not_kept_after_the_call():
    told = threading.local()  # an object that weak references can refer to
    gone = weakref.ref(told)
    asked = graph().bfs([0], progress=partial(setattr, told, "step"))
    del told
    gc.collect()
    assert gone() is not None
    del asked
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("given", ["yes", 1, 0, [print]])
def test_an_invalid_progress_option_is_refused(given):
    with pytest.raises(OptionError, match=r"progress=.*True for a progress bar"):
        gf.bfs(frame([(0, 1)]), **ENDS, sources=[0], progress=given)


# The bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("shards", [1, 2])
def test_a_terminal_shows_a_bar(scheduler, shards, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    _, trace = graph(shards).bfs([0], progress=True, trace=True)
    steps = trace.compute()
    last = sys.stderr.getvalue().replace("\r", "\n").rstrip().splitlines()[-1]
    assert last.startswith(f"bfs: {steps.superstep.max() + 1} supersteps [")
    assert last.endswith(f"{steps.direction.iloc[-1]} from {steps.frontier.iloc[-1]} vertices]")


def test_a_notebook_shows_a_bar_although_it_is_no_terminal(monkeypatch):
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    graph().bfs([0], progress=True).compute()
    assert "bfs: " in sys.stderr.getvalue()


def test_a_log_file_shows_nothing(scheduler, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    graph().bfs([0], progress=True).compute()
    assert sys.stderr.getvalue() == ""


def test_without_tqdm_the_call_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(OptionError, match="pip install tqdm"):
        gf.bfs(frame([(0, 1)]), **ENDS, sources=[0], progress=True)
    gf.bfs(frame([(0, 1)]), **ENDS, sources=[0], progress=print)


# Components, whose parts many tasks do


def parts(told):
    return [step["done"] for step in told], [step["stage"] for step in told]


@pytest.mark.parametrize("dense", [True, False], ids=["dense", "loose"])
def test_components_report_each_part(scheduler, dense):
    edges = partitioned(frame([(7 * i, 7 * i + 7) for i in range(90)]), 9)
    if not dense:
        edges = edges.astype("str")
    told, unwatched = [], gf.connected_components(edges, **ENDS)
    labels = gf.connected_components(edges, **ENDS, progress=told.append)
    assert labels._name == unwatched._name
    labels.compute(scheduler=scheduler)
    total = 9 + labels.npartitions
    stages = ["hook"] * 9 + ["label"] * labels.npartitions
    assert parts(told) == (list(range(1, total + 1)), stages)
    assert {step["total"] for step in told} == {total}
    labels.compute(scheduler=scheduler)  # counts anew
    assert told[total:] == told[:total]


def test_failed_components_are_counted_from_the_start():
    pairs = frame([(i, i + 1) for i in range(20)]).astype("Int64")
    pairs.iloc[15] = [1, None]
    told = []
    with dask.config.set(num_workers=1):  # one chain: the partition that fails is the last
        labels = gf.connected_components(partitioned(pairs, 4), **ENDS, progress=told.append)
    with pytest.raises(gf.exceptions.NullVertexError):
        labels.compute(scheduler="sync")
    first = list(told)
    assert first
    with pytest.raises(gf.exceptions.NullVertexError):
        labels.compute(scheduler="sync")
    assert told == first * 2


def test_a_repeated_part_is_counted_once():
    told = []
    tally = progress.Tally(told.append, {"hook": 2, "label": 1})
    for stage in ("hook", "hook", "hook", "label"):
        tally({"stage": stage})
    assert [step and step["done"] for step in told] == [1, 2, 2, 3, None]


def test_a_cluster_reports_the_progress_of_components(client):
    told = []
    edges = partitioned(frame(TREE), 6)
    labels = gf.connected_components(edges, **ENDS, progress=told.append)
    assert len(labels.compute()) == 9001
    deadline = time.monotonic() + 10
    while len(told) < 6 + labels.npartitions and time.monotonic() < deadline:
        time.sleep(0.01)  # events come by themselves
    assert parts(told)[0] == list(range(1, 7 + labels.npartitions))


# On a cluster


@pytest.mark.parametrize(("name", "shards"), [("bfs", 1), *((name, 2) for name in ASKED)])
def test_a_cluster_reports_progress_to_the_client_that_made_the_call(client, name, shards):
    told, lock = [], threading.Lock()

    def tell(step):
        with lock:  # which cannot be pickled
            told.append((step, threading.current_thread()))

    g = graph(shards)
    found, trace = ASKED[name](g, trace=True, progress=tell)
    found, trace = dask.compute(found, trace)
    steps = [step for step, _ in told]
    numbers = [step["superstep"] for step in steps]
    # Reports in between can be left out, but the first and the last arrive with the result.
    assert numbers == sorted(set(numbers))
    assert (numbers[0], numbers[-1]) == (0, trace.superstep.max())
    first = trace if shards == 1 else trace[trace.member == 0]
    columns = [column for column in STEP if column in trace]
    pd.testing.assert_frame_equal(
        pd.DataFrame(steps)[columns], first.iloc[numbers][columns].reset_index(drop=True)
    )
    with dask.config.set(scheduler="sync"):
        one = ASKED[name](graph()).compute()
    pd.testing.assert_frame_equal(found.reset_index(drop=True), one.reset_index(drop=True))


def test_progress_of_two_runs_is_separate(client):
    g, told = graph(2), {limit: [] for limit in (2, 4, 7)}
    dask.compute(
        *(g.bfs([0], depth_limit=limit, progress=steps.append) for limit, steps in told.items())
    )
    for limit, steps in told.items():
        assert [steps[0]["superstep"], steps[-1]["superstep"]] == [0, limit - 1]


def test_progress_of_a_persisted_result_is_reported_after_the_call_is_gone(client):
    told = []
    kept = graph(2).pagerank(alpha=0.5, progress=told.append).persist()
    gc.collect()
    wait(kept)
    assert told


def test_a_notebook_shows_progress_in_the_cell_that_runs(shared_cluster):
    """ipykernel finds the cell by a context variable, and without a value takes the cell that runs."""
    cell, cells = contextvars.ContextVar("cell"), []
    token = cell.set("the cell that made the client")
    with Client(shared_cluster):
        cell.reset(token)
        graph(2).pagerank(alpha=0.7, progress=lambda _: cells.append(cell.get(None))).compute()
    assert cells
    assert set(cells) == {None}


def test_an_error_in_a_progress_function_does_not_end_a_run_on_a_cluster(client, caplog):
    def wrong(step):
        raise KeyError("no such thing")

    found = graph(2).pagerank(alpha=0.8, progress=wrong).compute()
    assert len(found) == 9001
    assert "no such thing" in caplog.text


def test_the_last_superstep_of_a_run_that_fails_is_reported(client):
    told = []
    with pytest.raises(ConvergenceError):
        graph(2).pagerank(max_iter=5, tol=1e-12, progress=told.append).compute()
    deadline = time.monotonic() + 10
    while told[-1]["superstep"] < 4 and time.monotonic() < deadline:
        time.sleep(0.01)  # the other member may have failed first
    assert told[-1]["superstep"] == 4


def test_a_run_sends_at_most_ten_events_per_second_and_the_last_one(monkeypatch):
    now = 100.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    logged = []
    events = progress._Events(logged.append, "a run")
    for step in range(1000):
        now += 0.001
        events({"superstep": step})
    events(None)
    numbers = [one["step"]["superstep"] for one in logged[:-1]]
    assert numbers[0] == 0
    assert 8 <= len(numbers) <= 12
    assert numbers[-1] == 999
    assert logged[-1] == {"run": "a run", "step": None}


# The trace of several members


def test_each_member_says_how_it_spent_its_seconds(scheduler):
    _, trace = graph(3).pagerank(max_iter=7, tol=None, trace=True)
    found = trace.compute()
    assert trace.npartitions == 3
    assert found.columns.tolist() == [
        "superstep",
        "member",
        "direction",
        "frontier",
        "edges",
        "seconds",
        "compute",
        "communicate",
        "wait",
        "bytes",
        "linked",
        "transfer",
    ]
    assert set(found.transfer) == {"host"}
    assert found.dtypes.to_dict() == trace.dtypes.to_dict()
    assert found.member.tolist() == [0] * 7 + [1] * 7 + [2] * 7
    assert found.superstep.tolist() == [*range(7)] * 3
    spent = found[["compute", "communicate", "wait"]]
    assert (spent >= 0).all(axis=None)
    pd.testing.assert_series_equal(spent.sum(axis=1), found.seconds, check_names=False)


def test_a_superstep_counts_only_its_own_bytes(scheduler):
    """If one member has all vertices, messages contain headers only."""
    edges = partitioned(frame([(i, i + 1) for i in range(30)]).assign(w=1.0), 2)
    g = gf.Graph(edges, **ENDS, weight="w", directed=False, shards=2).persist()
    label = {"op": LABEL, "columns": {"least": "vertex"}, "direction": "push"}
    # In the first push, members tell each other which vertices they mirror.
    g.run(**label, max_iter=1).compute()
    asked = {
        "bfs": g.bfs([0], direction="push", trace=True),
        "sssp": g.sssp([0], trace=True),
        "pagerank": g.pagerank(trace=True),
        "run": g.run(**label, trace=True),
    }
    for name, (_, trace) in asked.items():
        steps = trace.compute()
        rounds = steps.bytes / HEADER.size
        # The round in which all members say that they know the mirrors.
        first = 2 if name == "run" else 1
        assert set(rounds[steps.superstep == 0]) == {first}, name
        assert set(rounds[steps.superstep > 0]) <= {1}, name
