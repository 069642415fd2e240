"""Libraries whose graphs are changed in place, and what follows the changes there."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from benchmarks.lib.batches import Batches, clock, hub

Seconds = dict[str, list[float]]


def networkit(edges: np.ndarray, size: float, options: argparse.Namespace) -> Seconds:
    """Measure NetworKit's dynamic classes in the same way; return the seconds of each."""
    import networkit as nk

    nk.setNumberOfThreads(options.workers)
    seconds: dict[str, list[float]] = {}
    event, kinds = nk.dynamics.GraphEvent, nk.dynamics.GraphEventType
    components, start = nk.components, hub(edges)
    for name, dynamic, plain in (
        ("connected_components", components.DynConnectedComponents, components.ConnectedComponents),
        ("bfs", lambda g: nk.distance.DynBFS(g, start), lambda g: nk.distance.BFS(g, start)),
    ):
        batches, count = Batches(len(edges), size), int(edges.max()) + 1

        def build(batches: Batches = batches, count: int = count) -> Any:
            graph, there = nk.Graph(count), edges[batches.there].T
            source, target = map(np.ascontiguousarray, there)
            graph.addEdges((np.ones(len(source)), (source, target)))
            return graph

        graph = build()
        follows = dynamic(graph)
        follows.run()
        for number in range(options.batches):
            batch = batches.draw()
            if batch is None:
                break
            new, old = (edges[one].tolist() for one in batch)
            gone = [] if name == "bfs" else [event(kinds.EDGE_REMOVAL, *pair, 1.0) for pair in old]
            come = [event(kinds.EDGE_ADDITION, *pair, 1.0) for pair in new]
            seconds.setdefault("update", []).append(0.0)  # edges change one by one
            clock(seconds, f"{name}, previous", partial(_follow, graph, follows, gone, come))
            if number < options.repeat:
                again = clock(seconds, "build", build)  # has to outlive the algorithm
                clock(seconds, name, plain(again).run)
    return seconds


def _follow(graph: Any, follows: Any, gone: list[Any], come: list[Any]) -> None:
    for change, events in ((graph.removeEdge, gone), (graph.addEdge, come)):
        for one in events:
            change(one.u, one.v)
            follows.update(one)


def igraph(edges: np.ndarray, size: float, options: argparse.Namespace) -> Seconds:
    """Measure changes of a graph of igraph, and Leiden from the communities before; return the seconds."""
    import igraph as ig

    def build() -> Any:
        return ig.Graph(n=int(edges.max()) + 1, edges=edges[batches.there])

    def change(new: np.ndarray, old: np.ndarray) -> None:
        graph.delete_edges(graph.get_eids(edges[old].tolist()))
        graph.add_edges(edges[new])

    def leiden(start: Any = None) -> list[int]:
        found = graph.community_leiden(objective_function="modularity", initial_membership=start)
        members: list[int] = found.membership
        return members

    seconds: Seconds = {}
    batches = Batches(len(edges), size)
    graph = build()
    groups = leiden()
    for number in range(options.batches):
        batch = batches.draw()
        if batch is None:
            break
        clock(seconds, "update", partial(change, *batch))
        groups = clock(seconds, "leiden, previous", partial(leiden, groups))
        if number < options.repeat:
            clock(seconds, "build", build)
            clock(seconds, "leiden", leiden)
    return seconds


PEERS: Mapping[str, Callable[..., Seconds]] = {"networkit": networkit, "igraph": igraph}
