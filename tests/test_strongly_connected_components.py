"""Strongly connected components: those of SciPy, for every number of members."""

from __future__ import annotations

import importlib

import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, GRAPHS, frame, partitioned
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from test_core_number import apart, rmat

import dask_graphflow as gf

pytestmark = pytest.mark.usefixtures("backend")


def cycle(*vertices):
    return list(zip(vertices, (*vertices[1:], vertices[0]), strict=True))


def at_random(vertices, edges, seed=1):
    return list(map(tuple, np.random.default_rng(seed).integers(0, vertices, (edges, 2)).tolist()))


def chain(order):
    """Return cycles of three vertices, each with an edge to all later cycles."""
    cycles = [pair for i in order for pair in cycle(3 * i, 3 * i + 1, 3 * i + 2)]
    return cycles + [
        (3 * a, 3 * b + 1) for at, a in enumerate(order) for b in order[at + 1 : at + 9]
    ]


def grid(side, *ways):
    """Return a grid whose edges lead in some of the ways "right", "left", "down" and "up"."""
    steps = {"right": (1, 0), "left": (-1, 0), "down": (0, 1), "up": (0, -1)}
    return [
        (side * y + x, side * (y + dy) + x + dx)
        for dx, dy in map(steps.get, ways)
        for y in range(side)
        for x in range(side)
        if 0 <= y + dy < side and 0 <= x + dx < side
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


def by_scipy(pairs, vertices=()):
    """Return {vertex: smallest vertex of its component}."""
    named = pd.Series([v for pair in pairs for v in pair] + [*vertices])
    at, ids = pd.factorize(named, sort=True)
    ends = at[: 2 * len(pairs)].reshape(-1, 2).T
    matrix = coo_array((np.ones(len(pairs)), tuple(ends)), shape=(len(ids), len(ids)))
    labels = connected_components(matrix, connection="strong")[1]
    first = pd.Series(ids).groupby(labels).transform("min")
    return dict(zip(ids.tolist(), first.tolist(), strict=True))


def as_dict(found):
    assert found.vertex.is_monotonic_increasing
    assert found.vertex.is_unique
    assert found.component.dtype == found.vertex.dtype
    return dict(zip(found.vertex.tolist(), found.component.tolist(), strict=True))


def strong(graph):
    return as_dict(graph.strongly_connected_components().compute())


def test_components_are_those_of_scipy(built):
    assert strong(built(MIXED)) == by_scipy(MIXED)


@pytest.mark.parametrize("name", [*GRAPHS, *SHAPES])
def test_difficult_graphs(name):
    pairs = {**GRAPHS, **SHAPES}[name]
    edges = partitioned(frame(pairs), 3)
    wanted = by_scipy(pairs) if pairs else {}
    found = gf.strongly_connected_components(edges, **ENDS).compute()
    assert as_dict(found) == wanted
    turned = gf.strongly_connected_components(edges, source="b", target="a").compute()
    assert as_dict(turned) == wanted


@pytest.mark.parametrize("edges", [250, 400, 600])
def test_random_graphs_around_the_giant_component(built, edges):
    pairs = at_random(300, edges)
    assert strong(built(pairs)) == by_scipy(pairs)


def test_without_directions_strong_components_are_connected_components(built):
    graph = built(MIXED, directed=False)
    wanted = as_dict(graph.connected_components().compute())
    assert strong(graph) == wanted == by_scipy(MIXED + [(b, a) for a, b in MIXED])


def test_weights_are_ignored():
    edges = frame(rmat()).assign(w=-1.0)
    found = gf.strongly_connected_components(gf.Graph(edges, **ENDS, weight="w")).compute()
    assert as_dict(found) == by_scipy(rmat())


def test_the_packages_of_debian(debian):
    edges = pd.read_parquet(debian)[["src", "dst"]]
    found = gf.strongly_connected_components(edges, source="src", target="dst").compute()
    assert as_dict(found) == by_scipy(list(edges.itertuples(index=False, name=None)))


@pytest.mark.parametrize("order", ["ascending", "descending", "outwards"])
def test_a_chain_of_components_needs_few_rounds(order):
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
    module = importlib.import_module("dask_graphflow.algorithms.strongly_connected_components")
    for step in ("_take_giant", "_color"):
        monkeypatch.setattr(module, step, lambda *given: others.append(given))
    found = graph.strongly_connected_components().compute()
    assert (found.component == found.vertex).all()
    assert not others
