"""Workloads: an R-MAT graph, and the work on it whose speed each rate measures.

All work is done by the operators, as in a gang with one member.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from dask_graphflow.algorithms.bfs import breadth_first
from dask_graphflow.algorithms.label_propagation import label_propagation
from dask_graphflow.algorithms.sssp import sssp
from dask_graphflow.comm.channel import in_process
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.components.forest import Forest
from dask_graphflow.graph import generate
from dask_graphflow.graph.build import build
from dask_graphflow.graph.edgelist import Ends
from dask_graphflow.graph.partition import GRAIN
from dask_graphflow.graph.reading import Piece
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import index_dtype, kernels_of
from dask_graphflow.operators.pull import Pull
from dask_graphflow.operators.view import GraphView

from .model import SORTED

__all__ = ["EDGE_FACTOR", "NUMBERED", "Workloads"]

EDGE_FACTOR = 16  # edges per vertex
NUMBERED = 2  # edges per vertex whose ids are numbered
LEAST_NUMBERED = 1 << 19  # but at least this many edges, if the graph has them
PIECES = 4  # partitions of these edges
DRAWN = 18  # largest scale that is drawn edge by edge on the host
DAMPING = 0.85
# These turn numbers into ids that are far apart and unordered; all products differ.
SPREAD, FARTHEST = 0x1E3779B97F4A7C15, (1 << 62) - 1

Work = tuple[int, Callable[[Any], object]]  # units that a rate counts, and the work of one turn


class Workloads:
    """An R-MAT graph, and the work on it that is timed.

    A method named after a rate returns a tuple: the number that the rate counts (edges or vertices), the
    work of one turn, and, if each turn needs a new argument, a function that makes it.

    Parameters
    ----------
    kernels : module
        Kernels of the host or of the device.
    scale : int
        Binary logarithm of the number of vertices.
    threads : int
        Host threads to use.
    """

    def __init__(self, kernels: ModuleType, scale: int, threads: int) -> None:
        self.kernels, self.size, self.threads = kernels, 1 << scale, threads
        self.source, self.target = _edges(kernels.namespace, scale)

    def hooks(self) -> Work:
        """Return the work of making a forest of all edges."""
        return len(self.source), lambda _: self.forest(slice(None))

    def merges(self) -> tuple[int, Callable[[Forest], object], Callable[[], Forest]]:
        """Return the work of merging the forests of two halves of the edges."""
        half = len(self.source) // 2
        other = self.forest(slice(half, None))

        def merge(own: Forest) -> None:
            own.absorb(other, threads=self.threads)

        return self.size, merge, lambda: self.forest(slice(half))

    def builds(self) -> Work:
        """Return the work of making the rows of all edges; each edge counts twice."""
        return 2 * len(self.source), lambda _: self._made_rows()

    def deals(self) -> Work:
        """Return the work of assigning edges to two members, as in the build of an undirected graph."""
        kernels, shift = kernels_of("partition", self.source), GRAIN.bit_length() - 1
        grains = -(-self.size // GRAIN)
        owners = np.asarray(np.arange(grains) * 2 // grains, "int16", like=self.source)
        ends = [side.astype(index_dtype(self.size)) for side in (self.source, self.target)]
        how: dict[str, Any] = {"shift": shift, "threads": self.threads}

        def deal(_: Any) -> None:
            for side in ends:
                kernels.count_grains(side, grains, **how)
            for parts in kernels.parted(ends, *ends, owners, 2, **how):
                np.concatenate(parts)

        return 2 * len(self.source), deal

    def dense_ids(self) -> Work:
        """Return the work of a build before it makes rows, with dense ids."""
        return self._numbering(lambda numbers: numbers)

    def far_ids(self) -> Work:
        """Return the work of a build before it makes rows, with integer ids that are far apart."""
        return self._sorting(lambda numbers: numbers * SPREAD & FARTHEST)

    def text_ids(self) -> Work:
        """Return the work of a build before it makes rows, with text ids."""
        return self._sorting(lambda numbers: "vertex " + pd.Series(numbers).astype("str"))

    def _sorting(self, ids: Callable[[Any], Any]) -> Work:
        count, work = self._numbering(ids)
        some = self.source[: count // 2], self.target[: count // 2]
        return count + SORTED * len(np.unique(np.concatenate(some))), work

    def _numbering(self, ids: Callable[[Any], Any]) -> Work:
        """Return the work of numbering the ends of some edges; `ids` turns vertex numbers into ids."""
        count = min(len(self.source), max(NUMBERED * self.size, LEAST_NUMBERED))
        names = pd.Series(ids(np.arange(self.size)))
        source, target = (
            names.take(side[:count]).reset_index(drop=True) for side in (self.source, self.target)
        )
        cuts = list(itertools.pairwise(count * at // PIECES for at in range(PIECES + 1)))
        ends = [
            [
                Ends(pd.DataFrame, {"vertex": side.iloc[cut]})
                for cut in itertools.starmap(slice, cuts)
            ]
            for side in (source, target)
        ]
        pieces = [
            Piece(tail, head, None, at) for at, (tail, head) in enumerate(zip(*ends, strict=True))
        ]

        def number(_: Any) -> None:
            build(in_process(1)[0], pieces, 0, directed=True, multi="keep", turned=True)

        return 2 * count, number

    def pulls(self) -> Work:
        """Return the work of an iteration of PageRank."""
        g = self._view()
        pull = Pull(g)
        share, _ = pull.shares("float64")
        rank = pull.take(g.column(1 / pull.count, "float64"))
        base = g.column((1 - DAMPING) / pull.count, "float64", 1)
        pull.begin(rank, pull.take(share))
        return pull.edges, lambda _: pull.update(rank, base, DAMPING)

    def searches(self) -> Work:
        """Return the work of a breadth-first search from the vertex with the most edges."""
        g = self._view()
        start = _hub(g)
        return g.edges, lambda _: breadth_first(g, start)

    def paths(self) -> Work:
        """Return the work of shortest paths from the vertex with the most edges, with random weights."""
        numbers = _random(self.kernels.namespace, len(self._rows.ends))
        g = self._view((numbers / 65536).astype("float32"))
        start = _hub(g)
        return g.edges, lambda _: sssp(g, start)

    def labels(self) -> Work:
        """Return the work of the first iteration of label propagation, in which all labels differ."""
        g = self._view()
        return g.edges, lambda _: label_propagation(g, max_iter=1)

    def forest(self, part: slice) -> Forest:
        """Return the forest of some of the edges."""
        made = Forest(self.source, size=self.size)
        made.hook(self.source[part], self.target[part], threads=self.threads)
        made.compress(threads=self.threads)
        return made

    def _made_rows(self) -> Any:
        """Return the rows of the undirected graph."""
        make = kernels_of("rows", self.source).rows
        ends = self.source, self.target
        return make(*ends, count=self.size, undirected=True, threads=self.threads)

    _rows = cached_property(_made_rows)

    def _view(self, weights: Any = None) -> GraphView:
        """Return a view of the graph, in a gang with one member. Nothing is cached in its shard yet."""
        rows = self._rows._replace(weights=weights)
        shard = Shard(self.source[:0], [0, self.size], 0, rows, directed=False)
        exchange = Exchange(in_process(1)[0], device=shard.on_device)
        return GraphView(shard, exchange, self.threads)


def _hub(g: GraphView) -> Any:
    """Return the position of the vertex with the most edges."""
    return np.flatnonzero(g.degrees == g.degrees.max())[:1]


def _edges(library: Any, scale: int) -> tuple[Any, Any]:
    """Return the ends of an R-MAT graph's edges, as arrays of `library`."""
    drawn = scale if scale <= DRAWN else DRAWN - (scale - DRAWN) % 2
    frame = generate.rmat(drawn, edge_factor=EDGE_FACTOR, npartitions=1)
    frame = frame.compute(scheduler="synchronous")
    ends = [library.asarray(np.ascontiguousarray(frame[name])) for name in ("src", "dst")]
    for _ in range(drawn, scale, 2):
        ends = _grown(library, *ends)
    return ends[0], ends[1]


def _grown(library: Any, source: Any, target: Any) -> list[Any]:
    """Return a graph of four times the vertices and edges: R-MAT's next two levels, drawn for each edge.

    They are drawn from integers only, where the kernels run. A host takes a minute for the largest graph.
    """
    chances = np.outer(generate.QUADRANTS, generate.QUADRANTS).ravel()
    cuts = np.rint(np.cumsum(chances) * 65536).astype(int)
    both = np.repeat(np.arange(16), np.diff(cuts, prepend=0))  # two quadrants of two bits each
    places = _random(library, 4 * len(source))
    grown = []
    for ends, shift in ((source, 1), (target, 0)):
        bits = (both >> shift + 2 & 1) << 1 | both >> shift & 1
        grown.append(ends.repeat(4) * 4 + library.asarray(bits)[places])
    return grown


def _random(library: Any, count: int) -> Any:
    """Return pseudo-random numbers from 0 to 65535, the same each time."""
    numbers = library.arange(count, dtype="uint64") * np.uint64(0x9E3779B97F4A7C15)
    numbers ^= numbers >> np.uint64(32)
    numbers *= np.uint64(0xBF58476D1CE4E5B9)
    return (numbers >> np.uint64(48)).astype("int64")
