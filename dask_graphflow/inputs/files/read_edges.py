"""Edges in files as a lazy frame."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
from dask.utils import parse_bytes
from fsspec.utils import read_block

from dask_graphflow.declarations.option import Choice
from dask_graphflow.exceptions import InputFileError, OptionError, UnknownColumnError
from dask_graphflow.graph.arrow import exact_dtype
from dask_graphflow.showing.arguments import explained
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.values import shown

from .cells import are_integers
from .csv_lines import Csv
from .exact_parquet import read_parquet
from .find import EXTENSIONS, File, find_files, format_of
from .json_lines import JsonLines
from .lines import BadLine, Lines
from .matrix_market import MatrixMarket
from .text_lines import Text

SAMPLE_BYTES = 1 << 20
PIECE_BYTES = 1 << 24
LINES: dict[str, type[Lines]] = {"csv": Csv, "text": Text, "mtx": MatrixMarket, "jsonl": JsonLines}
INTEGERS = {
    pa.from_numpy_dtype(kind.type): kind()
    for kind in (
        *(pd.Int8Dtype, pd.Int16Dtype, pd.Int32Dtype, pd.Int64Dtype),
        *(pd.UInt8Dtype, pd.UInt16Dtype, pd.UInt32Dtype, pd.UInt64Dtype),
    )
}


@dataclass(frozen=True)
class Block:
    """The lines of a file that begin in a range of bytes."""

    file: File
    start: int
    length: int | None  # None for the rest of the file
    # About the number of edges, judged by the beginning of the first file; None if this is not known.
    rows: int | None = None

    def content(self) -> bytes:
        """Return the lines."""
        with self.file.open() as stream:
            if self.length is None:
                return bytes(stream.read())
            return bytes(read_block(stream, self.start, self.length, delimiter=b"\n"))

    @property
    def is_last(self) -> bool:
        """Whether the file ends in this block."""
        return self.length is None or self.start + self.length >= (self.file.size or 0)

    def pieces(self) -> Iterator[bytes]:
        """Yield the lines of the whole file, some at a time."""
        with self.file.open() as stream:
            if self.length is None:
                yield stream.read()
            while piece := stream.read(PIECE_BYTES):
                yield piece + stream.readline()

    def line(self, content: bytes, row: int) -> int:
        """Return the number in the file of the line with a row of this block."""
        at = [i for i, line in enumerate(content.splitlines(), start=1) if line.strip()][row - 1]
        if not self.start:
            return at
        before, left = 1, self.start
        with self.file.open() as stream:
            while piece := stream.read(min(left, PIECE_BYTES)):
                before, left = before + piece.count(b"\n"), left - len(piece)
        return at + before


@explained
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
          LDBC Graphalytics. Cells are separated by blanks or tabs, and lines that begin with ``#`` or
          ``%`` are comments, as in the files of SNAP and KONECT.
        - "mtx": ``.mtx``, Matrix Market. Vertices are numbered from 0 on, as SciPy does. An entry of a
          symmetric matrix becomes two edges, unless it is on the diagonal.
        - "jsonl": ``.jsonl``, ``.ndjson``; one JSON object per line.
    columns : list of str, optional
        The columns to read. If the files do not name their columns, the names of all columns in order; by
        default ``src``, ``dst`` and ``weight``, or ``vertex`` for a single column.
    header : bool, optional
        Whether the first line of a CSV or text file has the names of the columns. By default, it has if
        none of its cells is a number; in a text file, a column below it must also have numbers only.
    dtype : dtype, or dict of str to dtype, optional
        Type of all columns, or of some, in text files. By default, columns are integers, floats, booleans
        or strings, as the first MiB of the first file shows. A column with cells such as ``007`` or
        ``0x1F`` is strings, so that ids stay as they are written; ``dtype="int64"`` reads ``007`` as 7.
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
        paths = [os.fsdecode(one) for one in (path if isinstance(path, list | tuple) else [path])]
    except TypeError as error:
        raise OptionError(f"path={shown(path)}; give a path, or a list of paths") from error
    if not paths:
        raise OptionError(f"path={shown(path)} has no path; give at least one")
    if isinstance(columns, str):
        columns = [columns]
    if format is not None:
        Choice(tuple(EXTENSIONS)).check("format", format, None)
    files = find_files(paths, storage_options)
    name = format or format_of(files)
    if header is not None and name not in ("csv", "text"):
        raise OptionError(
            f"header={header!r} is for CSV and text files, and {files[0]} is read as {name}; leave it out"
        )
    if name == "parquet":
        if dtype is not None:
            raise OptionError(
                f"dtype={shown(dtype)} is for text files; leave it out, or use .astype()"
            )
        return _read_parquet(files, columns, storage_options)
    names = tuple(columns or ())
    first = LINES[name](names)
    if header is not None:
        first = replace(first, header=header)
    lines, types, density = _begin(files, first, dtype)
    chosen = _chosen(columns, types, files[0])
    size = None if blocksize is None else _block_bytes(blocksize)
    meta = _to_pandas(pa.schema(types.items()).empty_table().select(chosen))
    blocks = [block for file in files for block in _blocks(file, size, density)]
    frame = dd.from_map(
        _read,
        blocks,
        lines=lines,
        types=types,
        columns=chosen,
        meta=meta,
        label="graphflow-read-edges",
    )
    return frame.to_backend()


def _read_parquet(
    files: Sequence[File], columns: Sequence[str] | None, options: Mapping[str, Any] | None
) -> dd.DataFrame:
    # Dask would also find hidden files in a folder, and would take the name of a file for a glob.
    paths = [re.sub(r"[*?[]", r"[\g<0>]", str(file)) for file in files]
    try:
        frame = read_parquet(paths, options, exact_dtype)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputFileError(
            f"{files[0]}: cannot be read as Parquet: {error}. Correct the file, or set format="
        ) from error
    return frame if columns is None else frame[_chosen(columns, frame.columns, files[0])]


def _begin(
    files: Sequence[File], first: Lines, dtype: Any
) -> tuple[Lines, dict[str, pa.DataType], float]:
    """Return the format with the columns of the first file, their types, and about the edges per byte."""
    types: dict[str, pa.DataType] = {}
    lines, density = None, 0.0
    for file in files:
        with _name_file(file):
            with file.open() as stream:
                content = bytes(stream.read(SAMPLE_BYTES))
                if len(content) == SAMPLE_BYTES:
                    content = first.complete(content) or content + bytes(stream.read())
            found, content = first.begin(content)
            if found.plain(content).strip():
                lines, (types, density) = found, _types(Block(file, 0, None), found, content)
                break
            lines = lines or found
    if lines is None or not (types or lines.names):
        raise InputFileError(
            f"{files[0]}: is empty or has only nested values, so it has no columns; leave it out, or "
            "write a header"
        )
    types = types or lines.types()
    given = dtype if isinstance(dtype, Mapping) else dict.fromkeys(types, dtype) if dtype else {}
    for column, one in given.items():
        if column not in types:
            raise UnknownColumnError(
                f"dtype= names the column {column!r}, and {files[0]} has {', '.join(map(repr, types))}"
                f"{nearest(column, types)}"
            )
        types[column] = _arrow(column, one, lines)
    return replace(lines, numbers=lines.numbers | given.keys()), types, density


def _types(block: Block, lines: Lines, content: bytes) -> tuple[dict[str, pa.DataType], float]:
    """Return the types of the columns that the beginning of a file shows, and the edges per byte."""
    try:
        table = lines.parse(content, None)
    except BadLine as error:
        raise _bad(block, lines.plain(content), error) from error
    kinds = {
        column.name: _plain(column.name, column.type, lines, content)
        for column in table.schema
        if not pa.types.is_nested(column.type)
    }
    return kinds, table.num_rows / len(content)


def _arrow(column: str, dtype: Any, lines: Lines) -> pa.DataType:
    """Return Arrow's type for a dtype, which the format can be read as."""
    try:
        kind = pa.Array.from_pandas(pd.Series(dtype=dtype)).type
        kind = pa.large_string() if pa.types.is_null(kind) else kind
        lines.parse(b"", {column: kind})
    except (TypeError, ValueError, pa.ArrowException, BadLine) as error:
        raise OptionError(
            f"dtype= has {shown(dtype)} for the column {column!r}; give a dtype of pandas, such as 'str', "
            "'int64' or 'float64'"
        ) from error
    return kind


def _block_bytes(blocksize: int | str) -> int:
    """Return the number of bytes of a block, in which the comments at the beginning of a file fit too."""
    try:
        return max(SAMPLE_BYTES, int(parse_bytes(blocksize)))
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"blocksize={shown(blocksize)}; give a number of bytes, a text such as '64 MiB', or None"
        ) from error


def _plain(column: str, kind: pa.DataType, lines: Lines, content: bytes) -> pa.DataType:
    """Return the type of a column: numbers and booleans stay, and others are text as it is written.

    Arrow infers floats for integers beyond 64 bits with a sign, which would make one of several ids.
    """
    if column in lines.numbers or pa.types.is_int64(kind) or pa.types.is_boolean(kind):
        return kind
    if not pa.types.is_float64(kind):
        return pa.large_string()
    with suppress(BadLine):
        return lines.parse(content, {column: pa.uint64()}).schema.field(column).type
    with suppress(BadLine):
        if are_integers(lines.parse(content, {column: pa.large_string()})[column]):
            return pa.large_string()
    return kind


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
    with _name_file(block.file):
        content = block.content()
        if block.start and lines.counted:
            lines, _ = lines.begin(replace(block, start=0, length=SAMPLE_BYTES).content())
        elif not block.start and (lines.counted or content.strip()):
            found, content = lines.begin(content)
            if found != lines:
                raise InputFileError(
                    f"has the columns {', '.join(map(repr, found.names))} or another layout, and the first "
                    f"file has {', '.join(map(repr, lines.names))}; read files that differ one by one"
                )
            lines = found
        if lines.counted and block.is_last:
            lines.check_count(block.pieces())
        if not content.strip():
            return _to_pandas(pa.schema(types.items()).empty_table().select(columns))
        try:
            table = lines.parse(content, {name: types[name] for name in columns})
        except BadLine as error:
            raise _bad(block, lines.plain(content), error) from error
        return _to_pandas(table.select(columns))


def _bad(block: Block, content: bytes, error: BadLine) -> InputFileError:
    where = "" if error.row is None else f"line {block.line(content, error.row):,}: "
    return InputFileError(f"{where}{error.reason}. {error.advice}")


@contextmanager
def _name_file(file: File) -> Iterator[None]:
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
