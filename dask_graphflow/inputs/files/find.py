"""Files on any file system: finding them, and their format, size and compression."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from glob import has_magic
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
from fsspec import AbstractFileSystem
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from dask_graphflow.exceptions import InputFileError
from dask_graphflow.showing.suggestions import nearest

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
EXTENSIONS = {
    "parquet": (".parquet", ".parq", ".pq"),
    "csv": (".csv", ".tsv", ".tab"),
    "text": (".txt", ".el", ".wel", ".edges", ".edgelist", ".e", ".v"),
    "mtx": (".mtx",),
    "jsonl": (".jsonl", ".ndjson"),
}
FORMAT_OF = {extension: name for name, listed in EXTENSIONS.items() for extension in listed}


@dataclass(frozen=True)
class File:
    """A file on any file system."""

    fs: AbstractFileSystem
    path: str
    version: str  # changes when the file changes
    size: int | None  # number of bytes; None if the file system does not say

    def __str__(self) -> str:
        local = isinstance(self.fs, LocalFileSystem)
        return self.path if local else str(self.fs.unstrip_protocol(self.path))

    @property
    def compression(self) -> str | None:
        """The compression, by the name of the file."""
        return COMPRESSIONS.get(PurePosixPath(self.path.lower()).suffix)

    @property
    def extension(self) -> str:
        """The extension that shows the format, in lower case."""
        path = PurePosixPath(self.path.lower())
        return path.with_suffix("").suffix if self.compression else path.suffix

    def open(self) -> Any:
        """Open the file for reading bytes, decompressed."""
        raw = self.fs.open(self.path, "rb")
        if self.compression is None:
            return raw
        return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), self.compression)


def find_files(paths: Iterable[str], options: Mapping[str, Any] | None = None) -> list[File]:
    """Return the files that paths, folders, globs and URLs refer to, in order.

    The options are those of the file system. It raises :class:`.InputFileError` if a path refers to no
    file, or cannot be looked up.
    """
    files: list[File] = []
    for path in paths:
        try:
            fs, stripped = url_to_fs(path, **(options or {}))
            found = _expand(fs, stripped)
            files += [File(fs, one, fs.ukey(one), fs.info(one).get("size")) for one in found]
        except (ValueError, ImportError, OSError) as error:
            raise InputFileError(
                f"{path}: cannot be looked up: {error}. Correct the path, or its permissions"
            ) from error
        if not found:
            raise InputFileError(
                f"{path}: there is no such file, and no folder or glob with files in it. Correct the path"
                f"{_similar(path)}"
            )
    return files


def format_of(files: Sequence[File]) -> str:
    """Return the format that the extensions of some files show, or raise if it is not clear."""
    example: dict[str, File] = {}
    for file in files:
        if file.extension not in FORMAT_OF:
            raise InputFileError(
                f"{file}: its extension {file.extension!r} does not show its format; known are "
                f"{', '.join(FORMAT_OF)}, also followed by {', '.join(COMPRESSIONS)}. Rename the file, or "
                "set format="
            )
        example.setdefault(FORMAT_OF[file.extension], file)
    if len(example) > 1:
        both = " and ".join(f"{file} is {name}" for name, file in list(example.items())[:2])
        raise InputFileError(
            f"{both}; all files of one call must have the same format. Set it with format="
        )
    return next(iter(example))


def _expand(fs: AbstractFileSystem, path: str) -> list[str]:
    """Return the files that a path stands for. A name that exists takes precedence over a glob."""
    # HTTP takes every page with links for a folder, so look for a file first.
    if fs.isfile(path):
        return [path]
    if fs.isdir(path):
        return _visible(fs.find(path), path)
    files: list[str] = []
    for match in _visible(fs.glob(path), path):
        files += [match] if fs.isfile(match) else _visible(fs.find(match), match)
    return list(dict.fromkeys(files))  # ** matches a folder, and the files in it too


def _visible(paths: Iterable[str], named: str) -> list[str]:
    """Return paths in order, without those with a hidden part, or a marker such as _SUCCESS.

    Parts of the path that the caller `named` are never hidden.
    """
    parts = PurePosixPath(named).parts
    known = list(itertools.takewhile(lambda part: not has_magic(part), parts))
    asked = [part for part in parts[len(known) :] if _is_hidden(part)]

    def is_visible(path: str) -> bool:
        found = PurePosixPath(path).parts[len(known) :]
        return not any(
            _is_hidden(part) and not any(fnmatch(part, one) for one in asked) for part in found
        )

    return sorted(filter(is_visible, paths))


def _is_hidden(part: str) -> bool:
    return part.startswith((".", "_"))


def _similar(path: str) -> str:
    folder, name = os.path.split(path)
    local = "://" not in path and os.path.isdir(folder or ".")
    return nearest(name, os.listdir(folder or ".")) if local else ""
