"""Edges that a caller gives in other forms than a frame: matrices, arrays, pairs and NetworkX graphs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from dask.typing import no_default

from dask_graphflow.exceptions import EdgeListError, VertexTypeError, WeightError
from dask_graphflow.graph import dtypes, edgelist, frames
from dask_graphflow.graph.arrow import Choose, as_frame
from dask_graphflow.graph.vertex_ids import typed
from dask_graphflow.showing.values import shown

from . import adjacency_rows

ENDS = ["source", "target"]
VALUES = "weight"  # the column with the values of a matrix
PAIRS = (tuple, list, np.ndarray)
FORMS = (
    "edges can be a DataFrame of Dask, pandas, cuDF, polars, PyArrow or DuckDB, a SciPy sparse matrix, a "
    "NumPy array of shape (m, 2), a list of pairs, or a NetworkX graph"
)


class EdgeRows(NamedTuple):
    """Edges as a frame."""

    # DataFrame of Dask, pandas or cuDF. One row per edge. If the given edges were not a frame, its columns
    # are ``source``, ``target`` and, if they have weights, one more.
    frame: Any
    # Series or None. All vertex ids, if the given edges also have vertices without an edge.
    vertices: Any
    directed: bool  # whether edges lead only from their source to their target
    weight: Any  # column name or None. The column of the frame with the weights.


def values_of(given: Any) -> Any:
    """Return the column with the values of a sparse matrix, or None for edges in another form."""
    return VALUES if _is_matrix(given) else None


def as_edges(
    given: Any,
    source: Any,
    target: Any,
    *,
    weight: Any = None,
    directed: bool | None = None,
    columns: Any = None,
) -> EdgeRows:
    """Return edges in any of the supported forms as a frame, or raise if they are in none of these forms.

    Parameters
    ----------
    given : object
        The edges.
    source, target : column name, list of column names, or None
        The columns of a frame that hold the ids; None for the usual names.
    weight : column name, None or no_default
        The column of a frame or the edge attribute with the weights; None if the caller needs none. The
        default is the values of a matrix unless all of them are 1, and None for other edges.
    directed : bool or None
        Whether the caller wants directed edges. None reads a symmetric matrix and an undirected graph of
        NetworkX as undirected, and other edges as directed.
    columns : column name, list of column names, or None
        Further columns of a frame that the caller needs.
    """
    if isinstance(given, type):
        raise EdgeListError(_why_not(given))
    if _is_matrix(given):
        return _of_matrix(given, weight, directed)
    if weight is no_default:
        weight = None
    used = partial(edgelist.used_columns, source, target, weight, columns)
    frame = as_frame(given, "edges", used)
    along = directed is not False
    # Checked first, because the columns of a frame can have the names of the attributes below.
    if hasattr(frame, "columns"):
        return EdgeRows(frame, None, along, weight)
    if all(hasattr(given, name) for name in ("is_directed", "nodes", "edges")):
        return _of_networkx(given, weight, along)
    if hasattr(given, "__networkx_backend__"):
        raise EdgeListError(
            f"edges is a graph that was converted for NetworkX's backend {given.__networkx_backend__!r}, "
            "which only functions of NetworkX take. Give the graph of NetworkX that was converted"
        )
    if isinstance(given, np.ndarray):
        return EdgeRows(_of_array(given, used), None, along, weight)
    if _lists(given):
        return EdgeRows(_of_pairs(list(given)), None, along, weight)
    raise EdgeListError(_why_not(given))


def _is_matrix(given: Any) -> bool:
    """Say whether a value is a sparse matrix; the columns of a frame can have any name."""
    if frames.is_pandas(type(given)):  # it takes long to say that it has no attribute
        return False
    return hasattr(given, "tocsr") and not hasattr(given, "columns")


def _lists(given: Any) -> bool:
    """Say whether a value may be a list of pairs, or another iterable of pairs."""
    single = isinstance(given, str | bytes | os.PathLike | dict)
    return isinstance(given, Iterable) and not single and not hasattr(given, "dtype")


def _of_matrix(matrix: Any, weight: Any, directed: bool | None) -> EdgeRows:
    """Return the entries of a sparse matrix as edges from their row to their column."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise EdgeListError(
            f"edges is a sparse matrix of shape {matrix.shape}; an adjacency matrix is square, with one "
            "row and one column per vertex. For two kinds of vertices, give "
            "scipy.sparse.block_array([[None, edges], [edges.T, None]])"
        )
    rows = _rows(matrix)
    if weight is no_default:
        weight = None if (rows.data == 1).all() else VALUES
    symmetric = directed is None and _is_symmetric(rows)
    entries = rows.tocoo(copy=False)
    columns = {"source": entries.row, "target": entries.col}
    if weight is not None:
        columns[VALUES] = _weights(entries.data)
    frame = pd.DataFrame(columns, copy=False)
    if symmetric or directed is False:
        upper = entries.row <= entries.col
        if not upper.all() and not (entries.row >= entries.col).all():
            if not symmetric and not _is_symmetric(rows, values=weight is not None):
                raise EdgeListError(
                    "edges is a sparse matrix that is neither symmetric nor triangular; in an undirected "
                    "graph, each edge has one entry, or two equal ones. Give edges.maximum(edges.T), or "
                    "directed=True"
                )
            frame = frame[upper]
    vertices = pd.Series(np.arange(len(rows.indptr) - 1, dtype=entries.row.dtype))
    return EdgeRows(frame, vertices, not symmetric and directed is not False, weight)


def _rows(matrix: Any) -> Any:
    """Return a matrix as sorted compressed rows, in which duplicate entries are added up."""
    rows = matrix.tocsr()  # leaves a CSR matrix as it is
    if getattr(matrix, "format", "") == "bsr":
        rows.eliminate_zeros()  # they fill up the blocks; other zeros are edges of weight 0
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _is_symmetric(rows: Any, *, values: bool = True) -> bool:
    """Say whether a matrix, as :func:`_rows` returns it, equals its transpose; NaN equals NaN."""
    size = len(rows.indptr) - 1
    if not np.array_equal(np.bincount(rows.indices, minlength=size), np.diff(rows.indptr)):
        return False  # most matrices that are not symmetric, without a copy
    columns = rows.tocsc()
    same = np.array_equal(rows.indices, columns.indices)
    return same and (not values or np.array_equal(rows.data, columns.data, equal_nan=True))


def _weights(values: np.ndarray) -> np.ndarray:
    """Return the values of a matrix, or raise if they cannot be weights."""
    if dtypes.is_number(values.dtype):
        return values
    advice = "abs(edges) or edges.real" if values.dtype.kind == "c" else "edges.astype('float64')"
    raise WeightError(
        f"edges is a sparse matrix of {values.dtype}, and its values are the weights; a weight is a real "
        f"number of at most 64 bits. Give {advice}"
    )


def _of_networkx(graph: Any, weight: Any, directed: bool) -> EdgeRows:
    """Return the edges and nodes of a graph of NetworkX, in which a missing weight counts as 1."""
    try:
        nodes = _ids(list(graph))
    except VertexTypeError as error:
        raise VertexTypeError(
            f"edges is a graph with nodes such as {shown(next(iter(graph)))}, and they cannot be ids; ids "
            "are all integers, all text, or all dates or times. Give "
            "nx.convert_node_labels_to_integers(edges, label_attribute='name')"
        ) from error
    directed = directed and graph.is_directed()
    rows = adjacency_rows.plain_rows(graph, list(graph))
    if rows is None or weight in ENDS:  # two columns with one name are refused later
        columns = ENDS if weight is None else [*ENDS, weight]
        edges = graph.edges() if weight is None else graph.edges(data=weight, default=1)
        frame = pd.DataFrame(list(edges), columns=columns)
        return EdgeRows(frame.astype(dict.fromkeys(ENDS, nodes.dtype)), nodes, directed, weight)
    sources, targets, data = adjacency_rows.edges_of_rows(
        rows, list(graph), multigraph=graph.is_multigraph(), once=not graph.is_directed()
    )
    ends = [nodes.take(at).reset_index(drop=True) for at in (sources, targets)]
    frame = pd.DataFrame(dict(zip(ENDS, ends, strict=True)), copy=False)
    if weight is not None:
        frame[weight] = adjacency_rows.values_of_attributes(data, {weight: 1})[weight]
    return EdgeRows(frame, nodes, directed, weight)


def _of_array(array: np.ndarray, choose: Choose) -> pd.DataFrame:
    """Return an array of pairs, or the chosen fields of a structured array, as a frame."""
    if array.dtype.names:
        used = choose([*array.dtype.names])
        fields = {name: array[name] for name in array.dtype.names if name in used}
        for name, values in fields.items():
            if values.ndim != 1 or values.dtype.names:
                raise EdgeListError(
                    f"edges is a structured array, and its field {name!r} has the shape {values.shape} and "
                    f"the dtype {values.dtype}; a field has one value per edge. Give a pd.DataFrame with a "
                    f"column for each part, for example edges[{name!r}][:, 0]"
                )
        columns = {name: typed(pd.Series(one, copy=False), "edges") for name, one in fields.items()}
        return pd.DataFrame(columns, copy=False)
    if array.ndim != 2 or array.shape[1] != 2:
        raise EdgeListError(_why_not(array))
    if array.dtype.kind == "f":
        raise VertexTypeError(
            f"edges is an array of {array.dtype}; ids are integers, text, dates or times. If its numbers "
            "are whole, give edges.astype('int64')"
        )
    if array.dtype.kind == "S":
        columns = {name: typed(pd.Series(array[:, at]), "edges") for at, name in enumerate(ENDS)}
        return pd.DataFrame(columns, copy=False)
    frame = pd.DataFrame(array, columns=ENDS, copy=False)
    # Versions of pandas without copy-on-write copy columns of all dtypes.
    return frame.infer_objects() if object in [*frame.dtypes] else frame


def _of_pairs(pairs: list[Any]) -> pd.DataFrame:
    """Return a list of pairs as a frame."""
    for pair in pairs:
        if not isinstance(pair, PAIRS) or len(pair) != 2:
            raise EdgeListError(_no_pair(pair))
    try:
        both = _ids([a for a, _ in pairs] + [b for _, b in pairs])
    except VertexTypeError as error:
        raise VertexTypeError(
            f"edges is a list of pairs such as {shown(pairs[0])}, and some of their ids cannot be ids of "
            "one graph; ids are all integers, all text, or all dates or times. To make them text, give "
            "[(str(a), str(b)) for a, b in edges]"
        ) from error
    target = both[len(pairs) :].reset_index(drop=True)
    return pd.DataFrame({"source": both[: len(pairs)], "target": target}, copy=False)


def _ids(values: list[Any]) -> pd.Series:
    """Return ids as a column, or raise if they cannot be ids. No ids are integers."""
    ids = typed(pd.Series(values, dtype=object if values else "int64"), "edges")
    dtypes.vertex_dtype(ids, "edges")
    return ids


def _no_pair(value: Any) -> str:
    """Return the message for an entry of a list that is not a pair."""
    advice = "give a list such as [(1, 2), (2, 3)]"
    if isinstance(value, tuple | list) and len(value) == 3:
        advice = f"weights need a frame. Give {WEIGHTED}"
    return f"edges has the entry {shown(value)}, which is not a pair of ids; {advice}"


OPTION = " and weight='weight'"
WEIGHTED = f"pd.DataFrame(edges, columns=['source', 'target', 'weight']){OPTION}"


def _why_not(given: Any) -> str:
    """Return the message for a value whose form is not supported."""
    if isinstance(given, str | os.PathLike):
        path = os.fspath(given)
        return f"edges is the path {path!r}; {FORMS}. To read a file, give gf.read_edges({path!r})"
    if isinstance(given, dict):
        return (
            f"edges is a dict; {FORMS}. Give pd.DataFrame(edges) if it has columns, or "
            "[(a, b) for a in edges for b in edges[a]] if it has the neighbors of each vertex"
        )
    if not isinstance(given, np.ndarray):
        kind = type(given)
        return f"edges is a {kind.__module__}.{kind.__name__}; {FORMS}"
    start = f"edges is an array of shape {given.shape}; {FORMS}. "
    if given.ndim == 2 and given.shape[1] == 3:
        return f"{start}For weights, give {WEIGHTED}"
    if given.ndim == 2 and given.shape[0] == 2:
        return start + "Give edges.T"
    if given.ndim == 2 and given.shape[0] == given.shape[1]:
        return start + "If it is an adjacency matrix, give scipy.sparse.csr_array(edges)"
    return start + "Give one row per edge, with its source and its target"
