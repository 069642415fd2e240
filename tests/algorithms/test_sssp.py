"""Shortest paths: distances against SciPy, predecessors that lead to a source, what is sent."""

from __future__ import annotations

import dask
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, fewer, frame, host_only, on_backend
from shapes import LARGE, SMALL, check_search, same, traced, weights

import dask_graphflow as gf
from dask_graphflow.comm.exchange import HEADER
from dask_graphflow.exceptions import UnknownVertexError, WeightError
from dask_graphflow.kernels import buckets as buckets_kernels
from dask_graphflow.kernels import whole_buckets as whole_kernels
from dask_graphflow.kernels.whole_buckets import host as whole_buckets

pytestmark = pytest.mark.usefixtures("backend")

DIRECTED = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])


@pytest.fixture
def step_by_step(monkeypatch):
    """Make members exchange distances after each bucket, however small it is."""

    def begin():
        monkeypatch.setattr(buckets_kernels.of(on_backend(np.zeros(1))), "AHEAD", 0)
        monkeypatch.setattr(whole_kernels.of(np.zeros(1)), "AHEAD", 0)

    return begin


@DIRECTED
@pytest.mark.parametrize("shape", SMALL)
def test_distances_and_the_smallest_predecessors(built, shape, directed):
    pairs = SMALL[shape]
    edges = frame(pairs).assign(w=weights(len(pairs)))
    g = built(edges, directed=directed)
    several = sorted({pairs[0][0], pairs[-1][1], pairs[len(pairs) // 2][0]})
    for sources in (several[:1], several):
        check_search(edges, directed, sources, g.sssp(sources).compute())


@DIRECTED
@pytest.mark.parametrize(
    "kind",
    [
        "rounded",
        "zeros",
        "bytes",
        # kernels are compiled for each of these types
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("float32", "ints")),
    ],
)
@pytest.mark.parametrize("shape", LARGE)
def test_every_number_of_threads_gives_the_same_bits(
    built, monkeypatch, members, shape, kind, directed
):
    monkeypatch.setattr(whole_buckets, "TEAM", 0)  # a team of threads for every graph
    pairs, rng = LARGE[shape](), np.random.default_rng(8)
    weight = rng.pareto(1.5, len(pairs))  # sums of these are rounded, each along its path
    weight = {
        "rounded": weight,
        "float32": weight.astype("float32"),
        "ints": rng.integers(1, 1000, len(pairs)).astype("int16"),
        "bytes": rng.integers(1, 10, len(pairs)).astype("float64"),
        "zeros": np.where(rng.random(len(pairs)) < 0.9, 0, weight),
    }[kind]
    edges = frame(pairs).assign(w=weight)
    g, sources = built(edges, directed=directed), [pairs[0][0], pairs[len(pairs) // 2][0]]
    found = []
    for threads in fewer((1, 3), (1,)):
        with dask.config.set(num_workers=threads * members):
            found.append(g.sssp(sources).compute())
    pd.testing.assert_frame_equal(found[0], found[-1])
    check_search(edges, directed, sources, found[0], exact=False)


def test_predecessors_never_lead_in_a_circle_of_edges_of_0(built):
    pairs = [(5, 0), (0, 1), (1, 2), (2, 0), (2, 3), (3, 2), (3, 3)]
    # Members share them if ids are far enough from each other.
    edges = 40 * frame(pairs)
    found = built(edges.assign(w=[1.0, 0, 0, 0, 0, 0, 0])).sssp([200]).compute()
    assert found["distance"].tolist() == [1, 1, 1, 1, 0]
    assert found["predecessor"].tolist()[:4] == [200, 0, 40, 80]


@pytest.mark.parametrize("cutoff", [0, 0.75, np.float32(2), np.inf])
def test_no_vertex_past_the_cutoff_is_reached(built, cutoff):
    edges = frame(SMALL["rmat"]).assign(w=weights(len(SMALL["rmat"])))
    g, sources = built(edges, directed=False), edges["a"][:1]
    whole = g.sssp(sources).compute()
    near = g.sssp(sources, cutoff=cutoff).compute()
    wanted = whole[whole["distance"] <= cutoff]
    assert (len(wanted) < len(whole)) == (cutoff < np.inf)
    same(near, wanted)


@pytest.mark.parametrize(
    "weight",
    [5e-324, 1e-310, 1e300, 1e308, np.inf, 2**62],
    ids=repr,
)
def test_weights_of_any_size_and_type(weight):
    edges = frame([(0, 1), (1, 2), (0, 3), (3, 2), (2, 4)]).assign(w=weight)
    found = gf.sssp(edges, **ENDS, sources=[0], weight="w").compute()
    one = float(weight)
    # What is infinitely far was not reached.
    wanted = {0: 0.0, 1: one, 2: one + one, 3: one, 4: one + one + one}
    wanted = {vertex: far for vertex, far in wanted.items() if far < np.inf}
    assert dict(zip(found["vertex"], found["distance"], strict=True)) == wanted


def test_vertices_far_away_wait_for_those_before_them(built):
    # Two ways from the beginning of a long road to places far behind it, thousands of buckets of the mean
    # weight away and on the way to others. Each vertex has many edges, so buckets are narrow.
    road = [(i, j) for i in range(3000) for j in range(i + 1, i + 11)]
    far = [30_000.0, 50_000.0]
    edges = frame([*road, (0, 4000), (0, 4001), (4000, 4002), (4001, 4003)])
    edges["w"] = np.concatenate([np.ones(len(road)), far, [1, 1]])
    found, steps = traced(built(edges).sssp([0], trace=True))
    found = found.set_index("vertex")["distance"]
    assert found[[4000, 4001, 4002, 4003]].tolist() == [*far, far[0] + 1, far[1] + 1]
    assert found[3000] == 300
    assert steps["edges"].sum() == len(edges)


def test_the_lightest_of_parallel_edges_counts_unless_they_are_merged(built):
    edges = frame([(0, 1), (0, 1), (0, 1)]).assign(w=[4.0, 1.0, 2.0])
    far = {}
    for multi in ("keep", "sum", "min", "first"):
        far[multi] = built(edges, multi=multi).sssp([0]).compute()["distance"].tolist()[1]
    assert far == {"keep": 1, "sum": 7, "min": 1, "first": 4}


def test_the_trace_counts_the_edges_that_were_relaxed(built):
    edges = frame([(i, i + 1) for i in range(300)]).assign(w=1.0)
    _, steps = traced(built(edges).sssp([0], trace=True))
    assert steps["edges"].sum() == 300
    assert set(steps["direction"]) == {"push"}


@pytest.mark.parametrize("cutoff", [0, 2.5, np.float32(7), np.inf])
@pytest.mark.parametrize("members", [1])
def test_whole_weights_give_the_bits_of_others(built, members, cutoff):
    pairs = SMALL["rmat"]
    whole = np.random.default_rng(5).integers(1, 8, len(pairs))
    sources, targets = [pairs[0][0], pairs[-1][1]], [v for _, v in pairs[::7]]
    for options in ({}, {"targets": targets}, {"by_source": True}):
        # Half of each weight is not a whole number, and half of each distance is exact.
        half, found = (
            built(frame(pairs).assign(w=w)).sssp(sources, cutoff=c, **options).compute()
            for w, c in ((whole / 2, cutoff / 2), (whole, cutoff))
        )
        pd.testing.assert_frame_equal(half.assign(distance=2 * half["distance"]), found)


# Targets


@DIRECTED
@pytest.mark.parametrize("ahead", [False, True])
def test_targets_get_the_rows_of_the_whole_search(built, step_by_step, ahead, directed):
    if not ahead:
        step_by_step()
    rng = np.random.default_rng(3)
    grid = [
        (40 * i + j, 40 * i + j + step) for i in range(39) for j in range(39) for step in (1, 40)
    ]
    for pairs in (SMALL["rmat"], grid):
        weight = np.where(rng.random(len(pairs)) < 0.3, 0, rng.pareto(1.5, len(pairs)))
        g = built(frame(pairs).assign(w=weight), directed=directed)
        whole, ids = g.sssp(pairs[0][0]).compute(), sorted({v for pair in pairs for v in pair})
        order = whole.sort_values("distance")["vertex"].tolist()
        tenth = order[:: max(1, len(order) // 10)]
        for targets in (order[:1], tenth[1:2], tenth[4:5], tenth[2:6], [*tenth, ids[-1]]):
            found = g.sssp(pairs[0][0], targets=targets).compute()
            same(found, whole[whole["vertex"].isin(targets)])
        near = whole["distance"].median()
        found = g.sssp(pairs[0][0], targets=tenth, cutoff=near).compute()
        same(found, whole[whole["vertex"].isin(tenth) & (whole["distance"] <= near)])


def test_a_search_stops_once_the_distances_of_all_targets_are_final(built, step_by_step):
    step_by_step()
    # The edge from 0 to 90 reaches the target first, and the way round is shorter.
    pairs = [*((i, i + 1) for i in range(300)), (0, 90)]
    g = built(frame(pairs).assign(w=[1.0] * 300 + [95.0]))
    whole, all_steps = traced(g.sssp([0], trace=True))
    found, steps = traced(g.sssp([0], targets=[90, 5], trace=True))
    same(found, whole[whole["vertex"].isin([5, 90])])
    assert found["distance"].tolist() == [5, 90]
    assert steps["edges"].sum() < all_steps["edges"].sum() / 2


def test_targets_that_are_no_vertices_or_cannot_be_reached(built):
    g = built(frame([(0, 1), (200, 201)]).assign(w=1.0))
    assert g.sssp([0], targets=[201, 1]).compute()["vertex"].tolist() == [1]
    with pytest.raises(UnknownVertexError, match="1 of 1 id is not in the graph: 7"):
        g.sssp([0], targets=7).compute()


# What is sent


@pytest.mark.parametrize("members", [2])
def test_a_mirror_is_sent_when_its_bucket_is_emptied(built, step_by_step):
    host_only("members on devices send what they reached in each superstep")
    step_by_step()
    # A chain, of so many edges side by side that buckets are narrow. Each vertex has a shorter way to the
    # last one than the vertex before, and that is far away.
    chain = [(i, i + 1) for i in range(50) for _ in range(20)]
    across = [(i, 100) for i in range(51)]
    weight = np.append(np.ones(len(chain)), 10_000 - 100.0 * np.arange(51))
    g = built(frame([*chain, *across]).assign(w=weight))
    found, steps = traced(g.sssp([0], trace=True), sum_bytes=True)
    assert found["distance"].tolist() == [*range(51), 5050]
    assert (steps["edges"] > 0).sum() > 2
    # One distance to the mirror's owner, and numbers of all members in each superstep.
    assert steps["bytes"].sum() == 8 + 2 * HEADER.size * len(steps)


@pytest.mark.parametrize("members", [2])
@pytest.mark.usefixtures("host_memory")
def test_members_go_ahead_while_buckets_are_small(built, step_by_step):
    pairs = LARGE["grid"]()
    weight = np.random.default_rng(8).pareto(1.5, len(pairs))
    g = built(frame(pairs).assign(w=weight), directed=False)
    ahead, few = traced(g.sssp([0], trace=True))
    step_by_step()
    strictly, many = traced(g.sssp([0], trace=True))
    same(ahead, strictly)
    assert len(few) < len(many) / 2


# Bad input


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, -1.0], r"^1 weight is negative or NaN; .* of at least 0"),
        ([np.nan, 1.0], r"column 'w' has 1 null in a partition of .* edges?; fill them"),
        (pd.array([None, None], dtype="Float64"), r"has (1 null|2 nulls) in"),
    ],
    ids=["negative", "NaN", "null"],
)
def test_weights_that_are_refused_when_the_result_is_computed(built, weight, message):
    edges = frame([(0, 1), (1, 2)]).assign(w=weight)
    with pytest.raises(WeightError, match=message):
        built(edges).sssp([0]).compute()


def test_paths_need_weights():
    graph = gf.Graph(frame([(0, 1)]), **ENDS)
    with pytest.raises(
        WeightError, match=r"Graph\(edges, weight=\.\.\.\), or .* bfs, which counts edges"
    ):
        graph.sssp([0])
    with pytest.raises(
        WeightError, match=r"Graph\(edges, weight=\.\.\.\), or .* bfs, which counts edges"
    ):
        gf.sssp(frame([(0, 1)]), **ENDS, sources=[0], weight=None)
    with pytest.raises(
        WeightError, match=r"Graph\(edges, weight=\.\.\.\), or .* bfs, which counts edges"
    ):
        gf.sssp(frame([(0, 1)]), **ENDS, sources=[0])
