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

__all__ = ["Block", "plan", "read"]

FOOTER_THREADS = 16
# What a text is reckoned to take at least: a footer tells the bytes of a dictionary's codes, where
# there is one, and not those of the texts.
TEXT_BYTES = 40

#: Some row groups of each of some files.
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
    """Cut files into blocks.

    Parameters
    ----------
    files : sequence of File
    columns : sequence of str
        Empty for all, and taken as all if one of them is not there.
    block_bytes : int
        What a block may take in memory. A row group is never cut.

    Returns
    -------
    blocks : list
    schema : pyarrow.Schema
        The columns' names and types.
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
    # With no row group at all there is still a block, of no rows.
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
    # Arrow reads local files without Python's lock.
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
    """Return a field as it is read: values in place of codes, and one type for all text."""
    kind = field.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_string(kind) or pa.types.is_string_view(kind):
        kind = pa.large_string()
    return pa.field(field.name, kind)


def _memory(group: Any, fields: Sequence[pa.Field]) -> int:
    """Return the bytes that the columns of a row group take once they are read."""
    chunks = [group.column(i) for i in range(group.num_columns)]
    encoded = {chunk.path_in_schema: int(chunk.total_uncompressed_size) for chunk in chunks}
    total = 0
    for field in fields:
        try:
            total += group.num_rows * max(1, field.type.bit_width // 8)
        except ValueError:  # of no fixed width
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
