"""Edges in host memory are hooked on a device: the whole path, with the host's kernels instead of a GPU.

All tests of components run here once more, streamed in small chunks; with ``--backend cudf`` on the
GPU. So do those marked for it at the end.
"""

from __future__ import annotations

import gc
import itertools
import threading
import types
from functools import partial
from typing import Any
from unittest import mock

import dask
import numpy as np
import pandas as pd
import pytest
import test_components
from conftest import BACKEND, ENDS, as_dict, cupy_or_skip, frame, oracle, partitioned, two_workers
from distributed import Client
from host_copies import Copies

import dask_graphflow as gf
from dask_graphflow.calls.components.connected_components import Components
from dask_graphflow.exceptions import BackendError, NullVertexError, OptionError
from dask_graphflow.inputs import edges as inputs
from dask_graphflow.kernels.common import host
from dask_graphflow.operators.forests import streaming
from dask_graphflow.operators.forests.forest import Forest
from dask_graphflow.operators.forests.shared_forest import Shared

# All tests of components once more.

CHUNKS = {  # of tests with many edges; the others have 23
    "test_the_same_bits_however_it_is_cut": 500,
    "test_the_debian_package_graph": 1 << 16,
    "test_a_path_of_a_million_vertices": 1 << 16,
}
NOT_SO = (
    "test_a_chunk_is_hooked_once_although_its_range_is_guessed",  # it counts undivided chunks
    "test_real_graphs",  # the Debian packages are one
)


AGAIN = {
    name: test
    for name, test in vars(test_components).items()
    if name.startswith("test_") and name not in NOT_SO
}
globals().update(AGAIN)


@pytest.fixture(autouse=True)
def backend(request, monkeypatch):
    """Make the calls of a test of components stream, in chunks far smaller than the edges."""
    name = request.node.originalname
    if name not in AGAIN:
        return
    if BACKEND.name == "pandas":
        monkeypatch.setattr(streaming, "device", lambda: streaming.Device(host, Copies))
    monkeypatch.setattr(streaming, "CHUNK", CHUNKS.get(name, 23))
    plain = gf.connected_components
    monkeypatch.setattr(
        gf,
        "connected_components",
        lambda edges, **options: plain(edges, **{"device": "gpu", **options}),
    )


# What happens while edges stream.


class Watched(Copies):
    """Copies that keep what was made on the device."""

    def __init__(self, made: list[np.ndarray]) -> None:
        super().__init__()
        self.made = made

    def device(self, size: int) -> Any:
        self.made.append(super().device(size))
        return self.made[-1]


@pytest.fixture
def watched(monkeypatch):
    """Stream to the host's kernels, 100 edges per chunk; return the recorded events."""
    seen = types.SimpleNamespace(buffers=[], links=[], chunks=[], frames=[], forests=[], hooks=0)
    kernels = types.ModuleType("watched")
    vars(kernels).update(vars(host))

    def from_pandas(part):
        seen.frames.append(len(part))
        return host.from_pandas(part)

    vars(kernels)["from_pandas"] = from_pandas
    here = streaming.Device(kernels, lambda: Watched(seen.buffers))
    monkeypatch.setattr(streaming, "device", lambda: here)
    monkeypatch.setattr(streaming, "CHUNK", 100)
    new_link, sent, hook = streaming.new_link, streaming.send_edges, Forest.hook

    def watched_link(**options):
        seen.links.append(new_link(**options))
        return seen.links[-1]

    def watched_sent(*arguments):
        for chunk in sent(*arguments):
            for part in chunk[:2]:
                assert any(np.shares_memory(part, buffer) for buffer in seen.buffers)
            seen.chunks.append((len(chunk[0]), str(chunk[0].dtype)))
            yield chunk

    def watched_hook(forest, *arguments, **options):
        seen.hooks += 1
        if not any(forest is one for one in seen.forests):
            seen.forests.append(forest)
        return hook(forest, *arguments, **options)

    monkeypatch.setattr(streaming, "new_link", watched_link)
    monkeypatch.setattr(streaming, "send_edges", watched_sent)
    monkeypatch.setattr(Forest, "hook", watched_hook)
    return seen


def random_edges(rng, count, low=0, high=3000):
    return pd.DataFrame(rng.integers(low, high, (count, 2)), columns=["a", "b"])


def streamed(edges, scheduler="sync", **options):
    found = gf.connected_components(edges, **ENDS, device="gpu", **options)
    return found.compute(scheduler=scheduler).reset_index(drop=True)


def on_host(edges, **options):
    found = gf.connected_components(edges, **ENDS, **options).compute(scheduler="sync")
    return found.reset_index(drop=True)


@pytest.mark.parametrize(
    ("low", "options", "sizes", "dtype"),
    [
        (0, {}, [100] * 10 + [50], "int32"),
        (0, {"chunk_size": 400}, [400, 400, 250], "int32"),
        (2**40, {}, [50] * 21, "int64"),
        (0, {"weight": "w", "thresholds": [0.5]}, [100] * 10 + [50], "int32"),
        (0, {"weight": "w", "thresholds": [0.2, 0.5, 0.9]}, [100] * 10 + [50], "int32"),
    ],
)
def test_edges_are_hooked_out_of_the_ring_and_narrowed(watched, rng, low, options, sizes, dtype):
    edges = random_edges(rng, 1050, low, low + 3000).assign(w=rng.random(1050))
    pd.testing.assert_frame_equal(streamed(edges, **options), on_host(edges, **options))
    assert [size for size, _ in watched.chunks] == sizes or dtype == "int64"
    assert {chunk_dtype for _, chunk_dtype in watched.chunks} == {dtype}
    (link,) = watched.links
    level_bytes = 1 if "weight" in options else 0
    assert link.counters.bytes == (2 * np.dtype(dtype).itemsize + level_bytes) * 1050
    assert watched.frames == [0]  # the dtype of the ids; no edge was copied as part of a frame
    assert link.counters.most_in_flight <= len(watched.buffers) <= streaming.BUFFERS


def test_device_memory_does_not_grow_with_the_edges(watched, rng):
    streamed(partitioned(random_edges(rng, 20_000), 2))
    assert sum(buffer.nbytes for buffer in watched.buffers) <= 4 * (100 * 8 + 512)


def test_ids_outside_the_guess_make_the_forest_grow_in_mid_stream(watched):
    # Every third edge is looked at: what is far from the others is seen when it is hooked.
    ids = np.arange(2**31 - 1700, 2**31 - 100)
    edges = pd.DataFrame({"a": ids[:-1], "b": ids[1:]})
    edges.loc[700] = 2**31 + 9000, 2**31 - 800
    found = streamed(edges)
    assert watched.hooks == len(watched.chunks) + 1
    assert [dtype for _, dtype in watched.chunks[:8]] == ["int32"] * 7 + ["int64"]
    (link,) = watched.links
    assert link.counters.widened == 1
    assert link.counters.bytes == 8 * 700 + 16 * (len(edges) - 700)  # each was sent once
    pd.testing.assert_frame_equal(found, on_host(edges))


def test_ids_that_turn_out_not_to_be_dense_are_numbered_slice_by_slice(watched, rng):
    edges = random_edges(rng, 1600)
    edges.loc[700, "a"] = 2**50
    found = streamed(edges)
    assert len(watched.chunks) == 8  # the last one has it
    assert max(watched.frames) == 100
    assert sum(watched.frames) == 2 * len(edges)
    pd.testing.assert_frame_equal(found, on_host(edges))
    (link,) = watched.links
    assert not link._slots


@pytest.mark.parametrize("partitions", [1, 4])
def test_strings_go_to_the_device_slice_by_slice(watched, rng, partitions):
    edges = random_edges(rng, 950).astype("str")
    found = streamed(partitioned(edges, partitions))
    pd.testing.assert_frame_equal(found, on_host(edges))
    assert max(watched.frames) == 100
    assert not watched.links


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_chains_of_one_process_share_a_forest_and_a_link(watched, rng, scheduler):
    edges = random_edges(rng, 4000)
    found = streamed(partitioned(edges, 16), scheduler)
    assert len(watched.links) == len(watched.forests) == 1
    assert watched.links[0].counters.bytes == 8 * len(edges)
    pd.testing.assert_frame_equal(found, on_host(edges))


def test_chunks_far_smaller_than_the_forest_are_skipped_like_large_ones(watched):
    edges = gf.generate.rmat(14, npartitions=1).compute().set_axis(["a", "b"], axis=1)
    found = streamed(edges, chunk_size=(1 << 14) // 32)
    (forest,) = watched.forests
    assert forest.counts["hooked"] < len(edges) / 10  # without flat trees, most edges are hooked
    assert forest.counts["compressions"] < 10
    pd.testing.assert_frame_equal(found, on_host(edges))


def test_workers_of_a_cluster_have_a_link_each(watched, rng):
    edges = random_edges(rng, 4000)
    expected = on_host(edges)
    with two_workers(threads_per_worker=2, processes=False) as cluster, Client(cluster):
        found = streamed(partitioned(edges, 16), None)
    assert 1 <= len(watched.links) <= 2
    assert sum(link.counters.bytes for link in watched.links) == 8 * len(edges)
    pd.testing.assert_frame_equal(found, expected)


def test_empty_partitions_and_no_edges_at_all(watched):
    edges = frame([(1, 2), (2, 3)])
    assert as_dict(streamed(partitioned(edges, 7))) == {1: 1, 2: 1, 3: 1}
    assert streamed(edges.iloc[:0]).dtypes.tolist() == [np.dtype("int64")] * 2


def no_thread_left():
    return not any(t.name.startswith("graphflow-link") for t in threading.enumerate())


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_the_link_is_closed_with_the_last_chain(watched, rng, scheduler, monkeypatch):
    open_links, plain = [], Components.label_dense

    def label(*arguments):
        open_links.extend(not link._closed for link in watched.links)
        return plain(*arguments)

    monkeypatch.setattr(Components, "label_dense", label)
    streamed(partitioned(random_edges(rng, 2000), 4), scheduler)
    assert set(open_links) == {False}
    assert no_thread_left()


def test_the_link_is_closed_after_a_kernel_fails(watched, rng, monkeypatch):
    edges = random_edges(rng, 2000)
    plain = Forest.hook

    def fails_later(forest, *arguments, **options):
        if len(watched.chunks) == 3:
            raise RuntimeError("the kernel failed")
        return plain(forest, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Forest, "hook", fails_later)
        with pytest.raises(RuntimeError, match="the kernel failed"):
            streamed(edges)
    gc.collect()
    assert no_thread_left()
    assert watched.links[0]._closed
    pd.testing.assert_frame_equal(streamed(edges), on_host(edges))


def test_a_null_raises_the_same_error_as_on_the_host(watched):
    edges = pd.DataFrame({"a": pd.array([1, None, 3], "Int64"), "b": pd.array([2, 3, 4], "Int64")})
    with pytest.raises(NullVertexError, match="'a' has 1 null"):
        streamed(edges)
    assert as_dict(streamed(edges, dropna=True)) == {1: 1, 2: 1, 3: 3, 4: 3}


@pytest.mark.parametrize(("threads", "used"), [(1, 4), (5, 5), (32, 6)])
def test_staging_uses_a_few_of_many_threads(watched, rng, threads, used):
    with dask.config.set(num_workers=threads), mock.patch.object(streaming, "Link") as made:
        made.side_effect = RuntimeError
        with pytest.raises(RuntimeError):
            streamed(random_edges(rng, 100))
    assert made.call_args.kwargs["threads"] == used


def test_a_link_stays_in_its_process(watched):
    shared = Shared()
    make = partial(
        streaming.new_link,
        like=[np.zeros(0, "int64")] * 2,
        bounds=(0, 9),
        chunk_size=None,
        total=9,
        threads=1,
    )
    link = shared.link(make)
    assert shared.link(make) is link
    restore, (_, held) = shared.__reduce__()
    assert restore("a holder of another process", held)._link is None
    assert not link._closed
    del shared
    assert link._closed


# The option.


@pytest.mark.parametrize(
    ("device", "hint"),
    [("GPU", "did you mean 'gpu'"), ("cuda", "give 'gpu'"), (0, "0")],
)
def test_an_unknown_device_is_refused_at_the_call(device, hint):
    with pytest.raises(OptionError, match=hint):
        gf.connected_components(frame([(1, 2)]), **ENDS, device=device)


def test_edges_on_the_device_are_not_streamed():
    there = type("DataFrame", (), {"__module__": "cudf.core.dataframe"})()
    assert not inputs.moves_to_gpu(there, "gpu")
    assert not inputs.moves_to_gpu(frame([]), None)


def test_only_computing_needs_a_gpu(monkeypatch):
    def require_gpu():
        raise BackendError("no GPU here")

    monkeypatch.setattr(streaming, "require_gpu", require_gpu)
    labels = gf.connected_components(frame([(1, 2)]), **ENDS, device="gpu")
    assert isinstance(labels._meta, pd.DataFrame)
    with pytest.raises(BackendError, match="no GPU here"):
        labels.compute(scheduler="sync")


# The result must not depend on which chain of a process ends first.


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_chains_that_hook_after_another_was_surveyed_change_nothing(scheduler):
    far = 10**9
    for pairs in itertools.product([(0, 0), (far, far)], repeat=4):
        labels = gf.connected_components(partitioned(frame(pairs), 4), **ENDS)
        assert as_dict(labels.compute(scheduler=scheduler)) == oracle(pairs)


# On a GPU.


@pytest.fixture
def cupy():
    """Return CuPy, or skip where there is no GPU."""
    module = cupy_or_skip()
    pytest.importorskip("cudf")  # first: it has CuPy allocate through RMM
    return module


IDS = {
    "int64": lambda ids: ids,
    "int32": lambda ids: ids.astype("int32"),
    "uint64": lambda ids: ids.astype("uint64"),
    "past int32": lambda ids: ids + 2**40,
    "sparse": lambda ids: ids * (2**33 + 1) - 2**45,
    "strings": lambda ids: ids.astype("str"),
    "nullable": lambda ids: ids.astype("Int64"),
}


@pytest.mark.gpu
@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("partitions", [1, 5])
@pytest.mark.parametrize("chunk_size", [None, 3000])
def test_a_gpu_gives_the_bits_of_the_host(cupy, rng, ids, partitions, chunk_size):
    edges = IDS[ids](random_edges(rng, 40_000, high=50_000))
    edges["w"] = rng.random(len(edges))
    for options in ({}, {"weight": "w", "thresholds": [0.3, 0.8]}):
        found = streamed(
            partitioned(edges, partitions), "threads", chunk_size=chunk_size, **options
        )
        pd.testing.assert_frame_equal(found, on_host(edges, **options))


@pytest.mark.gpu
@pytest.mark.parametrize("chunk_size", [None, 1 << 16])
def test_a_power_law_graph_streams_to_a_gpu(cupy, chunk_size):
    edges = gf.generate.rmat(19, npartitions=3).compute().set_axis(["a", "b"], axis=1)
    found = streamed(partitioned(edges, 2), "threads", chunk_size=chunk_size)
    pd.testing.assert_frame_equal(found, on_host(edges))


@pytest.mark.gpu
def test_the_forest_grows_on_a_gpu_in_mid_stream(cupy, rng):
    edges = random_edges(rng, 200_000, 2**31 - 100_000, 2**31 - 500)
    edges.loc[99_999] = 2**31 + 90_000, 2**31 - 1000
    edges.loc[150_001] = 2**31 - 300_000, 2**31 - 1001
    pd.testing.assert_frame_equal(streamed(edges, chunk_size=10_000), on_host(edges))
    edges.loc[170_000, "a"] = 2**50
    pd.testing.assert_frame_equal(streamed(edges, chunk_size=10_000), on_host(edges))


@pytest.mark.gpu
def test_edges_beyond_the_memory_of_a_gpu(cupy, rng):
    """Of 256 MiB of edges, 128 MiB as int32, no more than 48 MiB ever lie on the device."""
    edges = random_edges(rng, 1 << 24, high=1 << 18)
    pool = cupy.cuda.MemoryPool()
    pool.set_limit(size=48 << 20)
    with cupy.cuda.using_allocator(pool.malloc):
        found = streamed(edges, chunk_size=1 << 20)
    assert 0 < pool.total_bytes() <= 48 << 20
    pd.testing.assert_frame_equal(found, on_host(edges))
