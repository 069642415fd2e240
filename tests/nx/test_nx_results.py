"""Results of the NetworkX backend, compared with those of NetworkX on random graphs of every type."""

from __future__ import annotations

import itertools

import networkx as nx
import pytest
from nx_graphs import NODES, TYPES, assert_same, each_type, ours, random_graph

from dask_graphflow.nx import convert_to_nx

pytestmark = pytest.mark.usefixtures("host_memory")  # NetworkX graphs are in host memory


BY_NODE = {
    "pagerank": [{}, {"weight": None, "alpha": 0.6}],
    "katz_centrality": [{"alpha": 0.01}, {"alpha": 0.01, "normalized": False, "weight": "weight"}],
    "eigenvector_centrality": [{"max_iter": 2000}, {"max_iter": 2000, "weight": "weight"}],
    "degree_centrality": [{}],
    "in_degree_centrality": [{}],
    "out_degree_centrality": [{}],
    "betweenness_centrality": [
        {},
        {"endpoints": True},
        {"k": 3, "seed": 5, "normalized": False},
        {"k": 12},
        {"weight": "weight"},
        {"weight": "weight", "k": 3, "seed": 5},
    ],
    "closeness_centrality": [{}, {"wf_improved": False}, {"distance": "weight"}],
    "harmonic_centrality": [{}, {"distance": "weight"}],
    "core_number": [{}],
    "triangles": [{}],
    "clustering": [{}],
}
SEVERAL = {
    "edge_betweenness_centrality": [
        {},
        {"k": 3, "seed": 5, "normalized": False},
        {"weight": "weight"},
    ],
    "average_clustering": [{}, {"count_zeros": False}],
    "transitivity": [{}],
    "bridges": [{}],
    "has_bridges": [{}],
    "is_biconnected": [{}],
    "is_directed_acyclic_graph": [{}],
    "strongly_connected_components": [{}],
    "connected_components": [{}],
    "number_connected_components": [{}],
    "is_connected": [{}],
    "number_strongly_connected_components": [{}],
    "is_strongly_connected": [{}],
    "weakly_connected_components": [{}],
    "number_weakly_connected_components": [{}],
    "is_weakly_connected": [{}],
}
OF_A_NODE = {
    "node_connected_component": [{}],
    "triangles": [{}],
    "clustering": [{}],
    "shortest_path_length": [{}, {"weight": "weight"}],
    "single_source_shortest_path_length": [{}, {"cutoff": 0}, {"cutoff": 1.5}, {"cutoff": -1}],
    "single_target_shortest_path_length": [{}, {"cutoff": 2}],
    "single_source_dijkstra_path_length": [{}, {"cutoff": 1.5}, {"weight": None}],
    "single_source_bellman_ford_path_length": [{}],
    "descendants": [{}],
    "ancestors": [{}],
}


@pytest.mark.parametrize(("name", "kind", "nodes"), each_type([*BY_NODE, *SEVERAL], NODES))
def test_values_per_node_are_those_of_networkx(name, kind, nodes):
    graph = random_graph(kind, NODES[nodes], seed=1, loops=name != "core_number")
    for options in (BY_NODE | SEVERAL)[name]:
        assert_same(name, graph, **options)
        if name in BY_NODE:
            assert list(ours(name, graph, **options)) == list(graph)
        elif name == "edge_betweenness_centrality":
            assert list(ours(name, graph, **options)) == list(graph.edges)


@pytest.mark.parametrize(("name", "kind", "nodes"), each_type(OF_A_NODE, NODES))
def test_values_of_a_source_are_those_of_networkx(name, kind, nodes):
    graph = random_graph(kind, NODES[nodes], seed=2)
    for node, options in itertools.product(list(graph)[:11:5], OF_A_NODE[name]):
        assert_same(name, graph, node, **options)


BETWEEN_NODES = {
    "has_path": [{}],
    "dijkstra_path_length": [{}, {"weight": None}],
    "bellman_ford_path_length": [{}],
    "shortest_path_length": [
        {},
        {"weight": "weight"},
        {"weight": "weight", "method": "bellman-ford"},
    ],
}


@pytest.mark.parametrize(("name", "kind", "nodes"), each_type(BETWEEN_NODES, NODES))
def test_values_of_two_nodes_are_those_of_networkx(name, kind, nodes):
    graph = random_graph(kind, NODES[nodes], seed=2)
    nx.set_edge_attributes(graph, 0.25, "weight")
    some = [*list(graph)[:11:5], "not a node"]
    for source, target in itertools.product(some, some):
        for options in BETWEEN_NODES[name]:
            assert_same(name, graph, source, target, **options)


GRAPHS = {
    "k_core": [{"k": k} for k in (None, 0, 2, 3, 100)],
    "k_shell": [{}, {"k": 2}],
    "k_crust": [{}, {"k": 1}],
    "k_corona": [{"k": k} for k in (1, 2, 3)],
    "k_truss": [{"k": k} for k in (0, 2, 2.5, 3, 100)],
    "minimum_spanning_tree": [{}, {"weight": None}],
    "maximum_spanning_tree": [{}],
    "ego_graph": [
        {"radius": 0},
        {},
        {"radius": 2.5, "center": False},
        {"radius": 1.5, "distance": "weight"},
    ],
}


@pytest.mark.parametrize(("name", "kind", "nodes"), each_type(GRAPHS, ["any"]))
def test_graphs_are_those_of_networkx_with_all_their_attributes(name, kind, nodes):
    graph = random_graph(kind, NODES[nodes], seed=1, loops=not name.startswith("k_"))
    graph.graph["name"] = "some"
    graph.add_nodes_from(list(graph)[:4], color="red")
    graph.edges[next(iter(graph.edges))]["note"] = ["text"]
    for options in GRAPHS[name]:
        arguments = [graph, list(graph)[4]] if name == "ego_graph" else [graph]
        found = convert_to_nx(ours(name, *arguments, **options))
        wanted = getattr(nx, name)(*arguments, **options)
        assert type(found) is type(wanted)
        assert nx.utils.graphs_equal(found, wanted)


def test_distances_are_in_ascending_order(nx_graph):
    for name in ("single_source_shortest_path_length", "single_source_dijkstra_path_length"):
        found = list(ours(name, nx_graph, next(iter(nx_graph))).values())
        assert found == sorted(found)


def test_several_sources_and_levels(nx_graph):
    nodes = list(nx_graph)
    assert_same("multi_source_dijkstra_path_length", nx_graph, {nodes[0], nodes[4], nodes[11]})
    for distance in (0, 1, 2, 50, -1):
        assert_same("descendants_at_distance", nx_graph, nodes[0], distance)


def test_vectors_of_pagerank(nx_graph):
    nodes = list(nx_graph)
    some = {nodes[0]: 1, nodes[3]: 2.5, nodes[11]: 0, "not a node": 4}
    for option in ("personalization", "nstart", "dangling"):
        assert_same("pagerank", nx_graph, tol=1e-12, max_iter=500, **{option: some})
    with pytest.raises(ZeroDivisionError):
        ours("pagerank", nx_graph, personalization={"not a node": 1})
    with pytest.raises(NotImplementedError):
        ours("pagerank", nx_graph, dangling={nodes[0]: -1})


def test_hits_are_those_of_networkx():
    # The hubs of a graph with several equal singular values are not unique.
    for kind, seed in itertools.product(TYPES, range(3)):
        graph = random_graph(kind, NODES["any"], seed)
        options = {"tol": 1e-12, "max_iter": 2000}
        assert_same_hits(graph, ours("hits", graph, **options), nx.hits(graph, **options))


def assert_same_hits(graph, found, expected):
    for mine, theirs in zip(found, expected, strict=True):
        assert list(mine) == list(graph)
        assert mine == pytest.approx(theirs, abs=1e-6)


# Pairs, communities and sets


@pytest.mark.parametrize("name", ["jaccard_coefficient", "adamic_adar_index"])
def test_scores_of_pairs_are_those_of_networkx(name):
    for seed, names in itertools.product(range(3), NODES.values()):
        graph = random_graph(nx.Graph, names, seed, loops=False)
        pairs = list(itertools.permutations(graph, 2))
        found, expected = ours(name, graph, pairs), getattr(nx, name)(graph, pairs)
        for mine, theirs in zip(found, expected, strict=True):
            assert mine[:2] == theirs[:2]
            assert mine[2] == pytest.approx(theirs[2], rel=1e-12)
    assert list(ours(name, graph, [])) == []
    with pytest.raises(nx.NodeNotFound, match=r"Node not a node not in G\."):
        ours(name, graph, [(next(iter(graph)), "not a node")])
    if name == "adamic_adar_index":
        with pytest.raises(NotImplementedError, match="the same node twice"):
            ours(name, nx.path_graph(3), [(1, 1)])
    with pytest.raises(NotImplementedError, match="self-loops"):
        ours(name, nx.Graph([(0, 0), (0, 1)]), [(0, 1)])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *itertools.product(["louvain_communities", "leiden_communities"], TYPES[::2]),
        *itertools.product(["louvain_communities"], TYPES[1::2]),
    ],
)
def test_communities_are_as_good_as_those_of_networkx(name, kind):
    graph = kind(nx.les_miserables_graph())
    expected = nx.community.modularity(graph, nx.community.louvain_communities(graph, seed=1))
    options = {"seed": 1} | ({"metric": "modularity"} if name == "leiden_communities" else {})
    found = ours(name, graph, **options)
    assert nx.community.is_partition(graph, found)
    assert nx.community.modularity(graph, found) > expected - 0.01
    assert found == ours(name, graph, **options)
    assert len(ours(name, graph, **options, resolution=4)) > len(found)
    assert ours(name, graph, **options, weight=None) != found


def test_leiden_communities_can_maximize_the_constant_potts_model():
    cliques = nx.ring_of_cliques(6, 5)
    for nodes in map(set, ours("leiden_communities", cliques, metric="cpm", resolution=0.5)):
        assert len(nodes) == 5 == len({node // 5 for node in nodes}) * 5
    alone = ours("leiden_communities", cliques, metric="cpm", resolution=1.5)
    assert list(map(len, alone)) == [1] * 30
    with pytest.raises(NotImplementedError, match="'barber'; give 'modularity', 'cpm'"):
        ours("leiden_communities", cliques, metric="barber")


@pytest.mark.parametrize("kind", TYPES)
def test_the_modularity_is_that_of_networkx(kind):
    for seed, names in itertools.product(range(3), NODES.values()):
        graph = random_graph(kind, names, seed)
        nodes = list(graph)
        partition = [set(nodes[:5]), set(nodes[5:6]), set(), set(nodes[6:])]
        for options in ({}, {"weight": None}, {"resolution": 0.25}):
            expected = nx.community.modularity(graph, partition, **options)
            assert ours("modularity", graph, iter(partition), **options) == pytest.approx(expected)
        for wrong in (partition[1:], [*partition, {nodes[0]}], [*partition, {"not a node"}]):
            with pytest.raises(nx.community.quality.NotAPartition):
                ours("modularity", graph, wrong)
    with pytest.raises(ZeroDivisionError):
        ours("modularity", nx.empty_graph(2), [{0}, {1}])


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_colors_and_independent_sets(kind):
    for seed in range(3):
        graph = random_graph(kind, NODES["any"], seed, loops=False)
        colors = ours("greedy_color", graph)
        assert list(colors) == list(graph)
        assert all(colors[a] != colors[b] for a, b in graph.edges())
        assert max(colors.values()) <= max(len(graph[node]) for node in graph)
        nodes = ours("maximal_independent_set", graph, seed=seed)
        assert nodes == ours("maximal_independent_set", graph, seed=seed)
        assert not graph.subgraph(nodes).edges
        assert {*nodes}.union(*(graph[node] for node in nodes)) == {*graph}


def test_values_of_some_nodes():
    graph = random_graph(nx.Graph, range(12), seed=1)
    for name in ("triangles", "clustering", "average_clustering"):
        assert_same(name, graph, [3, 1, "not a node", 3])
    for name in ("triangles", "clustering"):
        for nodes in ([], "not a node", 3.5, [[]]):
            assert_same(name, graph, nodes)
    with pytest.raises(nx.NetworkXNotImplemented, match="multigraph"):
        ours("triangles", nx.MultiGraph([(0, 1)]), [0])


# Graphs without edges, and errors


@pytest.mark.parametrize(("name", "kind", "count"), each_type([*BY_NODE, *SEVERAL], [0, 1, 3]))
def test_graphs_without_edges(name, kind, count):
    assert_same(name, nx.empty_graph(count, create_using=kind))


def test_the_empty_graph_has_no_hubs():
    assert ours("hits", nx.Graph()) == ({}, {})


@pytest.mark.parametrize("name", ["pagerank", "hits", "katz_centrality", "eigenvector_centrality"])
@pytest.mark.parametrize("max_iter", [0, 1])
def test_iterations_that_do_not_converge(name, max_iter):
    graph = nx.karate_club_graph()
    options = {"max_iter": max_iter, "tol": 1e-300} if name == "hits" else {"max_iter": max_iter}
    with pytest.raises(nx.PowerIterationFailedConvergence, match=f"within {max_iter} iterations"):
        ours(name, graph, **options)


def test_values_that_are_refused_are_left_to_networkx():
    graph = nx.path_graph(3)
    nx.set_edge_attributes(graph, -1, "weight")
    for name in ("pagerank", "hits"):
        with pytest.raises(NotImplementedError):
            ours(name, graph)
    with pytest.raises(NotImplementedError):
        ours("pagerank", nx.path_graph(3), alpha=1.5)
    with pytest.raises(NotImplementedError):
        ours("katz_centrality", nx.path_graph(3), beta={0: 1, 1: 1, 2: 1})
    with pytest.raises(nx.NetworkXNotImplemented, match="self loops"):
        ours("core_number", nx.Graph([(1, 1)]))
