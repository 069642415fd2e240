"""The errors of this library.

::

    GraphflowError
    ├── EdgeListError           the edge list cannot be taken as it is
    │   ├── UnknownColumnError      a column that the frame does not have
    │   ├── NullVertexError         a null where a vertex id is needed
    │   ├── VertexTypeError         ids of a type that cannot name a vertex
    │   └── WeightError             a weight that is missing or not a number
    ├── UnknownVertexError      an id was named that no edge begins or ends at
    ├── ExpressionError         an edge program that is not of the language, or whose types do not fit
    ├── ConvergenceError        an iteration did not come to rest in the steps it was given
    ├── OptionError             an option's value is not one of those allowed
    ├── BackendError            CuPy, cuDF, a GPU or matplotlib is needed and is not there
    ├── GraphMemoryError        a forest does not fit into the memory where it is to lie
    ├── WorkerLostError         a worker was lost, and what it held cannot be made again as it was
    ├── InputFileError          a file that cannot be read
    └── OutputError             a result that cannot be written

Every message says what was given, what is allowed and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "BackendError",
    "ConvergenceError",
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
    "VertexTypeError",
    "WeightError",
    "WorkerLostError",
    "nearest",
]


class GraphflowError(Exception):
    """Base class of every error that this library raises on purpose.

    Each that derives from it is one of Python's own too, such as `ValueError`.

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
    """The edge list cannot be taken as it is.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> gf.connected_components([(1, 2)], source="a", target="b")
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.EdgeListError: edges is a builtins.list; give a Dask DataFrame, or one of \
pandas or cuDF, which is taken as one partition
    """


class UnknownColumnError(EdgeListError):
    """A column was named that the frame does not have.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> import pandas as pd
    >>> edges = pd.DataFrame({"src": [1, 2], "dst": [2, 3]})
    >>> gf.connected_components(edges, source="scr", target="dst")
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.UnknownColumnError: source='scr' is no column of the frame, which has 'src', \
'dst'; did you mean 'src'?
    """


class NullVertexError(EdgeListError):
    """An id column holds nulls and ``dropna`` was not asked for.

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
    """An id column has a type that cannot name a vertex.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> import pandas as pd
    >>> edges = pd.DataFrame({"a": [1.0, 2.0], "b": [2, 3]})
    >>> gf.connected_components(edges, source="a", target="b")
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.VertexTypeError: source='a' has dtype float64; ids are integers, strings, \
categoricals or dates. If the floats are whole numbers with gaps, drop the nulls and use \
edges.astype({'a': 'int64'})
    """


class WeightError(EdgeListError):
    """A weight is missing where one is needed, or is not a number.

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
    """An edge program says what its language cannot, or its types do not fit the columns.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> gf.EdgeOp("hops", target="level", signal="level[src] + one", slot="min")
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.ExpressionError: EdgeOp 'hops': signal: 'one' is neither src, dst, weight \
nor a column's value; a column is read as one[src]
        level[src] + one
                     ^^^
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
fail_on_nonconvergence=False to get the ranks so far
    """


class OptionError(GraphflowError, ValueError):
    """An option was given a value that is not one of those allowed.

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


class BackendError(GraphflowError, RuntimeError):
    """A GPU, CuPy, cuDF or matplotlib is needed and is not there or does not work.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> gf.hybrid_cluster(1_000_000)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.BackendError: gpus=1000000, and there are ... (NVML's count, less what \
CUDA_VISIBLE_DEVICES leaves out); give no more than that, or None for all
    """


class GraphMemoryError(GraphflowError, MemoryError):
    """A forest, or a part of a graph, does not fit into the memory where it is to lie.

    Attributes
    ----------
    needed : int
        Bytes of what there was no room for; 0 where nothing says.
    available : int or None
        Bytes that were there, as far as can be told; None where nothing says.

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

    # Not left to the base classes: a worker would send what it could not restore as an Exception.
    def __reduce__(self) -> tuple[type[GraphMemoryError], tuple[str, int, int | None]]:
        return type(self), (str(self), self.needed, self.available)


class WorkerLostError(GraphflowError, RuntimeError):
    """A worker was lost, and with it something that could not be made again as it was.

    Nothing is wrong with the call or the edges.

    Examples
    --------
    The same call again is right:

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
    """A file cannot be read as an edge list.

    The command line raises it, and ends with its message in one line.

    Examples
    --------
    >>> from dask_graphflow.cli.files import find_files
    >>> find_files(["no-such-folder/edges.csv"])
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.InputFileError: no-such-folder/edges.csv: there is no such file, and no \
folder or glob with files in it
    """


class OutputError(GraphflowError, OSError):
    """A result cannot be written where it was asked for.

    The command line raises it, and ends with its message in one line.

    Examples
    --------
    >>> from dask_graphflow.cli.writing import Output
    >>> Output("labels.txt", overwrite=False)
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.OutputError: labels.txt: its name does not say what to write; end it in \
.parquet or .csv for one file, or in / for a folder of Parquet files
    """


def nearest(name: object, candidates: Iterable[object]) -> str:
    """Say which candidate is spelled most like `name`, as a clause to end a message with.

    Parameters
    ----------
    name : object
        What was given.
    candidates : iterable
        What is allowed.

    Returns
    -------
    str
        Empty where none is like it.

    Examples
    --------
    >>> nearest("pul", ["push", "pull"])
    "; did you mean 'pull'?"
    >>> nearest("sideways", ["push", "pull"])
    ''
    """
    close = difflib.get_close_matches(str(name), [str(c) for c in candidates], n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
