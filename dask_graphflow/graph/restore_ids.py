"""Restore ids: send values of placed vertices to the members that store the ids of these vertices.

Vertices of one shard ascend by number (:mod:`~dask_graphflow.graph.vertex_placement`), so those of one
home are side by side, and are sent without a gather. The receiver puts them in order by one gather, which
is the same for every column and is made once for a graph.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.kernels import index_dtype, kernels_for, kernels_of

from .numbering import kept_by_all
from .shard import Shard

__all__ = ["RestoreIds", "restore_ids"]


class RestoreIds(NamedTuple):
    """How a member's values get to the members with their ids.

    Attributes
    ----------
    pieces : list of slice
        Of this member's places, those whose ids each member has.
    order : ndarray of int32 or int64
        For each id of this member's, where its value is among those received.
    """

    pieces: list[slice]
    order: np.ndarray

    def received(self, exchange: Exchange, values: Any) -> np.ndarray:
        """Send a column, by place, from wherever it lies; return what came, for `order` to be looked up in.

        All members call it at once.
        """
        own = kernels_for(values).to_host(values)
        told = exchange.all_to_all([own[piece] for piece in self.pieces])
        found: np.ndarray = np.concatenate(told)
        return found

    def bring(self, exchange: Exchange, values: Any, order: np.ndarray, threads: int) -> np.ndarray:
        """Return the values of some of this member's ids: those that `order` is of."""
        told = self.received(exchange, values)
        found: np.ndarray = kernels_of("rows", told).renamed(order, told, threads=threads)
        return found


def restore_ids(shard: Shard, exchange: Exchange) -> RestoreIds:
    """Return the way home; all members call it, and it is made once."""
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

    found: RestoreIds = kept_by_all(host, exchange, "restore_ids", make)
    return found
