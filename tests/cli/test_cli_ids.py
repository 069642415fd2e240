"""Ids and ends on the command line: text becomes exactly one id, or an error says what is allowed."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner

import dask_graphflow as gf
from _graphflow_cli import main
from dask_graphflow.cli.errors import in_options
from dask_graphflow.cli.ids import read_ids
from dask_graphflow.cli.plain import plain
from dask_graphflow.exceptions import UnknownColumnError, UnknownVertexError
from dask_graphflow.graph import vertex_ids

UUID = "00000000-0000-0000-0000-0000000000ff"
# By dtype: texts as the commands write them, other texts of the same ids, and texts that are refused.
TEXTS = {
    "bool": (["true", "false"], ["True", "FALSE"], ["no", "1", ""]),
    "boolean": (["true", "false"], ["TRUE", "False"], ["yes", "0"]),
    "int64": (["-5", "42"], ["-05", "+42"], ["42.0", "0x1F", "1_000", " 42", "", "٣", "x"]),
    "Int64": (["42"], ["042"], ["x"]),
    "uint64": ([str(2**64 - 1)], [], ["1e3"]),
    "int32[pyarrow]": (["42"], ["+42"], ["x"]),
    "datetime64[us]": (
        ["2024-12-31T23:59:59.000001"],
        ["2024-12-31 23:59:59.000001"],
        ["x", "2024-13-01", "2024-12-31T23:59Z", "2024-12-31T23:59:59.0000001"],
    ),
    "datetime64[ns, Europe/Berlin]": (
        ["2024-12-31T22:59:59.000000001Z"],
        ["2024-12-31T23:59:59.000000001+01:00"],
        ["2024-12-31T23:59:59", "x"],
    ),
    "timedelta64[us]": (["1 days 02:00:00"], ["26h"], ["5", "nan", "x"]),
    "date32[pyarrow]": (["2024-12-31"], [], ["31.12.2024", "2024-12-31T10:00"]),
    "time64[us][pyarrow]": (["23:59:59.000001"], [], ["25:00", "x"]),
    "decimal128(10, 2)[pyarrow]": (["1.50"], ["1.5"], ["1.555", "x"]),
    "binary[pyarrow]": (["ff01"], ["FF01"], ["f", "fg", "ff 01"]),
    "period[M]": (["2024-12"], [], ["2024-12-31", "NaT", "x"]),
}
KINDS = {
    "binary[pyarrow]": pd.ArrowDtype(pa.binary()),
    "date32[pyarrow]": pd.ArrowDtype(pa.date32()),
    "time64[us][pyarrow]": pd.ArrowDtype(pa.time64("us")),
    "decimal128(10, 2)[pyarrow]": pd.ArrowDtype(pa.decimal128(10, 2)),
}
if hasattr(pa, "uuid"):
    TEXTS["UUID"] = ([UUID], [UUID.replace("-", "")], ["ff"])
    KINDS["UUID"] = pd.ArrowDtype(pa.uuid())


@pytest.fixture(autouse=True)
def _workplace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*arguments, code=0):
    """Run a command, check its exit code, and return what it wrote to stdout and stderr."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result.stdout, result.stderr


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_that_is_written_and_its_other_forms_are_read(name):
    dtype = pd.Series([], dtype=KINDS.get(name, name)).dtype
    texts, others, refused = TEXTS[name]
    ids = read_ids(texts, dtype)
    written = plain(pa.array(ids)).cast(pa.large_string()).to_pylist()
    assert written == texts
    if others:
        assert read_ids(others, dtype).tolist() == ids.tolist()
    if name != "UUID":
        found = vertex_ids.named(ids, pd.DataFrame({"vertex": pd.Series([], dtype=dtype)}))
        assert found["vertex"].tolist() == ids.tolist()
        assert found["vertex"].dtype == dtype
    for text in refused:
        with pytest.raises(ValueError, match=r"is not an id of dtype .*; give ") as caught:
            read_ids([texts[0], text], dtype)
        assert str(caught.value).startswith(repr(text))


@pytest.mark.parametrize(
    ("text", "dtype"),
    [("300", "int8"), ("-1", "uint64"), ("1 days 00:00:00.000000001", "timedelta64[us]")],
)
def test_an_id_that_the_dtype_cannot_hold_is_not_in_the_graph(text, dtype):
    graph = pd.DataFrame({"vertex": pd.Series([], dtype=dtype)})
    with pytest.raises(UnknownVertexError, match="cannot hold"):
        vertex_ids.named(read_ids([text], dtype), graph)


@pytest.mark.parametrize(
    "dtype", [pd.CategoricalDtype([7, 42]), pd.ArrowDtype(pa.dictionary(pa.int8(), pa.int64()))]
)
def test_ids_of_a_category_have_the_type_of_its_values(dtype):
    assert read_ids(["42"], dtype).tolist() == [42]
    with pytest.raises(ValueError, match="whole number"):
        read_ids(["x"], dtype)


MOMENTS = pd.to_datetime(["2024-01-01 10:00:00.000001", "2024-07-01 10:00:00.000002"]).as_unit("us")
COLUMNS = {
    "bool": pd.Series([True, False]),
    "category": pd.Series(["ann", "bob"], dtype="category"),
    "Int64": pd.Series([2**62 + 1, 2**62 + 3], dtype="Int64"),
    "datetime": MOMENTS.to_series(),
    "time zone": MOMENTS.tz_localize("Europe/Berlin").to_series(),
    "period": pd.Series(pd.period_range("2024-12", periods=2, freq="M")),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_an_id_that_a_command_writes_is_a_source_of_the_next(name):
    ids = COLUMNS[name].reset_index(drop=True)
    pd.DataFrame({"src": ids[:1].array, "dst": ids[1:].array}).to_parquet("in.parquet")
    rows = run("degrees", "in.parquet", "-o", "-")[0].splitlines()[1:]
    by_name = {line.partition(",")[0]: line for line in rows}
    source = next(text for text, line in by_name.items() if line.endswith(",0,1"))
    wanted = run("bfs", "in.parquet", "--sources", source, "-o", "-")[0]
    assert sorted(line.split(",")[1] for line in wanted.splitlines()[1:]) == ["0", "1"]
    Path("ids.csv").write_text(f"id\n{source}\n")
    assert run("bfs", "in.parquet", "--sources", "@ids.csv", "-o", "-")[0] == wanted
    if name not in ("category",):
        assert (
            "Invalid value for --sources: 'x'"
            in run("bfs", "in.parquet", "--sources", "x", code=2)[1]
        )


# Which columns are the ends.


@pytest.mark.parametrize(
    "names", [["source", "target"], ["src", "dst"], ["from", "to"], ["left", "right"]]
)
def test_python_and_commands_take_the_same_usual_names(names):
    edges = pd.DataFrame([(1, 2), (2, 3)], columns=names)
    edges.to_csv("in.csv", index=False)
    wanted = gf.bridges(edges).compute()
    run("bridges", "in.csv", "-o", "out.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet("out.parquet"), wanted)
    assert "vertices" in run("info", "in.csv")[0]


@pytest.mark.parametrize("header", ["source,target,src,dst", "from,to,left,right"])
def test_python_and_commands_ask_if_two_pairs_of_columns_may_be_the_ends(header):
    Path("in.csv").write_text(f"{header}\n1,2,5,6\n")
    with pytest.raises(UnknownColumnError, match=r"both .* and also .* are columns"):
        gf.connected_components(gf.read_edges("in.csv"))
    for command in (["components"], ["bfs", "--sources", "1"], ["components", "--text-ids"]):
        assert "are columns; the columns are" in run(*command, "in.csv", code=1)[1]
    assert "vertices" not in run("info", "in.csv")[0]
    ends = header.split(",")[2:]
    out, _ = run("components", "in.csv", "--source", ends[0], "--target", ends[1], "-o", "-")
    assert out == "vertex,component\n5,5\n6,5\n"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("seed=-1; give", "--seed -1; give"),
        ("alpha=-.5", "--alpha -.5"),
        ("alpha=.5", "--alpha .5"),
        ("seed=(1, 2)", "--seed (1, 2)"),
        ("name it with seed=.", "name it with --seed."),
        ("seed='a' or alpha=None", "--seed 'a' or --alpha None"),
    ],
)
def test_a_value_in_a_message_is_apart_from_its_option(message, shown):
    assert in_options(message, ["seed", "alpha"]) == shown
