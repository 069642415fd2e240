"""A search over the members of a gang, on the device; :mod:`.host_members` has the twins.

A superstep of few vertices is as long as its launches: a launch counts all that the host asks for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .device import namespace as cupy
from .device_advance import gather_degrees
from .host_rows import Rows
from .launching import launch
from .sources import instance

__all__ = ["reach", "take_offers", "tally"]


def reach(
    rows: Rows,
    frontier: Any,
    seen: Any,
    predecessor: Any,
    level: Any,
    depth: int,
    degrees: Any,
    *,
    edges: int,
    low: int,
    names: Any = None,
    threads: int = 1,
) -> tuple[Any, int, Any]:
    """Push from a member's vertices to its own and to its mirrors."""
    if not edges:
        return frontier[:0], 0, frontier[:0]
    dtype, owned = rows.ends.dtype, len(degrees)
    most = min(edges, len(level))
    found, own, mirrors = cupy.empty((3, most), dtype)
    counts = cupy.zeros(4, "uint64")
    launch(
        instance("bfs_push", dtype),
        len(rows.ends) // 8 if edges > len(level) else edges,
        rows.offsets,
        rows.ends,
        np.int64(0),
        frontier,
        gather_degrees(rows.offsets, frontier),
        np.uint64(len(frontier)),
        seen,
        predecessor,
        level,
        np.int32(depth),
        found,
        counts,
    )
    launch(
        instance("part_found", dtype),
        most,
        found,
        counts,
        np.uint64(owned),
        dtype.type(low if names is None else 0),
        rows.offsets,
        seen,
        predecessor,
        own,
        mirrors,
    )
    count, mine, away, leaving = counts.get().tolist()
    if names is not None:
        predecessor[found[:count]] = names[predecessor[found[:count]]]
    mirrors = mirrors[:away]
    mirrors.sort()
    return own[:mine], leaving, mirrors


def take_offers(
    rows: Rows,
    vertices: Any,
    offers: Any,
    seen: Any,
    predecessor: Any,
    level: Any,
    depth: int,
    degrees: Any,
) -> tuple[Any, int]:
    """Take the predecessors that another member offers to vertices, each once."""
    fresh, counts = cupy.empty(len(vertices), predecessor.dtype), cupy.zeros(2, "uint64")
    launch(
        instance("take_offers", predecessor.dtype),
        len(vertices),
        vertices.astype(predecessor.dtype, copy=False),
        offers,
        np.uint64(len(vertices)),
        np.int32(depth),
        rows.offsets,
        seen,
        predecessor,
        level,
        fresh,
        counts,
    )
    count, edges = counts.get().tolist()
    return fresh[:count], edges


def tally(words: Any, rows: Rows, degrees: Any) -> tuple[int, int]:
    """Return how many vertices a bitmap has, and the edges of their rows."""
    counts = cupy.zeros(2, "uint64")
    if len(words):
        launch("tally", 32 * len(words), words, np.uint64(len(words)), rows.offsets, counts)
    count, edges = counts.get().tolist()
    return count, edges
