"""CSV files in blocks of lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv as pa_csv
from fsspec.utils import read_block

from dask_graphflow.cli.files import File
from dask_graphflow.exceptions import InputFileError

__all__ = ["Block", "plan", "read"]

SAMPLE_BYTES = 1 << 20


@dataclass(frozen=True)
class Block:
    """The lines that begin in a range of a file's bytes.

    Attributes
    ----------
    file : File
    start : int
    length : int or None
        None for the whole file: a compressed one cannot be entered in the middle.
    header : tuple of str
    separator : str
    """

    file: File
    start: int
    length: int | None
    header: tuple[str, ...]
    separator: str


def plan(
    files: Sequence[File],
    columns: Sequence[str],
    block_bytes: int,
    *,
    separator: str | None,
    text: Sequence[str] | None,
    numbers: Sequence[str],
) -> tuple[list[Block], pa.Schema]:
    """Cut files into blocks, and take the types from the beginning of the first.

    Parameters
    ----------
    files : sequence of File
    columns : sequence of str
        Empty for all, and taken as all if one of them is not there.
    block_bytes : int
        Bytes of text a block.
    separator : str or None
        None for a tab in files named .tsv or .tab, and a comma in others.
    text : sequence of str or None
        Columns to take as text, whatever they look like; None for all.
    numbers : sequence of str
        Columns to take as fractions, though they begin with whole numbers.

    Returns
    -------
    blocks : list of Block
    schema : pyarrow.Schema
    """
    blocks: list[Block] = []
    schema: pa.Schema = None
    for file in files:
        try:
            head = _head(file)
            size = None if file.compression else int(file.fs.size(file.path))
        except PermissionError as error:
            raise InputFileError(f"{file}: no permission to read it") from error
        except (OSError, EOFError, ValueError) as error:
            raise InputFileError(f"{file}: cannot be read: {error}") from error
        comma = separator or ("\t" if file.ending in (".tsv", ".tab") else ",")
        header = _header(file, head, comma)
        if schema is None:
            names = columns if columns and set(columns) <= set(header) else header
            whole = Block(file, 0, None, header, comma)
            schema = _typed(_parsed(head, whole, list(dict.fromkeys(names)), {}), text, numbers)
        elif missing := [name for name in schema.names if name not in header]:
            raise InputFileError(
                f"{file}: has no column {missing[0]!r}, but {files[0]} has; "
                "all files must have the same columns"
            )
        if size is None:
            blocks.append(Block(file, 0, None, header, comma))
        else:
            blocks += [
                Block(file, start, block_bytes, header, comma)
                for start in range(0, size, block_bytes)
            ]
    return blocks, schema


def read(block: Block, schema: pa.Schema) -> pa.Table:
    """Read the columns of `schema` from a block."""
    try:
        with block.file.open(compression=block.file.compression) as stream:
            if block.length is None:
                content = stream.read()
            else:
                content = read_block(stream, block.start, block.length, delimiter=b"\n")
    except (OSError, EOFError) as error:
        raise InputFileError(f"{block.file}: cannot be read: {error}") from error
    types = {field.name: field.type for field in schema}
    return _parsed(content, block, schema.names, types).cast(schema)


def _head(file: File) -> bytes:
    """Return whole lines from the beginning of a file."""
    with file.open(compression=file.compression) as stream:
        head: bytes = stream.read(SAMPLE_BYTES)
    if len(head) < SAMPLE_BYTES:
        return head
    return head[: head.rfind(b"\n") + 1]


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
            # Blocks are read beside each other as it is.
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


def _typed(sample: pa.Table, text: Sequence[str] | None, numbers: Sequence[str]) -> pa.Schema:
    fields = []
    for field in sample.schema:
        kind = field.type
        if text is None or field.name in text or pa.types.is_null(kind) or pa.types.is_string(kind):
            kind = pa.large_string()
        if field.name in numbers and pa.types.is_integer(kind):
            kind = pa.float64()
        fields.append(pa.field(field.name, kind))
    return pa.schema(fields)
