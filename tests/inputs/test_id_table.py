"""The table of ids: every type of pandas, Arrow, polars and DuckDB, through frames, files and commands.

A row is a type with a few ids of it, and a column is a way through the library. In each cell, the ids that
come out are those that went in, with their type, and they are accepted as sources; or the call is refused,
and its advice works. Text formats carry integers, booleans and text, so all other ids are text there. A
type that encodes values, such as a category, comes out as the type of the values.
"""

from __future__ import annotations

import csv
import datetime
import itertools
import json
import re
import uuid
from decimal import Decimal
from typing import Any, NamedTuple

import click.testing
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import dask_graphflow as gf
from _graphflow_cli import main
from dask_graphflow.exceptions import VertexTypeError

duckdb = pytest.importorskip("duckdb")
pl = pytest.importorskip("polars")

pytestmark = pytest.mark.usefixtures("one_thread")

DAY, HOUR = datetime.date(2020, 1, 1), datetime.time(7)
DAYS = [DAY + datetime.timedelta(days=day) for day in range(3)]
MOMENTS = [datetime.datetime.combine(day, HOUR) for day in DAYS]
LENGTHS = [datetime.timedelta(hours=hour) for hour in range(1, 4)]
TIMES = [datetime.time(hour, 30) for hour in range(3)]
UUIDS = [uuid.UUID(int=2**100 * i + 255) for i in range(1, 4)]
TENTHS = [Decimal("0.10"), Decimal("1.25"), Decimal("7.00")]
BYTES = [b"\x00a", b"b'", b"\xff\xfe"]
TEXT = ["007", "a,b", "ü"]
LARGE = [1, 2**63, 2**64 - 1]
HUGE = [Decimal(1), Decimal(2**64), Decimal(10**38 - 1)]


class Row(NamedTuple):
    """A type: three ids in ascending order, and what differs from the rule."""

    ids: Any  # column. Of pandas, PyArrow or polars; or SQL expressions with the type in DuckDB.
    refused: bool = False  # whether ids of this type are refused
    # "same" if the library writes this type to Parquet; "typed" if it writes it as a type that is not
    # refused; "floats" if it writes other numbers; "nothing" if it cannot write the type.
    parquet: str = "same"
    # The ids as text after the advice was followed; by default the text of the ids.
    advised: list[str] | None = None


def no(ids, parquet="same", advised=None):
    return Row(ids, True, parquet, advised)


def series(values, dtype):
    return pd.Series(values, dtype=dtype)


def sql(kind, *values):
    return kind, values


INTEGERS = {
    f"{sign}int{bits}": [1, 2, 2 ** (bits - (sign == "")) - 1]
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}
PANDAS = {
    **{name: Row(series(values, name)) for name, values in INTEGERS.items()},
    **{
        name: Row(series([1, 2, 100], name), parquet="nothing")
        for name in (">i2", ">i8", ">u4", "Sparse[int64]")
    },
    **{
        (nullable := name.replace("i", "I").replace("u", "U")): Row(series(values, nullable))
        for name, values in INTEGERS.items()
    },
    "bool": Row(series([False, True], "bool")),
    "boolean": Row(series([False, True], "boolean")),
    **{name: Row(series(TEXT, name)) for name in ("str", "string", "object", "string[pyarrow]")},
    "category": Row(series(TEXT, "category")),
    "category of integers": Row(series(LARGE, "category")),
    **{
        f"datetime64[{unit}]": Row(series(MOMENTS, f"datetime64[{unit}]"))
        for unit in ("s", "ms", "us", "ns")
    },
    "datetime64 with a zone": Row(series(MOMENTS, "datetime64[us]").dt.tz_localize("Europe/Paris")),
    **{f"timedelta64[{u}]": Row(series(LENGTHS, f"timedelta64[{u}]")) for u in ("s", "ns")},
    "period": Row(pd.Series(pd.period_range("2020-01", periods=3, freq="M"))),
    **{
        name: no(series([1.0, 2.0, 3.0], name), advised=["1", "2", "3"])
        for name in ("float64", "Float64")
    },
    "complex128": no(series([1j, 2, 3], "complex128"), "nothing"),
    "interval": no(pd.Series(pd.interval_range(0, 3)), advised=["(0, 1]", "(1, 2]", "(2, 3]"]),
    "uuid.UUID": no(series(UUIDS, object), "typed"),
    "datetime.date": no(series(DAYS, object), "typed"),
    "decimal.Decimal": no(series(TENTHS, object), "typed"),
    "datetime.time": no(series(TIMES, object), "typed"),
    "bytes": no(series(BYTES, object), "typed"),
    "tuple": no(pd.Series([(1, 2), (1, 3), (2, 1)])),
    "mixed": no(series([1, "2", 3.5], object), "nothing"),
    "int above 64 bits": no(series([2**70, 2**71, 2**72], object), "nothing"),
    "category of bytes": no(series(BYTES, "category"), "typed"),
}
ARROW = {
    **{name: Row(pa.array(values, getattr(pa, name)())) for name, values in INTEGERS.items()},
    "bool": Row(pa.array([False, True])),
    **{
        name: Row(pa.array(TEXT, getattr(pa, name)()))
        for name in ("string", "large_string", "string_view")
    },
    **{
        name: Row(pa.array(BYTES, getattr(pa, name)()))
        for name in ("binary", "large_binary", "binary_view")
    },
    "fixed_size_binary": Row(pa.array(BYTES, pa.binary(2))),
    "dictionary": Row(pa.array(TEXT).dictionary_encode()),
    "dictionary of uint64": Row(pa.array(LARGE, pa.uint64()).dictionary_encode()),
    "dictionary of binary": Row(pa.array(BYTES).dictionary_encode()),
    "dictionary with a value twice": Row(
        pa.DictionaryArray.from_arrays(pa.array([1, 2, 3]), pa.array(["007", *TEXT]))
    ),
    "run_end_encoded": Row(pc.run_end_encode(pa.array(TEXT)), parquet="nothing"),
    "date32": Row(pa.array(DAYS, pa.date32())),
    "date64": Row(pa.array(DAYS, pa.date64())),
    **{f"timestamp[{u}]": Row(pa.array(MOMENTS, pa.timestamp(u))) for u in ("s", "ms", "us", "ns")},
    "timestamp with a zone": Row(pa.array(MOMENTS, pa.timestamp("us", "UTC"))),
    **{f"time32[{u}]": Row(pa.array(TIMES, pa.time32(u))) for u in ("s", "ms")},
    **{f"time64[{u}]": Row(pa.array(TIMES, pa.time64(u))) for u in ("us", "ns")},
    **{f"duration[{u}]": Row(pa.array(LENGTHS, pa.duration(u))) for u in ("s", "ms", "us", "ns")},
    **{
        f"decimal{bits}": Row(pa.array(TENTHS, getattr(pa, f"decimal{bits}")(digits, 2)))
        for bits, digits in ((32, 9), (64, 18), (128, 38), (256, 76))
        if hasattr(pa, f"decimal{bits}")
    },
    **(
        {"uuid": Row(pa.array([one.bytes for one in UUIDS], pa.uuid()))}
        if hasattr(pa, "uuid")
        else {}
    ),
    **{
        f"float{bits}": no(pa.array(np.arange(1, 4, dtype=f"float{bits}")), advised=["1", "2", "3"])
        for bits in (16, 32, 64)
    },
    "list": no(pa.array([[1], [2, 1], [3]])),
    "struct": no(pa.array([{"x": i} for i in range(3)])),
    "map": no(pa.array([[("x", i)] for i in range(3)], pa.map_(pa.string(), pa.int64()))),
    "month_day_nano_interval": no(
        pa.array([(1, 2, i) for i in range(3)], pa.month_day_nano_interval()), "nothing"
    ),
}
POLARS = {
    **{
        name: Row(pl.Series(values, dtype=getattr(pl, name)))
        for name, values in (
            (name.replace("i", "I").replace("u", "U"), values) for name, values in INTEGERS.items()
        )
    },
    "Boolean": Row(pl.Series([False, True])),
    "String": Row(pl.Series(TEXT)),
    "Categorical": Row(pl.Series(TEXT, dtype=pl.Categorical)),
    "Enum": Row(pl.Series(TEXT, dtype=pl.Enum(TEXT))),
    "Binary": Row(pl.Series(BYTES)),
    "Date": Row(pl.Series(DAYS)),
    **{f"Datetime {u}": Row(pl.Series(MOMENTS, dtype=pl.Datetime(u))) for u in ("ms", "us", "ns")},
    "Datetime with a zone": Row(pl.Series(MOMENTS, dtype=pl.Datetime("us", "UTC"))),
    "Time": Row(pl.Series(TIMES)),
    **{f"Duration {u}": Row(pl.Series(LENGTHS, dtype=pl.Duration(u))) for u in ("ms", "us", "ns")},
    "Decimal": Row(pl.Series(TENTHS, dtype=pl.Decimal(20, 2))),
    "Object": no(pl.Series(UUIDS, dtype=pl.Object), "nothing"),
    "Int128": no(pl.Series([1, 2**64, 10**38 - 1], dtype=pl.Int128), "nothing"),
    "Float64": no(pl.Series([1.0, 2.0, 3.0]), advised=["1", "2", "3"]),
    "List": no(pl.Series([[1], [2, 1], [3]])),
    "Array": no(pl.Series([[1, 1], [2, 1], [3, 1]], dtype=pl.Array(pl.Int64, 2))),
    "Struct": no(pl.Series([{"x": i} for i in range(3)])),
}
DUCKDB = {
    **{
        name: Row(sql(name, *map(str, values)))
        for name, values in zip(
            [s + name for s in ("", "U") for name in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")],
            INTEGERS.values(),
            strict=True,
        )
    },
    "HUGEINT": Row(sql("HUGEINT", *map(str, HUGE)), parquet="floats"),
    "UHUGEINT": no(sql("UHUGEINT", "1", str(2**64), str(10**38 - 1)), "floats"),
    "BIGNUM": no(sql("BIGNUM", "1", "2", "3"), "nothing"),
    "BOOLEAN": Row(sql("BOOLEAN", "false", "true")),
    "VARCHAR": Row(sql("VARCHAR", *map(repr, TEXT))),
    "ENUM": Row(sql(f"ENUM({', '.join(map(repr, TEXT))})", *map(repr, TEXT))),
    "BLOB": Row(sql("BLOB", "'a'", "'b'", r"'\xFF\xFE'")),
    "BIT": no(sql("BIT", "'01'", "'101'", "'11'"), "typed"),
    "UUID": Row(sql("UUID", *(f"'{one}'" for one in UUIDS)), parquet="typed"),
    "DATE": Row(sql("DATE", *(f"'{day}'" for day in DAYS))),
    **{
        name: Row(sql(name, *(f"'{moment}'" for moment in MOMENTS)))
        for name in ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ")
    },
    "TIME": Row(sql("TIME", *(f"'{time}'" for time in TIMES))),
    "TIMETZ": no(sql("TIMETZ", *(f"'{time}+01'" for time in TIMES)), "nothing"),
    "DECIMAL": Row(sql("DECIMAL(5, 2)", *map(str, TENTHS))),
    "INTERVAL": no(sql("INTERVAL", "'1 day'", "'2 days'", "'3 days'"), "nothing"),
    "DOUBLE": no(sql("DOUBLE", "1", "2", "3"), advised=["1", "2", "3"]),
    "STRUCT": no(sql("STRUCT(x INTEGER)", "{'x': 1}", "{'x': 2}", "{'x': 3}")),
    "LIST": no(sql("INTEGER[]", "[1]", "[2, 1]", "[3]")),
}
TABLE = {
    f"{library} {name}": row
    for library, rows in {
        "pandas": PANDAS, "Arrow": ARROW, "polars": POLARS, "DuckDB": DUCKDB
    }.items()
    for name, row in rows.items()
}  # fmt: skip


def edges_of(ids):
    """Return the edges of a path of ids, in a frame of their own library."""
    if isinstance(ids, tuple):
        kind, values = ids
        rows = [
            f"SELECT {a}::{kind} AS src, {b}::{kind} AS dst" for a, b in itertools.pairwise(values)
        ]
        return duckdb.sql(" UNION ALL ".join(rows))
    if isinstance(ids, pd.Series):
        return pd.DataFrame({"src": ids[:-1].array, "dst": ids[1:].array})
    columns = {"src": ids[:-1], "dst": ids[1:]}
    return pa.table(columns) if isinstance(ids, pa.Array) else pl.DataFrame(columns)


def given(ids):
    """Return ids as Arrow data."""
    edges = edges_of(ids)
    if isinstance(edges, pd.DataFrame):
        own = getattr(ids.dtype, "subtype", ids.dtype)  # Arrow has no sparse columns,
        if isinstance(own, np.dtype) and own.kind in "iu":  # and only one byte order
            ids = pd.Series(ids.to_numpy().astype(own.newbyteorder("=")))
        values = pa.array(ids.array)
        return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    table = pa.table(edges)
    return pa.chunked_array([*table["src"].chunks, *table["dst"][-1:].chunks])


def text_of(ids):
    """Return ids as text."""
    if isinstance(ids, tuple):
        return [value.strip("'") for value in ids[1]]
    return [
        str(value) for value in (ids.to_pylist() if isinstance(ids, pa.Array) else ids.to_list())
    ]


def plain(column):
    """Return the type and the values of an Arrow column; encodings and layouts of a type are the same."""
    if pa.types.is_dictionary(column.type) or pa.types.is_run_end_encoded(column.type):
        return str(plain(pa.array([], column.type.value_type))[0]), column.to_pylist()
    names = str(column.type)
    for layout in ("large_", "_view"):
        names = names.replace(layout, "")
    return re.sub(r"decimal(32|64)\b", "decimal128", names), column.to_pylist()


def ids_of(graph):
    """Return the ids of a graph that is a path, which are also accepted as sources."""
    found = graph.degrees().compute()["vertex"]
    for sources in (found.iloc[:1], found.tolist()[:1]):
        reached = graph.bfs(sources).compute()
        assert reached["vertex"][reached["distance"] == 0].tolist() == found.tolist()[:1]
    values = pa.array(found)
    return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])


def followed(make, edges):
    """Return the graph that the advice of errors gives, first for one column and then for the other."""
    names = {"pl": pl, "pa": pa, "pd": pd, "edges": edges}
    for _ in range(2):
        with pytest.raises(VertexTypeError) as raised:
            make(names["edges"])
        call = re.search(
            r"(?:for example with|and use) (edges.*?)(?:; or .*)?$", str(raised.value)
        )[1]
        names["edges"] = eval(call, names)
    return make(names["edges"])


def persisted(edges):
    return gf.Graph(edges).persist()


def saved(folder):
    def make(edges):
        gf.Graph(edges).save(folder)
        return gf.load_graph(folder)

    return make


def check(make, edges, wanted, *, refused):
    """Check that a graph has the wanted ids, or that it is refused and the advice gives their text."""
    if not refused:
        assert plain(ids_of(make(edges))) == plain(wanted)
        return
    found = ids_of(followed(make, edges)).to_pylist()
    assert sorted(map(str, found)) == sorted(wanted)


@pytest.mark.parametrize("name", TABLE)
def test_frame(name):
    row = TABLE[name]
    if name == "pandas category of bytes" and not hasattr(pd.DataFrame, "map"):
        pytest.skip("this pandas cannot map categories and leave out nulls, as the advice says")
    wanted = row.advised or text_of(row.ids) if row.refused else given(row.ids)
    check(persisted, edges_of(row.ids), wanted, refused=row.refused)


def written(row, folder):
    """Write the edges of a row as their own library writes Parquet; return the path."""
    edges, path = edges_of(row.ids), folder / "edges.parquet"
    if isinstance(row.ids, tuple):
        edges.write_parquet(str(path))
    elif isinstance(edges, pl.DataFrame):
        edges.write_parquet(path)
    elif isinstance(edges, pd.DataFrame):
        edges.to_parquet(path)
    else:
        pq.write_table(edges, path)
    return path


# PyArrow cannot write or read these before the version that has UUIDs.
NOT_IN_FILES = {"pandas uuid.UUID", "Arrow string_view", "Arrow binary_view", "polars Array"}
NOT_IN_FILES = set() if hasattr(pa, "uuid") else NOT_IN_FILES
IN_FILES = [
    name for name, row in TABLE.items() if row.parquet != "nothing" and name not in NOT_IN_FILES
]


@pytest.mark.parametrize("name", IN_FILES)
def test_parquet(name, tmp_path):
    row = TABLE[name]
    path = written(row, tmp_path)
    table = pq.read_table(path)
    wanted = pa.chunked_array([*table["src"].chunks, *table["dst"][-1:].chunks])
    edges, refused = gf.read_edges(path), row.refused and row.parquet != "typed"
    if row.parquet == "floats":  # the file itself has other numbers
        with pytest.raises(VertexTypeError, match="float64"):
            gf.Graph(edges)
        return
    if not row.refused and row.parquet == "same":
        assert wanted.to_pylist() == given(row.ids).to_pylist()
    if refused:
        wanted = row.advised or [str(one) for one in wanted.to_pylist()]
    check(persisted, edges, wanted, refused=refused)


def first_of_each(names):
    """Return names of rows; those whose ids are the same Arrow data as those of an earlier one are slow."""
    seen, found = set(), []
    for name in names:
        row = TABLE[name]
        key = name if row.refused else repr(plain(given(row.ids)))
        found.append(pytest.param(name, marks=[pytest.mark.slow] if key in seen else []))
        seen.add(key)
    return found


@pytest.mark.parametrize(
    "name", first_of_each(name for name, row in TABLE.items() if not row.refused)
)
def test_saved_graph(name, tmp_path):
    row = TABLE[name]
    check(saved(tmp_path / "graph"), edges_of(row.ids), given(row.ids), refused=False)


# By the text of the ids, on which alone the text formats depend.
TEXTS = {tuple(text_of(row.ids)): text_of(row.ids) for row in TABLE.values()}  # once each


def parsed(text):
    """Return the id that a cell of a text file stands for; None for a float, which is refused."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if re.fullmatch(r"0|-?[1-9]\d*", text) and -(2**63) <= int(text) < 2**64:
        return int(text)
    return None if re.fullmatch(r"-?\d+\.\d*", text) else text


def column_type(values):
    """Return the type that a column of a text file has."""
    if types := {type(value) for value in values} - {int, bool}:
        return "text" if str in types else "float"
    return "bool" if bool in map(type, values) else "uint64" if max(values) >= 2**63 else "int64"


def refusal(edges):
    """Return why the ids of edges are refused, or None."""
    try:
        gf.Graph(edges)
    except VertexTypeError as error:
        return str(error)


def check_texts(path, texts):
    """Check that a text file has these ids: of one type, or as text, which an error has to ask for."""
    values = [parsed(text) for text in texts]
    source, target = column_type(values[:-1]), column_type(values[1:])
    names, asked = {"edges": gf.read_edges(path)}, 0
    while said := refusal(names["edges"]):
        asked += 1
        assert asked <= 2  # one error per column at most
        if options := re.search(r"with dtype=({.*?})", said):
            dtype = names["dtype"] = names.get("dtype", {}) | eval(options[1])
            names["edges"] = gf.read_edges(path, dtype=dtype)
        else:  # the columns have different types
            names["edges"] = eval(re.search(r"edges\.assign.*", said)[0], names)
    assert bool(asked) == (source != target or source == "float")
    ids = sorted(texts if asked or source == "text" else values)
    wanted = pa.array(ids, pa.uint64() if source == "uint64" and not asked else None)
    check(persisted, names["edges"], pa.chunked_array([wanted]), refused=False)


@pytest.mark.parametrize("key", TEXTS, ids=" ".join)
def test_csv(key, tmp_path):
    with (tmp_path / "edges.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("src", "dst"), *itertools.pairwise(TEXTS[key])])
    check_texts(tmp_path / "edges.csv", TEXTS[key])


@pytest.mark.parametrize("key", TEXTS, ids=" ".join)
def test_json_lines(key, tmp_path):
    values = [parsed(text) for text in TEXTS[key]]
    if any(value is None or isinstance(value, str) or value >= 2**63 for value in values):
        values = TEXTS[key]
    lines = [json.dumps({"src": a, "dst": b}) for a, b in itertools.pairwise(values)]
    (tmp_path / "edges.jsonl").write_text("\n".join(lines))
    edges = gf.read_edges(tmp_path / "edges.jsonl")
    check(persisted, edges, pa.chunked_array([sorted(values)]), refused=False)


def command(*arguments):
    done = click.testing.CliRunner().invoke(main, [str(argument) for argument in arguments])
    return done.exit_code, done.output


@pytest.mark.parametrize("name", first_of_each(IN_FILES))
def test_command(name, tmp_path):
    row = TABLE[name]
    path, out = written(row, tmp_path), tmp_path / "out.parquet"
    code, said = command("degrees", path, "-o", out)
    if (row.refused and row.parquet != "typed") or row.parquet == "floats":
        assert code == 1
        assert re.search("has dtype .*; ids are integers, .*for example with edges", said)
        return
    assert (code, said.count("error")) == (0, 0), said
    found = pq.read_table(out)["vertex"]
    table = pq.read_table(path)
    assert plain(found) == plain(
        pa.chunked_array([*table["src"].chunks, *table["dst"][-1:].chunks])
    )
    pq.write_table(pa.table({"id": found[:1]}), tmp_path / "sources.parquet")
    code, said = command(
        *("bfs", path, "--sources", f"@{tmp_path / 'sources.parquet'}", "-o", out, "--overwrite")
    )
    assert code == 0, said
    assert plain(pq.read_table(out)["vertex"])[1] == found.to_pylist()
