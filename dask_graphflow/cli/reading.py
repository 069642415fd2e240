"""Parquet and CSV files as Dask frames.

A partition is a block of a given size in memory, whatever blocks the files have. Dask's readers are not
used, for four reasons: here the size of a block is its size in memory, not in the file; ids stay as they
are written; a quoted line break does not end a record; and an error names the file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa

from dask_graphflow.cli import csv_files, parquet_files
from dask_graphflow.exceptions import InputFileError, UnknownColumnError
from dask_graphflow.showing.suggestions import nearest

from .csv_files import Format, ReadAgain
from .files import File, kind_of

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
    is_csv : bool
    texts : frozenset of int
        Positions in an id that are text.
    """

    frame: Any
    tally: int | Path
    is_csv: bool
    texts: frozenset[int]

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
    csv : Format
        How CSV files are read.
    """

    block_bytes: int
    scratch: Path
    csv: Format

    def knowing(self, reason: ReadAgain) -> Reader:
        """Return a reader that also knows what was reason in a file."""
        csv = self.csv
        texts, quoted = csv.texts | reason.texts, csv.quoted or reason.quoted
        return replace(self, csv=replace(csv, texts=texts, quoted=quoted))

    def read(
        self,
        files: Sequence[File],
        ids: Sequence[str] | None = (),
        weight: str | None = None,
        kind: str = "auto",
    ) -> Table:
        """Return some columns of files as one lazy table.

        If a column does not exist, the frame has all columns. The library then raises the error, because it
        knows what the column is for.

        Parameters
        ----------
        files : sequence of File
        ids : sequence of str or None
            The columns of an id, then those of another one, and so on. If it is empty, these are all
            columns. None reads all columns, as text if the files are CSV.
        weight : str, optional
        kind : {"auto", "parquet", "csv"}
        """
        is_csv = (kind_of(files) if kind == "auto" else kind) == "csv"
        blocks: Sequence[Any]
        tally: int | Path
        notes: Path | None = None
        if is_csv:
            blocks, schema = csv_files.plan(files, ids, weight, self.block_bytes, self.csv)
            read: Callable[..., pa.Table] = partial(csv_files.read, how=self.csv)
            tally = notes = Path(tempfile.mkdtemp(prefix="rows-", dir=self.scratch))
        else:
            columns = [*(ids or ()), *([weight] if weight else [])]
            blocks, schema, tally = parquet_files.plan(files, columns, self.block_bytes)
            read = parquet_files.read
        frame = dd.from_map(
            _partition,
            blocks,
            range(len(blocks)),
            read=read,
            schema=schema,
            notes=notes,
            meta=_to_pandas(schema.empty_table()),
        )
        texts = [one.name for one in schema if pa.types.is_large_string(one.type)]
        return Table(frame, tally, is_csv, self.csv.positions(texts, ids or schema.names))

    def read_vertices(self, files: Sequence[File], columns: Sequence[str]) -> Table:
        """Return the `columns` of files of ids. By default, all of their columns form the id."""
        table = self.read(files, columns)
        have, width = list(table.frame.columns), self.csv.width
        for column in columns:
            if column not in have:
                raise UnknownColumnError(
                    f"--vertex-column {column!r} is not a column of {files[0]}, which has "
                    f"{', '.join(map(repr, have))}{nearest(column, have)}"
                )
        if len(columns or have) != width:
            raise InputFileError(
                f"{files[0]} has the columns {', '.join(map(repr, have))}, but an id needs {width}; name "
                f"{'it' if width == 1 else 'them'} with --vertex-column"
            )
        return table

    def read_seed(self, files: Sequence[File]) -> Table:
        """Return an earlier result, which has a header if it is a CSV file."""
        return replace(self, csv=replace(self.csv, header=True)).read(files)

    def check_texts(self, *tables: Table) -> None:
        """Raise :class:`ReadAgain` if ids are text in one table, and integers in a CSV file."""
        texts = frozenset[int]().union(*(table.texts for table in tables))
        differ = any(table.is_csv and table.texts != texts for table in tables)
        if differ and self.csv.text_ids is None and not texts <= self.csv.texts:
            raise ReadAgain(texts=texts)


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
