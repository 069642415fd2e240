"""The versions of a saved graph: changes beside the files of a whole graph, which never change.

::

    graph.json                       version 0, and its files; see :mod:`.folders`
    changes-1-0a1b2c3d-insert.parquet
    changes-1-0a1b2c3d-delete.parquet
    changes-1.json                   version 1 is there once this file is; it names the files of its changes
    ...
    base-7/                          version 7 as a whole: a saved graph by itself

A version is made from the newest whole graph before it and the changes since. No file that a reader can
have opened is written again. A writer that ends early leaves files that no ``changes-*.json`` names, and
of two writers of the same version, the second gets an error, because the name of that file is given only
once.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import os
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dask_graphflow.exceptions import InputFileError, OutputError

from .checksums import Summed, first_wrong
from .folders import MANIFEST, Folder, read_manifest, unreadable
from .manifest import Manifest, StoredFile, checksum_of, is_file
from .stored_range import damaged, read

FORMAT = "dask_graphflow changes"
VERSION = 1
CHANGES = re.compile(r"changes-([1-9][0-9]{0,8})\.json")
BASE = re.compile(r"base-([1-9][0-9]{0,8})")
PARTS = "insert", "delete", "vertices"
MOST_BYTES = 1 << 20  # of the JSON of a version


@dataclass(frozen=True)
class SavedVersion:
    """What is known about a version of a saved graph without its changes."""

    number: int
    token: str  # the token of the version; see :class:`.Shards`
    base: str  # the token of the version before it
    date: str  # when it was saved: ISO 8601, UTC
    inserted: int  # number of new edges
    deleted: int  # number of edges to delete
    # Number of vertices and edges of the graph; None if they were not counted, because the next version was
    # saved together with this one.
    sizes: list[int] | None
    # The files of the new edges, of those to delete, and of new vertices, by the names in `PARTS`.
    files: dict[str, StoredFile]

    @property
    def changed(self) -> int:
        """Number of edges of the change."""
        return self.inserted + self.deleted


@dataclass(frozen=True)
class History:
    """The versions in a folder, from those that can be loaded first."""

    folder: Folder
    whole: list[int]  # the versions that are there as a whole, ascending
    changes: list[SavedVersion]  # in order; each follows the one before
    sizes: Mapping[str, int]  # of the files in the folder

    @property
    def newest(self) -> int:
        """The number of the newest version."""
        return max([*self.whole[-1:], *(one.number for one in self.changes[-1:])])

    @property
    def token(self) -> str:
        """The token of the newest version."""
        return self.changes[-1].token if self.changes else self.manifest(self.newest).graph

    def manifest(self, number: int) -> Manifest:
        """Return the manifest of a version that is there as a whole."""
        return read_manifest(self.whole_folder(number))

    def whole_folder(self, number: int) -> Folder:
        """Return the folder of a version that is there as a whole."""
        folder = self.folder
        return folder if number == 0 else Folder(folder.fs, folder.at(f"base-{number}"))

    def empty_folder(self, number: int) -> Folder:
        """Return the folder in which a version can be stored as a whole.

        A writer that ended early may have left files there. No other one writes this version.
        """
        folder = self.whole_folder(number)
        if folder.sizes():
            folder.fs.rm(folder.path, recursive=True)
        return folder

    def way_to(self, number: int | None) -> tuple[int, list[SavedVersion]]:
        """Return a version that is there as a whole, and the changes from it to another one.

        If possible, the last change is among them, so that the graph knows how it differs from the version
        before. Raise if the version is not there.
        """
        number = self.newest if number is None else number
        found = self._way_to(number)
        if found is None:
            there = [one for one in range(self.newest + 1) if self._way_to(one)]
            raise InputFileError(
                f"{self.folder.path} has no version {number}; those that can be loaded: "
                f"{', '.join(map(str, there))}. Give one of these, or omit version for the newest"
            )
        # Only now, because a damaged version does not harm the ones before it.
        for one in (one for change in found[1] for one in change.files.values()):
            if self.sizes.get(one.file) != one.size:
                raise damaged(self.folder.at(one.file), f"it must have {one.size:,} bytes")
        return found

    def _way_to(self, number: int) -> tuple[int, list[SavedVersion]] | None:
        by_number = {one.number: one for one in self.changes}
        for whole in [*(one for one in reversed(self.whole) if one < number), number]:
            wanted = range(whole + 1, number + 1)
            if whole in self.whole and all(one in by_number for one in wanted):
                return whole, [by_number[one] for one in wanted]
        return None


def read_history(folder: Folder) -> History:
    """Return the versions in the folder of a saved graph, which are checked; their changes are not read."""
    try:
        have = folder.sizes()
    except OSError as error:
        raise unreadable(folder.path, error) from error
    if MANIFEST not in have:
        read_manifest(folder)  # raises, and says why
    numbers = sorted(int(found[1]) for name in have if (found := CHANGES.fullmatch(name)))
    changes = [_read_version(folder, number, have) for number in numbers]
    for before, after in pairwise(changes):
        if after.number != before.number + 1 or after.base != before.token:
            raise damaged(
                folder.at(f"changes-{after.number}.json"), "it does not follow the one before"
            )
    bases = sorted(int(found[1]) for name in have if (found := BASE.fullmatch(name)))
    fs = folder.fs
    whole = [number for number in bases if fs.isfile(folder.at(f"base-{number}/{MANIFEST}"))]
    # Without its files, version 0 was deleted; if nothing else is there, they were lost.
    if any(name.startswith("vertices-") for name in have) or not whole:
        whole.insert(0, 0)
    return History(folder, whole, changes, have)


def _read_version(folder: Folder, number: int, have: Mapping[str, int]) -> SavedVersion:
    name = f"changes-{number}.json"
    path = folder.at(name)
    try:
        text = folder.fs.cat_file(path) if have[name] <= MOST_BYTES else b""
        about = json.loads(text)
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, RecursionError):
        about = None
    names = {field.name for field in fields(SavedVersion)}
    if not isinstance(about, dict) or about.pop("format", None) != FORMAT:
        raise damaged(path, "it does not describe changes of a graph")
    if (version := about.pop("version", None)) != VERSION:
        raise InputFileError(
            f"{path} has version {version} of the format of changes; this version of dask_graphflow reads "
            f"version {VERSION}. Install a newer dask_graphflow"
        )
    if about.pop("checksum", None) != checksum_of(about):
        raise damaged(path, "its checksum is wrong")
    right = about.keys() == names and isinstance(about["files"], dict) and about["number"] == number
    if not right or not all(name in PARTS and is_file(one) for name, one in about["files"].items()):
        raise damaged(path, "its entries are not those of a version")
    files = {name: StoredFile(**one) for name, one in about["files"].items()}
    return SavedVersion(**about | {"files": files})


def write_version(
    folder: Folder,
    number: int,
    token: str,
    base: str,
    sizes: Sequence[int] | None,
    parts: Mapping[str, pd.DataFrame],
) -> None:
    """Write the changes of a version, and then the file that makes it a version.

    Raises
    ------
    OutputError
        A file cannot be written, or another process has written this version meanwhile.
    """
    mark = uuid.uuid4().hex[:8]
    files = {
        name: _write_frame(folder, f"changes-{number}-{mark}-{name}.parquet", frame)
        for name, frame in parts.items()
        if len(frame)
    }
    rows = {name: len(frame) for name, frame in parts.items()}
    date = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    counts = rows.get("insert", 0), rows.get("delete", 0)
    kept = None if sizes is None else [*sizes]
    version = SavedVersion(number, token, base, date, *counts, kept, files)
    about = asdict(version)
    text = {"format": FORMAT, "version": VERSION, **about, "checksum": checksum_of(about)}
    _write_once(folder, f"changes-{number}.json", mark, json.dumps(text, indent=2).encode(), number)


def _write_frame(folder: Folder, name: str, frame: pd.DataFrame) -> StoredFile:
    held = io.BytesIO()
    frame.to_parquet(held, index=False)
    path = folder.at(name)
    try:
        with folder.fs.open(path, "wb") as file:
            into = Summed(file.write)
            into.write(held.getbuffer())
            if folder.is_local:  # on the disk before the file that names it
                file.flush()
                os.fsync(file.fileno())
        return StoredFile(name, int(folder.fs.size(path)), into.checksums)
    except OSError as error:
        raise _not_added(path, error) from error


def _write_once(folder: Folder, name: str, mark: str, text: bytes, number: int) -> None:
    """Write a file whole, unless it exists."""
    path, partial = folder.at(name), folder.at(f"{name}.{mark}.partial")
    try:
        if not folder.is_local:
            with folder.fs.open(path, "xb") as file:
                file.write(text)
            return
        with open(partial, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(partial, path)
        finally:
            os.unlink(partial)
    except FileExistsError:
        raise OutputError(
            f"another process has written version {number} of {folder.path} meanwhile. Load the graph "
            "again, update it again, and save that"
        ) from None
    except (OSError, ValueError, NotImplementedError) as error:
        raise _not_added(path, error) from error


def _not_added(path: str, error: Exception) -> OutputError:
    return OutputError(
        f"{path} cannot be written: {error}. A version needs a folder that can be written to, with room "
        "for its changes and, if it is local, hard links. The earlier versions are as they were: correct "
        "this, and save the graph again; or save it in an empty folder without append"
    )


def read_part(
    folder: Folder, changes: Sequence[SavedVersion], name: str, like: pd.DataFrame
) -> pd.DataFrame:
    """Return the rows of one kind of several changes, and the number of the version of each.

    The columns are those of `like`, with its dtypes.
    """
    frames = []
    for change in changes:
        if name not in change.files:
            continue
        memory = _checked(folder, change.files[name])
        table = pq.read_table(pa.BufferReader(pa.py_buffer(memory)), columns=list(like))
        columns = {name: _series(table[name], dtype) for name, dtype in like.dtypes.items()}
        frames.append(pd.DataFrame(columns | {NUMBER: change.number}))
    if not frames:
        return like.assign(**{NUMBER: 0})
    return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)


def verify(folder: Folder, changes: Sequence[SavedVersion]) -> None:
    """Check every byte of the files of some changes."""
    for one in (one for change in changes for one in change.files.values()):
        _checked(folder, one)


def _checked(folder: Folder, one: StoredFile) -> np.ndarray:
    """Read a file, and raise unless its bytes are those that were written."""
    memory = read(folder, one)
    if first_wrong(memory, one.checksums, [(0, one.size)], 1) is not None:
        raise damaged(folder.at(one.file), "its bytes do not have their checksums")
    return memory


def _series(column: pa.ChunkedArray, dtype: Any) -> pd.Series:
    if hasattr(dtype, "__from_arrow__"):
        return pd.Series(dtype.__from_arrow__(column))
    return column.to_pandas().astype(dtype)  # type: ignore[no-any-return]


NUMBER = "version"  # the column with the number of a version


def remains(
    inserted: pd.DataFrame,
    deleted: pd.DataFrame,
    ends: tuple[list[str], list[str]],
    *,
    directed: bool,
) -> np.ndarray:
    """Return an array of bool: whether no later version deletes each of the inserted edges."""
    (sources, targets), both = ends, [*ends[0], *ends[1]]
    if not directed:
        turned = deleted.rename(columns=dict(zip(both, [*targets, *sources], strict=True)))
        deleted = pd.concat([deleted, turned[deleted.columns]], ignore_index=True)
    last = (
        deleted.groupby(both, sort=False, observed=True)[NUMBER].max().rename("last").reset_index()
    )
    found = inserted.merge(last, on=both, how="left")["last"]
    # A version deletes first, and then inserts.
    stays: np.ndarray = ~(found.to_numpy() > inserted[NUMBER].to_numpy())
    return stays


def delete_unneeded(folder: Folder, keep: int) -> list[str]:
    """Delete what the newest `keep` versions do not need; return the names of what was deleted."""
    history = read_history(folder)
    oldest = max(history.newest - keep + 1, min([*history.whole, history.newest]))
    whole, _ = history.way_to(oldest)
    named = {one.file for change in history.changes for one in change.files.values()}
    gone = []
    for name in history.sizes:
        change, base = CHANGES.fullmatch(name), BASE.fullmatch(name)
        of_version = re.match(r"changes-([0-9]+)-", name)
        if change:
            unneeded = int(change[1]) <= whole
        elif base:
            unneeded = int(base[1]) not in history.whole or int(base[1]) < whole
        elif of_version:
            unneeded = name not in named or int(of_version[1]) <= whole
        else:
            whole_file = name.startswith(("vertices-", "edges-per-grain"))
            unneeded = name.endswith(".partial") or (whole > 0 and whole_file)
        if unneeded:
            gone.append(name)
    # What names other files goes first, so that a reader never finds a name without its file.
    for name in sorted(gone, key=lambda name: not name.endswith(".json")):
        try:
            folder.fs.rm(folder.at(name), recursive=BASE.fullmatch(name) is not None)
        except OSError as error:
            raise OutputError(
                f"{folder.at(name)} cannot be deleted: {error}. Give the permission to write there"
            ) from error
    return sorted(gone)
