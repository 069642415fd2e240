"""Advance by push and pull against NetworkX and SciPy; and the kernels of BFS, SSSP and PageRank."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from conftest import GRAPHS, host_only, on_backend, some_steps, to_host
from dask_graphflow.operators.frontier import Frontier
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra
from shapes import HOPS, NEVER, PATHS, rows_to_host

from dask_graphflow.exceptions import OptionError
from dask_graphflow.kernels import host_advance, host_atomics, kernels_of
from dask_graphflow.kernels.edge_op import EdgeOp
from dask_graphflow.operators.advance import DIRECTIONS, Step, advance, direction

COUNT = EdgeOp("count", target="paths", signal="share[src]", slot="add")


def power_law(count=700, edges=4000, seed=5):
    rng = np.random.default_rng(seed)
    return [tuple(pair) for pair in (rng.random((edges, 2)) ** 3 * count).astype(int).tolist()]


SHAPES = some_steps({name: pairs for name, pairs in GRAPHS.items() if pairs})
SHAPES["power law"] = power_law()
OPTIONS = DIRECTIONS, (1, 2), (1, 3), (False, True)
# Half of the ways are fast: of any three options all combinations are among them.
WAYS = [
    pytest.param(*way, marks=[pytest.mark.slow] * (sum(map(tuple.index, OPTIONS, way)) % 2))
    for way in itertools.product(*OPTIONS)
]


class Case:
    """A graph with weights, and its rows in as many ranges as asked for."""

    def __init__(self, pairs, undirected=True):
        self.source, self.target = np.array(pairs, np.int64).T.copy()
        self.count = int(max(self.source.max(), self.target.max())) + 1
        self.weight = np.random.default_rng(2).integers(0, 9, len(pairs)) / 4
        self.undirected = undirected

    def rows(self, entering=False, parts=1, fewer=False, **options):
        ends = (self.target, self.source) if entering else (self.source, self.target)
        edges = [on_backend(array) for array in (*ends, self.weight)]
        kernels = kernels_of("rows", edges[0])
        bounds = [self.count * i // parts for i in range(parts + 1)]
        made = [
            kernels.rows(
                *edges,
                first=low,
                count=high - low,
                columns=self.count,
                undirected=self.undirected,
                **options,
            )
            for low, high in itertools.pairwise(bounds)
        ]
        return [kernels.compressed(part) for part in made] if fewer else made

    def whole(self, **options):
        """Return the rows of all vertices, in host memory."""
        (rows,) = self.rows(**options)
        return rows_to_host(rows)

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
    return Frontier(case.count, vertices=on_backend(np.array(vertices, np.int32)))


def fixpoint(case, op, columns, start, way, threads, parts, fewer):
    rows = {name: case.rows(name == "pull", parts, fewer) for name in DIRECTIONS}
    frontier, steps = frontier_of(case, start), []
    while len(frontier):
        which = way if way in DIRECTIONS else way(len(steps))
        frontier, step = advance(
            op, columns, rows[which], frontier, direction=which, threads=threads
        )
        steps.append(step)
    return steps


@pytest.mark.parametrize(("way", "threads", "parts", "fewer"), WAYS)
def test_levels_are_those_of_networkx(case, way, threads, parts, fewer):
    source = int(case.source[0])
    columns = levels(case, [source])
    steps = fixpoint(case, HOPS, columns, [source], way, threads, parts, fewer)
    wanted = levels_by_networkx(case, source)
    np.testing.assert_array_equal(to_host(columns["level"]), wanted)
    assert [step.frontier for step in steps] == np.bincount(wanted[wanted != NEVER]).tolist()


@pytest.mark.parametrize(("way", "threads", "parts", "fewer"), WAYS)
def test_no_edge_can_be_relaxed_any_more(case, way, threads, parts, fewer):
    source = int(case.source[0])
    columns = {"cost": on_backend(np.where(np.arange(case.count) == source, 0, np.inf))}
    fixpoint(case, PATHS, columns, [source], way, threads, parts, fewer)
    sources, ends, weights = case.matrix()
    cost = to_host(columns["cost"])
    assert (cost[ends] <= cost[sources] + weights).all()
    np.testing.assert_array_equal(cost, distances(case, source))


@pytest.mark.parametrize(("way", "threads", "parts", "fewer"), WAYS)
def test_sums_count_every_edge_once(case, way, threads, parts, fewer):
    columns = {"share": np.arange(case.count), "paths": np.zeros(case.count, np.int64)}
    columns = {name: on_backend(values) for name, values in columns.items()}
    rows = case.rows(way == "pull", parts, fewer)
    _, step = advance(COUNT, columns, rows, None, direction=way, threads=threads)
    wanted = np.zeros(case.count, np.int64)
    whole = case.whole()
    sources = np.repeat(np.arange(case.count), np.diff(whole.offsets))
    np.add.at(wanted, whole.ends, sources)
    np.testing.assert_array_equal(to_host(columns["paths"]), wanted)
    assert step.edges == len(whole.ends)
    assert step.frontier == case.count


def test_push_and_pull_in_turn_give_the_same(case):
    source = int(case.source[0])
    columns = levels(case, [source])
    steps = fixpoint(case, HOPS, columns, [source], lambda i: DIRECTIONS[i % 2], 2, 2, False)
    np.testing.assert_array_equal(to_host(columns["level"]), levels_by_networkx(case, source))
    assert [step.direction for step in steps] == [DIRECTIONS[i % 2] for i in range(len(steps))]


@pytest.mark.parametrize("way", DIRECTIONS)
def test_a_pull_stops_at_the_first_hit_and_a_push_does_not(way):
    case = Case(
        [(0, i) for i in range(1, 50)] + [(j, i) for j in range(1, 40) for i in range(40, 50)]
    )
    columns, frontier = levels(case, range(40)), frontier_of(case, range(40))
    # Of a GPU's policies the one by which nobody else is on a row that a thread leaves.
    how = {"direction": way, "balance": "thread"}
    _, step = advance(HOPS, columns, case.rows(), frontier, **how)
    out = len(case.rows()[0].ends) - 40 * 10
    assert step.edges == (10 if way == "pull" else out)


def test_vertices_are_appended_in_batches():
    case = Case([(0, i) for i in range(1, 5001)])
    reached, step = advance(
        HOPS, levels(case), case.rows(), frontier_of(case, [0]), direction="push"
    )
    assert sorted(to_host(reached.vertices).tolist()) == list(range(1, 5001))
    host_only("on a GPU it is a warp that appends: test_device_advance")
    assert step.appends == -(-5000 // host_advance.BATCH)


@pytest.mark.usefixtures("host_memory")  # a GPU's blocks have no tiles of their own to be stolen
@pytest.mark.parametrize("way", DIRECTIONS)
def test_a_thread_that_is_done_takes_over_mini_chunks(way):
    # One part does everything where the other's thread never comes: all of its chunks are stolen.
    case = Case(power_law(5000, 20_000))
    bound = HOPS.bind({"level": "int32"}, index_dtype="int32")
    level = np.full(case.count, NEVER, np.int32)
    level[:2000] = 0
    (rows,) = case.rows()
    run = host_advance.push if way == "push" else host_advance.pull
    frontier = np.arange(2000, dtype=np.int32)
    given = frontier if way == "push" else host_advance.to_words(frontier, case.count)
    shared = host_advance.share
    try:
        host_advance.share = lambda work, parts, threads: [work(1), work(0)]
        skewed = run(bound, rows, (level.copy(),), given, threads=2)
    finally:
        host_advance.share = shared
    alone = run(bound, rows, (level.copy(),), given, threads=1)
    assert skewed.steals > 0 == alone.steals
    assert skewed.edges == alone.edges
    assert set(as_list(skewed.changed, way)) == set(as_list(alone.changed, way))


@pytest.mark.usefixtures("host_memory")
def test_a_program_is_compiled_for_one_type_of_frontiers():
    op = EdgeOp("farther", target="level", signal="level[src] + 1", slot="min")
    bound = op.bind({"level": "int32"}, index_dtype="int32")
    case = Case([(0, 1), (1, 2)])
    for fewer, frontier in itertools.product([False, True], [None, [0], np.array([0], "int32")]):
        (rows,) = case.rows(fewer=fewer)
        given = None if frontier is None else np.array(frontier)
        host_advance.push(bound, rows, (np.arange(3, dtype="int32") * 5,), given)
    assert len(host_advance.kernels(bound)[0].signatures) == 2  # of rows, and of compressed rows


def as_list(changed, way):
    return (changed if way == "push" else host_advance.from_words(changed, "int32")).tolist()


def test_a_frontier_has_two_forms_of_one_set(rng):
    size = 1000
    vertices = np.flatnonzero(rng.random(size) < 0.3).astype(np.int32)
    degrees = rng.integers(0, 9, size)
    sparse, dense = (
        Frontier(size, vertices=on_backend(vertices)),
        Frontier(size, words=on_backend(words_of(vertices, size))),
    )
    assert sparse.sparse
    assert not dense.sparse
    assert len(sparse) == len(dense) == len(vertices)
    given = on_backend(degrees)
    assert sparse.edges(given) == dense.edges(given) == degrees[vertices].sum()
    np.testing.assert_array_equal(to_host(sparse.words), to_host(dense.words))
    np.testing.assert_array_equal(to_host(dense.vertices), vertices)
    assert len(Frontier(size, vertices=on_backend(vertices[:0]))) == 0
    assert len(Frontier(size, words=on_backend(np.zeros(16, "u8")))) == 0


def words_of(vertices, size):
    flags = np.zeros(-(-size // 64) * 64, bool)
    flags[vertices] = True
    return np.packbits(flags, bitorder="little").view(np.uint64)


def test_the_rules_choose_by_the_edges_that_leave_the_frontier():
    degrees = on_backend(np.ones(2000, np.int64))
    some = {
        count: Frontier(2000, vertices=on_backend(np.arange(count)))
        for count in (100, 101, 133, 134, 112)
    }
    assert direction(some[100], degrees, total=2000) == "push"
    assert direction(some[101], degrees, total=2000) == "pull"
    assert direction(some[133], degrees, total=2000, rule="beamer") == "push"
    assert direction(some[134], degrees, total=2000, rule="beamer") == "pull"
    assert direction(some[112], degrees, total=2000, rule="beamer", unexplored=1680) == "push"
    assert direction(some[112], degrees, total=2000, rule="beamer", unexplored=1679) == "pull"
    # After a pull: 1/18 of 2000 vertices are 111.1.
    twice, how = on_backend(np.full(2000, 2)), {"total": 4000, "rule": "beamer", "unexplored": 9}
    pulled = Step("pull", 112, 0, 0, 0, 0)
    assert direction(some[100], twice, **how) == "pull"
    assert direction(some[100], twice, **how, last=pulled) == "push"
    assert direction(some[100], twice, **how, last=pulled._replace(frontier=100)) == "pull"
    assert direction(some[112], twice, **how, last=pulled._replace(frontier=900)) == "pull"


@pytest.mark.parametrize("last", [None, Step("push", 99, 99, 0, 0, 0), Step("pull", 9, 9, 0, 0, 0)])
def test_a_frontier_with_few_edges_is_pushed_however_few_are_unexplored(last):
    degrees = on_backend(np.ones(2000, np.int64))
    how = {"total": 2000, "rule": "beamer", "unexplored": 120, "last": last}
    for count, way in [(0, "push"), (111, "push"), (112, "pull")]:
        frontier = Frontier(2000, vertices=on_backend(np.arange(count)))
        assert direction(frontier, degrees, **how) == way


def test_options_that_do_not_exist_are_named_with_those_that_do():
    case = Case([(0, 1)])
    frontier = frontier_of(case, [0])
    with pytest.raises(OptionError, match=r"direction='pul'; allowed are 'push', 'pull'; did you"):
        advance(HOPS, levels(case), case.rows(), frontier, direction="pul")
    with pytest.raises(OptionError, match=r"rule='beam'; allowed are 'gemini', 'beamer'"):
        direction(frontier, on_backend(np.ones(2)), total=2, rule="beam")


# BFS


def bfs(case, source, ways, threads, parts):
    ends = on_backend(case.source), on_backend(case.target)
    row_kernels, words_of, kernels = (
        kernels_of(name, ends[0]) for name in ("rows", "advance", "search")
    )
    size = -(-case.count // parts // 64) * 64
    rows = [
        row_kernels.rows(
            *ends[:: 1 if leaving else -1],
            first=low,
            count=min(size, case.count - low),
            columns=case.count,
            undirected=case.undirected,
        )
        for leaving in (True, False)
        for low in range(0, case.count, size)
    ]
    leaving, entering = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    predecessor = np.full(case.count, NEVER, np.int32)
    level = np.full(case.count, kernels.UNSEEN, np.int32)
    level[source], frontier = 0, on_backend(np.array([source], np.int32))
    predecessor[source] = source
    level, predecessor = on_backend(level), on_backend(predecessor)
    seen = words_of.to_words(frontier, case.count)
    for depth in itertools.count(1):
        if not len(frontier):
            break
        state = seen, predecessor, level, depth
        if ways(depth) == "pull":
            words = words_of.to_words(frontier, case.count)
            following = np.zeros_like(words)
            found = sum(
                kernels.bfs_pull(part, words, following, *state, threads=threads)
                for part in entering
            )
            frontier = words_of.from_words(following, np.int32)
            assert found == len(frontier)
        else:
            found = []
            for part in leaving:
                stop = part.first + len(part.offsets) - 1
                own = frontier[(frontier >= part.first) & (frontier < stop)]
                found.append(kernels.bfs_push(part, own, *state, threads=threads))
            frontier = np.concatenate(found)
            assert len(np.unique(frontier)) == len(frontier)
            kernels.mark_seen(seen, frontier)
    return to_host(predecessor), to_host(level)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("way", ["push", "pull", "both"])
def test_bfs_finds_levels_and_the_smallest_predecessors(case, way, threads, parts):
    source = int(case.source[0])
    ways = (lambda depth: DIRECTIONS[depth % 2]) if way == "both" else (lambda depth: way)
    predecessor, level = bfs(case, source, ways, threads, parts)
    wanted = levels_by_networkx(case, source)
    np.testing.assert_array_equal(np.where(level < 0, NEVER, level), wanted)
    smallest = np.full(case.count, NEVER)
    sources, ends, _ = case.matrix()
    behind = (level[sources] >= 0) & (level[ends] == level[sources] + 1)
    np.minimum.at(smallest, ends[behind], sources[behind])
    smallest[source] = source
    np.testing.assert_array_equal(predecessor, smallest)


# SSSP


def distances(case, source):
    """Return the distances by SciPy, whose zeros are no edges: so they weigh next to nothing."""
    sources, ends, weights = case.matrix()
    tiny = np.where(weights == 0, 1e-9, weights)
    graph = coo_array((tiny, (sources, ends)), shape=(case.count,) * 2).tocsr()
    return np.round(dijkstra(graph, indices=source) * 4) / 4


def sssp(case, source, delta, threads, dtype=np.float64, cutoff=np.inf):
    (rows,) = case.rows()
    kernels = kernels_of("buckets", rows.ends)
    distance = np.full(case.count, np.inf, dtype)
    distance[source] = 0
    distance, sources = on_backend(distance), on_backend(np.array([source]))
    light = kernels.light_first(rows, delta)
    buckets = kernels.Buckets(distance, sources, delta, threads=threads)
    while len(frontier := buckets.take()):
        kernels.relax(light, buckets, frontier, cutoff=cutoff)
    return rows, distance, buckets


def before(rows, distance, source, threads=1):
    """Return the predecessors, in host memory."""
    find = kernels_of("buckets", distance).predecessors
    return to_host(find(rows, distance, on_backend(np.array([source])), threads=threads))


@pytest.mark.parametrize("delta", [1e-4, 0.3, 1.0, 100.0])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", [pytest.param("float32", marks=pytest.mark.slow), "float64"])
def test_distances_are_those_of_scipy_for_every_width_of_buckets(case, delta, threads, dtype):
    if dtype == "float32":
        host_only("distances are float64 on a GPU")
    source = int(case.source[0])
    _, distance, buckets = sssp(case, source, delta, threads, dtype)
    distance = to_host(distance)
    np.testing.assert_array_equal(distance, distances(case, source))
    assert buckets.counts["vertices"] >= np.isfinite(distance).sum()


def test_buckets_grow_and_wait_past_the_window():
    # A hub whose neighbours fall into more buckets, and more blocks, than there are at first.
    count = 300_000
    case = Case([(0, i) for i in range(1, count)])
    case.weight = np.random.default_rng(1).random(count - 1) * 5000
    _, distance, _ = sssp(case, 0, 1.0, 2)
    np.testing.assert_array_equal(to_host(distance)[1:], case.weight)


def test_nothing_past_the_cutoff_is_reached(case):
    source = int(case.source[0])
    wanted = distances(case, source)
    _, distance, _ = sssp(case, source, 0.5, 2, cutoff=1.5)
    np.testing.assert_array_equal(to_host(distance), np.where(wanted <= 1.5, wanted, np.inf))


@pytest.mark.parametrize("threads", [1, 2])
def test_predecessors_are_the_smallest_and_lead_to_the_source(case, threads):
    source = int(case.source[0])
    rows, distance, _ = sssp(case, source, 0.5, threads)
    predecessor, distance = before(rows, distance, source, threads), to_host(distance)
    np.testing.assert_array_equal(
        predecessor != NEVER, np.isfinite(distance) & (np.arange(case.count) != source)
    )
    sources, ends, weights = case.matrix()
    behind = np.isfinite(distance[sources]) & (distance[sources] + weights == distance[ends])
    nearer = behind & (distance[sources] < distance[ends])
    smallest = np.full(case.count, NEVER)
    np.minimum.at(smallest, ends[nearer], sources[nearer])
    has = smallest != NEVER
    np.testing.assert_array_equal(predecessor[has], smallest[has])
    assert {(p, v) for v, p in enumerate(predecessor.tolist()) if p != NEVER} <= set(
        zip(sources[behind].tolist(), ends[behind].tolist(), strict=True)
    )
    at = np.where(predecessor == NEVER, np.arange(case.count), predecessor)
    for _ in range(case.count.bit_length()):
        at = at[at]
    assert (at[np.isfinite(distance)] == source).all()


def test_edges_that_weigh_nothing_make_no_circle_of_predecessors():
    case = Case([(5, 0), (0, 1), (1, 2), (2, 0), (2, 3), (3, 4)])
    case.weight = np.array([1.0, 0, 0, 0, 0, 0])
    rows, distance, _ = sssp(case, 5, 1.0, 2)
    assert before(rows, distance, 5).tolist() == [5, 0, 0, 2, 3, NEVER]


# PageRank


def pagerank(rows, count, degrees, dtype, threads, iterations):
    kernels, degrees = kernels_of("pull", rows[0].ends), degrees.astype(float)
    share_out = np.divide(kernels.ONE, degrees, out=np.zeros(count), where=degrees > 0)
    rank = np.full(count, 1 / count, dtype)
    dangling = float(rank[degrees == 0].sum())
    share_out, rank = on_backend(share_out.astype(dtype)), on_backend(rank)
    contribution, sums = rank * share_out, on_backend(np.zeros(count, np.int64))
    for _ in range(iterations):
        for part in rows:
            stop = part.first + (count if part.bitmap else len(part.offsets) - 1)
            kernels.sum_contributions(part, contribution, sums[part.first : stop], threads=threads)
        restart = np.array([(0.15 + 0.85 * dangling) / count])
        _, lost = kernels.apply_sums(
            sums, rank, share_out, contribution, restart, 0.85, threads=threads
        )
        dangling = lost / kernels.CHANGE
    return to_host(rank)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ranks_are_those_of_networkx_and_the_same_bits_everywhere(case, dtype, weighted):
    case.weight += 0.25
    leaving = np.bincount(case.source, case.weight if weighted else None, case.count)
    rows = case.whole()
    if case.undirected:
        leaving = np.add.reduceat(
            np.append(rows.weights if weighted else np.ones(len(rows.ends)), 0), rows.offsets[:-1]
        ) * (np.diff(rows.offsets) > 0)
    made = [
        [
            part if weighted else part._replace(weights=None)
            for part in case.rows(True, parts, fewer)
        ]
        for parts, fewer in [(1, False), (3, False), (1, True)]
    ]
    ranks = [
        pagerank(ranges, case.count, leaving, dtype, threads, 60)
        for ranges in made
        for threads in (1, 2)
    ]
    for rank in ranks[1:]:
        np.testing.assert_array_equal(rank, ranks[0])
    sources = np.repeat(np.arange(case.count), np.diff(rows.offsets)).tolist()
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(case.count))
    weights = rows.weights.tolist() if weighted else [1.0] * len(rows.ends)
    graph.add_weighted_edges_from(zip(sources, rows.ends.tolist(), weights, strict=True))
    wanted = nx.pagerank(graph, tol=1e-12, max_iter=1000)
    tolerance = 1e-4 if dtype == "float32" else 2e-4  # 0.85**60 of the first error is left
    np.testing.assert_allclose(
        ranks[0],
        [wanted[v] for v in range(case.count)],
        rtol=tolerance,
        atol=tolerance / case.count,
    )
    assert abs(ranks[0].sum(dtype=float) - 1) < 1e-5


# The instructions


@pytest.mark.usefixtures("host_memory")  # the host's; those of a GPU are CUDA's
def test_instructions_do_what_they_say():
    numbers = np.array([5, -7], np.int64)

    assert calls.py_func is not None
    assert calls(numbers, np.array([1.5]), np.array([0b1010], np.uint64)) == (
        5,
        8,
        -7,
        True,
        False,
        2,
        1,
    )
    assert numbers.tolist() == [8, -9]


@host_advance.numba.njit
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
