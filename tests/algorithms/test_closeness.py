"""Closeness and harmonic centrality: NetworkX' values, and the same bits everywhere."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import frame, to_host
from shapes import few_weights, on_members, rmat, same, traced

import dask_graphflow as gf
from dask_graphflow.algorithms.sssp.distances_by_source import distances_from_each
from dask_graphflow.exceptions import WeightError
from dask_graphflow.operators.search import multi_search

pytestmark = pytest.mark.usefixtures("backend")

NAMES = pytest.mark.parametrize("name", ["closeness_centrality", "harmonic_centrality"])


RMAT = frame(rmat(8, 2))  # more than 64 vertices, which take several batches


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
    assert len(steps) == multi_search.WordSearch.DEEP + 2 if members == 1 else len(steps) > 39
    monkeypatch.setattr(multi_search.WordSearch, "DEEP", 10**9)
    levels = built(paths, directed=False, shards=1)
    same(found, getattr(levels, name)(k=70).compute())


@pytest.mark.parametrize("members", [1])
def test_whole_sources_and_buckets_give_the_same_bits(built, rng):
    edges, found = few_weights(rng, "some are 0", 200, 700), []

    def ask(g):
        places = np.where(g.exists & (g.numbers < 70), g.numbers, -1)
        for g.member.threads in (2, 71):  # more threads than sources share each of them
            found.extend(to_host(part) for part in distances_from_each(g, places, 70))

    on_members(built(edges), ask)
    np.testing.assert_array_equal(found[:70], found[70:])


@NAMES
def test_a_sample_with_weights_of_1_counts_edges(built, name):
    edges = RMAT
    wanted = getattr(built(edges), name)(k=70).compute()
    found = getattr(built(edges.assign(w=1)), name)(k=70).compute()
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-12)


@NAMES
@pytest.mark.parametrize(
    ("weight", "message"), [(-1.0, "1 weight is negative"), (np.nan, "1 null"), (None, "1 null")]
)
def test_negative_weights_and_nulls_are_refused(built, name, weight, message):
    edges = frame([(1, 2), (2, 3), (3, 4)]).assign(w=[1.0, weight, 2.0])
    with pytest.raises(WeightError, match=message):
        getattr(built(edges), name)().compute()


@NAMES
def test_an_infinite_weight_leads_nowhere(built, name):
    edges = frame([(1, 2), (2, 3)]).assign(w=[2.0, np.inf])
    found = getattr(built(edges, directed=False), name)().compute()
    assert found.iloc[:, 1].tolist() == ([0.25, 0.25, 0] if "close" in name else [0.5, 0.5, 0])
