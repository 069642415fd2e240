"""Connected, weakly connected and strongly connected components."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import networkx as nx

from .converted import ConvertedGraph, Node
from .registry import networkx_function, register


def _components(algorithm: str, G: ConvertedGraph) -> Iterator[set[Node]]:
    """Return the set of nodes of each component."""
    return map(set, G.groups(G.run(algorithm).component.to_numpy()))


def number_of_components(algorithm: str, G: ConvertedGraph) -> int:
    """Return the number of components."""
    return int(G.run(algorithm).component.nunique())


def is_connected(algorithm: str, G: ConvertedGraph) -> bool:
    """Return whether there is one component."""
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return bool((G.run(algorithm).component == 0).all())


for kind, algorithm in {
    "connected": "connected_components",
    "weakly_connected": "connected_components",
    "strongly_connected": "strongly_connected_components",
}.items():
    register(f"{kind}_components", partial(_components, algorithm))
    register(f"number_{kind}_components", partial(number_of_components, algorithm))
    register(f"is_{kind}", partial(is_connected, algorithm))


@networkx_function
def node_connected_component(G: ConvertedGraph, n: Node) -> set[Node]:
    """Return the nodes of the component of a node."""
    return {G.nodes[vertex] for vertex in G.run("bfs", sources=[G.positions[n]]).vertex}
