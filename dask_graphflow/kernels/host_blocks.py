"""Arrays as compiled kernels take them: contiguous, aligned, read-only and of one dtype.

A kernel is compiled for each combination of dtypes and layouts that it gets. Frames have columns of every
integer dtype, slices of blocks, and messages that begin at any byte. Such arrays are converted in blocks
that fit into a core's cache, which takes much less time than reading them from memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

BLOCK = 1 << 16  # items that are converted at a time


def in_blocks(
    columns: Sequence[np.ndarray], dtypes: Sequence[Any], start: int, stop: int
) -> Iterator[tuple[int, list[np.ndarray]]]:
    """Yield parts of several columns of equal length, with the index at which each part begins.

    Columns that a kernel can take as they are are not copied. If all are such columns, there is one part.
    """
    apart: dict[int, np.ndarray] = {}
    plain = [_is_plain(*one) for one in zip(columns, dtypes, strict=True)]
    step = stop - start if all(plain) else min(BLOCK, stop - start)
    for at in range(start, stop, max(step, 1)):
        size, made, parts = min(step, stop - at), set(), []
        for column, dtype, taken_as_is in zip(columns, dtypes, plain, strict=True):
            part = column[at : at + size]
            if not taken_as_is:
                # The memory of a part is used again, because allocating it takes longer than copying.
                if id(column) not in apart:
                    apart[id(column)] = np.empty(step, dtype)
                room = apart[id(column)][:size]
                if id(column) not in made:
                    np.copyto(room, part, casting="unsafe")
                    made.add(id(column))
                part = room
            part.flags.writeable = False
            parts.append(part)
        yield at, parts


def _is_plain(column: np.ndarray, dtype: Any) -> bool:
    flags = column.flags
    return column.dtype == dtype and bool(flags.aligned and flags.c_contiguous)
