"""The forest's mechanisms: hook, compress, chunks, samples, merges, segments."""

from __future__ import annotations

import pickle
import threading

import numba
import numpy as np
import pytest
from conftest import BACKEND, GRAPHS, astray, on_backend, oracle, to_host

import dask_graphflow as gf
from dask_graphflow.kernels import components, disk, kernels_for
from dask_graphflow.kernels.common import host
from dask_graphflow.kernels.components import host as components_host
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.host_atomics import swap
from dask_graphflow.operators.forests.forest import Forest


def arrays(pairs, dtype="int64"):
    pairs = np.array(pairs, dtype).reshape(-1, 2)
    return tuple(on_backend(np.ascontiguousarray(side)) for side in pairs.T)


def blank():
    """Return a forest of no vertices."""
    return Forest(on_backend(np.zeros(0)))


def forest_of(source, target, size=None, **options):
    source, target = on_backend(source), on_backend(target)
    forest = Forest(source)
    forest.cover(0, (size or 1 + int(max(source.max(), target.max()))) - 1)
    assert forest.hook(source, target, **options) is None
    forest.compress()
    return forest


def labels(forest):
    forest.mark_members()
    members = forest.members(forest.base, forest.stop)
    return dict(zip(members.tolist(), forest.roots(members).tolist(), strict=True))


def power_law(vertices, edges, seed=3):
    rng = np.random.default_rng(seed)
    draw = rng.random((2, edges))
    return tuple(on_backend(side) for side in (vertices * draw**4).astype("int64"))


def same(one, other):
    return np.array_equal(to_host(one), to_host(other))


@pytest.mark.parametrize("name", [name for name, pairs in GRAPHS.items() if pairs])
@pytest.mark.parametrize("order", range(3))
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_a_root_is_the_smallest_for_every_order(name, order, dtype):
    pairs = np.random.default_rng(order).permutation(GRAPHS[name])
    assert labels(forest_of(*arrays(pairs, dtype))) == oracle(GRAPHS[name])


def test_threads_hook_into_one_forest(monkeypatch):
    monkeypatch.setattr(host, "BLOCK", 1000)  # so that threads meet
    source, target = power_law(50_000, 200_000)
    expected = forest_of(source, target, threads=1).parent
    for threads in (2, 4, 8):
        assert same(forest_of(source, target, threads=threads).parent, expected)


@pytest.mark.parametrize(
    ("edge", "faster", "swaps"),
    [
        # The root 3 is hooked onto 0 by another thread: 2 is left to be joined with 0.
        ((3, 2), {3: 0}, [(3, 3, 2), (2, 2, 0)]),
        # It is already hooked to the right root, so nothing is left to do.
        ((3, 2), {3: 2}, [(3, 3, 2)]),
        # Both roots are hooked elsewhere, one after the other.
        ((5, 4), {5: 2, 4: 1}, [(5, 5, 4), (4, 4, 2), (2, 2, 1)]),
    ],
)
@pytest.mark.usefixtures("host_memory")  # the star below shows it on a GPU
def test_a_lost_swap_continues_from_the_value_that_it_found(monkeypatch, edge, faster, swaps):
    parent, faster, tried = np.arange(6), dict(faster), []

    def swap(parent, at, expected, desired):
        tried.append((int(at), int(expected), int(desired)))
        if at in faster:  # another thread, just before
            parent[at] = faster.pop(at)
        swapped = parent[at] == expected
        if swapped:
            parent[at] = desired
        return swapped

    monkeypatch.setattr(host, "swap", swap)
    monkeypatch.setattr(host, "find", host.find.py_func)
    host.unite.py_func(parent, *edge)
    assert tried == swaps
    assert not faster
    while (parent[parent] != parent).any():
        parent = parent[parent]
    assert parent[edge[0]] == parent[edge[1]]


@numba.njit
def swapped(array, expected, desired):
    return swap(array, 1, expected, desired)


@pytest.mark.usefixtures("host_memory")
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_a_swap_is_one_instruction_and_needs_the_expected_value(dtype):
    array = np.array([5, 7, 9], dtype)
    item = array.dtype.type
    assert not swapped(array, item(8), item(6))
    assert array.tolist() == [5, 7, 9]
    assert swapped(array, item(7), item(6))
    assert array.tolist() == [5, 6, 9]
    assert all("cmpxchg" in code for code in swapped.inspect_llvm().values())


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_a_star_is_hooked_by_all_threads_at_once(monkeypatch, dtype):
    # The center has the highest number, so all threads race for the root of its tree.
    monkeypatch.setattr(host, "BLOCK", 64)
    leaves = 1 << 16
    source = np.random.default_rng(0).permutation(leaves).astype(dtype)
    forest = forest_of(source, np.full_like(source, leaves), threads=8)
    assert not forest.parent[: leaves + 1].any()


def path(size):
    """Return a forest whose only tree is a path."""
    return on_backend(np.maximum(np.arange(size) - 1, 0).astype("int32"))


@pytest.mark.parametrize(
    ("start", "stop"), [(0, 1000), (0, 400), (600, 1000)], ids=["whole", "its root", "far from it"]
)
def test_compress_flattens_the_given_range_and_leaves_the_rest_unchanged(start, stop):
    parent = path(1000)
    before = to_host(parent).copy()
    kernels_for(parent).compress(parent, start=start, stop=stop, threads=2)
    after = to_host(parent)
    assert not after[start:stop].any()
    np.testing.assert_array_equal(after[:start], before[:start])
    np.testing.assert_array_equal(after[stop:], before[stop:])


def test_find_points_each_vertex_on_the_path_to_its_grandparent():
    parent = path(1000)
    seen = on_backend(np.zeros(0, "uint8"))
    kernels_for(parent).hook(parent, seen, *arrays([(999, 0)], "int32"))
    wanted = np.maximum(np.arange(1000) - 2, 0)
    wanted[999] = 998  # the source of an edge is read first
    np.testing.assert_array_equal(to_host(parent), wanted)


@pytest.mark.parametrize("chunk", [1, 7, 100, 2499, 2500, 10_000])
def test_each_chunk_takes_one_launch(chunk):
    source, target = power_law(3000, 2500)
    whole = forest_of(source, target)
    forest = forest_of(source, target, chunk=chunk, step=1)
    assert forest.counts["launches"] == -(-2500 // chunk)
    assert same(forest.parent, whole.parent)


@pytest.mark.parametrize("graph", ["sparse", "power law"])
def test_merging_gives_the_components_of_the_union(graph):
    source, target = power_law(5000, 3000 if graph == "sparse" else 60_000)
    half = len(source) // 2
    left = forest_of(source[:half], target[:half], size=5000)
    right = forest_of(source[half:], target[half:], size=5000)
    right_before = right.parent.copy()
    left.absorb(right, threads=2)
    assert labels(left) == labels(forest_of(source, target, size=5000))
    assert same(right.parent, right_before)


def test_hooking_again_changes_nothing():
    source, target = power_law(5000, 20_000)
    forest = forest_of(source, target)
    before = forest.parent.copy()
    forest.hook(source[::-1].copy(), target[::-1].copy())
    forest.absorb(forest)
    assert same(forest.parent, before)


def test_a_flat_forest_is_not_compressed_again():
    source, target = power_law(1000, 50_000)
    forest = forest_of(source, target)
    done = forest.counts["compressions"]
    forest.compress()
    forest.hook(source, target)  # joins nothing
    forest.compress()
    assert forest.counts["compressions"] == done
    lowest = int(forest.parent.min())
    forest.cover(0, 10_000)
    forest.hook(*arrays([(9000, lowest)]))
    forest.compress()
    assert forest.counts["compressions"] == done + 1


def stale(monkeypatch, forest, wait):
    """Make the next compression of the forest write the roots that it read before it waited."""
    compress = forest.kernels.compress

    def slow(parent, **options):
        monkeypatch.setattr(forest.kernels, "compress", compress)
        roots = parent.copy()
        compress(roots)
        moved = roots != parent
        wait()
        parent[moved] = roots[moved]

    monkeypatch.setattr(forest.kernels, "compress", slow)


def chained():
    """Return a forest of the trees 0 and 3 -> 2 -> 1, and the edge that joins them."""
    forest = Forest(on_backend(np.zeros(0)), size=4)
    forest.parent[:] = on_backend(np.array([0, 1, 1, 2]))
    forest.flat = False
    return forest, arrays([(1, 0)])


def test_two_threads_that_compress_at_once_leave_flat_trees(monkeypatch):
    forest, edge = chained()
    read, over = threading.Event(), threading.Event()

    def wait():
        read.set()
        over.wait(0.2)  # the other thread compresses now, unless it waits for this one

    stale(monkeypatch, forest, wait)
    thread = threading.Thread(target=forest.compress)
    thread.start()
    read.wait()
    forest.hook(*edge, step=1)
    forest.compress()
    over.set()
    thread.join()
    forest.compress()
    assert not forest.parent.any()


def test_a_sample_that_another_thread_disturbs_leaves_no_flat_forest(monkeypatch):
    forest, _ = chained()
    # Another thread joins both trees and compresses while the sample compresses.
    stale(monkeypatch, forest, lambda: forest.parent.fill(0))
    forest.flat = True  # as that thread says
    forest.hook(*arrays([(2, 1)] * 9), step=9)  # joins nothing
    forest.compress()
    assert not forest.parent.any()


def test_after_a_sample_few_edges_are_hooked():
    source, target = power_law(1 << 14, 1 << 19)
    sampled = forest_of(source, target)
    plain = forest_of(source, target, step=1)
    assert same(sampled.parent, plain.parent)
    # A device processes such a small number of edges all at once; see test_device.py.
    if BACKEND.name == "pandas":
        assert sampled.counts["hooked"] < 0.1 * len(source)


def rows_of(source, target, size, dtype="int32", *, both=True):
    """Return the rows of edges, each of which is in the rows of both ends, or in that of its source."""
    pairs = [[*source, *target], [*target, *source]] if both else [source, target]
    pairs = np.unique(pairs, axis=1)  # sorted by the first end
    offsets = np.searchsorted(pairs[0], np.arange(size + 1))
    return Rows(on_backend(offsets), on_backend(pairs[1].astype(dtype)), None, 0)


@pytest.mark.parametrize("name", [name for name, pairs in GRAPHS.items() if pairs])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("both", [True, False], ids=["both rows", "one row"])
def test_edges_by_row_give_the_same_trees(monkeypatch, name, dtype, threads, both):
    monkeypatch.setattr(components_host, "JOINED", 1)
    source, target = np.array(GRAPHS[name]).T
    size = 1 + int(max(source.max(), target.max()))
    rows = rows_of(source, target, size, dtype, both=both)
    parent = components.of(rows.ends).join_rows(rows, both=both, threads=threads)
    assert parent.dtype == dtype
    assert same(parent, forest_of(source, target, size).parent[:size])


@pytest.mark.parametrize("degree", [1, 2, 4, 32])
@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("both", [True, False], ids=["both rows", "one row"])
def test_rows_of_many_members_and_chunks_give_the_same_trees(
    monkeypatch, tmp_path, degree, on_disk, both
):
    monkeypatch.setattr(components_host, "JOINED", 1)
    size = 1 << 14  # from mostly small trees to a single one
    source, target = np.random.default_rng(degree).integers(0, size, (2, size * degree // 2))
    rows = rows_of(source, target, size, both=both)
    if on_disk and BACKEND.name == "pandas":
        rows = rows._replace(ends=disk.stored(rows.ends, str(tmp_path)))
    wanted = forest_of(source, target, size).parent[:size]
    for threads in (1, 2, 5):
        parent = components.of(rows.ends).join_rows(rows, both=both, threads=threads)
        assert same(parent, wanted)


def test_rows_without_edges_are_their_own_trees():
    rows = Rows(on_backend(np.zeros(4, "int64")), on_backend(np.empty(0, "int32")), None, 0)
    assert to_host(components.of(rows.ends).join_rows(rows)).tolist() == [0, 1, 2]


def test_rows_of_the_largest_tree_are_not_read_between_their_first_and_last_edges():
    few, many = 40, 1000
    source, target = np.random.default_rng(6).integers(few, few + many, (2, 20 * many))
    path = np.arange(few - 1)
    rows = rows_of([*path, *source], [*path + 1, *target], few + many)
    offsets, ends = to_host(rows.offsets), to_host(rows.ends)
    for row in range(few, few + many):  # if these edges were read, they would join both components
        ends[offsets[row] + 2 : offsets[row + 1] - 1] = 0
    parent = components.of(rows.ends).join_rows(rows._replace(ends=on_backend(ends)))
    assert to_host(parent).tolist() == few * [0] + many * [few]


def test_edges_outside_are_reported_and_the_others_hooked():
    forest = blank()
    forest.cover(0, 9)
    stop = forest.stop
    assert forest.hook(*arrays([(1, 2), (stop + 5, 1), (3, -7), (2, 3)])) == (-7, stop + 5)
    forest.compress()
    assert forest.roots(on_backend(np.array([1, 2, 3]))).tolist() == [1, 1, 1]


def test_a_forest_covers_only_its_segment_and_grows_both_ways():
    base = 10**12
    forest = blank()
    forest.cover(base, base + 10)
    assert len(forest.parent) < 10**5
    forest.hook(*arrays([(base, base + 10)]))
    forest.cover(base - 50_000, base + 50_000)
    forest.hook(*arrays([(base - 50_000, base + 10), (base + 50_000, base + 50_000)]))
    assert labels(forest) == {
        base - 50_000: base - 50_000,
        base: base - 50_000,
        base + 10: base - 50_000,
        base + 50_000: base + 50_000,
    }


def test_a_forest_is_sent_whole():
    forest = forest_of(*power_law(1000, 5000))
    buffers = []
    sent = pickle.dumps(forest, protocol=5, buffer_callback=buffers.append)
    assert len(sent) < 2000  # the arrays travel beside it, uncopied
    again = pickle.loads(sent, buffers=buffers)
    assert again.counts == forest.counts
    assert labels(again) == labels(forest)


@pytest.mark.usefixtures("host_memory")
def test_a_received_forest_is_aligned_to_whole_words():
    # Compare-and-swap across two cache lines: a merge took seconds where Linux detects split locks.
    forest = forest_of(*power_law(1000, 5000))
    buffers = []
    sent = pickle.dumps(forest, protocol=5, buffer_callback=buffers.append)
    again = pickle.loads(sent, buffers=[astray(buffer) for buffer in buffers])
    assert again.parent.flags.aligned
    assert again.parent.flags.writeable
    assert again.seen.flags.writeable
    np.testing.assert_array_equal(again.parent, forest.parent)
    np.testing.assert_array_equal(again.seen, forest.seen)


@pytest.mark.usefixtures("host_memory")
def test_edges_in_other_memory_are_hooked_by_the_available_kernels():
    ends = power_law(1000, 5000)
    forest = forest_of(*ends)
    signatures = len(host._hook.signatures)
    again = forest_of(*(host.asarray(np.frombuffer(astray(side), side.dtype)) for side in ends))
    assert labels(again) == labels(forest)
    assert len(host._hook.signatures) == signatures


@pytest.mark.usefixtures("host_memory")  # from a device, pickle takes a copy
def test_a_forest_that_is_hooked_while_it_is_sent_is_made_flat_where_it_arrives():
    forest = forest_of(*arrays([(1, 2), (3, 4)]))
    buffers = []
    sent = pickle.dumps(forest, protocol=5, buffer_callback=buffers.append)
    forest.hook(*arrays([(2, 4), (0, 1)]))  # the buffers are this forest's own memory
    again = pickle.loads(sent, buffers=buffers)
    assert labels(again) == dict.fromkeys(range(5), 0)


def test_chains_over_an_ordered_file_cover_segments_by_themselves():
    edges = gf.generate.grid(200, 200).compute().sort_values("src")
    half = len(edges) // 2
    covered = 0
    for part in (edges[:half], edges[half:]):
        source, target = (on_backend(part[side].to_numpy()) for side in ("src", "dst"))
        forest = Forest(source)
        forest.cover(int(part.to_numpy().min()), int(part.to_numpy().max()))
        assert forest.hook(source, target) is None
        covered += len(forest.parent)
    assert covered < 1.3 * 200 * 200


def test_the_sample_is_sparser_if_there_are_more_edges_per_vertex():
    forest = Forest(on_backend(np.zeros(0)), size=1000)
    steps = [forest._sample_step(edges) for edges in (0, 5000, 50_000)]
    assert steps == [2, 5 * forest.kernels.SAMPLED, 16 * forest.kernels.SAMPLED]
