"""Closeness and harmonic centrality: NetworkX' values, and the same bits everywhere."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from conftest import frame
from shapes import DIFFICULT, ENDS

import dask_graphflow as gf
from dask_graphflow.exceptions import OptionError

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
@pytest.mark.parametrize("k", [None, 20, 100])
def test_partitions_and_ids_of_text_change_no_bit(built, name, k):
    edges = rmat()
    wanted = getattr(gf, name)(edges, **ENDS, k=k, seed=3).compute()
    shuffled = edges.sample(frac=1, random_state=1)
    text = shuffled.assign(**{end: shuffled[end].map("v{:05d}".format) for end in ("a", "b")})
    for given in (shuffled, text):
        found = getattr(built(given, partitions=7), name)(k=k, seed=3).compute()
        assert found.iloc[:, 1].to_numpy().tobytes() == wanted.iloc[:, 1].to_numpy().tobytes()


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
def test_a_graph_without_edges_has_zeros(built, name):
    assert len(getattr(built([]), name)().compute()) == 0
    found = getattr(built([], vertices=pd.Series([5, 3])), name)().compute()
    assert found.iloc[:, 1].tolist() == [0, 0]


@NAMES
@pytest.mark.parametrize("option", [{"k": 0}, {"k": 2.5}, {"seed": -1}])
def test_options_out_of_range_raise_an_error(name, option):
    with pytest.raises(OptionError, match="give a"):
        getattr(gf, name)(frame(DIFFICULT), **ENDS, **option)
