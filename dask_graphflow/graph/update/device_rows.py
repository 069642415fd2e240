"""Splicing of pairs into rows on a device.

The edges of the pairs are merged first. Then the device makes room for them among the others, which it
copies. These functions also take arrays in host memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.graph.offsets import items_of, offsets_of
from dask_graphflow.kernels import index_dtype
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels.merge import Splices


def narrow(ends: Any, targets: Any, first: Any, stop: Any) -> None:
    """Narrow ranges of edges, which ascend, to those with a target; see :meth:`.LookupKernels.narrow`."""
    if not len(ends) or not len(targets):
        stop[:] = first
        return
    steps = int((stop - first).max()).bit_length()
    begin = _bound(ends, targets, first, stop, steps, behind=False)
    stop[:] = _bound(ends, targets, begin, stop, steps, behind=True)
    first[:] = begin


def _bound(ends: Any, asked: Any, low: Any, high: Any, steps: int, *, behind: bool) -> Any:
    """Return the first edge of each range that is not before, or is behind, those with a target."""
    for _ in range(steps):
        middle = (low + high) // 2
        found = ends[np.minimum(middle, len(ends) - 1)]
        before = (low < high) & ((found <= asked) if behind else (found < asked))
        low, high = np.where(before, middle + 1, low), np.where(before, high, middle)
    return low


def offsets_after(offsets: Any, own: Any, low: int, high: int, sources: Any, growth: Any) -> Any:
    """Return the offsets of rows `low` to ``high - 1``, to whose sources edges are added.

    `own` has the new number of each old row; None if no number changed. The sources ascend, and `growth`
    has how many edges each of their pairs gains.
    """
    made, counts = np.zeros_like(offsets, shape=high - low + 1), np.diff(offsets)
    if own is None:  # new rows are behind the old ones
        made[1 : len(offsets)] = counts
    else:
        # Of rows that merge, the last one can have edges. Those before the next member's first are empty.
        last = own < high
        last[:-1] &= own[1:] != own[:-1]
        made[1 + own[last] - low] = counts[last]
    rows, sums = _sums(sources, growth)
    made[1 + rows - low] += sums
    return np.cumsum(made)


def merged(
    ends: Any,
    weights: Any,
    splices: Splices,
    added: Any,
    *,
    names: Any,
    dtype: Any,
    multi: str,
    threads: int,
) -> tuple[Any, Any]:
    """Return the ends and the weights of edges after some pairs changed; see :class:`.MergeKernels`."""
    kernels, places, had = rows_kernels.of(ends), splices.places, offsets_of(splices.had)
    old, k = items_of(had, threads)
    of_pairs, stays = k + (places - had[:-1])[old], ~splices.gone[old]
    new, _ = items_of(splices.bounds, threads)
    pair = np.concatenate([old[stays], new])
    both = None if weights is None else np.concatenate([weights[of_pairs[stays]], added])
    # Edges of a pair stay in this order.
    how: dict[str, Any] = {"count": len(places), "columns": 1, "multi": multi, "threads": threads}
    rows = kernels.rows(pair, np.zeros_like(pair), both, **how)
    growth = np.diff(rows.offsets) - splices.had
    begin = places + offsets_of(growth)[:-1]
    pair, k = items_of(rows.offsets, threads)
    at = k + (begin - rows.offsets[:-1])[pair]
    to, size = _moved(ends, places, growth), len(ends) + int(growth.sum())
    to[of_pairs] = size  # an entry behind all others

    def filled(old: Any, new: Any) -> Any:
        made = np.empty_like(old, new.dtype, shape=size + 1)
        made[to] = old
        made[at] = new
        return made[:size]

    new_ends = splices.targets.astype(dtype)[pair]
    made = filled(ends if names is None else names[ends], new_ends)
    return made, None if weights is None else filled(weights, rows.weights)


def _sums(keys: Any, values: Any) -> tuple[Any, Any]:
    """Return the distinct keys, which ascend, and the sum of the values of each."""
    distinct, first = np.unique(keys, return_index=True)
    before = offsets_of(values)
    return distinct, np.diff(before[first], append=before[-1:])


def _moved(ends: Any, places: Any, growth: Any) -> Any:
    """Return where each old edge gets, if pairs at some places grow."""
    dtype = index_dtype(len(ends) + int(growth.sum()) + 1)
    to = np.ones_like(ends, dtype)
    to[:1] = 0
    rows, sums = _sums(places, growth)
    inside = rows < len(ends)
    to[rows[inside]] += sums[inside].astype(dtype)
    return np.cumsum(to, dtype=dtype, out=to)
