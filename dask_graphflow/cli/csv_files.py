"""CSV files in blocks of records.

Arrow's reader parses each block. A file without quotes is cut at line breaks. In a file with quotes, cells
may contain line breaks, so it is first searched for the borders of its records.

Whether a file has quotes, and whether all of its ids are whole numbers, is only known after it was read.
Blocks are read as the beginning of the file suggests. A block that is different raises :class:`ReadAgain`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
from fsspec.utils import read_block

from dask_graphflow.exceptions import InputFileError

from .csv_records import BYTE_ORDER_MARK, borders
from .files import File

SAMPLE_BYTES = 1 << 20
LONGEST_HEADER = 64 << 20
ARROW_BYTES = 1 << 20
LONGEST = 2**31 - 1  # the largest block that Arrow can parse
LARGEST = 2**53  # up to here, float64 represents every whole number exactly
MISSING = pa.array(pa_csv.ConvertOptions().null_values)  # a missing number, such as NA


class ReadAgain(Exception):  # noqa: N818
    """A block differs from the beginning of its file, so that the files have to be read in another way.

    Parameters
    ----------
    texts : frozenset of int
        Positions in an id at which some value is not a whole number.
    quoted : bool
        Whether a file has a quote.
    """

    def __init__(self, texts: frozenset[int] = frozenset(), quoted: bool = False) -> None:
        super().__init__(texts, quoted)  # the arguments, from which pickle makes a copy
        self.texts = texts
        self.quoted = quoted


@dataclass(frozen=True)
class Format:
    """How CSV files are read.

    Attributes
    ----------
    separator : str or None
        None means a tab in files named .tsv or .tab, and a comma in other files.
    header : bool or None
        Whether the first record has the names of the columns. None means that it does, but that numbers are
        not taken for names. Without a header, the columns are named 0, 1, and so on.
    text_ids : bool or None
        True reads ids as text, and False reads them as integers. None keeps ids as they are written: they
        are integers if every one is written as an integer is, and text otherwise.
    texts : frozenset of int
        Positions in an id that are known to be text.
    quoted : bool
        Whether some file is known to have quotes.
    width : int
        Number of columns of an id.
    """

    separator: str | None = None
    header: bool | None = True
    text_ids: bool | None = None
    texts: frozenset[int] = frozenset()
    quoted: bool = False
    width: int = 1

    def positions(self, columns: Container[str], ids: Sequence[str]) -> frozenset[int]:
        """Return the positions in an id of some columns, if `ids` has the columns of several ids."""
        return frozenset(i % self.width for i, name in enumerate(ids) if name in columns)


@dataclass(frozen=True)
class Block:
    """Some records of a file.

    Attributes
    ----------
    file : File
    start : int
    length : int or None
        Number of bytes; None for the rest of the file.
    lines : bool
        Whether the block has the lines that begin in this range, or exactly the bytes in it.
    header : tuple of str
    separator : str
    ids : tuple of str
        The columns of an id, then those of another one, and so on.
    """

    file: File
    start: int
    length: int | None
    lines: bool
    header: tuple[str, ...]
    separator: str
    ids: tuple[str, ...] = ()


def plan(
    files: Sequence[File],
    ids: Sequence[str] | None,
    weight: str | None,
    block_bytes: int,
    how: Format,
) -> tuple[list[Block], pa.Schema]:
    """Split files into blocks, and choose the types of columns.

    Parameters
    ----------
    files : sequence of File
    ids : sequence of str or None
        The columns of an id, then those of another one, and so on. If it is empty, these are all columns.
        None reads all columns as text.
    weight : str or None
    block_bytes : int
        Bytes of text per block. A block has at least one record.
    how : Format

    Returns
    -------
    blocks : list of Block
    schema : pyarrow.Schema
        Integer and text columns contain ids, and a float column contains weights.
    """
    blocks: list[Block] = []
    schema: pa.Schema = None
    for file in files:
        with _errors_named(file):
            whole, sample, search = _begin(file, how)
        if ids is not None:
            whole = replace(whole, ids=tuple(ids or whole.header))
        names = schema.names if schema else [*whole.ids, *([weight] if weight else [])]
        _check_header(whole, names, files[0], how)
        if schema is None:
            schema = _schema(whole, sample, weight, how)
        blocks += _cut(whole, block_bytes, search or how.quoted)
    return blocks, schema


def read(block: Block, schema: pa.Schema, *, how: Format) -> pa.Table:
    """Read the columns of `schema` from a block. Weights without fractions are integers."""
    cells = _parsed(_content(block), block, schema).columns
    columns, texts = {}, frozenset[int]()
    for field in schema:
        values = cells.pop(0)  # only one column at a time exists both as text and as numbers
        if pa.types.is_floating(field.type):
            values = _weights(values, block, field.name)
        elif pa.types.is_integer(field.type) and how.text_ids is False:
            values = _whole(values, block, field.name)
        elif pa.types.is_integer(field.type):
            values = _integers(values)
            if values is None:
                texts |= how.positions([field.name], block.ids)
        columns[field.name] = values
    if texts:
        raise ReadAgain(texts=texts)
    return pa.table(columns)


def _content(block: Block) -> bytes:
    """Return the text of a block."""
    file = block.file
    with _errors_named(file), file.open(compression=file.compression) as stream:
        if not block.lines:
            stream.seek(block.start)
            content: bytes = stream.read(-1 if block.length is None else block.length)
        else:
            content = read_block(stream, block.start, block.length, delimiter=b"\n")
    if block.lines and b'"' in content:
        raise ReadAgain(quoted=True)
    if block.length is None and b'"' in content:
        *_, (_, in_quotes) = borders(io.BytesIO(content), block.separator, len(content) + 1)
        if in_quotes:
            raise _never_closed(block)
    return content


def _never_closed(block: Block) -> InputFileError:
    """Return an error that names the last record from the start of a block on."""
    with block.file.open(compression=block.file.compression) as stream:
        stream.seek(block.start)
        *_, last, _ = 0, *(at for at, _ in borders(stream, block.separator, 1))
        stream.seek(block.start + last)
        record = stream.read(40).decode(errors="replace")
    return InputFileError(
        f"{block.file}: a quote is never closed in the record that begins with {record!r}; a cell that "
        "begins with a quote must end with one, and quotes in it must be doubled. Correct the file"
    )


def _begin(file: File, how: Format) -> tuple[Block, bytes, bool]:
    """Return all records of a file as a block, the first records, and whether to search for borders."""
    separator = how.separator or ("\t" if file.ending in (".tsv", ".tab") else ",")
    with file.open(compression=file.compression) as stream:
        content = stream.read(SAMPLE_BYTES)
        first, in_quotes = next(borders(io.BytesIO(content), separator, 1))
        if first == len(content):
            content += stream.read(LONGEST_HEADER)
            first, in_quotes = next(borders(io.BytesIO(content), separator, 1))
        is_all = not stream.read(1)
    whole = Block(file, 0, None, False, (), separator)
    stops = [(first, in_quotes), *borders(io.BytesIO(content), separator, SAMPLE_BYTES // 8)]
    if in_quotes or (is_all and stops[-1][1]):
        raise _never_closed(whole)
    start = 0 if how.header is False else first
    sample = content[start : stops[-1 if is_all else -2][0]]
    # A header can also end in a carriage return, which blocks of lines do not expect.
    search = b'"' in sample or content[:start].endswith(b"\r")
    header = _names(content[:first], file, separator, how)
    return replace(whole, start=start, header=header), sample, search


def _names(record: bytes, file: File, separator: str, how: Format) -> tuple[str, ...]:
    """Return the names of columns, given the first record."""
    bare = how.header is False
    try:
        names = pa_csv.read_csv(
            pa.BufferReader(record + b"\n"),
            pa_csv.ReadOptions(block_size=len(record) + 1, autogenerate_column_names=bare),
            pa_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        ).column_names
    except UnicodeDecodeError as error:
        raise InputFileError(
            f"{file}: this is not a CSV file in UTF-8 ({error}); convert it, or use --format parquet "
            "if it is Parquet"
        ) from error
    except pa.ArrowInvalid as error:
        raise InputFileError(
            f"{file}: is empty, or its first line is; a CSV file must begin with a line of column names, "
            "or with the first record if you give --no-header"
        ) from error
    return tuple(map(str, range(len(names)))) if bare else tuple(names)


def _check_header(whole: Block, names: Sequence[str], first: File, how: Format) -> None:
    """Raise if a file does not have the columns of the first file, or if its header looks like data."""
    there = [name for name in names if name in whole.header]
    if whole.file == first:
        numbers = [name for name in there or whole.header if _is_number(name)]
        if numbers and how.header is None:
            raise InputFileError(
                f"{whole.file}: its first line has the number {numbers[0]!r} in place of a column name; "
                "give --no-header if that line is data, or --header if the column has this name"
            )
    elif len(there) < len(names):
        missing = next(name for name in names if name not in there)
        raise InputFileError(
            f"{whole.file}: has no column {missing!r}, but {first} has; all files must have the same "
            "columns"
        )
    if twice := [name for name in there if whole.header.count(name) > 1]:
        raise InputFileError(
            f"{whole.file}: has two columns named {twice[0]!r}; give them different names, or give "
            "--no-header if the first line is data"
        )


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _schema(whole: Block, sample: bytes, weight: str | None, how: Format) -> pa.Schema:
    """Choose the types of columns by the first records."""
    if not whole.ids or not {*whole.ids, weight or whole.ids[0]} <= set(whole.header):
        return pa.schema([(name, pa.large_string()) for name in whole.header])
    types = dict.fromkeys(whole.ids, pa.large_string())
    texts = how.texts
    if how.text_ids is None:
        cells = _parsed(sample, whole, pa.schema(types.items()))
        # Both ends of an edge have one type, so text in one column makes the other one text.
        texts |= how.positions([n for n in types if _integers(cells[n]) is None], whole.ids)
    for name in types:
        if not how.text_ids and not how.positions([name], whole.ids) & texts:
            types[name] = pa.int64()
    if weight and weight not in types:
        types[weight] = pa.float64()
    return pa.schema(types.items())


def _cut(whole: Block, block_bytes: int, search: bool) -> list[Block]:
    """Cut a file into blocks of about `block_bytes`, at line breaks or at borders that are searched for."""
    file = whole.file
    with _errors_named(file):
        # A compressed file cannot be read from the middle.
        size = None if file.compression else int(file.fs.size(file.path))
        if size is None or size - whole.start <= block_bytes:
            return [whole]
        if search:
            with file.open() as stream:
                stream.seek(whole.start)
                starts = [(0, False), *borders(stream, whole.separator, block_bytes)]
            blocks = [
                replace(whole, start=whole.start + start, length=stop - start)
                for (start, _), (stop, _) in pairwise(starts)
            ]
            if starts[-1][1]:
                raise _never_closed(blocks[-1])
            return blocks
    # The lines of a range begin after its first line break. So start with the one that ends the header.
    start = max(0, whole.start - 1)
    return [
        replace(whole, start=start, length=block_bytes, lines=True)
        for start in range(start, size, block_bytes)
    ]


def _parsed(content: bytes, block: Block, schema: pa.Schema) -> pa.Table:
    """Return the cells of some columns as text. A cell that is empty and without quotes is null."""
    types = {
        field.name: field.type if pa.types.is_large_string(field.type) else pa.string()
        for field in schema
    }
    if re.search(rb"[^\r\n]", content) is None:
        return pa.schema(types.items()).empty_table()
    if block.start and content.startswith(BYTE_ORDER_MARK):
        content = b"\n" + content  # Arrow would drop the mark, although it is part of an id here
    parse = pa_csv.ParseOptions(delimiter=block.separator, newlines_in_values=b'"' in content)
    convert = pa_csv.ConvertOptions(
        include_columns=schema.names,
        column_types=types,
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    # Arrow is fastest with small blocks of its own, but a record can be longer than such a block.
    for size in (ARROW_BYTES, max(ARROW_BYTES, min(len(content), LONGEST))):
        # Blocks are already read in parallel.
        options = pa_csv.ReadOptions(column_names=block.header, use_threads=False, block_size=size)
        try:
            return pa_csv.read_csv(pa.BufferReader(content), options, parse, convert)
        except pa.ArrowException as error:
            failure = error
    raise InputFileError(
        f"{block.file}: cannot be read as CSV: {failure}; every record needs the cells of the columns "
        f"{', '.join(map(repr, block.header))}, in UTF-8. Correct the file, or give its --separator"
    ) from failure


def _integers(text: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return ids as int64 if each is written just as an integer is, and None otherwise."""
    integers = []
    for chunk in text.chunks:
        try:
            integers.append(chunk.cast(pa.int64()))
        except pa.ArrowException:
            return None
        if not integers[-1].cast(text.type).equals(chunk):
            return None
    return pa.chunked_array(integers, pa.int64())


def _numbers(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return numbers in any notation as int64, or as float64 if some of them are fractions."""
    text = pc.utf8_trim_whitespace(text)
    text = pc.if_else(pc.is_in(text, MISSING), None, text)
    try:
        return text.cast(pa.int64())
    except pa.ArrowException:
        return text.cast(pa.float64())


def _weights(text: pa.ChunkedArray, block: Block, name: str) -> pa.ChunkedArray:
    try:
        return _numbers(text)
    except pa.ArrowException as error:
        raise InputFileError(
            f"{block.file}: column {name!r} has weights that are not numbers: {error}; a weight is a "
            "number, or empty. Correct the file, or name another column with --weight"
        ) from error


def _whole(text: pa.ChunkedArray, block: Block, name: str) -> pa.ChunkedArray:
    """Return whole numbers in any notation as int64."""
    try:
        values = _numbers(text)
    except pa.ArrowException as error:
        raise InputFileError(
            f"{block.file}: column {name!r} has ids that are not numbers: {error}; --integer-ids reads "
            "only whole numbers. Leave the option out to keep the ids as they are written"
        ) from error
    if pa.types.is_floating(values.type) and not _are_whole(values):
        raise InputFileError(
            f"{block.file}: column {name!r} has numbers that are not whole, or that are larger than 2**53 "
            "and written as fractions; --integer-ids reads only whole numbers. Leave the option out to "
            "keep the ids as they are written"
        )
    return values.cast(pa.int64())


def _are_whole(values: pa.ChunkedArray) -> bool:
    """Return whether all floats are null or whole numbers that float64 represents exactly."""
    whole = pc.and_(pc.equal(pc.floor(values), values), pc.less_equal(pc.abs(values), LARGEST))
    return pc.all(whole, min_count=0).as_py()  # type: ignore[no-any-return]


@contextmanager
def _errors_named(file: File) -> Iterator[None]:
    """Convert errors when reading a file to an error that names the file."""
    try:
        yield
    except InputFileError:
        raise
    except PermissionError as error:
        raise InputFileError(f"{file}: no permission to read it") from error
    except (OSError, EOFError, ValueError) as error:
        raise InputFileError(f"{file}: cannot be read: {error}") from error
