"""The folder of a saved graph: how it is made, and what must be in it.

::

    graph.json               the manifest, written last; see :mod:`.manifest`
    edges-per-grain.arrow    number of edge ends of each grain of vertices, by which the graph can be cut
    vertices-0-8192.arrow    one file per range of vertices; see :mod:`.id_files`

A folder without a manifest is not a graph: something else wrote it, or saving was not
finished. The files of the ranges together have the vertices in the order of their numbers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from dask_graphflow.exceptions import InputFileError, OptionError, OutputError
from dask_graphflow.showing.tables import counted

from .manifest import MOST_BYTES, Manifest, StoredFile, parsed

MANIFEST = "graph.json"


@dataclass(frozen=True)
class Folder:
    """A folder in any file system of fsspec."""

    fs: Any  # fsspec.AbstractFileSystem
    path: str  # the path of the folder in this file system

    @classmethod
    def of(
        cls, path: Any, storage_options: Mapping[str, Any] | None, error: type[OSError]
    ) -> Folder:
        """Return the folder of a path or URL; raise `error` if it cannot be looked up."""
        if not isinstance(path, str | os.PathLike):
            raise OptionError(
                f"path={path!r}; a folder is given by its path or its URL. Give text or a pathlib.Path"
            )
        try:
            fs, there = fsspec.url_to_fs(path, **(storage_options or {}))
        except (ValueError, TypeError, ImportError, OSError) as problem:
            raise error(
                f"{path}: cannot be looked up: {problem}. Give a local path, or a URL and the "
                "storage_options of a file system that fsspec knows"
            ) from problem
        return cls(fs, there.rstrip("/"))

    @property
    def is_local(self) -> bool:
        """Whether its files can be mapped into memory."""
        return isinstance(self.fs, LocalFileSystem)

    @property
    def real_path(self) -> str:
        """The path, without symbolic links if it is local."""
        return os.path.realpath(self.path) if self.is_local else self.path

    def at(self, name: str) -> str:
        """Return the path of a file of the folder."""
        return f"{self.path}/{name}"

    def sizes(self) -> dict[str, int]:
        """Return the name and the size in bytes of each file or folder in it; none if it does not exist."""
        self.fs.invalidate_cache()
        try:
            found = self.fs.ls(self.path, detail=True)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        paths = {one["name"].rstrip("/"): one["size"] or 0 for one in found}
        paths.pop(self.path, None)  # some object stores list a folder in itself
        return {path.rpartition("/")[2]: size for path, size in paths.items()}


def make_folder(folder: Folder) -> None:
    """Make the folder in which a graph will be saved, or raise if it exists and is not empty."""
    have = folder.sizes()
    if have or folder.fs.isfile(folder.path):
        state = "is a file"
        if have:
            contents = "a saved graph" if MANIFEST in have else counted(len(have), "other file")
            state = f"contains {contents}"
        raise OutputError(
            f"{folder.path} {state}; a graph is saved in a folder that is empty or does not exist. Give "
            "another path, or delete the contents of this one first"
        )
    try:
        folder.fs.makedirs(folder.path, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{folder.path} cannot be made: {error}. A graph is saved in a folder that can be written to. "
            "Give another path, or the permission to write there"
        ) from error


def write_manifest(folder: Folder, manifest: Manifest) -> None:
    """Write the manifest of a folder whose files are all there. It appears as a whole or not at all."""
    check_files(folder, manifest, OutputError)
    partial = folder.at(f"{MANIFEST}.partial")
    try:
        with folder.fs.open(partial, "wb") as file:
            file.write(manifest.text().encode())
        folder.fs.mv(partial, folder.at(MANIFEST))
    except OSError as error:
        raise not_written(partial, error) from error


def not_written(path: str, error: OSError) -> OutputError:
    """Return the error for a file of a graph that cannot be written."""
    return OutputError(
        f"{path} cannot be written: {error}. A graph needs a folder with room for its files. Delete "
        "the folder, which is incomplete, and save the graph again where there is room"
    )


def read_manifest(folder: Folder) -> Manifest:
    """Return the manifest of a folder.

    Raises
    ------
    InputFileError
        The folder is not a graph, saving it was not finished, files of it are missing or damaged, or it
        was saved by a newer version.
    """
    path = folder.at(MANIFEST)
    try:
        have = folder.sizes()
        if MANIFEST not in have:
            raise InputFileError(_no_manifest(folder, have))
        text = folder.fs.cat_file(path) if have[MANIFEST] <= MOST_BYTES else b""
    except InputFileError:
        raise
    except OSError as error:
        raise unreadable(path, error) from error
    manifest = parsed(text, path, have)
    check_files(folder, manifest, InputFileError)
    return manifest


def unreadable(path: str, error: OSError) -> InputFileError:
    """Return the error for a file or folder of a graph that cannot be read."""
    return InputFileError(
        f"{path} cannot be read: {error}. A saved graph needs a folder that can be read. Correct its "
        "permissions, or give another path"
    )


def _no_manifest(folder: Folder, have: Mapping[str, int]) -> str:
    if not have:
        return (
            f"{folder.path} does not exist or is empty; load_graph reads folders that Graph.save wrote. "
            "Check the path"
        )
    if any(name.startswith("vertices-") and name.endswith(".arrow") for name in have):
        return (
            f"{folder.path} has no {MANIFEST}, because saving the graph was not finished; only a graph "
            "that was saved completely can be loaded. Delete the folder, and save the graph again"
        )
    return (
        f"{folder.path} has no {MANIFEST}, so it is not a saved graph; load_graph reads folders that "
        "Graph.save wrote. Give the path of such a folder, or build a Graph from the edges"
    )


def check_files(folder: Folder, manifest: Manifest, error: type[OSError]) -> None:
    """Raise unless the folder has all files of a graph, each with its size."""
    have = folder.sizes()
    lost = next((one.file for one in manifest.files if one.file not in have), None)
    if lost and error is OutputError:
        raise OutputError(
            f"{folder.path} lacks {lost}, which a worker wrote; this process and all workers must use "
            "the same file system. Delete the folder, and give a path on storage that all of them share"
        )
    if lost:
        raise InputFileError(
            f"{folder.path} lacks {lost}; a saved graph needs all files of its folder. Copy the whole "
            "folder again, or save the graph again"
        )
    for one in manifest.files:
        check_file(folder, one, have[one.file], error)


def check_file(
    folder: Folder, one: StoredFile, size: int | None, error: type[OSError] = InputFileError
) -> None:
    """Raise unless a file has its size; `size` is None if the file does not exist."""
    if size != one.size:
        state = "does not exist" if size is None else f"has {size:,} bytes"
        raise error(
            f"{folder.at(one.file)} {state}; it must have {one.size:,} bytes. Copy the folder again, or "
            "save the graph again in another folder"
        )
