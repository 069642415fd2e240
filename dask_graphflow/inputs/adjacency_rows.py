"""The edges of a graph of NetworkX, read from the dicts that the graph consists of.

NetworkX's own iterators take several times as long, because they run a line of Python for each edge.
"""

from __future__ import annotations

import itertools
import operator
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

#: Calls the method of a dict, or of a subclass.
VALUES = operator.methodcaller("values")
#: How many dicts are read at a time. They stay in the cache while several attributes are read from each.
CHUNK = 4096


class AdjacencyEdges(NamedTuple):
    """The edges of a graph as positions of nodes."""

    sources: Any  # array of int64
    targets: Any  # array of int64
    data: Iterator[dict[Any, Any]]  # the attributes of each edge


def plain_rows(graph: Any, nodes: list[Any]) -> list[dict[Any, Any]] | None:
    """Return the neighbors of each node as the dicts of the graph.

    The result is None if the graph is a view, has dicts of other types, or has a class that overrides how
    it is read.
    """
    adjacency = getattr(graph, "_adj", None)
    if type(adjacency) is not dict or "networkx" not in sys.modules:
        return None
    from _graphflow_networkx.backend import overridden

    if overridden(graph):
        return None
    rows = list(map(adjacency.__getitem__, nodes))
    return rows if {*map(type, rows)} <= {dict} else None


def edges_of_rows(
    rows: list[dict[Any, Any]], nodes: list[Any], *, multigraph: bool, once: bool
) -> AdjacencyEdges:
    """Return the edges in the rows of an adjacency, in their order.

    Parameters
    ----------
    rows : list of dict
        The neighbors of each node, with the attributes of the edge, or of parallel edges by key.
    nodes : list
        The nodes of the rows.
    multigraph : bool
        Whether there can be parallel edges.
    once : bool
        Whether an edge is in the rows of both of its ends, and is returned once.
    """
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    ends: Iterator[Any] = itertools.chain.from_iterable(rows)
    if not _are_positions(nodes):
        positions = dict(zip(nodes, range(len(nodes)), strict=True))
        ends = iter(_values_at(positions, list(ends)))
    targets = np.fromiter(ends, np.int64, lengths.sum())
    sources = np.repeat(np.arange(len(nodes)), lengths)
    values: Iterator[Any] = itertools.chain.from_iterable(map(VALUES, rows))
    if once:
        kept = sources <= targets
        sources, targets = sources[kept], targets[kept]
        values = itertools.compress(values, kept.tobytes())
    if multigraph:
        parallel = list(values)
        copies = np.fromiter(map(len, parallel), np.int64, len(parallel))
        sources, targets = np.repeat(sources, copies), np.repeat(targets, copies)
        values = itertools.chain.from_iterable(map(VALUES, parallel))
    return AdjacencyEdges(sources, targets, values)


def chunks_of(data: Iterator[dict[Any, Any]]) -> Iterator[list[dict[Any, Any]]]:
    """Return the dicts in lists that fit into the processor's cache."""
    return iter(lambda: list(itertools.islice(data, CHUNK)), [])


def values_of_attributes(
    data: Iterator[dict[Any, Any]], defaults: Mapping[Any, Any]
) -> dict[Any, list[Any]]:
    """Return the value of each attribute in each dict, or its default in a dict without it."""
    columns: dict[Any, list[Any]] = {name: [] for name in defaults}
    for chunk in chunks_of(data) if columns else ():
        for name, default in defaults.items():
            try:
                columns[name] += list(map(operator.itemgetter(name), chunk))
            except KeyError:
                columns[name] += [attributes.get(name, default) for attributes in chunk]
    return columns


def _values_at(values: dict[Any, int], keys: list[Any]) -> Sequence[int]:
    """Return the value of each key. One call for all keys takes half the time of a call per key."""
    if len(keys) < 2:  # the getter of one key returns no tuple
        return [values[key] for key in keys]
    found: tuple[int, ...] = operator.itemgetter(*keys)(values)
    return found


def _are_positions(nodes: list[Any]) -> bool:
    return {*map(type, nodes)} <= {int} and nodes == list(range(len(nodes)))
