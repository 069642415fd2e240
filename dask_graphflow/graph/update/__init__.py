"""The update of a graph: each member makes the next version of its shard from the current one.

The ids of a batch are *numbered* among those of the graph (:mod:`.number`). The edges of the batch become
pairs of numbers, and each member splices the pairs of its own vertices into its *rows* (:mod:`.rows`). If
ids are new, all numbers behind them grow, and so do the members' ranges. Their bounds have to be whole
grains, so a few rows *move* to a neighboring member (:mod:`.move`).

The rows of the simple graph are updated in the same way if they are cached. All other rows that were
derived are made again when they are needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph import derived, stored
from dask_graphflow.graph.build.number import ids_of_range
from dask_graphflow.graph.change import Change
from dask_graphflow.graph.numbering import occurs
from dask_graphflow.graph.shard import Shard
from dask_graphflow.graph.vertices import Vertices
from dask_graphflow.kernels import index_dtype, is_on_disk, move_to, on_device
from dask_graphflow.kernels.csr import Rows

from .batch import Batch, Pairs, check_found, ids_of_batch, pairs_of
from .move import cuts, full_grains, move_column, move_rows
from .number import Numbered, number
from .rows import Spliced, splice

__all__ = ["Batch", "update"]


def update(
    shard: Shard, exchange: Exchange, batch: Batch, *, multi: str, skip_missing: bool, base: str
) -> Shard:
    """Return a member's shard of the next version of a graph. All members call it, with the same batch.

    Raises
    ------
    EdgeListError
        An edge that should be deleted is not in the graph, unless `skip_missing` is true.
    WeightError
        A sum of weights does not fit their dtype.
    """
    threads = exchange.resources.threads
    here = shard.out.ends
    named = ids_of_batch(batch, here, threads)
    new = number(shard, exchange, named.ids, named.added)
    numbers, inserted = move_to(here, new.batch), named.inserted
    names = None if new.names is None else move_to(here, new.names)
    weights = None if batch.weights is None else move_to(here, batch.weights)
    known = (numbers[named.deleted[0]] >= 0) & (numbers[named.deleted[1]] >= 0)
    deleted = named.deleted[0][known], named.deleted[1][known]
    sides = [stored.OUT]
    if shard.directed and not exchange.all_sum(not shard.has(stored.INTO)):
        sides.append(stored.INTO)
    _check_room(shard, exchange, sides)
    size, (low, high) = new.bounds[-1], new.bounds[exchange.rank : exchange.rank + 2]

    def spliced(rows: Rows, *, turned: bool) -> tuple[Pairs, Spliced]:
        """Return the pairs of the whole batch, and this member's rows with its own pairs."""
        ends = (inserted[::-1], deleted[::-1]) if turned else (inserted, deleted)
        undirected = not shard.directed
        pairs = pairs_of(*ends, weights, numbers, undirected=undirected, threads=threads)
        own = pairs.part(low, high)
        how: dict[str, Any] = {"multi": multi, "threads": threads}
        return pairs, splice(rows, own, names, (low, high), size, **how)

    pairs, out = spliced(shard.out, turned=False)
    before, after = (np.concatenate(exchange.all_gather(one)) for one in out[1:])
    if not skip_missing:
        found = known.copy()
        found[known] = before[pairs.deleted]
        check_found(found, *batch.deleted)
    rows = {stored.OUT: out.rows}
    if _merges_simple(shard, exchange):
        simple, own = shard.made(stored.SIMPLE).out, pairs.part(low, high).without_loops()
        how: dict[str, Any] = {"multi": "first", "threads": threads}
        rows[stored.SIMPLE] = splice(simple, own, names, (low, high), size, **how).rows
    if stored.INTO in sides:
        rows[stored.INTO] = spliced(shard.made(stored.INTO), turned=True)[1].rows
    dtype = index_dtype(size)
    change = Change(base, pairs.sources.astype(dtype), pairs.targets.astype(dtype), before, after)
    return _shard(shard, exchange, new, rows, change)


def _check_room(shard: Shard, exchange: Exchange, sides: list[str]) -> None:
    """Check that the new rows fit in memory beside the old ones."""
    rows, resources = [shard.made(side) for side in sides], exchange.resources
    arrays = [array for one in rows for array in one[:3] if array is not None]
    nbytes = sum(one.nbytes for one in arrays if not (on_device(one) or is_on_disk(one)))
    resources.check_step(nbytes, lambda: resources.used() + nbytes, "update its edges")


def _merges_simple(shard: Shard, exchange: Exchange) -> bool:
    """Return whether all members have the rows of the simple graph in memory, and room for new ones."""
    merges = False
    if shard.has(stored.SIMPLE):
        ends = shard.made(stored.SIMPLE).out.ends
        merges = not is_on_disk(ends) and exchange.resources.fits(ends.nbytes)
    return not exchange.all_sum(not merges)


def _shard(
    shard: Shard, exchange: Exchange, new: Numbered, sides: dict[str, Rows], change: Change
) -> Shard:
    """Return the shard with new rows, after rows moved between members."""
    rank, ids, bounds = exchange.rank, new.ids, new.bounds
    exists = None if ids is not None else _exists(shard, exchange, new)
    want = full_grains(bounds)
    if want != bounds:
        parts = cuts(exchange, bounds, want)
        sides = {name: move_rows(exchange, rows, parts, want[rank]) for name, rows in sides.items()}
        if ids is None:
            exists = move_column(exchange, exists, parts)
        else:
            vertices = Vertices(shard.like, bounds[-1], ids=ids, first=bounds[rank])
            ids = ids_of_range(exchange, vertices, want)
    made = Shard(
        shard.like,
        want,
        rank,
        sides[stored.OUT],
        directed=shard.directed,
        base=new.base,
        ids=ids,
        choice=shard.choice,
        for_device=shard.for_device,
        change=change,
    )
    if stored.INTO in sides:
        made.kept(stored.INTO, lambda: sides[stored.INTO])
    if exists is not None:
        made.kept(stored.OCCURS, lambda: exists)
    if stored.SIMPLE in sides:
        derived.derive(
            stored.SIMPLE, made, exchange, lambda: sides[stored.SIMPLE], directed=made.directed
        )
    return made


def _exists(shard: Shard, exchange: Exchange, new: Numbered) -> Any:
    """Return which integers of this member's new range are vertices: those before, and the new ones."""
    low, high = new.bounds[exchange.rank : exchange.rank + 2]
    old = occurs(shard, exchange)
    if not len(new.fresh):
        return old
    exists = np.zeros_like(old, shape=high - low)
    start = shard.low + shard.base - new.base - low
    exists[start : start + len(old)] = old
    fresh = move_to(old, new.batch)[move_to(old, new.fresh)]
    exists[fresh[(fresh >= low) & (fresh < high)] - low] = True
    return exists
