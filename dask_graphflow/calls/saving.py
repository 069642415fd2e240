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
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import empty_on, kernels_for, require_gpu
from dask_graphflow.storage import folders, id_files, saved_members
from dask_graphflow.storage.folders import Folder
from dask_graphflow.storage.manifest import VERSION, Manifest, StoredFile
from dask_graphflow.tasks import placement
from dask_graphflow.tasks.clients import check_waiting, compute
from dask_graphflow.tasks.names import named

from .shards import Shards


def save(shards: Shards, path: Any, storage_options: Mapping[str, Any] | None) -> None:
    """Save a graph; see :meth:`.Graph.save`."""
    if shards.plan.hybrid is not None:
        raise UsageError(
            "the graph was built with hybrid=, which divides it between the CPUs and GPUs of one cluster; "
            "only graphs without hybrid= can be saved. Build the graph without hybrid=, and save that one"
        )
    check_waiting("save", f"graph.save({path!r})")
    id_files.check_ids(shards.spec.ids)
    folder, token = Folder.of(path, storage_options, OutputError), uuid.uuid4().hex
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

    folder: Folder
    manifest: Manifest
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
        return shards

    def _bounds(self, count: int) -> list[int]:
        """Return where the shards begin, followed by where the last one ends."""
        ranges, numbers = self.manifest.ranges, self.manifest.numbers
        if count == len(ranges):  # each shard is one file
            return [*(one.first for one in ranges), numbers]
        grains = id_files.read_grains(self.folder, self.manifest)
        return partition.chunk_grains(grains, numbers, min(count, max(1, len(grains))))


def read(
    path: Any, storage_options: Mapping[str, Any] | None, backend: str | None, *, verify: bool
) -> SavedGraph:
    """Return the saved graph in a folder; see :func:`.load_graph`."""
    folder = Folder.of(path, storage_options, InputFileError)
    about = folders.read_manifest(folder)
    if verify:
        id_files.verify(folder, about, placement.resources())
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
    return SavedGraph(folder, about, spec)


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
    about = read(path, None, "pandas", verify=verify).manifest
    return {
        "vertices": about.vertices,
        "edges": about.edges,
        "directed": about.directed,
        "ids": ", ".join(about.id_dtypes),
        "weights": about.weight_dtype or "none",
        "files": len(about.files),
        "bytes": sum(one.size for one in about.files),
        "checksums": _say_verified(about, verify=verify),
    }


def _say_verified(about: Manifest, *, verify: bool) -> str:
    if not about.summed:
        return "none: an earlier version saved the graph"
    return "all bytes match" if verify else "not compared; --verify compares them"
