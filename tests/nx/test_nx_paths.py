"""Paths, trees and bridges of the NetworkX backend. Several shortest paths can be right."""

from __future__ import annotations

import itertools
import re
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from nx_graphs import NODES, TYPES, assert_same, each_type, ours, random_graph

from dask_graphflow.nx import convert_to_nx

pytestmark = pytest.mark.usefixtures("host_memory")  # NetworkX graphs are in host memory


PATHS = {
    "single_source_shortest_path": [{}, {"cutoff": 0}, {"cutoff": 1.5}],
    "single_target_shortest_path": [{}, {"cutoff": 2}],
    "single_source_dijkstra_path": [{}, {"cutoff": 1.5}, {"weight": None}],
    "single_source_dijkstra": [{}, {"cutoff": 1.5}],
    "single_source_bellman_ford": [{}],
    "single_source_bellman_ford_path": [{}],
    "shortest_path": [{}, {"weight": "weight"}, {"weight": "weight", "method": "bellman-ford"}],
}


def assert_path(graph, path, other, weight):
    """Assert that a path has the same ends and the same length as another one."""
    assert (path[0], path[-1]) == (other[0], other[-1])
    assert weigh(graph, path, weight) == weigh(graph, other, weight)


def weigh(graph, path, weight):
    """Return the sum of the weights on a path; an edge without a weight has 1."""
    graph = graph.copy()
    for *_, data in graph.edges(data=True):
        data.setdefault(weight, 1)
    return nx.path_weight(graph, path, weight)


@pytest.mark.parametrize(("name", "kind", "nodes"), each_type(PATHS, ["any"]))
def test_paths_of_a_source_are_as_short_as_those_of_networkx(name, kind, nodes):
    graph = random_graph(kind, NODES[nodes], seed=2)
    nx.set_edge_attributes(graph, dict.fromkeys(list(graph.edges)[::3], 0), "weight")
    ends = ["source", "target"] if name == "shortest_path" else [None]
    for node, options, end in itertools.product(list(graph)[:11:5], PATHS[name], ends):
        arguments = {end: node} | options if end else options
        found = ours(name, graph, *([] if end else [node]), **arguments)
        expected = getattr(nx, name)(graph, *([] if end else [node]), **arguments)
        if type(expected) is tuple:
            assert found[0] == expected[0]
            found, expected = found[1], expected[1]
        assert found.keys() == expected.keys()
        weight = options.get("weight", "one" if "shortest" in name else "weight") or "one"
        for other, path in found.items():
            assert_path(graph, path, expected[other], weight)


BETWEEN = {
    "shortest_path": [{}, {"weight": "weight"}, {"weight": "weight", "method": "bellman-ford"}],
    "dijkstra_path": [{}],
    "bellman_ford_path": [{}],
    "single_source_dijkstra": [{}, {"cutoff": 1.5}],
    "single_source_bellman_ford": [{}],
    "multi_source_dijkstra": [{}],
}


@pytest.mark.parametrize(("name", "kind", "nodes"), each_type(BETWEEN, ["any"]))
def test_a_path_between_two_nodes_is_as_short_as_that_of_networkx(name, kind, nodes):
    graph = random_graph(kind, NODES[nodes], seed=2)
    some = [*list(graph)[:11:5], "not a node"]
    for source, target, options in itertools.product(some, some, BETWEEN[name]):
        start = {source} if "multi" in name else source
        try:
            expected = getattr(nx, name)(graph, start, target, **options)
        except nx.NetworkXException as error:
            with pytest.raises(type(error), match=f"^{re.escape(str(error))}$"):
                ours(name, graph, start, target, **options)
            continue
        found = ours(name, graph, start, target, **options)
        if type(expected) is tuple:
            assert found[0] == expected[0]
            found, expected = found[1], expected[1]
        weight = options.get("weight", "one" if "shortest" in name else "weight")
        assert_path(graph, found, expected, weight)


def test_paths_of_several_sources(nx_graph):
    nodes = list(nx_graph)
    sources = {nodes[0], nodes[4], nodes[11]}
    expected = nx.multi_source_dijkstra(nx_graph, sources)
    found = ours("multi_source_dijkstra", nx_graph, sources)
    assert found[0] == expected[0]
    assert found[1] == ours("multi_source_dijkstra_path", nx_graph, sources)
    for node, path in found[1].items():
        assert path[0] in sources
        assert weigh(nx_graph, path, "weight") == expected[0][node]


def test_breadth_first_trees_have_the_depths_of_networkx(nx_graph):
    for source, limit in itertools.product(list(nx_graph)[:11:5], (None, 0, 2)):
        depth = nx.single_source_shortest_path_length(nx_graph, source, limit)
        edges = list(ours("bfs_edges", nx_graph, source, depth_limit=limit))
        assert {b for _, b in edges} == depth.keys() - {source}
        assert all(nx_graph.has_edge(a, b) and depth[b] == depth[a] + 1 for a, b in edges)
        assert [depth[b] for _, b in edges] == sorted(depth[b] for _, b in edges)
        assert list(ours("bfs_predecessors", nx_graph, source, limit)) == [(b, a) for a, b in edges]
        successors = list(ours("bfs_successors", nx_graph, source, limit))
        assert [(a, b) for a, behind in successors for b in behind] == edges
        assert successors[0][0] == source
        tree = convert_to_nx(ours("bfs_tree", nx_graph, source, depth_limit=limit))
        assert type(tree) is nx.DiGraph
        assert list(tree.edges) == edges
        assert set(tree) == depth.keys()
    reverse = ours("bfs_edges", nx_graph, source, reverse=True)
    assert {b for _, b in reverse} == set(
        nx.single_target_shortest_path_length(nx_graph, source)
    ) - {source}
    with pytest.raises(nx.NetworkXError, match=r"not a node is not in the (di)?graph"):
        ours("bfs_tree", nx_graph, "not a node")


def test_layers_are_those_of_networkx(nx_graph):
    nodes = list(nx_graph)
    for sources in (nodes[0], [nodes[0], nodes[7], nodes[0]], []):
        found, expected = ours("bfs_layers", nx_graph, sources), nx.bfs_layers(nx_graph, sources)
        assert list(map(set, found)) == list(map(set, expected))


def test_spanning_edges_are_those_of_networkx():
    for seed, names in itertools.product(range(5), NODES.values()):
        graph = random_graph(nx.Graph, names, seed)
        for options in ({}, {"data": False}, {"weight": None}):
            assert_same("minimum_spanning_edges", graph, **options)
            assert_same("maximum_spanning_edges", graph, **options)
    with pytest.raises(nx.NetworkXNotImplemented, match="directed"):
        ours("minimum_spanning_tree", nx.DiGraph([(0, 1)]))


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
@pytest.mark.parametrize("nodes", NODES)
def test_bridges_and_articulation_points_are_those_of_networkx(kind, nodes):
    for seed in range(10):
        graph = random_graph(kind, NODES[nodes], seed, edges=12)
        assert_same("bridges", graph)
        found = list(ours("articulation_points", graph))
        assert {*found} == {*nx.articulation_points(graph)}
        assert found == [node for node in graph if node in {*found}]
        for root in list(graph)[::4]:
            found = list(ours("bridges", graph, root))
            assert {frozenset(edge) for edge in found} == {
                frozenset(edge) for edge in nx.bridges(graph, root)
            }
            assert_same("has_bridges", graph, root)
    for name in ("bridges", "has_bridges"):
        with pytest.raises(nx.NodeNotFound, match="Root node not a node is not in graph"):
            ours(name, graph, "not a node")


@pytest.mark.parametrize("graph", [nx.path_graph(2), nx.cycle_graph(5), nx.path_graph(3)])
def test_biconnected_graphs_are_those_of_networkx(graph):
    assert_same("is_biconnected", graph)


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("nodes", NODES)
def test_topological_orders_are_those_of_networkx(kind, nodes):
    for seed in range(10):
        names = list(NODES[nodes])
        order = {
            node: at
            for at, node in enumerate(np.random.default_rng(seed).permutation(len(names)).tolist())
        }
        graph = kind()
        graph.add_nodes_from(names)
        for a, b in random_graph(kind, range(12), seed, loops=False).edges():
            graph.add_edge(*((names[a], names[b]) if order[a] < order[b] else (names[b], names[a])))
        assert_same("topological_generations", graph)
        assert_same("topological_sort", graph)
        assert_same("is_directed_acyclic_graph", graph)


@pytest.mark.parametrize("name", ["topological_generations", "topological_sort"])
def test_graphs_without_a_topological_order(name):
    for graph in (nx.DiGraph([(1, 2), (2, 1), (0, 3)]), nx.DiGraph([(1, 1)]), nx.path_graph(3)):
        found = ours(name, graph)
        with pytest.raises(nx.NetworkXException) as error:
            list(getattr(nx, name)(graph))
        with pytest.raises(error.type, match=f"^{re.escape(str(error.value))}$"):
            next(found)
        assert_same("is_directed_acyclic_graph", graph)
    assert list(ours(name, nx.DiGraph())) == []


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("nodes", NODES)
def test_simple_cycles_are_those_of_networkx(kind, nodes):
    graph = random_graph(kind, NODES[nodes], seed=4)

    def edges_of(cycles):
        edges = [list(zip(cycle, [*cycle[1:], cycle[0]], strict=True)) for cycle in cycles]
        return Counter(
            frozenset(some if graph.is_directed() else map(frozenset, some)) for some in edges
        )

    for bound in (0, 1, 2, 3, 5):
        found = list(ours("simple_cycles", graph, length_bound=bound))
        assert list(map(len, found)) == sorted(map(len, found))
        assert edges_of(found) == edges_of(nx.simple_cycles(graph, length_bound=bound))
    with pytest.raises(ValueError, match="length bound must be non-negative"):
        ours("simple_cycles", graph, length_bound=-1)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("nodes", NODES)
def test_simple_paths_are_those_of_networkx(kind, nodes):
    graph = random_graph(kind, NODES[nodes], seed=4)
    first, *others = list(graph)[:9:2]
    for target in (first, others[0], others, [first, *others], [], ["not a node"]):
        for cutoff in (-1, 0, 0.5, 1, 2.5, 4):
            found = list(ours("all_simple_paths", graph, first, target, cutoff))
            wanted = list(nx.all_simple_paths(graph, first, target, cutoff))
            assert sorted(map(repr, found)) == sorted(map(repr, wanted))
    for ends in ((object(), first), (first, object())):
        with pytest.raises(nx.NodeNotFound):
            ours("all_simple_paths", graph, *ends, 3)
