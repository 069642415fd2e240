"""Topological order: the generations of NetworkX, for every number of members, or a cycle in the error."""

from __future__ import annotations

import networkx as nx
import pandas as pd
import pytest
from conftest import ENDS, GRAPHS, frame
from oracles import confirm
from shapes import apart, at_random, cycle, grid, rmat

import dask_graphflow as gf
from dask_graphflow.exceptions import CycleError
from dask_graphflow.operators import acyclic

pytestmark = pytest.mark.usefixtures("backend")

SHAPES = {
    **{name: [(a, b) for a, b in pairs if a < b] for name, pairs in GRAPHS.items()},
    "path backwards": GRAPHS["path backwards"],
    "two ways of different length": [*GRAPHS["path"], (0, 299), (150, 299), (0, 300)],
    "rmat": [(a, b) for a, b in rmat() if a < b],
    "random, backwards": [(b, a) for a, b in at_random(300, 2000) if a < b],
    "every pair": [(a, b) for a in range(40) for b in range(a + 1, 40)],
    "grid": grid(12, "left", "down"),
    "tree": [((at - 1) // 3, at) for at in range(1, 200)],
}
MIXED = apart(SHAPES)


@pytest.fixture(params=["one thread", "supersteps"])
def way(request, monkeypatch):
    """How the vertices of a single member in memory are removed."""
    if request.param == "supersteps":
        monkeypatch.setattr(acyclic, "FEW", -1)


def check(found, pairs, vertices=()):
    assert found.generation.dtype == "int32"
    confirm("topological_order", found, pairs, {}, vertices=vertices)


def test_generations_are_those_of_networkx(built, way):
    check(built(MIXED).topological_order().compute(), MIXED)


def test_a_vertex_without_edges_is_in_the_first_generation():
    found = gf.topological_order(frame([(5, 2)]), **ENDS, vertices=pd.Series([1, 9])).compute()
    check(found, [(5, 2)], [1, 9])


def test_each_edge_is_followed_once(built, way, members):
    _, steps = built(SHAPES["rmat"]).topological_order(trace=True)
    steps = steps.compute()
    counting, removing = steps[steps.superstep == 0], steps[steps.superstep > 0]
    for some in counting, removing:
        assert some.edges.sum() == len(SHAPES["rmat"]) * members
    assert removing.frontier.sum() == len({*sum(SHAPES["rmat"], ())}) * members


def on_a_cycle(pairs):
    graph = nx.DiGraph(pairs)
    parts = map(set, nx.strongly_connected_components(graph))
    return {v for part in parts for v in part if len(part) > 1 or graph.has_edge(v, v)}


CYCLES = {
    "self-loop": [(1, 2), (2, 2), (2, 3)],
    "pair": [(0, 9), (9, 5), (5, 9)],
    "way into a cycle, and out of it": [(0, 1), *cycle(3, 1, 2), (3, 4), (4, 5)],
    "way between cycles": [*cycle(0, 30, 31), *[(i, i + 1) for i in range(25)], *cycle(25, 26)],
    "long cycle": cycle(*range(200)),
    "several cycles": [*MIXED, *cycle(5003, 5001, 5002)],
}


@pytest.mark.parametrize("name", CYCLES)
def test_a_cycle_is_an_error_that_names_one_of_its_vertices(built, way, name):
    found = built(CYCLES[name]).topological_order()
    first = min(on_a_cycle(CYCLES[name]))
    with pytest.raises(CycleError, match=rf"a cycle through vertex {first};.*strongly_connected"):
        found.compute()


def test_an_edge_without_a_direction_is_a_cycle(built):
    with pytest.raises(CycleError, match="vertex 1;"):
        built([(3, 1)], directed=False).topological_order().compute()


def test_weights_are_ignored():
    edges = frame(SHAPES["rmat"]).assign(w=-1.0)
    found = gf.topological_order(gf.Graph(edges, **ENDS, weight="w")).compute()
    check(found, SHAPES["rmat"])
