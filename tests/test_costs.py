"""The cost models: rates and how they are kept, formulas by hand, shares, and a simulation."""

from __future__ import annotations

import functools
import json
import math
import re
import subprocess
import sys
import time
from pathlib import Path

import dask
import numpy as np
import pytest
from dask.system import CPU_COUNT
from hypothesis import given
from hypothesis import strategies as st
from members import eventually

import dask_graphflow as gf
from benchmarks import costs as benchmark
from benchmarks import simulate as simulating
from benchmarks.simulation import H200, GraphStats, simulate
from dask_graphflow.costs import (
    ClusterSpec,
    Links,
    Rates,
    microbenchmarks,
    model,
    rates,
    share_out,
    store,
)
from dask_graphflow.costs import cluster as clusters
from dask_graphflow.costs.curves import CURVES
from dask_graphflow.costs.links import measure_links
from dask_graphflow.costs.microbenchmarks import forest_seconds, measure
from dask_graphflow.costs.workloads import _edges
from dask_graphflow.exceptions import GraphMemoryError, OptionError
from dask_graphflow.graph import memory
from dask_graphflow.graph.load_balance import makespan
from dask_graphflow.kernels import host_groups

DOCS = Path(__file__).parent.parent / "docs" / "internals"


def made(rate=1e6, sizes=(100,), **others):
    curves = {name: tuple(rate * (1 + i) for i in range(len(sizes))) for name in CURVES}
    return Rates(tuple(sizes), **{**curves, **others})


# Rates


def test_a_rate_lies_on_a_line_of_logarithms_and_stays_at_the_lower_end():
    found = made(sizes=(100, 10_000), pulls=(4e6, 1e6))
    assert found.rate("pulls", 100) == 4e6
    assert found.rate("pulls", 10_000) == 1e6
    assert found.rate("pulls", 1000) == pytest.approx(2e6)
    assert found.rate("pulls", 0) == found.rate("pulls", 1) == 4e6


def test_beyond_what_was_measured_a_launch_is_made_once():
    def rate(vertices):
        return vertices / (1e-3 + vertices / 1e9)

    sizes = 1 << 16, 1 << 18
    pulls = tuple(map(rate, sizes))
    device, host = (made(sizes=sizes, pulls=pulls, copies=copies) for copies in (1e9, math.inf))
    for scale in 18, 24, 29:
        assert device.rate("pulls", 1 << scale) == pytest.approx(rate(1 << scale))
        assert host.rate("pulls", 1 << scale) == pulls[-1]


@given(st.lists(st.floats(1.0, 1e12), min_size=3, max_size=3), st.integers(0, 10**10))
def test_a_rate_is_never_far_outside_of_what_was_measured(pulls, vertices):
    for copies, beyond in (1e9, 16), (math.inf, 1):
        found = made(sizes=(10, 1000, 10**6), pulls=tuple(pulls), copies=copies)
        most = max(pulls) if vertices <= 10**6 else beyond * pulls[-1]
        assert min(pulls) * 0.998 <= found.rate("pulls", vertices) <= most * 1.001


@pytest.mark.parametrize(
    ("sizes", "pulls"),
    [
        ((), ()),
        ((10, 10), (1.0, 1.0)),
        ((100, 10), (1.0, 1.0)),
        ((100,), (1.0, 2.0)),
        ((100,), (0.0,)),
        ((100,), (math.nan,)),
    ],
)
def test_rates_that_are_none_are_refused(sizes, pulls):
    with pytest.raises(OptionError, match="give"):
        made(sizes=sizes, pulls=pulls)


@pytest.mark.parametrize("only", ["hook", "copies", ["hooks"]], ids=str)
def test_rates_of_a_kernel_that_is_none_are_refused(only):
    with pytest.raises(
        OptionError, match=r"only=.*; give 'hooks', .*'text_ids', or None"
    ) as raised:
        rates(False, 1, only=only, measure=lambda device, threads: made())
    assert ("did you mean 'hooks'?" in str(raised.value)) == (only != "copies")


@pytest.mark.parametrize("kernel", ["pull", "copies", ["pulls"]], ids=str)
def test_a_rate_of_a_kernel_that_is_none_is_refused(kernel):
    with pytest.raises(OptionError, match=r"kernel=.*; give 'hooks', .*'text_ids'"):
        made().rate(kernel, 1)


def test_rates_survive_json_and_are_shared_by_several():
    for copies in (math.inf, 55e9):
        found = made(sizes=(1, 7), copies=copies)
        assert Rates.of(json.loads(json.dumps(found.as_dict()))) == found
        shared = found.over(4)
        assert shared.rate("pulls", 1) == found.rate("pulls", 1) / 4
        assert shared.copies == copies  # each has a link of its own


def test_the_real_kernels_are_timed():
    found = measure(False, 1, scales=(6, 8))
    assert found.sizes == (64, 256)
    assert all(found.rate(kernel, 100) > 1000 for kernel in CURVES)
    assert found.copies == math.inf


@pytest.mark.parametrize(
    ("rate", "room", "largest"),
    [(1e8, math.inf, 22), (6e6, math.inf, 20), (1e8, 400 * 16 << 20, 20), (1e8, None, 22)],
    ids=["all", "no time", "no room", "unknown"],
)
def test_large_graphs_are_measured_where_there_is_time_and_room(monkeypatch, rate, room, largest):
    def timed(kernels, scale, threads, only, told):
        time.sleep(0.02)  # as small ones take, whatever their rate: that says nothing of large ones
        return {"merges": rate}

    monkeypatch.setattr(microbenchmarks, "_timed", timed)
    monkeypatch.setattr(microbenchmarks, "PATIENCE", 1.0)
    monkeypatch.setattr(microbenchmarks, "free_bytes", lambda kernels: room)
    assert measure(False, 1, only=("merges",)).sizes[-1] == 1 << largest


def test_graphs_that_are_asked_for_are_measured(monkeypatch):
    monkeypatch.setattr(microbenchmarks, "_timed", lambda *_: {"merges": 1e6})
    monkeypatch.setattr(microbenchmarks, "PATIENCE", 0.0)
    monkeypatch.setattr(microbenchmarks, "free_bytes", lambda kernels: 0)
    assert measure(False, 1, only=("merges",), scales=(14, 22)).sizes == (1 << 14, 1 << 22)


# Of the benchmark.
OPTIONS = {"edge_factor": 16, "scale": 10, "foretell": [], "threads": 1, "partitions": 4}


def test_a_forest_takes_something_whatever_its_edges():
    assert 0 <= forest_seconds(scale=10) < 1e-3  # of a vertex
    options = type("Options", (), {**OPTIONS, "gpu": False})()
    between = Links(c=1e9, moves=1e9, latency=0.0, call=0.0, level=0.0, gang=0.0)
    taken = {name: {1: [5.0], 2: [3.5], 4: [3.0]} for name in benchmark.PHASES}
    taken |= {f"tiny {name}": {n: [0.0] for n in (1, 2, 4)} for name in benchmark.PHASES}
    without, with_it = (
        benchmark.predict(taken, 1 << 10, options, between, 1e12, one, 2.0, min)["components"]
        for one in (0.0, 1e-3)
    )
    # Four forests on two cores are made two after two: a second of 1024 vertices more.
    assert with_it["beside"][4] - without["beside"][4] == pytest.approx(2 * 1.024)
    assert with_it["seconds"][4] > without["seconds"][4] + 1


def test_large_graphs_are_rmat_too(monkeypatch):
    monkeypatch.setattr("dask_graphflow.costs.workloads.DRAWN", 10)
    ours = _edges(np, 12)
    drawn = gf.generate.rmat(12).compute()
    for ends, name in zip(ours, ("src", "dst"), strict=True):
        assert len(ends) == len(drawn)
        assert 0 <= ends.min() < ends.max() < 1 << 12
        # As many of the edges at the 64 vertices that have most.
        most = [np.sort(np.bincount(a))[-64:].sum() for a in (ends, drawn[name])]
        assert most[0] == pytest.approx(most[1], rel=0.1)
    assert all(np.array_equal(a, b) for a, b in zip(ours, _edges(np, 12), strict=True))


# What is kept


class Counting:
    def __init__(self):
        self.calls = []

    def __call__(self, device, threads):
        self.calls.append((device, threads))
        return made(rate=1e6 * len(self.calls))


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_known", {})
    monkeypatch.setattr(microbenchmarks, "is_busy", lambda threads: False)
    with dask.config.set({"graphflow.calibration.path": str(tmp_path / "kept")}):
        yield tmp_path / "kept"


def test_it_is_measured_once_a_kind(kept):
    counting = Counting()
    first = rates(False, 1, measure=counting)
    assert rates(False, 1, measure=counting) == first
    assert rates(False, 2, measure=counting) != first
    assert counting.calls == [(False, 1), (False, 2)]
    assert rates(False, 1, measure=counting, fresh=True) != first
    assert len(counting.calls) == 3
    (one, two) = sorted(kept.iterdir())  # nothing half-written is left
    assert one.suffix == two.suffix == ".json"


STALE = [
    ("version", "0.0"),
    ("format", -1),
    ("hardware", "another"),
    ("host", "another"),
    ("threads", 7),
    ("made", 0.0),
    ("made", 1e12),  # later than now
    ("made", "yesterday"),
    ("rates", {}),
    ("rates", {**made().as_dict(), "pulls": [-1.0]}),
    ("rates", {**made().as_dict(), "pulls": "x"}),
]
BROKEN = ["", "{", "[]", "null", '"x"', "\x00"]


@pytest.mark.parametrize("changed", [*STALE, *BROKEN], ids=repr)
def test_what_is_stale_is_measured_again(kept, changed):
    counting = Counting()
    rates(False, 1, measure=counting)
    (path,) = kept.iterdir()
    held = json.loads(path.read_text())
    text = changed if isinstance(changed, str) else json.dumps({**held, changed[0]: changed[1]})
    path.write_text(text)
    again = rates(False, 1, measure=counting)
    assert len(counting.calls) == 2
    assert rates(False, 1, measure=counting) == again
    assert json.loads(path.read_text())["version"] == gf.__version__


@pytest.mark.parametrize("when", [0, 1])
def test_rates_of_a_busy_machine_are_kept_for_an_hour(kept, monkeypatch, when):
    looks = iter([when == 0, when == 1])
    monkeypatch.setattr(microbenchmarks, "is_busy", lambda threads: next(looks, False))
    counting = Counting()
    with pytest.warns(UserWarning, match=r"rates may be too low.*kept for an hour"):
        rates(False, 1, measure=counting)
    (path,) = kept.iterdir()
    for minutes, calls in ((59, 1), (61, 2)):
        held = json.loads(path.read_text())
        path.write_text(json.dumps({**held, "made": time.time() - 60 * minutes}))
        rates(False, 1, measure=counting)
        assert len(counting.calls) == calls
    assert json.loads(path.read_text())["busy"] is False


def test_programs_that_use_all_cores_are_noticed():
    spin = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(spin) for _ in range(3 * CPU_COUNT)]
    try:
        assert eventually(lambda: microbenchmarks.is_busy(CPU_COUNT))
    finally:
        for other in others:
            other.kill()
            other.wait()


def test_how_old_it_may_be_is_configured(kept):
    counting = Counting()
    rates(False, 1, measure=counting)
    with dask.config.set({"graphflow.calibration.age": "0 s"}):
        rates(False, 1, measure=counting)
    assert len(counting.calls) == 2
    with (
        dask.config.set({"graphflow.calibration.age": "soon"}),
        pytest.raises(OptionError, match=r"graphflow\.calibration\.age.*'30 days'"),
    ):
        rates(False, 1, measure=counting)


def test_a_write_that_is_cut_off_leaves_the_old_file(kept, monkeypatch):
    counting = Counting()
    first = rates(False, 1, measure=counting)

    def cut_off(held, file, **options):
        file.write('{"format"')
        raise OSError("disk full")

    with monkeypatch.context() as patched:
        patched.setattr(store.json, "dump", cut_off)
        with pytest.warns(UserWarning, match=r"disk full.*graphflow\.calibration\.path"):
            rates(False, 1, measure=counting, fresh=True)
    assert len(list(kept.iterdir())) == 1
    assert rates(False, 1, measure=counting) == first


def test_where_nothing_can_be_written_this_process_knows(tmp_path, kept):
    (tmp_path / "file").write_text("in the way")
    counting = Counting()
    with dask.config.set({"graphflow.calibration.path": str(tmp_path / "file" / "under")}):
        with pytest.warns(UserWarning, match="cannot be kept"):
            first = rates(False, 1, measure=counting)
        assert rates(False, 1, measure=counting) == first
    assert len(counting.calls) == 1


def test_the_users_cache_is_where_the_standard_says(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert store.folder() == tmp_path / "dask-graphflow"
    for ignored in ("", "relative/path"):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert store.folder() == Path.home() / ".cache" / "dask-graphflow"
    with dask.config.set({"graphflow.calibration.path": str(tmp_path / "mine")}):
        assert store.folder() == tmp_path / "mine"


# Formulas


def test_components_take_what_groutes_model_says():
    for merge, members, seconds in (
        # 0.5·16/N + 0.1 + 2·depth
        ("tree", 1, 8.1),
        ("tree", 8, 1.0 + 0.1 + 3 * 2.0),
        ("one-way", 8, 1.0 + 0.1 + 7 * 2.0),
        ("ring", 4, 2.0 + 0.1 + 3 * 2.0),
    ):
        constants = {"t_at": 0.5, "t_com": 0.1, "t_merge": 2.0, "merge": merge}
        found = model.components_seconds(1000, 16_000, members, **constants)
        assert found == pytest.approx(seconds)


def test_a_superstep_takes_as_long_as_its_slowest_member():
    assert makespan([10.0, 30.0], [10.0, 10.0], [4.0, 2.0], c=2.0) == 4.0
    # A device takes 40% of a CPU's edges, and messages are 5% of them: TOTEM's c / (beta r + alpha c).
    r, c, edges = 1e9, 3e9, 1e9
    both = makespan([0.6 * edges, 0.4 * edges], [r, 1e12], [0.05 * edges] * 2, c)
    assert edges / r / both == pytest.approx(c / (0.05 * r + 0.6 * c))


def test_what_is_read_of_others_is_no_less_than_on_a_real_graph():
    edges = gf.generate.rmat(12, edge_factor=2).compute()
    rng = np.random.default_rng(0)
    vertices, members = 1 << 12, 8
    owner = rng.integers(0, members, vertices)
    src, dst = owner[edges.src], owner[edges.dst]
    boundary = edges[src != dst]
    read = len(set(zip(dst[src != dst], boundary.src, strict=True))) / members
    assert read <= model.remote(vertices, len(edges) / vertices, members) <= vertices * 7 / 8
    assert model.remote(vertices, 2.0, 1) == 0
    assert model.remote(100, 1.0, 4) == pytest.approx(75 * 0.25)
    assert model.remote(100, 64.0, 4) == 75  # all are told


def test_numbering_gets_no_faster_with_threads_and_slower_only_where_workers_share_cores():
    found = Rates((1,), hooks=(8.0,), far_ids=(8.0,))
    assert (found.over(0.25).hooks, found.over(0.25).far_ids) == ((32.0,), (8.0,))
    assert (found.over(4, per_core=2).hooks, found.over(4, per_core=2).far_ids) == ((2.0,), (4.0,))


def test_some_ends_of_edges_have_fewer_distinct_vertices():
    assert model.distinct(0, 1000) == 0
    assert 900 < model.distinct(1000, 10**6) <= 1000
    assert 990 < model.distinct(10**6, 1000) <= 1000


@pytest.mark.parametrize("work", [model.numbered, model.joined])
def test_numbering_takes_more_work_the_more_there_is_to_number_and_less_if_it_is_shared(work):
    assert work(4000, 100, 8, 1) == pytest.approx(8 * work(500, 12.5, 8, 1))
    assert work(8000, 100, 8, 2) > work(4000, 100, 8, 2)
    assert work(8000, 1000, 8, 2) > work(8000, 100, 8, 2)
    assert work(10**6, 100, 8, 4) < work(10**6, 100, 8, 1) / 2


def test_pagerank_makes_no_more_iterations_than_it_is_said():
    for vertices, options, steps in (
        (1, {}, 91),
        (10**6, {}, 6),
        (10**8, {}, 1),
        (1, {"most": 20}, 20),
        (1, {"alpha": 0.0}, 1),
    ):
        assert model.iterations(vertices, **options) == steps
    edges = gf.generate.rmat(8).compute()
    _, trace = gf.pagerank(edges, source="src", target="dst", trace=True)
    assert len(trace.compute()) <= model.iterations(200)


# Shares

SPEEDS = st.lists(st.floats(0.1, 1e3), min_size=1, max_size=8)


@given(SPEEDS, st.data())
def test_shares_are_those_whose_slowest_member_ends_first(speeds, data):
    room = data.draw(
        st.lists(st.floats(0.0, 1.0), min_size=len(speeds), max_size=len(speeds)), label="room"
    )
    if sum(room) < 1 - 1e-9:
        with pytest.raises(GraphMemoryError, match="there is room for"):
            share_out(speeds, room)
        return
    shares = np.array(share_out(speeds, room))
    assert shares.sum() == pytest.approx(1)
    assert (shares >= 0).all()
    assert (shares <= np.array(room) + 1e-9).all()
    # A member with room for more takes as long as the slowest one, so no other shares take less time.
    times = shares / speeds
    free = times[shares < np.array(room) - 1e-6]
    assert free == pytest.approx(times.max(), rel=1e-6, abs=1e-9)


def test_shares_by_hand():
    for speeds, room, shares in (
        ([1.0], None, [1.0]),
        ([3.0, 1.0], None, [0.75, 0.25]),
        ([3.0, 1.0], [0.5, 1.0], [0.5, 0.5]),
        ([8.0, 1.0, 1.0], [0.3, 0.35, 1.0], [0.3, 0.35, 0.35]),
        ([8.0, 1.0, 1.0], [0.3, 0.2, 1.0], [0.3, 0.2, 0.5]),
        ([1.0, 1.0], [0.0, 1.0], [0.0, 1.0]),
        ([5.0, 1.0], [0.5, 0.5], [0.5, 0.5]),
    ):
        assert share_out(speeds, room) == pytest.approx(shares)


def test_rates_that_nothing_can_be_shared_by():
    with pytest.raises(GraphMemoryError, match=r"for 70\.0% of the graph on 2 workers") as raised:
        share_out([1.0, 2.0], [0.3, 0.4], nbytes=1000)
    assert (raised.value.needed, raised.value.available) == (1000, 700)
    for speeds, room in ([], None), ([0.0], None), ([1.0], [-1.0]), ([1.0], [1.0, 1.0]):
        with pytest.raises(OptionError):
            share_out(speeds, room)


def test_a_calibration_ranks_a_worker_before_one_that_is_slowed(monkeypatch):
    fast = measure(False, 1, scales=(8,))
    best = host_groups.best_groups

    def slowed(*arguments, **options):
        time.sleep(0.05)
        return best(*arguments, **options)

    monkeypatch.setattr(host_groups, "best_groups", slowed)
    slow = measure(False, 1, scales=(8,))
    assert share_out([fast.rate("labels", 256), slow.rate("labels", 256)])[0] > 0.6


# Fitting


def test_a_fit_gives_back_the_law_that_made_its_measurements():
    law = model.Scaling(alone=8.0, contention=0.1)
    measured = {n: 0.5 * n + law.seconds(n) for n in (1, 2)}
    found = model.fit(measured, lambda workers: 0.5 * workers)
    assert (found.alone, found.contention) == pytest.approx((8.0, 0.1))
    assert found.seconds(4) == pytest.approx(8 * 1.3 / 4)


def test_workers_without_cores_do_no_more():
    found = model.fit({1: 8.0, 2: 5.0}, lambda _: 0.0, most=2)
    assert found.seconds(4) == found.seconds(2) == pytest.approx(5.0)
    assert model.fit({1: 8.0, 2: 9.0}, lambda _: 0.0, most=1).seconds(4) == 8.0
    assert model.fit({1: 8.0, 2: 3.0}, lambda _: 0.0).seconds(4) == 2.0
    for measured in {}, {1: 1.0}, {2: 1.0}, {1: 0.1, 2: 1.0}:
        with pytest.raises(OptionError, match="on 1 and on 2 workers"):
            model.fit(measured, lambda _: 0.2)


# Memory


def test_bytes_by_hand():
    assert memory.components_bytes(1000, 100) == 5 * 1000 + 16 * 100
    assert memory.components_bytes(1000, 100, members=8) == 2 * 5 * 1000 + 16 * 100
    assert memory.components_bytes(1 << 32, 0) == 9 << 32
    assert memory.components_bytes(1000, 0, device=True) == 8200
    # Without direction: 16 bytes of each of 1000 edges; then 2000 entries of 4 bytes and offsets, with
    # keys of 8 bytes, or with 37 bytes a vertex of a search.
    of = functools.partial(memory.graph_bytes, scratch=37, copies=0, directed=False)
    assert of(100, 1000) == 16_000 + 8 * 2000 + 4 * 2000 + 8 * 100
    assert of(10_000, 1000) == 16_000 + 4 * 2000 + 45 * 10_000
    half = of(10_000, 1000, share=0.5, remote=5000)
    assert half == 8000 + 4000 + 8 * 5000 + 37 * 10_000
    assert of(10_000, 1000, built=True) == 37 * 10_000
    # With direction there are rows of both ways, and each edge's other end while the second are made.
    assert of(100, 1000, directed=True) == 16_000 + 8000 + 2 * (4000 + 800) + 4000
    on_device = of(100, 1000, device=True)
    assert on_device == 16_000 + 2 * 2000 + 4 * 2000 + 8 * 100


@pytest.mark.parametrize("directed", [False, True])
def test_rows_are_no_larger_than_is_said(directed):
    edges = gf.generate.rmat(12).compute()
    graph = gf.Graph(edges, source="src", target="dst", directed=directed).persist()
    (shard,) = dask.compute(*graph._shards.built)
    held = shard.__sizeof__()
    vertices = 1 << 12
    said = memory.graph_bytes(vertices, len(edges), 37, 0, directed=directed)
    entries = len(edges) * (1 if directed else 2)
    assert 3.9 * entries + 8 * vertices <= held <= said <= 16 * held  # a self-loop is one entry


# Links


def test_links_between_threads_of_this_process():
    found = measure_links()
    assert 0 < found.latency < 1
    assert 1e6 < found.c < 1e12
    assert found.moves == math.inf
    assert found.call > 0 <= found.level
    assert 0 < found.task < 0.1
    assert found.gang > found.latency


# Simulation


def test_a_simulation_adds_up_and_names_what_binds():
    found = simulate(GraphStats(1 << 30, 1 << 34))
    parts = found[["kernels", "merging", "NVLink", "network", "messages", "Dask"]]
    assert np.allclose(parts.sum(axis=1), found.seconds)
    assert (parts.idxmax(axis=1) == found.binding).all()
    assert list(found.gpus.unique()) == [8, 16, 32, 64, 128, 256, 512, 1024]
    # Inside a node nothing crosses the network. Kernels take half as long on twice as many GPUs.
    assert (found[found.gpus == 8].network == 0).all()
    kernels = found[found.algorithm == "pagerank"].kernels.to_numpy()
    assert np.allclose(kernels[:-1] / kernels[1:], 2)
    # The components of a node by hand.
    row = simulate(GraphStats(1 << 26, 1 << 30), gpus=[8]).iloc[0]
    assert row.algorithm == "components"
    assert row.kernels == pytest.approx(14.8e-3 / 8)
    assert row.merging == pytest.approx(3 * 0.85e-3)
    assert row.NVLink == pytest.approx(3 * 5 * 2**26 / 450e9)
    assert row.Dask == pytest.approx(39e-3 + 32 * 0.2e-3)


def test_a_simulation_says_what_does_not_fit_and_what_merging_one_way_takes():
    found = simulate(GraphStats(1 << 32, 1 << 36))
    fits = found[found.algorithm == "bfs"].fits.tolist()
    assert fits == sorted(fits)
    assert fits[0] != fits[-1]
    assert (found.bytes[found.fits] <= H200.memory).all()
    tree, one_way = (
        simulate(GraphStats(1 << 30, 1 << 34), gpus=[64], merge=merge).seconds[0]
        for merge in ("tree", "one-way")
    )
    assert one_way > 5 * tree
    for graph, options in (
        (GraphStats(0, 1), {}),
        (GraphStats(1, 1), {"gpus": [0]}),
        (GraphStats(1, 1), {"merge": "x"}),
    ):
        with pytest.raises(OptionError):
            simulate(graph, **options)


def test_the_documentation_has_what_is_simulated():
    page = (DOCS / "costs.md").read_text("utf-8")
    assert simulating.replaced(page, simulating.tables()) == page
    assert re.search(r"<svg", (DOCS / "costs.svg").read_text("utf-8")[:2000])


# The benchmark


def test_the_benchmark_predicts_what_follows_its_own_law():
    options = type("Options", (), {**OPTIONS, "gpu": True, "foretell": [8]})()
    between = Links(c=1e9, moves=1e9, latency=1e-4, call=0.0, level=0.0, gang=0.0)
    law = {1: 4.0, 2: 2.2, 4: 4.0 * 1.3 / 4}
    # Two members deal each edge for 1 s, and own an end of 3/4 of them; four of 7/16.
    build = {1: 4.0, 2: 4.0 * 3 / 4 + 1 / 2, 4: 4.0 * 7 / 16 + 1 / 4}
    tasks = {1: 9, 2: 21, 4: 67}  # of components, by hand: 2n² + n(n-1)/2 + 5n + 1, and the merges
    taken = {}
    for phase in benchmark.PHASES:
        own = build if phase == "build" else law
        call = {n: 0.01 + (tasks[n] / 1000 if phase == "components" else 0) for n in law}
        taken[phase] = {n: [seconds + call[n]] * 3 for n, seconds in own.items()}
        taken[f"tiny {phase}"] = {n: [call[n]] * 3 for n in law}
    found = benchmark.predict(taken, 1 << 10, options, between, 1e12, 0.0, math.inf, min)
    for phase in benchmark.PHASES:
        assert found[phase]["seconds"][4] == pytest.approx(taken[phase][4][0], rel=0.02)
        assert 0.01 < found[phase]["seconds"][8] < found[phase]["seconds"][4]
    assert [benchmark.verdict(*one) for one in ((2, 9.0), (4, 1.2), (4, 0.7))] == [
        "fitted",
        "yes",
        "MISS",
    ]


# Clusters


def test_clusters_that_cannot_be():
    for wrong in {"workers": 0}, {"threads": 1.5}, {"hosts": 2}, {"memory": -1}:
        with pytest.raises(OptionError, match="give"):
            ClusterSpec(**wrong)


def test_workers_of_one_host_share_its_cores(monkeypatch):
    asked = []

    def of(device, threads, *, fresh, tell):
        asked.append(threads)
        return made(rate=8e6)

    monkeypatch.setattr(clusters.store, "rates", of)
    monkeypatch.setattr(clusters, "CPU_COUNT", 8)
    # A quarter of what 8 threads do:
    assert clusters.rates_of(ClusterSpec(4, 4)).rate("pulls", 1) == 2e6
    assert clusters.rates_of(ClusterSpec(4, 4, hosts=4)).rate("pulls", 1) == 8e6
    assert clusters.rates_of(ClusterSpec(4, 2, device=True)).rate("pulls", 1) == 8e6
    assert asked == [8, 4, 2]
