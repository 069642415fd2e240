"""Advance by push and pull against NetworkX and SciPy, the rules of direction, and buckets."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import networkx as nx
import numba
import numpy as np
import pytest
from conftest import GRAPHS, host_only, on_backend, some_steps, to_host
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra
from shapes import HOPS, NEVER, PATHS, advance, power_law_pairs, rows_to_host

from dask_graphflow.kernels import buckets as buckets_kernels
from dask_graphflow.kernels import host_atomics, host_threads, sorted_unique
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels.advance import host as host_advance
from dask_graphflow.operators.advance.direction import DIRECTIONS, Direction
from dask_graphflow.operators.frontier import Frontier, VertexSet
from dask_graphflow.programs.edge_op import EdgeOp

COUNT = EdgeOp("count", target="paths", signal="share[src]", slot="add")


SHAPES = some_steps({name: pairs for name, pairs in GRAPHS.items() if pairs})
SHAPES["power law"] = power_law_pairs(700, 4000)
WAYS = list(itertools.product([*DIRECTIONS, "in turn"], (1, 2)))  # and numbers of threads


@pytest.fixture(autouse=True)
def small_graphs_have_work_for_several_threads(monkeypatch):
    monkeypatch.setattr(host_advance, "EDGES", 1)


class Case:
    """A graph with weights, and its rows."""

    def __init__(self, pairs, undirected=True):
        self.source, self.target = np.array(pairs, np.int64).T.copy()
        self.count = int(max(self.source.max(), self.target.max())) + 1
        self.weight = np.random.default_rng(2).integers(0, 9, len(pairs)) / 4
        self.undirected = undirected

    def rows(self, entering=False, **options):
        ends = (self.target, self.source) if entering else (self.source, self.target)
        edges = [on_backend(array) for array in (*ends, self.weight)]
        make = rows_kernels.of(edges[0]).rows
        size = {"count": self.count, "columns": self.count}
        return make(*edges, **size, undirected=self.undirected, **options)

    def whole(self, **options):
        """Return the rows in host memory."""
        return rows_to_host(self.rows(**options))

    def matrix(self):
        """Return the least weight of each pair, with zeros that count as edges, for SciPy."""
        rows = self.whole(multi="min")
        sources = np.repeat(np.arange(self.count), np.diff(rows.offsets))
        return sources, rows.ends, rows.weights

    def graph(self):
        graph = nx.Graph() if self.undirected else nx.DiGraph()
        graph.add_nodes_from(range(self.count))
        graph.add_edges_from(zip(self.source.tolist(), self.target.tolist(), strict=True))
        return graph


@pytest.fixture(params=SHAPES, ids=str)
def pairs(request):
    return SHAPES[request.param]


@pytest.fixture(params=[True, False], ids=["undirected", "directed"])
def case(request, pairs):
    return Case(pairs, undirected=request.param)


def levels_by_networkx(case, source):
    levels = np.full(case.count, NEVER, np.int32)
    for vertex, level in nx.single_source_shortest_path_length(case.graph(), source).items():
        levels[vertex] = level
    return levels


def levels(case, sources=(0,)):
    """Return the column of HOPS to begin with."""
    level = np.full(case.count, NEVER, np.int32)
    level[list(sources)] = 0
    return {"level": on_backend(level)}


def frontier_of(case, vertices):
    return VertexSet(case.count, vertices=on_backend(np.array(vertices, np.int32)))


def fixpoint(case, op, columns, start, way, threads):
    """Advance until nothing changes; return the number of vertices in each frontier."""
    rows = {name: case.rows(name == "pull") for name in DIRECTIONS}
    frontier, sizes = frontier_of(case, start), []
    while len(frontier):
        which = way if way in DIRECTIONS else DIRECTIONS[len(sizes) % 2]
        sizes.append(len(frontier))
        how = {"direction": which, "threads": threads}
        frontier, _ = advance(op, columns, rows[which], frontier, **how)
    return sizes


def test_levels_are_those_of_networkx(case):
    source = int(case.source[0])
    wanted = levels_by_networkx(case, source)
    for way, threads in WAYS:
        columns = levels(case, [source])
        sizes = fixpoint(case, HOPS, columns, [source], way, threads)
        np.testing.assert_array_equal(to_host(columns["level"]), wanted, f"{way}, {threads}")
        assert sizes == np.bincount(wanted[wanted != NEVER]).tolist()


def test_no_edge_can_be_relaxed_any_more(case):
    source = int(case.source[0])
    sources, ends, weights = case.matrix()
    wanted = distances(case, source)
    assert (wanted[ends] <= wanted[sources] + weights).all()
    for way, threads in WAYS:
        columns = {"cost": on_backend(np.where(np.arange(case.count) == source, 0, np.inf))}
        fixpoint(case, PATHS, columns, [source], way, threads)
        np.testing.assert_array_equal(to_host(columns["cost"]), wanted, f"{way}, {threads}")


def test_sums_count_every_edge_once(case):
    wanted = np.zeros(case.count, np.int64)
    whole = case.whole()
    sources = np.repeat(np.arange(case.count), np.diff(whole.offsets))
    np.add.at(wanted, whole.ends, sources)
    for way, threads in itertools.product(DIRECTIONS, (1, 2)):
        columns = {"share": np.arange(case.count), "paths": np.zeros(case.count, np.int64)}
        columns = {name: on_backend(values) for name, values in columns.items()}
        rows = case.rows(way == "pull")
        _, edges = advance(COUNT, columns, rows, None, direction=way, threads=threads)
        np.testing.assert_array_equal(to_host(columns["paths"]), wanted)
        assert edges == len(whole.ends)


@pytest.mark.parametrize("way", DIRECTIONS)
def test_a_pull_stops_at_the_first_hit_and_a_push_does_not(way):
    case = Case(
        [(0, i) for i in range(1, 50)] + [(j, i) for j in range(1, 40) for i in range(40, 50)]
    )
    columns, frontier = levels(case, range(40)), frontier_of(case, range(40))
    # On a GPU, only this policy leaves a row to a single thread, which can stop early.
    how = {"direction": way, "balance": "thread"}
    _, edges = advance(HOPS, columns, case.rows(), frontier, **how)
    out = len(case.rows().ends) - 40 * 10
    assert edges == (10 if way == "pull" else out)


@pytest.mark.parametrize("values", [[], [3], [2, 2, 2], [5, -1, 5, 0, -1]], ids=str)
def test_distinct_values_ascend(values):
    found = to_host(sorted_unique(on_backend(np.array(values, "int64"))))
    assert (found.tolist(), found.dtype) == (sorted({*values}), np.dtype("int64"))


def test_vertices_are_appended_in_batches():
    case = Case([(0, i) for i in range(1, 5001)])
    host_only("on a GPU it is a warp that appends: test_device_advance")
    bound = HOPS.bind({"level": "int32"}, index_dtype="int32")
    moved = host_advance.push(
        bound.host_program, case.rows(), (levels(case)["level"],), np.zeros(1, np.int32)
    )
    assert sorted(moved.changed.tolist()) == list(range(1, 5001))
    assert moved.appends == -(-5000 // host_advance.BATCH)


@pytest.mark.usefixtures("host_memory")  # blocks of a GPU do not own tiles, so none can be stolen
@pytest.mark.parametrize("way", DIRECTIONS)
def test_a_thread_that_is_done_takes_over_mini_chunks(way):
    # If the thread of one part never starts, the other part takes all of its chunks.
    case = Case(power_law_pairs(5000, 20_000))
    bound = HOPS.bind({"level": "int32"}, index_dtype="int32")
    level = np.full(case.count, NEVER, np.int32)
    level[:2000] = 0
    rows = case.rows()
    run = host_advance.push if way == "push" else host_advance.pull
    frontier = np.arange(2000, dtype=np.int32)
    given = frontier if way == "push" else host_advance.to_words(frontier, case.count)
    shared = host_threads.share
    try:
        host_threads.share = lambda work, parts, threads: [work(1), work(0)]
        skewed = run(bound.host_program, rows, (level.copy(),), given, threads=2)
    finally:
        host_threads.share = shared
    alone = run(bound.host_program, rows, (level.copy(),), given, threads=1)
    assert skewed.steals > 0 == alone.steals
    assert skewed.edges == alone.edges
    assert set(as_list(skewed.changed, way)) == set(as_list(alone.changed, way))


@pytest.mark.usefixtures("host_memory")
def test_a_program_is_compiled_for_one_type_of_frontiers():
    op = EdgeOp("farther", target="level", signal="level[src] + 1", slot="min")
    bound = op.bind({"level": "int32"}, index_dtype="int32")
    case = Case([(0, 1), (1, 2)])
    for given in (None, np.array([0]), np.array([0], "int32")):
        columns = (np.arange(3, dtype="int32") * 5,)
        host_advance.push(bound.host_program, case.rows(), columns, given)
    assert len(host_advance.kernels(bound.host_program)[0].signatures) == 1


def as_list(changed, way):
    return (changed if way == "push" else host_advance.from_words(changed, "int32")).tolist()


def test_a_list_and_a_bitmap_are_the_same_set(rng):
    size = 1000
    vertices = np.flatnonzero(rng.random(size) < 0.3).astype(np.int32)
    degrees = rng.integers(0, 9, size)
    sparse = VertexSet(size, vertices=on_backend(vertices))
    dense = VertexSet(size, words=on_backend(words_of(vertices, size)))
    assert sparse.sparse
    assert not dense.sparse
    assert len(sparse) == len(dense) == len(vertices)
    given = on_backend(degrees)
    assert sparse.edges(given) == dense.edges(given) == degrees[vertices].sum()
    np.testing.assert_array_equal(to_host(sparse.words), to_host(dense.words))
    np.testing.assert_array_equal(to_host(dense.vertices), vertices)
    assert len(VertexSet(size, vertices=on_backend(vertices[:0]))) == 0
    assert len(VertexSet(size, words=on_backend(np.zeros(16, "u8")))) == 0


def words_of(vertices, size):
    flags = np.zeros(-(-size // 64) * 64, bool)
    flags[vertices] = True
    return np.packbits(flags, bitorder="little").view(np.uint64)


# Directions


@pytest.mark.parametrize(
    ("rule", "edges", "steps"),
    [
        ("push", 2000, [(2000, 2000, "push")]),
        ("pull", 2000, [(0, 0, "pull")]),
        ("gemini", 2000, [(100, 100, "push"), (101, 101, "pull"), (100, 100, "push")]),
        ("beamer", 2000, [(133, 133, "push")]),
        ("beamer", 2000, [(134, 134, "pull")]),
        ("beamer", 1680, [(112, 112, "push")]),
        ("beamer", 1679, [(112, 112, "pull")]),
        # Edges that were explored before no longer count: 1880, then 1755 are left.
        ("beamer", 2000, [(1, 120, "push"), (1, 125, "push"), (1, 118, "pull")]),
        # After a pull: 1/18 of 2000 vertices are 111.1.
        ("beamer", 4000, [(112, 2000, "pull"), (100, 200, "push")]),
        ("beamer", 4000, [(100, 2000, "pull"), (100, 200, "pull")]),
        ("beamer", 4000, [(900, 2000, "pull"), (112, 224, "pull")]),
        # If fewer edges leave the frontier, it is pushed, however few are unexplored.
        ("beamer", 120, [(0, 0, "push"), (111, 111, "push")]),
        ("beamer", 120, [(112, 112, "pull"), (111, 111, "push")]),
    ],
)
def test_the_rules_choose_by_the_edges_that_leave_the_frontier(rule, edges, steps):
    direction = Direction(rule, sizes(edges))
    for count, leaving, way in steps:
        assert direction.choose(Frontier(None, count, leaving)) == way


def sizes(edges, *, on_disk=False):
    """Return what a rule asks a graph of 2000 vertices."""
    return SimpleNamespace(size=2000, edges_and_storage=lambda: (edges, on_disk))


@pytest.mark.parametrize("rule", ["gemini", "beamer"])
def test_rows_of_few_vertices_on_disk_are_pushed_although_many_edges_leave(rule):
    million = 1_000_000  # as many edges are read in order as 122 vertices' rows
    for count, on_disk, way in ((100, False, "pull"), (100, True, "push"), (123, True, "pull")):
        direction = Direction(rule, sizes(million, on_disk=on_disk))
        assert direction.choose(Frontier(None, count, 100_000)) == way


def test_levels_that_were_pushed_in_one_call_are_explored():
    direction = Direction("beamer", sizes(2000))
    assert direction.choose(Frontier(None, 1, 120)) == "push"
    direction.record_levels(np.array([1, 5]), np.array([120, 125]))
    assert direction.unexplored == 1755
    assert direction.choose(Frontier(None, 1, 118)) == "pull"


# Buckets


def distances(case, source):
    """Return the distances by SciPy, whose zeros are no edges: so they weigh next to nothing."""
    sources, ends, weights = case.matrix()
    tiny = np.where(weights == 0, 1e-9, weights)
    graph = coo_array((tiny, (sources, ends)), shape=(case.count,) * 2).tocsr()
    return np.round(dijkstra(graph, indices=source) * 4) / 4


def sssp(case, source, delta, threads, dtype=np.float64):
    rows = case.rows()
    kernels = buckets_kernels.of(rows.ends)
    distance = np.full(case.count, np.inf, dtype)
    distance[source] = 0
    distance, sources = on_backend(distance), on_backend(np.array([source]))
    light = kernels.light_first(rows, delta)
    buckets = kernels.new_buckets(light, distance, sources, delta, threads=threads)
    while buckets.relax(np.inf, 0):
        pass
    return to_host(distance), buckets


@pytest.mark.parametrize("dtype", [pytest.param("float32", marks=pytest.mark.slow), "float64"])
def test_distances_are_those_of_scipy_for_every_width_of_buckets(case, dtype):
    if dtype == "float32":
        host_only("distances are float64 on a GPU")
    source = int(case.source[0])
    wanted = distances(case, source)
    for delta, threads in itertools.product([1e-4, 0.3, 1.0, 100.0], (1, 3)):
        distance, buckets = sssp(case, source, delta, threads, dtype)
        np.testing.assert_array_equal(distance, wanted)
        assert buckets.counts["vertices"] >= np.isfinite(wanted).sum()


def test_buckets_grow_and_wait_past_the_window():
    # A hub whose neighbors need more buckets and more blocks than are allocated at first.
    count = 300_000
    case = Case([(0, i) for i in range(1, count)])
    case.weight = np.random.default_rng(1).random(count - 1) * 5000
    distance, _ = sssp(case, 0, 1.0, 2)
    np.testing.assert_array_equal(distance[1:], case.weight)


# The instructions


@pytest.mark.usefixtures("host_memory")  # the host's instructions; a GPU uses those of CUDA
def test_atomic_instructions_return_the_right_values():
    numbers = np.array([5, -7], np.int64)
    found = calls(numbers, np.array([1.5]), np.array([0b1010], np.uint64))
    assert found == (5, 8, -7, True, False, 2, 1)
    assert numbers.tolist() == [8, -9]


@numba.njit
def calls(numbers, floats, words):
    was = host_atomics.fetch_add(numbers, 0, 3)
    now = numbers[0]
    least = host_atomics.fetch_min(numbers, 1, -9)
    done = host_atomics.swap(floats, 0, 1.5, 2.5)
    not_done = host_atomics.swap(floats, 0, 1.5, 3.5)
    host_atomics.prefetch(numbers, 10**6)
    return (
        was,
        now,
        least,
        done,
        not_done,
        host_atomics.count_ones(words[0]),
        host_atomics.trailing_zeros(words[0]),
    )
