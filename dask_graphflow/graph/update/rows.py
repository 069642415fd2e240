"""The rows of a member after an update: a copy of the old ones, into which pairs are spliced."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import index_dtype, lookup, on_device
from dask_graphflow.kernels import merge as merge_kernels
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.merge import Splices

from . import device_rows
from .batch import Pairs


class Spliced(NamedTuple):
    """Rows after an update, and what it changed."""

    rows: Rows
    before: Any  # array of bool. Whether each of the pairs was an edge before.
    after: Any  # array of bool. Whether it is an edge now.


def splice(
    rows: Rows,
    pairs: Pairs,
    names: Any,
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
        The new number of each old number of the graph; None if none changed. It and the pairs are where
        the rows are: on the host or on a device.
    bounds : tuple of int
        Where the range of the rows begins and ends in new numbers.
    size : int
        How many new numbers there are.
    multi : str
    threads : int
    """
    (low, high), count = bounds, len(rows.offsets) - 1
    at, own = pairs.sources - low, None
    if names is not None:
        own = names[rows.first : rows.first + count]
        at = np.searchsorted(own, pairs.sources, side="right") - 1
    there = on_device(rows.ends)
    splices = _find(rows, pairs, names, at)
    growth = splices.growth(multi)
    offsets_after = device_rows.offsets_after if there else _offsets_after
    offsets = offsets_after(rows.offsets, own, low, high, pairs.sources, growth)
    added = None if rows.weights is None else pairs.weights.astype(rows.weights.dtype, copy=False)
    merged = device_rows.merged if there else merge_kernels.of(rows.ends).merged
    ends, weights = merged(
        rows.ends,
        rows.weights,
        splices,
        added,
        names=names,
        dtype=index_dtype(size),
        multi=multi,
        threads=threads,
    )
    before = splices.had > 0
    after = (before & ~pairs.gone) | (np.diff(pairs.bounds) > 0)
    return Spliced(Rows(offsets, ends, weights, low), before, after)


def _offsets_after(
    offsets: np.ndarray,
    own: np.ndarray | None,
    low: int,
    high: int,
    sources: np.ndarray,
    growth: np.ndarray,
) -> np.ndarray:
    """Return the offsets of new rows; see :func:`.device_rows.offsets_after`."""
    made = _old_offsets(offsets, own, low, high)
    grown = np.concatenate([[0], np.cumsum(growth)])  # edges, before each row
    after_rows = np.concatenate([[0], sources - low + 1, [len(made)]])
    made += np.repeat(grown, np.diff(after_rows))
    return made


def _old_offsets(offsets: np.ndarray, own: np.ndarray | None, low: int, high: int) -> np.ndarray:
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


def _find(rows: Rows, pairs: Pairs, names: Any, at: Any) -> Splices:
    """Find the old edges of each pair; `at` is the last old row that is not behind that of its source."""
    targets, known, count = pairs.targets, np.ones_like(at, bool), len(rows.offsets) - 1
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
    targets = targets.astype(rows.ends.dtype)
    if on_device(rows.ends):
        device_rows.narrow(rows.ends, targets, first, stop)
    else:
        lookup.of(rows.ends).narrow((rows.ends,), (targets,), first, stop)
    had = np.where(known, stop - first, 0)
    return Splices(first, had, pairs.gone, pairs.targets, pairs.bounds)
