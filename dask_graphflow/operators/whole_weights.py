"""Weights as whole numbers, and their sums, which have the same bits in every order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dask_graphflow.exceptions import WeightError
from dask_graphflow.graph.blocks import blocks, per_edge
from dask_graphflow.kernels import kernels_for
from dask_graphflow.kernels import pull as pull_kernels
from dask_graphflow.kernels.csr import Rows

from .access import sources_of, sum_parts, wide_column
from .view import GraphView

BITS = 61  # bits of the largest sum of weights as a whole number
BITS_BY_VERTEX = 51  # bits of the sum of the weights of a vertex's edges; a float64 holds it
LEAST = 4  # mean weight of a vertex's edges in units: rounding changes their sum by less than 1/8
# Limits of a vertex's total weight, so that products with scores are floats.
SMALLEST, LARGEST = 1e-200, 1e200


def sum_leaving(g: GraphView) -> tuple[Any, float]:
    """Return the weighted out-degrees, and the largest one over all members.

    Raises
    ------
    WeightError
        A weight is negative, infinite or NaN, or the weights are far too large or small to be added up.
    """
    totals = g.weighted_degrees
    return totals, _check_largest(g.largest(totals))


def _check_largest(largest: float, what: str = "weight") -> float:
    """Return the largest sum of the weights of a vertex; raise if it is too large or too small.

    The error calls what is added up `what`.
    """
    if largest and not SMALLEST < largest < LARGEST:
        raise WeightError(
            f"the {what}s of a vertex's edges sum to {largest:g}; the largest sum has to be above "
            f"{SMALLEST:g} and below {LARGEST:g}. Divide all weights by the largest {what}"
        )
    return largest


def sum_magnitudes(g: GraphView) -> tuple[Any, float]:
    """Return the sums of the magnitudes of the weights at owned vertices, and the largest of all members.

    Raises
    ------
    WeightError
        A weight is infinite or NaN, or the weights are far too large or small to be added up.
    """
    if not g.all_weights(np.isfinite):
        raise WeightError(
            "a weight is infinite or NaN; this algorithm needs finite weights. Remove these edges, or give "
            "weight=None"
        )
    rows = g.member.shard.host.out
    sizes = per_edge(rows, lambda block: abs(block.weights.astype("float64")))
    totals = pull_kernels.of(rows.ends).row_totals(rows._replace(weights=sizes))
    return totals, _check_largest(g.largest(totals), "weight magnitude")


def whole_weights(
    g: GraphView, *, of_pairs: bool = False, signed: bool = False
) -> tuple[Any, float]:
    """Return the weights of the edges, rounded to whole multiples of a unit, as int64, and the unit.

    All members call it. They use the same unit, which is a power of 2: the sum of all weights over all
    members is at most 2**61 units, or only that of the edges of any two vertices, if sums are `of_pairs`.
    Without weights, the weights are None and the unit is 1. It raises :class:`.WeightError` if a weight is
    infinite or NaN, or negative unless they can be `signed`, or if weights differ too much to be added up.
    The sums of signed weights are those of their magnitudes.
    """
    if not g.weighted:
        return None, 1.0
    totals, bound = sum_magnitudes(g) if signed else sum_leaving(g)
    what = "the largest weighted degree"
    if not of_pairs:
        bound, what = g.total(totals, bound), "the sum of all weighted degrees"
    unit = _unit(g, totals, bound, what, signed=signed)
    return _whole(g.member.local("out").rows, unit), unit


def exact_weights(rows: Rows, name: str, *, directed: bool) -> tuple[np.ndarray, float | int]:
    """Return the weights of rows as whole multiples of a unit, and the unit; without weights, all are 1.

    The unit of floats is a power of 2: the number of edges times the largest weight is at most 2**61 units.
    If the graph is not `directed`, the rows have each edge at both ends. Errors call a weight `name`.

    Raises
    ------
    WeightError
        A weight is negative, infinite or NaN, or too large or too small for the sums to be exact.
    """
    weights = rows.weights
    if weights is None:
        return np.ones(len(rows.ends), "int64"), 1
    largest = weights.max(initial=0)
    if not (np.isfinite(largest) and (weights >= 0).all()):
        raise WeightError(
            f"a {name} is negative, infinite or NaN; this algorithm needs finite weights of at least 0. "
            "Remove these edges, or give twice the sum of the others in place of infinity"
        )
    if weights.dtype.kind != "f":
        total = float(weights.sum(dtype="float64"))
        if total > (1 if directed else 2) * 2.0**BITS:
            raise WeightError(
                f"the weights sum to more than 2**{BITS}, so their sums would not be "
                "exact. Divide all of them by their greatest common divisor, or convert them to floats, "
                "which are rounded"
            )
        return weights.astype("int64"), 1
    bound = float(largest) * len(weights)
    if not SMALLEST < bound < math.inf and bound:
        raise WeightError(
            f"the largest {name} is {largest:g}, and sums would not be exact; divide all weights by it"
        )
    unit = math.ldexp(1.0, math.frexp(bound)[1] - BITS) if bound else 1.0
    whole = np.rint(weights.astype("float64") / unit).astype("int64")
    if ((whole == 0) & (weights > 0)).any():
        raise WeightError(
            f"a {name} is below {unit / 2:.2g}, which is rounded to 0 because the largest is {largest:g}. "
            f"Leave out the edges with weights below {unit:.2g}"
        )
    return whole, unit


def whole_weights_by_vertex(g: GraphView, sides: Sequence[Any]) -> list[Any]:
    """Return rows with weights rounded to whole multiples of a unit of each vertex, as int64.

    All members call it. The sum of the weights of a vertex's edges is at most 2**51 of its units. Without
    weights, the rows are unchanged. Together, the rows of all owned vertices have each edge that leaves a
    vertex, and in a directed graph each edge that enters it. It raises :class:`.WeightError` if a weight is
    negative, infinite or NaN, or if the weights are far too large or small to be added up.
    """
    if not g.weighted:
        return list(sides)
    totals = sum_leaving(g)[0]
    if g.directed:
        totals = totals + sum_leaving(g.T)[0]
    powers = BITS_BY_VERTEX - np.frexp(totals)[1]
    return [rows._replace(weights=_scale(g, rows, powers)) for rows in sides]


def whole_degrees(g: GraphView, weights: Any, inside: Any) -> Any:
    """Return the sum of whole weights at each owned vertex: array of int64, shape (V_p,).

    `inside` is the result of :func:`sum_loops`. A self-loop counts twice.
    """
    if weights is None:
        return g.degrees + inside
    return _row_sums(g, weights) + inside


def whole_skew(g: GraphView, degrees: Any, unit: float) -> Any:
    """Return the weight of outgoing less incoming edges of each owned vertex; None without directions.

    The degrees are those of :func:`whole_degrees`, and the unit that of :func:`whole_weights`, for the
    graph without directions.
    """
    if not g.directed:
        return None
    weights = _whole(g.member.local("out").rows, unit) if g.weighted else None
    return 2 * whole_degrees(g, weights, 0) - degrees


def sum_loops(g: GraphView, weights: Any) -> Any:
    """Return the sum of the weights of each vertex's self-loops: array of int64, shape (V_p,)."""
    return _row_sums(g, weights, lambda sources, targets: sources == targets)


def sums_inside(g: GraphView, weights: Any, labels: Any) -> Any:
    """Return the sum of the weights of each vertex's edges to vertices with its label, as int64.

    All members call it. Without weights, each edge has the weight 1.
    """
    values = wide_column(g, labels)
    return _row_sums(g, weights, lambda sources, targets: values[sources] == values[targets])


def own_sums(labels: Any, values: Any, count: int) -> Any:
    """Return the sum of this member's values of each label: array of int64, shape (count,).

    Labels are 0 to `count` - 1. Without values, each is 1.
    """
    if not len(labels):  # CuPy's bincount rejects empty input
        return np.zeros_like(labels, "int64", shape=count)
    if values is None:
        return np.bincount(labels, minlength=count).astype("int64")
    sums = np.zeros_like(values, shape=count)
    kernels_for(values).namespace.add.at(sums, labels, values)
    return sums


def sums_of_groups(g: GraphView, groups: Any, values: Any, count: int) -> Any:
    """Add up whole numbers by group over all members; return the sums of the groups in :func:`own_part`.

    All members call it. For the parameters, see :func:`own_sums`.
    """
    return sum_parts(g, own_sums(groups, values, count))


def count_edges_between(g: GraphView, groups: Any, count: int) -> Any:
    """Return how many edges lead from the vertices of each group to those of each: array of int64.

    All members call it, with groups 0 to `count` - 1, and get the same array of shape (count, count).
    Self-loops are left out.
    """
    groups = wide_column(g, groups)
    counts = np.zeros_like(groups, "int64", shape=count * count)
    for _, block in blocks(g.member.local("out").rows._replace(weights=None)):
        sources = sources_of(g, block)
        apart = sources != block.ends
        pairs = groups[sources[apart]] * count + groups[block.ends[apart]]
        counts += own_sums(pairs, None, count * count)
    return g.elementwise_sum(counts).reshape(count, count)


def _row_sums(g: GraphView, weights: Any, counts: Callable[[Any, Any], Any] | None = None) -> Any:
    """Return the sum of the weights, by default 1 each, of each owned vertex's edges, as int64.

    `counts` takes the sources and the targets of some edges, and returns which of them count; by default
    all.
    """
    rows, sums = g.member.local("out").rows._replace(weights=weights), [g.column(0, "int64", 0)]
    for _, block in blocks(rows):
        values = block.weights
        if counts is not None:
            inside = counts(sources_of(g, block), block.ends)
            if not inside.any():  # usual for self-loops
                sums.append(np.zeros_like(block.offsets[1:], "int64"))
                continue
            values = inside.astype("int64") if values is None else inside * values
        before = np.zeros_like(values, shape=len(values) + 1)
        np.cumsum(values, out=before[1:])
        sums.append(before[block.offsets[1:]] - before[block.offsets[:-1]])
    return np.concatenate(sums)


def _unit(g: GraphView, totals: Any, bound: float, what: str, *, signed: bool) -> float:
    """Return a unit of which twice `bound` has at most 2**61, or raise an error if it is too coarse.

    All members call it. `totals` are the weighted degrees, and the error calls the bound `what`. If weights
    are `signed`, both are of their magnitudes.
    """
    unit = math.ldexp(1.0, math.frexp(2 * bound)[1] - BITS) if bound else 1.0
    lost = (totals > 0) & (totals < LEAST * unit * g.degrees)
    if g.count_true(lost):
        least = f"{2 * LEAST * unit:.2g}"
        raise WeightError(
            f"the edges of a vertex weigh less than {LEAST * unit:.2g} on average, which has to be at "
            f"least 2**-57 of {what}, {bound:g}. Leave out the edges with weights "
            f"{f'between -{least} and {least}' if signed else f'below {least}'}"
        )
    return unit


def _whole(rows: Any, unit: float) -> Any:
    """Return the weights of rows as multiples of a unit."""

    def whole(block: Any) -> Any:
        multiples = block.weights.astype("float64", copy=False) / unit
        return np.rint(multiples, out=multiples).astype("int64")

    return per_edge(rows, whole)


def _scale(g: GraphView, rows: Any, powers: Any) -> Any:
    """Return the weights of rows as multiples of a unit per vertex, given as powers of 2."""

    def scaled(block: Any) -> Any:
        multiples = np.ldexp(
            block.weights.astype("float64", copy=False), powers[sources_of(g, block)]
        )
        return np.rint(multiples, out=multiples).astype("int64")

    return per_edge(rows, scaled)
