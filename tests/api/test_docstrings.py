"""Every public name says what it takes, gives and raises, and has an example.

pytest runs the examples too: `--doctest-modules`, on dask_graphflow.
"""

from __future__ import annotations

import builtins
import contextlib
import doctest
import inspect
import pathlib
import re
import types

import pytest

import dask_graphflow as gf
from dask_graphflow.algorithms import ALGORITHMS
from dask_graphflow.api.accessor import GraphflowAccessor
from dask_graphflow.api.contents import GraphContents
from dask_graphflow.api.functions import FrameMethods
from dask_graphflow.api.graph_methods import GraphMethods
from dask_graphflow.exceptions import BackendError

GENERATED = (FrameMethods, GraphMethods)
WITHOUT_PAPERS = {"degree_centrality", "degrees", "ego_graph", "induced_subgraph", "neighbors"}
OTHERS = {"costs.share_out", "estimate", "generate.rmat", "Graph.layout", "Graph.run", "Hybrid"}
FROM_PAPERS = sorted({*ALGORITHMS} - WITHOUT_PAPERS | OTHERS)


def public():
    """Return public names and what they are: functions, classes, methods and properties."""
    found = {"frame.gf": GraphflowAccessor}
    for name in gf.__all__:
        value = getattr(gf, name)
        if isinstance(value, types.ModuleType):
            found |= inside(name, value)
        else:
            found[name] = value
    # The omitted names are numbers or texts: __version__, generate.QUADRANTS.
    found = {name: value for name, value in found.items() if callable(value)}
    for name, value in list(found.items()):
        if inspect.isclass(value):
            members = {
                m: getattr(c, m) if c in GENERATED else v  # these are made when they are used
                for c in (*GENERATED, GraphContents, value)
                if issubclass(value, c)
                for m, v in vars(c).items()
            }
            found |= {
                f"{name}.{m}": v for m, v in members.items() if not m.startswith("_") and is_api(v)
            }
    return found


def inside(name, module):
    """Return the public names of a module and of its modules; those that need another tool are left out."""
    found = {}
    for inner in module.__all__:
        with contextlib.suppress(BackendError):
            value, full = getattr(module, inner), f"{name}.{inner}"
            found |= inside(full, value) if isinstance(value, types.ModuleType) else {full: value}
    return found


def is_api(value):
    return inspect.isfunction(value) or isinstance(value, property | classmethod | staticmethod)


PUBLIC = public()
CALLED = {
    name: value
    for name, value in PUBLIC.items()
    if not isinstance(value, property)
    and not (inspect.isclass(value) and issubclass(value, Exception))
}


def sections(value):
    """Return the sections of a docstring by their names, and the lines before them as ""."""
    text = inspect.getdoc(value) or ""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}$", text, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def terms(section):
    """Return the names that a section explains: of `a, b : int` both."""
    lines = (line for line in section.splitlines() if line and not line.startswith(" "))
    return [name for line in lines for name in line.split(" : ")[0].split(", ")]


def parameters(value):
    kinds = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    taken = inspect.signature(getattr(value, "__wrapped__", value)).parameters.values()
    return [kinds.get(p.kind, "") + p.name for p in taken if p.name not in ("self", "cls")]


def examples(name, value):
    """Return the examples that are run, and those that need another tool."""
    found, needs = (
        doctest.DocTestParser().get_examples(inspect.getdoc(value) or ""),
        "integrations.",
    )
    return [one for one in found if doctest.SKIP not in one.options or name.startswith(needs)]


def test_public_names_are_found():
    some = {"bfs", "Graph", "Graph.num_edges", "EdgeOp.bind", "generate.rmat", "costs.Rates.rate"}
    assert some | {"exceptions.WeightError", "frame.gf.sssp", "Hybrid.count"} <= set(PUBLIC)
    assert len(PUBLIC) > 60


@pytest.mark.parametrize("name", PUBLIC)
def test_a_docstring_has_an_example_or_names_the_function_that_has_it(name):
    own = examples(name, PUBLIC[name])
    _, dot, method = name.rpartition(".")
    if dot and method in ALGORITHMS and not own:
        own = examples(method, getattr(gf, method))
        assert f":func:`dask_graphflow.{method}`" in inspect.getdoc(PUBLIC[name])
    assert own
    called = name.rpartition(".")[2]
    if called == "gf" or inspect.isclass(PUBLIC[name]):
        return
    assert any(re.search(rf"\b{called}\b", example.source) for example in own)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_docstring_has_a_summary_parameters_results_and_errors(name):
    value, parts = PUBLIC[name], sections(PUBLIC[name])
    first, _, rest = parts[""].partition("\n")
    assert re.fullmatch(r"[A-Z].*[.]", first)
    assert not rest or rest.startswith("\n")
    for error in terms(parts.get("Raises", "")):
        known = getattr(gf.exceptions, error, None) or getattr(builtins, error)
        assert issubclass(known, Exception)
    if name in CALLED:
        assert sorted(terms(parts.get("Parameters", ""))) == sorted(parameters(value))
        assert inspect.isclass(value) or "Returns" in parts


@pytest.mark.parametrize("name", FROM_PAPERS)
def test_a_docstring_names_the_paper(name):
    assert re.search(r"^\.\. \[1\] .+", sections(PUBLIC[name])["References"], re.MULTILINE)


def test_the_api_pages_have_all_of_it():
    page = pathlib.Path(__file__).parents[2] / "docs" / "reference" / "api.md"
    entries = set(re.findall(r"^   (\w[\w.]*)$", page.read_text(), re.MULTILINE))
    # A class's page has its members.
    members = {name for name in PUBLIC if inspect.isclass(PUBLIC.get(name.rpartition(".")[0]))}
    methods = {name for name in members if name.startswith("Graph.")}
    other = {"frame.gf": "GraphflowAccessor", "GraphflowError": "exceptions.GraphflowError"}
    assert {other.get(name, name) for name in PUBLIC.keys() - members | methods} <= entries
