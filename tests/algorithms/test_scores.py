"""Scores that are sums over neighbors (HITS, Katz, eigenvector): as defined, the same bits everywhere."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, frame
from oracles import confirm, network_of
from shapes import DIFFICULT, WAYS, on_members, rmat, weights

import dask_graphflow as gf
from dask_graphflow.algorithms import ALGORITHMS
from dask_graphflow.exceptions import ConvergenceError, OptionError, WeightError

pytestmark = pytest.mark.usefixtures("backend")

WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])

# Options that bring the scores near the limit, and the columns.
SCORES = {
    "hits": ({"tol": 1e-13, "max_iter": 1000}, ["hub", "authority"]),
    "katz_centrality": ({"tol": 1e-13, "alpha": 0.004}, ["katz"]),
    # Some graphs come near the limit slowly.
    "eigenvector_centrality": ({"tol": 1e-5, "max_iter": 10_000}, ["eigenvector"]),
}


@pytest.fixture(params=SCORES)
def name(request):
    return request.param


def power_law(*, weighted=False):
    edges = frame(rmat())
    return edges.assign(w=weights(len(edges))) if weighted else edges


def check(name, found, edges, directed):
    for column in SCORES[name][1]:
        assert found[column].dtype == "float64"
        total = (found[column] ** (1 if name == "hits" else 2)).sum()
        assert total == pytest.approx(1, abs=1e-12)
    confirm(name, found, edges, SCORES[name][0], directed=directed)
    if name == "eigenvector_centrality":  # NetworkX stops after as many iterations
        matrix = network_of(edges, directed).matrix()
        graph = nx.from_numpy_array(matrix, create_using=nx.DiGraph)
        wanted = [*nx.eigenvector_centrality(graph, 10_000, tol=1e-5, weight="weight").values()]
        np.testing.assert_allclose(found.eigenvector, wanted, rtol=1e-6, atol=1e-9)


def same_bits(name, found, wanted):
    for column in SCORES[name][1]:
        assert found[column].to_numpy().tobytes() == wanted[column].to_numpy().tobytes()


@WAYS
@WEIGHTED
def test_scores_are_those_by_definition(built, name, directed, weighted):
    edges, near = power_law(weighted=weighted), SCORES[name][0]
    found = getattr(built(edges, directed=directed), name)(**near).compute()
    check(name, found, edges, directed)
    weight = "w" if weighted else None
    alone = getattr(gf, name)(edges, **ENDS, weight=weight, directed=directed, **near).compute()
    pd.testing.assert_frame_equal(found.reset_index(drop=True), alone, check_exact=True)


@WAYS
def test_parallel_edges_self_loops_and_dangling_vertices(built, name, directed):
    found = getattr(built(DIFFICULT, directed=directed), name)(**SCORES[name][0]).compute()
    check(name, found, DIFFICULT, directed)


def test_every_iteration_pulls_along_all_edges(name):
    edges = frame(DIFFICULT)
    _, steps = getattr(gf, name)(edges, **ENDS, **SCORES[name][0], trace=True)
    steps = steps.compute()
    assert (steps.direction == "pull").all()
    assert (steps.edges == len(edges)).all()
    assert len(steps) % len(SCORES[name][1]) == 0


@WAYS
def test_narrow_scores_are_near_and_the_same_for_every_number_of_members(built, name, directed):
    edges, near = power_law(), {"tol": 1e-30, "max_iter": 30, "fail_on_nonconvergence": False}
    near = SCORES[name][0] | near
    found = getattr(built(edges, directed=directed), name)(**near, precision="float32").compute()
    narrow, wide = (
        getattr(gf, name)(edges, **ENDS, directed=directed, **near, precision=precision).compute()
        for precision in ("float32", "float64")
    )
    same_bits(name, found, narrow)
    for column in SCORES[name][1]:
        np.testing.assert_allclose(narrow[column], wide[column], rtol=1e-6, atol=1e-9)
        assert (narrow[column].to_numpy() != wide[column].to_numpy()).any()


ROUNDS = {"hits": 4, "katz_centrality": 2, "eigenvector_centrality": 2}


def test_an_iteration_is_a_few_messages_to_each_member(built, name, members):
    def rounds(g):
        made = []
        for most in (1, 2, 5):  # the first call makes arrays that shards keep
            run = ALGORITHMS[name].run
            run(g, max_iter=most, tol=1e-30, fail_on_nonconvergence=False)
            made.append(g.member.exchange.take_traffic().rounds)
        return made

    for _, few, many in on_members(built(power_law()), rounds):
        assert many - few == (3 * ROUNDS[name] if members > 1 else 0)


def test_scores_are_all_the_same_if_no_edge_has_a_weight_above_0(built, name):
    assert len(getattr(built([]), name)().compute()) == 0
    for graph in (
        built([], vertices=pd.Series([5, 3, 4, 9])),
        built(frame([(0, 1), (2, 300)]).assign(w=0.0)),
    ):
        found = getattr(graph, name)().compute()
        for column in SCORES[name][1]:
            assert found[column].tolist() == [0.25 if name == "hits" else 0.5] * 4


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**600])
def test_the_scale_of_the_weights_changes_no_bit(name, scale):
    edges, few = power_law(weighted=True), {"max_iter": 3, "fail_on_nonconvergence": False}
    alpha = {"alpha": 0.002} if name == "katz_centrality" else {}
    wanted = getattr(gf, name)(edges, **ENDS, weight="w", **few, **alpha).compute()
    alpha = {"alpha": 0.002 / scale} if alpha else {}
    scaled = edges.assign(w=edges.w * scale)
    found = getattr(gf, name)(scaled, **ENDS, weight="w", **few, **alpha).compute()
    same_bits(name, found, wanted)


@pytest.mark.parametrize("scale", [1e-160, 1e-6, 1e6, 1e160])
def test_eigenvector_scores_of_small_and_large_weights_are_those_of_usual_ones(built, scale):
    # A path is bipartite, so that scores would swap forever without a shift.
    edges, near = frame([(0, 1), (1, 2), (2, 300), (2, 4)]), {"tol": 1e-13, "max_iter": 1000}
    wanted = built(edges, directed=False).eigenvector_centrality(**near).compute()
    found = built(edges.assign(w=scale), directed=False).eigenvector_centrality(**near).compute()
    np.testing.assert_allclose(found.eigenvector, wanted.eigenvector, rtol=1e-10)


def test_eigenvector_scores_do_not_converge_while_a_large_shift_hides_the_changes(built):
    # The eigenvalue of the cycle is 1. The heavy edge is in no cycle, so its weight must not count.
    cycle = frame([(0, 1), (1, 2), (2, 0), (1, 0), (7, 8)]).assign(w=[1, 1, 1, 1, 1e9])
    with pytest.raises(ConvergenceError, match="still change by"):
        built(cycle).eigenvector_centrality().compute()


@pytest.mark.parametrize(
    "weights",
    [[1e6] * 6, [1e-6] * 6, [1e15] * 6, [1e20, 1e-20] * 3, [1e-20, 1, 1e20, 1e20, 1e-20, 1e20]],
)
def test_katz_scores_that_spread_widely_keep_their_digits(built, weights):
    wanted = [1.0]
    for weight in weights:
        wanted.append(1 + 0.1 * weight * wanted[-1])
    edges = frame((100 * i, 100 * i + 100) for i in range(6)).assign(w=weights)
    katz = built(edges).katz_centrality
    found = katz(normalized=False).compute().katz
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    normalized = katz().compute().katz
    np.testing.assert_allclose(normalized, wanted / np.linalg.norm(wanted), rtol=1e-12)


@pytest.mark.parametrize("beta", [1e-300, 1e-200, 2, 1e101, 1e300])
def test_katz_scores_are_proportional_to_beta(built, beta):
    katz = built([(0, 1), (0, 2), (1, 200)]).katz_centrality
    one, other = (katz(beta=b, normalized=False).compute().katz for b in (1, beta))
    np.testing.assert_allclose(other, one * beta, rtol=1e-15)
    pd.testing.assert_series_equal(katz(beta=beta).compute().katz, katz().compute().katz)


def test_katz_scores_that_are_no_floats_raise_an_error(built):
    graph = built(frame([(0, 1), (1, 2)]).assign(w=[1e160, 1e160]))
    with pytest.raises(
        ConvergenceError, match=r"exceed 1e\+100 times beta; give an alpha below 1\."
    ):
        graph.katz_centrality(alpha=1).compute()
    assert graph.katz_centrality(alpha=1e-160, normalized=False).compute().katz.max() == 3
    with pytest.raises(OptionError, match=r"give a beta below 5.9.*e\+307, or normalized=True"):
        graph.katz_centrality(alpha=1e-160, beta=1e308, normalized=False).compute()


def test_too_few_iterations_raise_an_error_or_return_the_scores_so_far(built, name):
    graph, few = built(power_law()), {"max_iter": 2, "tol": 1e-9}
    with pytest.raises(ConvergenceError, match=r"after 2 iterations .*scores still change by"):
        getattr(graph, name)(**few).compute()
    assert len(getattr(graph, name)(**few, fail_on_nonconvergence=False).compute())
    assert len(getattr(graph, name)(max_iter=2, tol=1e9).compute())


def test_scores_without_a_bound_raise_an_error(built):
    with pytest.raises(ConvergenceError, match="give an alpha below 2"):
        built(power_law()).katz_centrality(alpha=2).compute()


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-1.0, "negative, infinite or NaN"),
        (np.inf, "negative, infinite or NaN"),
        (1e300, r"sum to 1e[+]300; .* above 1e-200 and below 1e[+]200\. Divide all weights"),
        (1e-300, r"sum to 1e-300; .* above 1e-200 and below 1e[+]200\. Divide all weights"),
    ],
)
def test_weights_that_cannot_be_added_up_raise_an_error(built, name, weight, message):
    edges = frame([(0, 1), (200, 300)]).assign(w=[0.0, weight])
    with pytest.raises(WeightError, match=message):
        getattr(built(edges), name)().compute()
