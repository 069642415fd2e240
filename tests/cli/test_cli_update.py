"""``graphflow update``, and what ``graphflow info`` says of the versions that it adds."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from click.testing import CliRunner

import dask_graphflow as gf
from _graphflow_cli import main


def run(*arguments, code=0):
    done = CliRunner().invoke(main, [*map(str, arguments)])
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture
def path(tmp_path, monkeypatch):
    """The folder of a saved graph, in a folder with new and old edges."""
    monkeypatch.chdir(tmp_path)
    edges = pd.DataFrame({"a": ["x", "y", "z", "z"], "b": ["y", "z", "x", "x"], "w": [1, 2, 3, 4]})
    gf.Graph(edges, source="a", target="b", weight="w").save(tmp_path / "graph")
    (tmp_path / "new.csv").write_text("a,b,w\nx,007,5\n")
    (tmp_path / "old.csv").write_text("a,b\nz,x\n")
    (tmp_path / "other.csv").write_text("a,b\nz,y\n")
    return tmp_path / "graph"


def test_files_make_the_next_version(path):
    told = json.loads(run("update", path, "--insert", "new.csv", "--delete", "old.csv", "--json"))
    assert told == {"vertices": 4, "edges": 3}
    found = gf.load_graph(path).edges().compute()
    assert found.values.tolist() == [["x", "007", 5], ["x", "y", 1], ["y", "z", 2]]
    told = json.loads(run("info", path, "--json"))
    assert (told["vertices"], told["edges"]) == (4, 3)
    assert told["version 0"] == "stored as a whole"
    assert told["version 1"].endswith("1 edge inserted, 1 deleted, stored as a whole")
    told = json.loads(run("update", path, "--delete", "new.csv", "--keep", 1, "--json"))
    assert told["edges"] == 2
    assert told["deleted files"] > 0
    assert gf.load_graph(path).num_edges == 2
    told = json.loads(run("info", path, "--json"))
    # Version 2 knows how it differs from version 1, whose changes are gone.
    assert "version 0" not in told
    assert told["version 1"] == "stored as a whole"
    assert told["version 2"].endswith("0 edges inserted, 1 deleted, stored as a whole")


def test_what_cannot_be_done_changes_nothing(path):
    before = sorted(file.name for file in path.iterdir())
    assert "Give --insert, --delete or both" in run("update", path, code=2)
    assert "from 'z' to 'y'" in run("update", path, "--delete", "other.csv", code=1)
    assert "no column 'w'" in run("update", path, "--insert", "old.csv", code=1)
    assert sorted(file.name for file in path.iterdir()) == before
    run("update", path, "--delete", "other.csv", "--missing", "ignore", "--quiet")
    assert gf.load_graph(path).num_edges == 4
