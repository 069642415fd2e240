"""Helpers of the cases for compute-sanitizer; see sanitize.py."""

from __future__ import annotations

import importlib

import numpy as np
from scipy import sparse

VERTICES, EDGES = 3001, 20_003
CASES = {}


def launches(*kernels):
    """Register a case, with the kernels that it launches."""

    def register(case):
        CASES[case] = kernels
        return case

    return register


def random_edges(ids, seed=0):
    """Return edges between too few vertices for one tree, some of them outside the forest."""
    rng = np.random.default_rng(seed)
    # Two ranges, and gaps in the lower one: a giant, small trees and vertices without edges.
    half = VERTICES // 2
    ends = np.where(rng.random((2, EDGES)) < 0.99, half, 0) + half * rng.random((2, EDGES))
    ends[:, ::500] = -5
    ends[1, 250::500] = VERTICES + 5
    ends[1, ::97] = ends[0, ::97]
    loops = ends[:, 50::970]  # most of them at vertices that have no other edge
    loops[:] = 7 * np.arange(loops.shape[1])
    return np.floor(ends).astype(ids)


def vertex_edges(ids):
    """Return random edges whose ends are all vertices."""
    source, target = random_edges(ids)
    inside = (np.minimum(source, target) >= 0) & (np.maximum(source, target) < VERTICES)
    return source[inside], target[inside]


def inner_edges(kernels, ids):
    """Return such edges, on the host and as arrays of the kernels'."""
    ends = vertex_edges(ids)
    return *ends, *ends_at(kernels, *ends)


def placed(kernels, side, skew):
    """Return an array that begins `skew` items after the beginning of its memory."""
    room = np.concatenate([np.zeros(skew, side.dtype), side])
    return kernels.namespace.asarray(room)[skew:]


def ends_at(kernels, source, target, base=0, *skews):
    """Return edges as arrays of the kernels' library, with ids from `base` on."""
    sides = (side + side.dtype.type(base) for side in (source, target))
    return [placed(kernels, *end) for end in zip(sides, skews or (0, 0), strict=True)]


def make_rows(kernels, ids, source, target, weight=None, count=VERTICES, **how):
    """Return the rows of edges in host memory; the ends have the given dtype, however few they are."""
    there = kernels.namespace.asarray
    sides = (None if side is None else there(side) for side in (source, target, weight))
    made = load_kernels(kernels, "rows").rows(*sides, count=count, **how)
    return made._replace(ends=made.ends.astype(ids))


def hub_rows(kernels, ids, weight=None):
    """Return the rows of edges in both directions. Some vertices have very many edges."""
    rng = np.random.default_rng(9)
    size = np.array([3000, 1500, 100, 60])
    source = np.concatenate([np.repeat([5, 6, 7, 8], size), rng.integers(0, VERTICES, 6000)])
    target = np.concatenate(
        [np.arange(count) for count in size] + [rng.integers(0, VERTICES, 6000)]
    )
    if weight is not None:
        weight = rng.choice([0, 0, 0.5, 1], len(source)).astype(weight)
    sides = (source, target), (target, source)
    return [make_rows(kernels, ids, *side, weight) for side in sides]


def whole_matrix(kernels, rows):
    """Return rows as a SciPy matrix, in which weights of 0 stay explicit."""
    offsets, ends, weights = (kernels.to_host(array) for array in rows[:3])
    return sparse.csr_array((weights, ends, offsets), (VERTICES, VERTICES))


def load_kernels(kernels, name):
    """Return another module of the device's kernels, or of the host's."""
    place = "host" if kernels.__name__.endswith(".host") else "device"
    return importlib.import_module(f"dask_graphflow.kernels.{name}.{place}")
