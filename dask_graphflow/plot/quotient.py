"""The largest communities of a graph, and the numbers of edges between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.algorithms.quotient import COMMUNITIES, NUMBERS
from dask_graphflow.algorithms.quotient import quotient as quotient_of
from dask_graphflow.api.graph import Graph
from dask_graphflow.calls.call import Call
from dask_graphflow.inputs.hold_frame import as_dask

from .drawing import computed


@dataclass(frozen=True)
class Quotient:
    """The largest communities of a graph, the largest first."""

    count: int  # number of all communities
    names: pd.DataFrame  # for each community, the id of the vertex with the most edges
    sizes: np.ndarray  # array of int64, shape (k,). Number of vertices of each community.
    # Array of int64, shape (k, k). Number of edges between two communities; on the diagonal, of edges
    # inside one. Directions and self-loops are left out.
    edges: np.ndarray
    # Array of float64, shape (k,). Share of the edges of each community that stay inside, from 0 to 1; 1 if
    # it has no edge.
    inside: np.ndarray


def quotient(graph: Graph, communities: Any, limit: int) -> Quotient:
    """Return the `limit` largest communities of a graph; at equal size, smaller communities come first."""
    spec = graph._shards.spec
    frames = {
        "communities": COMMUNITIES.check("communities", as_dask(communities, "communities"), spec)
    }
    columns = {"name": "id", **dict.fromkeys(NUMBERS, "int64")}
    call = Call("quotient", quotient_of, columns, rows="listed")
    rows = computed(call.send(graph._shards, limit, frames=frames))
    k = int(rows["first"].max()) + 1 if len(rows) else 0
    names, own = list(rows.columns[: spec.id_width]), rows["first"] == rows["second"]
    ends = rows["edges"].to_numpy().reshape(k, k + 1)
    edges, others = ends[:, :k].copy(), ends[:, k]
    np.fill_diagonal(edges, edges.diagonal() // 2)  # an edge inside has both its ends there
    cut = edges.sum(axis=1) - edges.diagonal() + others
    inside = edges.diagonal() / np.maximum(edges.diagonal() + cut, 1)
    inside[edges.diagonal() + cut == 0] = 1
    largest = rows[own]
    return Quotient(
        int(rows["count"].max()) if k else 0,
        largest[names],
        largest["size"].to_numpy(),
        edges,
        inside,
    )
