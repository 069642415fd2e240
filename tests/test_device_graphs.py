"""The algorithms' own kernels on the device give what their host twins give. These tests need a GPU."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from conftest import cupy_or_skip
from dask_graphflow.graph.shards import Shards

from dask_graphflow.algorithms import bfs, label_propagation, pagerank, sssp
from dask_graphflow.graph.vertices import Vertices
from dask_graphflow.kernels import host_advance, host_buckets, host_labels, host_pull, host_search
from dask_graphflow.kernels.host_rows import Rows, compressed, owners, relabelled, rows

pytestmark = pytest.mark.gpu

cupy = cupy_or_skip()

from dask_graphflow.kernels import (  # noqa: E402
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


def made(graph, *, ids="int32", weight=None, undirected=True, bounds=None):
    """Return the rows of what leaves and of what enters the ranges of a graph, on the host."""
    size, source, target = graph
    bounds = [0, size] if bounds is None else bounds
    sides = (source, target), (target, source)
    how = {"columns": size, "undirected": undirected}
    both = [
        [
            rows(*ends, weight, first=low, count=high - low, **how)
            for low, high in itertools.pairwise(bounds)
        ]
        for ends in sides
    ]
    return [[one._replace(ends=one.ends.astype(ids)) for one in side] for side in both]


def ranges(size):
    """Return bounds of three ranges that begin with a whole word."""
    return [0, size // 3 // 64 * 64, size * 2 // 3 // 64 * 64, size]


def same(got, wanted):
    got = cupy.asnumpy(got)
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


class Searching:
    """The state of a search, by the kernels of one side."""

    def __init__(self, kernels, size, sources, ids):
        self.kernels = kernels
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

    def step(self, way, out, into, bounds):
        """Take a level, and return its vertices, sorted, on the host."""
        self.depth += 1
        state = self.seen, self.predecessor, self.level, self.depth
        before = cupy.asnumpy(self.vertices)
        if way == "pull":
            words = host_advance.to_words(before, len(self.level))
            following = np.zeros_like(words)
            if self.kernels is device_search:
                words, following = cupy.asarray(words), cupy.asarray(following)
            count = sum(self.kernels.bfs_pull(one, words, following, *state) for one in into)
            listed = host_advance.from_words(cupy.asnumpy(following), before.dtype)
            assert count == len(listed)
        else:
            found = []
            for one, (low, high) in zip(out, itertools.pairwise(bounds), strict=True):
                mine = before[(before >= low) & (before < high)]
                mine = mine if self.kernels is host_search else cupy.asarray(mine)
                found.append(cupy.asnumpy(self.kernels.bfs_push(one, mine, *state)))
            listed = np.sort(np.concatenate(found))
        self.vertices = listed if self.kernels is host_search else cupy.asarray(listed)
        if way == "push":
            self.kernels.mark_seen(self.seen, self.vertices)
        return listed


def compare(mine, other):
    same(mine.seen, other.seen)
    same(mine.level, other.level)
    same(mine.predecessor, other.predecessor)


@pytest.mark.parametrize("ids", ["int32", "int64"])
@pytest.mark.parametrize("ways", [["push"], ["pull"], ["push", "pull", "pull"]], ids=str)
@pytest.mark.parametrize("cut", [False, True])
def test_every_level_of_a_search_is_the_same(graph, ways, ids, cut):
    size = graph[0]
    bounds = ranges(size) if cut else [0, size]
    out, into = made(graph, ids=ids, undirected=False, bounds=bounds)
    there = [on_device(one) for one in out], [on_device(one) for one in into]
    sources = np.unique(np.append(graph[1][:1], size // 2))
    searches = [Searching(kernels, size, sources, ids) for kernels in (device_search, host_search)]
    for way in itertools.islice(itertools.cycle(ways), 40):
        lists = [
            search.step(way, *sides, bounds)
            for search, sides in zip(searches, (there, (out, into)), strict=True)
        ]
        np.testing.assert_array_equal(*lists)
        compare(*searches)
        if not len(lists[0]):
            break


@pytest.mark.parametrize("ids", ["int32", "int64"])
@pytest.mark.parametrize("few", [device_search.FEW, 3])
@pytest.mark.parametrize("span", [device_search.SPAN, 7])
def test_small_levels_are_searched_in_one_launch(monkeypatch, graph, ids, few, span):
    monkeypatch.setattr(device_search, "SPAN", span)
    size, ((out,), _) = graph[0], made(graph, ids=ids)
    sources = np.array([size // 2])
    mine, other = (
        Searching(kernels, size, sources, ids) for kernels in (device_search, host_search)
    )
    sizes = []
    while len(listed := other.vertices):
        sizes.append((len(listed), int(np.diff(out.offsets)[listed].sum())))
        other.step("push", [out], None, [0, size])
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
    (out,), _ = made(graph)
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
    for bounds, shape in ((None, None), (ranges(size), None), (None, compressed)):
        _, into = made(graph, ids=ids, weight=values, bounds=bounds)
        for one in map(shape, into) if shape else into:
            wanted = np.full(size, 7)
            host_pull.sum_contributions(one, contribution, wanted)
            sums = cupy.full(size, 7, "int64")
            device_pull.sum_contributions(on_device(one), cupy.asarray(contribution), sums)
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
    (out,), _ = made(graph, ids=ids, weight=values)
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
    (out,), _ = made(graph, weight=np.ones(len(graph[1])))
    sources = graph[1][:1]
    found, _ = distances(device_buckets, on_device(out), graph[0], sources, 3.0, np.inf)
    wanted, _ = distances(host_buckets, out, graph[0], sources, 3.0, np.inf)
    same(found, wanted)


@pytest.mark.parametrize("ids", ["int32", "int64"])
def test_predecessors_of_rows_by_labels_are_named(graph, ids):
    size, source, _ = graph
    rng = np.random.default_rng(6)
    (out,), _ = made(graph, ids=ids, weight=rng.integers(1, 4, len(source)).astype("float32"))
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
    (out,), _ = made(graph, ids=ids, weight=values)
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
    for bounds in ([0, size], ranges(size)):
        out, into = made(graph, ids=ids, undirected=not directed, bounds=bounds)
        for one, other in zip(out, into if directed else [None] * len(out), strict=True):
            wanted, found = np.full(size, -3, ids), cupy.full(size, -3, ids)
            changed = host_labels.most_frequent(one, other, labels, wanted)
            there = on_device(one), None if other is None else on_device(other)
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
    (out,), _ = made((size, source, target), undirected=False)
    labels = np.random.default_rng(8).integers(0, 5, size).astype("int32")
    wanted, found = np.empty_like(labels), cupy.empty(size, "int32")
    changed = host_labels.most_frequent(out, None, labels, wanted)
    assert device_labels.most_frequent(on_device(out), None, cupy.asarray(labels), found) == changed
    same(found, wanted)
    monkeypatch.setattr(device_labels, "cupy", Scarce(1 << 8))
    with pytest.raises(MemoryError):
        device_labels.most_frequent(on_device(out), None, cupy.asarray(labels), found)


def shards(graph, place, directed, weighted):
    """Return a graph of shards, made of arrays on the host or on the device."""
    size, source, target = graph
    weight = place(np.random.default_rng(12).random(len(source))) if weighted else None
    ends = place(source.astype("int32")), place(target.astype("int32")), weight
    nobody = Vertices(pd.DataFrame({"vertex": np.zeros(0, "int64")}), size)
    return Shards(nobody, *ends, directed=directed)


LOOPS = {
    "bfs": lambda made, sources: bfs.levels(
        made, sources, depth_limit=None, rule="beamer", threads=1
    )[:2],
    "sssp": lambda made, sources: [sssp.distances(made, sources, cutoff=None, threads=1)[0]],
    "pagerank": lambda made, sources: [
        pagerank.ranks(
            made, alpha=0.85, until=(None, 9, False), restart=None, precision="float32", threads=1
        )[0]
    ],
    "labels": lambda made, sources: [label_propagation.communities(made, max_iter=5, threads=1)[0]],
}


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("directed", [True, False])
def test_the_loops_of_the_algorithms_give_the_same(graph, name, directed):
    sources, kind = np.array([graph[0] // 2], "int32"), (directed, name == "sssp")
    wanted = LOOPS[name](shards(graph, np.asarray, *kind), sources)
    found = LOOPS[name](shards(graph, cupy.asarray, *kind), cupy.asarray(sources))
    for got, array in zip(found, wanted, strict=True):
        assert isinstance(got, cupy.ndarray)
        same(got, array)
