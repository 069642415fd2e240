"""Operators and results of graphs on a GPU are those of the host. These tests need a GPU.

tests/sanitize.py runs cases of each kernel, with numbers of either type; those are compared with SciPy.
"""

from __future__ import annotations

import itertools
from collections import Counter
from functools import partial

import dask
import numpy as np
import pandas as pd
import pytest
from conftest import cupy_or_skip, partitioned, to_host
from shapes import ALSO_ASKED
from test_device_many import on_device, plain

import dask_graphflow as gf
from dask_graphflow.algorithms.label_propagation import label_propagation
from dask_graphflow.algorithms.sssp import sssp
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.kernels.groups import host as host_groups
from dask_graphflow.kernels.pull.host import ONE
from dask_graphflow.kernels.rows import host as host_rows
from dask_graphflow.operators.advance import Advance
from dask_graphflow.operators.advance.direction import RULES
from dask_graphflow.operators.pull import NeighborSums, Pull
from dask_graphflow.operators.search.search import Search
from dask_graphflow.operators.view import GraphView
from dask_graphflow.tasks import gang

pytestmark = pytest.mark.gpu

cupy = cupy_or_skip()
cudf = pytest.importorskip("cudf")

from dask_graphflow.kernels import launching  # noqa: E402
from dask_graphflow.kernels.buckets import device as device_buckets  # noqa: E402
from dask_graphflow.kernels.groups import device as device_groups  # noqa: E402
from dask_graphflow.kernels.intersect import device as device_intersect  # noqa: E402
from dask_graphflow.kernels.scores import device as device_scores  # noqa: E402
from dask_graphflow.kernels.search import device as device_search  # noqa: E402
from dask_graphflow.kernels.vertices import device as device_vertices  # noqa: E402

RNG = np.random.default_rng(11)


def random(size, edges, power=1):
    """Return random edges, of which low vertices have more with a higher power."""
    ends = size * RNG.random((2, edges)) ** power
    return size, *ends.astype("int64")


def path(size):
    ids = RNG.permutation(size)
    return size, ids[:-1], ids[1:]


def grid(height, width):
    ids = np.arange(height * width).reshape(height, width)
    source, target = [ids[:, :-1].ravel(), ids[:-1].ravel()], [ids[:, 1:].ravel(), ids[1:].ravel()]
    return ids.size, np.concatenate(source), np.concatenate(target)


def star(leaves, center):
    ids = np.delete(np.arange(leaves + 1), center)
    return leaves + 1, np.full(leaves, center), ids


def far_between():
    """Return few edges, with thousands of vertices without any in between."""
    _, source, target = random(300, 900)
    return 40_000, source * 131, target * 131


def flowers():
    """Return a path of the middles of stars: levels with one long row and levels with many short ones."""
    middles = np.arange(0, 12) * 3000
    leaves = np.setdiff1d(np.arange(36_000), middles)
    source = np.concatenate([middles[:-1], leaves // 3000 * 3000])
    return 36_000, source, np.concatenate([middles[1:], leaves])


GRAPHS = {
    "random": random(3001, 20_000),
    "skewed": random(2000, 60_000, 6),
    "sparse": random(5000, 4000),
    "path": path(800),
    "grid": grid(90, 70),
    "wide grid": grid(3, 1500),
    "star": star(9000, 4321),
    "flowers": flowers(),
    "far between": far_between(),
    "loops": (70, np.arange(0, 70, 3), np.arange(0, 70, 3)),
    "one edge": (2, np.array([1]), np.array([0])),
}


@pytest.fixture(params=GRAPHS, ids=str)
def graph(request):
    return GRAPHS[request.param]


ENDS = {"source": "a", "target": "b", "weight": "w"}
LEAST = gf.EdgeOp("least", target="cost", signal="old[src] + float64(weight)", slot="min")
TOTAL = gf.EdgeOp("total", target="sum", signal="old[src] + 1", slot="add")


def frame_of(graph, weight="float64"):
    """Return the edges of a graph as a frame; a third of the weights are 0, but none of float32."""
    _, source, target = graph
    rng = np.random.default_rng(12)
    weights = np.maximum(rng.integers(-4, 9, len(source)), 0) / (7 if weight == "float64" else 1)
    weights = rng.random(len(source)) + 1e-3 if weight == "float32" else weights
    return pd.DataFrame({"a": source, "b": target, "w": weights.astype(weight)})


def both(edges, directed):
    """Return the graph of some edges on the host, and on the device."""
    frames = edges, cudf.from_pandas(edges)
    return [gf.Graph(frame, **ENDS, directed=directed).persist() for frame in frames]


def skewed():
    """Return a graph of few vertices and many edges on the device."""
    edges = cudf.from_pandas(frame_of(GRAPHS["skewed"]))[["a", "b"]]
    return gf.Graph(edges, source="a", target="b").persist()


def searched(g, start, ways):
    search, way = Search(g, direction="push"), itertools.cycle(ways)
    frontier = search.begin(g.find(start))
    while frontier:
        if next(way) == "pull":
            frontier = search.pull(frontier)
        else:
            frontier = search.push(frontier, search.depth + 1 if "pull" in ways else None)
    return search.level, search.parents()


def advanced(g, start):
    """Advance a minimum and a sum by push and then by pull, from a third of the vertices."""
    numbers = g.numbers.astype("int64")
    columns = {"old": numbers, "cost": g.column(1e9, "float64"), "sum": g.column(0, "int64")}
    for op in (LEAST, TOTAL):
        steps = Advance(g, op, {name: columns[name] for name in op.columns})
        steps.pull(steps.push(g.frontier(np.flatnonzero(numbers % 3 == 0))))
    return columns["cost"], columns["sum"]


def relaxed(g, start):
    columns = sssp(g, g.find(start), cutoff=5.0).columns
    return columns["distance"], columns["predecessor"].numbers


def pulled(g, precision):
    pull = Pull(g)
    rank = pull.take(g.column(1 / pull.count, precision))
    pull.begin(rank, np.full_like(rank, ONE / 4096), 0.0)
    restart = np.full_like(rank, 1 / pull.count, "float64", shape=1)
    for onward in (None, np.full_like(rank, 2.0**-40, "float64"), None):
        pull.publish(change=False)
        pull.update(restart, onward, 0.5, limit=0.0, most=1)
    return (pull.by_vertex(rank),)


def scored(g, precision):
    """Return the scores of two iterations of each kind, and their changes."""
    sums, back = NeighborSums(g, precision), NeighborSums(g.T, precision)
    sums.begin(0.5)
    sums.publish()
    found = []
    for plus, squares in ((None, 1e9), (1.0, 0), (None, 0)):
        sums.combine(*sums.pull(), plus, squares)
        sums.publish()
        found += [sums.by_vertex(sums.scores), g.column(sums.change(), "float64")]
    back.totals = sums.totals
    sums.begin(1 / sums.count, back.most_entering)
    back.begin(1 / sums.count, sums.most_entering)
    for one, other in ((sums, back), (back, sums)):
        one.publish()
        one.pull()
        one.normalize(other)
        found += [one.by_vertex(other.scores)]
    back.publish()
    return [*found, g.column(sums.change(), "float64")]


def labelled(g, start):
    return (label_propagation(g, max_iter=3).columns["label"],)


OPERATORS = {
    "search by push": partial(searched, ways=["push"]),
    "search by pull": partial(searched, ways=["pull"]),
    "search both ways": partial(searched, ways=["push", "pull", "pull"]),
    "advance": advanced,
    "relax": relaxed,
    "pull": lambda g, start: pulled(g, "float64"),
    "pull, float32": lambda g, start: pulled(g, "float32"),
    "sums": lambda g, start: scored(g, "float64"),
    "sums, float32": lambda g, start: scored(g, "float32"),
    "labels": labelled,
}


def columns_of(pieces, directed, members, start):
    """Return the columns that each operator gives on a graph, of all members together, on the host."""
    built = gf.Graph(pieces, **ENDS, directed=directed, shards=members)._shards.built
    shards = dask.compute(*built, scheduler="threads")

    def loop(channel, shard, rank):
        g = GraphView(shard, Exchange(channel, device=shard.on_device))
        return [[to_host(column).copy() for column in ask(g, start)] for ask in OPERATORS.values()]

    parts = zip(*gang._together(loop, list(shards)), strict=True)
    return [[np.concatenate(column) for column in zip(*part, strict=True)] for part in parts]


SMALL = {"SMALL_FRONTIER": 3, "SPAN": 7}, {"SMALL_PILE": 50, "STEPS": 5}


@pytest.mark.parametrize("limits", [({}, {}), SMALL], ids=["large", "small"])
@pytest.mark.parametrize("weight", ["float32", "float64", "int64"])
@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_operators_give_the_columns_of_the_host(
    monkeypatch, graph, directed, members, weight, limits
):
    """With small limits, a launch that goes on by itself has fewer levels, and levels are large."""
    if any(limits) and (members > 1 or weight == "int64"):
        pytest.skip("several members never go on by themselves")
    for kernels, values in zip((device_search, device_buckets), limits, strict=True):
        for name, value in values.items():
            monkeypatch.setattr(kernels, name, value)
    edges = frame_of(graph, weight)
    start = pd.DataFrame({"vertex": edges.a.iloc[:1]})
    wanted = columns_of(partitioned(edges, 1), directed, 1, start)
    found = columns_of(on_device(partitioned(edges, members)), directed, members, start)
    for name, columns, others in zip(OPERATORS, found, wanted, strict=True):
        for got, array in zip(columns, others, strict=True):
            assert got.dtype == array.dtype, name
            np.testing.assert_array_equal(got, array, err_msg=name)


ASKED = {
    "bfs": lambda g, start: g.bfs(start),
    "sssp": lambda g, start: g.sssp(start),
    "pagerank": lambda g, start: g.pagerank(tol=None, max_iter=9),
    "pagerank from one": lambda g, start: g.pagerank(
        tol=None, max_iter=9, precision="float32", personalization={start[0]: 1}
    ),
    "label propagation": lambda g, start: g.label_propagation(max_iter=5),
    "components": lambda g, start: g.connected_components(),
    "degrees": lambda g, start: g.degrees(),
    **ALSO_ASKED,
}


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_results_are_those_of_pandas(graph, directed):
    edges = frame_of(graph, "int64")
    edges["w"] += 1  # betweenness takes no weights of 0
    start = edges.a.iloc[:1].tolist()
    host, there = both(edges, directed)
    for name, ask in ASKED.items():
        found = ask(there, start).compute()
        assert type(found).__module__.startswith("cudf"), name
        assert plain(found) == plain(ask(host, start).compute()), name


@pytest.mark.parametrize("rule", RULES)
def test_a_search_takes_the_supersteps_of_the_host(graph, rule):
    edges = frame_of(graph)
    start = edges.a.iloc[:1].tolist()
    asked = [one.bfs(start, direction=rule, trace=True)[1].compute() for one in both(edges, False)]
    wanted, found = (steps[["direction", "frontier", "edges"]].to_dict("list") for steps in asked)
    assert found == wanted


@pytest.mark.parametrize("kept", [0, device_intersect.KEPT])
def test_all_edges_of_a_truss_decomposition_are_peeled_in_one_superstep(graph, kept, monkeypatch):
    monkeypatch.setattr(device_intersect, "KEPT", kept)  # 0: rows lose removed edges, however few
    host, there = both(frame_of(graph), False)
    found, steps = there.truss_number(trace=True)
    assert plain(found.compute()) == plain(host.truss_number().compute())
    assert len(steps.compute()) == 2  # one that counts triangles, and one that peels


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_invalid_weights_are_counted(dtype):
    values = np.array([3, -2, 0, 5, 4]).astype(dtype)
    wrong, sum_of = 1, 10
    if dtype != "int64":
        values = np.append(values, [np.nan, np.inf]).astype(dtype)
        wrong = 2
    assert device_buckets.weigh(cupy.asarray(values)) == (wrong, sum_of / 5)
    assert device_buckets.weigh(cupy.zeros(0, dtype)) == (0, 0.0)


class Scarce:
    """CuPy on a device with memory for some slots at a time."""

    def __init__(self, slots):
        self.slots = slots

    def __getattr__(self, name):
        return getattr(cupy, name)

    def empty(self, size, dtype):
        if np.prod(size) > self.slots:
            raise MemoryError
        return cupy.empty(size, dtype)


@pytest.mark.parametrize("less", [{"ROOM": 1 << 16}, {"cupy": Scarce(1 << 14)}], ids=list)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_tables_in_memory_are_used_again(monkeypatch, less, weighted):
    """More long rows than blocks, of which there are as many as there is room for."""
    for name, value in less.items():
        monkeypatch.setattr(device_groups, name, value)
    size, degree = 40, 1500
    labels = np.random.default_rng(8).integers(0, 5, size).astype("int32")
    source = np.repeat(np.arange(size), degree)
    rng = np.random.default_rng(7)
    target = rng.integers(0, size, len(source))
    weights = rng.integers(0, 1 << 40, len(source)) if weighted else None
    out = host_rows.rows(source, target, weights, count=size)
    there = host_rows.Rows(*(None if side is None else cupy.asarray(side) for side in out[:3]), 0)
    wanted = host_groups.best_groups([out], labels, tables={})
    found = device_groups.best_groups([there], cupy.asarray(labels), tables={})
    np.testing.assert_array_equal(to_host(found), wanted)
    monkeypatch.setattr(device_groups, "cupy", Scarce(1 << 8))
    with pytest.raises(MemoryError):
        device_groups.best_groups([there], cupy.asarray(labels), tables={})


@pytest.mark.parametrize("less", [{}, {"ROOM": 1 << 16}, {"cupy": Scarce(1 << 16)}], ids=list)
@pytest.mark.parametrize("refined", [False, True], ids=["moved", "refined"])
def test_blocks_share_long_rows_and_a_sweep_is_one_launch(monkeypatch, less, refined):
    """Rows for tables of a block and of several blocks, some of which have to wait for a table."""
    size, rng = 600, np.random.default_rng(7)
    degrees = np.repeat([20_000, 6_000, 500], [12, 12, size - 24])
    source = np.repeat(np.arange(size), degrees)
    target = rng.integers(0, size, len(source))
    rows = host_rows.rows(
        source, target, rng.integers(0, 1 << 20, len(source)), count=size, undirected=True
    )
    rows = rows._replace(ends=rows.ends.astype("int32"))
    mass = np.add.reduceat(rows.weights, rows.offsets[:-1])
    factor, ranks = 1 / mass.sum(), rng.permutation(size)
    within = (np.arange(size) % 3).astype("int32") if refined else None
    launched, gang = [], device_groups.launch_gang
    monkeypatch.setattr(
        device_groups,
        "launch_gang",
        lambda *a, **options: [launched.append(a[0]), gang(*a, **options)],
    )

    def swept(sweep, asarray):
        there = host_rows.Rows(*map(asarray, rows[:3]), 0)
        labels, load = asarray(np.arange(size, dtype="int32")), asarray(mass.copy())
        awake, room = asarray(np.ones(size, "int32")), {}
        limit = None if within is None else asarray(within)
        masses = asarray(mass), load, factor
        moved = [
            sweep(there, labels, masses, (asarray(ranks), seed), awake, limit, room=room)
            for seed in range(2)
        ]
        return moved, *map(to_host, (labels, load, awake))

    for name, value in less.items():
        monkeypatch.setattr(device_groups, name, value)
    wanted, found = swept(host_groups.sweep, np.asarray), swept(device_groups.sweep, cupy.asarray)
    assert wanted[0][0] > 0
    assert len(launched) == 2
    for one, other in zip(wanted, found, strict=True):
        np.testing.assert_array_equal(one, other)


# Launches per iteration. One of them sums along the edges.
LAUNCHES = {"pagerank": 2, "hits": 4, "katz_centrality": 3, "eigenvector_centrality": 3}


@pytest.mark.parametrize("name", LAUNCHES)
def test_an_iteration_takes_a_few_launches_and_reads_its_totals_once(monkeypatch, name):
    graph, launched, read = skewed(), [], []
    launch, totals = launching.launch_blocks, device_scores.DeviceTotals.read
    monkeypatch.setattr(launching, "launch_blocks", lambda *a: [launched.append(a[0]), launch(*a)])
    monkeypatch.setattr(
        device_scores.DeviceTotals, "read", lambda self: [read.append(self), totals(self)][1]
    )

    def taken(most):
        launched.clear(), read.clear()
        options = {"max_iter": most, "tol": 1e-30, "fail_on_nonconvergence": False}
        options |= {"alpha": 1e-6} if name == "katz_centrality" else {}  # sums with one unit
        getattr(graph, name)(**options).compute()
        return np.array([len(launched), len(read)])

    taken(1)
    assert (taken(5) - taken(2)).tolist() == [3 * LAUNCHES[name], 3]


def test_the_expressions_of_a_step_are_one_launch_and_a_sum_of_floats_two(monkeypatch):
    graph, launched, kernel = skewed(), [], device_vertices._kernel
    monkeypatch.setattr(
        device_vertices, "_kernel", lambda *a: [launched.append(a[1]), kernel(*a)][1]
    )

    def taken(most):
        launched.clear()
        graph.run(
            [{"x": "x / 2 + degree", "y": "x + before(y)"}, {"y": "y / largest(y)"}],
            columns={"x": 1.0, "y": 2.0},
            until="total(y) < 0",
            max_iter=most,
            fail_on_nonconvergence=False,
        ).compute()
        return Counter(launched)

    once = {"assign_values": 2, "largest_value": 1, "largest_magnitude": 1, "sum_floats": 1}
    assert taken(5) - taken(4) == once
