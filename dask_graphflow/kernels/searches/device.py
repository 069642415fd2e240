"""Whole searches from several sources, on the device.

A launch takes one or more sources, each by
a team of blocks. The levels of the sources so far tell how many blocks a team needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import device_room
from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.launching import attribute, launch_gang
from dask_graphflow.kernels.sources import GANG, instance

AT_ONCE = 256  # sources per call; other work may wait for it to end
PER_MULTIPROCESSOR = 2  # number of blocks, as in searches.cu
LANES = 4  # per row; SHARES in gang.cuh
SHRINK = 8  # maximum factor by which teams are smaller than those of the launch before
SPARSE = 5  # edges per vertex, below which a graph may be a road network
PIECE = 512  # edges; in searches.cu too
UNREACHED = -2  # level; in searches.cu too
LEVELS, REACHED, TEAM = 9, 10, 12  # items of the struct Team, and their number


def add_dependencies(rows, into, sources, scores, *, endpoints=False, threads=1):
    for (found,) in dependencies(rows, into, sources, endpoints=endpoints):
        for part in found:
            scores += part


def dependencies(
    rows: Rows, into: Rows, sources: Any, *, endpoints: bool = False
) -> Iterator[tuple[Any]]:
    for _, made in _launches("true", rows, into, sources, _teams(rows), endpoints=endpoints):
        yield (made.found,)


def paths(rows: Rows, into: Rows, sources: Any) -> Iterator[tuple[Any, Any, Any, Any]]:
    for _, made in _launches("true", rows, into, sources, _teams(rows), counted=True):
        yield made.marks[..., 0], made.sigma, made.power, made.found


def _teams(rows: Rows) -> int:
    """Return how many teams are tried first."""
    # Road networks have small levels. In other graphs, one team of all blocks is the fastest.
    return SHRINK if len(rows.ends) < SPARSE * (len(rows.offsets) - 1) else 1


def levels(rows, sources, *, threads=1):
    every = cupy.empty((len(sources), len(rows.offsets) - 1), "int32")
    # Callers have found that levels are small.
    for first, made in _launches("false", rows, rows, sources, len(sources)):
        cupy.maximum(made.marks[..., 0], -1, out=every[first : first + len(made.marks)])
    return every


class _Made(NamedTuple):
    """What the kernel writes to, with one row per team; see searches.cu."""

    marks: Any
    whole: Any
    list: Any
    begins: Any
    pieces: Any
    sums: Any
    sigma: Any
    power: Any
    found: Any
    teams: Any

    @classmethod
    def room(cls, teams: int, size: int, pieces: int, dtype: Any, *, counted: bool) -> _Made:
        """Return arrays for some teams; without room for the numbers of paths unless they are `counted`."""
        return cls(
            cupy.empty((teams, size, 2), "int32"),
            cupy.empty((teams, size), "int64"),
            cupy.empty((teams, size), dtype),
            cupy.empty((teams, size + 2, 2), dtype),
            cupy.empty((teams, pieces, 2), dtype),
            cupy.empty((teams, pieces, 2), "int64"),
            cupy.empty((teams, size * counted), "float64"),
            cupy.empty((teams, size * counted), "int32"),
            cupy.empty((teams, size), "float64"),
            cupy.empty((teams, TEAM), "int64"),
        )


def _launches(
    contribute: str,
    rows: Rows,
    into: Rows,
    sources: Any,
    teams: int,
    *,
    endpoints: bool = False,
    counted: bool = False,
) -> Iterator[tuple[int, _Made]]:
    """Search from all sources; yield the first source of each launch, and the arrays of its teams.

    At most `teams` teams take part in the first launch.
    """
    size, dtype, done = len(rows.offsets) - 1, rows.ends.dtype, 0
    pieces = 2 * (len(rows.ends) + len(into.ends)) // PIECE + 1
    spare = int(cupy.diff(into.offsets).max()).bit_length()
    most = PER_MULTIPROCESSOR * attribute("MultiProcessorCount")
    blocks = max(1, most // min(teams, len(sources)))
    each = size * (24 + 12 * counted + 3 * dtype.itemsize) + pieces * (16 + 2 * dtype.itemsize)
    room = max(1, device_room() // 2 // each)
    arrays: _Made | None = None
    while done < len(sources):
        teams = min(most // blocks, len(sources) - done, room)
        if arrays is None or len(arrays.marks) < teams:
            arrays = made = None  # free them first
            arrays = _Made.room(teams, size, pieces, dtype, counted=counted)
        made = _Made(*(array[:teams] for array in arrays))
        made.marks.fill(UNREACHED)
        made.found.fill(0)
        made.teams.fill(0)
        counts = (made.sigma, made.power) if counted else (None,) * 2
        kernel, some = instance("search", dtype, contribute), sources[done : done + teams]
        edges = *rows[:2], *into[:2], size, pieces, some
        numbers = np.uint32(blocks), np.int32(spare), np.float64(endpoints)
        launch_gang(kernel, *edges, *numbers, *made[:6], *counts, *made[8:], blocks=teams * blocks)
        yield done, made
        done += teams
        if done < len(sources):
            depths, reached = made.teams[:, [LEVELS, REACHED]].get().sum(axis=0).tolist()
            needed = min(most, -(-reached * LANES // (depths * GANG)))
            # A source that reaches few vertices says little about the others.
            blocks = max(needed, blocks // SHRINK, 1)
