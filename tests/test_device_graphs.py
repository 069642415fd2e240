"""Kernels, operators and results of graphs on a GPU are those of the host. These tests need a GPU."""

from __future__ import annotations

import itertools
from functools import partial

import dask
import numpy as np
import pandas as pd
import pytest
from conftest import cupy_or_skip, partitioned, to_host
from test_device_many import on_device as on_gpu
from test_device_many import plain

import dask_graphflow as gf
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.kernels import host_advance, host_buckets, host_labels, host_pull, host_search
from dask_graphflow.kernels.host_rows import Rows, owners, relabelled, rows
from dask_graphflow.operators.advance import Advance
from dask_graphflow.operators.buckets import relax
from dask_graphflow.operators.direction import Direction
from dask_graphflow.operators.labels import Labels
from dask_graphflow.operators.predecessors import predecessors
from dask_graphflow.operators.pull import ONE, Pull
from dask_graphflow.operators.search import Search
from dask_graphflow.operators.view import GraphView
from dask_graphflow.scheduling import gang

pytestmark = pytest.mark.gpu

cupy = cupy_or_skip()
cudf = pytest.importorskip("cudf")

from dask_graphflow.kernels import (  # noqa: E402
    device_advance,
    device_buckets,
    device_labels,
    device_pull,
    device_search,
)

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
    "path": path(3000),
    "grid": grid(90, 70),
    "wide grid": grid(3, 5000),
    "star": star(9000, 4321),
    "flowers": flowers(),
    "far between": far_between(),
    "loops": (70, np.arange(0, 70, 3), np.arange(0, 70, 3)),
    "one edge": (2, np.array([1]), np.array([0])),
    "no edge": (100, np.zeros(0, "int64"), np.zeros(0, "int64")),
}


@pytest.fixture(params=GRAPHS, ids=str)
def graph(request):
    return GRAPHS[request.param]


def on_device(given):
    """Return rows, an array or None as they are on the device."""
    if isinstance(given, Rows):
        arrays = (on_device(array) for array in given[:4])
        return Rows(*arrays, given.first)
    return None if given is None else cupy.asarray(given)


def made(graph, *, ids="int32", weight=None, undirected=True):
    """Return the rows of the edges that leave vertices, and of those that enter them, on the host."""
    size, source, target = graph
    both = [
        rows(*ends, weight, count=size, undirected=undirected)
        for ends in ((source, target), (target, source))
    ]
    return [one._replace(ends=one.ends.astype(ids)) for one in both]


def same(got, wanted):
    got = to_host(got)
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


class Searching:
    """The state of a search, by the kernels of one side."""

    def __init__(self, kernels, size, sources, ids):
        self.kernels = kernels
        self.advance = device_advance if kernels is device_search else host_advance
        level = np.full(size, -1, "int32")
        predecessor = np.full(size, np.iinfo(ids).max, ids)
        level[sources], predecessor[sources] = 0, -1
        seen = host_advance.to_words(sources, size)
        self.seen, self.predecessor, self.level = seen, predecessor, level
        self.vertices = sources.astype(ids)
        if kernels is device_search:
            self.seen, self.predecessor, self.level, self.vertices = map(
                cupy.asarray, (seen, predecessor, level, self.vertices)
            )
        self.depth = 0

    def step(self, way, out, into):
        """Search one level, and return its vertices, sorted, on the host."""
        self.depth += 1
        state = self.seen, self.predecessor, self.level, self.depth
        before = self.vertices
        if way == "pull":
            words = self.advance.to_words(before, len(self.level))
            following = self.advance.new_words(len(self.level))
            count = self.kernels.bfs_pull(into, words, following, *state)
            self.vertices = self.advance.from_words(following, before.dtype)
            assert count == len(self.vertices)
        else:
            self.vertices = self.kernels.bfs_push(out, before, *state)
            self.kernels.mark_seen(self.seen, self.vertices)
        return np.sort(to_host(self.vertices))


def compare(mine, other):
    same(mine.seen, other.seen)
    same(mine.level, other.level)
    same(mine.predecessor, other.predecessor)


@pytest.mark.parametrize("ids", ["int32", "int64"])
@pytest.mark.parametrize("ways", [["push"], ["pull"], ["push", "pull", "pull"]], ids=str)
def test_every_level_of_a_search_is_the_same(graph, ways, ids):
    sides = made(graph, ids=ids, undirected=False)
    there = [on_device(one) for one in sides]
    sources = np.unique(np.append(graph[1][:1], graph[0] // 2))
    mine, other = (
        Searching(kernels, graph[0], sources, ids) for kernels in (device_search, host_search)
    )
    for way in itertools.islice(itertools.cycle(ways), 40):
        found, wanted = mine.step(way, *there), other.step(way, *sides)
        np.testing.assert_array_equal(found, wanted)
        compare(mine, other)
        if not len(wanted):
            break


@pytest.mark.parametrize("ids", ["int32", "int64"])
@pytest.mark.parametrize("few", [device_search.FEW, 3])
@pytest.mark.parametrize("span", [device_search.SPAN, 7])
def test_small_levels_are_searched_in_one_launch(monkeypatch, graph, ids, few, span):
    monkeypatch.setattr(device_search, "SPAN", span)
    size, (out, _) = graph[0], made(graph, ids=ids)
    sources = np.array([size // 2])
    mine, other = (
        Searching(kernels, size, sources, ids) for kernels in (device_search, host_search)
    )
    sizes = []
    while len(listed := other.vertices):
        sizes.append((len(listed), int(np.diff(out.offsets)[listed].sum())))
        other.step("push", out, None)
    monkeypatch.setattr(device_search, "FEW", few)
    there, frontier, depth, trace = on_device(out), mine.vertices, 1, []
    while len(frontier):
        state = frontier, mine.seen, mine.predecessor, mine.level, depth
        frontier, *done = device_search.bfs_near(there, *state, levels=size, dense=(0, 0, False))
        trace += [(int(count), int(edges)) for count, edges in zip(*done, strict=True)]
        depth += len(done[0])
    compare(mine, other)
    assert trace == sizes


def test_a_search_ends_where_it_is_told_to():
    graph = GRAPHS["skewed"]
    out, _ = made(graph)
    there, total = on_device(out), len(out.ends)
    for levels, dense in [
        (1, (0, 0, False)),
        (3, (0, 0, False)),
        (9, (20, total, False)),
        (9, (15, total, True)),
    ]:
        sources = np.array([graph[0] - 1])
        mine, other = (
            Searching(k, graph[0], sources, "int32") for k in (device_search, host_search)
        )
        found = [
            search.kernels.bfs_near(
                one, search.vertices, search.seen, search.predecessor, search.level, 1,
                levels=levels, dense=dense,
            )
            for one, search in ((there, mine), (out, other))
        ]  # fmt: skip
        same(cupy.sort(found[0][0]), np.sort(found[1][0]))
        for got, wanted in zip(found[0][1:], found[1][1:], strict=True):
            np.testing.assert_array_equal(got, wanted)
        compare(mine, other)


WEIGHTS = [None, "float32", "float64", "int64"]


@pytest.mark.parametrize("ids", ["int32", "int64"])
@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_contributions_are_summed_to_the_same_bits(graph, ids, weight, precision):
    size, source, _ = graph
    rng = np.random.default_rng(2)
    values = None if weight is None else (8 * rng.random(len(source))).astype(weight)
    contribution = (host_pull.ONE / size / 16 * rng.random(size)).astype(precision)
    _, into = made(graph, ids=ids, weight=values)
    wanted, sums = np.full(size, 7), cupy.full(size, 7, "int64")
    host_pull.sum_contributions(into, contribution, wanted)
    device_pull.sum_contributions(on_device(into), cupy.asarray(contribution), sums)
    same(sums, wanted)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("everywhere", [True, False])
@pytest.mark.parametrize("size", [1, 31, 5000])
def test_ranks_are_the_same_bits(precision, everywhere, size):
    rng = np.random.default_rng(size)
    sums = (host_pull.ONE / size * rng.random(size)).astype("int64")
    rank = (rng.random(size) / size).astype(precision)
    share = (host_pull.ONE / rng.integers(1, 60, size) * (rng.random(size) < 0.9)).astype(precision)
    restart = rng.random(1 if everywhere else size) / size
    arrays = [sums, rank, share, np.zeros(size, precision)]
    copies = [cupy.asarray(array) for array in arrays]
    wanted = host_pull.apply_sums(*arrays, restart, 0.85)
    assert device_pull.apply_sums(*copies, cupy.asarray(restart), 0.85) == wanted
    for got, array in zip(copies, arrays, strict=True):
        same(got, array)


def distances(kernels, one, size, sources, delta, cutoff):
    """Return the distances by the kernels of one side, and the edges relaxed."""
    distance = np.full(size, np.inf)
    distance[sources] = 0
    if kernels is device_buckets:
        distance, sources = cupy.asarray(distance), cupy.asarray(sources)
    light = kernels.light_first(one, delta)
    buckets = kernels.Buckets(distance, sources, delta)
    while len(frontier := buckets.take()):
        kernels.relax(light, buckets, frontier, cutoff=cutoff)
    return distance, buckets.counts


@pytest.mark.parametrize("ids", ["int32", "int64"])
@pytest.mark.parametrize("weight", WEIGHTS[1:])
@pytest.mark.parametrize("few", [device_buckets.FEW, 50])
def test_shortest_paths_are_the_same(monkeypatch, graph, ids, weight, few):
    monkeypatch.setattr(device_buckets, "FEW", few)
    size, source, _ = graph
    rng = np.random.default_rng(3)
    values = rng.random(len(source)).astype(weight)
    if weight == "int64":
        values = np.maximum(rng.integers(-3, 9, len(source)), 0)  # some of them 0
    out, _ = made(graph, ids=ids, weight=values)
    sources = np.unique(np.append(source[:1], size // 2))
    there = on_device(out)
    for delta, cutoff in ((0.05, np.inf), (2.0, np.inf), (1e300, np.inf), (0.3, 1.5)):
        wanted, _ = distances(host_buckets, out, size, sources, max(delta, 0.3), cutoff)
        found, counts = distances(device_buckets, there, size, sources, delta, cutoff)
        same(found, wanted)
        assert counts["vertices"] >= (np.isfinite(wanted) & (np.diff(out.offsets) > 0)).sum()
    before = host_buckets.predecessors(out, wanted, sources)
    same(device_buckets.predecessors(there, found, cupy.asarray(sources)), before)


@pytest.mark.parametrize("steps", [1, 5, device_buckets.STEPS])
def test_a_long_search_is_of_several_launches(monkeypatch, steps):
    monkeypatch.setattr(device_buckets, "STEPS", steps)
    graph = GRAPHS["path"]
    out, _ = made(graph, weight=np.ones(len(graph[1])))
    sources = graph[1][:1]
    found, _ = distances(device_buckets, on_device(out), graph[0], sources, 3.0, np.inf)
    wanted, _ = distances(host_buckets, out, graph[0], sources, 3.0, np.inf)
    same(found, wanted)


@pytest.mark.parametrize("ids", ["int32", "int64"])
def test_predecessors_of_rows_by_labels_are_named(graph, ids):
    size, source, _ = graph
    rng = np.random.default_rng(6)
    out, _ = made(graph, ids=ids, weight=rng.integers(1, 4, len(source)).astype("float32"))
    sources = np.unique(np.append(source[:1], size // 2))
    distance, _ = distances(host_buckets, out, size, sources, 1.0, np.inf)
    wanted = host_buckets.predecessors(out, distance, sources)
    names = rng.permutation(size).astype(ids)
    labels = np.argsort(names)
    by_label = on_device(relabelled(out, labels.astype(ids)))
    given = [cupy.asarray(array) for array in (distance[names], labels[sources])]
    found = device_buckets.predecessors(by_label, *given, names=cupy.asarray(names))
    same(found[cupy.asarray(labels)], wanted)


@pytest.mark.parametrize("ids", ["int32", "int64"])
def test_predecessors_over_edges_that_weigh_nothing(graph, ids):
    size, source, _ = graph
    values = np.random.default_rng(5).choice([0, 0, 0, 1.0], len(source))
    out, _ = made(graph, ids=ids, weight=values)
    sources = np.unique(np.append(source[:1], size // 2))
    wanted, _ = distances(host_buckets, out, size, sources, 1.0, np.inf)
    before = host_buckets.predecessors(out, wanted, sources)
    same(
        device_buckets.predecessors(on_device(out), cupy.asarray(wanted), cupy.asarray(sources)),
        before,
    )
    given = [cupy.asarray(array) for array in (wanted, sources, np.arange(size))]
    asked = device_buckets.predecessors(on_device(out), *given[:2], names=given[2])
    tails = owners(out, "int64")
    alike = (wanted[tails] == wanted[out.ends]) & np.isfinite(wanted[tails])
    assert (asked is None) == (alike & (tails != out.ends)).any()


@pytest.mark.parametrize("dtype", WEIGHTS[1:])
def test_weights_are_told_apart(dtype):
    values = np.array([3, -2, 0, 5, 4]).astype(dtype)
    wrong, sum_of = 1, 10
    if dtype != "int64":
        values = np.append(values, [np.nan, np.inf]).astype(dtype)
        wrong = 2
    assert device_buckets.weigh(cupy.asarray(values)) == (wrong, sum_of / 5)
    assert device_buckets.weigh(cupy.zeros(0, dtype)) == (0, 0.0)


@pytest.mark.parametrize("ids", ["int32", "int64"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("kinds", [3, 60, 10**9])
def test_the_most_frequent_labels_are_the_same(graph, ids, directed, kinds):
    size = graph[0]
    labels = np.random.default_rng(6).integers(0, min(kinds, 2**31 - 1), size).astype(ids)
    out, into = made(graph, ids=ids, undirected=not directed)
    sides = out, into if directed else None
    wanted, found = np.full(size, -3, ids), cupy.full(size, -3, ids)
    changed = host_labels.most_frequent(*sides, labels, wanted)
    there = map(on_device, sides)
    assert device_labels.most_frequent(*there, cupy.asarray(labels), found) == changed
    same(found, wanted)


class Scarce:
    """CuPy on a device with memory for some slots at a time."""

    def __init__(self, slots):
        self.slots = slots

    def __getattr__(self, name):
        return getattr(cupy, name)

    def empty(self, size, dtype):
        if size > self.slots:
            raise MemoryError
        return cupy.empty(size, dtype)


@pytest.mark.parametrize("less", [{"ROOM": 1 << 13}, {"cupy": Scarce(1 << 14)}], ids=list)
def test_tables_in_memory_are_used_again(monkeypatch, less):
    """More long rows than blocks, of which there are as many as there is room for."""
    for name, value in less.items():
        monkeypatch.setattr(device_labels, name, value)
    size, degree = 40, 1500
    source = np.repeat(np.arange(size), degree)
    target = np.random.default_rng(7).integers(0, size, len(source))
    out, _ = made((size, source, target), undirected=False)
    labels = np.random.default_rng(8).integers(0, 5, size).astype("int32")
    wanted, found = np.empty_like(labels), cupy.empty(size, "int32")
    changed = host_labels.most_frequent(out, None, labels, wanted)
    assert device_labels.most_frequent(on_device(out), None, cupy.asarray(labels), found) == changed
    same(found, wanted)
    monkeypatch.setattr(device_labels, "cupy", Scarce(1 << 8))
    with pytest.raises(MemoryError):
        device_labels.most_frequent(on_device(out), None, cupy.asarray(labels), found)


ENDS = {"source": "a", "target": "b", "weight": "w"}
LEAST = gf.EdgeOp("least", target="cost", signal="old[src] + weight", slot="min")
TOTAL = gf.EdgeOp("total", target="sum", signal="old[src] + 1", slot="add")


def frame_of(graph):
    """Return the edges of a graph as a frame; a third of the weights are 0."""
    _, source, target = graph
    weight = np.maximum(np.random.default_rng(12).integers(-4, 9, len(source)), 0) / 7
    return pd.DataFrame({"a": source, "b": target, "w": weight})


def searched(g, start, ways):
    search, rule, way = Search(g, g.find(start)), Direction("push", g), itertools.cycle(ways)
    while search.frontier:
        if next(way) == "push":
            search.push(rule, search.depth + 1)
        else:
            search.pull()
    return search.level, search.claims()


def advanced(g, start):
    """Advance a minimum and a sum by push and then by pull, from a third of the vertices."""
    numbers = g.numbers.astype("int64")
    columns = {"old": numbers, "cost": g.column(1e9, "float64"), "sum": g.column(0, "int64")}
    for op in (LEAST, TOTAL):
        steps = Advance(g, op, {name: columns[name] for name in op.columns})
        steps.pull(steps.push(g.frontier(np.flatnonzero(numbers % 3 == 0))))
    return columns["cost"], columns["sum"]


def relaxed(g, start):
    found = relax(g, g.find(start), 5.0)
    return found.by_vertex(g.owned), predecessors(g, found)


def pulled(g, precision):
    pull = Pull(g)
    rank = pull.take(g.column(1 / pull.count, precision))
    pull.begin(rank, np.full_like(rank, ONE / 4096))
    moved = lost = 0
    for _ in range(3):
        pull.publish(moved, lost)
        moved, lost = pull.update(rank, np.full_like(rank, 1 / pull.count, "float64", shape=1), 0.5)
    return pull.by_vertex(rank), *pull.totals()[:1]


def labelled(g, start):
    labels = Labels(g)
    for _ in range(3):
        labels.take()
    return (labels.own,)


OPERATORS = {
    "search by push": partial(searched, ways=["push"]),
    "search by pull": partial(searched, ways=["pull"]),
    "search both ways": partial(searched, ways=["push", "pull", "pull"]),
    "advance": advanced,
    "relax": relaxed,
    "pull": lambda g, start: pulled(g, "float64"),
    "pull, float32": lambda g, start: pulled(g, "float32"),
    "labels": labelled,
}


def columns_of(pieces, directed, members, start):
    """Return the columns that each operator gives on a graph, of all members together, on the host."""
    built = gf.Graph(pieces, **ENDS, directed=directed, shards=members)._built
    shards = dask.compute(*built, scheduler="threads")

    def loop(channel, shard, rank):
        g = GraphView(shard, Exchange(channel, device=shard.on_device))
        return [list(map(to_host, ask(g, start))) for ask in OPERATORS.values()]

    parts = zip(*gang._together(loop, list(shards), ()), strict=True)
    return [list(map(np.concatenate, zip(*part, strict=True))) for part in parts]


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_operators_give_the_same_columns(graph, directed, members):
    edges = frame_of(graph)
    if edges.empty:
        pytest.skip("a search needs a vertex to start from")
    start = pd.DataFrame({"vertex": edges.a.iloc[:1]})
    wanted = columns_of(partitioned(edges, 1), directed, 1, start)
    found = columns_of(on_gpu(partitioned(edges, members)), directed, members, start)
    for name, columns, others in zip(OPERATORS, found, wanted, strict=True):
        for got, array in zip(columns, others, strict=True):
            assert got.dtype == array.dtype, name
            if name.startswith("pull") and array is others[1]:
                np.testing.assert_allclose(
                    got, array, rtol=1e-12, err_msg=name
                )  # added up in another order
            else:
                np.testing.assert_array_equal(got, array, err_msg=name)


ASKED = {
    "bfs": lambda g, start: g.bfs(start),
    "sssp": lambda g, start: g.sssp(start),
    "pagerank": lambda g, start: g.pagerank(tol=None, max_iter=9, precision="float32"),
    "label propagation": lambda g, start: g.label_propagation(max_iter=5),
    "components": lambda g, start: g.connected_components(),
    "degrees": lambda g, start: g.degrees(),
}


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_results_are_those_of_pandas(graph, directed):
    edges = frame_of(graph)
    start = edges.a.iloc[:1].tolist()
    host, there = (
        gf.Graph(frame, **ENDS, directed=directed).persist()
        for frame in (edges, cudf.from_pandas(edges))
    )
    for name, ask in ASKED.items():
        found = ask(there, start).compute()
        assert type(found).__module__.startswith("cudf"), name
        assert plain(found) == plain(ask(host, start).compute()), name
