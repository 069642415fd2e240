"""Lines that consist of cells: how the cells become columns, and how the columns get names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from dask_graphflow.exceptions import InputFileError

from .lines import LONGEST, BadLine

NAMES = {1: ("vertex",), 2: ("src", "dst"), 3: ("src", "dst", "weight")}
PIECE = 1 << 18  # bytes that are searched at once, so that the intermediate arrays fit in the cache
IN_QUOTES = rb'"(?:[^"]++|"")*+"'
# An integer that is written so becomes the same text again. Arrow also accepts 007, -0 and 0x1F.
USUAL_INTEGER = r"^\s*(0|-?[1-9][0-9]*)\s*$"
ANY_DECIMAL = r"^\s*-?[0-9]+\s*$"


def read_cells(
    content: bytes,
    names: Sequence[str],
    separator: str,
    types: Mapping[str, pa.DataType] | None,
    numbers: frozenset[str],
    *,
    quote: str = "",
) -> pa.Table:
    """Return the cells of lines as columns.

    An integer is never read from a cell that is written in another way, such as 007 or 0x1F, because two
    ids could become one. If the types are inferred, a column with such a cell is text.

    `names` are the columns of the content, and `types` those to return, or None for all, with inferred
    types. The cells of integer columns in `numbers` may have leading zeros.
    """
    table = _parse(content, names, separator, types, quote)
    integers = [field.name for field in table.schema if pa.types.is_integer(field.type)]
    if not integers or not any(_has_unusual_integer(p, separator) for p in _pieces(content)):
        return table
    written = _parse(content, names, separator, dict.fromkeys(integers, pa.large_string()), quote)
    for name in integers:
        usual = ANY_DECIMAL if name in numbers else USUAL_INTEGER
        row = pc.index(pc.match_substring_regex(written[name], usual), False).as_py()
        if row < 0:
            continue
        if types is not None:
            raise BadLine(
                f"{written[name][row].as_py()!r} would become {table[name][row].as_py()}",
                row + 1,
                "Set dtype='str' to keep ids as they are written, or dtype='int64' if 007 means 7",
            )
        table = table.set_column(table.column_names.index(name), name, written[name])
    return table


def first_cells(record: bytes, separator: str, *, quote: str = '"') -> tuple[str, ...]:
    """Return the cells of a record."""
    return tuple(_first(record, separator, quote).column_names)


def first_values(record: bytes, separator: str, *, quote: str = "") -> list[str]:
    """Return the cells of a record that are numbers, dates or booleans, and hardly names of columns."""
    found = _first(record, separator, quote, autogenerate_column_names=True).schema.types
    text = pa.types.is_string, pa.types.is_binary, pa.types.is_null
    return [
        cell
        for cell, kind in zip(first_cells(record, separator, quote=quote), found, strict=True)
        if is_number(cell) or not any(is_text(kind) for is_text in text)
    ]


def name_columns(names: Sequence[str], cells: Sequence[str]) -> tuple[str, ...]:
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


def check_header(cells: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the columns of a file that names them."""
    if twice := [cell for cell in cells if cells.count(cell) > 1]:
        raise InputFileError(
            f"has two columns named {twice[0]!r}; give them different names, or set header=False if "
            "the first line is data"
        )
    return cells


def are_integers(cells: pa.ChunkedArray) -> bool:
    """Return whether all cells that are not null are integers, of any size."""
    return bool(pc.all(pc.match_substring_regex(cells, ANY_DECIMAL)).as_py())


def is_number(cell: str) -> bool:
    """Return whether a cell is a number."""
    for kind in (float, lambda text: int(text, 0)):  # the latter also takes 0x1F
        try:
            kind(cell)
        except ValueError:
            continue
        return True
    return False


def _first(record: bytes, separator: str, quote: str, **options: bool) -> pa.Table:
    if not record.strip(b"\r\n"):
        return pa.table({})
    size = min(len(record) + 2, LONGEST)
    return pa_csv.read_csv(
        pa.BufferReader(record + b"\n"),
        pa_csv.ReadOptions(use_threads=False, block_size=size, **options),
        pa_csv.ParseOptions(
            delimiter=separator, quote_char=quote or False, newlines_in_values=True
        ),
    )


def _parse(
    content: bytes,
    names: Sequence[str],
    separator: str,
    types: Mapping[str, pa.DataType] | None,
    quote: str,
) -> pa.Table:
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
        # A record that has line breaks in quotes is more than one line.
        known = row and not (
            quoted and any(b"\n" in cell for cell in re.findall(IN_QUOTES, content))
        )
        raise BadLine(reason, int(row[1]) if row and known else None) from error


def _pieces(content: bytes) -> Iterator[bytes]:
    """Yield a content in pieces, each with its two bytes before and one byte after."""
    yield b"\n\n" + content[: PIECE + 1]
    for start in range(PIECE, len(content), PIECE):
        yield content[start - 2 : start + PIECE + 1]


def _has_unusual_integer(piece: bytes, separator: str) -> bool:
    """Return whether a cell in a piece may be an integer such as 007, 0x1F or -0."""
    found = np.frombuffer(piece, "uint8")
    before_sign, before, zero, after = found[:-3], found[1:-2], found[2:-1], found[3:]
    # A byte before a cell is not above "-", except for some separators, so few zeros remain.
    leading = (zero == ord("0")) & ((before <= ord("-")) | (before == ord(separator)))
    at = np.flatnonzero(leading & ((after >= ord("0")) | (before == ord("-"))))
    begins = np.isin(np.arange(256), [*b'\r\n "', ord(separator)])
    negative = (before[at] == ord("-")) & begins[before_sign[at]]
    return bool(((begins[before[at]] | negative) & (after[at] != ord("."))).any())
