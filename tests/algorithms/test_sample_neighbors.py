"""Neighbor sampling: edges of the graph, hop by hop, each as likely, whatever the partitioning."""

from __future__ import annotations

import itertools
from collections import Counter

import pandas as pd
import pytest
from conftest import fewer, frame, is_as_announced
from oracles import confirm
from scipy.stats import chisquare
from shapes import DIFFICULT, SMALL

pytestmark = pytest.mark.usefixtures("backend")

DIRECTED = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
REPLACE = pytest.mark.parametrize("replace", [False, True], ids=["once", "replace"])


def vertices_of(pairs):
    return sorted({v for pair in pairs for v in pair})


@DIRECTED
@REPLACE
@pytest.mark.parametrize("pairs", [DIFFICULT, SMALL["rmat"]], ids=["difficult", "rmat"])
def test_each_hop_samples_edges_of_the_vertices_that_the_hop_before_has_reached(
    built, pairs, replace, directed
):
    options = {"seeds": vertices_of(pairs)[8::-1], "fanouts": [3, -1, 2], "replace": replace}
    lazy = built(pairs, directed=directed).sample_neighbors(**options, seed=4)
    found = lazy.compute()
    assert is_as_announced(found, lazy)
    confirm("sample_neighbors", found, pairs, options, directed=directed)


@pytest.mark.parametrize("members", [1])
@pytest.mark.parametrize("fanout", [1, 2, 4])
def test_every_set_of_edges_is_equally_likely(built, members, fanout):
    seeds = fewer(6000, 3000)
    pairs = [(10 + seed, end) for seed in range(seeds) for end in range(5)]
    found = built(pairs).sample_neighbors(range(10, 10 + seeds), fanouts=[fanout]).compute()
    sets = Counter(found.groupby("source").target.agg(tuple))
    every = list(itertools.combinations(range(5), fanout))
    assert chisquare([sets.pop(one) for one in every]).pvalue > 1e-3
    assert not sets
    again = built(pairs).sample_neighbors(
        range(10, 10 + seeds), fanouts=[fanout], replace=True, seed=1
    )
    assert chisquare(list(Counter(again.compute().target).values())).pvalue > 1e-3


def test_the_sample_of_a_seed_depends_on_no_other_seed_and_not_on_the_type_of_ids(built):
    pairs = SMALL["rmat"]
    every = vertices_of(pairs)
    names = {v: f"v{v:05d}" for v in every}
    edges = frame(pairs)
    renamed = edges.assign(a=edges.a.map(names), b=edges.b.map(names))
    whole = built(edges).sample_neighbors(every, fanouts=[2, 2]).compute()
    found = built(renamed).sample_neighbors(
        [names[every[5]], names[every[2]], names[every[5]]], fanouts=[2, 2]
    )
    wanted = whole[whole.seed.isin([every[2], every[5]])]
    assert len(wanted)
    ends = wanted[["seed", "source", "target"]].apply(lambda ids: ids.map(names))
    wanted = wanted.assign(**ends)
    assert found.compute().to_numpy().tolist() == wanted.to_numpy().tolist()
    other = built(edges).sample_neighbors(every, fanouts=[2, 2], seed=1).compute()
    assert not other.reset_index(drop=True).equals(whole.reset_index(drop=True))


def test_a_seed_without_edges_has_no_rows(built):
    g = built([(0, 1), (0, 0)], vertices=pd.Series([9]))
    assert g.sample_neighbors([1, 9], fanouts=[-1, 2]).compute().empty
    found = g.sample_neighbors([0, 1, 9], fanouts=[-1, 2]).compute()
    assert found.to_numpy().tolist() == [[0, 1, 0, 0], [0, 1, 0, 1]]
