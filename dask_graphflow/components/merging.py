"""Merge policies by name, and the one that looks at where forests lie and how fast their workers are.

Chains of one process share a forest, so that a merge between them moves nothing; one between two workers
moves a forest. A tree by the chains' numbers does not know, and moves one in nearly every merge where
neighbours lie apart. (Groute, PPoPP 2017, section 5, has one forest a device.)
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace

from dask_graphflow.exceptions import OptionError
from dask_graphflow.scheduling.trees import (
    UNKNOWN,
    Chain,
    Merge,
    Speeds,
    one_way,
    ring,
    speed,
    tree,
)
from dask_graphflow.showing.suggestions import nearest

__all__ = [
    "MERGE_POLICIES",
    "adaptive",
    "fastest_first",
    "makespan",
    "merge_policy",
    "merges_of",
]


def fastest_first(chains: Sequence[Chain], speeds: Speeds = UNKNOWN) -> list[Chain]:
    """Return the chains with those of the fastest worker first, or of the one that has more.

    Each is held to its worker. So the first chain, which all forests end in, is where merging is
    fastest, and of any two workers the forest goes to the faster one. Where nothing is known they stay
    as they are.
    """
    groups = sorted(
        _by_worker(chains).items(),
        key=lambda group: (
            group[0] is None,
            -speed(group[0], speeds),
            -sum(len(chains[chain].chunks) for chain in group[1]),
        ),
    )
    return [replace(chains[chain], worker=at) for at, group in groups for chain in group]


def adaptive(
    chains: Sequence[Chain], speeds: Speeds = UNKNOWN, *, barrier: bool = True
) -> list[Merge]:
    """Merge the chains of each worker, then workers, so that the last merge is expected to end soonest.

    Of workers those two that are ready earliest, over and over (as Huffman's trees are made), or
    neighbours in a tree, where that ends sooner; so one merge fewer than there are workers is between
    two. Where no chain's worker is known, or it is expected to end sooner still, it is the tree of all
    chains.

    Parameters
    ----------
    chains : sequence of Chain
        In the order of :func:`fastest_first`.
    speeds : mapping of str to float
    barrier : bool
        No merge begins before all chains have ended.

    Returns
    -------
    list of Merge
        All end in the first chain.

    Examples
    --------
    >>> chains = [Chain([0], at) for at in ("a", "b", "a", "c", "b", "d")]
    >>> adaptive(chains)
    [(2, 0), (4, 1), (1, 0), (5, 3), (3, 0)]
    """
    groups = _by_worker(chains)
    if groups.keys() <= {None}:
        return tree(len(chains))
    own = [(group[s], group[t]) for group in groups.values() for s, t in tree(len(group))]
    firsts = [group[0] for group in groups.values()]
    neighbours = [(firsts[s], firsts[t]) for s, t in tree(len(firsts))]
    ways = (
        own + _earliest(chains, firsts, speeds, barrier),
        own + neighbours,
        tree(len(chains)),
    )
    return min(ways, key=lambda merges: makespan(chains, merges, speeds, barrier=barrier))


def makespan(
    chains: Sequence[Chain],
    merges: Sequence[Merge],
    speeds: Speeds = UNKNOWN,
    *,
    barrier: bool = True,
    merge: float = 1.0,
    transfer: float = 1.0,
) -> float:
    """Return when the last merge is expected to end.

    Each worker hooks all of its chunks, and sends or merges one forest at a time. To merge forests that lie
    on one worker costs nothing.

    Parameters
    ----------
    chains, merges, speeds, barrier
        As of :func:`adaptive`.
    merge : float
        What merging a forest takes, in chunks hooked.
    transfer : float
        What moving one takes, in units of time.

    Examples
    --------
    >>> chains = [Chain([0, 1], "a"), Chain([2, 3], "b")]
    >>> makespan(chains, [(1, 0)], {"a": 2.0})
    3.5
    """
    ready, busy = _ready(chains, speeds, barrier), dict.fromkeys(_by_worker(chains), 0.0)
    for source, target in merges:
        ready[target] = max(ready[target], ready[source])
        sender, at = chains[source].at, chains[target].at
        if at is None or sender != at:
            there = max(ready[target], busy[sender], busy[at]) + transfer
            busy[sender] = there
            ready[target] = busy[at] = there + merge / speed(at, speeds)
    return ready[0]


def _ready(chains: Sequence[Chain], speeds: Speeds, barrier: bool) -> list[float]:
    """Return when each chain's worker has hooked all that it has to hook."""
    ready = [0.0] * len(chains)
    for at, group in _by_worker(chains).items():
        chunks = sum(len(chains[chain].chunks) for chain in group)
        for chain in group:
            ready[chain] = chunks / speed(at, speeds)
    return [max(ready)] * len(ready) if barrier else ready


def _earliest(
    chains: Sequence[Chain], firsts: list[int], speeds: Speeds, barrier: bool
) -> list[Merge]:
    """Merge the two that are ready earliest, over and over, into the first of them."""
    ready = _ready(chains, speeds, barrier)
    waiting = [(ready[first], first) for first in firsts]
    heapq.heapify(waiting)
    merges = []
    while len(waiting) > 1:
        _, a = heapq.heappop(waiting)
        since, b = heapq.heappop(waiting)
        source, target = max(a, b), min(a, b)
        merges.append((source, target))
        heapq.heappush(waiting, (since + 1 + 1 / speed(chains[target].at, speeds), target))
    return merges


def _by_worker(chains: Sequence[Chain]) -> dict[str | None, list[int]]:
    groups: dict[str | None, list[int]] = {}
    for number, chain in enumerate(chains):
        groups.setdefault(chain.at, []).append(number)
    return groups


def _by_count(shape: Callable[[int], list[Merge]]) -> Callable[..., list[Merge]]:
    def policy(chains: Sequence[Chain], *_: Speeds, **__: bool) -> list[Merge]:
        return shape(len(chains))

    return policy


MERGE_POLICIES: dict[str, Callable[..., list[Merge]]] = {
    "tree": _by_count(tree),
    "one-way": _by_count(one_way),
    "ring": _by_count(ring),
    "adaptive": adaptive,
}


def merge_policy(name: str) -> Callable[..., list[Merge]]:
    """Return the merge policy of that name, or raise :class:`OptionError`."""
    if name not in MERGE_POLICIES:
        raise OptionError(
            f"merge={name!r} is not a merge policy; give one of "
            f"{', '.join(map(repr, MERGE_POLICIES))}{nearest(name, MERGE_POLICIES)}"
        )
    return MERGE_POLICIES[name]


def merges_of(name: str, count: int) -> list[Merge]:
    """Return the merges by a policy of so many forests, each on a worker of its own.

    Examples
    --------
    >>> merges_of("one-way", 3)
    [(1, 0), (2, 0)]
    """
    return merge_policy(name)([Chain([chain], str(chain)) for chain in range(count)])
