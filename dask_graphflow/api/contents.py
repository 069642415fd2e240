"""What a graph contains, derived graphs, and saving: the methods of a graph that are not algorithms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any, Self

from dask_graphflow.calls import graph_contents
from dask_graphflow.calls.shards import Shards
from dask_graphflow.declarations.option import Flag
from dask_graphflow.exceptions import UsageError
from dask_graphflow.graph import derived
from dask_graphflow.graph.numbering import num_edges, num_vertices
from dask_graphflow.showing.arguments import explained

from .updates import GraphUpdates


class GraphContents(GraphUpdates):
    """The vertices and edges of a graph, and other forms of it."""

    directed: bool
    weighted: bool
    on_device: bool
    _shards: Shards

    def _with(self, shards: Shards) -> Self:
        """Return a graph of the same class with other shards."""
        # copy() would ask for a method that no graph has, and search for a similar name.
        graph = object.__new__(type(self))
        graph.__dict__.update(self.__dict__)
        graph._take(shards)
        return graph

    def _take(self, shards: Shards) -> None:
        """Use some shards as those of this graph."""
        spec = shards.spec
        self.directed, self.weighted = spec.directed, spec.weighted
        self.on_device = spec.on_device or shards.plan.device
        self._shards = shards

    @property
    def num_vertices(self) -> int:
        """Number of vertices (int); builds a graph that is not persisted or loaded.

        Vertices are the ids that an edge uses and those given as `vertices`.

        In the event loop of an asynchronous client it raises `UsageError`, since it waits for the number;
        ask for it in a thread: ``await asyncio.to_thread(lambda: g.num_vertices)``.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> gf.Graph(gf.generate.grid(3, 3), source="src", target="dst").num_vertices
        9
        """
        return self._shards.size("vertices", num_vertices)

    @property
    def num_edges(self) -> int:
        """Number of edges after `multi` is applied (int); builds a graph that is not persisted or loaded.

        In the event loop of an asynchronous client it raises `UsageError`, since it waits for the number;
        ask for it in a thread: ``await asyncio.to_thread(lambda: g.num_edges)``.

        Examples
        --------
        >>> import pandas as pd
        >>> import dask_graphflow as gf
        >>> twice = pd.DataFrame({"a": [1, 1], "b": [2, 2]})
        >>> gf.Graph(twice, source="a", target="b").num_edges
        2
        >>> gf.Graph(twice, source="a", target="b", multi="first").num_edges
        1
        """
        return self._shards.size("edges", num_edges)

    def __len__(self) -> int:
        return self.num_vertices

    def __bool__(self) -> bool:
        return True  # otherwise, `if graph:` would build it to count its vertices

    def __contains__(self, vertex: object) -> bool:
        return graph_contents.contains(self._shards, vertex)

    @explained
    def vertices(self) -> Any:
        """Return the ids of all vertices.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted, with the column ``vertex``, or ``vertex_0`` and so on for ids of
            several columns. The result is lazy.

        Notes
        -----
        ``len(g)`` is the number of vertices, and ``v in g`` says whether `v` is the id of a vertex. Both
        wait for the result.

        Examples
        --------
        >>> import pandas as pd
        >>> import dask_graphflow as gf
        >>> links = pd.DataFrame({"a": [5, 1], "b": [1, 7]})
        >>> g = gf.Graph(links, source="a", target="b").persist()
        >>> g.vertices().compute().vertex.tolist()
        [1, 5, 7]
        >>> len(g), 5 in g, 6 in g
        (3, True, False)
        """
        return graph_contents.vertices(self._shards)

    @explained
    def edges(self) -> Any:
        """Return all edges of the graph, after `multi` was applied.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per edge, sorted by source and target, with the columns ``source`` and ``target``, or
            ``source_0`` and so on for ids of several columns. If the graph is weighted, the column
            ``weight`` has the type in which the graph stores weights. An undirected edge has one row, whose
            source is the smaller id. The result is lazy.

        Examples
        --------
        >>> import pandas as pd
        >>> import dask_graphflow as gf
        >>> links = pd.DataFrame({"a": [5, 1, 1], "b": [1, 7, 7], "km": [3, 4, 2]})
        >>> g = gf.Graph(links, source="a", target="b", weight="km", directed=False, multi="sum")
        >>> g.edges().compute()
           source  target  weight
        0       1       5       3
        1       1       7       6
        """
        return graph_contents.edges(self._shards)

    @explained
    def reverse(self) -> Self:
        """Return the graph with every edge reversed; an undirected graph is returned unchanged.

        Returns
        -------
        Graph
            It uses the same arrays as this graph. If this graph is persisted, so is the result.

        Examples
        --------
        >>> import pandas as pd
        >>> import dask_graphflow as gf
        >>> links = pd.DataFrame({"a": [1, 2], "b": [2, 3]})
        >>> gf.Graph(links, source="a", target="b").reverse().edges().compute()
           source  target
        0       2       1
        1       3       2
        """
        if not self.directed:
            return self
        spec = self._shards.spec
        columns = replace(spec.columns, source=spec.columns.target, target=spec.columns.source)
        shards = self._shards.derived(replace(spec, columns=columns), derived.reverse)
        shards.further = None if shards.further is None else shards.further.reverse()
        return self._with(shards)

    @explained
    def to_undirected(self) -> Self:
        """Return the graph without the directions of its edges.

        A pair of opposite edges becomes two parallel edges. If the graph was built with ``multi="sum"`` or
        ``multi="min"``, they are merged in the same way. An undirected graph is returned unchanged.

        Returns
        -------
        Graph
            Its edges are made from those of this graph when they are first used, and cached with this
            graph. If this graph is persisted, so is the result.

        Raises
        ------
        UsageError
            The graph was built with ``multi="first"``, and the order of opposite edges is not known.

        Examples
        --------
        >>> import pandas as pd
        >>> import dask_graphflow as gf
        >>> links = pd.DataFrame({"a": [1, 2, 3], "b": [2, 1, 2], "km": [1.0, 2.0, 4.0]})
        >>> g = gf.Graph(links, source="a", target="b", weight="km", multi="min")
        >>> g.to_undirected().edges().compute()
           source  target  weight
        0       1       2     1.0
        1       2       3     4.0
        """
        if not self.directed:
            return self
        spec = self._shards.spec
        if spec.multi == "first":
            raise UsageError(
                "to_undirected() of a graph with multi='first': the graph does not know which of two "
                "opposite edges came first. Only multi='keep', 'sum' and 'min' allow it; build the graph "
                "with directed=False from the edges"
            )
        derive = partial(derived.undirected, multi=spec.multi)
        return self._with(self._shards.derived(replace(spec, directed=False), derive))

    @explained
    def to_scipy(self) -> tuple[Any, Any]:
        """Return the adjacency matrix in the memory of this process.

        Returns
        -------
        scipy.sparse.csr_array, shape (V, V)
            The entry in row i and column j is the weight of the edge from vertex i to vertex j, or 1 if the
            graph has no weights; weights of parallel edges are added up. The matrix of an undirected graph
            is symmetric.
        pandas.Index, shape (V,)
            The ids of the rows and columns, in ascending order; a MultiIndex if ids have several columns.

        Examples
        --------
        >>> import pandas as pd
        >>> import dask_graphflow as gf
        >>> links = pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"], "km": [3, 4]})
        >>> matrix, ids = gf.Graph(links, source="a", target="b", weight="km").to_scipy()
        >>> matrix.toarray()
        array([[0, 3, 0],
               [0, 0, 4],
               [0, 0, 0]])
        >>> ids.tolist()
        ['x', 'y', 'z']
        """
        return graph_contents.to_scipy(self._shards)

    @explained
    def to_networkx(self) -> Any:
        """Return the graph as one of NetworkX, in the memory of this process.

        Returns
        -------
        networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
            The nodes are the ids as Python objects, or tuples of them if ids have several columns. If the
            graph is weighted, edges have the attribute ``weight``. A graph with parallel edges becomes a
            multigraph.

        Examples
        --------
        >>> import pandas as pd
        >>> import dask_graphflow as gf
        >>> links = pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"]})
        >>> gf.Graph(links, source="a", target="b").to_networkx().edges
        OutEdgeView([('x', 'y'), ('y', 'z')])
        """
        return graph_contents.to_networkx(self._shards)

    @explained
    def save(
        self,
        path: str | PathLike[str],
        *,
        append: bool = False,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Save the graph in a folder, from which :func:`dask_graphflow.load_graph` loads it.

        A lazy graph is built first. Each member of the graph writes the files of its vertices, so on a
        cluster all workers and this process must reach the same storage.

        Parameters
        ----------
        path : str or path
            A folder that is empty or does not exist: a local path, or a URL of any file system of fsspec,
            such as ``s3://bucket/graph``. With `append`, the folder of the saved graph that this graph was
            made from.
        append : bool
            Whether to add to a saved graph what :meth:`update` changed, as a further version for each
            update. Only the changes are written. False by default.
        storage_options : dict, optional
            Options of the file system, as for ``dask.dataframe.read_parquet``.

        Returns
        -------
        None
            The folder is complete when the call returns.

        Raises
        ------
        OutputError
            The folder contains files, or a file cannot be written; with `append`, the folder has a newer
            version than the one that this graph was made from, or another process adds a version.
        UsageError
            The graph was built with `hybrid`, the call would block the event loop of an asynchronous
            client, or, with `append`, the graph was not made from the one in the folder.

        Notes
        -----
        The folder contains Arrow IPC files, each with a range of vertices: their ids, the edges that leave
        them and, if the graph is directed, the edges that enter them. The manifest ``graph.json`` is
        written last. If saving ends early, the folder has no manifest, and `load_graph` refuses it.

        A version is a pair of Parquet files with the edges that were inserted and deleted, and a JSON file,
        which is written last. Files are never changed afterwards, so a graph that was loaded earlier stays
        as it was. Once the changes are more than a tenth of the edges, the newest version is also stored as
        a whole, in a folder of its own. :func:`dask_graphflow.vacuum` deletes files that are no longer
        needed.

        Examples
        --------
        >>> import tempfile
        >>> import dask_graphflow as gf
        >>> folder = tempfile.TemporaryDirectory()
        >>> g = gf.Graph(gf.generate.grid(3, 3), source="src", target="dst")
        >>> g.save(f"{folder.name}/grid")
        >>> gf.load_graph(f"{folder.name}/grid").num_edges
        12
        >>> folder.cleanup()
        """
        from dask_graphflow.calls import saving

        Flag().check("append", append, None)
        (saving.append if append else saving.save)(self._shards, path, storage_options)
