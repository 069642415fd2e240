"""The NetworkX backend: NetworkX's own tests, what NetworkX is told, and the benchmark."""

from __future__ import annotations

import importlib.metadata
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib

import networkx as nx
import pytest
from nx_graphs import TYPES

from _graphflow_networkx import FUNCTIONS, get_info
from _graphflow_networkx.backend import function_of, signature_of
from benchmarks.commands import networkx_backend
from dask_graphflow.nx import backend, convert_from_nx
from dask_graphflow.nx.expected_failures import EXPECTED_FAILURES
from dask_graphflow.nx.registry import REGISTERED, TAKES

pytestmark = pytest.mark.usefixtures("host_memory")  # NetworkX graphs are in host memory

ROOT = pathlib.Path(__file__).parents[2]
NETWORKX = pathlib.Path(nx.__file__).parent
#: The modules of NetworkX's tests in which a test calls a function of the backend, also through another
#: function of NetworkX. A slow test says which are new and which are gone.
LINES = (ROOT / "tests" / "nx_modules.txt").read_text().splitlines()
CALLERS = [line.removesuffix(" *") for line in LINES]
#: Those with a star, whose tests are of functions of the backend. Together they call nearly all of them.
DIRECT = [line.removesuffix(" *") for line in LINES if line.endswith(" *")]
#: The only tests of these make eight other calls first. ``test_nx_all_pairs.py`` has tests of them.
LATE = {"all_pairs_bellman_ford_path", "all_pairs_bellman_ford_path_length"}
# Several minimum cycle bases are right, so the module of the cycles is only run with the first calls.
LATE |= {"simple_cycles"}
# NetworkX's tests of flows name one of its own functions for the flow. ``test_nx_flows.py`` has others.
LATE |= {"maximum_flow", "minimum_cut", "minimum_cut_value"}


@pytest.fixture
def environment(tmp_path):
    """Return environment variables with which NetworkX finds the backend.

    NetworkX looks at the entry points of installed packages. A checkout that is not installed, or that was
    installed when it had other entry points, gets them in a folder of its own.
    """
    paths = [str(ROOT), str(ROOT / "tests")]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = project["entry-points"]["networkx.backends"]
    installed = importlib.metadata.entry_points(group="networkx.backends", name="graphflow")
    if {entry.name: entry.value for entry in installed} != wanted:
        info = tmp_path / "entry_points" / "dask_graphflow-0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dask-graphflow\nVersion: 0\n")
        lines = []
        for group, entries in project["entry-points"].items():
            lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
        (info / "entry_points.txt").write_text("\n".join(lines))
        paths.insert(0, str(info.parent))
    paths += [path for path in [os.environ.get("PYTHONPATH")] if path]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths)}


# NetworkX's own tests


def ran(arguments, folder, environment):
    """Run Python in a folder and wait for its end."""
    how = {"cwd": folder, "env": environment, "capture_output": True, "text": True, "check": False}
    return subprocess.run([sys.executable, *arguments], **how)


def run_tests(modules, limit, environment, folder):
    """Run NetworkX's tests of some modules with the backend; return the process and its report."""
    report = folder / "report.json"
    environment |= {
        "NETWORKX_TEST_BACKEND": "graphflow",
        "NETWORKX_FALLBACK_TO_NX": "True",
        "GRAPHFLOW_NX_REPORT": str(report),
        "GRAPHFLOW_NX_LIMIT": str(limit),
    }
    # If the environment is in this project's folder, pytest would read this project's settings.
    options = ["-q", "-c", os.devnull, "-p", "nx_calls", "-p", "no:cacheprovider"]
    files = [str(NETWORKX / module) for module in modules]
    run = ran(["-m", "pytest", *options, f"--rootdir={NETWORKX}", *files], folder, environment)
    assert report.exists(), run.stdout + run.stderr
    return run, json.loads(report.read_text())


@pytest.mark.parametrize(
    ("modules", "limit"),
    [
        (DIRECT, 8),
        pytest.param(DIRECT, 1000, marks=pytest.mark.slow),
        pytest.param(sorted({*CALLERS} - {*DIRECT}), 8, marks=pytest.mark.slow),
    ],
    ids=["first calls", "all calls", "other modules"],
)
def test_tests_of_networkx_pass_as_expected(modules, limit, environment, tmp_path, record_property):
    # A module can be missing in an older or newer release.
    modules = [module for module in modules if (NETWORKX / module).exists()]
    run, report = run_tests(modules, limit, environment, tmp_path)
    results, calls = report["results"], report["calls"]
    counts = ", ".join(f"{name} {count}" for name, count in sorted(calls.items()))
    summary = (
        f"{len(report['reached'])} of {len(results)} tests of NetworkX reached the backend with "
        f"{sum(calls.values())} calls"
    )
    record_property("NetworkX", f"{summary}: {counts}")
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(results) > 300
    assert not {*DIRECT} <= {*modules} or calls.keys() | LATE == FUNCTIONS.keys()
    marked = {name for name, outcome in results.items() if outcome == "xfailed"}
    for name in EXPECTED_FAILURES:
        if name.partition("::")[0] in modules:
            assert name in marked, f"{name} did not fail"


@pytest.mark.slow
def test_the_modules_that_call_the_backend_are_all_of_them(environment, tmp_path):
    modules = [str(path.relative_to(NETWORKX)) for path in sorted(NETWORKX.rglob("test_*.py"))]
    _, found = run_tests(modules, 0, environment, tmp_path)
    assert found["modules"] == CALLERS


# What the backend tells NetworkX


def test_the_table_the_functions_and_networkx_agree():
    assert sorted(REGISTERED) == list(FUNCTIONS)
    for name, function in FUNCTIONS.items():
        theirs = {*inspect.signature(function_of(name).orig_func).parameters}
        takes, unsupported = TAKES[name], {*function.unsupported}
        assert theirs <= takes | unsupported, name
        assert not takes & unsupported, name
        assert takes - theirs <= {"metric"}, name  # not in NetworkX 3.6
    info = get_info()
    assert list(info["functions"]) == list(FUNCTIONS)
    notes = info["functions"]["hits"]["additional_docs"]
    assert notes == "These options are not supported: `nstart`, `normalized`, `method`."
    notes = info["functions"]["clustering"]["additional_docs"]
    assert notes.endswith("`weight`. A directed graph is left to NetworkX.")


def test_an_option_of_a_newer_networkx_is_left_to_networkx(monkeypatch):
    signature = inspect.signature(lambda G, new=None: None)
    monkeypatch.setattr("dask_graphflow.nx.registry.signature_of", lambda _: signature)
    converted = convert_from_nx(nx.path_graph(3))
    assert REGISTERED["core_number"](converted) == {0: 1, 1: 1, 2: 1}
    with pytest.raises(NotImplementedError, match=r"core_number\(\) .* argument 'new'$"):
        REGISTERED["core_number"](converted, new=1)


PROGRAM = """
import sys

import dask_graphflow

assert "networkx" not in sys.modules
for name in [name for name in sys.modules if name.startswith("dask_graphflow")]:
    del sys.modules[name]

import networkx as nx

assert "dask_graphflow" not in sys.modules
assert "graphflow" in nx.pagerank.__doc__

G = nx.gnm_random_graph(2000, 60_000, seed=1)
small = nx.path_graph(5)
nx.config.backend_priority = ["graphflow"]
nx.pagerank(small)
nx.degree_centrality(G)
nx.shortest_path(G, 0, 1)
nx.closeness_centrality(G, u=1)
nx.clustering(nx.DiGraph(G), 0)
next(nx.adamic_adar_index(small))
nx.number_of_selfloops(G)
assert "dask_graphflow" not in sys.modules, "calls that are left to NetworkX imported the project"
ranks = nx.pagerank(G)
assert "graphflow" in G.__networkx_cache__["backends"]
assert "backends" not in small.__networkx_cache__
nx.config.backend_priority = []
expected = nx.pagerank(G)
assert list(ranks) == list(expected)
assert all(abs(ranks[node] - expected[node]) < 1e-9 for node in G)
assert nx.core_number(small, backend="graphflow") == dict.fromkeys(range(5), 1)
try:
    nx.closeness_centrality(small, u=1, backend="graphflow")
except NotImplementedError:
    pass
else:
    raise AssertionError("closeness_centrality(u=) ran")
view = small.subgraph([0, 1, 2])
assert nx.is_connected(view, backend="graphflow")
small.remove_edge(0, 1)
assert not nx.is_connected(view, backend="graphflow")
small.add_edge(0, 1)
converted = nx.utils.backends._load_backend("graphflow").convert_from_nx(small)
assert list(map(len, nx.connected_components(converted))) == [5]
nx.config.fallback_to_nx = True
assert nx.diameter(converted) == 4
print("done")
"""


def test_networkx_finds_and_chooses_the_backend(environment, tmp_path):
    run = ran(["-W", "ignore::UserWarning", "-c", PROGRAM], tmp_path, environment)
    assert run.stdout == "done\n", run.stderr


LEFT = """
import json
import sys

import networkx as nx

G = nx.gnm_random_graph(50, 200, seed=1)
nx.pagerank(G)  # imports SciPy
nx.config.backend_priority = sys.argv[1:]
nx.pagerank(G)  # small
nx.closeness_centrality(G, u=1)  # an option that is not supported
nx.shortest_path(G, 0, 1)  # not worth it
nx.clustering(nx.DiGraph(G), 0)  # a type of graph that is not supported
nx.number_of_selfloops(G)  # not a function of the backend
print(json.dumps(sorted(sys.modules)))
"""


def test_calls_that_are_left_to_networkx_import_only_the_entry_points(environment, tmp_path):
    loaded = []
    for backends in ([], ["graphflow"]):
        run = ran(["-c", LEFT, *backends], tmp_path, environment)
        assert run.returncode == 0, run.stderr
        loaded.append({*json.loads(run.stdout)})
    without, with_backend = loaded
    assert with_backend - without == {"_graphflow_networkx.backend"}
    assert "_graphflow_networkx" in without  # NetworkX reads the table when it is imported
    assert not any(name.partition(".")[0] in ("dask_graphflow", "dask") for name in with_backend)


@pytest.mark.parametrize(
    ("name", "options", "can"),
    [
        ("pagerank", {}, True),
        ("pagerank", {"weight": len}, "weight= has to be the name of an edge attribute"),
        ("pagerank", {"weight": None, "dangling": {0: 1}}, True),
        ("pagerank", {"new": 1}, "pagerank() got an unexpected keyword argument 'new'"),
        ("hits", {"nstart": {0: 1}}, "nstart= is not supported"),
        ("hits", {"nstart": None, "normalized": True}, True),
        ("closeness_centrality", {"u": 0}, "u= is not supported"),
        ("closeness_centrality", {"wf_improved": False}, True),
        ("greedy_color", {"strategy": "".join(["largest", "_first"])}, True),
        ("greedy_color", {"strategy": "DSATUR"}, "strategy= is not supported"),
        (
            "ego_graph",
            {"n": 0, "distance": len},
            "distance= has to be the name of an edge attribute",
        ),
        ("jaccard_coefficient", {}, "a call without ebunch= is not supported"),
        ("jaccard_coefficient", {"ebunch": [(0, 1)]}, True),
        ("shortest_path", {}, "a call without source= or target= is not supported"),
        ("shortest_path_length", {"target": 0}, True),
    ],
)
def test_options_that_are_not_supported_are_left_to_networkx(name, options, can):
    assert backend.can_run(name, (nx.path_graph(3),), options) == can


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if FUNCTIONS[name].unsupported_graphs])
def test_types_of_graphs_that_are_not_supported_are_left_to_networkx(name):
    needed = {"ego_graph": {"n": 0}, "all_simple_paths": {"source": 0, "target": 1, "cutoff": 2}}
    flows = {"_s": 0, "_t": 1} if {"_s", "_t"} <= {*signature_of(name).parameters} else {}
    options = needed.get(name, flows)
    for kind in TYPES:
        types = {"directed": kind().is_directed(), "multigraph": kind().is_multigraph()}
        refused = [name for name in FUNCTIONS[name].unsupported_graphs if types[name]]
        reason = f"{refused[0]} graphs are not supported" if refused else True
        assert backend.can_run(name, (kind([(0, 1)]),), options) == reason


def test_calls_that_are_not_worth_it_are_left_to_networkx(monkeypatch):
    small, large = nx.path_graph(100), nx.path_graph(2000)
    for name, least, converted in (("pagerank", 1000, 50), ("degree_centrality", None, 1000)):
        function = FUNCTIONS[name]._replace(least_edges=least, least_converted=converted)
        monkeypatch.setitem(FUNCTIONS, name, function)
    no_longer = "NetworkX takes no longer than the conversion of the graph"
    assert backend.should_run("pagerank", (small,), {}) == "the graph has fewer than 1000 edges"
    assert backend.should_run("pagerank", (), {"G": large}) is True
    assert backend.should_run("degree_centrality", (large,), {}) == no_longer
    small.__networkx_cache__["backends"] = large.__networkx_cache__["backends"] = {"graphflow": {}}
    assert backend.should_run("pagerank", (small,), {}) is True
    assert backend.should_run("degree_centrality", (large,), {}) is True
    assert "fewer than 1000 edges" in backend.should_run("degree_centrality", (small,), {})
    assert "both ends" in backend.should_run("shortest_path", (large, 0, 5), {})
    assert backend.should_run("degree_centrality", (convert_from_nx(nx.path_graph(2)),), {}) is True


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_benchmark_calls_every_function(name):
    graph = networkx_backend.graph_of(100, networkx_backend.kind_of(name))
    options = networkx_backend.options_of(name, graph)
    assert backend.can_run(name, (graph,), options) is True


def test_the_benchmark_interpolates_the_number_of_edges():
    def least(*speedups):
        sizes = {10 ** (3 + i): {"NetworkX": s, "converted": 1} for i, s in enumerate(speedups)}
        return networkx_backend.least_edges(sizes, "converted")

    assert least(2, 3) == 1000
    assert least(0.1, 10, 20) == 5000  # the two are equally fast at 3162
    assert least(0.5, 2, 0.5, 2) == 500_000
    assert least(2, 0.9) is None


def test_the_benchmark_compares_with_networkx(environment, tmp_path):
    command = ["-m", "benchmarks", "networkx-backend", "--only", "core_number"]
    command += ["--edges", "100", "200", "--out", str(tmp_path)]
    run = ran(command, ROOT, environment)
    assert run.returncode == 0, run.stderr
    assert re.search(r"\ncore_number( +[\d.e+-]+){7}\n", run.stdout)
    stored = json.loads(next(tmp_path.glob("networkx-backend-*.json")).read_text())
    contenders = {"NetworkX", "with conversion", "converted"}
    assert stored["seconds"]["core_number"]["200"].keys() == contenders
