"""Random walks: the probabilities of node2vec, and the same walks for every partitioning."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from conftest import frame
from scipy.stats import chisquare
from shapes import DIFFICULT, SMALL, both_ways, weights

from dask_graphflow.exceptions import (
    GraphMemoryError,
    WeightError,
)
from dask_graphflow.operators.sample import walks

pytestmark = pytest.mark.usefixtures("backend")

DIRECTED = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
BIASES = [(1, 1), (0.25, 4), (4, 0.25), (1, 3), (0.02, 1), (math.inf, 0.5)]

# Triangles, a parallel edge, a self-loop, edges in one direction, and a leaf.
NEAR = [
    (0, 1), (1, 0), (0, 2), (1, 2), (2, 1), (2, 0), (2, 3), (3, 2), (2, 3), (3, 4), (4, 2), (4, 4),
    (4, 5), (5, 4), (1, 3), (5, 0), (4, 6), (6, 4),
]  # fmt: skip


def edges_of(pairs, weighted):
    edges = frame(pairs)
    return edges.assign(w=weights(len(pairs))) if weighted else edges


def vertices_of(pairs):
    return sorted({v for pair in pairs for v in pair})


def sequences(found):
    """Return each walk as a tuple, having checked that steps count from 0."""
    assert found.step.tolist() == found.groupby("walk").cumcount().tolist()
    return [tuple(walk) for _, walk in found.groupby("walk").vertex]


def weight_of(edges, directed):
    """Return {vertex: {neighbor: sum of the weights of its edges there}}."""
    pairs = list(zip(edges.a, edges.b, strict=True))
    weight = edges["w"] if "w" in edges else np.ones(len(edges))
    found = defaultdict(lambda: defaultdict(float))
    both = both_ways(pairs, np.asarray(weight), directed)
    for a, b, w in zip(*map(np.ndarray.tolist, both), strict=True):
        if w:
            found[a][b] += w
    return found


def biased(neighbors, entered, before, vertex, p, q):
    """Return node2vec's probabilities of the next vertex, by their definition."""
    masses = {
        x: w * (1 / p if x == before else 1 if x in entered[before] else 1 / q)
        for x, w in neighbors[vertex].items()
    }
    total = sum(masses.values())
    return {x: mass / total for x, mass in masses.items() if total and mass}


def counted(found):
    """Return how often each vertex comes after the two before it; the first of them is -1 at a start."""
    before, vertex = (found.groupby("walk").vertex.shift(at, fill_value=-1) for at in (2, 1))
    steps = pd.DataFrame({"before": before, "vertex": vertex, "after": found.vertex})
    counts = steps[found.step > 0].value_counts()
    return {key: group.droplevel([0, 1]) for key, group in counts.groupby(["before", "vertex"])}


@DIRECTED
@WEIGHTED
@pytest.mark.parametrize(("p", "q"), BIASES)
@pytest.mark.parametrize("members", [1])
def test_steps_have_the_probabilities_of_node2vec(built, members, weighted, directed, p, q):
    edges, several = edges_of(NEAR, weighted), 3000
    lazy = built(edges, directed=directed).random_walks(
        vertices_of(NEAR), length=12, walks_per_vertex=several, p=p, q=q, seed=5
    )
    neighbors = weight_of(edges, directed)
    entered = weight_of(edges[["a", "b"]], directed)
    observed, expected, groups = [], [], 0
    for (before, vertex), counts in counted(lazy.compute()).items():
        factors = (1, 1) if before < 0 else (p, q)
        wanted = biased(neighbors, entered, before, vertex, *factors)
        assert set(counts.index) <= wanted.keys()
        if min(wanted.values()) * counts.sum() >= 5:
            observed += [counts.get(x, 0) for x in wanted]
            expected += [share * counts.sum() for share in wanted.values()]
            groups += 1
    assert groups > 10
    assert chisquare(observed, expected, ddof=groups - 1).pvalue > 1e-3


def test_walks_are_the_same_for_every_type_of_ids_and_do_not_depend_on_other_starts(built):
    pairs = SMALL["rmat"]
    every = vertices_of(pairs)
    names = {v: f"v{v:05d}" for v in every}
    edges = frame(pairs)
    renamed = edges.assign(a=edges.a.map(names), b=edges.b.map(names))
    how = {"length": 6, "walks_per_vertex": 2, "p": 2, "q": 0.5}
    wanted = sequences(built(edges).random_walks(every, **how).compute())
    found = sequences(built(renamed).random_walks([names[v] for v in every], **how).compute())
    assert found == [tuple(names[v] for v in walk) for walk in wanted]
    few = [every[9], every[3], every[9]]
    found = built(edges).random_walks(few, **how).compute()
    assert found.walk.unique().tolist() == [0, 1, 2, 3]
    assert sequences(found) == [walk for walk in wanted if walk[0] in few]
    other = sequences(built(edges).random_walks(every, **how | {"seed": 1}).compute())
    assert other != wanted


def test_walks_end_where_no_edge_leaves(built):
    g = built([(0, 1), (1, 2)], vertices=pd.Series([9]))
    found = g.random_walks([0, 2, 9], length=5, walks_per_vertex=2).compute()
    assert sequences(found) == [(0, 1, 2)] * 2 + [(2,)] * 2 + [(9,)] * 2
    # A walk that never returns ends at a leaf.
    found = (
        built([(0, 1), (1, 2)], directed=False).random_walks([0], length=5, p=math.inf).compute()
    )
    assert sequences(found) == [(0, 1, 2)]


def test_edges_of_weight_zero_are_never_followed_and_edges_of_large_weight_always(built):
    edges = frame([(0, 1), (0, 2), (0, 3), (1, 0)]).assign(w=[1e300, 0.0, 1e-300, 5e-324])
    found = built(edges).random_walks([0, 2], length=20).compute()
    assert sequences(found) == [(0, 1) * 10 + (0,), (2,)]


@pytest.mark.parametrize("kind", ["int64", pytest.param("float32", marks=pytest.mark.slow)])
def test_weights_of_every_type_mean_the_same(built, kind):
    edges = frame(DIFFICULT)
    small = np.arange(len(edges)) % 5 + 1
    how = {"starts": [0, 2], "length": 9, "walks_per_vertex": 20, "q": 2}
    wanted = built(edges.assign(w=small.astype("float64"))).random_walks(**how).compute()
    found = built(edges.assign(w=small.astype(kind))).random_walks(**how).compute()
    pd.testing.assert_frame_equal(found, wanted)


def test_weights_that_are_refused(built):
    edges = frame([(0, 1), (1, 2)]).assign(w=[1.0, -1.0])
    with pytest.raises(WeightError, match="a weight is negative"):
        built(edges).random_walks([0], length=3).compute()


@DIRECTED
@pytest.mark.parametrize("members", [1])
def test_walks_that_are_made_in_several_blocks_are_the_same(built, directed, members, monkeypatch):
    ends = [*NEAR, *((i, i + 1) for i in range(7, 40))]  # a path, on which directed walks end
    g = built(ends, directed=directed)
    options = {"starts": vertices_of(ends), "length": 60, "walks_per_vertex": 3, "q": 2}
    wanted = g.random_walks(**options).compute()
    monkeypatch.setattr(walks, "BLOCK", 300)
    pd.testing.assert_frame_equal(g.random_walks(**options).compute(), wanted)


@pytest.mark.parametrize("members", [1, 2])
def test_memory_is_for_steps_that_are_done_and_too_many_walks_are_refused(built, members):
    g = built([(i, 999) for i in range(999)])
    found = g.random_walks(list(range(999)), length=10**9).compute()
    assert len(found) == 2 * 999
    with pytest.raises(GraphMemoryError, match=r"vertices of walks needs .* Give fewer starts"):
        g.random_walks([0], length=1, walks_per_vertex=2**55).compute()
