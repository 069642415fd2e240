"""A layout of a vertex and its surroundings, on rings by distance.

Each vertex is placed outward of its parent. The branches of the tree share the circle by their leaves, and
a leaf takes the space that it needs on its ring. The order of branches is chosen to keep the edges between
branches short: vertices are repeatedly sorted among their siblings by the angle of their neighbors, and the
best order is kept. The layout is deterministic, so the same graph gives the same picture.
"""

from __future__ import annotations

import numpy as np

SWEEPS = 40


def rings(
    distance: np.ndarray, parent: np.ndarray, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Place a tree's vertices on rings.

    Parameters
    ----------
    distance : ndarray of int, shape (n,)
        The ring of each vertex, ascending; only the first is on ring 0.
    parent : ndarray of int, shape (n,)
        The parent of each vertex, one ring further in; -1 for the first.
    edges : ndarray of int, shape (m, 2)
        Pairs of vertices that should be near each other.

    Returns
    -------
    angles : ndarray of float, shape (n,)
        Radians.
    points : ndarray of float, shape (n, 2)
        Rings are 1 apart, and the first vertex is at (0, 0).

    Examples
    --------
    >>> import numpy as np
    >>> _, points = rings(np.array([0, 1, 1]), np.array([-1, 0, 0]), np.array([[0, 1], [0, 2]]))
    >>> np.hypot(*points.T).round(6).tolist()
    [0.0, 1.0, 1.0]
    """
    children: list[list[int]] = [[] for _ in parent]
    for vertex, above in enumerate(parent.tolist()):
        if above >= 0:
            children[above].append(vertex)
    angles = _spread(children, distance)
    across = edges[(edges != 0).all(axis=1) & (edges[:, 0] != edges[:, 1])]
    best, best_length = angles, _length(angles, distance, across)
    for _ in range(SWEEPS if len(across) else 0):
        drawn = _find_directions(angles, across)
        for siblings in children:
            siblings.sort(key=lambda vertex: (drawn[vertex], vertex))
        angles = _spread(children, distance)
        if (length := _length(angles, distance, across)) < best_length:
            best, best_length = angles, length
    return best, distance[:, None] * np.column_stack([np.cos(best), np.sin(best)])


def _spread(children: list[list[int]], distance: np.ndarray) -> np.ndarray:
    """Return the angle of each vertex: the middle of the part of the circle that its leaves take.

    A leaf on an inner ring takes a larger part, so that leaves are equally far apart on all rings. The
    first leaf is at angle 0, where its name is horizontal.
    """
    parts = 1.0 / np.maximum(distance, 1)
    for vertex in reversed(range(len(children))):  # vertices further out come later
        if children[vertex]:
            parts[vertex] = max(parts[vertex], sum(parts[child] for child in children[vertex]))
    begin, first = np.zeros(len(children)), 0
    for vertex, below in enumerate(children):
        at = begin[vertex] + (parts[vertex] - sum(parts[child] for child in below)) / 2
        for child in below:
            begin[child] = at
            at += parts[child]
    while children[first]:
        first = children[first][0]
    middle = begin + parts / 2
    angles: np.ndarray = 2 * np.pi * (middle - middle[first]) / parts[0]
    return angles


def _find_directions(angles: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Return the mean direction of each vertex and its neighbors, as an angle near the vertex's own."""
    middle = np.exp(1j * angles)
    for one, other in (across.T, across.T[::-1]):
        np.add.at(middle, one, np.exp(1j * angles[other]))
    turned = np.angle(middle * np.exp(-1j * angles))
    drawn: np.ndarray = angles + turned
    return drawn


def _length(angles: np.ndarray, distance: np.ndarray, across: np.ndarray) -> float:
    points = distance * np.exp(1j * angles)
    return float(np.abs(points[across[:, 0]] - points[across[:, 1]]).sum())
