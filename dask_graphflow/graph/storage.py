"""The folder of a saved graph: its manifest, and the checks of both.

::

    graph.json               the manifest, written last
    edges-per-grain.arrow    number of edge ends of each grain of vertices, by which the graph can be cut
    vertices-0-8192.arrow    one file per range of vertices; see :mod:`.storage_files`

A folder without a manifest is not a graph: something else wrote it, or saving was not
finished. The files of the ranges together have the vertices in the order of their numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from dask_graphflow.exceptions import InputFileError, OutputError
from dask_graphflow.showing.tables import counted

from . import partition

MANIFEST = "graph.json"
GRAINS = "edges-per-grain.arrow"
FORMAT = "dask_graphflow graph"
VERSION = 1


@dataclass(frozen=True)
class Folder:
    """A folder in any file system of fsspec.

    Attributes
    ----------
    fs : fsspec.AbstractFileSystem
    path : str
        The path of the folder in this file system.
    """

    fs: Any
    path: str

    @classmethod
    def of(cls, path: Any, storage_options: Mapping[str, Any] | None) -> Folder:
        """Return the folder of a path or URL."""
        fs, there = fsspec.url_to_fs(path, **(storage_options or {}))
        return cls(fs, there.rstrip("/"))

    @property
    def is_local(self) -> bool:
        """Whether its files can be mapped into memory."""
        return isinstance(self.fs, LocalFileSystem)

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


@dataclass(frozen=True)
class Range:
    """A range of vertices, and the file that stores their ids and edges.

    Attributes
    ----------
    file : str
    size : int
        Bytes of the file.
    first, stop : int
        The number of its first vertex, and of the first vertex behind it.
    """

    file: str
    size: int
    first: int
    stop: int


@dataclass(frozen=True)
class Manifest:
    """What is known about a saved graph without its edges.

    Attributes
    ----------
    token : str
        A random name, by which Dask tells graphs apart that were saved in one folder at different times.
    directed, multi, partitions
        See :class:`.GraphSpec`.
    vertices, edges : int
        Number of vertices and edges of the graph; an undirected edge counts once.
    numbers : int
        Number of vertex numbers. It exceeds `vertices` if there are numbers without a vertex.
    first_id : int or None
        The id of the vertex with the number 0, if ids are integers close together: the id of vertex i is
        ``first_id + i``. None if the files of the ranges contain the ids.
    id_dtypes : list of str
        pandas' name of the dtype of each part of an id.
    weight_dtype : str or None
        NumPy's name of the dtype of the weights; None if edges have none.
    source, target : list
        The names of the columns from which the graph was built.
    weight : str or None
        The name of the column with the weights.
    even_degrees : bool
        See :attr:`.build.Size.even`.
    grain : int
        Number of vertices of a grain. Ranges begin at multiples of it.
    ranges : list of Range
        All ranges, in the order of the vertices.
    """

    token: str
    directed: bool
    multi: str
    partitions: int
    vertices: int
    edges: int
    numbers: int
    first_id: int | None
    id_dtypes: list[str]
    weight_dtype: str | None
    source: list[Any]
    target: list[Any]
    weight: Any
    even_degrees: bool
    grain: int
    ranges: list[Range]

    def text(self) -> str:
        """Return the manifest as indented JSON, with one line per range."""
        about = asdict(self)
        ranges = ",\n    ".join(json.dumps(one) for one in about.pop("ranges"))
        head = json.dumps({"format": FORMAT, "version": VERSION, **about}, indent=2)
        return head.removesuffix("\n}") + f',\n  "ranges": [\n    {ranges}\n  ]\n}}\n'


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
    check_files(folder, manifest.ranges, OutputError)
    partial = folder.at(f"{MANIFEST}.partial")
    with folder.fs.open(partial, "wb") as file:
        file.write(manifest.text().encode())
    folder.fs.mv(partial, folder.at(MANIFEST))


def read_manifest(folder: Folder) -> Manifest:
    """Return the manifest of a folder.

    Raises
    ------
    InputFileError
        The folder is not a graph, saving it was not finished, files of it are missing or damaged, or it
        was saved by a newer version.
    """
    have = folder.sizes()
    if MANIFEST not in have:
        raise InputFileError(_no_manifest(folder, have))
    try:
        about = json.loads(folder.fs.cat_file(folder.at(MANIFEST)))
        is_graph = about["format"] == FORMAT
        version, least = int(about["version"]), VERSION
    except (ValueError, TypeError, LookupError):
        is_graph = False
    if not is_graph:
        raise InputFileError(
            f"{folder.at(MANIFEST)} is not the manifest of a graph; load_graph reads folders that "
            "Graph.save wrote. Give the path of such a folder, or build a Graph from the edges"
        )
    if version > least:
        raise InputFileError(
            f"{folder.path} has version {version} of the format of saved graphs; this version of "
            f"dask_graphflow reads versions up to {VERSION}. Install a newer dask_graphflow"
        )
    try:
        about["ranges"] = [Range(**one) for one in about["ranges"]]
        manifest = Manifest(**{name: about[name] for name in Manifest.__dataclass_fields__})
    except (TypeError, KeyError) as error:
        raise InputFileError(
            f"{folder.at(MANIFEST)} was changed after it was written ({error}); all of its entries are "
            "needed. Restore the file, or save the graph again"
        ) from error
    if manifest.grain != partition.GRAIN:
        raise InputFileError(
            f"{folder.path} is cut at multiples of {manifest.grain:,} vertices; this version of "
            f"dask_graphflow needs multiples of {partition.GRAIN:,}. Save the graph again with this version"
        )
    check_files(folder, manifest.ranges, InputFileError)
    return manifest


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


def check_files(folder: Folder, ranges: Sequence[Range], error: type[OSError]) -> None:
    """Raise unless the folder has all files of a graph, each with its size."""
    have = folder.sizes()
    lost = [one.file for one in ranges if one.file not in have]
    lost += [GRAINS] if GRAINS not in have else []
    if lost and error is OutputError:
        raise OutputError(
            f"{folder.path} lacks {lost[0]}, which a worker wrote; this process and all workers must use "
            "the same file system. Delete the folder, and give a path on storage that all of them share"
        )
    if lost:
        raise InputFileError(
            f"{folder.path} lacks {lost[0]}; a saved graph needs all files of its folder. Copy the whole "
            "folder again, or save the graph again"
        )
    for one in ranges:
        check_file(folder, one, have[one.file], error)


def check_file(
    folder: Folder, one: Range, size: int | None, error: type[OSError] = InputFileError
) -> None:
    """Raise unless the file of a range has its size; `size` is None if the file does not exist."""
    if size != one.size:
        state = "does not exist" if size is None else f"has {size:,} bytes"
        raise error(
            f"{folder.at(one.file)} {state}; it must have {one.size:,} bytes. Copy the folder again, or "
            "save the graph again in another folder"
        )
