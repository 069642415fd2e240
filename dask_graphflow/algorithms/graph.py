"""A graph that is built once and asked many things."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any

import dask

from dask_graphflow.dataflow import gang, gathered, placement, spread
from dask_graphflow.dataflow.channel import Channel
from dask_graphflow.dataflow.expr import Held
from dask_graphflow.dataflow.progress import Progress, listener
from dask_graphflow.exceptions import OptionError, WeightError, nearest
from dask_graphflow.graph import edgelist
from dask_graphflow.graph.frames import is_pandas
from dask_graphflow.graph.shards import Shards
from dask_graphflow.kernels.edge_op import EdgeOp
from dask_graphflow.showing.tables import as_html, as_text, counted

from . import inputs
from .answers import Answer, answered, empty_values, framed, ids_like, steps_frame
from .answers_many import answered_many
from .building import Build, read
from .counting_many import degrees_many, num_edges_many, num_vertices_many
from .inputs import check_count
from .laid_out import layout_frame, layout_many, layout_one
from .named import named
from .placing import as_hybrid, members_of
from .sharing import share

__all__ = ["Graph"]

LAZY = "no: each compute() builds it anew; persist() builds it once"
KEPT = "yes, and kept where it was built"
MULTI = ("keep", "sum", "min", "first")
MOST_PARTS = 32
PARTITIONS_PER_PART = 8


class Graph:
    """A graph, lazy until something is computed of it.

    Parameters
    ----------
    edges : dask.dataframe.DataFrame, pandas.DataFrame or cudf.DataFrame
        The edge list, a row an edge; backed by pandas or by cuDF. What is found is on the same.
    source, target : column name, or list of column names
        The ends of an edge; several columns make up one id. Ids are integers, strings, categoricals,
        dates: anything that can be hashed and sorted, of one type on both sides.
    weight : column name, optional
        The edges' weights: numbers.
    directed : bool
        Whether an edge leads from its source to its target only.
    multi : {"keep", "sum", "min", "first"}
        What becomes of several edges from one vertex to another: all are kept; or there is one, of their
        summed weight, of their least, or of the first one's.
    dropna : bool
        Leave out edges with a null end, instead of raising.
    shards : int, optional
        Into how many parts to cut the graph, each for a process: by default one for each worker of the
        cluster in use, and one without a cluster; but no more than `edges` has partitions. The results
        are the same.
    hybrid : {None, "auto"} or Hybrid
        Share the graph out between workers of several kinds, such as those of
        :func:`dask_graphflow.hybrid_cluster`: a shard for each worker, on a GPU where it has one. "auto"
        gives each as much as it is fast and has room for; see :class:`dask_graphflow.Hybrid` for other
        shares. `edges` is backed by pandas then. The results are the same.

    Attributes
    ----------
    directed : bool
        As given.
    weighted : bool
        Whether edges have weights.
    on_device : bool
        Whether the graph lies on GPUs, as its edges are backed by cuDF.

    Raises
    ------
    UnknownColumnError, VertexTypeError, WeightError, OptionError, EdgeListError
        What is wrong with the call. Null ids raise `NullVertexError` and null weights `WeightError` when
        the graph is built.

    Notes
    -----
    Each shard lies in one process, which may use all threads of its worker. It takes an offset a vertex and
    an id (and a weight) an edge; where edges have a direction and an algorithm goes both along them and
    against it, twice that. Self-loops count once. What is asked of a graph of several shards runs beside
    them, all of them at once, and they send each other what changes.

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

    def __init__(
        self,
        edges: Any,
        *,
        source: Any,
        target: Any,
        weight: Any = None,
        directed: bool = True,
        multi: str = "keep",
        dropna: bool = False,
        shards: int | None = None,
        hybrid: Any = None,
    ) -> None:
        if multi not in MULTI:
            raise OptionError(
                f"multi={multi!r}; give {', '.join(map(repr, MULTI))}{nearest(multi, MULTI)}"
            )
        if directed not in (True, False):
            raise OptionError(f"directed={directed!r}; give True or False")
        frame = inputs.as_dask(edges, "edges", source, target)
        if weight is not None:
            edgelist.check_weight(frame, weight)
        elif multi in ("sum", "min"):
            raise WeightError(f"multi={multi!r} is about weights; name their column with weight=")
        columns = inputs.edge_columns(frame, source, target, weight, dropna)
        if not isinstance(frame, Held):
            frame = frame[columns.columns]
        self._columns = columns
        self.weighted = weight is not None
        self.directed = directed
        self._npartitions = int(frame.npartitions)
        self._parts = min(MOST_PARTS, -(-self._npartitions // PARTITIONS_PER_PART))
        self._ids = ids_like(frame._meta, columns)
        self._numbers: dict[str, int] = {}  # that were asked of it when it was built, for its repr
        self._metas: dict[Any, Any] = {}  # by what is asked: cuDF takes milliseconds to make one
        self.on_device = not is_pandas(type(self._ids))
        check_count("shards", shards, least=1, optional=True)
        workers = None
        self._hybrid = hybrid is not None
        if self._hybrid:
            hybrid = as_hybrid(hybrid, self.on_device)
            hybrid, self._shards, workers = members_of(hybrid, shards)
        else:
            self._shards = min(shards or len(placement.slots().workers), self._npartitions)
        self._turned: tuple[Callable[..., Any], Callable[..., Any]] | None = None
        how: dict[str, Any] = {"directed": directed, "multi": multi}
        reader = partial(read, columns=columns)
        if self._shards == 1 and not self._hybrid:
            self._build = partial(gathered.build, frame, reader, Build(**how))
        else:
            spreading = partial(spread.run, frame, reader, workers=workers)
            deal, run = partial(share, hybrid=hybrid, **how), {"alone": self.on_device}
            self._build = partial(spreading, deal, self._shards, None, name="graph-build", **run)
            if directed and weight is None and multi == "keep":
                self._turned = spreading, partial(deal, turned=True)

    @property
    def _members(self) -> bool:
        """Whether it is asked as members of a gang."""
        return self._shards > 1 or self._hybrid

    @cached_property
    def _built(self) -> Any:
        return self._build()

    def _rows(self) -> list[tuple[str, str]]:
        """Return what is known of it; nothing is computed for that."""
        columns, kept = self._columns, self._build is None
        rows = [
            ("Graph", "directed" if self.directed else "undirected"),
            ("source", ", ".join(map(repr, columns.source))),
            ("target", ", ".join(map(repr, columns.target))),
            ("weight", repr(columns.weight) if self.weighted else "none"),
            ("ids", ", ".join(map(str, self._ids.dtypes))),
            ("partitions", f"{self._npartitions:,} of edges"),
            ("shards", f"{self._shards:,}{', by a hybrid' if self._hybrid else ''}"),
            ("memory", "GPU" if self.on_device else "host" if not self._hybrid else "by worker"),
            ("built", KEPT if kept else LAZY),
        ]
        return rows + [(name, f"{number:,}") for name, number in sorted(self._numbers.items())]

    def __repr__(self) -> str:
        return as_text(self._rows())

    def _repr_html_(self) -> str:
        return as_html(self._rows())

    def persist(self) -> Graph:
        """Build the graph now, and keep it where it was built.

        Returns
        -------
        Graph
            The same, built.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> g = gf.Graph(gf.generate.grid(3, 3), source="src", target="dst").persist()
        >>> g.num_edges  # of what is there: nothing is read again
        12
        """
        kept = object.__new__(Graph)
        (built,) = dask.persist(self._built)
        # Not what it was built of, or that would be kept too.
        kept.__dict__.update(self.__dict__, _built=built, _build=None, _turned=None, _numbers={})
        return kept

    @property
    def num_vertices(self) -> int:
        """Vertices with an edge: int. Builds the graph, unless it was persisted.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> gf.Graph(gf.generate.grid(3, 3), source="src", target="dst").num_vertices
        9
        """
        return self._number("vertices", _num_vertices, num_vertices_many)

    @property
    def num_edges(self) -> int:
        """Edges, after `multi`: int. Builds the graph, unless it was persisted.

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
        return self._number("edges", _num_edges, num_edges_many)

    def degrees(self) -> Any:
        """Return how many edges leave and enter each vertex, after `multi`.

        Returns
        -------
        dask.dataframe.DataFrame
            Columns ``vertex``, ``in_degree`` and ``out_degree``, or ``vertex`` and ``degree`` where
            edges have no direction: int64, sorted by vertex. A self-loop counts once. Lazy. The index
            counts from 0 in each partition.

        Examples
        --------
        >>> import pandas as pd
        >>> import dask_graphflow as gf
        >>> links = pd.DataFrame({"a": [1, 1, 2], "b": [2, 5, 5]})
        >>> gf.Graph(links, source="a", target="b").degrees().compute()
           vertex  in_degree  out_degree
        0       1          0           2
        1       2          1           1
        2       5          2           0
        """
        names = ["in_degree", "out_degree"] if self.directed else ["degree"]
        return self.ask("degrees", _degrees, dict.fromkeys(names, "int64"), many=degrees_many)

    def layout(self) -> Any:
        """Return what lies where. Builds the graph, unless it was persisted.

        Returns
        -------
        dask.dataframe.DataFrame
            A row a shard, of which a graph in one process has one: ``shard``; ``kind``, "gpu" or "cpu", of
            the worker that has it; ``vertices`` with an edge; ``edges`` that leave them, as rows have them:
            those without direction twice; ``share`` of the ends of all edges; ``remote``, the distinct
            vertices of other shards that its edges lead to, each of which is one message; and ``beta``,
            those over its edges (TOTEM [1]_).

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
        if self._members:
            return self._gang(layout_many, layout_frame([]), name="layout")
        result = gathered.run(self._built, "layout", layout_one)
        return gathered.frames(result, [0], layout_frame([]))

    def bfs(
        self,
        sources: Any,
        *,
        depth_limit: int | None = None,
        direction: str = "beamer",
        trace: bool = False,
        progress: Any = False,
    ) -> Any:
        """Search breadth first: see :func:`dask_graphflow.bfs`.

        Parameters
        ----------
        sources : id, or list, Series or DataFrame of ids
            Where to begin. An id of several columns is a tuple, and a single one is one source.
        depth_limit : int, optional
            Go no further than this many edges.
        direction : {"beamer", "gemini", "push", "pull"}
            When to pull.
        trace : bool
            Return the supersteps too.
        progress : bool or callable
            Tell of each superstep as it ends.

        Returns
        -------
        dask.dataframe.DataFrame
            Columns ``vertex``, ``distance`` (int32) and ``predecessor``, of the vertices that were reached,
            sorted by vertex. Lazy. With `trace`, a pair of this and a row a superstep.

        Raises
        ------
        UnknownVertexError
            When it is computed: a source that no edge begins or ends at.
        OptionError, VertexTypeError, EdgeListError
            What is wrong with the call.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> g = gf.Graph(gf.generate.path(4), source="src", target="dst")
        >>> g.bfs(sources=[1]).compute().distance.tolist()
        [0, 1, 2]
        """
        from .bfs import search

        how: dict[str, Any] = {"direction": direction, "trace": trace, "progress": progress}
        return search(self, sources, depth_limit=depth_limit, **how)

    def sssp(
        self,
        sources: Any,
        *,
        cutoff: float | None = None,
        trace: bool = False,
        progress: Any = False,
    ) -> Any:
        """Find shortest paths: see :func:`dask_graphflow.sssp`.

        Parameters
        ----------
        sources : id, or list, Series or DataFrame of ids
            Where to begin. An id of several columns is a tuple, and a single one is one source.
        cutoff : float, optional
            Go no further than this, in the weights' unit.
        trace : bool
            Return the supersteps too.
        progress : bool or callable
            Tell of each superstep as it ends.

        Returns
        -------
        dask.dataframe.DataFrame
            Columns ``vertex``, ``distance`` (float64) and ``predecessor``, of the vertices that were
            reached, sorted by vertex. Lazy. With `trace`, a pair of this and a row a superstep.

        Raises
        ------
        WeightError
            The graph has no weights; when it is computed: a weight is negative or NaN.
        UnknownVertexError
            When it is computed: a source that no edge begins or ends at.
        OptionError, VertexTypeError, EdgeListError
            What is wrong with the call.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> roads = gf.generate.path(4).assign(km=0.5)
        >>> g = gf.Graph(roads, source="src", target="dst", weight="km")
        >>> g.sssp(sources=[1]).compute().distance.tolist()
        [0.0, 0.5, 1.0]
        """
        from .sssp import shortest_paths

        return shortest_paths(self, sources, cutoff=cutoff, trace=trace, progress=progress)

    def pagerank(
        self,
        *,
        alpha: float = 0.85,
        tol: float | None = 1e-6,
        max_iter: int = 100,
        personalization: Any = None,
        precision: str = "float64",
        fail_on_nonconvergence: bool = True,
        trace: bool = False,
        progress: Any = False,
    ) -> Any:
        """Rank the vertices: see :func:`dask_graphflow.pagerank`.

        Parameters
        ----------
        alpha, tol, max_iter, personalization, precision, fail_on_nonconvergence, trace, progress
            As of that function.

        Returns
        -------
        dask.dataframe.DataFrame
            Columns ``vertex`` and ``pagerank`` (float64), sorted by vertex. Lazy. With `trace`, a pair of
            this and a row an iteration.

        Raises
        ------
        ConvergenceError
            When it is computed: `max_iter` was reached first.
        WeightError
            When it is computed: a weight is negative, infinite or NaN.
        UnknownVertexError
            When it is computed: `personalization` names an id that no edge begins or ends at.
        OptionError, VertexTypeError, EdgeListError
            What is wrong with the call.

        Examples
        --------
        >>> import pandas as pd
        >>> import dask_graphflow as gf
        >>> ring = pd.DataFrame({"a": [0, 1, 2, 3], "b": [1, 2, 3, 0]})
        >>> g = gf.Graph(ring, source="a", target="b")
        >>> g.pagerank(alpha=0.9).compute().pagerank.tolist()
        [0.25, 0.25, 0.25, 0.25]
        """
        from .pagerank import rank

        return rank(
            self,
            alpha=alpha,
            tol=tol,
            max_iter=max_iter,
            personalization=personalization,
            precision=precision,
            fail_on_nonconvergence=fail_on_nonconvergence,
            trace=trace,
            progress=progress,
        )

    def label_propagation(
        self, *, max_iter: int = 10, trace: bool = False, progress: Any = False
    ) -> Any:
        """Find communities: see :func:`dask_graphflow.label_propagation`.

        Parameters
        ----------
        max_iter : int
            Iterations at most; fewer where no label changes any more.
        trace : bool
            Return the iterations too.
        progress : bool or callable
            Tell of each iteration as it ends.

        Returns
        -------
        dask.dataframe.DataFrame
            Columns ``vertex`` and ``label``, of the ids' dtype, sorted by vertex. Lazy. With `trace`, a
            pair of this and a row an iteration.

        Raises
        ------
        OptionError
            `max_iter` is no whole number above 0.

        Examples
        --------
        >>> import pandas as pd
        >>> import dask_graphflow as gf
        >>> ties = pd.DataFrame({"a": [1, 1, 2, 3, 4, 4, 5], "b": [2, 3, 3, 4, 5, 6, 6]})
        >>> g = gf.Graph(ties, source="a", target="b", directed=False)
        >>> g.label_propagation().compute().label.tolist()
        [1, 1, 1, 3, 3, 3]
        """
        from .label_propagation import propagate

        return propagate(self, max_iter=max_iter, trace=trace, progress=progress)

    def connected_components(self, *, trace: bool = False, progress: Any = False) -> Any:
        """Find the connected components of a graph whose edges have no direction, by the smallest label.

        For a graph that was built for something else: :func:`dask_graphflow.connected_components` needs
        none, and is several times faster than building one.

        Parameters
        ----------
        trace : bool
            Return the supersteps too.
        progress : bool or callable
            Tell of each superstep as it ends; see :func:`dask_graphflow.bfs`.

        Returns
        -------
        dask.dataframe.DataFrame
            Columns ``vertex`` and ``component``, as from that function. Lazy. With `trace`, a pair of this
            and a row a superstep.

        Raises
        ------
        OptionError
            The graph is directed.

        Examples
        --------
        >>> import pandas as pd
        >>> import dask_graphflow as gf
        >>> ties = pd.DataFrame({"a": [1, 5, 8], "b": [5, 2, 9]})
        >>> g = gf.Graph(ties, source="a", target="b", directed=False)
        >>> g.connected_components().compute().component.tolist()
        [1, 1, 1, 8, 8]
        """
        from .programs import COMPONENTS, run

        if self.directed:
            raise OptionError(
                "components are of edges without direction; build the graph with directed=False, or call "
                "connected_components on the edges"
            )
        columns = {"component": "vertex"}
        return run(self, COMPONENTS, columns=columns, trace=trace, progress=progress)

    def run(
        self,
        op: EdgeOp,
        *,
        columns: Mapping[str, Any],
        start: Any = None,
        max_iter: int | None = None,
        direction: str = "gemini",
        balance: str = "auto",
        trace: bool = False,
        progress: Any = False,
    ) -> Any:
        """Run an edge program until no vertex changes: see :class:`dask_graphflow.EdgeOp`.

        Parameters
        ----------
        op : EdgeOp
            The program.
        columns : dict of str to number, or "vertex"
            What each of the program's columns begins with: an int makes a column of int64, a float one of
            float64, a NumPy number one of its type. ``"vertex"`` is the vertex itself: the column holds
            ids in `start` and in the result, and vertex numbers inside the program, which are 0 to n - 1
            in the order of the ids.
        start : DataFrame, optional
            Vertices that begin with other values, and from which the program begins: the ids in the first
            columns, and columns of the program's, no others. Values must fit the column's dtype. By
            default the program begins everywhere.
        max_iter : int, optional
            Supersteps at most.
        direction : {"gemini", "beamer", "push", "pull"}, optional
            When to pull; see :func:`dask_graphflow.bfs`.
        balance : {"auto", "thread", "twc", "lb", "lb_light", "lb_cull", "lb_light_cull", "all_edges"}, \
optional
            How edges are shared out to a GPU's threads (Gunrock [1]_): by rows, by their lengths, or
            evenly. The host has "auto", "thread" and "all_edges". Every shard uses it, and the result is
            the same; "all_edges" is for programs that never push from a frontier: ``direction="pull"``.
        trace : bool, optional
            Return the supersteps too.
        progress : bool or callable, optional
            Tell of each superstep as it ends; see :func:`dask_graphflow.bfs`.

        Returns
        -------
        dask.dataframe.DataFrame
            Column ``vertex`` and the program's, of all vertices, sorted by vertex. Lazy.
        dask.dataframe.DataFrame
            With `trace`, a row a superstep; see :func:`dask_graphflow.bfs`.

        Raises
        ------
        OptionError, UnknownColumnError, ExpressionError, WeightError
            What is wrong with the program or with what it is given.
        EdgeListError
            `start` is not a frame, or gives a vertex different values.
        UnknownVertexError
            When it is computed: `start` names an id that is not a vertex.

        References
        ----------
        .. [1] Y. Wang, Y. Pan, A. Davidson et al., "Gunrock: GPU Graph Analytics", ACM Transactions on
           Parallel Computing 4(1), 2017.

        Examples
        --------
        How much fits through the widest way from a vertex:

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
        from .programs import run

        how: dict[str, Any] = {"direction": direction, "balance": balance, "max_iter": max_iter}
        return run(self, op, columns=columns, start=start, trace=trace, progress=progress, **how)

    def ask(
        self,
        name: str,
        work: Callable[..., Answer],
        dtypes: dict[str, Any],
        *arguments: Any,
        many: Callable[..., Answer] | None = None,
        turned: bool = False,
        trace: bool = False,
        progress: Any = False,
    ) -> Any:
        """Return, lazily, what an algorithm finds as a frame of vertices.

        Parameters
        ----------
        name : str
            What the task is called.
        work : callable
            Takes the ``dask_graphflow.graph.shards.Shards``, the number of threads and `arguments`.
        dtypes : dict
            The result's columns after the vertex's, and their dtypes; "id" for ids of vertices, "id or
            null" where some have none.
        *arguments
            That can be pickled.
        many : callable, optional
            Does the same as a member of a gang: takes its ``dask_graphflow.graph.shard.Shard``, the
            ``dask_graphflow.dataflow.exchange.Exchange``, the number of threads and `arguments`.
        turned : bool
            Whether `many` asks for nothing but the edges that enter vertices: a graph that is not kept is
            built for that alone.
        trace : bool
            Return the supersteps too.
        progress : bool or callable
            Who is told of them as they end; see :func:`dask_graphflow.bfs`.

        Returns
        -------
        dask.dataframe.DataFrame
            The vertices and `dtypes`. With `trace`, a pair of this and a row a superstep.

        Raises
        ------
        OptionError
            The graph has several shards, and there is no `many`; or `progress` is neither.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> from dask_graphflow.algorithms.answers import Answer
        >>> def odd(shards, threads):
        ...     return Answer({"odd": shards.out_degrees(threads) % 2 == 1})
        >>> g = gf.Graph(gf.generate.path(3), source="src", target="dst", directed=False)
        >>> g.ask("odd", odd, {"odd": "bool"}).compute().odd.tolist()
        [True, False, True]
        """
        kinds = tuple(dtypes.items())
        if kinds not in self._metas:
            empty = {column: empty_values(self._ids, dtype) for column, dtype in kinds}
            self._metas[kinds] = framed(self._ids, empty)
        told = Progress(listener(progress, name))
        how: dict[str, Any] = {"dtypes": dtypes, "trace": trace, "progress": told}
        if self._members:
            if many is None:
                raise OptionError(
                    f"{name} is found in one process, and this graph has "
                    f"{counted(self._shards, 'shard')}; build it with shards=1"
                )
            answer = partial(answered_many, work=many, **how)
            meta = None if trace else self._metas[kinds]
            found = told.of(self._gang(answer, meta, *arguments, name=name, turned=turned))
            if not trace:
                return found
            return (
                gathered.columns(found, 0, self._metas[kinds]),
                gathered.columns(found, 1, steps_frame([], 0)),
            )
        answer = partial(answered, work=work, parts=self._parts, **how)
        result = told.of(gathered.run(self._built, name, answer, *arguments))
        found = gathered.frames(result, range(self._parts), self._metas[kinds])
        if not trace:
            return found
        return found, gathered.frames(result, [self._parts], steps_frame([]))

    def sources(self, sources: Any) -> Any:
        """Return ids that a caller named as a frame, or raise where they are of another type.

        Parameters
        ----------
        sources : id, or list, Series or DataFrame of ids
            An id of several columns is a tuple, and a single tuple of as many parts is one id.

        Returns
        -------
        pandas.DataFrame or cudf.DataFrame
            The ids as the graph has them, a row each.

        Raises
        ------
        VertexTypeError, EdgeListError
            They are of another type, or there is none, or a null.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> g = gf.Graph(gf.generate.path(3), source="src", target="dst")
        >>> g.sources([0, 2]).to_numpy().tolist()
        [[0], [2]]
        """
        return named(sources, self._ids)

    def _number(self, name: str, work: Callable[..., int], many: Callable[..., int]) -> int:
        task = f"num-{name}"
        if self._members:
            found = int(self._gang(many, None, name=task)[0].compute())
        else:
            found = int(gathered.run(self._built, task, work).compute())
        if self._build is None:
            self._numbers[name] = found
        return found

    def _gang(
        self, loop: gang.Loop, meta: Any, *arguments: Any, name: str, turned: bool = False
    ) -> Any:
        how: dict[str, Any] = {"name": name, "alone": self.on_device or self._hybrid}
        if not turned or self._turned is None:
            return gang.run(self._built, loop, meta, *arguments, **how)
        spreading, build = self._turned
        both = partial(_built_for, build=build, loop=loop)
        return spreading(both, self._shards, meta, *arguments, **how)


def _built_for(
    channel: Channel, pieces: Any, rank: int, *arguments: Any, build: gang.Loop, loop: gang.Loop
) -> Any:
    """Build a graph and ask it, as a member, in one run."""
    return loop(channel, build(channel, pieces, rank), rank, *arguments)


def _num_vertices(shards: Shards) -> int:
    return int(shards.occurs().sum())


def _num_edges(shards: Shards) -> int:
    return shards.edges(placement.task_threads(1))


def _degrees(shards: Shards, threads: int) -> Answer:
    out = shards.out_degrees(threads)
    if not shards.directed:
        return Answer({"degree": out})
    return Answer({"in_degree": shards.in_degrees(threads), "out_degree": out})
