"""A graph of NetworkX as arrays, which builds the graphs of this library when they are needed."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import dask
import networkx as nx
import numpy as np
import pandas as pd

from dask_graphflow.api.graph import Graph
from dask_graphflow.tasks.clients import compute

from .attributes import Attributes, numbers, objects

#: A node of a graph of NetworkX.
Node = Hashable

#: A cluster would have to receive the whole graph from this process.
SCHEDULER = "threads"


class Data(NamedTuple):
    """Attributes of any type, for functions that return a graph or the data of edges."""

    nodes: Attributes | None = None  # the attributes of each node, if they were kept
    edges: Attributes | None = None  # the attributes of each edge, if they were kept
    graph: dict[Any, Any] | None = None  # the attributes of the graph, if they were kept


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
    data : Data
        Attributes of any type.
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
        data: Data,
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
        return dict(zip(self.nodes, range(len(self.nodes)), strict=True))

    @cached_property
    def _node_objects(self) -> Any:
        return objects(self.nodes)

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
            if self.data.edges is None:
                raise NotImplementedError(
                    f"the edge attribute {attribute!r} was not converted; call the function with the "
                    "NetworkX graph, or name the attribute in edge_attrs= of convert_from_nx"
                )
            values = self.data.edges.values(attribute, 1)
            self.attributes[attribute] = numbers(values, attribute)
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
        key = weight, weighted, reverse and self.directed
        if key not in self._graphs:
            weights = self.weights(weight) if weighted else None
            self._graphs[key] = self.build(weights, reverse=key[2])
        return self.compute(self._graphs[key], algorithm, **options)

    def compute(self, graph: Graph, algorithm: str, **options: Any) -> pd.DataFrame:
        """Run an algorithm on a graph that :meth:`build` returned; see :meth:`run`."""
        with dask.config.set(scheduler=SCHEDULER):
            result: pd.DataFrame = compute(getattr(graph, algorithm)(**options))[0]
        return result

    def build(self, weights: Any, *, reverse: bool = False) -> Graph:
        """Return a graph of this library with these edges, or with all of them reversed."""
        ends = (self.targets, self.sources) if reverse else (self.sources, self.targets)
        edges = {"source": ends[0], "target": ends[1]}
        if weights is not None:
            edges["weight"] = weights
        with dask.config.set(scheduler=SCHEDULER):
            return Graph(
                pd.DataFrame(edges),
                source="source",
                target="target",
                weight=None if weights is None else "weight",
                directed=self.directed,
                vertices=pd.Series(np.arange(len(self.nodes))),
            ).persist()

    def subgraph(self, kept: Any, edges: Any = True) -> ConvertedGraph:
        """Return the graph of some nodes, with all or some of the edges between them."""
        kept = np.asarray(kept, bool)
        edges = kept[self.sources] & kept[self.targets] & edges
        numbers = np.cumsum(kept) - 1
        nodes, attributes, graph = self.data
        data = Data(
            None if nodes is None else nodes.take(kept),
            None if attributes is None else attributes.take(edges),
            graph,
        )
        return ConvertedGraph(
            self.nodes_at(kept),
            numbers[self.sources[edges]],
            numbers[self.targets[edges]],
            {name: values[edges] for name, values in self.attributes.items()},
            directed=self.directed,
            multigraph=self.multigraph,
            data=data,
        )

    def which_edges(self, found: pd.DataFrame) -> Any:
        """Return which edges of an undirected graph are in a frame, as an array of bool.

        Its columns ``source`` and ``target`` contain positions; the source is the smaller one.
        """
        first = np.minimum(self.sources, self.targets)
        second = np.maximum(self.sources, self.targets)
        wanted = found.source.to_numpy() * len(self) + found.target.to_numpy()
        return np.isin(first * len(self) + second, wanted)

    def by_node(self, values: pd.Series) -> dict[Any, Any]:
        """Return a column with a value per node as a dict keyed by node."""
        return dict(zip(self.nodes, values.tolist(), strict=True))

    def nodes_at(self, positions: Any) -> list[Node]:
        """Return the nodes at some positions, in their order, or where an array of bool is true."""
        nodes: list[Node] = self._node_objects[positions].tolist()
        return nodes

    @property
    def _adj(self) -> dict[Any, int]:
        """The nodes, as ``networkx.Graph.nbunch_iter`` reads them."""
        return self.positions

    def groups(self, labels: Any, positions: Any = None) -> Iterator[list[Node]]:
        """Return the nodes at some positions, by default all, of each label, in the order of the labels.

        If the label of each node is the position of the first node with it, groups are in the order of
        NetworkX.
        """
        order = np.argsort(labels, kind="stable")
        nodes = self.nodes_at(order if positions is None else positions[order])
        starts = np.flatnonzero(np.diff(labels[order], prepend=-1)).tolist()
        return (nodes[a:b] for a, b in itertools.pairwise([*starts, len(nodes)]))

    def of_nodes(self, values: pd.Series, nodes: Any) -> Any:
        """Return the value of one node, or a dict of the values of some nodes, or of all for None."""
        if nodes is None:
            return self.by_node(values)
        if nodes in self:
            return values.iloc[self.positions[nodes]].item()
        chosen = list(nx.Graph.nbunch_iter(self, nodes))
        found = values.to_numpy()[[self.positions[node] for node in chosen]]
        return dict(zip(chosen, found.tolist(), strict=True))
