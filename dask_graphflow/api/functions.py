"""The algorithms as functions of a frame or a graph.

``python3 dev.py generate`` wrote this file from the declarations in ``dask_graphflow/algorithms``. Change
them, and run it again.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal, overload

import dask.dataframe as dd

from .calls import as_graph
from .docstrings import document
from .inputs import ColumnNames, Listener

__all__ = [
    "betweenness_centrality",
    "bfs",
    "closeness_centrality",
    "clustering",
    "community_metrics",
    "core_number",
    "degree_centrality",
    "degrees",
    "ego_graph",
    "eigenvector_centrality",
    "greedy_color",
    "harmonic_centrality",
    "hits",
    "induced_subgraph",
    "k_core",
    "k_truss",
    "katz_centrality",
    "label_propagation",
    "leiden",
    "louvain",
    "maximal_independent_set",
    "minimum_spanning_forest",
    "neighbors",
    "pagerank",
    "personalized_pagerank",
    "random_walks",
    "sample_neighbors",
    "similarity",
    "sssp",
    "strongly_connected_components",
    "triangle_count",
    "truss_number",
]

# fmt: off


@overload
def betweenness_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = True, vertices: Any = None,
    dropna: bool = False, k: int | None = None, normalized: bool = True, endpoints: bool = False,
    seed: int = 0, trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
@overload
def betweenness_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = True, vertices: Any = None,
    dropna: bool = False, k: int | None = None, normalized: bool = True, endpoints: bool = False,
    seed: int = 0, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def betweenness_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = True, vertices: Any = None,
    dropna: bool = False, k: int | None = None, normalized: bool = True, endpoints: bool = False,
    seed: int = 0, trace: bool = False, progress: Listener = False) -> Any: ...
def betweenness_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = True, vertices: Any = None,
    dropna: bool = False, k: int | None = None, normalized: bool = True, endpoints: bool = False,
    seed: int = 0, trace: bool = False, progress: Listener = False) -> Any:
    """Return the betweenness centrality of each vertex."""
    graph = as_graph(betweenness_centrality, edges, source=source, target=target, directed=directed,
        vertices=vertices, dropna=dropna)
    return graph.betweenness_centrality(k=k, normalized=normalized, endpoints=endpoints, seed=seed,
        trace=trace, progress=progress)


@overload
def bfs(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    sources: Any, directed: bool = True, vertices: Any = None, dropna: bool = False,
    targets: Any = None, depth_limit: int | None = None, direction: str = "beamer",
    trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
@overload
def bfs(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    sources: Any, directed: bool = True, vertices: Any = None, dropna: bool = False,
    targets: Any = None, depth_limit: int | None = None, direction: str = "beamer",
    trace: Literal[True], progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def bfs(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    sources: Any, directed: bool = True, vertices: Any = None, dropna: bool = False,
    targets: Any = None, depth_limit: int | None = None, direction: str = "beamer",
    trace: bool = False, progress: Listener = False) -> Any: ...
def bfs(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    sources: Any, directed: bool = True, vertices: Any = None, dropna: bool = False,
    targets: Any = None, depth_limit: int | None = None, direction: str = "beamer",
    trace: bool = False, progress: Listener = False) -> Any:
    """Return the distance in edges from the nearest source to each vertex, by breadth-first search."""
    graph = as_graph(bfs, edges, source=source, target=target, directed=directed, vertices=vertices,
        dropna=dropna)
    return graph.bfs(sources, targets=targets, depth_limit=depth_limit, direction=direction,
        trace=trace, progress=progress)


@overload
def closeness_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = True, vertices: Any = None,
    dropna: bool = False, wf_improved: bool = True, k: int | None = None, seed: int = 0,
    trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
@overload
def closeness_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = True, vertices: Any = None,
    dropna: bool = False, wf_improved: bool = True, k: int | None = None, seed: int = 0,
    trace: Literal[True], progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def closeness_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = True, vertices: Any = None,
    dropna: bool = False, wf_improved: bool = True, k: int | None = None, seed: int = 0,
    trace: bool = False, progress: Listener = False) -> Any: ...
def closeness_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = True, vertices: Any = None,
    dropna: bool = False, wf_improved: bool = True, k: int | None = None, seed: int = 0,
    trace: bool = False, progress: Listener = False) -> Any:
    """Return the closeness centrality of each vertex."""
    graph = as_graph(closeness_centrality, edges, source=source, target=target, directed=directed,
        vertices=vertices, dropna=dropna)
    return graph.closeness_centrality(wf_improved=wf_improved, k=k, seed=seed, trace=trace,
        progress=progress)


@overload
def clustering(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = False, vertices: Any = None, dropna: bool = False,
    trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
@overload
def clustering(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = False, vertices: Any = None, dropna: bool = False, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def clustering(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = False, vertices: Any = None, dropna: bool = False, trace: bool = False,
    progress: Listener = False) -> Any: ...
def clustering(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = False, vertices: Any = None, dropna: bool = False, trace: bool = False,
    progress: Listener = False) -> Any:
    """Return the clustering coefficient of each vertex."""
    graph = as_graph(clustering, edges, source=source, target=target, directed=directed,
        vertices=vertices, dropna=dropna)
    return graph.clustering(trace=trace, progress=progress)


def community_metrics(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, communities: Any, weight: Hashable | None = None,
    directed: bool = False, multi: str = "keep", vertices: Any = None,
    dropna: bool = False) -> dd.DataFrame:
    """Return how large, dense and well separated each community is."""
    graph = as_graph(community_metrics, edges, source=source, target=target, weight=weight,
        directed=directed, multi=multi, vertices=vertices, dropna=dropna)
    return graph.community_metrics(communities)


@overload
def core_number(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = False, vertices: Any = None, dropna: bool = False,
    trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
@overload
def core_number(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = False, vertices: Any = None, dropna: bool = False, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def core_number(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = False, vertices: Any = None, dropna: bool = False, trace: bool = False,
    progress: Listener = False) -> Any: ...
def core_number(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = False, vertices: Any = None, dropna: bool = False, trace: bool = False,
    progress: Listener = False) -> Any:
    """Return the core number of each vertex."""
    graph = as_graph(core_number, edges, source=source, target=target, directed=directed,
        vertices=vertices, dropna=dropna)
    return graph.core_number(trace=trace, progress=progress)


def degree_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = True, vertices: Any = None,
    dropna: bool = False) -> dd.DataFrame:
    """Return the degree centrality of each vertex."""
    graph = as_graph(degree_centrality, edges, source=source, target=target, directed=directed,
        vertices=vertices, dropna=dropna)
    return graph.degree_centrality()


def degrees(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = True, vertices: Any = None, dropna: bool = False) -> dd.DataFrame:
    """Return the number of edges that enter and leave each vertex."""
    graph = as_graph(degrees, edges, source=source, target=target, directed=directed, vertices=vertices,
        dropna=dropna)
    return graph.degrees()


@overload
def ego_graph(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    centers: Any, weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, radius: int = 1, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def ego_graph(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    centers: Any, weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, radius: int = 1, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def ego_graph(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    centers: Any, weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, radius: int = 1, trace: bool = False,
    progress: Listener = False) -> Any: ...
def ego_graph(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    centers: Any, weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, radius: int = 1, trace: bool = False,
    progress: Listener = False) -> Any:
    """Return the edges between all vertices that are at most `radius` edges away from some centers."""
    graph = as_graph(ego_graph, edges, source=source, target=target, weight=weight, directed=directed,
        multi=multi, vertices=vertices, dropna=dropna)
    return graph.ego_graph(centers, radius=radius, trace=trace, progress=progress)


@overload
def eigenvector_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: Hashable | None = None, directed: bool = True,
    multi: str = "keep", vertices: Any = None, dropna: bool = False, max_iter: int = 100,
    tol: float = 1e-06, fail_on_nonconvergence: bool = True, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def eigenvector_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: Hashable | None = None, directed: bool = True,
    multi: str = "keep", vertices: Any = None, dropna: bool = False, max_iter: int = 100,
    tol: float = 1e-06, fail_on_nonconvergence: bool = True, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def eigenvector_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: Hashable | None = None, directed: bool = True,
    multi: str = "keep", vertices: Any = None, dropna: bool = False, max_iter: int = 100,
    tol: float = 1e-06, fail_on_nonconvergence: bool = True, trace: bool = False,
    progress: Listener = False) -> Any: ...
def eigenvector_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: Hashable | None = None, directed: bool = True,
    multi: str = "keep", vertices: Any = None, dropna: bool = False, max_iter: int = 100,
    tol: float = 1e-06, fail_on_nonconvergence: bool = True, trace: bool = False,
    progress: Listener = False) -> Any:
    """Return the eigenvector centrality of each vertex."""
    graph = as_graph(eigenvector_centrality, edges, source=source, target=target, weight=weight,
        directed=directed, multi=multi, vertices=vertices, dropna=dropna)
    return graph.eigenvector_centrality(max_iter=max_iter, tol=tol,
        fail_on_nonconvergence=fail_on_nonconvergence, trace=trace, progress=progress)


@overload
def greedy_color(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, seed: int = 0, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def greedy_color(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, seed: int = 0, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def greedy_color(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, seed: int = 0, trace: bool = False,
    progress: Listener = False) -> Any: ...
def greedy_color(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, seed: int = 0, trace: bool = False, progress: Listener = False) -> Any:
    """Return a color for each vertex, such that neighbors have different colors."""
    graph = as_graph(greedy_color, edges, source=source, target=target, directed=directed,
        vertices=vertices, dropna=dropna)
    return graph.greedy_color(seed=seed, trace=trace, progress=progress)


@overload
def harmonic_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = True, vertices: Any = None,
    dropna: bool = False, k: int | None = None, seed: int = 0, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def harmonic_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = True, vertices: Any = None,
    dropna: bool = False, k: int | None = None, seed: int = 0, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def harmonic_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = True, vertices: Any = None,
    dropna: bool = False, k: int | None = None, seed: int = 0, trace: bool = False,
    progress: Listener = False) -> Any: ...
def harmonic_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = True, vertices: Any = None,
    dropna: bool = False, k: int | None = None, seed: int = 0, trace: bool = False,
    progress: Listener = False) -> Any:
    """Return the harmonic centrality of each vertex."""
    graph = as_graph(harmonic_centrality, edges, source=source, target=target, directed=directed,
        vertices=vertices, dropna=dropna)
    return graph.harmonic_centrality(k=k, seed=seed, trace=trace, progress=progress)


@overload
def hits(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, max_iter: int = 100, tol: float = 1e-08,
    fail_on_nonconvergence: bool = True, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def hits(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, max_iter: int = 100, tol: float = 1e-08,
    fail_on_nonconvergence: bool = True, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def hits(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, max_iter: int = 100, tol: float = 1e-08,
    fail_on_nonconvergence: bool = True, trace: bool = False,
    progress: Listener = False) -> Any: ...
def hits(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, max_iter: int = 100, tol: float = 1e-08,
    fail_on_nonconvergence: bool = True, trace: bool = False, progress: Listener = False) -> Any:
    """Return the hub score and the authority score of each vertex."""
    graph = as_graph(hits, edges, source=source, target=target, weight=weight, directed=directed,
        multi=multi, vertices=vertices, dropna=dropna)
    return graph.hits(max_iter=max_iter, tol=tol, fail_on_nonconvergence=fail_on_nonconvergence,
        trace=trace, progress=progress)


def induced_subgraph(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, subset: Any, weight: Hashable | None = None,
    directed: bool = True, multi: str = "keep", vertices: Any = None,
    dropna: bool = False) -> dd.DataFrame:
    """Return the edges whose ends are both among some vertices."""
    graph = as_graph(induced_subgraph, edges, source=source, target=target, weight=weight,
        directed=directed, multi=multi, vertices=vertices, dropna=dropna)
    return graph.induced_subgraph(subset)


@overload
def k_core(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, k: int | None = None, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def k_core(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, k: int | None = None, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def k_core(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, k: int | None = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
def k_core(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, k: int | None = None, trace: bool = False,
    progress: Listener = False) -> Any:
    """Return the edges of the k-core."""
    graph = as_graph(k_core, edges, source=source, target=target, weight=weight, directed=directed,
        multi=multi, vertices=vertices, dropna=dropna)
    return graph.k_core(k=k, trace=trace, progress=progress)


@overload
def k_truss(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    k: int, weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def k_truss(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    k: int, weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def k_truss(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    k: int, weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, trace: bool = False,
    progress: Listener = False) -> Any: ...
def k_truss(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    k: int, weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, trace: bool = False,
    progress: Listener = False) -> Any:
    """Return the edges of the k-truss."""
    graph = as_graph(k_truss, edges, source=source, target=target, weight=weight, directed=directed,
        multi=multi, vertices=vertices, dropna=dropna)
    return graph.k_truss(k=k, trace=trace, progress=progress)


@overload
def katz_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: Hashable | None = None, directed: bool = True,
    multi: str = "keep", vertices: Any = None, dropna: bool = False, alpha: float = 0.1,
    beta: float = 1.0, max_iter: int = 1000, tol: float = 1e-06, normalized: bool = True,
    fail_on_nonconvergence: bool = True, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def katz_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: Hashable | None = None, directed: bool = True,
    multi: str = "keep", vertices: Any = None, dropna: bool = False, alpha: float = 0.1,
    beta: float = 1.0, max_iter: int = 1000, tol: float = 1e-06, normalized: bool = True,
    fail_on_nonconvergence: bool = True, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def katz_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: Hashable | None = None, directed: bool = True,
    multi: str = "keep", vertices: Any = None, dropna: bool = False, alpha: float = 0.1,
    beta: float = 1.0, max_iter: int = 1000, tol: float = 1e-06, normalized: bool = True,
    fail_on_nonconvergence: bool = True, trace: bool = False,
    progress: Listener = False) -> Any: ...
def katz_centrality(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: Hashable | None = None, directed: bool = True,
    multi: str = "keep", vertices: Any = None, dropna: bool = False, alpha: float = 0.1,
    beta: float = 1.0, max_iter: int = 1000, tol: float = 1e-06, normalized: bool = True,
    fail_on_nonconvergence: bool = True, trace: bool = False, progress: Listener = False) -> Any:
    """Return the Katz centrality of each vertex."""
    graph = as_graph(katz_centrality, edges, source=source, target=target, weight=weight,
        directed=directed, multi=multi, vertices=vertices, dropna=dropna)
    return graph.katz_centrality(alpha=alpha, beta=beta, max_iter=max_iter, tol=tol,
        normalized=normalized, fail_on_nonconvergence=fail_on_nonconvergence, trace=trace,
        progress=progress)


@overload
def label_propagation(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, max_iter: int = 10, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def label_propagation(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, max_iter: int = 10, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def label_propagation(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, max_iter: int = 10, trace: bool = False,
    progress: Listener = False) -> Any: ...
def label_propagation(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, max_iter: int = 10, trace: bool = False,
    progress: Listener = False) -> Any:
    """Return the community of each vertex, by label propagation."""
    graph = as_graph(label_propagation, edges, source=source, target=target, directed=directed,
        vertices=vertices, dropna=dropna)
    return graph.label_propagation(max_iter=max_iter, trace=trace, progress=progress)


@overload
def leiden(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, objective: str = "modularity",
    resolution: float | list[float] = 1.0, tol: float = 1e-07, levels: int = 1, seed: int = 0,
    trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
@overload
def leiden(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, objective: str = "modularity",
    resolution: float | list[float] = 1.0, tol: float = 1e-07, levels: int = 1, seed: int = 0,
    trace: Literal[True], progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def leiden(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, objective: str = "modularity",
    resolution: float | list[float] = 1.0, tol: float = 1e-07, levels: int = 1, seed: int = 0,
    trace: bool = False, progress: Listener = False) -> Any: ...
def leiden(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, objective: str = "modularity",
    resolution: float | list[float] = 1.0, tol: float = 1e-07, levels: int = 1, seed: int = 0,
    trace: bool = False, progress: Listener = False) -> Any:
    """Return the community of each vertex, by the Leiden method. Every community is connected."""
    graph = as_graph(leiden, edges, source=source, target=target, weight=weight, directed=directed,
        multi=multi, vertices=vertices, dropna=dropna)
    return graph.leiden(objective=objective, resolution=resolution, tol=tol, levels=levels, seed=seed,
        trace=trace, progress=progress)


@overload
def louvain(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, resolution: float | list[float] = 1.0,
    tol: float = 1e-07, levels: int = 1, seed: int = 0, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def louvain(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, resolution: float | list[float] = 1.0,
    tol: float = 1e-07, levels: int = 1, seed: int = 0, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def louvain(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, resolution: float | list[float] = 1.0,
    tol: float = 1e-07, levels: int = 1, seed: int = 0, trace: bool = False,
    progress: Listener = False) -> Any: ...
def louvain(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, resolution: float | list[float] = 1.0,
    tol: float = 1e-07, levels: int = 1, seed: int = 0, trace: bool = False,
    progress: Listener = False) -> Any:
    """Return the community of each vertex, by the Louvain method."""
    graph = as_graph(louvain, edges, source=source, target=target, weight=weight, directed=directed,
        multi=multi, vertices=vertices, dropna=dropna)
    return graph.louvain(resolution=resolution, tol=tol, levels=levels, seed=seed, trace=trace,
        progress=progress)


@overload
def maximal_independent_set(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, seed: int = 0, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def maximal_independent_set(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, seed: int = 0, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def maximal_independent_set(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, seed: int = 0, trace: bool = False,
    progress: Listener = False) -> Any: ...
def maximal_independent_set(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, seed: int = 0, trace: bool = False, progress: Listener = False) -> Any:
    """Return a maximal independent set of the vertices."""
    graph = as_graph(maximal_independent_set, edges, source=source, target=target, directed=directed,
        vertices=vertices, dropna=dropna)
    return graph.maximal_independent_set(seed=seed, trace=trace, progress=progress)


def minimum_spanning_forest(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, weight: Hashable | None = None, directed: bool = False,
    multi: str = "keep", vertices: Any = None, dropna: bool = False) -> dd.DataFrame:
    """Return the edges of the minimum spanning forest."""
    graph = as_graph(minimum_spanning_forest, edges, source=source, target=target, weight=weight,
        directed=directed, multi=multi, vertices=vertices, dropna=dropna)
    return graph.minimum_spanning_forest()


def neighbors(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    sources: Any, weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False) -> dd.DataFrame:
    """Return the edges from some vertices to their neighbors."""
    graph = as_graph(neighbors, edges, source=source, target=target, weight=weight, directed=directed,
        multi=multi, vertices=vertices, dropna=dropna)
    return graph.neighbors(sources)


@overload
def pagerank(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, alpha: float = 0.85, tol: float | None = 1e-06,
    max_iter: int = 100, personalization: Any = None, nstart: Any = None, dangling: Any = None,
    precision: str = "float64", fail_on_nonconvergence: bool = True, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def pagerank(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, alpha: float = 0.85, tol: float | None = 1e-06,
    max_iter: int = 100, personalization: Any = None, nstart: Any = None, dangling: Any = None,
    precision: str = "float64", fail_on_nonconvergence: bool = True, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def pagerank(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, alpha: float = 0.85, tol: float | None = 1e-06,
    max_iter: int = 100, personalization: Any = None, nstart: Any = None, dangling: Any = None,
    precision: str = "float64", fail_on_nonconvergence: bool = True, trace: bool = False,
    progress: Listener = False) -> Any: ...
def pagerank(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, alpha: float = 0.85, tol: float | None = 1e-06,
    max_iter: int = 100, personalization: Any = None, nstart: Any = None, dangling: Any = None,
    precision: str = "float64", fail_on_nonconvergence: bool = True, trace: bool = False,
    progress: Listener = False) -> Any:
    """Return the PageRank of each vertex."""
    graph = as_graph(pagerank, edges, source=source, target=target, weight=weight, directed=directed,
        multi=multi, vertices=vertices, dropna=dropna)
    return graph.pagerank(alpha=alpha, tol=tol, max_iter=max_iter, personalization=personalization,
        nstart=nstart, dangling=dangling, precision=precision,
        fail_on_nonconvergence=fail_on_nonconvergence, trace=trace, progress=progress)


@overload
def personalized_pagerank(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, sources: Any, weight: Hashable | None = None,
    directed: bool = True, multi: str = "keep", vertices: Any = None, dropna: bool = False,
    alpha: float = 0.85, max_iter: int = 100, tol: float | None = 1e-06, top_k: int | None = None,
    fail_on_nonconvergence: bool = True, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def personalized_pagerank(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, sources: Any, weight: Hashable | None = None,
    directed: bool = True, multi: str = "keep", vertices: Any = None, dropna: bool = False,
    alpha: float = 0.85, max_iter: int = 100, tol: float | None = 1e-06, top_k: int | None = None,
    fail_on_nonconvergence: bool = True, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def personalized_pagerank(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, sources: Any, weight: Hashable | None = None,
    directed: bool = True, multi: str = "keep", vertices: Any = None, dropna: bool = False,
    alpha: float = 0.85, max_iter: int = 100, tol: float | None = 1e-06, top_k: int | None = None,
    fail_on_nonconvergence: bool = True, trace: bool = False,
    progress: Listener = False) -> Any: ...
def personalized_pagerank(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, sources: Any, weight: Hashable | None = None,
    directed: bool = True, multi: str = "keep", vertices: Any = None, dropna: bool = False,
    alpha: float = 0.85, max_iter: int = 100, tol: float | None = 1e-06, top_k: int | None = None,
    fail_on_nonconvergence: bool = True, trace: bool = False, progress: Listener = False) -> Any:
    """Return the personalized PageRank of the vertices for each source: how near they are to it."""
    graph = as_graph(personalized_pagerank, edges, source=source, target=target, weight=weight,
        directed=directed, multi=multi, vertices=vertices, dropna=dropna)
    return graph.personalized_pagerank(sources, alpha=alpha, max_iter=max_iter, tol=tol, top_k=top_k,
        fail_on_nonconvergence=fail_on_nonconvergence, trace=trace, progress=progress)


def random_walks(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, starts: Any, length: int, weight: Hashable | None = None,
    directed: bool = True, multi: str = "keep", vertices: Any = None, dropna: bool = False,
    walks_per_vertex: int = 1, p: float = 1.0, q: float = 1.0, seed: int = 0) -> dd.DataFrame:
    """Return random walks from some vertices, uniform or biased as in node2vec."""
    graph = as_graph(random_walks, edges, source=source, target=target, weight=weight,
        directed=directed, multi=multi, vertices=vertices, dropna=dropna)
    return graph.random_walks(starts, length=length, walks_per_vertex=walks_per_vertex, p=p, q=q,
        seed=seed)


def sample_neighbors(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, seeds: Any, directed: bool = True, vertices: Any = None,
    dropna: bool = False, fanouts: Sequence[int] = (25, 10), replace: bool = False,
    seed: int = 0) -> dd.DataFrame:
    """Return a random sample of the neighborhood of each seed vertex, hop by hop."""
    graph = as_graph(sample_neighbors, edges, source=source, target=target, directed=directed,
        vertices=vertices, dropna=dropna)
    return graph.sample_neighbors(seeds, fanouts=fanouts, replace=replace, seed=seed)


@overload
def similarity(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = False, vertices: Any = None, dropna: bool = False, pairs: Any = None,
    measure: str = "jaccard", top_k: int | None = None, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def similarity(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = False, vertices: Any = None, dropna: bool = False, pairs: Any = None,
    measure: str = "jaccard", top_k: int | None = None, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def similarity(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = False, vertices: Any = None, dropna: bool = False, pairs: Any = None,
    measure: str = "jaccard", top_k: int | None = None, trace: bool = False,
    progress: Listener = False) -> Any: ...
def similarity(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    directed: bool = False, vertices: Any = None, dropna: bool = False, pairs: Any = None,
    measure: str = "jaccard", top_k: int | None = None, trace: bool = False,
    progress: Listener = False) -> Any:
    """Return how similar pairs of vertices are, by their common neighbors."""
    graph = as_graph(similarity, edges, source=source, target=target, directed=directed,
        vertices=vertices, dropna=dropna)
    return graph.similarity(pairs=pairs, measure=measure, top_k=top_k, trace=trace, progress=progress)


@overload
def sssp(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    sources: Any, weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, targets: Any = None, cutoff: float | None = None,
    trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
@overload
def sssp(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    sources: Any, weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, targets: Any = None, cutoff: float | None = None,
    trace: Literal[True], progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def sssp(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    sources: Any, weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, targets: Any = None, cutoff: float | None = None,
    trace: bool = False, progress: Listener = False) -> Any: ...
def sssp(edges: Any, *, source: ColumnNames | None = None, target: ColumnNames | None = None,
    sources: Any, weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
    vertices: Any = None, dropna: bool = False, targets: Any = None, cutoff: float | None = None,
    trace: bool = False, progress: Listener = False) -> Any:
    """Return the weighted distance from the nearest source to each vertex, by delta-stepping."""
    graph = as_graph(sssp, edges, source=source, target=target, weight=weight, directed=directed,
        multi=multi, vertices=vertices, dropna=dropna)
    return graph.sssp(sources, targets=targets, cutoff=cutoff, trace=trace, progress=progress)


@overload
def strongly_connected_components(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = True, vertices: Any = None,
    dropna: bool = False, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def strongly_connected_components(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = True, vertices: Any = None,
    dropna: bool = False, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def strongly_connected_components(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = True, vertices: Any = None,
    dropna: bool = False, trace: bool = False, progress: Listener = False) -> Any: ...
def strongly_connected_components(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = True, vertices: Any = None,
    dropna: bool = False, trace: bool = False, progress: Listener = False) -> Any:
    """Return the strongly connected component of each vertex."""
    graph = as_graph(strongly_connected_components, edges, source=source, target=target,
        directed=directed, vertices=vertices, dropna=dropna)
    return graph.strongly_connected_components(trace=trace, progress=progress)


@overload
def triangle_count(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def triangle_count(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def triangle_count(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, trace: bool = False, progress: Listener = False) -> Any: ...
def triangle_count(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, trace: bool = False, progress: Listener = False) -> Any:
    """Return the number of triangles at each vertex."""
    graph = as_graph(triangle_count, edges, source=source, target=target, directed=directed,
        vertices=vertices, dropna=dropna)
    return graph.triangle_count(trace=trace, progress=progress)


@overload
def truss_number(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, trace: Literal[False] = False,
    progress: Listener = False) -> dd.DataFrame: ...
@overload
def truss_number(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, trace: Literal[True],
    progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
@overload
def truss_number(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, trace: bool = False, progress: Listener = False) -> Any: ...
def truss_number(edges: Any, *, source: ColumnNames | None = None,
    target: ColumnNames | None = None, directed: bool = False, vertices: Any = None,
    dropna: bool = False, trace: bool = False, progress: Listener = False) -> Any:
    """Return the truss number of each edge."""
    graph = as_graph(truss_number, edges, source=source, target=target, directed=directed,
        vertices=vertices, dropna=dropna)
    return graph.truss_number(trace=trace, progress=progress)


document(globals())
