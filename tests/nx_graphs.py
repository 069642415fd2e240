"""Random graphs of NetworkX of every type, and comparisons of our results with NetworkX's."""

from __future__ import annotations

import collections
import itertools
import re

import networkx as nx
import numpy as np
import pytest

from _graphflow_networkx import FUNCTIONS
from _graphflow_networkx.backend import function_of
from dask_graphflow.nx import backend, convert_from_nx


class Name:
    """A node that can be hashed and not sorted."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


TYPES = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]
NODES = {
    "integers": range(12),
    "any": ["b", 0, ("a", 1), Name("x"), 2.5, frozenset([1]), True, "a", -1, b"c", "z", Name("y")],
}


#: Functions whose result is a sum or an average of floats.
AVERAGES = "average_shortest_path_length", "wiener_index", "global_efficiency"


def random_graph(kind, nodes, seed, loops=True, edges=24):
    """Return a graph of 12 nodes with self-loops, parallel edges and isolated nodes."""
    rng = np.random.default_rng(seed)
    nodes, graph = list(nodes), kind()
    graph.add_nodes_from(nodes)
    for source, target in rng.integers(0, 10, (edges, 2)).tolist():
        if loops or source != target:
            weight = [{}, {"weight": 3}, {"weight": 0.5}][int(rng.integers(3))]
            graph.add_edge(nodes[source], nodes[target], **weight)
    return graph


def edges(graph):
    """Return how often each edge with its weight occurs; the order of an undirected edge is open."""
    place = {node: position for position, node in enumerate(graph)}
    found = []
    for source, target, weight in graph.edges(data="weight", default=1):
        ends = place[source], place[target]
        found.append((*(ends if graph.is_directed() else sorted(ends)), weight))
    return sorted(found)


def ours(name, graph, *arguments, **options):
    converted = convert_from_nx(
        graph, preserve_edge_attrs=True, preserve_node_attrs=True, preserve_graph_attrs=True
    )
    return getattr(backend, name)(converted, *arguments, **options)


def assert_same(name, graph, *arguments, **options):
    """Compare a result with NetworkX, or the errors that both raise."""
    function = function_of(name)
    try:
        expected = function(graph, *arguments, **options)
        if isinstance(expected, collections.abc.Iterator):
            expected = list(expected)
    except (nx.NetworkXException, ZeroDivisionError) as error:
        with pytest.raises(type(error), match=f"^{re.escape(str(error))}$"):
            ours(name, graph, *arguments, **options)
        return
    found = ours(name, graph, *arguments, **options)
    for mine, theirs in zip(
        *((r if type(r) is tuple else (r,)) for r in (found, expected)), strict=True
    ):
        if isinstance(theirs, dict):
            assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-12)
            assert {type(value) for value in mine.values()} <= {int, float}
        elif name in AVERAGES:
            assert mine == pytest.approx(theirs, rel=1e-9)
        elif type(theirs) is float or name == "clustering":  # NetworkX has 0 instead of 0.0
            assert mine == theirs
        elif name in (
            "strongly_connected_components",
            "attracting_components",
        ):  # NetworkX has them in another order
            assert sorted(map(sorted_nodes(graph), mine)) == sorted(
                map(sorted_nodes(graph), theirs)
            )
        else:
            several = isinstance(mine, collections.abc.Iterator)
            assert type(mine) is type(theirs) or several
            assert (list(mine) if several else mine) == theirs


def sorted_nodes(graph):
    """Return a function that returns the positions of nodes in a graph, in ascending order."""
    place = {node: position for position, node in enumerate(graph)}
    return lambda nodes: sorted(place[node] for node in nodes)


def defined(name, kind):
    """Return whether NetworkX defines a function for a type of graph."""
    if name in (
        "katz_centrality",
        "eigenvector_centrality",
        "core_number",
        "k_core",
        "k_shell",
        "k_crust",
        "k_corona",
    ):
        return not kind().is_multigraph()
    if name == "bridge_components":
        return kind is nx.Graph
    if name in ("is_arborescence", "is_branching", "is_semiconnected") or "attracting" in name:
        return kind().is_directed()
    if name == "global_efficiency":
        return not kind().is_directed()
    if name == "k_truss" or "spanning" in name or "ebunch" in FUNCTIONS[name].needs:
        return kind is nx.Graph
    if name in ("clustering", "average_clustering", "transitivity"):
        return kind is nx.Graph
    if name in ("triangles", "bridges", "has_bridges", "is_biconnected"):
        return not kind().is_directed()
    if (
        "weakly" in name
        or "strongly" in name
        or name in ("in_degree_centrality", "out_degree_centrality")
    ):
        return kind().is_directed()
    if name in ("edge_betweenness_centrality", "ego_graph"):
        return not kind().is_multigraph()
    return "connected" not in name or not kind().is_directed()


def each_type(names, others):
    """Return triples of a function, a type of graph that it is defined for, and another choice."""
    triples = itertools.product(names, TYPES, others)
    found = [(name, kind, other) for name, kind, other in triples if defined(name, kind)]
    return [
        pytest.param(*triple, id=f"{triple[0]}-{triple[1].__name__}-{triple[2]}")
        for triple in found
    ]
