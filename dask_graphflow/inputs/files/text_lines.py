"""Text files with cells between blanks or tabs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar

import pyarrow as pa

from dask_graphflow.exceptions import InputFileError
from dask_graphflow.graph.edgelist import usual_ends

from .cells import NAMES, check_header, first_values, is_number, name_columns, read_cells
from .csv_lines import SEPARATORS
from .lines import BYTE_ORDER_MARK, LINE_END, BadLine, Lines, line_ends

SHORT = 1 << 10


@dataclass(frozen=True)
class Text(Lines):
    """Cells between blanks or tabs, with comments.

    By default, the first line has names if no cell of it is a value, such as a number, and all cells of
    some column below it are.
    """

    # A regular expression of how a comment begins. An id such as %C3%A9 is not a comment.
    comment: ClassVar[bytes] = rb"(?:#|%(?![0-9A-Fa-f]{2}))"
    marks: ClassVar[tuple[bytes, ...]] = (b"#", b"%")  # the bytes that comments begin with

    def begin(self, content: bytes) -> tuple[Text, bytes]:
        """Name the columns, and skip the comments before the first line."""
        content = content.removeprefix(BYTE_ORDER_MARK)
        empty = rb"(?:[ \t]*(?:%b[^\r\n]*)?(?:%b|\Z))*+" % (self.comment, LINE_END)
        first = re.match(rb"(%b)([^\r\n]*)" % empty, content)
        start, line = (first.end(1), first[2].decode().strip(" \t")) if first else (0, "")
        blank = line_ends(content[:start])
        if not line:
            names = self.names or NAMES[2]
            return replace(self, header=bool(self.header), names=names), blank + content[start:]
        cells = tuple(re.split(r"[ \t]+", line))
        below = content[first.end() if first else 0 :]
        if self._names_columns(cells, below):
            return replace(self, header=True, names=check_header(cells)), blank + below
        if not self.names:
            _check_separator(line)
        names = name_columns(self.names, cells)
        return replace(self, header=False, names=names), blank + content[start:]

    def plain(self, content: bytes) -> bytes:
        """Return lines with one blank between cells, and an empty line in place of each comment."""
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if self._may_have_comments(content):
            content = re.sub(rb"(?m)^[ \t]*%b.*" % self.comment, b"", content)
        content = content.replace(b"\t", b" ")
        while b"  " in content:
            content = content.replace(b"  ", b" ")
        return content.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")

    def parse(self, content: bytes, types: Mapping[str, pa.DataType] | None) -> pa.Table:
        """Return columns."""
        separator, other = ("\t", b" ") if b"\t" in content[:SHORT] else (" ", b"\t")
        if other not in content and not self._may_have_comments(content):
            # Without empty cells, there is one separator between any two cells: most files are so.
            with suppress(BadLine):
                table = read_cells(content, self.names, separator, types, self.numbers)
                if not any(column.null_count for column in table.columns):
                    return table
        return read_cells(self.plain(content), self.names, " ", types, self.numbers)

    def _may_have_comments(self, content: bytes) -> bool:
        return any(mark in content for mark in self.marks)

    def _names_columns(self, cells: tuple[str, ...], below: bytes) -> bool:
        """Return whether the cells of the first line are the names of the columns below it."""
        if self.header is not None:
            return self.header
        if first_values(" ".join(cells).encode(), " "):
            return False
        with suppress(BadLine):
            table = read_cells(self.plain(below), cells, " ", None, frozenset(cells))
            if any(pa.types.is_primitive(column.type) for column in table.columns):
                return True
        if usual_ends([cell.lower() for cell in cells]):
            raise InputFileError(
                f"its first line, {' '.join(cells)!r}, may have the names of the columns, or two ids; set "
                "header=True if it has names, or header=False if it is data"
            )
        return False


def _check_separator(line: str) -> None:
    """Check that cells are between blanks or tabs, but not between both."""
    tabs = [cell.split() for cell in line.split("\t")]
    if len(tabs) > 1 and any(len(cell) > 1 and not all(map(is_number, cell)) for cell in tabs):
        raise InputFileError(
            f"its first line, {line!r}, has tabs and also blanks. If only tabs are between cells, set "
            "format='csv', and header=False unless it has names; otherwise name all columns with columns="
        )
    if len(line.split()) == 1 and any(separator in line for separator in SEPARATORS):
        raise InputFileError(
            f"its first line, {line!r}, has no blank and no tab. If other characters are between cells, "
            "set format='csv'; otherwise name the only column with columns="
        )
