"""Splicing of pairs into rows on a device.

The edges of the pairs are merged on the host, because they are few. The device makes room for them among
the others, which it copies. These functions also take arrays in host memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels import index_dtype, kernels_for
from dask_graphflow.kernels import merge as merge_kernels
from dask_graphflow.kernels.merge import Splices


def offsets_at(offsets: Any, rows: np.ndarray) -> np.ndarray:
    """Return the offsets of some rows, in host memory."""
    kernels = kernels_for(offsets)
    found: np.ndarray = kernels.to_host(offsets[kernels.namespace.asarray(rows)])
    return found


def narrow(ends: Any, targets: np.ndarray, first: np.ndarray, stop: np.ndarray) -> None:
    """Narrow ranges of edges, which ascend, to those with a target; see :meth:`.LookupKernels.narrow`."""
    kernels = kernels_for(ends)
    if not len(ends) or not len(targets):
        stop[:] = first
        return
    asked, low, high = (kernels.namespace.asarray(one) for one in (targets, first, stop))
    steps = int((stop - first).max()).bit_length()
    begin = _bound(ends, asked, low, high, steps, behind=False)
    end = _bound(ends, asked, begin, high, steps, behind=True)
    first[:], stop[:] = kernels.to_host(begin), kernels.to_host(end)


def _bound(ends: Any, asked: Any, low: Any, high: Any, steps: int, *, behind: bool) -> Any:
    """Return the first edge of each range that is not before, or is behind, those with a target."""
    for _ in range(steps):
        middle = (low + high) // 2
        found = ends[np.minimum(middle, len(ends) - 1)]
        before = (low < high) & ((found <= asked) if behind else (found < asked))
        low, high = np.where(before, middle + 1, low), np.where(before, high, middle)
    return low


def offsets_after(
    offsets: Any,
    own: np.ndarray | None,
    low: int,
    high: int,
    sources: np.ndarray,
    growth: np.ndarray,
) -> Any:
    """Return the offsets of rows `low` to ``high - 1``, to whose sources edges are added.

    `own` has the new number of each old row, if numbers changed. The sources ascend, and `growth` has how
    many edges each of their pairs gains.
    """
    asarray, counts = kernels_for(offsets).namespace.asarray, np.diff(offsets)
    made = np.zeros_like(offsets, shape=high - low + 1)
    if own is None:  # new rows are behind the old ones
        made[1 : len(offsets)] = counts
    else:
        # Of rows that merge, the last one can have edges. Those before the next member's first are empty.
        last = np.append(own[1:] != own[:-1], True) & (own < high) if len(own) else own < high
        made[asarray(1 + own[last] - low)] = counts[asarray(last)]
    rows, begin = np.unique(sources - low, return_index=True)
    if len(rows):
        made[asarray(rows + 1)] += asarray(np.add.reduceat(growth, begin))
    return np.cumsum(made)


def merged(
    ends: Any,
    weights: Any,
    splices: Splices,
    added: np.ndarray | None,
    *,
    names: np.ndarray | None,
    dtype: Any,
    multi: str,
    threads: int,
) -> tuple[Any, Any]:
    """Return the ends and the weights of edges after some pairs changed; see :class:`.MergeKernels`."""
    kernels, places, had = kernels_for(ends), splices.places, splices.had
    asarray, growth, behind = kernels.namespace.asarray, splices.growth(multi), np.cumsum(had)
    of_pairs = asarray(np.repeat(places - (behind - had), had) + np.arange(had.sum()))
    new_ends, new_weights = merge_kernels.of(places).merged(
        kernels.to_host(ends[of_pairs]),
        None if weights is None else kernels.to_host(weights[of_pairs]),
        splices._replace(places=behind - had),
        added,
        names=names,
        dtype=dtype,
        multi=multi,
        threads=threads,
    )
    begin, counts = places + np.cumsum(growth) - growth, had + growth
    at = asarray(np.repeat(begin - (np.cumsum(counts) - counts), counts) + np.arange(len(new_ends)))
    to, size = _moved(ends, places, growth), len(ends) + int(growth.sum())
    to[of_pairs] = size  # an entry behind all others

    def filled(old: Any, new: np.ndarray) -> Any:
        made = np.empty_like(old, new.dtype, shape=size + 1)
        made[to] = old
        made[at] = asarray(new)
        return made[:size]

    made = filled(ends if names is None else asarray(names)[ends], new_ends)
    return made, None if new_weights is None else filled(weights, new_weights)


def _moved(ends: Any, places: np.ndarray, growth: np.ndarray) -> Any:
    """Return where each old edge gets, if pairs at some places grow."""
    asarray = kernels_for(ends).namespace.asarray
    dtype = index_dtype(len(ends) + int(growth.sum()) + 1)
    to = np.zeros_like(ends, dtype)
    to[1:] = 1
    rows, begin = np.unique(places, return_index=True)
    sums = np.add.reduceat(growth, begin) if len(rows) else growth
    inside = rows < len(ends)
    to[asarray(rows[inside])] += asarray(sums[inside].astype(dtype))
    return np.cumsum(to, dtype=dtype, out=to)
