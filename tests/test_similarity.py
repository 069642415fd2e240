"""Similarity: the scores of NetworkX and SciPy for given pairs and for all pairs with common neighbors."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from test_core_number import rmat
from test_triangle_count import MIXED, simple

import dask_graphflow as gf
from dask_graphflow.exceptions import OptionError, UnknownVertexError
from dask_graphflow.operators import common_neighbors

pytestmark = pytest.mark.usefixtures("backend")

MEASURES = ("jaccard", "overlap", "cosine", "adamic_adar", "common_neighbors")
GRAPH = simple(MIXED)


def score(measure, a, b, graph=GRAPH):
    """Return the score of a pair by its definition."""
    near = set(graph[a]), set(graph[b])
    common, product = near[0] & near[1], len(near[0]) * len(near[1])
    if measure == "adamic_adar":
        return sum(1 / math.log(graph.degree(w)) for w in common if graph.degree(w) > 1)
    below = {
        "jaccard": len(near[0] | near[1]),
        "overlap": min(map(len, near)),
        "cosine": math.sqrt(product),
        "common_neighbors": 1,
    }[measure]
    return len(common) / below if common else 0.0


def some_pairs(count=400):
    rng = np.random.default_rng(5)
    vertices = sorted(GRAPH)
    drawn = rng.choice(vertices, (count, 2)).tolist()
    near = [(a, b) for v in vertices[:: len(vertices) // 100] for a in GRAPH[v] for b in GRAPH[v]]
    return drawn + near[:400] + sorted(GRAPH.edges)[:100] + drawn[:3]


PAIRS = some_pairs()


def by_two_hops(pairs, measure, top_k):
    """Return the rows of all pairs with a common neighbor, sorted."""
    graph, found = simple(pairs), []
    for a in sorted(graph):
        seconds = {b for w in graph[a] for b in graph[w]} - {a}
        rows = sorted((-score(measure, a, b, graph), b) for b in seconds)
        found += [(a, b, -negative) for negative, b in rows[:top_k]]
    return found


@pytest.mark.parametrize("measure", MEASURES)
def test_scores_of_pairs_are_in_the_order_of_the_pairs(built, measure, monkeypatch):
    monkeypatch.setattr(common_neighbors, "BLOCK", 500)
    pairs = pd.DataFrame(PAIRS, columns=["x", "y"]).assign(more=1)
    found = built(MIXED, directed=False).similarity(pairs=pairs, measure=measure).compute()
    assert list(found) == ["first", "second", "score"]
    assert list(zip(found["first"], found["second"], strict=True)) == [*map(tuple, PAIRS)]
    assert found.score.tolist() == pytest.approx(
        [score(measure, a, b) for a, b in PAIRS], rel=1e-13
    )


@pytest.mark.parametrize("name", ["jaccard", "adamic_adar"])
def test_the_scores_are_those_of_networkx(name):
    pairs = [(a, b) for a, b in PAIRS if a != b]
    oracle = {"jaccard": nx.jaccard_coefficient, "adamic_adar": nx.adamic_adar_index}[name]
    expected = [value for _, _, value in oracle(GRAPH, pairs)]
    assert [score(name, a, b) for a, b in pairs] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("top_k", [None, 3])
@pytest.mark.parametrize("measure", ["jaccard", "adamic_adar"])
def test_all_pairs_with_a_common_neighbor_best_first(built, measure, top_k, monkeypatch):
    monkeypatch.setattr(common_neighbors, "BLOCK", 5000)
    expected = by_two_hops(rmat(), measure, top_k)
    found = built(rmat(), directed=True).similarity(measure=measure, top_k=top_k).compute()
    assert found.score.tolist() == pytest.approx([value for *_, value in expected], rel=1e-13)
    if measure == "jaccard":  # sums of floats in another order might swap ties
        assert list(zip(found["first"], found["second"], strict=True)) == [e[:2] for e in expected]


@pytest.mark.parametrize("top_k", [None, 2])
def test_text_ids_and_vertices_without_common_neighbors(built, top_k):
    edges = pd.DataFrame({"a": ["x", "x", "y", "p"], "b": ["u", "v", "u", "q"]})
    found = built(edges, directed=False).similarity(measure="overlap", top_k=top_k).compute()
    assert found.to_numpy().tolist() == [
        ["u", "v", 1.0],
        ["v", "u", 1.0],
        ["x", "y", 1.0],
        ["y", "x", 1.0],
    ]


def test_wrong_options_say_what_is_allowed():
    ties, ends = pd.DataFrame({"a": [1, 2], "b": [2, 3]}), {"source": "a", "target": "b"}
    with pytest.raises(OptionError, match=r"measure='jacard'; give .*did you mean 'jaccard'"):
        gf.similarity(ties, measure="jacard", **ends)
    with pytest.raises(OptionError, match="give a DataFrame whose first 2 columns are the ids"):
        gf.similarity(ties, pairs=[(1, 2)], **ends)
    with pytest.raises(OptionError, match="Leave out one of the two"):
        gf.similarity(ties, pairs=ties, top_k=1, **ends).compute()
    with pytest.raises(UnknownVertexError, match="not in the graph: 9"):
        gf.similarity(ties, pairs=pd.DataFrame({"a": [9], "b": [1]}), **ends).compute()
