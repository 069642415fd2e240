"""Rows made from edge lists: against SciPy and NumPy, for every policy and number of threads."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.sparse import coo_array

from dask_graphflow.exceptions import WeightError
from dask_graphflow.kernels import host_threads
from dask_graphflow.kernels.compiling import compiled
from dask_graphflow.kernels.partition import host as host_partition
from dask_graphflow.kernels.rows import host as host_rows
from tests.conftest import GRAPHS
from tests.shapes import SUMS, VERTEX, summed_edges

pytestmark = pytest.mark.usefixtures("host_memory")

SHAPES = {
    **GRAPHS,
    "hubs": [(int(7 * abs(i % 97 - 48) ** 0.5), i % 911) for i in range(5000)],
}


@pytest.fixture(params=SHAPES, ids=str)
def edges(request):
    pairs = np.array(SHAPES[request.param], np.int64).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy()


def count_of(edges):
    return int(max(side.max(initial=-1) for side in edges)) + 1


def weights_of(edges, seed=3):
    return np.random.default_rng(seed).integers(1, 50, len(edges[0])).astype(float)


def entries(source, target, weight, undirected):
    """Return the edges that the rows should contain, in the order of the input, by NumPy."""
    if undirected:
        both = source != target
        order = np.argsort(
            np.concatenate([np.arange(len(source)), np.flatnonzero(both)]), kind="stable"
        )
        source, target, weight = (
            np.concatenate([source, target[both]])[order],
            np.concatenate([target, source[both]])[order],
            np.concatenate([weight, weight[both]])[order],
        )
    order = np.lexsort((target, source))
    return source[order], target[order], weight[order]


def unpacked(rows):
    """Return rows as an edge list."""
    count = len(rows.offsets) - 1
    return np.repeat(np.arange(count) + rows.first, np.diff(rows.offsets)), rows.ends, rows.weights


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("undirected", [False, True], ids=["directed", "undirected"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_every_edge_is_in_its_row_in_ascending_order(edges, dtype, undirected, threads):
    source, target = (side.astype(dtype) for side in edges)
    weight = weights_of(edges)
    rows = host_rows.rows(
        source, target, weight, count=count_of(edges), undirected=undirected, threads=threads
    )
    wanted = entries(source, target, weight, undirected)
    for got, want in zip(unpacked(rows), wanted, strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("by", ["source", "target"])
@pytest.mark.parametrize("moved", [False, True], ids=["all", "all but one"])
def test_edges_that_come_in_order_are_in_the_same_rows(edges, by, moved):
    source, target = edges
    order = np.lexsort((target, source) if by == "source" else (source, target))
    order = np.roll(order, 1) if moved else order
    source, target = source[order], target[order]
    weight = weights_of((source, target))
    rows = host_rows.rows(source, target, weight, count=count_of(edges), threads=2)
    for got, want in zip(unpacked(rows), entries(source, target, weight, False), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("multi", ["sum", "min", "first"])
@pytest.mark.parametrize("undirected", [False, True], ids=["directed", "undirected"])
@pytest.mark.parametrize("threads", [1, 3])
def test_several_edges_between_two_vertices_become_one(edges, multi, undirected, threads):
    weight = weights_of(edges)
    count = count_of(edges)
    rows = host_rows.rows(
        *edges, weight, count=count, undirected=undirected, multi=multi, threads=threads
    )
    source, target, values = entries(*edges, weight, undirected)
    if multi == "sum":
        wanted = coo_array((values, (source, target)), shape=(count, count)).tocsr()
        wanted.sort_indices()
        np.testing.assert_array_equal(rows.offsets, wanted.indptr)
        np.testing.assert_array_equal(rows.ends, wanted.indices)
        np.testing.assert_array_equal(rows.weights, wanted.data)
        return
    kept = {}
    for u, v, w in zip(source.tolist(), target.tolist(), values.tolist(), strict=True):
        kept[u, v] = min(kept.get((u, v), w), w) if multi == "min" else kept.setdefault((u, v), w)
    got = zip(*(part.tolist() for part in unpacked(rows)), strict=True)
    assert list(got) == [(*pair, w) for pair, w in kept.items()]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("weight", "fits"), SUMS)
def test_a_sum_of_integers_fits_or_is_refused(weight, fits, threads):
    *edges, how = summed_edges(weight)
    if fits:
        rows = host_rows.rows(*edges, **how, threads=threads)
        assert rows.weights[VERTEX] == sum(weight)
    else:
        with pytest.raises(WeightError, match="does not fit int64"):
            host_rows.rows(*edges, **how, threads=threads)


def test_parallel_edges_without_weights_become_one_too(edges):
    rows = host_rows.rows(*edges, count=count_of(edges), multi="first")
    source, target, _ = unpacked(rows)
    pairs = list(zip(source.tolist(), target.tolist(), strict=True))
    assert pairs == sorted(set(zip(*(side.tolist() for side in edges), strict=True)))
    assert rows.weights is None


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("multi", host_rows.POLICIES)
@pytest.mark.parametrize("labelled", [False, True], ids=["plain", "labelled"])
def test_lists_of_arrays_are_read_as_one_array(edges, labelled, multi, threads):
    count, weight = count_of(edges), weights_of(edges)
    labels = np.random.default_rng(5).permutation(count).astype("int32") if labelled else None
    how = {"count": count, "labels": labels, "undirected": True, "multi": multi}
    whole = host_rows.rows(*edges, weight, **how)
    cuts = sorted([0, 0, 1, 1, len(weight) // 2, len(weight)])  # some arrays are empty
    lists = [[side[a:b] for a, b in itertools.pairwise(cuts)] for side in (*edges, weight)]
    for got, want in zip(host_rows.rows(*lists, **how, threads=threads), whole, strict=True):
        np.testing.assert_array_equal(got, want)
    bare = host_rows.rows(*lists[:2], **how, threads=threads)
    np.testing.assert_array_equal(bare.ends, whole.ends)
    assert bare.weights is None


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_rows_of_a_range_equal_that_range_of_all_rows(edges, parts):
    count, weight = count_of(edges), weights_of(edges)
    whole = host_rows.rows(*edges, weight, count=count, undirected=True)
    bounds = [count * i // parts for i in range(parts + 1)]
    for first, stop in itertools.pairwise(bounds):
        part = host_rows.rows(
            *edges, weight, first=first, count=stop - first, columns=count, undirected=True
        )
        low, high = whole.offsets[first], whole.offsets[stop]
        np.testing.assert_array_equal(part.offsets, whole.offsets[first : stop + 1] - low)
        np.testing.assert_array_equal(part.ends, whole.ends[low:high])
        np.testing.assert_array_equal(part.weights, whole.weights[low:high])


def test_rows_of_labels_are_in_the_order_of_the_ids(edges):
    count, weight = count_of(edges), weights_of(edges)
    plain = host_rows.rows(*edges, weight, count=count, undirected=True)
    labels = host_rows.degree_labels(np.diff(plain.offsets))
    rows = host_rows.rows(*edges, weight, count=count, undirected=True, labels=labels)
    degrees = np.diff(rows.offsets)
    assert (np.diff(degrees) <= 0).all()
    for vertex in range(count):
        old = slice(*plain.offsets[vertex : vertex + 2])
        new = slice(*rows.offsets[labels[vertex] : labels[vertex] + 2])
        np.testing.assert_array_equal(rows.ends[new], labels[plain.ends[old]])
        np.testing.assert_array_equal(rows.weights[new], plain.weights[old])


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_ids_become_those_of_labels(edges, weighted):
    count, weight = count_of(edges), weights_of(edges) if weighted else None
    plain = host_rows.rows(*edges, weight, count=count)
    labels = host_rows.degree_labels(np.diff(plain.offsets))
    for first in {0, count // 2}:
        how = {"first": first, "count": count - first}
        wanted = host_rows.rows(*edges, weight, **how, columns=count, labels=labels)
        got = host_rows.relabelled(plain, labels, **how, threads=2)
        for mine, other in zip(got[:3], wanted[:3], strict=True):
            np.testing.assert_array_equal(mine, other)
        placed = host_rows.relabelled(plain, labels, places=7 * np.argsort(labels), **how)
        np.testing.assert_array_equal(
            placed.ends, 7 * np.argsort(labels)[np.argsort(labels)[got.ends]]
        )
        np.testing.assert_array_equal(placed.offsets, got.offsets)


def test_labels_go_by_degree_and_then_by_id():
    assert host_rows.degree_labels(np.array([1, 4, 0, 4, 1])).tolist() == [2, 0, 4, 1, 3]
    assert host_rows.degree_labels(np.array([1, 99, 0, 99, 1])).tolist() == [2, 0, 4, 1, 3]
    assert host_rows.degree_labels(np.zeros(0, np.int64)).tolist() == []


@pytest.mark.parametrize("scale", [1 << 11, 1 << 12, 1 << 22, 1 << 34])
def test_wide_ids_are_sorted_by_all_of_their_bits(scale, rng):
    source = rng.integers(0, 300, 40_000)
    target = rng.integers(0, scale, 40_000)
    rows = host_rows.rows(source, target, count=300, columns=scale, threads=2)
    assert rows.ends.dtype == ("int64" if scale > 2**31 else "int32")
    wanted = entries(source, target, np.zeros(len(source)), undirected=False)
    np.testing.assert_array_equal(unpacked(rows)[0], wanted[0])
    np.testing.assert_array_equal(rows.ends, wanted[1])


@pytest.mark.parametrize("threads", [1, 4])
def test_degrees_are_counts_of_ids(edges, threads):
    count = count_of(edges)
    got = host_rows.degrees(edges[0], count=count, threads=threads)
    np.testing.assert_array_equal(got, np.bincount(edges[0], minlength=count))
    inside = host_rows.degrees(edges[0], first=3, count=40)
    np.testing.assert_array_equal(inside, np.bincount(edges[0], minlength=43)[3:43])


@compiled
def take_items(ranges, part, size):
    return host_threads.take(ranges, part, size)


def test_each_mini_chunk_is_taken_once_and_parts_take_their_own_first():
    ranges = host_threads.even_turns(1000, 2)
    taken = []
    for part in 0, 1:  # in turn, as two threads of the same speed
        taken += [take_items(ranges, part, host_threads.MINI_CHUNK) for _ in range(8)]
    assert host_threads.stolen(ranges) == (16, 0)
    items = np.concatenate([np.arange(*chunk) for chunk in taken])
    assert sorted(items.tolist()) == list(range(1000))
    assert take_items(ranges, 0, 64) == (0, 0)


def test_vertices_without_cost_are_divided_evenly():
    # In one range, all threads would take each mini-chunk from it by an atomic addition.
    free = host_threads.even_turns(1000, 2, np.zeros(1001, np.int64))
    np.testing.assert_array_equal(free, host_threads.even_turns(1000, 2))


def test_a_part_that_is_done_takes_work_from_the_others():
    costs = np.concatenate([[0], np.cumsum(np.where(np.arange(1000) < 64, 10_000, 1))])
    ranges = host_threads.even_turns(1000, 2, costs)
    taken = []
    while (chunk := take_items(ranges, 1, host_threads.MINI_CHUNK)) != (0, 0):
        taken.append(chunk)
    chunks, steals = host_threads.stolen(ranges)
    assert (chunks, steals) == (16, 1)
    assert sorted(np.concatenate([np.arange(*c) for c in taken]).tolist()) == list(range(1000))


@pytest.mark.parametrize("threads", [1, 2, 9])
def test_every_part_is_done_once_and_an_error_is_raised(threads):
    assert host_threads.share(lambda part: part * part, 7, threads) == [i * i for i in range(7)]
    with pytest.raises(ZeroDivisionError):
        host_threads.share(lambda part: 1 // (part - 3), 7, threads)


# Edges that are sent to their owners


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("members", [1, 2, 5])
@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("shift", [0, 6])
@pytest.mark.parametrize("but", [None, 0])
def test_edges_are_parted_by_the_owners_of_their_ends(rng, threads, members, both, shift, but):
    size, count = 1000, 4 * host_partition.LEAST + 17
    owners = rng.integers(0, members, -(-size // 2**shift)).astype("int16")
    source, target = rng.integers(0, size, (2, count)).astype("int32")
    columns = source, target, rng.random(count)
    given = columns, source, target if both else None, owners, members
    found = host_partition.parted(*given, shift=shift, but=but, threads=threads)
    for values, parts in zip(columns, found, strict=True):
        assert len(parts) == members
        for member, part in enumerate(parts):
            here = owners[source >> shift] == member
            if both:
                here |= owners[target >> shift] == member
            here &= member != but
            np.testing.assert_array_equal(part, values[here])


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_values_of_several_arrays_are_counted(rng, threads, dtype):
    size = 700
    counts = [0, 5, host_rows.BLOCK + 9, 3 * host_partition.LEAST]
    sides = [rng.integers(0, size, count).astype(dtype) for count in counts]
    wanted = np.bincount(np.concatenate(sides), minlength=size)
    found = host_rows.count_all(sides, count=size, threads=threads)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(host_rows.count_all([], count=3, threads=threads), np.zeros(3))
    for ids in sides:
        grains = host_partition.count_grains(ids, 11, shift=6, threads=threads)
        np.testing.assert_array_equal(grains, np.bincount(ids >> 6, minlength=11))


@pytest.mark.parametrize("multi", ["keep", "sum", "min", "first"])
def test_a_member_without_vertices_has_no_rows(multi, monkeypatch):
    # Memory that nothing was written to yet is often zero, but not always.
    monkeypatch.setattr(
        host_rows.np, "empty", lambda shape, dtype=float: np.full(shape, -77, np.int8).astype(dtype)
    )
    nothing = np.zeros(0, "int32")
    rows = host_rows.rows(nothing, nothing, np.zeros(0), first=5, count=0, columns=9, multi=multi)
    assert rows.offsets.tolist() == [0]
    assert len(rows.ends) == len(rows.weights) == 0


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("part", [0, 0.4, 1])
def test_edges_between_marked_vertices_are_listed(
    edges, part, threads, index, later, rng, monkeypatch
):
    monkeypatch.setattr(host_threads, "WORTH", 1)
    monkeypatch.setattr(host_rows, "LISTED", 1)
    size = count_of(edges)
    rows = host_rows.rows(*edges, count=size, undirected=True)
    inside, chosen = rng.random((2, size)) < part
    which = np.flatnonzero(chosen).astype(index)
    names = which + which.dtype.type(5)
    source, target, _ = unpacked(rows)
    wanted = chosen[source] & inside[target]
    if later:
        wanted &= source <= target
    wanted = np.flatnonzero(wanted)
    vertices, entries = host_rows.between(rows, which, inside, later=later, threads=threads)
    np.testing.assert_array_equal(entries, wanted)
    np.testing.assert_array_equal(vertices, source[wanted])
    assert vertices.dtype == index
    named, _ = host_rows.between(rows, which, inside, names=names, threads=threads)
    np.testing.assert_array_equal(named, source[chosen[source] & inside[target]] + 5)
