"""PageRank: against NetworkX, stationary, and the same bits everywhere."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from conftest import frame, partitioned, to_host
from shapes import LARGE, SMALL, both_ways, shards_of, weights

import dask_graphflow as gf
from dask_graphflow.algorithms.pagerank import ranks
from dask_graphflow.exceptions import (
    ConvergenceError,
    EdgeListError,
    OptionError,
    UnknownVertexError,
    VertexTypeError,
    WeightError,
)

pytestmark = pytest.mark.usefixtures("backend")

ENDS = {"source": "a", "target": "b"}
DANGLING = [(0, 1), (0, 2), (2, 3), (2, 0), (4, 3)]  # nothing leaves 1 and 3


def as_dict(found):
    assert found["vertex"].is_monotonic_increasing
    assert found["pagerank"].dtype == "float64"
    return dict(zip(found["vertex"], found["pagerank"], strict=True))


def by_networkx(pairs, weight=None, *, directed=True, **options):
    graph = nx.MultiDiGraph()
    ones = np.ones(len(pairs)) if weight is None else weight
    edges = both_ways(pairs, ones, directed)
    graph.add_weighted_edges_from(zip(*map(np.ndarray.tolist, edges), strict=True))
    return nx.pagerank(graph, tol=1e-14, max_iter=10_000, **options)


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("shape", SMALL)
def test_ranks_are_those_of_networkx(shape, weighted, directed):
    pairs = SMALL[shape]
    weight = weights(len(pairs)) if weighted else None
    edges = frame(pairs).assign(w=weight)
    found = as_dict(
        gf.pagerank(
            edges,
            **ENDS,
            weight="w" if weighted else None,
            directed=directed,
            tol=1e-14,
            max_iter=1000,
        ).compute()
    )
    assert found == pytest.approx(by_networkx(pairs, weight, directed=directed), rel=1e-9)
    assert sum(found.values()) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
def test_ranks_are_stationary_within_tol(tol):
    pairs = SMALL["rmat"]
    found = gf.pagerank(frame(pairs), **ENDS, tol=tol).compute()
    size = len(found)
    rank, number = found["pagerank"].to_numpy(), pd.Index(found["vertex"])
    source, target = (number.get_indexer(side) for side in np.array(pairs).T)
    leaving = np.bincount(source, minlength=size)
    along = np.bincount(target, rank[source] / leaving[source], size)
    after = 0.15 / size + 0.85 * (along + rank[leaving == 0].sum() / size)
    assert np.abs(after - rank).sum() < tol * size


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("shape", ["rmat", "grid"])
def test_the_same_bits_for_every_shard_and_thread(shape, precision, weighted):
    pairs = LARGE[shape]()
    weight = np.random.default_rng(3).random(len(pairs)) if weighted else None
    options = {"alpha": 0.85, "until": (None, 20, True), "restart": None, "precision": precision}
    found = set()
    for parts in (1, 2, 3, 7):
        shards = shards_of(pairs, weight, parts=parts)
        for threads in (1, 3):
            rank, steps = ranks(shards, **options, threads=threads)
            rank = to_host(rank)
            found.add(rank.tobytes())
    assert len(found) == 1
    assert len(steps) == 20
    assert rank.dtype == precision
    assert abs(rank.sum(dtype="float64") - 1) < (1e-9 if precision == "float64" else 1e-5)


@pytest.mark.parametrize("partitions", [2, 7, 40])
def test_partitions_and_the_order_of_edges_change_nothing(partitions):
    edges = frame(SMALL["rmat"]).assign(w=weights(len(SMALL["rmat"])))
    whole = gf.pagerank(edges, **ENDS, weight="w").compute()
    shuffled = partitioned(edges.sample(frac=1, random_state=1), partitions)
    cut = gf.pagerank(shuffled, **ENDS, weight="w").compute()
    pd.testing.assert_frame_equal(cut.reset_index(drop=True), whole)


def test_ranks_of_narrow_floats_are_near():
    edges = frame(SMALL["rmat"])
    wide, narrow = (
        gf.pagerank(edges, **ENDS, precision=p).compute()["pagerank"]
        for p in ("float64", "float32")
    )
    np.testing.assert_allclose(narrow, wide, rtol=2e-5)
    assert (narrow != wide).any()


# Restarts

FORMS = {
    "dict": dict,
    "Series": pd.Series,
    "DataFrame": lambda parts: pd.DataFrame({"id": list(parts), "p": list(parts.values())}),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("pairs", [DANGLING, SMALL["star"]], ids=["dangling", "star"])
def test_restarts_are_where_they_are_asked_for(form, pairs):
    parts = {3: 2.0, 0: 6.0, 1: 0.0}
    found = gf.pagerank(
        frame(pairs), **ENDS, personalization=FORMS[form](parts), tol=1e-14
    ).compute()
    wanted = by_networkx(pairs, personalization=parts)
    assert as_dict(found) == pytest.approx(wanted, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("form", FORMS)
def test_restarts_at_ids_of_two_parts(form):
    edges = pd.DataFrame({"p": [1, 1], "q": ["u", "u"], "r": [2, 3], "s": ["u", "v"]})
    parts = {(1, "u"): 1, (3, "v"): 3}
    given = pd.DataFrame({"x": [1, 3], "y": ["u", "v"], "part": [1, 3]})
    given = given if form == "DataFrame" else FORMS[form](parts)
    found = gf.pagerank(
        edges, source=["p", "q"], target=["r", "s"], personalization=given, tol=1e-14
    ).compute()
    wanted = by_networkx([(0, 1), (0, 2)], personalization={0: 1, 2: 3})
    assert found["pagerank"].tolist() == pytest.approx([wanted[v] for v in range(3)], rel=1e-9)


def test_an_id_named_twice_restarts_for_both():
    given = pd.DataFrame({"id": [0, 3, 0], "p": [1, 2, 1]})
    twice = gf.pagerank(frame(DANGLING), **ENDS, personalization=given).compute()
    once = gf.pagerank(frame(DANGLING), **ENDS, personalization={0: 1, 3: 1}).compute()
    pd.testing.assert_frame_equal(twice, once)


@pytest.mark.parametrize(("alpha", "wanted"), [(0, [0.25, 0.75, 0]), (1, [1 / 3] * 3)])
def test_alpha_is_the_part_that_follows_edges(alpha, wanted):
    found = gf.pagerank(
        frame([(0, 1), (1, 2), (2, 0)]),
        **ENDS,
        alpha=alpha,
        personalization={0: 1, 1: 3},
        tol=None,
        max_iter=1 if alpha == 0 else 3,
    ).compute()
    assert found["pagerank"].tolist() == pytest.approx(wanted, abs=1e-12)


# Iterations


def test_iterations_that_are_too_few_raise_or_give_the_ranks_so_far():
    graph = gf.Graph(frame(SMALL["rmat"]), **ENDS).persist()
    with pytest.raises(ConvergenceError, match=r"after 3 iterations .* larger max_iter or tol"):
        graph.pagerank(max_iter=3, tol=1e-12).compute()
    far, steps = graph.pagerank(max_iter=3, tol=1e-12, fail_on_nonconvergence=False, trace=True)
    exactly = graph.pagerank(max_iter=3, tol=None)
    pd.testing.assert_frame_equal(far.compute(), exactly.compute())
    steps = steps.compute()
    assert steps["direction"].tolist() == ["pull"] * 3
    assert steps["edges"].tolist() == [graph.num_edges] * 3
    assert steps["frontier"].tolist() == [graph.num_vertices] * 3


def test_iterations_end_once_ranks_change_less_than_tol():
    graph = gf.Graph(frame(SMALL["rmat"]), **ENDS).persist()
    counts = [len(graph.pagerank(tol=tol, trace=True)[1].compute()) for tol in (1e-3, 1e-6, 1e-9)]
    assert counts == sorted(set(counts))
    assert counts[-1] < 100


# Bad input


@pytest.mark.parametrize(
    ("weight", "precision", "message"),
    [
        ([1.0, -1.0], "float64", r"a weight is negative, infinite or NaN"),
        ([1.0, np.inf], "float64", r"a weight is negative, infinite"),
        ([1.0, np.nan], "float64", r"column 'w' has 1 null"),
        ([1.0, 1e-300], "float64", r"add up to 1e-300, and float64 cannot divide by .*; scale"),
        ([1.0, 1e-25], "float32", r"add up to 1e-25, and float32 cannot divide"),
        ([1.0, 1e60], "float32", r"add up to 1e\+60, and float32"),
    ],
)
def test_weights_that_are_refused(weight, precision, message):
    edges = frame([(0, 1), (1, 2)]).assign(w=weight)
    with pytest.raises(WeightError, match=message):
        gf.pagerank(edges, **ENDS, weight="w", precision=precision).compute()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({7: 1}, UnknownVertexError, r"1 of 1 id is not in the graph: 7"),
        ({"0": 1}, VertexTypeError, r"ids of one graph are of one type"),
        ({0: -1, 1: 2}, OptionError, r"weights that are negative"),
        ({0: np.nan}, OptionError, r"negative, infinite, null or all 0"),
        ({0: 0}, OptionError, r"all 0; give weights of at least 0"),
        ({0: "x"}, OptionError, r"dtype (str|object); give a number for each id"),
        ({}, EdgeListError, r"give at least one"),
        ([0], OptionError, r"personalization is a list; give a dict, a Series or a DataFrame"),
        (
            pd.DataFrame({"id": [0]}),
            OptionError,
            r"has 1 column; give the id in 1 column, then the weights in one more",
        ),
        (pd.DataFrame({"id": [0], "part": [1], "more": [2]}), OptionError, r"has 3 columns"),
    ],
)
def test_personalization_that_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        gf.pagerank(frame([(0, 1)]), **ENDS, personalization=given).compute()


def test_one_iteration_is_said_to_be_one():
    with pytest.raises(ConvergenceError, match=r"^after 1 iteration ranks still change"):
        gf.pagerank(frame([(0, 1)]), **ENDS, max_iter=1).compute()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("alpha", 1.5),
        ("alpha", "0.85"),
        ("tol", 0),
        ("tol", np.nan),
        ("max_iter", 0),
        ("max_iter", 1.5),
        ("precision", "float16"),
    ],
)
def test_options_that_are_refused(option, value):
    with pytest.raises(OptionError, match=rf"{option}={value!r}; give "):
        gf.pagerank(frame([(0, 1)]), **ENDS, **{option: value})
