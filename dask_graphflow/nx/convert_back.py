"""Conversion of graphs of this library to graphs of NetworkX.

The dicts of the graph are made from sorted arrays, one dict per node. NetworkX's own methods add one edge
at a time, which takes longer.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from .attributes import dicts_of, objects
from .converted import ConvertedGraph


def convert_to_nx(obj: Any, *, name: str | None = None) -> Any:
    """Return a converted graph as a graph of NetworkX, and any other object as it is.

    Nodes, edges and converted edge attributes are the same as in the original graph. All other attributes
    are also the same if they were kept. The keys of parallel edges are not kept.
    """
    if not isinstance(obj, ConvertedGraph):
        return obj
    types = {
        (False, False): nx.Graph,
        (True, False): nx.DiGraph,
        (False, True): nx.MultiGraph,
        (True, True): nx.MultiDiGraph,
    }
    graph = types[obj.directed, obj.multigraph]()
    with _no_collection():
        nodes = dicts_of(len(obj), {}) if obj.data.nodes is None else obj.data.nodes.as_dicts()
        graph._node.update(zip(obj.nodes, nodes, strict=True))
        graph.graph.update(obj.data.graph or {})
        sources, targets, data = obj.sources, obj.targets, objects(_edge_data(obj))
        if obj.multigraph:
            sources, targets, data = _merge_parallel(obj, data)
        if obj.directed:
            graph._adj.update(_rows(obj, sources, targets, data))
            graph._pred.update(_rows(obj, targets, sources, data))
        else:
            # Each edge is in the rows of both of its ends, in the order of the edges.
            ends = np.stack([sources, targets], axis=1)
            both = ends.ravel(), ends[:, ::-1].ravel()
            graph._adj.update(_rows(obj, *both, np.repeat(data, 2)))
    return graph


def _edge_data(obj: ConvertedGraph) -> list[dict[Any, Any]]:
    """Return the attributes of each edge: all of them if they were kept, or those that were converted."""
    if obj.data.edges is not None:
        return obj.data.edges.as_dicts()
    columns = {name: values.tolist() for name, values in obj.attributes.items()}
    return dicts_of(len(obj.sources), columns)


def _merge_parallel(obj: ConvertedGraph, data: Any) -> tuple[Any, Any, Any]:
    """Return the ends of each pair of adjacent nodes, and a dict of its parallel edges by their keys."""
    ends = np.stack([obj.sources, obj.targets])
    if not obj.directed:
        ends = np.sort(ends, axis=0)
    _, first, inverse, counts = np.unique(
        ends[0] * len(obj) + ends[1], return_index=True, return_inverse=True, return_counts=True
    )
    if len(first) == len(data):
        return obj.sources, obj.targets, objects([{0: one} for one in data.tolist()])
    grouped = iter(data[np.argsort(inverse, kind="stable")].tolist())
    parallel = [dict(enumerate(itertools.islice(grouped, count))) for count in counts.tolist()]
    # NetworkX adds a pair of nodes with its first edge.
    order = np.argsort(first)
    return obj.sources[first[order]], obj.targets[first[order]], objects(parallel)[order]


def _rows(
    obj: ConvertedGraph, nodes: Any, neighbors: Any, data: Any
) -> Iterator[tuple[Any, dict[Any, Any]]]:
    """Return each node with its neighbors and the attributes of the edges, in the order of the edges."""
    # NumPy sorts short integers by their digits, in a fraction of the time.
    order = np.argsort(nodes.astype(np.min_scalar_type(len(obj))), kind="stable")
    others, values = obj.nodes_at(neighbors[order]), data[order].tolist()
    stops = np.cumsum(np.bincount(nodes, minlength=len(obj))).tolist()
    rows = (
        dict(zip(others[begin:end], values[begin:end], strict=True))
        for begin, end in itertools.pairwise([0, *stops])
    )
    return zip(obj.nodes, rows, strict=True)


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Make dicts without garbage collection, which would look at all of them again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
