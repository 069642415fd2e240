"""Centralities from distances and degrees: NetworkX' values, with weights and without."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, frame
from oracles import ORACLES, confirm
from shapes import DIFFICULT, WAYS, few_weights, rmat
from test_betweenness import squares

import dask_graphflow as gf
from dask_graphflow.exceptions import OptionError, WeightError
from dask_graphflow.operators.search import whole_searches

pytestmark = pytest.mark.usefixtures("backend")

ALONE = [7, 1, 2, 1000]  # vertices of which some have no edge
BETWEEN = [
    {},
    {"normalized": False},
    {"k": 5},
    {"k": 4, "normalized": False},
    {"k": 1000},
    {"sources": [7, 1, 2]},
    {"sources": [7], "normalized": False},
]
ENDPOINTS = [
    {"endpoints": True},
    {"k": 1},
    {"k": 4, "endpoints": True},
    {"sources": [7], "normalized": False, "endpoints": True},
]
OPTIONS = {
    "betweenness_centrality": [*BETWEEN, *ENDPOINTS],
    "edge_betweenness_centrality": BETWEEN,
    "closeness_centrality": [{}, {"wf_improved": False}],
    "harmonic_centrality": [{}],
    "degree_centrality": [{}],
}
# More than 64 vertices, which take several batches.
EDGES = {"rmat": frame(rmat(7, 3)), "difficult": frame(DIFFICULT)}
WEIGHTS = ["whole", "real", "float32", "some are 0"]


@WAYS
@pytest.mark.parametrize("kind", [*EDGES, *WEIGHTS])
@pytest.mark.parametrize(
    ("name", "options"), [(name, one) for name, each in OPTIONS.items() for one in each], ids=str
)
def test_values_are_those_of_networkx(built, rng, name, options, directed, kind):
    if kind == "some are 0" and ORACLES[name].weights == "positive":
        pytest.skip("takes no weights of 0")
    edges = EDGES[kind] if kind in EDGES else few_weights(rng, kind)
    found = getattr(built(edges, directed=directed, vertices=pd.Series(ALONE)), name)(**options)
    how = {"directed": directed, "vertices": ALONE, "rtol": 1e-12, "atol": 1e-15}
    confirm(name, found.compute(), edges, options, **how)


PATHS = pytest.mark.parametrize("name", ["betweenness_centrality", "edge_betweenness_centrality"])


@PATHS
@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("weight", [0, -1.0, np.inf])
def test_weights_that_are_not_positive_and_finite_are_refused(built, name, weight):
    edges = frame([(1, 2), (2, 3), (3, 3)]).assign(w=[1.0, 2.0, weight])
    with pytest.raises(WeightError, match="a weight is 0, negative, infinite or NaN"):
        getattr(built(edges), name)().compute()


@PATHS
def test_sources_and_a_random_sample_exclude_each_other(name):
    found = getattr(gf, name)(frame([(1, 2)]), **ENDS, k=1, sources=1)
    with pytest.raises(OptionError, match="k=1 cannot be used with sources"):
        found.compute()


@PATHS
@pytest.mark.parametrize("kind", ["plain", "weighted"])
@pytest.mark.parametrize(("members", "levels"), [(1, False), (3, True)])
def test_more_paths_than_a_float_can_count(built, monkeypatch, name, kind, levels):
    if levels:
        monkeypatch.setattr(whole_searches, "on_one_host", lambda g: False)
    size, sides = 147, 128
    edges, step = squares(size, sides), sides + 1
    if kind == "weighted":  # each side of a square takes steps of other lengths
        ahead = edges.b - edges.a
        edges["w"] = np.where(edges.a % step == 0, ahead, ahead + 1).astype("float64")
    last = step * size
    found = getattr(built(edges), name)(sources=0, normalized=False).compute()
    if name == "edge_betweenness_centrality":
        # The paths to the next corner and behind it use all sides alike.
        corner = found.source // step * step
        wanted = (last - corner - sides) / sides + (found.source == corner)
        np.testing.assert_allclose(found.betweenness, wanted * (last + 1), rtol=1e-12)
        return
    corner = found.vertex[1:] // step * step
    through = (last - corner - sides) / sides  # a side, or all of them at a corner
    wanted = np.where(found.vertex[1:] == corner, last - corner, through)
    np.testing.assert_allclose(found.betweenness[1:], wanted * last, rtol=1e-12)
