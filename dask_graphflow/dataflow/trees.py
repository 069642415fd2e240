"""Policies: which chain takes a chunk, and which forest is merged into which.

Both are plain functions from counts to a shape, so that the shape can be looked at before anything
runs. (Groute, PPoPP 2017, sections 4.3 and 5.)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from dask_graphflow.exceptions import OptionError, nearest

__all__ = ["INPUT_POLICIES", "MERGE_POLICIES", "Merge", "input_policy", "merge_policy"]

Merge = tuple[int, int]
"""A merge of forest `source` into forest `target`, as ``(source, target)``."""

InputPolicy = Callable[[Sequence[object], int, int], list[list[int]]]
"""Where each chunk lies, the chains that run at once, how many more there may be -> chains."""

SHORTEST = 8  # chunks: merging a forest should cost little beside hooking them


def tree(count: int) -> list[Merge]:
    """Merge neighbours, then neighbours of those: depth ceil(log2(count)).

    Examples
    --------
    >>> tree(8)
    [(1, 0), (3, 2), (5, 4), (7, 6), (2, 0), (6, 4), (4, 0)]
    """
    merges, gap = [], 1
    while gap < count:
        merges += [(i + gap, i) for i in range(0, count - gap, 2 * gap)]
        gap *= 2
    return merges


def one_way(count: int) -> list[Merge]:
    """Merge every forest into the first, one after another: depth count - 1.

    Examples
    --------
    >>> one_way(4)
    [(1, 0), (2, 0), (3, 0)]
    """
    return [(i, 0) for i in range(1, count)]


def ring(count: int) -> list[Merge]:
    """Pass the growing forest from neighbour to neighbour down to the first: depth count - 1.

    Examples
    --------
    >>> ring(4)
    [(3, 2), (2, 1), (1, 0)]
    """
    return [(i, i - 1) for i in range(count - 1, 0, -1)]


MERGE_POLICIES: dict[str, Callable[[int], list[Merge]]] = {
    "tree": tree,
    "one-way": one_way,
    "ring": ring,
}


def depth(merges: Sequence[Merge]) -> int:
    """Return the number of merges on the longest path.

    Examples
    --------
    >>> depth(tree(8)), depth(one_way(8))
    (3, 7)
    """
    reach: dict[int, int] = {}
    for source, target in merges:
        reach[target] = max(reach.get(source, 0), reach.get(target, 0)) + 1
    return max(reach.values(), default=0)


def merge_policy(name: str) -> Callable[[int], list[Merge]]:
    """Return the merge policy of that name, or raise :class:`OptionError`."""
    if name not in MERGE_POLICIES:
        raise OptionError(
            f"merge={name!r} is no merge policy; there are "
            f"{', '.join(map(repr, MERGE_POLICIES))}{nearest(name, MERGE_POLICIES)}"
        )
    return MERGE_POLICIES[name]


def availability(homes: Sequence[object], slots: int, spare: int) -> list[list[int]]:
    """Cut runs of neighbouring chunks, for whichever worker has room to take up next.

    With `spare` times as many runs as slots, a slow worker takes fewer; but no run gets shorter than
    `SHORTEST` for it. Chunks that lie on a worker already are taken there: a chain keeps to one home.
    """
    if any(home is None for home in homes):
        slots = max(slots, min(spare * slots, len(homes) // SHORTEST))
    chains: list[list[int]] = []
    by_home: dict[object, list[int]] = {}
    for chunk, home in enumerate(homes):
        by_home.setdefault(home, []).append(chunk)
    share = max(1, slots // len(by_home)) if by_home else 1
    for chunks in by_home.values():
        chains += _runs(chunks, share)
    return chains


def round_robin(homes: Sequence[object], slots: int, spare: int) -> list[list[int]]:
    """Deal the chunks to the chains in turn, whatever lies where."""
    count = min(slots, len(homes))
    return [list(range(chain, len(homes), count)) for chain in range(count)]


INPUT_POLICIES: dict[str, InputPolicy] = {
    "availability": availability,
    "round-robin": round_robin,
}


def input_policy(name: str) -> InputPolicy:
    """Return the input policy of that name, or raise :class:`OptionError`."""
    if name not in INPUT_POLICIES:
        raise OptionError(
            f"inputs={name!r} is no input policy; there are "
            f"{', '.join(map(repr, INPUT_POLICIES))}{nearest(name, INPUT_POLICIES)}"
        )
    return INPUT_POLICIES[name]


def _runs(items: list[int], count: int) -> list[list[int]]:
    """Cut a list into at most `count` runs of nearly equal length."""
    count = min(count, len(items))
    bounds = [len(items) * i // count for i in range(count + 1)]
    return [items[low:high] for low, high in itertools.pairwise(bounds)]
