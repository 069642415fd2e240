"""HITS: against NetworkX, and the same bits everywhere."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from conftest import frame, partitioned

import dask_graphflow as gf
from dask_graphflow.exceptions import ConvergenceError, OptionError, WeightError

pytestmark = pytest.mark.usefixtures("backend")

ENDS = {"source": "a", "target": "b"}
DIFFICULT = [(0, 1), (0, 2), (2, 3), (2, 3), (2, 0), (4, 3), (3, 3), (300, 3), (301, 302)]
WAYS = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


def rmat(*, weighted=False):
    edges = gf.generate.rmat(9, edge_factor=4, npartitions=1).compute()
    edges = frame(edges.to_numpy().tolist())
    weight = np.maximum(np.random.default_rng(4).integers(-4, 9, len(edges)), 0) / 4
    return edges.assign(w=weight) if weighted else edges


def by_networkx(edges, directed):
    """Return hub and authority scores; NetworkX adds up the weights of parallel edges."""
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    edges = edges if "w" in edges else edges.assign(w=1.0)
    graph.add_weighted_edges_from(edges.itertuples(index=False, name=None))
    return nx.hits(graph, tol=1e-15, max_iter=10_000)


def assert_scores(found, wanted):
    assert found.vertex.is_monotonic_increasing
    for name, scores in zip(("hub", "authority"), wanted, strict=True):
        assert found[name].dtype == "float64"
        assert found[name].sum() == pytest.approx(1, abs=1e-12)
        expected = pd.Series(scores)[found.vertex]
        np.testing.assert_allclose(found[name], expected, rtol=1e-6, atol=1e-12)


@WAYS
@WEIGHTED
def test_scores_are_those_of_networkx(built, directed, weighted):
    edges = rmat(weighted=weighted)
    found = built(edges, directed=directed).hits(tol=1e-13, max_iter=1000).compute()
    assert_scores(found, by_networkx(edges, directed))
    alone = gf.hits(
        edges, **ENDS, weight="w" if weighted else None, directed=directed, tol=1e-13, max_iter=1000
    ).compute()
    pd.testing.assert_frame_equal(found.reset_index(drop=True), alone, check_exact=True)


@WAYS
def test_parallel_edges_self_loops_and_dangling_vertices(built, directed):
    found = built(DIFFICULT, directed=directed).hits(tol=1e-13, max_iter=1000).compute()
    assert_scores(found, by_networkx(frame(DIFFICULT), directed))


@WEIGHTED
def test_partitions_and_ids_of_text_change_no_bit(built, weighted):
    edges = rmat(weighted=weighted)
    wanted = gf.hits(edges, **ENDS, weight="w" if weighted else None).compute()
    shuffled = edges.sample(frac=1, random_state=1)
    text = shuffled.assign(**{end: shuffled[end].map("v{:05d}".format) for end in ("a", "b")})
    for given in (shuffled, text):
        found = built(given, partitions=7).hits().compute()
        for name in ("hub", "authority"):
            assert found[name].to_numpy().tobytes() == wanted[name].to_numpy().tobytes()


def test_an_iteration_pulls_along_both_ends_of_every_edge():
    edges = frame(DIFFICULT)
    _, steps = gf.hits(edges, **ENDS, trace=True)
    steps = steps.compute()
    assert (steps.direction == "pull").all()
    assert len(steps) % 2 == 0
    assert (steps.edges == len(edges)).all()


def test_vertices_without_an_edge_score_0(built):
    found = built([(0, 1), (0, 2)], vertices=pd.Series([3, 300])).hits().compute()
    assert found.vertex.tolist() == [0, 1, 2, 3, 300]
    assert found.hub.tolist() == [1, 0, 0, 0, 0]
    assert found.authority.tolist() == [0, 0.5, 0.5, 0, 0]


def test_scores_are_all_the_same_if_no_edge_has_a_weight_above_0(built):
    assert len(built([]).hits().compute()) == 0
    found = built([], vertices=pd.Series([5, 3])).hits().compute()
    assert found.hub.tolist() == found.authority.tolist() == [0.5, 0.5]
    found = built(frame([(0, 1), (2, 300)]).assign(w=0.0)).hits().compute()
    assert found.hub.tolist() == found.authority.tolist() == [0.25] * 4


def test_weights_multiply_what_an_edge_carries():
    edges = frame([(0, 1), (2, 1), (2, 3)])
    doubled = gf.hits(pd.concat([edges, edges.iloc[2:]]), **ENDS, tol=1e-12).compute()
    weighted = gf.hits(edges.assign(w=[1, 1, 2]), **ENDS, weight="w", tol=1e-12).compute()
    pd.testing.assert_frame_equal(weighted, doubled)


@pytest.mark.parametrize("scale", [1e-180, 1e180])
def test_the_scale_of_the_weights_changes_nothing(scale):
    edges = rmat(weighted=True)
    wanted = gf.hits(edges, **ENDS, weight="w").compute()
    found = gf.hits(edges.assign(w=edges.w * scale), **ENDS, weight="w").compute()
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-12)


def test_too_few_iterations_raise_an_error(built):
    graph = built(rmat())
    with pytest.raises(ConvergenceError, match=r"after 2 iterations hub scores still change by"):
        graph.hits(max_iter=2).compute()
    assert len(graph.hits(max_iter=2, tol=2).compute())


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-1.0, "negative, infinite or NaN"),
        (np.inf, "negative, infinite or NaN"),
        (1e300, "sum to 1e[+]300; scale them"),
        (1e-300, "sum to 1e-300; scale them"),
    ],
)
def test_weights_that_cannot_be_added_up_raise_an_error(built, weight, message):
    edges = frame([(0, 1), (200, 300)]).assign(w=[0.0, weight])
    with pytest.raises(WeightError, match=message):
        built(edges).hits().compute()


@pytest.mark.parametrize("option", [{"max_iter": 0}, {"tol": 0}, {"tol": None}])
def test_options_out_of_range_raise_an_error(option):
    with pytest.raises(OptionError, match="give a"):
        gf.hits(partitioned(frame(DIFFICULT), 2), **ENDS, **option)
