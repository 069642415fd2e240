"""The edges of a built graph between some of its vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.api.graph import Graph
from dask_graphflow.calls.call import Call
from dask_graphflow.declarations.answer import Answer
from dask_graphflow.graph import vertex_ids
from dask_graphflow.graph.frames import to_pandas
from dask_graphflow.operators.edge_set import edges_among
from dask_graphflow.operators.view import GraphView
from dask_graphflow.tasks.clients import compute


def adjacency(graph: Graph, ids: pd.DataFrame) -> np.ndarray:
    """Return the edges between the vertices of a frame, as pairs of row numbers: shape (m, 2).

    Parallel edges give one pair. Pairs are sorted.
    """
    dtypes = dict.fromkeys(("source", "target"), "int64")
    named = vertex_ids.named(ids, graph._shards.spec.ids)
    call = Call("adjacency", _adjacent, dtypes, rows="listed")
    (pairs,) = compute(call.send(graph._shards, named))
    return np.unique(to_pandas(pairs).to_numpy(), axis=0)


def _adjacent(g: GraphView, ids: Any) -> Answer:
    """Return the edges that leave the vertices of this member, as pairs of row numbers of `ids`."""
    source, target = edges_among(g, ids)
    return Answer({"source": source, "target": target})
