"""Strongly connected components: those of NetworkX, for every number of members."""

from __future__ import annotations

import importlib

import pandas as pd
import pytest
from conftest import BACKEND, ENDS, GRAPHS, frame, partitioned
from oracles import confirm
from shapes import apart, at_random, cycle, grid, rmat

import dask_graphflow as gf
from dask_graphflow.operators import strong

pytestmark = pytest.mark.usefixtures("backend")


def chain(order):
    """Return cycles of three vertices, each with an edge to all later cycles."""
    cycles = [pair for i in order for pair in cycle(3 * i, 3 * i + 1, 3 * i + 2)]
    return cycles + [
        (3 * a, 3 * b + 1) for at, a in enumerate(order) for b in order[at + 1 : at + 9]
    ]


SHAPES = {
    "cycles of different lengths": [
        pair for n in range(2, 9) for pair in cycle(*range(n * n, n * n + n))
    ],
    "cycles that share a vertex": cycle(0, 1, 2) + cycle(2, 3, 4) + cycle(4, 5) + [(5, 6)],
    "cycles in cycles": cycle(0, 1, 2, 3, 4, 5, 6, 7)
    + cycle(1, 2)
    + cycle(4, 6)
    + cycle(8, 9, 0, 10),
    "cycles joined one way": [*cycle(0, 1, 2), (2, 3), *cycle(3, 4, 5), (0, 4), (5, 6), (7, 0)],
    "path between cycles": cycle(0, 30, 31) + [(i, i + 1) for i in range(25)] + cycle(25, 26, 27),
    "path that returns": cycle(*range(200)),
    "two-way edges": [(a, a + 1) for a in range(50)] + [(a + 1, a) for a in range(0, 50, 3)],
    "chain, ascending": chain(range(40)),
    "chain, descending": chain(range(39, -1, -1)),
    "chain, outwards": chain([*range(0, 40, 2), *range(39, 0, -2)]),
    "acyclic": [(a, b) for a, b in at_random(200, 500) if a < b],
    "grid, one way": grid(8, "right", "down"),
    "grid, rows two ways": grid(8, "right", "left", "down"),
    "grid, all ways": grid(8, "right", "left", "down", "up"),
}
MIXED = apart({**GRAPHS, **SHAPES, "rmat": rmat(), "random": at_random(500, 600)})


@pytest.fixture(params=[0, 1 << 19], ids=["supersteps", "one search"])
def few(request, monkeypatch):
    """Edges up to which one thread searches what is left of a graph."""
    monkeypatch.setattr(strong, "FEW", request.param)
    return request.param


def check(found, pairs):
    assert found.vertex.is_unique
    assert found.component.dtype == found.vertex.dtype
    confirm("strongly_connected_components", found, pairs, {})


def test_components_are_those_of_networkx(built, few):
    check(built(MIXED).strongly_connected_components().compute(), MIXED)


@pytest.mark.parametrize("name", [*GRAPHS, *SHAPES])
def test_difficult_graphs(name, few):
    pairs = {**GRAPHS, **SHAPES}[name]
    edges = partitioned(frame(pairs), 3)
    check(gf.strongly_connected_components(edges, **ENDS).compute(), pairs)
    check(gf.strongly_connected_components(edges, source="b", target="a").compute(), pairs)


@pytest.mark.parametrize("edges", [250, 400, 600])
def test_random_graphs_around_the_giant_component(built, few, edges):
    pairs = at_random(300, edges)
    check(built(pairs).strongly_connected_components().compute(), pairs)


def test_without_directions_strong_components_are_connected_components(built):
    graph = built(MIXED, directed=False)
    found = graph.strongly_connected_components().compute()
    pd.testing.assert_frame_equal(found, graph.connected_components().compute())
    check(found, MIXED + [(b, a) for a, b in MIXED])


def test_weights_are_ignored():
    edges = frame(rmat()).assign(w=-1.0)
    found = gf.strongly_connected_components(gf.Graph(edges, **ENDS, weight="w")).compute()
    check(found, rmat())


def test_the_packages_of_debian(debian):
    edges = pd.read_parquet(debian)[["src", "dst"]]
    found = gf.strongly_connected_components(edges, source="src", target="dst").compute()
    check(found, edges)


@pytest.mark.parametrize("order", ["ascending", "descending", "outwards"])
def test_a_chain_of_components_needs_few_rounds(monkeypatch, order):
    monkeypatch.setattr(strong, "FEW", 0)
    orders = {
        "ascending": [*range(150)],
        "descending": [*range(149, -1, -1)],
        "outwards": [*range(0, 150, 2), *range(149, 0, -2)],
    }
    _, steps = gf.strongly_connected_components(frame(chain(orders[order])), **ENDS, trace=True)
    assert len(steps.compute()) < 330


def test_an_acyclic_graph_is_only_trimmed(built, monkeypatch):
    graph = built([(at, at + 1) for at in range(200)])
    others = []
    name = "strongly_connected_components"
    module = importlib.import_module(f"dask_graphflow.algorithms.{name}.{name}")
    for step in ("search_strong", "_take_giant", "color_remaining"):
        monkeypatch.setattr(module, step, lambda *given: others.append(given))
    found = graph.strongly_connected_components().compute()
    assert (found.component == found.vertex).all()
    assert not others


def test_few_edges_are_searched_in_one_superstep():
    if BACKEND.name != "pandas":
        pytest.skip("a device follows all edges in supersteps")
    _, steps = gf.strongly_connected_components(frame(chain(range(150))), **ENDS, trace=True)
    assert len(steps.compute()) == 1


def test_what_the_giant_component_leaves_is_searched_in_one_superstep(monkeypatch):
    if BACKEND.name != "pandas":
        pytest.skip("a device follows all edges in supersteps")
    giant = at_random(300, 3000)
    rest = [(a + 1000, b + 1000) for a, b in chain(range(40))]
    monkeypatch.setattr(strong, "FEW", 1000)
    pairs = [*giant, *rest, (0, 1000)]
    found, steps = gf.strongly_connected_components(frame(pairs), **ENDS, trace=True)
    check(found.compute(), pairs)
    assert steps.compute()["frontier"].iloc[-1] == 3 * 40


def test_later_calls_of_a_graph_read_the_same_degrees(built):
    pairs = [(100, 101), (101, 0), (100, 2), *SHAPES["cycles joined one way"]]
    graph = built(pairs)
    graph.strongly_connected_components().compute()
    confirm("degree_centrality", graph.degree_centrality().compute(), pairs, {}, rtol=1e-12)
