"""Searches from nodes, and the distances and paths that they found."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from .converted import ConvertedGraph, Node

Read = Callable[[ConvertedGraph, pd.DataFrame], dict[Node, Any]]


def require(G: ConvertedGraph, message: str, node: Node) -> None:
    """Raise an error of NetworkX with a message about a node, unless the graph has it."""
    if node not in G:
        raise nx.NodeNotFound(message.format(node))


def given_sources(G: ConvertedGraph, sources: Iterable[Node]) -> list[Node]:
    """Return the sources of a Dijkstra search as a list, or raise an error of NetworkX."""
    sources = list(sources)
    if not sources:
        raise ValueError("sources must not be empty")
    for source in sources:
        require(G, "Node {} not found in graph", source)
    return sources


def search(
    G: ConvertedGraph, source: Node, cutoff: float | None = None, *, reverse: bool = False
) -> pd.DataFrame:
    """Search along edges; return the rows of the nodes that were reached, in the order of their distances.

    The columns are ``vertex`` (the position of a node), ``distance`` and ``predecessor``.
    """
    limit = _depth(cutoff)
    found = G.run("bfs", sources=[G.positions[source]], depth_limit=limit, reverse=reverse)
    return found.sort_values("distance", kind="stable")


def _depth(cutoff: float | None) -> int | None:
    """Return the number of levels of a search."""
    # NetworkX completes the level in which it exceeds the cutoff.
    return None if cutoff is None or cutoff == math.inf else max(0, math.ceil(cutoff))


def weighted_search(
    G: ConvertedGraph,
    sources: list[Node],
    weight: Any,
    cutoff: float | None = None,
    *,
    targets: list[Node] | None = None,
    reverse: bool = False,
) -> pd.DataFrame:
    """Search along weighted edges; return what :func:`search` does.

    With targets, only their rows are returned.
    """
    options: dict[str, Any] = {"sources": sorted({G.positions[source] for source in sources})}
    if targets is not None:
        options["targets"] = [G.positions[target] for target in targets]
    found = _run_sssp(G, weight, cutoff=cutoff, reverse=reverse, **options)
    return found.sort_values("distance", kind="stable")


def _run_sssp(G: ConvertedGraph, weight: Any, **options: Any) -> pd.DataFrame:
    """Run a weighted search, and return integers if the weights are integers."""
    weights = G.weights(weight)
    found = G.run("sssp", weight, weighted=True, **options)
    if weights.dtype == np.int64:
        # NetworkX adds the weights themselves, so that sums of integers are integers.
        if abs(weights).sum(dtype=np.float64) >= 2**53:
            raise NotImplementedError("sums of the weights do not fit in a float64")
        found["distance"] = found.distance.astype(np.int64)
    return found


def search_from_all(
    G: ConvertedGraph, sources: range, cutoff: float | None, weight: Any, *, by_weight: bool
) -> list[pd.DataFrame]:
    """Search from each of some positions; return what :func:`search` does for each of them."""
    options: dict[str, Any] = {"sources": list(sources), "by_source": True}
    if by_weight:
        found = _run_sssp(G, weight, cutoff=cutoff, **options)
    else:
        found = G.run("bfs", depth_limit=_depth(cutoff), **options)
    found = found.sort_values(["source", "distance"], kind="stable", ignore_index=True)
    ends = np.searchsorted(found.source.to_numpy(), sources, side="right").tolist()
    return [found.iloc[begin:end] for begin, end in itertools.pairwise([0, *ends])]


def distances(G: ConvertedGraph, found: pd.DataFrame) -> dict[Node, Any]:
    """Return the distance of each node that was reached."""
    return dict(zip(G.nodes_at(found.vertex.to_numpy()), found.distance.tolist(), strict=True))


def predecessors(found: pd.DataFrame) -> dict[int, int]:
    """Return the position of the predecessor of each node that was reached; -1 for a source."""
    before = found.predecessor.fillna(-1).astype(np.int64)
    return dict(zip(found.vertex.tolist(), before.tolist(), strict=True))


def paths(G: ConvertedGraph, found: pd.DataFrame, *, backward: bool = False) -> dict[Node, Any]:
    """Return the path to each node that was reached, or with `backward` from it, as a list of nodes."""
    before, nodes = predecessors(found), G.nodes
    complete: dict[int, list[Node]] = {}
    for vertex in before:
        # A predecessor can be in a later row if an edge to it has the weight 0.
        missing, behind = [], vertex
        while behind not in complete and behind >= 0:
            missing.append(behind)
            behind = before[behind]
        for position in reversed(missing):
            path = complete.get(before[position], [])
            node = [nodes[position]]
            complete[position] = node + path if backward else path + node
    return {nodes[vertex]: complete[vertex] for vertex in before}


def path_to(G: ConvertedGraph, found: pd.DataFrame, target: Node, problem: str) -> list[Node]:
    """Return the path to a node, or raise `NetworkXNoPath` with a message if it was not reached."""
    before, vertex = predecessors(found), G.positions.get(target, -1)
    if vertex not in before:
        raise nx.NetworkXNoPath(problem)
    path = []
    while vertex >= 0:
        path.append(G.nodes[vertex])
        vertex = before[vertex]
    return path[::-1]
