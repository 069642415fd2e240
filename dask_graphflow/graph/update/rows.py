"""The rows of a member after an update: a copy of the old ones, into which pairs are spliced."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dask_graphflow.kernels import index_dtype, kernels_for, lift, lookup, on_device
from dask_graphflow.kernels import merge as merge_kernels
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.merge import Splices

from .batch import Pairs


class Spliced(NamedTuple):
    """Rows after an update, and what it changed."""

    rows: Rows
    before: np.ndarray  # array of bool. Whether each of the pairs was an edge before.
    after: np.ndarray  # array of bool. Whether it is an edge now.


def splice(
    rows: Rows,
    pairs: Pairs,
    names: np.ndarray | None,
    bounds: tuple[int, int],
    size: int,
    *,
    multi: str,
    threads: int,
) -> Spliced:
    """Return rows with some pairs spliced in.

    Parameters
    ----------
    rows : Rows
        The old rows, in old numbers.
    pairs : Pairs
        Those whose sources are in the new range.
    names : array or None
        The new number of each old number of the graph; None if none changed.
    bounds : tuple of int
        Where the range of the rows begins and ends in new numbers.
    size : int
        How many new numbers there are.
    multi : str
    threads : int
    """
    host, (low, high) = _on_host(rows), bounds
    at, own, count = pairs.sources - low, None, len(rows.offsets) - 1
    if names is not None:
        own = names[host.first : host.first + count]
        at = np.searchsorted(own, pairs.sources, side="right") - 1
    splices = _find(host, pairs, names, at)
    offsets = _offsets(host.offsets, own, low, high)
    # How many edges more there are before each row.
    grown = np.concatenate([[0], np.cumsum(splices.growth(multi))])
    after_rows = np.concatenate([[0], pairs.sources - low + 1, [len(offsets)]])
    offsets += np.repeat(grown, np.diff(after_rows))
    added = None if host.weights is None else np.asarray(pairs.weights, host.weights.dtype)
    made = merge_kernels.of(host.ends).merged(
        host.ends,
        host.weights,
        splices,
        added,
        names=names,
        dtype=index_dtype(size),
        multi=multi,
        threads=threads,
    )
    result = Rows(offsets, *made, low)
    before = splices.had > 0
    after = (before & ~pairs.gone) | (np.diff(pairs.bounds) > 0)
    return Spliced(lift(result) if on_device(rows.ends) else result, before, after)


def _offsets(offsets: np.ndarray, own: np.ndarray | None, low: int, high: int) -> np.ndarray:
    """Return old offsets for new rows `low` to ``high - 1``; `own` has the new number of each old row."""
    made = np.empty(high - low + 1, np.int64)
    if own is None:  # new rows are behind the old ones
        made[: len(offsets)] = offsets
        made[len(offsets) :] = offsets[-1]
        return made
    # Of rows that merge, the last one can have edges. Those before the next member's first are empty.
    stays = own < high
    made[:] = 0
    made[1 + own[stays] - low] = np.diff(offsets)[stays]
    return np.cumsum(made, out=made)


def _on_host(rows: Rows) -> Rows:
    """Return rows in host memory, where the kernels that splice work."""
    if not on_device(rows.ends):
        return rows
    to_host = kernels_for(rows.ends).to_host
    weights = None if rows.weights is None else to_host(rows.weights)
    return Rows(to_host(rows.offsets), to_host(rows.ends), weights, rows.first)


def _find(rows: Rows, pairs: Pairs, names: np.ndarray | None, at: np.ndarray) -> Splices:
    """Find the old edges of each pair; `at` is the last old row that is not behind that of its source."""
    targets, known, count = pairs.targets, np.ones(len(at), bool), len(rows.offsets) - 1
    # If numbers did not change, sources that are new are behind all old ones.
    first, stop = (rows.offsets[np.minimum(row, count)] for row in (at, at + 1))
    if names is not None:
        own = names[rows.first : rows.first + count]
        has_row = (at >= 0) & (own[at] == pairs.sources) if len(own) else at >= 0
        first = np.where(has_row, first, stop)
        old = np.searchsorted(names, targets, side="right") - 1
        known = (old >= 0) & (names[old] == targets) if len(names) else old >= 0
        targets = np.where(known, old, old + 1)
    first, stop = first.astype(np.int64), stop.astype(np.int64)
    # An end that is new has a place, but no edges.
    lookup.of(rows.ends).narrow((rows.ends,), (targets.astype(rows.ends.dtype),), first, stop)
    had = np.where(known, stop - first, 0)
    return Splices(first, had, pairs.gone, pairs.targets, pairs.bounds)
