"""The algorithms as methods of a frame's accessor.

``python3 dev.py generate`` wrote this file from the declarations in ``dask_graphflow/algorithms``. Change
them, and run it again.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import dask.dataframe as dd

from . import functions
from .docstrings import document
from .inputs import ColumnNames, Listener

__all__ = ["FrameMethods"]

# fmt: off


class FrameMethods:
    """The algorithms as methods."""

    _frame: Any

    def betweenness_centrality(self, *, source: ColumnNames, target: ColumnNames, directed: bool = True,
        vertices: Any = None, dropna: bool = False, k: int | None = None, normalized: bool = True,
        endpoints: bool = False, seed: int = 0, trace: bool = False, progress: Listener = False) -> Any:
        """Return the betweenness centrality of each vertex."""
        return functions.betweenness_centrality(self._frame, source=source, target=target,
            directed=directed, vertices=vertices, dropna=dropna, k=k, normalized=normalized,
            endpoints=endpoints, seed=seed, trace=trace, progress=progress)

    def bfs(self, *, source: ColumnNames, target: ColumnNames, sources: Any, directed: bool = True,
        vertices: Any = None, dropna: bool = False, targets: Any = None, depth_limit: int | None = None,
        direction: str = "beamer", trace: bool = False, progress: Listener = False) -> Any:
        """Return the distance in edges from the nearest source to each vertex, by breadth-first search."""
        return functions.bfs(self._frame, source=source, target=target, sources=sources, directed=directed,
            vertices=vertices, dropna=dropna, targets=targets, depth_limit=depth_limit, direction=direction,
            trace=trace, progress=progress)

    def closeness_centrality(self, *, source: ColumnNames, target: ColumnNames, directed: bool = True,
        vertices: Any = None, dropna: bool = False, wf_improved: bool = True, k: int | None = None,
        seed: int = 0, trace: bool = False, progress: Listener = False) -> Any:
        """Return the closeness centrality of each vertex."""
        return functions.closeness_centrality(self._frame, source=source, target=target, directed=directed,
            vertices=vertices, dropna=dropna, wf_improved=wf_improved, k=k, seed=seed, trace=trace,
            progress=progress)

    def clustering(self, *, source: ColumnNames, target: ColumnNames, directed: bool = False,
        vertices: Any = None, dropna: bool = False, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the clustering coefficient of each vertex."""
        return functions.clustering(self._frame, source=source, target=target, directed=directed,
            vertices=vertices, dropna=dropna, trace=trace, progress=progress)

    def community_metrics(self, *, source: ColumnNames, target: ColumnNames, communities: Any,
        weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
        vertices: Any = None, dropna: bool = False) -> dd.DataFrame:
        """Return how large, dense and well separated each community is."""
        return functions.community_metrics(self._frame, source=source, target=target,
            communities=communities, weight=weight, directed=directed, multi=multi, vertices=vertices,
            dropna=dropna)

    def core_number(self, *, source: ColumnNames, target: ColumnNames, directed: bool = False,
        vertices: Any = None, dropna: bool = False, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the core number of each vertex."""
        return functions.core_number(self._frame, source=source, target=target, directed=directed,
            vertices=vertices, dropna=dropna, trace=trace, progress=progress)

    def degree_centrality(self, *, source: ColumnNames, target: ColumnNames, directed: bool = True,
        vertices: Any = None, dropna: bool = False) -> dd.DataFrame:
        """Return the degree centrality of each vertex."""
        return functions.degree_centrality(self._frame, source=source, target=target, directed=directed,
            vertices=vertices, dropna=dropna)

    def degrees(self, *, source: ColumnNames, target: ColumnNames, directed: bool = True,
        vertices: Any = None, dropna: bool = False) -> dd.DataFrame:
        """Return the number of edges that enter and leave each vertex."""
        return functions.degrees(self._frame, source=source, target=target, directed=directed,
            vertices=vertices, dropna=dropna)

    def ego_graph(self, *, source: ColumnNames, target: ColumnNames, centers: Any,
        weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
        vertices: Any = None, dropna: bool = False, radius: int = 1, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the edges between all vertices that are at most `radius` edges away from some centers."""
        return functions.ego_graph(self._frame, source=source, target=target, centers=centers,
            weight=weight, directed=directed, multi=multi, vertices=vertices, dropna=dropna, radius=radius,
            trace=trace, progress=progress)

    def eigenvector_centrality(self, *, source: ColumnNames, target: ColumnNames,
        weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
        vertices: Any = None, dropna: bool = False, max_iter: int = 100, tol: float = 1e-06,
        fail_on_nonconvergence: bool = True, trace: bool = False, progress: Listener = False) -> Any:
        """Return the eigenvector centrality of each vertex."""
        return functions.eigenvector_centrality(self._frame, source=source, target=target, weight=weight,
            directed=directed, multi=multi, vertices=vertices, dropna=dropna, max_iter=max_iter, tol=tol,
            fail_on_nonconvergence=fail_on_nonconvergence, trace=trace, progress=progress)

    def greedy_color(self, *, source: ColumnNames, target: ColumnNames, directed: bool = False,
        vertices: Any = None, dropna: bool = False, seed: int = 0, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return a color for each vertex, such that neighbors have different colors."""
        return functions.greedy_color(self._frame, source=source, target=target, directed=directed,
            vertices=vertices, dropna=dropna, seed=seed, trace=trace, progress=progress)

    def harmonic_centrality(self, *, source: ColumnNames, target: ColumnNames, directed: bool = True,
        vertices: Any = None, dropna: bool = False, k: int | None = None, seed: int = 0,
        trace: bool = False, progress: Listener = False) -> Any:
        """Return the harmonic centrality of each vertex."""
        return functions.harmonic_centrality(self._frame, source=source, target=target, directed=directed,
            vertices=vertices, dropna=dropna, k=k, seed=seed, trace=trace, progress=progress)

    def hits(self, *, source: ColumnNames, target: ColumnNames, weight: Hashable | None = None,
        directed: bool = True, multi: str = "keep", vertices: Any = None, dropna: bool = False,
        max_iter: int = 100, tol: float = 1e-08, fail_on_nonconvergence: bool = True,
        trace: bool = False, progress: Listener = False) -> Any:
        """Return the hub score and the authority score of each vertex."""
        return functions.hits(self._frame, source=source, target=target, weight=weight, directed=directed,
            multi=multi, vertices=vertices, dropna=dropna, max_iter=max_iter, tol=tol,
            fail_on_nonconvergence=fail_on_nonconvergence, trace=trace, progress=progress)

    def induced_subgraph(self, *, source: ColumnNames, target: ColumnNames, subset: Any,
        weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
        vertices: Any = None, dropna: bool = False) -> dd.DataFrame:
        """Return the edges whose ends are both among some vertices."""
        return functions.induced_subgraph(self._frame, source=source, target=target, subset=subset,
            weight=weight, directed=directed, multi=multi, vertices=vertices, dropna=dropna)

    def k_core(self, *, source: ColumnNames, target: ColumnNames, weight: Hashable | None = None,
        directed: bool = False, multi: str = "keep", vertices: Any = None, dropna: bool = False,
        k: int | None = None, trace: bool = False, progress: Listener = False) -> Any:
        """Return the edges of the k-core."""
        return functions.k_core(self._frame, source=source, target=target, weight=weight, directed=directed,
            multi=multi, vertices=vertices, dropna=dropna, k=k, trace=trace, progress=progress)

    def k_truss(self, *, source: ColumnNames, target: ColumnNames, k: int,
        weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
        vertices: Any = None, dropna: bool = False, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the edges of the k-truss."""
        return functions.k_truss(self._frame, source=source, target=target, k=k, weight=weight,
            directed=directed, multi=multi, vertices=vertices, dropna=dropna, trace=trace,
            progress=progress)

    def katz_centrality(self, *, source: ColumnNames, target: ColumnNames,
        weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
        vertices: Any = None, dropna: bool = False, alpha: float = 0.1, beta: float = 1.0,
        max_iter: int = 1000, tol: float = 1e-06, normalized: bool = True,
        fail_on_nonconvergence: bool = True, trace: bool = False, progress: Listener = False) -> Any:
        """Return the Katz centrality of each vertex."""
        return functions.katz_centrality(self._frame, source=source, target=target, weight=weight,
            directed=directed, multi=multi, vertices=vertices, dropna=dropna, alpha=alpha, beta=beta,
            max_iter=max_iter, tol=tol, normalized=normalized,
            fail_on_nonconvergence=fail_on_nonconvergence, trace=trace, progress=progress)

    def label_propagation(self, *, source: ColumnNames, target: ColumnNames, directed: bool = False,
        vertices: Any = None, dropna: bool = False, max_iter: int = 10, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the community of each vertex, by label propagation."""
        return functions.label_propagation(self._frame, source=source, target=target, directed=directed,
            vertices=vertices, dropna=dropna, max_iter=max_iter, trace=trace, progress=progress)

    def leiden(self, *, source: ColumnNames, target: ColumnNames, weight: Hashable | None = None,
        directed: bool = False, multi: str = "keep", vertices: Any = None, dropna: bool = False,
        objective: str = "modularity", resolution: float | list[float] = 1.0, tol: float = 1e-07,
        levels: int = 1, seed: int = 0, trace: bool = False, progress: Listener = False) -> Any:
        """Return the community of each vertex, by the Leiden method. Every community is connected."""
        return functions.leiden(self._frame, source=source, target=target, weight=weight, directed=directed,
            multi=multi, vertices=vertices, dropna=dropna, objective=objective, resolution=resolution,
            tol=tol, levels=levels, seed=seed, trace=trace, progress=progress)

    def louvain(self, *, source: ColumnNames, target: ColumnNames, weight: Hashable | None = None,
        directed: bool = False, multi: str = "keep", vertices: Any = None, dropna: bool = False,
        resolution: float | list[float] = 1.0, tol: float = 1e-07, levels: int = 1, seed: int = 0,
        trace: bool = False, progress: Listener = False) -> Any:
        """Return the community of each vertex, by the Louvain method."""
        return functions.louvain(self._frame, source=source, target=target, weight=weight,
            directed=directed, multi=multi, vertices=vertices, dropna=dropna, resolution=resolution,
            tol=tol, levels=levels, seed=seed, trace=trace, progress=progress)

    def maximal_independent_set(self, *, source: ColumnNames, target: ColumnNames,
        directed: bool = False, vertices: Any = None, dropna: bool = False, seed: int = 0,
        trace: bool = False, progress: Listener = False) -> Any:
        """Return a maximal independent set of the vertices."""
        return functions.maximal_independent_set(self._frame, source=source, target=target,
            directed=directed, vertices=vertices, dropna=dropna, seed=seed, trace=trace, progress=progress)

    def minimum_spanning_forest(self, *, source: ColumnNames, target: ColumnNames,
        weight: Hashable | None = None, directed: bool = False, multi: str = "keep",
        vertices: Any = None, dropna: bool = False) -> dd.DataFrame:
        """Return the edges of the minimum spanning forest."""
        return functions.minimum_spanning_forest(self._frame, source=source, target=target, weight=weight,
            directed=directed, multi=multi, vertices=vertices, dropna=dropna)

    def neighbors(self, *, source: ColumnNames, target: ColumnNames, sources: Any,
        weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
        vertices: Any = None, dropna: bool = False) -> dd.DataFrame:
        """Return the edges from some vertices to their neighbors."""
        return functions.neighbors(self._frame, source=source, target=target, sources=sources,
            weight=weight, directed=directed, multi=multi, vertices=vertices, dropna=dropna)

    def pagerank(self, *, source: ColumnNames, target: ColumnNames, weight: Hashable | None = None,
        directed: bool = True, multi: str = "keep", vertices: Any = None, dropna: bool = False,
        alpha: float = 0.85, tol: float | None = 1e-06, max_iter: int = 100,
        personalization: Any = None, nstart: Any = None, dangling: Any = None,
        precision: str = "float64", fail_on_nonconvergence: bool = True, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the PageRank of each vertex."""
        return functions.pagerank(self._frame, source=source, target=target, weight=weight,
            directed=directed, multi=multi, vertices=vertices, dropna=dropna, alpha=alpha, tol=tol,
            max_iter=max_iter, personalization=personalization, nstart=nstart, dangling=dangling,
            precision=precision, fail_on_nonconvergence=fail_on_nonconvergence, trace=trace,
            progress=progress)

    def personalized_pagerank(self, *, source: ColumnNames, target: ColumnNames, sources: Any,
        weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
        vertices: Any = None, dropna: bool = False, alpha: float = 0.85, max_iter: int = 100,
        tol: float | None = 1e-06, top_k: int | None = None, fail_on_nonconvergence: bool = True,
        trace: bool = False, progress: Listener = False) -> Any:
        """Return the personalized PageRank of the vertices for each source: how near they are to it."""
        return functions.personalized_pagerank(self._frame, source=source, target=target, sources=sources,
            weight=weight, directed=directed, multi=multi, vertices=vertices, dropna=dropna, alpha=alpha,
            max_iter=max_iter, tol=tol, top_k=top_k, fail_on_nonconvergence=fail_on_nonconvergence,
            trace=trace, progress=progress)

    def random_walks(self, *, source: ColumnNames, target: ColumnNames, starts: Any, length: int,
        weight: Hashable | None = None, directed: bool = True, multi: str = "keep",
        vertices: Any = None, dropna: bool = False, walks_per_vertex: int = 1, p: float = 1.0,
        q: float = 1.0, seed: int = 0) -> dd.DataFrame:
        """Return random walks from some vertices, uniform or biased as in node2vec."""
        return functions.random_walks(self._frame, source=source, target=target, starts=starts,
            length=length, weight=weight, directed=directed, multi=multi, vertices=vertices, dropna=dropna,
            walks_per_vertex=walks_per_vertex, p=p, q=q, seed=seed)

    def sample_neighbors(self, *, source: ColumnNames, target: ColumnNames, seeds: Any,
        directed: bool = True, vertices: Any = None, dropna: bool = False,
        fanouts: Sequence[int] = (25, 10), replace: bool = False, seed: int = 0) -> dd.DataFrame:
        """Return a random sample of the neighborhood of each seed vertex, hop by hop."""
        return functions.sample_neighbors(self._frame, source=source, target=target, seeds=seeds,
            directed=directed, vertices=vertices, dropna=dropna, fanouts=fanouts, replace=replace,
            seed=seed)

    def similarity(self, *, source: ColumnNames, target: ColumnNames, directed: bool = False,
        vertices: Any = None, dropna: bool = False, pairs: Any = None, measure: str = "jaccard",
        top_k: int | None = None, trace: bool = False, progress: Listener = False) -> Any:
        """Return how similar pairs of vertices are, by their common neighbors."""
        return functions.similarity(self._frame, source=source, target=target, directed=directed,
            vertices=vertices, dropna=dropna, pairs=pairs, measure=measure, top_k=top_k, trace=trace,
            progress=progress)

    def sssp(self, *, source: ColumnNames, target: ColumnNames, sources: Any, weight: Hashable,
        directed: bool = True, multi: str = "keep", vertices: Any = None, dropna: bool = False,
        targets: Any = None, cutoff: float | None = None, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the weighted distance from the nearest source to each vertex, by delta-stepping."""
        return functions.sssp(self._frame, source=source, target=target, sources=sources, weight=weight,
            directed=directed, multi=multi, vertices=vertices, dropna=dropna, targets=targets,
            cutoff=cutoff, trace=trace, progress=progress)

    def strongly_connected_components(self, *, source: ColumnNames, target: ColumnNames,
        directed: bool = True, vertices: Any = None, dropna: bool = False, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the strongly connected component of each vertex."""
        return functions.strongly_connected_components(self._frame, source=source, target=target,
            directed=directed, vertices=vertices, dropna=dropna, trace=trace, progress=progress)

    def triangle_count(self, *, source: ColumnNames, target: ColumnNames, directed: bool = False,
        vertices: Any = None, dropna: bool = False, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the number of triangles at each vertex."""
        return functions.triangle_count(self._frame, source=source, target=target, directed=directed,
            vertices=vertices, dropna=dropna, trace=trace, progress=progress)

    def truss_number(self, *, source: ColumnNames, target: ColumnNames, directed: bool = False,
        vertices: Any = None, dropna: bool = False, trace: bool = False,
        progress: Listener = False) -> Any:
        """Return the truss number of each edge."""
        return functions.truss_number(self._frame, source=source, target=target, directed=directed,
            vertices=vertices, dropna=dropna, trace=trace, progress=progress)


document(vars(FrameMethods))
