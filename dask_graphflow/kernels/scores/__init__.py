"""Scores computed from sums along edges, and sums over all vertices that do not depend on their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dask_graphflow.kernels.binding import bind
from dask_graphflow.kernels.csr import Array


class RunningTotals(Protocol):
    """Totals that the kernels of an iteration add up, in the memory of the columns.

    There are three sets, used in turn: the totals of the current iteration, those of the iteration before,
    and one that is cleared for the next iteration.

    Attributes
    ----------
    now, before : array of int64, shape (SLOTS,)
    """

    now: Array
    before: Array

    def turn(self) -> None:
        """Begin the totals of another iteration, which are 0."""

    def clear(self) -> None:
        """Begin the totals of an iteration without a sum along edges."""

    def read(self) -> Array:
        """Wait for the totals of the current iteration, and return a copy in host memory."""

    def read_before(self) -> Array:
        """Wait for the totals of the iteration before, but not for the kernels of the current one."""

    def write(self, totals: Array) -> None:
        """Set the totals of the current iteration, for example to those of all members."""


class ScoresKernels(Protocol):
    """What :mod:`.scores.host` and :mod:`.scores.device` can do."""

    def new_totals(self) -> RunningTotals:
        """Return a :class:`RunningTotals` with these parameters."""

    def total(
        self, values: Array, bound: float, count: int, *, threads: int = 1
    ) -> tuple[int, int, int]:
        """Return the parts of a sum as multiples of their :func:`units`, and how many values are too large.

        Parameters
        ----------
        values : array of float64
        bound : float
            Upper bound of the magnitudes of all values. A value of twice the bound, or NaN, is too large.
        count : int
            Maximum number of nonzero values, in all arrays that are added up.
        """

    def combine(
        self,
        sums: Array,
        before: Array,
        plus: float,
        factor: float,
        after: Array,
        squares: tuple[float, float],
        totals: RunningTotals,
        *,
        threads: int = 1,
    ) -> None:
        """Compute new scores from sums, and their largest; on a device, set the sums to 0.

        Parameters
        ----------
        sums : array of int64 or float64, shape (n,)
        before : array of float64, shape (n,)
            Scores to add if `plus` is 0.
        plus : float
            A number to add to each score.
        factor : float
            Factor of the sums.
        after : array of float64, shape (n,)
            Set to the new scores, which are at least 0.
        squares : tuple of float
            The :func:`units` of the sum of the squares of the scores, which has a third part with a finer
            unit; zeros to leave it out.
        totals : RunningTotals
            Set to the largest score, and to the sum of squares.
        """

    def scale(
        self,
        source: Array,
        scores: Array,
        wide: Array,
        squares: tuple[float, float],
        entering: float,
        unit: float,
        bound: float,
        count: int,
        totals: RunningTotals,
        *,
        threads: int = 1,
    ) -> None:
        """Divide new scores by their norm, and prepare them for the next sums along edges.

        Parameters
        ----------
        source : array of int64 or float64, shape (n,)
            The new scores. Whole numbers are divided by their total, and set to 0 on a device.
        scores : array of float64, shape (n,)
            The scores of the iteration before; changed in place.
        wide : array of float32 or float64, shape (n,) or longer
            Set to the scores divided by the unit of the next sums.
        squares : tuple of float
            The units that :func:`combine` used. If they are zeros, scores as floats are not divided.
        entering : float
            Upper bound of the next sums if all scores are 1.
        unit : float
            The unit of the next sums, or 0 to compute it from the largest score and `entering`.
        bound : float
            Upper bound of the changes of scores if no score exceeds it.
        count : int
            Number of scores over all members.
        totals : RunningTotals
            Contains the totals of :func:`combine` over all members. Set to the sum of the absolute changes.
        """


of: Callable[[Any], ScoresKernels] = bind(__name__)

if TYPE_CHECKING:
    from . import device, host

    _host: ScoresKernels = host
    _device: ScoresKernels = device
