"""Layouts of one range's rows: cut into sub-ranges, or numbered by what a partition owns.

:func:`split` is for what shares a range out once more: pools of threads, or several devices. It copies no
edges.

:func:`localize` is for a partition among others. It gives numbers to the vertices that the partition owns,
its *masters*, and to those that they have edges to, its *mirrors*: a vertex column has an entry for each of
these, and for no others. What is pushed to a mirror is combined in its slot, and is one message to the
vertex's owner, whatever the number of edges; slots of one owner lie together (Gemini [1]_, Totem [2]_).

A program over such rows is told these numbers as ``src`` and ``dst``; where it is about ids, those are a
column.

.. [1] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph Processing
   System", OSDI 2016.
.. [2] A. Gharaibeh, L. Beltrão Costa, E. Santos-Neto, M. Ripeanu, "A Yoke of Oxen and a Thousand Chickens
   for Heavy Lifting Graph Processing", PACT 2012.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import kernels_for, kernels_of

from .partition import even_cuts

__all__ = ["WORD", "Local", "globalize", "localize", "split"]

WORD = 64  # vertices that a sub-range's first is a multiple of: its bitmap is whole words


class Local(NamedTuple):
    """A partition's rows by the numbers that vertices have in it.

    Attributes
    ----------
    rows : Rows
        Ends from 0 to ``V_p - 1`` are masters, the vertices ``first + end``; those from V_p on are mirrors.
        In each row masters come before mirrors, and both are in ascending order.
    middle : array of int64, shape (r,)
        Where in each row the mirrors begin.
    slots : array of int32 or int64, shape (s,)
        The vertices that mirrors stand for, ascending, and so by owner.
    slot_bounds : list of int
        Where in `slots` those of each partition begin, and the last ones end.
    first : int
        The first vertex that is owned.
    owned : int
        V_p, the number of vertices that are owned.
    """

    rows: Any
    middle: Any
    slots: Any
    slot_bounds: list[int]
    first: int
    owned: int

    @property
    def size(self) -> int:
        """Entries of a vertex column: masters, then mirrors."""
        return self.owned + len(self.slots)


def split(rows: Any, parts: int, *, alpha: float | None = None) -> list[Any]:
    """Cut rows into sub-ranges that are as much work each; edges and weights are shared.

    Parameters
    ----------
    rows : Rows
        Of a range of vertices; compressed or not.
    parts : int
        Sub-ranges to make; some are empty where there are few vertices.
    alpha : float, optional
        What a row is as much work as, in edges, besides its own; see :func:`.partition.chunk`. By default
        ``8 * (parts - 1)``.

    Returns
    -------
    list of Rows
        In the order of the vertices; where one is not empty, it begins a multiple of :data:`WORD` vertices
        past ``rows.first``.
    """
    alpha = 8 * (parts - 1) if alpha is None else alpha
    to_host = kernels_for(rows.ends).to_host
    size = len(rows.offsets) - 1
    # At each word of vertices, the first row from there on, and its first edge.
    if rows.bitmap is None:
        starts = np.arange(0, size, WORD)
        edges = to_host(rows.offsets[:-1:WORD])
    else:
        starts = to_host(rows.bitmap.ranks)
        edges = to_host(rows.offsets[rows.bitmap.ranks])
    starts, edges = np.append(starts, size), np.append(edges, len(rows.ends))
    cuts = even_cuts(alpha * starts + edges, parts)
    return [
        _piece(rows, slice(a, b), slice(*starts[[a, b]].tolist()), slice(*edges[[a, b]].tolist()))
        for a, b in itertools.pairwise(cuts)
    ]


def _piece(rows: Any, words: slice, own: slice, edges: slice) -> Any:
    bitmap, first = rows.bitmap, own.start
    if bitmap is not None:
        first = words.start * WORD
        bitmap = bitmap._replace(words=bitmap.words[words], ranks=bitmap.ranks[words] - own.start)
    return rows._replace(
        vertices=None if rows.vertices is None else rows.vertices[own],
        offsets=rows.offsets[own.start : own.stop + 1] - edges.start,
        ends=rows.ends[edges],
        weights=None if rows.weights is None else rows.weights[edges],
        first=rows.first + first,
        bitmap=bitmap,
    )


def localize(rows: Any, bounds: Sequence[int], part: int, *, threads: int = 1) -> Local:
    """Number the ends of a partition's rows by what it owns and what it has edges to.

    Parameters
    ----------
    rows : Rows
        Of the vertices ``bounds[part]`` to ``bounds[part + 1] - 1``, in ascending order within a row;
        compressed or not.
    bounds : sequence of int
        Where the partitions' ranges of vertices begin, and the last one ends; see :func:`.partition.chunk`.
    part : int
        The partition.
    threads : int
        Host threads to use.

    Returns
    -------
    Local
        The same for every number of threads.
    """
    low, high = bounds[part], bounds[part + 1]
    localized = kernels_of("local_rows", rows.ends).localized
    made, middle, slots, slot_bounds = localized(rows, bounds, part, threads=threads)
    return Local(made, middle, slots, slot_bounds, low, high - low)


def globalize(local: Local, *, threads: int = 1) -> Any:
    """Return the rows that :func:`localize` was given, bit for bit."""
    rows, middle, slots, _, first, owned = local
    kernels = kernels_of("local_rows", rows.ends)
    return kernels.globalized(rows, middle, slots, first, first + owned, threads=threads)
