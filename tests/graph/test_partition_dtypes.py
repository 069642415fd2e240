"""A partition whose dtype is not the announced one is read exactly, in every place, or refused."""

from __future__ import annotations

import re

import dask.dataframe as dd
import hypothesis
import numpy as np
import pandas as pd
import pytest
from columns import DAYS, advised, loops
from conftest import ENDS, as_dict, frame, is_as_announced
from dask.dataframe.utils import UNKNOWN_CATEGORIES
from hypothesis import strategies as st

import dask_graphflow as gf
from dask_graphflow import Graph, connected_components
from dask_graphflow.exceptions import (
    NullVertexError,
    UnknownColumnError,
    VertexTypeError,
    WeightError,
)
from dask_graphflow.graph import dtypes, frames

pytestmark = pytest.mark.usefixtures("one_thread")


def mixed(*parts):
    """Return a Dask DataFrame of these partitions, with the metadata of the first one."""
    return dd.from_map(_part, range(len(parts)), args=[parts], meta=parts[0].iloc[:0])


def _part(i, parts):
    return parts[i]


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


def in_places(cases):
    """Return each case with two of the places; slow tests have it with all of them."""
    return [
        pytest.param(read, *case, marks=[] if (i + j) % 3 == 0 else [pytest.mark.slow])
        for i, read in enumerate(READS)
        for j, case in enumerate(cases)
    ]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(("read", "announced", "first", "found", "rest"), in_places(EXACT))
def test_a_partition_of_another_dtype_is_read_exactly(read, announced, first, found, rest):
    first, rest = loops(first, announced), loops(rest, found)
    result = READS[read](first, rest)
    labels = result.compute()
    wanted = sorted({*first["a"].tolist(), *rest["a"].astype(first["a"].dtype).tolist()})
    assert labels["vertex"].tolist() == wanted
    assert is_as_announced(labels, result)


FAR = np.array(["3000-01-01"], "datetime64[s]")  # pandas 2 cannot parse such a date
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
    ("datetime64[ns]", DAYS, "datetime64[s]", FAR, r"\[s\] .*3000.*ns.*leave them out"),
    ("datetime64[ns]", DAYS, "datetime64[ns, UTC]", DAYS, "UTC.*a time zone .* or none"),
]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(
    ("read", "announced", "first", "found", "rest", "message"), in_places(UNFIT)
)
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


def test_unknown_categories_are_marked_as_dask_marks_them():
    assert dtypes.UNKNOWN_CATEGORIES == UNKNOWN_CATEGORIES


def test_stacked_categoricals_have_the_categories_of_all_frames():
    parts = [pd.DataFrame({"a": pd.Categorical(list(text))}) for text in ("ab", "cb")]
    stacked = frames.stack(parts)
    assert stacked.a.tolist() == list("abcb")
    assert stacked.a.cat.categories.tolist() == list("abc")
