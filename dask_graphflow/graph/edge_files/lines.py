"""Formats with one record per line: how the beginning of a file is read, and how its lines are parsed.

The beginning is replaced by empty lines, so that line numbers in errors are those of the file.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.json as pa_json

from dask_graphflow.exceptions import InputFileError

NAMES = {1: ("vertex",), 2: ("src", "dst"), 3: ("src", "dst", "weight")}
LONGEST = 2**31 - 1  # the largest block that Arrow can parse
SHORT = 1 << 10
SEPARATORS = ",\t;|"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
QUOTED = rb'(?m)(^|(?<=[,\t;|]))"(?:[^"]|"")*"'  # a cell in quotes
OPENED = rb'(?m)(^|[,\t;|])"'


class BadLine(Exception):  # noqa: N818 - it never reaches a user
    """A line cannot be parsed.

    Parameters
    ----------
    reason : str
    row : int or None
        Its number among the lines that are not empty, from 1 on, if known.
    """

    def __init__(self, reason: str, row: int | None = None) -> None:
        super().__init__(reason, row)
        self.reason, self.row = reason, row


@dataclass(frozen=True)
class Lines:
    """A format with one record per line.

    Attributes
    ----------
    names : tuple of str
        Names of the columns; empty until the beginning of a file was read.
    """

    names: tuple[str, ...] = ()

    def begin(self, content: bytes) -> tuple[Self, bytes]:
        """Read the beginning of a file.

        Returns
        -------
        format : Lines
            The format with what the beginning says.
        content : bytes
            The lines, with empty lines in place of the beginning.
        """
        raise NotImplementedError

    def complete(self, content: bytes) -> bytes:
        """Return the lines of a content that ends anywhere in a file, without the last one."""
        return content[: content.rfind(b"\n") + 1]

    def plain(self, content: bytes) -> bytes:
        """Return lines as the parser takes them, with an empty line in place of each comment."""
        return content

    def parse(self, content: bytes, types: Mapping[str, pa.DataType] | None) -> pa.Table:
        """Return the columns in `types`, or all columns with inferred types if it is None.

        Raises
        ------
        BadLine
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Csv(Lines):
    """Cells between separators, which may have quotes.

    Attributes
    ----------
    header : bool or None
        Whether the first line has the names of the columns. None: it has if no cell of it is a number.
    separator : str
    """

    header: bool | None = None
    separator: str = ""

    def begin(self, content: bytes) -> tuple[Csv, bytes]:
        """Read the names of the columns, and the separator."""
        content = content.removeprefix(BYTE_ORDER_MARK)
        line, end, rest = content.partition(b"\n")
        text = line.rstrip(b"\r").decode()
        separator = self.separator or max(SEPARATORS, key=text.count)
        cells = tuple(next(csv.reader([text], delimiter=separator), [""]))
        header = self.header
        if header is None:
            numbers = [cell for cell in cells if _is_number(cell)]
            header = not numbers
            if numbers and len(numbers) < len(cells):
                raise InputFileError(
                    f"its first line has the number {numbers[0]!r} beside text, so it may or may not have "
                    "the names of the columns; set header=True if it has, or header=False if it is data"
                )
        if not header:
            return replace(
                self, header=False, separator=separator, names=_given(self.names, cells)
            ), content
        if twice := [cell for cell in cells if cells.count(cell) > 1]:
            raise InputFileError(
                f"has two columns named {twice[0]!r}; give them different names, or set header=False if "
                "the first line is data"
            )
        return replace(self, header=True, separator=separator, names=cells), end + rest

    def complete(self, content: bytes) -> bytes:
        """Return the records of a content, without the last one."""
        opened = _opened(content)
        return super().complete(content if opened is None else content[: opened + 1])

    def parse(self, content: bytes, types: Mapping[str, pa.DataType] | None) -> pa.Table:
        """Return columns. An empty cell without quotes is null."""
        if _opened(content) is not None:
            raise BadLine(
                "a quote is not closed in this part of the file. If cells have line breaks, set "
                "blocksize=None; otherwise correct the file"
            )
        return _cells(content, self.names, self.separator, types, quote='"')


@dataclass(frozen=True)
class Text(Lines):
    """Cells between blanks or tabs, with comments.

    Attributes
    ----------
    comment : bytes
        How a line begins that is a comment.
    """

    comment: bytes = b"#"

    def begin(self, content: bytes) -> tuple[Text, bytes]:
        """Name the columns, and skip the comments before the first line."""
        content = content.removeprefix(BYTE_ORDER_MARK)
        comments = re.match(rb"(?:[ \t]*(?:" + self.comment + rb".*)?(?:\r?\n|\Z))*", content)
        end = comments.end() if comments else 0
        line = content.find(b"\n", end)
        first = content[end : line if line >= 0 else None].decode()
        names = _given(self.names, first.split()) if first else self.names or NAMES[2]
        return replace(self, names=names), b"\n" * content[:end].count(b"\n") + content[end:]

    def plain(self, content: bytes) -> bytes:
        """Return lines with one blank between cells, and an empty line in place of each comment."""
        content = re.sub(rb"(?m)^[ \t]*" + self.comment + rb".*", b"", content)
        content = content.replace(b"\r\n", b"\n").replace(b"\t", b" ")
        while b"  " in content:
            content = content.replace(b"  ", b" ")
        return content.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")

    def parse(self, content: bytes, types: Mapping[str, pa.DataType] | None) -> pa.Table:
        """Return columns."""
        separator, other = ("\t", b" ") if b"\t" in content[:SHORT] else (" ", b"\t")
        if other not in content and self.comment not in content:
            # Without empty cells, there is one separator between any two cells: most files are so.
            with suppress(BadLine):
                table = _cells(content, self.names, separator, types)
                if not any(column.null_count for column in table.columns):
                    return table
        return _cells(self.plain(content), self.names, " ", types)


@dataclass(frozen=True)
class MatrixMarket(Text):
    """A sparse adjacency matrix, whose entry in row i and column j is an edge from i to j.

    Attributes
    ----------
    mirror : int
        Factor of the weight of the edge from j to i that an entry also stands for; 0 if there is none.
    """

    comment: bytes = b"%"
    mirror: int = 0

    def begin(self, content: bytes) -> tuple[MatrixMarket, bytes]:
        """Read the kind and the size of the matrix."""
        lines = re.match(rb"%%MatrixMarket\s+(.*)\n(?:[ \t]*(?:%.*)?\n)*(.*)\n?", content)
        kind = lines[1].decode().lower().split() if lines else []
        if lines is None or len(kind) != 4 or kind[:2] != ["matrix", "coordinate"]:
            begin = content[:60].decode(errors="replace").partition("\n")[0]
            raise InputFileError(
                f"begins with {begin!r}; a graph is a sparse matrix, which begins with "
                "'%%MatrixMarket matrix coordinate'. Convert the file, or set format="
            )
        field, symmetry = kind[2:]
        mirror = {"general": 0, "symmetric": 1, "skew-symmetric": -1}.get(symmetry)
        if field == "complex" or mirror is None:
            raise InputFileError(
                f"has {field} values and is {symmetry}; weights are real numbers, and a matrix is general, "
                "symmetric or skew-symmetric. Convert the file"
            )
        rows, columns, *_ = lines[2].split()
        if rows != columns:
            raise InputFileError(
                f"has {rows.decode()} rows and {columns.decode()} columns; an adjacency matrix is square. "
                "Read it with scipy.io.mmread, and number the columns after the rows"
            )
        names = _given(self.names, [""] * (2 if field == "pattern" else 3))
        blank = b"\n" * lines[0].count(b"\n")
        return replace(self, names=names, mirror=mirror), blank + content[lines.end() :]

    def parse(self, content: bytes, types: Mapping[str, pa.DataType] | None) -> pa.Table:
        """Return columns: rows and columns from 0 on, as SciPy numbers them, and values."""
        columns = self.names if types is None else [*types]
        if types is not None:  # both ends are needed to find the diagonal
            types = dict.fromkeys(self.names[:2], pa.int64()) | dict(types)
        table = super().parse(content, types)
        ends = {name: pc.subtract(table[name], 1) for name in self.names[:2]}
        values = {name: table[name] for name in self.names[2:] if name in table.column_names}
        both = pa.table(ends | values)
        if self.mirror:
            source, target = ends
            other = {source: ends[target], target: ends[source]}
            other |= {name: pc.multiply(weights, self.mirror) for name, weights in values.items()}
            below = pc.not_equal(ends[source], ends[target])
            both = pa.concat_tables([both, pa.table(other).filter(below)])
        return both.select(columns)


@dataclass(frozen=True)
class JsonLines(Lines):
    """One JSON object per line, whose keys are the names of the columns."""

    def begin(self, content: bytes) -> tuple[JsonLines, bytes]:
        """Nothing comes before the first record."""
        return self, content.removeprefix(BYTE_ORDER_MARK)

    def parse(self, content: bytes, types: Mapping[str, pa.DataType] | None) -> pa.Table:
        """Return columns; objects and lists are left out."""
        schema = None if types is None else pa.schema(types.items())
        try:
            return pa_json.read_json(
                pa.BufferReader(content),
                pa_json.ReadOptions(use_threads=False, block_size=min(len(content) + 1, LONGEST)),
                pa_json.ParseOptions(
                    explicit_schema=schema,
                    unexpected_field_behavior="infer" if schema is None else "ignore",
                ),
            )
        except pa.ArrowException as error:
            row = re.search(r"in row (\d+)", str(error))
            raise BadLine(str(error), int(row[1]) + 1 if row else None) from error


def _given(names: Sequence[str], cells: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns of a file that does not name them."""
    if names and len(names) != len(cells):
        raise InputFileError(
            f"has {len(cells)} columns, and columns= has {len(names)} names; give one for each column"
        )
    if not names and len(cells) not in NAMES:
        raise InputFileError(
            f"has {len(cells)} columns without names; only {', '.join(NAMES[3])} are named by default. "
            "Name all columns with columns="
        )
    return tuple(names) or NAMES[len(cells)]


def _cells(
    content: bytes,
    names: Sequence[str],
    separator: str,
    types: Mapping[str, pa.DataType] | None,
    *,
    quote: str = "",
) -> pa.Table:
    """Return the cells of lines as columns."""
    quoted = bool(quote) and quote.encode() in content
    size = min(len(content) + 1, LONGEST)
    options = pa_csv.ReadOptions(column_names=names, use_threads=False, block_size=size)
    convert = pa_csv.ConvertOptions(
        column_types=types,
        include_columns=[*types] if types is not None else None,
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    parse = pa_csv.ParseOptions(
        delimiter=separator, quote_char=quote or False, newlines_in_values=quoted
    )
    try:
        return pa_csv.read_csv(pa.BufferReader(content or b"\n"), options, parse, convert)
    except pa.ArrowException as error:
        row = re.search(r"Row #(\d+): ", str(error))
        reason = re.sub(r"^CSV parse error: |In CSV column #\d+: |Row #\d+: ", "", str(error))
        raise BadLine(reason, int(row[1]) if row and not quoted else None) from error


def _opened(content: bytes) -> int | None:
    """Return where the cell begins whose quote is not closed, or None if there is no such cell."""
    if b'"' not in content:
        return None
    opened = re.search(OPENED, re.sub(QUOTED, lambda cell: b" " * len(cell[0]), content))
    return None if opened is None else opened.start()


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
