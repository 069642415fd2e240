"""Policies: assign partitions to chains, and plan which forest is merged into which.

The functions have no side effects and depend only on sizes and names, so a plan can be inspected before
anything runs. (Groute, PPoPP 2017, sections 4.3 and 5.)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dask_graphflow.exceptions import OptionError
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.tables import counted
from dask_graphflow.showing.values import shown

Merge = tuple[int, int]
"""A merge of forest `source` into forest `target`, as ``(source, target)``."""

SHORTEST = 8  # partitions per chain, so that merging a forest costs little beside hooking them
SPARE = 4  # chains per slot of the cluster, so that a slow worker takes fewer


@dataclass(frozen=True)
class Slots:
    """The resources of a scheduler for running chains."""

    # The addresses of the worker processes; None is this process.
    workers: tuple[str | None, ...] = (None,)
    chains: int = 1  # number of chains that one process runs at the same time
    threads: int = 1  # number of tasks that one process can run at the same time

    @property
    def at_once(self) -> int:
        """Number of chains that all processes together run at the same time."""
        return len(self.workers) * self.chains


@dataclass(frozen=True)
class Chain:
    """Partitions that are hooked one after another."""

    chunks: list[int]  # the numbers of the partitions
    # The address of the worker that hooks them, as long as it exists; None for any worker.
    worker: str | None = None
    home: str | None = None  # the address of the worker that already holds the partitions in memory

    @property
    def at(self) -> str | None:
        """The worker that will hold the chain's forest, if that is known before it runs."""
        return self.worker or self.home


def tree(count: int) -> list[Merge]:
    """Merge neighboring forests, then neighboring results, and so on: depth ceil(log2(count)).

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
    """Pass the growing forest from neighbor to neighbor down to the first: depth count - 1.

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


def merge_policy(name: Any) -> Callable[[int], list[Merge]]:
    """Return the merge policy with the given name, or raise :class:`.OptionError`."""
    if not isinstance(name, str) or name not in MERGE_POLICIES:
        raise OptionError(
            f"merge={shown(name)} is not a merge policy; give one of "
            f"{', '.join(map(repr, MERGE_POLICIES))}{nearest(name, MERGE_POLICIES)}"
        )
    return MERGE_POLICIES[name]


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


def availability(homes: Sequence[str | None], slots: Slots) -> list[Chain]:
    """Cut runs of neighboring partitions; the next worker with a free slot takes the next run.

    On a cluster there are more runs than slots, so that a slow worker takes fewer. This does not make runs
    shorter than `SHORTEST`. Partitions that a worker already holds are hooked there, and all partitions
    of a chain have the same home.
    """
    count = slots.at_once
    if None in homes and len(slots.workers) > 1:
        count = max(count, min(SPARE * count, len(homes) // SHORTEST))
    by_home: dict[str | None, list[int]] = {}
    for chunk, home in enumerate(homes):
        by_home.setdefault(home, []).append(chunk)
    share = max(1, count // len(by_home)) if by_home else 1
    return [
        Chain(run, home=home) for home, chunks in by_home.items() for run in runs(chunks, share)
    ]


def by_home(homes: Sequence[str | None]) -> list[Chain]:
    """Return one chain per worker, with all the partitions that it holds."""
    return availability(homes, Slots())


def round_robin(homes: Sequence[str | None], slots: Slots) -> list[Chain]:
    """Deal the partitions to the workers in turn, whichever worker holds them or has a free slot."""
    count = min(slots.at_once, len(homes))
    workers = slots.workers
    return [
        Chain(list(range(chain, len(homes), count)), workers[chain % len(workers)])
        for chain in range(count)
    ]


def to_workers(wanted: Sequence[str], slots: Slots) -> list[Chain]:
    """Give each partition to the worker that is named for it."""
    by_worker: dict[str, list[int]] = {}
    for chunk, worker in enumerate(wanted):
        by_worker.setdefault(worker, []).append(chunk)
    return [
        Chain(run, worker)
        for worker, chunks in by_worker.items()
        for run in runs(chunks, slots.chains)
    ]


INPUT_POLICIES: dict[str, Callable[[Sequence[str | None], Slots], list[Chain]]] = {
    "availability": availability,
    "round-robin": round_robin,
}


def chains(
    inputs: str | Sequence[str],
    homes: Sequence[str | None],
    slots: Slots,
) -> list[Chain]:
    """Assign partitions to chains, or raise :class:`.OptionError` if `inputs` is wrong.

    `inputs` is the name of a policy, or the address of the worker for each partition. `homes` has the
    worker that already holds each partition, if any does.
    """
    if isinstance(inputs, str):
        if inputs not in INPUT_POLICIES:
            raise OptionError(
                f"inputs={inputs!r} is not an input policy; the policies are "
                f"{', '.join(map(repr, INPUT_POLICIES))}; or give a list with the address of a worker "
                f"for each partition{nearest(inputs, INPUT_POLICIES)}"
            )
        return INPUT_POLICIES[inputs](homes, slots)
    if not isinstance(inputs, Sequence):
        raise OptionError(
            f"inputs={shown(inputs)}; give {', '.join(map(repr, INPUT_POLICIES))}, or a list with the "
            "address of a worker for each partition"
        )
    wanted = list(inputs)
    if len(wanted) != len(homes):
        raise OptionError(
            f"inputs names {counted(len(wanted), 'worker')} for {counted(len(homes), 'partition')}; name "
            "one for each"
        )
    for worker in wanted:
        if worker not in slots.workers:
            names = ", ".join(map(repr, slots.workers))
            allowed = (
                "there is no cluster" if slots.workers == (None,) else f"the workers are {names}"
            )
            raise OptionError(f"inputs names {shown(worker)}, which is not a worker; {allowed}")
    return to_workers(wanted, slots)


def runs(items: list[Any], count: int) -> list[list[Any]]:
    """Cut a list into at most `count` runs of nearly equal length."""
    count = min(count, len(items))
    bounds = [len(items) * i // count for i in range(count + 1)]
    return [items[low:high] for low, high in itertools.pairwise(bounds)]
