"""The rules by which groups get their ids.

A group that has not changed keeps its id. The others get theirs by three rules, in this order, and no id is
given twice:

1. A group with exactly the members that a remembered group had gets that group's id. So a merge or a split
   that is undone gives back all ids.
2. The heir of an old group is the group with most of its vertices; if there are several, the one with the
   smallest vertex. A group gets the smallest id among the old groups whose heir it is.
3. A group gets the id of a remembered group whose smallest vertex it contains; if there are several, that
   of the group that changed last. All other groups get new ids, in the order of their smallest vertices.

A group is remembered as it was before each change. Members are compared by their number and by the sum of
their 64-bit hashes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from .rows import MEMORY
from .survey import KEYS, NONE, Survey, combine

EVENTS = {"event": "str", "old": "Int64", "new": "Int64", "old_size": "int64", "new_size": "int64"}


class Decision(NamedTuple):
    """What a call decides about all groups."""

    ids: pd.DataFrame  # the columns of each group, and its id
    events: pd.DataFrame
    remembered: pd.DataFrame  # the rows of the new memory that remember groups


def decide(vertex: Sequence[str], *surveys: Survey) -> Decision:
    """Return the ids of all groups, what happened to them, and the groups to remember."""
    groups, pairs, remembered = combine(surveys, vertex)
    olds, news = (_totals(pairs[pairs[side] != NONE], side) for side in KEYS)
    for side, groups_of_side in zip(KEYS, (olds, news), strict=True):
        sizes = groups_of_side["size"].reindex(pairs[side], fill_value=0)
        pairs[f"{side}_size"] = sizes.to_numpy()
    same = (pairs["count"] == pairs["old_size"]) & (pairs["count"] == pairs["group_size"])
    ids = np.full(len(news), NONE)
    ids[pairs["group"][same]] = pairs["old"][same]
    changed, olds = pairs[~same], olds.drop(pairs["old"][same])
    _inherit(ids, changed, news, remembered)
    new = np.flatnonzero(ids == NONE)
    new = new[np.argsort(news["first"].to_numpy()[new])]
    ids[new] = _following(pairs["old"], remembered["id"]) + np.arange(len(new))
    anchors = pairs.set_index("first").loc[olds["first"], [*vertex]].reset_index(drop=True)
    as_they_were = olds.drop(columns="first").rename_axis("id").reset_index()
    as_they_were["update"] = _following(remembered["update"])
    as_they_were = pd.concat([anchors, as_they_were], axis=1)[[*vertex, *MEMORY]]
    again = pd.concat([remembered[[*vertex, *MEMORY]], as_they_were], ignore_index=True)
    again = again.drop_duplicates(["id", "size", "members"], keep="last", ignore_index=True)
    return Decision(groups.assign(id=ids), _events(changed, ids), again)


def _following(*columns: pd.Series) -> int:
    """Return the smallest number that is larger than all in some columns, at least 0."""
    return 1 + int(max(column.to_numpy().max(initial=NONE) for column in columns))


def _totals(pairs: pd.DataFrame, side: str) -> pd.DataFrame:
    """Return the size, the hash and the smallest vertex of the groups on one side of pairs."""
    sums = {"size": ("count", "sum"), "members": ("members", "sum"), "first": ("first", "min")}
    return pairs.groupby(side).agg(**sums)


def _inherit(
    ids: np.ndarray, changed: pd.DataFrame, news: pd.DataFrame, remembered: pd.DataFrame
) -> None:
    """Give old ids to the groups that have none, by the three rules."""
    last_first = remembered.sort_values(["update", "id"], ascending=[False, True])
    without = news[ids == NONE].reset_index()
    undone = last_first.drop(columns="group").merge(without, on=["size", "members"])
    _give(ids, undone["id"], undone["group"])
    heirs = changed[(changed[KEYS] != NONE).all(axis=1)]
    heirs = heirs.assign(less=-heirs["count"], smallest=news["first"].to_numpy()[heirs["group"]])
    heirs = heirs.sort_values(["old", "less", "smallest"]).drop_duplicates("old")
    _give(ids, heirs["old"], heirs["group"])
    inside = last_first[last_first["group"] != NONE]
    _give(ids, inside["id"], inside["group"])


def _give(ids: np.ndarray, offered: pd.Series, groups: pd.Series) -> None:
    """Give each group the first id that is offered to it and that no group has.

    In each round, an offer is accepted that comes before all others of its id and of its group. This is the
    result of going through the offers one by one.
    """
    offers = pd.DataFrame({"id": offered.to_numpy(), "group": groups.to_numpy()})
    while True:
        offers = offers[(ids[offers["group"]] == NONE) & ~np.isin(offers["id"], ids)]
        if offers.empty:
            return
        first = offers[~(offers.duplicated("id") | offers.duplicated("group"))]
        ids[first["group"]] = first["id"]


def _events(changed: pd.DataFrame, ids: np.ndarray) -> pd.DataFrame:
    """Return what happened to the groups that changed."""
    old, group = changed["old"], changed["group"]
    here, there = old != NONE, group != NONE
    moved = here & there
    parts, sources = (moved.groupby(side).transform("sum") for side in (old, group))
    joined, left = (~here).groupby(group).transform("any"), (~there).groupby(old).transform("any")
    new = pd.Series(np.append(ids, NONE)[group], changed.index)
    kept = moved & (old == new)
    is_part = moved & ~kept & (parts > 1) & (sources == 1)
    happened = {
        "created": ~here & (sources == 0),
        "dissolved": ~there & (parts == 0),
        "extended": kept & joined,
        "shrunk": kept & left,
        "split": is_part,
        "merged": moved & ~kept & ~is_part,
    }
    rows = changed[["old", "old_size", "group_size"]].assign(new=new)
    rows = rows.rename(columns={"group_size": "new_size"})
    events = pd.concat([rows[which].assign(event=name) for name, which in happened.items()])
    events = (
        events[[*EVENTS]].sort_values(["event", "old", "new"], ignore_index=True).astype(EVENTS)
    )
    sides = events[["old", "new"]]
    events[["old", "new"]] = sides.mask(sides == NONE)
    return events
