"""Intersections of sorted rows on the device; :mod:`.host_intersect` has the twins."""

from __future__ import annotations

from typing import Any

import numpy as np

from .device import namespace as cupy
from .launching import BLOCKS, NULL, attribute, launch, launch_blocks
from .sources import THREADS, instance

__all__ = ["credit", "lose", "triangles"]

TILE = 512  # of cuda/intersect.cu
TILE_LANES = 8  # entries of a tile for each thread of the block


def triangles(
    rows: Any, entering: Any, own: Any, of_row: list[Any], of_own: Any, *, threads: int = 1
) -> None:
    """Count the triangles that rows close; see :func:`.host_intersect.triangles`."""
    if not len(entering.ends) or not len(own.ends):
        return
    with own.ends.device:
        tiles = -(-len(entering.ends) // TILE)
        launch_blocks(
            instance("triangles", own.ends.dtype),
            min(tiles, BLOCKS * attribute("MultiProcessorCount")),
            THREADS,
            0,
            rows.offsets,
            rows.ends.astype(own.ends.dtype, copy=False),
            entering.offsets,
            entering.ends.astype(own.ends.dtype, copy=False),
            np.uint64(len(own.offsets) - 1),
            own.offsets,
            own.ends,
            *(NULL if side.weights is None else side.weights for side in (rows, entering, own)),
            of_row[0],
            of_row[1] if len(of_row) > 1 else NULL,
            of_own,
        )


def credit(rows: Any, last: Any, middle: Any, first: Any, *, threads: int = 1) -> Any:
    """Return the triangles of each vertex; see :func:`.host_intersect.credit`."""
    count = len(rows.offsets) - 1
    totals = cupy.zeros(count, "int64")
    if len(rows.ends):
        with rows.ends.device:
            launch(
                instance("credit", rows.ends.dtype),
                -(-len(rows.ends) // TILE_LANES),
                rows.offsets,
                rows.ends,
                np.uint64(count),
                last,
                middle,
                first,
                totals,
            )
    return totals


def lose(
    rows: Any,
    state: Any,
    lost: Any,
    own: Any,
    own_state: Any,
    own_lost: Any,
    row: Any,
    late: Any,
    early: Any,
    *,
    threads: int = 1,
) -> None:
    """Count how many triangles edges lose; see :func:`.host_intersect.lose`."""
    if not len(row):
        return
    with own.ends.device:
        launch(
            instance("lose", own.ends.dtype, own.weights.dtype),
            32 * len(row),
            rows.offsets,
            rows.ends.astype(own.ends.dtype, copy=False),
            rows.weights,
            state,
            lost,
            own.offsets,
            own.ends,
            own.weights,
            own_state,
            own_lost,
            *(side.astype(own.ends.dtype, copy=False) for side in (row, late, early)),
            np.uint64(len(row)),
        )
