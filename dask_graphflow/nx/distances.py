"""Distances in edges, in ascending order, and the nodes that can be reached."""

from __future__ import annotations

from functools import partial
from typing import Any

import networkx as nx

from .converted import ConvertedGraph, Node
from .registry import networkx_function, register
from .searches import Read, distances, paths, require, search


@networkx_function
def has_path(G: ConvertedGraph, source: Node, target: Node) -> bool:
    """Return whether the target can be reached from the source."""
    require(G, "Source {} is not in G", source)
    require(G, "Target {} is not in G", target)
    reached = G.run("bfs", sources=[G.positions[source]], targets=[G.positions[target]])
    return bool(len(reached))


def _from_end(
    read: Read, message: str, end: str, *, G: ConvertedGraph, cutoff: float | None, **node: Node
) -> dict[Node, Any]:
    """Return what a search finds from a source, or against the edges from a target."""
    require(G, message, node[end])
    return read(G, search(G, node[end], cutoff, reverse=end == "target"))


READS: dict[str, dict[str, Read]] = {
    "source": {"path": paths, "path_length": distances},
    "target": {"path": partial(paths, backward=True), "path_length": distances},
}
for end, reads in READS.items():
    for ending, read in reads.items():
        message = f"{end.capitalize()} {{}} {'is not' if read is distances else 'not'} in G"
        find = partial(_from_end, read, message, end)
        register(f"single_{end}_shortest_{ending}", find, ["G", end, "cutoff"])


def _find_reached(reverse: bool, G: ConvertedGraph, source: Node) -> set[Node]:
    """Return the other nodes that can be reached from the source, or that can reach it."""
    _require_node(G, source)
    return {*G.nodes_at(search(G, source, reverse=reverse).vertex.to_numpy())} - {source}


register("descendants", partial(_find_reached, False))
register("ancestors", partial(_find_reached, True))


@networkx_function
def descendants_at_distance(G: ConvertedGraph, source: Node, distance: int) -> set[Node]:
    """Return the nodes at exactly this number of edges from the source."""
    _require_node(G, source)
    found = search(G, source, distance)
    return {*G.nodes_at(found.vertex.to_numpy()[found.distance == distance])}


def _require_node(G: ConvertedGraph, source: Node) -> None:
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
