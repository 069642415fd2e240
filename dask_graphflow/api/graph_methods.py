"""The algorithms as methods of a graph.

``python3 dev.py generate`` wrote this file from the declarations in ``dask_graphflow/algorithms``. Change
them, and run it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

import dask.dataframe as dd

from dask_graphflow.algorithms import (
    betweenness_centrality,
    bfs,
    closeness_centrality,
    clustering,
    community_metrics,
    connected_components,
    core_number,
    degree_centrality,
    degrees,
    ego_graph,
    eigenvector_centrality,
    greedy_color,
    harmonic_centrality,
    hits,
    induced_subgraph,
    k_core,
    k_truss,
    katz_centrality,
    label_propagation,
    leiden,
    louvain,
    maximal_independent_set,
    minimum_spanning_forest,
    neighbors,
    pagerank,
    personalized_pagerank,
    random_walks,
    sample_neighbors,
    similarity,
    sssp,
    strongly_connected_components,
    triangle_count,
    truss_number,
)
from dask_graphflow.algorithms.algorithm import ask
from dask_graphflow.runtime.shards import Shards

from .docstrings import document
from .inputs import Listener

__all__ = ["GraphMethods"]

# fmt: off


class GraphMethods:
    """The algorithms as methods."""

    _shards: Shards

    @overload
    def betweenness_centrality(self, *, k: int | None = None, normalized: bool = True,
        endpoints: bool = False, seed: int = 0, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def betweenness_centrality(self, *, k: int | None = None, normalized: bool = True,
        endpoints: bool = False, seed: int = 0, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def betweenness_centrality(self, *, k: int | None = None, normalized: bool = True,
        endpoints: bool = False, seed: int = 0, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def betweenness_centrality(self, *, k: int | None = None, normalized: bool = True,
        endpoints: bool = False, seed: int = 0, trace: bool = False, progress: Listener = False) -> Any:
        """Return the betweenness centrality of each vertex."""
        return ask(self._shards, betweenness_centrality.betweenness_centrality, k=k, normalized=normalized,
            endpoints=endpoints, seed=seed, trace=trace, progress=progress)

    @overload
    def bfs(self, sources: Any, *, targets: Any = None, depth_limit: int | None = None,
        direction: str = "beamer", trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def bfs(self, sources: Any, *, targets: Any = None, depth_limit: int | None = None,
        direction: str = "beamer", trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def bfs(self, sources: Any, *, targets: Any = None, depth_limit: int | None = None,
        direction: str = "beamer", trace: bool = False, progress: Listener = False) -> Any: ...
    def bfs(self, sources: Any, *, targets: Any = None, depth_limit: int | None = None,
        direction: str = "beamer", trace: bool = False, progress: Listener = False) -> Any:
        """Return the distance in edges from the nearest source to each vertex, by breadth-first search."""
        return ask(self._shards, bfs.bfs, sources=sources, targets=targets, depth_limit=depth_limit,
            direction=direction, trace=trace, progress=progress)

    @overload
    def closeness_centrality(self, *, wf_improved: bool = True, k: int | None = None, seed: int = 0,
        trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def closeness_centrality(self, *, wf_improved: bool = True, k: int | None = None, seed: int = 0,
        trace: Literal[True], progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def closeness_centrality(self, *, wf_improved: bool = True, k: int | None = None, seed: int = 0,
        trace: bool = False, progress: Listener = False) -> Any: ...
    def closeness_centrality(self, *, wf_improved: bool = True, k: int | None = None, seed: int = 0,
        trace: bool = False, progress: Listener = False) -> Any:
        """Return the closeness centrality of each vertex."""
        return ask(self._shards, closeness_centrality.closeness_centrality, wf_improved=wf_improved, k=k,
            seed=seed, trace=trace, progress=progress)

    @overload
    def clustering(self, *, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def clustering(self, *, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def clustering(self, *, trace: bool = False, progress: Listener = False) -> Any: ...
    def clustering(self, *, trace: bool = False, progress: Listener = False) -> Any:
        """Return the clustering coefficient of each vertex."""
        return ask(self._shards, clustering.clustering, trace=trace, progress=progress)

    def community_metrics(self, communities: Any) -> dd.DataFrame:
        """Return how large, dense and well separated each community is."""
        return ask(self._shards, community_metrics.community_metrics, communities=communities)

    @overload
    def connected_components(self, *, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def connected_components(self, *, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def connected_components(self, *, trace: bool = False, progress: Listener = False) -> Any: ...
    def connected_components(self, *, trace: bool = False, progress: Listener = False) -> Any:
        """Return the connected component of each vertex."""
        return ask(self._shards, connected_components.connected_components, trace=trace, progress=progress)

    @overload
    def core_number(self, *, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def core_number(self, *, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def core_number(self, *, trace: bool = False, progress: Listener = False) -> Any: ...
    def core_number(self, *, trace: bool = False, progress: Listener = False) -> Any:
        """Return the core number of each vertex."""
        return ask(self._shards, core_number.core_number, trace=trace, progress=progress)

    def degree_centrality(self) -> dd.DataFrame:
        """Return the degree centrality of each vertex."""
        return ask(self._shards, degree_centrality.degree_centrality)

    def degrees(self) -> dd.DataFrame:
        """Return the number of edges that enter and leave each vertex."""
        return ask(self._shards, degrees.degrees)

    @overload
    def ego_graph(self, centers: Any, *, radius: int = 1, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def ego_graph(self, centers: Any, *, radius: int = 1, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def ego_graph(self, centers: Any, *, radius: int = 1, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def ego_graph(self, centers: Any, *, radius: int = 1, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the edges between all vertices that are at most `radius` edges away from some centers."""
        return ask(self._shards, ego_graph.ego_graph, centers=centers, radius=radius, trace=trace,
            progress=progress)

    @overload
    def eigenvector_centrality(self, *, max_iter: int = 100, tol: float = 1e-06,
        fail_on_nonconvergence: bool = True, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def eigenvector_centrality(self, *, max_iter: int = 100, tol: float = 1e-06,
        fail_on_nonconvergence: bool = True, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def eigenvector_centrality(self, *, max_iter: int = 100, tol: float = 1e-06,
        fail_on_nonconvergence: bool = True, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def eigenvector_centrality(self, *, max_iter: int = 100, tol: float = 1e-06,
        fail_on_nonconvergence: bool = True, trace: bool = False, progress: Listener = False) -> Any:
        """Return the eigenvector centrality of each vertex."""
        return ask(self._shards, eigenvector_centrality.eigenvector_centrality, max_iter=max_iter, tol=tol,
            fail_on_nonconvergence=fail_on_nonconvergence, trace=trace, progress=progress)

    @overload
    def greedy_color(self, *, seed: int = 0, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def greedy_color(self, *, seed: int = 0, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def greedy_color(self, *, seed: int = 0, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def greedy_color(self, *, seed: int = 0, trace: bool = False, progress: Listener = False) -> Any:
        """Return a color for each vertex, such that neighbors have different colors."""
        return ask(self._shards, greedy_color.greedy_color, seed=seed, trace=trace, progress=progress)

    @overload
    def harmonic_centrality(self, *, k: int | None = None, seed: int = 0, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def harmonic_centrality(self, *, k: int | None = None, seed: int = 0, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def harmonic_centrality(self, *, k: int | None = None, seed: int = 0, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def harmonic_centrality(self, *, k: int | None = None, seed: int = 0, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the harmonic centrality of each vertex."""
        return ask(self._shards, harmonic_centrality.harmonic_centrality, k=k, seed=seed, trace=trace,
            progress=progress)

    @overload
    def hits(self, *, max_iter: int = 100, tol: float = 1e-08, fail_on_nonconvergence: bool = True,
        trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def hits(self, *, max_iter: int = 100, tol: float = 1e-08, fail_on_nonconvergence: bool = True,
        trace: Literal[True], progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def hits(self, *, max_iter: int = 100, tol: float = 1e-08, fail_on_nonconvergence: bool = True,
        trace: bool = False, progress: Listener = False) -> Any: ...
    def hits(self, *, max_iter: int = 100, tol: float = 1e-08, fail_on_nonconvergence: bool = True,
        trace: bool = False, progress: Listener = False) -> Any:
        """Return the hub score and the authority score of each vertex."""
        return ask(self._shards, hits.hits, max_iter=max_iter, tol=tol,
            fail_on_nonconvergence=fail_on_nonconvergence, trace=trace, progress=progress)

    def induced_subgraph(self, subset: Any) -> dd.DataFrame:
        """Return the edges whose ends are both among some vertices."""
        return ask(self._shards, induced_subgraph.induced_subgraph, subset=subset)

    @overload
    def k_core(self, *, k: int | None = None, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def k_core(self, *, k: int | None = None, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def k_core(self, *, k: int | None = None, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def k_core(self, *, k: int | None = None, trace: bool = False, progress: Listener = False) -> Any:
        """Return the edges of the k-core."""
        return ask(self._shards, k_core.k_core, k=k, trace=trace, progress=progress)

    @overload
    def k_truss(self, *, k: int, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def k_truss(self, *, k: int, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def k_truss(self, *, k: int, trace: bool = False, progress: Listener = False) -> Any: ...
    def k_truss(self, *, k: int, trace: bool = False, progress: Listener = False) -> Any:
        """Return the edges of the k-truss."""
        return ask(self._shards, k_truss.k_truss, k=k, trace=trace, progress=progress)

    @overload
    def katz_centrality(self, *, alpha: float = 0.1, beta: float = 1.0, max_iter: int = 1000,
        tol: float = 1e-06, normalized: bool = True, fail_on_nonconvergence: bool = True,
        trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def katz_centrality(self, *, alpha: float = 0.1, beta: float = 1.0, max_iter: int = 1000,
        tol: float = 1e-06, normalized: bool = True, fail_on_nonconvergence: bool = True,
        trace: Literal[True], progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def katz_centrality(self, *, alpha: float = 0.1, beta: float = 1.0, max_iter: int = 1000,
        tol: float = 1e-06, normalized: bool = True, fail_on_nonconvergence: bool = True,
        trace: bool = False, progress: Listener = False) -> Any: ...
    def katz_centrality(self, *, alpha: float = 0.1, beta: float = 1.0, max_iter: int = 1000,
        tol: float = 1e-06, normalized: bool = True, fail_on_nonconvergence: bool = True,
        trace: bool = False, progress: Listener = False) -> Any:
        """Return the Katz centrality of each vertex."""
        return ask(self._shards, katz_centrality.katz_centrality, alpha=alpha, beta=beta, max_iter=max_iter,
            tol=tol, normalized=normalized, fail_on_nonconvergence=fail_on_nonconvergence, trace=trace,
            progress=progress)

    @overload
    def label_propagation(self, *, max_iter: int = 10, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def label_propagation(self, *, max_iter: int = 10, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def label_propagation(self, *, max_iter: int = 10, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def label_propagation(self, *, max_iter: int = 10, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the community of each vertex, by label propagation."""
        return ask(self._shards, label_propagation.label_propagation, max_iter=max_iter, trace=trace,
            progress=progress)

    @overload
    def leiden(self, *, objective: str = "modularity", resolution: float | list[float] = 1.0,
        tol: float = 1e-07, levels: int = 1, seed: int = 0, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def leiden(self, *, objective: str = "modularity", resolution: float | list[float] = 1.0,
        tol: float = 1e-07, levels: int = 1, seed: int = 0, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def leiden(self, *, objective: str = "modularity", resolution: float | list[float] = 1.0,
        tol: float = 1e-07, levels: int = 1, seed: int = 0, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def leiden(self, *, objective: str = "modularity", resolution: float | list[float] = 1.0,
        tol: float = 1e-07, levels: int = 1, seed: int = 0, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the community of each vertex, by the Leiden method. Every community is connected."""
        return ask(self._shards, leiden.leiden, objective=objective, resolution=resolution, tol=tol,
            levels=levels, seed=seed, trace=trace, progress=progress)

    @overload
    def louvain(self, *, resolution: float | list[float] = 1.0, tol: float = 1e-07, levels: int = 1,
        seed: int = 0, trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def louvain(self, *, resolution: float | list[float] = 1.0, tol: float = 1e-07, levels: int = 1,
        seed: int = 0, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def louvain(self, *, resolution: float | list[float] = 1.0, tol: float = 1e-07, levels: int = 1,
        seed: int = 0, trace: bool = False, progress: Listener = False) -> Any: ...
    def louvain(self, *, resolution: float | list[float] = 1.0, tol: float = 1e-07, levels: int = 1,
        seed: int = 0, trace: bool = False, progress: Listener = False) -> Any:
        """Return the community of each vertex, by the Louvain method."""
        return ask(self._shards, louvain.louvain, resolution=resolution, tol=tol, levels=levels, seed=seed,
            trace=trace, progress=progress)

    @overload
    def maximal_independent_set(self, *, seed: int = 0, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def maximal_independent_set(self, *, seed: int = 0, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def maximal_independent_set(self, *, seed: int = 0, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def maximal_independent_set(self, *, seed: int = 0, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return a maximal independent set of the vertices."""
        return ask(self._shards, maximal_independent_set.maximal_independent_set, seed=seed, trace=trace,
            progress=progress)

    def minimum_spanning_forest(self) -> dd.DataFrame:
        """Return the edges of the minimum spanning forest."""
        return ask(self._shards, minimum_spanning_forest.minimum_spanning_forest)

    def neighbors(self, sources: Any) -> dd.DataFrame:
        """Return the edges from some vertices to their neighbors."""
        return ask(self._shards, neighbors.neighbors, sources=sources)

    @overload
    def pagerank(self, *, alpha: float = 0.85, tol: float | None = 1e-06, max_iter: int = 100,
        personalization: Any = None, nstart: Any = None, dangling: Any = None,
        precision: str = "float64", fail_on_nonconvergence: bool = True, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def pagerank(self, *, alpha: float = 0.85, tol: float | None = 1e-06, max_iter: int = 100,
        personalization: Any = None, nstart: Any = None, dangling: Any = None,
        precision: str = "float64", fail_on_nonconvergence: bool = True, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def pagerank(self, *, alpha: float = 0.85, tol: float | None = 1e-06, max_iter: int = 100,
        personalization: Any = None, nstart: Any = None, dangling: Any = None,
        precision: str = "float64", fail_on_nonconvergence: bool = True, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def pagerank(self, *, alpha: float = 0.85, tol: float | None = 1e-06, max_iter: int = 100,
        personalization: Any = None, nstart: Any = None, dangling: Any = None,
        precision: str = "float64", fail_on_nonconvergence: bool = True, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the PageRank of each vertex."""
        return ask(self._shards, pagerank.pagerank, alpha=alpha, tol=tol, max_iter=max_iter,
            personalization=personalization, nstart=nstart, dangling=dangling, precision=precision,
            fail_on_nonconvergence=fail_on_nonconvergence, trace=trace, progress=progress)

    @overload
    def personalized_pagerank(self, sources: Any, *, alpha: float = 0.85, max_iter: int = 100,
        tol: float | None = 1e-06, top_k: int | None = None, fail_on_nonconvergence: bool = True,
        trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def personalized_pagerank(self, sources: Any, *, alpha: float = 0.85, max_iter: int = 100,
        tol: float | None = 1e-06, top_k: int | None = None, fail_on_nonconvergence: bool = True,
        trace: Literal[True], progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def personalized_pagerank(self, sources: Any, *, alpha: float = 0.85, max_iter: int = 100,
        tol: float | None = 1e-06, top_k: int | None = None, fail_on_nonconvergence: bool = True,
        trace: bool = False, progress: Listener = False) -> Any: ...
    def personalized_pagerank(self, sources: Any, *, alpha: float = 0.85, max_iter: int = 100,
        tol: float | None = 1e-06, top_k: int | None = None, fail_on_nonconvergence: bool = True,
        trace: bool = False, progress: Listener = False) -> Any:
        """Return the personalized PageRank of the vertices for each source: how near they are to it."""
        return ask(self._shards, personalized_pagerank.personalized_pagerank, sources=sources, alpha=alpha,
            max_iter=max_iter, tol=tol, top_k=top_k, fail_on_nonconvergence=fail_on_nonconvergence,
            trace=trace, progress=progress)

    def random_walks(self, starts: Any, *, length: int, walks_per_vertex: int = 1, p: float = 1.0,
        q: float = 1.0, seed: int = 0) -> dd.DataFrame:
        """Return random walks from some vertices, uniform or biased as in node2vec."""
        return ask(self._shards, random_walks.random_walks, starts=starts, length=length,
            walks_per_vertex=walks_per_vertex, p=p, q=q, seed=seed)

    def sample_neighbors(self, seeds: Any, *, fanouts: Sequence[int] = (25, 10), replace: bool = False,
        seed: int = 0) -> dd.DataFrame:
        """Return a random sample of the neighborhood of each seed vertex, hop by hop."""
        return ask(self._shards, sample_neighbors.sample_neighbors, seeds=seeds, fanouts=fanouts,
            replace=replace, seed=seed)

    @overload
    def similarity(self, *, pairs: Any = None, measure: str = "jaccard", top_k: int | None = None,
        trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def similarity(self, *, pairs: Any = None, measure: str = "jaccard", top_k: int | None = None,
        trace: Literal[True], progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def similarity(self, *, pairs: Any = None, measure: str = "jaccard", top_k: int | None = None,
        trace: bool = False, progress: Listener = False) -> Any: ...
    def similarity(self, *, pairs: Any = None, measure: str = "jaccard", top_k: int | None = None,
        trace: bool = False, progress: Listener = False) -> Any:
        """Return how similar pairs of vertices are, by their common neighbors."""
        return ask(self._shards, similarity.similarity, pairs=pairs, measure=measure, top_k=top_k,
            trace=trace, progress=progress)

    @overload
    def sssp(self, sources: Any, *, targets: Any = None, cutoff: float | None = None,
        trace: Literal[False] = False, progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def sssp(self, sources: Any, *, targets: Any = None, cutoff: float | None = None,
        trace: Literal[True], progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def sssp(self, sources: Any, *, targets: Any = None, cutoff: float | None = None,
        trace: bool = False, progress: Listener = False) -> Any: ...
    def sssp(self, sources: Any, *, targets: Any = None, cutoff: float | None = None,
        trace: bool = False, progress: Listener = False) -> Any:
        """Return the weighted distance from the nearest source to each vertex, by delta-stepping."""
        return ask(self._shards, sssp.sssp, sources=sources, targets=targets, cutoff=cutoff, trace=trace,
            progress=progress)

    @overload
    def strongly_connected_components(self, *, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def strongly_connected_components(self, *, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def strongly_connected_components(self, *, trace: bool = False,
        progress: Listener = False) -> Any: ...
    def strongly_connected_components(self, *, trace: bool = False, progress: Listener = False) -> Any:
        """Return the strongly connected component of each vertex."""
        return ask(self._shards, strongly_connected_components.strongly_connected_components, trace=trace,
            progress=progress)

    @overload
    def triangle_count(self, *, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def triangle_count(self, *, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def triangle_count(self, *, trace: bool = False, progress: Listener = False) -> Any: ...
    def triangle_count(self, *, trace: bool = False, progress: Listener = False) -> Any:
        """Return the number of triangles at each vertex."""
        return ask(self._shards, triangle_count.triangle_count, trace=trace, progress=progress)

    @overload
    def truss_number(self, *, trace: Literal[False] = False,
        progress: Listener = False) -> dd.DataFrame: ...
    @overload
    def truss_number(self, *, trace: Literal[True],
        progress: Listener = False) -> tuple[dd.DataFrame, dd.DataFrame]: ...
    @overload
    def truss_number(self, *, trace: bool = False, progress: Listener = False) -> Any: ...
    def truss_number(self, *, trace: bool = False, progress: Listener = False) -> Any:
        """Return the truss number of each edge."""
        return ask(self._shards, truss_number.truss_number, trace=trace, progress=progress)


document(vars(GraphMethods))
