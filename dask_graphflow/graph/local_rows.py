"""Rows by the positions that vertices have inside one partition among others.

:func:`localize` numbers the vertices that the partition owns, its *masters*, and the other vertices to
which they have edges, its *mirrors*. A vertex column has one entry per master and per mirror, and no more.
Messages pushed to a mirror are combined in its slot and sent to the vertex's owner as one message, whatever
the number of edges. The slots of one owner are contiguous (Gemini [1]_, Totem [2]_).

In a program over such rows, ``src`` and ``dst`` are these positions. If the program uses ids, these are
in a column.

.. [1] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph Processing
   System", OSDI 2016.
.. [2] A. Gharaibeh, L. Beltrão Costa, E. Santos-Neto, M. Ripeanu, "A Yoke of Oxen and a Thousand Chickens
   for Heavy Lifting Graph Processing", PACT 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dask_graphflow.kernels import local_rows as local_rows_kernels


class Local(NamedTuple):
    """A partition's rows by the positions that vertices have in it."""

    # Row i is that of master i, so ``rows.first`` is 0. Ends from 0 to ``V_p - 1`` are masters, the
    # vertices ``first + end``; ends from V_p on are mirrors. Every row keeps the order of its edges:
    # ascending by the vertex for which the end stands.
    rows: Any
    # Array of int32 or int64, shape (s,). The vertices of the mirrors, in ascending order and therefore
    # grouped by owner.
    slots: Any
    # Where the slots of each partition begin, followed by where the last ones end.
    slot_bounds: list[int]
    first: int  # the first vertex that the partition owns
    owned: int  # V_p, the number of vertices that the partition owns

    @property
    def size(self) -> int:
        """Number of entries in a vertex column: masters, then mirrors."""
        return self.owned + len(self.slots)


def localize(rows: Any, bounds: Sequence[int], part: int, *, threads: int = 1) -> Local:
    """Convert the ends of a partition's rows to positions among its masters and mirrors.

    Parameters
    ----------
    rows : Rows
        The rows of vertices ``bounds[part]`` to ``bounds[part + 1] - 1``. Ends ascend within a row.
    bounds : sequence of int
        Where the partitions' ranges of vertices begin, followed by where the last one ends; see
        :func:`.chunk_grains`.
    part : int
        The partition.
    threads : int
        Host threads to use.

    Returns
    -------
    Local
        The result does not depend on the number of threads.
    """
    low, high = bounds[part], bounds[part + 1]
    localized = local_rows_kernels.of(rows.ends).localized
    made, slots, slot_bounds = localized(rows, bounds, part, threads=threads)
    return Local(made, slots, slot_bounds, low, high - low)
