"""Strongly connected components that no edge leaves, and graphs whose components form one line."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .components import is_connected
from .converted import ConvertedGraph, Data, Node
from .registry import networkx_function


@networkx_function
def attracting_components(G: ConvertedGraph) -> Iterator[set[Node]]:
    """Return the strongly connected components that no edge leaves."""
    labels = _strong_components(G)
    kept = ~np.isin(labels, labels[G.sources[labels[G.sources] != labels[G.targets]]])
    return map(set, G.groups(labels[kept], kept.nonzero()[0]))


@networkx_function
def number_attracting_components(G: ConvertedGraph) -> int:
    """Return the number of strongly connected components that no edge leaves."""
    return sum(1 for _ in attracting_components(G))


@networkx_function
def is_attracting_component(G: ConvertedGraph) -> bool:
    """Return whether the whole graph is one strongly connected component."""
    found = list(attracting_components(G))
    return len(found) == 1 and len(found[0]) == len(G)


@networkx_function
def is_semiconnected(G: ConvertedGraph) -> bool:
    """Return whether of any two nodes, one can be reached from the other."""
    if not is_connected("connected_components", G):
        return False
    components, labels = np.unique(_strong_components(G), return_inverse=True)
    between = labels[G.sources] != labels[G.targets]
    condensed = ConvertedGraph(
        list(range(len(components))),
        labels[G.sources[between]],
        labels[G.targets[between]],
        {},
        directed=True,
        multigraph=True,
        data=Data(),
    )
    # A path through all components exists if and only if each of them has a generation of its own.
    generations = condensed.run("topological_order").generation
    return bool(generations.nunique() == len(components))


def _strong_components(G: ConvertedGraph) -> np.ndarray:
    found: np.ndarray = G.run("strongly_connected_components").component.to_numpy()
    return found
