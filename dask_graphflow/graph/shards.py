"""Shards: a graph's edges in one process, by ranges of vertices, in the layouts that algorithms ask for.

Vertices are cut into contiguous ranges. A shard has the *rows* of one range: of the edges that leave its
vertices, to push along, or of those that enter them, to pull along; which are the same where edges have no
direction. Rows are made when they are first asked for. The edge list is given up for the first, and what
is made later is made of those.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dask_graphflow.kernels import kernels_for, kernels_of

from .hubs import has_hubs, inverse
from .memo import Kept
from .partition import chunk
from .vertices import Vertices

__all__ = ["Labelled", "Shards", "has_hubs", "inverse", "self_loops"]

SAMPLED = 16  # one edge in so many is counted to find hubs


class Labelled(NamedTuple):
    """Rows by labels.

    Attributes
    ----------
    rows : Rows
    labels, names : array of integers, shape (V,), or None
        Each vertex's label, and each label's vertex; None for rows by vertices.
    """

    rows: Any
    labels: Any
    names: Any


class Shards(Kept):
    """A graph in one process.

    Parameters
    ----------
    vertices : Vertices
        What the numbers of vertices stand for.
    source, target : array of integers, shape (m,)
        The edges' ends, as numbers of vertices.
    weight : array, shape (m,), or None
        The edges' weights.
    directed : bool
        Whether an edge leads from its source to its target only.
    multi : str
        What becomes of several edges from one vertex to another; see :func:`.host_rows.rows`.
    parts : int
        Ranges of vertices to cut into.
    threads : int
        Host threads to use.

    Attributes
    ----------
    size : int
        Numbers of vertices that there are, used or not.
    bounds : list of int
        Where the ranges of vertices begin, and the last one ends.
    """

    def __init__(
        self,
        vertices: Vertices,
        source: Any,
        target: Any,
        weight: Any = None,
        *,
        directed: bool = True,
        multi: str = "keep",
        parts: int = 1,
        threads: int = 1,
    ) -> None:
        super().__init__()
        self.vertices, self.size, self.directed = vertices, vertices.count, directed
        self._multi = multi
        self._edges: tuple[Any, Any, Any] | None = (source, target, weight)
        self.bounds = [0, self.size]
        if parts > 1:
            degrees = kernels_of("rows", source).degrees
            leaving, entering = (
                degrees(side, count=self.size, threads=threads) for side in (source, target)
            )
            self.bounds = chunk(kernels_for(source).to_host(leaving + entering), parts)

    def __sizeof__(self) -> int:
        edges = sum(int(side.nbytes) for side in self._edges or () if side is not None)
        return edges + super().__sizeof__()

    def out(self, threads: int = 1) -> list[Any]:
        """Return the rows of what leaves the vertices of each range."""
        return self._rows("out", threads)

    def into(self, threads: int = 1) -> list[Any]:
        """Return the rows of what enters the vertices of each range."""
        return self._rows("into" if self.directed else "out", threads)

    def whole(self, which: str = "out", threads: int = 1) -> Any:
        """Return the rows of what leaves ("out") or enters ("into") all vertices."""
        made = self.out(threads) if which == "out" else self.into(threads)
        if len(made) == 1:
            return made[0]
        starts = itertools.accumulate((len(one.ends) for one in made), initial=0)
        offsets = [one.offsets[:-1] + start for one, start in zip(made, starts, strict=False)]
        ends = np.concatenate([one.ends for one in made])
        weights = None
        if made[0].weights is not None:
            weights = np.concatenate([one.weights for one in made])
        offsets.append(np.array([len(ends)], like=ends))
        return made[0]._replace(offsets=np.concatenate(offsets), ends=ends, weights=weights)

    def hubs_first(self, which: str = "into", threads: int = 1) -> Labelled:
        """Return what :meth:`labelled` does, made once and kept."""
        which = which if self.directed else "out"
        found: Labelled = self.kept(f"hubs {which}", lambda: self.labelled(which, threads))
        return found

    def labelled(self, which: str = "into", threads: int = 1) -> Labelled:
        """Return the rows of what leaves ("out") or enters ("into") all vertices, by labels.

        Labels are numbers by descending degree, of the edges that rows are looked up from: on a power-law
        graph what belongs to hubs then lies together and stays in the cache. Of what enters, the last
        ones are those of numbers that no edge has. Where there are no hubs, rows are as they are.
        """
        rows = self.whole(which, threads)
        kernels = kernels_of("rows", rows.ends)
        whole = not self.directed or which == "into"
        if whole:
            degrees = self.out_degrees(threads)
        else:  # some of the edges tell hubs from others
            degrees = kernels.degrees(rows.ends[::SAMPLED], count=self.size, threads=threads)
        if not has_hubs(degrees):
            return Labelled(rows, None, None)
        if whole:
            degrees = 2 * degrees + self.occurs()
        labels = kernels.degree_labels(degrees)
        return Labelled(kernels.relabelled(rows, labels, threads=threads), labels, inverse(labels))

    def edges(self, threads: int = 1) -> int:
        """Return how many edges there are, with those that were made one counted once."""
        rows = self.out(threads)
        entries = sum(len(one.ends) for one in rows)
        if self.directed:
            return entries
        return (entries + sum(self_loops(one, threads) for one in rows)) // 2

    def out_degrees(self, threads: int = 1) -> Any:
        """Return how many edges leave each vertex, as int64."""
        return _joined([np.diff(one.offsets) for one in self.out(threads)])

    def in_degrees(self, threads: int = 1) -> Any:
        """Return how many edges enter each vertex, as int64."""
        return _joined([np.diff(one.offsets) for one in self.into(threads)])

    def occurs(self) -> Any:
        """Return which vertices have an edge, as truth values; not to be changed."""

        def make() -> Any:
            has = self.out_degrees() > 0
            if self.directed and "into" in self._made:
                has |= self.in_degrees() > 0
            elif self.directed:
                for one in self.out():
                    has[one.ends] = True
            return has

        return self.kept("occurs", make)

    def isolated(self) -> Any:
        """Return a bitmap of the vertices without an edge, in words of 64; not to be changed."""

        def make() -> Any:
            alone = np.flatnonzero(~self.occurs())
            return kernels_of("advance", alone).to_words(alone, self.size)

        return self.kept("isolated", make)

    def own(self, vertices: Any) -> list[Any]:
        """Return those of some vertices that lie in each range."""
        if len(self.bounds) == 2:
            return [vertices]
        bounds = np.array(self.bounds[1:-1], like=vertices)
        owners = np.searchsorted(bounds, vertices, side="right")
        return [vertices[owners == part] for part in range(len(self.bounds) - 1)]

    def _rows(self, which: str, threads: int) -> list[Any]:
        def make() -> list[Any]:
            how: dict[str, Any] = {"columns": self.size, "threads": threads}
            if self._edges is None:
                # By now several edges are one, where they are to be.
                other = self.whole("into" if which == "out" else "out", threads)
                make_rows = partial(kernels_of("rows", other.ends).transposed, other)
            else:
                source, target, weight = self._edges
                ends = (source, target) if which == "out" else (target, source)
                how |= {"undirected": not self.directed, "multi": self._multi}
                make_rows = partial(kernels_of("rows", source).rows, *ends, weight)
            made = [
                make_rows(first=low, count=high - low, **how)
                for low, high in itertools.pairwise(self.bounds)
            ]
            self._edges = None
            return made

        found: list[Any] = self.kept(which, make)
        return found


def _joined(parts: Sequence[Any]) -> Any:
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


def self_loops(rows: Any, threads: int = 1) -> int:
    """Return how many edges lead from a vertex to itself."""
    owners = kernels_of("rows", rows.ends).owners(rows, rows.ends.dtype, threads=threads)
    return int((owners == rows.ends).sum())
