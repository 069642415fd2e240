"""The edges of a built graph between some of its vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.api.graph import Graph
from dask_graphflow.declarations.answer import Answer
from dask_graphflow.graph import vertex_ids
from dask_graphflow.graph.frames import to_pandas
from dask_graphflow.kernels import kernels_for
from dask_graphflow.operators.view import GraphView
from dask_graphflow.runtime.call import Call


def adjacency(graph: Graph, ids: pd.DataFrame) -> np.ndarray:
    """Return the edges between the vertices of a frame, as pairs of row numbers: shape (m, 2).

    Parallel edges give one pair. Pairs are sorted.
    """
    dtypes = dict.fromkeys(("source", "target"), "int64")
    named = vertex_ids.named(ids, graph._shards.spec.ids)
    call = Call("adjacency", _adjacent, dtypes, rows="listed")
    pairs = call.send(graph._shards, named).compute()
    return np.unique(to_pandas(pairs).to_numpy(), axis=0)


def _adjacent(g: GraphView, ids: Any) -> Answer:
    """Return the edges that leave the vertices of this member, as pairs of row numbers of `ids`."""
    shard = g.member.shard.host
    own = _host(g.find(ids, unique=False))
    places = np.max(g.member.exchange.all_gather(np.where(own < 0, -1, own + shard.low)), axis=0)
    order = np.argsort(places)
    sources, targets = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for row in np.flatnonzero(own >= 0).tolist():
        low, high = (int(offset) for offset in shard.out.offsets[own[row] : own[row] + 2])
        ends = _host(shard.out.ends[low:high])
        at = order[np.searchsorted(places, ends, sorter=order).clip(max=len(places) - 1)]
        hits = at[places[at] == ends]
        sources.append(np.full(len(hits), row))
        targets.append(hits)
    there = kernels_for(shard.out.ends).namespace.asarray
    columns = {"source": np.concatenate(sources), "target": np.concatenate(targets)}
    return Answer({name: there(rows) for name, rows in columns.items()})


def _host(values: Any) -> np.ndarray:
    host: np.ndarray = kernels_for(values).to_host(values)
    return host
