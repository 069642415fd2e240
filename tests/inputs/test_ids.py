"""Ids at both ends, in `vertices`, `seed` and `sources`, in columns that are named right or wrong."""

from __future__ import annotations

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from columns import DAYS, loops
from conftest import ENDS, as_dict, frame, is_as_announced, oracle

import dask_graphflow as gf
from dask_graphflow import Graph, connected_components
from dask_graphflow.exceptions import (
    EdgeListError,
    UnknownColumnError,
    UnknownVertexError,
    VertexTypeError,
)
from dask_graphflow.graph import renumber, vertex_ids
from dask_graphflow.kernels import host_blocks
from dask_graphflow.kernels.distinct import host as host_distinct

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64"])
def test_thresholds_of_small_integers(dtype, rng):
    """The ids' range does not fit the ids' own type."""
    info = np.iinfo(dtype)
    low, high = max(info.min, -30_000), min(info.max, 30_000)
    ids = rng.permutation(np.arange(low, high + 1))[:5000].astype(dtype)
    edges = pd.DataFrame({"a": ids[:-1], "b": ids[1:], "w": rng.random(len(ids) - 1)})
    limits = [0.1, 0.5, 0.9]
    all_at_once = gf.connected_components(edges, **ENDS, weight="w", thresholds=limits).compute()
    for limit in limits:
        one = gf.connected_components(edges, **ENDS, weight="w", threshold=limit).compute()
        assert one["vertex"].tolist() == all_at_once["vertex"].tolist()
        assert one["component"].tolist() == all_at_once[f"component_{limit}"].tolist()
        kept = edges[edges["w"] >= limit][["a", "b"]].to_numpy().tolist()
        assert as_dict(one) == oracle(kept, ids.tolist())


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(
    ("ids", "others", "more", "common"),
    [
        ("int32", "int64", [2**32 + 1, 2**40, 7], "int64"),
        ("uint8", "int64", [-1, 300], "int64"),
        ("int8", "uint8", [255], "int16"),
        ("int32", "int8", [-5], "int32"),
    ],
)
def test_other_integers_are_as_wide_as_they_need(ids, others, more, common):
    edges, more = frame([(1, 2)], ids), pd.Series(more, dtype=others)
    seed = pd.DataFrame({"vertex": more, "component": more})
    sides = pd.DataFrame({"a": edges["a"].repeat(len(more)).reset_index(drop=True), "b": more})
    for labels in (
        gf.connected_components(edges, **ENDS, vertices=more),
        gf.connected_components(edges, **ENDS, seed=seed),
        gf.connected_components(edges, **ENDS, vertices=more[:1], seed=seed),
        gf.connected_components(sides, **ENDS, vertices=edges["b"]),
    ):
        found = labels.compute()
        assert sorted(found["vertex"].tolist()) == sorted({1, 2, *more.tolist()})
        assert {str(dtype) for dtype in found.dtypes} == {common}
        assert is_as_announced(found, labels)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("swapped", [False, True])
def test_dates_of_two_units_are_read_in_the_finer_one(swapped):
    whole = pd.Series(DAYS, dtype="datetime64[s]")
    fine = pd.Series([f"{DAYS[0]} 00:00:00.25", DAYS[1]], dtype="datetime64[ns]")
    edges = pd.DataFrame({"a": whole, "b": fine})
    if swapped:
        edges = edges.rename(columns={"a": "b", "b": "a"})
    wanted = sorted({*whole.astype(fine.dtype), *fine})
    seed = pd.DataFrame({"vertex": fine, "component": fine})
    plain = pd.DataFrame({"a": whole, "b": whole})
    for labels in (
        gf.connected_components(edges, **ENDS),
        gf.Graph(edges, **ENDS).degrees(),
        gf.connected_components(plain, **ENDS, vertices=fine),
        gf.connected_components(plain, **ENDS, seed=seed),
    ):
        found = labels.compute()
        assert found["vertex"].tolist() == wanted
        assert found["vertex"].dtype == "datetime64[ns]"
        assert is_as_announced(found, labels)


def test_both_ends_have_a_time_zone_or_neither_has():
    day = pd.Series(pd.to_datetime(DAYS))
    berlin, utc = day.dt.tz_localize("Europe/Berlin"), day.dt.tz_localize("UTC")
    labels = connected_components(pd.DataFrame({"a": utc, "b": berlin}), **ENDS).compute()
    assert labels["vertex"].tolist() == sorted([*utc, *berlin])
    edges = pd.DataFrame({"a": utc, "b": day})
    with pytest.raises(VertexTypeError, match=r"time zone .* \.dt\.tz_localize\('UTC'\)"):
        connected_components(edges, **ENDS)
    for given in ({"vertices": day}, {"seed": pd.DataFrame({"vertex": day, "component": day})}):
        with pytest.raises(VertexTypeError, match="time zone"):
            connected_components(edges[["a"]], source="a", target="a", **given)
    with pytest.raises(VertexTypeError, match="time zone"):
        Graph(edges, source="a", target="a").bfs(day)
    edges["b"] = edges["b"].dt.tz_localize("UTC")
    assert len(connected_components(edges, **ENDS).compute()) == 2


@pytest.mark.usefixtures("backend")
def test_sources_that_the_ids_dtype_cannot_hold_are_not_in_the_graph():
    days = loops(DAYS, "datetime64[s]")
    found = gf.bfs(days, **ENDS, sources=[pd.Timestamp(DAYS[0]).as_unit("ns")]).compute()
    assert len(found) == 1
    late = pd.Timestamp(f"{DAYS[0]} 00:00:00.7")
    for edges, source in (
        (days, late),
        (loops([1, 2], "int8"), 128),
        (loops([1, 2], "uint64"), -1),
        (loops([1, 2], "int64"), 2**64 - 1),
        (loops([1, 2], "int64"), -(2**70)),
    ):
        with pytest.raises(
            UnknownVertexError, match=r"not in the graph: .* cannot hold that value"
        ):
            gf.bfs(edges, **ENDS, sources=[edges["a"].iloc[0], source])


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1]),
        pd.Index(["a"]),
        np.array(["a"]),
        pd.DataFrame({"a": [1]}),
        dd.from_pandas(pd.Series([1]), npartitions=1),
        ["a"],
        {"a": 1},
    ],
    ids=lambda column: type(column).__name__,
)
def test_a_column_instead_of_its_name_is_refused(column):
    edges = frame([(1, 2)]).assign(w=1.0)
    for ends in ({"source": [column], "target": "b"}, {"source": "a", "target": [column]}):
        with pytest.raises(
            UnknownColumnError, match=f"{type(column).__name__} in place of a column"
        ):
            connected_components(edges, **ends)
    for given in (column, [column]):
        with pytest.raises(UnknownColumnError, match="in place of a column's name"):
            Graph(edges, **ENDS, weight=given)


def test_a_name_of_several_columns_is_refused():
    edges = frame([(1, 2)]).assign(w=1.0)
    for name, given in {"a": ENDS, "w": {**ENDS, "weight": "w"}}.items():
        twice = pd.concat([edges, edges[[name]]], axis=1)
        with pytest.raises(EdgeListError, match=f"'{name}' names 2 columns .*set_axis"):
            Graph(twice, **given)
        renamed = twice.set_axis([*edges.columns, "other"], axis=1)
        assert Graph(renamed, **given).num_edges == 1
    twice = pd.concat([edges[["a"]].rename(columns={"a": "vertex"})] * 2, axis=1)
    with pytest.raises(EdgeListError, match="vertices='vertex' names 2 columns"):
        connected_components(edges, **ENDS, vertices=twice)
    seed = twice.assign(component=1)
    with pytest.raises(EdgeListError, match="seed='vertex' names 2 columns"):
        connected_components(edges, **ENDS, seed=seed)
    # The names of unused columns may occur several times.
    others = pd.concat([loops(["x"], "str"), pd.DataFrame([[1, 2]], columns=["o", "o"])], axis=1)
    assert len(connected_components(others, **ENDS).compute()) == 1


def test_the_smallest_integers_are_ids():
    least = -(2**63)
    edges = frame([(least, least + 2**20), (least + 7, least)])
    assert set(as_dict(connected_components(edges, **ENDS).compute()).values()) == {least}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "uint8"])
def test_equal_integers_get_the_same_number(monkeypatch, rng, dtype, threads):
    monkeypatch.setattr(renumber, "MANY", 0)
    monkeypatch.setattr(host_distinct, "PART", 300)
    monkeypatch.setattr(host_distinct, "BLOCK", 1000)
    monkeypatch.setattr(host_distinct, "LEAST", 16)
    monkeypatch.setattr(host_blocks, "BLOCK", 500)
    limits = np.iinfo(dtype)
    for size, most in ((0, 1), (1, 1), (3000, 2), (3000, limits.max), (20_000, 5000)):
        values = rng.integers(limits.min, limits.max, size, dtype, endpoint=True) % min(
            most, limits.max
        )
        values[: size // 9] = limits.max
        values[: size // 18] = limits.min
        parts = [pd.DataFrame({"id": part}) for part in np.split(values, [size // 3])]
        codes, found = renumber.distinct(parts, threads=threads)
        assert found.id.dtype == dtype
        assert found.id.is_unique
        np.testing.assert_array_equal(found.id.to_numpy()[np.concatenate(codes)], values)
        (alone,), _ = host_distinct.distinct([values], threads=1)
        np.testing.assert_array_equal(np.concatenate(codes), alone)
        ids, numbers = renumber.number(parts, threads=threads)
        expected, places = np.unique(values, return_inverse=True)
        np.testing.assert_array_equal(ids.id, expected)
        np.testing.assert_array_equal(np.concatenate(numbers), places)


def test_results_of_many_ids_that_are_far_apart(monkeypatch, rng):
    edges = pd.DataFrame(rng.integers(0, 300, (2000, 2)), columns=["a", "b"])
    far = edges * 10**12 - 10**14
    graphs = gf.Graph(edges, **ENDS), gf.Graph(far, **ENDS)
    few = edges[:200].assign(w=rng.random(200))
    apart = few.assign(a=far["a"], b=far["b"])
    monkeypatch.setattr(renumber, "MANY", 0)
    near, there = (graph.pagerank().compute() for graph in graphs)
    assert there.pagerank.tolist() == near.pagerank.tolist()
    assert there.vertex.tolist() == (near.vertex * 10**12 - 10**14).tolist()
    monkeypatch.setattr(renumber, "BLOCK", 60)
    for options in ({}, {"weight": "w", "thresholds": [0.3, 0.7]}):
        near, there = (connected_components(one, **ENDS, **options) for one in (few, apart))
        near = near.compute() * 10**12 - 10**14
        pd.testing.assert_frame_equal(there.compute(), near)


def test_ids_are_numbered_block_by_block(monkeypatch, rng):
    monkeypatch.setattr(renumber, "MANY", 0)
    monkeypatch.setattr(renumber, "BLOCK", 300)
    sides = [pd.DataFrame({"id": rng.integers(-(2**60), 2**60, 1000)}) for _ in range(2)]
    sides[1].iloc[:500] = sides[0].iloc[500:]
    numbers, seen = renumber.Numbers(sides, threads=2), []
    for rows, codes, count in numbers.blocks():
        assert all(len(own) == len(range(1000)[rows]) <= 300 and own.max() < count for own in codes)
        seen.append(codes)
    assert len(seen) == 4
    for side, codes in zip(sides, zip(*seen, strict=True), strict=True):
        rows = numbers.places[np.concatenate(codes)]
        np.testing.assert_array_equal(numbers.ids.id.to_numpy()[rows], side.id)


@pytest.mark.parametrize("dtype", ["int64", "uint8", "uint64"])
def test_integers_in_a_list_are_ids_as_they_are(dtype):
    ids = pd.DataFrame({"vertex": np.zeros(0, dtype)})
    array = np.array([3, 200])
    for given in ([3, 200], array, array.astype("uint8"), pd.Series(array), [np.int32(3), 200]):
        made = vertex_ids.named(given, ids)
        assert made.dtypes.tolist() == [np.dtype(dtype)]
        assert made.vertex.tolist() == [3, 200]
    for given in ([3, 200], array, array.astype("uint8")):
        made = vertex_ids.plain_integers(given, [np.dtype(dtype)])
        assert (made.dtype, made.tolist()) == (dtype, [3, 200])
        assert not np.shares_memory(made, given)
    assert vertex_ids.plain_integers(7, [np.dtype(dtype)]).tolist() == [7]
    assert vertex_ids.named(7, ids).vertex.tolist() == [7]
    for wrong in ([3, -(2**63) - 1], [True, 3], [3.5], []):
        assert vertex_ids.plain_integers(wrong, [np.dtype(dtype)]) is None
        with pytest.raises((EdgeListError, UnknownVertexError, VertexTypeError)):
            vertex_ids.named(wrong, ids)


@pytest.mark.parametrize("convert", [None, True, False])
@pytest.mark.parametrize("dtype", ["str", "string[pyarrow]", "string[python]", "object"])
def test_text_in_memory_gets_the_dtype_that_dask_gives_it(dtype, convert):
    edges = pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"]}).astype(dtype)
    with dask.config.set({"dataframe.convert-string": convert}):
        held, lazy = (
            gf.degrees(given, source="a", target="b").compute(scheduler="sync")
            for given in (edges, dd.from_pandas(edges, npartitions=1))
        )
    assert repr(held["vertex"].dtype) == repr(lazy["vertex"].dtype)
    assert held["vertex"].tolist() == lazy["vertex"].tolist() == ["x", "y", "z"]
