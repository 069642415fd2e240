"""Flows, cuts and matchings of the NetworkX backend. Several maximum flows and matchings can be right."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from nx_graphs import NODES, ours, random_graph

pytestmark = pytest.mark.usefixtures("host_memory")  # NetworkX graphs are in host memory


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("values", [[0, 1, 9], [0.25, 1.5]], ids=["integers", "floats"])
def test_flows_and_cuts_are_those_of_networkx(kind, nodes, values):
    graph = random_graph(kind, NODES[nodes], seed=3)
    drawn = np.random.default_rng(1).choice(values, graph.number_of_edges()).tolist()
    nx.set_edge_attributes(graph, dict(zip(graph.edges, drawn, strict=True)), "room")
    for source, sink in itertools.pairwise(list(graph)[:9:2]):
        value, flows = ours("maximum_flow", graph, source, sink, capacity="room")
        wanted, their_flows = nx.maximum_flow(graph, source, sink, capacity="room")
        assert (value, type(value)) == (wanted, type(drawn[0]))
        assert {node: {*ends} for node, ends in flows.items()} == {
            node: {*ends} for node, ends in their_flows.items()
        }
        for a, ends in flows.items():
            assert all(0 <= flow <= graph[a][b]["room"] for b, flow in ends.items())
            left = sum(ends.values()) - sum(flows[b].get(a, 0) for b in flows)
            assert left == {source: value, sink: -value}.get(a, 0)
        cut = ours("minimum_cut", graph, source, sink, capacity="room")
        assert cut == nx.minimum_cut(graph, source, sink, capacity="room")
        for name in ("maximum_flow_value", "minimum_cut_value"):
            assert ours(name, graph, source, sink, capacity="room") == wanted
    for ends in ((source, object()), (source, source)):
        with pytest.raises(nx.NetworkXError):
            ours("maximum_flow", graph, *ends, capacity="room")


def test_edges_without_a_capacity_are_left_to_networkx():
    graph = nx.path_graph(3)
    with pytest.raises(NotImplementedError, match="infinite"):
        ours("maximum_flow_value", graph, 0, 2)
    graph.add_edge(0, 1, capacity=-1)
    graph.add_edge(1, 2, capacity=1)
    with pytest.raises(NotImplementedError, match="a capacity is negative"):
        ours("maximum_flow_value", graph, 0, 2)


@pytest.mark.parametrize("name", ["hopcroft_karp_matching", "eppstein_matching"])
def test_matchings_have_the_size_of_those_of_networkx(name):
    for seed in range(5):
        graph = nx.bipartite.random_graph(30, 20, 0.06, seed=seed)
        graph = nx.relabel_nodes(graph, str)
        top = [str(node) for node in range(20, 50) if seed % 2] or list(map(str, range(30)))
        top = [node for node in graph if (int(node) < 30) == (top[0] == "0")]
        found = ours(name, graph, top_nodes=top)
        assert len(found) == len(getattr(nx.bipartite, name)(graph, top_nodes=top))
        assert all(graph.has_edge(a, b) and found[b] == a for a, b in found.items())
    with pytest.raises(nx.AmbiguousSolution):
        ours(name, nx.Graph([(0, 1), (2, 3)]))
    assert ours(name, nx.path_graph(4)) == {0: 1, 1: 0, 2: 3, 3: 2}
    with pytest.raises(NotImplementedError, match="two nodes of the same side"):
        ours(name, nx.path_graph(4), top_nodes=[0, 1])
    with pytest.raises(NotImplementedError, match="is not in the graph"):
        ours(name, nx.path_graph(4), top_nodes=[0, 2, object()])
