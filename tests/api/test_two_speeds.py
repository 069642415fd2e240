"""A graph divided between two workers, one of them slow: as with a CPU and a GPU, but without a GPU."""

from __future__ import annotations

import os

import pytest
from conftest import ENDS, frame, partitioned
from distributed import Client, Nanny, Scheduler, SpecCluster
from shapes import ASKED, graph, power_law, same
from throttle import throttled

import dask_graphflow as gf
from dask_graphflow.tasks import gang, placement

# This library cannot close sockets and event loops that a worker leaves behind.
pytestmark = pytest.mark.filterwarnings("default")

SLOW = 0.2


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Two workers that store their own measurements, as two machines do; one of them is slow."""

    def worker(name):
        env = {"DASK_GRAPHFLOW__CALIBRATION__PATH": str(tmp_path_factory.mktemp(name))}
        return {"cls": Nanny, "options": {"nthreads": 1, "env": env}}

    workers = {name: worker(name) for name in ("fast", "slow")}
    scheduler = {"cls": Scheduler, "options": {"dashboard_address": ":0"}}
    with SpecCluster(workers, scheduler) as cluster, Client(cluster) as client:
        client.wait_for_workers(2)
        names = placement.describe_workers(client)
        slow = next(address for address, about in names.items() if about["name"] == "slow")
        # Kernels that are compiled now are not part of the measurement, and compiling is not slowed down.
        client.run(_warm)
        warm = graph(
            partitioned(frame([(0, 1), (1, 2)]).assign(w=1), 2),
            None,
            True,
            hybrid=gf.Hybrid([0.5, 0.5]),
        )
        ASKED["a program"](warm, [0]).compute()
        with throttled(client.run(os.getpid, workers=[slow])[slow], SLOW):
            yield client


def _warm():
    from dask_graphflow.api.measuring import measure

    measure()


def count_ends(channel, shard, rank):
    """Return how many ends of edges a shard has, and their vertices' degrees."""
    return len(shard.out.ends), shard.degrees[shard.degrees > 0]


def ends_of(client, placed):
    return client.gather(client.compute(gang.run(placed._shards.built, count_ends, None)))


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_given_shares_and_placements_are_used(client, rng, share):
    edges = power_law(rng, 20_000, 100_000)
    edges = edges[edges.a != edges.b]
    asked = gf.Hybrid([1 - share, share], "hubs-on-cpu")
    placed = gf.Graph(partitioned(edges, 4), **ENDS, directed=False, hybrid=asked).persist()
    (fast, leaves), (slow, hubs) = ends_of(client, placed)
    assert abs(slow / (fast + slow) - share) < 0.01
    assert leaves.max() <= hubs.min()


# Not the first test: the workers start while other tests run.
@pytest.mark.alone
def test_a_slow_worker_gets_fewer_edges(client, rng):
    edges = power_law(rng, 20_000, 100_000)
    edges = edges[edges.a != edges.b]
    placed = gf.Graph(partitioned(edges, 4), **ENDS, directed=False, hybrid="auto").persist()
    (fast, _), (slow, _) = ends_of(client, placed)
    assert slow < 0.6 * fast
    assert fast + slow == 2 * len(edges)
    same(placed.pagerank().compute(), gf.pagerank(edges, **ENDS, directed=False).compute())


@pytest.mark.parametrize("name", ["bfs", "sssp", "a program"])
def test_results_are_those_of_one_shard(client, rng, name):
    edges = power_law(rng)
    start = edges.a.iloc[[0, 700]].tolist()
    one = graph(partitioned(edges, 2), 1, True)
    placed = graph(partitioned(edges, 4), None, True, hybrid=gf.Hybrid([0.8, 0.2]))
    ask = ASKED[name]
    same(ask(placed, start).compute(), ask(one, start).compute())


def test_bytes_fall_with_the_frontier(client, rng):
    edges = power_law(rng, 5000, 30_000)
    asked = gf.Hybrid([0.7, 0.3])
    placed = gf.Graph(partitioned(edges, 4), **ENDS, directed=False, hybrid=asked)
    _, steps = placed.label_propagation(max_iter=8, trace=True)
    sent = steps.compute().groupby("superstep").bytes.sum().to_numpy()
    assert sent[-1] < sent[0] / 2
