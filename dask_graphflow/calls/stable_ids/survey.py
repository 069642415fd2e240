"""Compares the old id and the new group of each vertex, in one part of the vertices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from dask_graphflow.exceptions import EdgeListError
from dask_graphflow.graph import renumber
from dask_graphflow.graph.frames import stack
from dask_graphflow.graph.vertex_ids import shown
from dask_graphflow.showing.tables import counted

from .rows import CURRENT, HASH

NONE = -1  # no id, or no group
KEYS = ["old", "group"]
ADVICE = {
    "labels": "give one row per vertex, for example with labels.drop_duplicates({names})",
    "previous": "give the memory of an earlier call as that call returned it",
}


class Survey(NamedTuple):
    """What some vertices say about all groups."""

    groups: pd.DataFrame  # the distinct groups; the number of a group is its row
    # Per pair of an old id and the number of a group: how many vertices have both, the sum of their
    # hashes, and the smallest of them. New vertices have the old id `NONE`, and lost ones the group `NONE`.
    pairs: pd.DataFrame
    # The remembered groups, and the group in which the smallest vertex of each is now, or `NONE`.
    remembered: pd.DataFrame


def survey(
    labels: pd.DataFrame, memory: pd.DataFrame, vertex: Sequence[str], group: Sequence[str]
) -> Survey:
    """Compare the rows of labels and of a memory that concern the same vertices.

    Raises
    ------
    EdgeListError
        A vertex has several rows.
    """
    ids, (new, old) = renumber.number([labels[[*vertex]], memory[[*vertex]]], threads=1)
    current = (memory["update"] == CURRENT).to_numpy()
    for role, rows in (("labels", new), ("previous", old[current])):
        times = np.bincount(rows, minlength=len(ids))
        if (several := np.flatnonzero(times > 1)).size:
            raise EdgeListError(
                f"{counted(len(several), 'vertex has', 'vertices have')} several rows in {role}, such as "
                f"{shown(ids.iloc[several[:3]])}; {ADVICE[role].format(names=[*vertex])}"
            )
    codes, groups = renumber.factorize(labels[[*group]])
    id_of, group_of = np.full((2, len(ids)), NONE)
    hash_of = np.zeros(len(ids), "uint64")
    group_of[new], hash_of[new] = codes, labels[HASH]
    id_of[old[current]], hash_of[old[current]] = memory["id"][current], memory[HASH][current]
    first = np.flatnonzero((id_of != NONE) | (group_of != NONE))
    columns = {"old": id_of, "group": group_of, "members": hash_of}
    pairs = pd.DataFrame({name: values[first] for name, values in columns.items()})
    pairs = _add_up(pairs.assign(count=1, first=first))
    remembered = memory[~current].drop(columns=HASH).assign(group=group_of[old[~current]])
    return Survey(groups, _with_vertices(pairs, ids), remembered)


def combine(surveys: Sequence[Survey], vertex: Sequence[str]) -> Survey:
    """Return the survey of all vertices from the surveys of their parts.

    Its pairs have another column, ``first``: numbers in the order of their smallest vertices.
    """
    groups, codes = renumber.union([one.groups for one in surveys])
    pairs, remembered = (
        stack(
            [
                part.assign(group=np.append(own, NONE)[part["group"]])
                for part, own in zip(parts, codes, strict=True)
            ]
        )
        for parts in zip(*(one[1:] for one in surveys), strict=True)
    )
    ids, (first,) = renumber.number([pairs[[*vertex]]], threads=1)
    pairs = _add_up(pairs.drop(columns=[*vertex]).assign(first=first))
    return Survey(groups, _with_vertices(pairs, ids), remembered)


def _add_up(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return one row per pair; sums of hashes wrap around."""
    sums = {"count": "sum", "members": "sum", "first": "min"}
    return pairs.groupby(KEYS, as_index=False).agg(sums)


def _with_vertices(pairs: pd.DataFrame, ids: pd.DataFrame) -> pd.DataFrame:
    """Return pairs with the columns of the vertices that they name by their rows in `ids`."""
    vertices = ids.iloc[pairs["first"]].reset_index(drop=True)
    return pd.concat([pairs, vertices], axis=1)
