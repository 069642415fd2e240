"""Matrix Market files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dask_graphflow.exceptions import InputFileError

from .cells import name_columns
from .lines import BYTE_ORDER_MARK, CORRECT_LINE, LINE_END, BadLine, line_ends
from .text_lines import Text

BANNER = rb"(?i:%%MatrixMarket)[ \t]+([^\r\n]*)"
COMMENTS = rb"(?:" + LINE_END + rb"[ \t]*(?:%[^\r\n]*)?)*+"
SIZES = rb"([0-9]{1,18})[ \t]+([0-9]{1,18})[ \t]+([0-9]{1,18})"  # SciPy, too, needs 64 bits
VALUES = {
    "pattern": None,
    "integer": pa.int64(),
    "unsigned-integer": pa.uint64(),
    "real": pa.float64(),
    "double": pa.float64(),
}
MIRRORS = {"general": 0, "symmetric": 1, "hermitian": 1, "skew-symmetric": -1}


@dataclass(frozen=True)
class MatrixMarket(Text):
    """A sparse adjacency matrix, whose entry in row i and column j is an edge from i to j."""

    # Factor of the weight of the edge from j to i that an entry also stands for; 0 if there is none.
    mirror: int = 0
    values: pa.DataType | None = None  # type of the weights; None if there are none
    # Number of rows, and number of entries. Files of one call may differ in these.
    size: int = field(default=0, compare=False)
    entries: int = field(default=0, compare=False)
    comment: ClassVar[bytes] = rb"%"
    marks: ClassVar[tuple[bytes, ...]] = (b"%",)
    counted: ClassVar[bool] = True

    def begin(self, content: bytes) -> tuple[MatrixMarket, bytes]:
        """Read the kind and the size of the matrix."""
        content = content.removeprefix(BYTE_ORDER_MARK)
        lines = re.match(BANNER + COMMENTS + rb"([^\r\n]*)", content)
        kind = lines[1].decode().lower().split() if lines else []
        if lines is None or len(kind) != 4 or kind[:2] != ["matrix", "coordinate"]:
            begin = re.split(rb"[\r\n]", content[:60])[0].decode(errors="replace")
            raise InputFileError(
                f"begins with {begin!r}; a graph is a sparse matrix, which begins with "
                "'%%MatrixMarket matrix coordinate'. Convert the file, or set format="
            )
        mirror, values = _kind(*kind[2:])
        size, entries = _sizes(lines[2])
        names = name_columns(self.names, [""] * (2 if values is None else 3))
        found = replace(self, names=names, numbers=frozenset(names), mirror=mirror, values=values)
        content = line_ends(lines[0]) + content[lines.end() :]
        return replace(found, size=size, entries=entries), content

    def types(self) -> dict[str, pa.DataType]:
        """Return the types that the beginning of a file says."""
        kinds = (pa.int64(), pa.int64(), self.values)
        return dict(zip(self.names, kinds, strict=False))

    def parse(self, content: bytes, types: Mapping[str, pa.DataType] | None) -> pa.Table:
        """Return columns: rows and columns from 0 on, as SciPy numbers them, and values."""
        types = self.types() if types is None else types
        for name in self.names[:2]:
            kind = types.get(name, pa.int64())
            if not (
                pa.types.is_integer(kind)
                or pa.types.is_large_string(kind)
                or pa.types.is_floating(kind)
            ):
                raise BadLine(f"{name!r} is a number or text, and not {kind}")
        ends = dict.fromkeys(self.names[:2], pa.int64())  # both are checked, and show the diagonal
        table = super().parse(content, {**types, **ends})
        columns = {name: table[name] for name in table.column_names}
        for name in ends:
            self._check(columns[name])
            columns[name] = pc.subtract(columns[name], 1)
        try:
            return self._mirrored(columns).select([*types]).cast(pa.schema(types.items()))
        except pa.ArrowException as error:
            raise BadLine(f"values cannot be converted: {error}") from error

    def _mirrored(self, columns: dict[str, pa.ChunkedArray]) -> pa.Table:
        """Return all edges that the entries stand for."""
        both = pa.table(columns)
        if not self.mirror:
            return both
        source, target = self.names[:2]
        other = columns | {source: columns[target], target: columns[source]}
        if self.mirror < 0:
            values = [name for name in self.names[2:] if name in columns]
            other |= {name: pc.negate_checked(columns[name]) for name in values}
        below = pc.not_equal(columns[source], columns[target])
        return pa.concat_tables([both, pa.table(other).filter(below)])

    def check_count(self, contents: Iterable[bytes]) -> None:
        """Check the number of entries: a file whose end is missing is not a graph."""
        found = sum(map(self._count, contents)) - 1  # the line of sizes
        if found != self.entries:
            raise InputFileError(
                f"has {found:,} entries, and its line of sizes says {self.entries:,}. Download the file "
                "again, or correct it"
            )

    def _check(self, ends: pa.ChunkedArray) -> None:
        """Check that all numbers of rows or columns are in the matrix."""
        outside = pc.or_(pc.less(ends, 1), pc.greater(ends, self.size))
        row = pc.index(outside, True).as_py()
        if row >= 0:
            raise BadLine(
                f"{ends[row].as_py()} is not a row or column of the matrix, which are numbered from 1 to "
                f"{self.size}",
                row + 1,
                CORRECT_LINE,
            )

    def _count(self, content: bytes) -> int:
        """Return the number of lines that are neither empty nor comments."""
        comment = content.rfind(b"%")
        if comment >= 0:  # as a rule only at the beginning of a file
            end = content.find(b"\n", comment) + 1 or len(content)
            return sum(map(bool, self.plain(content[:end]).split(b"\n"))) + self._count(
                content[end:]
            )
        found = np.frombuffer(b"\n" + content, "uint8")
        begins = (found[:-1] == ord("\n")) | (found[:-1] == ord("\r"))
        if np.any(begins & ((found[1:] == ord(" ")) | (found[1:] == ord("\t")))):
            return sum(map(bool, self.plain(content).split(b"\n")))
        return int(np.count_nonzero(begins & (found[1:] > ord(" "))))


def _kind(values: str, symmetry: str) -> tuple[int, pa.DataType | None]:
    """Return the factor of the mirrored entries, and the type of the values."""
    if (
        values not in VALUES
        or symmetry not in MIRRORS
        or (values, symmetry) == ("pattern", "skew-symmetric")
    ):
        raise InputFileError(
            f"has {values} values and is {symmetry}; values are {', '.join(VALUES)}, and a matrix is "
            "general, symmetric, hermitian, or, if it has values, skew-symmetric. Convert the file"
        )
    return MIRRORS[symmetry], VALUES[values]


def _sizes(line: bytes) -> tuple[int, int]:
    """Return the number of rows, and the number of entries."""
    sizes = re.fullmatch(SIZES, line.strip())
    if sizes is None:
        raise InputFileError(
            f"has the line of sizes {line.decode(errors='replace')!r}, which must have three whole "
            "numbers: rows, columns and entries. Correct the line, or download the file again"
        )
    rows, columns, entries = map(int, sizes.groups())
    if rows != columns:
        raise InputFileError(
            f"has {rows} rows and {columns} columns; an adjacency matrix is square. "
            "Read it with scipy.io.mmread, and number the columns after the rows"
        )
    return rows, entries
