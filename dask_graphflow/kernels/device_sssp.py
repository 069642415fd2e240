"""Shortest paths on the device: near and far piles [1]_; :mod:`.host_sssp` has the twins.

A vertex that comes nearer than a limit goes onto the near pile, any other onto the far pile. The near
pile is relaxed, turn by turn, until there is none; then the limit is raised, and the far pile gone
through. One launch does this over and over while piles are small, one block alone while they are very
small. A large near pile is a launch of its own, in which warps have as many edges each.

The distances are the host's, to the last bit: each is the least of the sums along paths.

.. [1] A. Davidson, S. Baxter, M. Garland, J. D. Owens, "Work-Efficient Parallel GPU Methods for
   Single-Source Shortest Paths", IPDPS 2014.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import index_dtype
from .device import namespace as cupy
from .device_advance import gather_degrees, to_words
from .device_bfs import UNSEEN, near
from .device_pagerank import floats
from .host_rows import Rows
from .launching import NULL, launch, launch_gang
from .sources import instance

__all__ = ["HUBS_FIRST", "Buckets", "bucket_width", "predecessors", "relax", "weigh"]

HUBS_FIRST = True  # distances that are read most often are to lie together
FEW = 1 << 18  # edges of a near pile that is relaxed in the same launch as the next ones
LONG = 1 << 11  # edges of a row that is too long for it, where a warp has each of the longer rows
STEPS = 1 << 14  # turns of a launch at most: other work may wait for it to end

_LISTED = [("count", "i8"), ("edges", "i8"), ("largest", "i8")]
_FOUND = np.dtype([("near", _LISTED), ("far", "i8"), ("least", "u8")])
_GOING = np.dtype(
    [
        *(("near", _LISTED), ("far", "i8"), ("least", "u8"), ("limit", "f8")),
        *(
            ("delta", "f8"),
            ("cutoff", "f8"),
            ("turn", "i8"),
            ("near_side", "i8"),
            ("far_side", "i8"),
        ),
        *(
            (name, "i8")
            for name in ("vertices", "edges", "steps", "most_steps", "most_edges", "longest")
        ),
        *(("sets", _FOUND, 3), ("arrived", "u8")),
    ]
)
_SEARCH = np.dtype([("arrays", "u8", 10)])


class Buckets:
    """The piles of a search, and the distances that they are of; see :class:`.host_sssp.Buckets`.

    Parameters
    ----------
    distance : array of float64, shape (V,)
        Infinity but at sources; :func:`relax` changes it in place.
    sources : array of integers
        The vertices to begin with, each once.
    delta : float
        By how much the limit is raised, more than 0.
    threads : int
        Left alone.
    """

    def __init__(self, distance: Any, sources: Any, delta: float, *, threads: int = 1) -> None:
        size = len(distance)
        self.distance = distance
        self._turns = cupy.zeros(size, "uint32")
        self._waiting = cupy.zeros(-(-size // 32), "uint32")
        self._near: Any = sources[None]
        self._far: Any = None  # made with the type of a graph's ends, once there is one
        self._going = np.zeros(1, _GOING)
        self._going["delta"] = self._going["limit"] = delta
        self._going["near"]["count"] = len(sources)
        self._going["least"] = np.iinfo("u8").max

    @property
    def counts(self) -> dict[str, int]:
        """Edges and vertices relaxed so far."""
        return {name: int(self._going[name][0]) for name in ("edges", "vertices")}

    def take(self) -> Any:
        """Return the near pile; where there is none, the far pile; none when all are done."""
        going = self._going[0]
        piles, side, count = self._near, going["near_side"], going["near"]["count"]
        if not count:
            piles, side, count = self._far, going["far_side"], going["far"]
        return piles[int(side), : int(count)]


def relax(rows: Rows, buckets: Buckets, frontier: Any, *, cutoff: float = np.inf) -> None:
    """Relax the edges of the near pile, and go on while piles are small; wait, to report.

    `frontier` is what :meth:`Buckets.take` returned; the other parameters are those of
    :func:`.host_sssp.relax`.
    """
    weights, going = floats(rows.weights), buckets._going
    if buckets._far is None:
        shape = 2, len(buckets.distance)
        buckets._near, buckets._far = (cupy.empty(shape, rows.ends.dtype) for _ in range(2))
        buckets._near[0, : len(frontier)] = frontier
        frontier = buckets.take()
    going["cutoff"], going["steps"], going["most_steps"] = cutoff, 0, STEPS
    going["most_edges"], going["longest"] = FEW, LONG
    going["sets"], going["arrived"] = 0, 0
    going["sets"]["least"] = np.iinfo("u8").max
    arrays = (
        *(rows.offsets, rows.ends, weights, buckets.distance, buckets._turns, buckets._waiting),
        *(*buckets._near, *buckets._far),
    )
    search = np.array(([array.data.ptr for array in arrays],), _SEARCH)
    pile = going[0]["near"]
    costs = None
    if int(pile["count"]):
        if not int(going[0]["turn"]):  # the sources: nobody has counted their edges
            costs = gather_degrees(rows.offsets, frontier)
            sizes = cupy.diff(costs)
            pile["edges"], pile["largest"] = cupy.stack([sizes.sum(), sizes.max()]).get().tolist()
        if int(pile["edges"]) <= FEW and int(pile["largest"]) <= LONG:
            costs = None
        elif costs is None:
            costs = gather_degrees(rows.offsets, frontier)
    there = cupy.asarray(going.view("i8"))
    if costs is None:
        launch_gang(instance("relax_on", rows.ends.dtype, weights.dtype), search, there)
        buckets._going = there.get().view(_GOING)
        return
    kernel = instance("relax", rows.ends.dtype, weights.dtype)
    launch(kernel, len(rows.ends) // 8, search, costs, there)
    going[:] = there.get().view(_GOING)
    found = going[0]["sets"][0].copy()
    going["vertices"] += pile["count"]
    going["edges"] += pile["edges"]
    going["turn"] += 1
    going["near_side"] = 1 - going["near_side"]
    going["near"], going["least"] = found["near"], min(going[0]["least"], found["least"])
    going["far"] += found["far"]


def predecessors(
    rows: Rows, distance: Any, sources: Any, *, names: Any = None, threads: int = 1
) -> Any:
    """Find the smallest predecessor of every vertex; see :func:`.host_sssp.predecessors`.

    With `names`, None where some vertices are as far away as what leads to them: ask without, then.
    """
    dtype, weights = rows.ends.dtype, floats(rows.weights)
    predecessor = cupy.full(len(distance), np.iinfo(dtype).max, dtype)
    alike = cupy.zeros(1, "uint32")
    if len(rows.ends):
        launch(
            instance("offer_nearer", rows.ends.dtype, weights.dtype),
            len(rows.ends) // 8,
            rows.offsets,
            rows.ends,
            weights,
            np.uint64(len(distance)),
            NULL if names is None else names.astype(dtype, copy=False),
            distance,
            predecessor,
            alike,
        )
    if int(alike[0]):
        if names is not None:
            return None
        _settle(rows, weights, distance, sources, predecessor)
    narrow = np.dtype(index_dtype(len(distance)))
    if dtype != narrow:
        predecessor = cupy.minimum(predecessor, np.iinfo(narrow).max).astype(narrow)
    return predecessor


def _settle(rows: Rows, weights: Any, distance: Any, sources: Any, predecessor: Any) -> None:
    """Search from all vertices that have a predecessor, along edges that weigh nothing."""
    settled = predecessor != np.iinfo(predecessor.dtype).max
    settled[sources] = True
    level = cupy.where(settled, 0, UNSEEN).astype("int32")
    frontier = cupy.flatnonzero(settled).astype(predecessor.dtype)
    seen, depth = to_words(frontier, len(distance)), 1
    kernels = (
        instance("bfs_push_weightless", rows.ends.dtype, weights.dtype),
        instance("bfs_run_weightless", rows.ends.dtype, weights.dtype),
    )
    condition, state = (distance, weights), (seen, predecessor, level)
    how: dict[str, Any] = {"levels": len(distance), "dense": (0, 0, False)}
    while len(frontier):
        frontier, sizes, _ = near(*kernels, condition, rows, frontier, *state, depth, **how)
        depth += len(sizes)


def bucket_width(mean: float, degree: float) -> float:
    """Return by how much the limit is raised, for weights of such a mean and so many edges a vertex.

    Of 1/2 to 64 times the mean weight over the mean degree, 4 was the fastest on R-MAT 26; Davidson et
    al. [1]_ take 32.
    """
    return 4 * mean / degree


def weigh(weights: Any, *, threads: int = 1) -> tuple[int, float]:
    """Return how many weights are negative or no number, and the mean of the finite ones."""
    values = floats(weights)
    found = cupy.zeros(3, "int64")  # the last one is the sum, a float
    if len(values):
        launch(instance("weigh", values.dtype), len(values), values, np.uint64(len(values)), found)
    wrong, finite, total = found.get()
    return int(wrong), float(total.view("f8")) / max(1, int(finite))
