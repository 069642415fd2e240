"""Every type of ids and weights works or is refused, as the documentation says."""

from __future__ import annotations

import datetime
import decimal
import pathlib
import re
import uuid

import pandas as pd
import pyarrow as pa
import pytest
from conftest import ENDS, as_dict, frame, is_as_announced, partitioned

import dask_graphflow as gf
from dask_graphflow import Graph, connected_components
from dask_graphflow.exceptions import (
    NullVertexError,
    UnknownVertexError,
    VertexTypeError,
    WeightError,
)

pytestmark = pytest.mark.usefixtures("one_thread")


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
    **(
        {"decimal64[pyarrow]": arrow(DECIMALS, pa.decimal64(10, 2))}
        if hasattr(pa, "decimal64")
        else {}
    ),
    "binary[pyarrow]": arrow(BYTES, pa.binary()),
    ">i8": pd.Series([1, 2, 100, 127], dtype=">i8"),
}
try:
    pd.DataFrame({"a": WORKING[">i8"], "b": WORKING[">i8"]})[["a", "b"]]
except ValueError:  # pandas 2.0, and so Dask, cannot select columns of another byte order
    del WORKING[">i8"]
LACKING = {"decimal64[pyarrow]", ">i8"} - set(WORKING)  # what this pandas or PyArrow does not have
REFUSED = {
    "float64": pd.Series([1.0, 2.0, 3.0, 4.0]),
    "Float64": pd.Series([1.0, 2.0, 3.0, 4.0], dtype="Float64"),
    "complex128": pd.Series([1j, 2, 3, 4]),
    "interval": pd.Series(pd.interval_range(0, 4)),
    "list[pyarrow]": arrow([[i] for i in range(4)], pa.list_(pa.int64())),
    "struct[pyarrow]": arrow([{"x": i} for i in range(4)], pa.struct({"x": pa.int64()})),
    "map[pyarrow]": arrow([[("x", i)] for i in range(4)], pa.map_(pa.string(), pa.int64())),
    **{name: pd.Series(values, dtype=object) for name, values in OBJECTS.items()},
    "category of mixed": pd.Series(pd.Categorical(["1", 1, 2, "2"])),
}
TYPES = WORKING | REFUSED
# They work as well, in test_id_table.py, which also follows the advice of each error. But Dask cannot
# hold views, and pandas cannot look for UUIDs.
ELSEWHERE = {"string_view[pyarrow]", "binary_view[pyarrow]", "uuid[pyarrow]"}


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


def test_the_table_of_the_documentation_is_true():
    page = pathlib.Path(__file__).parents[2] / "docs" / "howto" / "ids.md"
    (table,) = re.findall(
        r"^\| column of .*\n\|[-|]+\|\n((?:\|.*\n)+)", page.read_text(), re.MULTILINE
    )
    found = {"yes": set(), "no": set()}
    for row in table.splitlines():
        _, examples, works, _, _ = row.strip("|").split("|") + [""] * (
            5 - row.strip("|").count("|") - 1
        )
        found[works.strip()].update(re.findall(r"`([^`]+)`", examples))
    assert found == {"yes": set(WORKING) | LACKING | ELSEWHERE, "no": set(REFUSED)}


NUMBERS = {
    **{name: pd.Series([1, 2], dtype=name) for name in ("int64", "uint64", "Int64", "float64")},
    **{name: pd.Series([1, 2], dtype=name) for name in ("int64[pyarrow]", "double[pyarrow]")},
    "sparse": pd.Series(pd.arrays.SparseArray([1.0, 2.0])),
    "category": pd.Series([1, 2], dtype="category"),
    "dictionary": arrow([1, 2], pa.dictionary(pa.int32(), pa.int64())),
    "decimal": arrow([decimal.Decimal(1), decimal.Decimal(2)], pa.decimal128(10, 1)),
    "whole decimal": arrow(
        [decimal.Decimal(1), decimal.Decimal(2)], getattr(pa, "decimal64", pa.decimal128)(10, 0)
    ),
    **({} if ">i8" in LACKING else {">f8": pd.Series([1, 2], dtype=">f8")}),
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
    [name for name in TYPES if not re.search("int|Int|float|Float|Sparse|decimal|>i8", name)]
    + ["interval", "complex128"],
)
def test_types_that_are_not_weights(name):
    edges = frame([(0, 1), (1, 2), (2, 3), (3, 4)]).assign(w=TYPES[name].array)
    for ask in (
        lambda: connected_components(edges, **ENDS, weight="w", threshold=1),
        lambda: Graph(edges, **ENDS, weight="w"),
    ):
        with pytest.raises(WeightError, match="a weight is a real number"):
            ask()


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


def test_a_decimal_weight_is_the_nearest_float():
    values = [
        decimal.Decimal(text) for text in ("0.1", "0.30000000000000004", "0.00000000000000123")
    ]
    weights = arrow(values, pa.decimal128(38, 20))
    edges = frame([(0, 1), (0, 2), (0, 3)]).assign(w=weights.array)
    found = Graph(edges, **ENDS, weight="w").sssp([0]).compute()
    assert found["distance"].tolist() == [0.0, *map(float, values)]


def test_whole_decimal_weights_are_integers_of_64_bits():
    edges = frame([(0, 1)]).assign(w=arrow([decimal.Decimal(2**70)], pa.decimal128(38, 0)).array)
    with pytest.raises(
        WeightError, match=r"holds .*1180591620717411303424.*at most 64 bits"
    ) as raised:
        Graph(edges, **ENDS, weight="w").sssp([0]).compute()
    floats = eval(re.search(r"edges\.astype\(.*\)", str(raised.value))[0], {"edges": edges})
    assert Graph(floats, **ENDS, weight="w").sssp([0]).compute()["distance"].tolist() == [
        0,
        2.0**70,
    ]


def decimals(values, digits, scale):
    return arrow([decimal.Decimal(value) for value in values], pa.decimal128(digits, scale))


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        (pd.Series([1, 2]), decimals([2, 3], 5, 0), "decimal128(19, 0)[pyarrow]"),
        (decimals(["1", "2.0"], 5, 1), decimals(["2.00", "3"], 5, 2), "decimal128(6, 2)[pyarrow]"),
        (pd.Series([1, 2], dtype="uint64"), decimals([2, 3], 38, 0), "decimal128(38, 0)[pyarrow]"),
        (decimals([1, 2], 38, 0), decimals([2, 3], 38, 20), "decimal256(58, 20)[pyarrow]"),
        (arrow([datetime.time(1), datetime.time(2)], pa.time32("s")),
         arrow([datetime.time(2), datetime.time(3)], pa.time64("us")), "time64[us][pyarrow]"),
        (arrow([b"a", b"bb"], pa.binary()), arrow([b"bb", b"cc"], pa.binary(2)),
         "large_binary[pyarrow]"),
    ],
    ids=lambda one: str(getattr(one, "dtype", one)),
)  # fmt: skip
def test_both_ends_are_read_in_a_type_that_holds_both(left, right, common):
    edges = pd.DataFrame({"a": left, "b": right})
    graph = Graph(edges, **ENDS).persist()
    found = graph.connected_components().compute()
    assert str(found["vertex"].dtype) == common
    assert found["vertex"].tolist() == [*left.tolist(), right.tolist()[1]]
    for sources in (left[:1], found["vertex"][:1], left.tolist()[:1]):
        assert graph.bfs(sources).compute()["distance"].tolist() == [0, 1, 2]
