"""Centrality of the nodes."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from .converted import ConvertedGraph, Node
from .registry import networkx_function


@networkx_function
def katz_centrality(
    G: ConvertedGraph,
    alpha: float,
    beta: Any,
    max_iter: int,
    tol: float,
    normalized: bool,
    weight: Any,
) -> dict[Node, float]:
    """Return the Katz centrality of each node."""
    try:
        beta = float(beta)
    except (TypeError, ValueError) as error:
        raise NotImplementedError("beta= has to be a number") from error
    if beta > 0:
        tol = tol / beta  # NetworkX compares it with changes that are not divided by beta
    options = {"alpha": alpha, "beta": beta, "max_iter": max_iter, "tol": tol}
    scores = G.run("katz_centrality", weight, normalized=bool(normalized), **options)
    return G.by_node(scores.katz)


@networkx_function
def eigenvector_centrality(
    G: ConvertedGraph, max_iter: int, tol: float, weight: Any
) -> dict[Node, float]:
    """Return the eigenvector centrality of each node."""
    if not len(G):
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    return G.by_node(
        G.run("eigenvector_centrality", weight, max_iter=max_iter, tol=tol).eigenvector
    )


@networkx_function
def betweenness_centrality(
    G: ConvertedGraph,
    k: int | None,
    normalized: bool,
    weight: Any,
    endpoints: bool,
    seed: Any,
) -> dict[Node, float]:
    """Return the betweenness centrality of each node."""
    options = {"normalized": bool(normalized), "endpoints": bool(endpoints), **_sample(G, k, seed)}
    return G.by_node(G.run("betweenness_centrality", weight, **options).betweenness)


@networkx_function
def edge_betweenness_centrality(
    G: ConvertedGraph, k: int | None, normalized: bool, weight: Any, seed: Any
) -> dict[tuple[Node, Node], float]:
    """Return the betweenness centrality of each edge."""
    options = {"normalized": bool(normalized), **_sample(G, k, seed)}
    found = G.run("edge_betweenness_centrality", weight, **options)
    values = np.zeros(len(G.sources))  # self-loops have no row
    proper = G.sources != G.targets
    pairs = found.source.to_numpy() * len(G) + found.target.to_numpy()
    at = np.searchsorted(pairs, (G.sources * len(G) + G.targets)[proper])
    values[proper] = found.betweenness.to_numpy()[at]
    edges = zip(G.nodes_at(G.sources), G.nodes_at(G.targets), strict=True)
    return dict(zip(edges, values.tolist(), strict=True))


def _sample(G: ConvertedGraph, k: int | None, seed: Any) -> dict[str, Any]:
    """Return the option with the sources that NetworkX samples, if it samples any."""
    if k is None or k == len(G):
        return {}
    if k < 1:
        raise NotImplementedError(f"k={k} takes no source")
    return {"sources": nx.utils.create_py_random_state(seed).sample(range(len(G)), k)}
