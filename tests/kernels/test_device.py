"""The device kernels give what the host kernels give. These tests need a GPU."""

from __future__ import annotations

import itertools
import pickle
from functools import partial

import conftest
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import cupy_or_skip
from sanitize_cases import placed
from shapes import grid, rmat

import dask_graphflow as gf
from dask_graphflow.kernels.common import host
from dask_graphflow.operators.forests.forest import Forest

pytestmark = pytest.mark.gpu

cupy = cupy_or_skip()

from dask_graphflow.kernels.common import device, giant  # noqa: E402
from dask_graphflow.kernels.launching import launch  # noqa: E402
from dask_graphflow.kernels.sources import instance  # noqa: E402


def arrays(pairs):
    """Return a number of vertices, of which the last have no edges, the sources and the targets."""
    ends = np.array(pairs, "int64").reshape(-1, 2).T
    return int(ends.max(initial=0)) + 40, *ends.copy()


def two_giants():
    """Return two trees with most of the edges and alternating ids, and small trees."""
    rng = np.random.default_rng(5)
    ends = 2 * rng.integers(0, 3000, (2, 40_000)) + rng.integers(0, 2, 40_000)
    loose = 6000 + rng.integers(0, 2000, (2, 300))
    source, target = np.concatenate([ends, loose], axis=1)
    return 8000, source, target


def two_giants_joined_last():
    size, source, target = two_giants()
    source[-300], target[-300] = 4, 5
    return size, source, target


class Skipping:
    """Make the device skip edges inside a giant in a graph of any size, and count how often.

    The list has room for `room` edges, or for a quarter of the vertices.
    """

    def __init__(self, monkeypatch, room):
        self.passes = 0
        monkeypatch.setattr(giant, "ROOM", room)

        def worth_it(parent, source, target, base):
            with monkeypatch.context() as patch:
                patch.setattr(giant, "ROOM", 1)
                can = giant.worth_it(parent[:0], source, target, base)
            self.passes += can
            return can

        monkeypatch.setattr(device, "worth_it", worth_it)


@pytest.fixture
def skipped(monkeypatch):
    """Edges inside a giant are skipped, and the list of others holds them all."""
    return Skipping(monkeypatch, 1 << 17)


@pytest.fixture(params=[None, 1 << 17, 1], ids=["parents", "list", "overflowing list"])
def skipping(request, monkeypatch):
    """Whether edges inside a giant are skipped. For small graphs, this is not worthwhile."""
    return Skipping(monkeypatch, request.param) if request.param else None


SHUFFLED = np.random.default_rng(1).permutation(20_000)
RMAT = arrays(rmat(12, 16))
PAIRS = arrays([(at, at + 1) for at in range(0, 4000, 2)])
GRAPHS = {
    **{name: arrays(pairs) for name, pairs in conftest.GRAPHS.items()},
    "rmat": RMAT,
    "long path": (20_000, SHUFFLED[:-1], SHUFFLED[1:]),
    "ordered path": (20_000, np.arange(19_999), np.arange(1, 20_000)),
    "large star": arrays([(5_000, leaf) for leaf in range(10_000)]),
    "grid": arrays(grid(104, "right", "down")),
    "many duplicates": (1000, *np.repeat([[4, 9, 700], [9, 4, 701]], 500, axis=1)),
    "pairs": PAIRS,
    "two giants": two_giants(),
    "two giants joined last": two_giants_joined_last(),
}


@pytest.fixture(params=GRAPHS, ids=str)
def graph(request):
    return GRAPHS[request.param]


def on_host(size, source, target):
    """Return the flat parents and the members, from the host kernels."""
    parent, seen = host.identity(size, "int64"), np.zeros(size, "uint8")
    host.hook(parent, seen, source.astype("int64"), target.astype("int64"))
    host.compress(parent)
    host.mark_members(parent, seen)
    return parent, seen


def check(parent, seen, graph):
    """Finish a forest that the edges of a graph were hooked into, and compare it with that of the host."""
    device.compress(parent)
    device.mark_members(parent, seen)
    parents, members = on_host(*graph)
    np.testing.assert_array_equal(device.to_host(parent), parents)
    np.testing.assert_array_equal(device.to_host(seen), members)


@pytest.mark.parametrize("parents", ["int32", "int64"])
@pytest.mark.parametrize("ids", ["int32", "int64", "uint32", "int16", "uint64"])
@pytest.mark.parametrize(
    "hook", [device.hook, partial(device.hook_sampled, step=8)], ids=["all", "sampled"]
)
def test_forest_equals_the_host_forest(graph, hook, parents, ids, skipping):
    size, source, target = graph
    parent, seen = device.identity(size, parents), cupy.zeros(size, "uint8")
    ends = cupy.asarray(source.astype(ids)), cupy.asarray(target.astype(ids))
    hooked, outside = hook(parent, seen, *ends)
    check(parent, seen, graph)
    assert outside is None
    assert parent.dtype == parents
    assert hooked >= size - len(np.unique(device.to_host(parent)))
    assert device.hook(parent, seen, *ends) == (0, None)


@pytest.mark.parametrize("skew", [(0, 0), (1, 1), (2, 2), (3, 3), (0, 1), (2, 3)])
@pytest.mark.parametrize("ids", ["int32", "int64"])
@pytest.mark.parametrize("count", [1, 3, 4, 5, 255, 256, 257, 511, 1023, 20_000, 65_536])
def test_edges_may_begin_at_any_address(skew, ids, count, skipped):
    size, source, target = RMAT
    sides = source[:count].astype(ids), target[:count].astype(ids)
    ends = [placed(device, *side) for side in zip(sides, skew, strict=True)]
    for hook in (device.hook, partial(device.hook_sampled, step=2)):
        parent, seen = device.identity(size, "int32"), cupy.zeros(size, "uint8")
        assert hook(parent, seen, *ends)[1] is None
        check(parent, seen, (size, *sides))
    if count >= 4 and skew[0] == skew[1]:
        assert skipped.passes


@pytest.mark.parametrize("step", [2, 32, 10**6])
def test_a_sample_finds_only_true_connections_and_a_full_pass_the_rest(graph, step, skipping):
    size, source, target = graph
    expected, _ = on_host(size, source, target)
    parent, unmarked = device.identity(size, "int32"), cupy.zeros(0, "uint8")
    ends = cupy.asarray(source), cupy.asarray(target)
    device.hook(parent, unmarked, *ends, step=step)
    device.compress(parent)
    sampled = device.to_host(parent)
    np.testing.assert_array_equal(expected[sampled], expected)
    device.hook(parent, unmarked, *ends)
    device.compress(parent)
    np.testing.assert_array_equal(device.to_host(parent), expected)


@pytest.mark.parametrize("ids", ["int32", "int64"])
@pytest.mark.parametrize("size", [0, 100])
def test_edges_outside_are_left_out_and_reported_as_on_the_host(ids, size):
    limits = np.iinfo(ids)
    source = np.array([5, 100, 99, 0, -3, limits.max, 11, 12] * 40, ids)
    target = np.array([7, 1, 98, limits.min, 2, 3, 12, 13] * 40, ids)
    found = []
    for kernels in (host, device):
        xp = kernels.namespace
        parent, seen = kernels.identity(size, "int32"), xp.zeros(size, "uint8")
        _, outside = kernels.hook(parent, seen, xp.asarray(source), xp.asarray(target))
        kernels.compress(parent)
        found.append((outside, kernels.to_host(parent).tolist()))
    assert found[0][0] == (limits.min, limits.max)
    assert found[1] == found[0]


def test_ids_beyond_the_signed_range_are_outside():
    ids = cupy.asarray(np.array([2**63 + 5, 3], "uint64"))
    parent = device.identity(10, "int32")
    _, outside = device.hook(parent, cupy.zeros(0, "uint8"), ids, ids)
    assert outside == (-(2**63) + 5, -(2**63) + 5)


@pytest.mark.parametrize("known", [0.0, 0.01, 0.5, 1.0])
@pytest.mark.parametrize("ids", ["int32", "int64"])
@pytest.mark.parametrize("room", [1, 600, 1 << 17])
def test_skipping_edges_inside_the_giant_changes_nothing(graph, known, ids, room, monkeypatch):
    size, source, target = graph
    expected, _ = on_host(size, source, target)
    ends = cupy.asarray(source.astype(ids)), cupy.asarray(target.astype(ids))
    parent, seen = device.identity(size, "int32"), cupy.zeros(size, "uint8")
    first = int(known * len(source))
    device.hook(parent, seen, *(side[:first] for side in ends))
    device.compress(parent)
    trees = len(np.unique(device.to_host(parent)))
    skipping = Skipping(monkeypatch, room)
    hooked, outside = device.hook(parent, seen, *ends)
    assert skipping.passes == (len(source) > 0)
    assert outside is None
    # An empty forest counts as flat, so each edge that joins two trees is counted.
    assert hooked >= trees - len(np.unique(expected))
    check(parent, seen, graph)


def test_an_edge_that_the_list_has_no_room_for_is_counted(monkeypatch):
    # Two trees, of which one is the giant. The other's edges are known, and take all the room; none of
    # them ends at its root, so that none says that the root was hooked.
    turns = np.arange(100_000)
    second, branch = turns % 2, turns // 2 % 1000
    first = second * 3000, second * 3000 + 1 + turns // 2 % 2000
    forest = Forest(cupy.zeros(0), size=6000)
    assert forest.hook(*map(cupy.asarray, first)) is None
    forest.compress()
    Skipping(monkeypatch, 1)
    again = second * 3001 + branch, second * 3001 + 1000 + branch
    again[0][-1000], again[1][-1000] = 1, 3001
    assert forest.hook(*map(cupy.asarray, again)) is None
    forest.compress()
    expected, _ = on_host(6000, *np.concatenate([first, again], axis=1))
    assert expected.max() == 5999
    assert expected[3000] == 0
    np.testing.assert_array_equal(device.to_host(forest.parent), expected)


def test_the_filter_does_not_wrap_ids_at_the_range_of_their_type(
    monkeypatch,
):
    monkeypatch.setattr(giant, "ROOM", 5000)
    # The forest's last vertices have ids that are no int32; the smallest int32 is none of them.
    size, base = 4096, 2**31 - 1000
    source, target = np.full(50_000, base), base + np.arange(50_000) % 1000
    source[30_000] = -(2**31)
    parent = device.identity(size, "int32")
    ends = [cupy.asarray(side.astype("int32")) for side in (source, target)]
    _, outside = device.hook_sampled(parent, cupy.zeros(0, "uint8"), *ends, base=base, step=8)
    assert outside == (-(2**31), target[30_000])
    device.compress(parent)
    expected = np.arange(size)
    expected[:1000] = 0
    np.testing.assert_array_equal(device.to_host(parent), expected)


def find_giant(parent, source, target, base=0):
    """Return the giant's root with the number of edges to hook without it, and its bits."""
    size = len(parent)
    found, members = cupy.empty(2, "int64"), cupy.zeros(-(-size // 32), "uint32")
    ends = source, target, np.uint64(len(source)), np.int64(base)
    launch(instance("choose_giant", source.dtype), 1, parent, np.uint64(size), *ends, found)
    launch("mark_giant", size, parent, np.uint64(size), found, members)
    return found, members


@pytest.mark.parametrize("name", ["rmat", "large star", "grid", "two giants"])
@pytest.mark.parametrize("ids", ["int32", "int64"])
@pytest.mark.parametrize("base", [0, -50, 1000])
def test_the_giant_is_the_largest_tree_and_has_a_bit_for_each_member(name, ids, base):
    size, source, target = GRAPHS[name]
    expected, _ = on_host(size, source, target)
    ends = [cupy.asarray((side + base).astype(ids)) for side in (source, target)]
    found, members = find_giant(cupy.asarray(expected.astype("int32")), *ends, base)
    root, rest = found.tolist()
    roots, counts = np.unique(expected, return_counts=True)
    # Two trees of all but one size are as good as each other.
    assert counts[roots == root] > 0.9 * counts.max()
    assert rest == 0
    bits = np.unpackbits(device.to_host(members).view("uint8"), bitorder="little")[:size]
    np.testing.assert_array_equal(bits, expected == root)


def test_equal_trees_have_no_giant():
    size, source, target = PAIRS
    parent = cupy.asarray(on_host(size, source, target)[0].astype("int32"))
    found, members = find_giant(parent, cupy.asarray(source), cupy.asarray(target))
    assert found.tolist() == [-1, len(source)]
    assert not members.any()


@pytest.mark.parametrize("by", [1 << 14, 56_160, 86_880, 143_056, 199_232, 232_448])
def test_division_by_the_number_of_slots_is_exact(by):
    _, magic, shift = giant._divisor(by).item()
    assert magic < 2**32
    multiples = by * np.arange(1, (2**31 - 1) // by + 1)
    numbers = np.concatenate([multiples - 1, multiples, np.arange(3 * by), [2**31 - 1]])
    quotients = (numbers.astype("uint64") * np.uint64(magic)) >> np.uint64(32 + shift)
    np.testing.assert_array_equal(quotients, numbers // by)


@pytest.fixture
def looked_for(monkeypatch):
    """The lengths of the chunks that a giant was looked for with."""
    lengths, find = [], device.find_giant

    def noted(parent, source, *rest):
        lengths.append(len(source))
        return find(parent, source, *rest)

    monkeypatch.setattr(device, "find_giant", noted)
    return lengths


def in_chunks(forest, size, source, target):
    """Hook edges in five chunks, and compare the forest."""
    for start, stop in itertools.pairwise(len(source) * i // 5 for i in range(6)):
        assert forest.hook(*(cupy.asarray(side[start:stop]) for side in (source, target))) is None
    forest.compress()
    expected, _ = on_host(size, source, target)
    np.testing.assert_array_equal(device.to_host(forest.parent)[:size], expected)


def test_later_chunks_use_the_giant_that_was_found(skipped, looked_for):
    size, source, target = RMAT
    forest = Forest(cupy.zeros(0), size=size)
    in_chunks(forest, size, source, target)
    assert skipped.passes == 5
    assert len(looked_for) == 1
    forest.cover(0, 2 * size)  # the bits were of the forest as it was
    in_chunks(forest, size, source, target)
    assert len(looked_for) == 2
    in_chunks(pickle.loads(pickle.dumps(forest)), size, source, target)
    assert len(looked_for) == 3


def test_listed_edges_that_were_not_hooked_are_not_skipped_later(skipped, looked_for, monkeypatch):
    size, source, target = RMAT
    half = len(source) // 2
    forest = Forest(cupy.zeros(0), size=size)
    forest.hook(cupy.asarray(source[:half]), cupy.asarray(target[:half]))

    def fail(*_, **__):
        raise RuntimeError("between listing and hooking")

    with monkeypatch.context() as patched:
        patched.setattr(giant, "queue_hook", fail)
        with pytest.raises(RuntimeError, match="between"):
            forest.hook(cupy.asarray(source), cupy.asarray(target))
    in_chunks(forest, size, source, target)
    assert len(looked_for) == 2


@pytest.mark.parametrize("shape", [(0,), (1,), (4095,), (10**5,), (300, 70)])
def test_large_arrays_come_to_the_host_in_parts(shape, monkeypatch):
    monkeypatch.setattr(device, "LARGE", 1)
    monkeypatch.setattr(device, "PART", 1 << 12)
    for dtype in ("uint8", "int32", "int64"):
        expected = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
        on_device = cupy.asarray(expected)
        np.testing.assert_array_equal(device.to_host(on_device), expected)
        np.testing.assert_array_equal(device.to_host(on_device[::2]), expected[::2])


def test_on_a_power_law_graph_few_edges_are_hooked():
    frame = gf.generate.rmat(18, npartitions=1).compute()
    source, target = (frame[side].to_numpy() for side in ("src", "dst"))
    assert len(source) >= giant.ROOM  # so that edges inside the giant are skipped
    forest = Forest(cupy.zeros(0), size=1 << 18)
    assert forest.hook(cupy.asarray(source), cupy.asarray(target)) is None
    forest.compress()
    expected, _ = on_host(1 << 18, source, target)
    np.testing.assert_array_equal(device.to_host(forest.parent), expected)
    # A device processes a million edges at once, so few of them see the trees that the others have joined.
    assert forest.counts["hooked"] < len(source) / 4


IDS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
LABELLED = [(0, 200), (3, 180), (7, 8), (0, 0), (200, 200)]
LONG = [(0, 512), (511, 513), (1, 1024), (100, 1636), (0, 300_001), (299_000, 300_001)]


@pytest.mark.parametrize("dtype", IDS)
@pytest.mark.parametrize("parents", ["int32", "int64"])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.6, 1.0])
def test_labels_are_the_same_as_on_the_host(dtype, parents, share):
    limits, wide = np.iinfo(dtype), np.dtype(dtype).itemsize >= 4
    size = 300_001 if wide else 200
    rng = np.random.default_rng(1)
    parent = (np.arange(size) * rng.random(size)).astype(parents)
    seen = (rng.random(size) < share).astype("uint8")
    bases = {max(limits.min, -100), min(limits.max - size, 2**40)}
    for (start, stop), base in itertools.product(LABELLED + (LONG if wide else []), bases):
        options = {"base": base, "dtype": np.dtype(dtype)}
        expected = host.labels(parent, seen, start, stop, **options)
        found = device.labels(cupy.asarray(parent), cupy.asarray(seen), start, stop, **options)
        for mine, hosts in zip(found, expected, strict=True):
            assert mine.dtype == hosts.dtype == dtype
            np.testing.assert_array_equal(device.to_host(mine), hosts)


@pytest.mark.parametrize("dtype", IDS)
@pytest.mark.parametrize("step", [1, 3, 1000])
@pytest.mark.parametrize("count", [1, 2, 255, 257, 5000])
def test_bounds_are_the_same_as_on_the_host(dtype, step, count):
    limits = np.iinfo(dtype)
    # Past 2**63 the kernels see negative numbers, as the hook does.
    high = min(limits.max, 2**63 - 1)
    rng = np.random.default_rng(count)
    source, target = rng.integers(limits.min, high, (2, count), dtype, endpoint=True)
    table = cupy.asarray(np.stack([source, target], axis=1))
    expected = host.bounds(source, target, step=step)
    assert device.bounds(cupy.asarray(source), cupy.asarray(target), step=step) == expected
    assert device.bounds(table[:, 0], table[:, 1], step=step) == expected


def id_columns(kind):
    frame = gf.generate.rmat(10, npartitions=1).compute()
    if kind == "sparse":
        return frame * 1_000_003_000_007 - 10**14
    if kind == "strings":
        return pd.DataFrame({c: "v" + frame[c].astype(str) for c in frame.columns})
    return frame.astype(kind)


@pytest.mark.parametrize("npartitions", [1, 5])
@pytest.mark.parametrize("kind", ["int32", "int64", "sparse", "strings"])
def test_the_whole_call_on_cudf_gives_what_pandas_gives(kind, npartitions):
    cudf = pytest.importorskip("cudf")
    pytest.importorskip("dask_cudf")
    edges = dd.from_pandas(id_columns(kind), npartitions=npartitions)
    ends = {"source": "src", "target": "dst"}
    expected = gf.connected_components(edges, **ends).compute()
    result = gf.connected_components(edges.to_backend("cudf"), **ends)
    labels = result.compute(scheduler="synchronous")
    assert isinstance(labels, cudf.DataFrame)
    assert list(labels.columns) == list(expected.columns)
    for column in expected.columns:
        found = labels[column].to_pandas().to_numpy()
        np.testing.assert_array_equal(found, expected[column].to_numpy())
