"""Merging of changes into rows: one pass that copies the old edges, and splices changes in between.

Changes are few, so nearly all of the pass is a copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels import allocate_like
from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner
from dask_graphflow.kernels.host_threads import even_cuts, share
from dask_graphflow.kernels.rows.host import MIN, POLICIES, SUM, no_such_sum

from . import Splices

KEEP = 0
PER_THREAD = 1 << 22  # edges per thread: one thread copies nearly as fast as the memory allows


@_inner
def _copy(old, names, new, start, stop, at):
    """Copy the old edges `start` to ``stop - 1`` to `at`, with the new numbers of their ends."""
    (ends, weights), (new_ends, new_weights) = old, new
    start, at = np.uint64(start), np.uint64(at)
    count = np.uint64(stop) - start
    if names.size:
        for i in range(count):
            new_ends[at + i] = names[ends[start + i]]
    else:
        for i in range(count):
            new_ends[at + i] = ends[start + i]
    if weights.size:
        for i in range(count):
            new_weights[at + i] = weights[start + i]


@_compiled
def _splice(old, names, new, splices, added, how, piece):
    """Write the edges of a piece: the old ones from `start` to ``stop - 1``, and those that are spliced in.

    Returns the number of integer sums that do not fit; see :func:`.rows.host._fold`.
    """
    (places, had, gone, targets, bounds), (new_ends, new_weights) = splices, new
    (policy, integers), (start, stop, at, first, last), wrong = how, piece, 0
    for k in range(first, last):
        place = places[k]
        kept = place if gone[k] else place + had[k]
        _copy(old, names, new, start, kept, at)
        at += kept - start
        start = place + had[k]
        only, wraps = at - (kept - place), 0  # where the first edge of the pair is
        for j in range(bounds[k], bounds[k + 1]):
            if policy == KEEP or at == only:
                new_ends[at] = targets[k]
                if new_weights.size:
                    new_weights[at] = added[j]
                at += 1
            elif policy == SUM and integers:
                before, more = np.int64(new_weights[only]), np.int64(added[j])
                total = np.int64(np.uint64(before) + np.uint64(more))
                new_weights[only] = total
                if (more >= 0) != (total >= before):
                    wraps += 1 if more >= 0 else -1
            elif policy == SUM and new_weights.size:
                new_weights[only] += added[j]
            elif policy == MIN and new_weights.size and added[j] < new_weights[only]:
                new_weights[only] = added[j]
        wrong += wraps != 0
    _copy(old, names, new, start, stop, at)
    return wrong


def merged(
    ends: np.ndarray,
    weights: np.ndarray | None,
    splices: Splices,
    added: np.ndarray | None,
    *,
    names: np.ndarray | None = None,
    dtype: Any,
    multi: str,
    threads: int = 1,
) -> tuple[np.ndarray, np.ndarray | None]:
    policy = POLICIES.index(multi)
    # How many edges more there are before each pair.
    before = np.concatenate([[0], np.cumsum(splices.growth(multi))])
    size = len(ends) + int(before[-1])
    made = allocate_like(ends, size, dtype)
    # Weights are copied as words, so that this need not be compiled for each of their dtypes.
    old_weights, new_weights = np.empty(0, np.uint32), np.empty(0, np.uint32)
    result, values = None, old_weights
    if weights is not None:
        assert added is not None, "the new edges of a weighted graph have weights"
        result = allocate_like(weights, size, weights.dtype)
        words = weights.dtype if policy in (SUM, MIN) else f"u{weights.itemsize}"
        old_weights, new_weights, values = (one.view(words) for one in (weights, result, added))
    how = policy, weights is not None and weights.dtype.kind == "i"
    names = np.empty(0, np.int32) if names is None else names
    old, to = (ends, old_weights), (made, new_weights)
    parts = max(1, min(threads, size // PER_THREAD))
    pieces = _pieces(len(ends), splices, before, parts)

    def write(at: int) -> int:
        wrong: int = _splice(old, names, to, tuple(splices), values, how, pieces[at])
        return wrong

    if any(share(write, len(pieces), threads)):
        raise no_such_sum(new_weights.dtype)
    return made, result


def _pieces(
    edges: int, splices: Splices, before: np.ndarray, parts: int
) -> list[tuple[int, int, int, int, int]]:
    """Cut the old edges into parts of equal size, none of which begins among the edges of a pair.

    A piece is where its old edges begin and end, where its new ones begin, and the first and the last pair
    that is spliced in.
    """
    cuts = np.array(even_cuts(edges, parts))
    pairs = np.searchsorted(splices.places, cuts)
    after = np.concatenate([[0], splices.places + splices.had])
    cuts = np.maximum.accumulate(np.maximum(cuts, after[pairs]))
    pairs[0], pairs[-1] = 0, len(splices.places)
    at = cuts + before[pairs]
    columns = (cuts[:-1], cuts[1:], at[:-1], pairs[:-1], pairs[1:])
    return list(zip(*(column.tolist() for column in columns), strict=True))
