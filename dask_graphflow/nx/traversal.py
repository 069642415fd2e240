"""Breadth-first trees and layers, and the neighborhood of a node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from .converted import ConvertedGraph, Data, Node
from .registry import networkx_function
from .searches import predecessors, search, weighted_search


@networkx_function
def bfs_edges(
    G: ConvertedGraph, source: Node, reverse: bool, depth_limit: int | None
) -> Iterator[tuple[Node, Node]]:
    """Return the edges of a breadth-first tree, in the order of a search of the tree."""
    children = _children(G, source, depth_limit, reverse)
    return ((G.nodes[a], G.nodes[b]) for a in children for b in children[a])


@networkx_function
def bfs_successors(
    G: ConvertedGraph, source: Node, depth_limit: int | None
) -> Iterator[tuple[Node, list[Node]]]:
    """Return the nodes of a breadth-first tree that have children, with a list of these."""
    children = _children(G, source, depth_limit)
    first = G.positions[source]
    return (
        (G.nodes[a], [G.nodes[b] for b in behind])
        for a, behind in children.items()
        if behind or a == first
    )


@networkx_function
def bfs_predecessors(
    G: ConvertedGraph, source: Node, depth_limit: int | None
) -> Iterator[tuple[Node, Node]]:
    """Return the nodes of a breadth-first tree with their predecessors."""
    children = _children(G, source, depth_limit)
    return ((G.nodes[b], G.nodes[a]) for a in children for b in children[a])


@networkx_function
def bfs_tree(
    G: ConvertedGraph, source: Node, reverse: bool, depth_limit: int | None
) -> ConvertedGraph:
    """Return a breadth-first tree, with edges away from the source."""
    children = _children(G, source, depth_limit, reverse)
    order = list(children)
    numbers = {position: number for number, position in enumerate(order)}
    sizes = [len(behind) for behind in children.values()]
    return ConvertedGraph(
        [G.nodes[position] for position in order],
        np.repeat(np.arange(len(order)), sizes),
        np.array([numbers[b] for behind in children.values() for b in behind], np.int64),
        {},
        directed=True,
        multigraph=False,
        data=Data(),
    )


def _children(
    G: ConvertedGraph, source: Node, depth_limit: int | None, reverse: bool = False
) -> dict[int, list[int]]:
    """Return the children of each node of a breadth-first tree, as positions in the order of a search."""
    _require(G, source)
    before = predecessors(search(G, source, depth_limit, reverse=reverse))
    found: dict[int, list[int]] = {position: [] for position in before}
    for position, parent in before.items():
        if parent >= 0:
            found[parent].append(position)
    children, order = {}, [G.positions[source]]
    for position in order:
        children[position] = found[position]
        order += found[position]
    return children


def _require(G: ConvertedGraph, node: Node) -> None:
    if node not in G:
        kind = "digraph" if G.directed else "graph"
        raise nx.NetworkXError(f"The node {node} is not in the {kind}.")


@networkx_function
def bfs_layers(G: ConvertedGraph, sources: Any) -> Iterator[list[Node]]:
    """Return the nodes at each distance from the nearest source."""
    several: Iterable[Node] = {sources} if sources in G else set(sources)
    for source in several:
        if source not in G:
            raise nx.NetworkXError(f"The node {source} is not in the graph.")
    if not several:
        return iter(())
    found = G.run("bfs", sources=sorted(G.positions[source] for source in several))
    return G.groups(found.distance.to_numpy(), found.vertex.to_numpy())


@networkx_function
def ego_graph(
    G: ConvertedGraph,
    n: Node,
    radius: float,
    center: bool,
    distance: Any,
) -> ConvertedGraph:
    """Return the subgraph of the nodes that are at most `radius` away from a node."""
    if n not in G:
        raise nx.NodeNotFound(
            f"Source {n} not in G" if distance is None else f"Node {n} not found in graph"
        )
    by_weight = distance is not None
    found = weighted_search(G, [n], distance, radius) if by_weight else search(G, n, radius)
    near = np.zeros(len(G), bool)
    near[found.vertex.to_numpy()] = True
    near[G.positions[n]] = center
    return G.subgraph(near)
