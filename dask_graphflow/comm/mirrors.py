"""Mirrors: values of vertices that several members have in their columns.

A *reduce* sends the values that a member has gathered in its *mirrors* to the owners of these vertices. A
*broadcast* sends the changed values of the owners, the *masters*, to their mirrors. The values for one
member are packed in a box with one slot per vertex, regardless of the number of edges to it (TOTEM [1]_).
Each member has two boxes per receiver, which it uses in turn. A box may be written to again after the next
round, because by then its receiver has sent a message after it received the box.

.. [1] A. Gharaibeh, L. Beltrão Costa, E. Santos-Neto, M. Ripeanu, "A Yoke of Oxen and a Thousand Chickens
   for Heavy Lifting Graph Processing", PACT 2012.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dask_graphflow.kernels import index_dtype, kernels_for, on_device
from dask_graphflow.kernels import outbox as outbox_kernels

from .exchange import Exchange, Totals
from .outbox import Box, Packed, pack, unpack

SPARSE = 16  # search for changed masters one by one if mirrored ones outnumber them by this factor


class Mirrors:
    """The mirrors of a member, and those of its vertices that other members mirror.

    Parameters
    ----------
    exchange : Exchange
        All members must make their mirrors at the same time. This takes a round unless `mirrored` is given.
    slots : ndarray of integers, shape (s,)
        The place of the vertex of each mirror, ascending; see
        :class:`~dask_graphflow.graph.local_rows.Local`. Not read if `mirrored` is given.
    slot_bounds : sequence of int
        The indices in `slots` where the vertices of each member begin, and where the last ones end.
    bounds : sequence of int
        The places where the members' ranges of vertices begin, and where the last one ends.
    mirrored : list of ndarray, optional
        For each member, the positions here of the masters that it mirrors, in order; None for all masters.
        Either all members must give it or none.

    Notes
    -----
    A *column* has one entry for each master, followed by one for each mirror. All members use the same
    dtype, and either all of them or none give a column.
    """

    def __init__(
        self,
        exchange: Exchange,
        slots: Any,
        slot_bounds: Sequence[int],
        bounds: Sequence[int],
        mirrored: list[Any] | None = None,
    ) -> None:
        self._exchange = exchange
        self._bounds = [int(bound) for bound in slot_bounds]
        self._owned = int(bounds[exchange.rank + 1] - bounds[exchange.rank])
        if mirrored is None:
            wanted = [
                (slots[low:high] - bounds[q]).astype(index_dtype(bounds[q + 1] - bounds[q]))
                for q, (low, high) in enumerate(zip(self._bounds, self._bounds[1:], strict=False))
            ]
            mirrored = exchange.all_to_all(wanted)
        self.mirrored = mirrored
        """For each member, the positions here of the masters that it mirrors; None for all masters."""
        self._boxes = [(Box(), Box()) for _ in range(exchange.size)]
        self._turn = 0
        self._kind = ""

    def reduce(
        self,
        column: Any,
        dirty: Any = None,
        sums: Sequence[int] = (),
        most: float = -math.inf,
        values: Any = None,
    ) -> None:
        """Begin to send the values of mirrors to their masters.

        Parameters
        ----------
        column : ndarray, shape (masters + mirrors,), or None
            May be changed as soon as this returns. None sends no values, only which mirrors are dirty.
        dirty : ndarray of integers, shape (d,), optional
            The mirrors to send, from 0 to s - 1, ascending; by default all.
        sums, most
            Numbers to reduce over all members in the same round; see :meth:`.Exchange.all_reduce`.
        values : ndarray, shape (d,), optional
            The values of the dirty mirrors; by default they are looked up in the column.
        """
        cuts = self._bounds
        if dirty is not None:
            if values is None and on_device(dirty) and len(dirty) <= outbox_kernels.HOST_ENTRIES:
                to_host = kernels_for(dirty).to_host
                values = None if column is None else to_host(column[dirty + self._owned])
                dirty = to_host(dirty)
            cuts = np.searchsorted(dirty, np.array(self._bounds, like=dirty)).tolist()

        def packed(to: int) -> Packed:
            low, high = self._bounds[to], self._bounds[to + 1]
            if dirty is None:
                where = slice(self._owned + low, self._owned + high)
                return pack(self._box(to), high - low, None, column, where)
            own = slice(cuts[to], cuts[to + 1])
            at = dirty[own] - low
            if values is not None or column is None:
                return pack(self._box(to), high - low, at, values, own)
            return pack(self._box(to), high - low, at, column, dirty[own] + self._owned)

        self._send("reduce", packed, Totals(tuple(sums), most))

    def broadcast(self, column: Any, changed: Any = None, sums: Sequence[int] = ()) -> None:
        """Begin to send the values of masters to their mirrors.

        Parameters
        ----------
        column : ndarray, shape (masters, or more), or None
            May be changed as soon as this returns. None sends no values, only which masters changed.
        changed : ndarray of integers, shape (c,), optional
            The masters to send, from 0 to V_p - 1, ascending; by default all.
        sums : sequence of int
            Numbers to add up over all members in the same round; see :meth:`.Exchange.all_reduce`.
        """
        flags: Any = None

        def packed(to: int) -> Packed:
            nonlocal flags
            mine = self.mirrored[to]
            if mine is None:
                every = slice(0, self._owned) if changed is None else changed
                return pack(self._box(to), self._owned, changed, column, every)
            at = None
            if changed is not None and len(changed) * SPARSE < len(mine):
                at = np.searchsorted(mine, changed)
                there = at < len(mine)
                at, sought = at[there], changed[there]
                at = at[mine[at] == sought]
            elif changed is not None:
                if flags is None:
                    flags = np.zeros_like(changed, bool, shape=self._owned)
                    flags[changed] = True
                at = np.flatnonzero(flags[mine])
            where = mine if at is None else mine[at]
            return pack(self._box(to), len(mine), at, column, where)

        self._send("broadcast", packed, Totals(tuple(sums)))

    def receive(self, apply: Callable[[Any, Any], None]) -> Totals:
        """Finish the :meth:`reduce` or :meth:`broadcast` that was begun.

        Parameters
        ----------
        apply : callable
            Called for each member that sent any entries, in the order of the ring, with positions and
            values. The positions are unique, and are an array, or a slice for all entries. After
            :meth:`reduce` they are positions of masters; after :meth:`broadcast` they are positions of
            mirrors, which begin at V_p. The values are None if no values were sent.

        Returns
        -------
        Totals
            Totals of all members.
        """
        kind = self._kind

        def unpacked(source: int, box: Packed) -> None:
            if box.form == "nothing":
                return
            if kind == "reduce":
                own = self.mirrored[source]
                at, values = unpack(box, self._owned if own is None else len(own))
                every = slice(0, self._owned) if own is None else own
                apply(every if at is None else at if own is None else own[at], values)
            else:
                low, high = (self._owned + self._bounds[q] for q in (source, source + 1))
                at, values = unpack(box, high - low)
                apply(slice(low, high) if at is None else at + low, values)

        return self._exchange.receive(kind, unpacked)

    def _send(self, kind: str, packed: Callable[[int], Packed], own: Totals) -> None:
        self._kind = kind
        self._turn ^= 1
        self._exchange.send(kind, packed, own)

    def _box(self, to: int) -> Box:
        return self._boxes[to][self._turn]
