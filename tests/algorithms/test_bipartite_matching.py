"""Bipartite matching: as many edges as SciPy finds, or the largest weight."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, frame
from oracles import confirm
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching
from shapes import WAYS

import dask_graphflow as gf
from dask_graphflow.exceptions import EdgeListError, WeightError
from dask_graphflow.kernels.matching import host as host_matching

pytestmark = pytest.mark.usefixtures("backend")

WEIGHTS = {"none": None, "whole": [0, 1, 2, 9], "equal": [1], "rounded": [0.1, 0.7, 1 / 3],
           "many": range(1, 1000)}  # fmt: skip


def bipartite(left, right, edges, *, values=None, seed=3):
    """Return edges from the first `left` vertices to the others; few vertices have most of them."""
    rng = np.random.default_rng(seed)
    ends = {"a": left * rng.random(edges) ** 2, "b": left + right * rng.random(edges) ** 3}
    ends = {end: drawn.astype("int64") for end, drawn in ends.items()}
    return pd.DataFrame(ends | ({} if values is None else {"w": rng.choice(values, edges)}))


def turned(edges):
    """Return the edges with every second one reversed."""
    back = np.arange(len(edges)) % 2 == 0
    return edges.assign(a=np.where(back, edges.b, edges.a), b=np.where(back, edges.a, edges.b))


@WAYS
@pytest.mark.parametrize("weights", WEIGHTS)
def test_matchings_are_as_large_as_those_of_scipy(built, weights, directed):
    for size in ((1, 1, 1), (6, 4, 20), (20, 30, 60), (60, 60, 500)):
        edges = bipartite(*size, values=WEIGHTS[weights])
        edges = edges if directed else turned(edges)
        found = built(edges, directed=directed).bipartite_matching().compute()
        confirm("bipartite_matching", found, edges, {}, directed=directed)


@pytest.mark.parametrize("passes", [-1, 0, 4])
def test_searches_one_by_one_and_at_once_find_as_many_edges(built, passes, monkeypatch):
    """Random edges leave paths to be found after the first choices."""
    monkeypatch.setattr(host_matching, "EACH", passes)
    rng = np.random.default_rng(5)
    edges = pd.DataFrame({"a": rng.integers(0, 500, 1400), "b": 500 + rng.integers(0, 500, 1400)})
    matrix = csr_array((np.ones(1400, "int8"), (edges.a, edges.b - 500)), shape=(500, 500))
    found = built(edges).bipartite_matching().compute()
    assert len(found) == (maximum_bipartite_matching(matrix) >= 0).sum()
    assert found.source.is_unique
    assert found.target.is_unique
    pairs = set(edges.itertuples(index=False, name=None))
    assert pairs >= set(found.itertuples(index=False, name=None))


def test_searches_leave_out_what_others_have_seen_in_vain(monkeypatch):
    """Each of 970 vertices that are left over would search all 900 edges of the matched ones again."""
    edges = frame([(a, 1000 + b) for a in range(1000) for b in range(30)])
    outcomes = []

    def noted(*arguments):
        outcomes.append((search(*arguments), len(arguments[1])))
        return outcomes[-1][0]

    search = host_matching._augment_each
    monkeypatch.setattr(host_matching, "_augment_each", noted)
    assert len(gf.bipartite_matching(edges, **ENDS).compute()) == 30
    assert outcomes == [(1000, 1000)]  # all of them searched before four passes over the edges


@WAYS
@pytest.mark.parametrize("weights", ["none", "rounded"])
def test_matchings_have_the_same_bits_for_every_partitioning(built, weights, directed):
    edges = bipartite(200, 150, 900, values=WEIGHTS[weights])
    edges = edges if directed else turned(edges)
    weight = None if weights == "none" else "w"
    expected = gf.bipartite_matching(edges, **ENDS, weight=weight, directed=directed).compute()
    assert len(expected) > 50
    other = built(edges.sample(frac=1, random_state=1), directed=directed)
    found = other.bipartite_matching().compute().reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected)


def test_a_heavy_edge_can_replace_two(built):
    edges = pd.DataFrame({"a": [1, 1, 2], "b": [8, 9, 8], "w": [5, 1, 3]})
    found = built(edges).bipartite_matching().compute()
    assert found.to_numpy().tolist() == [[1, 8, 5]]
    assert len(built(edges[["a", "b"]]).bipartite_matching().compute()) == 2


def test_graphs_that_are_not_bipartite_are_refused(built):
    triangle = frame([(1, 2), (2, 3), (3, 1)])
    with pytest.raises(EdgeListError, match="begin and end at vertex 1, so they do not lead"):
        built(triangle).bipartite_matching().compute()
    with pytest.raises(EdgeListError, match="the edge between 2 and 3 is on a cycle with an odd"):
        built(triangle, directed=False).bipartite_matching().compute()
    with pytest.raises(EdgeListError, match="a self-loop at vertex 7, so the graph is not"):
        built(frame([(7, 7)]), directed=False).bipartite_matching().compute()
    path = frame([(1, 2), (2, 3), (3, 4)])
    with pytest.raises(EdgeListError, match="directed=False"):
        built(path).bipartite_matching().compute()
    found = built(path, directed=False).bipartite_matching().compute()  # the advice works
    assert found.to_numpy().tolist() == [[1, 2], [3, 4]]


def test_wrong_weights_are_refused(built):
    for bad in (-1.0, np.inf):
        with pytest.raises(WeightError, match="a weight is negative, infinite or NaN"):
            built(frame([(0, 1), (0, 2)]).assign(w=[1.0, bad])).bipartite_matching().compute()
