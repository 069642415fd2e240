"""Label propagation against counting by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from conftest import frame, partitioned, to_host
from shapes import shards

import dask_graphflow as gf
from dask_graphflow.algorithms.label_propagation import communities

pytestmark = pytest.mark.usefixtures("backend")

ENDS = {"source": "a", "target": "b"}


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


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_labels_are_those_that_most_neighbours_have(graph, directed, iterations):
    if not graph:
        return
    edges = partitioned(frame(graph), 2)
    found = gf.label_propagation(edges, **ENDS, directed=directed, max_iter=iterations).compute()
    wanted = by_hand(graph, iterations, directed=directed)
    assert dict(zip(found["vertex"], found["label"], strict=True)) == wanted


def test_no_edges_no_labels():
    assert len(gf.label_propagation(frame([]), **ENDS).compute()) == 0


def test_labels_of_strings_are_strings():
    edges = frame([(1, 2), (2, 3), (3, 1)]).astype("str")
    found = gf.label_propagation(edges, **ENDS).compute()
    assert found["label"].dtype == found["vertex"].dtype == "string"
    assert set(found["label"]) <= set(found["vertex"])


@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize("directed", [False, True])
def test_the_same_labels_for_every_number_of_ranges(parts, directed):
    rng = np.random.default_rng(5)
    size = 20_000
    source, target = (size * rng.random((2, 60_000)) ** 3).astype("int32")
    made = shards(source, target, size=size, directed=directed, parts=parts)
    found, steps = communities(made, max_iter=3, threads=2)
    found = to_host(found)
    wanted = by_hand(zip(source.tolist(), target.tolist(), strict=True), 3, directed=directed)
    assert len(steps) == 3
    assert all(found[v] == label for v, label in wanted.items())


def test_it_ends_where_nothing_changes():
    triangles = frame([(0, 1), (1, 2), (2, 0), (7, 8), (8, 9), (9, 7)])
    found, trace = gf.label_propagation(triangles, **ENDS, max_iter=50, trace=True)
    assert len(trace.compute()) < 5
    assert found.compute()["label"].tolist() == [0, 0, 0, 7, 7, 7]


@pytest.mark.parametrize("max_iter", [0, -1, 2.5])
def test_a_wrong_number_of_iterations_is_refused(max_iter):
    with pytest.raises(gf.exceptions.OptionError, match="max_iter"):
        gf.label_propagation(frame([(1, 2)]), **ENDS, max_iter=max_iter)
