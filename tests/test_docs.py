"""What the documents say of the code is so."""

from __future__ import annotations

import pathlib
import re

import dask
import pandas as pd
import pytest

import dask_graphflow as gf

ROOT = pathlib.Path(__file__).parent.parent
TABLE = (ROOT / "docs" / "internals" / "mechanisms.md").read_text()
ROWS = {
    row.split("|")[1].strip(): row.split("|")[4]
    for row in TABLE.splitlines()
    if re.match(r"\| \d", row)
}
NUMBERS = {
    1: range(1, 19),
    2: range(1, 13),
    3: [*range(1, 9), 10, 11],
    4: range(1, 10),
    5: range(1, 7),
}
WANTED = {f"{section}.{i}" for section, rows in NUMBERS.items() for i in rows}


def test_every_mechanism_has_a_row():
    assert set(ROWS) >= WANTED


@pytest.mark.parametrize("number", ROWS)
def test_every_test_in_the_table_exists(number):
    tests = re.findall(r"`(\w+\.py)::(\w+)`", ROWS[number])
    assert tests
    for file, name in tests:
        assert f"\ndef {name}(" in (ROOT / "tests" / file).read_text(), f"{file}::{name}"


def test_exported_names():
    assert sorted(gf.__all__) == [
        "EdgeOp",
        "Graph",
        "GraphflowError",
        "Hybrid",
        "__version__",
        "bfs",
        "calibrate",
        "connected_components",
        "costs",
        "estimate",
        "exceptions",
        "generate",
        "hybrid_cluster",
        "label_propagation",
        "pagerank",
        "sssp",
        "tune_chunk_size",
    ]
    assert all(hasattr(gf, name) for name in gf.__all__)


@pytest.mark.parametrize(
    "document", ["README.md", "CONTRIBUTING.md", *map(str, ROOT.glob("docs/**/*.md"))]
)
def test_links_to_files_hold(document):
    path = ROOT / document
    for link in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
        assert (path.parent / link).exists(), link


def blocks(document):
    return re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)


@pytest.mark.parametrize("document", ["README.md", "docs/algorithms/connected_components.md"])
def test_the_first_example_runs(document, tmp_path, monkeypatch):
    pairs = {
        "id_l": ["a", "b", "x"],
        "id_r": ["b", "c", "y"],
        "match_probability": [1.0, 0.96, 0.5],
    }
    pd.DataFrame(pairs).to_parquet(tmp_path / "pairs.parquet")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(blocks(document)[0], names)
    assert len(names["labels"].compute()) in (3, 5)


def test_readmes_graphs_run():
    edges = gf.generate.rmat(8, npartitions=2).compute().assign(w=1.0)
    names = {"gf": gf, "edges": edges}
    (block,) = (block for block in blocks("README.md") if "gf.Graph" in block)
    exec(block, names)
    assert names["g"].num_edges == len(edges)


@pytest.mark.parametrize(
    "page", ["graphs", "bfs", "shortest_paths", "pagerank", "label_propagation"]
)
def test_the_example_of_its_page_runs(page):
    (block,) = blocks(f"docs/algorithms/{page}.md")
    assert "assert " in block
    exec(block, {})


def test_the_example_of_costs_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("dask_graphflow.costs.measuring.SCALES", (8, 10))
    (block,) = blocks("docs/internals/costs.md")
    with dask.config.set({"graphflow.calibration.path": str(tmp_path)}):
        exec(block, {})
    assert list(tmp_path.iterdir())


def test_a_graph_that_is_shared_out_runs():
    (block,) = blocks("docs/howto/hybrid.md")
    exec(block, {})
