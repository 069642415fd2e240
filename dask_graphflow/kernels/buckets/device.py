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
from dask_graphflow.kernels.buckets import LISTS
from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.csr import Light, Reached, Rows
from dask_graphflow.kernels.device_peers import (
    COLUMNS,
    MEMBERS,
    NOTHING,
    TELLING,
    Column,
    address,
    gang,
    meet,
    meetings,
    meetings_of,
    pointers_of,
)
from dask_graphflow.kernels.launching import launch, launch_gang, read
from dask_graphflow.kernels.outbox import HOST_ENTRIES
from dask_graphflow.kernels.pull.device import floats
from dask_graphflow.kernels.search.device import UNSEEN, near
from dask_graphflow.kernels.sources import instance

SMALL_PILE = 1 << 18  # maximum edges of a near pile that shares a launch with the next piles
LONG = 1 << 11  # maximum edges of a row in such a launch, where a single warp takes a long row
AHEAD = 1 << 22  # edges that a member relaxes ahead in a round: this takes about as long as a round
STEPS = 1 << 14  # maximum turns per launch, since other work may wait for the launch to end

# The structs in buckets.cu.
_LISTED = np.dtype([("count", "i8"), ("edges", "i8"), ("largest", "i8")])
_COUNTS = [("near", _LISTED), ("settled", _LISTED), ("far", "i8"), ("least", "i8")]
_FOUND = np.dtype(_COUNTS)
_SIDES = "turn first_turn near_side settled_side far_side"
_STATE = np.dtype(
    [
        *_COUNTS,
        ("limit", "f8"),
        *((name, "i8") for name in f"{_SIDES} vertices edges steps".split()),
        *((name, "i8") for name in ("near_here", "settled_here", "far_here")),
    ]
)
_HEARD = np.dtype([("all", _FOUND), ("ends", "i8", LISTS)])
_GOING = np.dtype([("meetings", meetings_of(_FOUND, _HEARD)), ("now", _STATE)])
_LIMITS = np.dtype(
    [
        *((name, "f8") for name in ("delta", "cutoff", "horizon")),
        *((name, "i8") for name in ("ahead", "most_steps", "most_edges", "longest")),
    ]
)
_SEARCH = np.dtype(
    [
        *((name, "u8") for name in ("offsets", "middle", "ends", "weights", "most")),
        *((name, "u8", MEMBERS) for name in ("distance", "turns", "waiting")),
        *((name, "u8", MEMBERS) for name in ("lists", "tails", "sizes")),
    ]
)
PUT, TURN, SETTLE = (np.uint32(kind) for kind in range(3))


# The piles of a search. A position is a distance. Mirrors are put onto piles like other vertices, but they
# have no edges.
class DeviceBuckets:
    late = False  # no waiting vertex is nearer than lowest() says

    def __init__(self, light, distance, sources, delta, *, cutoff=np.inf, threads=1, shared=None):
        size, self._owned = len(distance), len(light.rows.offsets) - 1
        self.distance, self._shared = distance, shared
        self._light = light = _with_mirrors(light, size - self._owned)
        assert light.rows.weights is not None
        self._ends, self._weights = light.rows.ends.dtype, light.rows.weights.dtype
        self._peers = "false" if shared is None else "true"
        self._sent = distance[self._owned :].copy()
        self._mirror_distances = cupy.empty_like(self._sent)
        self._mirrors = cupy.empty(len(self._sent), self._ends)
        self._count = cupy.empty(1, "int64")
        # A few mirrors are also written to host memory: a copy from the device takes as long as a launch.
        capacity = min(len(self._sent), HOST_ENTRIES)
        self._host_lists = tuple(
            _pinned(*each) for each in ((1, "i8"), (capacity, self._ends), (capacity, "f8"))
        )
        if shared is None:
            self._gang, columns = gang(0, 1, [0, size]), _columns(distance, self._ends)
        else:
            self._gang, columns = shared.memory.gang, shared.begin(light)
        self._columns = columns  # kernels use their memory
        _, turns, _, lists, tails, _ = columns
        own = [one.own if isinstance(one, Column) else one for one in (turns, lists, tails)]
        most = len(own[1]) // LISTS
        self._lists = own[1][: LISTS * most].reshape(LISTS, most)
        own[0][sources] = 1
        for at in (0, 2):  # on the near pile, and on the settled one
            self._lists[at, : len(sources)] = sources
            own[2][at] = len(sources)
        rows = (*light.rows[:2], light.rows.weights)
        arrays = address(rows[0]), address(light.middle), *map(address, rows[1:]), most
        self._search = np.array((*arrays, *map(pointers_of, columns)), _SEARCH)
        self._limits = np.zeros((), _LIMITS)
        for name, value in {
            "delta": delta, "cutoff": cutoff, "most_edges": SMALL_PILE, "longest": LONG,
        }.items():  # fmt: skip
            self._limits[name] = value
        self._going = _pinned(1, _GOING)  # copies to and from pinned memory take one transfer
        self._going[:] = np.zeros(1, _GOING)
        self._now = now = self._going["now"][0]
        now["limit"], now["least"], now["turn"], now["first_turn"] = delta, NOTHING, 1, 1
        # Whether the state is on the device, with counts that are not part of it yet.
        self._begun = False
        self._there = cupy.empty(_GOING.itemsize // 8, "int64")
        kernel, count = instance("measure_piles", self._ends), len(sources)
        given = light.rows.offsets, light.middle, self._lists[0], count, self._begin()
        launch(kernel, count, *given)

    @property
    def counts(self):
        return {name: int(self._now[name]) for name in ("edges", "vertices")}

    def relax(self, low, most):
        now, kind, steps = self._now, PUT, STEPS
        if not self._begun:
            near, settled = now["near"], now["settled"]
            if not (near["count"] or settled["count"] or now["far"]):
                return False
            if now["edges"] >= most and self.lowest() > low:
                return False
            kind, pile = (TURN, near) if near["count"] else (SETTLE, settled)
            if _large(pile):
                steps = STEPS if now["edges"] + pile["edges"] < most else 0
                self._relax_large(settling=kind == SETTLE)
            else:
                kind = PUT
        limits = self._limits
        limits["horizon"], limits["ahead"], limits["most_steps"] = low, most, steps
        kernel = instance("relax_on", self._ends, self._weights, self._peers)
        launch_gang(kernel, self._gang, self._search, limits, kind, self._begin())
        self._there.get(out=self._going.view("i8"))  # waits for the kernel
        self._begun = False
        if self._shared is not None:
            self._shared.memory.check(self._going["meetings"]["failed"][0])
        return True

    def lowest(self):
        now = self._now
        if not (now["near"]["count"] or now["settled"]["count"]):
            # Only vertices on the far pile wait. The limit will be raised for them.
            return float(now["least"].view("f8")) if now["far"] else np.inf
        telling = cupy.zeros(TELLING.itemsize // 8, "int64")
        least = telling[-1:].view("float64")
        least[0] = np.inf
        for list_, here in (
            (int(now["near_side"]), int(now["near_here"])),
            (2 + int(now["settled_side"]), int(now["settled_here"])),
        ):
            kernel, pile = instance("least_distance", self._ends), self._lists[list_]
            if here:
                launch(kernel, here, self.distance, pile, here, least)
        if self._shared is None:
            return float(read(least)[0])
        told = meet(self._shared.memory, sent=telling)
        return float(told["least"].view("f8"))

    def offer(self, vertices, values):
        kernel, count = instance("offer_distances", self._ends, self._weights), len(vertices)
        offered = vertices.astype(self._ends, copy=False), values, count
        cutoff = float(self._limits["cutoff"])
        launch(kernel, count, self._gang, self._search, *offered, cutoff, self._begin())

    def lowest_of(self, distances):
        return float(distances.min()) if len(distances) else np.inf

    def take_mirrors(self):
        size = len(self._sent)
        if not size:
            return self._mirrors, self._sent
        count, host_mirrors, host_distances = self._host_lists
        self._count.data.memset_async(0, self._count.nbytes)
        own = self.distance, self._owned, size, float(self._now["limit"]), self._sent
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

    def _begin(self) -> Any:
        """Copy the state to the device, unless it is there, and return it."""
        if not self._begun:
            self._going["meetings"] = meetings(_GOING["meetings"])
            self._there.set(self._going.view("i8"))
            self._begun = True
        return self._there

    def _relax_large(self, *, settling: bool) -> None:
        """Relax the light edges of the near pile, or the heavy edges of settled vertices, in one launch."""
        (offsets, ends, _, _), middle = self._light
        now = self._now
        if settling:
            pile = self._lists[2 + int(now["settled_side"]), : int(now["settled_here"])]
            costs = gather_sizes(middle, offsets[1:], pile)
        else:
            pile = self._lists[int(now["near_side"]), : int(now["near_here"])]
            costs = gather_sizes(offsets, middle, pile)
        kernel = instance("relax", self._ends, self._weights, self._peers)
        cutoff = float(self._limits["cutoff"])
        given = self._gang, self._search, costs, np.bool_(settling), cutoff
        launch(kernel, len(ends) // 8, *given, self._begin())


def _columns(distance: Any, ids: Any) -> tuple[Any, ...]:
    """Return the columns of a search by one member; see :class:`.SharedBuckets`."""
    size = len(distance)
    lists = cupy.empty(LISTS * size, ids)
    turns, waiting = cupy.zeros(size, "uint32"), cupy.zeros(-(-size // 32), "uint32")
    tails = cupy.zeros(LISTS, "int64")
    return distance, turns, waiting, lists, tails, tails


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


def shared_predecessors(rows: Rows, shared: Any) -> Any:
    """Return the smallest predecessor of each of this member's vertices.

    Return None if an edge of a shortest path joins vertices at the same distance. See :func:`predecessors`.
    """
    memory, column = shared.memory, shared.predecessors
    column.own[:] = np.iinfo(column.own.dtype).max
    shared.publish()
    telling = np.zeros(1, TELLING)
    telling["edges"] = _offer_nearer(memory.gang, rows, None, shared.distance.own, column)
    told = meet(memory, sent=cupy.asarray(telling.view("i8")))
    return None if told["edges"] else shared.own(column).copy()


def offer_nearer(rows, names, distance, predecessor, *, threads=1):
    return _offer_nearer(gang(0, 1, [0, len(distance)]), rows, names, distance, predecessor)


def _offer_nearer(members: Any, rows: Rows, names: Any, distance: Any, predecessors: Any) -> bool:
    alike = cupy.zeros(1, "uint32")
    if len(rows.ends):
        own = predecessors.own if isinstance(predecessors, Column) else predecessors
        dtype, weights = own.dtype, floats(rows.weights)
        ends = rows.ends.astype(dtype, copy=False)
        names = None if names is None else names.astype(dtype, copy=False)
        edges = rows.offsets, ends, weights, len(rows.offsets) - 1
        kernel, columns = instance("offer_nearer", dtype, weights.dtype), pointers_of(predecessors)
        given = names, distance, np.array((columns,), COLUMNS), alike
        launch(kernel, len(ends) // 8, members, *edges, *given)
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
