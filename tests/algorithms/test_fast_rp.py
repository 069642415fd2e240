"""FastRP: vectors that a definition by NumPy gives, which depend on ids and edges only."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, GRAPHS, frame
from oracles import confirm
from shapes import WAYS, apart, at_random, grid, rmat

import dask_graphflow as gf
from dask_graphflow.exceptions import OptionError
from dask_graphflow.operators.random_signs import random_signs

pytestmark = pytest.mark.usefixtures("backend")

CLOSE = {"rtol": 1e-5, "atol": 1e-6}
MIXED = apart(
    {**GRAPHS, "rmat": rmat(), "sparse": at_random(300, 310), "grid": grid(9, "right", "down")}
)
OPTIONS = [
    {},
    {"dimensions": 1, "seed": 3},
    {"dimensions": 17, "weights": [1], "normalization": 0},
    {"dimensions": 40, "weights": (0.5, -2, 0, 1), "normalization": -1.0},
]


@WAYS
@pytest.mark.parametrize("options", OPTIONS, ids=range(len(OPTIONS)))
def test_vectors_are_those_of_the_definition(built, directed, options):
    found = built(MIXED, directed=directed).fast_rp(**options).compute()
    assert {str(dtype) for dtype in found.dtypes[1:]} == {"float32"}
    confirm("fast_rp", found, MIXED, options, directed=directed, **CLOSE)


@WAYS
@pytest.mark.parametrize("scale", [1.0, 2.0**-300, 1e90])
def test_averages_are_weighted(built, directed, scale):
    edges = frame(at_random(200, 900))
    edges["w"] = np.random.default_rng(2).choice([0.0, 0.1, 3.0, 1e5], len(edges)) * scale
    found = built(edges, directed=directed).fast_rp(dimensions=20).compute()
    confirm("fast_rp", found, edges, {"dimensions": 20}, directed=directed, **CLOSE)


def test_the_vector_of_a_vertex_depends_on_what_is_near_alone(built):
    """A graph that changes elsewhere has the same vectors up to rounding, also if ids come in between."""
    one, other = grid(9, "right", "down"), [(2 * a - 501, 2 * b - 501) for a, b in rmat()]
    alone = built([(2 * a, 2 * b) for a, b in one]).fast_rp().compute()
    beside = built([(2 * a, 2 * b) for a, b in one] + other).fast_rp().compute()
    beside = beside[beside.vertex.isin(alone.vertex)]
    assert np.allclose(beside.to_numpy(), alone.to_numpy(), rtol=1e-5, atol=1e-6)


def test_bits_do_not_depend_on_the_members(built):
    edges = frame(rmat())
    edges["w"] = np.random.default_rng(1).random(len(edges))
    alone = gf.fast_rp(edges, **ENDS, weight="w", dimensions=40).compute()
    found = built(edges, directed=False).fast_rp(dimensions=40).compute()
    assert (found.to_numpy() == alone.to_numpy()).all()


def test_similar_neighborhoods_have_near_vectors(built):
    """Two cliques with one edge between them: vectors of one clique are nearer than those of two."""
    pairs = [(a + by, b + by) for by in (0, 20) for a in range(12) for b in range(a)] + [(0, 20)]
    found = built(pairs, directed=False).fast_rp(weights=(1, 1)).compute()
    values = found.drop(columns="vertex").to_numpy()
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    near, first = values @ values.T, (found.vertex < 20).to_numpy()
    assert near[np.ix_(first, first)].min() > near[np.ix_(first, ~first)].max() + 0.3


def test_a_sixth_of_the_signs_is_positive_and_a_sixth_negative():
    signs = random_signs(np.arange(30_000), 5, range(4, 9))
    assert signs.shape == (30_000, 5)
    for sign, share in ((1, 1 / 6), (0, 2 / 3), (-1, 1 / 6)):
        assert np.allclose((signs == sign).mean(0), share, atol=0.01)
    assert (abs(np.corrcoef(signs.T) - np.eye(5)) < 0.03).all()
    assert (signs[:, :2] == random_signs(np.arange(30_000), 5, range(4, 6))).all()
    assert (signs != random_signs(np.arange(30_000), 6, range(4, 9))).any()


def test_a_vector_of_a_vertex_without_neighbors_is_0(built):
    found = (
        built([(1, 2), (3, 3)], vertices=pd.Series([7]), directed=True)
        .fast_rp(weights=[1])
        .compute()
    )
    values = found.set_index("vertex")
    assert (values.loc[[2, 7]] == 0).all(axis=None)
    assert (abs(values.loc[[1, 3]]).max(axis=1) > 0).all()


@pytest.mark.parametrize("weights", [[], [0, 0], [1e31], ["1"], "1", 3, [True], {1: 2}, {1, 2}])
def test_weights_that_are_no_numbers_are_refused(weights):
    with pytest.raises(OptionError, match="weights="):
        gf.fast_rp(frame([(1, 2)]), **ENDS, weights=weights)


def test_a_column_of_weights_in_the_wrong_option():
    with pytest.raises(OptionError, match="weight= names the column"):
        gf.fast_rp(frame([(1, 2)]).assign(w=1.0), **ENDS, weights="w")
