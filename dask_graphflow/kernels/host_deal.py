"""Who gets which edges, where each of several members owns a range of the vertices."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .host_rows import _cuts, count_all
from .host_threads import share

__all__ = ["count_grains", "parted"]

LEAST = 1 << 14  # edges that are worth a thread


def parted(
    columns: Sequence[np.ndarray],
    source: np.ndarray,
    target: np.ndarray | None,
    owners: np.ndarray,
    members: int,
    *,
    shift: int,
    threads: int = 1,
) -> Iterator[list[np.ndarray]]:
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

    Yields
    ------
    list of ndarray
        Of each column, what each member gets. An edge whose ends have two owners is in the parts of both.
    """
    bounds = _cuts(len(source), max(1, min(threads, len(source) // LEAST)))
    cuts = [slice(*ends) for ends in itertools.pairwise(bounds)]

    # In NumPy's own loops, which let go of the interpreter: compiled ones that write to the members in turn
    # took longer, of edges in no order.
    def choose(part: int) -> list[np.ndarray]:
        here = cuts[part]
        own = owners[source[here] >> shift]
        other = own if target is None else owners[target[here] >> shift]
        return [np.flatnonzero((own == member) | (other == member)) for member in range(members)]

    chosen = share(choose, len(cuts), threads)
    stops = np.array([[len(at) for at in one] for one in chosen]).cumsum(axis=0)
    for values in columns:
        found = [np.empty(count, values.dtype) for count in stops[-1]]

        def gather(piece: int, values: Any = values, found: Any = found) -> None:
            part, member = divmod(piece, members)
            at, stop = chosen[part][member], stops[part, member]
            # Not looked at again for whether they are within: that would go through a copy.
            values[cuts[part]].take(at, out=found[member][stop - len(at) : stop], mode="clip")

        share(gather, len(cuts) * members, threads)
        yield found


def count_grains(ids: np.ndarray, count: int, *, shift: int, threads: int = 1) -> np.ndarray:
    """Return how many ids lie in each of `count` grains of ``2**shift``, as int64."""
    return count_all([ids], count=count, shift=shift, threads=threads)
