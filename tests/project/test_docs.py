"""The statements of the documents about the code are true."""

from __future__ import annotations

import ast
import builtins
import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest

import dask_graphflow as gf
from benchmarks.commands import pages
from benchmarks.lib import picture
from dask_graphflow.algorithms import ALGORITHMS

ROOT = pathlib.Path(__file__).parents[2]
TABLE = (ROOT / "docs" / "internals" / "mechanisms.md").read_text()
ROWS, REMOVED = (
    {
        row.split("|")[1].strip(): row.split("|")[4]
        for row in part.splitlines()
        if re.match(r"\| \d", row)
    }
    for part in TABLE.split("\n## Removed\n")
)
NUMBERS = {
    1: range(1, 19),
    2: range(1, 13),
    3: [*range(1, 9), 10, 11],
    4: range(1, 10),
    5: range(1, 7),
    6: range(1, 8),
}
PAGES = sorted(
    str(page.relative_to(ROOT)) for page in ROOT.glob("docs/**/*.md") if "_build" not in page.parts
)
ROOT_PAGES = sorted(path.name for path in ROOT.glob("*.md"))
WANTED = {f"{section}.{i}" for section, rows in NUMBERS.items() for i in rows}


def test_every_mechanism_has_a_row():
    assert {*ROWS, *REMOVED} >= WANTED
    assert not ROWS.keys() & REMOVED.keys()


@pytest.mark.parametrize("number", ROWS)
def test_every_test_in_the_table_exists(number):
    tests = re.findall(r"`(\w+\.py)::(\w+)`", ROWS[number])
    assert tests
    for file, name in tests:
        assert f"\ndef {name}(" in next((ROOT / "tests").rglob(file)).read_text(), f"{file}::{name}"


def test_exported_names():
    assert " ".join(sorted(gf.__all__)) == (
        "EdgeOp Graph GraphflowError Hybrid __version__ articulation_points "
        "betweenness_centrality bfs bipartite_matching bipartite_projection bridges calibrate "
        "closeness_centrality clustering community_metrics connected_components core_number costs "
        "datasets degree_centrality degrees diameter earliest_arrival eccentricity "
        "edge_betweenness_centrality ego_graph eigenvector_centrality estimate exceptions fast_rp "
        "generate greedy_color harmonic_centrality hits hybrid_cluster induced_subgraph "
        "integrations k_core k_shortest_paths k_truss katz_centrality label_propagation leiden "
        "load_graph louvain maximal_independent_set maximum_flow minimum_cut "
        "minimum_spanning_forest motif_counts neighbors pagerank personalized_pagerank plot "
        "random_walks read_edges sample_neighbors shortest_paths show_versions similarity "
        "simple_cycles simple_paths sssp stable_ids strongly_connected_components "
        "topological_order triangle_count truss_number vacuum"
    )
    assert all(hasattr(gf, name) for name in gf.__all__)


@pytest.mark.parametrize("document", [*ROOT_PAGES, *PAGES])
def test_links_to_files_hold(document):
    path = ROOT / document
    for link, anchor in re.findall(r"\]\(([^)#:\s]*)#?([^)\s:]*)\)", path.read_text()):
        linked = path.parent / link if link else path
        assert linked.exists(), link
        assert not anchor or anchor in anchors(linked), f"{link}#{anchor}"


def anchors(path):
    """Return the anchors of a page's headings, as GitHub and the site make them, and its own."""
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {word.strip().replace(" ", "-") for word in words} | {*re.findall(r"^\((.*)\)=$", text)}


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("neighbors", "algorithms/subgraphs.md"),
        ("isolated vertices", "howto/ids.md"),
        ("save", "howto/saved_graphs.md"),
        ("Jupyter", "howto/jupyter.md"),
        ("polars", "howto/inputs.md"),
    ],
)
def test_the_search_of_the_site_finds_a_word_first_on_its_page(word, page):
    # A main entry of the index comes before all other results. Another page with the same entry would too.
    entries = {
        name: re.findall(r"```\{index\} (.*)\n", (ROOT / name).read_text()) for name in PAGES
    }
    found = [name for name, lines in entries.items() if f"! {word}" in ", ".join(lines).split(", ")]
    assert found == [f"docs/{page}"]


def program(path):
    """Return a Python file of the documents as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def layers():
    return program(ROOT / "docs" / "internals" / "layers.py")


def test_the_drawing_of_the_layers_is_made_from_the_imports_of_the_package(layers):
    package = ROOT / "dask_graphflow"
    found = {path.stem for path in package.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert set(layers.layers()) == {name for name in found if not name.startswith("_")}
    assert layers.imports()["tasks", "exceptions"] > 0
    assert "\nlayers.draw()\n" in (ROOT / "docs" / "internals" / "design.md").read_text()


def test_the_drawing_counts_modules_that_import_a_layer_in_any_way(layers, tmp_path):
    modules = {
        "__init__.py": "from .upper import absolute",
        "lower/__init__.py": "",
        "lower/nothing.py": "from . import other",
        "upper/absolute.py": "import package.lower.nothing\nfrom package.lower import other",
        "upper/relative.py": "from ..lower.nothing import x",
        "upper/inside.py": "def f():\n    from package import lower",
        "upper/types.py": "if TYPE_CHECKING:\n    from package import lower",
    }
    for name, text in modules.items():
        path = tmp_path / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert layers.imports(tmp_path / "package") == {("upper", "lower"): 3}


def test_all_raw_data_are_named():
    page = (ROOT / "docs" / "internals" / "benchmarks.md").read_text()
    results = sorted(path.name for path in (ROOT / "benchmarks" / "results").glob("*.json"))
    assert re.findall(r"benchmarks/results/(\S+\.json)\)", page) == results


def test_the_changelog_and_the_citation_have_the_version_of_the_package():
    changelog, citation = (ROOT / name for name in ("CHANGELOG.md", "CITATION.cff"))
    assert re.search(r"^## (\S+)", changelog.read_text(), re.MULTILINE)[1] == gf.__version__
    assert re.search(r"^version: (.*)", citation.read_text(), re.MULTILINE)[1] == gf.__version__


@pytest.fixture(scope="module")
def check_site():
    return program(ROOT / "docs" / "check_site.py")


def test_the_check_of_the_site_finds_pictures_without_alternative_text(check_site, tmp_path):
    pictures = {
        "a.svg": "Sizes of components.",
        "b.svg": "../_images/b.svg",
        "c%20d.svg": "c d.svg",
        "e.svg": " ",
    }
    tags = [f'<img src="../_images/{file}" alt="{words}"/>' for file, words in pictures.items()]
    tags.append('<img src="../_images/f.svg"/>')
    (tmp_path / "page.html").write_text("".join(tags))
    found = check_site.wordless(check_site.pages_of(tmp_path), tmp_path)
    files = [line.split(" has no alternative text")[0] for line in found]
    without = ["b.svg", "c%20d.svg", "e.svg", "f.svg"]
    assert files == [f"page.html: ../_images/{file}" for file in without]


CELL = re.compile(r"```\{code-cell\} python\n(.*?)```", re.DOTALL)
DRAWS = re.compile(r"gf\.plot\.(?!layout)|draw\.(canvas|chart|levels|plt)|plt\.subplots|\.draw\(\)")


def shown(document):
    """Return the cells of a page that readers see, without their options."""
    cells = CELL.findall((ROOT / document).read_text())
    seen = [cell for cell in cells if not re.match(r":tags: \[remove-(input|cell)\]", cell)]
    return [re.sub(r"^[:%].*", "", cell, flags=re.MULTILINE) for cell in seen]


# The page says that `shown` stands for pytest.raises.
UNBOUND = {"docs/reference/errors.md": {"shown"}}


@pytest.mark.parametrize("document", PAGES)
def test_readers_can_copy_the_cells_of_a_page_into_an_empty_folder(document):
    code = "\n".join(shown(document))
    assert not re.search(r"\.\./|examples/|import drawing", code)
    tree = ast.parse(code)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    used = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    for node in ast.walk(tree):
        if isinstance(node, ast.alias):
            bound.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler):
            bound.add(node.name)
    assert used - bound - {*dir(builtins)} == UNBOUND.get(document, set())


def test_the_first_cells_of_the_tour_run_in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec("\n".join(shown("docs/start/tour.md")[:4]), names)
    assert len(names["labels"]) == 65_839


@pytest.mark.parametrize("document", PAGES)
def test_a_cell_that_draws_has_alternative_text(document):
    drawing = [cell for cell in CELL.findall((ROOT / document).read_text()) if DRAWS.search(cell)]
    for cell in drawing:
        assert re.search(
            r'^:mystnb: \{image: \{(classes: wide, )?alt: ".{30,}\."\}\}$', cell, re.MULTILINE
        ), cell


def test_the_gallery_has_a_picture_of_every_algorithm():
    page = (ROOT / "docs" / "gallery" / "index.md").read_text()
    shown = re.findall(r"^### \[`(\w+)`\]\((.*)\)$", page, re.MULTILINE)
    functions = {name for name in gf.__all__ if name in ALGORITHMS} | {"shortest_paths"}
    assert {name for name, _ in shown} == functions
    for section in page.split("\n### ")[1:]:
        assert len(DRAWS.findall(section)) == 1, section.splitlines()[0]


def blocks(document):
    return re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder in which the examples run, with the files that they read."""
    edges = gf.generate.rmat(8, npartitions=2)
    edges.to_parquet(tmp_path / "edges")
    edges.compute().to_parquet(tmp_path / "edges.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_tables_of_measured_times_are_those_of_the_stored_results():
    marked = []
    for document in pages.DOCUMENTS:
        text = document.read_text()
        assert pages.written(text) == text, "run: python -m benchmarks pages"
        marked += [name for _, name, _ in pages.MARKED.findall(text)]
    assert {*marked} == {*pages.TABLES}


def test_the_picture_of_measured_times_is_that_of_the_stored_results():
    with pytest.importorskip("PIL.Image").open(picture.PICTURE) as drawn:
        assert drawn.text["Description"] == picture.description(), "run: python -m benchmarks pages"


def test_the_build_of_the_site_runs_all_code_except_for_gpus_other_data_and_tools():
    others = [
        "docs/howto/gpus.md",
        "docs/howto/integrations.md",
        "docs/tutorials/daily_changes.md",
    ]  # tests run these
    assert [page for page in PAGES if blocks(page)] == others


@pytest.mark.gpu
@pytest.mark.slow
def test_examples_that_need_a_gpu_run(folder):
    pytest.importorskip("cudf")
    for number, block in enumerate(blocks("docs/howto/gpus.md")):
        (folder / f"block_{number}.py").write_text(block)
        subprocess.run([sys.executable, f"block_{number}.py"], check=True)
