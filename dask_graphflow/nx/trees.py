"""Whether a graph is a tree, a forest, or can be walked along each edge once."""

from __future__ import annotations

import networkx as nx
import numpy as np

from .components import is_connected, number_of_components
from .converted import ConvertedGraph
from .registry import networkx_function


@networkx_function
def is_tree(G: ConvertedGraph) -> bool:
    """Return whether a graph is connected, apart from the directions, and has no cycle."""
    _refuse_no_nodes(G)
    return len(G) - 1 == len(G.sources) and is_connected("connected_components", G)


@networkx_function
def is_forest(G: ConvertedGraph) -> bool:
    """Return whether each component of a graph is a tree."""
    _refuse_no_nodes(G)
    # A component has at least as many edges as a tree, so the sums are equal only if all of them are trees.
    return len(G) - number_of_components("connected_components", G) == len(G.sources)


@networkx_function
def is_arborescence(G: ConvertedGraph) -> bool:
    """Return whether a directed graph is a tree with at most one edge into each node."""
    return is_tree(G) and _has_one_parent(G)


@networkx_function
def is_branching(G: ConvertedGraph) -> bool:
    """Return whether a directed graph is a forest with at most one edge into each node."""
    return is_forest(G) and _has_one_parent(G)


@networkx_function
def is_eulerian(G: ConvertedGraph) -> bool:
    """Return whether a closed walk takes each edge of a graph once."""
    leaving, entering = (np.bincount(ends, minlength=len(G)) for ends in (G.sources, G.targets))
    if G.directed:
        balanced, algorithm = (leaving == entering).all(), "strongly_connected_components"
    else:
        balanced, algorithm = ((leaving + entering) % 2 == 0).all(), "connected_components"
    return bool(balanced) and is_connected(algorithm, G)


def _refuse_no_nodes(G: ConvertedGraph) -> None:
    if not len(G):
        raise nx.NetworkXPointlessConcept("G has no nodes.")


def _has_one_parent(G: ConvertedGraph) -> bool:
    return bool((np.bincount(G.targets, minlength=len(G)) <= 1).all())
