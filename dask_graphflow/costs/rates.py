"""Rates: how fast a worker's kernels are, by the size of the graph, as measured or of a typical machine.

Kernels read one entry per vertex at random, and a rate falls once these entries no longer fit in a cache.
So each rate is stored for several numbers of vertices. Between two sizes, the logarithm of the rate is
interpolated linearly over the logarithm of the size. Outside the measured sizes, the rate is constant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dask_graphflow.exceptions import OptionError
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.tables import Table

KERNELS = {
    "hooks": "hook, edges/s",
    "builds": "build, edges/s",
    "pulls": "pull, edges/s",
    "searches": "search, edges/s",
    "paths": "path, edges/s",
    "labels": "label, edges/s",
    "merges": "merge, vertices/s",
}


@dataclass(frozen=True, repr=False)
class Rates(Table):
    """Measured speed of one worker, for graphs of several sizes.

    Parameters
    ----------
    sizes : tuple of int
        Numbers of vertices of the measured graphs, in ascending order. Each tuple below has one rate for
        each size, or is empty if it was not measured.
    hooks : tuple of float
        Edges per second that are hooked into a forest.
    builds : tuple of float
        Edges per second when a graph is built. Here and below, an undirected edge counts twice.
    pulls : tuple of float
        Edges per second in an iteration of PageRank.
    searches : tuple of float
        Edges of the graph divided by the seconds of a complete breadth-first search.
    paths : tuple of float
        Edges of the graph divided by the seconds of complete shortest paths.
    labels : tuple of float
        Edges per second in an iteration of label propagation.
    merges : tuple of float
        Vertices per second when one forest is merged into another.

    Raises
    ------
    OptionError
        The sizes are not ascending, a tuple has rates for only some of the sizes, or a rate is not
        positive.

    Examples
    --------
    Rates are interpolated between the measured sizes, and constant outside them:

    >>> from dask_graphflow.costs import Rates
    >>> rates = Rates((2**12, 2**20), hooks=(4e8, 1e8), merges=(8e8, 2e8))
    >>> round(rates.rate("hooks", 2**16)), round(rates.rate("hooks", 2**30))
    (200000000, 100000000)
    """

    sizes: tuple[int, ...]
    hooks: tuple[float, ...] = ()
    builds: tuple[float, ...] = ()
    pulls: tuple[float, ...] = ()
    searches: tuple[float, ...] = ()
    paths: tuple[float, ...] = ()
    labels: tuple[float, ...] = ()
    merges: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        curves = [getattr(self, name) for name in KERNELS]
        ascending = list(self.sizes) == sorted(set(self.sizes)) and min(self.sizes, default=0) > 0
        lengths = {len(curve) for curve in curves}
        if not ascending or not lengths <= {0, len(self.sizes)}:
            raise OptionError(
                f"rates for the sizes {self.sizes!r}; give ascending numbers of vertices and, for each "
                "kernel, either one rate per size or none"
            )
        wrong = {
            name: curve
            for name, curve in zip(KERNELS, curves, strict=True)
            if not all(0 < rate < math.inf for rate in curve)
        }
        if wrong:
            raise OptionError(f"rates {wrong}; give numbers above 0")

    def _head(self) -> list[str]:
        return ["millions, at V =", *(f"{size:,}" for size in self.sizes)]

    def _rows(self) -> list[list[str]]:
        curves = ((title, getattr(self, name)) for name, title in KERNELS.items())
        return [
            [title, *(f"{rate / 1e6:,.4g}" for rate in rates)] for title, rates in curves if rates
        ]

    def rate(self, kernel: str, vertices: float) -> float:
        """Return the rate of a kernel on a graph with a number of vertices.

        Parameters
        ----------
        kernel : str
            Name of one of the tuples above, such as "pulls".
        vertices : float
            Number of vertices of the graph.

        Returns
        -------
        float
            Edges, vertices or ends of edges per second, as said above.

        Raises
        ------
        OptionError
            There is no such kernel, or its rates are not known.

        Examples
        --------
        >>> from dask_graphflow.costs import Rates
        >>> round(Rates((2**12, 2**20), pulls=(4e8, 1e8)).rate("pulls", 2**16))
        200000000
        """
        if kernel not in list(KERNELS):
            raise OptionError(
                f"kernel={kernel!r}; give {', '.join(map(repr, KERNELS))}{nearest(kernel, KERNELS)}"
            )
        rates = getattr(self, kernel)
        if not rates:
            raise OptionError(
                f"these rates have no {kernel}; give Rates({kernel}=...), or call calibrate"
            )
        size = math.log(max(vertices, 1))
        return math.exp(np.interp(size, np.log(self.sizes), np.log(rates)))

    def over(self, workers: float) -> Rates:
        """Return the rates of each of several workers that together have these rates.

        Parameters
        ----------
        workers : float
            Number of workers. Below 1, the result is the rates of several such workers together.

        Returns
        -------
        Rates
            The rates of one worker.

        Examples
        --------
        >>> from dask_graphflow.costs import Rates
        >>> Rates((2**12,), hooks=(4e8,)).over(2).hooks
        (200000000.0,)
        """
        curves = {name: getattr(self, name) for name in KERNELS}
        shared: Any = {
            name: tuple(rate / workers for rate in curve) for name, curve in curves.items()
        }
        return replace(self, **shared)


# One thread of an AMD EPYC (Zen 4), measured by gf.calibrate() on 2026-11-23.
HOST = Rates(
    sizes=(1 << 12, 1 << 16, 1 << 18, 1 << 20),
    hooks=(1.39e8, 1.33e8, 1.30e8, 0.86e8),
    builds=(1.25e8, 0.96e8, 1.14e8, 0.97e8),
    pulls=(1.74e9, 1.68e9, 1.28e9, 0.97e9),
    searches=(1.09e9, 3.67e9, 3.26e9, 2.35e9),
    paths=(0.69e8, 0.86e8, 0.75e8, 0.64e8),
    labels=(1.31e8, 1.25e8, 1.26e8, 0.98e8),
    merges=(1.68e8, 2.32e8, 2.40e8, 2.71e8),
)
# An NVIDIA H200, measured by gf.calibrate(device=True) on 2026-11-22.
DEVICE = Rates(
    sizes=(1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24),
    hooks=(1.52e9, 2.68e9, 1.17e10, 3.59e10, 7.97e10),
    builds=(1.37e9, 3.82e9, 6.24e9, 7.25e9, 8.68e9),
    pulls=(6.15e9, 2.53e10, 7.01e10, 1.37e11, 1.54e11),
    searches=(3.59e8, 1.35e9, 4.32e9, 1.47e10, 3.17e10),
    paths=(2.27e8, 5.67e8, 1.67e9, 4.80e9, 8.74e9),
    labels=(2.44e9, 5.44e9, 8.36e9, 1.15e10, 1.14e10),
    merges=(1.78e8, 6.73e8, 2.40e9, 9.17e9, 3.37e10),
)


def typical_rates(device: bool, threads: int) -> Rates:
    """Return the rates of a typical GPU, or of `threads` threads of a typical host."""
    return DEVICE if device else HOST.over(1 / threads)
