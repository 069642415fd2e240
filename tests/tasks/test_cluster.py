"""On a cluster: the same labels, work where the data is, workers lost, runs cancelled.

With ``--backend cudf`` the two workers share a GPU.
"""

from __future__ import annotations

import asyncio
import copy
import os
import pickle
import re
import signal
import time
from types import SimpleNamespace

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, as_dict, frame, on_backend, oracle, partitioned, to_host
from dask.base import tokenize
from distributed import Client, futures_of, get_worker, wait, worker_client
from distributed.client import FutureCancelledError
from members import eventually

import dask_graphflow as gf
from dask_graphflow.api import clusters
from dask_graphflow.exceptions import UsageError, WorkerLostError
from dask_graphflow.operators.forests.forest import Forest
from dask_graphflow.tasks import expr, placement
from dask_graphflow.tasks.expr import Empty, Resident

TOKEN = re.compile("[0-9a-f]{32}")

# This library cannot close sockets and event loops that a killed worker leaves behind.
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.usefixtures("backend")]


@pytest.fixture(params=["dense", "strings"])
def pairs(request, rng):
    edges = pd.DataFrame(rng.integers(0, 3000, (2500, 2)), columns=["a", "b"])
    return edges.astype("str") if request.param == "strings" else edges


def same(labels, expected):
    pd.testing.assert_frame_equal(labels.reset_index(drop=True), expected.reset_index(drop=True))


def test_the_same_bits_as_without_a_cluster(client, pairs):
    labels = gf.connected_components(partitioned(pairs, 7), **ENDS)
    same(labels.compute(), labels.compute(scheduler="sync"))


def test_a_persisted_frame_has_the_same_token_on_a_scheduler_without_a_client(client, monkeypatch):
    edges = on_backend(partitioned(frame([(0, 1), (1, 2)]), 2)).persist()
    held = Resident.of(edges.expr)
    copy, token = pickle.loads(pickle.dumps(held)), tokenize(held)
    monkeypatch.setattr("distributed.Future.client", None)
    assert tokenize(copy) == token


def test_edges_on_workers_are_not_moved(client):
    edges = on_backend(partitioned(frame([(i, i + 1) for i in range(10_000)]), 9)).persist()
    wait(edges)
    held = client.who_has(futures_of(edges))
    homes = [held[key] for key in edges.expr.operand("keys")]
    labels = gf.connected_components(edges, **ENDS)
    chains = labels.expr.frame.operand("chains")
    assert sorted(chunk for chain in chains for chunk in chain.chunks) == list(range(9))
    assert all(len({homes[chunk] for chunk in chain.chunks}) == 1 for chain in chains)
    assert as_dict(labels.compute())[10_000] == 0
    # Only forests were sent: each partition is on the same worker as before, and on no other.
    assert client.who_has(futures_of(edges)) == held


def tasks_of(labels):
    """Return the keys of a result's graph, without the persisted partitions."""
    graph = labels.optimize().__dask_graph__()
    return [key for key, task in graph.items() if not hasattr(task, "add_done_callback")]


def stages_of(labels):
    """Return the names of the stages in a result's graph."""
    return {
        TOKEN.split(str(key[0]))[0].strip("-").removeprefix("graphflow-")
        for key in tasks_of(labels)
    }


@pytest.mark.parametrize(
    ("kind", "options", "reason"),
    [
        ("integers", {}, None),
        ("integers", {"renumber": False}, None),
        ("integers", {"merge": "ring", "merge_chunks": 3}, None),
        ("text", {"vertices": ["a", "5"]}, None),
        ("null", {"dropna": True}, None),
        ("far", {"weight": "w", "thresholds": [1, 2]}, None),
        ("beyond int64", {}, None),
        ("not persisted", {}, "no workers hold the edges"),
        ("integers", {"inputs": "round-robin"}, "inputs= names the workers"),
    ],
)
def test_persisted_edges_are_one_gang(client, kind, options, reason):
    pairs = [(i, i + 1) for i in range(1000) if i % 100]
    edges = frame(pairs).assign(w=np.arange(len(pairs)) % 3)
    if kind == "text":
        edges = edges.astype({"a": "str", "b": "str"})
    elif kind == "null":
        edges = edges.astype("Int64").replace(500, pd.NA)
    elif kind == "beyond int64":
        edges = edges.astype("uint64") + np.uint64(2**63)
    elif kind == "far":
        edges = edges.replace(999, 10**15)
    lazy = on_backend(partitioned(edges, 18))
    if kind != "not persisted":
        lazy = lazy.persist()
        wait(lazy)
    labels = gf.connected_components(lazy, **ENDS, **options)
    way = str(labels.expr)
    assert (f"tasks, as {reason}" if reason else "a gang, as workers hold the edges") in way
    tasks = {stage for stage in stages_of(labels) if stage.startswith(("hook", "merge"))}
    assert bool(tasks) == bool(reason)
    alone = {name: value for name, value in options.items() if name != "inputs"}
    same(labels.compute(), gf.connected_components(edges, **ENDS, **alone).compute())


@pytest.mark.parametrize("members", [1, 2])
def test_components_of_a_few_persisted_partitions_take_one_task_per_member(client, members):
    """Further tasks, which only take the partitions of a member apart, would take milliseconds."""
    lazy = on_backend(partitioned(frame([(i, i + 1) for i in range(1000)]), 8))
    workers = list(client.scheduler_info()["workers"])[:members]
    edges = client.persist(lazy, workers=workers)
    wait(edges)
    labels = gf.connected_components(edges, **ENDS)
    assert len(tasks_of(labels)) == labels.npartitions == members
    assert set(as_dict(labels.compute()).values()) == {0}


def test_an_empty_frame_is_pickled_once_and_made_only_where_it_is_used(monkeypatch):
    empty = Empty(on_backend(frame([(0, 1)])).iloc[:0])
    sent = pickle.dumps(empty)
    monkeypatch.setattr(type(empty.frame), "__reduce_ex__", None)  # it can no longer be pickled
    assert pickle.dumps(empty) == sent
    monkeypatch.undo()
    copy = pickle.loads(sent)
    assert tokenize(copy) == tokenize(empty)
    assert pickle.dumps(copy) == sent
    assert copy._frame is None  # so far
    same(to_host(copy.frame), to_host(empty.frame))


def test_partitions_that_were_spilled_are_taken_several_at_a_time(mortal):
    """A member would need all of them in memory at once."""
    edges = on_backend(partitioned(frame([(i, i + 1) for i in range(1000)]), 18)).persist()
    wait(edges)
    mortal.run(spill)
    spilled = set()
    while len(spilled) < 2:  # until the workers' next messages to the scheduler
        time.sleep(0.01)
        spilled = placement.look([], []).spilled
    labels = gf.connected_components(edges, **ENDS)
    assert "tasks, as a worker has spilled data to disk" in str(labels.expr)
    homes = mortal.who_has(futures_of(edges))
    held = [sum(home in workers for workers in homes.values()) for home in addresses(homes)]
    graph = dict(labels.optimize().__dask_graph__())
    hooks = sum(str(key[0]).startswith("graphflow-hook") for key in graph)
    assert hooks == sum(-(-n // 4) for n in held)
    # No task passes a partition on: hooks depend directly on the persisted partitions.
    assert sum(key in homes for key in graph) == 18
    assert as_dict(labels.compute())[1000] == 0


def spill(dask_worker):
    while dask_worker.data.fast:
        dask_worker.data.evict()


def addresses(homes):
    return sorted({worker for workers in homes.values() for worker in workers})


def slow_on_one(folder, chunks, pause):
    """Return edges that are slow to read on the first worker, and that record where they were read."""

    def read(i):
        name = get_worker().name
        (folder / f"{name}-{i}").touch()
        time.sleep(pause if name == 0 else 0.01)
        return frame([(i, i + 1)])

    return dd.from_map(read, range(chunks), meta=frame([]))


@pytest.mark.alone
@pytest.mark.parametrize(("inputs", "falls"), [("availability", True), ("round-robin", False)])
def test_a_slow_worker_takes_fewer_chunks_under_availability_only(client, inputs, falls, tmp_path):
    labels = gf.connected_components(
        slow_on_one(tmp_path, 32, 0.1), **ENDS, inputs=inputs
    ).compute()
    assert as_dict(labels)[32] == 0
    share = len(list(tmp_path.glob("0-*"))) / 32
    assert share < 0.4 if falls else share == 0.5


def test_workers_are_known_while_their_client_polls(client, monkeypatch):
    """The client's stored information has no workers right after a poll, which can happen at any time."""
    plain = client._update_scheduler_info

    async def and_polled(n_workers):
        await plain(n_workers=n_workers)
        await plain(n_workers=0)

    monkeypatch.setattr(client, "_update_scheduler_info", and_polled)
    assert not client.scheduler_info(n_workers=-1)["workers"]
    there = sorted(client.run(lambda: None))
    assert sorted(worker.address for worker in placement.workers()) == there
    assert placement.slots().workers == tuple(there)


def test_chunks_are_hooked_by_the_worker_that_is_named(client, tmp_path):
    first = next(a for a, w in placement.describe_workers(client).items() if w["name"] == 0)
    labels = gf.connected_components(slow_on_one(tmp_path, 6, 0.05), **ENDS, inputs=[first] * 6)
    assert as_dict(labels.compute())[6] == 0
    assert len(list(tmp_path.glob("0-*"))) == 6


def test_a_frame_that_is_neither_on_workers_nor_blockwise(client):
    pairs = [(i, i + 1) for i in range(200)] + [(500, 501)]
    edges = partitioned(frame(pairs), 5).shuffle("b")
    assert as_dict(gf.connected_components(edges, **ENDS).compute()) == oracle(pairs)


def test_a_cancelled_run_leaves_nothing_behind(client):
    def read(i):
        time.sleep(0.05)
        return frame([(i, i + 1)])

    labels = gf.connected_components(dd.from_map(read, range(200), meta=frame([])), **ENDS)
    future = client.compute(on_backend(labels))
    time.sleep(0.5)
    future.cancel()
    del future
    assert eventually(lambda: not client.run_on_scheduler(tasks))
    assert eventually(lambda: not any(client.run(kept).values()))
    again = gf.connected_components(partitioned(frame([(1, 2)]), 2), **ENDS).compute()
    assert as_dict(again) == {1: 1, 2: 1}


def tasks(dask_scheduler):
    return [str(key) for key in dask_scheduler.tasks]


def kept(dask_worker):
    return [str(key) for key in dask_worker.data]


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.4, 0.9])
def test_a_worker_killed_in_mid_run_changes_nothing(mortal, after):
    def read(i):
        time.sleep(0.05)
        rng = np.random.default_rng(i)
        return pd.DataFrame(rng.integers(0, 5000, (200, 2)), columns=["a", "b"])

    edges = dd.from_map(read, range(40), meta=frame([]))
    expected = gf.connected_components(edges, **ENDS).compute(scheduler="threads")
    future = mortal.compute(on_backend(gf.connected_components(edges, **ENDS)))
    time.sleep(after)
    os.kill(next(iter(mortal.run(os.getpid).values())), signal.SIGKILL)
    same(to_host(future.result(timeout=60)), expected)
    mortal.wait_for_workers(2, timeout=60)
    same(gf.connected_components(edges, **ENDS).compute(), expected)


def test_forests_are_sent_as_their_arrays():
    from distributed.protocol import deserialize, serialize

    source, target = np.random.default_rng(0).integers(0, 10**5, (2, 10**5))
    forest = Forest(source)
    forest.cover(0, 10**5)
    forest.hook(source, target)
    header, frames = serialize([forest], serializers=("pickle", "error"))
    sizes = sorted(memoryview(part).nbytes for part in frames)
    assert sizes[-2:] == [forest.seen.nbytes, forest.parent.nbytes]
    (again,) = deserialize(header, frames)
    again.compress()
    forest.compress()
    assert np.array_equal(again.parent, forest.parent)
    assert again.base == forest.base
    assert again.parent.flags.writeable


def computed(client, labels):
    """Compute a result, and fail if it takes longer than users are promised."""
    return to_host(client.compute(on_backend(labels)).result(timeout=30))


def die_once(stage, path):
    """Have the first task of a stage that runs on any worker kill its process."""
    from dask_graphflow.calls.components.connected_components import Components

    plain = getattr(Components, stage)

    def deadly(self, *arguments):
        try:
            open(path, "x").close()
            os.kill(os.getpid(), signal.SIGKILL)
        except FileExistsError:
            return plain(self, *arguments)

    setattr(Components, stage, deadly)


@pytest.mark.parametrize(
    ("stage", "kind", "persisted"),
    [
        ("hook", "int64", True),
        ("hook", "str", False),
        ("label_named", "str", True),
        pytest.param("label_dense", "int64", False, marks=pytest.mark.slow),
        pytest.param("label_named", "str", False, marks=pytest.mark.slow),
    ],
)
def test_a_worker_that_dies_at_a_stage_changes_nothing(mortal, tmp_path, stage, kind, persisted):
    def read(i):
        edges = np.random.default_rng(i).integers(0, 5000, (200, 2))
        return pd.DataFrame(edges, columns=["a", "b"]).astype(kind)

    edges = dd.from_map(read, range(12), meta=read(0).iloc[:0])
    expected = gf.connected_components(edges, **ENDS).compute(scheduler="sync")
    if persisted:
        edges = on_backend(edges).persist()
        wait(edges)
    mortal.run(die_once, stage, str(tmp_path / "died"))
    same(computed(mortal, gf.connected_components(edges, **ENDS)), expected)
    assert (tmp_path / "died").exists()
    same(computed(mortal, gf.connected_components(edges, **ENDS)), expected)


@pytest.mark.slow
def test_edges_that_kill_every_worker_get_an_error_and_the_next_call_works(mortal):
    def read(i):
        if i == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return frame([(i, i + 1)])

    edges = dd.from_map(read, range(12), meta=frame([]))
    with pytest.raises(WorkerLostError, match="lost 3 times"):
        computed(mortal, gf.connected_components(edges, **ENDS))
    mortal.wait_for_workers(1, timeout=30)
    labels = gf.connected_components(partitioned(frame([(1, 2), (2, 3)]), 2), **ENDS)
    assert as_dict(computed(mortal, labels)) == {1: 1, 2: 1, 3: 1}


def test_edges_that_cannot_be_read_again_get_an_error_and_the_next_call_works(mortal):
    edges = dd.from_delayed(mortal.scatter([frame([(i, i + 1)]) for i in range(4)]))
    labels = gf.connected_components(edges, **ENDS)
    assert len(computed(mortal, labels)) == 5
    os.kill(next(iter(mortal.run(os.getpid).values())), signal.SIGKILL)
    # Whether the loss is noticed before or during the call, it never hangs and never loses edges.
    with pytest.raises((FutureCancelledError, KeyError, ValueError)):
        computed(mortal, gf.connected_components(edges, **ENDS))
    labels = gf.connected_components(partitioned(frame([(1, 2), (2, 3)]), 2), **ENDS)
    assert as_dict(computed(mortal, labels)) == {1: 1, 2: 1, 3: 1}


def test_a_forest_that_does_not_fit_on_a_worker_is_named_with_its_bytes(client):
    def spare(ids):
        from dask_graphflow.graph import renumber

        before, renumber.SPARE_IDS = renumber.SPARE_IDS, ids
        return before

    huge = 1 << 46  # more entries than there are addresses: no allocation succeeds
    labels = gf.connected_components(partitioned(frame([(0, huge), (3, 4)]), 2), **ENDS)
    (before,) = set(client.run(spare, 1 << 60).values())  # ids this far apart are still dense
    try:
        with pytest.raises(gf.exceptions.GraphMemoryError, match="vertices needs") as raised:
            computed(client, labels)
    finally:
        client.run(spare, before)
    assert raised.value.needed >= 9 * huge
    assert raised.value.available is None or raised.value.available < raised.value.needed
    labels = gf.connected_components(partitioned(frame([(1, 2), (2, 3)]), 2), **ENDS)
    assert as_dict(computed(client, labels)) == {1: 1, 2: 1, 3: 1}


WIDEST = gf.EdgeOp("widest", target="width", signal="min(width[src], weight)", slot="max")


def asked(graph, edges):
    """Return results of each kind of call on a persisted graph and on a persisted frame."""
    search, trace = dask.compute(*graph.bfs(sources=[0], trace=True))
    return {
        "search": (len(search), trace["superstep"].nunique()),
        "sizes": (graph.num_vertices, graph.num_edges),
        "program": len(graph.run(WIDEST, columns={"width": 0.0}).compute()),
        "components": len(graph.connected_components().compute()),
        "streamed": len(gf.connected_components(edges, **ENDS).compute()),
        "columns": len(gf.pagerank(edges[["a", "b"]], **ENDS).compute()),
        "paths": len(gf.shortest_paths(search, targets=[5]).compute()),
        "rates": [
            kind.workers
            for kind in clusters.workers_in_use(False)
            if clusters.stored_rates_of(kind) is None
        ],
    }


EXPECTED = {
    "search": (10, 10),
    "sizes": (10, 9),
    **dict.fromkeys(("program", "components", "streamed", "columns"), 10),
    "paths": 6,
    "rates": [2],
}


def asked_with_a_client(graph, edges):
    with worker_client():
        return asked(graph, edges)


def submitted(client, asks, *given):
    """Run the same task on each worker at the same time, so that no thread is free."""
    workers = client.run(os.getpid)
    tasks = [client.submit(asks, *given, workers=[each], pure=False) for each in workers]
    found = client.gather(tasks)
    assert found[0] == found[1]
    return found[0]


def from_dataset(client, *given):
    client.publish_dataset(list(given), name="kept")
    try:
        return asked(*client.get_dataset("kept"))
    finally:
        client.unpublish_dataset("kept")


PLACES = {
    "submit": lambda client, *given: submitted(client, asked, *given),
    "worker client": lambda client, *given: submitted(client, asked_with_a_client, *given),
    "delayed": lambda client, graph, edges: dask.delayed(lambda g: asked(g, edges))(
        graph
    ).compute(),
    "pickle": lambda client, *given: asked(*pickle.loads(pickle.dumps(given))),
    "published": from_dataset,
}


@pytest.fixture
def persisted(client):
    """Return a graph and a frame in the memory of the workers."""
    edges = partitioned(frame([(i, i + 1) for i in range(9)]).assign(w=1.0), 4)
    graph = gf.Graph(edges, **ENDS, weight="w", shards=2).persist()
    return on_backend(graph), on_backend(edges).persist()


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(
            place, marks=[pytest.mark.slow] if place in ("worker client", "published") else []
        )
        for place in PLACES
    ],
)
def test_a_persisted_graph_works_in_every_process_that_receives_it(client, persisted, place):
    assert PLACES[place](client, *persisted) == EXPECTED


def test_a_copy_of_a_persisted_graph_keeps_it_in_memory(client):
    graph = on_backend(gf.Graph(partitioned(frame([(0, 1), (1, 2)]), 2), **ENDS).persist())
    copies = copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))
    wait([part.dask[part.key] for part in graph._shards.built])
    del graph
    for each in copies:
        assert eventually(lambda each=each: repr(each).count("chosen by the build") == 0)
        assert each.num_edges == 2


def test_a_persisted_frame_lives_as_long_as_the_result_of_the_call(client):
    edges = partitioned(frame([(0, 1), (1, 2)]), 2)
    graph = gf.Graph(edges, **ENDS, directed=False)
    lazy = graph.community_metrics(communities=on_backend(graph.louvain()).persist())
    assert len(lazy.compute()) == 1
    # Sent in a batch, so the scheduler does not know its partitions when it is asked for their sizes.
    kept = on_backend(edges.assign(more=1)).persist()
    assert len(gf.pagerank(kept[["a", "b"]], **ENDS).compute()) == 3
    assert placement.count_held_bytes([type("Future", (), {"key": "not sent"})]) is None


@pytest.mark.parametrize(("state", "unknown"), [("released", True), ("waiting", False)])
def test_an_unwanted_result_is_not_kept_in_memory(state, unknown, monkeypatch):
    monkeypatch.setattr(expr, "BETWEEN_LOOKS", 0)
    scheduler = SimpleNamespace(tasks={"kept": SimpleNamespace(state=state)})
    assert asyncio.run(expr._unknown(["kept"], scheduler)) is unknown


@pytest.mark.slow
def test_a_persisted_graph_of_a_closed_client_says_so(shared_cluster):
    lazy = on_backend(partitioned(frame([(0, 1), (1, 2)]), 2))
    with Client(shared_cluster) as client:
        graph, edges = gf.Graph(lazy, **ENDS, shards=2).persist(), lazy.persist()
        sent = pickle.dumps(on_backend(graph))
        wait(edges)
    asks = (
        lambda: graph.bfs(sources=[0]),
        lambda: graph.num_edges,
        lambda: gf.pagerank(edges, **ENDS),
        lambda: gf.connected_components(edges[["a", "b"]], **ENDS),
        lambda: pickle.loads(sent).degrees(),
    )
    for ask in asks:
        with pytest.raises(UsageError, match=r"no open client .*distributed.Client"):
            ask()
    assert "shards" in repr(graph)
    with Client(shared_cluster) as client:
        for ask in asks:
            with pytest.raises(UsageError, match=r"closed, restarted .* persist the new one"):
                ask()
        # What the message advises:
        assert gf.Graph(lazy, **ENDS, shards=2).persist().num_edges == 2
    # As long as another client keeps the data, they can be used.
    with Client(shared_cluster) as client:
        with Client(shared_cluster):
            graph = on_backend(gf.Graph(lazy, **ENDS, shards=2).persist())
            with client.as_current():
                kept = pickle.loads(pickle.dumps(graph))
                assert kept.num_edges == 2
        assert kept.num_edges == graph.num_edges == 2
