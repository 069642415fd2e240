"""Calls on GPUs read edges that are on disk, and return the bits of the host.

Most tests need no GPU: host memory stands for that of the device, and host kernels read the copies.
"""

from __future__ import annotations

import types

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import cupy_or_skip
from shapes import ALSO_ASKED, ASKED, ENDS, KINDS, power_law, same

import dask_graphflow as gf
from dask_graphflow import kernels
from dask_graphflow.api import member_plan
from dask_graphflow.exceptions import GraphMemoryError, OptionError
from dask_graphflow.graph import device_shard, partition
from dask_graphflow.kernels import common, disk, memory


@pytest.fixture
def tiny(monkeypatch, small_files):
    """Make files and parts tiny."""
    monkeypatch.setattr(kernels, "LIFTED", 1 << 9)
    monkeypatch.setattr(partition, "GRAIN", 64)
    with dask.config.set(scheduler="threads"):
        yield


class Device:
    """Host memory in the place of a device.

    Attributes
    ----------
    copied : list of int
        Number of entries of each copy to the device.
    pinned : list of ndarray
        The edges that were copied to pinned memory.
    """

    def __init__(self):
        self.copied, self.pinned = [], []
        self.empty = np.empty

    def asarray(self, array):
        self.copied.append(len(array))
        return np.array(array)

    def linked(self, array):
        self.pinned.append(array)
        return np.array(array)


@pytest.fixture
def device(monkeypatch, host_memory):
    """Have calls with ``device="gpu"`` copy what they read, as to a device, but run on the host."""
    device = Device()
    monkeypatch.setattr(member_plan, "load_cupy", lambda: None)
    monkeypatch.setattr(device_shard.DeviceShard, "on_device", False)
    stand_in = types.SimpleNamespace(namespace=device, linked=device.linked)
    for package, name in ((common, "device"), (kernels, "device_copies")):
        monkeypatch.setattr(package, name, stand_in, raising=False)
    return device


def without_room(monkeypatch):
    """Let a device have no room for edges."""

    def lift(value, linked=False, lift=device_shard.lift):
        if not linked and hasattr(getattr(value, "rows", value), "ends"):
            raise GraphMemoryError("no room", needed=1, available=0)
        return lift(value, linked=linked)

    monkeypatch.setattr(device_shard, "lift", lift)


def graphs(edges, members, directed):
    """Return the graph of a frame in memory, and one on disk for calls on a device."""
    parts = dd.from_pandas(edges, npartitions=4)
    read = {**ENDS, "weight": "w" if "w" in edges else None, "directed": directed}
    return (
        gf.Graph(parts, **read, storage="memory").persist(),
        gf.Graph(parts, **read, shards=members, device="gpu", storage="disk").persist(),
    )


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.usefixtures("tiny")
def test_edges_are_copied_from_the_files_in_parts(rng, device, members, directed):
    edges = power_law(rng)
    sources = edges.a.iloc[[0, 700]].tolist()
    in_memory, on_disk = graphs(edges, members, directed)
    assert "GPU" in repr(on_disk)
    assert "storage          on disk" in repr(on_disk)
    for call in ASKED.values():
        same(call(on_disk, sources).compute(), call(in_memory, sources).compute())
    assert device.copied.count(kernels.LIFTED) > 10
    assert not device.pinned


@pytest.mark.usefixtures("tiny")
def test_edges_without_room_on_the_gpu_are_read_over_the_link(rng, monkeypatch, device):
    edges = power_law(rng)
    sources = edges.a.iloc[:1].tolist()
    in_memory, on_disk = graphs(edges, 1, True)
    without_room(monkeypatch)
    same(on_disk.sssp(sources).compute(), in_memory.sssp(sources).compute())
    same(on_disk.pagerank().compute(), in_memory.pagerank().compute())
    assert len(device.pinned) >= 4  # ends and weights of the rows of both directions
    assert all(map(kernels.is_on_disk, device.pinned))


@pytest.mark.usefixtures("tiny")
def test_edges_that_fit_neither_on_the_gpu_nor_in_host_memory_are_an_error(
    rng, monkeypatch, device
):
    _, on_disk = graphs(power_law(rng), 1, True)
    without_room(monkeypatch)
    monkeypatch.setattr(disk, "memory", lambda: 1 << 10)
    monkeypatch.setattr(memory, "CHECKED", 1)
    with pytest.raises(
        GraphMemoryError,
        match=r"a copy of edges on disk .* needs .* a limit of 1,024 bytes. Leave out device='gpu'",
    ):
        on_disk.sssp([1]).compute()
    assert not device.pinned


def test_edges_of_hybrid_graphs_cannot_be_on_disk():
    edges = pd.DataFrame({"a": [1], "b": [2]})
    with pytest.raises(OptionError, match=r"with hybrid=.*and device='gpu', without hybrid="):
        gf.Graph(edges, **ENDS, storage="disk", hybrid="auto")


@pytest.mark.gpu
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("members", [1, 2])
@pytest.mark.parametrize("kind", ["dense", "strings"])
@pytest.mark.usefixtures("tiny")
def test_a_gpu_returns_the_bits_of_the_host(rng, kind, members, directed):
    cupy_or_skip()
    edges = KINDS[kind](power_law(rng))
    sources = edges.a.iloc[[0, 700]].tolist()
    in_memory, on_disk = graphs(edges, members, directed)
    for call in [*ASKED.values(), *ALSO_ASKED.values()]:
        same(call(on_disk, sources).compute(), call(in_memory, sources).compute())


@pytest.mark.gpu
@pytest.mark.usefixtures("tiny")
def test_a_gpu_reads_edges_over_the_link(rng, monkeypatch):
    cupy_or_skip()
    edges = power_law(rng)
    sources = edges.a.iloc[[0, 700]].tolist()
    in_memory, on_disk = graphs(edges, 1, True)
    without_room(monkeypatch)
    for call in ASKED.values():
        same(call(on_disk, sources).compute(), call(in_memory, sources).compute())


@pytest.mark.gpu
def test_edges_of_cudf_cannot_be_on_disk_and_the_advice_works(rng):
    cudf = pytest.importorskip("cudf")
    edges = dd.from_pandas(power_law(rng), npartitions=2).to_backend("cudf")
    assert isinstance(edges._meta, cudf.DataFrame)
    with pytest.raises(OptionError, match=r"Give edges.to_backend\('pandas'\) and device='gpu'"):
        gf.Graph(edges, **ENDS, storage="disk")
    on_disk = gf.Graph(edges.to_backend("pandas"), **ENDS, storage="disk", device="gpu")
    assert on_disk.pagerank().compute().pagerank.sum() == pytest.approx(1)
