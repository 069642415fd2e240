"""Saving the shards of a graph in a folder, and loading them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import dask
import numpy as np
import pandas as pd
from dask.base import tokenize
from dask.delayed import delayed

from dask_graphflow.declarations.spec import GraphSpec
from dask_graphflow.exceptions import InputFileError, OutputError, UsageError
from dask_graphflow.graph import hubs, partition
from dask_graphflow.graph.build import Size
from dask_graphflow.graph.dtypes import empty
from dask_graphflow.graph.edgelist import EdgeColumns, vertex_names
from dask_graphflow.graph.numbering import num_edges, num_vertices
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import empty_on, kernels_for, require_gpu
from dask_graphflow.showing.tables import counted
from dask_graphflow.storage import folders, id_files, saved_members
from dask_graphflow.storage.folders import Folder
from dask_graphflow.storage.manifest import VERSION, Manifest, StoredFile
from dask_graphflow.storage.versions import (
    History,
    SavedVersion,
    read_history,
    write_version,
)
from dask_graphflow.storage.versions import verify as verify_changes
from dask_graphflow.tasks import placement
from dask_graphflow.tasks.clients import check_waiting, compute
from dask_graphflow.tasks.names import named

from . import saved_changes
from .shards import Saved, Shards

# The fraction of the edges that may be changes. With more, loading takes as long as writing a whole graph.
COMPACT = 0.1


def save(shards: Shards, path: Any, storage_options: Mapping[str, Any] | None) -> None:
    """Save a graph in an empty folder; see :meth:`.Graph.save`."""
    check(shards, path)
    folder = Folder.of(path, storage_options, OutputError)
    write_whole(shards, folder)
    shards.saved = Saved(folder, shards.version)


def append(shards: Shards, path: Any, storage_options: Mapping[str, Any] | None) -> None:
    """Save the updates of a saved graph as further versions; see :meth:`.Graph.save`."""
    check(shards, path)
    folder, saved = Folder.of(path, storage_options, OutputError), shards.saved
    if saved is None or saved.folder.real_path != folder.real_path:
        raise UsageError(
            "append=True adds versions to a saved graph, and this graph was not made from the one in "
            f"{folder.path}. Load that graph, update it, and save the result; or save this graph in an "
            "empty folder without append"
        )
    history = read_history(folder)
    tokens = [saved.version, *(version for version, _ in saved.updates)]
    if history.token not in tokens:
        raise OutputError(
            f"the newest version of {folder.path} is {history.newest}, and this graph was made from an "
            "earlier one. Load the graph again, update it again, and save that"
        )
    number, base, new = history.newest, history.token, saved.updates[tokens.index(history.token) :]
    if not new:
        return
    # Computing these raises what is wrong with the updates, before they are saved.
    sizes = shards.size("vertices", num_vertices), shards.size("edges", num_edges)
    for token, batch in new:
        number += 1
        about = token, base, sizes if token == shards.version else None
        write_version(folder, number, *about, saved_changes.parts_of(shards.spec, batch))
        base = token
    shards.saved = Saved(folder, shards.version)
    history = read_history(folder)
    if sum(one.changed for one in history.way_to(number)[1]) > COMPACT * sizes[1]:
        try:
            write_whole(shards, history.empty_folder(number))
        except OSError as error:
            raise OutputError(
                f"version {number} of {folder.path} was saved, and can be loaded. Its changes are many, so "
                f"it should also be stored as a whole, which failed: {error.__cause__ or error}. Make "
                "room: the next version will be stored as a whole, and gf.vacuum deletes unfinished files"
            ) from error


def check(shards: Shards, path: Any) -> None:
    """Raise unless a graph can be saved."""
    if shards.plan.hybrid is not None:
        raise UsageError(
            "the graph was built with hybrid=, which divides it between the CPUs and GPUs of one cluster; "
            "only graphs without hybrid= can be saved. Build the graph without hybrid=, and save that one"
        )
    check_waiting("save", f"graph.save({path!r})")
    id_files.check_ids(shards.spec.ids)


def write_whole(shards: Shards, folder: Folder) -> None:
    """Write all files of a graph into an empty folder."""
    token = uuid.uuid4().hex
    folders.make_folder(folder)
    write = partial(saved_members.save, folder=folder, token=token)
    parts = shards.run(write, None, name="save")
    saved = [part for part in compute(*parts) if part is not None]
    grains = np.concatenate([part.grains for part in saved])
    stored = id_files.write_grains(folder, token, grains)
    folders.write_manifest(folder, _manifest(shards, token, saved, stored))


def _manifest(
    shards: Shards, token: str, saved: list[saved_members.Saved], grains: StoredFile
) -> Manifest:
    spec, one = shards.spec, saved[0]
    columns = spec.columns
    sample = np.concatenate([part.sample for part in saved])
    return Manifest(
        version=VERSION,
        token=token,
        graph=shards.version,
        directed=spec.directed,
        multi=spec.multi,
        partitions=spec.partitions,
        vertices=one.vertices,
        edges=one.edges,
        numbers=one.numbers,
        first_id=one.first_id,
        id_dtypes=id_files.dtype_names(spec.ids),
        weight_dtype=one.weight_dtype,
        source=[_spell_name(name) for name in columns.source],
        target=[_spell_name(name) for name in columns.target],
        weight=_spell_name(columns.weight),
        even_degrees=bool(hubs.is_even(sample, one.numbers)),
        grain=partition.GRAIN,
        grains=grains,
        ranges=[one for part in saved for one in part.ranges],
    )


def _spell_name(name: Any) -> Any:
    """Return a column's name as JSON can have it; names of other types as text."""
    if isinstance(name, tuple):
        return [_spell_name(part) for part in name]
    return name if isinstance(name, str | int | float | None) else str(name)


def _read_name(name: Any) -> Any:
    return tuple(_read_name(part) for part in name) if isinstance(name, list) else name


@dataclass(frozen=True)
class SavedGraph:
    """A saved graph, before its shards are loaded."""

    folder: Folder  # of the version that is there as a whole
    manifest: Manifest
    history: History
    changes: list[SavedVersion]  # from that version to the one that was asked for
    spec: GraphSpec  # its ids are in the memory in which the shards will be

    @property
    def size(self) -> Size:
        """The size of the graph, by which the number of shards is chosen."""
        about, spec = self.manifest, self.spec
        weight_bytes = spec.weight_dtype.itemsize if spec.weighted else 0
        return Size(
            about.numbers,
            about.edges,
            spec.directed,
            weight_bytes,
            spec.on_device,
            about.even_degrees,
        )

    def shards(self, count: int, reason: str | None) -> Shards:
        """Return the lazy shards of the graph, `count` of them, and the reason for this number."""
        bounds = self._bounds(count)
        load: Callable[..., Any] = partial(
            _load,
            folder=self.folder,
            manifest=self.manifest,
            bounds=bounds,
            like=self.spec.ids,
        )
        token = tokenize(self.folder, self.manifest.text(), bounds, self.spec.on_device)
        task = delayed(load, pure=True)
        built = [
            task(i, dask_key_name=named("load", f"{token}-{i}")) for i in range(len(bounds) - 1)
        ]
        sizes = {"vertices": self.manifest.vertices, "edges": self.manifest.edges}
        on_disk = self.folder.is_local and not self.spec.on_device
        version = self.manifest.graph
        shards = Shards.loaded(self.spec, built, sizes, self.folder.path, on_disk, version)
        shards.reason = reason
        return self._changed(shards)

    def _changed(self, shards: Shards) -> Shards:
        """Return the shards of the version that was asked for."""
        folder, changes = self.history.folder, self.changes
        for some in (changes[:-1], changes[-1:]):  # all others in one update
            if some:
                shards = saved_changes.changed(shards, folder, some)
        if changes and changes[-1].sizes is not None:
            shards.sizes = dict(zip(("vertices", "edges"), changes[-1].sizes, strict=True))
        shards.saved = Saved(folder, shards.version)
        return shards

    def _bounds(self, count: int) -> list[int]:
        """Return where the shards begin, followed by where the last one ends."""
        ranges, numbers = self.manifest.ranges, self.manifest.numbers
        if count == len(ranges):  # each shard is one file
            return [*(one.first for one in ranges), numbers]
        grains = id_files.read_grains(self.folder, self.manifest)
        return partition.chunk_grains(grains, numbers, min(count, max(1, len(grains))))


def read(
    path: Any,
    storage_options: Mapping[str, Any] | None,
    backend: str | None,
    *,
    version: int | None = None,
    verify: bool,
) -> SavedGraph:
    """Return the saved graph in a folder; see :func:`.load_graph`."""
    history = read_history(Folder.of(path, storage_options, InputFileError))
    whole, changes = history.way_to(version)
    folder, about = history.whole_folder(whole), history.manifest(whole)
    if verify:
        id_files.verify(folder, about, placement.resources())
        verify_changes(history.folder, changes)
    dtypes = id_files.id_dtypes(folder, about)
    names = vertex_names("vertex", len(dtypes))
    ids = pd.DataFrame({name: empty(dtype) for name, dtype in zip(names, dtypes, strict=True)})
    if (backend or dask.config.get("dataframe.backend", "pandas")) == "cudf":
        require_gpu()
        ids = kernels_for(empty_on(True)).from_pandas(ids)
    weight = None if about.weight_dtype is None else np.dtype(about.weight_dtype)
    columns = EdgeColumns(
        tuple(map(_read_name, about.source)),
        tuple(map(_read_name, about.target)),
        tuple(names),
        tuple(ids.dtypes),
        weight=_read_name(about.weight),
        weight_dtype=weight,
    )
    spec = GraphSpec(columns, about.partitions, ids, weight, about.directed, about.multi)
    return SavedGraph(folder, about, history, changes, spec)


def _load(rank: int, bounds: Sequence[int], **about: Any) -> Shard:
    """Return a shard of a saved graph; see :func:`.saved_members.load`."""
    own = placement.resources(len(bounds) - 1)
    return saved_members.load(rank, bounds=bounds, **about, own=own)


def is_saved(path: str) -> bool:
    """Say whether a path is the folder of a saved graph."""
    folder = Folder.of(path, None, InputFileError)
    return bool(folder.fs.isfile(folder.at(folders.MANIFEST)))


def describe_saved(path: str, *, verify: bool) -> dict[str, Any]:
    """Return what the manifest of a saved graph says. With `verify`, check all files."""
    saved = read(path, None, "pandas", verify=verify)
    about, history = saved.manifest, saved.history
    told: dict[str, Any] = {
        "vertices": about.vertices,
        "edges": about.edges,
        "directed": about.directed,
        "ids": ", ".join(about.id_dtypes),
        "weights": about.weight_dtype or "none",
        "files": len(about.files),
        "bytes": sum(one.size for one in about.files),
        "checksums": _say_verified(about, verify=verify),
    }
    if saved.changes:  # the manifest is that of an earlier version
        sizes = saved.changes[-1].sizes or ("not counted", "not counted")
        told |= dict(zip(("vertices", "edges"), sizes, strict=True))
    if history.newest:
        told |= {f"version {number}": "stored as a whole" for number in history.whole}
    for one in history.changes:
        counts = f"{counted(one.inserted, 'edge')} inserted, {one.deleted:,} deleted"
        whole = ", stored as a whole" * (one.number in history.whole)
        told[f"version {one.number}"] = f"{one.date}, {counts}{whole}"
    return told


def _say_verified(about: Manifest, *, verify: bool) -> str:
    if not about.summed:
        return "none: an earlier version saved the graph"
    return "all bytes match" if verify else "not compared; --verify compares them"
