"""A graph that is divided by shares and degrees: where vertices are, and that results do not change."""

from __future__ import annotations

import dask
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, frame, partitioned
from shapes import graph, power_law, same

import dask_graphflow as gf
from dask_graphflow import exceptions
from dask_graphflow.graph.shares import VERTEX, HybridMember, HybridSize

SHARES = [0.3, 0.7], [0.2, 0.5, 0.3]
PLACEMENTS = "random", "hubs-on-cpu", "leaves-on-cpu"


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads"):
        yield


def shards_of(edges, shares, placement, directed=False):
    """Return the shards of a graph."""
    placed = gf.Hybrid(shares, placement)
    made = gf.Graph(partitioned(edges, 3), **ENDS, directed=directed, hybrid=placed)
    return dask.compute(*made._shards.built)


def without_loops(edges):
    return edges[edges.a != edges.b]


@pytest.mark.parametrize("multi", ["sum", "min", "first"])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_several_edges_become_the_same_one(rng, multi, directed):
    edges = partitioned(power_law(rng, 40, 600), 5)
    one = graph(edges, 1, directed, multi=multi)
    placed = graph(edges, None, directed, multi=multi, hybrid=gf.Hybrid([0.4, 0.6]))
    assert placed.num_edges == one.num_edges
    same(placed.sssp([0]).compute(), one.sssp([0]).compute())


@pytest.mark.parametrize("shares", [[0.1, 0.9], [0.33, 0.67], [0.5, 0.2, 0.3]], ids=str)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_each_shard_has_its_share_of_the_edges(rng, shares, placement):
    edges = without_loops(power_law(rng, 20_000, 100_000))
    ends = [len(shard.out.ends) for shard in shards_of(edges, shares, placement)]
    assert sum(ends) == 2 * len(edges)
    found = np.array(ends) / sum(ends)
    assert np.abs(found - shares).max() < 0.01


@pytest.mark.parametrize("shares", [[0.25, 0.75], [0.75, 0.25]], ids=str)
def test_hubs_and_leaves_are_on_the_requested_members(rng, shares):
    edges = without_loops(power_law(rng, 5000, 40_000))

    def degrees(placement):
        found = [shard.degrees for shard in shards_of(edges, shares, placement)]
        return [own[own > 0] for own in found]

    gpu, cpu = degrees("hubs-on-cpu")
    assert gpu.max() <= cpu.min()
    gpu, cpu = degrees("leaves-on-cpu")
    assert cpu.max() <= gpu.min()
    gpu, cpu = degrees("random")
    assert gpu.max() > 4 * np.median(cpu)
    assert cpu.max() > 4 * np.median(gpu)


def test_automatic_placement_depends_on_hubs(rng):
    ends = (5000 * rng.random((40_000, 2)) ** 6).astype("int64")
    few_have_most = without_loops(pd.DataFrame(ends, columns=["a", "b"]))
    gpu, cpu = (shard.degrees for shard in shards_of(few_have_most, [0.5, 0.5], "auto"))
    assert gpu.max() <= cpu[cpu > 0].min()
    ring = pd.DataFrame({"a": np.arange(20_000), "b": np.roll(np.arange(20_000), 1)})
    one, other = (shard.numbers for shard in shards_of(ring, [0.5, 0.5], "auto"))
    assert one[one >= 0].max() > other[other >= 0].min()
    assert other[other >= 0].max() > one[one >= 0].min()


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_each_distinct_remote_neighbor_has_one_slot(rng, placement):
    edges = without_loops(power_law(rng))
    shards = shards_of(edges, [0.3, 0.7], placement)
    owner = {}
    for shard in shards:
        owner |= dict.fromkeys(shard.numbers[shard.numbers >= 0].tolist(), shard.rank)
    both = pd.concat([edges[["a", "b"]], edges[["b", "a"]].set_axis(["a", "b"], axis=1)])
    for shard in shards:
        mine = both[both.a.map(owner) == shard.rank]
        remote = sorted(set(mine.b[mine.b.map(owner) != shard.rank]))
        assert sorted(shard.slot_numbers().tolist()) == remote


def test_bytes_fall_with_the_frontier(rng):
    edges = power_law(rng, 5000, 40_000)
    placed = gf.Graph(partitioned(edges, 3), **ENDS, directed=False, hybrid=gf.Hybrid([0.3, 0.7]))
    _, steps = placed.label_propagation(max_iter=8, trace=True)
    steps = steps.compute().groupby("superstep").agg({"bytes": "sum", "direction": "count"})
    sent = steps.bytes.to_numpy()
    assert sent[-1] < sent[0] / 2
    assert (steps.direction == 2).all()


def test_invalid_shares_and_placements_are_refused(rng):
    with pytest.raises(exceptions.OptionError, match="hubs-on-cpu"):
        gf.Hybrid(placement="hubs-on-cpus")
    for shares in ([0.5, 0.6], [-0.5, 1.5], [], {"gpu": 0.4}, "most"):
        with pytest.raises(exceptions.OptionError, match="shares="):
            gf.Hybrid(shares)
    edges = partitioned(power_law(rng), 2)
    with pytest.raises(exceptions.OptionError, match="'auto', or a dask_graphflow"):
        gf.Graph(edges, **ENDS, hybrid=0.5)
    with pytest.raises(exceptions.OptionError, match="3 shares"):
        gf.Graph(edges, **ENDS, shards=2, hybrid=gf.Hybrid([0.2, 0.3, 0.5]))


def test_shares_of_kinds_that_are_not_there_are_refused(rng):
    edges = partitioned(power_law(rng), 2)
    with pytest.raises(
        exceptions.OptionError, match=r"\['cpu', 'gpu'\], but the kinds of workers are"
    ):
        gf.Graph(edges, **ENDS, shards=2, hybrid=gf.Hybrid({"gpu": 0.4, "cpu": 0.6}))


@pytest.mark.parametrize(
    "pairs", [[], [(0, 1)], [(3, 3)], [(0, 1)] * 50, [(0, 1), (1, 2)]], ids=str
)
@pytest.mark.parametrize("shares", [[0.2, 0.8], [0.2] * 5], ids=len)
def test_graphs_with_almost_no_edges_can_be_placed(pairs, shares):
    edges = frame(pairs)
    placed = gf.Graph(edges, **ENDS, hybrid=gf.Hybrid(shares)).persist()
    one = gf.Graph(edges, **ENDS)
    same(placed.degrees().compute(), one.degrees().compute())
    same(placed.pagerank().compute(), one.pagerank().compute())
    if pairs:
        same(placed.bfs(pairs[0][:1]).compute(), one.bfs(pairs[0][:1]).compute())


@pytest.mark.parametrize("shares", [[1.0], [0.25] * 4], ids=len)
def test_shards_may_be_one_or_more_than_partitions(rng, shares):
    edges = power_law(rng)
    placed = gf.Graph(partitioned(edges, 2), **ENDS, hybrid=gf.Hybrid(shares))
    same(placed.pagerank().compute(), gf.pagerank(edges, **ENDS).compute())


@pytest.mark.parametrize("ids", [int, lambda k: int(k) * 10**12, "v{:05}".format])
def test_frames_with_ids_in_their_order_are_read_in_the_order_of_the_places(rng, ids):
    edges = power_law(rng)[["a", "b"]].apply(lambda ends: ends.map(ids))
    one = gf.Graph(edges, **ENDS, directed=False, shards=1)
    placed = gf.Graph(edges, **ENDS, directed=False, hybrid=gf.Hybrid([0.3, 0.7], "hubs-on-cpu"))
    ranks, groups = one.pagerank().compute(), one.leiden(seed=3).compute()
    for call in (
        lambda g: g.pagerank(previous=ranks, max_iter=1, tol=None),
        lambda g: g.leiden(previous=groups),
        lambda g: g.community_metrics(groups),
    ):
        same(call(placed).compute(), call(one).compute())


def test_default_shares_follow_the_rates_and_the_room():
    gpu, cpu = HybridMember("gpu", rate=9e9, link=1e9), HybridMember("cpu", rate=1e9, link=1e12)
    size = HybridSize(vertices=10**6, ends=10**9, width=4)
    auto = gf.Hybrid()
    # Sending values for these is not worthwhile.
    assert auto.of([gpu, cpu], size) == pytest.approx([1.0, 0.0])
    slow = gpu._replace(rate=1.5e9, link=1e12)
    assert auto.of([slow, cpu], size) == pytest.approx([0.6, 0.4])
    third = slow._replace(free=VERTEX * 10**6 + 4 * 10**9 / 3)
    assert auto.of([third, cpu], size) == pytest.approx([1 / 3, 2 / 3])
    assert auto.of([third._replace(rate=9e9), cpu, cpu], size) == pytest.approx([1 / 3] * 3)
    with pytest.raises(exceptions.GraphMemoryError):
        auto.of([third, third], size)


def test_edges_stream_to_a_gpu_if_that_is_faster():
    size, auto = HybridSize(vertices=10**6, ends=10**9, width=4), gf.Hybrid()
    cpu = HybridMember("cpu", rate=1e9, link=1e12)
    gpu = HybridMember("gpu", rate=9e9, link=1e12, free=VERTEX * 10**6 + 4 * 10**9 / 3)
    assert auto.of([gpu._replace(streams=4 * 3e9), cpu], size) == pytest.approx([0.75, 0.25])
    assert auto.of([gpu._replace(streams=4 * 0.4e9), cpu], size) == pytest.approx([1 / 3, 2 / 3])
    # Sending the values takes longer than the edges that the CPU would take.
    far = gpu._replace(streams=4 * 8e9, link=5e7)
    assert auto.of([far, cpu], size) == pytest.approx([1.0, 0.0])
    # A GPU without room for its columns cannot stream, and two GPUs with room do not need a CPU.
    none = gpu._replace(free=1000, streams=4 * 3e9)
    assert auto.of([none, cpu], size) == pytest.approx([0.0, 1.0])
    assert sum(auto.of([gpu._replace(streams=4 * 3e9)] * 2, size)) == pytest.approx(1)


def test_shares_of_a_kind_are_shared_out_evenly():
    by_kind = gf.Hybrid({"gpu": 0.5, "cpu": 0.5}, "random")
    assert by_kind.by_shard(["gpu", "cpu", "cpu"]) == gf.Hybrid([0.5, 0.25, 0.25], "random")


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_the_layout_has_the_shares_and_the_remote_vertices(rng, directed):
    edges = without_loops(power_law(rng, 5000, 40_000))
    asked = gf.Hybrid([0.3, 0.7], "hubs-on-cpu")
    placed = gf.Graph(partitioned(edges, 3), **ENDS, directed=directed, hybrid=asked).persist()
    layout = placed.layout().compute()
    assert layout.share.tolist() == pytest.approx([0.3, 0.7], abs=0.01)
    assert layout.vertices.sum() == placed.num_vertices
    assert layout.edges.sum() == len(edges) * (1 if directed else 2)
    shards = dask.compute(*placed._shards.built)
    assert layout.remote.tolist() == [len(shard.slot_numbers()) for shard in shards]
    assert np.allclose(layout.beta, layout.remote / layout.edges)
    (one,) = gf.Graph(edges, **ENDS, directed=directed).layout().compute().itertuples()
    assert (one.vertices, one.edges) == (placed.num_vertices, layout.edges.sum())
    assert (one.share, one.remote, one.beta) == (1, 0, 0)
