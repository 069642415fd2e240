"""Gangs on two GPUs: a graph of two shards under LocalCUDACluster, whose members exchange by NCCL."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from functools import partial

import dask
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, cupy_or_skip, partitioned
from distributed import Client, WorkerPlugin, wait
from members import eventually
from shapes import ASKED, KINDS, graph, power_law, same
from test_device_many import MORE, on_device, plain

import dask_graphflow as gf
from dask_graphflow.cli import checks
from dask_graphflow.comm import carriers
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.exceptions import WorkerLostError
from dask_graphflow.graph import partition
from dask_graphflow.tasks import gang
from dask_graphflow.tasks.membership import Membership

cupy = cupy_or_skip()
dask_cuda = pytest.importorskip("dask_cuda")
from dask_graphflow.kernels import device_peers  # noqa: E402
from dask_graphflow.operators.labels import coarser  # noqa: E402

GPUS = cupy.cuda.runtime.getDeviceCount()

# This library cannot close sockets and event loops that a killed worker leaves behind.
pytestmark = [
    pytest.mark.gpu2,
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(GPUS < 2, reason=f"takes two GPUs, and here is {GPUS}"),
]


def cluster(**options):
    return dask_cuda.LocalCUDACluster(n_workers=min(GPUS, 4), dashboard_address=":0", **options)


class FineCuts(WorkerPlugin):
    """Cuts shards at multiples of 64 vertices instead of 4096, so that members share small graphs too."""

    def setup(self, worker):
        partition.GRAIN = 64


@contextmanager
def connected():
    with cluster() as workers, Client(workers) as client:
        client.register_plugin(FineCuts())
        yield client


@pytest.fixture(scope="module")
def client():
    with connected() as client:
        yield client


def communicators(dask_worker):
    return list(carriers._kept.names().values())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_results_are_those_of_the_host(client, rng, kind, directed):
    edges = KINDS[kind](power_law(rng))
    start = edges.a.iloc[[0, 700]].tolist()
    pieces = partitioned(edges, 8)
    many = graph(on_device(pieces), min(GPUS, 4), directed)
    assert re.search(rf"^shards +{min(GPUS, 4)}$", repr(many), re.MULTILINE)
    with dask.config.set(scheduler="threads"):
        one = graph(pieces, 1, directed)
        wanted = {name: plain(ask(one, start).compute()) for name, ask in ASKED.items()}
    chosen = graph(on_device(pieces), None, directed)
    for name, ask in ASKED.items():
        assert plain(ask(many, start).compute()) == wanted[name], name
        assert plain(ask(chosen, start).compute()) == wanted[name], name
    assert re.search(r"^shards +1: one worker has room", repr(chosen), re.MULTILINE)


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_more_results_are_those_of_the_host(client, rng, directed):
    edges = power_law(rng)
    start = edges.a.iloc[[0, 700]].tolist()
    pieces = partitioned(edges, 8)
    many = graph(on_device(pieces), min(GPUS, 4), directed)
    with dask.config.set(scheduler="threads"):
        one = graph(pieces, 1, directed)
        wanted = {name: plain(ask(one, start).compute()) for name, ask in MORE.items()}
    for name, ask in MORE.items():
        assert plain(ask(many, start).compute()) == wanted[name], name


SEARCHES = {
    "betweenness": lambda g: g.betweenness_centrality(k=9, trace=True),
    "endpoints": lambda g: g.betweenness_centrality(k=9, endpoints=True, trace=True),
    "edges": lambda g: g.edge_betweenness_centrality(k=9, trace=True),
    "closeness": lambda g: g.closeness_centrality(k=70, trace=True),
    "harmonic": lambda g: g.harmonic_centrality(k=70, trace=True),
}


@pytest.mark.parametrize("shape", ["power law", "grid"])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_members_that_share_memory_take_turns_at_sources(client, rng, shape, directed):
    edges = power_law(rng, 9000, 60_000) if shape == "power law" else grid(rng)
    pieces, options = partitioned(edges, 8), ENDS | {"directed": directed}
    many = gf.Graph(on_device(pieces), **options, shards=min(GPUS, 4)).persist()
    with dask.config.set(scheduler="threads"):
        one = gf.Graph(pieces, **options, shards=1).persist()
        wanted = {name: plain(ask(one)[0].compute()) for name, ask in SEARCHES.items()}
    for name, ask in SEARCHES.items():
        found, steps = dask.compute(*ask(many))
        assert plain(found) == wanted[name], name
        if name in ("betweenness", "endpoints"):
            assert len(steps) == min(GPUS, 4), name  # one per member
        elif shape == "grid" and name != "edges":
            assert len(steps) < 30 * min(GPUS, 4), name  # not one per level


def test_members_keep_one_communicator_and_what_they_send_goes_by_it(client):
    def ring(channel, shard, rank):
        exchange = Exchange(channel, device=True)
        told = exchange.all_gather(cupy.full(100_000, rank))
        return [int(part[7]) for part in told], channel.bytes_sent

    work = [dask.delayed(rank, pure=False) for rank in range(min(GPUS, 4))]
    names = []
    for at in range(3):
        found = dask.compute(*gang.run(work, ring, None, name=f"ring{at}", alone=True))
        for told, sent in found:
            assert told == list(range(len(work)))
            assert sent < 100_000  # an eighth of an array
        names += client.run(communicators).values()
    assert len({tuple(name) for name in names}) == 1
    assert len(names[0]) == 1


def wait_for_all(exchange, where):
    """Wait on the device for the other members."""
    if where == "in a meeting":
        device_peers.meet(memory_of(exchange))
        return
    rank, size = exchange.rank, exchange.size
    exchange._carrier._communicator.swap((rank + 1) % size, None, (rank - 1) % size, 1 << 20)
    cupy.cuda.get_current_stream().synchronize()


def memory_of(exchange):
    memory = exchange.shared_memory([64 * rank for rank in range(exchange.size + 1)], able=True)
    assert memory is not None
    return memory


def stuck(channel, shard, rank, forever, where):
    exchange = Exchange(channel, device=True)
    if where == "in a meeting":
        memory_of(exchange)
    if forever and rank:
        time.sleep(forever)  # the others wait on their devices for what it does not send
    if forever:
        wait_for_all(exchange, where)
    told = exchange.all_gather(cupy.arange(5))
    return int(sum(told)[4])


@pytest.mark.parametrize("where", ["for NCCL", "in a meeting"])
@pytest.mark.parametrize("how", ["cancelled", "failed"])
def test_a_member_that_waits_on_a_device_is_released_and_the_next_run_works(client, how, where):
    members = min(GPUS, 4)
    work = [dask.delayed(rank, pure=False) for rank in range(members)]
    loop = stuck if how == "cancelled" else failing
    lazy = gang.run(work, loop, None, 8.0, where, name=f"stuck-{how}-{where}", alone=True)
    futures = client.compute(lazy)
    time.sleep(4)
    if how == "cancelled":
        client.cancel(futures)
    else:
        with pytest.raises(ZeroDivisionError):
            client.gather(futures)
    del futures
    begin = time.monotonic()
    after = gang.run(work, stuck, None, 0, where, name=f"after-{how}-{where}", alone=True)
    assert dask.compute(*after) == (4 * members,) * members
    assert time.monotonic() - begin < 12


def failing(channel, shard, rank, forever, where):
    exchange = Exchange(channel, device=True)
    if where == "in a meeting":
        memory_of(exchange)
    if rank == channel.size - 1:
        time.sleep(2)
        raise ZeroDivisionError
    wait_for_all(exchange, where)
    exchange.all_gather(cupy.arange(5))


def long_path(rng):
    """Return a path whose search takes seconds, since each level takes a meeting of the devices."""
    ids = np.arange(400_001)
    return pd.DataFrame({"a": ids[:-1], "b": ids[1:], "w": 1.0})


KILLED = {
    "messages": (
        power_law,
        lambda many: many.pagerank(tol=None, max_iter=50),
        lambda many: many.pagerank(tol=None, max_iter=8_000),
    ),
    "shared memory": (long_path, *(lambda many: many.bfs([0]),) * 2),
}


@pytest.mark.parametrize("by", KILLED)
def test_a_killed_worker_is_an_error_or_the_same_result_and_the_next_call_works(rng, by):
    make, short, long = KILLED[by]
    edges = on_device(partitioned(make(rng), 8))
    with connected() as client:
        many = graph(edges, 2, False)
        wanted = plain(short(many).compute())
        found = long(many).persist()
        time.sleep(2)
        pids = list(client.run(_pid).values())
        client.run_on_scheduler(_kill, pids[0])
        begin = time.monotonic()
        try:
            wait(found, timeout=120)
        except WorkerLostError:
            assert time.monotonic() - begin < 60
        del found
        client.wait_for_workers(min(GPUS, 4), timeout=60)
        again = graph(edges, 2, False)
        assert plain(short(again).compute()) == wanted


HOPS = gf.EdgeOp("hops", target="x", signal="x[src] + 1", slot="min")
BITS = gf.EdgeOp("bits", target="x", signal="x[src] << 1 | 1", slot="or")
LATE = gf.EdgeOp("late", target="x", signal="x[src] + 1", slot="min", cond="x[dst] % 7 > 0")
SUMS = gf.EdgeOp("sums", target="x", signal="1 + x[src] % 3", slot="add")


@pytest.mark.parametrize(
    ("op", "max_iter"),
    [(HOPS, None), (HOPS, 300), (BITS, None), (BITS, 30), (LATE, 300), (SUMS, 40)],
    ids=lambda given: getattr(given, "name", given),
)
@pytest.mark.parametrize("direction", ["gemini", "push", "pull"])
def test_programs_of_many_supersteps_have_the_values_of_one_gpu(client, op, max_iter, direction):
    edges = long_path(None).iloc[:2000]
    near = edges.iloc[::7]
    edges = pd.concat([edges, near.assign(b=near.a // 2 + 1)])
    pieces = on_device(partitioned(edges, 8))
    begin = pd.DataFrame({"vertex": [0, 1900], "x": [0, 3]})
    how = {"columns": {"x": 1 << 30 if op.slot == "min" else 0}, "start": begin}
    how |= {"max_iter": max_iter, "direction": direction}
    found = [plain(graph(pieces, count, True).run(op, **how).compute()) for count in (1, 2)]
    assert found[0] == found[1]


def test_members_that_share_memory_push_small_supersteps_without_messages(client):
    many = graph(on_device(partitioned(long_path(None).iloc[:5000], 8)), 2, True)
    begin = pd.DataFrame({"vertex": [0], "x": [0]})
    how = {"columns": {"x": 1 << 30}, "start": begin, "direction": "push"}
    steps = many.run(HOPS, **how, trace=True)[1].compute()
    assert len(steps) >= 5000
    assert steps.bytes.sum() < 5000


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_members_that_share_memory_search_peel_and_join_without_messages(client, rng, directed):
    many = graph(on_device(partitioned(power_law(rng), 8)), 2, directed)
    search = partial(many.bfs, [int(power_law(rng).a.iloc[0])])
    for call in (many.core_number, search, many.connected_components):
        call().compute()  # a pull along directed edges makes rows that stay
        steps = call(trace=True)[1].compute()
        # Before a pull along directed edges, members agree on whether all of them have kept its rows.
        assert steps.bytes[steps.superstep > 0].sum() <= (200 if directed else 0)
        assert steps.bytes.max() < 1_000  # of the numbers of the sources
        assert set(steps.transfer) == {"memory"}
    assert len(many.core_number(trace=True)[1].compute()) == 2  # one per member, for all limits


def test_doctor_and_members_agree_on_whether_gpus_share_memory(client, rng):
    many = graph(on_device(partitioned(power_law(rng), 8)), 2, False)
    ways = set(many.core_number(trace=True)[1].compute().transfer)
    assert ways == ({"memory"} if checks._pairs(GPUS).state == checks.OK else {"nccl"})


def test_a_canceled_call_ends_at_once_if_its_members_meet_all_the_time(client):
    path = np.arange(4_000_001)
    edges = partitioned(pd.DataFrame({"a": path[:-1], "b": path[1:]}).assign(w=1.0), 8)
    many = graph(on_device(edges), 2, False)
    wait(many.degrees().persist())
    future = client.compute(many.core_number())  # removes two vertices per meeting
    assert eventually(lambda: sum(client.run(_members).values()) == 2)
    time.sleep(2)
    assert sum(client.run(_members).values()) == 2
    future.cancel()
    begin = time.monotonic()
    assert eventually(lambda: not any(client.run(_members).values()))
    assert time.monotonic() - begin < 2
    assert len(many.bfs([0], depth_limit=10).compute())


def _members(dask_worker):
    return len(dask_worker.plugins[Membership.name]._members)


def test_memory_that_a_member_frees_stays_until_the_others_have_closed_it(client):
    work = [dask.delayed(rank, pure=False) for rank in range(2)]
    assert dask.compute(*gang.run(work, freeing, None, alone=True)) == (0, 7 << 24)


def freeing(channel, shard, rank):
    arena = device_peers.Arena(1 << 24)
    arena.open(carriers.swap(channel, arena.handle), rank)
    carriers.swap(channel, None)
    if rank == 0:
        arena.close()
        del arena
        arena = device_peers.Arena(1 << 24)
    carriers.swap(channel, None)
    (column,) = arena.columns([("uint8", 1 << 24)], None)
    if rank == 0:
        carriers.swap(channel, None)
        return int(column.own.sum(dtype="int64"))
    freed = column.of(0)
    freed.fill(7)
    total = int(freed.sum(dtype="int64"))
    carriers.swap(channel, None)
    del freed
    arena.close()
    return total


@pytest.mark.parametrize("kind", ["power law", "grid", "no weight"])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_members_that_share_memory_find_shortest_paths_in_one_superstep(
    client, rng, kind, directed
):
    edges = grid(rng) if kind == "grid" else power_law(rng)
    if kind == "no weight":  # predecessors at the same distance are found by messages
        edges["w"] = edges.w.where(rng.random(len(edges)) < 0.5, 0)
    start, pieces = edges.a.iloc[:1].tolist(), partitioned(edges, 8)
    many = graph(on_device(pieces), min(GPUS, 4), directed)
    with dask.config.set(scheduler="threads"):
        one = graph(pieces, 1, directed)
        wanted, near = (plain(one.sssp(start, cutoff=c).compute()) for c in (None, 20))
    found, steps = many.sssp(start, trace=True)
    assert plain(found.compute()) == wanted
    assert len(steps.compute()) == min(GPUS, 4)  # one per member
    assert plain(many.sssp(start, cutoff=20).compute()) == near


def grid(rng):
    """Return the edges of a long grid, whose search has thousands of steps."""
    at = np.arange(3 * 4_000).reshape(4_000, 3)
    sides = (at[:-1], at[1:]), (at[:, :-1], at[:, 1:])
    a, b = (np.concatenate([side[end].ravel() for side in sides]) for end in (0, 1))
    return pd.DataFrame({"a": a, "b": b, "w": rng.integers(1, 100, len(a)) / 7})


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("weight", [None, "w"], ids=["plain", "weighted"])
def test_members_that_share_memory_sweep_without_messages(client, rng, weight, directed):
    edges = power_law(rng, 40_000, 200_000)
    calls = {
        "louvain": lambda g: g.louvain(trace=True),
        "leiden": lambda g: g.leiden(resolution=[0.5, 1], levels=2, trace=True),
        "potts": lambda g: g.leiden(objective="cpm", resolution=0.2, trace=True),
    }
    how = {"source": "a", "target": "b", "weight": weight, "directed": directed}
    pieces = partitioned(edges, 8)
    with dask.config.set(scheduler="threads"):
        one = gf.Graph(pieces, **how, shards=1).persist()
        wanted = {name: plain(ask(one)[0].compute()) for name, ask in calls.items()}
    many = gf.Graph(on_device(pieces), **how, shards=min(GPUS, 4)).persist()
    for few in (0, coarser.SMALL_GRAPH):  # for coarser graphs with shards, and then as a whole
        client.run(setattr, coarser, "SMALL_GRAPH", few)
        for name, ask in calls.items():
            found, steps = ask(many)
            assert plain(found.compute()) == wanted[name], (name, few)
            steps = steps.compute()
            assert steps.bytes.max() < 1_000  # of the totals in the trace
            assert steps.superstep.nunique() > 5


def _pid():
    import os

    return os.getpid()


def _kill(pid):
    import os
    import signal

    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_a_graph_on_two_gpus_and_the_host(rng, directed):
    edges = power_law(rng)
    start = edges.a.iloc[[0, 700]].tolist()
    with dask.config.set(scheduler="threads"):
        one = graph(partitioned(edges, 4), 1, directed)
        wanted = {name: ask(one, start).compute() for name, ask in ASKED.items()}
    asked = gf.Hybrid({"gpu": 0.5, "cpu": 0.5})
    with gf.hybrid_cluster(2, threads=2, dashboard_address=":0") as workers, Client(workers):
        mixed = graph(partitioned(edges, 4), None, directed, hybrid=asked)
        assert mixed.layout().compute().kind.tolist() == ["gpu", "gpu", "cpu"]
        for name, ask in ASKED.items():
            same(ask(mixed, start).compute(), wanted[name])
