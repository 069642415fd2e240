"""Topological orders of directed graphs without cycles, in the order of NetworkX."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import networkx as nx
import numpy as np

from dask_graphflow.exceptions import CycleError

from .converted import ConvertedGraph, Node
from .registry import networkx_function


@networkx_function
def is_directed_acyclic_graph(G: ConvertedGraph) -> bool:
    """Return whether a graph is directed and has no cycle."""
    if not G.directed:
        return False
    try:
        G.run("topological_order")
    except CycleError:
        return False
    return True


@networkx_function
def topological_generations(G: ConvertedGraph) -> Iterator[list[Node]]:
    """Yield the nodes whose predecessors are all in earlier generations."""
    yield from map(G.nodes_at, _generations(G))


@networkx_function
def topological_sort(G: ConvertedGraph) -> Iterator[Node]:
    """Yield the nodes so that each edge leads to a later node."""
    yield from itertools.chain.from_iterable(map(G.nodes_at, _generations(G)))


def _generations(G: ConvertedGraph) -> Iterator[np.ndarray]:
    """Yield the positions of the nodes of each generation, in the order in which NetworkX visits them.

    NetworkX visits the edges of a generation in the order of its nodes, and appends a node to the next
    generation at the last edge that enters it.
    """
    if not G.directed:
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    try:
        generation = G.run("topological_order").generation.to_numpy()
    except CycleError as error:
        raise nx.NetworkXUnfeasible(
            "Graph contains a cycle or graph changed during iteration"
        ) from error
    if not len(G):
        return
    rank = np.zeros(len(G), np.int64)
    rows = np.flatnonzero(generation[G.sources] + 1 == generation[G.targets])
    rows = rows[np.argsort(generation[G.targets[rows]], kind="stable")]
    ends = np.cumsum(np.bincount(generation[G.targets[rows]], minlength=generation.max() + 1))
    nodes = np.flatnonzero(generation == 0)
    yield nodes
    for begin, end in itertools.pairwise(ends.tolist()):
        rank[nodes] = np.arange(len(nodes))
        edges = rows[begin:end]
        # Edges are numbered by their rows, so a stable sort by source keeps the order of neighbors.
        edges = edges[np.argsort(rank[G.sources[edges]], kind="stable")]
        backwards = G.targets[edges][::-1]
        _, last = np.unique(backwards, return_index=True)
        nodes = backwards[np.sort(last)[::-1]]
        yield nodes
