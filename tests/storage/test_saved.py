"""A saved graph is the same graph when it is loaded: for every type of ids, and any number of members."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import BACKEND, GRAPHS, fewer, host_only, on_backend, on_host, partitioned
from shapes import ALSO_ASKED, ASKED, on_members, power_law, same

import dask_graphflow as gf
from dask_graphflow.kernels import disk

SOME = fewer(GRAPHS, {name: GRAPHS[name] for name in ("empty", "duplicates", "star")})


def arrow(kind, make):
    """Return a function from integers to ids of an Arrow type."""
    return lambda i: pd.Series(pa.array(make(i), kind), index=i.index, dtype=pd.ArrowDtype(kind))


def days(i):
    return pd.to_datetime("2020-01-01") + pd.to_timedelta(i, "D")


IDS = {
    "dense integers": lambda i: i,
    "small integers": lambda i: (i - 100).astype("int16"),
    "far integers": lambda i: i * 10**12 - 5,
    "unsigned integers": lambda i: i.astype("uint64") * 10**12 + np.uint64(2**63),
    "text": lambda i: i.map("v{:03d}".format),
    "datetimes": lambda i: days(i).astype("datetime64[s]"),
    "timedeltas": lambda i: pd.to_timedelta(i, "min"),
}
HOST_IDS = {
    "categories": lambda i: i.map("v{:03d}".format).astype("category"),
    "booleans": lambda i: i % 2 == 0,
    "nullable integers": lambda i: (i * 10**12).astype("Int64"),
    "datetimes with a time zone": lambda i: days(i).dt.tz_localize("Europe/Berlin"),
    "periods": lambda i: days(i).dt.to_period("D"),
    "Arrow integers": arrow(pa.int32(), lambda i: i),
    "Arrow text": arrow(pa.string(), lambda i: [f"v{k:03d}" for k in i]),
    "Arrow bytes": arrow(pa.binary(), lambda i: [b"v%03d" % k for k in i]),
    "Arrow dates": arrow(pa.date32(), lambda i: i.astype("int32").to_numpy()),
    "Arrow decimals": arrow(pa.decimal128(9, 2), lambda i: i.tolist()),
}
if BACKEND.name == "pandas":
    IDS |= HOST_IDS
WEIGHTS = {"no weights": None, "floats": "float32", "integers": "int64"}


def loaded(path, **options):
    """Return a saved graph, on the backend under test."""
    options = {"backend": "cudf"} | options if BACKEND.name == "cudf" else options
    return on_host(gf.load_graph(path, **options))


def members_of(g):
    """Return the number of shards of a graph."""
    return on_backend(g)._shards.count


def equal(found, wanted):
    """Assert that two graphs are equal, by their contents, a search and ranks."""
    assert (found.num_vertices, found.num_edges) == (wanted.num_vertices, wanted.num_edges)
    assert (found.directed, found.weighted) == (wanted.directed, wanted.weighted)
    sources = wanted.vertices().compute().iloc[[0]]
    for call in (
        lambda g: g.vertices(),
        lambda g: g.edges(),
        lambda g: g.bfs(sources),
        lambda g: g.pagerank(),
    ):
        got, result = call(found), call(wanted).compute()
        assert dict(got.dtypes) == dict(call(wanted).dtypes)
        same(got.compute(), result)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("loading", [1, 2, 3])
@pytest.mark.parametrize("members", [1, 2, 3])
@pytest.mark.parametrize("ids", IDS)
def test_a_loaded_graph_equals_the_saved_one(
    built, tmp_path, rng, ids, members, loading, directed, weights
):
    edges = power_law(rng, size=300, edges=900)
    weight = WEIGHTS[weights]
    weighted = {"w": (4 * edges.w).astype(weight)} if weight else {}
    edges = pd.DataFrame({"a": IDS[ids](edges.a), "b": IDS[ids](edges.b)} | weighted)
    saved = built(edges, partitions=9, directed=directed)
    saved.save(tmp_path / "graph")
    found = loaded(tmp_path / "graph", shards=loading)
    assert members_of(found) == min(loading, -(-saved.num_vertices // 64))  # a grain at least
    equal(found, saved)


@pytest.mark.parametrize(("members", "loading", "directed"), [(3, 1, True), (1, 3, False)])
def test_every_algorithm_gives_the_same_bits_on_a_loaded_graph(
    built, tmp_path, rng, members, loading, directed
):
    edges = power_law(rng)
    sources = edges.a.iloc[[0, 700]].tolist()
    saved = built(edges, directed=directed)
    saved.save(tmp_path / "graph")
    found = loaded(tmp_path / "graph", shards=loading).persist()
    for call in [*ASKED.values(), *ALSO_ASKED.values()]:
        same(call(found, sources).compute(), call(saved, sources).compute())


@pytest.mark.parametrize("loading", [1, 3])
def test_ids_of_two_columns_and_vertices_without_edges_are_saved(
    built, tmp_path, rng, members, loading
):
    edges = power_law(rng, size=300, edges=600)
    ends = {"source": ["a", "c"], "target": ["b", "c"]}
    edges = edges.assign(c=(edges.a % 7).map("kind {}".format))
    alone = pd.DataFrame({"a": [7000, 3], "c": ["z", "z"]})
    g = gf.Graph(
        partitioned(edges, 6), **ends, weight="w", vertices=alone, shards=members, directed=False
    ).persist()
    g.save(tmp_path)
    found = loaded(tmp_path, shards=loading)
    equal(found, g)
    assert (7000, "z") in on_backend(found)
    assert repr(found).splitlines()[1:4] == repr(g).splitlines()[1:4]


@pytest.mark.parametrize("pairs", SOME.values(), ids=SOME)
@pytest.mark.parametrize("loading", [1, 2])
def test_small_graphs_are_saved(built, tmp_path, pairs, members, loading):
    saved = built(pairs)
    saved.save(tmp_path)
    found = loaded(tmp_path, shards=loading)
    for call in (lambda g: g.vertices(), lambda g: g.edges(), lambda g: g.pagerank()):
        same(call(found).compute(), call(saved).compute())


@pytest.mark.parametrize("multi", ["sum", "min", "first"])
def test_merged_edges_are_saved_merged(built, tmp_path, rng, members, multi):
    saved = built(power_law(rng, size=100), directed=False, multi=multi)
    saved.save(tmp_path)
    equal(loaded(tmp_path), saved)


def arrays_of(g):
    """Return the rows of the edges on each member."""
    return on_members(g, lambda view: [view.member.rows("out"), view.member.rows("into")])


@pytest.mark.parametrize(("members", "loading"), [(1, 1), (1, 3), (3, 3)])
def test_arrays_of_local_files_are_views_of_the_mapped_files(
    built, tmp_path, rng, monkeypatch, members, loading
):
    host_only("about arrays in host memory")
    maps = []
    make = disk.opened
    monkeypatch.setattr(disk, "opened", lambda *given: maps.append(make(*given)) or maps[-1])
    built(power_law(rng)).save(tmp_path)
    rows = arrays_of(gf.load_graph(tmp_path, shards=loading))
    files = [np.frombuffer(one, np.uint8) for one in maps]
    assert len(rows) == loading
    for one in (side for both in rows for side in both):
        for array in (one.ends, one.weights):
            assert any(np.shares_memory(array, file) for file in files)
            assert array.flags.writeable
            assert array.flags.aligned
