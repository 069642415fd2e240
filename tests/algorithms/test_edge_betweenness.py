"""Edge betweenness centrality: NetworkX' values, and the same bits everywhere."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, fewer, frame
from oracles import confirm
from shapes import DIFFICULT, WAYS, few_weights, same
from test_betweenness import CLOSE, LEVELS, RMAT, WEIGHTS, squares

import dask_graphflow as gf
from dask_graphflow.exceptions import OptionError, WeightError
from dask_graphflow.operators.search import whole_searches

pytestmark = pytest.mark.usefixtures("backend")

NAME = "edge_betweenness_centrality"
OPTIONS = [
    {},
    {"normalized": False},
    {"k": 5},
    {"k": 4, "normalized": False},
    {"k": 1000},
    {"sources": [7, 1, 2]},
    {"sources": [7], "normalized": False},
]


@WAYS
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_values_are_those_of_networkx(built, options, directed):
    for edges, alone in ((RMAT, [1, 7, 1000]), (frame(DIFFICULT), [1, 7])):
        graph = built(edges, directed=directed, vertices=pd.Series(alone))
        found = graph.edge_betweenness_centrality(**options).compute()
        confirm(NAME, found, edges, options, directed=directed, vertices=alone, **CLOSE)


@WAYS
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_weighted_values_are_those_of_networkx(built, rng, options, directed, kind):
    edges = few_weights(rng, kind)
    alone = [7, 1, 2, 1000]
    graph = built(edges, directed=directed, vertices=pd.Series(alone))
    found = graph.edge_betweenness_centrality(**options).compute()
    confirm(NAME, found, edges, options, directed=directed, vertices=alone, **CLOSE)


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


@LEVELS
@pytest.mark.parametrize("kind", ["plain", "weighted"])
def test_more_paths_than_a_float_can_count(built, monkeypatch, kind, levels):
    if levels:
        monkeypatch.setattr(whole_searches, "on_one_host", lambda g: False)
    size, sides = 147, 128
    edges, step = squares(size, sides), sides + 1
    if kind == "weighted":  # each side of a square takes steps of other lengths
        ahead = edges.b - edges.a
        edges["w"] = np.where(edges.a % step == 0, ahead, ahead + 1).astype("float64")
    last = step * size
    found = built(edges).edge_betweenness_centrality(sources=0, normalized=False).compute()
    # The paths to the next corner and behind it use all sides alike.
    corner = found.source // step * step
    wanted = (last - corner - sides) / sides + (found.source == corner)
    np.testing.assert_allclose(found.betweenness, wanted * (last + 1), rtol=1e-12)


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("edges", [[], [(4, 4)], [(1, 2)]], ids=str)
def test_graphs_of_few_edges(built, edges):
    found = built(frame(edges), directed=False).edge_betweenness_centrality().compute()
    assert found.betweenness.tolist() == [1.0 for a, b in edges if a != b]
    assert [*found] == ["source", "target", "betweenness"]


def test_sources_and_a_random_sample_exclude_each_other():
    found = gf.edge_betweenness_centrality(frame([(1, 2)]), **ENDS, k=1, sources=1)
    with pytest.raises(OptionError, match="k=1 cannot be used with sources"):
        found.compute()


@pytest.mark.parametrize("members", [1, 3])
def test_weights_that_are_not_positive_are_refused(built):
    edges = frame([(1, 2), (2, 3)]).assign(w=[1, 0])
    with pytest.raises(WeightError, match="a weight is 0, negative, infinite or NaN"):
        built(edges).edge_betweenness_centrality().compute()
