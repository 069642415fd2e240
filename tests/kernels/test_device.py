"""The device kernels give what the host kernels give. These tests need a GPU."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import cupy_or_skip

import dask_graphflow as gf
from dask_graphflow.kernels import kernels_for
from dask_graphflow.kernels.common import host
from dask_graphflow.operators.forests.forest import Forest

pytestmark = pytest.mark.gpu

cupy = cupy_or_skip()

from dask_graphflow.kernels.common import device, giant  # noqa: E402
from dask_graphflow.kernels.launching import launch  # noqa: E402
from dask_graphflow.kernels.sources import instance  # noqa: E402

Edges = tuple[int, np.ndarray, np.ndarray]


def rmat() -> Edges:
    frame = gf.generate.rmat(12, npartitions=1).compute()
    return 1 << 12, frame["src"].to_numpy(), frame["dst"].to_numpy()


def path() -> Edges:
    ids = np.random.default_rng(1).permutation(20_000)
    return len(ids), ids[:-1], ids[1:]


def ordered_path() -> Edges:
    ids = np.arange(20_000)
    return len(ids), ids[:-1], ids[1:]


def star() -> Edges:
    leaves = np.delete(np.arange(10_000), 5_000)
    return 10_000, np.full(len(leaves), 5_000), leaves


def grid() -> Edges:
    ids = np.arange(120 * 90).reshape(120, 90)
    across, down = (ids[:, :-1].ravel(), ids[:, 1:].ravel()), (ids[:-1].ravel(), ids[1:].ravel())
    return ids.size, np.concatenate([across[0], down[0]]), np.concatenate([across[1], down[1]])


def self_loops() -> Edges:
    ids = np.arange(0, 999, 3)
    return 1000, np.append(ids, 7), np.append(ids, 8)


def duplicates() -> Edges:
    source, target = np.repeat([4, 9, 700], 500), np.repeat([9, 4, 701], 500)
    return 1000, source, target


def pairs() -> Edges:
    return 4000, np.arange(0, 4000, 2), np.arange(1, 4000, 2)


def two_giants() -> Edges:
    """Return two trees with most of the edges and alternating ids, and small trees."""
    rng = np.random.default_rng(5)
    ends = 2 * rng.integers(0, 3000, (2, 40_000)) + rng.integers(0, 2, 40_000)
    loose = 6000 + rng.integers(0, 2000, (2, 300))
    source, target = np.concatenate([ends, loose], axis=1)
    return 8000, source, target


def two_giants_joined_last() -> Edges:
    size, source, target = two_giants()
    source[-300], target[-300] = 4, 5
    return size, source, target


def empty() -> Edges:
    return 50, np.zeros(0, "int64"), np.zeros(0, "int64")


GRAPHS = [
    rmat,
    path,
    ordered_path,
    star,
    grid,
    self_loops,
    duplicates,
    pairs,
    two_giants,
    two_giants_joined_last,
    empty,
]


@pytest.fixture(params=GRAPHS, ids=lambda graph: graph.__name__)
def graph(request: pytest.FixtureRequest) -> Edges:
    make: Callable[[], Edges] = request.param
    return make()


class Skipping:
    """Make the device skip edges inside a giant in a graph of any size, and count how often.

    The list has room for `room` edges, or for a quarter of the vertices.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
        self.passes = 0
        monkeypatch.setattr(giant, "ROOM", room)

        def worth_it(parent: Any, source: Any, target: Any, base: int) -> bool:
            with monkeypatch.context() as patch:
                patch.setattr(giant, "ROOM", 1)
                can = giant.worth_it(parent[:0], source, target, base)
            self.passes += can
            return can

        monkeypatch.setattr(device, "worth_it", worth_it)


@pytest.fixture
def skipped(monkeypatch: pytest.MonkeyPatch) -> Skipping:
    """Edges inside a giant are skipped, and the list of others holds them all."""
    return Skipping(monkeypatch, 1 << 17)


@pytest.fixture(params=[None, 1 << 17, 1], ids=["parents", "list", "overflowing list"])
def skipping(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Skipping | None:
    """Whether edges inside a giant are skipped. For small graphs, this is not worthwhile."""
    return Skipping(monkeypatch, request.param) if request.param else None


def on_host(size: int, source: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the flat parents and the members, from the host kernels."""
    parent, seen = host.identity(size, "int64"), np.zeros(size, "uint8")
    host.hook(parent, seen, source.astype("int64"), target.astype("int64"))
    host.compress(parent)
    host.mark_members(parent, seen)
    return parent, seen


@pytest.mark.parametrize("parents", ["int32", "int64"])
@pytest.mark.parametrize("ids", ["int32", "int64", "uint32", "int16", "uint64"])
def test_forest_equals_the_host_forest(
    graph: Edges, parents: str, ids: str, skipping: Skipping | None
) -> None:
    size, source, target = graph
    parent, seen = device.identity(size, parents), cupy.zeros(size, "uint8")
    ends = cupy.asarray(source.astype(ids)), cupy.asarray(target.astype(ids))
    hooked, outside = device.hook(parent, seen, *ends)
    device.compress(parent)
    device.mark_members(parent, seen)
    expected, members = on_host(size, source, target)
    assert outside is None
    assert parent.dtype == parents
    np.testing.assert_array_equal(device.to_host(parent), expected)
    np.testing.assert_array_equal(device.to_host(seen), members)
    assert hooked >= size - len(np.unique(expected))
    assert device.hook(parent, seen, *ends) == (0, None)


@pytest.mark.parametrize("skew", [(0, 0), (1, 1), (3, 3), (0, 1), (2, 3)])
@pytest.mark.parametrize("ids", ["int32", "int64"])
@pytest.mark.parametrize("count", [1, 3, 4, 5, 255, 256, 257, 1023])
def test_edges_may_begin_at_any_address(skew: tuple[int, int], ids: str, count: int) -> None:
    size, source, target = rmat()
    expected, _ = on_host(size, source[:count], target[:count])
    parent = device.identity(size, "int32")
    ends = []
    for side, skip in zip((source, target), skew, strict=True):
        room = cupy.full(count + 8, -1, ids)
        room[skip : skip + count] = cupy.asarray(side[:count].astype(ids))
        ends.append(room[skip : skip + count])
    assert device.hook(parent, cupy.zeros(0, "uint8"), *ends)[1] is None
    device.compress(parent)
    np.testing.assert_array_equal(device.to_host(parent), expected)


@pytest.mark.parametrize("step", [2, 32, 10**6])
def test_a_sample_finds_only_true_connections_and_a_full_pass_the_rest(
    graph: Edges, step: int, skipping: Skipping | None
) -> None:
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
def test_edges_outside_are_left_out_and_reported_as_on_the_host(ids: str, size: int) -> None:
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


def test_ids_beyond_the_signed_range_are_outside() -> None:
    ids = cupy.asarray(np.array([2**63 + 5, 3], "uint64"))
    parent = device.identity(10, "int32")
    _, outside = device.hook(parent, cupy.zeros(0, "uint8"), ids, ids)
    assert outside == (-(2**63) + 5, -(2**63) + 5)


@pytest.mark.parametrize("known", [0.0, 0.01, 0.5, 1.0])
@pytest.mark.parametrize("ids", ["int32", "int64"])
@pytest.mark.parametrize("room", [1, 600, 1 << 17])
def test_skipping_edges_inside_the_giant_changes_nothing(
    graph: Edges, known: float, ids: str, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    size, source, target = graph
    expected, members = on_host(size, source, target)
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
    device.compress(parent)
    device.mark_members(parent, seen)
    np.testing.assert_array_equal(device.to_host(parent), expected)
    np.testing.assert_array_equal(device.to_host(seen), members)


def test_an_edge_that_the_list_has_no_room_for_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("skew", range(4))
@pytest.mark.parametrize("ids", ["int32", "int64"])
@pytest.mark.parametrize("count", [4, 255, 256, 257, 511, 1023, 20_000, 65_536])
def test_the_filter_takes_edges_that_begin_anywhere(
    skew: int, ids: str, count: int, skipped: Skipping
) -> None:
    size, source, target = rmat()
    ends = []
    for side in (source, target):
        room = cupy.full(count + 8, -1, ids)
        room[skew : skew + count] = cupy.asarray(side[:count].astype(ids))
        ends.append(room[skew : skew + count])
    parent = device.identity(size, "int32")
    seen = cupy.zeros(size, "uint8")
    assert device.hook_sampled(parent, seen, *ends, step=2)[1] is None
    assert skipped.passes == 1
    device.compress(parent)
    device.mark_members(parent, seen)
    expected, members = on_host(size, source[:count], target[:count])
    np.testing.assert_array_equal(device.to_host(parent), expected)
    np.testing.assert_array_equal(device.to_host(seen), members)


@pytest.mark.parametrize("base", [-(2**31), -7, 0, 3, 2**31 - 4096])
@pytest.mark.parametrize("ids", ["int32", "int64"])
def test_the_filter_leaves_out_edges_outside_and_reports_them(
    base: int, ids: str, skipping: Skipping | None
) -> None:
    size, source, target = rmat()
    limits = np.iinfo(ids)
    rng = np.random.default_rng(0)
    ends = np.stack([source, target]) + base
    wrong = [id for id in (limits.min, base - 1, base + size, limits.max) if limits.min <= id]
    wrong = [id for id in wrong if id <= limits.max and not base <= id < base + size]
    at = rng.choice(len(source), 20 * len(wrong), replace=False)
    ends[rng.integers(0, 2, len(at)), at] = np.tile(wrong, 20)
    inside = ((ends >= base) & (ends < base + size)).all(axis=0)
    expected, members = on_host(size, *(ends[:, inside] - base))
    parent, seen = device.identity(size, "int32"), cupy.zeros(size, "uint8")
    sides = [cupy.asarray(side.astype(ids)) for side in ends]
    _, outside = device.hook_sampled(parent, seen, *sides, base=base, step=8)
    assert outside == (ends[:, ~inside].min(), ends[:, ~inside].max())
    device.compress(parent)
    device.mark_members(parent, seen)
    np.testing.assert_array_equal(device.to_host(parent), expected)
    np.testing.assert_array_equal(device.to_host(seen), members)


def test_the_filter_does_not_wrap_ids_at_the_range_of_their_type(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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


def find_giant(parent: Any, source: Any, target: Any, base: int = 0) -> tuple[Any, Any]:
    """Return the giant's root with the number of edges to hook without it, and its bits."""
    size = len(parent)
    found, members = cupy.empty(2, "int64"), cupy.zeros(-(-size // 32), "uint32")
    ends = source, target, np.uint64(len(source)), np.int64(base)
    launch(instance("choose_giant", source.dtype), 1, parent, np.uint64(size), *ends, found)
    launch("mark_giant", size, parent, np.uint64(size), found, members)
    return found, members


@pytest.mark.parametrize("make", [rmat, star, grid, two_giants])
@pytest.mark.parametrize("ids", ["int32", "int64"])
@pytest.mark.parametrize("base", [0, -50, 1000])
def test_the_giant_is_the_largest_tree_and_has_a_bit_for_each_member(
    make: Callable[[], Edges], ids: str, base: int
) -> None:
    size, source, target = make()
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


def test_equal_trees_have_no_giant() -> None:
    size, source, target = pairs()
    parent = cupy.asarray(on_host(size, source, target)[0].astype("int32"))
    found, members = find_giant(parent, cupy.asarray(source), cupy.asarray(target))
    assert found.tolist() == [-1, len(source)]
    assert not members.any()


@pytest.mark.parametrize("by", [1 << 14, 56_160, 86_880, 143_056, 199_232, 232_448])
def test_division_by_the_number_of_slots_is_exact(by: int) -> None:
    _, magic, shift = giant._divisor(by).item()
    assert magic < 2**32
    multiples = by * np.arange(1, (2**31 - 1) // by + 1)
    numbers = np.concatenate([multiples - 1, multiples, np.arange(3 * by), [2**31 - 1]])
    quotients = (numbers.astype("uint64") * np.uint64(magic)) >> np.uint64(32 + shift)
    np.testing.assert_array_equal(quotients, numbers // by)


@pytest.fixture
def looked_for(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of the chunks that a giant was looked for with."""
    lengths, find = [], device.find_giant

    def noted(parent: Any, source: Any, *rest: Any) -> Any:
        lengths.append(len(source))
        return find(parent, source, *rest)

    monkeypatch.setattr(device, "find_giant", noted)
    return lengths


def in_chunks(forest: Forest, size: int, source: np.ndarray, target: np.ndarray) -> None:
    """Hook edges in five chunks, and compare the forest."""
    for start, stop in itertools.pairwise(len(source) * i // 5 for i in range(6)):
        assert forest.hook(*(cupy.asarray(side[start:stop]) for side in (source, target))) is None
    forest.compress()
    expected, _ = on_host(size, source, target)
    np.testing.assert_array_equal(device.to_host(forest.parent)[:size], expected)


def test_later_chunks_use_the_giant_that_was_found(
    skipped: Skipping, looked_for: list[int]
) -> None:
    size, source, target = rmat()
    forest = Forest(cupy.zeros(0), size=size)
    in_chunks(forest, size, source, target)
    assert skipped.passes == 5
    assert len(looked_for) == 1
    forest.cover(0, 2 * size)  # the bits were of the forest as it was
    in_chunks(forest, size, source, target)
    assert len(looked_for) == 2
    in_chunks(pickle.loads(pickle.dumps(forest)), size, source, target)
    assert len(looked_for) == 3


def test_listed_edges_that_were_not_hooked_are_not_skipped_later(
    skipped: Skipping, looked_for: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    size, source, target = rmat()
    half = len(source) // 2
    forest = Forest(cupy.zeros(0), size=size)
    forest.hook(cupy.asarray(source[:half]), cupy.asarray(target[:half]))

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("between listing and hooking")

    with monkeypatch.context() as patched:
        patched.setattr(giant, "queue_hook", fail)
        with pytest.raises(RuntimeError, match="between"):
            forest.hook(cupy.asarray(source), cupy.asarray(target))
    in_chunks(forest, size, source, target)
    assert len(looked_for) == 2


@pytest.mark.parametrize("shape", [(0,), (1,), (4095,), (10**5,), (300, 70)])
def test_large_arrays_come_to_the_host_in_parts(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "LARGE", 1)
    monkeypatch.setattr(device, "PART", 1 << 12)
    for dtype in ("uint8", "int32", "int64"):
        expected = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
        on_device = cupy.asarray(expected)
        np.testing.assert_array_equal(device.to_host(on_device), expected)
        np.testing.assert_array_equal(device.to_host(on_device[::2]), expected[::2])


def test_on_a_power_law_graph_few_edges_are_hooked() -> None:
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


@pytest.mark.parametrize("step", [2, 8, 32])
@pytest.mark.parametrize("parents", ["int32", "int64"])
@pytest.mark.parametrize("ids", ["int32", "int64", "uint8", "uint32"])
@pytest.mark.parametrize("base", [-60, 0, 20])
def test_hooking_after_a_sample_equals_the_host(
    step: int, parents: str, ids: str, base: int, skipping: Skipping | None
) -> None:
    limits = np.iinfo(ids)
    base = max(base, limits.min)
    size = min(4096, limits.max - base - 20)
    rng = np.random.default_rng(step)
    source, target = base + (size * rng.random((2, 30_001)) ** 3).astype("int64")
    source[7::1000] = base + size + 20  # outside
    found = []
    for kernels in (host, device):
        xp = kernels.namespace
        ends = [xp.asarray(side.astype(ids)) for side in (source, target)]
        parent, seen = kernels.identity(size, parents), xp.zeros(size, "uint8")
        hooked, outside = kernels.hook_sampled(parent, seen, *ends, base=base, step=step)
        kernels.compress(parent)
        trees = len(np.unique(kernels.to_host(parent)))
        assert hooked >= size - trees
        kernels.mark_members(parent, seen)
        found.append((outside, kernels.to_host(parent).tolist(), kernels.to_host(seen).tolist()))
    assert found[0][0] is not None
    assert found[1] == found[0]


IDS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
LABELLED = [(0, 200), (3, 180), (7, 8), (0, 0), (200, 200)]
LONG = [(0, 512), (511, 513), (1, 1024), (100, 1636), (0, 300_001), (299_000, 300_001)]


@pytest.mark.parametrize("dtype", IDS)
@pytest.mark.parametrize("parents", ["int32", "int64"])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.6, 1.0])
def test_labels_are_the_same_as_on_the_host(dtype: str, parents: str, share: float) -> None:
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
def test_bounds_are_the_same_as_on_the_host(dtype: str, step: int, count: int) -> None:
    limits = np.iinfo(dtype)
    # Past 2**63 the kernels see negative numbers, as the hook does.
    high = min(limits.max, 2**63 - 1)
    rng = np.random.default_rng(count)
    source, target = rng.integers(limits.min, high, (2, count), dtype, endpoint=True)
    table = cupy.asarray(np.stack([source, target], axis=1))
    expected = host.bounds(source, target, step=step)
    assert device.bounds(cupy.asarray(source), cupy.asarray(target), step=step) == expected
    assert device.bounds(table[:, 0], table[:, 1], step=step) == expected


def test_compress_leaves_the_rest_untouched() -> None:
    chain = np.maximum(np.arange(1000) - 1, 0).astype("int32")
    parent = cupy.asarray(chain)
    device.compress(parent, start=100, stop=300)
    expected = chain.copy()
    expected[100:300] = 0
    np.testing.assert_array_equal(device.to_host(parent), expected)


def test_a_forest_is_stored_where_its_edges_are_and_can_be_sent() -> None:
    _, source, target = rmat()
    like = cupy.zeros(0)
    assert kernels_for(like) is device
    forest = Forest(like)
    forest.cover(int(source.min()), int(source.max()))
    forest.hook(cupy.asarray(source[:100]), cupy.asarray(target[:100]))
    sent = pickle.loads(pickle.dumps(forest))
    assert kernels_for(sent.parent) is device
    np.testing.assert_array_equal(device.to_host(sent.parent), device.to_host(forest.parent))


def forest_of(xp: Any, source: np.ndarray, target: np.ndarray) -> Forest:
    forest = Forest(xp.zeros(0))
    forest.cover(int(min(source.min(), target.min())), int(max(source.max(), target.max())))
    assert forest.hook(xp.asarray(source), xp.asarray(target)) is None
    return forest


def test_merged_forests_are_the_components_of_the_union() -> None:
    _, source, target = rmat()
    # The second half lies elsewhere, so that the forests begin at different vertices.
    half = len(source) // 2
    left = source[:half] + 70_000, target[:half] + 70_000
    right = source[half:] + 71_000, target[half:] + 71_000
    merged = []
    for xp in (np, cupy):
        forest = forest_of(xp, *left)
        forest.absorb(forest_of(xp, *right))
        forest.mark_members()
        vertices = forest.members(forest.base, forest.stop)
        merged.append((vertices, forest.roots(vertices)))
    for on_the_host, on_the_device in zip(*merged, strict=True):
        np.testing.assert_array_equal(device.to_host(on_the_device), on_the_host)


def id_columns(kind: str) -> pd.DataFrame:
    frame = gf.generate.rmat(10, npartitions=1).compute()
    if kind == "sparse":
        return frame * 1_000_003_000_007 - 10**14
    if kind == "strings":
        return pd.DataFrame({c: "v" + frame[c].astype(str) for c in frame.columns})
    return frame.astype(kind)


@pytest.mark.parametrize("npartitions", [1, 5])
@pytest.mark.parametrize("kind", ["int32", "int64", "sparse", "strings"])
def test_the_whole_call_on_cudf_gives_what_pandas_gives(kind: str, npartitions: int) -> None:
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
