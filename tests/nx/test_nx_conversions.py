"""Graphs of NetworkX of every type and class, converted to this backend and back."""

from __future__ import annotations

import collections
import math

import networkx as nx
import numpy as np
import pytest
from nx_graphs import assert_same, edges, ours

from dask_graphflow.nx import backend, convert_from_nx, convert_to_nx

pytestmark = pytest.mark.usefixtures("host_memory")  # NetworkX graphs are in host memory


def test_a_conversion_and_back_keeps_nodes_edges_and_weights(nx_graph):
    back = convert_to_nx(convert_from_nx(nx_graph, edge_attrs={"weight": 1}))
    assert type(back) is type(nx_graph)
    assert list(back) == list(nx_graph)
    assert edges(back) == edges(nx_graph)


def test_a_graph_that_is_made_has_the_order_of_one_that_edges_were_added_to(nx_graph):
    converted = convert_from_nx(nx_graph, edge_attrs={"weight": 1})
    made, added = convert_to_nx(converted), type(nx_graph)()
    added.add_nodes_from(converted.nodes)
    weights = [{"weight": weight} for weight in converted.attributes["weight"].tolist()]
    ends = (converted.nodes_at(side) for side in (converted.sources, converted.targets))
    added.add_edges_from(zip(*ends, weights, strict=True))
    assert repr(made.adj) == repr(added.adj)
    assert list(made.edges) == list(added.edges)
    if made.is_directed():
        assert repr(made.pred) == repr(added.pred)
    else:
        assert all(made._adj[a][b] is made._adj[b][a] for a, b in made.edges())
    made.add_edge(converted.nodes[0], "new", weight=5)  # the made graph can be changed
    assert made.has_edge(converted.nodes[0], "new")
    assert len(converted) == len(added)


@pytest.mark.parametrize("chunk", [1, 2, 4096])
@pytest.mark.parametrize("other", [None, {"cost": 1}, {"weight": 1, "cost": 2}, {}])
def test_attributes_are_kept_in_any_mixture_and_copied(chunk, other, monkeypatch):
    monkeypatch.setattr("dask_graphflow.inputs.adjacency_rows.CHUNK", chunk)
    graph = nx.path_graph(5)
    nx.set_edge_attributes(graph, {edge: {"weight": sum(edge)} for edge in graph.edges})
    if other is not None:
        graph[2][3].clear()
        graph[2][3].update(other)
    wanted = graph.copy()
    kept = convert_from_nx(graph, {"weight": 7}, preserve_edge_attrs=True)
    read = convert_from_nx(graph, {"weight": 7})
    values = [data.get("weight", 7) for *_, data in graph.edges(data=True)]
    for edge in graph.edges:
        graph.edges[edge].clear()
    assert nx.utils.graphs_equal(convert_to_nx(kept), wanted)
    assert kept.attributes["weight"].tolist() == read.attributes["weight"].tolist() == values


def hide_some(graph):
    """Return a view without some of the edges. In a multigraph, one of several parallel edges is hidden."""
    place = {node: position for position, node in enumerate(graph)}
    return nx.subgraph_view(
        graph, filter_edge=lambda u, v, key=0: (place[u] + place[v]) % 3 != 0 and key != 1
    )


VIEWS = {
    "subgraph": lambda graph: graph.subgraph(list(graph)[1:9]),
    "restricted": lambda graph: nx.restricted_view(graph, list(graph)[:2], list(graph.edges)[::3]),
    "filtered": hide_some,
    "reversed": lambda graph: nx.reverse_view(graph) if graph.is_directed() else graph,
    "undirected": lambda graph: graph.to_undirected(as_view=True),
    "nested": lambda graph: hide_some(graph).to_undirected(as_view=True).subgraph(list(graph)[2:]),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_are_converted_as_their_graphs_are(nx_graph, name):
    nx.set_edge_attributes(nx_graph, 3, "weight")
    view = VIEWS[name](nx_graph)
    assert edges(convert_to_nx(convert_from_nx(view, {"weight": 1}))) == edges(view)
    assert_same("degree_centrality", view)
    assert_same("single_source_dijkstra_path_length", view, list(view)[2])


class Thin(nx.Graph):
    """A graph whose edges share one dict of attributes."""

    def edge_attr_dict_factory(self, shared={"weight": 2}):  # noqa: B006
        return shared


class Ordered(nx.MultiDiGraph):
    """A graph whose neighbors and parallel edges are in dicts of another class."""

    adjlist_inner_dict_factory = edge_key_dict_factory = collections.OrderedDict


def planar(pairs):
    return nx.check_planarity(nx.Graph(pairs))[1]


@pytest.mark.parametrize("kind", [Thin, Ordered, planar])
def test_classes_with_other_dicts_are_converted(kind):
    graph = kind([(0, 1), (1, 2), (2, 0), (2, 3)])
    converted = convert_to_nx(convert_from_nx(graph, {"weight": 1}))
    assert edges(converted) == edges(nx.Graph(graph) if kind is planar else graph)


class Reversed(nx.DiGraph):
    """A graph that shows each of its edges reversed."""

    adj = succ = property(lambda self: nx.classes.coreviews.AdjacencyView(self._pred))
    pred = property(lambda self: nx.classes.coreviews.AdjacencyView(self._succ))
    neighbors = successors = nx.DiGraph.predecessors
    predecessors = nx.DiGraph.successors


def complement(graph):
    return nx.approximation.kcomponents._AntiGraph(nx.complement(graph))


@pytest.mark.parametrize(
    ("kind", "graph"),
    [(complement, nx.lollipop_graph(4, 5)), (Reversed, nx.gnm_random_graph(9, 20, 1, True))],
)
@pytest.mark.parametrize(
    "name", ["core_number", "pagerank", "degree_centrality", "closeness_centrality"]
)
def test_a_class_that_overrides_its_adjacency_is_read_by_it(kind, graph, name):
    shown = kind(graph)
    wanted = graph.reverse() if kind is Reversed else graph
    assert ours(name, shown) == ours(name, wanted) == pytest.approx(getattr(nx, name)(wanted))
    # NetworkX's own function may use other members, so a call that does not name the backend is left to it.
    assert "overrides" in str(backend.should_run(name, (shown,), {}))


@pytest.mark.parametrize("name", ["adj", "nodes", "neighbors", "__getitem__", "pred", "edges"])
def test_members_that_disagree_are_left_to_networkx(name):
    found = {"nodes": property(lambda graph: [0, 1]), "edges": property(lambda graph: [(0, 1)])}
    found["adj"] = found["pred"] = property(lambda graph: {0: {}, 1: {}, 2: {}})
    other = type("Other", (nx.DiGraph,), {name: found.get(name, lambda graph, node: [node])})
    with pytest.raises(NotImplementedError, match=f"Other overrides {name}.* disagree"):
        convert_from_nx(other([(0, 1), (1, 2)]))


def test_an_undirected_edge_that_differs_by_direction_is_left_to_networkx():
    filtered = nx.subgraph_view(nx.path_graph(4), filter_edge=lambda u, v: u < v)
    both = nx.DiGraph([(0, 1, {"weight": 1}), (1, 0, {"weight": 5})]).to_undirected(as_view=True)
    for view in (filtered, both):
        with pytest.raises(NotImplementedError, match="not the same from both ends"):
            convert_from_nx(view, {"weight": 1})
    assert len(convert_from_nx(both).sources) == 1


@pytest.mark.parametrize("value", ["1", None, 1j, [1], (1, 2), 2**70, math.inf, math.nan])
def test_weights_that_are_not_finite_numbers_are_left_to_networkx(value):
    graph = nx.Graph([(0, 1, {"weight": value}), (1, 2)])
    with pytest.raises(NotImplementedError, match="weight"):
        backend.pagerank(convert_from_nx(graph, edge_attrs={"weight": 1}))


@pytest.mark.parametrize("value", [True, np.float32(0.5), np.uint8(7), 2**63, -1, np.int8(-3)])
def test_numbers_of_every_type_are_weights(value):
    graph = nx.Graph([(0, 1, {"weight": value}), (1, 2)])
    assert convert_from_nx(graph, {"weight": 1}).attributes["weight"].tolist() == [value, 1]


def test_sums_of_integers_are_integers():
    graph = nx.Graph([(0, 1, {"weight": 2}), (1, 2, {"weight": 3})])
    found = ours("single_source_dijkstra_path_length", graph, 0)
    assert (
        str(found) == str(nx.single_source_dijkstra_path_length(graph, 0)) == "{0: 0, 1: 2, 2: 5}"
    )
    graph[0][1]["weight"] = 2**53
    with pytest.raises(NotImplementedError):
        ours("single_source_dijkstra_path_length", graph, 0)


def test_an_attribute_that_was_not_converted_is_an_error():
    with pytest.raises(NotImplementedError, match="'cost' was not converted"):
        backend.pagerank(convert_from_nx(nx.path_graph(3)), weight="cost")
