"""Bad input raises one of this library's errors, at the call if it can be detected there."""

from __future__ import annotations

import ast
import os
import pathlib
import re
import subprocess
import sys

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, frame, partitioned

import dask_graphflow as gf
from dask_graphflow import exceptions as ex
from dask_graphflow.cli.output import Output

PAIRS = frame([(1, 2), (2, 3)]).assign(w=[0.5, 0.9], name="x", f=[1.0, 2.0])
LABELS = pd.DataFrame({"vertex": [1], "component": [1]})


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"source": "A", "target": "b"}, ex.UnknownColumnError, r"'A'.*'a', 'b'"),
        ({"source": "nme", "target": "b"}, ex.UnknownColumnError, "did you mean 'name'"),
        ({"source": None, "target": "b"}, ex.UnknownColumnError, "source="),
        ({"source": [], "target": "b"}, ex.UnknownColumnError, "source="),
        ({"source": ["a", "b"], "target": "b"}, ex.EdgeListError, "2 columns.*has 1"),
        ({"source": "f", "target": "b"}, ex.VertexTypeError, "float64.*astype"),
        ({"source": "a", "target": "name"}, ex.VertexTypeError, "int64.*one type"),
        ({"threshold": 0.5}, ex.WeightError, "weight="),
        ({"weight": "w"}, ex.WeightError, "threshold="),
        ({"weight": "name", "threshold": 1}, ex.WeightError, "number"),
        ({"weight": "ww", "threshold": 1}, ex.UnknownColumnError, "did you mean 'w'"),
        ({"weight": "w", "threshold": 1, "thresholds": [2]}, ex.OptionError, "one of them"),
        ({"weight": "w", "thresholds": []}, ex.OptionError, "empty"),
        ({"weight": "w", "thresholds": [1, 1.0]}, ex.OptionError, "more than once"),
        ({"weight": "w", "threshold": float("nan")}, ex.OptionError, "nan is not a number"),
        ({"weight": "w", "threshold": "high"}, ex.OptionError, "'high' is not a number"),
        ({"weight": "w", "threshold": 1j}, ex.OptionError, "give an int or a float"),
        ({"weight": "w", "threshold": 10**400}, ex.OptionError, "range of a float"),
        ({"merge": "trees"}, ex.OptionError, "'tree', 'one-way', 'ring'.*did you mean"),
        ({"inputs": "random"}, ex.OptionError, "'availability', 'round-robin'"),
        ({"chunk_size": 0}, ex.OptionError, "1 or more"),
        ({"renumber": None}, ex.OptionError, "True or False"),
        ({"source": "name", "target": "name", "renumber": False}, ex.OptionError, "integers.*str"),
        ({"chunk_size": 1.5}, ex.OptionError, "1 or more"),
        ({"vertices": pd.Series(["x"])}, ex.VertexTypeError, "vertices.*int64"),
        ({"vertices": [1.0]}, ex.VertexTypeError, "^vertices= has dtype float64; .* 1 instead"),
        ({"vertices": ["x"]}, ex.VertexTypeError, "edges' id has dtype int64"),
        ({"vertices": [(1, 2)]}, ex.VertexTypeError, "^vertices= has dtype list"),
        (
            {"vertices": {1: 2}},
            ex.EdgeListError,
            "vertices is a builtins.dict; give a DataFrame of Dask",
        ),
        (
            {"seed": frame([(1, 1)])},
            ex.UnknownColumnError,
            "^seed has 'a', 'b', and lacks 'vertex', 'component'; give .* columns 'vertex', 'component'$",
        ),
        (
            {"seed": frame([(1, 1)]).set_axis(["vertex", "components"], axis=1)},
            ex.UnknownColumnError,
            "lacks 'component'; .*; did you mean 'components'",
        ),
        (
            {"seed": LABELS, "weight": "w", "thresholds": [0.5, 0.9]},
            ex.UnknownColumnError,
            "lacks 'component_0.5', 'component_0.9'; .* 'vertex', 'component_0.5', 'component_0.9'",
        ),
        (
            {"source": ["a", "b"], "target": ["b", "a"], "seed": LABELS},
            ex.UnknownColumnError,
            "lacks 'vertex_0', 'vertex_1', 'component_0', 'component_1'",
        ),
        ({"vertices": frame([(1, 1)])[[]]}, ex.EdgeListError, "has 0 columns and an id has 1"),
        (
            {"vertices": pd.Series(["x"])},
            ex.VertexTypeError,
            "edges' id has dtype int64 and vertices 'vertex' has dtype",
        ),
    ],
)
def test_invalid_input_is_refused_at_the_call(options, error, message):
    with pytest.raises(error, match=message) as raised:
        gf.connected_components(PAIRS, **ENDS | options)
    assert isinstance(raised.value, gf.GraphflowError)


@pytest.mark.parametrize("edges", [None, 5, np.zeros(2), pd.Series([1])])
def test_edges_that_are_not_a_frame(edges):
    with pytest.raises(ex.EdgeListError, match=r"^edges is .*; edges can be a DataFrame of Dask"):
        gf.connected_components(edges, **ENDS)


class Foreign:
    """A frame of a library that does not export Arrow data."""

    columns = ("a", "b")

    def __init__(self, frame):
        self.frame = frame

    def to_pandas(self):
        return self.frame


def test_a_frame_of_another_library_is_refused_with_the_conversion():
    edges, ids = Foreign(PAIRS), Foreign(PAIRS[["a"]])
    with pytest.raises(ex.EdgeListError, match=r"; .*\. Convert it with edges\.to_pandas\(\)$"):
        gf.pagerank(edges, **ENDS)
    assert len(gf.pagerank(edges.to_pandas(), **ENDS).compute()) == 3
    for function, option in (
        (gf.bfs, "sources"),
        (gf.similarity, "pairs"),
        (gf.pagerank, "personalization"),
        (gf.community_metrics, "communities"),
        (gf.pagerank, "vertices"),
    ):
        with pytest.raises(ex.EdgeListError, match=rf"Convert it with {option}\.to_pandas\(\)$"):
            function(PAIRS, **ENDS, **{option: ids})


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("sources", [1.0], "^sources has dtype float64; .* 1 instead of 1.0$"),
        ("sources", [1, "x"], r"^sources holds Python objects \(mixed"),
        ("targets", [[1]], r"^targets has dtype list.* in targets\]$"),
        ("pairs", [(1, 2)], r"pairs is a list; .* pd\.DataFrame\(pairs\)"),
        ("pairs", PAIRS[["a"]], "pairs has 1 column; give"),
    ],
)
def test_an_error_about_ids_names_the_option(option, value, message):
    error = ex.OptionError if option == "pairs" else ex.VertexTypeError
    function, needed = (gf.similarity, {}) if option == "pairs" else (gf.bfs, {"sources": 1})
    with pytest.raises(error, match=message):
        function(PAIRS, **ENDS, **needed | {option: value})


@pytest.mark.parametrize("dtype", ["str", object, "Int64", "datetime64[ns]"])
def test_nulls_are_counted_by_column(dtype):
    values = {"Int64": [1, None, None], "datetime64[ns]": ["2020-01-01", None, None]}
    edges = pd.DataFrame(
        {"a": pd.Series(values.get(dtype, ["x", None, None]), dtype=dtype)}
    ).assign(b=lambda df: df["a"].iloc[0])
    with pytest.raises(ex.NullVertexError, match=r"'a' has 2 nulls.*dropna=True"):
        gf.connected_components(edges, **ENDS).compute(scheduler="sync")


@pytest.mark.parametrize(
    ("values", "message"), [([[1], [2]], "hashed"), ([(1,), "x"], "sorted")], ids=str
)
def test_objects_that_dask_holds(values, message):
    edges = pd.DataFrame(
        {"a": pd.Series(values, dtype=object), "b": pd.Series([1, 2], dtype=object)}
    )
    with dask.config.set({"dataframe.convert-string": False}):
        labels = gf.connected_components(partitioned(edges, 1), **ENDS)
        with pytest.raises(ex.VertexTypeError, match=message):
            labels.compute(scheduler="sync")


def test_categories_that_turn_out_to_be_of_another_type():
    edges = partitioned(frame([(1, 2)]), 2).astype("category")
    with pytest.raises(ex.VertexTypeError, match="categories when the call was made"):
        gf.connected_components(edges, **ENDS).compute(scheduler="sync")


def test_every_error_is_one_of_the_library_and_a_builtin():
    for name in ex.__all__:
        error = getattr(ex, name)
        if isinstance(error, type) and error is not ex.GraphflowError:
            assert issubclass(error, ex.GraphflowError)
            assert issubclass(error, ValueError | TypeError | RuntimeError | OSError | MemoryError)


def test_a_dask_frame_is_checked_at_the_call_too():
    with pytest.raises(ex.UnknownColumnError):
        gf.connected_components(dd.from_pandas(PAIRS, npartitions=2), source="a", target="zz")


# Errors of the command line, which prints them in one line, are in test_cli.py.


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "edges.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ex.InputFileError, match=r"no such file.*did you mean 'edges\.csv'"):
        gf.read_edges(tmp_path / "edgs.csv")
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "edges.parquet")
    with pytest.raises(ex.InputFileError, match="files of one call must have the same format"):
        gf.read_edges(tmp_path)


def test_results_that_cannot_go_there(tmp_path):
    (tmp_path / "labels.csv").write_text("there")
    with pytest.raises(ex.OutputError, match="exists already; give --overwrite"):
        Output(str(tmp_path / "labels.csv"), overwrite=False).__enter__()
    with pytest.raises(ex.OutputError, match=r"end it in \.parquet, \.csv"):
        Output(str(tmp_path / "labels.txt"), overwrite=False)
    assert (tmp_path / "labels.csv").read_text() == "there"


@pytest.mark.slow
def test_without_compiled_code_an_error_says_which_setting_turns_it_off():
    code = (
        "import pandas as pd, dask_graphflow as gf\n"
        "gf.degrees(pd.DataFrame({'a': [1], 'b': [2]}), source='a', target='b').compute()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stderr.strip().splitlines()[-1]
    assert "UsageError: NUMBA_DISABLE_JIT is set" in last


# The catalogue, docs/reference/errors.md

ROOT = pathlib.Path(__file__).parents[2]
CATALOGUE = (ROOT / "docs" / "reference" / "errors.md").read_text()
ERRORS = [name for name in ex.__all__ if isinstance(getattr(ex, name), type)]
ROWS = dict(re.findall(r"^\| `(\w+)` \|(.*)\|$", CATALOGUE, re.MULTILINE))


def names(tree):
    """Return all names in a piece of code, the last part of those with dots."""
    nodes = list(ast.walk(tree))
    return {n.id for n in nodes if isinstance(n, ast.Name)} | {
        n.attr for n in nodes if isinstance(n, ast.Attribute)
    }


def expected_in(file, test):
    """Return what a test gives to pytest.raises: what a parameter stands for, if it is one."""
    tree = ast.parse(next((ROOT / "tests").rglob(file)).read_text())
    (function,) = (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == test)
    calls = (n for n in ast.walk(function) if isinstance(n, ast.Call))
    found = set()
    for call in calls:
        if ast.unparse(call.func) == "pytest.raises":
            found |= names(call.args[0])
    if found & {argument.arg for argument in function.args.args}:
        found = found.union(*map(names, function.decorator_list))
    return found


def test_the_catalogue_has_every_error():
    assert re.findall(r"^## `(\w+)`$", CATALOGUE, re.MULTILINE) == list(ROWS)
    assert sorted(ROWS) == sorted(ERRORS)


@pytest.mark.parametrize("error", ERRORS)
def test_every_error_is_raised_by_the_tests_in_its_row(error):
    tests = re.findall(r"`(\w+\.py)::(\w+)`", ROWS[error])
    assert tests
    for file, test in tests:
        assert error in expected_in(file, test), f"{file}::{test}"
