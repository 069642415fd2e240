"""Shards: vertices numbered and named again, even ranges, arrays that are sent elsewhere."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import astray, frame, on_backend, to_host
from shapes import SMALL

from dask_graphflow.comm.channel import in_process
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph.build import into
from dask_graphflow.graph.edgelist import Ends
from dask_graphflow.graph.numbering import number
from dask_graphflow.graph.partition import GRAIN, chunk
from dask_graphflow.graph.shard import Shard
from dask_graphflow.graph.vertex_placement import Placed
from dask_graphflow.graph.vertices import Vertices
from dask_graphflow.kernels import kernels_of

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


def numbered(parts):
    """Return the vertices of some edges, and the numbers of the ends of each part."""
    ends = [tuple(Ends.of(ids(part, side)) for side in "ab") for part in parts]
    found, numbers = number(Exchange(*in_process(1)), ends)
    return Vertices(found.like, found.size, found.base, found.ids), numbers


@pytest.mark.parametrize("kind", IDS)
def test_ids_are_numbered_in_their_order_and_named_again(kind, rng):
    dtype, make = IDS[kind]
    parts = [
        frame([(make(u), make(v)) for u, v in rng.integers(0, 50, (count, 2)).tolist()], dtype)
        for count in (30, 0, 25)
    ]
    vertices, numbers = numbered(parts)
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
    vertices, _ = numbered([edges])
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


# Sent elsewhere


def shard_of(pairs):
    source, target = (on_backend(side) for side in np.array(pairs).T.copy())
    size = int(max(source.max(), target.max())) + 1
    rows = kernels_of("rows", source).rows(source, target, count=size)
    like = on_backend(pd.DataFrame({"vertex": np.zeros(0, "int64")}))
    made = Shard(like, [0, size], 0, rows, directed=True)
    into(made, Exchange(*in_process(1)))
    return made


def assert_same_rows(there, made):
    for which in ("out", "into"):
        for found, wanted in zip(there.made(which), made.made(which), strict=True):
            np.testing.assert_array_equal(to_host(found), to_host(wanted))


def test_shards_can_be_sent_elsewhere():
    made = shard_of(SMALL["rmat"])
    there = pickle.loads(pickle.dumps(made))
    assert_same_rows(there, made)
    assert there.__sizeof__() == made.__sizeof__() > 8 * len(SMALL["rmat"])


@pytest.mark.usefixtures("host_memory")
def test_arrays_are_in_whole_words_wherever_a_message_had_them():
    made = shard_of(SMALL["rmat"])
    made.kept("shared", lambda: made.made("into"))
    buffers = []
    sent = pickle.dumps(made, protocol=5, buffer_callback=buffers.append)
    there = pickle.loads(sent, buffers=[astray(buffer) for buffer in buffers])
    for rows in there.made("into"), there.made("out"):
        assert rows.offsets.flags.aligned
        assert rows.ends.flags.aligned
    assert there.made("shared").ends is there.made("into").ends  # what was one array is one still
    assert there.__sizeof__() == made.__sizeof__()
    assert_same_rows(there, made)


def test_where_vertices_are_placed_is_in_whole_words_too():
    placed = Placed(np.arange(5, dtype="int64"), [0, 5])
    shard = Shard(np.zeros(0), [0, 5], 0, directed=True, placed=placed)
    buffers = []
    sent = pickle.dumps(shard, protocol=5, buffer_callback=buffers.append)
    there = pickle.loads(sent, buffers=[astray(buffer) for buffer in buffers])
    assert there.placed.places.flags.aligned
    np.testing.assert_array_equal(there.placed.places, placed.places)
