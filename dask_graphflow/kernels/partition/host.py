"""Distribution of edges to the members that own their ends.

Edges are first counted by member, and then each is written behind the edges before it. An edge of two
members is written to both. An edge of a single member is written to the same place twice, which takes less
time than a branch.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.host_threads import TURN, even_cuts, share
from dask_graphflow.kernels.rows.host import count_all

LEAST = 1 << 14  # minimum number of edges per thread


@_compiled
def _count(source, target, both, start, stop, owners, shift, counts):
    shift = np.uint64(shift)
    for i in range(start, stop):
        one = owners[np.uint64(source[i]) >> shift]
        counts[one] += 1
        if both:
            other = owners[np.uint64(target[i]) >> shift]
            counts[other] += one != other


@_compiled
def _part(values, more, source, target, both, start, stop, owners, shift, at, step, to, to_more):
    shift = np.uint64(shift)
    for i in range(start, stop):
        one = owners[np.uint64(source[i]) >> shift]
        if both:
            other = owners[np.uint64(target[i]) >> shift]
            place = at[other]
            to[place], to_more[place] = values[i], more[i]
            at[other] = place + (one != other) * step[other]
        place = at[one]
        to[place], to_more[place] = values[i], more[i]
        at[one] = place + step[one]


def parted(columns, source, target, owners, members, *, shift, but=None, threads=1):
    both = target is not None
    ends = source, target if both else source, both
    cuts = even_cuts(len(source), max(1, min(threads, len(source) // LEAST)))
    parts = [*itertools.pairwise(cuts)]
    # The padding keeps two parts from writing to the same cache line.
    counts = np.zeros((len(parts), members + TURN), np.int64)
    share(
        lambda part: _count(*ends, *parts[part], owners, shift, counts[part]), len(parts), threads
    )
    step = np.ones(members, np.int64)
    if but is not None:
        counts[:, but] = step[but] = 0
    each = counts.sum(axis=0)
    bounds = [0, *each.cumsum()[:members]]
    first = counts.cumsum(axis=0) - counts + (each.cumsum() - each)
    spare = 0
    if but is not None:  # its edges overwrite each other, which takes less time than a branch
        spare = TURN * len(parts)
        first[:, but] = bounds[-1] + TURN * np.arange(len(parts))

    left = list(columns)
    while left:
        # Write two columns at a time, which is hardly more work than one.
        pair = [values for values in left[:2] if values.dtype == left[0].dtype]
        del left[: len(pair)]
        outputs = [np.empty(bounds[-1] + spare, values.dtype) for values in pair]
        at = first.copy()

        def write(part: int, pair: Any = pair, outputs: Any = outputs, at: Any = at) -> None:
            to = owners, shift, at[part], step, outputs[0], outputs[-1]
            _part(pair[0], pair[-1], *ends, *parts[part], *to)

        share(write, len(parts), threads)
        for whole in outputs:
            yield [whole[low:high] for low, high in itertools.pairwise(bounds)]


def count_grains(ids, count, *, shift, threads=1):
    return count_all([ids], count=count, shift=shift, threads=threads)
