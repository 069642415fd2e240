"""Bridges and articulation points: what holds a graph together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from .components import is_connected
from .converted import ConvertedGraph, Node
from .registry import networkx_function


@networkx_function
def bridges(G: ConvertedGraph, root: Node | None) -> Iterator[tuple[Node, Node]]:
    """Return the bridges of a graph, or of the component of a node, in the order of the edges."""
    found = _find_bridges(G, root)
    return zip(G.nodes_at(G.sources[found]), G.nodes_at(G.targets[found]), strict=True)


@networkx_function
def has_bridges(G: ConvertedGraph, root: Node | None) -> bool:
    """Return whether a graph, or the component of a node, has a bridge."""
    return bool(_find_bridges(G, root).any())


def _find_bridges(G: ConvertedGraph, root: Node | None) -> Any:
    """Return which edges are bridges, in the component of `root` if it is given."""
    if root is not None and root not in G:
        raise nx.NodeNotFound(f"Root node {root} is not in graph")
    found = G.which_edges(G.run("bridges"))
    if root is not None:
        near = np.zeros(len(G), bool)
        near[G.run("bfs", sources=[G.positions[root]]).vertex.to_numpy()] = True
        found &= near[G.sources]
    return found


@networkx_function
def bridge_components(G: ConvertedGraph) -> Iterator[set[Node]]:
    """Return the components of a graph without its bridges."""
    rest = G.subgraph(np.ones(len(G), bool), ~_find_bridges(G, None))
    return map(set, rest.groups(rest.run("connected_components").component.to_numpy()))


@networkx_function
def articulation_points(G: ConvertedGraph) -> Iterator[Node]:
    """Return the articulation points, in the order of the nodes."""
    found = G.run("articulation_points").articulation_point.to_numpy()
    return iter(G.nodes_at(found.nonzero()[0]))


@networkx_function
def is_biconnected(G: ConvertedGraph) -> bool:
    """Return whether a graph is connected and stays so without any one of its nodes."""
    if len(G) < 2 or not is_connected("connected_components", G):
        return False
    return not bool(G.run("articulation_points").articulation_point.any())
