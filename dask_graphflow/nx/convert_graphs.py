"""Conversion of NetworkX graphs to graphs of this library."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Mapping
from typing import Any

from dask_graphflow.inputs.adjacency_rows import edges_of_rows, values_of_attributes

from .adjacency import check_symmetry, is_kept, rows_of
from .attributes import Attributes, numbers
from .converted import ConvertedGraph, Data


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
    multigraph, directed = graph.is_multigraph(), graph.is_directed()
    used = bool(edge_attrs or preserve_edge_attrs)
    rows, plain = rows_of(graph, nodes, data=used)
    # An undirected edge is in the rows of both of its ends.
    once = plain and not directed
    sources, targets, data = edges_of_rows(rows, nodes, multigraph=multigraph, once=once)
    if not plain and not directed:
        both = list(data) if used else []
        check_symmetry(sources, targets, _numeric(both, edge_attrs))
        kept = sources <= targets
        sources, targets = sources[kept], targets[kept]
        data = itertools.compress(both, kept.tobytes())
    edges = Attributes.of(data) if preserve_edge_attrs else None
    defaults = edge_attrs or {}
    if edges is None:
        values = values_of_attributes(data, defaults)
    else:
        values = {name: edges.values(name, default) for name, default in defaults.items()}
    return ConvertedGraph(
        nodes,
        sources,
        targets,
        {name: numbers(column, name) for name, column in values.items()},
        directed=directed,
        multigraph=multigraph,
        data=Data(
            Attributes.of(map(graph.nodes.__getitem__, nodes)) if preserve_node_attrs else None,
            edges,
            dict(graph.graph) if preserve_graph_attrs else None,
        ),
    )


def _numeric(data: list[dict[Any, Any]], edge_attrs: Mapping[Any, Any] | None) -> dict[Any, Any]:
    """Return the numeric attributes of the edges; all of them if none are named."""
    defaults = edge_attrs or dict.fromkeys(itertools.chain.from_iterable(data), 1)
    found = {}
    for name, values in values_of_attributes(iter(data), defaults).items():
        with contextlib.suppress(NotImplementedError):
            found[name] = numbers(values, name)
    return found
