"""A search over the members of a gang: what a member has found, and what others have found for it."""

from __future__ import annotations

import numpy as np

from . import host_search
from .host_advance import count_words, sum_words
from .host_rows import Rows

__all__ = ["reach", "take_offers", "tally"]


def reach(
    rows: Rows,
    frontier: np.ndarray,
    seen: np.ndarray,
    predecessor: np.ndarray,
    level: np.ndarray,
    depth: int,
    degrees: np.ndarray,
    *,
    edges: int,
    low: int,
    names: np.ndarray | None = None,
    threads: int = 1,
) -> tuple[np.ndarray, int, np.ndarray]:
    """Push from a member's vertices to its own and to its mirrors.

    Parameters
    ----------
    rows : Rows
        Of its own vertices, numbered from 0; mirrors' numbers follow.
    frontier, seen, predecessor, level, depth
        As of :func:`.host_search.bfs_push`; `seen` is kept up to date.
    degrees : ndarray of int64, shape (V_p,)
        The edges of each of its own vertices.
    edges : int
        Those that leave the frontier.
    low : int
        The first vertex' number among all, which predecessors are told by.
    names : ndarray, shape (V_p,), optional
        The numbers of its own vertices instead, ascending.
    threads : int
        Threads to use.

    Returns
    -------
    own : ndarray
        New vertices of its own, in no order.
    edges : int
        Those that leave them.
    mirrors : ndarray
        New mirrors, ascending.
    """
    state = seen, predecessor, level, depth
    if not len(frontier):
        found = frontier
    elif edges <= host_search.FEW:
        found, _, _ = host_search.bfs_near(rows, frontier, *state, levels=1, dense=(0, 0, False))
    else:
        found = host_search.bfs_push(rows, frontier, *state, threads=threads)
        host_search.mark_seen(seen, found)
    if names is None:
        predecessor[found] += low
    else:
        predecessor[found] = names[predecessor[found]]
    mine = found < len(degrees)
    own = found[mine]
    return own, int(degrees[own].sum()), np.sort(found[~mine])


def take_offers(
    rows: Rows,
    vertices: np.ndarray,
    offers: np.ndarray,
    seen: np.ndarray,
    predecessor: np.ndarray,
    level: np.ndarray,
    depth: int,
    degrees: np.ndarray,
) -> tuple[np.ndarray, int]:
    """Take the predecessors that another member offers to vertices, each once.

    Parameters
    ----------
    rows, seen, predecessor, level, depth, degrees
        As of :func:`reach`.
    vertices : ndarray of integers, shape (k,)
    offers : ndarray, shape (k,)

    Returns
    -------
    fresh : ndarray
        Those that had none.
    edges : int
        Those that leave them.
    """
    fresh = vertices[level[vertices] < 0]
    level[fresh] = depth
    host_search.mark_seen(seen, fresh)
    now = level[vertices] == depth
    vertices = vertices[now]
    predecessor[vertices] = np.minimum(predecessor[vertices], offers[now])
    return fresh, int(degrees[fresh].sum())


def tally(words: np.ndarray, rows: Rows, degrees: np.ndarray) -> tuple[int, int]:
    """Return how many vertices a bitmap has, and the edges of their rows."""
    return count_words(words), int(sum_words(words, degrees))
