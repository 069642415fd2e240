"""Rates: how fast a worker's kernels are, by the size of the graph.

Kernels read one entry per vertex at random, and a rate falls once these entries no longer fit in a cache.
So each rate is stored for several numbers of vertices. Between two sizes, the logarithm of the rate is
interpolated linearly over the logarithm of the size. Below the first size, the rate is constant. Above the
last size, each additional vertex takes as long as between the last two sizes. There, a rate falls if caches
no longer help. It rises on a device, where most of the measured time may be the launch of kernels.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from dask_graphflow.exceptions import OptionError
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.tables import as_html, as_text

__all__ = ["Rates"]

CURVES = {
    "hooks": "hook, edges/s",
    "builds": "build, edges/s",
    "pulls": "pull, edges/s",
    "searches": "search, edges/s",
    "paths": "path, edges/s",
    "labels": "label, edges/s",
    "merges": "merge, vertices/s",
    "deals": "deal, edges/s",
    "dense_ids": "number dense ids, ids/s",
    "far_ids": "number integers, ids/s",
    "text_ids": "number text, ids/s",
}
# One thread does this work, however many threads a worker has.
SERIAL = "dense_ids", "far_ids", "text_ids"

# Measured times are not exact. So the vertices between the last two sizes are assumed to take at least one
# part in this many of the time of the last graph.
LEAST_MORE = 16


@dataclass(frozen=True)
class Rates:
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
    deals : tuple of float
        Edges per second that are assigned to the members of a gang when a graph is built, without sending.
    dense_ids, far_ids, text_ids : tuple of float
        Ends of edges per second that one thread replaces by vertex numbers, if ids are integers close
        together, other integers, or text. Ids that are not close together are also sorted, so each distinct
        id counts as three more ends.
    copies : float
        Bytes per second from host memory to the memory of the kernels; infinite on the host itself.

    Raises
    ------
    OptionError
        The sizes are not ascending, a tuple has rates for only some of the sizes, or a rate is not
        positive.

    Examples
    --------
    Rates are interpolated between the measured sizes. Above the largest size, each additional vertex takes
    as much time as between the last two sizes:

    >>> from dask_graphflow.costs import Rates
    >>> rates = Rates((2**12, 2**20), hooks=(4e8, 1e8), merges=(8e8, 2e8))
    >>> rates.rate("hooks", 2**16)
    200000000.0
    >>> round(rates.rate("hooks", 2**30) / 1e8, 3), rates.rate("merges", 2**12)
    (0.997, 800000000.0)
    """

    sizes: tuple[int, ...]
    hooks: tuple[float, ...] = ()
    builds: tuple[float, ...] = ()
    pulls: tuple[float, ...] = ()
    searches: tuple[float, ...] = ()
    paths: tuple[float, ...] = ()
    labels: tuple[float, ...] = ()
    merges: tuple[float, ...] = ()
    deals: tuple[float, ...] = ()
    dense_ids: tuple[float, ...] = ()
    far_ids: tuple[float, ...] = ()
    text_ids: tuple[float, ...] = ()
    copies: float = math.inf

    def __post_init__(self) -> None:
        curves = [getattr(self, name) for name in CURVES]
        ascending = list(self.sizes) == sorted(set(self.sizes)) and min(self.sizes, default=0) > 0
        lengths = {len(curve) for curve in curves}
        if not ascending or not lengths <= {0, len(self.sizes)}:
            raise OptionError(
                f"rates of the sizes {self.sizes!r}; give ascending numbers of vertices, and of each "
                "kernel a rate for each, or none"
            )
        wrong = {
            name: curve
            for name, curve in zip(CURVES, curves, strict=True)
            if not all(0 < rate < math.inf for rate in curve)
        }
        if wrong:
            raise OptionError(f"rates {wrong}; give numbers above 0")

    def _head(self) -> list[str]:
        return ["millions, at V =", *(f"{size:,}" for size in self.sizes)]

    def _rows(self) -> list[list[str]]:
        curves = ((said, getattr(self, name)) for name, said in CURVES.items())
        rows = [
            [said, *(f"{rate / 1e6:,.4g}" for rate in rates)] for said, rates in curves if rates
        ]
        if not math.isinf(self.copies):
            rows.append(["copies, bytes/s", *[f"{self.copies / 1e6:,.4g}"] * len(self.sizes)])
        return rows

    def __repr__(self) -> str:
        return as_text([self._head(), *self._rows()])

    def _repr_html_(self) -> str:
        return as_html(self._rows(), head=self._head())

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
        >>> Rates((2**12, 2**20), pulls=(4e8, 1e8)).rate("pulls", 2**16)
        200000000.0
        """
        if kernel not in list(CURVES):
            raise OptionError(
                f"kernel={kernel!r}; give {', '.join(map(repr, CURVES))}{nearest(kernel, CURVES)}"
            )
        sizes, rates = self.sizes, getattr(self, kernel)
        if not rates:
            raise OptionError(
                f"these rates have no {kernel}; give Rates({kernel}=...), or call calibrate"
            )
        after = bisect_right(sizes, vertices)
        if not after or len(sizes) == 1:
            return float(rates[0])
        at = min(after, len(sizes) - 1)
        (low, high), (first, last) = sizes[at - 1 : at + 1], rates[at - 1 : at + 1]
        if after < len(sizes):
            part = math.log(vertices / low) / math.log(high / low)
            return float(first * (last / first) ** part)
        seconds = high / last
        more = max(seconds - low / first, seconds / LEAST_MORE) / (high - low)
        beyond = vertices / (seconds + (vertices - high) * more)
        return float(beyond if math.isfinite(self.copies) else min(beyond, last))

    def over(self, workers: float, per_core: float = 1.0) -> Rates:
        """Return the rates of each of several workers that together have these rates.

        Parameters
        ----------
        workers : float
            Number of workers. Below 1, the result is the rates of several such workers together.
        per_core : float
            Number of these workers that share a core; 1 by default. The rates of numbering, which one
            thread does, are divided by this only.

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
        shares = {name: per_core if name in SERIAL else workers for name in CURVES}
        curves: dict[str, Any] = {
            name: tuple(rate / share for rate in getattr(self, name))
            for name, share in shares.items()
        }
        return replace(self, **curves)

    def as_dict(self) -> dict[str, Any]:
        """Return the rates as values that JSON can store; None stands for infinite.

        Returns
        -------
        dict of str to object
            The argument of :meth:`of`.

        Examples
        --------
        >>> from dask_graphflow.costs import Rates
        >>> Rates((2**12,), hooks=(4e8,)).as_dict()["hooks"]
        (400000000.0,)
        """
        return {**asdict(self), "copies": None if math.isinf(self.copies) else self.copies}

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Rates:
        """Return the rates that :meth:`as_dict` was called on.

        Parameters
        ----------
        found : mapping of str to object
            The result of :meth:`as_dict`.

        Returns
        -------
        Rates
            Equal to the original.

        Raises
        ------
        OptionError, KeyError, TypeError, ValueError
            `found` is not a result of :meth:`as_dict`.

        Examples
        --------
        >>> from dask_graphflow.costs import Rates
        >>> rates = Rates((2**12,), hooks=(4e8,))
        >>> Rates.of(rates.as_dict()) == rates
        True
        """
        curves = {name: tuple(map(float, found[name])) for name in CURVES}
        copies = math.inf if found["copies"] is None else float(found["copies"])
        return cls(tuple(map(int, found["sizes"])), **curves, copies=copies)
