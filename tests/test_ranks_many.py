"""PageRank and shortest paths over the members of a gang: the same bits as in one process."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import frame
from dask_graphflow.algorithms.pagerank_many import ranks_many
from dask_graphflow.algorithms.sssp_many import paths_many
from members import SIZES, each
from shapes import LARGE, SMALL, shards_of, weights

from dask_graphflow.algorithms import pulling, sssp_many
from dask_graphflow.algorithms.pagerank import ranks
from dask_graphflow.algorithms.sssp import paths
from dask_graphflow.comm.channel import in_process
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.exceptions import ConvergenceError, WeightError
from dask_graphflow.graph.shard import Shard

# Members here exchange arrays in host memory; test_device_many.py asks the same of members on a GPU.
pytestmark = pytest.mark.usefixtures("host_memory")

LIKE = frame([])[["a"]]
DANGLING = [(0, 1), (0, 2), (2, 3), (2, 0), (4, 3)]  # nothing leaves 1 and 3
UNTIL = (None, 20, True)


def part(rows, low, high):
    """Return the rows of some of the vertices."""
    first, last = rows.offsets[[low, high]]
    return rows._replace(
        offsets=rows.offsets[low : high + 1] - first,
        ends=rows.ends[first:last],
        weights=None if rows.weights is None else rows.weights[first:last],
        first=low,
    )


def cut(shards, bounds):
    """Return a graph's shards, by ranges that may begin anywhere."""
    out, into = shards.whole("out"), shards.whole("into")
    made = []
    for rank in range(len(bounds) - 1):
        low, high = bounds[rank : rank + 2]
        shard = Shard(LIKE, bounds, rank, part(out, low, high), directed=shards.directed)
        shard.kept("into", lambda low=low, high=high: part(into, low, high))
        made.append(shard)
    return made


def evenly(shards, size):
    return cut(shards, [shards.size * rank // size for rank in range(size + 1)])


def gang(shards, work):
    """Return what each member makes of its shard, an exchange and its threads; all end what they began."""
    channels = in_process(len(shards))

    def member(rank):
        try:
            return work(shards[rank], Exchange(channels[rank]), 1 + rank % 2)
        except BaseException as error:
            channels[rank].abort(error)
            raise

    return each(member, range(len(shards)))


def together(parts):
    return np.concatenate(parts)


def same_steps(found):
    """Assert that all members tell of the same supersteps; return them, without the seconds."""
    rows = [
        [(step["direction"], step["frontier"], step["edges"]) for step in one[-1]] for one in found
    ]
    assert all(row == rows[0] for row in rows)
    return rows[0]


def assert_same_bits(found, wanted):
    assert found.dtype == wanted.dtype
    assert found.tobytes() == wanted.tobytes()


def both_ranks(shards, members, restart=None, *, until=UNTIL, alpha=0.85, precision="float64"):
    """Return ranks by one process and by a gang."""
    options = {"until": until, "alpha": alpha, "precision": precision}
    wanted, steps = ranks(shards, **options, restart=restart, threads=2)

    def member(shard, exchange, threads):
        own = None if restart is None else restart[shard.low : shard.high]
        return ranks_many(shard, exchange, **options, restart=own, threads=threads)

    found = gang(members, member)
    assert same_steps(found) == same_steps([(wanted, steps)])
    assert_same_bits(together([rank for rank, _ in found]), wanted)
    return wanted


def both_paths(shards, members, sources, cutoff=None):
    """Return distances and predecessors, which one process and a gang found alike."""
    sources = np.unique(sources)
    distance, predecessor, _ = paths(shards, sources, cutoff=cutoff, threads=2)

    def member(shard, exchange, threads):
        own = sources[(sources >= shard.low) & (sources < shard.high)] - shard.low
        return paths_many(shard, exchange, own, cutoff=cutoff, threads=threads)

    found = gang(members, member)
    assert_same_bits(together([far for far, _, _ in found]), distance)
    assert_same_bits(together([before for _, before, _ in found]), predecessor)
    return distance, predecessor, same_steps(found)


# PageRank


@pytest.mark.parametrize("most", [0, 10**6], ids=["mirrors", "all"])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_ranks_are_the_same_by_mirrors_and_where_all_are_told(monkeypatch, most, directed):
    monkeypatch.setattr(pulling, "MOST", most)
    shards = shards_of(SMALL["rmat"], directed=directed)
    both_ranks(shards, evenly(shards, 3))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("shape", SMALL)
def test_ranks_are_those_of_one_process(shape, weighted, directed, size):
    pairs = SMALL[shape]
    shards = shards_of(pairs, weights(len(pairs)) if weighted else None, directed=directed)
    both_ranks(shards, evenly(shards, size), until=(1e-6, 1000, True))


@pytest.mark.parametrize("size", SIZES[1:])
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("shape", ["rmat", "grid"])
def test_ranks_of_larger_graphs_are_those_of_one_process(shape, weighted, precision, size):
    pairs = LARGE[shape]()
    weight = np.random.default_rng(3).random(len(pairs)) if weighted else None
    shards = shards_of(pairs, weight, parts=size)
    both_ranks(shards, cut(shards, shards.bounds), precision=precision)


@pytest.mark.parametrize("size", SIZES[1:])
@pytest.mark.parametrize("pairs", [DANGLING, SMALL["star"]], ids=["dangling", "star"])
def test_ranks_that_restart_where_it_is_asked_for(pairs, size):
    shards = shards_of(pairs)
    restart = np.zeros(shards.size)
    restart[[3, 0]] = 0.25, 0.75
    members = evenly(shards, size)
    rank = both_ranks(shards, members, restart, until=(1e-12, 1000, True))
    assert (rank != both_ranks(shards, members)).any()
    both_ranks(shards, members, restart, alpha=1, until=(None, 3, True))


@pytest.mark.parametrize("size", SIZES)
def test_numbers_that_no_edge_has_are_ranked_0(size):
    shards = shards_of([(2, 9), (9, 30), (30, 2)])
    rank = both_ranks(shards, evenly(shards, size))
    assert np.flatnonzero(rank).tolist() == [2, 9, 30]


def test_a_graph_without_edges_has_no_ranks():
    shards = shards_of([])
    assert not len(both_ranks(shards, cut(shards, [0, 0, 0])))


@pytest.mark.parametrize("size", SIZES)
def test_iterations_that_are_too_few_raise_on_all_members(size):
    shards = shards_of(SMALL["rmat"])
    members = evenly(shards, size)
    both_ranks(shards, members, until=(1e-12, 3, False))
    options = {"until": (1e-12, 3, True), "alpha": 0.85, "restart": None, "precision": "float64"}
    raised = _raised(
        members,
        lambda shard, exchange, threads: ranks_many(shard, exchange, **options, threads=threads),
    )
    assert len(raised) == size
    for error in raised:
        with pytest.raises(ConvergenceError, match=r"after 3 iterations .* larger max_iter or tol"):
            raise error


@pytest.mark.parametrize(
    ("weight", "precision", "message"),
    [
        ([1.0, -1.0, 1.0], "float64", r"a weight is negative, infinite or NaN"),
        ([1.0, 1.0, np.nan], "float64", r"a weight is negative, infinite or NaN"),
        ([1.0, 1e-300, 1e-301], "float64", r"add up to 1e-300, and float64 cannot divide"),
        ([1e60, 1e-25, 1.0], "float32", r"add up to 1e\+60, and float32"),
    ],
)
def test_weights_that_ranks_refuse_are_refused_by_all_members(weight, precision, message):
    shards = shards_of([(0, 1), (1, 2), (2, 3)], np.array(weight))
    options = {"until": UNTIL, "alpha": 0.85, "restart": None, "precision": precision}
    raised = _raised(
        evenly(shards, 3),
        lambda shard, exchange, threads: ranks_many(shard, exchange, **options, threads=threads),
    )
    assert len(raised) == 3
    for error in raised:
        with pytest.raises(WeightError, match=message):
            raise error


def _raised(members, work):
    """Return what each member raises."""
    raised = []

    def member(*given):
        try:
            work(*given)
        except (ConvergenceError, WeightError) as error:
            raised.append(error)

    gang(members, member)
    return raised


def test_an_iteration_is_one_message_to_each_member():
    shards = shards_of(LARGE["rmat"](), parts=3)
    options = {"alpha": 0.85, "restart": None, "precision": "float64"}

    def member(shard, exchange, threads):
        rounds = []
        for most in (1, 3, 13):  # the first call makes what shards keep
            until = (None, most, True)
            ranks_many(shard, exchange, until=until, **options, threads=threads)
            rounds.append(exchange.take_traffic().rounds)
        return rounds

    for _, few, many in gang(cut(shards, shards.bounds), member):
        assert many - few == 10


# Shortest paths


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("several", [False, True], ids=["one source", "several sources"])
@pytest.mark.parametrize("shape", SMALL)
def test_paths_are_those_of_one_process(shape, several, directed, size):
    pairs = SMALL[shape]
    shards = shards_of(pairs, weights(len(pairs)), directed=directed)
    sources = [pairs[0][0]] + ([pairs[-1][1], pairs[len(pairs) // 2][0]] if several else [])
    both_paths(shards, evenly(shards, size), sources)


@pytest.mark.parametrize("size", [2, 5])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize(
    "kind",
    [
        "rounded",
        "zeros",
        # each of a type that kernels are compiled for
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("float32", "ints")),
    ],
)
@pytest.mark.parametrize("shape", LARGE)
def test_paths_of_larger_graphs_are_those_of_one_process(shape, kind, directed, size):
    pairs = LARGE[shape]()
    rng = np.random.default_rng(8)
    weight = rng.pareto(1.5, len(pairs))  # sums of these are rounded, each along its path
    weight = {
        "rounded": weight,
        "float32": weight.astype("float32"),
        "ints": rng.integers(0, 100, len(pairs)).astype("int16"),
        "zeros": np.where(rng.random(len(pairs)) < 0.9, 0, weight),
    }[kind]
    shards = shards_of(pairs, weight, directed=directed, parts=size)
    both_paths(shards, cut(shards, shards.bounds), [pairs[0][0], pairs[9000][0]])


@pytest.mark.parametrize("size", SIZES)
def test_predecessors_never_lead_in_a_circle_of_edges_of_0(size):
    pairs = [(5, 0), (0, 1), (1, 2), (2, 0), (2, 3), (3, 2), (3, 3)]
    shards = shards_of(pairs, np.array([1.0, 0, 0, 0, 0, 0, 0]))
    distance, predecessor, _ = both_paths(shards, evenly(shards, size), [5])
    assert distance.tolist() == [1, 1, 1, 1, np.inf, 0]
    assert predecessor.tolist()[:4] == [5, 0, 1, 2]


@pytest.mark.parametrize("size", SIZES[1:])
@pytest.mark.parametrize("cutoff", [0, 0.75, np.float32(2), np.inf])
def test_no_vertex_past_the_cutoff_is_reached(cutoff, size):
    pairs = SMALL["rmat"]
    shards = shards_of(pairs, weights(len(pairs)), directed=False)
    members = evenly(shards, size)
    distance, _, _ = both_paths(shards, members, [pairs[0][0]], cutoff)
    whole, _, _ = both_paths(shards, members, [pairs[0][0]])
    np.testing.assert_array_equal(distance, np.where(whole <= cutoff, whole, np.inf))


@pytest.mark.parametrize(
    "weight",
    [
        *(5e-324, 1e300, np.inf),
        # each of a type that kernels are compiled for
        *(pytest.param(one, marks=pytest.mark.slow) for one in (2**62, np.float32(0.1), True)),
    ],
    ids=repr,
)
def test_weights_of_any_size_and_type(weight):
    pairs = [(0, 1), (1, 2), (0, 3), (3, 2), (2, 4)]
    shards = shards_of(pairs, np.full(len(pairs), weight))
    both_paths(shards, evenly(shards, 3), [0])


def test_vertices_far_away_wait_for_those_before_them():
    # As in test_sssp.py: two places lie thousands of buckets behind the others.
    road = [(i, j) for i in range(3000) for j in range(i + 1, i + 11)]
    pairs = [*road, (0, 4000), (0, 4001), (4000, 4002), (4001, 4003)]
    weight = np.concatenate([np.ones(len(road)), [30_000.0, 50_000.0], [1, 1]])
    shards = shards_of(pairs, weight)
    for size in (2, 3):
        distance, _, steps = both_paths(shards, evenly(shards, size), [0])
        assert distance[3000] == 300
        assert sum(edges for _, _, edges in steps) == len(pairs)


def test_a_mirror_is_sent_when_its_bucket_is_emptied(monkeypatch):
    monkeypatch.setattr(sssp_many, "AHEAD", 0)
    # A chain, of so many edges side by side that buckets are narrow. Each vertex has a shorter way to the
    # last one than the vertex before, and that is far away.
    chain = [(i, i + 1) for i in range(50) for _ in range(20)]
    across = [(i, 51) for i in range(51)]
    shards = shards_of(
        [*chain, *across], np.append(np.ones(len(chain)), 10_000 - 100.0 * np.arange(51))
    )
    sent = []

    def member(shard, exchange, threads):
        own = np.arange(int(shard.low == 0))
        distance, _, steps = paths_many(shard, exchange, own, cutoff=None, threads=threads)
        sent.append(exchange.take_traffic().sent)
        return distance, steps

    (chain_far, steps), (far, _) = gang(cut(shards, [0, 51, 52]), member)
    assert chain_far.tolist() == list(range(51))
    assert far.tolist() == [5050]
    assert len([edges for _, _, edges in same_steps([(steps,)]) if edges]) > 2
    # A distance to the mirror's owner, and back again, and at the end a predecessor.
    assert sorted(one["dense"] for one in sent) == [8, 8 + 4]


def test_members_go_ahead_while_buckets_are_small(monkeypatch):
    pairs = LARGE["grid"]()
    weight = np.random.default_rng(8).pareto(1.5, len(pairs))
    shards = shards_of(pairs, weight, directed=False)
    members = evenly(shards, 2)
    *_, ahead = both_paths(shards, members, [0])
    monkeypatch.setattr(sssp_many, "AHEAD", 0)
    *_, strictly = both_paths(shards, members, [0])
    assert len(ahead) < len(strictly) / 2


def test_negative_weights_are_refused_by_all_members():
    shards = shards_of([(0, 1), (1, 2), (2, 3)], np.array([1.0, -1.0, np.nan]))
    raised = _raised(
        evenly(shards, 3),
        lambda shard, exchange, threads: paths_many(
            shard, exchange, np.zeros(0, int), cutoff=None, threads=threads
        ),
    )
    assert len(raised) == 3
    for error in raised:
        with pytest.raises(WeightError, match=r"2 weights are negative or NaN; .* at least 0"):
            raise error
