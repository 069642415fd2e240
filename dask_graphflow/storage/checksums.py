"""Checksums of files: computed while a file is written, and compared before its bytes are used."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

BLOCK = 1 << 22  # bytes that share a checksum
SETTLED = (
    2.0  # seconds; some file systems tell times of changes apart only if they differ by as much
)


class Summed:
    """A file that is written from its beginning to its end, with the checksums of its blocks.

    Parameters
    ----------
    write : callable
        Writes bytes behind those before.

    Attributes
    ----------
    checksums : list of int
        The CRC-32 of each block of :data:`BLOCK` bytes.
    """

    closed = False

    def __init__(self, write: Callable[[Any], Any]) -> None:
        self._write = write
        self._size = 0
        self.checksums: list[int] = []

    def write(self, data: Any) -> int:
        """Write bytes, and return their number."""
        left = memoryview(data).cast("B")
        size = left.nbytes
        self._write(left)
        while left.nbytes:
            inside = self._size % BLOCK
            part = left[: BLOCK - inside]
            if inside:
                self.checksums[-1] = zlib.crc32(part, self.checksums[-1])
            else:
                self.checksums.append(zlib.crc32(part))
            self._size += part.nbytes
            left = left[part.nbytes :]
        return size

    def flush(self) -> None:
        """Do nothing: whoever opened the file closes it."""


def first_wrong(
    memory: Any, checksums: Sequence[int], spans: Iterable[tuple[int, int]], threads: int
) -> int | None:
    """Return the first byte of a block that does not have its checksum; None if all have.

    Only the blocks of `spans`, where the bytes begin and end that will be used, are read.
    """
    whole = memoryview(memory).cast("B")
    used = {at for begin, end in spans for at in range(begin // BLOCK, -(-end // BLOCK))}

    def differs(at: int) -> bool:
        return zlib.crc32(whole[at * BLOCK : (at + 1) * BLOCK]) != checksums[at]

    blocks = sorted(used)
    with ThreadPoolExecutor(threads) as pool:
        wrong = (at for at, bad in zip(blocks, pool.map(differs, blocks), strict=True) if bad)
        return next((at * BLOCK for at in wrong), None)


class Version:
    """A version of a local file, which the process remembers to have checked against a value."""

    _checked: ClassVar[dict[Hashable, list[tuple[int, int]]]] = {}

    def __init__(self, path: str, against: Hashable) -> None:
        there = os.stat(path)
        self._key = there.st_dev, there.st_ino, there.st_size, there.st_mtime_ns, against
        self._settled = there.st_mtime < time.time() - SETTLED

    def is_checked(self, low: int, high: int) -> bool:
        """Say whether this process has checked the vertices from `low` to ``high - 1``."""
        parts = self._checked.get(self._key, [])
        return any(first <= low and high <= stop for first, stop in parts)

    def remember(self, low: int, high: int) -> None:
        """Note that these vertices were checked, unless the file could change without a new time."""
        if self._settled:
            self._checked.setdefault(self._key, []).append((low, high))
