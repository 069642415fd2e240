"""cuGraph's graphs and algorithms, as a user calls them, and the lower-level calls of pylibcugraph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from . import clock

GRAPH = "cugraph.Graph"
MULTIGRAPH = "cugraph.MultiGraph"
CALL = "cugraph"
ALONE = "cugraph, algorithm alone"
NO_TOLERANCE = 1e-30  # the change of float32 ranks never gets this small, so all iterations run


def build(
    edges: Any, *, directed: bool, multi: bool, weight: str | None = None, transposed: bool = False
) -> Any:
    """Return a graph of a cuDF frame; without `multi`, one of several parallel edges is kept."""
    with clock.peer():
        import cugraph

        graph = (cugraph.MultiGraph if multi else cugraph.Graph)(directed=directed)
        graph.from_cudf_edgelist(
            edges, source="src", destination="dst", weight=weight, store_transposed=transposed
        )
        return graph


def bfs(graph: Any, start: int) -> Any:
    """Run a breadth-first search and return a frame. The call looks up all vertices, and never pulls."""
    with clock.peer():
        import cugraph

        return cugraph.bfs(graph, start)


def bfs_alone(graph: Any, start: int) -> Any:
    """Run a breadth-first search that can pull, and return vertices and distances."""
    with clock.peer():
        import cupy
        import pylibcugraph

        distances, _, vertices = pylibcugraph.bfs(
            pylibcugraph.ResourceHandle(),
            graph._plc_graph,
            cupy.array([start], "int32"),
            direction_optimizing=True,
            depth_limit=-1,
            compute_predecessors=True,
            do_expensive_check=False,
        )
        return vertices, distances


def sssp(graph: Any, start: int) -> Any:
    """Find shortest paths and return a frame. The call looks up the start among all vertices."""
    with clock.peer():
        import cugraph

        return cugraph.sssp(graph, start)


def sssp_alone(graph: Any, start: int) -> Any:
    """Find shortest paths, and return vertices and distances."""
    with clock.peer():
        import pylibcugraph

        vertices, distances, _ = pylibcugraph.sssp(
            pylibcugraph.ResourceHandle(),
            graph._plc_graph,
            start,
            cutoff=float("inf"),
            compute_predecessors=True,
            do_expensive_check=False,
        )
        return vertices, distances


def pagerank(graph: Any, iterations: int) -> Any:
    """Run PageRank and return a frame. Ranks are float32 if edges have no weights."""
    with clock.peer():
        import cugraph

        found, _ = cugraph.pagerank(
            graph, max_iter=iterations, tol=NO_TOLERANCE, fail_on_nonconvergence=False
        )
        return found


@dataclass(frozen=True)
class Score:
    """A call of cuGraph for an algorithm, and the columns of the results.

    Attributes
    ----------
    call : callable
        Takes cuGraph, its graph, and the options of :class:`benchmarks.algorithms.rows.Row`.
    column, name : str
        The column of cuGraph's result, and of ours.
    transposed : bool
        Whether cuGraph's graph stores the edges by target.
    """

    call: Callable[..., Any]
    column: str
    name: str
    transposed: bool = False


SCORES = {
    "core_number": Score(
        lambda cugraph, graph, options: cugraph.core_number(graph), "core_number", "core"
    ),
    "betweenness_centrality": Score(
        lambda cugraph, graph, options: cugraph.betweenness_centrality(graph, k=options["sources"]),
        "betweenness_centrality",
        "betweenness",
    ),
    "strongly_connected_components": Score(
        lambda cugraph, graph, options: cugraph.strongly_connected_components(graph),
        "labels",
        "component",
    ),
    "hits": Score(
        lambda cugraph, graph, options: cugraph.hits(graph, 1000, options["tol"]),
        "authorities",
        "authority",
        transposed=True,
    ),
    "eigenvector_centrality": Score(
        lambda cugraph, graph, options: cugraph.eigenvector_centrality(graph, 1000, options["tol"]),
        "eigenvector_centrality",
        "eigenvector",
        transposed=True,
    ),
    "katz_centrality": Score(
        lambda cugraph, graph, options: cugraph.katz_centrality(
            graph, alpha=options["alpha"], beta=1.0, max_iter=1000, tol=options["tol"]
        ),
        "katz_centrality",
        "katz",
        transposed=True,
    ),
    "triangle_count": Score(
        lambda cugraph, graph, options: cugraph.triangle_count(graph), "counts", "triangles"
    ),
    "louvain": Score(
        lambda cugraph, graph, options: cugraph.louvain(graph)[0], "partition", "community"
    ),
    "leiden": Score(
        lambda cugraph, graph, options: cugraph.leiden(graph)[0], "partition", "community"
    ),
}


def score(name: str, graph: Any, options: Mapping[str, Any]) -> Any:
    """Call an algorithm, and return a frame with the column vertex and our name of the result column."""
    with clock.peer():
        import cugraph

        how = SCORES[name]
        found = how.call(cugraph, graph, options)
        return found.rename(columns={how.column: how.name})


def choices(
    graph: Any, starts: Any, *, length: int = 0, p: float = 1.0, q: float = 1.0, fanouts: Any = ()
) -> Any:
    """Walk from some vertices, or sample their neighborhoods; return arrays or a frame."""
    with clock.peer():
        import cudf
        import cugraph

        vertices = cudf.Series(starts)
        if fanouts:
            return cugraph.homogeneous_neighbor_sample(
                graph, vertices, list(fanouts), with_replacement=False
            )
        if p == q == 1:
            return cugraph.uniform_random_walks(graph, vertices, length)
        return cugraph.node2vec_random_walks(graph, vertices, length, p=p, q=q)
