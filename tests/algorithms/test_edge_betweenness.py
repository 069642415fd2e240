"""Edge betweenness centrality: NetworkX' values, and the same bits everywhere."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import fewer, frame
from shapes import WAYS, few_weights, same
from test_betweenness import WEIGHTS

from dask_graphflow.operators.search import whole_searches

pytestmark = pytest.mark.usefixtures("backend")


@WAYS
@pytest.mark.parametrize("kind", [*WEIGHTS, None])
@pytest.mark.parametrize("members", [1, 3])
def test_sums_have_the_same_bits_everywhere(built, rng, monkeypatch, directed, kind):
    edges, options = few_weights(rng, kind or "real", 200, 700), {"k": fewer(30, 6), "seed": 1}
    edges = edges if kind else edges.drop(columns="w")
    whole = built(edges, directed=directed, shards=1)
    wanted = whole.edge_betweenness_centrality(**options).compute()
    monkeypatch.setattr(whole_searches, "on_one_host", lambda g: False)
    levels = built(edges.sample(frac=1, random_state=2), directed=directed, partitions=5)
    same(levels.edge_betweenness_centrality(**options).compute(), wanted)


@pytest.mark.parametrize("members", [1, 3])
def test_edges_that_leave_a_vertex_carry_its_paths(built, rng):
    edges, sources = few_weights(rng, "whole"), [3, 1, 4]
    graph = built(edges, vertices=pd.Series(sources))
    options = {"sources": sources, "normalized": False}
    carried = graph.edge_betweenness_centrality(**options).compute()
    leaving = carried.groupby("source").betweenness.sum() * len(sources)
    through = graph.betweenness_centrality(**options).compute().set_index("vertex").betweenness
    some = through.index.difference(sources)
    count = len(through)
    np.testing.assert_allclose(
        leaving.reindex(some, fill_value=0) / count, through[some] * len(sources) / (count - 1)
    )


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("edges", [[], [(4, 4)], [(1, 2)]], ids=str)
def test_graphs_of_few_edges(built, edges):
    found = built(frame(edges), directed=False).edge_betweenness_centrality().compute()
    assert found.betweenness.tolist() == [1.0 for a, b in edges if a != b]
    assert [*found] == ["source", "target", "betweenness"]
