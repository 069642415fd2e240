"""Random walks: in each step, a walk follows one of the edges that leave its vertex.

With a single member, one kernel does all steps. Several members proceed step by step: the owner of a walk's
vertex draws the next vertex, and sends the walk to the owner of that vertex.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .sample import Sampler
from .send_rows import send_rows
from .view import GraphView

__all__ = ["walk", "walk_bias"]


def walk_bias(p: float, q: float) -> np.ndarray:
    """Return the bias of node2vec for these parameters; see :func:`.host_sample.walk`."""
    back, most = 1 / p, max(1.0, 1 / q)
    returning = (back / most, 1.0) if back <= most else (1.0, p * most)
    return np.array([*returning, min(1.0, q), min(1.0, 1 / q)])


def walk(
    g: GraphView,
    starts: Any,
    walks: Any,
    key_of: Callable[[Any], Any],
    length: int,
    bias: np.ndarray,
    total: int,
) -> tuple[Any, Any, Any]:
    """Run random walks, and return the rows that this member lists. All members call it.

    Parameters
    ----------
    g : GraphView
    starts : array of integers, shape (w,)
        Positions of the first vertices.
    walks : array of int64, shape (w,)
        Number of each walk.
    key_of : callable
        Takes numbers of walks, of any member, and returns their keys.
    length : int
        Maximum number of steps per walk.
    bias : ndarray of float64, shape (4,)
    total : int
        Number of walks over all members.

    Returns
    -------
    walk : array of int64, shape (r,)
    step : array of int32, shape (r,)
    vertex : array of index, shape (r,)
        Vertex numbers. Rows are sorted by walk, then by step.
    """
    sampler = Sampler(g, weighted=True)
    if g.alone:
        found = sampler.walks(starts, key_of(walks), length, bias)
        step = np.tile(np.arange(length + 1, dtype="int32", like=found), len(walks))
        columns = np.repeat(walks, length + 1), step, found.ravel().astype(g.index, copy=False)
        went = columns[-1] >= 0
        return columns if went.all() else tuple(column[went] for column in columns)
    steps = list(_steps(g, sampler, starts, walks, key_of, length, bias))
    step = np.concatenate([np.full_like(one, at, "int32") for at, (one, _) in enumerate(steps)])
    which, vertex = (np.concatenate(column) for column in zip(*steps, strict=True))
    send = send_rows(g.exchange, which * g.exchange.size // total)
    which, step, vertex = send(which), send(step), send(vertex)
    order = np.argsort(which * (length + 1) + step)
    return which[order], step[order], vertex[order]


def _steps(
    g: GraphView,
    sampler: Sampler,
    at: Any,
    walks: Any,
    key_of: Callable[[Any], Any],
    length: int,
    bias: np.ndarray,
) -> Any:
    """Yield, after each step, the walks at this member's vertices, and the numbers of these vertices."""
    biased, vertex = bool((bias != 1).any()), g.numbers[at]
    before = np.full_like(vertex, -1)
    yield walks, vertex
    for step in range(1, length + 1):
        found = sampler.next_vertices(at, before, key_of(walks), step, bias)
        goes = np.flatnonzero(found >= 0)
        owners, at = sampler.find(found[goes])
        send = send_rows(g.exchange, owners)
        walks, at = send(walks[goes]), send(at)
        before = send(vertex[goes]) if biased else np.full_like(at, -1, vertex.dtype)
        vertex = g.numbers[at]
        yield walks, vertex
        if not g.all_reduce(sums=(len(walks),)).sums[0]:
            return
