"""The changes of saved graphs: from the batches of updates to frames that are written, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dask.dataframe as dd
import pandas as pd
from dask.delayed import delayed

from dask_graphflow.declarations.spec import GraphSpec
from dask_graphflow.graph.edgelist import EdgeColumns, vertex_names
from dask_graphflow.graph.frames import build
from dask_graphflow.kernels import kernels_for
from dask_graphflow.storage.folders import Folder
from dask_graphflow.storage.versions import PARTS, SavedVersion, read_part, remains
from dask_graphflow.tasks.clients import compute
from dask_graphflow.tasks.names import named
from dask_graphflow.tasks.partitions import partitions_of
from dask_graphflow.tasks.tokens import token_of

from .shards import Shards
from .updating import next_version, read_batch

WEIGHT = "weight"


def parts_of(
    spec: GraphSpec, batch: Mapping[str, tuple[Any, EdgeColumns]]
) -> dict[str, pd.DataFrame]:
    """Return what a batch inserts and deletes, and its vertices, as frames that can be written."""
    columns, parts = _columns(spec), dict[str, pd.DataFrame]()
    for name, (frame, read) in batch.items():
        partitions = compute(*partitions_of(frame))
        found = read_batch(partitions, read, spec.ids, spec.weight_dtype)
        part = name if name in PARTS else "vertices"
        sides = [found.sources] if part == "vertices" else [found.sources, found.targets]
        on_host = [kernels_for(side.frame).to_pandas(side.frame) for side in sides]
        values = [side[name] for side in on_host for name in side]
        made = dict(zip(columns[part], values, strict=False))
        if part == "insert" and found.weights is not None:
            made[WEIGHT] = found.weights
        rows = build(pd.DataFrame, made)
        parts[part] = pd.concat([parts[part], rows]) if part in parts else rows
    return parts


def changed(shards: Shards, folder: Folder, changes: Sequence[SavedVersion]) -> Shards:
    """Return the lazy shards of a saved graph after some changes, all in one update."""
    spec, batch = shards.spec, dict[str, tuple[Any, EdgeColumns]]()
    pairs = _like(spec, "delete")
    for part in PARTS:
        vertices_stay = part == "vertices" and _can_cancel(changes)
        if vertices_stay or any(part in change.files for change in changes):
            like, token = _like(spec, part), token_of(part, [change.token for change in changes])
            task = delayed(_read, pure=True)(
                folder, list(changes), part, like, pairs, spec.directed,
                dask_key_name=named("changes", token),
            )  # fmt: skip
            batch[part] = (
                dd.from_delayed([task], meta=like, verify_meta=False),
                _reading(spec, part),
            )
    made = next_version(shards, batch, skip_missing=True)
    made.version = changes[-1].token
    return made


def _columns(spec: GraphSpec) -> dict[str, list[str]]:
    """Return the names of the columns with ids of each kind of frame."""
    width = len(spec.columns.names)
    sources, targets, ids = (vertex_names(name, width) for name in ("source", "target", "vertex"))
    return {"insert": [*sources, *targets], "delete": [*sources, *targets], "vertices": [*ids]}


def _reading(spec: GraphSpec, part: str) -> EdgeColumns:
    own, names = spec.columns, _columns(spec)[part]
    sides = (
        (names, names)
        if part == "vertices"
        else (names[: len(names) // 2], names[len(names) // 2 :])
    )
    weighted = part == "insert" and spec.weighted
    return EdgeColumns(
        tuple(sides[0]), tuple(sides[1]), own.names, own.dtypes,
        weight=WEIGHT if weighted else None,
        weight_dtype=spec.weight_dtype if weighted else None,
        role=part,
    )  # fmt: skip


def _like(spec: GraphSpec, part: str) -> pd.DataFrame:
    """Return an empty frame with the columns and dtypes of one kind."""
    ids, names = kernels_for(spec.ids).to_pandas(spec.ids), _columns(spec)[part]
    made = dict(zip(names, [ids[name] for name in ids] * 2, strict=False))
    if part == "insert" and spec.weighted:
        made[WEIGHT] = pd.Series([], dtype=spec.weight_dtype)
    frame: pd.DataFrame = build(pd.DataFrame, made)
    return frame


def _can_cancel(changes: Sequence[SavedVersion]) -> bool:
    """Say whether a change may delete edges that an earlier one inserted."""
    inserts = [at for at, change in enumerate(changes) if "insert" in change.files]
    return bool(inserts) and any("delete" in one.files for one in changes[inserts[0] + 1 :])


def _read(
    folder: Folder,
    changes: Sequence[SavedVersion],
    part: str,
    like: pd.DataFrame,
    pairs: pd.DataFrame,
    directed: bool,
) -> pd.DataFrame:
    """Return the rows of one kind that several changes have together."""
    frame = read_part(folder, changes, part, like)
    if part != "delete" and _can_cancel(changes):
        inserted = frame if part == "insert" else read_part(folder, changes, "insert", pairs)
        deleted = read_part(folder, changes, "delete", pairs)
        half = len(pairs.columns) // 2
        ends = [*pairs.columns[:half]], [*pairs.columns[half:]]
        stays = remains(inserted, deleted, ends, directed=directed)
        if part == "insert":
            frame = frame[stays]
        else:  # the ends of edges that are gone are still vertices
            sides = (inserted.loc[~stays, side].set_axis(like.columns, axis=1) for side in ends)
            frame = pd.concat([frame, *sides])
    return frame[list(like)].reset_index(drop=True)
