"""Core numbers: those of NetworkX, for every number of members, by following each edge once."""

from __future__ import annotations

import networkx as nx
import pandas as pd
import pytest
from conftest import ENDS, frame, partitioned
from oracles import confirm
from shapes import MIXED, WAYS, rmat

import dask_graphflow as gf
from dask_graphflow.graph import derived
from dask_graphflow.graph.shard import Shard

pytestmark = pytest.mark.usefixtures("backend")

LOOPS = {(a, b) for a, b in MIXED if a == b}


@WAYS
def test_core_numbers_are_those_of_networkx(built, directed):
    found = built(MIXED, directed=directed).core_number().compute()
    assert found.core.dtype == "int32"
    confirm("core_number", found, MIXED, {}, directed=directed)


def test_a_pair_of_opposite_edges_counts_twice_if_edges_have_directions():
    pairs = frame([(1, 2), (2, 1), (1, 2), (2, 3)])
    for directed, wanted in ((False, [1, 1, 1]), (True, [2, 2, 1])):
        assert gf.core_number(pairs, **ENDS, directed=directed).compute().core.tolist() == wanted


@WAYS
def test_each_edge_is_followed_once_from_each_end(built, members, directed):
    pairs = rmat()
    graph = nx.DiGraph(pairs) if directed else nx.Graph(pairs)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    _, steps = built(pairs, directed=directed).core_number(trace=True)
    steps = steps.compute()
    assert (steps.direction == "push").all()
    assert steps.edges.sum() == 2 * graph.number_of_edges() * members
    assert steps.frontier.sum() == graph.number_of_nodes() * members


@pytest.mark.usefixtures("host_memory")
def test_a_single_member_removes_a_chain_in_one_superstep(built, members):
    _, steps = built([(at, at + 1) for at in range(400)]).core_number(trace=True)
    assert len(steps.compute()) == (1 if members == 1 else 201 * members)


def test_a_persisted_graph_makes_its_rows_once(built, members, monkeypatch):
    made = []

    class Counted(Shard):
        def __init__(self, *own, **about):
            made.append(own)
            super().__init__(*own, **about)

    monkeypatch.setattr(derived, "Shard", Counted)
    graph = built(MIXED, directed=True)
    first, second = graph.core_number().compute(), graph.core_number().compute()
    pd.testing.assert_frame_equal(first, second)
    assert len(made) == 2 * members  # a simple graph, and the same graph without directions
    assert sum(len(rows.ends) for *_, rows in made[-members:]) == 2 * len({*MIXED} - LOOPS)


@WAYS
def test_weights_are_ignored(directed):
    edges = frame(rmat()).assign(w=-1.0)
    graph = gf.Graph(partitioned(edges, 3), **ENDS, weight="w", directed=directed)
    confirm("core_number", graph.core_number().compute(), rmat(), {}, directed=directed)
