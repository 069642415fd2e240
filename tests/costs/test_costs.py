"""The measured speed of a machine: rates, how they are stored, shares, links, and memory formulas."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import dask
import numpy as np
import pytest
from dask.system import CPU_COUNT
from hypothesis import given
from hypothesis import strategies as st
from members import eventually

import dask_graphflow as gf
from dask_graphflow.api import clusters, measuring, rate_store
from dask_graphflow.api.measuring import measure, measure_links
from dask_graphflow.api.rate_store import rates
from dask_graphflow.costs import ClusterSpec, Rates, model, share_out
from dask_graphflow.costs.rates import KERNELS, typical_rates
from dask_graphflow.exceptions import GraphMemoryError, OptionError
from dask_graphflow.graph import memory_model
from dask_graphflow.graph.load_balance import makespan
from dask_graphflow.graph.memory_model import Part


def constant(rate=1e6, sizes=(100,), **others):
    return Rates(tuple(sizes), **{**{name: (rate,) * len(sizes) for name in KERNELS}, **others})


# Rates


def test_a_rate_is_interpolated_on_logarithms_and_constant_outside():
    curve = constant(sizes=(100, 10_000), pulls=(4e6, 1e6))
    expected = {0: 4e6, 1: 4e6, 100: 4e6, 1000: 2e6, 10_000: 1e6, 10**9: 1e6}
    found = [curve.rate("pulls", vertices) for vertices in expected]
    assert found == pytest.approx(list(expected.values()))


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
def test_invalid_rates_are_refused(sizes, pulls):
    with pytest.raises(OptionError, match="give"):
        constant(sizes=sizes, pulls=pulls)


@pytest.mark.parametrize("kernel", ["hook", "copies", ["hooks"]], ids=str)
def test_unknown_kernels_are_refused(kernel):
    with pytest.raises(OptionError, match=r"kernel=.*; give 'hooks', .*'merges'") as raised:
        constant().rate(kernel, 1)
    assert ("did you mean 'hooks'?" in str(raised.value)) == (kernel != "copies")


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(measuring, "SCALE", 8)


def test_one_kernel_is_measured_and_the_others_are_as_much_slower_than_usual(small):
    found, typical = measure(False, 1), typical_rates(False, 1)
    slower = found.rate("pulls", 100) / typical.rate("pulls", 100)
    assert 1e-4 < slower < 10
    for kernel in KERNELS:
        assert found.rate(kernel, 1 << 18) == pytest.approx(slower * typical.rate(kernel, 1 << 18))


def test_a_slower_worker_is_measured_as_slower(small, monkeypatch):
    fast, called = measure(False, 1), measuring.pagerank

    def slowed(*arguments, **options):
        time.sleep(0.05)
        return called(*arguments, **options)

    monkeypatch.setattr(measuring, "pagerank", slowed)
    slow = measure(False, 1)
    assert share_out([fast.rate("labels", 256), slow.rate("labels", 256)])[0] > 0.6


class Gpu:
    """Kernels of a GPU, on which graphs of more than `most` vertices find no room."""

    def __init__(self, most, monkeypatch):
        self.most, self.tried, self.freed = most, [], []
        self.namespace = self
        monkeypatch.setattr(measuring, "_kernels_on", lambda device: self)
        monkeypatch.setattr(measuring, "_pulled_per_second", self.pulled_per_second)
        monkeypatch.setattr(measuring, "let_go", lambda: self.freed.append("copies"))

    def pulled_per_second(self, kernels, size, threads, tell):
        self.tried.append(size)
        if size > self.most:
            raise MemoryError
        return 1e9

    def get_default_memory_pool(self):
        return self

    def free_all_blocks(self):
        self.freed.append("pool")


def test_a_gpu_with_little_room_is_measured_on_a_smaller_graph(monkeypatch):
    gpu = Gpu(1 << 17, monkeypatch)
    found = measure(True, 1)
    assert gpu.tried == [1 << 20, 1 << 18, 1 << 16]
    assert gpu.freed == ["copies", "pool"]
    assert found.rate("pulls", 1 << 16) == pytest.approx(1e9)


def test_a_gpu_without_room_is_an_error(monkeypatch):
    Gpu(0, monkeypatch)
    error = GraphMemoryError("no room", needed=0, available=0)
    monkeypatch.setattr(measuring, "no_room_on_device", lambda: error)
    with pytest.raises(GraphMemoryError, match="no room"):
        measure(True, 1)


# The store


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder of the store, and replace measurements by rates that count them."""
    calls = []

    def count(device, threads, **options):
        calls.append((device, threads))
        return constant(1e6 * len(calls))

    monkeypatch.setattr(rate_store, "_measured", {})
    monkeypatch.setattr(measuring, "is_busy", lambda threads: False)
    monkeypatch.setattr(measuring, "measure", count)
    with dask.config.set({"graphflow.calibration.path": str(tmp_path / "rates")}):
        path = tmp_path / "rates"
        yield path, calls


def test_each_kind_of_worker_is_measured_once(folder):
    path, calls = folder
    first = rates(False, 1)
    assert rates(False, 1) == first
    assert rates(False, 2) != first
    assert calls == [(False, 1), (False, 2)]
    assert rates(False, 1, fresh=True) != first
    assert len(calls) == 3
    (one, two) = sorted(path.iterdir())  # no partly written file remains
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
    ("rates", {**asdict(constant()), "pulls": [-1.0]}),
    ("rates", {**asdict(constant()), "pulls": "x"}),
]
BROKEN = ["", "{", "[]", "null", '"x"', "\x00"]


@pytest.mark.parametrize("changed", [*STALE, *BROKEN], ids=repr)
def test_stale_and_broken_files_are_measured_again(folder, changed):
    path, calls = folder
    rates(False, 1)
    (file,) = path.iterdir()
    content = json.loads(file.read_text())
    text = changed if isinstance(changed, str) else json.dumps({**content, changed[0]: changed[1]})
    file.write_text(text)
    again = rates(False, 1)
    assert len(calls) == 2
    assert rates(False, 1) == again
    assert json.loads(file.read_text())["version"] == gf.__version__


@pytest.mark.parametrize("when", [0, 1])
def test_rates_of_a_busy_machine_are_kept_for_an_hour(folder, monkeypatch, when):
    path, calls = folder
    busy = iter([when == 0, when == 1])
    monkeypatch.setattr(measuring, "is_busy", lambda threads: next(busy, False))
    with pytest.warns(UserWarning, match=r"rates may be too low.*kept for an hour"):
        rates(False, 1)
    (file,) = path.iterdir()
    for minutes, count in ((59, 1), (61, 2)):
        content = json.loads(file.read_text())
        file.write_text(json.dumps({**content, "made": time.time() - 60 * minutes}))
        rates(False, 1)
        assert len(calls) == count
    assert json.loads(file.read_text())["busy"] is False


def test_programs_that_use_all_cores_are_noticed():
    spin = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(spin) for _ in range(3 * CPU_COUNT)]
    try:
        assert eventually(lambda: measuring.is_busy(CPU_COUNT))
    finally:
        for other in others:
            other.kill()
            other.wait()


def test_the_maximum_age_is_configured(folder):
    _, calls = folder
    rates(False, 1)
    with dask.config.set({"graphflow.calibration.age": "0 s"}):
        rates(False, 1)
    assert len(calls) == 2
    with (
        dask.config.set({"graphflow.calibration.age": "soon"}),
        pytest.raises(OptionError, match=r"graphflow\.calibration\.age.*'30 days'"),
    ):
        rates(False, 1)


def test_an_interrupted_write_leaves_the_old_file(folder, monkeypatch):
    path, _ = folder
    first = rates(False, 1)

    def interrupted(self, text, **options):
        self.write_bytes(b'{"format"')
        raise OSError("disk full")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", interrupted)
        with pytest.warns(UserWarning, match=r"disk full.*graphflow\.calibration\.path"):
            rates(False, 1, fresh=True)
    assert len(list(path.iterdir())) == 1
    assert rates(False, 1) == first


def test_a_process_keeps_rates_that_cannot_be_written(tmp_path, folder):
    _, calls = folder
    (tmp_path / "file").write_text("in the way")
    with dask.config.set({"graphflow.calibration.path": str(tmp_path / "file" / "under")}):
        with pytest.warns(UserWarning, match="cannot be kept"):
            first = rates(False, 1)
        assert rates(False, 1) == first
    assert len(calls) == 1


def test_the_folder_follows_the_xdg_standard(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert rate_store.folder() == tmp_path / "dask-graphflow"
    for ignored in ("", "relative/path"):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert rate_store.folder() == Path.home() / ".cache" / "dask-graphflow"
    with dask.config.set({"graphflow.calibration.path": str(tmp_path / "mine")}):
        assert rate_store.folder() == tmp_path / "mine"


# Formulas


def test_a_superstep_takes_as_long_as_its_slowest_member():
    assert makespan([10.0, 30.0], [10.0, 10.0], [4.0, 2.0], c=2.0) == 4.0
    # A device takes 40% of a CPU's edges, and messages are 5% of them: TOTEM's c / (beta r + alpha c).
    r, c, edges = 1e9, 3e9, 1e9
    both = makespan([0.6 * edges, 0.4 * edges], [r, 1e12], [0.05 * edges] * 2, c)
    assert edges / r / both == pytest.approx(c / (0.05 * r + 0.6 * c))


def test_remote_vertices_are_not_underestimated_on_a_real_graph():
    edges = gf.generate.rmat(12, edge_factor=2).compute()
    vertices, members = 1 << 12, 8
    owner = np.random.default_rng(0).integers(0, members, vertices)
    src, dst = owner[edges.src], owner[edges.dst]
    boundary = edges[src != dst]
    read = len(set(zip(dst[src != dst], boundary.src, strict=True))) / members
    assert read <= model.remote(vertices, len(edges) / vertices, members) <= vertices * 7 / 8
    assert model.remote(vertices, 2.0, 1) == 0
    assert model.remote(100, 1.0, 4) == pytest.approx(75 * 0.25)
    assert model.remote(100, 64.0, 4) == 75  # the values of all vertices are sent


def test_numbering_grows_with_the_ids_and_shrinks_with_the_members():
    assert model.numbered(4000, 100, 1) == pytest.approx(8 * model.numbered(500, 12.5, 1))
    assert model.numbered(8000, 1000, 2) > model.numbered(8000, 100, 2)
    assert model.numbered(8000, 1000, 2) > model.numbered(4000, 1000, 2)
    assert model.numbered(10**6, 100, 4) < model.numbered(10**6, 100, 1) / 2


def test_memory_formulas_by_hand():
    assert memory_model.components_bytes(1000, 100) == 5 * 1000 + 16 * 100
    assert memory_model.components_bytes(1000, 100, members=8) == 2 * 5 * 1000 + 16 * 100
    assert memory_model.components_bytes(1 << 32, 0) == 9 << 32
    assert memory_model.components_bytes(1000, 0, device=True) == 8200


def part(vertices, edges, *, share=1.0, members=1, directed=False, **others):
    """Return a part of a graph with dense ids, whose algorithm takes 37 bytes per vertex."""
    return Part(
        edges * share, vertices, 8, 0, directed, members=members, same=True, kept=True, share=share,
        scratch=37, copies=0, **others
    )  # fmt: skip


def test_memory_of_a_part_by_hand():
    # 16 bytes of each of 1000 edges; then 2000 entries of 4 bytes and offsets, with 37 bytes per vertex.
    assert part(1000, 1000).rows == 4 * 2000 + 8 * 1000
    assert part(10_000, 1000).needed() == 16_000 + 4 * 2000 + 45 * 10_000
    half = part(10_000, 1000, share=0.5, remote=5000, members=2)
    assert half.needed() == 8000 + 4000 + 8 * 5000 + 37 * 10_000
    assert part(10_000, 1000, built=True).needed() == 37 * 10_000
    # A directed graph has rows of both directions.
    assert part(10_000, 1000, directed=True).running() == 2 * (4000 + 80_000) + 370_000
    # A device makes rows block by block.
    assert part(100, 1000, device=True).making() == 2 * 2000 + 4 * 2000 + 8 * 100


@pytest.mark.parametrize("directed", [False, True])
def test_rows_need_no_more_memory_than_estimated(directed):
    edges = gf.generate.rmat(12).compute()
    graph = gf.Graph(edges, source="src", target="dst", directed=directed).persist()
    (shard,) = dask.compute(*graph._shards.built)
    vertices, entries = 1 << 12, len(edges) * (1 if directed else 2)
    bound = part(vertices, len(edges), directed=directed).needed()
    held = shard.__sizeof__()
    assert 3.9 * entries + 8 * vertices <= held <= bound <= 16 * held  # a self-loop is one entry


# Shares

SPEEDS = st.lists(st.floats(0.1, 1e3), min_size=1, max_size=8)


@given(SPEEDS, st.data())
def test_shares_let_the_slowest_member_finish_as_early_as_possible(speeds, data):
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


def test_impossible_shares_are_refused():
    with pytest.raises(GraphMemoryError, match=r"for 70\.0% of the graph on 2 workers") as raised:
        share_out([1.0, 2.0], [0.3, 0.4], nbytes=1000)
    assert (raised.value.needed, raised.value.available) == (1000, 700)
    for speeds, room in ([], None), ([0.0], None), ([1.0], [-1.0]), ([1.0], [1.0, 1.0]):
        with pytest.raises(OptionError):
            share_out(speeds, room)


# Links and clusters


def test_links_between_threads_of_this_process():
    links = measure_links()
    assert 0 < links.latency < 1
    assert 1e6 < links.c < 1e12
    assert links.moves == math.inf
    assert links.call > 0 <= links.level
    assert 0 < links.task < 0.1
    assert links.gang > links.latency


def test_impossible_clusters_are_refused():
    for wrong in {"workers": 0}, {"threads": 1.5}, {"hosts": 2}, {"memory": -1}:
        with pytest.raises(OptionError, match="give"):
            ClusterSpec(**wrong)


def test_workers_of_one_host_share_its_cores(monkeypatch):
    asked = []

    def of(device, threads, *, fresh, tell):
        asked.append(threads)
        return constant(8e6)

    monkeypatch.setattr(clusters.rate_store, "rates", of)
    monkeypatch.setattr(clusters, "CPU_COUNT", 8)
    # A quarter of the work of 8 threads:
    assert clusters.rates_of(ClusterSpec(4, 4)).rate("pulls", 1) == pytest.approx(2e6)
    assert clusters.rates_of(ClusterSpec(4, 4, hosts=4)).rate("pulls", 1) == pytest.approx(8e6)
    assert clusters.rates_of(ClusterSpec(4, 2, device=True)).rate("pulls", 1) == pytest.approx(8e6)
    assert asked == [8, 4, 2]
