"""The next version of a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

from dask_graphflow.calls.shards import Shards
from dask_graphflow.declarations.option import Choice
from dask_graphflow.exceptions import UsageError
from dask_graphflow.inputs.batch import batch_edges, batch_vertices
from dask_graphflow.showing.arguments import explained

from .types import Edges


class GraphUpdates:
    """The method that makes the next version of a graph."""

    _shards: Shards
    _with: Callable[[Shards], Self]

    @explained
    def update(
        self,
        insert: Edges | None = None,
        delete: Edges | None = None,
        *,
        vertices: Any = None,
        missing: Literal["raise", "ignore"] = "raise",
    ) -> Self:
        """Return the next version of the graph: edges are deleted, and then others are inserted.

        This graph stays as it is. The result is the graph of the remaining edges in their order, followed
        by the new ones. A graph that is built from these edges has the same bits. An update reads only the
        batch, and copies the edges of this graph, which takes a small part of the time of a build.

        Parameters
        ----------
        insert : DataFrame, sparse matrix, array, list of pairs, or NetworkX graph, optional
            The new edges, in any form that :class:`Graph` takes. The columns of a frame have the names that
            they have in this graph, those of :meth:`edges`, or the usual names of the two ends. If the
            graph has weights, the new edges need them too. Parallel edges are handled as `multi` of this
            graph says: "keep" adds the new edge, "sum" adds its weight to that of the old edge, "min" keeps
            the smaller weight, and "first" keeps the old edge.
        delete : DataFrame, sparse matrix, array, list of pairs, or NetworkX graph, optional
            The edges to delete, in the same forms; weights are not read. All parallel edges of a pair are
            deleted, and in an undirected graph those of both directions. A pair in both `delete` and
            `insert` replaces its edges.
        vertices : list, array, Series, DataFrame or Index, optional
            Further vertices, which may have no edge; see :class:`Graph`. A vertex whose last edge is
            deleted stays in the graph.
        missing : {"raise", "ignore"}
            What to do if an edge that should be deleted is not in the graph. "raise", the default, raises
            an error; "ignore" skips such edges.

        Returns
        -------
        Graph
            The next version. It is lazy: :meth:`persist` makes it once and keeps it.

        Raises
        ------
        UnknownColumnError, VertexTypeError, WeightError, EdgeListError, OptionError
            An argument is invalid; raised at the call.
        UsageError
            The graph was built with `hybrid`.
        EdgeListError
            An edge that should be deleted is not in the graph, and `missing` is "raise". Raised when the
            result is computed.
        NullVertexError, VertexTypeError, WeightError
            An id or a weight of the batch is null, or the dtype of this graph cannot hold it. Raised when
            the result is computed.

        Notes
        -----
        Ids and weights keep the dtypes of this graph. The result has as many shards as this graph, with
        nearly the same ranges of vertices. A new id moves all vertices behind it by one place. On a graph
        with several shards, a few vertices then also move to a neighboring shard.

        What calls have derived from this graph, such as the edges without their directions, is made again
        for the result when a call needs it.

        Examples
        --------
        >>> import pandas as pd
        >>> import dask_graphflow as gf
        >>> roads = pd.DataFrame({"a": ["x", "y", "z"], "b": ["y", "z", "w"]})
        >>> g = gf.Graph(roads, source="a", target="b", directed=False).persist()
        >>> new = pd.DataFrame({"a": ["w"], "b": ["v"]})
        >>> later = g.update(insert=new, delete=[("y", "x")])
        >>> later.edges().compute()
          source target
        0      v      w
        1      w      z
        2      y      z
        >>> later.vertices().compute().vertex.tolist()
        ['v', 'w', 'x', 'y', 'z']
        """
        from dask_graphflow.calls.updating import next_version

        Choice(("raise", "ignore")).check("missing", missing, None)
        shards = self._shards
        if shards.plan.hybrid is not None:
            raise UsageError(
                "update() of a graph that was built with hybrid=, which divides it between CPUs and GPUs; "
                "only graphs without hybrid= can be updated. Build the graph again from all edges"
            )
        batch = {}
        if insert is not None:
            batch["insert"], *nodes = batch_edges(insert, shards.spec, "insert")
            if nodes:
                batch["nodes"] = nodes[0]
        if delete is not None:
            batch["delete"] = batch_edges(delete, shards.spec, "delete")[0]
        if vertices is not None:
            batch["vertices"] = batch_vertices(vertices, shards.spec)
        skips = missing == "ignore"
        return self._with(next_version(shards, batch, skip_missing=skips))
