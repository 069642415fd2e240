"""A graph built by the members of a gang: the bits that one member makes, each edge sent once."""

from __future__ import annotations

import itertools
import pickle
import re
import threading
import tracemalloc

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import astray, frame, partitioned
from distributed import futures_of, get_worker, wait
from members import SIZES, each
from shapes import ID_TYPES, rmat

import dask_graphflow as gf
from dask_graphflow.comm.channel import in_process
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.exceptions import GraphflowError, UnknownVertexError
from dask_graphflow.graph import build, numbering, partition
from dask_graphflow.graph.build import Recipe
from dask_graphflow.graph.partition import GRAIN, chunk_grains
from dask_graphflow.inputs.edges import check_edges
from dask_graphflow.inputs.vertex_frame import vertex_frame
from dask_graphflow.tasks import gang, gang_build
from dask_graphflow.tasks.reading import read_edges, read_vertices

pytestmark = pytest.mark.usefixtures("host_memory")


@pytest.fixture
def fine(monkeypatch):
    """Make the bounds of ranges multiples of fewer vertices, so that a small graph has several ranges."""
    monkeypatch.setattr(partition, "GRAIN", 64)


def pieces_of(edges, partitions=7, source="a", target="b", weight=None, vertices=None):
    """Return the pieces of each partition, some of them empty; listed vertices come last."""
    lazy = partitioned(edges, partitions) if isinstance(edges, pd.DataFrame) else edges
    columns = check_edges(lazy, source, target, weight=weight).frames[0][1]
    parts = dask.compute(*lazy.to_delayed(), scheduler="sync")
    pieces = [read_edges(part, i, columns) for i, part in enumerate(parts)]
    if vertices is not None:
        listed, how = vertex_frame(vertices, columns, lazy._meta)
        part = listed.compute() if isinstance(listed, dd.DataFrame) else listed()
        pieces.append(read_vertices(part, 0, how, part))
    return pieces


def dealt_out(pieces, size):
    """Return the pieces that each member has: whole partitions, in order; there may be none."""
    bounds = [len(pieces) * i // size for i in range(size + 1)]
    return [pieces[low:high] for low, high in itertools.pairwise(bounds)]


def shards(pieces, size, directed=True, multi="keep"):
    return build_together(dealt_out(pieces, size), Recipe(directed, multi))


def build_together(dealt, recipe):
    """Return the shards that members build from the pieces that were dealt to them."""
    return gang._together(
        lambda channel, pieces, rank: build.build(channel, pieces, rank, recipe), dealt
    )


def together(loop, made, *args):
    """Call a function with each shard and an exchange; return the results."""
    return gang._together(lambda channel, shard, rank: loop(shard, Exchange(channel), *args), made)


def alone(loop, shard, *args):
    """Call a function with the shard of a gang with one member; return the result."""
    return together(loop, [shard], *args)[0]


def assert_same_rows(made, whole, bounds):
    """Check rows of ranges, put together, against those of all vertices, bit for bit."""
    for rows, low, high in zip(made, bounds[:-1], bounds[1:], strict=True):
        assert rows.first == low
        assert len(rows.offsets) == high - low + 1
        assert rows.ends.dtype == whole.ends.dtype
    degrees = np.concatenate([np.diff(rows.offsets) for rows in made])
    np.testing.assert_array_equal(degrees, np.diff(whole.offsets))
    np.testing.assert_array_equal(np.concatenate([rows.ends for rows in made]), whole.ends)
    if whole.weights is None:
        assert all(rows.weights is None for rows in made)
    else:
        weights = np.concatenate([rows.weights for rows in made])
        assert {rows.weights.dtype for rows in made} == {whole.weights.dtype}
        np.testing.assert_array_equal(weights, whole.weights)


def check(pieces, size, directed=True, multi="keep", made=None):
    """Check the shards that members build of some pieces against the shard that one member builds."""
    (whole,) = shards(pieces, 1, directed, multi)
    made = shards(pieces, size, directed, multi) if made is None else made
    (bounds,) = {tuple(shard.bounds) for shard in made}
    assert not any(bound % partition.GRAIN for bound in bounds if bound < whole.size)
    assert (len(bounds), bounds[0], bounds[-1]) == (size + 1, 0, whole.size)
    assert [shard.rank for shard in made] == list(range(size))
    assert_same_rows([shard.out for shard in made], whole.out, bounds)
    counts = np.concatenate(together(build.entering_degrees, made))
    assert_same_rows(together(build.into, made), alone(build.into, whole), bounds)
    np.testing.assert_array_equal(
        counts, np.diff(whole.made("into" if directed else "out").offsets)
    )
    assert [shard.directed for shard in made] == [directed] * size
    assert {shard.base for shard in made} == {whole.base}
    for shard in made:
        pd.testing.assert_frame_equal(shard.like, whole.like)
    if whole.ids is None:
        assert all(shard.ids is None for shard in made)
    else:
        ids = pd.concat([shard.ids for shard in made], ignore_index=True)
        pd.testing.assert_frame_equal(ids, whole.ids)
        assert [len(shard.ids) for shard in made] == np.diff(bounds).tolist()
    has = np.concatenate(together(numbering.occurs, made))
    np.testing.assert_array_equal(has, alone(numbering.occurs, whole))
    return made, whole


def check_names(made, whole):
    """Check that every member can convert between the ids and the numbers of vertices."""
    vertices = np.flatnonzero(alone(numbering.occurs, whole))
    numbers = np.random.default_rng(3).permutation(vertices)
    numbers = np.concatenate([numbers, numbers[:5]])
    expected = alone(numbering.names_of, whole, numbers)
    ids = pd.DataFrame(dict(zip(whole.like.columns, expected, strict=True)))
    for found in together(numbering.names_of, made, numbers):
        found = pd.DataFrame(dict(zip(whole.like.columns, found, strict=True)))
        pd.testing.assert_frame_equal(found, ids)
    own = [
        shard.low + found
        for shard, found in zip(made, together(numbering.numbers_of, made, ids), strict=True)
    ]
    np.testing.assert_array_equal(np.concatenate(own), vertices)
    aligned = together(lambda *args: numbering.numbers_of(*args, unique=False), made, ids)
    for shard, found in zip(made, aligned, strict=True):
        mine = (numbers >= shard.low) & (numbers < shard.high)
        np.testing.assert_array_equal(found, np.where(mine, numbers - shard.low, -1))


def edges_of(rows, shard):
    """Return the edges of rows as pairs of ids, in the order of the rows."""
    owners = np.repeat(np.arange(shard.owned), np.diff(rows.offsets))
    sides = (alone(numbering.names_of, shard, side)[0].tolist() for side in (owners, rows.ends))
    return list(zip(*sides, strict=True))


# One member


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("kind", ID_TYPES)
def test_a_single_member_builds_sorted_rows_of_sorted_ids(kind, directed, rng):
    dtype, make = ID_TYPES[kind]
    pairs = [(make(u), make(v)) for u, v in rng.integers(0, 60, (300, 2)).tolist()]
    (made,) = shards(pieces_of(frame(pairs, dtype)), 1, directed)
    both = pairs if directed else pairs + [(v, u) for u, v in pairs if u != v]
    assert edges_of(made.out, made) == sorted(both)
    entering = alone(build.into, made)
    assert edges_of(entering, made) == sorted((v, u) for u, v in both)
    assert (entering is made.out) == (not directed)
    has = alone(numbering.occurs, made)
    (ids,) = alone(numbering.names_of, made, np.flatnonzero(has))
    assert ids.tolist() == sorted({end for pair in pairs for end in pair})


def test_a_single_member_sends_nothing_and_copies_no_rows():
    (channel,) = in_process(1)
    made = build.build(channel, pieces_of(frame(rmat())), 0, Recipe(True))
    exchange = Exchange(channel)
    build.into(made, exchange)
    numbering.mirrors(made, exchange)
    assert channel.bytes_sent == 0
    for which in ("out", "into"):
        local = made.local(which)
        assert local.rows is made.made(which)
        assert (local.size, len(local.slots)) == (made.owned, 0)


# The same bits


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ID_TYPES)
def test_ids_of_any_type(kind, size, rng):
    dtype, make = ID_TYPES[kind]
    most = 128 if kind in ("int8, low and high", "int64, far apart") else 500
    pairs = [(make(u), make(v)) for u, v in rng.integers(0, most, (900, 2)).tolist()]
    made, whole = check(pieces_of(frame(pairs, dtype)), size)
    if "truth" not in kind:
        assert sum(len(shard.out.ends) > 0 for shard in made) >= min(size, 2)
    check_names(made, whole)


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("size", SIZES)
def test_ids_of_two_columns_and_categoricals(size, rng):
    values = rng.integers(0, 20, (900, 4))
    edges = pd.DataFrame(values, columns=list("pqrs")).astype({"p": "str", "r": "str"})
    check_names(*check(pieces_of(edges, 7, ["p", "q"], ["r", "s"]), size))
    check_names(
        *check(pieces_of(edges.astype({"p": "category", "r": "category"}), 7, "p", "r"), size)
    )


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("multi", ["keep", "sum", "min", "first"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "float64 and int64"])
def test_several_edges_become_the_one_that_one_member_makes(dtype, multi, directed, size):
    pairs = [(u % 200, v % 180) for u, v in rmat()]
    weight = np.random.default_rng(1).normal(size=len(pairs)) * 100  # sums depend on the order
    edges = frame(pairs).assign(w=weight.astype(dtype.split()[0]))
    pieces = pieces_of(edges, weight="w")
    if "and" in dtype:
        pieces[4] = pieces[4]._replace(weight=pieces[4].weight.astype("int64"))
    made, whole = check(pieces, size, directed, multi)
    if directed:
        assert (len(whole.out.ends) < len(pairs)) == (multi != "keep")
    if multi == "sum":
        assert made[0].out.weights.dtype == ("int64" if dtype == "int32" else "float64")


@pytest.mark.parametrize("size", [2, 5])
@pytest.mark.parametrize("partitions", [1, 4])
@pytest.mark.parametrize("dtype", ["int64", "str"])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_small_graphs(graph, directed, dtype, partitions, size):
    made, whole = check(pieces_of(frame(graph, dtype), partitions), size, directed)
    if graph:
        check_names(made, whole)


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("kind", ["dense", "int32, negative", "int64, far apart", "strings"])
def test_listed_vertices_are_numbered_with_the_others(kind, size, rng):
    dtype, make = ID_TYPES[kind]
    values = rng.integers(0, 100, (60, 2)).tolist()
    pairs = [(make(u), make(v)) for u, v in values]
    listed = [make(i) for i in (0, 3, 5, 5, 101, 110)]
    pieces = pieces_of(frame(pairs, dtype), vertices=pd.Series(listed, dtype=dtype))
    made, whole = check(pieces, size)
    check_names(made, whole)
    (ids,) = alone(numbering.names_of, whole, np.flatnonzero(alone(numbering.occurs, whole)))
    assert ids.tolist() == sorted({end for pair in pairs for end in pair} | set(listed))


# Ranges, and the bytes that are sent


def cut(degrees, parts, **options):
    """Return the bounds of ranges of vertices with some degrees."""
    edges = np.add.reduceat(degrees, np.arange(0, len(degrees), GRAIN), dtype="int64")
    return chunk_grains(edges, len(degrees), parts, **options)


def test_alpha_is_what_a_vertex_costs_besides_its_edges():
    # 16 grains: the first vertex has 32 grains of edges, the last one 2.
    degrees = np.zeros(16 * GRAIN, "int64")
    degrees[0], degrees[-1] = 32 * GRAIN, 2 * GRAIN
    # Work up to bound i, in grains, is alpha * i + 32, and in all alpha * 16 + 34. For alpha 0, half of
    # it is 17: bound 1 has 32, bound 0 nothing.
    assert cut(degrees, 2, alpha=0) == [0, GRAIN, 16 * GRAIN]
    # For 8, half is 81: bound 6 has 80.
    assert cut(degrees, 2) == cut(degrees, 2, alpha=8) == [0, 6 * GRAIN, 16 * GRAIN]
    # Of three parts it is 16, and thirds are 96.7 and 193.3: bound 4 has 96, bound 10 has 192.
    assert cut(degrees, 3) == [0, 4 * GRAIN, 10 * GRAIN, 16 * GRAIN]
    # For 32, thirds are 182 and 364: bound 5 has 192, bound 10 has 352.
    assert cut(degrees, 3, alpha=32) == [0, 5 * GRAIN, 10 * GRAIN, 16 * GRAIN]


@pytest.mark.parametrize("parts", [2, 3, 7])
def test_ranges_of_a_power_law_graph_are_even(parts):
    # Ids in no order of degree, as R-MAT has them, and enough of them for the bounds to be fine.
    degrees = np.random.default_rng(1).permutation(
        (1e6 / np.arange(1, 2**21) ** 0.9).astype("int64")
    )
    bounds = cut(degrees, parts)
    assert bounds[0] == 0
    assert bounds[-1] == len(degrees)
    assert not any(bound % GRAIN for bound in bounds[:-1])
    edges = np.concatenate([[0], np.cumsum(degrees)])
    work = np.diff(8 * (parts - 1) * np.array(bounds) + edges[bounds])
    assert work.max() <= 1.05 * work.mean()


@pytest.mark.parametrize("size", [0, 1, GRAIN, GRAIN + 1])
def test_ranges_of_few_vertices_may_be_empty(size):
    bounds = cut(np.ones(size, "int64"), 5)
    assert bounds == sorted(bounds)
    assert (len(bounds), bounds[0], bounds[-1]) == (6, 0, size)


def large(scale=16, partitions=12):
    return pieces_of(gf.generate.rmat(scale, npartitions=partitions), source="src", target="dst")


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("multi", ["keep", "sum", "first"])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("size", [2, build.STAY, build.STAY + 1])
def test_edges_that_stay_in_their_frames_are_built_as_those_that_are_sent(size, directed, multi):
    edges = gf.generate.rmat(12, npartitions=5).astype("int32")
    edges = edges.assign(w=(edges.src + edges.dst) % 7)
    check(pieces_of(edges, source="src", target="dst", weight="w"), size, directed, multi)


@pytest.mark.usefixtures("fine")
def test_the_owner_of_a_vertex_is_the_member_whose_range_contains_it():
    made = shards(large(12), 3)
    owners = np.repeat(np.arange(3), np.diff(made[0].bounds))
    assert set(owners) == {0, 1, 2}
    np.testing.assert_array_equal(made[0].owners(np.arange(len(owners))), owners)


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_each_edge_is_sent_once_to_each_owner(directed):
    size, pieces = 3, large()
    channels = in_process(size)
    cut = dealt_out(pieces, size)
    made = each(
        lambda rank: build.build(channels[rank], cut[rank], rank, Recipe(directed)), range(size)
    )
    abroad = 0
    for rank, own in enumerate(cut):
        for source, target, *_ in own:
            at, to = (made[0].owners(side.only.to_numpy()) for side in (source, target))
            abroad += int((at != rank).sum())
            abroad += 0 if directed else int(((to != rank) & (to != at)).sum())
    sent = sum(channel.bytes_sent for channel in channels)
    # Two numbers of four bytes, and the values on which members agree. No ids are sent.
    assert 8 * abroad < sent < 8 * abroad + 50_000
    assert abroad * 8 > 10 * 50_000


def test_ids_are_sent_once_and_stored_by_one_member():
    size = 3
    pieces = pieces_of(frame([(f"{i:0100}", f"{i + 1:0100}") for i in range(3000)], "str"))
    channels = in_process(size)
    cut = dealt_out(pieces, size)
    made = each(
        lambda rank: build.build(channels[rank], cut[rank], rank, Recipe(True)), range(size)
    )
    assert sum(len(shard.ids) for shard in made) == 3001
    sent = sum(channel.bytes_sent for channel in channels)
    # To the owners of ranges, and from them to the owners of the vertices, in addition to the sample.
    assert sent < 100 * (2 * 3001 + size * (size - 1) * 1200)


@pytest.mark.parametrize("weight", [None, "w"], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize(
    ("size", "multi", "dtype", "most", "received"),
    [
        (1, "keep", "int64", 0.15, True),
        (1, "sum", "int64", 0.75, False),
        (2, "keep", "int64", 0.95, False),
        (2, "keep", "int32", 1.15, True),
    ],
)
def test_memory_that_a_build_needs_beyond_its_input_and_result(
    size, multi, dtype, most, received, directed, weight
):
    edges = gf.generate.rmat(16, npartitions=32).astype(dtype)
    edges = edges.assign(w=edges.src * 0.5)
    if received:
        edges = edges.map_partitions(sent_elsewhere, meta=edges._meta)
    pieces = pieces_of(edges, source="src", target="dst", weight=weight)
    given = (2 * np.dtype(dtype).itemsize + (0 if weight is None else 8)) * 16 << 16
    shards(pieces, size, directed, multi)  # compiled code stays in memory
    tracemalloc.start()
    try:
        made = shards(pieces, size, directed, multi)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    columns = itertools.chain.from_iterable(shard.out[:3] for shard in made)
    built = sum(column.nbytes for column in columns if column is not None)
    assert peak - built < most * given


def test_edges_that_are_lost_are_noticed_by_all_members(monkeypatch):
    plain = Exchange.all_to_all

    def lossy(exchange, arrays):
        found = plain(exchange, arrays)
        if exchange.rank == 1 and found[0].dtype == np.int32:
            found[0] = found[0][:-1]
        return found

    monkeypatch.setattr(Exchange, "all_to_all", lossy)
    channels = in_process(3)
    cut = dealt_out(pieces_of(frame(rmat())), 3)

    def loop(rank):
        with pytest.raises(GraphflowError, match=r"were dealt .* arrived"):
            build.build(channels[rank], cut[rank], rank, Recipe(True))
        return True

    assert each(loop, range(3)) == [True] * 3


# Sent elsewhere


def sent_elsewhere(shard):
    """Return a shard that arrives in a message whose arrays begin anywhere."""
    buffers = []
    sent = pickle.dumps(shard, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(sent, buffers=[astray(buffer) for buffer in buffers])


def test_received_arrays_are_aligned_to_whole_words():
    pairs = rmat()
    (made,) = shards(pieces_of(frame(pairs)), 1)
    alone(build.into, made)
    made.kept("shared", lambda: made.made("into"))
    there = sent_elsewhere(made)
    for rows in there.made("into"), there.made("out"):
        assert rows.offsets.flags.aligned
        assert rows.ends.flags.aligned
    # Columns that shared an array still share it.
    assert there.made("shared").ends is there.made("into").ends
    assert there.__sizeof__() == made.__sizeof__() > 8 * len(pairs)
    for which in ("out", "into"):
        assert_same_rows([there.made(which)], made.made(which), made.bounds)


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_graphs_are_built_from_arrays_that_begin_anywhere(dtype, size, directed):
    edges = gf.generate.rmat(12, npartitions=5).astype(dtype)
    edges = edges.assign(w=(edges.src + edges.dst) % 7 * 0.5)
    received = edges.map_partitions(sent_elsewhere, meta=edges._meta)
    plain, astray = (pieces_of(each, None, "src", "dst", "w") for each in (edges, received))
    assert not any(piece.weight.flags.aligned for piece in astray)
    (whole,) = shards(plain, 1, directed)
    made = shards(astray, size, directed)
    assert_same_rows([shard.out for shard in made], whole.out, made[0].bounds)
    entering = together(build.into, made)
    assert_same_rows(entering, alone(build.into, whole), made[0].bounds)


# On a cluster


# Naming


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("dtype", ["int64", "str"])
@pytest.mark.parametrize("unknown", [[700], [90, 3, 700, 701, 3, 702]], ids=["one", "several"])
def test_an_unknown_vertex_is_one_error_on_all_members(unknown, dtype):
    # 90 is between ids that have edges, and 3 is a vertex.
    edges = frame([(i, i + 1) for i in range(500) if i not in (89, 90)], dtype)
    ids = pd.DataFrame({"vertex": pd.Series(unknown).astype(dtype)})
    lost = [one for one in unknown if one != 3]

    def loop(shard, exchange):
        with pytest.raises(UnknownVertexError) as error:
            numbering.numbers_of(shard, exchange, ids)
        return str(error.value)

    (expected,) = together(loop, shards(pieces_of(edges), 1))
    said = rf"{len(lost)} of {len(unknown)} ids? \w+ not in the graph: '?{lost[0]}"
    assert re.match(said, expected)
    assert together(loop, shards(pieces_of(edges), 3)) == [expected] * 3


def test_runs_that_make_the_same_at_once_do_not_wait_for_each_other():
    made = shards(pieces_of(frame([(0, 1)])), 2)
    all_are_inside = threading.Barrier(4)

    def make():
        all_are_inside.wait(20)
        return object()

    def ask(_):
        return together(lambda *args: numbering.kept_by_all(*args, "thing", make), made)

    first, second = each(ask, range(2))
    assert first == second  # and later runs are given the same


# Partitions stay where they are


def rows_of(number):
    return pd.DataFrame({"a": np.full(100_000, number), "b": number})  # too many to be sent


def read_where(part, number):
    return number, get_worker().address


def numbers_and_places(channel, pieces, rank):
    return get_worker().address, pieces


@pytest.mark.parametrize("derived", [False, True])
def test_a_member_reads_the_partitions_that_its_worker_holds(client, derived):
    there = sorted(client.nthreads())
    at = [there[i] for i in (0, 1, 1, 0, 1, 0, 0)]  # not adjacent
    parts = [client.submit(rows_of, i, workers=[worker], pure=False) for i, worker in enumerate(at)]
    held = dd.from_delayed(parts, meta={"a": "int64", "b": "int64"}).persist()
    wait(held)
    homes = [client.who_has(part)[part.key][0] for part in futures_of(held)]  # Dask moves some
    frame = held[held.a >= 0] if derived else held
    reads = gang_build.deal_reads([(frame, ["a", "b"], read_where)], 2)
    run = gang.run(reads, numbers_and_places, None, name="places")
    dealt = gang_build.deal(homes, 2)
    for own, (worker, pieces) in zip(dealt, dask.compute(*run), strict=True):
        assert [number for number, _ in pieces] == own
        # Dask may steal a task that reads, but the member runs where data are.
        assert any(homes[number] == worker for number in own) or worker not in homes


def test_uneven_partitions_are_shared_out():
    for homes, wanted in (
        ("aaaa", [[0, 1, 2], [3]]),
        ("aaaabbbb", [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ("abcabcabc", [[0, 2, 3, 6, 8], [1, 4, 5, 7]]),
    ):
        dealt = gang_build.deal(list(homes), 2)
        assert sorted(itertools.chain(*dealt)) == list(range(len(homes)))
        assert [sorted(own) for own in wanted] == dealt


@pytest.mark.parametrize("multi", ["keep", "first", "sum"])
def test_the_member_that_reads_a_partition_changes_no_bit(rng, fine, multi):
    edges = frame((u % 200, v % 180) for u, v in rmat())
    edges = edges.assign(w=100 * rng.normal(size=len(edges)))  # sums depend on the order
    pieces = pieces_of(edges, 7, weight="w")
    (whole,) = build_together([pieces], Recipe(True, multi))
    mixed = [[pieces[i] for i in own] for own in ([1, 4, 6], [0, 5], [2, 3])]
    found = build_together(mixed, Recipe(True, multi))
    ends = np.concatenate([shard.out.ends for shard in found])
    weights = np.concatenate([shard.out.weights for shard in found])
    np.testing.assert_array_equal(ends, whole.out.ends)
    np.testing.assert_array_equal(weights, whole.out.weights)
