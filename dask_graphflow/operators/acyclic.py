"""The generations of a small graph without cycles."""

from __future__ import annotations

import time
from typing import Any

from dask_graphflow.kernels import is_on_disk
from dask_graphflow.kernels.acyclic import remove_generations
from dask_graphflow.operators.view import GraphView

FEW = 1 << 20  # edges that one thread follows faster than all threads in supersteps


def number_generations(g: GraphView, ready: Any, entering: Any, generation: Any) -> bool:
    """Find the generations of all vertices in one call, if a single member has few edges in memory.

    If the result is false, nothing has changed.

    Parameters
    ----------
    g : GraphView
    ready : array of index
        Positions of the vertices that no edge enters.
    entering : array of int64, shape (V_p,)
        Number of edges that enter each vertex. It is changed in place.
    generation : array of int32, shape (V_p,)
        Set for all vertices but those on cycles and those that a cycle leads to.
    """
    member, began = g.member, time.perf_counter()
    rows = member.rows("out")
    if not member.alone or member.shard.on_device or is_on_disk(rows.ends) or len(rows.ends) > FEW:
        return False
    sizes, edges = remove_generations(rows, ready, entering, generation)
    g.fused(["push"] * len(sizes), sizes, edges, time.perf_counter() - began)
    return True
