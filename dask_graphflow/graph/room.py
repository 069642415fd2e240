"""Whether a worker has room for the build of a graph: checked before each step that takes much memory.

Dask pauses a worker only between tasks, and its nanny ends a process that uses too much during a task. So
each step compares what it takes with what the worker has left. The error's figure is that of the whole
build and of a usual call after it: a limit that only suffices for this step would be of no use.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dask_graphflow.comm.resources import Resources
from dask_graphflow.kernels.memory import PROCESS

from . import dtypes
from .edgelist import Ends
from .memory_model import Part
from .vertices import base_of

SAMPLED = 64  # one of this many ids is sampled, by its hash, to estimate how many are distinct
HASHED = 1 << 18  # ids that are hashed at a time


class Plan(NamedTuple):
    """How a graph is built, as far as its memory depends on it."""

    # Number of partitions of the edges, and of members that build the graph.
    partitions: int
    members: int
    directed: bool
    on_disk: bool
    kept: bool  # whether the frame of the edges stays in the memory of the workers


class Room:
    """The memory of the worker of one member while it builds its part of a graph.

    Parameters
    ----------
    resources : Resources
        What the member may use of its worker.
    plan : Plan or None
        If None, or without a memory limit, nothing is checked.
    pieces : sequence of Piece
        The pieces that are known. If none has edges, nothing is checked.
    read : float
        Bytes of all pieces that the member has read, in multiples of those of `pieces`.
    whole : float
        The same for the pieces that the member will have read in the end.
    """

    def __init__(
        self,
        resources: Resources,
        plan: Plan | None,
        pieces: Sequence[Any],
        read: float = 1.0,
        whole: float = 1.0,
    ) -> None:
        pieces = [one for one in pieces if one.target is not None and len(one.source)]
        self._ends = [(one.source, one.target) for one in pieces]
        if plan is None or not pieces or not resources.memory_limit:
            self._ends = []
            return
        self._resources, self._plan = resources, plan
        self._read, self._whole = read, whole
        self._weight = max(0 if one.weight is None else one.weight.itemsize for one in pieces)
        self._sizes = [len(source) for source, _ in self._ends]
        first = pieces[0].source
        ids = sum(
            sum(one.nbytes for one in side.series.values()) for pair in self._ends for side in pair
        )
        self._id_bytes = ids / max(2 * sum(self._sizes), 1)
        self._integers = len(first.series) == 1 and dtypes.is_integer(first.only.dtype)
        resources.relieve()
        held = 0 if plan.on_disk else ids + self._weight * sum(self._sizes)
        self._process = max(PROCESS, resources.used() - held)

    def check(
        self,
        step: str,
        takes: Callable[[Part], float],
        *,
        vertices: int | None = None,
        spilled: int = 0,
    ) -> None:
        """Check that there is room for a step, or raise :class:`.GraphMemoryError`.

        `takes` returns the bytes that the step takes in addition to what is in memory. `vertices` is the
        number of vertices of the graph, once it is known; `spilled` the bytes of pieces that Dask has
        written to disk.
        """
        if not self._ends:
            return
        edges = sum(self._sizes)
        most = vertices or 2 * edges * self._read
        if self._resources.fits(takes(self._part(self._read, most)) + spilled):
            return
        seen = vertices or self._vertices(self._read)
        nbytes = takes(self._part(self._read, seen)) + spilled
        self._resources.check_step(nbytes, self._needed, step)

    def _needed(self) -> float:
        """Return the bytes that the whole build, and a usual call, take at most."""
        members = self._plan.members
        vertices = self._vertices(self._whole * members)
        return self._process + self._part(self._whole, vertices).needed()

    def _part(self, factor: float, vertices: float) -> Part:
        plan, span = self._plan, self._span(factor)
        return Part(
            edges=sum(self._sizes) * factor,
            vertices=vertices,
            id_bytes=self._id_bytes,
            weight_bytes=self._weight,
            pieces=-(-plan.partitions // plan.members),
            largest=max(self._sizes),
            members=plan.members,
            directed=plan.directed,
            integers=self._integers,
            dense=span is not None,
            same=span is not None and plan.members == 1 and span[0] == 0,
            on_disk=plan.on_disk,
            kept=plan.kept,
        )

    def _span(self, factor: float) -> tuple[int, int] | None:
        """Return the first id and the number of ids, if they are integers close together."""
        if not self._integers:
            return None
        sides = [side for pair in self._ends for side in pair if len(side)]
        bounds = [side.bounds or _bounds(side) for side in sides]
        low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
        edges = int(sum(self._sizes) * factor * self._plan.members)
        base = base_of(low, high, edges, sides[0].only.dtype)
        return None if base is None else (base, high - base + 1)

    def _vertices(self, factor: float) -> float:
        """Return about the number of vertices of `factor` times as many edges as those that are known."""
        span = self._span(factor)
        if span is not None:
            return span[1]
        halves = [_distinct(self._ends, parity) for parity in (0, None)]
        # The number of different words of a text grows as a power of its length (Heaps' law).
        power = min(max(math.log2(max(halves[1], 1) / max(halves[0], 1)), 0.0), 1.0)
        return float(halves[1] * max(factor, 1.0) ** power)


def _bounds(side: Ends) -> tuple[int, int]:
    return int(side.only.min()), int(side.only.max())


def _distinct(ends: Sequence[tuple[Ends, Ends]], parity: int | None) -> float:
    """Return about the number of distinct ids of all edges, or of those in every other block of edges."""
    found = [np.empty(0, "uint64")]
    for pair in ends:
        for at, low in enumerate(range(0, len(pair[0]), HASHED)):
            if parity is not None and at % 2 != parity:
                continue
            for side in pair:
                columns = {name: one.iloc[low : low + HASHED] for name, one in side.series.items()}
                hashes = pd.util.hash_pandas_object(pd.DataFrame(columns), index=False).to_numpy()
                found.append(np.unique(hashes[hashes % SAMPLED == 0]))
    return SAMPLED * len(np.unique(np.concatenate(found)))
