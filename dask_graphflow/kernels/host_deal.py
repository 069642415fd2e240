"""Who gets which edges, where each of several members owns a range of the vertices."""

from __future__ import annotations

from collections.abc import Sequence

import numba
import numpy as np

from .host_threads import share

__all__ = ["count_grains", "parted"]

LEAST = 1 << 14  # edges that are worth a thread

_compiled = numba.njit(nogil=True, cache=True)


@_compiled
def _count_grains(ids, shift, start, stop, counts):  # type: ignore[no-untyped-def]
    shift = np.uint64(shift)
    for i in range(start, stop):
        counts[np.uint64(ids[i]) >> shift] += 1


def parted(
    columns: Sequence[np.ndarray],
    source: np.ndarray,
    target: np.ndarray | None,
    owners: np.ndarray,
    members: int,
    *,
    shift: int,
    threads: int = 1,
) -> list[list[np.ndarray]]:
    """Part edges by the members that own an end of them, in the order that they have.

    Parameters
    ----------
    columns : sequence of ndarray, shape (m,)
        What there is of each edge.
    source : ndarray of integers, shape (m,)
    target : ndarray of integers, shape (m,), or None
        None where an edge is its source's alone.
    owners : ndarray of int16
        The owner of every ``2**shift`` vertices.
    members : int
    shift : int
    threads : int
        Threads to use.

    Returns
    -------
    list of list of ndarray
        By column and member. An edge whose ends have two owners is in the parts of both.
    """
    cuts = _cuts(len(source), threads)

    # In NumPy's own loops, which let go of the interpreter: compiled ones that write to the members in turn
    # took longer, of edges in no order.
    def some(part: int) -> list[list[np.ndarray]]:
        here = slice(*cuts[part])
        own = owners[source[here] >> shift]
        other = own if target is None else owners[target[here] >> shift]
        chosen = [np.flatnonzero((own == q) | (other == q)) for q in range(members)]
        return [[values[here][at] for at in chosen] for values in columns]

    done = share(some, len(cuts), threads)
    if len(done) == 1:
        return done[0]
    places = [(column, member) for column in range(len(columns)) for member in range(members)]

    def whole(place: int) -> np.ndarray:
        column, member = places[place]
        return np.concatenate([one[column][member] for one in done])

    joined = iter(share(whole, len(places), threads))
    return [[next(joined) for _ in range(members)] for _ in columns]


def count_grains(ids: np.ndarray, count: int, *, shift: int, threads: int = 1) -> np.ndarray:
    """Return how many ids lie in each of `count` grains of ``2**shift``, as int64."""
    cuts = _cuts(len(ids), threads)
    counts = np.zeros((len(cuts), count), np.int64)
    share(lambda part: _count_grains(ids, shift, *cuts[part], counts[part]), len(cuts), threads)
    total: np.ndarray = counts.sum(axis=0)
    return total


def _cuts(count: int, threads: int) -> list[tuple[int, int]]:
    """Return where each thread's items begin and end."""
    parts = max(1, min(threads, count // LEAST))
    return [(count * part // parts, count * (part + 1) // parts) for part in range(parts)]
