"""A graph with shards on GPUs and on the host gives the same bits as a graph on the host."""

from __future__ import annotations

import itertools
from dataclasses import replace

import dask
import numpy as np
import pytest
from conftest import ENDS, cupy_or_skip, partitioned
from shapes import ASKED, KINDS, graph, power_law, same
from test_placing import PLACEMENTS, SHARES

import dask_graphflow as gf
from dask_graphflow import exceptions
from dask_graphflow.graph import device_shard
from dask_graphflow.graph.device_shard import DeviceShard, on_this_device
from dask_graphflow.kernels import on_device
from dask_graphflow.tasks import placement

pytestmark = pytest.mark.gpu

cupy = cupy_or_skip()


@pytest.fixture
def every_other_on_a_gpu(monkeypatch):
    """Every other member of a gang has a GPU; tasks that read edges, and single members, have none."""
    turns, plain = itertools.cycle([True, False]), placement.resources

    def resources(members=1):
        return replace(plain(members), gpu=members > 1 and next(turns))

    monkeypatch.setattr(placement, "resources", resources)
    with dask.config.set(scheduler="threads"):
        yield


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("shares", SHARES, ids=len)
def test_results_are_those_of_the_host(
    rng, every_other_on_a_gpu, kind, directed, placement, shares
):
    edges = KINDS[kind](power_law(rng))
    start = edges.a.iloc[[0, 700]].tolist()
    one = graph(partitioned(edges, 2), 1, directed)
    mixed = graph(partitioned(edges, 3), None, directed, hybrid=gf.Hybrid(shares, placement))
    for name, ask in ASKED.items():
        found = ask(mixed, start).compute()
        assert type(found).__module__.startswith("pandas"), name
        same(found, ask(one, start).compute())


def less_room(monkeypatch):
    """Limit the room for edges on a device to 16 KiB."""

    def lift_less(value, linked=False, lift=device_shard.lift):
        rows = getattr(value, "rows", value)
        if not linked and hasattr(rows, "ends") and rows.ends.nbytes > 1 << 14:
            raise exceptions.GraphMemoryError("no room", needed=1, available=0)
        return lift(value, linked=linked)

    monkeypatch.setattr(device_shard, "lift", lift_less)


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("kind", KINDS)
def test_edges_without_room_are_read_over_the_link(
    rng, every_other_on_a_gpu, monkeypatch, kind, directed
):
    edges = KINDS[kind](power_law(rng, 5000, 40_000))
    start = edges.a.iloc[[0, 700]].tolist()
    one = graph(partitioned(edges, 2), 1, directed)
    less_room(monkeypatch)
    mixed = graph(partitioned(edges, 3), None, directed, hybrid=gf.Hybrid([0.5, 0.5])).persist()
    for ask in ASKED.values():
        same(ask(mixed, start).compute(), ask(one, start).compute())
    shards = dask.compute(*mixed._shards.built)
    (there,) = (on_this_device(shard) for shard in shards if shard.device_view is not None)
    rows = there.local("out").rows
    kinds = [
        cupy.cuda.runtime.pointerGetAttributes(array.data.ptr).type
        for array in (rows.ends, rows.offsets)
    ]
    assert kinds == [cupy.cuda.runtime.memoryTypeHost, cupy.cuda.runtime.memoryTypeDevice]


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_ranks_are_the_same_over_the_link(rng, every_other_on_a_gpu, monkeypatch, precision):
    edges = partitioned(power_law(rng, 5000, 40_000).drop(columns="w"), 3)
    wanted = gf.pagerank(edges, **ENDS, precision=precision).compute()
    less_room(monkeypatch)
    mixed = gf.Graph(edges, **ENDS, hybrid=gf.Hybrid([0.5, 0.5])).persist()
    ranks, steps = mixed.pagerank(precision=precision, trace=True)
    same(ranks.compute(), wanted)
    assert steps.compute().groupby("member").linked.first().tolist() == [True, False]
    same(mixed.pagerank(precision=precision).compute(), wanted)


def test_only_the_rows_that_an_algorithm_follows_are_on_the_device(rng, every_other_on_a_gpu):
    edges = partitioned(power_law(rng, 5000, 40_000).drop(columns="w"), 3)
    mixed = gf.Graph(edges, **ENDS, hybrid=gf.Hybrid([0.3, 0.7])).persist()
    mixed.pagerank().compute()
    shards = dask.compute(*mixed._shards.built)
    (there,) = (on_this_device(shard) for shard in shards if shard.device_view is not None)
    assert isinstance(there, DeviceShard)
    assert on_device(there.made("hub rows into").rows.ends)
    assert not on_device(there.out.ends)
    assert not any(there.has(name) for name in ("local out", "into"))
    entries = len(there.made("hub rows into").rows.ends)
    assert np.isclose(entries, 0.3 * 40_000, rtol=0.5)
