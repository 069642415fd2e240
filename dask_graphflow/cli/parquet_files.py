"""Parquet files in blocks of row groups."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dask_graphflow.exceptions import InputFileError

from .files import File

FOOTER_THREADS = 16
# Assumed minimum bytes per text. For a dictionary column, the footer only gives the size of the codes,
# not of the texts.
TEXT_BYTES = 40

#: Files, each with some of its row groups.
Block = tuple[tuple[File, tuple[int, ...]], ...]


@dataclass
class _Footer:
    file: File
    schema: pa.Schema
    rows: list[int]
    sizes: list[int]


def plan(
    files: Sequence[File], columns: Sequence[str], block_bytes: int
) -> tuple[list[Block], pa.Schema, int]:
    """Split files into blocks.

    Parameters
    ----------
    files : sequence of File
    columns : sequence of str
        Columns to read. If it is empty, or if one of them does not exist, all columns are read.
    block_bytes : int
        Maximum bytes of a block in memory. A row group is never split, so it may exceed this.

    Returns
    -------
    blocks : list
    schema : pyarrow.Schema
        Names and types of the columns.
    rows : int
    """
    with ThreadPoolExecutor(FOOTER_THREADS) as pool:
        footers = list(pool.map(lambda file: _read_footer(file, columns), files))
    first = footers[0]
    for footer in footers[1:]:
        _check_same(first, footer)

    blocks: list[Block] = []
    block: dict[File, list[int]] = {}
    filled = 0
    for footer in footers:
        for group, size in enumerate(footer.sizes):
            if block and filled + size > block_bytes:
                blocks.append(_closed(block))
                block, filled = {}, 0
            block.setdefault(footer.file, []).append(group)
            filled += size
    # Without any row group, there is still one block without rows.
    blocks.append(_closed(block))
    return blocks, first.schema, sum(sum(footer.rows) for footer in footers)


def read(block: Block, schema: pa.Schema) -> pa.Table:
    """Read the columns of `schema` from a block."""
    tables = [schema.empty_table()]
    for file, groups in block:
        try:
            with _open(file) as parquet:
                table = parquet.read_row_groups(groups, columns=schema.names)
        except (pa.ArrowException, OSError) as error:
            raise InputFileError(f"{file}: cannot be read: {error}") from error
        tables.append(table.select(schema.names).cast(schema))
    return pa.concat_tables(tables)


def _closed(block: dict[File, list[int]]) -> Block:
    return tuple((file, tuple(groups)) for file, groups in block.items())


def _open(file: File) -> pq.ParquetFile:
    # Arrow reads local files without holding the GIL.
    return pq.ParquetFile(file.path if file.is_local else file.open())


def _read_footer(file: File, columns: Sequence[str]) -> _Footer:
    try:
        with _open(file) as parquet:
            metadata, schema = parquet.metadata, parquet.schema_arrow.remove_metadata()
    except PermissionError as error:
        raise InputFileError(f"{file}: no permission to read it") from error
    except pa.ArrowInvalid as error:
        raise InputFileError(
            f"{file}: this is not a Parquet file, or it is damaged ({error}); give a Parquet file, or "
            "use --format csv if it is CSV"
        ) from error
    except (pa.ArrowException, OSError) as error:
        raise InputFileError(f"{file}: cannot be read: {error}") from error
    names = columns if columns and set(columns) <= set(schema.names) else schema.names
    fields = [_plain(schema.field(name)) for name in dict.fromkeys(names)]
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    return _Footer(
        file,
        pa.schema(fields),
        [group.num_rows for group in groups],
        [_memory(group, fields) for group in groups],
    )


def _plain(field: pa.Field) -> pa.Field:
    """Return a field as it is read: dictionaries become their values, and all text has one type."""
    kind = field.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_string(kind) or pa.types.is_string_view(kind):
        kind = pa.large_string()
    return pa.field(field.name, kind)


def _memory(group: Any, fields: Sequence[pa.Field]) -> int:
    """Return the estimated bytes that the columns of a row group take in memory."""
    chunks = [group.column(i) for i in range(group.num_columns)]
    encoded = {chunk.path_in_schema: int(chunk.total_uncompressed_size) for chunk in chunks}
    total = 0
    for field in fields:
        try:
            total += group.num_rows * max(1, field.type.bit_width // 8)
        except ValueError:  # the type has no fixed width
            total += max(group.num_rows * TEXT_BYTES, encoded.get(field.name, 0))
    return total


def _check_same(first: _Footer, other: _Footer) -> None:
    for field in first.schema:
        if field.name not in other.schema.names:
            raise InputFileError(
                f"{other.file}: has no column {field.name!r}, but {first.file} has; "
                "all files must have the same columns"
            )
        kind = other.schema.field(field.name).type
        if kind != field.type:
            raise InputFileError(
                f"{other.file}: column {field.name!r} is {kind}, but {field.type} in {first.file}; "
                "all files must have the same types. Convert one of them"
            )
