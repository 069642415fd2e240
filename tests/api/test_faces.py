"""An algorithm can be called as a function, as a method of a graph, and by a frame's accessor."""

from __future__ import annotations

import importlib.util
import pathlib

import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, frame, partitioned, to_host

import dask_graphflow as gf
from dask_graphflow.algorithms import ALGORITHMS
from dask_graphflow.declarations.number_options import Count, Number
from dask_graphflow.declarations.option import Choice, Flag
from dask_graphflow.exceptions import EdgeListError, OptionError, UnknownColumnError, WeightError

ROOT = pathlib.Path(__file__).parents[2]
EDGES = pd.DataFrame({"a": [1, 1, 2, 8], "b": [2, 5, 5, 9], "km": [3.0, 1.0, 1.0, 2.0]})
OWN = {
    "bfs": {"sources": [1]},
    "sssp": {"sources": [1]},
    "personalized_pagerank": {"sources": [8, 1]},
    "earliest_arrival": {
        "sources": [1],
        "departure": "t",
        "timetable": pd.DataFrame({"x": [1, 5], "y": [5, 2], "t": [3, 4]}),
    },
    "k_shortest_paths": {"pairs": pd.DataFrame({"x": [1, 8], "y": [5, 9]}), "k": 2},
    "k_truss": {"k": 2},
    "random_walks": {"starts": [1], "length": 3},
    "sample_neighbors": {"seeds": [1], "fanouts": [2]},
    "bipartite_projection": {"side": "source"},
    "maximum_flow": {"sources": [1], "sinks": [5]},
    "minimum_cut": {"sources": [1], "sinks": [5]},
    "simple_cycles": {"max_length": 3},
    "simple_paths": {"pairs": pd.DataFrame({"x": [1, 8], "y": [5, 9]}), "max_length": 2},
    "neighbors": {"sources": [1]},
    "community_metrics": {"communities": pd.DataFrame({"v": [1, 2, 5, 8, 9], "c": list("abbcc")})},
    "ego_graph": {"centers": [1]},
    "induced_subgraph": {"subset": [1, 5, 8]},
}
BIPARTITE = "bipartite_matching", "bipartite_projection"
AS_DECLARED = (*BIPARTITE, "connected_components", "topological_order")


def reading(name):
    """Return the options that say how an algorithm reads the frame."""
    directed = {} if name in AS_DECLARED else {"directed": False}
    return {**ENDS, **directed, **({"weight": "km"} if name == "sssp" else {})}


@pytest.fixture(scope="module")
def graph():
    return gf.Graph(EDGES, **ENDS, weight="km", directed=False)


def test_the_generated_files_are_current():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "tools" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    stale = [path.name for path, text in generate.files().items() if path.read_text() != text]
    assert not stale, "run: python3 dev.py generate"


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_every_way_to_call_gives_the_same(name, graph):
    own, edges = OWN.get(name, {}), EDGES
    if name in BIPARTITE:
        edges = EDGES.assign(b=EDGES["b"] + 10)
    plain = graph
    if ALGORITHMS[name].weights == "optional":  # the frame is read without weights here
        plain = gf.Graph(EDGES, **ENDS, directed=False)
    if name in (*BIPARTITE, "topological_order"):  # of directed graphs only
        plain = gf.Graph(edges, **ENDS)
    wanted = getattr(plain, name)(**own).compute()
    assert len(wanted)
    for found in (
        getattr(gf, name)(plain, **own),
        getattr(gf, name)(edges, **reading(name), **own),
        getattr(edges.gf, name)(**reading(name), **own),
    ):
        pd.testing.assert_frame_equal(found.compute(), wanted)


@pytest.mark.parametrize(
    ("name", "given", "named"),
    [
        ("bfs", {"source": "a", "sources": 1}, "source="),
        ("bfs", {"directed": False, "dropna": True, "sources": 1}, "directed=, dropna="),
        ("sssp", {"weight": "km", "sources": 1}, "weight="),
        ("pagerank", {"multi": "sum"}, "multi="),
        ("label_propagation", {"directed": True}, "directed="),
        ("degrees", {"vertices": pd.Series([1])}, "vertices="),
        ("connected_components", {"threshold": 0.0}, "threshold="),
        ("connected_components", {"renumber": False}, "renumber="),
    ],
)
def test_options_for_reading_a_frame_are_refused_with_a_graph(name, given, named, graph):
    with pytest.raises(OptionError, match=rf"^{name} was called on a Graph with {named};"):
        getattr(gf, name)(graph, **given)


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_a_frame_needs_the_columns_of_both_ends(name):
    own = OWN.get(name, {})
    with pytest.raises(
        UnknownColumnError, match=r"^source= and target= are not given.*'a', 'b', 'km'"
    ):
        getattr(gf, name)(EDGES, **own)
    with pytest.raises(
        UnknownColumnError, match=r"^source= is given without target=.*'a', 'b', 'km'"
    ):
        getattr(gf, name)(EDGES, source="a", **own)
    with pytest.raises(EdgeListError, match=r"^edges is a builtins.int; edges can be"):
        getattr(gf, name)(5, **own)


def test_an_algorithm_that_needs_weights_says_so():
    with pytest.raises(WeightError, match=r"sssp needs the weights.*weight=.*bfs"):
        gf.sssp(gf.Graph(EDGES, **ENDS), sources=1)
    with pytest.raises(WeightError, match=r"sssp needs the weights.*weight="):
        gf.sssp(EDGES, **ENDS, sources=1)


def test_directed_changes_the_columns_of_degrees(graph):
    assert list(gf.degrees(graph).columns) == ["vertex", "degree"]
    assert list(gf.degrees(EDGES, **ENDS).columns) == ["vertex", "in_degree", "out_degree"]


@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize("case", ["long path", "power law", "loops and duplicates"])
def test_components_of_a_directed_graph_are_the_weak_ones(case, shards):
    pairs = {
        "long path": [(9 - i, 10 - i) for i in range(10)],
        "power law": gf.generate.rmat(7, edge_factor=1).compute().to_numpy(),
        "loops and duplicates": [(3, 3), (7, 1), (7, 1), (5, 7), (2, 9), (9, 2)],
    }[case]
    edges = partitioned(frame(pairs), 3)
    graph = gf.Graph(edges, source="a", target="b", shards=shards)
    found = to_host(graph.connected_components().compute()).reset_index(drop=True)
    wanted = to_host(gf.connected_components(edges, source="a", target="b").compute())
    pd.testing.assert_frame_equal(found, wanted.reset_index(drop=True))


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [
        (Count(), 0, "give a whole number, 1 or more"),
        (Count(least=0, optional=True), -1, "give a whole number, 0 or more, or None"),
        (Count(), True, "give a whole number"),
        (Count(), 2.0, "give a whole number"),
        (Number(low=0, high=1), 1.5, "give a number from 0 to 1"),
        (Number(low=0, high=1), float("nan"), "give a number from 0 to 1"),
        (Number(low=0, optional=True), -1, "give a number, 0 or more, or None"),
        (Number(above=0), 0, "give a number above 0"),
        (Number(above=0), "1", "give a number above 0"),
        (Number(above=0, finite=True), float("inf"), "give a number that is finite and above 0"),
        (Choice(("push", "pull")), "pul", "give 'push', 'pull'; did you mean 'pull'"),
        (Choice(("push", "pull")), None, "give 'push', 'pull'"),
        (Flag(), 1, "give True or False"),
    ],
)
def test_an_option_that_is_refused_says_what_is_allowed(check, value, message):
    with pytest.raises(OptionError, match=rf"^o={value!r}; {message}"):
        check.check("o", value, None)


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (Count(), np.int32(3)),
        (Number(low=0, high=1), 1),
        (Number(above=0, optional=True), 2),
        (Choice(("push", "pull")), "pull"),
        (Flag(), np.True_),
    ],
)
def test_an_option_that_is_allowed_is_sent(check, value):
    assert check.check("o", value, None) == value
