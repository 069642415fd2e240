"""Restore ids: send values of placed vertices to the members that store the ids of these vertices.

Vertices of one shard ascend by number (:class:`.Placed`). The vertices with
the same home are therefore adjacent, and are sent without a gather. The receiver puts the values in order
by one gather, whose order is the same for every column and is computed once per graph.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.kernels import index_dtype, kernels_for
from dask_graphflow.kernels import rows as rows_kernels

from . import stored
from .numbering import kept_by_all
from .shard import Shard


class RestoreIds(NamedTuple):
    """How to send a member's values to the members that store the ids."""

    # For each member, the range of this member's places whose ids that member stores.
    pieces: list[slice]
    # Array of int32 or int64. For each id that this member stores, the position of its value among the
    # received values.
    order: np.ndarray

    def received(self, exchange: Exchange, values: Any) -> np.ndarray:
        """Send a column, by place, from host or device memory; return the received values.

        `order` contains positions in the result. All members call it at once.
        """
        own = kernels_for(values).to_host(values)
        parts = exchange.all_to_all([own[piece] for piece in self.pieces])
        received: np.ndarray = np.concatenate(parts)
        return received

    def bring(self, exchange: Exchange, values: Any, order: np.ndarray, threads: int) -> np.ndarray:
        """Return the values of some ids that this member stores, selected by `order`."""
        column = self.received(exchange, values)
        ordered: np.ndarray = rows_kernels.of(column).renamed(order, column, threads=threads)
        return ordered


def restore_ids(shard: Shard, exchange: Exchange) -> RestoreIds:
    """Return the :class:`RestoreIds` of a shard. All members call it, and the result is cached."""
    host = shard.host
    low, high = host.homes[host.rank : host.rank + 2]

    def make() -> RestoreIds:
        numbers = host.numbers[: host.filled]
        cuts = itertools.pairwise(np.searchsorted(numbers, host.homes).tolist())
        own = RestoreIds([slice(*cut) for cut in cuts], np.empty(0, np.int32))
        numbers = own.received(exchange, numbers)
        order = np.empty(high - low, index_dtype(len(numbers)))
        order[numbers - low] = np.arange(len(numbers), dtype=order.dtype)
        return own._replace(order=order)

    cached: RestoreIds = kept_by_all(host, exchange, stored.RESTORE_IDS, make)
    return cached
