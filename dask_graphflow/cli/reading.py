"""Parquet and CSV files as Dask frames.

A partition is a block of a given size in memory, whatever blocks the files have. Dask's readers are not
used, for three reasons: here the size of a block is its size in memory, not in the file; integers with
nulls stay exact; and an error names the file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa

from dask_graphflow.cli import csv_files, parquet_files
from dask_graphflow.exceptions import InputFileError, UnknownColumnError
from dask_graphflow.showing.suggestions import nearest

from .files import find_files, kind_of

__all__ = ["Reader", "Table"]

TEXT = pd.StringDtype("pyarrow")
PLAIN = {pa.string(): TEXT, pa.large_string(): TEXT}
# Without these types, one null turns a column of integers into floats, which changes large ids.
NULLABLE = PLAIN | {
    getattr(pa, name.lower())(): pd.api.types.pandas_dtype(name)
    for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
}


@dataclass(frozen=True)
class Table:
    """A frame that is read block by block.

    Attributes
    ----------
    frame : dask.dataframe.DataFrame
    tally : int or Path
        The number of rows, or if it is only known after reading, the folder where each block notes its
        number of rows.
    """

    frame: Any
    tally: int | Path

    def rows(self) -> int:
        """Return the number of rows. If `tally` is a folder, all blocks must have been read."""
        if isinstance(self.tally, int):
            return self.tally
        return sum(int(note.suffix[1:]) for note in self.tally.iterdir())


@dataclass(frozen=True)
class Reader:
    """Reads tables in blocks.

    Attributes
    ----------
    block_bytes : int
        Maximum bytes of a block in memory.
    scratch : Path
        A folder that all worker processes can access.
    separator : str or None
        Separator of CSV fields; None means the default for the file's name.
    text_ids : bool
        Whether to read the ids in CSV files as text.
    """

    block_bytes: int
    scratch: Path
    separator: str | None = None
    text_ids: bool = False

    def read(
        self,
        paths: Sequence[str],
        ids: Sequence[str] = (),
        weight: str | None = None,
        kind: str = "auto",
    ) -> Table:
        """Return some columns of files as one lazy table, or all columns if none are given.

        If a column does not exist, the frame has all columns. The library then raises the error, because it
        knows what the column is for.
        """
        files = find_files(paths)
        columns = [*ids, *([weight] if weight else [])]
        if (kind_of(files) if kind == "auto" else kind) == "parquet":
            tally: int | Path
            blocks: Sequence[Any]
            blocks, schema, tally = parquet_files.plan(files, columns, self.block_bytes)
            read: Callable[..., pa.Table] = parquet_files.read
        else:
            blocks, schema = csv_files.plan(
                files,
                columns,
                self.block_bytes,
                separator=self.separator,
                text=(ids or None) if self.text_ids else (),
                ids=ids,
            )
            read = csv_files.read
            tally = Path(tempfile.mkdtemp(prefix="rows-", dir=self.scratch))
        frame = dd.from_map(
            _partition,
            blocks,
            range(len(blocks)),
            read=read,
            schema=schema,
            notes=tally if isinstance(tally, Path) else None,
            meta=_to_pandas(schema.empty_table()),
        )
        return Table(frame, tally)

    def read_vertices(self, path: str, columns: Sequence[str], width: int) -> Any:
        """Return the `columns` of a file of ids. By default, all of its columns form the id."""
        frame = self.read([path], columns).frame
        have = list(frame.columns)
        for column in columns:
            if column not in have:
                raise UnknownColumnError(
                    f"--vertex-column {column!r} is not a column of {path}, which has "
                    f"{', '.join(map(repr, have))}{nearest(column, have)}"
                )
        if len(columns or have) != width:
            raise InputFileError(
                f"{path} has the columns {', '.join(map(repr, have))}, but an id needs {width}; name "
                f"{'it' if width == 1 else 'them'} with --vertex-column"
            )
        if not columns:  # now it is known that all of them are ids
            return self.read([path], have).frame
        return frame[list(columns)]


def _partition(
    block: Any, number: int, *, read: Callable[..., pa.Table], schema: pa.Schema, notes: Path | None
) -> pd.DataFrame:
    table = read(block, schema)
    if notes is not None:
        # The number of rows is part of the file's name, so workers need no other way to report it. If a
        # block is read again, after a worker was lost, it writes the same name.
        (notes / f"{number}.{table.num_rows}").touch()
    return _to_pandas(table)


def _to_pandas(table: pa.Table) -> pd.DataFrame:
    integers_with_nulls = any(
        column.null_count and pa.types.is_integer(column.type) for column in table.columns
    )
    types = NULLABLE if integers_with_nulls else PLAIN
    frame: pd.DataFrame = table.to_pandas(
        types_mapper=types.get,
        date_as_object=False,
        ignore_metadata=True,
        # Convert column by column and release each one, so that there is only one copy at a time.
        split_blocks=True,
        self_destruct=True,
    )
    return frame
