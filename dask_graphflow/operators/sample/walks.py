"""Random walks: in each step, a walk follows one of the edges that leave its vertex.

With a single member, one kernel does many steps. Several members proceed step by step: the owner of a
walk's vertex draws the next vertex, and sends the walk to the owner of that vertex.

Memory is in proportion to the steps that walks do, however long they may become.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphflow.graph.offsets import offsets_of
from dask_graphflow.kernels import all_true, check_room, count_true, kernels_for
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.operators.access import send_groups
from dask_graphflow.operators.view import GraphView

from .sampler import Sampler

# Maximum number of vertices in the first block of steps; later ones double the number.
BLOCK = 1 << 22
ROW_BYTES = 48  # bytes of a row of the result, and of the arrays from which it is made


def check_walks(like: Any, rows: int) -> None:
    """Raise if there is no room for `rows` rows of walks, in the memory of the array `like`."""
    advice = "Give fewer starts at a time, fewer walks_per_vertex or a smaller length"
    check_room(kernels_for(like), ROW_BYTES * float(rows), f"{rows:,} vertices of walks", advice)


def walk_bias(p: float, q: float) -> np.ndarray:
    """Return the bias of node2vec for these parameters; see :meth:`.SampleKernels.walk`."""
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
    if g.member.alone:
        blocks = list(_blocks(sampler, starts, key_of(walks), length, bias))
        rows = _even if len(blocks[-1][0]) == len(walks) else _uneven
        which, step, vertex = rows(blocks, walks, starts, g.member.threads)
        return which, step, vertex.astype(g.index, copy=False)
    steps = list(_steps(g, sampler, starts, walks, key_of, length, bias))
    step = np.concatenate([np.full_like(one, at, "int32") for at, (one, _) in enumerate(steps)])
    which, vertex = (np.concatenate(column) for column in zip(*steps, strict=True))
    send = send_groups(g, which, total)
    which, step, vertex = send(which), send(step), send(vertex)
    order = np.argsort(which * (length + 1) + step)
    return which[order], step[order], vertex[order]


def _blocks(sampler: Sampler, at: Any, keys: Any, length: int, bias: np.ndarray) -> Any:
    """Yield blocks of steps: the walks that go on, their number of steps before, and their vertices.

    The vertices have one row per walk, which begins with the vertex where the walk was. Once a walk has
    ended, they are -1.
    """
    which, before, first, rows = np.arange(len(at), like=keys), None, 0, len(at)
    while True:
        steps = min(length - first, max(1, max(BLOCK, rows) // max(1, len(which)) - 1))
        check_walks(keys, rows + len(which) * steps)
        vertices = sampler.walks(at, keys[which], steps, bias, first=first, before=before)
        yield which, first, vertices
        first += steps
        if first == length:
            return
        rows += count_true(vertices[:, 1:] >= 0)
        goes = np.flatnonzero(vertices[:, -1] >= 0)
        if not len(goes):
            return
        which, at, before = which[goes], vertices[goes, -1], vertices[goes, -2]


def _even(blocks: Any, walks: Any, starts: Any, threads: int) -> tuple[Any, Any, Any]:
    """Return the walk, the step and the vertex of each row, if no walk ends before the last block."""
    (_, _, vertices), *others = blocks
    if others:
        vertices = np.concatenate([vertices, *(other[:, 1:] for _, _, other in others)], axis=1)
    step = np.tile(np.arange(vertices.shape[1], dtype="int32", like=vertices), len(walks))
    columns = np.repeat(walks, vertices.shape[1]), step, vertices.ravel()
    went = columns[-1] >= 0
    return columns if all_true(went) else tuple(column[went] for column in columns)


def _uneven(blocks: Any, walks: Any, starts: Any, threads: int) -> tuple[Any, Any, Any]:
    """Return the walk, the step and the vertex of each row, walk by walk."""
    owners, dtype = rows_kernels.of(blocks[0][2]).owners, blocks[0][2].dtype
    counts = np.ones_like(starts, "int64")
    for which, _, vertices in blocks:
        counts[which] += (vertices[:, 1:] >= 0).sum(axis=1)
    begin = offsets_of(counts)
    vertex = np.empty_like(starts, dtype, shape=int(begin[-1]))
    vertex[begin[:-1]] = starts
    for which, first, vertices in blocks:
        went = vertices[:, 1:] >= 0
        values, offsets = vertices[:, 1:][went], offsets_of(went.sum(axis=1))
        row = owners(Rows(offsets, values, None, 0), "int64", threads=threads)
        # A walk has no gaps, so the rows of a block follow each other in the result.
        shift = begin[which] + first + 1 - offsets[:-1]
        vertex[np.arange(len(values), like=row) + shift[row]] = values
    walk = owners(Rows(begin, vertex, None, 0), "int64", threads=threads)
    step = np.arange(len(vertex), like=walk) - begin[walk]
    return walks[walk], step.astype("int32"), vertex


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
    biased, vertex, rows = bool((bias != 1).any()), g.numbers[at], 0
    before = np.full_like(vertex, -1)
    yield walks, vertex
    for step in range(1, length + 1):
        following = sampler.next_vertices(at, before, key_of(walks), step, bias)
        goes = np.flatnonzero(following >= 0)
        columns = [walks[goes], vertex[goes]] if biased else [walks[goes]]
        at, walks, *last = sampler.send_to_owners(following[goes], *columns)
        before = last[0] if biased else np.full_like(at, -1, vertex.dtype)
        vertex = g.numbers[at]
        rows += len(walks)
        check_walks(walks, rows)
        yield walks, vertex
        if not g.all_sum(len(walks)):
            return
