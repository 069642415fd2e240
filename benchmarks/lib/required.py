"""Options for functions that have required options, or that take too long with the defaults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

#: Functions of directed graphs of a certain form; see :func:`edges_for`.
BIPARTITE = ("bipartite_matching", "bipartite_projection")
ORIENTED = (*BIPARTITE, "topological_order")


def form_of(function: str) -> str:
    """Return the name of a function that accepts the same edges: the only one, or empty for most."""
    return BIPARTITE[0] if function in BIPARTITE else function if function in ORIENTED else ""


def edges_for(function: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Return edges that a function accepts, given a frame whose columns src and dst are the ends.

    If they must not have cycles, each edge leads from the smaller id to the larger one. If the graph must
    be bipartite, only edges between the smaller half of the ids and the larger half are left.
    """
    if function not in ORIENTED:
        return frame
    source, target = frame["src"].to_numpy(), frame["dst"].to_numpy()
    source, target = np.minimum(source, target), np.maximum(source, target)
    kept = source != target
    if function in BIPARTITE:
        every = np.unique([source, target])
        middle = every[len(every) // 2]
        kept = (source < middle) & (target >= middle)
    return frame.assign(src=source, dst=target)[kept].reset_index(drop=True)


def options_for(vertices: pd.Series) -> dict[str, dict[str, Any]]:
    """Return the options by function, for a graph with these vertices.

    The first vertex is the source of searches.
    """
    communities = pd.DataFrame({"vertex": vertices, "community": np.arange(len(vertices)) % 8})
    timetable = pd.DataFrame({"x": vertices, "y": vertices.to_numpy()[::-1]})
    timetable["at"] = np.arange(len(vertices)) % 24
    one, two = vertices.iloc[0], vertices.iloc[:2].to_list()
    return {
        "betweenness_centrality": {"k": 16},
        "bfs": {"sources": one},
        "bipartite_projection": {"side": "source", "measure": "jaccard"},
        "closeness_centrality": {"k": 64},
        "community_metrics": {"communities": communities},
        "earliest_arrival": {"sources": one, "departure": "at", "timetable": timetable},
        "edge_betweenness_centrality": {"k": 16},
        "ego_graph": {"centers": one},
        "harmonic_centrality": {"k": 64},
        "induced_subgraph": {"subset": two},
        "k_core": {"k": 3},
        "k_shortest_paths": {"pairs": pd.DataFrame({"x": [one], "y": two[-1:]}), "k": 3},
        "k_truss": {"k": 3},
        "katz_centrality": {"alpha": 1e-4},
        "maximum_flow": {"sources": one, "sinks": two[-1]},
        "minimum_cut": {"sources": one, "sinks": two[-1]},
        "neighbors": {"sources": one},
        "personalized_pagerank": {"sources": two},
        "random_walks": {"starts": two, "length": 10},
        "sample_neighbors": {"seeds": two},
        "similarity": {"top_k": 5},
        "simple_cycles": {"max_length": 3, "through": one},
        "simple_paths": {
            "pairs": pd.DataFrame({"source": two, "target": two[::-1]}),
            "max_length": 2,
        },
        "sssp": {"sources": one},
    }
