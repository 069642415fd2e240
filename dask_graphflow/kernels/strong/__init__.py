"""Strongly connected components of a few vertices, by a depth-first search on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array, Rows


class StrongKernels(Protocol):
    """What :mod:`.strong.host` can do."""

    def find_strong(self, rows: Rows, remaining: Array, component: Array) -> None:
        """Find the strongly connected components of the remaining vertices, by one thread [1]_.

        Parameters
        ----------
        rows : Rows
            Rows of all vertices, in host memory.
        remaining : array of integers, shape (r,)
            The vertices without a component.
        component : array of integers, shape (V,)
            Negative for the remaining vertices. Each is set to the smallest vertex of its component.

        References
        ----------
        .. [1] D. J. Pearce, "A Space-Efficient Algorithm for Finding Strongly Connected Components",
           Information Processing Letters 116, 2016.
        """


of: Callable[[Any], StrongKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import host

    _host: StrongKernels = host
