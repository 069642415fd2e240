"""Calls with wrong arguments, and names that do not exist, get errors that say how to write them."""

from __future__ import annotations

import copy
import inspect
import pickle

import pandas as pd
import pytest
from conftest import ENDS

import dask_graphflow as gf
from dask_graphflow.exceptions import ArgumentError, OptionError

EDGES = pd.DataFrame({"a": [1], "b": [2]})


@pytest.fixture(scope="module")
def graph():
    return gf.Graph(EDGES, **ENDS)


# More of them are in docs/howto/first_ten_minutes.md, whose rows are tests.
CALLS = {
    "columns by position without sources": (
        lambda graph: gf.bfs(EDGES, "a", "b"),
        r"such as bfs\(edges, source='a', target='b'\)$",
    ),
    "columns of components by position": (
        lambda graph: gf.connected_components(EDGES, "a", "b"),
        r"such as connected_components\(edges, source='a', target='b'\)$",
    ),
    "columns of a Graph by position": (
        lambda graph: gf.Graph(EDGES, "a", "b"),
        r"^Graph\(\) was called .* such as Graph\(edges, source='a', target='b'\)$",
    ),
    "columns of the accessor by position": (
        lambda graph: EDGES.gf.pagerank("a", "b"),
        r"it allows none\. Name the others, such as frame\.gf\.pagerank\(source='a', target='b'\)$",
    ),
    "option of a method by position": (
        lambda graph: graph.pagerank(0.85),
        r"^graph\.pagerank\(\) .* 1 argument without .* such as graph\.pagerank\(alpha=0\.85\)$",
    ),
    "columns of a program by position": (
        lambda graph: graph.run("hops", {"level": 0}),
        r"^Graph\.run\(\) .* such as Graph\.run\(op, columns=\.\.\.\)$",
    ),
    "misspelled option": (
        lambda graph: gf.pagerank(EDGES, **ENDS, alfa=0.9),
        r"^pagerank\(\) has no option 'alfa'; it has edges, .*; did you mean 'alpha'\?$",
    ),
    "misspelled option of a Graph": (
        lambda graph: gf.Graph(EDGES, **ENDS, direct=True),
        r"^Graph\(\) has no option 'direct'; .*did you mean 'directed'\?$",
    ),
    "misspelled option of an estimate": (
        lambda graph: gf.estimate(EDGES, **ENDS, num_vertex=3),
        r"has no option 'num_vertex'; .*did you mean 'num_vertices'\?$",
    ),
    "missing option": (
        lambda graph: gf.bfs(EDGES, **ENDS),
        r"^bfs\(\) was called without sources, .* give sources=\.\.\.$",
    ),
    "missing edges": (lambda graph: gf.pagerank(), "without edges, which has no default"),
    "missing weight of the accessor": (
        lambda graph: EDGES.gf.sssp(**ENDS, sources=[1]),
        r"^frame\.gf\.sssp\(\) was called without weight",
    ),
    "estimate without edges": (
        lambda graph: gf.estimate("bfs"),
        r"Call it as estimate\(edges, 'bfs'\)$",
    ),
    "option given twice": (
        lambda graph: gf.pagerank(EDGES, edges=EDGES),
        "multiple values for argument 'edges'",
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_calls_that_do_not_fit_are_refused_with_the_call_to_write(call, graph):
    make, message = CALLS[call]
    with pytest.raises(ArgumentError, match=message) as raised:
        make(graph)
    assert isinstance(raised.value, TypeError)


def test_a_misspelled_algorithm_of_an_estimate_is_corrected():
    with pytest.raises(OptionError, match=r"did you mean 'pagerank'\?$"):
        gf.estimate(EDGES, "pagernak", **ENDS)


@pytest.mark.parametrize(
    ("of", "name", "suggested"),
    [
        (lambda graph: gf, "pagerak", "pagerank"),
        (lambda graph: gf, "Graf", "Graph"),
        (lambda graph: graph, "betweenness", "betweenness_centrality"),
        (lambda graph: graph, "number_vertices", "num_vertices"),
        (lambda graph: EDGES.gf, "components", "connected_components"),
    ],
)
def test_misspelled_names_are_corrected(of, name, suggested, graph):
    with pytest.raises(
        AttributeError, match=rf"no attribute '{name}'; did you mean '{suggested}'\?$"
    ):
        getattr(of(graph), name)
    assert not hasattr(of(graph), "nothing_like_it")


def test_functions_keep_their_signature_and_can_be_pickled(graph):
    parameters = inspect.signature(gf.pagerank).parameters
    assert [*parameters][:3] == ["edges", "source", "target"]
    assert parameters["source"].default is None
    assert next(iter(inspect.signature(gf.Graph).parameters)) == "edges"
    for function in (gf.pagerank, gf.connected_components, gf.Graph.bfs, type(EDGES.gf).bfs):
        assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(graph).num_edges == pickle.loads(pickle.dumps(graph)).num_edges == 1
