"""Mirrors: values of vertices that several partitions have.

What a partition has gathered in its *mirrors* goes to the vertices' owners, and what has changed at the
owners, the *masters*, goes to their mirrors. What is for one member is packed in an outbox, with a slot for
each vertex, whatever the number of edges to it (TOTEM [1]_). There are two for each member, in turn: one
may be written to again when its receiver has sent a message after it got it, so after the next round.

.. [1] A. Gharaibeh, L. Beltrão Costa, E. Santos-Neto, M. Ripeanu, "A Yoke of Oxen and a Thousand Chickens
   for Heavy Lifting Graph Processing", PACT 2012.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dask_graphflow.kernels import index_dtype, kernels_for, kernels_of, on_device

from .exchange import Exchange, Totals
from .outbox import Box, Packed, pack, unpack

__all__ = ["Mirrors"]

SPARSE = 16  # masters are sought one by one where those mirrored are so many times as many


class Mirrors:
    """The mirrors of a partition, and its masters that are mirrored elsewhere.

    Parameters
    ----------
    exchange : Exchange
        All members make theirs at the same time: it takes a round, unless `mirrored` is given.
    slots : ndarray of integers, shape (s,)
        The vertices that mirrors stand for, ascending; see
        :class:`~dask_graphflow.graph.local_rows.Local`.
    slot_bounds : sequence of int
        Where in `slots` those of each member begin, and the last ones end.
    bounds : sequence of int
        Where the members' ranges of vertices begin, and the last one ends.
    mirrored : list of ndarray, optional
        For each member, the masters that it has mirrors of, by their numbers here, or None for all, in
        order: what these are where they have been dealt before, as long as all members have them. Then
        `slots` are not looked at.

    Notes
    -----
    A *column* has an entry for each master, and then one for each mirror. Its dtype and whether there is
    one at all are the same for all members.
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
        """For each member, the masters that it has mirrors of: their numbers here; None for all."""
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
        """Begin to send mirrors' values to their masters.

        Parameters
        ----------
        column : ndarray, shape (masters + mirrors,), or None
            May be changed at once. None sends no values: only which mirrors are dirty.
        dirty : ndarray of integers, shape (d,), optional
            The mirrors that have something to say, from 0 to s - 1, ascending; by default all.
        sums, most
            Numbers to reduce over all members in the same round; see :meth:`.Exchange.all_reduce`.
        values : ndarray, shape (d,), optional
            Those of the dirty mirrors; by default they are looked up in the column.
        """
        cuts = self._bounds
        if dirty is not None:
            if (
                values is None
                and on_device(dirty)
                and len(dirty) <= kernels_of("outbox", dirty).FEW
            ):
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

    def broadcast(
        self, column: Any, changed: Any = None, sums: Sequence[int] = (), most: float = -math.inf
    ) -> None:
        """Begin to send masters' values to their mirrors.

        Parameters
        ----------
        column : ndarray, shape (masters, or more), or None
            May be changed at once. None sends no values: only which masters changed.
        changed : ndarray of integers, shape (c,), optional
            The masters that have something to say, from 0 to V_p - 1, ascending; by default all.
        sums, most
            Numbers to reduce over all members in the same round; see :meth:`.Exchange.all_reduce`.
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

        self._send("broadcast", packed, Totals(tuple(sums), most))

    def receive(self, apply: Callable[[Any, Any], None]) -> Totals:
        """End what was begun.

        Parameters
        ----------
        apply : callable
            Is called for each member that had something to say, in the order of the ring, with numbers of
            vertices here, each once, and their values, or None where no values were sent. After
            :meth:`reduce`, the numbers are those of masters; after :meth:`broadcast` those of mirrors,
            which begin at V_p: in an array, or a slice where all of them are meant.

        Returns
        -------
        Totals
            Of all members.
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
