"""The device kernels give what the host kernels give. These tests need a GPU."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import dask_graphflow as gf
from dask_graphflow.kernels import host, kernels_for
from dask_graphflow.operators.forest import Forest
from dask_graphflow.operators.plan import Plan

pytestmark = pytest.mark.gpu

cupy = pytest.importorskip("cupy")
try:
    cupy.cuda.runtime.getDeviceCount()
except cupy.cuda.runtime.CUDARuntimeError as error:
    pytest.skip(f"no GPU: {error}", allow_module_level=True)

from dask_graphflow.kernels import device  # noqa: E402

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


def empty() -> Edges:
    return 50, np.zeros(0, "int64"), np.zeros(0, "int64")


GRAPHS = [rmat, path, ordered_path, star, grid, self_loops, duplicates, pairs, empty]


@pytest.fixture(params=GRAPHS, ids=lambda graph: graph.__name__)
def graph(request: pytest.FixtureRequest) -> Edges:
    make: Callable[[], Edges] = request.param
    return make()


@pytest.fixture(params=[False, True], ids=["parents", "bitmap"])
def skipping(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the giant's bitmap is used: small graphs go without, left to themselves."""
    if request.param:
        monkeypatch.setattr(device, "_needs_bitmap", lambda *_: True)
    return bool(request.param)


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
    graph: Edges, parents: str, ids: str, skipping: bool
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
    graph: Edges, step: int, skipping: bool
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


def test_a_sample_is_a_fraction_of_the_edges() -> None:
    ids = cupy.arange(1 << 16)
    parent = device.identity(1 << 17, "int32")
    hooked, _ = device.hook(parent, cupy.zeros(0, "uint8"), ids * 2, ids * 2 + 1, step=16)
    assert hooked == (1 << 16) // 16


@pytest.mark.parametrize("base", [-(10**12), -7, 3, 10**12])
def test_ids_count_from_the_base(base: int, skipping: bool) -> None:
    size, source, target = rmat()
    expected, members = on_host(size, source, target)
    parent, seen = device.identity(size, "int32"), cupy.zeros(size, "uint8")
    ends = cupy.asarray(source + base), cupy.asarray(target + base)
    assert device.hook(parent, seen, *ends, base=base)[1] is None
    device.compress(parent)
    device.mark_members(parent, seen)
    np.testing.assert_array_equal(device.to_host(parent), expected)
    np.testing.assert_array_equal(device.to_host(seen), members)


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


def test_ids_past_the_signed_range_are_outside() -> None:
    ids = cupy.asarray(np.array([2**63 + 5, 3], "uint64"))
    parent = device.identity(10, "int32")
    _, outside = device.hook(parent, cupy.zeros(0, "uint8"), ids, ids)
    assert outside == (-(2**63) + 5, -(2**63) + 5)


def test_ends_of_two_types_and_strided_columns() -> None:
    size, source, target = rmat()
    table = cupy.asarray(np.stack([source, target], axis=1))
    parent = device.identity(size, "int32")
    device.hook(parent, cupy.zeros(0, "uint8"), table[:, 0], table[:, 1].astype("int32"))
    device.compress(parent)
    np.testing.assert_array_equal(device.to_host(parent), on_host(size, source, target)[0])


def test_a_self_loop_on_the_giants_only_vertex_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_needs_bitmap", lambda *_: True)
    parent, seen = device.identity(64, "int32"), cupy.zeros(64, "uint8")
    loop = cupy.full(1000, 41)
    assert device.hook(parent, seen, loop, loop) == (0, None)
    assert device.to_host(seen).nonzero()[0].tolist() == [41]


@pytest.mark.parametrize("parents", ["int32", "int64"])
def test_bitmap_is_the_largest_tree(parents: str) -> None:
    size, source, target = rmat()
    expected, _ = on_host(size, source, target)
    parent = cupy.asarray(expected.astype(parents))
    giant, members = device._mark_giant(parent, cupy.asarray(source), 0)
    roots, counts = np.unique(expected, return_counts=True)
    assert int(giant[0]) == roots[counts.argmax()]
    bits = np.unpackbits(device.to_host(members).view("uint8"), bitorder="little")[:size]
    np.testing.assert_array_equal(bits, expected == int(giant[0]))


def test_no_giant_among_equal_trees() -> None:
    size, source, _ = pairs()
    giant, _ = device._mark_giant(device.identity(size, "int32"), cupy.asarray(source), 0)
    assert int(giant[0]) == -1


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize("parents", ["int32", "int64"])
@pytest.mark.parametrize("ids", ["int32", "int64"])
def test_plain_rounds_find_true_connections_and_lose_no_earlier_ones(
    graph: Edges, fresh: bool, parents: str, ids: str
) -> None:
    size, source, target = graph
    expected, _ = on_host(size, source, target)
    parent, unmarked = device.identity(size, parents), cupy.zeros(0, "uint8")
    ends = cupy.asarray(source.astype(ids)), cupy.asarray(target.astype(ids))
    half = len(source) // 2
    if not fresh:
        device.hook(parent, unmarked, ends[0][:half], ends[1][:half])
        device.compress(parent)
    before = device.to_host(parent)
    device.hook_plain(parent, *ends, fresh=fresh)
    device.compress(parent)
    after = device.to_host(parent)
    np.testing.assert_array_equal(after[before], after)
    np.testing.assert_array_equal(expected[after], expected)
    if len(source) and not (source == target).all():
        assert len(np.unique(after)) < size
    device.hook(parent, unmarked, *ends)
    device.compress(parent)
    np.testing.assert_array_equal(device.to_host(parent), expected)


def test_compress_leaves_the_rest_untouched() -> None:
    chain = np.maximum(np.arange(1000) - 1, 0).astype("int32")
    parent = cupy.asarray(chain)
    device.compress(parent, start=100, stop=300)
    expected = chain.copy()
    expected[100:300] = 0
    np.testing.assert_array_equal(device.to_host(parent), expected)


def test_forest_lies_where_its_like_does_and_can_be_sent() -> None:
    _, source, target = rmat()
    like = cupy.zeros(0)
    assert kernels_for(like) is device
    forest = Forest(like)
    forest.cover(int(source.min()), int(source.max()))
    forest.hook(cupy.asarray(source[:100]), cupy.asarray(target[:100]))
    sent = pickle.loads(pickle.dumps(forest))
    assert kernels_for(sent.parent) is device
    np.testing.assert_array_equal(device.to_host(sent.parent), device.to_host(forest.parent))


@pytest.mark.parametrize("chunk", [500, 10**9])
@pytest.mark.parametrize("rounds", [0, 2])
def test_every_plan_gives_the_same_forest(
    graph: Edges, chunk: int, rounds: int, skipping: bool
) -> None:
    size, source, target = graph
    forest = Forest(cupy.zeros(0), size=size)
    plan = Plan(chunk=chunk, merge_chunk=1, rounds=rounds, step=4)
    assert forest.hook(cupy.asarray(source), cupy.asarray(target), plan=plan) is None
    forest.compress()
    np.testing.assert_array_equal(device.to_host(forest.parent), on_host(size, source, target)[0])


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


def test_merged_through_slots() -> None:
    _, source, target = rmat()
    merged = []
    for xp in (np, cupy):
        forest = forest_of(xp, source[:200], target[:200])
        slots = xp.arange(len(forest.parent))[::-1].copy()
        into = Forest(forest.parent, size=len(slots))
        into.absorb(forest, slots)
        merged.append(kernels_for(into.parent).to_host(into.parent))
    np.testing.assert_array_equal(merged[1], merged[0])


def test_where_no_gpu_can_be_seen_the_error_says_so() -> None:
    code = "import dask_graphflow.kernels.device"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "BackendError" in done.stderr
    assert "no GPU that it can use" in done.stderr


def test_a_bitmap_is_made_for_long_passes_over_large_forests_only() -> None:
    cached = cupy.cuda.Device().attributes["L2CacheSize"]
    large, small = cupy.empty(cached // 4, "int32"), cupy.empty(1000, "int32")
    assert device._needs_bitmap(large, large)
    assert not device._needs_bitmap(large, small)
    assert not device._needs_bitmap(small, large)


def id_columns(kind: str) -> pd.DataFrame:
    frame = gf.generate.rmat(10, npartitions=1).compute()
    if kind == "sparse":
        return frame * 1_000_003_000_007 - 10**14
    if kind == "strings":
        return pd.DataFrame({c: "v" + frame[c].astype(str) for c in frame.columns})
    return frame.astype(kind)


def assert_same_on_cudf(edges: dd.DataFrame, **options: Any) -> None:
    """Compute both, and compare them column by column."""
    cudf = pytest.importorskip("cudf")
    pytest.importorskip("dask_cudf")
    expected = gf.connected_components(edges, **options).compute()
    result = gf.connected_components(edges.to_backend("cudf"), **options)
    labels = result.compute(scheduler="synchronous")
    assert isinstance(labels, cudf.DataFrame)
    assert list(labels.columns) == list(expected.columns)
    for column in expected.columns:
        found = labels[column].to_pandas().to_numpy()
        np.testing.assert_array_equal(found, expected[column].to_numpy())


@pytest.mark.parametrize("npartitions", [1, 5])
@pytest.mark.parametrize("kind", ["int32", "int64", "sparse", "strings"])
def test_the_whole_call_on_cudf_gives_what_pandas_gives(kind: str, npartitions: int) -> None:
    edges = dd.from_pandas(id_columns(kind), npartitions=npartitions)
    assert_same_on_cudf(edges, source="src", target="dst")


@pytest.mark.parametrize("kind", ["int64", "strings"])
def test_thresholds_on_cudf_give_what_pandas_gives(kind: str) -> None:
    frame = id_columns(kind)
    frame["weight"] = np.random.default_rng(2).random(len(frame))
    edges = dd.from_pandas(frame, npartitions=3)
    options = {"source": "src", "target": "dst", "weight": "weight"}
    assert_same_on_cudf(edges, **options, thresholds=[0.9, 0.95, 0.99])


def test_ids_of_two_columns_on_cudf_give_what_pandas_gives() -> None:
    frame = id_columns("int64")
    wide = pd.DataFrame({"a": frame["src"] // 32, "b": frame["src"] % 32})
    wide = wide.assign(c=frame["dst"] // 32, d=frame["dst"] % 32)
    edges = dd.from_pandas(wide, npartitions=3)
    assert_same_on_cudf(edges, source=["a", "b"], target=["c", "d"])


def test_a_forest_on_a_device_travels_without_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = pytest.importorskip("distributed.protocol")
    importlib.import_module("dask_graphflow.algorithms.sending")
    source, target = cupy.random.default_rng(0).integers(0, 10**5, (2, 10**5))
    forest = Forest(source)
    forest.cover(0, 10**5)
    forest.hook(source, target)
    header, frames = protocol.serialize([forest], serializers=("cuda", "dask", "pickle", "error"))
    on_device = [frame.nbytes for frame in frames if isinstance(frame, cupy.ndarray)]
    assert sorted(on_device) == [forest.seen.nbytes, forest.parent.nbytes]
    (again,) = protocol.deserialize(header, frames)
    again.compress()
    forest.compress()
    assert isinstance(again.parent, cupy.ndarray)
    assert bool((again.parent == forest.parent).all())
