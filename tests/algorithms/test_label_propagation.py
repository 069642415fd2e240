"""Label propagation, with and without weights, against sums by hand."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from conftest import frame

import dask_graphflow as gf
from dask_graphflow.comm.exchange import HEADER

pytestmark = pytest.mark.usefixtures("backend")

DIRECTED = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])


def by_hand(edges, iterations, *, directed):
    near = {}
    for u, v, *weight in edges:
        near.setdefault(u, []).append((v, *weight))
        # Without direction a self-loop is one edge.
        near.setdefault(v, [])
        if u != v or directed:
            near[v].append((u, *weight))
    label = {v: v for v in near}
    for _ in range(iterations):
        sums = {v: Counter() for v in near}
        for v, neighbors in near.items():
            for u, *weight in neighbors:
                sums[v][label[u]] += weight[0] if weight else 1
        # A vertex keeps its label if no edge counts.
        label = {
            v: min(found, key=lambda name, found=found: (-found[name], name))
            if any(found.values())
            else label[v]
            for v, found in sums.items()
        }
    return label


def weighted(pairs, weights):
    return frame(pairs).assign(w=weights)


def rows(edges):
    return edges.itertuples(index=False, name=None)


def labels(result):
    found = result.compute()
    return dict(zip(found["vertex"].tolist(), found["label"].tolist(), strict=True))


@DIRECTED
@pytest.mark.parametrize("weight", [False, True], ids=["plain", "weighted"])
def test_each_vertex_takes_the_heaviest_label_of_its_neighbors(built, graph, directed, weight):
    # Sums of eighths are exact, also if they are added by hand. Many of them are 0, and many labels have
    # equal sums.
    eighths = np.random.default_rng(2).integers(0, 4, len(graph)) / 8
    edges = weighted(graph, eighths) if weight else frame(graph)
    g = built(edges, directed=directed)
    for iterations in (1, 2, 5, 20):
        found = labels(g.label_propagation(max_iter=iterations))
        assert found == by_hand(rows(edges), iterations, directed=directed)


@DIRECTED
@pytest.mark.parametrize("dtype", [None, "float64", "int32"])
def test_labels_of_a_larger_graph(built, directed, scheduler, dtype):
    rng = np.random.default_rng(5)
    edges = frame((3000 * rng.random((9000, 2)) ** 3).astype(int).tolist())
    edges = edges.assign(w=rng.integers(0, 9, len(edges)).astype(dtype)) if dtype else edges
    g = built(edges, partitions=24, directed=directed)
    result, trace = g.label_propagation(max_iter=3, trace=True)
    assert labels(result) == by_hand(rows(edges), 3, directed=directed)
    assert set(trace.compute()["superstep"]) == {0, 1, 2}


@DIRECTED
def test_the_order_of_edges_changes_no_sum(built, directed):
    rng = np.random.default_rng(4)
    pairs = (100 * rng.random((3000, 2)) ** 2).astype(int).tolist()
    edges = weighted(pairs, 10 ** rng.uniform(-20, 3, len(pairs)))
    wanted = by_hand(rows(edges.assign(w=edges.w.map(Fraction))), 4, directed=directed)
    for some in (edges, edges.sample(frac=1, random_state=1, ignore_index=True)):
        assert labels(built(some, directed=directed).label_propagation(max_iter=4)) == wanted


@DIRECTED
@pytest.mark.parametrize("scales", [[2.0**-1000, 1], [2.0**-60, 2.0**60], [2.0**500, 2.0**-500]])
def test_light_edges_count_as_much_as_heavy_ones_elsewhere(built, directed, scales):
    rng = np.random.default_rng(6)
    pairs = (50 * rng.random((300, 2)) ** 2).astype(int)
    edges = weighted(
        [*pairs.tolist(), *(pairs + 1000).tolist()], [*rng.integers(1, 9, 300) / 4] * 2
    )
    wanted = by_hand(rows(edges), 3, directed=directed)
    edges["w"] *= np.repeat(scales, 300)
    assert labels(built(edges, directed=directed).label_propagation(max_iter=3)) == wanted


@DIRECTED
def test_equal_weights_give_the_labels_of_a_graph_without_weights(built, directed):
    pairs = (200 * np.random.default_rng(6).random((900, 2)) ** 2).astype(int).tolist()
    plain = labels(built(pairs, directed=directed).label_propagation())
    # A third is not a sum of powers of 2; all of them are rounded to the same whole number.
    thirds = built(weighted(pairs, 1 / 3), directed=directed).label_propagation()
    assert labels(thirds) == plain


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_wrong_weights_are_refused(built, wrong):
    edges = weighted([(0, 1), (1, 2)], [1.0, wrong])
    with pytest.raises(gf.exceptions.WeightError, match="weight"):
        built(edges, directed=False).label_propagation().compute()


def test_label_propagation_ends_when_no_label_changes(built):
    triangles = [(0, 1), (1, 2), (2, 0), (7, 8), (8, 9), (9, 7)]
    found, trace = built(triangles, directed=False).label_propagation(max_iter=50, trace=True)
    assert trace.compute()["superstep"].max() == 2  # the first in which no label changes
    assert found.compute()["label"].tolist() == [0, 0, 0, 7, 7, 7]


@DIRECTED
@pytest.mark.parametrize("members", [2, 3])
def test_labels_that_do_not_change_are_not_sent(built, members, directed):
    # After two iterations, only the labels of a path still change. One of its edges is cut.
    cliques = [(8 * k + i, 8 * k + j) for k in range(4, 400) for i in range(8) for j in range(i)]
    across = [(8 * k, 1600 + 8 * k) for k in range(4, 200)]
    ids = [*range(30), *range(3200, 3230)]
    path = list(itertools.pairwise(ids))
    g = built([*cliques, *across, *path], directed=directed)
    _, trace = g.label_propagation(max_iter=8, trace=True)
    steps = trace.compute()
    sent = steps.groupby("superstep")["bytes"].sum() - HEADER.size * members * (members - 1)
    assert len(sent) == 8
    if not directed:  # at first all labels change: one message to each member that has a neighbor
        layout = getattr(g, "graph", g).layout().compute()
        assert sent[0] == 4 * layout["remote"].sum() > 800
    assert (sent[2:7] > 0).all()
    assert (sent[2:7] <= 2 * (8 + 4)).all()  # a label of each end of the cut edge, with its index
    assert sent[7] == 0  # no vertex needs the last labels
