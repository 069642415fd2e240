"""Distances and paths between all pairs of nodes, and averages of these distances."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from .components import is_connected
from .converted import ConvertedGraph, Node
from .registry import networkx_function, register
from .searches import Read, distances, paths, search_from_all

# The rows of the searches that run together are kept in memory until they are read.
ROWS = 2**20


def _each(
    read: Read, by_weight: bool, G: ConvertedGraph, cutoff: float | None = None, weight: Any = None
) -> Iterator[tuple[Node, Any]]:
    """Return each node with what a search from it finds."""
    some = max(1, ROWS // max(1, len(G)))
    starts = range(0, len(G), some)
    tables = (
        table
        for start in starts
        for table in search_from_all(
            G, range(start, min(start + some, len(G))), cutoff, weight, by_weight=by_weight
        )
    )
    # The first search raises the errors of the graph before the caller reads the result.
    first = list(itertools.islice(tables, 1))
    every: Iterator[pd.DataFrame] = itertools.chain(first, tables)
    return ((node, read(G, table)) for node, table in zip(G.nodes, every, strict=True))


def _distances_and_paths(G: ConvertedGraph, found: pd.DataFrame) -> Any:
    return distances(G, found), paths(G, found)


READS: dict[str, Read] = {"path": paths, "path_length": distances}
for ending, read in READS.items():
    register(f"all_pairs_shortest_{ending}", partial(_each, read, False), ["G", "cutoff"])
    register(f"all_pairs_dijkstra_{ending}", partial(_each, read, True), ["G", "cutoff", "weight"])
    register(f"all_pairs_bellman_ford_{ending}", partial(_each, read, True), ["G", "weight"])
register(
    "all_pairs_dijkstra", partial(_each, _distances_and_paths, True), ["G", "cutoff", "weight"]
)


@networkx_function
def average_shortest_path_length(G: ConvertedGraph, weight: Any, method: str | None) -> float:
    """Return the average distance from a node to another one."""
    if method is None:
        method = "unweighted" if weight is None else "dijkstra"
    if method not in ("unweighted", "dijkstra", "bellman-ford"):
        raise NotImplementedError(f"method={method!r} is not supported")
    count = len(G)
    if count == 0:
        raise nx.NetworkXPointlessConcept(
            "the null graph has no paths, thus there is no average shortest path length"
        )
    if count == 1:
        return 0
    if not is_connected(_connectivity(G), G):
        raise nx.NetworkXError(f"Graph is not {'strongly ' if G.directed else ''}connected.")
    total: float = _total(G, None if method == "unweighted" else weight)
    return total / (count * (count - 1))


@networkx_function
def wiener_index(G: ConvertedGraph, weight: Any) -> float:
    """Return the sum of the distances between all pairs of nodes."""
    if not is_connected(_connectivity(G), G):
        return float("inf")
    total: float = _total(G, weight)
    return total if G.directed else total / 2


@networkx_function
def global_efficiency(G: ConvertedGraph) -> float:
    """Return the average of the inverse distances between the nodes."""
    pairs = len(G) * (len(G) - 1)
    return float(G.run("harmonic_centrality").harmonic.sum()) / pairs if pairs else 0


def _connectivity(G: ConvertedGraph) -> str:
    return "strongly_connected_components" if G.directed else "connected_components"


def _total(G: ConvertedGraph, weight: Any) -> Any:
    """Return the sum of the distances between all ordered pairs of nodes of a connected graph."""
    if len(G) == 1:
        return 0
    found = G.run("closeness_centrality", weight, wf_improved=False).closeness.to_numpy()
    if not found.all():
        raise NotImplementedError("all distances from a node are 0")
    sums = (len(G) - 1) / found
    if G.weights(weight).dtype != np.int64:
        return sums.sum().item()
    # A sum of integers is an integer, and these have an error of less than a half.
    if sums.max() >= 2**50:
        raise NotImplementedError("sums of the weights are too large")
    return int(np.rint(sums).astype(np.int64).sum())
