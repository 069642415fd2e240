"""Minimum spanning forests: those of NetworkX and the weight of SciPy's, whatever the partitioning."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from conftest import frame, is_as_announced
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree
from test_core_number import MIXED, WAYS, rmat

from dask_graphflow.exceptions import WeightError
from dask_graphflow.operators import spanning

pytestmark = pytest.mark.usefixtures("backend")


def rows(found):
    return list(found.itertuples(index=False, name=None))


def by_networkx(edges):
    """Return the edges of the forest, of which equal weights are in the order of their ends."""
    edges = edges.assign(source=edges[["a", "b"]].min(axis=1), target=edges[["a", "b"]].max(axis=1))
    if "w" not in edges:
        edges = edges.assign(w=0)
    edges = edges.sort_values(["w", "source", "target"]).drop_duplicates(["source", "target"])
    graph = nx.Graph()
    for rank, (source, target, weight) in enumerate(rows(edges[["source", "target", "w"]])):
        graph.add_edge(source, target, rank=rank, weight=weight)
    found = nx.minimum_spanning_edges(graph, weight="rank")
    return sorted((*sorted(ends), data["weight"]) for *ends, data in found)


def weighted(pairs, dtype, most=5):
    drawn = np.random.default_rng(3).integers(-most, most, len(pairs))
    return frame(pairs).assign(w=(drawn / 4 if "f" in dtype else drawn).astype(dtype))


@WAYS
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_edges_are_those_of_networkx(built, dtype, directed):
    edges = weighted(MIXED, dtype)
    lazy = built(edges, directed=directed).minimum_spanning_forest()
    found = lazy.compute()
    assert is_as_announced(found, lazy)
    assert rows(found) == by_networkx(edges)


@WAYS
def test_without_weights_the_first_edges_are_taken(built, directed):
    found = built(MIXED, directed=directed).minimum_spanning_forest().compute()
    assert list(found) == ["source", "target"]
    assert rows(found) == [edge[:2] for edge in by_networkx(frame(MIXED))]


@pytest.mark.parametrize("most", [3, 10**6])
def test_few_light_edges_first_and_the_total_weight_of_scipy(built, monkeypatch, most):
    monkeypatch.setattr(spanning, "LIGHT", 0.2)
    monkeypatch.setattr(spanning, "SAMPLE", 100)
    edges = weighted(rmat(), "float64", most)
    found = built(edges, directed=False).minimum_spanning_forest().compute()
    assert rows(found) == by_networkx(edges)
    ends = np.sort(edges[["a", "b"]].to_numpy(), axis=1)
    least = edges.assign(a=ends[:, 0], b=ends[:, 1]).groupby(["a", "b"]).w.min().reset_index()
    least = least[least.a != least.b]
    shift = 1 - least.w.min()  # SciPy treats a weight of 0 as no edge
    matrix = csr_array((least.w + shift, (least.a, least.b)), shape=(512, 512))
    total = minimum_spanning_tree(matrix).sum() - shift * len(found)
    assert found.weight.sum() == pytest.approx(total)


def test_weights_that_are_infinite_or_zeros_of_both_signs(built):
    inf = float("inf")
    edges = frame([(1, 2), (2, 3), (1, 3), (4, 5), (5, 6)]).assign(w=[0.0, 0.0, -0.0, inf, -inf])
    found = built(edges, directed=False).minimum_spanning_forest().compute()
    assert rows(found) == [(1, 2, 0.0), (1, 3, 0.0), (4, 5, inf), (5, 6, -inf)]


def test_ids_of_several_types_and_graphs_without_edges(built):
    edges = pd.DataFrame({"a": list("zzyx"), "b": list("yxxw"), "w": [1, 1, 1, 1]})
    found = built(edges, vertices=pd.Series(["u"])).minimum_spanning_forest().compute()
    assert rows(found) == [("w", "x", 1), ("x", "y", 1), ("x", "z", 1)]
    assert len(built([]).minimum_spanning_forest().compute()) == 0
    assert len(built([(4, 4)]).minimum_spanning_forest().compute()) == 0


def test_a_weight_that_is_nan_is_refused(built):
    inf = float("inf")
    edges = frame([(1, 2), (1, 2), (100, 200)]).assign(w=[inf, -inf, 1.0])
    g = built(edges, directed=False, multi="sum")
    with pytest.raises(WeightError, match=r"a weight is NaN"):
        g.minimum_spanning_forest().compute()
