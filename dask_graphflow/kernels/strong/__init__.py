"""Strongly connected components of a few vertices, by a depth-first search on the host."""

from __future__ import annotations

from dask_graphflow.kernels.csr import Array, Rows


def find_strong(rows: Rows, remaining: Array, component: Array) -> None:
    """Find the strongly connected components of the remaining vertices, by one thread [1]_.

    Parameters
    ----------
    rows : Rows
        Rows of all vertices, in host memory.
    remaining : array of integers, shape (r,)
        The vertices without a component.
    component : array of integers, shape (V,)
        Negative for the remaining vertices, for which it is set to the smallest vertex of their component.

    References
    ----------
    .. [1] D. J. Pearce, "A Space-Efficient Algorithm for Finding Strongly Connected Components",
       Information Processing Letters 116, 2016.
    """
    from . import host

    host.find_strong(rows, remaining, component)
