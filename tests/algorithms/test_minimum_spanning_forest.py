"""Minimum spanning forests: those of Kruskal's algorithm, whatever the partitioning."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import frame, is_as_announced
from oracles import confirm
from shapes import MIXED, WAYS, rmat

from dask_graphflow.exceptions import WeightError
from dask_graphflow.operators.forests import spanning

pytestmark = pytest.mark.usefixtures("backend")


def rows(found):
    return list(found.itertuples(index=False, name=None))


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
    confirm("minimum_spanning_forest", found, edges, {})


@WAYS
def test_without_weights_the_first_edges_are_taken(built, directed):
    found = built(MIXED, directed=directed).minimum_spanning_forest().compute()
    assert list(found) == ["source", "target"]
    confirm("minimum_spanning_forest", found, MIXED, {})


@pytest.mark.parametrize("most", [3, 10**6])
def test_few_light_edges_first(built, monkeypatch, most):
    monkeypatch.setattr(spanning, "LIGHT", 0.2)
    monkeypatch.setattr(spanning, "SAMPLE", 100)
    edges = weighted(rmat(), "float64", most)
    found = built(edges, directed=False).minimum_spanning_forest().compute()
    confirm("minimum_spanning_forest", found, edges, {})


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
