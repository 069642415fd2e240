"""Ids are found among sorted ids by binary search: the same rows that a dict of Python finds."""

from __future__ import annotations

import datetime
import uuid

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_graphflow as gf
from dask_graphflow.exceptions import UnknownVertexError
from dask_graphflow.graph import renumber
from dask_graphflow.graph.search_ids import FEW, SHARE, merge_ids, search_ids

DAY = datetime.date(1960, 1, 1)
TEXTS = ["", "\0", "a", "a\0", "ab", "abc", "b", "ba", "zz", "é", "éa", "€", "\U0001f600", "\uffff"]


def arrow(values, kind):
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, kind)))


# Text as Dask stores it; before version 3, "str" of pandas is objects.
TEXT = "string[pyarrow]" if pd.Series([""], dtype="str").dtype == object else "str"
COLUMNS = {
    "text": pd.Series(TEXTS, dtype=TEXT),
    "short offsets": arrow(TEXTS, pa.string()),
    "bytes": arrow([text.encode() for text in TEXTS], pa.binary()),
    "long bytes": arrow([text.encode() for text in TEXTS], pa.large_binary()),
    "bytes of one length": arrow([bytes([i, 255 - i]) for i in range(100)], pa.binary(2)),
    "int64": pd.Series([-(2**63), -5, 0, 7, 10**15, 2**63 - 1]),
    "uint64": pd.Series([0, 5, 2**63 - 1, 2**63, 2**64 - 1], dtype="uint64"),
    "int8": pd.Series(range(-128, 128, 3), dtype="int8"),
    "nullable": pd.Series([-7, 2**60, 2**60 + 1], dtype="Int64"),
    "integers of Arrow": arrow([-(2**40), 0, 2**62, 2**62 + 1], pa.int64()),
    "datetimes": pd.Series(pd.date_range("1960", periods=50, freq="400D")),
    "time zone": pd.Series(pd.date_range("1960", periods=50, freq="400D", tz="Asia/Tokyo")),
    "periods": pd.Series(pd.period_range("1960", periods=50, freq="Q")),
    "durations": pd.Series(pd.to_timedelta([-5, 0, 3, 10**6], unit="s")),
    "dates": arrow([DAY + datetime.timedelta(700 * i) for i in range(30)], pa.date32()),
    "times": arrow([datetime.time(hour) for hour in range(24)], pa.time64("us")),
    "moments": arrow([datetime.datetime(1900 + i, 1, 1) for i in range(99)], pa.timestamp("ms")),
}
if hasattr(pa, "uuid"):
    COLUMNS["UUIDs"] = arrow([uuid.UUID(int=i << 100 | i).bytes for i in range(40)], pa.uuid())


def rows_of(among, ids):
    """Return the row of each id, or -1, by a dict."""
    rows = {key: row for row, key in enumerate(among.itertuples(index=False))}
    return [rows.get(key, -1) for key in ids.itertuples(index=False)]


@pytest.fixture(params=[pytest.param(column, id=name) for name, column in COLUMNS.items()])
def column(request):
    return request.param


def check(every, width):
    """Search all ids among every second one, and among a slice of these, in an order with repetitions."""
    ordered, _ = renumber.sort(every)
    among = ordered.iloc[1::2].reset_index(drop=True)
    ids = ordered.sample(2 * len(ordered), replace=True, random_state=width).reset_index(drop=True)
    cut = among.iloc[1:-1]
    for some in (among, cut, cut.reset_index(drop=True), among.iloc[:0]):
        found = search_ids(some, ids)
        assert found.dtype == np.int64
        assert found.tolist() == rows_of(some, ids)
    rows = search_ids(among, ids)
    assert rows.min() < 0 <= rows.max()


def test_rows_of_one_column(column):
    check(pd.DataFrame({"vertex": column}), 1)


def test_rows_of_two_columns_with_repeated_parts(column):
    texts = pd.DataFrame({"b": pd.Series(["x", "", "y"], dtype=TEXT)})
    frame = column.to_frame("a")
    check(frame.merge(texts, how="cross"), 2)
    check(texts.merge(frame, how="cross"), 2)


@pytest.mark.parametrize(
    "column",
    [
        arrow([None, 1, 3], pa.decimal128(20, 2)).dropna(),
        pd.Series(["a", "b"], dtype=object),
        pd.Series([False, True]),
        arrow(["a", None], pa.string()),
    ],
    ids=["decimals", "objects", "bools", "nulls"],
)
def test_other_columns_need_a_join(column):
    frame = pd.DataFrame({"vertex": column.reset_index(drop=True)})
    assert search_ids(frame, frame) is None


def test_times_of_another_unit_need_a_join():
    among = pd.DataFrame({"vertex": COLUMNS["time zone"].dt.as_unit("us")})
    assert search_ids(among, among.astype(COLUMNS["time zone"].dt.as_unit("ms").dtype)) is None


def test_many_ids_need_a_join():
    among = pd.DataFrame({"vertex": np.arange(SHARE * FEW + SHARE)})
    assert search_ids(among, among.iloc[: FEW + 1]) is not None
    assert search_ids(among, among.iloc[: FEW + 2]) is None


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("width", [1, 2])
def test_calls_with_a_few_ids_hash_none_of_the_others(shards, width, monkeypatch):
    names = [f"v{i:02}" for i in range(40)]
    ends = {"a": names[:-1], "b": names[1:]}
    if width == 2:
        ends |= {"a2": names[:-1], "b2": names[1:]}
    sides = [[side, f"{side}2"][:width] for side in "ab"]
    frame = pd.DataFrame(ends)
    graph = gf.Graph(frame, source=sides[0], target=sides[1], shards=shards).persist()
    monkeypatch.setattr(renumber, "factorize", None)
    one, other, absent = ((name,) * width if width > 1 else name for name in ("v07", "v38", "v"))
    found = graph.bfs(sources=[one]).compute()
    assert found.set_index(found.columns[0]).distance["v38"] == 31
    assert len(graph.neighbors(sources=[one, other]).compute()) == 2
    with pytest.raises(UnknownVertexError, match="not in the graph"):
        graph.bfs(sources=[one, absent]).compute()


def test_ascending_ids_are_merged(column):
    ordered, _ = renumber.sort(pd.DataFrame({"vertex": column}))
    own = ordered.iloc[1:-1].reset_index(drop=True)
    for given in (ordered, own, ordered.iloc[::2], ordered.iloc[1:2], own.iloc[::3]):
        given = given.reset_index(drop=True)
        inside, rows = merge_ids(own, given)
        expected = rows_of(own, given)
        rows = np.arange(len(own))[rows].tolist()
        assert rows == [row for row in expected if row >= 0] == expected[inside]


@pytest.fixture
def two_columns():
    numbers = np.arange(3000)
    every = pd.DataFrame({"part": numbers // 70, "name": pd.Series(numbers, dtype=TEXT)})
    return renumber.sort(every)[0]


@pytest.mark.parametrize("missing", [0, 1, 60, 2000])
@pytest.mark.parametrize("cut", [0, 500])
def test_ascending_ids_of_two_columns_are_aligned(two_columns, missing, cut):
    gone = np.random.default_rng(1).choice(len(two_columns), missing, replace=False)
    given = two_columns.drop(index=gone).reset_index(drop=True)
    own = two_columns.iloc[cut : len(two_columns) - cut].reset_index(drop=True)
    inside, rows = merge_ids(own, given)
    expected = rows_of(own, given)
    rows = np.arange(len(own))[rows].tolist()
    assert rows == [row for row in expected if row >= 0] == expected[inside]


def test_other_ids_of_two_columns_are_not_aligned(two_columns):
    twice, other = two_columns.iloc[[0, 0, *range(1, 3000)]], two_columns.copy()
    other.loc[7, "name"] = "y"
    # the order is another one, an id comes twice or is unknown
    for given in (two_columns.iloc[::-1], twice, other):
        given = given.reset_index(drop=True)
        found = merge_ids(two_columns, given)
        assert found is None or not len(found[1])


def test_not_all_ids_that_do_not_ascend_or_are_unknown_are_merged(column):
    ordered, _ = renumber.sort(pd.DataFrame({"vertex": column}))
    first, last = ordered.iloc[[0, -1]], ordered.iloc[[0, 1, -1]]
    assert merge_ids(first.reset_index(drop=True), last.reset_index(drop=True)) is None
    for given in (ordered.iloc[::-1], ordered.iloc[[0, 0, 1]], ordered.iloc[[0, -1, 1]]):
        given = given.reset_index(drop=True)
        if (found := merge_ids(ordered, given)) is not None:
            inside, rows = found
            assert len(rows) < len(given)
            assert rows.tolist() == rows_of(ordered, given)[inside]
    assert merge_ids(ordered.iloc[:0], ordered) is None
