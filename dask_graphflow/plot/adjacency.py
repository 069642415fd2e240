"""The edges of a built graph between some of its vertices.

A graph answers by vertex. So each of those that are asked for says which of them its edges lead to: a bit
for each, in as many integers as it takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.algorithms.algorithm import Answer
from dask_graphflow.api.graph import Graph
from dask_graphflow.graph import vertex_ids
from dask_graphflow.kernels import kernels_for
from dask_graphflow.operators.view import GraphView

__all__ = ["adjacency"]

BITS = 62  # of an int64, well clear of its sign


def adjacency(graph: Graph, ids: pd.DataFrame) -> np.ndarray:
    """Return the edges between the vertices that a frame names, as pairs of its rows: shape (m, 2)."""
    words = [f"to_{word}" for word in range(-(-len(ids) // BITS))]
    dtypes = dict.fromkeys(words, "int64")
    found = graph._ask("adjacency", _adjacent, dtypes, vertex_ids.named(ids, graph._ids)).compute()
    found = kernels_for(found).to_pandas(found)
    # Vertices come in the order of their numbers, which need not be that of the rows asked for.
    order = found.merge(ids.assign(__row__=np.arange(len(ids))), on=list(ids.columns))
    masks = order[words].to_numpy()
    bits = (masks[:, :, None] >> np.arange(BITS)) & 1
    at, to = np.nonzero(bits.reshape(len(order), -1))
    return np.column_stack([order["__row__"].to_numpy()[at], to])


def _adjacent(g: GraphView, ids: Any) -> Answer:
    """Answer as a member, for its own vertices."""
    shard = g.shard.host
    own = _host(g.find(ids, unique=False))
    told = g.exchange.all_gather(np.where(own < 0, -1, own + shard.low))
    return _answer(shard.out, np.max(told, axis=0), shard.low, shard.owned)


def _answer(rows: Any, numbers: np.ndarray, low: int, size: int) -> Answer:
    """Return which of some vertices lead to which, of `size` vertices from `low` on."""
    order = np.argsort(numbers)
    words = [np.zeros(size, np.int64) for _ in range(-(-len(numbers) // BITS))]
    among = np.zeros(size, bool)
    offsets = rows.offsets
    for number in numbers[(numbers >= low) & (numbers < low + size)] - low:
        ends = _host(rows.ends[int(offsets[number]) : int(offsets[number + 1])])
        at = np.searchsorted(numbers, ends, sorter=order).clip(max=len(numbers) - 1)
        hits = order[at[numbers[order[at]] == ends]]
        among[number] = True
        for bit in np.unique(hits).tolist():
            words[bit // BITS][number] |= 1 << (bit % BITS)
    there = kernels_for(rows.ends).namespace.asarray
    return Answer({f"to_{i}": there(word) for i, word in enumerate(words)}, there(among))


def _host(values: Any) -> np.ndarray:
    found: np.ndarray = kernels_for(values).to_host(values)
    return found
