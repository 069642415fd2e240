"""Check distances and ranks edge by edge, without the library."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from benchmarks.errors import DisagreementError

NEVER = 2**31 - 1  # cuGraph's distance of unreachable vertices is at least this

# Distances are correct if no edge gives a shorter path, and some edge into each vertex gives its distance.
SETTLE = """
const double from = distance[s], to = distance[d], by = from + (double)w;
if (by < to) shorter[0] = 1;
if (by == to && from < by) reached[d] = 1;
"""

ADD = """
atomicAdd(&sums[d], value[s]);
"""


@cache
def _kernel(name: str) -> Any:
    import cupy

    if name == "settle":
        return cupy.ElementwiseKernel(
            "S s, S d, W w, raw float64 distance",
            "raw int32 shorter, raw int8 reached",
            SETTLE,
            "benchmark_settle",
        )
    return cupy.ElementwiseKernel(
        "S s, S d, raw float64 value", "raw float64 sums", ADD, "benchmark_add"
    )


def by_id(found: Any, column: str, size: int, missing: float) -> Any:
    """Return the value of every id below `size`, as float64.

    Parameters
    ----------
    found : frame, pair of array, or array
        A frame with columns ``vertex`` and `column`, ids and values, or values by id.
    column : str
    size : int
    missing : float
        Value of ids that are left out, or whose value is negative or at least `NEVER`.
    """
    if hasattr(found, "columns"):
        found = found["vertex"].values, found[column].values
    elif not isinstance(found, tuple):
        found = slice(len(found)), found
    ids, values = found
    dense = np.full_like(values, missing, "float64", shape=size)
    dense[ids] = values
    dense[(dense < 0) | (dense >= NEVER)] = missing
    return dense


def same(name: str, found: Any, truth: Any, tolerance: float = 0.0) -> None:
    """Raise unless arrays are equal, up to a relative tolerance."""
    wrong = ~np.isclose(found, truth, rtol=tolerance, atol=0)
    if count := int(wrong.sum()):
        at = int(wrong.argmax())
        raise DisagreementError(
            f"{name} has {count:,} wrong values; the first, of vertex {at}, is {float(found[at])!r} and "
            f"should be {float(truth[at])!r}"
        )


def shortest(
    name: str,
    distance: Any,
    start: int,
    ends: tuple[Any, Any],
    weight: Any = None,
    *,
    directed: bool,
) -> None:
    """Raise unless distances from a vertex are exactly the shortest ones.

    Parameters
    ----------
    name : str
        Name of the contender that found them.
    distance : array of float64, by id
        Infinite for unreachable ids.
    start : int
    ends : pair of array
        The edges.
    weight : array, optional
        Positive weights; 1 by default.
    directed : bool
    """
    import cupy

    shorter, reached = cupy.zeros(1, "int32"), cupy.zeros(len(distance), "int8")
    weight = cupy.ones(1, "float32") if weight is None else weight
    for source, target in (ends,) if directed else (ends, ends[::-1]):
        _kernel("settle")(source, target, weight, distance, shorter, reached)
    reached[start] = 1
    if float(distance[start]) != 0:
        raise DisagreementError(f"{name}: {start} is {float(distance[start])} from itself")
    if int(shorter[0]):
        raise DisagreementError(f"{name}: an edge makes a shorter way from {start}")
    if wrong := int(((reached == 1) != cupy.isfinite(distance)).sum()):
        raise DisagreementError(f"{name}: {wrong:,} distances from {start} are not those of a way")


def occurring(ends: tuple[Any, Any], size: int) -> int:
    """Return the number of ids below `size` that have an edge."""
    seen = np.zeros(size, "bool", like=ends[0])
    for end in ends:
        seen[end] = True
    return int(seen.sum())


def ranks(source: Any, target: Any, vertices: int, iterations: int, alpha: float = 0.85) -> Any:
    """Return the PageRank of each id, added up with atomics; 0 for ids without an edge."""
    import cupy

    def added(source: Any, target: Any, value: Any) -> Any:
        sums = cupy.zeros(vertices)
        _kernel("add")(source, target, value, sums)
        return sums

    ones = cupy.ones(vertices)
    leaving = added(target, source, ones)
    occurs = (leaving + added(source, target, ones)) > 0
    count = int(occurs.sum())
    share = (leaving > 0) / cupy.maximum(leaving, 1)
    rank = occurs / count
    for _ in range(iterations):
        dangling = float(rank[leaving == 0].sum())
        afresh = occurs * ((1 - alpha + alpha * dangling) / count)
        rank = afresh + alpha * added(source, target, rank * share)
    return rank
