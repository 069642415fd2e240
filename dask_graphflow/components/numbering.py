"""Numbers for ids that are not dense integers. They are chosen between the hooks and the merges.

A sample of each chain's ids cuts their order into one range per owner. An owner merges the ids of its range
from all chains, and answers each chain with their indices. So no task has all ids.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from dask_graphflow.exceptions import WorkerLostError
from dask_graphflow.graph import frames
from dask_graphflow.graph import renumber as ids_of
from dask_graphflow.graph.renumber import is_dense
from dask_graphflow.kernels import index_dtype, kernels_for, sorted_unique

from .forest import Forest
from .fragments import Fragment, moved


class Survey(NamedTuple):
    """Facts about a fragment: the range of its ids if dense, otherwise a sample of ids; its fingerprint."""

    low: Any
    high: Any
    ids: Any
    fingerprint: tuple[Any, ...]


class Numbering(NamedTuple):
    """How the vertices of the whole graph are numbered.

    Attributes
    ----------
    bounds : list of int or None
        If the ids are dense, the vertices where the parts of the result begin, and where the last one ends.
    cuts : frame or None
        If the ids are not dense, the ids at which the owners' ranges are cut.
    fingerprints : list of tuple
        The fingerprint of each chain's fragment.
    """

    bounds: Any
    cuts: Any
    fingerprints: list[tuple[Any, ...]]


def survey(fragment: Fragment) -> Survey:
    """Return the facts about a fragment from which the numbering is chosen."""
    if not fragment.dense:
        return Survey(None, None, ids_of.sample(fragment.ids), fragment.fingerprint())
    forest = fragment.forests[0]
    # The ids of a dense fragment are not listed, so `fragment.ids` is empty.
    return Survey(forest.base, forest.stop, fragment.ids, fragment.fingerprint())


def number(surveys: list[Survey], owners: int, shares: int = 1) -> Numbering:
    """Choose the numbering."""
    fingerprints = [survey.fingerprint for survey in surveys]
    ranges = [None if s.low is None else (s.low, s.high) for s in surveys]
    if common := common_range(ranges):
        low, high = common
        parts = owners * shares
        bounds = [low + (high - low) * i // parts for i in range(parts + 1)]
        return Numbering(bounds, None, fingerprints)
    loose = [s.ids for s in surveys if s.low is None]
    empty = frames.empty_like(surveys[0].ids)
    filled = sorted({one for one in ranges if one is not None and one[1] > one[0]})
    dense = [ids_of.sample_range(low, high, empty) for low, high in filled]
    return Numbering(None, ids_of.splitters([*loose, *dense], owners), fingerprints)


def common_range(
    ranges: Sequence[tuple[int, int] | None], *, said: bool = False
) -> tuple[int, int] | None:
    """Return the range of all ids if it is dense, and None otherwise.

    Parameters
    ----------
    ranges : sequence of pairs of int
        The first id of each dense fragment, and one past the last. None for a fragment that is not dense.
    said : bool
        Whether the caller says that the ids are dense.
    """
    if None in ranges:
        return None
    # The chains of one process share a forest, so their ranges are the same: count each range once.
    filled = {one for one in ranges if one is not None and one[1] > one[0]}
    low = min((low for low, _ in filled), default=0)
    high = max((high for _, high in filled), default=0)
    dense = said or is_dense(low, high, sum(high - low for low, high in filled))
    return (low, high) if dense else None


def piece(fragments: list[Fragment], numbering: Numbering, owner: int) -> list[Any] | None:
    """Return the ids of some fragments in an owner's range; None if the ids are dense."""
    if numbering.bounds:
        return None
    return [ids_of.piece(one.numbered().ids, numbering.cuts, owner) for one in fragments]


def own(pieces: list[list[Any] | None]) -> tuple[Any, list[Any]] | None:
    """Return an owner's ids in order and, for each chain, the index among them of each id it sent."""
    sent = [piece for part in pieces for piece in part or ()]
    return ids_of.merge(sent) if sent else None


def size(owned: tuple[Any, list[Any]] | None) -> int | None:
    """Return the number of ids that an owner has; None if the ids are dense."""
    return None if owned is None else len(owned[0])


def codes(owned: tuple[Any, list[Any]] | None, first: int, count: int) -> list[Any] | None:
    """Return the indices, among an owner's ids, of the ids that some chains sent to it."""
    return None if owned is None else owned[1][first : first + count]


def renumbered(
    fragment: Fragment,
    numbering: Numbering,
    chain: int,
    sizes: list[Any],
    codes: list[Any],
    place: int = 0,
) -> list[Forest]:
    """Return a fragment's forests over the vertices of the whole graph.

    Each entry of `codes` contains the answers of one owner to some chains. This chain's is at `place`.

    If a worker was lost after the numbering, its chains ran again on another worker, together with that
    worker's chains. Their fragment may then have a different form although it is equivalent.

    Raises
    ------
    WorkerLostError
        The ids of the fragment differ from the ids that were numbered.
    """
    if numbering.bounds:
        return fragment.over(numbering.bounds[0], numbering.bounds[-1])
    same = fragment.fingerprint() == numbering.fingerprints[chain]
    fragment = fragment.numbered()
    own = [answers[place] for answers in codes]
    if not same or len(fragment.ids) != sum(map(len, own)):
        raise WorkerLostError(
            "a worker was lost while the ids were numbered, and its part of the result was stored in "
            "another form when it was computed again: some workers have dense ids and others do not. "
            "Nothing is wrong with the edges; compute the result again"
        )
    xp = fragment.forests[0].kernels.namespace
    bounds = _bounds(sizes)
    dtype = index_dtype(bounds[-1])
    slots = [code.astype(dtype) + low for code, low in zip(own, bounds, strict=False)]
    return moved(fragment.forests, xp.concatenate(slots), bounds[-1])


def head(
    forests: list[Forest],
    owned: tuple[Any, list[Any]] | None,
    sizes: list[Any],
    owner: int,
    later: range,
) -> tuple[Any, Any] | None:
    """Return the roots in an owner's range that vertices in the `later` ranges have, and their ids."""
    if owned is None:
        return None
    ids, xp, bounds = owned[0], forests[0].kernels.namespace, _bounds(sizes)
    start, stop = bounds[later.start], bounds[later.stop]
    roots = sorted_unique(xp.concatenate([forest.parent[start:stop] for forest in forests]))
    roots = roots[(roots >= bounds[owner]) & (roots < bounds[owner + 1])]
    return roots, ids.iloc[roots - bounds[owner]]


def columns(
    roots: Sequence[Any], ids: Any, low: int, first: int, heads: Sequence[tuple[Any, Any]]
) -> list[Any]:
    """Return the columns of a share of an owner's range: the vertices, and their components.

    Parameters
    ----------
    roots : sequence of array
        The root of each vertex of the share, per threshold.
    ids : frame
        The ids of the owner's range.
    low : int
        The first vertex of the owner's range.
    first : int
        The share's first row in `ids`.
    heads : sequence of (array, frame)
        Roots in earlier ranges, ascending, and their ids.
    """
    xp = kernels_for(roots[0]).namespace
    before = xp.concatenate([xp.zeros(0, "int64"), *(own for own, _ in heads)])
    names = frames.stack([*(names for _, names in heads), ids.iloc[:0]])
    vertices = ids.iloc[first : first + len(roots[0])].reset_index(drop=True)
    result = [vertices[column] for column in vertices.columns]
    for own in roots:
        inside, outside = xp.flatnonzero(own >= low), xp.flatnonzero(own < low)
        # Take ids from both frames and reorder them. This copies only the ids of this share, and not
        # those of the whole range.
        other = names.iloc[xp.searchsorted(before, own[outside])]
        taken = frames.stack([ids.iloc[own[inside] - low], other])
        order = xp.empty(len(own), "int64")
        order[xp.concatenate([inside, outside])] = xp.arange(len(own))
        components = taken.iloc[order].reset_index(drop=True)
        result += [components[column] for column in ids.columns]
    return result


def share_of(
    forests: list[Forest], sizes: list[int], owner: int, share: int, shares: int
) -> tuple[list[Any], int, int]:
    """Return the roots in a share of an owner's range, the range's first vertex, and the share's row."""
    low, count = _bounds(sizes)[owner], sizes[owner]
    first, last = (count * i // shares for i in (share, share + 1))
    return [forest.parent[low + first : low + last] for forest in forests], low, first


def _bounds(sizes: list[int]) -> list[int]:
    """Return the first vertex of each owner's range, and one past the last."""
    return list(itertools.accumulate(sizes, initial=0))
