"""The manifest of a saved graph: what its JSON contains, and the strict check of every entry.

The manifest is the first thing that is read from a folder, and everything else is checked against it. Its
own checksum shows whether it was changed. A changed manifest can also have a checksum that fits, so each
entry must have a value that a saved graph can have, and all entries must fit together.
"""

from __future__ import annotations

import json
import reprlib
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from typing import Any

import pandas as pd

from dask_graphflow.exceptions import InputFileError
from dask_graphflow.graph import partition
from dask_graphflow.graph.dtypes import kind, limits

from .checksums import BLOCK

FORMAT = "dask_graphflow graph"
VERSION = 2
UNSUMMED = 1  # the version without checksums
GRAINS = "edges-per-grain.arrow"
MOST_BYTES = 1 << 26  # of the JSON; more than the manifest of a graph of 10 TB takes
MOST = 1 << 62  # vertices, edges or bytes
MULTI = ("keep", "sum", "min", "first")
WEIGHTS = ("int32", "int64", "float32", "float64")
DEEPEST = 8  # column names that are tuples of tuples


@dataclass(frozen=True)
class StoredFile:
    """A file of a saved graph."""

    file: str  # its name in the folder
    size: int  # bytes of the file
    # The CRC-32 of each block of :data:`~.checksums.BLOCK` bytes; empty in version 1 of the format.
    checksums: list[int]


@dataclass(frozen=True)
class Range(StoredFile):
    """A range of vertices, and the file that stores their ids and edges."""

    # The number of its first vertex, and of the first vertex behind it.
    first: int
    stop: int


@dataclass(frozen=True)
class Manifest:
    """What is known about a saved graph without its edges."""

    version: int  # version of the format
    # A random name, by which graphs are told apart that were saved in one folder at different times. Each
    # file has it, too.
    token: str
    # The version of the graph that was saved; see :class:`.Shards`. A loaded graph has the same version. It
    # is the token if an earlier version of the library saved the graph.
    graph: str
    # See :class:`.GraphSpec`.
    directed: bool
    multi: str
    partitions: int
    # Number of vertices and edges of the graph; an undirected edge counts once.
    vertices: int
    edges: int
    # Number of vertex numbers. It exceeds `vertices` if there are numbers without a vertex.
    numbers: int
    # The id of the vertex with the number 0, if ids are integers close together: the id of vertex i is
    # ``first_id + i``. None if the files of the ranges contain the ids.
    first_id: int | None
    id_dtypes: list[str]  # pandas' name of the dtype of each part of an id
    weight_dtype: str | None  # NumPy's name of the dtype of the weights; None if edges have none
    # The names of the columns from which the graph was built.
    source: list[Any]
    target: list[Any]
    weight: Any  # the name of the column with the weights
    even_degrees: bool  # see :attr:`.build.Size.even`
    grain: int  # number of vertices of a grain. Ranges begin at multiples of it.
    grains: StoredFile  # the file with the number of edge ends of each grain
    ranges: list[Range]  # all ranges, in the order of the vertices

    @property
    def files(self) -> list[StoredFile]:
        """All files of the folder except the manifest."""
        return [*self.ranges, self.grains]

    @property
    def summed(self) -> bool:
        """Whether there are checksums, and each file has the token."""
        return self.version > UNSUMMED

    def text(self) -> str:
        """Return the manifest as indented JSON, with one line per range."""
        about = {"format": FORMAT, **asdict(self)}
        about["checksum"] = _checksum(about)
        ranges = ",\n    ".join(json.dumps(one) for one in about.pop("ranges"))
        head = json.dumps(about, indent=2)
        return head.removesuffix("\n}") + f',\n  "ranges": [\n    {ranges}\n  ]\n}}\n'


def _checksum(about: Mapping[str, Any]) -> int:
    """Return the CRC-32 of the entries of a manifest, however its JSON is indented."""
    entries = {name: value for name, value in about.items() if name != "checksum"}
    return zlib.crc32(json.dumps(entries, sort_keys=True).encode())


def parsed(text: bytes, path: str, sizes: Mapping[str, int]) -> Manifest:
    """Return the manifest in the JSON of a file, given the bytes of each file of the folder.

    It raises :class:`.InputFileError` if the text is not a manifest, was changed, or belongs to a newer
    version.
    """
    about = _json(text)
    if about.get("format") != FORMAT or type(version := about.get("version")) is not int:
        raise InputFileError(
            f"{path} is not the manifest of a graph; load_graph reads folders that Graph.save wrote. Give "
            "the path of such a folder, or build a Graph from the edges"
        )
    if version > VERSION:
        raise InputFileError(
            f"{path} has version {version} of the format of saved graphs; this version of "
            f"dask_graphflow reads versions up to {VERSION}. Install a newer dask_graphflow"
        )
    try:
        return _make_manifest(about, version, sizes)
    except (_Damaged, RecursionError) as error:
        raise InputFileError(
            f"{path} is damaged, or was changed after it was written: {error}. Restore the file, or save "
            "the graph again in another folder"
        ) from error


def _json(text: bytes) -> dict[str, Any]:
    """Return the JSON object in a text; an empty one if there is none."""
    try:
        about = json.loads(text)
    except (ValueError, RecursionError):
        about = None
    return about if isinstance(about, dict) else {}


class _Damaged(Exception):  # noqa: N818 - it never reaches a user
    """An entry does not have a value that a saved graph can have."""


def _make_manifest(about: dict[str, Any], version: int, sizes: Mapping[str, int]) -> Manifest:
    if version == UNSUMMED:
        about = _add_files(about, sizes)
    elif about.get("checksum") != _checksum(about):
        raise _Damaged(f"its checksum is {about.get('checksum')!r} instead of {_checksum(about)}")
    about = {"graph": about.get("token")} | about
    for name, (fits, allowed) in ENTRIES.items():
        if name not in about:
            raise _Damaged(f"it lacks {name!r}")
        if not fits(about[name]):
            raise _Damaged(f"{name} is {reprlib.repr(about[name])}; it must be {allowed}")
    entries = {field.name: about[field.name] for field in fields(Manifest)}
    entries["grains"] = StoredFile(**about["grains"])
    entries["ranges"] = [Range(**one) for one in about["ranges"]]
    manifest = Manifest(**entries)
    if manifest.grain != partition.GRAIN:
        raise _Damaged(
            f"it is cut at multiples of {manifest.grain:,} vertices; this version of dask_graphflow needs "
            f"multiples of {partition.GRAIN:,}"
        )
    for wrong in (_wrong_ranges(manifest), _wrong_sizes(manifest), _wrong_ids(manifest)):
        if wrong:
            raise _Damaged(wrong)
    return manifest


def _add_files(about: dict[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return the entries of a manifest without checksums as those of the current version."""
    ranges = about.get("ranges")
    if isinstance(ranges, list):
        ranges = [one | {"checksums": []} if isinstance(one, dict) else one for one in ranges]
    grains = {"file": GRAINS, "size": sizes.get(GRAINS, 0), "checksums": []}
    return about | {"ranges": ranges, "grains": grains}


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < MOST


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_name(value: Any, depth: int = 0) -> bool:
    """Say whether a value is the name of a column, as :func:`.saving.save` writes it."""
    if isinstance(value, list):
        return depth < DEEPEST and all(_is_name(part, depth + 1) for part in value)
    return isinstance(value, str | int | float | None)


def _are(fits: Callable[[Any], bool], *, least: int = 1) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and len(value) >= least and all(map(fits, value))


def _is_file(value: Any, kind: type = StoredFile) -> bool:
    numbers = {field.name for field in fields(kind)} - {"file", "checksums"}
    return (
        isinstance(value, dict)
        and value.keys() == {field.name for field in fields(kind)}
        and _is_text(value["file"])
        and all(_is_count(value[name]) for name in numbers)
        and _are(_is_count, least=0)(value["checksums"])
    )


COUNT = _is_count, "a whole number"
FLAG = _is_bool, "true or false"
NAMES = _are(_is_name), "a list of column names"
ENTRIES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "token": (_is_text, "text"),
    "graph": (_is_text, "text"),
    "directed": FLAG,
    "multi": (lambda value: value in MULTI, f"one of {', '.join(MULTI)}"),
    "partitions": COUNT,
    "vertices": COUNT,
    "edges": COUNT,
    "numbers": COUNT,
    "first_id": (
        lambda value: value is None or (type(value) is int and abs(value) < 1 << 64),
        "a whole number or null",
    ),
    "id_dtypes": (_are(_is_text), "a list of dtypes"),
    "weight_dtype": (
        lambda value: value is None or value in WEIGHTS,
        f"null or one of {', '.join(WEIGHTS)}",
    ),
    "source": NAMES,
    "target": NAMES,
    "weight": (_is_name, "the name of a column or null"),
    "even_degrees": FLAG,
    "grain": COUNT,
    "grains": (_is_file, "a file with its size and its checksums"),
    "ranges": (
        _are(lambda value: _is_file(value, Range)),
        "a list of files, each with its size, its checksums and its first and last vertex",
    ),
}


def _wrong_ranges(manifest: Manifest) -> str | None:
    """Say what is wrong with the list of ranges; None if nothing is."""
    ranges = manifest.ranges
    for one in ranges:
        if one.file != f"vertices-{one.first}-{one.stop}.arrow" or one.first > one.stop:
            return f"vertices {one.first} to {one.stop} cannot be in a file named {one.file!r}"
        if one.first % manifest.grain:
            return f"{one.file} begins at a vertex that is not a multiple of {manifest.grain}"
        if one.size < 8 * (one.stop - one.first):  # each vertex has an offset
            return f"{one.file} with {one.size:,} bytes is too small for its vertices"
    gap = next((two for one, two in pairwise(ranges) if one.stop != two.first), None)
    if gap is not None:
        return f"{gap.file} does not begin where the range before it ends"
    if ranges[0].first != 0 or ranges[-1].stop != manifest.numbers:
        return f"the ranges do not cover all of the {manifest.numbers:,} vertices"
    return None


def _wrong_sizes(manifest: Manifest) -> str | None:
    """Say which number or list of checksums does not fit the others; None if all do."""
    if manifest.grains.file != GRAINS:
        return f"the file of the grains is named {manifest.grains.file!r}"
    if manifest.vertices > manifest.numbers:
        return f"there are more vertices than the {manifest.numbers:,} numbers"
    if 4 * manifest.edges > sum(
        one.size for one in manifest.ranges
    ):  # an end takes 4 bytes or more
        return f"the files are too small for {manifest.edges:,} edges"
    for one in manifest.files:
        needed = -(-one.size // BLOCK) if manifest.summed else 0
        if len(one.checksums) != needed:
            return f"{one.file} has {len(one.checksums)} checksums instead of {needed}"
    return None


def _wrong_ids(manifest: Manifest) -> str | None:
    """Say how the entries about ids contradict each other; None if they do not."""
    width = len(manifest.id_dtypes)
    if {len(manifest.source), len(manifest.target)} != {width}:
        return f"source and target must name {width} columns, because ids have {width} parts"
    if manifest.first_id is None:
        return None
    try:
        dtype = pd.api.types.pandas_dtype(manifest.id_dtypes[0])
    except (TypeError, ValueError, LookupError, NotImplementedError):
        dtype = None
    if width != 1 or dtype is None or kind(dtype) != "integer":
        return f"ids with first_id are integers, and id_dtypes is {manifest.id_dtypes}"
    least, most = limits(dtype)
    last = manifest.first_id + max(manifest.numbers - 1, 0)
    if manifest.first_id < least or last > most:
        return f"{manifest.id_dtypes[0]} cannot hold ids from {manifest.first_id} to {last}"
    return None
