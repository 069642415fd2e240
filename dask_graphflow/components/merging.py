"""Merge policies by name, including the adaptive one, which considers where forests are and worker speeds.

The chains of one process share a forest, so a merge between them moves nothing. A merge between two workers
moves a forest. A tree over the chains' numbers ignores this. If chains with adjacent numbers are on
different workers, nearly every one of its merges moves a forest. (Groute, PPoPP 2017, section 5, uses one
forest per device.)
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

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
from dask_graphflow.showing.values import shown

__all__ = [
    "MERGE_POLICIES",
    "adaptive",
    "fastest_first",
    "makespan",
    "merge_policy",
    "merges_of",
]


def fastest_first(chains: Sequence[Chain], speeds: Speeds = UNKNOWN) -> list[Chain]:
    """Return the chains sorted by worker, fastest worker first. If speeds are equal, more chunks go first.

    Each chain is pinned to its worker. All forests end in the first chain, so this makes the last merge run
    where merging is fastest, and between any two workers the forest moves to the faster one. Chains whose
    worker is not known come last, in the given order.
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
    """Return merges within each worker, then between workers, chosen so that the last one ends soonest.

    Three ways are compared, and the one with the smallest :func:`makespan` is chosen. The first repeatedly
    merges the two workers that are ready earliest, as in the construction of a Huffman tree. The second
    merges neighboring workers in a tree. With both, the number of merges between workers is one less than
    the number of workers. The third is a tree of all chains, which is always used if no worker is known.

    Parameters
    ----------
    chains : sequence of Chain
        In the order of :func:`fastest_first`.
    speeds : mapping of str to float
        Chunks that each worker hooks per unit of time; 1 for workers that are not listed.
    barrier : bool
        Whether no merge begins before all chains have ended.

    Returns
    -------
    list of Merge
        All forests end in the first chain.

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
    """Return the time at which the last merge is expected to end.

    Each worker hooks all of its chunks, and sends or merges one forest at a time. Merging forests on the
    same worker costs nothing.

    Parameters
    ----------
    chains, merges, speeds, barrier
        See :func:`adaptive`.
    merge : float
        Cost of merging a forest, as a number of chunks that could be hooked instead.
    transfer : float
        Cost of moving a forest, in units of time.

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
    """Return the time at which each chain's worker has hooked all of its chunks."""
    ready = [0.0] * len(chains)
    for at, group in _by_worker(chains).items():
        chunks = sum(len(chains[chain].chunks) for chain in group)
        for chain in group:
            ready[chain] = chunks / speed(at, speeds)
    return [max(ready)] * len(ready) if barrier else ready


def _earliest(
    chains: Sequence[Chain], firsts: list[int], speeds: Speeds, barrier: bool
) -> list[Merge]:
    """Repeatedly merge the two chains that are ready earliest, into the one with the smaller number."""
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


def merge_policy(name: Any) -> Callable[..., list[Merge]]:
    """Return the merge policy with the given name, or raise :class:`OptionError`."""
    if not isinstance(name, str) or name not in MERGE_POLICIES:
        raise OptionError(
            f"merge={shown(name)} is not a merge policy; give one of "
            f"{', '.join(map(repr, MERGE_POLICIES))}{nearest(name, MERGE_POLICIES)}"
        )
    return MERGE_POLICIES[name]


def merges_of(name: str, count: int) -> list[Merge]:
    """Return the merges that a policy chooses for `count` forests, each on a worker of its own.

    Examples
    --------
    >>> merges_of("one-way", 3)
    [(1, 0), (2, 0)]
    """
    return merge_policy(name)([Chain([chain], str(chain)) for chain in range(count)])
