"""Lower bounds on distances on the host, from the distances of a few landmarks.

On roads, if there are many pairs, the distances from and to a few landmarks are found first. By the
triangle inequality, they give lower bounds for any two vertices, which direct all searches (ALT [1]_).

.. [1] A. V. Goldberg, C. Harrelson, "Computing the Shortest Path: A* Search Meets Graph Theory", SODA 2005.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels.compiling import inner as _inner

from .host_distances import list_back, search_from, search_room

SLACK = 1 + 2.0**-30  # more than the rounding errors of a path with a million edges
# Number of landmarks: searches of the whole graph, which shorten all others. The more pairs, the more
# landmarks are worth it, and each search uses the best ones.
FEW, MANY, CHOSEN = 8, 32, 4
WORTH = 64  # pairs per landmark; fewer pairs than this are searched without landmarks
# Mean degree below which landmarks shorten searches for several paths. In other graphs, all distances are
# nearly equal, and so are the bounds.
SPARSE = 5
ERROR = 2.0**-22  # rounding error of a difference of two float32, relative to the largest
LEAST, MOST = 2.0**-100, 2.0**100  # errors of distances for which float32 has the range


@_inner
def lower_bound(landmarks, source, target):
    """Return a lower bound on the distance between two vertices, by the triangle inequality."""
    ahead, behind, error, chosen = landmarks
    bound = error
    for i in chosen:
        bound = max(
            bound, ahead[target, i] - ahead[source, i], behind[source, i] - behind[target, i]
        )
    return bound - error


@_inner
def two_bounds(landmarks, source, vertex, target):
    """Return lower bounds on the distances from a vertex to the target, and from the source to it."""
    ahead, behind, error, chosen = landmarks
    onward, so_far = error, error
    for i in chosen:
        up, down = ahead[vertex, i], behind[vertex, i]
        onward = max(onward, ahead[target, i] - up, down - behind[target, i])
        so_far = max(so_far, up - ahead[source, i], behind[source, i] - down)
    return onward - error, so_far - error


@_inner
def choose_landmarks(landmarks, source, target):
    """Choose the landmarks that give the best lower bounds on a distance: they are near its ends."""
    ahead, behind, _, chosen = landmarks
    for k in range(len(chosen)):
        best, found = -1.0, 0
        for i in range(ahead.shape[1]):
            bound = max(
                0.0, ahead[target, i] - ahead[source, i], behind[source, i] - behind[target, i]
            )
            new = True
            for j in range(k):
                new &= chosen[j] != i
            if new and bound > best:
                best, found = bound, i
        chosen[k] = found


def landmarks_for(rows: Any, into: Any, sources: Any) -> tuple[Any, Any, float]:
    """Return landmarks for searches from some sources, or none if these would not save time."""
    size, pairs = len(rows.offsets) - 1, len(sources)
    if pairs >= WORTH and len(rows.ends) < SPARSE * size:
        made = find_landmarks(rows, into, sources[0], min(max(pairs // WORTH, FEW), MANY))
        if LEAST < made[2] < MOST:
            return made
    return np.empty((size, 0), "float32"), np.empty((size, 0), "float32"), 0.0


def find_landmarks(rows: Any, into: Any, start: int, count: int) -> tuple[Any, Any, float]:
    """Return the distances from and to some vertices that are far apart, and a bound on rounding errors.

    The tables have a row per vertex.
    """
    size = len(rows.offsets) - 1
    sides = [rows] if into is rows else [rows, into]
    room, nothing = search_room(size, rows.ends.dtype), np.empty(0, np.int64)
    tables = [np.empty((size, count), "float32") for _ in sides]
    nearest, most = np.full(size, np.inf), 0.0
    for at in range(count + 1):  # the first search only finds a vertex that is far away
        for side, table in zip(sides, tables, strict=True):
            starts = np.array([start])
            seen = search_from(side[:3], start, starts, 0, np.empty(0), nothing, room)
            distance = room[0].copy()
            list_back(starts, nothing, nothing.astype(rows.ends.dtype), seen, room)
            reached = distance < np.inf
            most = max(most, distance[reached].max())
            if at:
                with np.errstate(over="ignore"):
                    table[:, at - 1] = distance
            if side is rows:
                nearest = np.minimum(nearest, np.where(reached, distance, -1.0))
        start = int(nearest.argmax())
    return tables[0], tables[-1], most * ERROR


def add_choice(landmarks: tuple[Any, Any, float]) -> tuple[Any, ...]:
    """Return landmarks, and room for the indices of the ones that a search uses."""
    return *landmarks, np.empty(min(CHOSEN, landmarks[0].shape[1]), np.int64)
