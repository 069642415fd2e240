"""Connected, weakly connected and strongly connected components."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx

from .converted import ConvertedGraph, Node
from .registry import networkx_function


@networkx_function
def connected_components(G: ConvertedGraph) -> Iterator[set[Node]]:
    """Return the set of nodes of each component."""
    return map(set, G.groups(G.run("connected_components").component.to_numpy()))


@networkx_function
def number_connected_components(G: ConvertedGraph) -> int:
    """Return the number of components."""
    return int(G.run("connected_components").component.nunique())


@networkx_function
def is_connected(G: ConvertedGraph) -> bool:
    """Return whether there is one component."""
    return _is_one(G, "connected_components")


def _is_one(G: ConvertedGraph, components: str) -> bool:
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return bool((G.run(components).component == 0).all())


@networkx_function
def node_connected_component(G: ConvertedGraph, n: Node) -> set[Node]:
    """Return the nodes of the component of a node."""
    return {G.nodes[vertex] for vertex in G.run("bfs", sources=[G.positions[n]]).vertex}


@networkx_function
def weakly_connected_components(G: ConvertedGraph) -> Iterator[set[Node]]:
    """Return the set of nodes of each component, without regard to directions."""
    components: Iterator[set[Node]] = connected_components(G)
    return components


@networkx_function
def number_weakly_connected_components(G: ConvertedGraph) -> int:
    """Return the number of components, without regard to directions."""
    number: int = number_connected_components(G)
    return number


@networkx_function
def is_weakly_connected(G: ConvertedGraph) -> bool:
    """Return whether there is one component, without regard to directions."""
    return _is_one(G, "connected_components")


@networkx_function
def strongly_connected_components(G: ConvertedGraph) -> Iterator[set[Node]]:
    """Return the set of nodes of each strongly connected component."""
    component = G.run("strongly_connected_components").component.to_numpy()
    return map(set, G.groups(component))


@networkx_function
def number_strongly_connected_components(G: ConvertedGraph) -> int:
    """Return the number of strongly connected components."""
    return int(G.run("strongly_connected_components").component.nunique())


@networkx_function
def is_strongly_connected(G: ConvertedGraph) -> bool:
    """Return whether there is one strongly connected component."""
    return _is_one(G, "strongly_connected_components")
