"""Distances of all pairs, trees, bipartite graphs and attracting components, as NetworkX has them."""

from __future__ import annotations

import itertools
import re

import networkx as nx
import pytest
from nx_graphs import NODES, TYPES, assert_same, each_type, ours, random_graph

import dask_graphflow.nx.all_pairs as all_pairs

pytestmark = pytest.mark.usefixtures("host_memory")  # NetworkX graphs are in host memory

ENDS = {
    "shortest": [{}, {"cutoff": 1.5}],
    "dijkstra": [{}, {"cutoff": 1.5}, {"weight": None}],
    "bellman_ford": [{}, {"weight": None}],
}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("method", ENDS)
@pytest.mark.parametrize("rows", [1, 40, 2**20])
def test_distances_and_paths_of_all_pairs_are_those_of_networkx(kind, method, rows, monkeypatch):
    monkeypatch.setattr(all_pairs, "ROWS", rows)  # how many searches run together
    graph = random_graph(kind, NODES["any"], seed=3)
    for options in ENDS[method]:
        name = f"all_pairs_{method}_path_length"
        expected = list(getattr(nx, name)(graph, **options))
        found = list(ours(name, graph, **options))
        assert found == expected
        for (_, mine), (_, theirs) in zip(found, expected, strict=True):
            assert list(mine.values()) == sorted(theirs.values())
        trees = dict(ours(f"all_pairs_{method}_path", graph, **options))
        assert list(trees) == list(graph)
        for node, lengths in expected:
            assert trees[node].keys() == lengths.keys()
            one = ours(method_from_a_source(method), graph, node, **options)
            assert trees[node] == one
        if method == "dijkstra":
            both = list(ours("all_pairs_dijkstra", graph, **options))
            assert both == [(node, (lengths, trees[node])) for node, lengths in expected]


def method_from_a_source(method):
    return f"single_source_{method}_path"


@pytest.mark.parametrize("name", ["dijkstra_path", "bellman_ford_path_length"])
def test_weights_that_are_refused_are_noticed_at_the_call(name):
    graph = nx.path_graph(3)
    nx.set_edge_attributes(graph, -1, "weight")
    with pytest.raises(NotImplementedError):
        ours(f"all_pairs_{name}", graph)


SUMS = {
    "average_shortest_path_length": [
        {},
        {"weight": "weight"},
        {"weight": "weight", "method": "bellman-ford"},
        {"weight": "weight", "method": "unweighted"},
    ],
    "wiener_index": [{}, {"weight": "weight"}],
    "global_efficiency": [{}],
}


def closed(kind, nodes, weight):
    """Return a connected graph: a random one, and a cycle through all nodes."""
    graph = random_graph(kind, nodes, seed=4)
    nx.add_cycle(graph, list(graph))
    nx.set_edge_attributes(graph, weight, "weight")
    return graph


@pytest.mark.parametrize(("name", "kind", "weight"), each_type(SUMS, [3, 0.3]))
def test_sums_of_distances_are_those_of_networkx(name, kind, weight):
    for graph in (
        closed(kind, NODES["any"], weight),
        random_graph(kind, range(12), seed=1),
        *(nx.empty_graph(count, create_using=kind) for count in range(3)),
    ):
        for options in SUMS[name]:
            assert_same(name, graph, **options)
    found = ours("wiener_index", closed(kind, range(12), 3), weight="weight")
    assert type(found) is (int if kind().is_directed() else float)


def test_distances_of_0_are_left_to_networkx():
    graph = nx.cycle_graph(4)
    nx.set_edge_attributes(graph, 0, "weight")
    with pytest.raises(NotImplementedError, match="are 0"):
        ours("wiener_index", graph, weight="weight")


def test_all_pairs_of_floyd_and_warshall_are_left_to_networkx():
    with pytest.raises(NotImplementedError, match="floyd-warshall"):
        ours("average_shortest_path_length", nx.path_graph(3), method="floyd-warshall")


def small_graphs(kind):
    """Return graphs of which each function is true for some and false for others."""
    trees = [
        nx.path_graph(5),
        nx.star_graph(4),
        nx.full_rary_tree(2, 7),
        nx.Graph([(0, 1), (2, 3)]),
    ]
    others = [
        nx.cycle_graph(4),
        nx.cycle_graph(5),
        nx.Graph([(0, 0), (0, 1)]),
        nx.complete_graph(5),
    ]
    for graph in [*trees, *others, nx.empty_graph(0), nx.empty_graph(1), nx.empty_graph(3)]:
        yield kind(graph.edges) if graph.edges else nx.empty_graph(len(graph), create_using=kind)
        yield kind([(b, a) for a, b in graph.edges])
        yield nx.disjoint_union(kind(graph), nx.empty_graph(1, create_using=kind))
    yield kind([(0, 1), (1, 0)])
    yield kind([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3)])
    yield kind([(0, 1), (1, 2), (2, 0), (2, 3), (4, 3), (0, 4)])
    for seed in range(4):
        yield random_graph(kind, NODES["any"], seed)
        yield random_graph(kind, range(12), seed, loops=False, edges=10)
        yield (
            nx.bipartite.random_graph(4, 5, 0.4, seed).to_directed()
            if kind is nx.DiGraph
            else (kind(nx.bipartite.random_graph(4, 5, 0.6, seed)))
        )


PREDICATES = [
    "is_tree",
    "is_forest",
    "is_arborescence",
    "is_branching",
    "is_eulerian",
    "is_bipartite",
    "is_semiconnected",
    "is_attracting_component",
    "number_attracting_components",
    "attracting_components",
    "bridge_components",
    "color",
    "sets",
]


@pytest.mark.parametrize(("name", "kind", "_"), each_type(PREDICATES, [""]))
def test_answers_about_a_graph_are_those_of_networkx(name, kind, _):
    answers = set()
    for graph in small_graphs(kind):
        assert_same(name, graph)
        if name.startswith("is_") and len(graph):
            answers.add(ours(name, graph))
    assert answers == ({True, False} if name.startswith("is_") else set())


def test_the_sides_of_a_bipartite_graph_can_be_given():
    graph = nx.path_graph(4)
    assert ours("sets", graph, [0, 2]) == nx.bipartite.sets(graph, [0, 2]) == ({0, 2}, {1, 3})


@pytest.mark.parametrize("kind", TYPES)
def test_searches_from_both_ends(kind):
    graph = random_graph(kind, NODES["any"], seed=2)
    some = [*list(graph)[:11:5], "not a node"]
    for source, target in itertools.product(some, some):
        for name in ("bidirectional_shortest_path", "bidirectional_dijkstra"):
            try:
                expected = getattr(nx, name)(graph, source, target)
            except nx.NetworkXException as error:
                with pytest.raises(type(error), match=f"^{re.escape(str(error))}$"):
                    ours(name, graph, source, target)
                continue
            found = ours(name, graph, source, target)
            if name == "bidirectional_dijkstra":
                assert found[0] == expected[0]
                found, expected = found[1], expected[1]
                length = nx.path_weight(weighted(graph), found, "weight")
                assert length == nx.path_weight(weighted(graph), expected, "weight")
            else:
                assert len(found) == len(expected)
            assert nx.is_path(graph, found)
            assert (found[0], found[-1]) == (source, target)


def weighted(graph):
    """Return a graph in which each edge has a weight."""
    graph = graph.copy()
    for *_, data in graph.edges(data=True):
        data.setdefault("weight", 1)
    return graph


def test_preferential_attachment_is_that_of_networkx():
    for names in NODES.values():
        graph = random_graph(nx.Graph, names, seed=1)
        pairs = list(itertools.product(graph, graph))
        found = list(ours("preferential_attachment", graph, pairs))
        assert found == list(nx.preferential_attachment(graph, pairs))
    with pytest.raises(nx.NodeNotFound, match=r"Node not a node not in G\."):
        ours("preferential_attachment", graph, [(0, "not a node")])
