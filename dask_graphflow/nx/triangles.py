"""Triangles, and how clustered nodes and graphs are."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from .converted import ConvertedGraph, Node
from .registry import networkx_function


@networkx_function
def triangles(G: ConvertedGraph, nodes: Any) -> int | dict[Node, int]:
    """Return the number of triangles at a node, or at each of several nodes."""
    if nodes is not None:
        _refuse_parallel_edges(G)
    counts: int | dict[Node, int] = G.of_nodes(G.run("triangle_count").triangles, nodes)
    return counts


@networkx_function
def clustering(G: ConvertedGraph, nodes: Any) -> float | dict[Node, float]:
    """Return the clustering coefficient of a node, or of each of several nodes."""
    _refuse_parallel_edges(G)
    coefficients: float | dict[Node, float] = G.of_nodes(G.run("clustering").clustering, nodes)
    return coefficients


@networkx_function
def average_clustering(G: ConvertedGraph, nodes: Any, count_zeros: bool) -> float:
    """Return the average clustering coefficient of the nodes."""
    _refuse_parallel_edges(G)
    found = G.of_nodes(G.run("clustering").clustering, nodes)
    values: list[float] = list(found.values())
    if not count_zeros:
        values = [value for value in values if value > 0]
    return sum(values) / len(values)


@networkx_function
def transitivity(G: ConvertedGraph) -> float:
    """Return the part of all pairs of adjacent edges that are in a triangle."""
    _refuse_parallel_edges(G)
    edges = G.sources != G.targets
    ends = np.concatenate([G.sources[edges], G.targets[edges]])
    degrees = np.bincount(ends, minlength=len(G))
    closed = int(G.run("triangle_count").triangles.sum())
    return 2 * closed / int((degrees * (degrees - 1)).sum()) if closed else 0


def _refuse_parallel_edges(G: ConvertedGraph) -> None:
    if G.multigraph:
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")
