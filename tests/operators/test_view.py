"""The view of a graph: derived graphs, ranks and weighted degrees, alike for every number of members."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from conftest import frame, to_host
from shapes import MIXED

import dask_graphflow as gf
from dask_graphflow.calls.call import Call
from dask_graphflow.declarations.answer import Answer
from dask_graphflow.exceptions import GraphflowError, WeightError
from dask_graphflow.operators import priorities
from dask_graphflow.operators.advance import Advance

pytestmark = pytest.mark.usefixtures("backend")

WAYS = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
DISTINCT = sorted({(a, b) for a, b in MIXED if a != b})
VERTICES = sorted({end for pair in MIXED for end in pair})
TAKE = gf.EdgeOp("take", target="left", signal="-1", slot="add", cond="left[dst] > 0")


def asked(graph, work, **dtypes):
    """Return the columns that a function of a view returns, by vertex."""
    call = Call("asked", lambda g: Answer(work(g)), {"vertex": "id", **dtypes})
    return to_host(call.send(graph._shards).compute()).set_index("vertex")


def degrees(view):
    return {"into": view.T.degrees.copy(), "out": view.degrees.copy()}


@pytest.mark.parametrize(
    ("value", "bound"), [(1e30, 1.0), (3.0, 1.0), (np.nan, 1.0), (np.inf, 1.0), (1.0, np.inf)]
)
def test_a_total_of_values_beyond_their_bound_is_an_error(built, value, bound):
    def total(g):
        return {"total": g.column(g.total(g.column(value, "float64"), bound), "float64")}

    with pytest.raises(GraphflowError, match="exceed their bound"):
        asked(built(MIXED), total, total="float64")


@pytest.mark.parametrize("uniform", [True, False], ids=["uniform", "all large"])
def test_a_sample_has_the_vertices_of_the_smallest_priorities(built, monkeypatch, uniform):
    """Also if no priority is below the limit that almost surely has enough of them."""
    if not uniform:
        drawn = lambda ranks, seed: priorities.LAST - 1 - ranks.astype("int64")  # noqa: E731
        monkeypatch.setattr(priorities, "priorities", drawn)
    order = np.argsort(priorities.priorities(np.arange(500), 7))
    graph = built([(2 * i, 2 * i + 2) for i in range(499)])
    found = asked(graph, lambda g: {"place": priorities.sample_places(g, 3, 7)[0]}, place="int64")
    chosen = found[found["place"] >= 0]
    assert (chosen.index // 2).tolist() == sorted(order[:3])
    assert chosen["place"].tolist() == [0, 1, 2]


@WAYS
def test_a_simple_graph_has_no_self_loops_and_parallel_edges(built, directed):
    graph = built(MIXED, directed=directed)
    wanted = nx.DiGraph(DISTINCT) if directed else nx.Graph(DISTINCT)
    wanted.add_nodes_from(VERTICES)
    for work, (into, out) in {
        lambda g: degrees(g.simple): ("in_degree", "out_degree"),
        lambda g: degrees(g.T.simple): ("out_degree", "in_degree"),
    }.items():
        found = asked(graph, work, into="int64", out="int64")
        assert found.index.tolist() == VERTICES
        for name, of in (("into", into), ("out", out)):
            expected = getattr(wanted, of if directed else "degree")
            assert found[name].tolist() == [expected[v] for v in VERTICES]


def test_an_undirected_graph_has_each_edge_in_both_directions(built):
    graph = built(MIXED, directed=True)
    found = asked(graph, lambda g: degrees(g.undirected), into="int64", out="int64")
    same = asked(built(MIXED, directed=False), degrees, into="int64", out="int64")
    pd.testing.assert_frame_equal(found, same)


@WAYS
def test_weighted_degrees_are_sums_of_weights(built, directed):
    edges = frame([(0, 1), (0, 1), (2, 200), (200, 0), (5, 5)]).assign(w=[1.0, 2.0, 4.0, 8.0, 16.0])
    wanted = (nx.MultiDiGraph if directed else nx.MultiGraph)()
    wanted.add_weighted_edges_from(edges.itertuples(index=False, name=None))
    wanted = wanted.out_degree(weight="weight") if directed else wanted.degree(weight="weight")
    wanted = dict(wanted) | {5: 16.0}  # a self-loop counts once
    found = asked(built(edges, directed=directed), lambda g: {"d": g.weighted_degrees}, d="float64")
    assert found["d"].to_dict() == wanted
    plain = built(edges[["a", "b"]], directed=directed)
    found = asked(
        plain, lambda g: {"d": g.weighted_degrees, "e": g.degrees}, d="float64", e="int64"
    )
    assert (found["d"] == found["e"]).all()


def test_the_order_of_parallel_edges_changes_no_bit_of_weighted_degrees(built):
    sums = set()
    for weights in itertools.permutations([0.1, 0.7, 1 / 3]):
        graph = built(frame([(0, 1)] * 3).assign(w=weights))
        degrees = asked(graph, lambda g: {"d": g.weighted_degrees}, d="float64")["d"]
        sums.add(degrees.to_numpy().tobytes())
    assert len(sums) == 1


def test_weights_that_are_not_valid_raise_an_error_in_all_members(built):
    graph = built(frame([(0, 1), (200, 300)]).assign(w=[1.0, -1.0]))
    with pytest.raises(WeightError, match="negative, infinite or NaN"):
        asked(graph, lambda g: {"d": g.T.weighted_degrees}, d="float64")


@WAYS
def test_a_sum_that_reads_itself_is_the_same_by_push_and_pull(built, directed):
    def work(g, way):
        left = g.column(2, "int64")
        steps = Advance(g, TAKE, {"left": left})
        for _ in range(3):
            getattr(steps, way)(g.everyone())
        return {"left": left}

    graph = built(MIXED, directed=directed)
    pushed, pulled = (
        asked(graph, lambda g, w=way: work(g, w), left="int64") for way in ("push", "pull")
    )
    pd.testing.assert_frame_equal(pushed, pulled)
