"""The output of a command, which is either complete or not there at all.

The process that computes a partition writes it to a file of its own in a temporary folder next to the
destination, or in a local one if the destination is remote. At the end the files are joined, in order and
batch by batch, and moved to the destination. Until then an earlier output stays as it was. If the command
fails, it leaves no other files behind.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from fsspec.core import url_to_fs
from fsspec.implementations.cached import CachingFileSystem
from fsspec.implementations.local import LocalFileSystem

from dask_graphflow.exceptions import OutputError
from dask_graphflow.inputs.files.find import COMPRESSIONS, FORMAT_OF, File

from .plain import comparable, range_of
from .result_tables import write_rows

BATCH_ROWS = 1 << 20
COUNTED_ROWS = 10_000_000  # distinct values of more rows take too much memory
REMOVAL_TRIES = 50
REMOVAL_PAUSE = 0.1
WRITTEN = ("parquet", "csv", "jsonl")


class Output:
    """The destination of a result.

    Parameters
    ----------
    url : str or None
        Path or URL: one file, or a folder of Parquet files if it ends in /. None and "-" stand for
        standard output.
    overwrite : bool
        Whether to replace an earlier output, if it is a file.

    Attributes
    ----------
    scratch : Path
        A local folder that worker processes can access. It is removed at the end.
    """

    scratch: Path

    def __init__(self, url: str | None, *, overwrite: bool = False) -> None:
        self._url, self._overwrite = url, overwrite
        self._inputs: tuple[File, ...] = ()
        self.is_stdout = url is None or url == "-"
        if self.is_stdout or url is None:
            return
        self._is_folder = url.endswith(("/", os.sep))
        name = Path(url.lower())
        self._codec = COMPRESSIONS.get(name.suffix)
        self._extension = (name.with_suffix("") if self._codec else name).suffix
        self._format = "parquet" if self._is_folder else FORMAT_OF.get(self._extension, "")
        if self._format not in WRITTEN or (self._codec and self._format == "parquet"):
            raise OutputError(
                f"{url}: its name does not say what to write; end it in .parquet, .csv, .tsv or .jsonl for "
                "one file, or in / for a folder of Parquet files"
            )
        try:
            self._fs, path = url_to_fs(url)
        except (ValueError, ImportError, OSError) as error:
            raise OutputError(
                f"{url}: cannot be written to: {error}. Give a path on another file system"
            ) from error
        self._is_local = isinstance(self._fs, LocalFileSystem)
        path = path.rstrip("/") or path
        # Replace the target of a link, not the link itself.
        self._path: str = os.path.realpath(path) if self._is_local else path

    def __enter__(self) -> Self:
        folder = None
        if not self.is_stdout:
            self._check_free()
            folder = os.path.dirname(self._path) if self._is_local else None
        try:
            self.scratch = Path(tempfile.mkdtemp(prefix=".graphflow-", dir=folder))
        except OSError as error:
            raise OutputError(
                f"{self._url}: cannot be written to: {error}. Make the folder it goes to, or choose another"
            ) from error
        return self

    def __exit__(self, *exc: object) -> None:
        # After an interrupt, a task may still be writing here. It fails soon, because the folder is gone.
        for _ in range(REMOVAL_TRIES):
            shutil.rmtree(self.scratch, ignore_errors=True)
            if not self.scratch.exists():
                return
            time.sleep(REMOVAL_PAUSE)

    def keep(self, files: Iterable[File]) -> None:
        """Raise if the output would replace one of these files, now and before it is replaced."""
        self._inputs += tuple(files)
        if not self.is_stdout:
            self._check_free()

    def _check_free(self) -> None:
        """Raise if something exists at the destination that must not be replaced."""
        self._fs.invalidate_cache()
        if not self._fs.exists(self._path):
            return
        ours = _identity(self._fs, self._path)
        for file in self._inputs:
            if _identity(file.fs, file.path) == ours:
                raise OutputError(
                    f"{self._url}: would replace {file}, which this command reads; give the output another "
                    "name"
                )
        if self._fs.isdir(self._path):
            if self._is_folder and not self._fs.ls(self._path):
                return
            raise OutputError(
                f"{self._url}: is a folder with files in it, and folders are not replaced; remove it, or "
                "give another name"
            )
        if self._is_folder:
            raise OutputError(f"{self._url}: is a file; remove it, or give a name without the /")
        if not self._overwrite:
            raise OutputError(
                f"{self._url}: exists already; give --overwrite to replace it, or another name"
            )

    def parts(self, frame: Any) -> Any:
        """Return a lazy frame that writes the partitions of `frame`, with one row per partition."""
        folder = self.scratch / "parts"
        folder.mkdir()
        return frame.map_partitions(
            _write_part,
            folder,
            token="graphflow-write",
            meta=pd.DataFrame({"file": ["a"], "rows": [0]}).iloc[:0],
            enforce_metadata=False,
        )

    def publish(self, parts: pd.DataFrame) -> OutputRows:
        """Move the written parts to the destination, and return them.

        The parts are the computed frame of :meth:`parts`.
        """
        rows = OutputRows(
            [self.scratch / "parts" / name for name in parts["file"]], parts["rows"].tolist()
        )
        if self.is_stdout:
            return rows
        built = self.scratch / "built"
        try:
            if self._is_folder:
                built.mkdir()
                for number, file in enumerate(rows.files):
                    _join_parquet(OutputRows([file], [0]), built / f"part-{number:05}.parquet")
            elif self._format == "parquet":
                _join_parquet(rows, built)
            else:
                with pa.OSFile(str(built), "wb") as sink:
                    self._write_text(rows, sink)
            self._check_free()  # again, because others may have written there meanwhile
            if self._is_local and self._is_folder and os.path.isdir(self._path):
                os.rmdir(self._path)
            if self._is_local:
                os.replace(built, self._path)
            else:
                self._send(built)
        except OSError as error:
            if isinstance(error, OutputError):
                raise
            raise OutputError(
                f"{self._url}: cannot be written: {error}. Free space, or choose another place"
            ) from error
        return rows

    def print(self, rows: OutputRows, format: str) -> None:
        """Write rows to standard output, after all of them were converted without an error."""
        built = self.scratch / "built"
        with pa.OSFile(str(built), "wb") as sink:
            write_rows(rows, sink, format)
        with built.open("rb") as source:
            shutil.copyfileobj(source, sys.stdout.buffer)

    def _write_text(self, rows: OutputRows, sink: Any) -> None:
        if self._codec is None:
            write_rows(rows, sink, self._format, tabs=self._extension != ".csv")
            return
        with pa.CompressedOutputStream(sink, self._codec) as compressed:
            write_rows(rows, compressed, self._format, tabs=self._extension != ".csv")

    def _send(self, built: Path) -> None:
        """Copy the output to a remote file system, and rename it there."""
        passing = f"{self._path}.{uuid.uuid4().hex}.tmp"
        try:
            self._fs.put(str(built), passing, recursive=self._is_folder)
            if self._fs.exists(self._path):
                self._fs.rm(self._path, recursive=True)
            self._fs.mv(passing, self._path, recursive=self._is_folder)
        finally:
            if self._fs.exists(passing):
                self._fs.rm(passing, recursive=True)


class OutputRows:
    """The rows of a result in Arrow files, batch by batch.

    Files without rows are left out, unless there are no others.
    """

    def __init__(self, files: Sequence[Path], counts: Sequence[int]) -> None:
        full = [file for file, count in zip(files, counts, strict=True) if count]
        self.files = full or files[:1]
        self.count = int(sum(counts))
        self.schema = _common_schema(self.files)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for file in self.files:
            with pa.memory_map(str(file)) as source, pa.ipc.open_file(source) as part:
                for number in range(part.num_record_batches):
                    batch = part.get_batch(number)
                    if batch.schema != self.schema:
                        with _one_type():
                            batch = batch.cast(self.schema)
                    yield batch

    def summary(self) -> dict[str, Any]:
        """Return the number of rows, and the range and the number of distinct values of each column.

        Distinct values are counted only in results of at most `COUNTED_ROWS`.
        """
        told: dict[str, Any] = {"rows": self.count}
        for field in self.schema:
            if self.count and field.name.partition("_")[0] not in ("vertex", "source", "target"):
                values = pa.chunked_array([batch[field.name] for batch in self], field.type)
                if (extremes := range_of(values)) is None:
                    continue
                told[field.name] = dict(zip(("min", "max"), extremes, strict=True))
                if not pa.types.is_floating(field.type) and self.count <= COUNTED_ROWS:
                    distinct = pc.count_distinct(comparable(values))
                    told[field.name]["distinct"] = distinct.as_py()
        return told


def _common_schema(files: Sequence[Path]) -> pa.Schema:
    """Return a schema for the rows of all files.

    The parts of a category differ in the type of their codes, and a part without values has a type of its
    own.
    """
    schemas = []
    for file in files:
        with pa.ipc.open_file(str(file)) as part:
            schemas.append(part.schema)
    with _one_type():
        return pa.unify_schemas(schemas, promote_options="permissive")


@contextmanager
def _one_type() -> Iterator[None]:
    """Raise the library's error if the values of a column do not fit in one type."""
    try:
        yield
    except pa.ArrowException as error:
        raise OutputError(
            f"a column has different types in different parts of the result: {error}. An output has one "
            "type per column; convert the column in the input files first"
        ) from error


def _identity(fs: Any, path: str) -> tuple[Any, ...]:
    """Return a value that is the same for all names of a file: links, or a cache in front of it."""
    while isinstance(fs, CachingFileSystem):
        fs = fs.fs
    if isinstance(fs, LocalFileSystem) and os.path.exists(path):
        status = os.stat(path)
        return status.st_dev, status.st_ino
    return type(fs), path.rstrip("/")


def _write_part(frame: Any, folder: Path) -> pd.DataFrame:
    """Write a partition, and return its file name and number of rows."""
    if hasattr(frame, "to_pandas"):  # the frame is on a GPU
        frame = frame.to_pandas()
    table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    # A part that is written again, after a worker was lost, must not clash with the first copy.
    name = uuid.uuid4().hex
    with pa.OSFile(str(folder / name), "wb") as sink, pa.ipc.new_file(sink, table.schema) as out:
        out.write_table(table, max_chunksize=BATCH_ROWS)
    return pd.DataFrame({"file": [name], "rows": [table.num_rows]})


def _join_parquet(rows: OutputRows, target: Path) -> None:
    with pq.ParquetWriter(target, rows.schema) as writer:
        for batch in rows:
            writer.write_batch(batch)
