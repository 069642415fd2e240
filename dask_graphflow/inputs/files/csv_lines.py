"""CSV files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from dask_graphflow.exceptions import InputFileError

from .cells import IN_QUOTES, check_header, first_cells, first_values, name_columns, read_cells
from .lines import BYTE_ORDER_MARK, BadLine, Lines, line_ends

SEPARATORS = ",\t;|"
QUOTED = rb"(?<![^,\t;|\r\n])" + IN_QUOTES  # a cell in quotes
# Without a possessive repetition, which loses the last alternative in Python 3.11.2.
FIRST_RECORD = rb"[\r\n]*(?:" + QUOTED + rb"(?![^,\t;|\r\n])|[^\r\n])*"


@dataclass(frozen=True)
class Csv(Lines):
    """Cells between separators, which may have quotes.

    By default, the first line has names if no cell of it is a number, a date or a boolean.
    """

    separator: str = ""

    def begin(self, content: bytes) -> tuple[Csv, bytes]:
        """Read the names of the columns, and the separator."""
        content = content.removeprefix(BYTE_ORDER_MARK)
        first = re.match(FIRST_RECORD, content)
        record = first[0] if first else b""
        separator = self.separator or max(
            SEPARATORS, key=re.sub(QUOTED, b"", record).decode().count
        )
        if _find_open_cell(record, separator) < len(record):
            raise InputFileError("a quote in its first line is not closed; correct the line")
        cells = first_cells(record, separator)
        header = self.header
        if header is None:
            values = first_values(record, separator, quote='"')
            header = not values
            if values and len(values) < len(cells):
                raise InputFileError(
                    f"its first line has the value {values[0]!r} beside text, so it may or may not have "
                    "the names of the columns; set header=True if it has, or header=False if it is data"
                )
        found = replace(self, header=header, separator=separator)
        if not header:
            return replace(found, names=name_columns(self.names, cells)), content
        content = line_ends(record) + content[len(record) :]
        return replace(found, names=check_header(cells)), content

    def complete(self, content: bytes) -> bytes:
        """Return the records of a content, without the last one."""
        return super().complete(content[: _find_open_cell(content, self.separator or SEPARATORS)])

    def parse(self, content: bytes, types: Mapping[str, pa.DataType] | None) -> pa.Table:
        """Return columns. An empty cell without quotes is null."""
        if _find_open_cell(content, self.separator) < len(content):
            raise BadLine(
                "a quote is not closed in this part of the file",
                advice="If cells have line breaks, set blocksize=None; otherwise correct the file",
            )
        return read_cells(content, self.names, self.separator, types, self.numbers, quote='"')


def _find_open_cell(content: bytes, separators: str) -> int:
    """Return where the cell begins whose quote is not closed, or the length if there is no such cell.

    One call of the regular expression consumes the whole content: a call for each cell takes much longer.
    """
    inside = rb"[^%b\r\n]" % re.escape(separators.encode())
    quotes = rb'(?<!%b)%b|(?<=%b)"' % (
        inside,
        IN_QUOTES,
        inside,
    )  # a quote inside a cell is like any byte
    closed = re.match(rb'(?:[^"]*+(?:%b))*+[^"]*+' % quotes, content)
    return closed.end() if closed else 0
