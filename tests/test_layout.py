"""Rows cut into sub-ranges, and rows numbered inside a partition, with its masters and mirrors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from conftest import GRAPHS, on_backend, some_steps, to_host
from shapes import power_law_pairs

from dask_graphflow.graph.local_rows import globalize, localize, split
from dask_graphflow.graph.partition import chunk
from dask_graphflow.kernels import host_rows, kernels_of

SHAPES = some_steps({**GRAPHS, "power law": power_law_pairs(900, 6000)})
PARTS = [1, 2, 3, 8]


@pytest.fixture(params=SHAPES, ids=str)
def pairs(request):
    return SHAPES[request.param]


@pytest.fixture(params=[False, True], ids=["rows", "compressed"])
def fewer(request):
    return request.param


class Case:
    """A graph with weights, whose vertices are cut into ranges."""

    def __init__(self, pairs, dtype="int32"):
        self.source, self.target = np.array(pairs, dtype).reshape(-1, 2).T.copy()
        self.count = int(max(self.source.max(initial=-1), self.target.max(initial=-1))) + 1
        self.weight = np.random.default_rng(2).integers(0, 9, len(pairs)) / 7
        self.dtype = dtype

    def rows(self, low=0, high=None, *, fewer=False, weighted=True):
        """Return the rows of a range, on the backend of this run."""
        made = host_rows.rows(
            self.source,
            self.target,
            self.weight if weighted else None,
            first=low,
            count=(self.count if high is None else high) - low,
            columns=self.count,
        )
        made = made._replace(ends=made.ends.astype(self.dtype))
        return there(host_rows.compressed(made) if fewer else made)

    def bounds(self, parts):
        return [self.count * i // parts for i in range(parts + 1)]


def each_array(rows, change):
    """Return rows with each of their arrays changed."""
    arrays = (None if array is None else change(array) for array in rows[:4])
    bitmap = rows.bitmap and host_rows.Index(*map(change, rows.bitmap))
    return host_rows.Rows(*arrays, rows.first, bitmap)


def there(rows):
    return each_array(rows, on_backend)


def here(rows):
    return each_array(rows, to_host)


def assert_same(mine, other):
    """Compare rows, dtypes too."""
    mine, other = here(mine), here(other)
    assert mine.first == other.first
    arrays = ([*rows[:4], *(rows.bitmap or ())] for rows in (mine, other))
    for got, wanted in zip(*arrays, strict=True):
        assert (got is None) == (wanted is None)
        if got is not None:
            assert got.dtype == wanted.dtype
            np.testing.assert_array_equal(got, wanted)


# Sub-ranges


def owner(array):
    return array if array.base is None else array.base


@pytest.mark.parametrize("parts", PARTS)
def test_sub_ranges_partition_the_range_and_share_its_edges(pairs, fewer, parts):
    case = Case(pairs)
    low = case.count // 3
    rows = case.rows(low, fewer=fewer)
    pieces = split(rows, parts)
    assert len(pieces) == parts
    firsts = [piece.first for piece in pieces]
    assert firsts[0] == low
    assert firsts == sorted(firsts)
    everyone = np.arange(case.count, dtype=case.dtype)
    found = []
    for piece, high in zip(pieces, [*firsts[1:], case.count], strict=True):
        assert owner(piece.ends) is owner(rows.ends)
        assert owner(piece.weights) is owner(rows.weights)
        own = kernels_of("rows", piece.ends).own_rows(piece, on_backend(everyone))
        held = here(piece)
        mine = np.arange(piece.first, high) if held.vertices is None else held.vertices
        assert ((mine >= piece.first) & (mine < high)).all()
        # A vertex finds its row, in one piece only.
        np.testing.assert_array_equal(to_host(own), np.arange(len(mine)))
        sizes = np.diff(held.offsets)
        assert len(sizes) == len(mine)
        assert sizes.sum() == len(held.ends) == len(held.weights)
        found.append((np.repeat(mine, sizes), held.ends, held.weights))
    whole = here(rows)
    mine = np.arange(low, case.count) if whole.vertices is None else whole.vertices
    wanted = np.repeat(mine, np.diff(whole.offsets)), whole.ends, whole.weights
    for got, column in zip(zip(*found, strict=True), wanted, strict=True):
        np.testing.assert_array_equal(np.concatenate(got), column)


@pytest.mark.parametrize("alpha", [None, 0, 50])
def test_sub_ranges_are_as_much_work_each(fewer, alpha):
    case = Case([(u * 7 % 50_000, v) for u, v in power_law_pairs(50_000, 200_000)])
    rows = case.rows(fewer=fewer, weighted=False)
    for parts in (2, 4):
        weighed = 8 * (parts - 1) if alpha is None else alpha
        pieces = split(rows, parts, alpha=alpha)
        work = [len(one.ends) + weighed * (len(one.offsets) - 1) for one in pieces]
        assert max(work) <= 1.05 * np.mean(work)
    # Finer than the ranges of processes.
    assert any(one.first % 4096 for one in pieces)


# Numbers inside a partition


@pytest.mark.parametrize("parts", PARTS)
def test_in_each_row_masters_come_first_then_mirrors_by_their_slots(pairs, fewer, parts):
    case = Case(pairs)
    bounds = case.bounds(parts)
    for part, (low, high) in enumerate(itertools.pairwise(bounds)):
        rows = here(case.rows(low, high, fewer=fewer))
        local = localize(there(rows), bounds, part)
        assert (local.first, local.owned) == (low, high - low)
        assert to_host(local.middle).dtype == np.int64
        outside = (rows.ends < low) | (rows.ends >= high)
        slots = to_host(local.slots)
        np.testing.assert_array_equal(slots, np.unique(rows.ends[outside]))
        assert local.size == high - low + len(slots)
        # Those of one owner lie together.
        for begin, end, its in zip(
            local.slot_bounds, local.slot_bounds[1:], itertools.pairwise(bounds), strict=False
        ):
            assert ((slots[begin:end] >= its[0]) & (slots[begin:end] < its[1])).all()
        assert (local.slot_bounds[0], local.slot_bounds[-1]) == (0, len(slots))
        assert len(local.slot_bounds) == parts + 1
        held, middle = here(local.rows), to_host(local.middle).tolist()
        assert held.offsets.tolist() == rows.offsets.tolist()
        for branch, (begin, end) in zip(middle, itertools.pairwise(rows.offsets), strict=True):
            ends, away = rows.ends[begin:end], outside[begin:end]
            assert (held.ends[begin:branch] + low).tolist() == ends[~away].tolist()
            mirrors = held.ends[branch:end] - local.owned
            assert (mirrors >= 0).all()
            assert slots[mirrors].tolist() == ends[away].tolist()


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("parts", PARTS)
def test_numbers_and_back_give_the_same_rows(pairs, fewer, parts, dtype, weighted):
    case = Case(pairs, dtype)
    bounds = case.bounds(parts)
    for part, (low, high) in enumerate(itertools.pairwise(bounds)):
        rows = case.rows(low, high, fewer=fewer, weighted=weighted)
        local = localize(rows, bounds, part)
        # However wide ids are, those in a partition are not.
        assert to_host(local.rows.ends).dtype == np.int32
        assert to_host(local.slots).dtype == dtype
        assert_same(globalize(local), rows)
        # Host threads, and a device, change nothing.
        other = localize(here(rows), bounds, part, threads=3)
        assert_same(local.rows, other.rows)
        for mine, its in zip(local[1:3], other[1:3], strict=True):
            np.testing.assert_array_equal(to_host(mine), its)
        assert local[3:] == other[3:]
        assert_same(globalize(other, threads=3), rows)


def test_several_edges_between_two_vertices_keep_their_weights_in_order():
    case = Case([(1, 5), (1, 0), (1, 5), (1, 1), (1, 0), (1, 1), (1, 2)] * 40)
    bounds = [0, 1, 3, 6]
    rows = case.rows(1, 3)
    local = localize(rows, bounds, 1)
    assert to_host(local.slots).tolist() == [0, 5]
    assert local.slot_bounds == [0, 1, 1, 2]
    held, middle = here(local.rows), to_host(local.middle)
    assert middle.tolist() == [120, 280]
    assert held.ends.tolist() == [0] * 80 + [1] * 40 + [2] * 80 + [3] * 80
    wanted = [case.weight[case.target == vertex] for vertex in (1, 2, 0, 5)]
    np.testing.assert_array_equal(held.weights, np.concatenate(wanted))
    assert_same(globalize(local), rows)


def test_a_column_has_entries_for_masters_and_what_they_neighbour_and_no_others():
    case = Case([(i, i + 1) for i in range(999)])
    bounds = case.bounds(4)
    local = [localize(case.rows(*bounds[i : i + 2]), bounds, i) for i in range(4)]
    assert [one.owned for one in local] == [250] * 4
    assert [one.size for one in local] == [251, 251, 251, 250]
    assert sum(one.owned for one in local) == case.count


def test_ranges_of_a_power_law_graph_have_a_slot_for_each_remote_neighbour():
    case = Case([(u * 11 % 30_000, v * 17 % 30_000) for u, v in power_law_pairs(30_000, 200_000)])
    bounds = chunk(np.bincount(case.source, minlength=case.count), 3)
    boundary = slots = 0
    for part, (low, high) in enumerate(itertools.pairwise(bounds)):
        rows = case.rows(low, high)
        local = localize(rows, bounds, part, threads=2)
        assert_same(globalize(local, threads=2), rows)
        held = here(local.rows)
        mirrors = held.ends >= local.owned
        boundary, slots = boundary + mirrors.sum(), slots + len(local.slots)
        # A row's branch point is where they begin.
        starts = np.repeat(to_host(local.middle), np.diff(held.offsets))
        np.testing.assert_array_equal(mirrors, np.arange(len(mirrors)) >= starts)
    assert slots < boundary / 2
