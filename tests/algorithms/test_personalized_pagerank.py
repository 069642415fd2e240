"""Personalized PageRank: a power iteration per source, the bits of PageRank, the largest ranks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import fewer, frame, is_as_announced
from oracles import confirm
from shapes import DIFFICULT, LARGE, SMALL, traced, weights

import dask_graphflow as gf
from dask_graphflow.algorithms.personalized_pagerank.top_rows import find_largest
from dask_graphflow.exceptions import (
    ConvergenceError,
    WeightError,
)

pytestmark = pytest.mark.usefixtures("backend")

DIRECTED = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
NARROW = {"tol": 1e-15, "max_iter": 1000}


def edges_of(pairs, weighted):
    edges = frame(pairs)
    return edges.assign(w=weights(len(pairs))) if weighted else edges


def some(pairs, count):
    """Return some vertices, spread over all of them."""
    every = sorted({v for pair in pairs for v in pair})
    return every[:: max(1, len(every) // count)][:count]


def one_by_one(graph, sources, **options):
    """Return the result of one call of PageRank per source."""
    found = []
    for source in sorted(sources):
        start = {source: 1}
        ranks = graph.pagerank(personalization=start, nstart=start, **options).compute()
        ranks = ranks.sort_values("pagerank", ascending=False, kind="stable")
        found.append(ranks.assign(source=source)[["source", "vertex", "pagerank"]])
    return pd.concat(found, ignore_index=True)


def plain(found):
    return found.reset_index(drop=True)


@DIRECTED
@WEIGHTED
@pytest.mark.parametrize(
    "pairs", [DIFFICULT, SMALL["rmat"], SMALL["star"]], ids=["difficult", "rmat", "star"]
)
def test_ranks_are_those_of_a_power_iteration(built, pairs, weighted, directed):
    edges, sources = edges_of(pairs, weighted), some(pairs, 5)
    lazy = built(edges, directed=directed).personalized_pagerank(sources, **NARROW)
    found = lazy.compute()
    assert is_as_announced(found, lazy)
    options = {"sources": sources, **NARROW}
    confirm("personalized_pagerank", found, edges, options, directed=directed)


@WEIGHTED
@pytest.mark.parametrize("tol", [None, 1e-9])
def test_each_source_has_the_bits_of_pagerank_whatever_the_others_are(built, weighted, tol):
    pairs = LARGE["rmat"]()
    g, sources = built(edges_of(pairs, weighted)), some(pairs, fewer(37, 17))
    iterations = {"max_iter": 20 if tol is None else 200}
    found = plain(g.personalized_pagerank(sources[::-1], tol=tol, **iterations).compute())
    wanted = one_by_one(g, sources[5:7], tol=tol, **iterations)
    pd.testing.assert_frame_equal(
        plain(found[found.source.isin(sources[5:7])]), wanted, check_exact=True
    )


@pytest.mark.parametrize("k", [1, 7, 10**6])
def test_the_largest_ranks_of_each_source(built, k):
    pairs = LARGE["grid"]()  # of many equal ranks, and many that are 0
    g, sources = built(pairs), some(pairs, 3)
    every = g.personalized_pagerank(sources, tol=None, max_iter=6).compute()
    found = g.personalized_pagerank(sources, tol=None, max_iter=6, top_k=k).compute()
    wanted = every[every.pagerank > 0].groupby("source").head(k)
    pd.testing.assert_frame_equal(plain(found), plain(wanted), check_exact=True)


def test_the_first_of_equal_values_rank_highest():
    values = np.array([2.0, 5.0, 2.0, 9.0, 2.0])
    assert [find_largest(values, k).tolist() for k in (1, 3, 9)] == [
        [3],
        [0, 1, 3],
        [0, 1, 2, 3, 4],
    ]


def test_ids_of_two_parts_and_sources_that_are_given_twice():
    edges = pd.DataFrame({"p": [1, 1], "q": ["u", "u"], "r": [2, 3], "s": ["u", "v"]})
    ends = {"source": ["p", "q"], "target": ["r", "s"]}
    lazy = gf.personalized_pagerank(edges, **ends, sources=[(3, "v"), (1, "u"), (3, "v")], top_k=1)
    found = lazy.compute()
    assert list(found) == ["source_0", "source_1", "vertex_0", "vertex_1", "pagerank"]
    assert is_as_announced(found, lazy)
    assert found.iloc[:, :4].to_numpy().tolist() == [[1, "u", 1, "u"], [3, "v", 3, "v"]]


def test_a_surfer_stays_at_a_source_that_nothing_leaves(built):
    g = built([(1, 2)], vertices=pd.Series([9]))
    found = g.personalized_pagerank([9, 2], top_k=5).compute()
    assert found.to_numpy().tolist() == [[2, 2, 1], [9, 9, 1]]
    assert len(g.personalized_pagerank([9]).compute()) == 3


def test_results_of_several_partitions_and_a_trace(built, members):
    pairs = SMALL["rmat"]
    g = built(pairs, partitions=40)
    sources = some(pairs, 20)
    lazy = g.personalized_pagerank(sources, tol=None, max_iter=3, trace=True)
    assert lazy[0].npartitions == members * max(1, 5 // members)
    found, steps = traced(lazy)
    assert found.source.is_monotonic_increasing
    assert steps.direction.tolist() == ["pull"] * 6  # of two batches
    assert steps.edges.tolist() == [g.num_edges] * 6


def test_iterations_that_are_too_few_raise_or_give_the_ranks_so_far(built):
    g, sources = built(SMALL["rmat"]), some(SMALL["rmat"], 3)
    with pytest.raises(
        ConvergenceError, match=r"after 3 iterations ranks still .* larger max_iter"
    ):
        g.personalized_pagerank(sources, max_iter=3, tol=1e-12).compute()
    options = {"tol": 1e-12, "fail_on_nonconvergence": False}
    found = g.personalized_pagerank(sources, max_iter=3, **options).compute()
    wanted = g.personalized_pagerank(sources, max_iter=3, tol=None).compute()
    pd.testing.assert_frame_equal(found, wanted)


def test_weights_that_are_refused(built):
    edges = frame([(0, 1), (1, 2)]).assign(w=[1.0, -1.0])
    with pytest.raises(WeightError, match="a weight is negative"):
        built(edges).personalized_pagerank([0]).compute()
