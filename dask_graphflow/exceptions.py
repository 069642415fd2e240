"""The errors of this library.

::

    GraphflowError
    ├── EdgeListError           the edge list, or ids given with it, are invalid
    │   ├── UnknownColumnError      the frame has no such column
    │   ├── NullVertexError         a vertex id is null
    │   ├── VertexTypeError         ids have a type that is not allowed, or different types
    │   └── WeightError             a weight is missing or invalid
    ├── UnknownVertexError      an id is not in the graph
    ├── ExpressionError         an edge program is invalid, or its types do not match
    ├── CycleError              a graph that must not have cycles has one
    ├── ConvergenceError        an algorithm did not converge within max_iter iterations
    ├── OptionError             an option's value is not one of those allowed
    ├── ArgumentError           a function does not have an argument, or needs another one
    ├── UsageError              a call does not work in this place or in this form
    ├── BackendError            a GPU or an optional library is needed and is not there
    ├── GraphMemoryError        a forest or a part of a graph does not fit in memory
    ├── WorkerLostError         a worker was lost, and its data could not be recovered
    ├── InputFileError          a file cannot be read
    └── OutputError             a result cannot be written

Every message says what was wrong, what is allowed and what to do.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "ArgumentError",
    "BackendError",
    "ConvergenceError",
    "CycleError",
    "EdgeListError",
    "ExpressionError",
    "GraphMemoryError",
    "GraphflowError",
    "InputFileError",
    "NullVertexError",
    "OptionError",
    "OutputError",
    "UnknownColumnError",
    "UnknownVertexError",
    "UsageError",
    "VertexTypeError",
    "WeightError",
    "WorkerLostError",
]


class GraphflowError(Exception):
    """Base class of every error that this library raises on purpose.

    Every subclass also derives from a built-in exception, such as `ValueError`.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> try:
    ...     gf.generate.path(0)
    ... except gf.GraphflowError as error:
    ...     print(f"{type(error).__name__}: {error}")
    OptionError: n=0: give a whole number, at least 1
    """


class EdgeListError(GraphflowError, ValueError):
    """The edge list, or ids that are given with it, are invalid.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> gf.connected_components([(1, 2), (3,)])
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.EdgeListError: edges has the entry (3,), which is not a pair of ids; give a \
list such as [(1, 2), (2, 3)]
    """


class UnknownColumnError(EdgeListError):
    """The frame does not have the given column.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> import pandas as pd
    >>> edges = pd.DataFrame({"src": [1, 2], "dst": [2, 3]})
    >>> gf.connected_components(edges, source="scr", target="dst")
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.UnknownColumnError: source='scr' is not a column of the frame, which has \
'src', 'dst'; did you mean 'src'?
    """


class NullVertexError(EdgeListError):
    """A vertex id is null, and ``dropna`` is False.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> import pandas as pd
    >>> edges = pd.DataFrame({"a": ["x", None], "b": ["y", "z"]})
    >>> gf.connected_components(edges, source="a", target="b").compute()
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.NullVertexError: column 'a' has 1 null in a partition of 2 edges; an edge \
needs two ends. Pass dropna=True to leave such edges out, or fill them before
    """


class VertexTypeError(EdgeListError):
    """Vertex ids have a type that is not allowed, or the two ends have different types.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> import pandas as pd
    >>> edges = pd.DataFrame({"a": [1.0, 2.0], "b": [2, 3]})
    >>> gf.connected_components(edges, source="a", target="b")
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.VertexTypeError: source='a' has dtype float64; ids are integers, strings, \
categoricals, dates or times. If they are whole numbers, make them integers, for example with \
edges.astype({'a': 'Int64'})
    """


class WeightError(EdgeListError):
    """A weight is missing, or its value or dtype is not allowed.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> import pandas as pd
    >>> roads = pd.DataFrame({"a": [1, 2], "b": [2, 3], "km": [1.0, -2.0]})
    >>> gf.sssp(roads, source="a", target="b", weight="km", sources=[1]).compute()
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.WeightError: 1 weight is negative or NaN; shortest paths need \
weights of at least 0. Remove these edges
    """


class UnknownVertexError(GraphflowError, ValueError):
    """An id is not in the graph: no edge starts or ends there.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> import pandas as pd
    >>> links = pd.DataFrame({"a": [1, 2], "b": [2, 3]})
    >>> gf.bfs(links, source="a", target="b", sources=[9]).compute()
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.UnknownVertexError: 1 of 1 id is not in the graph: 9; no edge starts \
or ends there. Give ids that have an edge
    """


class ExpressionError(GraphflowError, ValueError):
    """An edge program is not valid, or its types do not match the columns.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> gf.EdgeOp("hops", target="level", signal="level[src] + one", slot="min")
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.ExpressionError: EdgeOp 'hops': signal: 'one' is neither src, dst, weight, \
a parameter nor a column's value; a column is read as one[src]
        level[src] + one
                     ^^^
    """


class CycleError(GraphflowError, ValueError):
    """A graph that must not have cycles has one.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> import pandas as pd
    >>> tasks = pd.DataFrame({"first": [1, 2, 3], "then": [2, 3, 2]})
    >>> gf.topological_order(tasks, source="first", target="then").compute()
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.CycleError: the graph has a cycle through vertex 2; only a graph without \
cycles has a topological order. Remove an edge of each cycle: strongly_connected_components finds the \
vertices that are on cycles together
    """


class ConvergenceError(GraphflowError, RuntimeError):
    """An iteration did not converge within `max_iter` iterations.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> import pandas as pd
    >>> links = pd.DataFrame({"a": [1, 2], "b": [2, 3]})
    >>> gf.pagerank(links, source="a", target="b", max_iter=1).compute()
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.ConvergenceError: after 1 iteration ranks still change by 0.13 per \
vertex, which is not below tol=1e-06; give a larger max_iter or tol, or set \
fail_on_nonconvergence=False to get the result so far
    """


class OptionError(GraphflowError, ValueError):
    """An option has a value that is not allowed.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> import pandas as pd
    >>> links = pd.DataFrame({"a": [1, 2], "b": [2, 3]})
    >>> gf.bfs(links, source="a", target="b", sources=[1], direction="pul")
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.OptionError: direction='pul'; give 'gemini', 'beamer', 'push', 'pull'; did \
you mean 'pull'?
    """


class ArgumentError(GraphflowError, TypeError):
    """A function was called with an argument that it does not have, or without one that it needs.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> import pandas as pd
    >>> links = pd.DataFrame({"a": [1, 2], "b": [2, 3]})
    >>> gf.degrees(links, "a", "b")
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.ArgumentError: degrees() was called with 3 arguments without a name; it \
allows only edges. Name the others, such as degrees(edges, source='a', target='b')
    """


class UsageError(GraphflowError, RuntimeError):
    """A call does not work in this place or in this form. The message names a call that does.

    Examples
    --------
    >>> import dask
    >>> import dask_graphflow as gf
    >>> labels = gf.connected_components(gf.generate.path(5), source="src", target="dst")
    >>> dask.optimize(labels)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.UsageError: dask.optimize() and dask.visualize() do not support this result...
    >>> (found,) = dask.compute(labels)
    >>> len(found)
    5
    """


class BackendError(GraphflowError, RuntimeError):
    """A GPU or an optional library (CuPy, cuDF, matplotlib, SciPy, NetworkX) is missing or does not work.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> gf.hybrid_cluster(1_000_000)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.BackendError: gpus=1000000, but this machine has ... (as NVML \
counts them, without those that CUDA_VISIBLE_DEVICES hides); give at most that number, or None for all of \
them
    """


class GraphMemoryError(GraphflowError, MemoryError):
    """A forest, or a part of a graph, does not fit in memory.

    Attributes
    ----------
    needed : int
        Bytes that were needed; 0 if unknown.
    available : int or None
        Bytes that were available; None if unknown.

    Examples
    --------
    >>> from dask_graphflow import costs, exceptions
    >>> try:
    ...     costs.share_out([3.0, 1.0], room=[0.25, 0.5], nbytes=4000)
    ... except exceptions.GraphMemoryError as error:
    ...     print(error.needed, error.available)
    4000 3000
    """

    def __init__(self, message: str, needed: int, available: int | None) -> None:
        super().__init__(message)
        self.needed = needed
        self.available = available

    # The base classes cannot restore this error from a pickle, so a worker would send a plain Exception.
    def __reduce__(self) -> tuple[type[GraphMemoryError], tuple[str, int, int | None]]:
        return type(self), (str(self), self.needed, self.available)


class WorkerLostError(GraphflowError, RuntimeError):
    """A worker was lost, and its data could not be recovered.

    The call and the edges are valid.

    Examples
    --------
    Make the same call again:

    >>> from dask_graphflow.exceptions import WorkerLostError
    >>> def computed(frame, times=3):
    ...     for _ in range(times - 1):
    ...         try:
    ...             return frame.compute()
    ...         except WorkerLostError:
    ...             pass  # Dask's nanny starts another worker
    ...     return frame.compute()
    >>> import dask_graphflow as gf
    >>> edges = gf.generate.path(5)
    >>> len(computed(gf.connected_components(edges, source="src", target="dst")))
    5
    """


class InputFileError(GraphflowError, OSError):
    """A file cannot be read as an edge list, or a folder cannot be loaded as a graph.

    Raised by :func:`.read_edges`, :func:`.load_graph` and the command line.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> gf.read_edges("no-such-folder/edges.csv")
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.InputFileError: no-such-folder/edges.csv: there is no such file, and no \
folder or glob with files in it. Correct the path
    """


class OutputError(GraphflowError, OSError):
    """A result cannot be written to the requested location.

    Raised by the command line, which then prints the message in one line, and by :meth:`.Graph.save`.

    Examples
    --------
    >>> from dask_graphflow.cli.output import Output
    >>> Output("labels.txt")
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.OutputError: labels.txt: its name does not say what to write; end it in \
.parquet, .csv, .tsv or .jsonl for one file, or in / for a folder of Parquet files
    """


def missing_column(frame: Any, column: Any, where: str) -> UnknownColumnError:
    """Return the error for a partition that lacks one of the columns of Dask's metadata.

    Parameters
    ----------
    frame : DataFrame
        The partition.
    column : column name
        The column that it lacks.
    where : str
        Names the partition in the message, such as "partition 3 of edges".
    """
    have = ", ".join(map(repr, frame.columns)) or "none"
    return UnknownColumnError(
        f"{where} lacks column {column!r}, which Dask's metadata has; the partition's columns are {have}. "
        "Give every partition the same columns: rename the columns of this one, or leave its file out"
    )
