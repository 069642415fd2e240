"""The vertices of shortest paths, from the result of a search."""

from __future__ import annotations

from functools import partial
from typing import Any

import dask.dataframe as dd

from dask_graphflow.algorithms.shortest_paths import (
    id_columns,
    no_paths,
    read,
    sort_targets,
    walk,
)
from dask_graphflow.graph.frames import empty_like
from dask_graphflow.inputs.hold_frame import as_dask
from dask_graphflow.showing.arguments import explained
from dask_graphflow.tasks import gang, gang_build, placement

ADVICE = (
    "it reads the result of sssp or bfs, as in shortest_paths(sssp(edges, sources=..., weight=...), "
    "targets=...)"
)


@partial(explained, advice=ADVICE)
def shortest_paths(result: Any, targets: Any) -> dd.DataFrame:
    """Return the vertices on the shortest path to each target.

    The paths follow the predecessors in a result of :func:`dask_graphflow.bfs` or
    :func:`dask_graphflow.sssp`. The workers that hold the result compute them.

    Parameters
    ----------
    result : dask.dataframe.DataFrame, pandas.DataFrame or cudf.DataFrame
        All rows of a result of `bfs` or `sssp`, called without `targets`. If it was called with
        `by_source`, give the rows of one source, without the column ``source``.
    targets : id, or list, Series or DataFrame of ids
        Last vertices of the paths. If ids have several columns, write each id as a tuple; a single tuple
        with one part per column is one target.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex on a path, sorted by target, then by step, with the columns ``target`` (the dtype
        of the ids), ``step`` (int32, 0 at the source) and ``vertex`` (the dtype of the ids). A target that
        has no row in `result` is left out.

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
    """
    frame = as_dask(result, "result")
    columns = id_columns(frame)
    like = empty_like(frame._meta).reset_index(drop=True)
    width = len(columns) // 2
    ordered = sort_targets(targets, like[columns[:width]])
    members = min(len(placement.slots().workers), int(frame.npartitions))
    reads = gang_build.deal_reads([(frame, columns, partial(read, width=width))], members)
    return gang.run(reads, walk, no_paths(ordered, like), ordered, like, name="shortest-paths")
