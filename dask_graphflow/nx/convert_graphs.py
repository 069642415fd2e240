"""Conversion of NetworkX graphs to graphs of this library, and back."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import networkx as nx
import numpy as np

from .adjacency import check_symmetry, is_kept, rows_of
from .attributes import attribute_values
from .converted import ConvertedGraph, Data, Node


def convert_from_nx(
    graph: Any,
    edge_attrs: Mapping[Any, Any] | None = None,
    node_attrs: Mapping[Any, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> ConvertedGraph:
    """Convert a graph of NetworkX.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        The graph. A later change of it does not change the result. A class that overrides how it is read is
        read by its ``adj``. NetworkX does not keep the conversion of such a graph, or of a view.
    edge_attrs : dict, optional
        The edge attributes to convert, and the value of each for edges that do not have it. They must be
        numbers.
    preserve_edge_attrs, preserve_node_attrs, preserve_graph_attrs : bool
        Whether to keep all attributes of edges, nodes and the graph, of any type, for functions that return
        them. False by default. An edge attribute that was kept can also be used as a weight, with the value
        1 for edges that do not have it.
    node_attrs, name, graph_name
        Further arguments that NetworkX passes. They are not used.

    Raises
    ------
    NotImplementedError
        A value of an edge attribute is not a number, an edge of an undirected view is not the same from
        both of its ends, or a class overrides how it is read and its members disagree.

    Examples
    --------
    >>> import networkx as nx
    >>> from dask_graphflow.nx import convert_from_nx
    >>> converted = convert_from_nx(nx.path_graph(["a", "b", "c"]))
    >>> converted.nodes
    ['a', 'b', 'c']
    >>> converted.run("core_number").core.tolist()
    [1, 1, 1]
    """
    nodes = list(graph)
    if not is_kept(graph) and getattr(graph, "__networkx_cache__", None) is not None:
        # NetworkX does not notice when the graph of a view changes, and would use this conversion again.
        graph.__networkx_cache__ = None
    used = bool(edge_attrs or preserve_edge_attrs)
    rows, plain = rows_of(graph, nodes, data=used)
    lengths = np.fromiter(map(len, rows), np.int64, len(nodes))
    ends: Iterable[Any] = itertools.chain.from_iterable(rows)
    if not _are_positions(nodes):
        positions = {node: position for position, node in enumerate(nodes)}
        ends = map(positions.__getitem__, ends)
    targets = np.fromiter(ends, np.int64, lengths.sum())
    sources = np.repeat(np.arange(len(nodes)), lengths)
    multigraph, directed = graph.is_multigraph(), graph.is_directed()
    if multigraph:
        # Each pair of nodes has a dict of parallel edges.
        rows = list(itertools.chain.from_iterable(map(_values, rows)))
        copies = np.fromiter(map(len, rows), np.int64, len(rows))
        sources, targets = np.repeat(sources, copies), np.repeat(targets, copies)
    # An undirected edge is in the rows of both of its ends.
    kept = None if directed else sources <= targets
    data: Iterable[Any] = itertools.chain.from_iterable(map(_values, rows)) if used else ()
    if kept is not None and not plain:
        data = list(data)
        check_symmetry(sources, targets, _numeric(data, edge_attrs))
    if kept is not None:
        sources, targets = sources[kept], targets[kept]
        data = itertools.compress(data, kept.tolist()) if used else ()
    data = list(data)
    return ConvertedGraph(
        nodes,
        sources,
        targets,
        {
            name: attribute_values(data, name, default)
            for name, default in (edge_attrs or {}).items()
        },
        directed=directed,
        multigraph=multigraph,
        data=Data(
            [dict(graph.nodes[node]) for node in nodes] if preserve_node_attrs else None,
            list(map(dict, data)) if preserve_edge_attrs else None,
            dict(graph.graph) if preserve_graph_attrs else None,
        ),
    )


def _values(row: Mapping[Any, Any]) -> Iterable[Any]:
    return row.values()


def _numeric(data: list[dict[Any, Any]], edge_attrs: Mapping[Any, Any] | None) -> dict[Any, Any]:
    """Return the numeric attributes of the edges; all of them if none are named."""
    found = {}
    for name, default in (
        edge_attrs or dict.fromkeys(itertools.chain.from_iterable(data), 1)
    ).items():
        with contextlib.suppress(NotImplementedError):
            found[name] = attribute_values(data, name, default)
    return found


def _are_positions(nodes: list[Node]) -> bool:
    return set(map(type, nodes)) <= {int} and nodes == list(range(len(nodes)))


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
    nodes, data, attributes = obj.data
    graph.add_nodes_from(obj.nodes if nodes is None else zip(obj.nodes, nodes, strict=True))
    graph.graph.update(attributes or {})
    if data is None:
        data = [{} for _ in obj.sources]
        for name, values in obj.attributes.items():
            for edge, value in zip(data, values.tolist(), strict=True):
                edge[name] = value
    ends = obj.nodes_at(obj.sources), obj.nodes_at(obj.targets)
    graph.add_edges_from(zip(*ends, data, strict=True))
    return graph
