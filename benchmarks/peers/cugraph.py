"""cuGraph as a peer: on one GPU, as a user calls it and without frames, and on several GPUs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.lib import gpu
from benchmarks.lib.agreement import by_vertex
from benchmarks.lib.graphs import DIRECTED, Inputs
from benchmarks.lib.harness import Outcome, timed
from benchmarks.lib.rows import BUILD, Row

NAME = "cugraph"
ALONE = "cugraph, algorithm alone"
SEVERAL = "dask-cugraph"
NO_TOLERANCE = 1e-30  # the change of float32 ranks never gets this small, so all iterations run


@dataclass(frozen=True)
class Call:
    """A call of cuGraph for an algorithm."""

    # Takes cuGraph, its graph, and the options of :class:`benchmarks.lib.rows.Row`.
    run: Callable[[Any, Any, Mapping[str, Any]], Any]
    column: str = ""  # the column of its result that is compared; empty if none is
    transposed: bool = False  # whether cuGraph's graph stores the edges by target


CALLS = {
    "connected_components": Call(
        lambda cu, graph, given: cu.weakly_connected_components(graph), "labels"
    ),
    "bfs": Call(lambda cu, graph, given: cu.bfs(graph, given["sources"][0]), "distance"),
    "sssp": Call(lambda cu, graph, given: cu.sssp(graph, given["sources"][0]), "distance"),
    "pagerank": Call(
        lambda cu, graph, given: cu.pagerank(
            graph, max_iter=given["max_iter"], tol=NO_TOLERANCE, fail_on_nonconvergence=False
        )[0],
        "pagerank",
        transposed=True,
    ),
    "core_number": Call(lambda cu, graph, given: cu.core_number(graph), "core_number"),
    "betweenness_centrality": Call(
        lambda cu, graph, given: cu.betweenness_centrality(graph, k=given["sources"]),
        "betweenness_centrality",
    ),
    "strongly_connected_components": Call(
        lambda cu, graph, given: cu.strongly_connected_components(graph), "labels"
    ),
    "hits": Call(
        lambda cu, graph, given: cu.hits(graph, 1000, given["tol"]), "authorities", transposed=True
    ),
    "eigenvector_centrality": Call(
        lambda cu, graph, given: cu.eigenvector_centrality(graph, 1000, given["tol"]),
        "eigenvector_centrality",
        transposed=True,
    ),
    "katz_centrality": Call(
        lambda cu, graph, given: cu.katz_centrality(
            graph, alpha=given["alpha"], beta=1.0, max_iter=1000, tol=given["tol"]
        ),
        "katz_centrality",
        transposed=True,
    ),
    "triangle_count": Call(lambda cu, graph, given: cu.triangle_count(graph), "counts"),
    "louvain": Call(lambda cu, graph, given: cu.louvain(graph)[0], "partition"),
    "leiden": Call(lambda cu, graph, given: cu.leiden(graph)[0], "partition"),
    "random_walks": Call(
        lambda cu, graph, given: cu.uniform_random_walks(graph, given["starts"], given["length"])
    ),
}


def build(edges: Any, *, directed: bool, transposed: bool = False, multi: bool = False) -> Any:
    """Return a graph of a cuDF frame. With `multi`, it keeps parallel edges, as this library does."""
    import cugraph

    graph = (cugraph.MultiGraph if multi else cugraph.Graph)(directed=directed)
    source, target, *weight = edges.columns
    graph.from_cudf_edgelist(
        edges, source, target, weight=weight[0] if weight else None, store_transposed=transposed
    )
    return graph


class Cugraph:
    """cuGraph in this process, which shares the memory pool with this library."""

    name = NAME

    def __init__(self, inputs: Inputs) -> None:
        import cugraph

        self.version, self.inputs = cugraph.__version__, inputs
        self._key: Any = None
        self._graph: Any = None

    def contenders(self, row: Row) -> dict[str, Callable[[], Outcome]]:
        """Return the call, and for searches the call of pylibcugraph below it."""
        made: dict[str, Callable[[], Outcome]] = {}
        if row.algorithm == BUILD or row.algorithm in CALLS:
            made[NAME] = partial(self.run, row)
        if row.algorithm in ("bfs", "sssp"):
            made[ALONE] = partial(self.alone, row)
        return made

    def run(self, row: Row) -> Outcome:
        """Make a call as a user does; see :attr:`.Row.trials`."""
        with gpu.peer_errors():
            if row.algorithm == BUILD:
                self._key = self._graph = None
                return Outcome(timed(lambda: self._built(row, transposed=False), gpu.wait).seconds)
            import cugraph

            call, options = CALLS[row.algorithm], row.theirs(self.inputs)
            if row.from_frame:
                self._key = self._graph = None
                build = partial(self._built, row, call.transposed)
            else:
                graph = self.graph(row, call.transposed)
                build = lambda: graph  # noqa: E731
            outcome = timed(lambda: call.run(cugraph, build(), options), gpu.wait, row.trials)
            if row.rule is None:
                return Outcome(outcome.seconds)
            frame = outcome.answer
            values = self._value(row, frame["vertex"].values, frame[call.column].values)
            return Outcome(outcome.seconds, values)

    def alone(self, row: Row) -> Outcome:
        """Run a search with predecessors, without the frames. A breadth-first search can pull here."""
        with gpu.peer_errors():
            import cupy
            import pylibcugraph

            graph, (start,) = self.graph(row, False)._plc_graph, row.vertices(self.inputs)
            handle = pylibcugraph.ResourceHandle()
            if row.algorithm == "sssp":
                outcome = timed(
                    lambda: pylibcugraph.sssp(handle, graph, start, math.inf, True, False),
                    gpu.wait,
                    row.trials,
                )
                vertices, distances, _ = outcome.answer
            else:
                starts = cupy.array([start], "int32")
                outcome = timed(
                    lambda: pylibcugraph.bfs(handle, graph, starts, True, -1, True, False),
                    gpu.wait,
                    row.trials,
                )
                distances, _, vertices = outcome.answer
            return Outcome(outcome.seconds, self._value(row, vertices, distances))

    def graph(self, row: Row, transposed: bool) -> Any:
        """Return the graph of a row. Only the last one is kept, because the device has little memory."""
        if self._key != (row.graph, transposed):
            self._key = self._graph = None
            self._graph, self._key = self._built(row, transposed), (row.graph, transposed)
        return self._graph

    def _built(self, row: Row, transposed: bool) -> Any:
        import cudf

        frame = cudf.DataFrame(self.inputs.columns(row.graph))
        directed = row.graph in DIRECTED
        # Its strong components take no multigraph, and it cannot count the edges of an undirected one of
        # scale 26.
        multi = directed and row.graph.endswith("edges")
        return build(frame, directed=directed, transposed=transposed, multi=multi)

    def _value(self, row: Row, vertices: Any, column: Any) -> Any:
        missing = math.inf if row.column == "distance" else 0
        values = by_vertex(vertices, column, self.inputs.vertices, missing)
        return [row.number(values, self.inputs)] if row.number else values


def start_on_workers() -> None:
    """Set up the communicator that dask-cugraph needs on the workers of the current client."""
    from cugraph.dask.comms import comms

    if not comms.is_initialized():
        comms.initialize(p2p=True)


def on_workers(algorithm: str, edges: Any, start: int, iterations: int) -> Callable[[], Any]:
    """Return a call of dask-cugraph that waits for its persisted result. The edges are persisted.

    The graphs of searches and ranks are built first. Components start from the edges.
    """
    import cugraph
    import cugraph.dask
    from distributed import wait

    def graph(*, directed: bool, transposed: bool = False) -> Any:
        made = cugraph.Graph(directed=directed)
        made.from_dask_cudf_edgelist(
            edges, source="src", destination="dst", store_transposed=transposed
        )
        return made

    if algorithm == "build":
        return lambda: graph(directed=False)
    if algorithm == "bfs":
        built = graph(directed=False)
        return lambda: wait(cugraph.dask.bfs(built, start).persist())
    if algorithm == "pagerank":
        built = graph(directed=True, transposed=True)
        options = {"max_iter": iterations, "tol": NO_TOLERANCE, "fail_on_nonconvergence": False}
        return lambda: wait(cugraph.dask.pagerank(built, **options)[0].persist())
    return lambda: wait(cugraph.dask.weakly_connected_components(graph(directed=False)).persist())
