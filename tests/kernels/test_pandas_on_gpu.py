"""Calls on pandas frames with device="gpu" run on a GPU without cuDF, and return the bits of the host."""

from __future__ import annotations

import sys

import dask
import dask.dataframe as dd
import pandas as pd
import pytest
from conftest import cupy_or_skip
from shapes import ALSO_ASKED, ASKED, KINDS, power_law, same

import dask_graphflow as gf
from dask_graphflow.exceptions import BackendError, OptionError
from dask_graphflow.graph import device_shard, partition
from dask_graphflow.kernels import gpu


@pytest.mark.gpu
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("members", [1, 2])
@pytest.mark.parametrize("kind", ["dense", "strings"])
def test_a_gpu_returns_the_bits_of_the_host(rng, monkeypatch, kind, members, directed):
    cupy_or_skip()
    monkeypatch.setattr(partition, "GRAIN", 64)
    edges = KINDS[kind](power_law(rng))
    sources = edges.a.iloc[[0, 700]].tolist()
    read = {"source": "a", "target": "b", "weight": "w", "directed": directed}
    with dask.config.set(scheduler="threads"):
        host = gf.Graph(edges, **read).persist()
        parts = dd.from_pandas(edges, npartitions=4)
        lent = gf.Graph(parts, device="gpu", shards=members, **read).persist()
        assert lent.on_device
        for call in [*ASKED.values(), *ALSO_ASKED.values()]:
            found = call(lent, sources).compute()
            assert isinstance(found, pd.DataFrame)
            same(found, call(host, sources).compute())


@pytest.mark.gpu
def test_a_function_of_a_frame_runs_on_the_gpu(rng, monkeypatch):
    cupy_or_skip()
    made = []
    lift = device_shard.DeviceShard.here
    monkeypatch.setattr(
        device_shard.DeviceShard, "here", lambda *given: made.append(given[1]) or lift(*given)
    )
    edges = power_law(rng)
    ranks = gf.pagerank(edges, source="a", target="b", device="gpu").compute()
    assert made
    same(ranks, gf.pagerank(edges, source="a", target="b").compute())


def test_without_a_gpu_the_error_names_the_smallest_installation(monkeypatch, rng):
    monkeypatch.setattr(gpu, "_driver_version", lambda: 13000)
    monkeypatch.setattr(gpu, "_packages", dict)
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(BackendError, match=r"\[cupy13\] is enough for pandas frames"):
        gf.Graph(power_law(rng), source="a", target="b", device="gpu")


def test_a_graph_is_hybrid_or_on_gpus(rng):
    with pytest.raises(OptionError, match="leave hybrid= out to run on GPUs only"):
        gf.Graph(power_law(rng), source="a", target="b", device="gpu", hybrid="auto")
