"""Communities, and how good they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from networkx.algorithms.community.quality import NotAPartition

from .converted import ConvertedGraph, Node
from .registry import networkx_function


@networkx_function
def louvain_communities(
    G: ConvertedGraph, weight: Any, resolution: float, threshold: float, seed: Any
) -> list[set[Node]]:
    """Return the communities that the Louvain method finds."""
    return _find_best(G, "louvain", weight, seed, resolution=resolution, tol=threshold)


@networkx_function
def leiden_communities(
    G: ConvertedGraph, weight: Any, resolution: float, seed: Any, metric: str = "modularity"
) -> list[set[Node]]:
    """Return the communities that the Leiden method finds; before NetworkX 3.7, those by modularity."""
    return _find_best(G, "leiden", weight, seed, resolution=resolution, objective=metric)


def _find_best(
    G: ConvertedGraph, algorithm: str, weight: Any, seed: Any, **options: Any
) -> list[set[Node]]:
    number = nx.utils.create_py_random_state(seed).randrange(2**31)
    found = G.run(algorithm, weight, seed=number, **options)
    return list(map(set, G.groups(found.community.to_numpy())))


@networkx_function
def modularity(
    G: ConvertedGraph, communities: Iterable[Iterable[Node]], weight: Any, resolution: float
) -> float:
    """Return the modularity of a partition of the nodes."""
    groups = [set(community) for community in communities]
    members = [node for group in groups for node in group]
    if len(members) != len(G) or {*members} != {*G}:
        raise NotAPartition(G, groups)
    frame = pd.DataFrame(
        {
            "vertex": [G.positions[node] for node in members],
            "community": np.repeat(np.arange(len(groups)), [len(group) for group in groups]),
        }
    )
    found = G.run("community_metrics", weight, communities=frame)
    edges = float((found.internal_edges + found.cut_edges / 2).sum())
    if not edges:
        raise ZeroDivisionError("the modularity of a graph without edges is not defined")
    inside = found.internal_edges / edges
    # The column has the modularity with a resolution of 1.
    return float((inside - resolution * (inside - found.modularity)).sum())
