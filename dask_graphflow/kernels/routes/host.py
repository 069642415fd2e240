"""Shortest paths between given vertices, on the host: a thread searches for a whole pair or origin."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphflow.kernels.host_threads import share

from . import FoundPaths
from .host_alternatives import SLOTS, WIDTH, find_paths, path_slots
from .host_between import search_pair
from .host_distances import list_back, search_from, search_room
from .host_landmarks import add_choice, landmarks_for

APART = 16  # targets of a source that are searched one by one; it takes less time than all at once


def _each(
    find: Callable[[int, Any], Any], count: int, room: Callable[[], Any], threads: int
) -> Any:
    """Call ``find(i, room)`` for each of `count` items, with a room per thread; return the results."""
    found: list[Any] = [None] * count
    tickets = itertools.count()  # next(tickets) is atomic

    def work(_: int) -> None:
        own = room()
        while (i := next(tickets)) < count:
            found[i] = find(i, own)

    parts = min(threads, count)
    share(work, parts, parts)
    return found


def _joined(paths: np.ndarray, found: list[Any], dtype: Any) -> FoundPaths:
    none = np.empty(0), np.empty(0, np.int64), np.empty(0, dtype)
    return FoundPaths(paths, *map(np.concatenate, zip(none, *found, strict=True)))


def find_shortest(rows, into, sources, targets, *, threads):
    size, dtype = len(rows.offsets) - 1, rows.ends.dtype
    first = np.flatnonzero(np.diff(sources, prepend=-1))
    counts = np.diff(np.append(first, len(sources)))
    alone = counts <= APART  # targets that are searched one by one
    begins = np.repeat(alone, counts)
    begins[first] = True
    bounds = list(itertools.pairwise([*np.flatnonzero(begins).tolist(), len(sources)]))
    landmarks = landmarks_for(rows, into, sources[np.repeat(alone, counts)])

    def room() -> Any:
        forward = search_room(size, dtype)
        back = np.full(size, np.inf), np.zeros(size, np.bool_), np.empty(size, dtype)
        heap = np.empty(size), np.empty(size, dtype), np.full(size, -1, dtype)
        return forward, (*forward, *back, heap), add_choice(landmarks)

    def find(i: int, room: Any) -> Any:
        low, high = bounds[i]
        (own, both, toward), source, ends = room, sources[low], targets[low:high]
        lengths, numbers = np.empty(len(ends)), np.empty(len(ends), np.int64)
        if len(ends) == 1:
            ways = rows[:3], into[:3]
            seen = search_pair(*ways, source, ends, toward, lengths, numbers, both)
        else:
            seen = search_from(rows[:3], source, ends, len(ends), lengths, numbers, own)
        vertices = np.empty(numbers.sum(), dtype)
        list_back(ends, numbers, vertices, seen, own)
        return lengths, numbers, vertices

    found = _each(find, len(bounds), room, threads)
    lengths, counts, vertices = _joined(sources, found, dtype)[1:]
    reached = counts > 0
    return FoundPaths(reached.astype(np.int64), lengths[reached], counts[reached], vertices)


def find_alternatives(rows, into, sources, targets, k, *, threads):
    size, dtype = len(rows.offsets) - 1, rows.ends.dtype
    none = np.empty(0, dtype)
    landmarks = landmarks_for(rows, into, sources)

    def room() -> Any:
        forth, seen, mark, known, heap = search_room(size, dtype)
        searching = forth, np.full(size, np.inf), mark, seen, known, heap
        return [searching, path_slots(16, 256, dtype), add_choice(landmarks)]

    def find(i: int, room: Any) -> Any:
        own, paths, toward = room
        ends = sources[i], targets[i], k, toward
        while (count := find_paths(rows[:3], into[:3], *ends, own, paths)) < 0:
            more, wider = (2 if count == lack else 1 for lack in (SLOTS, WIDTH))
            slots, width = paths[-1].shape
            room[1] = paths = path_slots(more * slots, wider * width, dtype)
        order, counts, *_, store, sums = paths
        each = [(slot, counts[slot]) for slot in order[:count].tolist()]
        lengths = [sums[slot, number - 1] for slot, number in each]
        vertices = [store[slot, :number] for slot, number in each]
        numbers = np.array([number for _, number in each], np.int64)
        return np.array(lengths), numbers, np.concatenate([none, *vertices])

    found = _each(find, len(sources), room, threads)
    paths = np.array([len(lengths) for lengths, *_ in found], np.int64)
    return _joined(paths, found, dtype)
