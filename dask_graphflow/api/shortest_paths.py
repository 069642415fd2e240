"""The vertices of shortest paths, from the result of a search or between the vertices of pairs."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import dask.dataframe as dd
from dask.typing import no_default

from dask_graphflow.exceptions import ArgumentError
from dask_graphflow.showing.arguments import explained

from .calls import refuse_options
from .graph import Graph
from .path_calls import between_pairs, follow_result
from .signatures import READING
from .types import ColumnName, ColumnNames, Multi

ADVICE = (
    "it reads the result of sssp or bfs, as in shortest_paths(sssp(edges, sources=..., weight=...), "
    "targets=...)"
)

DEFAULTS = {option.name: option.default for option in READING}


@partial(explained, advice=ADVICE)
def shortest_paths(
    result: Any,
    targets: Any = None,
    *,
    pairs: Any = None,
    source: ColumnNames | None = None,
    target: ColumnNames | None = None,
    weight: ColumnName | None = no_default,
    directed: bool | None = None,
    multi: Multi = "keep",
    vertices: Any = None,
    dropna: bool = False,
    device: Literal["gpu"] | None = None,
) -> dd.DataFrame:
    """Return the vertices on shortest paths: to each target of a search, or of each pair of vertices.

    With `targets`, the paths follow the predecessors in a result of :func:`dask_graphflow.bfs` or
    :func:`dask_graphflow.sssp`. The workers that hold the result compute them. With `pairs`, a graph is
    searched from the first vertex of each pair until its last vertex is reached.

    Parameters
    ----------
    result : DataFrame of Dask, pandas or cuDF, or Graph
        With `targets`, all rows of a result of `bfs` or `sssp`, called without its option `targets`. If it
        was called with `by_source`, give the rows of one source, without the column ``source``. With
        `pairs`, the edges or a graph.
    targets : id, or list, Series or DataFrame of ids, optional
        Last vertices of the paths. If ids have several columns, write each id as a tuple; a single tuple
        with one part per column is one target.
    pairs : DataFrame, optional
        Pairs of a first and a last vertex, as for :meth:`dask_graphflow.Graph.shortest_paths`.
    source, target, weight, directed, multi, vertices, dropna, device
        With `pairs` and a frame of edges, how they are read; see :class:`dask_graphflow.Graph`.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex on a path, sorted by target, then by step, with the columns ``target`` (the dtype
        of the ids), ``step`` (int32, 0 at the source) and ``vertex`` (the dtype of the ids). A target that
        has no row in `result` is left out. With `pairs`, there are also the columns ``source`` and
        ``length``; see :meth:`dask_graphflow.Graph.shortest_paths`.

    Raises
    ------
    EdgeListError, VertexTypeError, UnknownColumnError, OptionError
        An argument is invalid; raised at the call.
    UsageError
        `result` lacks the row of a vertex on a path; raised when the paths are computed.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> links = pd.DataFrame({"a": [1, 1, 2, 5], "b": [2, 5, 7, 7]})
    >>> reached = gf.bfs(links, source="a", target="b", sources=[1])
    >>> gf.shortest_paths(reached, targets=[7]).compute()
       target  step  vertex
    0       7     0       1
    1       7     1       2
    2       7     2       7
    >>> trips = pd.DataFrame({"start": [1, 2], "end": [7, 1]})
    >>> gf.shortest_paths(links, source="a", target="b", pairs=trips).compute()
       source  target  length  step  vertex
    0       1       7     2.0     0       1
    1       1       7     2.0     1       2
    2       1       7     2.0     2       7
    """
    reading: dict[str, Any] = {
        "source": source, "target": target, "weight": weight, "directed": directed, "multi": multi,
        "vertices": vertices, "dropna": dropna, "device": device,
    }  # fmt: skip
    if pairs is not None and targets is None:
        if isinstance(result, Graph):
            refuse_options("shortest_paths", reading, DEFAULTS)
            return between_pairs(result._shards, pairs)
        return between_pairs(Graph(result, **reading)._shards, pairs)
    if targets is None or pairs is not None or isinstance(result, Graph):
        raise ArgumentError(
            "shortest_paths needs either the result of a search and targets, or a graph or edges and "
            f"pairs. With targets, {ADVICE}; pairs are a frame of first and last vertices, as in "
            "shortest_paths(edges, pairs=...)"
        )
    refuse_options("shortest_paths", reading, DEFAULTS)
    return follow_result(result, targets)
