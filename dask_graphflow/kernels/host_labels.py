"""Label propagation on the host: the label that most of a vertex's neighbours have."""

from __future__ import annotations

import numpy as np

from .compiling import compiled as _compiled
from .host_rows import Rows
from .host_threads import MINI_CHUNK, even_turns, share, take

__all__ = ["most_frequent"]


@_compiled
def _count(ends, start, stop, labels, keys, counts, mask, best, most):  # type: ignore[no-untyped-def]
    """Count the labels of a row's ends in a hash table; return the most frequent so far."""
    for k in range(start, stop):
        label = labels[np.uint64(ends[k])]
        # Fibonacci hashing: labels are small numbers, often in a row.
        at = (np.uint64(label) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask
        while counts[at] and keys[at] != label:
            at = (at + np.uint64(1)) & mask
        keys[at] = label
        counts[at] += 1
        if counts[at] > most or (counts[at] == most and label < best):
            best, most = label, counts[at]
    return best, most


@_compiled
def _most_frequent(  # type: ignore[no-untyped-def]
    out_offsets,
    out_ends,
    in_offsets,
    in_ends,
    both,
    first,
    labels,
    found,
    keys,
    counts,
    ranges,
    part,
):
    changed = 0
    start, stop = take(ranges, part, MINI_CHUNK)
    while start < stop:
        for row in range(start, stop):
            degree = out_offsets[row + 1] - out_offsets[row]
            if both:
                degree += in_offsets[row + 1] - in_offsets[row]
            own = labels[first + row]
            if degree == 0:
                found[first + row] = own
                continue
            size = 2
            while size < 2 * degree:
                size *= 2
            mask = np.uint64(size - 1)
            best, most = _count(
                out_ends, out_offsets[row], out_offsets[row + 1], labels, keys, counts, mask, own, 0
            )
            if both:
                best, most = _count(
                    in_ends,
                    in_offsets[row],
                    in_offsets[row + 1],
                    labels,
                    keys,
                    counts,
                    mask,
                    best,
                    most,
                )
            counts[:size] = 0
            found[first + row] = best
            changed += best != own
        start, stop = take(ranges, part, MINI_CHUNK)
    return changed


def most_frequent(
    out: Rows, into: Rows | None, labels: np.ndarray, found: np.ndarray, *, threads: int = 1
) -> int:
    """Give each vertex of a range the label that most of its neighbours have, the smallest of several.

    Parameters
    ----------
    out, into : Rows
        Of one range: of what leaves it, and of what enters it; None where that is the same.
        A neighbour counts once for each edge.
    labels : ndarray of integers, shape (V,)
        The vertices' labels.
    found : ndarray of the same dtype, shape (V,)
        Written for the range; a vertex without edges keeps its own.
    threads : int
        Threads to use.

    Returns
    -------
    int
        Vertices whose label changed.
    """
    count = len(out.offsets) - 1
    degrees = np.diff(out.offsets)
    other = out if into is None else into
    if into is not None:
        degrees = degrees + np.diff(into.offsets)
    size = 2 << int(degrees.max(initial=1) - 1).bit_length() if count else 2
    ranges = even_turns(count, threads, out.offsets)

    def work(part: int) -> int:
        table = np.empty(size, labels.dtype), np.zeros(size, np.int64)
        return _most_frequent(  # type: ignore[no-any-return]
            out.offsets, out.ends, other.offsets, other.ends, into is not None, out.first, labels, found,
            *table, ranges, part,
        )  # fmt: skip

    return sum(share(work, threads, threads))
