"""What each vertex contributes to the shortest paths from a source, on the device.

:mod:`.host_betweenness` has the host version, and describes it. A launch takes one or more sources, each by
a team of blocks. The first source is taken by all blocks. The levels of the sources so far tell how many
blocks a team needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import device_room
from .csr import Rows
from .device import namespace as cupy
from .launching import attribute, launch_gang
from .sources import GANG, instance

AT_ONCE = 256  # sources per call; other work may wait for it to end
PER_MULTIPROCESSOR = 2  # blocks; in betweenness.cu too
LANES = 4  # per row; SHARES in gang.cuh
TEAMS = 1  # maximum number of teams of the first launch
SHRINK = 8  # maximum factor by which teams are smaller than those of the launch before
PIECE = 512  # edges; in betweenness.cu too
UNREACHED = -2  # level; in betweenness.cu too
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
    size, dtype, done = len(scores), rows.ends.dtype, 0
    pieces = 2 * (len(rows.ends) + len(into.ends)) // PIECE + 1
    team_bytes = size * (24 + 3 * dtype.itemsize) + pieces * (16 + 2 * dtype.itemsize)
    spare = int(cupy.diff(into.offsets).max()).bit_length()
    most = PER_MULTIPROCESSOR * attribute("MultiProcessorCount")
    blocks = most // min(TEAMS, len(sources))
    while done < len(sources):
        affordable = max(1, device_room() // 2 // team_bytes)
        teams = min(most // blocks, len(sources) - done, affordable)
        state, found = cupy.zeros((teams, TEAM), "int64"), cupy.zeros((teams, size))
        launch_gang(
            instance("dependencies", dtype),
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
            cupy.full((teams, size, 2), UNREACHED, "int32"),  # marks
            cupy.empty((teams, size), "int64"),
            cupy.empty((teams, size), dtype),
            cupy.empty((teams, size + 2, 2), dtype),  # where levels begin
            cupy.empty((teams, pieces, 2), dtype),
            cupy.empty((teams, pieces, 2), "int64"),  # their sums
            found,
            state,
            blocks=teams * blocks,
        )
        for part in found:
            scores += part
        done += teams
        if done < len(sources):
            levels, reached = state[:, [LEVELS, REACHED]].sum(axis=0).get().tolist()
            needed = min(most, -(-reached * LANES // (levels * GANG)))
            # A source that reaches few vertices says little about the others.
            blocks = max(needed, blocks // SHRINK, 1)
