"""CSV files in blocks of lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
from fsspec.utils import read_block

from dask_graphflow.exceptions import InputFileError

from .files import File

__all__ = ["Block", "plan", "read"]

SAMPLE_BYTES = 1 << 20
LARGEST = 2**53  # up to here, float64 represents every whole number exactly


@dataclass(frozen=True)
class Block:
    """The lines that begin in a byte range of a file.

    Attributes
    ----------
    file : File
    start : int
    length : int or None
        None for the whole file, because a compressed file cannot be read from the middle.
    header : tuple of str
    separator : str
    ids : tuple of str
        Columns of ids. If they contain numbers, these are whole numbers.
    """

    file: File
    start: int
    length: int | None
    header: tuple[str, ...]
    separator: str
    ids: tuple[str, ...] = ()


def plan(
    files: Sequence[File],
    columns: Sequence[str],
    block_bytes: int,
    *,
    separator: str | None,
    text: Sequence[str] | None,
    ids: Sequence[str],
) -> tuple[list[Block], pa.Schema]:
    """Split files into blocks, and infer the types from the beginning of the first file.

    If a column in `columns` has no value there, its type is inferred from its first value.

    Parameters
    ----------
    files : sequence of File
    columns : sequence of str
        Columns to read. If it is empty, or if one of them does not exist, all columns are read.
    block_bytes : int
        Bytes of text per block.
    separator : str or None
        None means a tab in files named .tsv or .tab, and a comma in other files.
    text : sequence of str or None
        Columns to read as text, whatever they look like; None means all.
    ids : sequence of str
        Columns of ids. If they contain numbers, these must be whole numbers, in any notation.

    Returns
    -------
    blocks : list of Block
    schema : pyarrow.Schema
    """
    blocks: list[Block] = []
    schema: pa.Schema = None
    for file in files:
        with _errors_named(file):
            samples = _samples(file)
            head = next(samples, b"")
            size = None if file.compression else int(file.fs.size(file.path))
        comma = separator or ("\t" if file.ending in (".tsv", ".tab") else ",")
        header = _header(file, head, comma)
        whole = Block(file, 0, None, header, comma, tuple(ids))
        if schema is None:
            named = bool(columns) and set(columns) <= set(header)
            names = list(dict.fromkeys(columns if named else header))
            found = _parsed(head, whole, names, {})
            with _errors_named(file):
                types = _types(found, samples if named else iter(()), whole)
            schema = _typed(types, text, columns if named else (), ids)
        elif missing := [name for name in schema.names if name not in header]:
            raise InputFileError(
                f"{file}: has no column {missing[0]!r}, but {files[0]} has; "
                "all files must have the same columns"
            )
        if size is None:
            blocks.append(whole)
        else:
            blocks += [
                replace(whole, start=start, length=block_bytes)
                for start in range(0, size, block_bytes)
            ]
    return blocks, schema


def read(block: Block, schema: pa.Schema) -> pa.Table:
    """Read the columns of `schema` from a block.

    An integer column that does not contain ids is read as float64 if this block has fractions.
    """
    file = block.file
    with _errors_named(file), file.open(compression=file.compression) as stream:
        if block.length is None:
            content = stream.read()
        else:
            content = read_block(stream, block.start, block.length, delimiter=b"\n")
    types = {field.name: field.type for field in schema}
    try:
        return _parsed(content, block, schema.names, types)
    except InputFileError as error:
        whole = [name for name, kind in types.items() if kind == pa.int64()]
        table = _parsed(content, block, schema.names, types | dict.fromkeys(whole, pa.string()))
        for name in whole:
            try:
                values = _numbers(table[name], block, name)
            except pa.ArrowException:
                raise error from None  # the first error names the value
            table = table.set_column(table.schema.get_field_index(name), name, values)
        return table


def _numbers(text: pa.ChunkedArray, block: Block, name: str) -> pa.ChunkedArray:
    """Return numbers as int64, or as float64 if they are not ids and some of them are fractions."""
    try:
        return text.cast(pa.int64())
    except pa.ArrowException:
        values = text.cast(pa.float64())
    if name not in block.ids:
        return values
    if not _are_whole(values):
        raise InputFileError(
            f"{block.file}: column {name!r} has numbers that are not whole, or that are larger than 2**53 "
            "and written as fractions; an id is a whole number or a text. Correct the file, or give "
            "--text-ids"
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


def _samples(file: File) -> Iterator[bytes]:
    """Yield the lines of a file, about :data:`SAMPLE_BYTES` at a time."""
    with file.open(compression=file.compression) as stream:
        rest = b""
        while piece := stream.read(SAMPLE_BYTES):
            lines, newline, rest = (rest + piece).rpartition(b"\n")
            if newline:
                yield lines + newline
        if rest:
            yield rest


def _types(found: pa.Table, samples: Iterator[bytes], whole: Block) -> dict[str, pa.Array]:
    """Return the first values of each column, from later samples if the first has none."""
    values = {name: found[name] for name in found.schema.names}
    inside = replace(whole, start=1)  # past the header
    while empty := [name for name, some in values.items() if pa.types.is_null(some.type)]:
        sample = next(samples, None)
        if sample is None:
            break
        later = _parsed(sample, inside, empty, {})
        values |= {name: later[name] for name in empty}
    return values


def _header(file: File, head: bytes, separator: str) -> tuple[str, ...]:
    try:
        line = head.partition(b"\n")[0].decode("utf-8-sig").rstrip("\r")
    except UnicodeDecodeError as error:
        raise InputFileError(
            f"{file}: this is not a CSV file in UTF-8 ({error}); convert it, or use --format parquet "
            "if it is Parquet"
        ) from error
    names = next(csv.reader([line], delimiter=separator), [])
    if not names:
        raise InputFileError(f"{file}: is empty; a CSV file must begin with a line of column names")
    return tuple(names)


def _parsed(
    content: bytes, block: Block, names: Sequence[str], types: dict[str, pa.DataType]
) -> pa.Table:
    if block.start == 0:
        content = content.partition(b"\n")[2]
    if not content.strip():
        return pa.schema([(name, types.get(name, pa.null())) for name in names]).empty_table()
    try:
        return pa_csv.read_csv(
            io.BytesIO(content),
            # Blocks are already read in parallel.
            read_options=pa_csv.ReadOptions(column_names=block.header, use_threads=False),
            parse_options=pa_csv.ParseOptions(delimiter=block.separator),
            convert_options=pa_csv.ConvertOptions(
                include_columns=names,
                column_types=types,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except pa.ArrowException as error:
        hint = "column types are inferred from the beginning of the first file"
        if "conversion error" in str(error):
            hint += "; --text-ids reads ids as text"
        raise InputFileError(f"{block.file}: cannot be read as CSV: {error} ({hint})") from error


def _typed(
    found: dict[str, pa.ChunkedArray],
    text: Sequence[str] | None,
    named: Sequence[str],
    ids: Sequence[str],
) -> pa.Schema:
    """Return the types of columns, given some of their values."""
    fields = []
    for name, values in found.items():
        kind = values.type
        if name in named and name not in ids and pa.types.is_null(kind):
            kind = pa.float64()
        if text is None or name in text or pa.types.is_null(kind) or pa.types.is_string(kind):
            kind = pa.large_string()
        # If an integer column has nulls, pandas writes all of its numbers as fractions.
        if name in ids and pa.types.is_float64(kind) and _are_whole(values):
            kind = pa.int64()
        fields.append(pa.field(name, kind))
    return pa.schema(fields)
