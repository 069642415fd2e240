"""Merge policies by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dask_graphflow.exceptions import OptionError
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.values import shown
from dask_graphflow.tasks.trees import Merge, one_way, ring, tree

MERGE_POLICIES: dict[str, Callable[[int], list[Merge]]] = {
    "tree": tree,
    "one-way": one_way,
    "ring": ring,
}


def merge_policy(name: Any) -> Callable[[int], list[Merge]]:
    """Return the merge policy with the given name, or raise :class:`OptionError`."""
    if not isinstance(name, str) or name not in MERGE_POLICIES:
        raise OptionError(
            f"merge={shown(name)} is not a merge policy; give one of "
            f"{', '.join(map(repr, MERGE_POLICIES))}{nearest(name, MERGE_POLICIES)}"
        )
    return MERGE_POLICIES[name]


def merges_of(name: str, count: int) -> list[Merge]:
    """Return the merges that a policy chooses for `count` forests.

    Examples
    --------
    >>> merges_of("one-way", 3)
    [(1, 0), (2, 0)]
    """
    return merge_policy(name)(count)
