"""The output, which is either complete or not there at all.

Everything is first written to a temporary folder next to the destination, or to a local one if the
destination is remote, and moved to the destination at the end. Until then an earlier output stays as it
was. If the command fails, it leaves no other files behind.

The process that computes a partition writes it to its own file. A folder of Parquet files takes these files
as they are. A single Parquet or CSV file is joined from them batch by batch, in order, so that it is never
in memory as a whole.

Each file of a folder has a mark in its Parquet footer. A folder is only replaced if everything in it has
the name of an output and this mark, because any other file comes from someone else.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from fsspec import AbstractFileSystem
from fsspec.core import url_to_fs
from fsspec.implementations.cached import CachingFileSystem
from fsspec.implementations.local import LocalFileSystem

from dask_graphflow.exceptions import OutputError

from .files import KINDS, File

BATCH_ROWS = 1 << 20
PART = "part-{:05}.parquet"
PART_NAME = re.compile(r"part-\d{5,}\.parquet")
MARK = {b"dask_graphflow": b"an output of graphflow, which --overwrite may remove"}
REMOVAL_TRIES = 50
REMOVAL_PAUSE = 0.1


class Output:
    """The destination of a result.

    Parameters
    ----------
    url : str
        Path or URL. It ends in .parquet or .csv for one file, or in / for a folder of Parquet files.
    overwrite : bool
        Whether to replace an earlier output.

    Attributes
    ----------
    scratch : Path
        A local folder that worker processes can access. It is removed at the end.
    """

    scratch: Path

    def __init__(self, url: str, *, overwrite: bool) -> None:
        self._url = url
        self._overwrite = overwrite
        self._is_folder = url.endswith(("/", os.sep))
        ending = os.path.splitext(url)[1].lower()
        self._kind = "parquet" if self._is_folder else KINDS.get(ending, "")
        if not self._kind:
            raise OutputError(
                f"{url}: its name does not say what to write; end it in .parquet or .csv for one "
                "file, or in / for a folder of Parquet files"
            )
        self._separator = "," if ending in ("", ".csv") else "\t"
        try:
            self._fs, path = url_to_fs(url)
        except (ValueError, ImportError, OSError) as error:
            raise OutputError(f"{url}: cannot be written to: {error}") from error
        self._is_local = isinstance(self._fs, LocalFileSystem)
        path = path.rstrip("/") or path
        if self._is_local and os.path.islink(path) and not os.path.exists(path):
            raise OutputError(
                f"{url}: is a symbolic link to {os.readlink(path)}, which does not exist; remove the link, "
                "or give the name of the file or folder that it should lead to"
            )
        # Replace the target of a link, not the link itself.
        self._path: str = os.path.realpath(path) if self._is_local else path
        self._inputs: tuple[File, ...] = ()

    def __enter__(self) -> Self:
        try:
            self._check_free()
            folder = os.path.dirname(self._path) if self._is_local else None
            self.scratch = Path(tempfile.mkdtemp(prefix=".graphflow-", dir=folder))
        except FileNotFoundError as error:
            raise OutputError(
                f"{self._url}: the folder it goes to does not exist; make it first"
            ) from error
        except NotADirectoryError as error:
            raise OutputError(
                f"{self._url}: its parent is a file, not a folder; choose another place"
            ) from error
        except PermissionError as error:
            raise OutputError(f"{self._url}: no permission to write there") from error
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
        self._inputs = tuple(files)
        self._check_free()

    def _check_free(self) -> None:
        """Raise if something exists at the destination that must not be replaced."""
        self._fs.invalidate_cache()
        if not self._fs.exists(self._path):
            return
        entries: list[dict[str, Any]] = []
        if folder := self._fs.isdir(self._path):
            entries = self._fs.ls(self._path, detail=True)
            # Object stores list a folder as an entry of itself.
            entries = [entry for entry in entries if entry["name"].rstrip("/") != self._path]
            if not entries:
                return
        self._check_not_read([self._path, *(entry["name"] for entry in entries)])
        if not self._overwrite:
            raise OutputError(
                f"{self._url}: exists already; give --overwrite to replace it, or another name"
            )
        if folder:
            self._check_ours(entries)
        elif self._is_folder or not self._fs.isfile(self._path):
            wanted = "folder" if self._is_folder else "file"
            raise OutputError(
                f"{self._url}: is there already and is not a {wanted}; remove it, or give another name"
            )
        if self._is_local and not os.access(self._path, os.W_OK):
            raise PermissionError(self._path)

    def _check_not_read(self, paths: Sequence[str]) -> None:
        """Raise if one of the existing `paths` is a file that the command reads, also by another name."""
        ours = {_identity(self._fs, path) for path in paths}
        for file in self._inputs:
            if _identity(file.fs, file.path) in ours:
                raise OutputError(
                    f"{self._url}: would replace {file}, which this command reads; give the output another "
                    "name"
                )

    def _check_ours(self, entries: Sequence[dict[str, Any]]) -> None:
        """Raise unless an earlier run wrote everything in a folder."""
        for entry in entries:
            name = os.path.basename(entry["name"].rstrip("/"))
            plain = entry["type"] == "file" and not entry.get("islink")
            if not (plain and PART_NAME.fullmatch(name) and self._is_marked(entry["name"])):
                raise OutputError(
                    f"{self._url}: is a folder with {name!r} in it, which no earlier run of graphflow "
                    "wrote; --overwrite removes nothing else. Move it away, or give another name"
                )

    def _is_marked(self, path: str) -> bool:
        try:
            with self._fs.open(path) as file:
                metadata = pq.read_schema(file).metadata or {}
        except pa.ArrowException:
            return False
        return MARK.items() <= metadata.items()

    def parts(self, frame: Any) -> Any:
        """Return a lazy frame that writes the partitions of `frame`, with one row per partition."""
        folder = self.scratch / "parts"
        folder.mkdir(exist_ok=True)  # it exists if the files had to be read again
        return frame.map_partitions(
            _write_part,
            folder,
            # Parquet if the parts stay as they are, otherwise the format that is fastest to copy once.
            "parquet" if self._is_folder else "arrow",
            meta=pd.DataFrame({"file": ["a"], "rows": [0]}).iloc[:0],
            enforce_metadata=False,
        )

    def publish(self, parts: pd.DataFrame) -> None:
        """Move the written parts to the destination.

        Parameters
        ----------
        parts : pandas.DataFrame
            The computed frame of :meth:`parts`.
        """
        try:
            files = [self.scratch / "parts" / name for name in parts["file"]]
            rows = parts["rows"].tolist()
            # Partitions without rows are left out, unless there are no others and the columns are needed.
            full = [file for file, n in zip(files, rows, strict=True) if n] or files[:1]
            built = self.scratch / "built"
            if self._is_folder:
                built.mkdir()
                for number, file in enumerate(full):
                    file.rename(built / PART.format(number))
            elif self._kind == "csv":
                _join_csv(full, built, self._separator)
            else:
                _join_parquet(full, built)
            self._check_free()  # again, because others may have written there meanwhile
            if self._is_local:
                self._replace_local(built)
            else:
                self._replace_remote(self._fs, built)
        except OutputError:
            raise
        except PermissionError as error:
            raise OutputError(f"{self._url}: no permission to write there") from error
        except OSError as error:
            raise OutputError(f"{self._url}: cannot be written: {error}") from error

    def _replace_local(self, built: Path) -> None:
        # A rename is atomic, but it can only replace a file, not a folder.
        if not os.path.isdir(self._path) and not self._is_folder:
            os.replace(built, self._path)
            return
        earlier = self.scratch / "earlier"
        had = os.path.lexists(self._path)
        if had:
            os.rename(self._path, earlier)
        try:
            os.rename(built, self._path)
        except BaseException:
            if had:
                os.rename(earlier, self._path)
            raise

    def _replace_remote(self, fs: AbstractFileSystem, built: Path) -> None:
        passing = f"{self._path}.{uuid.uuid4().hex}.tmp"
        try:
            fs.put(str(built), passing, recursive=self._is_folder)
            if fs.exists(self._path):
                fs.rm(self._path, recursive=True)
            fs.mv(passing, self._path, recursive=self._is_folder)
        finally:
            if fs.exists(passing):
                fs.rm(passing, recursive=True)


def _identity(fs: AbstractFileSystem, path: str) -> tuple[Any, ...]:
    """Return a value that is the same for all names of a file: links, or a cache in front of it."""
    while isinstance(fs, CachingFileSystem):
        fs = fs.fs
    if isinstance(fs, LocalFileSystem) and os.path.exists(path):
        status = os.stat(path)
        return status.st_dev, status.st_ino
    return type(fs), path.rstrip("/")


def _write_part(frame: pd.DataFrame, folder: Path, kind: str) -> pd.DataFrame:
    """Write a partition, and return its file name and number of rows."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    # This replaces the metadata of pandas. A single file that is joined from parts has no mark.
    table = table.replace_schema_metadata(MARK if kind == "parquet" else None)
    # A part that is written again, after a worker was lost, must not clash with the first copy.
    name = uuid.uuid4().hex
    if kind == "parquet":
        pq.write_table(table, folder / name)
    else:
        with (
            pa.OSFile(str(folder / name), "wb") as sink,
            pa.ipc.new_file(sink, table.schema) as out,
        ):
            out.write_table(table, max_chunksize=BATCH_ROWS)
    return pd.DataFrame({"file": [name], "rows": [table.num_rows]})


def _batches(files: Sequence[Path]) -> Iterator[pa.RecordBatch]:
    """Read parts batch by batch. The first batch is empty and gives the schema."""
    for file in files:
        with pa.OSFile(str(file), "rb") as source, pa.ipc.open_file(source) as part:
            if file == files[0]:
                yield pa.RecordBatch.from_pylist([], schema=part.schema)
            for i in range(part.num_record_batches):
                yield part.get_batch(i)
        file.unlink()


def _join_parquet(files: Sequence[Path], target: Path) -> None:
    batches = _batches(files)
    first = next(batches)
    with pq.ParquetWriter(target, first.schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _join_csv(files: Sequence[Path], target: Path, separator: str) -> None:
    batches = _batches(files)
    first = next(batches)
    header = io.StringIO()
    csv.writer(header, delimiter=separator, lineterminator="\n").writerow(first.schema.names)
    # Arrow quotes either all texts or none. Most ids need no quotes and are easier to read without them.
    # A text without letters needs them too, since it would otherwise be read as a missing id.
    special = f'^$|[{separator}"\\r\\n]'
    texts = [field.name for field in first.schema if pa.types.is_large_string(field.type)]
    with target.open("wb") as sink:
        sink.write(header.getvalue().encode())
        for batch in batches:
            quoted = any(
                pc.any(pc.match_substring_regex(batch[name], special)).as_py() for name in texts
            )
            options = pa_csv.WriteOptions(
                include_header=False,
                delimiter=separator,
                quoting_style="needed" if quoted else "none",
            )
            pa_csv.write_csv(batch, sink, options)
