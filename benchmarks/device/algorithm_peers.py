"""cuGraph's graphs and algorithms, as a user calls them, and what is beneath those calls."""

from __future__ import annotations

from typing import Any

from . import clock

GRAPH = "cugraph.Graph"
MULTIGRAPH = "cugraph.MultiGraph"
CALL = "cugraph"
ALONE = "cugraph, algorithm alone"
NO_TOLERANCE = 1e-30  # a change that float32 ranks never fall to, so that all iterations are done


def build(
    edges: Any, *, directed: bool, multi: bool, weight: str | None = None, transposed: bool = False
) -> Any:
    """Return a graph of a cuDF frame; without `multi` one of several equal edges is kept."""
    with clock.peer():
        import cugraph

        graph = (cugraph.MultiGraph if multi else cugraph.Graph)(directed=directed)
        graph.from_cudf_edgelist(
            edges, source="src", destination="dst", weight=weight, store_transposed=transposed
        )
        return graph


def bfs(graph: Any, start: int) -> Any:
    """Search breadth first, to a frame; it looks up all vertices, and never pulls."""
    with clock.peer():
        import cugraph

        return cugraph.bfs(graph, start)


def bfs_alone(graph: Any, start: int) -> Any:
    """Search breadth first, pulling where that pays, to vertices and distances."""
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
    """Find shortest paths, to a frame; it looks up the start among all vertices."""
    with clock.peer():
        import cugraph

        return cugraph.sssp(graph, start)


def sssp_alone(graph: Any, start: int) -> Any:
    """Find shortest paths, to vertices and distances."""
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
    """Rank the vertices, to a frame; ranks are float32 where edges have no weight."""
    with clock.peer():
        import cugraph

        found, _ = cugraph.pagerank(
            graph, max_iter=iterations, tol=NO_TOLERANCE, fail_on_nonconvergence=False
        )
        return found
