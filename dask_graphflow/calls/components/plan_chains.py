"""The plan of a call: which chain hooks which partition, and how the forests are merged."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from dask_graphflow.calls.call import MOST_PARTS, PARTITIONS_PER_PART
from dask_graphflow.graph.edgelist import EdgeColumns
from dask_graphflow.graph.frames import empty_like
from dask_graphflow.kernels import on_device
from dask_graphflow.tasks import gang, gang_build, placement, plugins, trees
from dask_graphflow.tasks.expr import Empty, Held, Resident, as_computed, collection, find_held
from dask_graphflow.tasks.forest_expr import Chains, ForestGang
from dask_graphflow.tasks.gang_expr import Items
from dask_graphflow.tasks.progress import Progress, Tally

from .connected_components import Components
from .members import ComponentsMember, Edges, Partitions, Streams

logger = logging.getLogger(__name__)


def plan_components(
    frames: Sequence[tuple[Any, EdgeColumns]],
    columns: tuple[str, ...],
    empty: Empty,
    *,
    thresholds: Sequence[float],
    merge: str,
    merge_chunks: int,
    inputs: str | Sequence[str],
    chunk_size: int | None,
    streamed: bool,
    renumber: bool,
    listener: Any,
) -> Any:
    """Return the components of checked edges as a lazy frame with `columns`, like `empty`.

    `frames` are the edges, followed by the vertices and the seed, which are read as edges. `streamed`:
    edges in host memory are streamed to GPUs. See :func:`dask_graphflow.connected_components` for the
    options.
    """
    edges = frames[0][0]
    placement.check_spilling(edges._meta)
    sources, look = _find_sources(frames)
    chains = trees.chains(inputs, look.homes, look.slots)
    by_gang, reason = _choose_way(sources, look, inputs, streamed)
    way = "in one gang" if by_gang else "by separate tasks"
    logger.info("Connected components are computed %s: %s", way, reason)
    plugins.watch_calls()
    partitions = len(look.homes)
    if by_gang:
        # A list of vertices is sent to the worker that holds the first edges.
        chains = trees.by_home([home or look.homes[0] for home in look.homes])
    parts = min(MOST_PARTS, max(len(chains), partitions // PARTITIONS_PER_PART))
    members = len(chains) if by_gang else min(len(chains), len(look.slots.workers))
    shares = max(1, round(parts / members))
    progress = Progress(
        listener and Tally(listener, {"hook": partitions, "label": members * shares})
    )
    program = Components(
        frames=tuple(one for _, one in frames),
        columns=columns,
        thresholds=tuple(thresholds),
        partitions=partitions,
        chunk_size=chunk_size,
        sharing=min(look.slots.chains, -(-len(chains) // len(look.slots.workers))),
        streamed=streamed,
        dense=not renumber,
        progress=progress,
    )
    merges = trees.merge_policy(merge)(members)
    shards: Any
    if by_gang:
        dealt = gang_build.deal_chains(sources, chains)
        shards = gang_build.deal_as_held(sources, dealt)
        own: Edges = Partitions(program, dealt, look.slots.chains)
    else:
        if any(chain.worker for chain in chains):
            plugins.keep_pins()
        in_place = all(chain.home for chain in chains)
        if not in_place:  # only the columns that are needed are sent to another worker
            sources = [as_computed(frame, one.columns) for frame, one in frames]
        # If each chain runs in its own process, it makes its own forest.
        shared = len(chains) > 1 and not (in_place and len(chains) <= len(look.slots.workers))
        call = merges, merge_chunks, shares
        shards = Chains(program, chains, shared, members, call, *sources)
        own = Streams(program, Empty.of(empty_like(edges._meta)) if members > 1 else None)
    member = ComponentsMember(program, own, merges, merge_chunks, shares)
    labels = _run(shards, member, empty, streamed or on_device(edges._meta))
    plan = chains, merges, members * shares, members, not by_gang, reason
    return progress.of(collection(ForestGang(labels, *plan)))


def _find_sources(frames: Sequence[tuple[Any, EdgeColumns]]) -> tuple[list[Any], placement.Look]:
    """Return the frames as inputs of tasks, and what the scheduler knows about their partitions."""
    sources: list[Any] = []
    keys: list[Any] = []
    futures: list[Any] = []
    for frame, columns in frames:
        source = None if isinstance(frame, Held) else Resident.of(frame.expr)
        source = source or as_computed(frame, columns.columns)
        sources.append(source)
        own_keys, own_futures = find_held(source)
        keys += own_keys or [None] * source.npartitions
        futures += own_futures
    return sources, placement.look(keys, futures)


def _choose_way(
    sources: Sequence[Any], look: placement.Look, inputs: Any, streamed: bool
) -> tuple[bool, str]:
    """Return whether a gang computes the components or single tasks do, and the reason.

    A gang saves several levels of tasks, which take a cluster some milliseconds each. But each member takes
    all partitions on its worker at once, so they have to be in its memory already.
    """
    edges, *others = sources
    homes = look.homes
    if streamed:
        return False, "edges are streamed to GPUs"
    if inputs != "availability":
        return False, "inputs= names the workers"
    if not isinstance(edges, Resident) or None in homes[: edges.npartitions]:
        return False, "no workers hold the edges"
    if not look.spilled.isdisjoint(homes):
        return False, "a worker has spilled data to disk"
    if not all(isinstance(one, Resident) or one.npartitions == 1 for one in others):
        return False, "vertices= or seed= is read"
    return True, "workers hold the edges"


def _run(shards: Any, member: ComponentsMember, empty: Empty, alone: bool) -> Any:
    """Return the expression of a gang's result."""
    one = member.parts == 1
    run = gang.expression(shards, member, empty if one else None, name="components", alone=alone)
    return run if one else Items(run, tuple(range(member.parts)), empty)
