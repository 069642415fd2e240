"""Shortest paths on the device with near and far piles [1]_.

A vertex whose new distance is below a limit goes onto the near pile, and any other vertex onto the far
pile. The light edges of the near pile are relaxed, turn by turn, until the pile is empty. Then the heavy
edges of all vertices that were on it are relaxed once. After that the limit is raised, and the vertices of
the far pile are distributed again. One launch repeats these steps while the piles are small, with a single
block while they are very small. A large pile gets a launch of its own, in which all warps have the same
number of edges.

The distances are bit-identical to those of the host: each one is the smallest of the sums along paths.

.. [1] A. Davidson, S. Baxter, M. Garland, J. D. Owens, "Work-Efficient Parallel GPU Methods for
   Single-Source Shortest Paths", IPDPS 2014.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphflow.kernels import index_dtype
from dask_graphflow.kernels.advance.device import gather_sizes, to_words
from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.csr import Light, Reached, Rows
from dask_graphflow.kernels.launching import launch, launch_gang, read
from dask_graphflow.kernels.outbox import HOST_ENTRIES
from dask_graphflow.kernels.pull.device import floats
from dask_graphflow.kernels.search.device import UNSEEN, near
from dask_graphflow.kernels.sources import instance

SMALL_PILE = 1 << 18  # maximum edges of a near pile that shares a launch with the next piles
LONG = 1 << 11  # maximum edges of a row in such a launch, where a single warp takes a long row
AHEAD = 1 << 22  # edges that a member relaxes ahead in a round: this takes about as long as a round
STEPS = 1 << 14  # maximum turns per launch, since other work may wait for the launch to end

_LISTED = [("count", "i8"), ("edges", "i8"), ("largest", "i8")]
_FOUND = np.dtype([("near", _LISTED), ("settled", _LISTED), ("far", "i8"), ("least", "u8")])
_SIDES = "ahead turn first_turn settled_side near_side far_side"
_LIMITS = "vertices edges steps most_steps most_edges longest"
_GOING = np.dtype(
    [
        *(("near", _LISTED), ("settled", _LISTED), ("far", "i8"), ("least", "u8")),
        *((name, "f8") for name in ("limit", "delta", "cutoff", "horizon")),
        *((name, "i8") for name in (*_SIDES.split(), *_LIMITS.split())),
        *(("sets", _FOUND, 3), ("arrived", "u8")),
    ]
)
NOTHING = np.zeros(3, _FOUND)
NOTHING["least"] = np.iinfo("u8").max
_SEARCH = np.dtype([("arrays", "u8", 13)])


# The piles of a search. A position is a distance. Mirrors are put onto piles like other vertices, but they
# have no edges.
class DeviceBuckets:
    late = False  # no waiting vertex is nearer than lowest() says

    def __init__(self, light, distance, sources, delta, *, cutoff=np.inf, threads=1):
        size, self._owned = len(distance), len(light.rows.offsets) - 1
        self.distance = distance
        self._light = light = _with_mirrors(light, size - self._owned)
        assert light.rows.weights is not None
        self._ends, self._weights = light.rows.ends.dtype, light.rows.weights.dtype
        self._sent = distance[self._owned :].copy()
        self._mirror_distances = cupy.empty_like(self._sent)
        self._mirrors = cupy.empty(len(self._sent), self._ends)
        self._count = cupy.empty(1, "int64")
        # A few mirrors are also written to host memory: a copy from the device takes as long as a launch.
        capacity = min(len(self._sent), HOST_ENTRIES)
        self._host_lists = tuple(
            _pinned(*each) for each in ((1, "i8"), (capacity, self._ends), (capacity, "f8"))
        )
        self._turns = cupy.zeros(size, "uint32")
        self._turns[sources] = 1
        self._waiting = cupy.zeros(-(-size // 32), "uint32")
        near, far, settled = (cupy.empty((2, size), self._ends) for _ in range(3))
        self._near, self._far, self._settled = near, far, settled
        near[0, : len(sources)] = settled[0, : len(sources)] = sources
        self._going = _pinned(1, _GOING)  # copies to and from pinned memory take one transfer
        self._going[:] = np.zeros(1, _GOING)
        self._there = cupy.empty(_GOING.itemsize // 8, "int64")
        going = self._going[0]
        going["delta"] = going["limit"] = delta
        going["cutoff"], going["most_steps"] = cutoff, STEPS
        going["most_edges"], going["longest"] = SMALL_PILE, LONG
        going["turn"] = going["first_turn"] = 1
        going["least"] = np.iinfo("u8").max
        offsets, middle = light.rows.offsets, light.middle
        piles = cupy.zeros((2, len(_LISTED)), "int64")
        kernel, count = instance("measure_piles", self._ends), len(sources)
        launch(kernel, len(sources), offsets, middle, near[0], count, *piles)
        measured = read(piles).view(np.dtype(_LISTED))[:, 0]
        measured["count"] = len(sources)
        going["near"], going["settled"] = measured
        arrays = (
            *(offsets, middle, light.rows.ends, light.rows.weights, distance, self._turns),
            *(self._waiting, *near, *far, *settled),
        )
        self._search = np.array(([array.data.ptr for array in arrays],), _SEARCH)

    @property
    def counts(self):
        return {name: int(self._going[name][0]) for name in ("edges", "vertices")}

    def relax(self, low, most):
        going = self._going[0]
        near, settled = (going[pile] for pile in ("near", "settled"))
        if not (near["count"] or settled["count"] or going["far"]):
            return False
        if going["edges"] >= most and self.lowest() > low:
            return False
        if near["count"] and _large(near):
            self._relax_large(settling=False)
            # Settled in the same call, because relaxing a pile is one superstep.
            if not near["count"] and _large(settled):
                self._relax_large(settling=True)
        elif not near["count"] and _large(settled):
            self._relax_large(settling=True)
        else:
            going["horizon"], going["ahead"], going["steps"] = low, most, 0
            launch_gang(
                instance("relax_on", self._ends, self._weights), self._search, self._begun()
            )
            self._ended()
        return True

    def lowest(self):
        going, piles = self._going[0], []
        if count := int(going["near"]["count"]):
            piles.append(self._near[int(going["near_side"]), :count])
        if count := int(going["settled"]["count"]):
            piles.append(self._settled[int(going["settled_side"]), :count])
        if piles:
            least = cupy.full(1, np.inf)
            for pile in piles:
                kernel, size = instance("least_distance", self._ends), len(pile)
                launch(kernel, size, self.distance, pile, size, least)
            return float(read(least)[0])
        # Only vertices on the far pile wait. The limit will be raised for them.
        return float(going["least"].view("f8")) if int(going["far"]) else np.inf

    def offer(self, vertices, values):
        going = self._going
        kernel, count = instance("offer_distances", self._ends, self._weights), len(vertices)
        offered = vertices.astype(self._ends, copy=False), values, count
        launch(kernel, count, self._search, *offered, self._begun())
        self._ended()
        self._put(going[0]["sets"][0])

    def lowest_of(self, distances):
        return float(distances.min()) if len(distances) else np.inf

    def take_mirrors(self):
        size = len(self._sent)
        if not size:
            return self._mirrors, self._sent
        count, host_mirrors, host_distances = self._host_lists
        self._count.data.memset_async(0, self._count.nbytes)
        own = self.distance, self._owned, size, self._going["limit"][0], self._sent
        few = host_mirrors.ctypes.data, host_distances.ctypes.data, len(host_mirrors)
        found = self._mirrors, self._mirror_distances, *few, self._count
        launch(instance("take_mirrors", self._ends), size, *own, *found)
        self._count.get(out=count)  # waits for the kernel
        taken = slice(int(count[0]))
        if taken.stop <= len(host_mirrors):
            mirrors, distances = host_mirrors[taken], host_distances[taken]
        else:
            mirrors, distances = self._mirrors[taken], self._mirror_distances[taken]
        order = mirrors.argsort()
        return mirrors[order], distances[order]

    def _begun(self) -> Any:
        """Copy the state to the device, with its counts reset, and return it."""
        self._going["sets"], self._going["arrived"] = NOTHING, 0
        self._there.set(self._going.view("i8"))
        return self._there

    def _ended(self) -> None:
        """Wait until a launch has ended, and copy the state back from the device."""
        self._there.get(out=self._going.view("i8"))

    def _relax_large(self, *, settling: bool) -> None:
        """Relax the light edges of the near pile, or the heavy edges of settled vertices, in one launch."""
        (offsets, ends, _, _), middle = self._light
        now = self._going[0]
        if settling:
            pile = self._settled[int(now["settled_side"]), : int(now["settled"]["count"])]
            begins, stops = middle, offsets[1:]
        else:
            pile = self._near[int(now["near_side"]), : int(now["near"]["count"])]
            begins, stops = offsets, middle
        costs = gather_sizes(begins, stops, pile)
        kernel, there = instance("relax", self._ends, self._weights), self._begun()
        launch(kernel, len(ends) // 8, self._search, costs, np.bool_(settling), there)
        self._ended()
        settled = now["settled"]
        now["edges"] += settled["edges"] if settling else now["near"]["edges"]
        now["vertices"] += 0 if settling else now["near"]["count"]
        if settling:
            now["first_turn"] = now["turn"] + 1
            now["settled_side"] = 1 - now["settled_side"]
            settled["count"] = settled["edges"] = settled["largest"] = 0
        now["turn"] += 1
        now["near_side"] = 1 - now["near_side"]
        now["near"] = 0
        self._put(now["sets"][0])

    def _put(self, counts: Any) -> None:
        """Add the counts of the vertices that a launch put onto the piles."""
        now = self._going[0]
        for pile in ("near", "settled"):
            for name in ("count", "edges"):
                now[pile][name] += counts[pile][name]
            now[pile]["largest"] = max(now[pile]["largest"], counts[pile]["largest"])
        now["far"] += counts["far"]
        now["least"] = min(now["least"], counts["least"])


def _pinned(count: int, dtype: Any) -> np.ndarray:
    """Return an array in host memory that kernels can write to."""
    dtype = np.dtype(dtype)
    memory = cupy.cuda.alloc_pinned_memory(max(count, 1) * dtype.itemsize)
    return np.frombuffer(memory, dtype, count)


def light_first(rows, delta):
    weights = floats(rows.weights)
    ends, placed = cupy.empty_like(rows.ends), cupy.empty_like(weights)
    count = len(rows.offsets) - 1
    middle = cupy.empty(count, "int64")
    if count:
        kernel, into = instance("light_first", ends.dtype, weights.dtype), (ends, placed, middle)
        edges = rows.offsets, rows.ends, weights, count
        launch(kernel, 32 * count, *edges, np.float64(delta), *into)
    return Light(rows._replace(ends=ends, weights=placed), middle)


def _with_mirrors(light: Light, count: int) -> Light:
    """Return rows with an empty row for each mirror."""
    rows, middle = light
    if count:
        none = cupy.full(count, len(rows.ends), "int64")
        rows = rows._replace(offsets=cupy.concatenate([rows.offsets, none]))
        middle = cupy.concatenate([middle, none])
    return Light(rows, middle)


def _large(pile: Any) -> bool:
    """Return whether a pile has too many edges or too long a row to share a launch with the next piles."""
    return int(pile["edges"]) > SMALL_PILE or int(pile["largest"]) > LONG


def predecessors(rows, distance, sources, *, names=None, threads=1):
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


def offer_nearer(rows, names, distance, predecessor, *, threads=1):
    alike = cupy.zeros(1, "uint32")
    if len(rows.ends):
        dtype, weights = predecessor.dtype, floats(rows.weights)
        ends = rows.ends.astype(dtype, copy=False)
        names = None if names is None else names.astype(dtype, copy=False)
        edges = rows.offsets, ends, weights, len(rows.offsets) - 1
        kernel = instance("offer_nearer", dtype, weights.dtype)
        launch(kernel, len(ends) // 8, *edges, names, distance, predecessor, alike)
    return bool(read(alike)[0])


def offer_level(rows, names, distance, predecessor, settled, frontier):
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
    """Search from sources and vertices with a predecessor, along edges that do not add to the distance."""
    settled = predecessor != np.iinfo(predecessor.dtype).max
    settled[sources] = True
    level = cupy.where(settled, 0, UNSEEN).astype("int32")
    frontier = cupy.flatnonzero(settled).astype(predecessor.dtype)
    seen, depth = to_words(frontier, len(distance)), 1
    condition, reached = (distance, weights), Reached(seen, predecessor, level)
    limits: dict[str, Any] = {"levels": len(distance), "dense": (0, 0, False)}
    while len(frontier):
        frontier, _, sizes, _ = near(condition, rows, frontier, reached, depth, **limits)
        depth += len(sizes)


def bucket_width(mean, degree):
    # Factors from 2 to 32 were measured on R-MAT 26, and 4 and 8 were the fastest. Davidson et al. use 32.
    return 8 * mean / degree


def weigh(weights, *, threads=1):
    values = floats(weights)
    totals = cupy.zeros(3, "int64")  # the last one is the sum, a float
    if len(values):
        launch(instance("weigh", values.dtype), len(values), values, len(values), totals)
    wrong, finite, total = read(totals)
    return int(wrong), float(total.view("f8")) / max(1, int(finite))


new_buckets = DeviceBuckets
