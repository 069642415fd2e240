"""Lazy results in Dask: optimized, visualized, and computed by an asynchronous client."""

from __future__ import annotations

import asyncio
import collections
import gc
import pickle
import time

import dask
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, host_only, is_as_announced, on_backend, partitioned, to_host
from distributed import Client

import dask_graphflow as gf
from dask_graphflow import exceptions as ex
from dask_graphflow.api import clusters
from dask_graphflow.calls.call import Call
from dask_graphflow.declarations.answer import Answer, OrNull

SOURCE = {"sources": [0]}
CALLS = {
    "components": lambda g, edges: gf.connected_components(edges, **ENDS),
    "dense components": lambda g, edges: gf.connected_components(edges, **ENDS, renumber=False),
    "bfs": lambda g, edges: g.bfs(**SOURCE),
    "sssp": lambda g, edges: g.sssp(**SOURCE),
    "pagerank": lambda g, edges: g.pagerank(),
    "label propagation": lambda g, edges: g.label_propagation(),
    "degrees": lambda g, edges: g.degrees(),
    "layout": lambda g, edges: g.layout(),
}

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture(scope="module")
def edges():
    rng = np.random.default_rng(5)
    pairs = pd.DataFrame(rng.integers(0, 200, (400, 2)), columns=["a", "b"])
    return partitioned(pairs.assign(w=1.0).replace({"a": {1: 0}}), 20)


def same(found, expected):
    pd.testing.assert_frame_equal(
        to_host(found).reset_index(drop=True), to_host(expected).reset_index(drop=True)
    )


@pytest.mark.parametrize(("kept", "shards"), [(False, 3), (True, 1)], ids=["lazy", "persisted"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_no_row_is_lost_by_dask_optimize(edges, call, shards, kept):
    if call is CALLS["layout"]:
        host_only("a layout is a pandas frame on every backend")
    edges = on_backend(edges)
    g = gf.Graph(edges, **ENDS, weight="w", directed=False, shards=shards)
    result = call(g.persist() if kept else g, edges)
    expected = result.compute(scheduler="sync")
    for asked in (result, result.optimize(), result.assign(more=1), result[result.columns[:1]]):
        with pytest.raises(ex.UsageError, match=r"dask\.compute.*result\.optimize"):
            dask.optimize(asked)
    # What the message advises:
    for found in dask.compute(result, result, scheduler="threads"):
        same(found, expected)
    same(dask.persist(result)[0].compute(), expected)
    same(result.optimize().compute(), expected)
    result.pprint()
    # After persist(), the graph of tasks only holds the rows.
    same(dask.optimize(result.persist())[0].compute(), expected)


@pytest.mark.parametrize("shards", [None, 2])
def test_a_graph_in_an_event_loop(edges, shards):
    edges = on_backend(edges)
    g = gf.Graph(edges, **ENDS, directed=False, shards=shards)
    distances = g.bfs(**SOURCE).compute(scheduler="sync")
    expected = g.persist().num_vertices, g.persist().num_edges

    async def main():
        how = {"processes": False, "n_workers": 2, "threads_per_worker": 1}
        async with Client(asynchronous=True, dashboard_address=":0", **how) as client:
            graph = gf.Graph(edges, **ENDS, directed=False, shards=shards)
            kept = on_backend(graph.persist())
            for built in (graph, kept, pickle.loads(pickle.dumps(kept))):
                for name in ("num_vertices", "num_edges"):
                    with pytest.raises(ex.UsageError, match=rf"await asyncio.to_thread.*{name}"):
                        getattr(built, name)
                # What the message advises:
                found = (
                    await asyncio.to_thread(lambda g=built: g.num_vertices),
                    await asyncio.to_thread(lambda g=built: g.num_edges),
                )
                assert found == expected
                same(await client.compute(built.bfs(**SOURCE)), distances)

    asyncio.run(main())


def _kept():
    """Count the objects of this library that a worker holds, by type."""
    gc.collect()
    names = (f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.get_objects())
    return collections.Counter(name for name in names if name.startswith("dask_graphflow."))


@pytest.mark.slow
def test_calls_leave_nothing_on_workers(client, edges):
    edges, held = on_backend(edges), []
    for first in (0, 2):
        for source in range(first, first + 2):
            g = gf.Graph(edges.assign(salt=source), **ENDS, weight="w")
            g.bfs(sources=[0]).compute()
            gf.connected_components(edges.assign(salt=source), **ENDS).compute()
            g.persist().num_edges  # noqa: B018
        del g
        time.sleep(0.5)  # workers let go of results after their client has
        held.append(client.run(_kept))
    assert held[0] == held[1]


def listed(g):
    """List all vertices of all members once per member before this one, and again with nulls."""
    own = g.numbers[g.exists]
    numbers = np.tile(
        np.sort(np.concatenate(g.member.exchange.all_gather(own))), g.member.exchange.rank
    )
    none = np.arange(len(numbers), like=numbers) % 2 == 0
    columns = {"row": np.arange(len(numbers), like=numbers), "all": numbers}
    return Answer(columns | {"some": OrNull(numbers[::-1].copy(), none)})


@pytest.mark.parametrize("ids", ["numbers", "text", "two parts"])
@pytest.mark.parametrize("partitions", [3, 24])
def test_rows_that_an_algorithm_lists_name_vertices_of_all_members(built, members, ids, partitions):
    pairs = np.random.default_rng(3).integers(0, 300, (700, 2)) * 2
    edges = pd.DataFrame(pairs, columns=["a", "b"])
    if ids == "text":
        edges = edges.apply(lambda ids: ids.map("v{:03d}".format))
    vertices, ends = sorted({*edges.a, *edges.b}), ENDS
    if ids == "two parts":
        ends = {"source": ["a", "c"], "target": ["b", "d"]}
        edges = edges.assign(c=-edges.a, d=-edges.b)
    g = gf.Graph(partitioned(edges, partitions), **ends, shards=members).persist()
    columns = {"row": "int64", "all": "id", "some": "id or null"}
    call = Call("listed", listed, columns, rows="listed")
    found = call.send(g._shards)
    assert found.npartitions == members * max(1, partitions // 8 // members)
    found = found.compute()
    assert is_as_announced(found, call.send(g._shards))
    found = to_host(found)
    first, last = ("all_0", "some_0") if ids == "two parts" else ("all", "some")
    counts = [count * len(vertices) for count in range(members)]
    assert found.row.tolist() == [row for count in counts for row in range(count)]
    assert found[first].tolist() == vertices * sum(range(members))
    wanted = [v for count in range(members) for v in vertices[::-1] * count]
    assert found[last].isna().tolist() == (found.row % 2 == 0).tolist()
    assert found[last].dropna().tolist() == [
        v for v, row in zip(wanted, found.row, strict=True) if row % 2
    ]


@pytest.mark.usefixtures("host_memory")
def test_estimates_and_plots_in_an_event_loop_name_a_call_that_works(edges, monkeypatch):
    links = gf.costs.Links(c=1e9, moves=1e9, latency=1e-4, call=0.01, level=1e-3, gang=0.05)
    monkeypatch.setattr(clusters, "measure_links", lambda *_, **__: links)
    monkeypatch.setattr(clusters, "_measured", {})  # no other test has measured them
    pytest.importorskip("matplotlib").use("agg")
    size = {"num_edges": 400, "num_vertices": 200}
    asks = {
        "gf.estimate": lambda g: gf.estimate(edges, "bfs", **ENDS, **size),
        r"gf.estimate, which measures links,": lambda g: gf.estimate(
            edges, "bfs", gf.costs.ClusterSpec(), **ENDS, **size
        ),
        "gf.calibrate": lambda g: gf.calibrate(fresh=False, progress=False),
        "gf.plot.communities": lambda g: gf.plot.communities(g, g.connected_components()),
        "gf.plot.degrees": lambda g: gf.plot.degrees(g.degrees()),
        "gf.plot.graph": lambda g: gf.plot.graph(g),
        "gf.plot.layout": lambda g: gf.plot.layout(g, iterations=1),
        "gf.plot.neighborhood": lambda g: gf.plot.neighborhood(g, 0),
        "gf.plot.components": lambda g: gf.plot.components(g.connected_components()),
        "gf.plot.trace": lambda g: gf.plot.trace(g.bfs(**SOURCE, trace=True)[1]),
    }

    async def main():
        how = {"processes": False, "n_workers": 1, "threads_per_worker": 1}
        async with Client(asynchronous=True, dashboard_address=":0", **how):
            graph = on_backend(gf.Graph(edges, **ENDS, directed=False).persist())
            for name, ask in asks.items():
                with pytest.raises(ex.UsageError, match=rf"{name} waits .*asyncio\.to_thread"):
                    ask(graph)
                if name != "gf.calibrate":  # it would measure the kernels
                    await asyncio.to_thread(ask, graph)  # what the message advises

    asyncio.run(main())
