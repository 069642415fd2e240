"""Rows numbered inside a partition, with its masters and mirrors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from conftest import GRAPHS, on_backend, some_steps, to_host

from dask_graphflow.graph import partition
from dask_graphflow.graph.local_rows import localize
from dask_graphflow.kernels.rows import host as host_rows


def power_law(count=900, edges=6000, seed=5):
    rng = np.random.default_rng(seed)
    return [tuple(pair) for pair in (rng.random((edges, 2)) ** 3 * count).astype(int).tolist()]


SHAPES = some_steps({**GRAPHS, "power law": power_law()})
PARTS = [1, 2, 3, 8]


@pytest.fixture(params=SHAPES, ids=str)
def pairs(request):
    return SHAPES[request.param]


class Case:
    """A graph with weights, whose vertices are cut into ranges."""

    def __init__(self, pairs, dtype="int32"):
        self.source, self.target = np.array(pairs, dtype).reshape(-1, 2).T.copy()
        self.count = int(max(self.source.max(initial=-1), self.target.max(initial=-1))) + 1
        self.weight = np.random.default_rng(2).integers(0, 9, len(pairs)) / 7
        self.dtype = dtype

    def rows(self, low=0, high=None, *, entering=False, weighted=True):
        """Return the rows of a range, on the backend of this run."""
        ends = (self.target, self.source) if entering else (self.source, self.target)
        made = host_rows.rows(
            *ends,
            self.weight if weighted else None,
            first=low,
            count=(self.count if high is None else high) - low,
            columns=self.count,
        )
        made = made._replace(ends=made.ends.astype(self.dtype))
        return there(made)

    def bounds(self, parts):
        return [self.count * i // parts for i in range(parts + 1)]


def each_array(rows, change):
    """Return rows with each of their arrays changed."""
    arrays = (None if array is None else change(array) for array in rows[:3])
    return host_rows.Rows(*arrays, rows.first)


def there(rows):
    return each_array(rows, on_backend)


def here(rows):
    return each_array(rows, to_host)


def assert_same(mine, other):
    """Compare rows, dtypes too."""
    mine, other = here(mine), here(other)
    assert mine.first == other.first
    for got, wanted in zip(mine[:3], other[:3], strict=True):
        assert (got is None) == (wanted is None)
        if got is not None:
            assert got.dtype == wanted.dtype
            np.testing.assert_array_equal(got, wanted)


# Numbers inside a partition


@pytest.mark.parametrize("parts", PARTS)
def test_each_edge_keeps_its_place_and_leads_to_a_master_or_a_slot(pairs, parts):
    case = Case(pairs)
    bounds = case.bounds(parts)
    for part, (low, high) in enumerate(itertools.pairwise(bounds)):
        rows = here(case.rows(low, high))
        local = localize(there(rows), bounds, part)
        assert (local.first, local.owned) == (low, high - low)
        outside = (rows.ends < low) | (rows.ends >= high)
        slots = to_host(local.slots)
        np.testing.assert_array_equal(slots, np.unique(rows.ends[outside]))
        assert local.size == high - low + len(slots)
        # The slots of one owner are adjacent.
        for begin, end, its in zip(
            local.slot_bounds, local.slot_bounds[1:], itertools.pairwise(bounds), strict=False
        ):
            assert ((slots[begin:end] >= its[0]) & (slots[begin:end] < its[1])).all()
        assert (local.slot_bounds[0], local.slot_bounds[-1]) == (0, len(slots))
        assert len(local.slot_bounds) == parts + 1
        held = here(local.rows)
        assert held.offsets.tolist() == rows.offsets.tolist()
        assert held.weights.tolist() == rows.weights.tolist()
        names = np.concatenate([np.arange(low, high), slots])
        assert names[held.ends].tolist() == rows.ends.tolist()
        np.testing.assert_array_equal(held.ends >= local.owned, outside)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("parts", PARTS)
def test_threads_and_wide_ids_change_nothing(pairs, parts, dtype, weighted):
    case = Case(pairs, dtype)
    bounds = case.bounds(parts)
    for part, (low, high) in enumerate(itertools.pairwise(bounds)):
        rows = case.rows(low, high, weighted=weighted)
        local = localize(rows, bounds, part)
        # Ids can be wide, but the numbers in a partition are not.
        assert to_host(local.rows.ends).dtype == np.int32
        assert to_host(local.slots).dtype == dtype
        # Host threads, and a device, change nothing.
        other = localize(here(rows), bounds, part, threads=3)
        assert_same(local.rows, other.rows)
        np.testing.assert_array_equal(to_host(local.slots), other.slots)
        assert local[2:] == other[2:]


def test_several_edges_between_two_vertices_keep_their_weights_in_order():
    case = Case([(1, 5), (1, 0), (1, 5), (1, 1), (1, 0), (1, 1), (1, 2)] * 40)
    bounds = [0, 1, 3, 6]
    rows = case.rows(1, 3)
    local = localize(rows, bounds, 1)
    assert to_host(local.slots).tolist() == [0, 5]
    assert local.slot_bounds == [0, 1, 1, 2]
    held = here(local.rows)
    assert held.ends.tolist() == [2] * 80 + [0] * 80 + [1] * 40 + [3] * 80
    wanted = [case.weight[case.target == vertex] for vertex in (0, 1, 2, 5)]
    np.testing.assert_array_equal(held.weights, np.concatenate(wanted))


def test_a_column_has_entries_for_masters_and_their_neighbors_only():
    case = Case([(i, i + 1) for i in range(999)])
    bounds = case.bounds(4)
    local = [localize(case.rows(*bounds[i : i + 2]), bounds, i) for i in range(4)]
    assert [one.owned for one in local] == [250] * 4
    assert [one.size for one in local] == [251, 251, 251, 250]
    assert sum(one.owned for one in local) == case.count


def test_ranges_of_a_power_law_graph_have_one_slot_per_remote_neighbor():
    case = Case([(u * 11 % 30_000, v * 17 % 30_000) for u, v in power_law(30_000, 200_000)])
    degrees = np.bincount(case.source, minlength=case.count)
    grains = np.add.reduceat(degrees, np.arange(0, case.count, partition.GRAIN))
    bounds = partition.chunk_grains(grains, case.count, 3)
    boundary = slots = 0
    for part, (low, high) in enumerate(itertools.pairwise(bounds)):
        rows = case.rows(low, high)
        local = localize(rows, bounds, part, threads=2)
        mirrors = here(local.rows).ends >= local.owned
        boundary, slots = boundary + mirrors.sum(), slots + len(local.slots)
    assert slots < boundary / 2
