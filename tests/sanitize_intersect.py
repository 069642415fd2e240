"""Cases for compute-sanitizer: triangles, trusses and common neighbors."""

from __future__ import annotations

import numpy as np
from sanitize_cases import VERTICES, hub_rows, launches, load_kernels, make_rows, whole_matrix


def oriented_rows(kernels, ids, weight):
    """Return a simple graph's rows of smaller ends, and its edges entering each vertex.

    One row has more ends than a block's table has room for, and another one almost as many.
    """
    whole = whole_matrix(kernels, hub_rows(kernels, ids, "float64")[0]).tocoo()
    # The hubs come late, so most of their ends come before them.
    source, target = ((side + 2500) % VERTICES for side in (whole.row, whole.col))
    low, high = np.minimum(source, target), np.maximum(source, target)
    key = np.unique((high * VERTICES + low)[low < high])
    high, low = (side.astype(ids) for side in np.divmod(key, VERTICES))
    sides, weights = ((high, low), (low, high)), weight(len(key))
    return high, low, *(make_rows(kernels, ids, *side, weights) for side in sides)


def triangles_of(high, low):
    """Return the edges of each triangle, by their index: they lack its first, middle and last vertex."""
    offsets = np.searchsorted(high, np.arange(VERTICES + 1))
    sizes = np.diff(offsets)[low]
    without_first = np.repeat(np.arange(len(low)), sizes)
    before = np.repeat(np.cumsum(sizes) - sizes, sizes)
    without_last = offsets[low][without_first] + np.arange(len(before)) - before
    keys = high.astype("int64") * VERTICES + low
    wanted = high[without_first].astype("int64") * VERTICES + low[without_last]
    without_middle = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    closed = keys[without_middle] == wanted
    return without_first[closed], without_middle[closed], without_last[closed]


@launches("triangles", "credit")
def intersected(kernels, parents, ids):
    """The triangles of rows, of their entries too, and the weights opposite to their vertices."""
    intersect, xp = load_kernels(kernels, "intersect"), kernels.namespace
    high, low, rows, entering = oriented_rows(
        kernels, ids, lambda count: np.random.default_rng(4).integers(1, 4, count, "int32")
    )
    weight, corners = kernels.to_host(rows.weights), triangles_of(high, low)
    first, middle, last = corners
    one = np.ones(len(first), "int64")
    for weighted, wanted in (
        (False, [(first, one)]),
        (False, [(first, one), (middle, one)]),
        (True, [(first, weight[last]), (first, weight[middle])]),
    ):
        given = [side if weighted else side._replace(weights=None) for side in (rows, entering)]
        counts = [xp.zeros(len(high), f"u{ids}") for _ in range(len(wanted) + 1)]
        *of_row, of_own = counts
        intersect.triangles(*given, given[0], of_row, of_own)
        wanted = [*wanted, (last, weight[first] if weighted else one)]
        sums = [np.bincount(edges, parts, len(high)) for edges, parts in wanted]
        np.testing.assert_array_equal([kernels.to_host(array) for array in counts], sums)
        at = 1 if weighted else 0  # what is counted for the middle vertex
        found = intersect.credit(rows, of_row[0], of_row[at], of_own)
        told = sums[0], sums[at] + sums[-1]
        totals = [np.bincount(*side, VERTICES) for side in zip((high, low), told, strict=True)]
        np.testing.assert_array_equal(kernels.to_host(found), sum(totals))


@launches("lose", "settle")
def triangles_lost(kernels, parents, ids):
    """Edges lose each triangle once, however many of its edges leave: a few edges, and a third."""
    intersect = load_kernels(kernels, "intersect")
    there, rng = kernels.namespace.asarray, np.random.default_rng(4)
    high, low, *_ = oriented_rows(kernels, ids, lambda count: np.ones(count, "int32"))
    edges = np.arange(len(high)).astype(parents)
    ends = np.concatenate([high, low]), np.concatenate([low, high])
    whole = make_rows(kernels, ids, *ends, np.tile(edges, 2))
    corners = np.stack(triangles_of(high, low))
    for share in (0.002, 0.33):
        drawn = rng.random(len(high))
        state = np.where(drawn < share, 1, np.where(drawn > 0.9, 2, 0)).astype("uint8")
        leaving = np.flatnonzero(state == 1)
        late, early = there(high[leaving]), there(low[leaving])
        lost = kernels.namespace.zeros(len(high), f"u{ids}")
        state_there = there(state.copy())
        here = whole, state_there, lost
        intersect.lose(*here, *here, late, late, early)
        states = state[corners]
        broken = corners[:, (states == 1).any(axis=0) & (states < 2).all(axis=0)]
        wanted = np.bincount(broken.ravel(), minlength=len(high)) * (state == 0)
        np.testing.assert_array_equal(kernels.to_host(lost), wanted)
        owned = len(high) * 2 // 3
        support = np.bincount(corners.ravel(), minlength=len(high))[:owned].astype(ids)
        left = there(support.copy())
        fallen = intersect.settle(state_there, lost, left, 2)
        support -= wanted[:owned].astype(ids)
        np.testing.assert_array_equal(kernels.to_host(left), support)
        few = np.flatnonzero((wanted[:owned] > 0) & (support <= 2))
        np.testing.assert_array_equal(np.sort(kernels.to_host(fallen)), few)
        assert not kernels.to_host(lost).any()
        removed = np.where(state == 1, 2, state)
        np.testing.assert_array_equal(kernels.to_host(state_there), removed)


@launches("peel_edges")
def edges_peeled(kernels, parents, ids):
    """Edges that leave at increasing limits, with all edges in the rows and with those that remain."""
    intersect = load_kernels(kernels, "intersect")
    if not hasattr(intersect, "peel_edges"):  # on the host, a call does one step
        return
    there = kernels.namespace.asarray
    high, low, *_ = oriented_rows(kernels, ids, lambda count: np.ones(count, "int32"))
    edges, corners = np.arange(len(high)), np.stack(triangles_of(high, low))
    ends = np.concatenate([high, low]), np.concatenate([low, high])
    whole = make_rows(kernels, ids, *ends, np.tile(edges, 2).astype(parents))
    wanted, limit = np.zeros(len(high), "int32"), 0
    while not wanted.all():
        left = corners[:, (wanted[corners] == 0).all(axis=0)]
        support = np.bincount(left.ravel(), minlength=len(high))
        limit = max(limit, support[wanted == 0].min())
        wanted[(wanted == 0) & (support <= limit)] = limit + 2
    triangles, kept = np.bincount(corners.ravel(), minlength=len(high)), intersect.KEPT
    for intersect.KEPT, most in ((kept, limit), (0, limit), (0, limit // 2)):
        support, found = there(triangles.astype(ids)), kernels.namespace.zeros(len(high), "int32")
        late, early = there(high.astype(ids)), there(low.astype(ids))
        intersect.peel_edges(whole, late, early, support, found, 0, int(most))
        np.testing.assert_array_equal(
            kernels.to_host(found), np.where(wanted <= most + 2, wanted, 0)
        )
    intersect.KEPT = kept


@launches("common")
def shared_ends(kernels, parents, ids):
    """The ends that two rows have in common, and their weights, for short rows and long ones."""
    intersect, rng = load_kernels(kernels, "intersect"), np.random.default_rng(4)
    _, _, rows, own = oriented_rows(kernels, ids, lambda count: rng.integers(1, 2**40, count))
    pairs = rng.integers(0, VERTICES, (2, 2000))
    pairs[0, :500], pairs[1, 250:750] = VERTICES - 496, 5  # a hub, as 5 + 2500 is
    low, high = (
        whole_matrix(kernels, side)[at] for side, at in zip((rows, own), pairs, strict=True)
    )
    ones = low.astype(bool).astype("int64")
    plain = [side._replace(weights=None) for side in (rows, own)]
    for given, wanted in (
        ((rows, own), low.minimum(high)),
        ((plain[0], own), ones * high),
        (plain, ones * high.astype(bool)),
    ):
        found = intersect.common(*given, *map(kernels.namespace.asarray, pairs))
        np.testing.assert_array_equal(kernels.to_host(found), wanted.sum(axis=1))
