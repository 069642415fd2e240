"""Neighbor sampling: edges of the graph, hop by hop, each as likely, whatever the partitioning."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict

import dask
import numpy as np
import pandas as pd
import pytest
from conftest import Graph, fewer, frame, host_only, is_as_announced
from scipy.stats import chisquare
from shapes import DIFFICULT, ENDS, LARGE, SMALL, both_ways

import dask_graphflow as gf
from dask_graphflow.exceptions import EdgeListError, OptionError, UnknownVertexError

pytestmark = pytest.mark.usefixtures("backend")

DIRECTED = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
REPLACE = pytest.mark.parametrize("replace", [False, True], ids=["once", "replace"])


def vertices_of(pairs):
    return sorted({v for pair in pairs for v in pair})


def leaving(pairs, directed):
    """Return {vertex: how often each neighbor is at the end of an edge}."""
    found = defaultdict(Counter)
    sources, targets = both_ways(pairs, np.zeros(len(pairs)), directed)[:2]
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        found[source][target] += 1
    return found


@DIRECTED
@REPLACE
@pytest.mark.parametrize("pairs", [DIFFICULT, SMALL["rmat"]], ids=["difficult", "rmat"])
def test_each_hop_samples_edges_of_the_vertices_that_the_hop_before_has_reached(
    built, pairs, replace, directed
):
    edges, seeds, fanouts = leaving(pairs, directed), vertices_of(pairs)[:9], [3, -1, 2]
    lazy = built(pairs, directed=directed).sample_neighbors(
        seeds[::-1], fanouts=fanouts, replace=replace, seed=4
    )
    found = lazy.compute()
    assert is_as_announced(found, lazy)
    rows = list(found.itertuples(index=False, name=None))
    assert rows == sorted(rows)
    sampled = defaultdict(Counter)
    for seed, hop, source, target in rows:
        sampled[seed, hop, source][target] += 1
    for seed in seeds:
        seen, frontier = {seed}, {seed}
        for hop, fanout in enumerate(fanouts, 1):
            reached = set()
            for vertex in frontier:
                own, count = sampled.pop((seed, hop, vertex), Counter()), edges[vertex].total()
                wanted = min(count, fanout) if not replace else fanout if count else 0
                assert own.total() == (count if fanout < 0 else wanted)
                assert own.keys() <= edges[vertex].keys()
                assert (replace and fanout > 0) or own <= edges[vertex]
                reached |= own.keys()
            frontier = reached - seen
            seen |= reached
    assert not sampled


@pytest.mark.parametrize("members", [1])
@pytest.mark.parametrize("fanout", [1, 2, 4])
def test_every_set_of_edges_is_as_likely(built, members, fanout):
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


@DIRECTED
@REPLACE
@pytest.mark.parametrize("members", [3])
def test_the_same_sample_for_every_number_of_members_threads_and_partitions(
    built, members, directed, replace
):
    pairs = LARGE["rmat"]()
    seeds, how = vertices_of(pairs)[::17], {"fanouts": (7, 5, 3), "replace": replace, "seed": 9}
    on_host = Graph(frame(pairs), **ENDS, directed=directed)
    found = [on_host.sample_neighbors(seeds, **how).compute().reset_index(drop=True)]
    for count in range(1, members + 1):
        shuffled = frame(pairs).sample(frac=1, random_state=count)
        g = built(shuffled, shards=count, directed=directed)
        for threads in fewer((1, 3), (1,)):
            with dask.config.set(num_workers=threads * count):
                found.append(g.sample_neighbors(seeds, **how).compute().reset_index(drop=True))
    for other in found[1:]:
        pd.testing.assert_frame_equal(other, found[0], check_exact=True)


@pytest.mark.parametrize("kind", ["text", "far apart"])
def test_the_sample_of_a_seed_depends_on_no_other_seed_and_not_on_the_type_of_ids(built, kind):
    pairs = SMALL["rmat"]
    every = vertices_of(pairs)
    names = {v: f"v{v:05d}" if kind == "text" else v * 10**12 for v in every}
    edges = frame(pairs)
    renamed = edges.assign(a=edges.a.map(names), b=edges.b.map(names))
    whole = built(edges).sample_neighbors(every, fanouts=[2, 2]).compute()
    found = built(renamed).sample_neighbors(
        [names[every[5]], names[every[2]], names[every[5]]], fanouts=[2, 2]
    )
    wanted = whole[whole.seed.isin([every[2], every[5]])]
    assert len(wanted)
    ends = wanted[["seed", "source", "target"]].map(names.get)
    wanted = wanted.assign(**ends)
    assert found.compute().to_numpy().tolist() == wanted.to_numpy().tolist()
    other = built(edges).sample_neighbors(every, fanouts=[2, 2], seed=1).compute()
    assert not other.reset_index(drop=True).equals(whole.reset_index(drop=True))


@pytest.mark.parametrize("shares", [[0.3, 0.7], [0.2, 0.5, 0.3]], ids=len)
@pytest.mark.parametrize("members", [3])
def test_a_hybrid_graph_has_the_same_sample(built, members, shares):
    host_only("hybrid graphs take edges in host memory")
    edges = frame(SMALL["rmat"])
    found = [
        built(edges, **how).sample_neighbors(edges.a.unique()).compute().reset_index(drop=True)
        for how in ({}, {"shards": None, "hybrid": gf.Hybrid(shares, "random")})
    ]
    pd.testing.assert_frame_equal(*found, check_exact=True)


def test_a_seed_without_edges_has_no_rows(built):
    g = built([(0, 1), (0, 0)], vertices=pd.Series([9]))
    assert g.sample_neighbors([1, 9], fanouts=[-1, 2]).compute().empty
    found = g.sample_neighbors([0, 1, 9], fanouts=[-1, 2]).compute()
    assert found.to_numpy().tolist() == [[0, 1, 0, 0], [0, 1, 0, 1]]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"seeds": [0, 7]}, UnknownVertexError, r"1 of 2 ids is not in the graph: 7"),
        ({"seeds": []}, EdgeListError, r"seeds has no vertex; give at least one"),
        ({"fanouts": []}, OptionError, r"fanouts=\[\]; give a list of whole numbers, each 1 or mo"),
        ({"fanouts": [3, 0]}, OptionError, r"fanouts=\[3, 0\]; give a list .* or -1 for all"),
        ({"fanouts": 3}, OptionError, r"fanouts=3; give a list of whole numbers"),
        ({"replace": 1}, OptionError, r"replace=1; give True or False"),
    ],
)
def test_options_that_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        gf.sample_neighbors(frame([(0, 1)]), **ENDS, **{"seeds": 0} | given).compute()
