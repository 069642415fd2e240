"""Connected components by the members of a gang, one on each worker that holds edges or forests.

Each member hooks its worker's edges, or takes the forests of the chains of tasks that have hooked edges on
its worker. The members agree on the vertices: integers close together are used directly, other ids are
numbered in their order (:mod:`~dask_graphflow.graph.numbering`). The forests are merged along a plan, by
default a tree whose depth is the logarithm of the number of members (Groute [1]_).
A forest is sent in slices, so the next one is in transit while one is merged. The first member then sends
every other one the roots of its range of the vertices, and each member labels its own range.

.. [1] T. Ben-Nun, M. Sutton, S. Pai, K. Pingali, "Groute: An Asynchronous Multi-GPU Programming Model
   for Irregular Computations", PPoPP 2017.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph.numbering import ids_of, number_sorted, swap
from dask_graphflow.graph.renumber import is_dense
from dask_graphflow.kernels import on_device, sorted_unique
from dask_graphflow.operators.forests.forest import Entries, Forest
from dask_graphflow.operators.forests.fragments import (
    Fragment,
    FragmentChain,
    flatten,
    move_forests,
)
from dask_graphflow.tasks import trees
from dask_graphflow.tasks.expr import Empty
from dask_graphflow.tasks.gang_build import Dealing
from dask_graphflow.tasks.gang_expr import Found
from dask_graphflow.tasks.trees import Merge

from .connected_components import Components, not_plain

# Largest number of entries in a slice of a forest in host memory. A forest on a device is sent whole by
# default: a device receives and merges on one stream, so the two would not overlap.
SLICE = 1 << 20


class LabelRange(NamedTuple):
    """The entries of neighboring vertices in the merged forests."""

    base: int  # the vertex to which parents are relative
    # The first vertex, and one past the last.
    first: int
    last: int
    seen: Any  # array of uint8, shape (last - first,)
    parents: list[Any]  # list of array, shape (last - first,). One array per threshold.

    def forests(self) -> list[Forest]:
        """Return forests of these vertices, whose roots may be outside of them."""
        shift = self.first - self.base
        relative = [parent - shift if shift else parent for parent in self.parents]
        return [Forest.of(self.first, parent, self.seen) for parent in relative]


Edges = Callable[[Channel, Any, int], Fragment]
"""Returns the fragment of a member's edges. Takes the member's channel, shard and rank."""


@dataclass(frozen=True)
class Partitions:
    """The edges of members that hook the partitions on their workers."""

    program: Components
    dealt: Dealing  # the partitions that each member takes
    chains: int  # largest number of chains that hook a member's edges at the same time

    def __call__(self, channel: Channel, edges: list[Any], rank: int) -> Fragment:
        """Return the fragment of this member's edges. If there are several threads, several chains hook."""
        taken = list(zip(edges, self.dealt[rank], strict=True))
        runs = trees.runs(taken, min(self.chains, channel.resources.threads))
        program = replace(self.program, sharing=self.program.sharing * len(runs))
        start = program.start()

        def hook(run: Any) -> FragmentChain:
            chain: Any = start
            for frame, (position, partition) in run:
                chain = program.hook(chain, frame, position, partition)
            return chain  # type: ignore[no-any-return]

        if len(runs) == 1:
            return hook(runs[0]).close()
        # In this task's context, so that the threads find its worker and can report the progress.
        contexts = [copy_context() for _ in runs]
        with ThreadPoolExecutor(len(runs), "graphflow-hook") as pool:
            return unite(list(pool.map(lambda at, run: at.run(hook, run), contexts, runs)))


@dataclass(frozen=True)
class Streams:
    """The edges of members that take what chains of tasks have hooked on their workers."""

    program: Components
    # An empty frame like the edges, for a member without chains. None if there is a single member.
    empty: Empty | None

    def __call__(self, channel: Channel, found: Found, rank: int) -> Fragment:
        """Return the fragment of this worker's chains.

        The first member fetches the chains of workers without a member: those that have joined since the
        call, or that were lost.
        """
        known = swap(Exchange(channel), [set(found.here)] * channel.size)
        missing = set(range(found.count)).difference(*known) if rank == 0 else ()
        chains = [*found.here.values(), *map(found.fetch, sorted(missing))]
        if not chains:
            assert self.empty is not None
            chains = [self.program.empty_chain(self.empty.frame)]
        return unite(chains, said=self.program.dense)


def unite(chains: list[FragmentChain], *, said: bool = False) -> Fragment:
    """Return the fragment of several chains, whose forests are merged. `said`: the ids are dense."""
    loose = list(itertools.chain.from_iterable(chain.loose for chain in chains))
    own, *others = {id(chain.dense): chain.dense for chain in chains}.values()
    own.close()
    for other in others:  # of another worker, or of chains that ran again after members had begun
        pairs = list(zip(own.held.forests, other.held.forests, strict=True))
        if common_range([(f.base, f.stop) for f in pairs[0]], said=said):
            for forest, more in pairs:
                forest.absorb(more)
        else:
            loose.append(other.held.list_ids())
    return FragmentChain(own, loose).close()


@dataclass(frozen=True)
class ComponentsMember:
    """What each member of the gang does."""

    program: Components
    edges: Edges
    # Which member's forests are merged into which, in order. The last ones are the first member's.
    merges: Sequence[Merge]
    slices: int  # smallest number of slices in which a forest is sent
    parts: int  # number of frames that a member returns

    def __call__(self, channel: Channel, shard: Any, rank: int) -> Any:
        """Return a member's range of the vertices with their components: a frame, or several in a list."""
        frames = self._label(channel, self.edges(channel, shard, rank))
        return frames if self.parts > 1 else frames[0]

    def _label(self, channel: Channel, fragment: Fragment) -> list[Any]:
        """Merge the fragments of all members; return this member's range of the result."""
        program, parts = self.program, self.parts
        exchange = Exchange(channel, device=on_device(fragment.forests[0].parent))
        common = _common(exchange, fragment, program.dense)
        ids, homes = None, None
        if common is not None:
            forests = fragment.over(*common)
        else:
            fragment = fragment.list_ids()
            ids, homes, numbers = number_sorted(exchange, fragment.ids)
            forests = move_forests(fragment.forests, numbers, homes[-1])
        _merge(exchange, forests, self.merges, self.slices)
        own = _own_range(exchange, forests, homes)
        bounds = [own.first + (own.last - own.first) * i // parts for i in range(parts + 1)]
        if homes is None:
            # The first member has all entries. Shifted copies of its own ones would take room on a GPU.
            whole = exchange.rank == 0
            label = partial(program.label_dense, forests if whole else own.forests())
        else:
            outside = sorted_unique(np.concatenate([one[one < own.first] for one in own.parents]))
            heads = [(outside, ids_of(exchange, ids, homes, outside))]
            label = partial(_name_components, program, own, ids, heads)
        frames = []
        for low, high in itertools.pairwise(bounds):
            with program.progress.part("label"):
                frames.append(label(low, high))
        return frames


def _name_components(
    program: Components,
    own: LabelRange,
    ids: Any,
    heads: list[tuple[Any, Any]],
    low: int,
    high: int,
) -> Any:
    """Return the vertices `low` to `high` - 1 of a member's range, and their components, by their ids."""
    first = low - own.first
    roots = [parent[first : high - own.first] for parent in own.parents]
    return program.label_named(roots, ids, own.first, first, heads)


def _common(exchange: Exchange, fragment: Fragment, dense: bool) -> tuple[int, int] | None:
    """Return the range of all members' ids if they are close together, and None otherwise.

    `dense`: the caller says that they are.
    """
    forest = fragment.forests[0]
    own = (forest.base, forest.stop) if fragment.dense else None
    ranges = swap(exchange.host, [own] * exchange.size)
    if dense and None in ranges:
        raise not_plain()
    return common_range(ranges, said=dense)


def common_range(
    ranges: Sequence[tuple[int, int] | None], *, said: bool = False
) -> tuple[int, int] | None:
    """Return the range of all ids if it is dense, and None otherwise.

    A range is the first id of a fragment, and one past the last; None for a fragment that is not dense.
    `said`: the caller says that the ids are dense.
    """
    if None in ranges:
        return None
    # The chains of one process share a forest, so their ranges are the same: count each range once.
    filled = {one for one in ranges if one is not None and one[1] > one[0]}
    low = min((low for low, _ in filled), default=0)
    high = max((high for _, high in filled), default=0)
    dense = said or is_dense(low, high, sum(high - low for low, high in filled))
    return (low, high) if dense else None


def _merge(exchange: Exchange, forests: list[Forest], merges: Sequence[Merge], slices: int) -> None:
    """Merge other members' forests into these, and send these to another member, as planned."""
    threads = exchange.resources.threads
    for source, target in merges:
        if target == exchange.rank:
            for forest in forests:
                for entries in _receive_slices(exchange, source):
                    forest.absorb(entries, threads=threads)
        elif source == exchange.rank:
            for forest in forests:
                _send(exchange, target, forest, slices)
            return
    flatten(forests, threads)


def _send(exchange: Exchange, to: int, forest: Forest, slices: int) -> None:
    least = 1 if on_device(forest.parent) else -(-len(forest.parent) // SLICE)
    cut = forest.cut(max(slices, least))
    places = [(part.base, part.size, part.first) for part in cut]
    exchange.send_to(to, np.array(places, "int64").ravel())
    for part in cut:
        exchange.send_to(to, part.parent)
        exchange.send_to(to, part.seen)


def _receive_slices(exchange: Exchange, source: int) -> Iterator[Entries]:
    for base, size, first in exchange.receive_from(source).reshape(-1, 3).tolist():
        parent, seen = exchange.receive_from(source), exchange.receive_from(source)
        yield Entries(base, size, first, parent, seen)


def _own_range(
    exchange: Exchange, forests: list[Forest], homes: Sequence[int] | None
) -> LabelRange:
    """Return the entries of this member's range of the vertices. The first member sends them."""
    if exchange.rank:
        base, first, last = exchange.receive_from(0).tolist()
        seen, *parents = [exchange.receive_from(0) for _ in range(len(forests) + 1)]
        return LabelRange(base, first, last, seen, parents)
    base = forests[0].base
    if homes is None:
        low, high = forests[0].occupied()
        homes = [low + (high - low) * i // exchange.size for i in range(exchange.size + 1)]

    def entries(rank: int) -> LabelRange:
        first, last = homes[rank : rank + 2]
        rows = slice(first - base, last - base)
        parents = [forest.parent[rows] for forest in forests]
        return LabelRange(base, first, last, forests[0].seen[rows], parents)

    for to in range(1, exchange.size):
        *place, seen, parents = entries(to)
        exchange.send_to(to, np.array(place, "int64"))
        for array in (seen, *parents):
            exchange.send_to(to, array)
    return entries(0)
