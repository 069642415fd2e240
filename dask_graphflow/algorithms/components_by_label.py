"""Connected components of a graph that is built: the smallest label spreads along the edges.

The result has a row for every vertex with its component, which is named after its smallest vertex. Edges
that are not built into a graph have a faster way, which reads them once:
:func:`dask_graphflow.connected_components`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph.build import into
from dask_graphflow.graph.shard import Shard
from dask_graphflow.graph.shards import Shards
from dask_graphflow.kernels import kernels_of

from .algorithm import Answer, View, algorithm
from .programs import COMPONENTS, _run, _run_many

__all__ = ["connected_components"]


@algorithm(columns={"component": "id"}, directed=False)
def connected_components(g: View) -> Answer:
    """Return the connected component of each vertex.

    Use this if the graph is already built. Otherwise call :func:`dask_graphflow.connected_components` on
    the edges: it does not build a graph, and is several times faster than building one. The directions of
    the edges do not matter: in a directed graph the components are the weakly connected ones.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per vertex, sorted by vertex, with the columns ``vertex`` and ``component``, the smallest id
        of the component (both the dtype of the ids).

    Examples
    --------
    >>> import pandas as pd
    >>> import dask_graphflow as gf
    >>> ties = pd.DataFrame({"a": [1, 5, 8], "b": [5, 2, 9]})
    >>> g = gf.Graph(ties, source="a", target="b", directed=False)
    >>> g.connected_components().compute().component.tolist()
    [1, 1, 1, 8, 8]
    """
    settings: dict[str, Any] = {"rule": "gemini", "balance": "auto", "max_iter": None}
    asked = COMPONENTS, {"component": "vertex"}, None, settings
    if g.exchange is None:
        shards = _undirected(g.shard, g.threads) if g.shard.directed else g.shard
        found = _run(shards, g.threads, *asked)
    else:
        shard = g.shard
        if shard.directed:
            shard = _undirected_member(shard, g.exchange, g.threads)
        found = _run_many(shard, g.exchange, g.threads, *asked)
    g.steps = list(found.steps)
    return found


def _undirected(shards: Shards, threads: int) -> Shards:
    """Return a directed graph in one process without its directions."""
    rows = shards.whole(threads=threads)
    owners = kernels_of("rows", rows.ends).owners(rows, rows.ends.dtype, threads=threads)
    return Shards(shards.vertices, owners, rows.ends, directed=False, threads=threads)


def _undirected_member(shard: Shard, exchange: Exchange, threads: int) -> Shard:
    """Return a member's part of a directed graph without its directions; all members call it at once."""
    host = shard.host
    sides = host.out, into(host, exchange)
    kernels = kernels_of("rows", host.out.ends)
    owners = [kernels.owners(rows, rows.ends.dtype, threads=threads) for rows in sides]
    rows = kernels.rows(
        np.concatenate(owners),
        np.concatenate([rows.ends for rows in sides]),
        first=host.low,
        count=host.owned,
        columns=host.size,
        threads=threads,
    )
    about: dict[str, Any] = {"base": host.base, "ids": host.ids, "placed": host.placed}
    found = Shard(host.like, host.bounds, host.rank, rows, directed=False, **about)
    return found if shard is host else found.lifted()
