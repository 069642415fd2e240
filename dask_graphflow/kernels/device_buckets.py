"""Shortest paths on the device: near and far piles [1]_; :mod:`.host_buckets` has the twins.

A vertex that comes nearer than a limit goes onto the near pile, any other onto the far pile. Of the near
pile the light edges are relaxed, turn by turn, until there is none; then the heavy ones of all that was
near, once; then the limit is raised, and the far pile gone through. One launch does this over and over
while piles are small, one block alone while they are very small. A large pile is a launch of its own,
in which warps have as many edges each.

The distances are the host's, to the last bit: each is the least of the sums along paths.

.. [1] A. Davidson, S. Baxter, M. Garland, J. D. Owens, "Work-Efficient Parallel GPU Methods for
   Single-Source Shortest Paths", IPDPS 2014.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import index_dtype
from .csr import Rows
from .device import namespace as cupy
from .device_advance import to_words
from .device_pull import floats
from .device_search import UNSEEN, near
from .host_buckets import Light
from .launching import NULL, launch, launch_gang
from .sources import instance

__all__ = [
    "Buckets",
    "bucket_width",
    "light_first",
    "offer_level",
    "offer_nearer",
    "predecessors",
    "relax",
    "weigh",
]

FEW = 1 << 18  # edges of a near pile that is relaxed in the same launch as the next ones
LONG = 1 << 11  # edges of a row that is too long for it, where a warp has each of the longer rows
STEPS = 1 << 14  # turns of a launch at most: other work may wait for it to end

_LISTED = [("count", "i8"), ("edges", "i8"), ("largest", "i8")]
_FOUND = np.dtype([("near", _LISTED), ("settled", _LISTED), ("far", "i8"), ("least", "u8")])
_GOING = np.dtype(
    [
        *(("near", _LISTED), ("settled", _LISTED), ("far", "i8"), ("least", "u8"), ("limit", "f8")),
        *(
            ("delta", "f8"),
            ("cutoff", "f8"),
            ("turn", "i8"),
            ("first_turn", "i8"),
            ("settled_from", "i8"),
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
_SEARCH = np.dtype([("arrays", "u8", 12)])


class Buckets:
    """The piles of a search, and the distances that they are of; see :class:`.host_buckets.Buckets`.

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
        self._turns[sources] = 1
        self._waiting = cupy.zeros(-(-size // 32), "uint32")
        self._near: Any = sources[None]
        self._far: Any = None  # made with the type of a graph's ends, once there is one
        self._settled: Any = sources
        self._going = np.zeros(1, _GOING)
        self._going["delta"] = self._going["limit"] = delta
        self._going["near"]["count"] = self._going["settled"]["count"] = len(sources)
        self._going["turn"] = self._going["first_turn"] = 1
        self._going["least"] = np.iinfo("u8").max

    @property
    def counts(self) -> dict[str, int]:
        """Edges and vertices relaxed so far."""
        return {name: int(self._going[name][0]) for name in ("edges", "vertices")}

    def take(self) -> Any:
        """Return the near pile, else what is settled, else the far pile; none when all are done."""
        going = self._going[0]
        if int(going["near"]["count"]):
            return self._near[int(going["near_side"]), : int(going["near"]["count"])]
        if int(going["settled"]["count"]):
            first = int(going["settled_from"])
            return self._settled[first : first + int(going["settled"]["count"])]
        return self._far[int(going["far_side"]), : int(going["far"])]

    def least(self) -> float:
        """Return a distance that no waiting vertex is nearer than, infinite if none waits."""
        going, piles = self._going[0], []
        if count := int(going["near"]["count"]):
            piles.append(self._near[int(going["near_side"]), :count])
        if count := int(going["settled"]["count"]):
            first = int(going["settled_from"])
            piles.append(self._settled[first : first + count])
        if piles:
            return min(float(self.distance[pile].min()) for pile in piles)
        # Only the far pile waits, which the limit is raised for.
        return float(going["limit"]) if int(going["far"]) else np.inf


def light_first(rows: Rows, delta: float) -> Light:
    """Copy rows with the edges that weigh less than `delta` first."""
    weights = floats(rows.weights)
    ends, placed = cupy.empty_like(rows.ends), cupy.empty_like(weights)
    count = len(rows.offsets) - 1
    middle = cupy.empty(count, "int64")
    if count:
        launch(
            instance("light_first", ends.dtype, weights.dtype),
            32 * count,
            rows.offsets,
            rows.ends,
            weights,
            np.uint64(count),
            np.float64(delta),
            ends,
            placed,
            middle,
        )
    return Light(rows._replace(ends=ends, weights=placed), middle)


def relax(light: Light, buckets: Buckets, frontier: Any, *, cutoff: float = np.inf) -> None:
    """Relax the edges of the near pile, and go on while piles are small; wait, to report.

    The parameters are those of :func:`.host_buckets.relax`.
    """
    (offsets, ends, weights, _), middle = light
    assert weights is not None
    going = buckets._going
    if buckets._far is None:
        size = len(buckets.distance)
        buckets._near, buckets._far = (cupy.empty((2, size), ends.dtype) for _ in range(2))
        buckets._settled = cupy.empty(size, ends.dtype)
        buckets._near[0, : len(frontier)] = buckets._settled[: len(frontier)] = frontier
        between = middle[frontier]
        for pile, sizes in (
            ("near", between - offsets[frontier]),
            ("settled", offsets[frontier + 1] - between),
        ):
            counted = cupy.stack([sizes.sum(), sizes.max()]).get().tolist()
            going[pile]["edges"], going[pile]["largest"] = counted
    going["cutoff"], going["steps"], going["most_steps"] = cutoff, 0, STEPS
    going["most_edges"], going["longest"] = FEW, LONG
    arrays = (
        *(offsets, middle, ends, weights, buckets.distance, buckets._turns, buckets._waiting),
        *(*buckets._near, *buckets._far, buckets._settled),
    )
    search = np.array(([array.data.ptr for array in arrays],), _SEARCH)
    if int(going[0]["near"]["count"]):
        if _large(going[0]["near"]):
            _relax_large(light, search, buckets, settling=False)
            # At once: a pile that is relaxed is one superstep.
            if not int(going[0]["near"]["count"]) and _large(going[0]["settled"]):
                _relax_large(light, search, buckets, settling=True)
            return
    elif _large(going[0]["settled"]):
        _relax_large(light, search, buckets, settling=True)
        return
    there = _begun(going)
    launch_gang(instance("relax_on", ends.dtype, weights.dtype), search, there)
    buckets._going = there.get().view(_GOING)


def _large(pile: Any) -> bool:
    """Say whether a pile has more edges, or a longer row, than a launch goes on with."""
    return int(pile["edges"]) > FEW or int(pile["largest"]) > LONG


def _begun(going: Any) -> Any:
    """Return the numbers of a search on the device, with nothing counted yet."""
    going["sets"], going["arrived"] = 0, 0
    going["sets"]["least"] = np.iinfo("u8").max
    return cupy.asarray(going.view("i8"))


def _relax_large(light: Light, search: Any, buckets: Buckets, *, settling: bool) -> None:
    """Relax the light edges of a near pile, or the heavy ones of what is settled, in equal shares."""
    (offsets, ends, weights, _), middle = light
    assert weights is not None
    going, pile = buckets._going, buckets.take()
    between = middle[pile]
    sizes = offsets[pile + 1] - between if settling else between - offsets[pile]
    costs = cupy.zeros(len(pile) + 1, "int64")
    cupy.cumsum(sizes, out=costs[1:])
    there = _begun(going)
    kernel = instance("relax", ends.dtype, weights.dtype)
    launch(kernel, len(ends) // 8, search, costs, np.bool_(settling), there)
    going[:] = there.get().view(_GOING)
    now = going[0]
    found, settled = now["sets"][0].copy(), now["settled"]
    now["edges"] += settled["edges"] if settling else now["near"]["edges"]
    now["vertices"] += 0 if settling else now["near"]["count"]
    if settling:
        now["first_turn"] = now["turn"] + 1
        now["settled_from"] += settled["count"]
        settled["count"] = settled["edges"] = settled["largest"] = 0
    now["far"] += found["far"]
    now["least"] = min(now["least"], found["least"])
    now["turn"] += 1
    now["near_side"] = 1 - now["near_side"]
    now["near"] = found["near"]
    settled["count"] += found["settled"]["count"]
    settled["edges"] += found["settled"]["edges"]
    settled["largest"] = max(settled["largest"], found["settled"]["largest"])


def predecessors(
    rows: Rows, distance: Any, sources: Any, *, names: Any = None, threads: int = 1
) -> Any:
    """Find the smallest predecessor of every vertex; see :func:`.host_buckets.predecessors`.

    With `names`, None where some vertices are as far away as what leads to them: ask without, then.
    """
    dtype = rows.ends.dtype
    predecessor = cupy.full(len(distance), np.iinfo(dtype).max, dtype)
    if offer_nearer(rows, names, distance, predecessor):
        if names is not None:
            return None
        _settle(rows, floats(rows.weights), distance, sources, predecessor)
    narrow = np.dtype(index_dtype(len(distance)))
    if dtype != narrow:
        predecessor = cupy.minimum(predecessor, np.iinfo(narrow).max).astype(narrow)
    return predecessor


def offer_nearer(
    rows: Rows, names: Any, distance: Any, predecessor: Any, *, threads: int = 1
) -> bool:
    """Offer predecessors to what is farther away; see :func:`.host_buckets.offer_nearer`."""
    alike = cupy.zeros(1, "uint32")
    if len(rows.ends):
        dtype, weights = predecessor.dtype, floats(rows.weights)
        launch(
            instance("offer_nearer", dtype, weights.dtype),
            len(rows.ends) // 8,
            rows.offsets,
            rows.ends.astype(dtype, copy=False),
            weights,
            np.uint64(len(rows.offsets) - 1),
            NULL if names is None else names.astype(dtype, copy=False),
            distance,
            predecessor,
            alike,
        )
    return bool(alike[0])


def offer_level(
    rows: Rows, names: Any, distance: Any, predecessor: Any, settled: Any, frontier: Any
) -> Any:
    """Offer predecessors to what is as far away; see :func:`.host_buckets.offer_level`."""
    begin, sizes = rows.offsets[frontier], cupy.diff(rows.offsets)[frontier]
    stops = cupy.cumsum(sizes) if len(sizes) else sizes
    total = int(stops[-1]) if len(stops) else 0
    places = cupy.arange(total)
    row = cupy.searchsorted(stops, places, side="right")
    edge = begin[row] + places - (stops - sizes)[row]
    source, target = frontier[row], rows.ends[edge]
    here, weights = distance[source], floats(rows.weights)
    level = ~settled[target] & (here == distance[target]) & (here + weights[edge] == here)
    source, target = source[level], target[level]
    cupy.minimum.at(predecessor, target, names[source].astype(predecessor.dtype))
    return cupy.unique(target)


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

    Of 2 to 32 times the mean weight over the mean degree, 4 and 8 were the fastest on R-MAT 26; Davidson
    et al. [1]_ take 32.
    """
    return 8 * mean / degree


def weigh(weights: Any, *, threads: int = 1) -> tuple[int, float]:
    """Return how many weights are negative or no number, and the mean of the finite ones."""
    values = floats(weights)
    found = cupy.zeros(3, "int64")  # the last one is the sum, a float
    if len(values):
        launch(instance("weigh", values.dtype), len(values), values, np.uint64(len(values)), found)
    wrong, finite, total = found.get()
    return int(wrong), float(total.view("f8")) / max(1, int(finite))
