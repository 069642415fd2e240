"""The functions of the backend.

Each one has the name, the signature and the result of the NetworkX function. To add one, write it here, add
its name to ``_graphflow_networkx`` with the options that it does not support, and list NetworkX's tests of
it in ``tests/test_networkx.py``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from _graphflow_networkx import FUNCTIONS

from .adjacency import Node
from .convert import ConvertedGraph
from .errors import with_networkx_errors

__all__ = [*FUNCTIONS]

# NetworkX's solver for HITS counts restarts as iterations. Each of them has up to 20 products.
HITS_PRODUCTS = 20

# Link analysis and centrality


@with_networkx_errors
def pagerank(
    G: ConvertedGraph,
    alpha: float = 0.85,
    personalization: Any = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: Any = None,
    weight: Any = "weight",
    dangling: Any = None,
) -> dict[Node, float]:
    """Return the PageRank of each node."""
    vectors: dict[str, Any] = {
        "personalization": _vector(G, personalization),
        "nstart": _vector(G, nstart),
        "dangling": _vector(G, dangling),
    }
    restarts = vectors["personalization"]
    if restarts is not None and len(G) and not restarts.value.sum():
        raise ZeroDivisionError("the personalization values of the nodes sum to 0")
    ranks = G.run("pagerank", weight, alpha=alpha, max_iter=max_iter, tol=tol, **vectors)
    return G.by_node(ranks.pagerank)


def _vector(G: ConvertedGraph, values: Any) -> pd.DataFrame | None:
    """Return a dict keyed by node as a frame. Nodes that are not in the dict get 0."""
    if values is None or not len(G):
        return None
    column = np.array([values.get(node, 0) for node in G.nodes], np.float64)
    return pd.DataFrame({"vertex": np.arange(len(G)), "value": column})


@with_networkx_errors
def hits(
    G: ConvertedGraph,
    max_iter: int = 100,
    tol: float = 1.0e-8,
    nstart: Any = None,
    normalized: bool = True,
) -> tuple[dict[Node, float], dict[Node, float]]:
    """Return the hub score and the authority score of each node."""
    scores = G.run("hits", "weight", max_iter=max_iter * HITS_PRODUCTS, tol=tol)
    return G.by_node(scores.hub), G.by_node(scores.authority)


@with_networkx_errors
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


@with_networkx_errors
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


@with_networkx_errors
def degree_centrality(G: ConvertedGraph) -> dict[Node, float]:
    """Return the degree centrality of each node."""
    return G.by_node(G.run("degree_centrality").degree_centrality)


@with_networkx_errors
def in_degree_centrality(G: ConvertedGraph) -> dict[Node, float]:
    """Return the in-degree centrality of each node."""
    return G.by_node(G.run("degree_centrality").in_degree_centrality)


@with_networkx_errors
def out_degree_centrality(G: ConvertedGraph) -> dict[Node, float]:
    """Return the out-degree centrality of each node."""
    return G.by_node(G.run("degree_centrality").out_degree_centrality)


@with_networkx_errors
def closeness_centrality(
    G: ConvertedGraph, u: Any = None, distance: Any = None, wf_improved: bool = True
) -> dict[Node, float]:
    """Return the closeness centrality of each node."""
    return G.by_node(G.run("closeness_centrality", wf_improved=bool(wf_improved)).closeness)


@with_networkx_errors
def harmonic_centrality(
    G: ConvertedGraph, nbunch: Any = None, distance: Any = None, sources: Any = None
) -> dict[Node, float]:
    """Return the harmonic centrality of each node."""
    return G.by_node(G.run("harmonic_centrality").harmonic)


@with_networkx_errors
def betweenness_centrality(
    G: ConvertedGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Node, float]:
    """Return the betweenness centrality of each node."""
    options = {"normalized": bool(normalized), "endpoints": bool(endpoints)}
    return G.by_node(G.run("betweenness_centrality", **options).betweenness)


# Components and cores


@with_networkx_errors
def connected_components(G: ConvertedGraph) -> Iterator[set[Node]]:
    """Return the set of nodes of each component."""
    component = G.run("connected_components").component.to_numpy()
    order = np.argsort(component, kind="stable")
    nodes = [G.nodes[position] for position in order.tolist()]
    # A component is named by its first node, so components are in the order of NetworkX.
    starts = np.flatnonzero(np.diff(component[order], prepend=-1)).tolist()
    bounds = itertools.pairwise([*starts, len(nodes)])
    return (set(nodes[start:end]) for start, end in bounds)


@with_networkx_errors
def number_connected_components(G: ConvertedGraph) -> int:
    """Return the number of components."""
    return int(G.run("connected_components").component.nunique())


@with_networkx_errors
def is_connected(G: ConvertedGraph) -> bool:
    """Return whether there is one component."""
    return _is_one(G, "connected_components")


def _is_one(G: ConvertedGraph, components: str) -> bool:
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return bool((G.run(components).component == 0).all())


@with_networkx_errors
def node_connected_component(G: ConvertedGraph, n: Node) -> set[Node]:
    """Return the nodes of the component of a node."""
    return {G.nodes[vertex] for vertex in G.run("bfs", sources=[G.positions[n]]).vertex}


# These are defined for directed graphs, whose components are weak.
weakly_connected_components = connected_components
number_weakly_connected_components = number_connected_components
is_weakly_connected = is_connected


@with_networkx_errors
def number_strongly_connected_components(G: ConvertedGraph) -> int:
    """Return the number of strongly connected components."""
    return int(G.run("strongly_connected_components").component.nunique())


@with_networkx_errors
def is_strongly_connected(G: ConvertedGraph) -> bool:
    """Return whether there is one strongly connected component."""
    return _is_one(G, "strongly_connected_components")


@with_networkx_errors
def core_number(G: ConvertedGraph) -> dict[Node, int]:
    """Return the core number of each node."""
    return G.by_node(_cores(G))


@with_networkx_errors
def k_core(
    G: ConvertedGraph, k: int | None = None, core_number: Mapping[Node, int] | None = None
) -> ConvertedGraph:
    """Return the subgraph of the nodes with a core number of at least k."""
    cores = _cores(G)
    return G.subgraph(cores >= (max(cores) if k is None else k))


def _cores(G: ConvertedGraph) -> pd.Series:
    if (G.sources == G.targets).any():
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return G.run("core_number").core


# Distances. Each dict has the nodes in the order of their distances.


@with_networkx_errors
def has_path(G: ConvertedGraph, source: Node, target: Node) -> bool:
    """Return whether the target can be reached from the source."""
    for end, node in (("Source", source), ("Target", target)):
        if node not in G:
            raise nx.NodeNotFound(f"{end} {node} is not in G")
    reached = G.run("bfs", sources=[G.positions[source]], targets=[G.positions[target]])
    return bool(len(reached))


@with_networkx_errors
def single_source_shortest_path_length(
    G: ConvertedGraph, source: Node, cutoff: float | None = None
) -> dict[Node, int]:
    """Return the number of edges to each node that can be reached from the source."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    return _hops(G, source, cutoff)


@with_networkx_errors
def single_target_shortest_path_length(
    G: ConvertedGraph, target: Node, cutoff: float | None = None
) -> dict[Node, int]:
    """Return the number of edges from each node that can reach the target."""
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    return _hops(G, target, cutoff, reverse=True)


@with_networkx_errors
def descendants(G: ConvertedGraph, source: Node) -> set[Node]:
    """Return the other nodes that can be reached from the source."""
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    return _hops(G, source).keys() - {source}


@with_networkx_errors
def ancestors(G: ConvertedGraph, source: Node) -> set[Node]:
    """Return the other nodes that can reach the source."""
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    return _hops(G, source, reverse=True).keys() - {source}


@with_networkx_errors
def descendants_at_distance(G: ConvertedGraph, source: Node, distance: int) -> set[Node]:
    """Return the nodes at exactly this number of edges from the source."""
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    return {node for node, hops in _hops(G, source, distance).items() if hops == distance}


def _hops(
    G: ConvertedGraph, node: Node, cutoff: float | None = None, *, reverse: bool = False
) -> dict[Node, int]:
    # NetworkX completes the level in which it exceeds the cutoff.
    limit = None if cutoff is None or cutoff == math.inf else max(0, math.ceil(cutoff))
    source = [G.positions[node]]
    return _distances(G, G.run("bfs", sources=source, depth_limit=limit, reverse=reverse))


def _distances(G: ConvertedGraph, reached: pd.DataFrame) -> dict[Any, Any]:
    reached = reached.sort_values("distance", kind="stable")
    nodes = [G.nodes[vertex] for vertex in reached.vertex.tolist()]
    return dict(zip(nodes, reached.distance.tolist(), strict=True))


@with_networkx_errors
def multi_source_dijkstra_path_length(
    G: ConvertedGraph, sources: Iterable[Node], cutoff: float | None = None, weight: Any = "weight"
) -> dict[Node, float]:
    """Return the distance from the nearest source to each node that can be reached."""
    sources = list(sources)
    if not sources:
        raise ValueError("sources must not be empty")
    for source in sources:
        if source not in G:
            raise nx.NodeNotFound(f"Node {source} not found in graph")
    return _lengths(G, sources, cutoff, weight)


@with_networkx_errors
def single_source_dijkstra_path_length(
    G: ConvertedGraph, source: Node, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Node, float]:
    """Return the distance from the source to each node that can be reached."""
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    return _lengths(G, [source], cutoff, weight)


@with_networkx_errors
def single_source_bellman_ford_path_length(
    G: ConvertedGraph, source: Node, weight: Any = "weight"
) -> dict[Node, float]:
    """Return the distance from the source to each node that can be reached."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    return _lengths(G, [source], None, weight)


@with_networkx_errors
def dijkstra_path_length(
    G: ConvertedGraph, source: Node, target: Node, weight: Any = "weight"
) -> float:
    """Return the distance between two nodes."""
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    lengths = _lengths(G, [source], None, weight, [target])
    if target not in lengths:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return lengths[target] if source != target else 0


@with_networkx_errors
def bellman_ford_path_length(
    G: ConvertedGraph, source: Node, target: Node, weight: Any = "weight"
) -> float:
    """Return the distance between two nodes."""
    if source not in G:
        unknown = "Node {} not found in graph" if source == target else "Source {} not in G"
        raise nx.NodeNotFound(unknown.format(source))
    lengths = _lengths(G, [source], None, weight, [target])
    if target not in lengths:
        raise nx.NetworkXNoPath(f"node {target} not reachable from {source}")
    return lengths[target] if source != target else 0


def _lengths(
    G: ConvertedGraph,
    sources: list[Node],
    cutoff: float | None,
    weight: Any,
    targets: list[Node] | None = None,
) -> dict[Node, float]:
    weights, positions = G.weights(weight), {G.positions[source] for source in sources}
    options: dict[str, Any] = {"sources": sorted(positions), "cutoff": cutoff}
    if targets is not None:
        options["targets"] = [G.positions[target] for target in targets if target in G]
        if not options["targets"]:
            return {}
    reached = G.run("sssp", weight, weighted=True, **options)
    if weights.dtype == np.int64:
        # NetworkX adds the weights themselves, so that sums of integers are integers.
        if abs(weights).sum(dtype=np.float64) >= 2**53:
            raise NotImplementedError("sums of the weights do not fit in a float64")
        reached["distance"] = reached.distance.astype(np.int64)
    return _distances(G, reached)
