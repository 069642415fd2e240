"""Label propagation against counting by hand."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from conftest import frame

import dask_graphflow as gf
from dask_graphflow.comm.exchange import HEADER

pytestmark = pytest.mark.usefixtures("backend")

ENDS = {"source": "a", "target": "b"}
DIRECTED = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])


def by_hand(pairs, iterations, *, directed):
    near = {}
    for u, v in pairs:
        near.setdefault(u, []).append(v)
        # Without direction a self-loop is one edge.
        if u != v or directed:
            near.setdefault(v, []).append(u)
    label = {v: v for v in near}
    for _ in range(iterations):
        counts = {v: Counter(label[u] for u in us) for v, us in near.items()}
        label = {v: min(c, key=lambda name, c=c: (-c[name], name)) for v, c in counts.items()}
    return label


def labels(result):
    found = result.compute()
    return dict(zip(found["vertex"].tolist(), found["label"].tolist(), strict=True))


@DIRECTED
def test_labels_are_those_that_most_neighbors_have(built, graph, directed):
    g = built(graph, directed=directed)
    for iterations in (1, 2, 5, 20):
        found = labels(g.label_propagation(max_iter=iterations))
        assert found == by_hand(graph, iterations, directed=directed)


@DIRECTED
def test_labels_of_a_larger_graph(built, directed, scheduler):
    pairs = (3000 * np.random.default_rng(5).random((9000, 2)) ** 3).astype(int).tolist()
    g = built(pairs, partitions=24, directed=directed)
    result, trace = g.label_propagation(max_iter=3, trace=True)
    assert labels(result) == by_hand(pairs, 3, directed=directed)
    assert set(trace.compute()["superstep"]) == {0, 1, 2}


def test_labels_of_strings_are_strings():
    edges = frame([(1, 2), (2, 3), (3, 1)]).astype("str")
    found = gf.label_propagation(edges, **ENDS).compute()
    assert found["label"].dtype == found["vertex"].dtype == "string"
    assert set(found["label"]) <= set(found["vertex"])


def test_it_ends_when_no_label_changes(built):
    triangles = [(0, 1), (1, 2), (2, 0), (7, 8), (8, 9), (9, 7)]
    found, trace = built(triangles, directed=False).label_propagation(max_iter=50, trace=True)
    assert trace.compute()["superstep"].max() == 2  # the first in which no label changes
    assert found.compute()["label"].tolist() == [0, 0, 0, 7, 7, 7]


@pytest.mark.parametrize("max_iter", [0, -1, 2.5])
def test_a_wrong_number_of_iterations_is_refused(max_iter):
    with pytest.raises(gf.exceptions.OptionError, match="max_iter"):
        gf.label_propagation(frame([(1, 2)]), **ENDS, max_iter=max_iter)


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
    assert sent[7] == 0  # nobody needs the last ones
