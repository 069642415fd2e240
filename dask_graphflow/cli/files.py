"""Input files: finding them and their format."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from fsspec import AbstractFileSystem
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem
from fsspec.utils import infer_compression

from dask_graphflow.exceptions import InputFileError
from dask_graphflow.showing.suggestions import nearest

KINDS = {
    **dict.fromkeys((".parquet", ".parq", ".pq"), "parquet"),
    **dict.fromkeys((".csv", ".tsv", ".tab"), "csv"),
}
PARQUET_MAGIC = b"PAR1"


@dataclass(frozen=True)
class File:
    """A file on any file system."""

    fs: AbstractFileSystem
    path: str

    def __str__(self) -> str:
        return self.path if self.is_local else str(self.fs.unstrip_protocol(self.path))

    @property
    def is_local(self) -> bool:
        """Whether the operating system can open the file by its path."""
        return isinstance(self.fs, LocalFileSystem)

    @property
    def compression(self) -> str | None:
        """The compression, inferred from the name."""
        compression: str | None = infer_compression(self.path)
        return compression

    @property
    def ending(self) -> str:
        """The ending that shows the format, in lower case."""
        suffixes = PurePosixPath(self.path.lower()).suffixes
        if self.compression:
            suffixes.pop()
        return suffixes[-1] if suffixes else ""

    def open(self, compression: str | None = None) -> Any:
        """Open the file for reading bytes."""
        return self.fs.open(self.path, "rb", compression=compression)


def find_files(paths: Iterable[str]) -> list[File]:
    """Return the files that paths, folders, globs and URLs refer to.

    Raises
    ------
    InputFileError
        A path refers to no file, or cannot be looked up.
    """
    files: list[File] = []
    for path in paths:
        try:
            matches = _expand(path)
        except PermissionError as error:
            raise InputFileError(f"{path}: no permission to read it") from error
        except (ValueError, ImportError, OSError) as error:
            raise InputFileError(f"{path}: cannot be matches: {error}") from error
        if not matches:
            raise InputFileError(_missing(path))
        files += matches
    return files


def _expand(url: str) -> list[File]:
    fs, path = url_to_fs(url)
    # A name can contain a bracket or a star, so an existing path takes precedence over a glob.
    matches = [path] if fs.exists(path) else _matches(fs, path)
    files = []
    for match in matches:
        # Check for a file first, because the HTTP file system takes every page with links for a folder.
        files += [File(fs, match)] if fs.isfile(match) else _within(fs, match)
    # The pattern ** matches a folder, and the files in it too.
    return list(dict.fromkeys(files))


def _matches(fs: AbstractFileSystem, pattern: str) -> list[str]:
    """Return what a glob matches, without hidden files, unless it names them, as in a shell."""
    named = PurePosixPath(pattern).parts
    matches: list[str] = sorted(fs.glob(pattern))
    if any(part.startswith(".") and set(part) & set("*?[") for part in named):
        return matches
    # A hidden folder may be the scratch folder of a command that is running.
    return [
        match
        for match in matches
        if not any(p.startswith(".") for p in PurePosixPath(match).parts if p not in named)
    ]


def _within(fs: AbstractFileSystem, folder: str) -> list[File]:
    """Return the data files in a folder, without hidden files and markers such as _SUCCESS."""
    files = []
    for path in sorted(fs.find(folder)):
        inside = PurePosixPath(path).relative_to(PurePosixPath(folder))
        if not any(part.startswith((".", "_")) for part in inside.parts):
            files.append(File(fs, path))
    return [file for file in files if file.ending in KINDS] or files


def _missing(path: str) -> str:
    hint = ""
    if "://" not in path:
        folder, name = os.path.split(path)
        if os.path.isdir(folder or "."):
            hint = nearest(name, os.listdir(folder or "."))
    return f"{path}: there is no such file, and no folder or glob with files in it{hint}"


def kind_of(files: Iterable[File]) -> str:
    """Return "parquet" or "csv", from the files' names or otherwise their first bytes.

    Raises
    ------
    InputFileError
        The files have different formats.
    """
    example: dict[str, File] = {}
    for file in files:
        example.setdefault(KINDS.get(file.ending) or _sniff(file), file)
    if len(example) > 1:
        raise InputFileError(
            f"{example['parquet']} is Parquet and {example['csv']} is CSV; give files of one format, "
            "or set the format with --format"
        )
    return next(iter(example))


def _sniff(file: File) -> str:
    try:
        with file.open() as stream:
            return "parquet" if stream.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC else "csv"
    except OSError as error:
        raise InputFileError(f"{file}: cannot be read: {error}") from error
