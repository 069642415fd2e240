"""Ids and weights of every type are read exactly, in every place that reads a partition, or refused."""

from __future__ import annotations

import datetime
import decimal
import pathlib
import re
import uuid

import dask
import dask.dataframe as dd
import hypothesis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import ENDS, as_dict, frame, is_as_announced, oracle, partitioned
from hypothesis import strategies as st

import dask_graphflow as gf
from dask_graphflow import Graph, connected_components
from dask_graphflow.exceptions import (
    EdgeListError,
    NullVertexError,
    UnknownColumnError,
    UnknownVertexError,
    VertexTypeError,
    WeightError,
)
from dask_graphflow.graph import dtypes, renumber
from dask_graphflow.kernels import host_distinct


@pytest.fixture(autouse=True)
def scheduled():
    with dask.config.set(scheduler="sync"):
        yield


def mixed(*parts):
    """Return a Dask DataFrame of these partitions, with the metadata of the first one."""
    return dd.from_map(_part, range(len(parts)), args=[parts], meta=parts[0].iloc[:0])


def _part(i, parts):
    return parts[i]


def loops(values, dtype):
    """Return an edge from each id to itself, for every type of ids."""
    return pd.DataFrame({"a": pd.Series(values, dtype=dtype)}).assign(b=lambda df: df["a"])


def advised(error, **names):
    """Run the example at the end of an error's message on these frames; return the result."""
    (example,) = re.findall(r"for example with (\S.*?)(?:; or .*)?$", str(error))
    return eval(example, {"str": str}, names)


# The conversion that every reader uses

INTEGERS = ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "Int32", "UInt64"]
INTEGERS += ["int16[pyarrow]", "uint64[pyarrow]"]
FLOATS = ["float32", "float64", "Float64", "double[pyarrow]"]
POWERS = [sign * 2**power for sign in (-1, 1) for power in (7, 8, 24, 31, 53, 63)]
VALUES = [
    0,
    0.5,
    -1.5,
    2.0**70,
    2**64 - 1,
    *(power + more for power in POWERS for more in (-1, 0, 1)),
]


def empty(dtype):
    return pd.Series([], dtype=dtype)


@hypothesis.settings(max_examples=300, deadline=None)
@hypothesis.given(
    found=st.sampled_from(INTEGERS + FLOATS),
    wanted=st.sampled_from(INTEGERS + FLOATS),
    values=st.lists(st.sampled_from(VALUES) | st.integers(-300, 300), min_size=1, max_size=4),
)
def test_a_conversion_keeps_every_value_or_raises(found, wanted, values):
    if found in INTEGERS:
        low, high = dtypes.limits(empty(found).dtype)
        values = [int(value) for value in values if low <= value <= high]
        series = pd.Series(values, dtype=found)
    else:
        series = pd.Series(values, dtype="float64").astype("float32").astype(found)
    have, dtype = series.tolist(), empty(wanted).dtype
    low, high = dtypes.limits(dtype)
    if found in FLOATS:
        _, most = dtypes.limits(series.dtype)  # whole floats beyond may have been rounded
        low, high = max(low, -most), min(high, most)
    same = found == wanted or {found, wanted} <= set(FLOATS)
    if same or all(low <= v <= high and (wanted in FLOATS or v == int(v)) for v in have):
        made = dtypes.exactly(series, dtype)
        assert made.dtype == dtype
        assert made.tolist() == have
    else:
        with pytest.raises(dtypes.Inexact):
            dtypes.exactly(series, dtype)


# A partition's dtype is not the one that Dask's metadata announces.

READS = {
    "components": lambda first, rest: gf.connected_components(mixed(first, rest), **ENDS),
    "thresholds": lambda first, rest: gf.connected_components(
        mixed(first.assign(w=1.0), rest.assign(w=1.0)), **ENDS, weight="w", thresholds=[0.5, 2]
    ),
    "a graph": lambda first, rest: gf.Graph(mixed(first, rest), **ENDS, shards=1).degrees(),
    "two shards": lambda first, rest: gf.Graph(mixed(first, rest), **ENDS, shards=2).degrees(),
    "vertices": lambda first, rest: gf.connected_components(
        first, **ENDS, vertices=mixed(first[["a"]], rest[["a"]])
    ),
    "seed": lambda first, rest: gf.connected_components(
        first,
        **ENDS,
        seed=mixed(*(p.set_axis(["vertex", "component"], axis=1) for p in (first, rest))),
    ),
}

DAYS = ["2020-01-01", "2020-01-02"]
EXACT = [
    ("int32", [1, 2], "int64", [5, -7]),
    ("int64", [1, 2], "int8", [5, -7]),
    ("uint8", [1, 2], "int64", [0, 255]),
    ("uint64", [1, 2**64 - 1], "int32", [5, 7]),
    ("int64", [1, 2], "Int64", [5, 2**63 - 1]),
    ("Int64", [1, 2], "int32", [5, 7]),
    ("int32", [1, 2], "float64", [5.0, -7.0]),
    ("int64", [1, 2], "float64", [2.0**53, 5.0]),
    ("int64", [1, 2], "float64", []),
    ("str", ["x", "y"], object, ["z", "x"]),
    ("int64", [1, 2], "category", [5, 7]),
    ("datetime64[ns]", DAYS, "datetime64[s]", ["2020-01-03"]),
    ("datetime64[s]", DAYS, "datetime64[ns]", ["2020-01-03 00:00:07"]),
]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize(("announced", "first", "found", "rest"), EXACT)
def test_a_partition_of_another_dtype_is_read_exactly(read, announced, first, found, rest):
    first, rest = loops(first, announced), loops(rest, found)
    result = READS[read](first, rest)
    labels = result.compute()
    wanted = sorted({*first["a"].tolist(), *rest["a"].astype(first["a"].dtype).tolist()})
    assert labels["vertex"].tolist() == wanted
    assert is_as_announced(labels, result)


UNFIT = [
    ("int32", [1, 2], "int64", [5, 2**40 + 7], "int64 .* 1099511627783, .* int32"),
    ("uint8", [1, 2], "int64", [5, -1], "int64 .* -1, .* uint8"),
    ("int64", [1, 2], "uint64", [5, 2**64 - 1], "uint64 .* 18446744073709551615, .* int64"),
    ("int32", [1, 2], "float64", [5.0, 1.5], r"float64 .* 1\.5, .* int32"),
    ("int64", [1, 2], "float64", [5.0, 2.0**60], "float64 .* int64.*Read the column as Int64"),
    ("int64", [1, 2], "float64", [5.0, np.inf], "float64 .* inf"),
    ("int64", [1, 2], "bool", [True], "bool .* int64"),
    ("int64", [1, 2], "str", ["x"], "(str|string|object) .* int64"),
    ("str", ["x", "y"], "int64", [1], "int64 .* (str|string|object)"),
    ("datetime64[s]", DAYS, "datetime64[ns]", ["2020-01-01 00:00:00.25"], r"\[ns\] .* \[s\]"),
    ("datetime64[ns]", DAYS, "datetime64[s]", ["3000-01-01"], r"\[s\] .*3000.*ns.*leave them out"),
    ("datetime64[ns]", DAYS, "datetime64[ns, UTC]", DAYS, "UTC.*a time zone .* or none"),
]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize(("announced", "first", "found", "rest", "message"), UNFIT)
def test_a_partition_whose_ids_do_not_fit_is_named(read, announced, first, found, rest, message):
    if "UTC" in found:
        rest = pd.to_datetime(pd.Series(rest)).dt.tz_localize("UTC").dt.as_unit("ns")
        found = rest.dtype
    result = READS[read](loops(first, announced), loops(rest, found))
    where = "vertices|seed|edges" if read in ("vertices", "seed") else "edges"
    with pytest.raises(VertexTypeError, match=f"in partition 1 of ({where})") as raised:
        result.compute()
    assert re.search(message.replace(r"\[", r".*\["), str(raised.value))


@pytest.mark.parametrize(("announced", "first", "found", "rest", "message"), UNFIT)
def test_the_advice_for_ids_that_do_not_fit_works(announced, first, found, rest, message):
    if "for example" not in message and re.search("Read|leave|time zone|inf", message):
        pytest.skip("the message says what to do, without an example")
    edges = mixed(loops(first, announced), loops(rest, found))
    with pytest.raises(VertexTypeError) as raised:
        connected_components(edges, **ENDS).compute()
    edges = advised(raised.value, edges=edges)
    result = connected_components(edges, **ENDS)
    labels = result.compute()
    whole = [value for value in rest if value != 1.5]
    assert len(labels) == len(first) + len(whole)
    assert is_as_announced(labels, result)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("read", ["components", "a graph", "two shards"])
def test_an_integer_column_with_nulls_is_read_as_one(read):
    """pandas makes a column of floats, or of objects if the column has only nulls."""
    first = frame([(1, 2)], "int64")
    for values in ([np.nan, 5.0], [None, None]):
        rest = pd.DataFrame({"a": values, "b": [6.0, 7.0]})
        with pytest.raises(NullVertexError, match="'a' has"):
            READS[read](first, rest).compute()
        edges = mixed(first, rest)
        labels = gf.connected_components(edges, **ENDS, dropna=True).compute()
        assert labels["vertex"].tolist() == [1, 2] + [5, 7] * (values[1] is not None)


def test_parquet_files_that_do_not_agree(tmp_path):
    """As written by a program whose ids grow and later have nulls."""
    frame([(1, 2)], "int32").to_parquet(tmp_path / "0.parquet")
    frame([(3, 5)], "int64").to_parquet(tmp_path / "1.parquet")
    frame([(5.0, 6.0)], "float64").to_parquet(tmp_path / "2.parquet")
    edges = dd.read_parquet(tmp_path)
    assert edges.dtypes.tolist() == ["int32", "int32"]
    expected = {1: 1, 2: 1, 3: 3, 5: 3, 6: 3}
    assert as_dict(connected_components(edges, **ENDS).compute()) == expected
    assert Graph(edges, **ENDS).num_vertices == 5
    frame([(3, 2**40 + 7)], "int64").to_parquet(tmp_path / "1.parquet")
    edges = dd.read_parquet(tmp_path)
    for ask in (
        lambda edges: connected_components(edges, **ENDS),
        lambda edges: Graph(edges, **ENDS).degrees(),
    ):
        with pytest.raises(VertexTypeError, match=r"'b' .* 1099511627783") as raised:
            ask(edges).compute()
        found = ask(advised(raised.value, edges=edges)).compute()
        assert found["vertex"].tolist() == [1, 2, 3, 5, 6, 2**40 + 7]
    frame([(5.0, 6.5)], "float64").to_parquet(tmp_path / "1.parquet")
    edges = dd.read_parquet(tmp_path)
    with pytest.raises(VertexTypeError, match=r"'b' .*6\.5") as raised:
        connected_components(edges, **ENDS).compute()
    labels = connected_components(advised(raised.value, edges=edges), **ENDS).compute()
    assert labels["vertex"].tolist() == [1, 2, 5, 6]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("persisted", [False, True])
@pytest.mark.parametrize("read", ["components", "a graph", "two shards"])
def test_a_partition_that_lacks_a_column_is_named(read, persisted):
    whole = frame([(1, 2)]).assign(c=1)
    edges = mixed(whole, whole, whole.drop(columns="b"))
    edges = edges.persist() if persisted else edges
    if read == "components":
        result = gf.connected_components(edges, **ENDS)
    else:
        result = gf.Graph(edges, **ENDS, shards=1 + (read == "two shards")).degrees()
    with pytest.raises(UnknownColumnError, match=r"partition 2.* lacks column 'b'.* 'a', 'c'"):
        result.compute()


# Weights


def heavier(announced, weights, found, more):
    """Return edges 0 -> 1 -> ... with the weights of two partitions of different dtypes."""
    weights, more = pd.Series(weights, dtype=announced), pd.Series(more, dtype=found)
    ends = pd.DataFrame({"a": range(len(weights) + len(more))}).assign(b=lambda df: df["a"] + 1)
    cut = len(weights)
    parts = ends.iloc[:cut].assign(w=weights), ends.iloc[cut:].reset_index(drop=True).assign(w=more)
    return mixed(*parts)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(
    ("announced", "weights", "found", "more", "shards"),
    [
        ("int64", [1, 2], "float64", [3.0, 4.0], 2),
        ("float64", [1.5, 2.0], "int64", [3, 2**53], 1),
        ("float64", [1.5, 2.0], "Float64", [3.5, 4.0], 2),
        ("float64", [1.5, 2.0], "bool", [True, True], 1),
    ],
)
def test_weights_of_another_dtype_are_read_exactly(announced, weights, found, more, shards):
    edges = heavier(announced, weights, found, more)
    g = gf.Graph(edges, **ENDS, weight="w", shards=shards)
    wanted = np.cumsum([0, *weights, *map(float, more)]).tolist()
    assert g.sssp(sources=[0]).compute()["distance"].tolist() == wanted


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize(
    ("announced", "weights", "found", "more", "message"),
    [
        ("int64", [1, 2], "float64", [3.0, 4.5], r"float64 in partition 1 .* 4\.5, .* int64"),
        ("int32", [1, 2], "int64", [3, 2**40], "int64 in partition 1 .* 1099511627776, .* int32"),
        (
            "float64",
            [1.5],
            "int64",
            [2**53 + 1],
            "int64 in partition 1 .*9007199254740993.*float64",
        ),
        ("float32", [1.5], "float64", [0.1], r"float64 in partition 1 .* 0\.1, .* float32"),
        ("float64", [1.5], "str", ["2.5"], r"\w+ in partition 1 of edges, .* float64"),
    ],
)
def test_weights_that_do_not_fit_are_named(shards, announced, weights, found, more, message):
    edges = heavier(announced, weights, found, more)
    with pytest.raises(WeightError, match=message) as raised:
        gf.Graph(edges, **ENDS, weight="w", shards=shards).degrees().compute()
    edges = advised(raised.value, edges=edges)
    g = gf.Graph(edges, **ENDS, weight="w", shards=shards)
    assert g.sssp(sources=[0]).compute()["distance"].max() == sum(map(float, [*weights, *more]))


@pytest.mark.usefixtures("backend")
def test_a_partition_of_weights_that_are_missing_or_text():
    edges = heavier("float64", [1.5, 2.0], object, [None, None])
    labels = gf.connected_components(edges, **ENDS, weight="w", threshold=1.0).compute()
    assert as_dict(labels) == {0: 0, 1: 0, 2: 0, 3: 3, 4: 4}
    with pytest.raises(WeightError, match="2 nulls"):
        gf.Graph(edges, **ENDS, weight="w").degrees().compute()
    edges = heavier("float64", [1.5, 2.0], "str", ["0.5", "3"])
    with pytest.raises(WeightError, match="in partition 1 of edges") as raised:
        gf.connected_components(edges, **ENDS, weight="w", threshold=1.0).compute()
    edges = advised(raised.value, edges=edges)
    labels = gf.connected_components(edges, **ENDS, weight="w", threshold=1.0).compute()
    assert as_dict(labels) == {0: 0, 1: 0, 2: 0, 3: 3, 4: 3}


# Types of both ends, of vertices=, of seed= and of sources=


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


# Columns that are named in the wrong way


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


# Every type


def arrow(values, kind):
    return pd.Series(pd.array(values, dtype=pd.ArrowDtype(kind)))


DATES = [datetime.date(2020, 1, day) for day in (1, 2, 3, 4)]
DECIMALS = [decimal.Decimal(value) for value in ("0.1", "0.25", "7", "100")]
BYTES = [b"a", b"b", b"c", b"d"]
TEXT = list("abcd")
MOMENTS = [datetime.datetime(2020, 1, day, 7) for day in (1, 2, 3, 4)]
LENGTHS = [datetime.timedelta(hours=hours) for hours in (1, 2, 3, 4)]
OBJECTS = {
    "uuid.UUID": [uuid.UUID(int=i) for i in range(4)],
    "datetime.date": DATES,
    "decimal.Decimal": DECIMALS,
    "tuple": [(i, i) for i in range(4)],
    "mixed": ["1", 1, 2, "2"],
    "int above 64 bits": [2**70 + i for i in range(4)],
    "bytes": BYTES,
}

# By the names in docs/howto/ids.md; four ids of each type, in ascending order.
WORKING = {
    **{
        name: pd.Series([1, 2, 100, 127], dtype=name)
        for name in ("int8", "uint16", "int64", "Int64", "UInt8", "int32[pyarrow]")
    },
    "uint64": pd.Series([1, 2**63 - 1, 2**63, 2**64 - 1], dtype="uint64"),
    "UInt64": pd.Series([1, 2**63 - 1, 2**63, 2**64 - 1], dtype="UInt64"),
    **{
        name: pd.Series(TEXT, dtype=name) for name in ("str", "string", "string[pyarrow]", "object")
    },
    "large_string[pyarrow]": arrow(TEXT, pa.large_string()),
    "category": pd.Series(TEXT, dtype="category"),
    "dictionary[pyarrow]": arrow(TEXT, pa.dictionary(pa.int32(), pa.string())),
    "Sparse[int64]": pd.Series(pd.arrays.SparseArray([0, 1, 2, 3])),
    "datetime64": pd.Series(MOMENTS),
    "datetime64 with a time zone": pd.Series(MOMENTS).dt.tz_localize("UTC"),
    "timestamp[pyarrow]": arrow(MOMENTS, pa.timestamp("us")),
    "timedelta64": pd.Series(LENGTHS),
    "duration[pyarrow]": arrow(LENGTHS, pa.duration("us")),
    "period": pd.Series(pd.period_range("2020-01", periods=4, freq="M")),
    "date32[pyarrow]": arrow(DATES, pa.date32()),
    "time64[pyarrow]": arrow([datetime.time(hour) for hour in range(4)], pa.time64("us")),
    "decimal128[pyarrow]": arrow(DECIMALS, pa.decimal128(10, 2)),
    "binary[pyarrow]": arrow(BYTES, pa.binary()),
}
REFUSED = {
    "float64": pd.Series([1.0, 2.0, 3.0, 4.0]),
    "Float64": pd.Series([1.0, 2.0, 3.0, 4.0], dtype="Float64"),
    "complex128": pd.Series([1j, 2, 3, 4]),
    "interval": pd.Series(pd.interval_range(0, 4)),
    "list[pyarrow]": arrow([[i] for i in range(4)], pa.list_(pa.int64())),
    "struct[pyarrow]": arrow([{"x": i} for i in range(4)], pa.struct({"x": pa.int64()})),
    "map[pyarrow]": arrow([[("x", i)] for i in range(4)], pa.map_(pa.string(), pa.int64())),
    "string_view[pyarrow]": arrow(TEXT, pa.string_view()),
    "binary_view[pyarrow]": arrow(BYTES, pa.binary_view()),
    **{name: pd.Series(values, dtype=object) for name, values in OBJECTS.items()},
    "category of mixed": pd.Series(pd.Categorical(["1", 1, 2, "2"])),
}
TYPES = WORKING | REFUSED


def ends_of(ids):
    """Return edges from the second of four ids to the first, and from the last to the third."""
    low, second, third, high = ids.tolist()
    return pd.DataFrame(
        {
            "a": pd.Series([second, high], dtype=ids.dtype),
            "b": pd.Series([low, third], dtype=ids.dtype),
        }
    )


@pytest.mark.parametrize("name", WORKING)
def test_types_that_are_ids(name):
    ids, edges = WORKING[name], ends_of(WORKING[name])
    values = ids.tolist()
    expected = dict(zip(values, [values[0], values[0], values[2], values[2]], strict=True))
    weighted = edges.assign(w=[1.0, 2.0])
    earlier = connected_components(edges, **ENDS).compute()
    for result in (
        connected_components(edges, **ENDS),
        connected_components(partitioned(edges, 2), **ENDS),
        connected_components(edges, **ENDS, vertices=ids),
        connected_components(edges.iloc[:1], **ENDS, seed=earlier),
    ):
        labels = result.compute()
        assert as_dict(labels) == expected
        assert is_as_announced(labels, result)
    result = connected_components(weighted, **ENDS, weight="w", thresholds=[1, 2])
    labels = result.compute()
    assert labels["component_1"].tolist() == list(expected.values())
    assert labels["component_2"].tolist() == [*values[:2], values[2], values[2]]
    for sources in ([values[1]], ids[1:2], edges[["a"]][:1], values[1]):
        result = Graph(partitioned(edges, 2), **ENDS, shards=2).bfs(sources)
        found = result.compute()
        assert found["vertex"].tolist() == values[:2]
        assert found["predecessor"][0] == values[1]
        assert is_as_announced(found, result)
    two = connected_components(
        edges.assign(k=[1, 2]), source=["a", "k"], target=["b", "k"]
    ).compute()
    assert two["vertex_0"].tolist() == values


@pytest.mark.parametrize("name", REFUSED)
def test_types_that_are_not_ids(name):
    ids = REFUSED[name]
    edges, plain = ends_of(ids), frame([(1, 2)])
    for ask in (
        lambda: connected_components(edges, **ENDS),
        lambda: connected_components(edges.assign(k=1), source=["k", "a"], target=["k", "b"]),
        lambda: Graph(edges, **ENDS),
        lambda: connected_components(plain, **ENDS, vertices=ids),
        lambda: connected_components(
            plain, **ENDS, seed=edges.set_axis(["vertex", "component"], axis=1)
        ),
    ):
        with pytest.raises(VertexTypeError, match="ids are integers, strings,"):
            ask()
    with pytest.raises((VertexTypeError, UnknownVertexError)):
        gf.bfs(plain, **ENDS, sources=ids)


@pytest.mark.parametrize("name", REFUSED)
def test_the_advice_for_types_that_are_not_ids_works(name):
    edges = ends_of(REFUSED[name])
    for column in ("a", "b"):
        with pytest.raises(VertexTypeError) as raised:
            connected_components(edges, source=column, target=column)
        if "float" in name.lower():
            advice = re.search(r"edges\.astype\(.*\)", str(raised.value))[0]
            edges = eval(advice, {"edges": edges})
        else:
            edges = advised(raised.value, edges=edges)
    # As text, 1 and "1" are one id.
    assert len(connected_components(edges, **ENDS).compute()) == (2 if "mixed" in name else 4)


def test_the_table_of_the_documentation_is_true():
    page = pathlib.Path(__file__).parent.parent / "docs" / "howto" / "ids.md"
    (table,) = re.findall(
        r"^\| column of .*\n\|[-|]+\|\n((?:\|.*\n)+)", page.read_text(), re.MULTILINE
    )
    found = {"yes": set(), "no": set()}
    for row in table.splitlines():
        _, examples, works, _, _ = row.strip("|").split("|") + [""] * (
            5 - row.strip("|").count("|") - 1
        )
        found[works.strip()].update(re.findall(r"`([^`]+)`", examples))
    assert found == {"yes": set(WORKING), "no": set(REFUSED)}


# Weights of every type

NUMBERS = {
    **{name: pd.Series([1, 2], dtype=name) for name in ("int64", "uint64", "Int64", "float64")},
    **{name: pd.Series([1, 2], dtype=name) for name in ("int64[pyarrow]", "double[pyarrow]")},
    "sparse": pd.Series(pd.arrays.SparseArray([1.0, 2.0])),
    "category": pd.Series([1, 2], dtype="category"),
    "dictionary": arrow([1, 2], pa.dictionary(pa.int32(), pa.int64())),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_types_that_are_weights(name):
    edges = frame([(0, 1), (1, 2)]).assign(w=NUMBERS[name].array)
    for given in (edges, partitioned(edges, 2)):
        labels = connected_components(given, **ENDS, weight="w", threshold=2).compute()
        assert as_dict(labels) == {0: 0, 1: 1, 2: 1}
        found = Graph(given, **ENDS, weight="w").sssp([0]).compute()
        assert found["distance"].tolist() == [0, 1, 3]


@pytest.mark.parametrize(
    "name",
    [name for name in TYPES if not re.search("int|Int|float|Float|Sparse", name)]
    + ["interval", "complex128"],
)
def test_types_that_are_not_weights(name):
    edges = frame([(0, 1), (1, 2), (2, 3), (3, 4)]).assign(w=TYPES[name].array)
    for ask in (
        lambda: connected_components(edges, **ENDS, weight="w", threshold=1),
        lambda: Graph(edges, **ENDS, weight="w"),
    ):
        with pytest.raises(WeightError, match="a weight is a real number") as raised:
            ask()
    if "decimal128" in name:
        edges = eval(re.search(r"edges\.astype\(.*?\)", str(raised.value))[0], {"edges": edges})
        labels = connected_components(edges, **ENDS, weight="w", threshold=7).compute()
        assert as_dict(labels) == {0: 0, 1: 1, 2: 2, 3: 2, 4: 2}


@pytest.mark.parametrize(
    "values", [[1, 2, 300], [True, False], ["x", "y"], MOMENTS[:2], [2**53 + 1, 2]], ids=str
)
def test_nulls_in_a_categorical_column_are_nulls(values):
    ids = pd.Series(pd.Categorical([values[1], values[0], None]))
    edges = pd.DataFrame({"a": ids, "b": ids})
    with pytest.raises(NullVertexError, match="1 null"):
        connected_components(edges, **ENDS).compute()
    found = connected_components(edges, **ENDS, dropna=True).compute()
    assert found["vertex"].tolist() == sorted(values[:2])


@pytest.mark.parametrize("name", WORKING)
def test_without_edges_the_result_has_the_announced_types(name):
    edges = partitioned(ends_of(WORKING[name]).iloc[:0].assign(w=1.0), 3)
    result = connected_components(edges, **ENDS, weight="w", thresholds=[1, 2])
    found = result.compute()
    assert len(found) == 0
    assert is_as_announced(found, result)


def test_the_smallest_integers_are_ids():
    least = -(2**63)
    edges = frame([(least, least + 2**20), (least + 7, least)])
    assert set(as_dict(connected_components(edges, **ENDS).compute()).values()) == {least}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "uint8"])
def test_equal_integers_get_the_same_number(monkeypatch, rng, dtype, threads):
    monkeypatch.setattr(renumber, "MANY", 0)
    monkeypatch.setattr(host_distinct, "PART", 300)
    monkeypatch.setattr(host_distinct, "ROUND", 3000)
    limits = np.iinfo(dtype)
    for size, most in ((0, 1), (1, 1), (3000, 2), (3000, limits.max), (20_000, 5000)):
        values = rng.integers(limits.min, limits.max, size, dtype, endpoint=True) % min(
            most, limits.max
        )
        values[: size // 9] = limits.max
        values[: size // 18] = limits.min
        codes, found = renumber.distinct(pd.DataFrame({"id": values}), threads=threads)
        assert found.id.dtype == dtype
        assert found.id.is_unique
        np.testing.assert_array_equal(found.id.to_numpy()[codes], values)
        alone, _ = host_distinct.distinct(values.astype("int64"), threads=1)
        np.testing.assert_array_equal(codes, alone)


def test_results_of_many_ids_that_are_far_apart(monkeypatch, rng):
    edges = pd.DataFrame(rng.integers(0, 300, (2000, 2)), columns=["a", "b"])
    far = edges * 10**12 - 10**14
    graphs = gf.Graph(edges, **ENDS), gf.Graph(far, **ENDS)
    monkeypatch.setattr(renumber, "MANY", 0)
    near, there = (graph.pagerank().compute() for graph in graphs)
    assert there.pagerank.tolist() == near.pagerank.tolist()
    assert there.vertex.tolist() == (near.vertex * 10**12 - 10**14).tolist()
