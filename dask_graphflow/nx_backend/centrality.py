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
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1.0e-6,
    nstart: Any = None,
    normalized: bool = True,
    weight: Any = None,
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
    G: ConvertedGraph,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: Any = None,
    weight: Any = None,
) -> dict[Node, float]:
    """Return the eigenvector centrality of each node."""
    if not len(G):
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    return G.by_node(
        G.run("eigenvector_centrality", weight, max_iter=max_iter, tol=tol).eigenvector
    )


@networkx_function
def degree_centrality(G: ConvertedGraph) -> dict[Node, float]:
    """Return the degree centrality of each node."""
    return G.by_node(G.run("degree_centrality").degree_centrality)


@networkx_function
def in_degree_centrality(G: ConvertedGraph) -> dict[Node, float]:
    """Return the in-degree centrality of each node."""
    return G.by_node(G.run("degree_centrality").in_degree_centrality)


@networkx_function
def out_degree_centrality(G: ConvertedGraph) -> dict[Node, float]:
    """Return the out-degree centrality of each node."""
    return G.by_node(G.run("degree_centrality").out_degree_centrality)


@networkx_function
def closeness_centrality(
    G: ConvertedGraph,
    u: Any = None,
    distance: Any = None,
    wf_improved: bool = True,
    *,
    sp: Any = None,
) -> dict[Node, float]:
    """Return the closeness centrality of each node."""
    scores = G.run("closeness_centrality", distance, wf_improved=bool(wf_improved))
    return G.by_node(scores.closeness)


@networkx_function
def harmonic_centrality(
    G: ConvertedGraph, nbunch: Any = None, distance: Any = None, sources: Any = None
) -> dict[Node, float]:
    """Return the harmonic centrality of each node."""
    return G.by_node(G.run("harmonic_centrality", distance).harmonic)


@networkx_function
def betweenness_centrality(
    G: ConvertedGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Node, float]:
    """Return the betweenness centrality of each node."""
    options = {"normalized": bool(normalized), "endpoints": bool(endpoints), **_sample(G, k, seed)}
    return G.by_node(G.run("betweenness_centrality", weight, **options).betweenness)


@networkx_function
def edge_betweenness_centrality(
    G: ConvertedGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    seed: Any = None,
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
