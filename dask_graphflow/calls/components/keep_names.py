"""Components that keep the names that they had in an earlier result."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from dask.delayed import delayed

from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.graph.frames import stack
from dask_graphflow.graph.renumber import distinct, number
from dask_graphflow.graph.vertex_ids import brought
from dask_graphflow.tasks.expr import collection
from dask_graphflow.tasks.partitions import partitions_of

Ids = list[pd.DataFrame]  # ids for each threshold


def keep_names(
    components: Any, seeds: Sequence[tuple[Any, EdgeColumns]], labels: list[list[str]]
) -> Any:
    """Return components in which each has the smallest of the names that its vertices have in a seed.

    A name is the id of one of the vertices that have it, so no other component gets it. `seeds` are the
    frames of :func:`.seed_frames`, and `labels` the columns of the components, both threshold by threshold.
    """
    seed, columns = seeds[0][0], tuple(one for _, one in seeds)
    vertex = list(columns[0].names)
    read = delayed(partial(_read_names, columns=columns), pure=True)
    find = delayed(partial(_find_names, vertex=vertex, labels=labels), pure=True)
    names = [read(part, i) for i, part in enumerate(partitions_of(seed))]
    named = [find(part, *names) for part in partitions_of(components)]
    chosen = delayed(_choose, pure=True)(*named)
    # As an expression of the components, whose plan can still be shown.
    renamed = components.map_partitions(
        _rename, chosen, vertex=vertex, labels=labels, meta=components._meta, enforce_metadata=False
    )
    return collection(renamed.expr)


def _read_names(seed: Any, partition: int, columns: Sequence[EdgeColumns]) -> Ids:
    """Return the names in a partition of a seed."""
    rows = brought(seed, pd.DataFrame())
    return [one.ends(rows, partition)[1].frame.drop_duplicates() for one in columns]


def _find_names(
    components: Any, *names: Ids, vertex: list[str], labels: list[list[str]]
) -> list[tuple[pd.DataFrame, pd.DataFrame]]:
    """Return the components of those vertices of a partition whose ids are names, and these ids."""
    rows = brought(components, pd.DataFrame()).reset_index(drop=True)
    found = []
    for own, every in zip(labels, zip(*names, strict=True), strict=True):
        (of_rows, *of_names), ids = distinct([rows[vertex], *every], threads=1)
        is_name = np.zeros(len(ids), bool)
        is_name[np.concatenate(of_names)] = True
        chosen = rows[is_name[of_rows]]
        found.append((chosen[own].set_axis(vertex, axis=1), chosen[vertex]))
    return found


def _choose(
    *found: list[tuple[pd.DataFrame, pd.DataFrame]],
) -> list[tuple[pd.DataFrame, pd.DataFrame]]:
    """Return the components that have names, and the smallest name of each."""
    chosen = []
    for parts in zip(*found, strict=True):
        components, names = (stack(side) for side in zip(*parts, strict=True))
        ids, (at, name) = number([components, names], threads=1)
        smallest = np.full(len(ids), len(ids))
        np.minimum.at(smallest, at, name)
        named = np.flatnonzero(smallest < len(ids))
        chosen.append((ids.iloc[named], ids.iloc[smallest[named]]))
    return chosen


def _rename(
    components: Any,
    chosen: list[tuple[pd.DataFrame, pd.DataFrame]],
    vertex: list[str],
    labels: list[list[str]],
) -> Any:
    """Return a partition with the chosen names."""
    rows = brought(components, pd.DataFrame()).reset_index(drop=True)
    for own, (named, names) in zip(labels, chosen, strict=True):
        old = rows[own].set_axis(vertex, axis=1)
        (at, of_named), ids = distinct([old, named], threads=1)
        row = np.full(len(ids), -1)
        row[of_named] = np.arange(len(named))
        new = stack([names, old]).iloc[
            np.where(row[at] < 0, len(names) + np.arange(len(old)), row[at])
        ]
        for column, part in zip(own, vertex, strict=True):
            rows[column] = new[part].array
    return brought(rows, components)
