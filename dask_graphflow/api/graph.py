"""A graph that is built once and used by many algorithms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

from dask.typing import no_default

from dask_graphflow.calls.empty_frames import graph_spec
from dask_graphflow.calls.further_columns import FurtherColumns
from dask_graphflow.calls.shard_layout import layout, layout_frame
from dask_graphflow.calls.shards import Shards
from dask_graphflow.declarations.option import Choice, Flag
from dask_graphflow.exceptions import OptionError, WeightError
from dask_graphflow.graph.shares import Hybrid
from dask_graphflow.inputs.edges import check_edges
from dask_graphflow.programs.edge_op import EdgeOp
from dask_graphflow.showing.arguments import explained
from dask_graphflow.showing.suggestions import attribute_error
from dask_graphflow.showing.tables import as_html, as_text
from dask_graphflow.tasks import placement

from .contents import GraphContents
from .graph_methods import GraphMethods
from .member_plan import member_plan
from .types import Balance, ColumnName, ColumnNames, Direction, Edges, Listener, Multi, Storage

LAZY = "no; every compute() builds it again, persist() builds it once"
KEPT = "yes, and kept"


class Graph(GraphMethods, GraphContents):
    """A graph that is built once and used by many algorithms.

    A new graph is lazy: every computation builds it again. :meth:`persist` builds it and keeps it.

    Parameters
    ----------
    edges : DataFrame, sparse matrix, array, list of pairs, or NetworkX graph
        The edge list, one row per edge: a DataFrame of Dask, pandas or cuDF, or of a library that exports
        Arrow data, such as polars, PyArrow or DuckDB. Or a square matrix of SciPy, an array of shape
        (m, 2), an iterable of m pairs, or a graph of NetworkX, which do not need `source` and `target`.
        The notes say how these are read. Results have the backend of `edges` if that is cuDF, and
        otherwise pandas.
    source, target : column name, or list of column names, optional
        Columns with the ids at the two ends of each edge. Several columns form one id. Ids can be
        integers, strings, categoricals or dates: anything that can be hashed and sorted. Both ends must
        have the same type. By default the columns "source" and "target", "src" and "dst", "from" and
        "to", or "left" and "right", if the frame has exactly one of these pairs.
    weight : column name, optional
        Numeric column with the weights of the edges. They are stored as int32, int64, float32 or float64.
        The edge attribute of a NetworkX graph. By default, the values of a sparse matrix unless all of them
        are 1, and no weights for other edges. None ignores the values of a matrix.
    directed : bool, optional
        Whether an edge leads only from its source to its target. False makes every edge count in both
        directions. By default, True, except for a symmetric matrix. An undirected NetworkX graph is always
        undirected.
    multi : {"keep", "sum", "min", "first"}
        What to do with parallel edges, which have the same source and target. "keep", the default, keeps
        all of them. The others merge them into one edge, which has the sum of the weights, the smallest
        weight, or the weight of the first edge.
    vertices : list, array, Series, DataFrame or Index, optional
        All vertex ids. Vertices without an edge are then in the graph too, so every result has a row for
        each of them. In a frame, the first columns are the id, as many as `source` has. In a list, an id of
        several columns is a tuple. Vertices that only occur in `edges` are added. The graph's ids get the
        integer type or the unit of time that can represent these ids and those of the edges.
    dropna : bool
        Whether to skip edges and rows of `vertices` with a null id. False by default, which raises an
        error.
    shards : int, optional
        Number of parts into which the graph is split, each for one process; at most the number of
        partitions of `edges`. By default, the build chooses: one if a worker has room for the graph and
        more would gain little, otherwise up to one per worker of the current cluster. Once a persisted
        graph is built, its repr gives the number and the reason. The number does not change the results.
    hybrid : {None, "auto"} or Hybrid
        Split the graph between workers with and without a GPU, such as those of
        :func:`dask_graphflow.hybrid_cluster`. Each worker gets one shard, on its GPU if it has one.
        "auto" chooses the shares by the speed and the free memory of each worker; see
        :class:`dask_graphflow.Hybrid` to set them. `edges` must be backed by pandas. The option does not
        change the results.
    device : {None, "gpu"}
        "gpu" runs all calls on GPUs although `edges` is backed by pandas: on the GPU of this process, or on
        those of the workers of the current cluster, which must have one each. The graph is built in host
        memory, and copied to the GPU when a call first uses it. Results are pandas frames with the same
        bits. This needs CuPy, and neither cuDF nor the rest of RAPIDS. By default, None, calls run where
        `edges` is stored.
    storage : {"auto", "memory", "disk"}
        Where the edges are. "disk" writes them to files while the partitions are read one after another,
        so a graph may be larger than memory: only what belongs to vertices has to fit. The files have no
        name, and end with the graph. They are in the folder of the worker (``local_directory=`` of the
        cluster), or in Dask's ``temporary-directory``. By default, "auto", edges are on disk if building
        the graph could take more than 60 % of the memory of the workers, or of this machine. The number of
        edges is known for frames in memory and for generated graphs. The first file tells it for Parquet
        files, and for text files of :func:`read_edges` that are not compressed. Filters and computed
        columns do not matter. The edges of other lazy frames stay in memory, and the repr says so. With
        ``device="gpu"``, calls copy the edges from the files to the GPU, or to host memory if they do not
        fit there. Edges of cuDF and `hybrid` need "memory". The option does not change the results.
    columns : column name, or list of column names, optional
        Further columns of the edges, such as times, amounts or ids of payments. Functions that return edges
        can return these columns too, with their own option `columns`, and then parallel edges are separate
        rows. A lazy graph reads the columns again for each such call. :meth:`persist` keeps them in memory,
        with the ids and the place of each edge. :meth:`save` and :meth:`update` do not keep them.

    Attributes
    ----------
    directed : bool
        Whether an edge leads only from its source to its target.
    weighted : bool
        Whether the edges have weights.
    on_device : bool
        Whether calls run on GPUs, because `edges` is backed by cuDF or ``device="gpu"`` was given.

    Raises
    ------
    UnknownColumnError, VertexTypeError, WeightError, OptionError, EdgeListError
        An argument is invalid; raised at the call. When the graph is built, null ids raise
        `NullVertexError` and null weights raise `WeightError`. The build also raises an error if a
        partition lacks a column, or if it has another dtype than Dask's metadata and a value that does not
        fit.

    Notes
    -----
    An entry in row i and column j of a sparse matrix is an edge from i to j, also if its value is 0, and
    every row is a vertex. Duplicate entries are added up. The values are in the column "weight"; they must
    be real numbers, and NaN raises `WeightError` when the graph is built. In a symmetric matrix, two equal
    entries are one undirected edge. With ``directed=False`` the matrix has to be symmetric or triangular.
    The nodes of a NetworkX graph are vertices, and a weight that an edge does not have is 1.
    Polars, Arrow and NumPy data in host memory are not copied, so an array must not change until the
    result is computed. A lazy polars frame and a DuckDB relation are computed once, at the call.

    Each shard is in one process, which can use all threads of its worker. A shard stores one offset per
    vertex, and one id (and one weight) per edge. If the graph is directed and an algorithm follows edges in
    both directions, it stores twice as much. A self-loop is stored once. On a graph with several shards, an
    algorithm runs on all of them at the same time, and the workers send each other the values that change.

    With `trace`, an algorithm also returns a frame with one row per superstep, with the columns
    ``superstep``, ``direction``, ``frontier`` (number of vertices that the superstep started from),
    ``edges`` (number of edges that leave them) and ``seconds``. If the graph has several shards, or its
    build chooses how many, there is one row per superstep and shard, and one partition per shard. The
    column ``member`` is the number of the shard. ``compute``, ``communicate`` and ``wait`` split its
    seconds, and ``bytes`` is the number of bytes that it sent. ``linked`` is true if its GPU has no room
    for the edges and reads them from host memory.
    ``transfer`` says how its arrays get to the other members: by "memory" that the GPUs share, by "nccl",
    through the "host", or "none" if there is only one member.

    With ``progress=True``, an algorithm shows a progress bar in a terminal. A function is called with a
    dict that has the keys ``superstep``, ``direction``, ``frontier``, ``edges``, ``bytes`` and
    ``seconds``. The last two are the bytes that the first shard sent, and its time. On a cluster the
    function runs in the event-loop thread of the client, at most ten times per second, and always for the
    last superstep.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> roads = pd.DataFrame({"a": ["x", "y", "z"], "b": ["y", "z", "w"], "km": [3.0, 1.0, 2.0]})
    >>> g = gf.Graph(roads, source="a", target="b", weight="km", directed=False)
    >>> g.num_vertices, g.num_edges
    (4, 3)
    >>> g.bfs(sources=["y"]).compute()
      vertex  distance predecessor
    0      w         2           z
    1      x         1           y
    2      y         0        <NA>
    3      z         1           y
    """

    @explained
    def __init__(
        self,
        edges: Edges,
        *,
        source: ColumnNames | None = None,
        target: ColumnNames | None = None,
        weight: ColumnName | None = no_default,
        directed: bool | None = None,
        multi: Multi = "keep",
        vertices: Any = None,
        dropna: bool = False,
        shards: int | None = None,
        hybrid: Hybrid | Literal["auto"] | None = None,
        device: Literal["gpu"] | None = None,
        storage: Storage = "auto",
        columns: ColumnNames | None = None,
    ) -> None:
        Choice(get_args(Multi)).check("multi", multi, None)
        if directed is not None:
            directed = Flag().check("directed", directed, None)
        Flag().check("dropna", dropna, None)
        checked = check_edges(
            edges,
            source,
            target,
            weight=weight,
            vertices=vertices,
            directed=directed,
            dropna=dropna,
            columns=columns,
        )
        if checked.rows.weight is None and multi in ("sum", "min"):
            raise WeightError(f"multi={multi!r} needs weights; name their column with weight=")
        spec = graph_spec(*checked.frames[0], directed=checked.rows.directed, multi=multi)
        placement.check_spilling(spec.ids)
        plan = member_plan(checked.frames[0][0], spec, shards, hybrid, device, storage)
        built = Shards(spec, checked.frames, plan)
        if checked.further:
            built.further = FurtherColumns.of(*checked.frames[0], checked.further)
        self._take(built)

    if not TYPE_CHECKING:  # for mypy, every name would be an attribute

        def __getattr__(self, name: str) -> Any:
            raise attribute_error("Graph", name, dir(self))

    def _rows(self) -> list[tuple[str, str]]:
        """Return the known facts about the graph, without computing anything."""
        shards, spec = self._shards, self._shards.spec
        memory = "host" if shards.plan.hybrid is None else "depends on the worker"
        rows = [
            ("Graph", "directed" if spec.directed else "undirected"),
            ("source", ", ".join(map(repr, spec.columns.source))),
            ("target", ", ".join(map(repr, spec.columns.target))),
            ("weight", repr(spec.columns.weight) if spec.weighted else "none"),
            ("ids", ", ".join(map(str, spec.ids.dtypes))),
            *_further(shards),
            ("edge partitions", f"{spec.partitions:,}"),
            ("shards", _count(shards)),
            ("memory", "GPU" if self.on_device else memory),
            ("storage", _storage(shards)),
            ("built", _is_built(shards)),
        ]
        return rows + [(name, f"{number:,}") for name, number in sorted(shards.sizes.items())]

    def __repr__(self) -> str:
        return as_text(self._rows())

    def _repr_html_(self) -> str:
        return as_html(self._rows())

    @explained
    def persist(self) -> Graph:
        """Build the graph now and keep it, in this process or on the workers of the cluster.

        On a cluster this starts the build and returns at once, also in the event loop of an asynchronous
        client.

        Returns
        -------
        Graph
            The same graph, built. Its results do not read the edges again.

        Notes
        -----
        Like a persisted Dask frame, a persisted graph can be pickled, copied and passed to tasks, and tasks
        can make calls on it. On a cluster, it stays in memory as long as an open client has the graph or
        one of its copies.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> g = gf.Graph(gf.generate.grid(3, 3), source="src", target="dst").persist()
        >>> g.num_edges  # does not build the graph again
        12
        """
        return self._with(self._shards.persist())

    @explained
    def layout(self) -> Any:
        """Return statistics of each shard: vertices, edges, and neighbors in other shards.

        Builds the graph unless it is persisted.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per shard; a graph in one process has one shard. The columns are:

            - ``shard``: number of the shard.
            - ``kind``: "gpu" or "cpu", by the worker that holds the shard.
            - ``vertices``: number of its vertices.
            - ``edges``: number of edges that leave these vertices. An undirected edge counts twice.
            - ``share``: its fraction of the ends of all edges.
            - ``remote``: number of distinct vertices of other shards that its edges lead to. Each of them
              is one message.
            - ``beta``: ``remote`` divided by ``edges`` (TOTEM [1]_).

        References
        ----------
        .. [1] A. Gharaibeh, L. Beltrão Costa, E. Santos-Neto, M. Ripeanu, "A Yoke of Oxen and a Thousand
           Chickens for Heavy Lifting Graph Processing", PACT 2012.

        Examples
        --------
        >>> import pandas as pd
        >>> import dask_graphflow as gf
        >>> ring = pd.DataFrame({"a": [0, 1, 2, 3], "b": [1, 2, 3, 0]})
        >>> halves = gf.Hybrid([0.5, 0.5], placement="random")
        >>> g = gf.Graph(ring, source="a", target="b", hybrid=halves)
        >>> g.layout().compute().share.tolist()
        [0.5, 0.5]
        """
        return self._shards.run(layout, layout_frame([]), name="layout")

    @explained
    def shortest_paths(self, sources: Any = None, targets: Any = None, *, pairs: Any = None) -> Any:
        """Return the vertices on shortest paths: to each target, or between the vertices of each pair.

        Give `sources` and `targets`, and the path to each target begins at the source nearest to it. Or
        give `pairs`, and each pair has a path. Without weights, the shortest path is the one with the
        fewest edges.

        Parameters
        ----------
        sources : id, or list, Series or DataFrame of ids, optional
            First vertices of the paths. If ids have several columns, write each id as a tuple. The whole
            graph is searched, by :meth:`bfs` or, if the edges have weights, by :meth:`sssp`. If you have a
            result of such a search, give it to :func:`dask_graphflow.shortest_paths`.
        targets : id, or list, Series or DataFrame of ids, optional
            Last vertices of the paths, as for `sources`.
        pairs : DataFrame, optional
            Pairs of a first and a last vertex: the first two columns are ids (if an id has several columns,
            those of the first vertex and then those of the last). A pair that is given several times counts
            once. Each thread searches for whole pairs, on the host, and a search ends at its targets.
            Several shards copy all edges to each worker for the time of the call.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex on a path, sorted by target, then by step, with the columns ``target``,
            ``step`` (int32, 0 at the source) and ``vertex``. A target that no path reaches is left out.

            With `pairs`, the rows are sorted by source, then by target, then by step. The columns are
            ``source`` and ``target`` (the dtype of the ids), ``length`` (float64, the sum of the weights of
            the path, or its number of edges), ``step`` (int32) and ``vertex``. Of several shortest paths,
            it is the one that leads back along the predecessors of :meth:`sssp`: each vertex is preceded by
            the smallest id that a shortest path can come from. A pair that no path connects is left out.

        Raises
        ------
        OptionError
            Neither `sources` and `targets` nor `pairs` are given, or both; raised at the call.
        EdgeListError, VertexTypeError
            An argument is invalid; raised at the call.
        UnknownVertexError
            A source, or a vertex of a pair, is not in the graph. Raised when the result is computed.
        WeightError
            A weight is negative or NaN. Raised when the result is computed.
        GraphMemoryError
            With `pairs` and several shards, a worker has no room for a copy of all edges. Raised when the
            result is computed.

        Examples
        --------
        >>> import pandas as pd
        >>> import dask_graphflow as gf
        >>> roads = pd.DataFrame(
        ...     {"a": ["x", "x", "y"], "b": ["y", "z", "z"], "km": [3.0, 9.0, 1.0]}
        ... )
        >>> g = gf.Graph(roads, source="a", target="b", weight="km")
        >>> g.shortest_paths("x", "z").compute()
          target  step vertex
        0      z     0      x
        1      z     1      y
        2      z     2      z
        >>> trips = pd.DataFrame({"start": ["x", "y"], "end": ["z", "z"]})
        >>> g.shortest_paths(pairs=trips).compute()
          source target  length  step vertex
        0      x      z     4.0     0      x
        1      x      z     4.0     1      y
        2      x      z     4.0     2      z
        3      y      z     1.0     0      y
        4      y      z     1.0     1      z
        """
        from .path_calls import between_pairs, follow_result

        if pairs is None and sources is not None and targets is not None:
            search = self.sssp if self.weighted else self.bfs
            return follow_result(search(sources), targets)
        if pairs is None or sources is not None or targets is not None:
            raise OptionError(
                "shortest_paths needs either sources and targets, for the path to each target from the "
                "nearest source, or pairs, a frame of first and last vertices; give the ones that you mean"
            )
        return between_pairs(self._shards, pairs)

    @explained
    def run(
        self,
        op: EdgeOp | list[Any] | tuple[Any, ...],
        *,
        columns: Mapping[str, Any],
        start: Any = None,
        params: Mapping[str, Any] | None = None,
        until: str | None = None,
        max_iter: int | None = None,
        fail_on_nonconvergence: bool = True,
        direction: Direction = "gemini",
        balance: Balance = "auto",
        trace: bool = False,
        progress: Listener = False,
    ) -> Any:
        """Run an edge program until no vertex changes, or repeat steps until a test holds.

        Parameters
        ----------
        op : EdgeOp, or list of EdgeOp and dict
            An edge program, which runs until no vertex changes; see :class:`dask_graphflow.EdgeOp`. Or a
            list of steps, which form one iteration. A step is an EdgeOp, which sends messages along all
            edges once, or a dict that maps names of columns to expressions per vertex that give their new
            values, such as ``{"rank": "0.15 / n + 0.85 * sum"}``. Each step reads the values that the step
            before it left. The language is described in ``docs/howto/edge_programs.md``.
        columns : dict of str to number, expression, or "vertex"
            Initial value of each column. An int makes an int64 column, a float a float64 column, and a
            NumPy number or an expression per vertex, such as ``"1 / n"``, a column of its type.
            ``"vertex"`` is the vertex itself: the column contains ids in `start` and in the result, and
            vertex numbers inside the program, which are 0 to n - 1 in the order of the ids.
        start : DataFrame, optional
            Vertices that have other initial values, and from which an edge program starts. The first
            columns contain the ids, and all other columns must be columns of the program. Values must fit
            the column's dtype. By default the program starts from all vertices.
        params : dict of str to number, optional
            Values that expressions per vertex read by name. An EdgeOp has its own parameters.
        until : str, optional
            With a list of steps, a condition on the whole graph that is tested after each iteration, such
            as ``"total(abs(rank - before(rank))) < 1e-6 * n"``. If it holds, the run ends. By default it
            ends after `max_iter` iterations.
        max_iter : int, optional
            Maximum number of supersteps of an edge program; by default there is no limit. With a limit,
            each superstep sends the values from before it, so a program that is stopped gives the same
            values every time. With a list of steps, the maximum number of iterations, which is required.
        fail_on_nonconvergence : bool, optional
            If `until` does not hold after `max_iter` iterations: True, the default, raises an error; False
            returns the values so far.
        direction : {"gemini", "beamer", "push", "pull"}, optional
            When to pull instead of push; see :func:`dask_graphflow.bfs`.
        balance : {"auto", "thread", "twc", "lb", "lb_light", "lb_cull", "lb_light_cull", "all_edges"}, \
optional
            How edges are divided among the threads of a GPU (Gunrock [1]_): by rows, by the lengths of
            rows, or evenly. The host supports "auto", "thread" and "all_edges". All shards use the same
            policy, and it does not change the result. "all_edges" is for programs that never push from a
            frontier, so it needs ``direction="pull"``.
        trace : bool, optional
            Also return a frame with one row per superstep. False by default.
        progress : bool or callable, optional
            Report each superstep when it ends; see :func:`dask_graphflow.bfs`.

        Returns
        -------
        dask.dataframe.DataFrame
            One row per vertex, sorted by vertex, with the column ``vertex`` and the columns of the program.
            The result is lazy.
        dask.dataframe.DataFrame
            Only with `trace`: one row per superstep. Each step over edges is a superstep; see
            :func:`dask_graphflow.bfs`.

        Raises
        ------
        OptionError, UnknownColumnError, ExpressionError, WeightError
            The program or an argument is invalid.
        ExpressionError
            Floats that slot "add" or ``total(...)`` adds up are infinite or NaN. Raised when the result is
            computed.
        ConvergenceError
            `until` does not hold after `max_iter` iterations. Raised when the result is computed.
        EdgeListError
            `start` is not a frame, or gives one vertex different values.
        UnknownVertexError
            `start` contains an id that is not in the graph. Raised when the result is computed.

        References
        ----------
        .. [1] Y. Wang, Y. Pan, A. Davidson et al., "Gunrock: GPU Graph Analytics", ACM Transactions on
           Parallel Computing 4(1), 2017.

        Examples
        --------
        The capacity of the widest path from vertex 1 to each vertex:

        >>> import pandas as pd
        >>> import dask_graphflow as gf
        >>> pipes = pd.DataFrame({"a": [1, 1, 2], "b": [2, 3, 3], "bore": [9.0, 2.0, 5.0]})
        >>> widest = gf.EdgeOp(
        ...     "widest", target="width", signal="min(width[src], weight)", slot="max"
        ... )
        >>> g = gf.Graph(pipes, source="a", target="b", weight="bore")
        >>> start = pd.DataFrame({"vertex": [1], "width": [float("inf")]})
        >>> g.run(widest, columns={"width": 0.0}, start=start).compute().width.tolist()
        [inf, 9.0, 5.0]
        """
        from . import edge_programs

        return edge_programs.run(
            self._shards, op, columns=columns, start=start, params=params, until=until, max_iter=max_iter,
            fail_on_nonconvergence=fail_on_nonconvergence, direction=direction, balance=balance,
            trace=trace, progress=progress,
        )  # fmt: skip


def _further(shards: Shards) -> list[tuple[str, str]]:
    """Return the names of the further columns, if there are some."""
    kept = shards.further
    return [] if kept is None else [("columns", ", ".join(map(repr, kept.names)))]


def _is_built(shards: Shards) -> str:
    """Return as text whether the graph is built."""
    if shards.persisted:
        return KEPT
    return LAZY if shards.folder is None else f"yes; every compute() opens {shards.folder}"


def _storage(shards: Shards) -> str:
    """Return as text whether the edges are in memory or on disk, and why."""
    if shards.folder is not None:
        return f"in the files of {shards.folder}"
    where = "on disk" if shards.plan.on_disk else "in memory"
    return f"{where}: {shards.plan.why}" if shards.plan.why else where


def _count(shards: Shards) -> str:
    """Return the number of shards as text, with the reason if the build chose it."""
    if shards.known_count() is None:
        return f"1 to {shards.count:,}, chosen by the build"
    if shards.reason is not None:
        return f"{shards.count:,}: {shards.reason}"
    return f"{shards.count:,}{'' if shards.plan.hybrid is None else ', hybrid'}"
