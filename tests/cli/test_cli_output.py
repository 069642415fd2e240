"""What the commands write: every value comes back from every format, and nothing is half-written."""

from __future__ import annotations

import datetime
import decimal
import json
import uuid
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import dask_graphflow as gf
from _graphflow_cli import main
from dask_graphflow.cli import output, plain, result_tables
from dask_graphflow.exceptions import OutputError


def run(*arguments, code=0):
    """Run a command, check its exit code, and return its standard output."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result.stdout


def same(value):
    return value


def zoned(text):
    assert text.endswith("Z")
    return pd.Timestamp(text)


INF = float("inf")
MOMENT = datetime.datetime(2024, 1, 1, 10, 0, 0, 1)
SUMMER, WINTER = (
    pd.Timestamp(f"2024-{m:02}-01 10:00:00.000000001", tz="Europe/Berlin") for m in (7, 1)
)
MONTHS = pd.Series(pd.period_range("2024-12", periods=2, freq="M"))
# By type: the values in Arrow, and how the value is found from what was written.
VALUES = {
    "int64": (pa.array([2**62 + 1, -(2**63), None]), int),
    "int8": (pa.array([-128, 127], pa.int8()), int),
    "uint64": (pa.array([2**64 - 1, 2**53 + 1], pa.uint64()), int),
    "float64": (pa.array([0.1234567890123456, 1e-11, 1e22, 5e-324, 1.7976931348623157e308, -0.5]), float),
    "whole float64": (pa.array([1.0, -3.0, 2.0**60, None]), float),
    "float32": (pa.array([0.1, 1.0, 3e-8], pa.float32()), np.float32),
    "infinite": (pa.array([INF, -INF, 1.5]), float),
    "bool": (pa.array([True, False]), bool),
    "text": (pa.array(["x, y", 'a "quote"', "é", "back\\slash", "tab\t", "NA", "", "7"]), same),
    "line breaks": (pa.array(["two\nlines", "cr\r\nlf", "plain"]), same),
    "category": (pa.array(["b", "a", "b"]).dictionary_encode(), same),
    "datetime": (pa.array([MOMENT, None], pa.timestamp("us")), datetime.datetime.fromisoformat),
    "nanoseconds": (pa.array([pd.Timestamp(1)], pa.timestamp("ns")), pd.Timestamp),
    "time zone": (pa.array([SUMMER, WINTER], pa.timestamp("ns", "Europe/Berlin")), zoned),
    "date": (pa.array([datetime.date(2024, 12, 31), None]), datetime.date.fromisoformat),
    "time": (pa.array([datetime.time(1, 2, 3, 4)]), datetime.time.fromisoformat),
    "duration": (pa.array([pd.Timedelta(-1), pd.Timedelta(days=2)], pa.duration("ns")), pd.Timedelta),
    "decimal": (pa.array([decimal.Decimal("12345678901234567890.25"), None]), decimal.Decimal),
    "bytes": (pa.array([b"\xff\x01", b"", b"ab", None]), bytes.fromhex),
    "fixed bytes": (pa.array([b"\xff\x01"], pa.binary(2)), bytes.fromhex),
    "period": (pa.array(MONTHS), lambda text: pd.Period(text, "M")),
}  # fmt: skip
UUIDS = ["uuid"] if hasattr(pa, "uuid") else []
if UUIDS:
    VALUES["uuid"] = (pa.array([uuid.UUID(int=2**100 + 255).bytes, None], pa.uuid()), uuid.UUID)
OUTPUTS = ("out.csv", "out.tsv.gz", "out.jsonl", "out.jsonl.zst", "-", "--json")
READ_AS = {"uint64": "uint64", "decimal": "str"}  # by default, read_edges reads these as floats


@pytest.fixture(autouse=True)
def _workplace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def wanted_of(values):
    """Return values as Python objects."""
    return MONTHS.tolist() if pa.array(MONTHS).type == values.type else values.to_pylist()


def rows_of(values):
    """Return rows as the commands have them, in one batch."""
    batch = pa.record_batch({"n": pa.array(range(len(values))), "value": values})

    class Rows(list):
        schema, count = batch.schema, batch.num_rows

    return Rows([batch])


@pytest.mark.parametrize("format", ["csv", "jsonl"])
@pytest.mark.parametrize("name", VALUES)
def test_every_value_comes_back_from_text(name, format):
    values, back = VALUES[name]
    path = Path(f"out.{format}")
    with path.open("wb") as sink:
        result_tables.write_rows(rows_of(values), sink, format)
    if format == "jsonl":
        written = [
            json.loads(line, parse_constant=pytest.fail)["value"]
            for line in path.read_text("utf-8").split("\n")[:-1]
        ]
        found = [None if value is None else back(value) for value in written]
        assert found == wanted_of(values)
    if (name, format) == ("infinite", "jsonl"):  # Arrow's reader takes no texts among the numbers
        assert pd.read_json(path, lines=True)["value"].tolist() == values.to_pylist()
        return
    dtype = {"value": READ_AS[name]} if name in READ_AS else None
    read = gf.read_edges(path, blocksize=None, dtype=dtype).compute()["value"]
    assert [None if pd.isna(value) else back(value) for value in read] == wanted_of(values)
    if pa.types.is_floating(values.type):
        assert read.dtype == "float64"


@pytest.mark.parametrize("place", OUTPUTS)
@pytest.mark.parametrize("name", ["float64", "text", "date", "bytes", "period", *UUIDS])
def test_commands_write_every_value_to_every_output(name, place):
    values, back = VALUES[name]
    pq.write_table(pa.table({"n": range(len(values)), "value": values}), "in.parquet")
    if name == "period":
        MONTHS.to_frame("value").assign(n=0).to_parquet("in.parquet")
    if place == "--json":
        text = run("convert", "in.parquet", "-o", "-", "--json")
        place = "out.jsonl"
        Path(place).write_text(text)
    else:
        text = run("convert", "in.parquet", "-o", place)
    if place == "-":
        place = "out.csv"
        Path(place).write_text(text)
    read = gf.read_edges(place, blocksize=None).compute()["value"]
    assert [None if pd.isna(value) else back(value) for value in read] == wanted_of(values)


@pytest.mark.parametrize("name", ["datetime", "date", "bytes", "period", "category", *UUIDS])
def test_the_terminal_and_the_summary_show_what_is_written(name):
    ids = VALUES[name][0].drop_null()[:1]
    pq.write_table(pa.table({"src": ids, "dst": ids}), "in.parquet")
    if name == "period":
        pd.DataFrame({"src": MONTHS, "dst": MONTHS[::-1].array}).to_parquet("in.parquet")
    components = ["connected-components", "in.parquet"]
    written = run(*components, "-o", "-").splitlines()
    shown = run(*components).splitlines()
    assert [line.split() for line in shown] == [line.split(",") for line in written]
    told = json.loads(run(*components, "-o", "out.parquet", "--json"))["component"]
    assert told["min"] == min(line.split(",")[1] for line in written[1:])
    assert run("convert", "out.parquet", "-o", "-").splitlines() == written


def test_json_is_valid_for_values_that_json_does_not_have():
    floats = pa.array([INF, -INF, float("nan"), None, 1.0])
    written = b"".join(bytes(result_tables._json_lines(batch)) for batch in rows_of(floats))
    lines = [json.loads(line, parse_constant=pytest.fail) for line in written.splitlines()]
    assert [line["value"] for line in lines] == ["Infinity", "-Infinity", None, None, 1.0]
    Path("in.csv").write_text("src,dst,w\n1,2,inf\n2,3,1.5\n")
    told = run("minimum-spanning-forest", "in.csv", "--weight", "w", "--json", "-o", "out.csv")
    found = json.loads(told, parse_constant=pytest.fail)
    assert found["weight"] == {"min": 1.5, "max": "Infinity"}
    nested = {"a": [float("nan"), {"b": -INF}], "c": 2**70}
    assert json.loads(result_tables.summary_json(nested)) == {
        "a": [None, {"b": "-Infinity"}],
        "c": 2**70,
    }


def test_lists_are_json_in_every_format():
    values = pa.array([[1, 2], [], None, [3]])
    Path("out.csv").write_bytes(
        b"n,value\n" + result_tables._csv_lines(next(iter(rows_of(values))), ",")
    )
    found = gf.read_edges("out.csv").compute()["value"]
    assert [None if pd.isna(one) else json.loads(one) for one in found] == values.to_pylist()
    lines = bytes(result_tables._json_lines(next(iter(rows_of(values))))).splitlines()
    assert [json.loads(line)["value"] for line in lines] == values.to_pylist()


def test_an_only_column_with_a_null_is_not_written_as_csv():
    pd.DataFrame({"a": ["x", None]}).to_parquet("in.parquet")
    result = CliRunner().invoke(main, ["convert", "in.parquet", "-o", "out.csv"])
    assert "readers skip its empty line" in result.stderr
    assert not Path("out.csv").exists()
    run("convert", "in.parquet", "-o", "out.jsonl")
    assert Path("out.jsonl").read_text() == '{"a":"x"}\n{"a":null}\n'


@pytest.mark.parametrize("options", [["-o", "-"], ["--json"]])
def test_standard_output_gets_nothing_if_a_later_row_cannot_be_written(options, monkeypatch):
    pd.DataFrame({"a": [1, 2], "b": [2, 3]}).to_csv("in.csv", index=False)
    calls = []

    def fail_the_second_time(values):
        calls.append(values)
        if len(calls) == 2:
            raise pa.ArrowInvalid("this value cannot be text")
        return plain.plain(values)

    monkeypatch.setattr(result_tables, "plain", fail_the_second_time)
    degrees = ["degrees", "in.csv", "--source", "a", "--target", "b", *options]
    result = CliRunner().invoke(main, degrees)
    assert (result.exit_code, result.stdout) == (1, "")
    assert len(calls) == 2


@pytest.mark.parametrize("place", ["out.parquet", "out.csv", "out.jsonl"])
def test_parts_may_differ_in_the_codes_of_a_category_and_have_no_values(place):
    days = [datetime.date(2024, 1, 1)]
    parts = {"one": (["x"], [None]), "two": ([f"n{i}" for i in range(1000)], days * 1000)}
    for name, (texts, dates) in parts.items():
        text = pa.array(texts).dictionary_encode()
        codes = pa.int8() if len(texts) == 1 else pa.int16()
        text = text.cast(pa.dictionary(codes, pa.string()))
        columns = {"n": range(len(texts)), "text": text, "day": pa.array(dates, pa.date32())}
        pq.write_table(pa.table(columns), f"{name}.parquet")
    run("convert", "one.parquet", "two.parquet", "-o", place)
    found = gf.read_edges(place).compute()
    assert found["text"].astype(str).tolist() == [*parts["one"][0], *parts["two"][0]]
    assert found["day"].isna().tolist() == [True, *[False] * 1000]


def test_parts_with_different_types_are_an_error_that_names_the_column(tmp_path):
    files = []
    for value in (["a"], [1]):
        files += output._write_part(pd.DataFrame({"id": value}), tmp_path)["file"].tolist()
    with pytest.raises(OutputError, match=r"different types.*id"):
        output.OutputRows([tmp_path / file for file in files], [1, 1])
