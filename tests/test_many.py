"""Search and edge programs over the members of a gang: what one process finds, and how much is sent."""

from __future__ import annotations

import itertools
from collections import Counter
from functools import partial

import numpy as np
import pytest
from dask_graphflow.algorithms.bfs_many import levels_many
from dask_graphflow.algorithms.many import fixpoint_many
from dask_graphflow.algorithms.programs import COMPONENTS
from dask_graphflow.operators.frontier import Frontier
from members import SIZES, connecting, each
from shapes import HOPS, LARGE, NEVER, SMALL, both_ways, rmat, shards_of

import dask_graphflow as gf
from dask_graphflow.algorithms.bfs import levels
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.exceptions import ExpressionError, UnknownColumnError
from dask_graphflow.graph.partition import GRAIN
from dask_graphflow.graph.shard import Shard
from dask_graphflow.operators.fixpoint import fixpoint

RULES = ("beamer", "gemini", "push", "pull")
# Members here exchange arrays in host memory; test_device_many.py asks the same of members on a GPU.
pytestmark = pytest.mark.usefixtures("host_memory")

WORD = 64  # ranges begin at multiples of it
WIDEST = gf.EdgeOp("widest", target="width", signal="min(width[src], weight)", slot="max")


@pytest.fixture
def run():
    """Run a function of an exchange for each of so many members; return what they return."""
    with connecting("in-process") as connect:
        yield lambda work, members: each(lambda channel: work(Exchange(channel)), connect(members))


class Case:
    """A graph in one process, and cut into ranges of so many vertices each."""

    def __init__(self, pairs, weight=None, *, directed=True, spread=1):
        # Vertices of a small graph are so far apart that several ranges have some.
        pairs = (np.array(pairs, "int64") * spread).tolist()
        self.pairs, self.weight, self.directed = pairs, weight, directed
        self.one = shards_of(pairs, weight, directed=directed)
        self.size = self.one.size

    def shards(self, members, grain=WORD):
        grains = -(-self.size // grain)
        bounds = [grains * q // members * grain for q in range(members)] + [self.size]
        cut = shards_of(self.pairs, self.weight, directed=self.directed)
        cut.bounds = bounds
        made = [
            Shard(None, bounds, rank, out, directed=self.directed)
            for rank, out in enumerate(cut.out())
        ]
        if self.directed and grain == WORD:  # members make them of ranges of whole grains
            for shard, into in zip(made, cut.into(), strict=True):
                shard.kept("into", lambda into=into: into)
        return made


def told(steps):
    return [(step["direction"], step["frontier"]) for step in steps]


def own(shard, vertices):
    vertices = np.asarray(vertices)
    return vertices[(vertices >= shard.low) & (vertices < shard.high)] - shard.low


# Search


def searched(run, case, sources, members, depth_limit=None, rule="beamer", threads=1):
    shards = case.shards(members)

    def work(exchange):
        shard = shards[exchange.rank]
        how = {"depth_limit": depth_limit, "rule": rule, "threads": threads}
        return levels_many(shard, exchange, own(shard, sources), **how)

    level, predecessor, steps = zip(*run(work, members), strict=True)
    for one in steps:
        assert told(one) == told(steps[0])
        assert [step["edges"] for step in one] == [step["edges"] for step in steps[0]]
    return np.concatenate(level), np.concatenate(predecessor), steps[0]


def assert_as_in_one(run, case, sources, members, depth_limit=None, rule="beamer", threads=1):
    sources = np.unique(sources)
    wanted = levels(case.one, sources, depth_limit=depth_limit, rule=rule, threads=1)
    found = searched(run, case, sources, members, depth_limit, rule, threads)
    for mine, its in zip(found[:2], wanted[:2], strict=True):
        assert mine.dtype == its.dtype
        np.testing.assert_array_equal(mine, its)
    assert told(found[2]) == told(wanted[2])
    assert [step["edges"] for step in found[2]] == [step["edges"] for step in wanted[2]]


@pytest.mark.parametrize("members", SIZES)
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("shape", SMALL)
def test_a_search_finds_what_one_process_finds(run, shape, directed, members):
    case = Case(SMALL[shape], directed=directed, spread=23)
    several = [case.pairs[0][0], case.pairs[-1][1], case.pairs[len(case.pairs) // 2][0]]
    for rule in RULES:
        assert_as_in_one(run, case, several[:1], members, rule=rule)
        assert_as_in_one(run, case, several, members, rule=rule)


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("shape", LARGE)
def test_a_search_of_a_large_graph_does(run, shape, directed):
    case = Case(LARGE[shape](), directed=directed)
    sources = [u for u, _ in case.pairs[:: 250 if shape == "path" else 9000]]
    for rule in RULES:
        assert_as_in_one(run, case, sources, 3, rule=rule, threads=2)


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_a_search_ends_at_the_limit(run, limit):
    case = Case(SMALL["rmat"], directed=False, spread=5)
    for members, rule in itertools.product((2, 3), RULES):
        assert_as_in_one(run, case, [case.pairs[0][1]], members, limit, rule)


def test_a_search_may_begin_nowhere(run):
    assert_as_in_one(run, Case([(0, 1), (1, 200)]), np.zeros(0, "int64"), 3)


@pytest.mark.parametrize("rule", RULES)
def test_rows_of_what_enters_are_made_for_the_first_pull(run, rule):
    case = Case([(i, i + 1) for i in range(9000)])
    shards = case.shards(3, GRAIN)
    source = [5000]
    wanted = levels(case.one, np.array(source), depth_limit=1, rule=rule, threads=1)

    def search(exchange):
        shard = shards[exchange.rank]
        return levels_many(shard, exchange, own(shard, source), depth_limit=1, rule=rule, threads=1)

    found = run(search, 3)
    np.testing.assert_array_equal(np.concatenate([level for level, *_ in found]), wanted[0])
    assert [shard.has("into") for shard in shards] == [rule == "pull"] * 3


# Edge programs


def ran(run, op, case, begin, members, start=None, **how):
    shards = case.shards(members)

    def work(exchange):
        shard = shards[exchange.rank]
        columns = {name: column[shard.low : shard.high].copy() for name, column in begin.items()}
        frontier = None if start is None else own(shard, start)
        steps = fixpoint_many(op, columns, shard, exchange, frontier, **how)
        return columns, steps

    columns, steps = zip(*run(work, members), strict=True)
    for one in steps:
        assert told(one) == told(steps[0])
    return {name: np.concatenate([one[name] for one in columns]) for name in begin}, steps[0]


def ran_in_one(op, case, begin, start=None, **how):
    columns = {name: column.copy() for name, column in begin.items()}
    frontier = None
    if start is not None:
        frontier = Frontier(case.size, vertices=np.array(start, "int32"))
    return columns, fixpoint(op, columns, case.one, frontier, **how)


def assert_program_as_in_one(run, op, case, begin, start=None, *, steps=True, **how):
    for rule in RULES:
        wanted, its = ran_in_one(op, case, begin, start, rule=rule, **how)
        for members in (1, 2, 5):
            found, mine = ran(run, op, case, begin, members, start, rule=rule, **how)
            for name in begin:
                np.testing.assert_array_equal(found[name], wanted[name])
            if steps:
                assert told(mine) == told(its), (rule, members)


@pytest.mark.parametrize("shape", SMALL)
def test_components_are_those_of_one_process(run, shape):
    case = Case(SMALL[shape], directed=False, spread=23)
    begin = {"component": np.arange(case.size, dtype="int32")}
    # Within a superstep a label goes as far as it happens to.
    assert_program_as_in_one(run, COMPONENTS, case, begin, steps=False)


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize(
    "dtype",
    ["float64", *(pytest.param(dtype, marks=pytest.mark.slow) for dtype in ("float32", "int32"))],
)
def test_the_widest_ways_are_those_of_one_process(run, dtype, directed):
    pairs = SMALL["rmat"]
    weight = np.random.default_rng(2).integers(1, 90, len(pairs)).astype(dtype)
    case = Case(pairs, weight, directed=directed, spread=5)
    begin = {"width": np.zeros(case.size, dtype)}
    start = [case.pairs[0][0]]
    begin["width"][start] = 1000
    assert_program_as_in_one(run, WIDEST, case, begin, start, steps=False)


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_first_hits_and_conditions_hold_for_mirrors_too(run, directed):
    case = Case(SMALL["rmat"], directed=directed, spread=5)
    start = [case.pairs[0][0]]
    begin = {"level": np.full(case.size, NEVER, "int32")}
    begin["level"][start] = 0
    assert_program_as_in_one(run, HOPS, case, begin, start)


def test_of_first_hits_the_smallest_neighbours_is_kept(run):
    # Of two that 150 follows, the one in its own range is looked at first.
    case = Case([(10, 150), (140, 150), (20, 70), (60, 70)])
    parents = gf.EdgeOp(
        "parents",
        target="parent",
        signal="src",
        slot="min",
        cond=f"parent[dst] == {NEVER}",
        first_hit=True,
    )
    begin = {"parent": np.full(case.size, NEVER, "int32")}
    assert_program_as_in_one(run, parents, case, begin, max_iter=1)


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_mirrors_know_what_their_masters_have(run, directed):
    case = Case(SMALL["rmat"], directed=directed, spread=5)
    # The least of those before, but odd remains odd.
    odd = gf.EdgeOp(
        "odd", target="least", signal="least[src] // 2 * 2 + least[dst] % 2", slot="min"
    )
    begin = {"least": np.random.default_rng(5).integers(0, 10_000, case.size)}
    assert_program_as_in_one(run, odd, case, begin, steps=False)


SHARES = gf.EdgeOp(
    "shares",
    target="sum",
    signal="share[src] * factor[dst] + src - dst",
    slot="add",
    cond="open[dst] and dst % 3 != 0",
)


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_sums_are_exact_and_every_message_counts_once(run, directed):
    case = Case(SMALL["rmat"], directed=directed, spread=5)
    rng = np.random.default_rng(3)
    begin = {
        "sum": np.zeros(case.size, "int64"),
        "share": rng.integers(-(2**40), 2**62, case.size),
        "factor": rng.integers(1, 9, case.size).astype("int32"),
        "open": rng.random(case.size) < 0.8,
    }
    for start in (None, np.unique(np.array(case.pairs)[::7])):
        # The same frontier again and again would be the same sum: what changed goes on.
        assert_program_as_in_one(run, SHARES, case, begin, start, max_iter=4)


def test_a_sum_may_read_what_it_adds_to(run):
    # Messages of a superstep are read in the next one only where edges lead from one half to the other.
    pairs = [(u, 512 + v) for u, v in SMALL["rmat"]] + [(512 + v, u) for u, v in SMALL["rmat"][:9]]
    case = Case(pairs)
    ways = gf.EdgeOp("ways", target="n", signal="n[src]", slot="add")
    begin = {"n": np.where(np.arange(case.size) < 512, 1, 0)}
    start = np.unique([u for u, v in case.pairs if u < 512])
    assert_program_as_in_one(run, ways, case, begin, start, max_iter=2)


def test_a_push_after_a_pull_adds_to_nothing(run):
    case = Case([(0, leaf) for leaf in range(100, 200)], directed=False)
    ways = gf.EdgeOp("ways", target="n", signal="n[src]", slot="add", cond="open[dst]")
    numbers = np.arange(case.size)
    begin = {"n": np.where(numbers == 0, 3, 0), "open": (numbers == 0) | (numbers > 194)}
    assert_program_as_in_one(run, ways, case, begin, [0], max_iter=2)
    found, steps = ran(run, ways, case, begin, 2, [0], max_iter=2)
    assert told(steps) == [("pull", 1), ("push", 5)]
    assert found["n"][0] == 3 + 5 * 3


def test_src_and_dst_are_numbers_among_all_vertices(run):
    case = Case(SMALL["rmat"], spread=23)
    nearest = gf.EdgeOp(
        "nearest",
        target="least",
        signal="abs(src - dst) * 1000000 + src",
        slot="min",
        cond="dst % 2 == 0",
    )
    begin = {"least": np.full(case.size, NEVER, "int32")}
    assert_program_as_in_one(run, nearest, case, begin, max_iter=1)


def test_functions_that_may_ask_for_numbers_are_refused_by_several_members(run):
    op = gf.EdgeOp.from_code(
        "farther",
        target="least",
        slot="min",
        columns=["least"],
        signal=lambda columns, src, dst, weight: columns[0][src] + 1,
        cuda="__device__ Value signal(Index src, Index dst, Weight weight) const "
        "{ return least_[src] + 1; }",
    )
    case = Case([(0, 70), (70, 140)])
    begin = {"least": np.where(np.arange(case.size) == 0, 0, 1000)}
    found, _ = ran(run, op, case, begin, 1, [0])
    assert found["least"][[70, 140]].tolist() == [1, 2]
    with pytest.raises(ExpressionError, match="in each of several workers"):
        ran(run, op, case, begin, 2, [0])


# What is sent


def sent_by(run, members, work, limits):
    """Return what a run of so many supersteps sends, by form, for each limit; and its rounds."""
    found = []
    for limit in limits:

        def one(exchange, limit=limit):
            work(exchange, limit)
            return exchange.take_traffic()

        traffic = run(one, members)
        sent = Counter()
        for own_traffic in traffic:
            sent.update(own_traffic.sent)
        del sent["header"]
        found.append((sent, traffic[0].rounds))
    return found


def box(count, size):
    """Return the bytes of `count` of `size` values of 4 bytes."""
    if count in (0, size):
        return 4 * count
    return -(-4 * count // 8) * 8 + min(4 * count, -(-size // 8))


def test_a_push_tells_each_mirror_once_in_the_fewest_bytes_and_a_pull_sends_a_bitmap(run):
    case = Case(rmat(13, 8), directed=False)
    first, members = case.pairs[0][0], 3
    shards = case.shards(members)
    for shard in shards:
        shard.local("out")
    level, _, steps = levels(case.one, np.array([first]), depth_limit=None, rule="push", threads=1)
    bounds = shards[0].bounds
    u, v, _ = both_ways(case.pairs, np.ones(len(case.pairs)), False)
    owner = np.searchsorted(bounds, np.arange(case.size), side="right") - 1
    wanted = np.zeros(len(steps), int)
    for p, q in itertools.permutations(range(members), 2):
        mine = (owner[u] == p) & (owner[v] == q)
        mirrors = np.unique(v[mine])
        mine &= level[u] >= 0
        when = np.full(case.size, len(steps))
        np.minimum.at(when, v[mine], level[u[mine]])
        wanted += [box(int((when == depth).sum()), len(mirrors)) for depth in range(len(steps))]
    assert wanted.max() > 100 * wanted[-1] > 0

    def search(exchange, limit, rule):
        shard = shards[exchange.rank]
        levels_many(shard, exchange, own(shard, [first]), depth_limit=limit, rule=rule, threads=1)

    limits = range(len(steps) + 1)
    sent_by(run, members, partial(search, rule="push"), [0])  # who mirrors what, told once
    pushed = sent_by(run, members, partial(search, rule="push"), limits)
    bytes_sent = [sent.total() for sent, _ in pushed]
    np.testing.assert_array_equal(np.diff(bytes_sent), wanted)
    assert {"pairs", "marked"} <= set(pushed[-1][0])
    pulled = sent_by(run, members, partial(search, rule="pull"), limits)
    words = -(-case.size // 64)
    sent = [sent["all_gather"] for sent, _ in pulled]
    assert sent == [8 * words * (members - 1) * limit for limit in limits]


def test_labels_that_do_not_change_are_not_sent_again(run):
    case = Case(rmat(13, 8), directed=False)
    shards = case.shards(2)

    def components(exchange, limit):
        shard = shards[exchange.rank]
        columns = {"component": np.arange(shard.low, shard.high, dtype="int32")}
        fixpoint_many(COMPONENTS, columns, shard, exchange, rule="push", max_iter=limit)

    sent_by(run, 2, components, [1])  # who mirrors what, told once
    sent, rounds = zip(*sent_by(run, 2, components, range(1, 8)), strict=True)
    # Everywhere, some, few, nobody: then all stop.
    assert set(sent[0]) == {"dense"}
    assert {"marked", "pairs"} <= set(sent[-1])
    steps = np.diff([one.total() for one in sent])
    assert (np.diff(steps) <= 0).all()
    assert 0 < steps[steps > 0].min() < sent[0]["dense"] / 100
    assert steps[-1] == 0
    assert rounds[-1] == rounds[-2]


@pytest.mark.parametrize("work", ["search", "program"])
def test_a_superstep_that_no_other_member_is_told_of_takes_one_round(run, work):
    case = Case([(i, i + 1) for i in range(300)])
    shards = case.shards(2)

    def search(exchange, limit):
        shard = shards[exchange.rank]
        levels_many(shard, exchange, own(shard, [0]), depth_limit=limit, rule="gemini", threads=1)

    def program(exchange, limit):
        shard = shards[exchange.rank]
        columns = {"component": np.arange(shard.low, shard.high) + 1}
        columns["component"][own(shard, [0])] = 0
        start = own(shard, [0])
        fixpoint_many(COMPONENTS, columns, shard, exchange, start, max_iter=limit)

    # The first run finds out who mirrors what.
    _, (_, one), (_, rounds), (_, after) = sent_by(
        run, 2, {"search": search, "program": program}[work], [1, 1, 100, 301]
    )
    # And one more after the one edge from half to half.
    assert rounds - one == 99
    assert after - one == 300 + 1


def test_a_column_that_is_not_there_is_named(run):
    case = Case([(0, 70), (70, 140)])
    with pytest.raises(UnknownColumnError, match="'component'"):
        ran(run, COMPONENTS, case, {}, 2)
