"""Betweenness centrality: NetworkX' values, and the same bits everywhere."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from conftest import BACKEND, ENDS, fewer, frame, host_only, to_host
from shapes import WAYS, few_weights, on_members, rmat, same, traced

import dask_graphflow as gf
from dask_graphflow.algorithms.betweenness_centrality.betweenness_centrality import (
    add_dependencies,
)
from dask_graphflow.algorithms.bfs import breadth_first
from dask_graphflow.exceptions import WeightError
from dask_graphflow.operators.search import whole_searches

pytestmark = pytest.mark.usefixtures("backend")


def squares(count, sides=2):
    """Return squares in a row that meet at corners: sides**count shortest paths lead through them."""
    corners, step = range(0, (sides + 1) * count, sides + 1), sides + 1
    ends = [((0, side), (side, step)) for side in range(1, step)]
    return frame([(at + a, at + b) for at in corners for a, b in sum(ends, ())])


WEIGHTS = ["whole", "real", "float32"]
RMAT = frame(rmat(6, 3))


@WAYS
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("members", [1, 3])
def test_weighted_sums_have_the_same_bits_everywhere(built, rng, monkeypatch, directed, kind):
    edges = few_weights(rng, kind, 200, 700)
    options = {"k": fewer(30, 6), "seed": 1, "endpoints": True}
    whole = built(edges, directed=directed, shards=1).betweenness_centrality(**options).compute()
    monkeypatch.setattr(whole_searches, "on_one_host", lambda g: False)
    levels = built(edges.sample(frac=1, random_state=2), directed=directed, partitions=5)
    same(levels.betweenness_centrality(**options).compute(), whole)


@WAYS
@pytest.mark.parametrize("members", [1, 3])
def test_equal_weights_give_the_bits_of_a_graph_without_weights(built, monkeypatch, directed):
    k = fewer(None, 8)
    wanted = built(RMAT, directed=directed).betweenness_centrality(k=k).compute()
    graph = built(RMAT.assign(w=0.25), directed=directed)
    same(graph.betweenness_centrality(k=k).compute(), wanted)
    monkeypatch.setattr(whole_searches, "on_one_host", lambda g: False)
    same(graph.betweenness_centrality(k=k).compute(), wanted)


@pytest.mark.parametrize("members", [1, 3])
def test_a_weight_that_does_not_change_a_distance_is_refused(built, monkeypatch):
    edges = frame([(1, 2), (2, 3)]).assign(w=[1e17, 1.0])
    for _ in range(2):
        with pytest.raises(WeightError, match="does not change the distance"):
            built(edges).betweenness_centrality(sources=1).compute()
        assert built(edges).betweenness_centrality(sources=2).compute().betweenness.sum() == 0
        monkeypatch.setattr(whole_searches, "on_one_host", lambda g: False)


@pytest.mark.parametrize("members", [1, 3])
def test_an_edge_to_an_infinite_distance_is_on_no_path(built, monkeypatch):
    edges = frame([(1, 2), (2, 3), (2, 4)]).assign(w=[1e308, 1e308, 1e292])
    for _ in range(2):
        found = built(edges).betweenness_centrality(sources=1, normalized=False).compute()
        assert found.betweenness.tolist()[1:] == [3, 0, 0]
        monkeypatch.setattr(whole_searches, "on_one_host", lambda g: False)


@WAYS
@pytest.mark.parametrize("members", [3])
def test_whole_sources_and_levels_give_the_same_bits(built, monkeypatch, directed):
    # 256**132 paths lead to the last corner, and one more along a path of its own: a subnormal fraction.
    size, last = 257 * 132, 257 * 132 + 263
    beside = [0, *range(size + 1, last + 1), size]
    edges = pd.concat([squares(132, 256), frame([*itertools.pairwise(beside)])])

    def ask(g):
        scores, places = g.column(0, "float64"), np.where(g.numbers == 0, 0, -1)
        add_dependencies(g.simple, places, 1, scores, endpoints=False)
        return to_host(scores[: last + 1])

    graph = built(edges, directed=directed)
    split = np.concatenate(on_members(graph, ask))
    alone = built(edges, shards=1, directed=directed)
    (whole,) = on_members(alone, ask)
    monkeypatch.setattr(whole_searches, "suit_sources", lambda *args: False)
    (levels,) = on_members(alone, ask)
    assert 0 < whole[last] < np.finfo(float).tiny
    np.testing.assert_array_equal(levels, whole)
    np.testing.assert_array_equal(split[: len(whole)], whole)


@pytest.mark.parametrize("members", [1, 3])
def test_only_several_members_need_a_superstep_per_level(built, members):
    path = frame([(i, i + 1) for i in range(12)])
    results = built(path).betweenness_centrality(trace=True)
    _, steps = traced(results)
    assert len(steps) == 1 if members == 1 else len(steps) > 12


def test_few_sources_are_taken_whole_if_levels_are_small(built, monkeypatch):
    host_only("a device always takes whole sources")
    threads, whole = 4, []

    def ask(g):
        g.member.threads = threads

        def depth():
            return breadth_first(g, np.arange(1)).depth

        whole.append(whole_searches.suit_sources(g, 1, depth))
        monkeypatch.setattr(whole_searches, "SMALL", 1)
        whole.append(whole_searches.suit_sources(g, 1, depth))
        whole.append(whole_searches.suit_sources(g, threads, depth))

    on_members(built(RMAT, shards=1), ask)
    assert whole == [True, False, True]


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_levels():
    if BACKEND.name == "cudf":
        pytest.skip("thousands of levels take a minute on a GPU, and the loop is the same")
    count = 4000
    path = pd.DataFrame({"a": np.arange(count), "b": np.arange(1, count + 1)})
    graph = gf.Graph(path, **ENDS, directed=False).persist()
    graph.betweenness_centrality(k=1).compute(scheduler="synchronous")
    tracemalloc.start()
    try:
        graph.betweenness_centrality(k=1).compute(scheduler="synchronous")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 300 * count
