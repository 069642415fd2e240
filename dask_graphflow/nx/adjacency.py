"""How graphs of NetworkX are read: plain graphs, views, and classes with their own way to be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from _graphflow_networkx.backend import overridden
from dask_graphflow.inputs.adjacency_rows import plain_rows

from .converted import Node


def is_kept(graph: Any) -> bool:
    """Return whether the methods of a graph are the only way to change it.

    A view also changes with its graph, and the data of a class with its own members can be anywhere.
    """
    return not hasattr(graph, "_graph") and not overridden(graph)


def rows_of(graph: Any, nodes: list[Node], *, data: bool) -> tuple[list[dict[Any, Any]], bool]:
    """Return the neighbors of each node, and whether they are the dicts of a plain graph.

    `data`: the attributes of the edges are needed; the rows of a multigraph always have them. It raises
    NotImplementedError if the class of the graph overrides how it is read, and its members contradict each
    other.
    """
    plain = plain_rows(graph, nodes)
    if plain is not None:
        return plain, True
    others = overridden(graph)
    # The dicts of `adj` are wrapped, which takes longer.
    adjacency: Any = graph.adj if others else graph._adj
    # The rows of a view are computed whenever they are read, and their lengths are not always right.
    rows: list[dict[Any, Any]]
    found = [adjacency[node] for node in nodes]
    if graph.is_multigraph():
        rows = [{other: dict(edges) for other, edges in row.items()} for row in found]
    else:
        rows = [dict(row) if data else dict.fromkeys(row) for row in found]
    if others:
        _check_members(graph, others, nodes, rows)
    return rows, False


def _check_members(
    graph: Any, others: list[str], nodes: list[Node], rows: list[dict[Any, Any]]
) -> None:
    pairs = {(node, other) for node, row in zip(nodes, rows, strict=True) for other in row}
    if set(graph.nodes) != set(nodes) or not {other for _, other in pairs} <= set(nodes):
        raise _contradiction(graph, others, "nodes")
    for name, adjacent in _pairs(graph, others, nodes):
        if set(adjacent) != pairs:
            raise _contradiction(graph, others, name)


def _pairs(
    graph: Any, others: list[str], nodes: list[Node]
) -> Iterator[tuple[str, Iterator[tuple[Node, Node]]]]:
    """Yield the pairs of adjacent nodes, once for each member by which they can be read."""
    yield "neighbors", ((node, other) for node in nodes for other in graph.neighbors(node))
    yield "__getitem__", ((node, other) for node in nodes for other in graph[node])
    if graph.is_directed():
        yield "pred", ((other, node) for node in nodes for other in graph.pred[node])
    if "edges" in others:
        edges = [(u, v) for u, v, *_ in graph.edges]
        yield "edges", iter(edges if graph.is_directed() else edges + [(v, u) for u, v in edges])


def _contradiction(graph: Any, others: list[str], name: str) -> NotImplementedError:
    return NotImplementedError(
        f"{type(graph).__name__} overrides {', '.join(others)}, and its adj and {name} disagree; "
        "override both in the same way, or make a graph of a class of NetworkX with the same edges"
    )


def check_symmetry(sources: Any, targets: Any, attributes: Mapping[Any, Any]) -> None:
    """Raise NotImplementedError unless each edge, and its attributes, are the same from both of its ends.

    The sources and targets contain both directions of each edge.
    """
    values = list(attributes.values())
    forth = np.lexsort((*values, targets, sources))
    back = np.lexsort((*values, sources, targets))
    columns = [(sources, targets), (targets, sources), *zip(values, values, strict=True)]
    if not all(np.array_equal(one[forth], other[back], equal_nan=True) for one, other in columns):
        raise NotImplementedError(
            "the graph is undirected, and an edge or its attributes are not the same from both ends; "
            "use a filter that gives the same answer for (u, v) and (v, u), or copy the graph"
        )
