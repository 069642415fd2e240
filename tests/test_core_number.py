"""Core numbers: those of NetworkX, for every number of members, by following each edge once."""

from __future__ import annotations

import networkx as nx
import pandas as pd
import pytest
from conftest import ENDS, GRAPHS, frame, partitioned

import dask_graphflow as gf
from dask_graphflow.graph import derived
from dask_graphflow.graph.shard import Shard

pytestmark = pytest.mark.usefixtures("backend")

WAYS = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])


def rmat():
    edges = gf.generate.rmat(9, edge_factor=4, npartitions=1).compute()
    return list(edges.itertuples(index=False, name=None))


def apart(graphs, step=1000):
    """Return the edges of several graphs, each with ids of its own."""
    return [
        (a + i * step, b + i * step) for i, pairs in enumerate(graphs.values()) for a, b in pairs
    ]


MIXED = apart({**GRAPHS, "rmat": rmat(), "clique": [(a, b) for a in range(9) for b in range(a)]})
LOOPS = {(a, b) for a, b in MIXED if a == b}


def by_networkx(pairs, *, directed=False, vertices=()):
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(vertices)
    graph.add_edges_from(pairs)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return nx.core_number(graph)


def as_dict(found):
    assert found.vertex.is_monotonic_increasing
    assert found.core.dtype == "int32"
    return dict(zip(found.vertex, found.core, strict=True))


@WAYS
def test_core_numbers_are_those_of_networkx(built, directed):
    found = built(MIXED, directed=directed).core_number().compute()
    assert as_dict(found) == by_networkx(MIXED, directed=directed)


def test_a_pair_of_opposite_edges_counts_twice_if_edges_have_directions():
    pairs = frame([(1, 2), (2, 1), (1, 2), (2, 3)])
    assert as_dict(gf.core_number(pairs, **ENDS).compute()) == {1: 1, 2: 1, 3: 1}
    directed = gf.core_number(pairs, **ENDS, directed=True).compute()
    assert as_dict(directed) == {1: 2, 2: 2, 3: 1}


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
    wanted = by_networkx(edges[["a", "b"]].itertuples(index=False, name=None), directed=directed)
    assert as_dict(graph.core_number().compute()) == wanted
