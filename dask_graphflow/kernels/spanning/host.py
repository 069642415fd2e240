"""Minimum spanning forests on the host: components join along their first edges (Borůvka)."""

from __future__ import annotations

import numpy as np

from dask_graphflow.kernels.compiling import compiled as _compiled
from dask_graphflow.kernels.compiling import inner as _inner


@_compiled
def _join(component, one, other, key, at, taken, first):
    left = at.size
    while left:
        for i in range(left):
            for c in (one[i], other[i]):
                if first[c] < 0 or key[i] < key[first[c]]:
                    first[c] = i
        for i in range(left):
            a, b = one[i], other[i]
            if first[a] != i and first[b] != i:
                continue
            taken[at[i]] = True
            # If both components choose the edge, the smaller one is the root of both.
            if first[a] == i and (first[b] != i or b < a):
                component[a] = b
            else:
                component[b] = a
        for i in range(left):
            first[one[i]] = first[other[i]] = -1
        kept = 0
        for i in range(left):
            a, b = _root(component, one[i]), _root(component, other[i])
            if a != b:
                one[kept], other[kept], key[kept], at[kept] = a, b, key[i], at[i]
                kept += 1
        left = kept
    for v in range(component.size):
        component[v] = _root(component, v)


@_inner
def _root(component, vertex):
    above = component[vertex]
    while component[above] != above:
        component[vertex] = component[above]
        vertex = component[above]
        above = component[vertex]
    return above


def join_components(component, one, other, key, at, taken):
    first = np.full(component.size, -1, np.int64)  # the index in the lists
    _join(component, one, other, key, at, taken, first)
