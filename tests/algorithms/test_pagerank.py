"""PageRank: against a power iteration, stationary, restarts, the same bits for every number of members."""

from __future__ import annotations

import itertools

import dask
import numpy as np
import pandas as pd
import pytest
from conftest import BACKEND, ENDS, fewer, frame
from oracles import confirm
from shapes import LARGE, SMALL, on_members, traced, weights

import dask_graphflow as gf
from dask_graphflow.algorithms.pagerank import pagerank
from dask_graphflow.exceptions import (
    ConvergenceError,
    EdgeListError,
    OptionError,
    UnknownVertexError,
    VertexTypeError,
    WeightError,
)
from dask_graphflow.kernels.pull import host as host_pull
from dask_graphflow.operators.pull import hub_rows, pull

pytestmark = pytest.mark.usefixtures("backend")

DIRECTED = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
DANGLING = [(0, 1), (0, 2), (2, 3), (2, 0), (4, 3)]  # nothing leaves 1 and 3


NARROW = {"tol": 1e-14, "max_iter": 1000}


def check(g, edges, *, directed=True, **options):
    found = g.pagerank(**options, **NARROW).compute()
    assert found["pagerank"].dtype == "float64"
    confirm("pagerank", found, edges, options | NARROW, directed=directed)


@pytest.mark.parametrize("shape", SMALL)
def test_ranks_are_those_of_a_power_iteration(built, shape):
    pairs = SMALL[shape]
    weighted = frame(pairs).assign(w=weights(len(pairs)))
    for edges, directed in itertools.product([frame(pairs), weighted], [False, True]):
        check(built(edges, directed=directed), edges, directed=directed)


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
def test_ranks_are_stationary_within_tol(built, tol):
    pairs = SMALL["rmat"]
    found = built(pairs).pagerank(tol=tol).compute()
    size = len(found)
    rank, number = found["pagerank"].to_numpy(), pd.Index(found["vertex"])
    source, target = (number.get_indexer(side) for side in np.array(pairs).T)
    leaving = np.bincount(source, minlength=size)
    along = np.bincount(target, rank[source] / leaving[source], size)
    after = 0.15 / size + 0.85 * (along + rank[leaving == 0].sum() / size)
    assert np.abs(after - rank).sum() < tol * size


@WEIGHTED
@DIRECTED
@pytest.mark.parametrize("precision", ["float64", "float32", "of sources"])
@pytest.mark.parametrize("shape", ["rmat", "grid"])
@pytest.mark.parametrize("most", [0, 10**6], ids=["mirrors", "all"])
@pytest.mark.parametrize("members", [3])
def test_the_same_bits_for_every_number_of_members_and_threads(
    built, members, monkeypatch, most, shape, precision, directed, weighted
):
    monkeypatch.setattr(hub_rows, "MOST", most)
    edges, found = frame(LARGE[shape]()), set()
    if weighted:
        edges["w"] = np.random.default_rng(3).random(len(edges))
    sources = edges.a.unique()[:: edges.a.nunique() // 18].tolist()
    for count in range(1, members + 1):
        g = built(edges, shards=count, directed=directed)
        for threads in fewer((1, 3), (1,)):
            with dask.config.set(num_workers=threads * count):
                if precision == "of sources":
                    ranks = g.personalized_pagerank(sources, top_k=50).compute()
                else:
                    ranks = g.pagerank(tol=None, max_iter=20, precision=precision).compute()
                    assert abs(ranks["pagerank"].sum() - 1) < 1e-5
            found.add(ranks.to_numpy().tobytes())
    assert len(found) == 1


def test_ranks_of_narrow_floats_are_near(built):
    g = built(SMALL["rmat"])
    wide, narrow = (g.pagerank(precision=p).compute()["pagerank"] for p in ("float64", "float32"))
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
def test_restarts_follow_the_given_weights(built, form, pairs):
    parts = {3: 2.0, 0: 6.0, 1: 0.0}
    found = built(pairs).pagerank(personalization=FORMS[form](parts), **NARROW).compute()
    confirm("pagerank", found, pairs, {"personalization": parts, **NARROW})


@pytest.mark.parametrize("restarts", [None, {4: 1, 1: 2}], ids=["anywhere", "somewhere"])
@pytest.mark.parametrize("onward", [{3: 2.0, 0: 6.0}, {1: 1}])
def test_dangling_vertices_lead_to_the_given_vertices(built, restarts, onward):
    check(built(DANGLING), DANGLING, personalization=restarts, dangling=onward)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_iterations_start_from_the_ranks_that_are_given(built, precision):
    graph, how = built(SMALL["rmat"]), {"tol": None, "precision": precision}
    some = graph.pagerank(max_iter=4, **how).compute()
    more = graph.pagerank(max_iter=3, nstart=some, **how).compute()
    wanted = graph.pagerank(max_iter=7, **how).compute()
    limit = 1e-12 if precision == "float64" else 1e-5
    np.testing.assert_allclose(more["pagerank"], wanted["pagerank"], rtol=limit)
    # All of the rank starts at 3, which nothing leaves, and goes to all vertices alike.
    found = built(DANGLING).pagerank(nstart={3: 5}, max_iter=1, **how).compute()
    assert found["pagerank"].tolist() == pytest.approx([0.2] * 5, rel=1e-6)


@pytest.mark.parametrize(("alpha", "wanted"), [(0, [0.25, 0.75, 0]), (1, [1 / 3] * 3)])
def test_alpha_is_the_part_that_follows_edges(built, alpha, wanted):
    g = built([(0, 1), (1, 2), (2, 0)])
    restart = {"personalization": {0: 1, 1: 3}, "tol": None}
    found = g.pagerank(alpha=alpha, **restart, max_iter=1 if alpha == 0 else 3).compute()
    assert found["pagerank"].tolist() == pytest.approx(wanted, abs=1e-12)


# Iterations


def test_iterations_that_are_too_few_raise_or_give_the_ranks_so_far(built):
    g = built(SMALL["rmat"])
    with pytest.raises(ConvergenceError, match=r"after 3 iterations .* larger max_iter or tol"):
        g.pagerank(max_iter=3, tol=1e-12).compute()
    few = g.pagerank(max_iter=3, tol=1e-12, fail_on_nonconvergence=False, trace=True)
    far, steps = traced(few)
    pd.testing.assert_frame_equal(far, g.pagerank(max_iter=3, tol=None).compute())
    assert steps["direction"].tolist() == ["pull"] * 3
    assert steps["edges"].tolist() == [g.num_edges] * 3
    assert steps["frontier"].tolist() == [g.num_vertices] * 3


def test_iterations_end_once_ranks_change_less_than_tol(built):
    g = built(SMALL["rmat"])
    counts = [len(traced(g.pagerank(tol=tol, trace=True))[1]) for tol in (1e-3, 1e-6, 1e-9)]
    assert counts == sorted(set(counts))
    assert counts[-1] < 100


@pytest.mark.parametrize("tol", [1e-30, None])
def test_an_iteration_is_one_message_to_each_member(built, members, tol):
    def rounds(g):
        made = []
        for most in (1, 3, 13):  # the first call makes arrays that shards keep
            pagerank(g, tol=tol, max_iter=most, fail_on_nonconvergence=False)
            made.append(g.member.exchange.take_traffic().rounds)
        return made

    # If no change is asked for, devices add up totals in another message while they sum contributions.
    each = 2 if BACKEND.name == "cudf" and tol is None else 1
    for _, few, many in on_members(built(LARGE["rmat"]()), rounds):
        assert many - few == (10 * each if members > 1 else 0)


@pytest.mark.parametrize("scale", [1e-310, 1e-160, 1e160, 1e308])
def test_the_scale_of_restart_weights_changes_nothing(built, scale):
    g = built(DANGLING)
    wanted = g.pagerank(personalization={0: 1, 1: 1}).compute()
    found = g.pagerank(personalization={0: scale, 1: scale}).compute()
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)


# Bad input


@pytest.mark.parametrize(
    ("weight", "precision", "message"),
    [
        ([1.0, -1.0], "float64", r"a weight is negative, infinite or NaN"),
        ([1.0, np.inf], "float64", r"a weight is negative, infinite"),
        ([1.0, np.nan], "float64", r"column 'w' has 1 null"),
        ([1.0, 1e-300], "float64", r"to 1e-300, and float64 cannot .* between 3e-290 and 2e\+308"),
        ([1.0, 1e-25], "float32", r"to 1e-25, and float32 cannot .* between 1e-20 and 4e\+41"),
        ([1.0, 1e60], "float32", r"add up to 1e\+60, and float32"),
    ],
)
def test_weights_that_are_refused(built, weight, precision, message):
    edges = 100 * frame([(0, 1), (1, 2)])
    with pytest.raises(WeightError, match=message):
        built(edges.assign(w=weight)).pagerank(precision=precision).compute()


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
@pytest.mark.parametrize("name", ["personalization", "nstart", "dangling"])
def test_parts_of_vertices_that_are_refused(name, given, error, message):
    message = message.replace("personalization", name)
    with pytest.raises(error, match=message):
        gf.pagerank(frame([(0, 1)]), **ENDS, **{name: given}).compute()


@pytest.mark.usefixtures("host_memory")
def test_a_second_call_does_not_add_up_the_weights_again(rng, monkeypatch):
    sums = []
    row_totals = host_pull.row_totals
    monkeypatch.setattr(host_pull, "row_totals", lambda rows: sums.append(1) or row_totals(rows))
    edges = pd.DataFrame(rng.integers(0, 50, (500, 2)), columns=["a", "b"]).assign(w=1.5)
    graph = gf.Graph(edges, source="a", target="b", weight="w").persist()
    first, second = graph.pagerank().compute(), graph.pagerank().compute()
    pd.testing.assert_frame_equal(first, second)
    assert len(sums) == 1


@pytest.mark.usefixtures("host_memory")
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("gap", [1, 2])  # between numbers that are vertices
def test_rows_with_hubs_are_sorted_after_some_iterations(rng, monkeypatch, directed, weight, gap):
    monkeypatch.setattr(hub_rows, "PAYS", 8)
    labels = hub_rows.has_hubs
    sorted_by_hubs = []
    monkeypatch.setattr(
        hub_rows, "has_hubs", lambda leaving: sorted_by_hubs.append(labels(leaving)) or True
    )
    ends = (rng.random((5000, 2)) ** 4 * 300).astype(int) * gap
    edges = pd.DataFrame(ends, columns=["a", "b"]).assign(w=rng.integers(1, 9, 5000))
    graph = gf.Graph(edges, source="a", target="b", weight=weight, directed=directed).persist()
    options = {"tol": None, "max_iter": 5}
    first, second = (graph.pagerank(**options).compute() for _ in range(2))
    assert not sorted_by_hubs
    third, fourth = (graph.pagerank(**options).compute() for _ in range(2))
    assert len(sorted_by_hubs) == 1
    for again in (second, third, fourth):
        pd.testing.assert_frame_equal(first, again)


@pytest.mark.usefixtures("host_memory")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("tol", [None, 1e-4, 1e-9])
def test_iterations_in_one_call_are_those_of_one_call_each(rng, monkeypatch, threads, tol):
    edges = pd.DataFrame(rng.integers(0, 90, (700, 2)), columns=["a", "b"])
    graph = gf.Graph(edges, source="a", target="b", directed=True).persist()
    monkeypatch.setattr(host_pull, "worth", lambda given, _: given)
    calls, iterate = [], host_pull.iterate_until
    monkeypatch.setattr(
        host_pull, "iterate_until", lambda *a, **o: calls.append(1) or iterate(*a, **o)
    )
    with dask.config.set(scheduler="threads", num_workers=threads):
        together, steps = traced(graph.pagerank(tol=tol, max_iter=50, trace=True))
        assert len(calls) == 2  # one for each of the two frames
        monkeypatch.setattr(pull, "EDGES", 0)
        apart, alone = traced(graph.pagerank(tol=tol, max_iter=50, trace=True))
    assert len(calls) == 2 + 2 * len(alone)
    assert len(steps) == len(alone)
    assert len(steps) == 50 if tol is None else len(steps) < 50
    pd.testing.assert_frame_equal(together, apart)
