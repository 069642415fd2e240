"""The generations of a small graph without cycles."""

from __future__ import annotations

import time
from typing import Any

from dask_graphflow.kernels import acyclic as acyclic_kernels
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
    began = time.perf_counter()
    if not g.member.alone_in_memory or len((rows := g.member.rows("out")).ends) > FEW:
        return False
    kernels = acyclic_kernels.of(rows.ends)
    sizes, edges = kernels.remove_generations(rows, ready, entering, generation)
    g.fused(["push"] * len(sizes), sizes, edges, time.perf_counter() - began)
    return True
