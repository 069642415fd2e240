"""Closeness and harmonic centrality: NetworkX' values, and the same bits everywhere."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from conftest import frame
from shapes import DIFFICULT, same, traced

import dask_graphflow as gf
from dask_graphflow.operators import multi_search

pytestmark = pytest.mark.usefixtures("backend")

WAYS = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
NAMES = pytest.mark.parametrize("name", ["closeness_centrality", "harmonic_centrality"])


def rmat():
    """Return edges among more than 64 vertices, which take several batches."""
    edges = gf.generate.rmat(8, edge_factor=2, npartitions=1).compute()
    return frame(edges.to_numpy().tolist())


def assert_networkx(name, found, edges, directed, **options):
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(found.vertex)
    graph.add_edges_from(edges.itertuples(index=False, name=None))
    wanted = pd.Series(getattr(nx, name)(graph, **options))[found.vertex]
    np.testing.assert_allclose(found.iloc[:, 1], wanted, rtol=1e-12)


@WAYS
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("closeness_centrality", {}),
        ("closeness_centrality", {"wf_improved": False}),
        ("harmonic_centrality", {}),
    ],
)
@pytest.mark.parametrize("shape", ["rmat", "difficult"])
def test_values_are_those_of_networkx(built, name, options, directed, shape):
    edges = rmat() if shape == "rmat" else frame(DIFFICULT)
    graph = built(edges, directed=directed, vertices=pd.Series([7, 1000]))
    found = getattr(graph, name)(**options).compute()
    assert_networkx(name, found, edges, directed, **options)


@NAMES
def test_samples_estimate_the_values(name):
    edges = gf.generate.rmat(10, edge_factor=8, npartitions=2)
    ends = {"source": "src", "target": "dst", "directed": False}
    exact = getattr(gf, name)(edges, **ends).compute().iloc[:, 1]
    some = [getattr(gf, name)(edges, **ends, k=200, seed=seed).compute() for seed in (0, 1)]
    assert (some[0] != some[1]).any(axis=None)
    for found in some:
        assert np.corrcoef(found.iloc[:, 1], exact)[0, 1] > 0.99
        assert found.iloc[:, 1].mean() == pytest.approx(exact.mean(), rel=0.1)
    all_of_them = getattr(gf, name)(edges, **ends, k=10**6).compute()
    pd.testing.assert_series_equal(all_of_them.iloc[:, 1], exact)


@NAMES
@pytest.mark.parametrize("members", [1, 3])
def test_one_member_searches_by_source_if_levels_are_small(built, monkeypatch, name, members):
    paths = [(at + i, at + i + 1) for at in range(0, 2000, 40) for i in range(39)]
    found, steps = traced(getattr(built(paths, directed=False), name)(k=70, trace=True))
    assert len(steps) == multi_search.DEEP + 2 if members == 1 else len(steps) > 39
    monkeypatch.setattr(multi_search, "DEEP", 10**9)
    levels = built(paths, directed=False, shards=1)
    same(found, getattr(levels, name)(k=70).compute())
