"""Edges in files as a lazy frame."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
from dask.utils import parse_bytes
from fsspec.utils import read_block

from dask_graphflow.exceptions import InputFileError, OptionError, UnknownColumnError
from dask_graphflow.graph.arrow import exact_dtype
from dask_graphflow.scheduling.parquet import read_parquet
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.values import shown

from .find import EXTENSIONS, File, find_files, format_of
from .lines import BadLine, Csv, JsonLines, Lines, MatrixMarket, Text

__all__ = ["read_edges"]

SAMPLE_BYTES = 1 << 20
LINES: dict[str, type[Lines]] = {"text": Text, "mtx": MatrixMarket, "jsonl": JsonLines}
INTEGERS = {pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}


@dataclass(frozen=True)
class Block:
    """The lines of a file that begin in a range of bytes.

    Attributes
    ----------
    file : File
    start : int
    length : int or None
        None for the rest of the file.
    rows : int or None
        About the number of edges, judged by the beginning of the first file; None if this is not known.
    """

    file: File
    start: int
    length: int | None
    rows: int | None = None

    def content(self) -> bytes:
        """Return the lines."""
        with self.file.open() as stream:
            if self.length is None:
                return bytes(stream.read())
            return bytes(read_block(stream, self.start, self.length, delimiter=b"\n"))

    def line(self, content: bytes, row: int) -> int:
        """Return the number in the file of the line with a row of this block."""
        at = [i for i, line in enumerate(content.splitlines(), start=1) if line.strip()][row - 1]
        if not self.start:
            return at
        with self.file.open() as stream:
            return at + 1 + int(stream.read(self.start).count(b"\n"))


def read_edges(
    path: Any,
    *,
    format: Literal["parquet", "csv", "text", "mtx", "jsonl"] | None = None,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    dtype: Any = None,
    blocksize: int | str | None = "64 MiB",
    storage_options: Mapping[str, Any] | None = None,
) -> dd.DataFrame:
    r"""Read the edges in files as a lazy Dask DataFrame.

    Parameters
    ----------
    path : str or path, or list of them
        Files, folders or globs, on the local machine or on any file system that fsspec supports
        (``s3://``, ``gs://``, ``https://``). Text files can be compressed with gzip (``.gz``), zstd
        (``.zst``) or bzip2 (``.bz2``).
    format : {"parquet", "csv", "text", "mtx", "jsonl"}, optional
        By default, the extension of the files shows the format:

        - "parquet": ``.parquet``, ``.parq``, ``.pq``.
        - "csv": ``.csv``, ``.tsv``, ``.tab``. Cells are separated by commas, tabs, semicolons or bars.
        - "text": ``.txt``, ``.el``, ``.wel``, ``.edges``, ``.edgelist``; the ``.e`` and ``.v`` files of
          LDBC Graphalytics. Cells are separated by blanks or tabs, and lines that begin with ``#`` are
          comments, as in the files of SNAP.
        - "mtx": ``.mtx``, Matrix Market. Vertices are numbered from 0 on, as SciPy does. An entry of a
          symmetric matrix becomes two edges, unless it is on the diagonal.
        - "jsonl": ``.jsonl``, ``.ndjson``; one JSON object per line.
    columns : list of str, optional
        The columns to read. If the files do not name their columns, the names of all columns in order; by
        default ``src``, ``dst`` and ``weight``, or ``vertex`` for a single column.
    header : bool, optional
        Whether the first line of a CSV file has the names of the columns. By default, it has if none of
        its cells is a number.
    dtype : dtype, or dict of str to dtype, optional
        Type of all columns, or of some, in text files. By default, columns are integers, floats, booleans
        or strings, as the first MiB of the first file shows. ``dtype="str"`` keeps ids such as ``007`` as
        they are written.
    blocksize : int or str, optional
        Number of bytes of text per partition, at least 1 MiB; "64 MiB" by default. A compressed file is one
        partition, and so is each file with None, which is needed if cells of a CSV file contain line
        breaks. Parquet files are split as ``dask.dataframe.read_parquet`` does.
    storage_options : dict, optional
        Options of the file system, such as credentials.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per edge, with the columns of the files. The backend is cuDF if ``dataframe.backend`` in
        Dask's configuration is "cudf". Only the beginning of the first file is read at the call.

    Raises
    ------
    InputFileError
        A file is missing, its extension is unknown, or it cannot be read. For a line that cannot be
        read, the message has the file and the number of the line, and the error is raised when the result
        is computed.
    OptionError, UnknownColumnError
        An option is invalid; raised at the call.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import dask_graphflow as gf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "web.txt")
    ...     _ = path.write_text("# From To\n1 2\n2 3\n")
    ...     gf.read_edges(path).compute()
       src  dst
    0    1    2
    1    2    3
    """
    try:
        paths = [os.fspath(one) for one in (path if isinstance(path, list | tuple) else [path])]
    except TypeError as error:
        raise OptionError(f"path={shown(path)}; give a path, or a list of paths") from error
    if isinstance(columns, str):
        columns = [columns]
    if format is not None and format not in EXTENSIONS:
        raise OptionError(
            f"format={shown(format)}; give {', '.join(map(repr, EXTENSIONS))}{nearest(format, EXTENSIONS)}"
        )
    files = find_files(paths, storage_options)
    name = format or format_of(files)
    if header is not None and name != "csv":
        raise OptionError(
            f"header={header!r} is for CSV files, and {files[0]} is read as {name}; leave it out"
        )
    if name == "parquet":
        if dtype is not None:
            raise OptionError(
                f"dtype={shown(dtype)} is for text files; leave it out, or use .astype()"
            )
        return _read_parquet(paths, files[0], columns, storage_options)
    names = tuple(columns or ())
    first = Csv(names, header) if name == "csv" else LINES[name](names)
    lines, types, density = _begin(files, first, dtype)
    chosen = _chosen(columns, types, files[0])
    size = None if blocksize is None else _block_bytes(blocksize)
    meta = _to_pandas(pa.schema(types.items()).empty_table().select(chosen))
    blocks = [block for file in files for block in _blocks(file, size, density)]
    frame = dd.from_map(
        _read, blocks, lines=lines, types=types, columns=chosen, meta=meta, label="read-edges"
    )
    return frame.to_backend()


def _read_parquet(
    paths: list[str], first: File, columns: Sequence[str] | None, options: Mapping[str, Any] | None
) -> dd.DataFrame:
    try:
        frame = read_parquet(paths, options, exact_dtype)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputFileError(
            f"{first}: cannot be read as Parquet: {error}. Correct the file, or set format="
        ) from error
    return frame if columns is None else frame[_chosen(columns, frame.columns, first)]


def _begin(
    files: Sequence[File], first: Lines, dtype: Any
) -> tuple[Lines, dict[str, pa.DataType], float]:
    """Return the format with the columns of the first file, their types, and about the edges per byte."""
    lines, types, density = None, {}, 0.0
    for file in files:
        with _named(file), file.open() as stream:
            content = bytes(stream.read(SAMPLE_BYTES))
            if len(content) == SAMPLE_BYTES:
                content = first.complete(content) or content + bytes(stream.read())
        with _named(file):
            found, content = first.begin(content)
            length = len(content)
            if lines is None:
                lines = found
            if not found.plain(content).strip():
                continue
            lines = found
            try:
                table = found.parse(content, None)
            except BadLine as error:
                raise _bad(Block(file, 0, None), found.plain(content), error) from error
        types = {
            field.name: _plain(field.type)
            for field in table.schema
            if not pa.types.is_nested(field.type)
        }
        density = table.num_rows / length
        break
    if lines is None or not (types or lines.names):
        raise InputFileError(
            f"{files[0]}: is empty, so its columns are not known; leave it out, or write a header"
        )
    types = types or dict.fromkeys(lines.names, pa.int64())
    given = dtype if isinstance(dtype, Mapping) else dict.fromkeys(types, dtype) if dtype else {}
    for column, one in given.items():
        if column not in types:
            raise UnknownColumnError(
                f"dtype= names the column {column!r}, and {files[0]} has {', '.join(map(repr, types))}"
                f"{nearest(column, types)}"
            )
        types[column] = _arrow(column, one)
    return lines, types, density


def _arrow(column: str, dtype: Any) -> pa.DataType:
    """Return Arrow's type for a dtype."""
    try:
        kind = pa.Array.from_pandas(pd.Series(dtype=dtype)).type
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"dtype= has {shown(dtype)} for the column {column!r}; give a dtype of pandas, such as 'str', "
            "'int64' or 'float64'"
        ) from error
    return pa.large_string() if pa.types.is_null(kind) else kind


def _block_bytes(blocksize: int | str) -> int:
    """Return the number of bytes of a block, in which the comments at the beginning of a file fit too."""
    try:
        return max(SAMPLE_BYTES, int(parse_bytes(blocksize)))
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"blocksize={shown(blocksize)}; give a number of bytes, a text such as '64 MiB', or None"
        ) from error


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type of a column: numbers and booleans stay, and others are text as it is written."""
    known = pa.types.is_int64(kind) or pa.types.is_float64(kind) or pa.types.is_boolean(kind)
    return kind if known else pa.large_string()


def _chosen(columns: Sequence[str] | None, have: Any, file: File) -> list[str]:
    chosen = [*have] if columns is None else [*columns]
    for column in chosen:
        if column not in have:
            raise UnknownColumnError(
                f"columns= names {column!r}, and {file} has {', '.join(map(repr, have))}"
                f"{nearest(column, list(have))}"
            )
    return chosen


def _blocks(file: File, blocksize: int | None, density: float) -> Iterator[Block]:
    """Yield the blocks of a file. A compressed file cannot be read from the middle."""
    if file.compression or file.size is None:
        yield Block(file, 0, None)
        return
    if blocksize is None or file.size <= blocksize:
        yield Block(file, 0, None, math.ceil(density * file.size))
        return
    for start in range(0, file.size, blocksize):
        yield Block(file, start, blocksize, math.ceil(density * blocksize))


def _read(
    block: Block, *, lines: Lines, types: Mapping[str, pa.DataType], columns: Sequence[str]
) -> pd.DataFrame:
    """Return a partition."""
    with _named(block.file):
        content = block.content()
        if not block.start and content.strip():
            found, content = lines.begin(content)
            if found != lines:
                raise InputFileError(
                    f"has the columns {', '.join(map(repr, found.names))} or another layout, and the first "
                    f"file has {', '.join(map(repr, lines.names))}; read files that differ one by one"
                )
        if not content.strip():
            return _to_pandas(pa.schema(types.items()).empty_table().select(columns))
        try:
            table = lines.parse(content, {name: types[name] for name in columns})
        except BadLine as error:
            raise _bad(block, lines.plain(content), error) from error
        return _to_pandas(table.select(columns))


def _bad(block: Block, content: bytes, error: BadLine) -> InputFileError:
    where = "" if error.row is None else f"line {block.line(content, error.row):,}: "
    return InputFileError(
        f"{where}{error.reason}. The first lines show the number of columns and their types; correct the "
        "line, or set dtype="
    )


@contextmanager
def _named(file: File) -> Iterator[None]:
    """Begin the message of an error with the name of the file."""
    try:
        yield
    except InputFileError as error:
        if str(error).startswith(str(file)):
            raise
        raise InputFileError(f"{file}: {error}") from error
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
        raise InputFileError(
            f"{file}: cannot be read: {error}; text is in UTF-8, and the extension names the compression. "
            "Correct the file or its name"
        ) from error


def _to_pandas(table: pa.Table) -> pd.DataFrame:
    """Return a frame. Integers with nulls stay exact."""
    nulls = any(c.null_count and pa.types.is_integer(c.type) for c in table.columns)
    frame: pd.DataFrame = table.to_pandas(
        types_mapper=INTEGERS.get if nulls else None, split_blocks=True, self_destruct=True
    )
    return frame
