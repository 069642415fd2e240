"""Shards: vertices numbered and named again, even ranges, the same rows however they are cut."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import astray, frame, on_backend, to_host
from shapes import LARGE, SMALL, both_ways, rows_to_host, shards_of

from dask_graphflow.graph.edgelist import Ends
from dask_graphflow.graph.partition import GRAIN, chunk
from dask_graphflow.graph.shard import Shard
from dask_graphflow.graph.vertex_placement import Placed
from dask_graphflow.graph.vertices import number

# Numbers of vertices

IDS = {
    "dense": ("int64", int),
    "int8, low and high": ("int8", lambda i: (i * 5) % 256 - 128),
    "int16, low and high": ("int16", lambda i: i * 1000 - 32_768),
    "int32, negative": ("int32", lambda i: i - 2**31),
    "int64, close": ("int64", lambda i: 2**62 + i),
    "int64, far apart": ("int64", lambda i: (i - 20) * 2**57),
    "uint64, past int64": ("uint64", lambda i: 2**64 - 1 - i),
    "strings": ("str", lambda i: f"v{i}"),
    "dates": ("datetime64[ns]", lambda i: pd.Timestamp(2020, 1, 1) + pd.Timedelta(days=i)),
}


def ids(edges, side):
    return on_backend(edges[[side]].set_axis(["id"], axis=1))


@pytest.mark.parametrize("kind", IDS)
def test_ids_are_numbered_in_their_order_and_named_again(kind, rng):
    dtype, make = IDS[kind]
    parts = [
        frame([(make(u), make(v)) for u, v in rng.integers(0, 50, (count, 2)).tolist()], dtype)
        for count in (30, 0, 25)
    ]
    vertices, numbers = number([tuple(Ends.of(ids(part, side)) for side in "ab") for part in parts])
    for part, pair in zip(parts, numbers, strict=True):
        for side, found in zip("ab", pair, strict=True):
            assert ((found >= 0) & (found < vertices.count)).all()
            (named,) = vertices.named(found)
            pd.testing.assert_series_equal(
                to_host(named), part[side].reset_index(drop=True), check_names=False
            )
            again = vertices.numbers(ids(part, side))
            np.testing.assert_array_equal(to_host(again), to_host(found))
    given = pd.concat([part[side] for part in parts for side in "ab"], ignore_index=True)
    flat = np.concatenate([to_host(side) for pair in numbers for side in pair])
    assert given.iloc[np.argsort(flat, kind="stable")].is_monotonic_increasing


@pytest.mark.parametrize("kind", IDS)
def test_ids_that_no_edge_has_get_no_number(kind):
    dtype, make = IDS[kind]
    edges = frame([(make(1), make(2)), (make(2), make(4))], dtype)
    vertices, _ = number([tuple(Ends.of(ids(edges, side)) for side in "ab")])
    others = pd.DataFrame({"id": pd.Series([make(40), make(2), make(39)], dtype=dtype)})
    found = vertices.numbers(on_backend(others))
    assert (found < 0).tolist() == [True, False, True]


# Ranges


def test_alpha_is_what_a_vertex_costs_besides_its_edges():
    # 16 grains: the first vertex has 32 grains of edges, the last one 2.
    degrees = np.zeros(16 * GRAIN, "int64")
    degrees[0], degrees[-1] = 32 * GRAIN, 2 * GRAIN
    # Work up to bound i, in grains, is alpha * i + 32, and in all alpha * 16 + 34. For alpha 0, half of
    # it is 17: bound 1 has 32, bound 0 nothing.
    assert chunk(degrees, 2, alpha=0) == [0, GRAIN, 16 * GRAIN]
    # For 8, half is 81: bound 6 has 80.
    assert chunk(degrees, 2) == chunk(degrees, 2, alpha=8) == [0, 6 * GRAIN, 16 * GRAIN]
    # Of three parts it is 16, and thirds are 96.7 and 193.3: bound 4 has 96, bound 10 has 192.
    assert chunk(degrees, 3) == [0, 4 * GRAIN, 10 * GRAIN, 16 * GRAIN]
    # For 32, thirds are 182 and 364: bound 5 has 192, bound 10 has 352.
    assert chunk(degrees, 3, alpha=32) == [0, 5 * GRAIN, 10 * GRAIN, 16 * GRAIN]


@pytest.mark.parametrize("parts", [2, 3, 7])
def test_ranges_of_a_power_law_graph_are_even(parts):
    # Ids in no order of degree, as R-MAT has them, and enough of them for the bounds to be fine.
    degrees = np.random.default_rng(1).permutation(
        (1e6 / np.arange(1, 2**21) ** 0.9).astype("int64")
    )
    bounds = chunk(degrees, parts)
    assert bounds[0] == 0
    assert bounds[-1] == len(degrees)
    assert not any(bound % GRAIN for bound in bounds[:-1])
    edges = np.concatenate([[0], np.cumsum(degrees)])
    work = np.diff(8 * (parts - 1) * np.array(bounds) + edges[bounds])
    assert work.max() <= 1.05 * work.mean()


@pytest.mark.parametrize("size", [0, 1, GRAIN, GRAIN + 1])
def test_of_few_vertices_ranges_are_empty(size):
    bounds = chunk(np.ones(size, "int64"), 5)
    assert bounds == sorted(bounds)
    assert (len(bounds), bounds[0], bounds[-1]) == (6, 0, size)


@pytest.mark.parametrize("shape", LARGE)
def test_the_owner_of_a_vertex_is_the_range_that_it_lies_in(shape, rng):
    shards = shards_of(LARGE[shape](), parts=3)
    edge = np.array(shards.bounds[1:-1])
    vertices = np.concatenate([rng.integers(0, shards.size, 1000), edge, edge - 1])
    own = [to_host(mine) for mine in shards.own(on_backend(vertices))]
    assert sum(map(len, own)) == len(vertices)
    assert all(map(len, own))
    for mine, low, high in zip(own, shards.bounds[:-1], shards.bounds[1:], strict=True):
        assert ((mine >= low) & (mine < high)).all()


# Rows


def edges_of(made):
    """Return what rows hold, as a frame in the order of the rows."""
    made = [rows_to_host(one) for one in made]
    owners = [
        one.first + np.repeat(np.arange(len(one.offsets) - 1), np.diff(one.offsets)) for one in made
    ]
    ends = np.concatenate([one.ends for one in made]).astype("int64")
    columns = {"row": np.concatenate(owners), "end": ends}
    if made[0].weights is not None:
        columns["weight"] = np.concatenate([one.weights for one in made])
    return pd.DataFrame(columns)


def in_order(edges):
    return edges.sort_values(["row", "end", "weight"], ignore_index=True)


@pytest.mark.parametrize("which", ["out", "into"])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("shape", LARGE)
def test_rows_of_ranges_put_together_are_those_of_all(shape, directed, which):
    pairs = LARGE[shape]()
    weight = np.arange(len(pairs)) * 1.0
    whole = shards_of(pairs, weight, directed=directed)
    expected = edges_of(getattr(whole, which)())
    assert (expected["row"].diff()[1:] >= 0).all()
    assert (expected["end"].diff()[expected["row"].diff() == 0] >= 0).all()
    source, target, weights = both_ways(pairs, weight, directed)
    sides = (source, target) if which == "out" else (target, source)
    given = pd.DataFrame(dict(zip(("row", "end"), sides, strict=True)) | {"weight": weights})
    pd.testing.assert_frame_equal(in_order(expected), in_order(given))
    for parts in (2, 3, 7):
        cut = shards_of(pairs, weight, directed=directed, parts=parts, threads=2)
        made = getattr(cut, which)(2)
        assert [one.first for one in made] == cut.bounds[:-1]
        assert sum(len(one.ends) > 0 for one in made) > 1
        pd.testing.assert_frame_equal(edges_of(made), expected)
        pd.testing.assert_frame_equal(edges_of([cut.whole(which)]), expected)
        offsets = (to_host(one.whole(which).offsets) for one in (cut, whole))
        np.testing.assert_array_equal(*offsets)
        assert cut.edges() == len(pairs)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("multi", ["keep", "sum", "min", "first"])
def test_what_enters_made_of_what_leaves_is_what_is_made_of_the_edge_list(multi, parts):
    pairs = LARGE["rmat"]()
    weight = np.random.default_rng(2).integers(1, 100, len(pairs)) / 4
    directly = shards_of(pairs, weight, multi=multi, parts=parts)
    second = shards_of(pairs, weight, multi=multi, parts=parts)
    left = edges_of(second.out())
    pd.testing.assert_frame_equal(edges_of(second.into()), edges_of(directly.into()))
    pd.testing.assert_frame_equal(edges_of(directly.out()), left)
    assert second.edges() == directly.edges() == len(left)
    assert (len(left) == len(pairs)) == (multi == "keep")


@pytest.mark.parametrize("which", ["into", "out"])
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_rows_with_hubs_first_have_the_same_edges(directed, parts, which):
    pairs = LARGE["rmat"]()
    shards = shards_of(pairs, np.arange(len(pairs)) * 1.0, directed=directed, parts=parts)
    rows, labels, names = shards.hubs_first(which)
    vertices = to_host(names).astype("int64")
    np.testing.assert_array_equal(vertices[to_host(labels)], np.arange(shards.size))
    # Of what is looked up from rows: an end's.
    degrees = shards.in_degrees() if which == "out" else shards.out_degrees()
    if which == "into" or not directed:
        assert (np.diff(to_host(degrees)[vertices]) <= 0).all()
    else:  # known from some of the edges
        few = shards.size // 16
        assert to_host(degrees)[vertices[:few]].sum() > 0.8 * to_host(degrees).sum() / 2
    found = edges_of([rows])
    for side in ("row", "end"):
        found[side] = vertices[found[side]]
    pd.testing.assert_frame_equal(in_order(found), in_order(edges_of(getattr(shards, which)())))


def test_without_hubs_rows_are_as_they_are():
    shards = shards_of(LARGE["grid"]())
    rows, labels, names = shards.hubs_first()
    assert labels is None
    assert names is None
    assert rows is shards.into()[0]


def test_only_the_layouts_that_are_asked_for_are_made():
    made = shards_of(SMALL["rmat"])
    assert not made._made
    first = made.into()
    assert set(made._made) == {"into"}
    assert made._edges is None
    assert made.into() is first
    made.out()
    assert set(made._made) == {"into", "out"}
    undirected = shards_of(SMALL["rmat"], directed=False)
    assert undirected.into() is undirected.out()


def test_shards_can_be_sent_elsewhere():
    shards = shards_of(SMALL["rmat"], parts=2)
    shards.out()
    there = pickle.loads(pickle.dumps(shards))
    pd.testing.assert_frame_equal(edges_of(there.into()), edges_of(shards.into()))
    assert there.__sizeof__() == shards.__sizeof__() > 8 * len(SMALL["rmat"])


@pytest.mark.usefixtures("host_memory")
def test_arrays_are_in_whole_words_wherever_a_message_had_them():
    shards = shards_of(SMALL["rmat"], parts=2)
    shards.out()
    shards.kept("shared", lambda: shards.into()[0])
    buffers = []
    sent = pickle.dumps(shards, protocol=5, buffer_callback=buffers.append)
    there = pickle.loads(sent, buffers=[astray(buffer) for buffer in buffers])
    for rows in [*there.into(), *there.out()]:
        assert rows.offsets.flags.aligned
        assert rows.ends.flags.aligned
    assert there.made("shared").ends is there.into()[0].ends  # what was one array is one still
    assert there.__sizeof__() == shards.__sizeof__()
    pd.testing.assert_frame_equal(edges_of(there.into()), edges_of(shards.into()))


def test_where_vertices_are_placed_is_in_whole_words_too():
    placed = Placed(np.arange(5, dtype="int64"), [0, 5])
    shard = Shard(np.zeros(0), [0, 5], 0, directed=True, placed=placed)
    buffers = []
    sent = pickle.dumps(shard, protocol=5, buffer_callback=buffers.append)
    there = pickle.loads(sent, buffers=[astray(buffer) for buffer in buffers])
    assert there.placed.places.flags.aligned
    np.testing.assert_array_equal(there.placed.places, placed.places)
