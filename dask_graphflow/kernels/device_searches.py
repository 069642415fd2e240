"""Whole searches from several sources, on the device.

:mod:`.host_searches` has the host versions, and describes them. A launch takes one or more sources, each by
a team of blocks. The levels of the sources so far tell how many blocks a team needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import device_room
from .csr import Rows
from .device import namespace as cupy
from .launching import attribute, launch_gang
from .sources import GANG, instance

AT_ONCE = 256  # sources per call; other work may wait for it to end
PER_MULTIPROCESSOR = 2  # number of blocks, as in searches.cu
LANES = 4  # per row; SHARES in gang.cuh
SHRINK = 8  # maximum factor by which teams are smaller than those of the launch before
SPARSE = 5  # edges per vertex, below which a graph may be a road network
PIECE = 512  # edges; in searches.cu too
UNREACHED = -2  # level; in searches.cu too
LEVELS, REACHED, TEAM = 9, 10, 12  # items of the struct Team, and their number


def add_dependencies(
    rows: Rows,
    into: Rows,
    sources: Any,
    scores: Any,
    *,
    endpoints: bool = False,
    threads: int = 1,
) -> None:
    """Add what each vertex contributes to the shortest paths from some sources."""
    # Road networks have small levels. In other graphs, one team of all blocks is the fastest.
    teams = SHRINK if len(rows.ends) < SPARSE * len(scores) else 1
    for _, _, found in _launches("true", rows, into, sources, teams, endpoints=endpoints):
        for part in found:
            scores += part


def levels(rows: Rows, sources: Any, *, threads: int = 1) -> Any:
    """Return the level of each vertex in a search from each source."""
    every = cupy.empty((len(sources), len(rows.offsets) - 1), "int32")
    # Callers have found that levels are small.
    for first, marks, _ in _launches("false", rows, rows, sources, len(sources)):
        cupy.maximum(marks[..., 0], -1, out=every[first : first + len(marks)])
    return every


def _launches(
    contribute: str, rows: Rows, into: Rows, sources: Any, teams: int, *, endpoints: bool = False
) -> Iterator[tuple[int, Any, Any]]:
    """Search from all sources; yield the first source of each launch, its marks and contributions.

    At most `teams` teams take part in the first launch.
    """
    size, dtype, done = len(rows.offsets) - 1, rows.ends.dtype, 0
    pieces = 2 * (len(rows.ends) + len(into.ends)) // PIECE + 1
    spare = int(cupy.diff(into.offsets).max()).bit_length()
    most = PER_MULTIPROCESSOR * attribute("MultiProcessorCount")
    blocks = max(1, most // min(teams, len(sources)))
    each = size * (24 + 3 * dtype.itemsize) + pieces * (16 + 2 * dtype.itemsize)
    room = max(1, device_room() // 2 // each)
    arrays: Any = None
    while done < len(sources):
        teams = min(most // blocks, len(sources) - done, room)
        if arrays is None or len(arrays[0]) < teams:
            arrays = marks = found = state = None  # free them first
            arrays = _arrays(teams, size, pieces, dtype)
        marks, found, state = (array[:teams] for array in (arrays[0], *arrays[-2:]))
        marks.fill(UNREACHED)
        found.fill(0)
        state.fill(0)
        launch_gang(
            instance("search", dtype, contribute),
            rows.offsets,
            rows.ends,
            into.offsets,
            into.ends,
            np.int64(size),
            np.int64(pieces),
            sources[done : done + teams],
            np.uint32(blocks),
            np.int32(spare),
            np.float64(endpoints),
            *arrays,
            blocks=teams * blocks,
        )
        yield done, marks, found
        done += teams
        if done < len(sources):
            depths, reached = state[:, [LEVELS, REACHED]].sum(axis=0).get().tolist()
            needed = min(most, -(-reached * LANES // (depths * GANG)))
            # A source that reaches few vertices says little about the others.
            blocks = max(needed, blocks // SHRINK, 1)


def _arrays(teams: int, size: int, pieces: int, dtype: Any) -> tuple[Any, ...]:
    """Return what the kernel writes to, for each team: marks first, contributions and states last."""
    return (
        cupy.empty((teams, size, 2), "int32"),
        cupy.empty((teams, size), "int64"),  # numbers
        cupy.empty((teams, size), dtype),  # vertices by level
        cupy.empty((teams, size + 2, 2), dtype),  # where levels begin
        cupy.empty((teams, pieces, 2), dtype),
        cupy.empty((teams, pieces, 2), "int64"),  # sums of pieces
        cupy.empty((teams, size), "float64"),
        cupy.empty((teams, TEAM), "int64"),
    )
