"""Blocks of a spanning tree on the host: edges outside of the tree join the tree edges of their cycles.

The tree edges of a block are joined in a forest as in :mod:`.common.host`. Several threads join at the same time.
"""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.common.host import _find, _unite
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.host_threads import MINI_CHUNK, even_turns, run, take


@_compiled
def _join_cycle(above, block, u, v):  # type: ignore[no-untyped-def]
    none = above.dtype.type(-1)
    of_u, of_v = none, none
    while u != v:
        # The vertex with the larger label is not above the other one, so the edge above it is on the cycle.
        if u > v:
            edge = _find(block, u)
            if of_u != none and of_u != edge:
                _unite(block, of_u, edge)
            of_u, u = edge, above[edge]
        else:
            edge = _find(block, v)
            if of_v != none and of_v != edge:
                _unite(block, of_v, edge)
            of_v, v = edge, above[edge]
    if of_u != none and of_v != none and of_u != of_v:
        _unite(block, of_u, of_v)


@_compiled
def _join_cycles(offsets, ends, first, label, above, block, ranges, part):  # type: ignore[no-untyped-def]
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for i in range(start, stop):
            own = label[first + i]
            for k in range(np.uint64(offsets[i]), np.uint64(offsets[i + 1])):
                other = label[np.uint64(ends[k])]
                # Each edge is also in the row of its other end. Most have both ends in the same block.
                if own < other and block[own] != block[other]:
                    _join_cycle(above, block, other, own)
        start, stop = take(ranges, part, MINI_CHUNK)


def join_cycles(
    rows: Rows, label: np.ndarray, above: np.ndarray, block: np.ndarray, *, threads: int = 1
) -> None:
    """Join the tree edges of each cycle that consists of an edge and of tree edges.

    A tree edge has the label of its lower end. On the path from each end of an edge towards the root, the
    next tree edge is joined with the one before it, and then the edges between them and the top of their
    block are skipped, until both paths meet [1]_. So two joined edges always share a vertex, and the top of
    a block is the upper end of its edge with the smallest label, whatever other threads do meanwhile.

    Parameters
    ----------
    rows : Rows
        Some rows of a graph, with each edge in the rows of both of its ends. They can contain tree edges.
    label : ndarray of integers, shape (V,)
        Label of each vertex. A vertex of a tree has a larger label than all vertices of a smaller level.
    above : ndarray of the dtype of `label`, shape (V,)
        Label of the vertex above each label in the tree. It is not read for roots.
    block : ndarray of the dtype of `label`, shape (V,)
        A forest of the labels; changed in place.

    References
    ----------
    .. [1] J. Westbrook, R. E. Tarjan, "Maintaining Bridge-Connected and Biconnected Components On-Line",
       Algorithmica 7, 1992.
    """
    count = len(rows.offsets) - 1
    ranges = even_turns(count, threads, rows.offsets)
    run(_join_cycles, ranges, *rows[:2], rows.first, label, above, block)
