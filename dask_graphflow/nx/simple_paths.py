"""Simple paths and simple cycles of a bounded length, as lists of nodes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from .converted import ConvertedGraph, Node
from .registry import networkx_function


@networkx_function
def simple_cycles(G: ConvertedGraph, length_bound: int) -> Iterator[list[Node]]:
    """Return the simple cycles of a graph, the shorter ones first."""
    if length_bound < 0:
        raise ValueError("length bound must be non-negative")
    if length_bound == 0:
        return iter(())
    found = G.run("simple_cycles", max_length=length_bound)
    return _lists(G, found.source.to_numpy(), found.step.to_numpy())


@networkx_function
def all_simple_paths(
    G: ConvertedGraph, source: Node, target: Any, cutoff: int
) -> Iterator[list[Node]]:
    """Return the simple paths from a node to one or several others, the shorter ones to each first."""
    if source not in G:
        raise nx.NodeNotFound(f"source node {source} not in graph")
    if target in G:
        targets = {target}
    else:
        try:
            targets = set(target)
        except TypeError as error:
            raise nx.NodeNotFound(f"target node {target} not in graph") from error
    ends = [G.positions[node] for node in targets if node in G]
    if math.ceil(cutoff) < 1 or not ends:
        return iter([[source]] if cutoff >= 0 and source in targets else [])
    pairs = pd.DataFrame({"source": G.positions[source], "target": ends})
    found = G.run("simple_paths", pairs=pairs, max_length=math.ceil(cutoff))
    return _lists(G, found.vertex.to_numpy(), found.step.to_numpy())


def _lists(G: ConvertedGraph, positions: Any, steps: Any) -> Iterator[list[Node]]:
    """Return the nodes of paths, each of which begins at a step 0."""
    cuts = [*np.flatnonzero(steps == 0).tolist(), len(steps)]
    nodes = G.nodes_at(positions)
    return (nodes[low:high] for low, high in itertools.pairwise(cuts))
