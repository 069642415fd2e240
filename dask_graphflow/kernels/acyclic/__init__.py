"""Generations of a graph without cycles, one after another, on the host."""

from __future__ import annotations

from dask_graphflow.kernels.csr import Array, Rows


def remove_generations(
    rows: Rows, ready: Array, entering: Array, generation: Array
) -> tuple[Array, Array]:
    """Remove the vertices that no edge enters, then those that are left with none, by one thread [1]_.

    Parameters
    ----------
    rows : Rows
        Rows of all vertices, in host memory.
    ready : array of integers, shape (r,)
        The vertices that no edge enters.
    entering : array of int64, shape (V,)
        Number of edges that enter each vertex. It is reduced to the number that is left.
    generation : array of int32, shape (V,)
        Set for the vertices that are removed, from 0 on.

    Returns
    -------
    sizes, edges : array of int64, shape (n,)
        The number of vertices of each generation, and of the edges that leave them.

    References
    ----------
    .. [1] A. B. Kahn, "Topological Sorting of Large Networks", Communications of the ACM 5, 1962.
    """
    from . import host

    return host.remove_generations(rows, ready, entering, generation)
