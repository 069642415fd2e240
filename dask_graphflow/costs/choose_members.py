"""The number of members that a graph is split between.

The graph gets as few members as have room for it, unless more members are clearly faster. On graphs that
are small or have a large diameter, messages between members cost more than they save. The build of a graph
decides once it knows the numbers of vertices and edges, and whether all vertices have about the same
degree, before any edge is sent. The decision must be repeatable, so that lost shards can be rebuilt the
same way. So it uses the constants below instead of the rates of the machine: speeds, and ratios for GPUs
that share memory. docs/internals/costs.md has the measurements.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from dask_graphflow.declarations.cost import search_levels
from dask_graphflow.graph.build import Size
from dask_graphflow.graph.memory_model import Part

from .model import remote

# Number of edges that every GPU and worker is assumed to have room for, before it is asked.
MOST_UNSEEN = 1 << 24
GAIN = 1.3  # minimum speedup that more members must give
ROOM = 0.6  # fraction of a worker's memory that a graph may take; above it, Dask begins to spill
ID = 8  # bytes of an end of an edge as it is read
MESSAGES = 18  # values that the four calls send per vertex, as many as several searches send


@dataclass(frozen=True)
class _Speed:
    """Speed of one thread of a worker, or of one GPU, and the costs of several members."""

    # Edges per second of a complete BFS, of complete shortest paths, and of one iteration of PageRank and
    # of label propagation. An edge counts twice, because these calls use it in both directions. Only
    # PageRank uses a directed edge once.
    search: float
    path: float
    pull: float
    label: float
    gang: float  # additional seconds of a call, per member after the first
    superstep: float  # additional seconds of a superstep, per member after the first
    # Seconds in which one thread sends the value of a vertex and another one takes it.
    message: float

    def work(self, size: Size) -> dict[str, float]:
        """Return the seconds that one thread takes for each of four calls.

        PageRank takes 20 iterations and label propagation 5.
        """
        both = 2 * size.edges
        pulled = size.edges if size.directed else both
        return {
            "bfs": both / self.search,
            "sssp": both / self.path,
            "label_propagation": 5 * both / self.label,
            "pagerank": 20 * pulled / self.pull,
        }

    def seconds(self, size: Size, members: int, threads: int) -> float:
        """Return the seconds of one call each of BFS, shortest paths, PageRank and label propagation."""
        work = sum(self.work(size).values())
        if members == 1:
            return work / threads
        sending = MESSAGES * size.vertices * (1 - 1 / members) * self.message
        others = members - 1
        degree = 2 * size.edges / max(size.vertices, 1)
        levels = search_levels(size.vertices, degree, even=size.even)
        fixed = others * (4 * self.gang + (3 * levels + 25) * self.superstep)
        return (work + sending) / (members * threads) + fixed


HOST = _Speed(4e8, 6e7, 3e8, 9e7, gang=0.03, superstep=1.5e-4, message=2.2e-7)
DEVICE = _Speed(2e11, 2e10, 1.2e11, 5e10, gang=0.005, superstep=4e-4, message=2e-10)

# Seconds of some GPUs that share memory over the seconds of one: by their number and the call, for graphs
# with some numbers of edges. R-MAT, H200s linked by NVLink, 2026-11-29.
RATIOS = {
    2: {
        "bfs": ((1 << 28, 1.11), (1 << 30, 1.10)),
        "sssp": ((1 << 28, 1.09),),
        "label_propagation": ((1 << 28, 0.56),),
        "pagerank": ((1 << 28, 0.71), (1 << 30, 0.61)),
    },
}


def _seconds(size: Size, members: int, threads: int) -> float:
    """Return the seconds of one call each of the four calls; see :meth:`_Speed.seconds`."""
    speed, each = (DEVICE, 1) if size.device else (HOST, threads)
    # Graphs of large diameter are not like those that were measured.
    if members == 1 or not size.shared or size.even:
        return speed.seconds(size, members, each)
    measured = max(count for count in RATIOS if count <= members)
    work = speed.work(size)
    return sum(work[call] * _ratio(points, size.edges) for call, points in RATIOS[measured].items())


def _ratio(points: tuple[tuple[int, float], ...], edges: int) -> float:
    """Return a measured ratio, interpolated between two numbers of edges; infinite below the smallest."""
    if edges < points[0][0]:
        return math.inf
    for (low, before), (high, after) in itertools.pairwise(points):
        if edges < high:
            return before + (after - before) * math.log(edges / low) / math.log(high / low)
    return points[-1][1]


def choose(size: Size, most: int, threads: int, room: float) -> tuple[int, str]:
    """Return the number of members, `most` at most, that get a part of a graph, and the reason.

    Each member has some host threads, and `room` bytes of memory.
    """
    counts = range(1, most + 1)
    fits = [one for one in counts if math.isinf(room) or _needed(size, one) <= ROOM * room]
    if not fits:
        return most, "fewer workers have too little memory"
    times = {members: _seconds(size, members, threads) for members in fits}
    least, fastest = fits[0], min(times, key=lambda members: times[members])
    if fastest != least and times[least] >= GAIN * times[fastest]:
        gain = times[least] / times[fastest]
        return fastest, f"about {gain:.1f} times as fast as {least:,}"
    why = (
        "one worker has room for the graph"
        if least == 1
        else "fewer workers have too little memory"
    )
    if len(fits) > 1:
        gain = times[least] / min(times[members] for members in fits[1:])
        why += ", and more would be "
        why += "slower" if gain < 1 else f"about {gain:.2g} times as fast"
    return least, why


def never_split(edges: float, most: int, threads: int, *, device: bool) -> bool:
    """Return whether :func:`choose` gives one member to every graph of this size that fits on one member.

    Several members help most if there are few vertices, because fewer messages are sent then. `edges` is an
    upper bound of the number of edges, which may be infinite. `device` says whether they are in GPU memory.
    """
    if edges > MOST_UNSEEN:
        return False
    return choose(Size(2, int(edges), False, 0, device), most, threads, math.inf)[0] == 1


def _needed(size: Size, members: int) -> float:
    """Return the bytes that each member needs for its part, whichever of the four calls runs on it."""
    entries = size.edges * (1 if size.directed else 2)
    return Part(
        size.edges / members, size.vertices, ID, size.weight_bytes, size.directed, members=members,
        same=True, kept=True, device=size.device,
        remote=remote(size.vertices, entries / max(size.vertices, 1), members),
    ).needed()  # fmt: skip
