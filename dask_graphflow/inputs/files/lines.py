"""What the formats with one record per line have in common.

The beginning of a file is replaced by its line ends, so that line numbers in errors are those of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import pyarrow as pa

LONGEST = 2**31 - 1  # the largest block that Arrow can parse
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
CORRECT_TYPE = "Correct the line; if the first lines do not show the type of the column, set dtype="
CORRECT_LINE = "Correct the line"
LINE_END = rb"(?:\r\n?|\n)"


class BadLine(Exception):  # noqa: N818 - it never reaches a user
    """A line cannot be parsed.

    `row` is its number among the lines that are not empty, from 1 on. `advice` says what the user can do.
    """

    def __init__(self, reason: str, row: int | None = None, advice: str = CORRECT_TYPE) -> None:
        super().__init__(reason, row, advice)
        self.reason, self.row, self.advice = reason, row, advice


@dataclass(frozen=True)
class Lines:
    """A format with one record per line."""

    # Names of the columns; empty until the beginning of a file was read.
    names: tuple[str, ...] = ()
    # Columns that the caller or the format declares as integers. Their cells may have leading zeros. In
    # other columns, a cell such as 007 is text, because it would leave as 7.
    numbers: frozenset[str] = frozenset()
    # Whether the first line has the names of the columns; None if the beginning of a file shows it.
    header: bool | None = None
    # Whether the beginning of a file says how many lines the file has.
    counted: ClassVar[bool] = False

    def begin(self, content: bytes) -> tuple[Self, bytes]:
        """Read the beginning of a file; return the format that it shows, and the lines.

        In the lines, the beginning is replaced by line ends.
        """
        raise NotImplementedError

    def types(self) -> dict[str, pa.DataType]:
        """Return the types of the columns of a file without records."""
        return dict.fromkeys(self.names, pa.int64())

    def complete(self, content: bytes) -> bytes:
        """Return the lines of a content that ends anywhere in a file, without the last one."""
        return content[: content.rfind(b"\n") + 1]

    def plain(self, content: bytes) -> bytes:
        """Return lines as the parser takes them, with an empty line in place of each comment."""
        return content

    def parse(self, content: bytes, types: Mapping[str, pa.DataType] | None) -> pa.Table:
        """Return the columns in `types`, or all columns with inferred types if it is None."""
        raise NotImplementedError

    def check_count(self, contents: Iterable[bytes]) -> None:
        """Check that a file, given as its contents, has as many records as its beginning says."""


def line_ends(content: bytes) -> bytes:
    """Return the line ends of a content, to be put in its place."""
    return re.sub(rb"[^\r\n]+", b"", content)


def row_at(content: bytes, position: int) -> int:
    """Return the number among the lines that are not empty of the line with a position."""
    before = (content[:position] + b"x").splitlines()[:-1]
    return 1 + sum(1 for line in before if line.strip())
