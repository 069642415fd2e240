"""Similarity: the scores of given pairs and of all pairs with common neighbors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import to_host
from oracles import confirm, network_of
from shapes import power_law, rmat, same
from test_triangle_count import MIXED

import dask_graphflow as gf
from dask_graphflow.exceptions import OptionError, UnknownVertexError, WeightError
from dask_graphflow.operators.intersect import common_neighbors

pytestmark = pytest.mark.usefixtures("backend")

WEIGHTED = ("jaccard", "sorensen", "overlap")
MEASURES = (*WEIGHTED, "cosine", "adamic_adar", "common_neighbors")
GRAPH = network_of(MIXED, directed=False).graph()


def some_pairs(count=400):
    rng = np.random.default_rng(5)
    vertices = sorted(GRAPH)
    drawn = rng.choice(vertices, (count, 2)).tolist()
    near = [(a, b) for v in vertices[:: len(vertices) // 100] for a in GRAPH[v] for b in GRAPH[v]]
    return drawn + near[:400] + sorted(GRAPH.edges)[:100] + drawn[:3]


PAIRS = some_pairs()


@pytest.mark.parametrize("measure", MEASURES)
def test_scores_of_pairs_are_in_the_order_of_the_pairs(built, measure, monkeypatch):
    monkeypatch.setattr(common_neighbors, "BLOCK", 500)
    pairs = pd.DataFrame(PAIRS, columns=["x", "y"]).assign(more=1)
    found = built(MIXED, directed=False).similarity(pairs=pairs, measure=measure).compute()
    assert list(found) == ["first", "second", "score"]
    assert list(zip(found["first"], found["second"], strict=True)) == [*map(tuple, PAIRS)]
    options = {"pairs": PAIRS, "measure": measure}
    confirm("similarity", found, MIXED, options, directed=False, rtol=1e-13)


@pytest.mark.parametrize("top_k", [None, 3])
@pytest.mark.parametrize("measure", ["jaccard", "adamic_adar"])
def test_all_pairs_with_a_common_neighbor_best_first(built, measure, top_k, monkeypatch):
    monkeypatch.setattr(common_neighbors, "BLOCK", 5000)
    options = {"measure": measure, "top_k": top_k}
    found = built(rmat(), directed=True).similarity(**options).compute()
    confirm("similarity", found, rmat(), options, rtol=1e-13)


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


def weighted_edges():
    """Return edges with weights that are rounded, among them parallel edges, opposite edges and loops."""
    rng = np.random.default_rng(8)
    edges = power_law(rng, 150, 700)
    assert (edges.a == edges.b).any()
    assert edges.duplicated(["a", "b"]).any()
    return edges.assign(w=rng.random(len(edges)) * (rng.random(len(edges)) < 0.9))


def test_weighted_scores_by_hand():
    # Without its loop, a has the weights 3 and 2 of u and v, and b has 1 + 3 and 5 of u and w.
    ties = pd.DataFrame(
        [("a", "u", 3), ("a", "v", 2), ("b", "u", 1), ("u", "b", 3), ("b", "w", 5), ("a", "a", 7)],
        columns=["x", "y", "w"],
    )
    pairs = pd.DataFrame({"one": ["a"], "other": ["b"]})
    expected = {"jaccard": 3 / (4 + 2 + 5), "sorensen": 2 * 3 / (5 + 9), "overlap": 3 / 5}
    for measure, wanted in expected.items():
        options = {"pairs": pairs, "measure": measure, "source": "x", "target": "y"}
        assert gf.similarity(ties, weight="w", **options).compute().score.tolist() == [wanted]
        assert gf.similarity(ties, **options).compute().score.tolist() != [wanted]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("measure", WEIGHTED)
def test_weighted_scores_of_pairs(built, measure, directed, monkeypatch):
    monkeypatch.setattr(common_neighbors, "BLOCK", 300)
    edges = weighted_edges()
    pairs = np.random.default_rng(3).choice(np.unique(edges[["a", "b"]]), (500, 2))
    found = built(edges, directed=directed).similarity(
        pairs=pd.DataFrame(pairs, columns=["x", "y"]), measure=measure
    )
    options = {"pairs": pairs.tolist(), "measure": measure}
    confirm(
        "similarity", found.compute(), edges, options, directed=directed, rtol=1e-11, atol=1e-15
    )


@pytest.mark.parametrize("top_k", [None, 3])
@pytest.mark.parametrize("measure", WEIGHTED)
def test_weighted_scores_of_all_pairs(built, measure, top_k, monkeypatch):
    monkeypatch.setattr(common_neighbors, "BLOCK", 2000)
    edges = weighted_edges()
    options = {"measure": measure, "top_k": top_k}
    found = built(edges, directed=True).similarity(**options).compute()
    confirm("similarity", found, edges, options, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("measure", WEIGHTED)
def test_equal_weights_change_no_bit(built, measure):
    edges = weighted_edges().drop_duplicates(["a", "b"]).query("a < b")
    pairs = edges[["a", "b"]].rename(columns={"a": "x", "b": "y"})
    plain = built(edges, directed=False, weight=None)
    for weight in (1.0, 2.0**-90):
        equal = built(edges.assign(w=weight), directed=False)
        for options in ({"pairs": pairs}, {}, {"top_k": 2}):
            found, wanted = (g.similarity(measure=measure, **options) for g in (equal, plain))
            same(found.compute(), wanted.compute())


@pytest.mark.parametrize("measure", MEASURES)
def test_partitions_and_members_change_no_bit(built, measure):
    edges = weighted_edges()
    pairs = edges[["a", "b"]].rename(columns={"a": "x", "b": "y"})
    weight = "w" if measure in WEIGHTED else None
    one = built(edges, shards=1, partitions=1, weight=weight, directed=True)
    shuffled = edges.sample(frac=1, random_state=1)
    split = built(shuffled, partitions=7, weight=weight, directed=True)
    for options in ({"pairs": pairs}, {}, {"top_k": 2}):
        found, wanted = (g.similarity(measure=measure, **options) for g in (split, one))
        same(to_host(found.compute()), to_host(wanted.compute()))


def test_small_weights_beside_a_heavy_vertex_are_not_lost():
    # The sum of all weights, 2**59 at both ends, would need a unit that is too coarse for weights of 1.
    rng = np.random.default_rng(2)
    light = pd.DataFrame({"a": [1, 1, 2, 2], "b": [3, 4, 3, 5], "w": [3.0, 1.0, 2.0, 1.0]})
    heavy = pd.DataFrame(rng.integers(10, 90, (2048, 2)), columns=["a", "b"]).assign(w=2.0**48)
    ties = pd.concat([light, heavy])
    pairs = pd.DataFrame({"x": [1], "y": [2]})
    found = gf.similarity(ties, source="a", target="b", weight="w", pairs=pairs)
    assert found.compute().score.tolist() == [2 / 5]
    with pytest.raises(WeightError, match="of the sum of all weighted degrees"):
        gf.louvain(ties, source="a", target="b", weight="w").compute()


def test_weights_that_cannot_be_added_up_are_refused(built):
    ties = pd.DataFrame({"a": [1, 2, 3], "b": [2, 3, 4], "w": [1.0, 1.0, -1.0]})
    with pytest.raises(WeightError, match="a weight is negative, infinite or NaN"):
        built(ties, directed=False).similarity().compute()
    ties["w"] = [1.0, 2.0**-60, 2.0**-60]
    with pytest.raises(WeightError, match="of the largest weighted degree, 1"):
        built(ties, directed=False).similarity().compute()


@pytest.mark.parametrize("measure", sorted({*MEASURES} - {*WEIGHTED}))
def test_measures_that_weights_do_not_define_are_refused_at_the_call(measure):
    ties = pd.DataFrame({"a": [1, 2], "b": [2, 3], "w": [1, 2]})
    told = f"measure='{measure}' is not defined for edges with weights; give 'jaccard', .*give weight=None"
    with pytest.raises(OptionError, match=told):
        gf.similarity(ties, source="a", target="b", weight="w", measure=measure)
    found = gf.similarity(ties, source="a", target="b", weight=None, measure=measure).compute()
    assert len(found) == 2


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
