"""Conversion of NetworkX graphs to graphs of this library, and back."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import dask
import networkx as nx
import numpy as np
import pandas as pd

from dask_graphflow.api.graph import Graph

from .adjacency import Node, check_symmetry, is_kept, rows_of


class Data(NamedTuple):
    """Attributes of any type, which functions that return a graph keep.

    Attributes
    ----------
    nodes, edges : list of dict
        The attributes of each node and of each edge.
    graph : dict
        The attributes of the graph.
    """

    nodes: list[dict[Any, Any]]
    edges: list[dict[Any, Any]]
    graph: dict[Any, Any]


class ConvertedGraph:
    """A graph of NetworkX, converted for this backend.

    Nodes are numbered by their positions in the NetworkX graph, so they can be of any type.

    Parameters
    ----------
    nodes : list
        The nodes, in the order of NetworkX.
    sources, targets : array of int64
        The positions of the two ends of each edge. An undirected edge occurs once.
    attributes : dict of str to array
        The numeric attributes of the edges that were converted.
    directed, multigraph : bool
        The type of the NetworkX graph.
    data : Data, optional
        All attributes, if they are to be kept.
    """

    __networkx_backend__ = "graphflow"

    def __init__(
        self,
        nodes: list[Node],
        sources: Any,
        targets: Any,
        attributes: dict[Any, Any],
        *,
        directed: bool,
        multigraph: bool,
        data: Data | None = None,
    ) -> None:
        self.nodes = nodes
        self.sources = sources
        self.targets = targets
        self.attributes = attributes
        self.directed = directed
        self.multigraph = multigraph
        self.data = data
        self._graphs: dict[Any, Graph] = {}

    def is_directed(self) -> bool:
        """Return whether edges have a direction; called by NetworkX."""
        return self.directed

    def is_multigraph(self) -> bool:
        """Return whether parallel edges are allowed; called by NetworkX."""
        return self.multigraph

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.positions
        except TypeError:  # it cannot be hashed
            return False

    @cached_property
    def positions(self) -> dict[Any, int]:
        """The position of each node."""
        return {node: position for position, node in enumerate(self.nodes)}

    def weights(self, attribute: Any) -> Any:
        """Return an attribute of the edges as an array; 1 for each edge if the attribute is None.

        Raises
        ------
        NotImplementedError
            The attribute was not converted, or one of its values is infinite or NaN.
        """
        if attribute is None:
            return np.ones(len(self.sources), np.int64)
        if attribute not in self.attributes:
            raise NotImplementedError(
                f"the edge attribute {attribute!r} was not converted; call the function with the NetworkX "
                "graph, or name the attribute in edge_attrs= of convert_from_nx"
            )
        values = self.attributes[attribute]
        if not np.isfinite(values).all():
            raise NotImplementedError(
                f"the edge attribute {attribute!r} has an infinite value or a NaN; give finite numbers"
            )
        return values

    def run(
        self,
        algorithm: str,
        weight: Any = None,
        *,
        weighted: bool | None = None,
        reverse: bool = False,
        **options: Any,
    ) -> pd.DataFrame:
        """Run an algorithm in the threads of this process, and return its result.

        The graph is built the first time, and kept.

        Parameters
        ----------
        algorithm : str
            The name of a method of :class:`dask_graphflow.Graph`.
        weight : str, optional
            The edge attribute with the weights.
        weighted : bool, optional
            Whether the edges have weights. By default they do if `weight` is given.
        reverse : bool
            Whether to reverse every edge. False by default.
        **options
            Options of the algorithm.

        Returns
        -------
        pandas.DataFrame
            The result. Its column ``vertex`` contains the positions of nodes.
        """
        weighted = weight is not None if weighted is None else weighted
        reverse = reverse and self.directed
        # A cluster would have to receive the whole graph from this process.
        with dask.config.set(scheduler="threads"):
            if (weight, weighted, reverse) not in self._graphs:
                graph = self._build(self.weights(weight) if weighted else None, reverse)
                self._graphs[weight, weighted, reverse] = graph
            lazy = getattr(self._graphs[weight, weighted, reverse], algorithm)(**options)
            result: pd.DataFrame = lazy.compute()
        return result

    def _build(self, weights: Any, reverse: bool) -> Graph:
        ends = (self.targets, self.sources) if reverse else (self.sources, self.targets)
        edges = {"source": ends[0], "target": ends[1]}
        if weights is not None:
            edges["weight"] = weights
        return Graph(
            pd.DataFrame(edges),
            source="source",
            target="target",
            weight=None if weights is None else "weight",
            directed=self.directed,
            vertices=pd.Series(np.arange(len(self.nodes))),
        ).persist()

    def subgraph(self, kept: Any) -> ConvertedGraph:
        """Return the graph of some nodes and the edges between them.

        Parameters
        ----------
        kept : array of bool
            Which nodes to keep.
        """
        kept = np.asarray(kept, bool)
        edges = kept[self.sources] & kept[self.targets]
        numbers = np.cumsum(kept) - 1
        data = self.data
        if data is not None:
            nodes = list(itertools.compress(data.nodes, kept))
            data = Data(nodes, list(itertools.compress(data.edges, edges)), data.graph)
        return ConvertedGraph(
            list(itertools.compress(self.nodes, kept)),
            numbers[self.sources[edges]],
            numbers[self.targets[edges]],
            {name: values[edges] for name, values in self.attributes.items()},
            directed=self.directed,
            multigraph=self.multigraph,
            data=data,
        )

    def by_node(self, values: pd.Series) -> dict[Any, Any]:
        """Return a column with a value per node as a dict keyed by node."""
        return dict(zip(self.nodes, values.tolist(), strict=True))


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
    preserve_edge_attrs : bool
        Whether to convert every numeric edge attribute, with the value 1 for edges that do not have it.
        False by default.
    preserve_graph_attrs : bool
        Whether to keep all attributes of nodes, edges and the graph, of any type, for
        :func:`convert_to_nx`. False by default.
    node_attrs, preserve_node_attrs, name, graph_name
        Further arguments that NetworkX passes. They are not used.

    Raises
    ------
    NotImplementedError
        A value of an edge attribute is not a number, an edge of an undirected view is not the same from
        both of its ends, or a class overrides how it is read and its members disagree.

    Examples
    --------
    >>> import networkx as nx
    >>> from dask_graphflow.nx_backend import convert_from_nx
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
    used = bool(edge_attrs or preserve_edge_attrs or preserve_graph_attrs)
    rows, plain = rows_of(graph, nodes, data=used)
    lengths = np.fromiter(map(len, rows), np.int64, len(nodes))
    ends: Iterable[Any] = itertools.chain.from_iterable(rows)
    if not _are_positions(nodes):
        positions = {node: position for position, node in enumerate(nodes)}
        ends = map(positions.__getitem__, ends)
    targets = np.fromiter(ends, np.int64, lengths.sum())
    sources = np.repeat(np.arange(len(nodes)), lengths)
    multigraph = graph.is_multigraph()
    if multigraph:
        # Each pair of nodes has a dict of parallel edges.
        parallel = [edges for row in rows for edges in row.values()]
        copies = np.fromiter(map(len, parallel), np.int64, len(parallel))
        sources, targets = np.repeat(sources, copies), np.repeat(targets, copies)
        rows = parallel
    directed = graph.is_directed()
    # An undirected edge is in the rows of both of its ends.
    kept = slice(None) if directed else sources <= targets
    data = [edge for row in rows for edge in row.values()] if used else []
    if preserve_edge_attrs:
        edge_attrs = dict.fromkeys(itertools.chain.from_iterable(data), 1)
    attributes = {}
    for attribute, default in (edge_attrs or {}).items():
        values = _numbers([edge.get(attribute, default) for edge in data])
        if values is not None:
            attributes[attribute] = values
        elif not preserve_edge_attrs:
            raise NotImplementedError(
                f"the edge attribute {attribute!r} has values that are not numbers"
            )
    if not (directed or plain):
        check_symmetry(sources, targets, attributes)
    every = None
    if preserve_graph_attrs:
        places = np.arange(len(data))[kept].tolist()
        own = [{**graph.nodes[node]} for node in nodes], [{**data[place]} for place in places]
        every = Data(*own, {**graph.graph})
    return ConvertedGraph(
        nodes,
        sources[kept],
        targets[kept],
        {attribute: values[kept] for attribute, values in attributes.items()},
        directed=directed,
        multigraph=multigraph,
        data=every,
    )


def _are_positions(nodes: list[Node]) -> bool:
    return all(type(node) is int for node in nodes) and nodes == list(range(len(nodes)))


def _numbers(values: list[Any]) -> Any:
    """Return values as an array of int64 or float64, or None if that is not possible."""
    try:
        array = np.array(values)
    except ValueError:  # lists of several lengths
        return None
    if not values or (array.ndim == 1 and array.dtype.kind in "bi"):
        return array.astype(np.int64)
    return array.astype(np.float64) if array.ndim == 1 and array.dtype.kind in "uf" else None


def convert_to_nx(obj: Any, *, name: str | None = None) -> Any:
    """Return a converted graph as a graph of NetworkX, and any other object as it is.

    Nodes, edges and converted edge attributes are the same as in the original graph. All other attributes
    are also the same if ``preserve_graph_attrs`` was set. The keys of parallel edges are not kept.
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
    if obj.data is None:
        graph.add_nodes_from(obj.nodes)
    else:
        graph.add_nodes_from(zip(obj.nodes, obj.data.nodes, strict=True))
        graph.graph.update(obj.data.graph)
    sources, targets = ([obj.nodes[end] for end in ends] for ends in (obj.sources, obj.targets))
    data: list[dict[Any, Any]] = [{} for _ in sources] if obj.data is None else obj.data.edges
    for attribute, values in obj.attributes.items() if obj.data is None else ():
        for edge, value in zip(data, values.tolist(), strict=True):
            edge[attribute] = value
    graph.add_edges_from(zip(sources, targets, data, strict=True))
    return graph
