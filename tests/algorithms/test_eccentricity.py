"""Eccentricity and diameter: those of NetworkX in each component, after few searches."""

from __future__ import annotations

import pandas as pd
import pytest
from conftest import ENDS, GRAPHS, frame, partitioned
from oracles import confirm
from shapes import WAYS, apart, at_random, cycle, grid, rmat

import dask_graphflow as gf
from dask_graphflow.algorithms import eccentricity_bounds

pytestmark = pytest.mark.usefixtures("backend")

SHAPES = {
    "cycle": cycle(*range(151)),
    "tree": [((at - 1) // 3, at) for at in range(1, 200)],
    "lollipop": [(a, b) for a in range(12) for b in range(a)] + [(i, i + 1) for i in range(11, 60)],
    "rmat": rmat(),
    "sparse": at_random(300, 310),
    "grid": grid(9, "right", "down"),
}
MIXED = apart({**GRAPHS, **SHAPES})


def check(graph, pairs, vertices=(), **options):
    for name in ("eccentricity", "diameter"):
        found = getattr(graph, name)(**options).compute()
        assert {str(dtype) for dtype in found.dtypes[-1:]} == {"int32"}
        confirm(name, found, pairs, options, vertices=vertices)


@WAYS
def test_values_are_those_of_networkx_in_each_component(built, directed):
    check(built(MIXED, directed=directed), MIXED)


@pytest.mark.parametrize("name", [*GRAPHS, *SHAPES])
@pytest.mark.parametrize("k", [None, 1, 3])
def test_difficult_graphs(name, k):
    pairs = {**GRAPHS, **SHAPES}[name]
    graph = gf.Graph(partitioned(frame(pairs), 3), **ENDS, directed=False)
    check(graph, pairs, k=k)


def test_a_vertex_without_edges_has_the_eccentricity_0():
    vertices = pd.Series([1, 9])
    graph = gf.Graph(frame([(5, 2), (2, 3)]), **ENDS, directed=False, vertices=vertices)
    check(graph, [(5, 2), (2, 3)], vertices)


def test_more_searches_narrow_the_bounds(built):
    graph = built(SHAPES["rmat"], directed=False)
    widths = []
    for k in (1, 4, 16, 64):
        found = graph.eccentricity(k=k).compute()
        widths.append(int((found.upper - found.lower).sum()))
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > widths[-1]


def test_the_diameter_of_a_large_grid_takes_few_searches(built, monkeypatch):
    """A vertex that cannot be one of the two farthest ones is not searched from."""
    searches = []

    def noted(g, sources):
        searches.append(len(sources))
        return search(g, sources)

    search = eccentricity_bounds.breadth_first
    monkeypatch.setattr(eccentricity_bounds, "breadth_first", noted)
    found = built(grid(40, "right", "down"), directed=False).diameter().compute()
    assert found.to_numpy().tolist() == [[78, 78]]
    assert 2 <= len(searches) <= 30


def test_where_bounds_stop_to_narrow_64_vertices_are_searched_from_at_once(built, monkeypatch):
    counts = []

    def noted(g, places, count):
        counts.append(count)
        return measure(g, places, count)

    measure = eccentricity_bounds.farthest_levels
    monkeypatch.setattr(eccentricity_bounds, "farthest_levels", noted)
    pairs = at_random(600, 1500, seed=3)
    check(built(pairs, directed=False), pairs)
    assert max(counts) == 64
