"""A graph of several shards: the same results as of one, on every scheduler and on a cluster."""

from __future__ import annotations

import os
import re
import signal

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import frame, partitioned
from distributed import Client, LocalCluster, wait

import dask_graphflow as gf
from dask_graphflow import exceptions

ENDS = {"source": "a", "target": "b"}
LEAST = gf.EdgeOp("least", target="least", signal="least[src]", slot="min")
ASKED = {
    "bfs": lambda g, start: g.bfs(start),
    "bfs, three steps by pull": lambda g, start: g.bfs(start, depth_limit=3, direction="pull"),
    "sssp": lambda g, start: g.sssp(start, cutoff=40),
    "pagerank": lambda g, start: g.pagerank(),
    "pagerank from one": lambda g, start: g.pagerank(
        personalization=pd.Series(2.0, index=start[:1]), precision="float32"
    ),
    "label propagation": lambda g, start: g.label_propagation(max_iter=4),
    "degrees": lambda g, start: g.degrees(),
    "a program": lambda g, start: g.run(LEAST, columns={"least": "vertex"}),
    "a program from one": lambda g, start: g.run(
        LEAST,
        columns={"least": 1 << 40},
        start=pd.DataFrame({"vertex": start[:1], "least": [5]}),
        direction="push",
    ),
}


def power_law(rng, size=400, edges=2500):
    ends = (size * rng.random((edges, 2)) ** 3).astype("int64")
    return pd.DataFrame(ends, columns=["a", "b"]).assign(w=rng.integers(0, 9, edges) / 4)


def far_apart(edges):
    return edges.assign(a=edges.a * 10**12 - 5, b=edges.b * 10**12 - 5)


def strings(edges):
    return edges.assign(a=edges.a.astype("str"), b=edges.b.astype("str"))


KINDS = {"dense": lambda edges: edges, "far apart": far_apart, "strings": strings}


def same(found, wanted):
    pd.testing.assert_frame_equal(found.reset_index(drop=True), wanted.reset_index(drop=True))


def graph(edges, shards, directed, **options):
    return gf.Graph(
        edges, **ENDS, weight="w", directed=directed, shards=shards, **options
    ).persist()


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("shards", [2, 5])
def test_results_are_those_of_one_shard(rng, kind, directed, shards):
    edges = KINDS[kind](power_law(rng))
    start = edges.a.iloc[[0, 700]].tolist()
    pieces = partitioned(edges, 6)
    with dask.config.set(scheduler="threads"):
        one, many = (graph(pieces, count, directed) for count in (1, shards))
        assert (many.num_vertices, many.num_edges) == (one.num_vertices, one.num_edges)
        for ask in ASKED.values():
            same(ask(many, start).compute(), ask(one, start).compute())


@pytest.mark.parametrize("multi", ["keep", "sum", "min", "first"])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_several_edges_become_the_same_one(rng, multi, directed):
    edges = partitioned(power_law(rng, 40, 600), 5)
    with dask.config.set(scheduler="threads"):
        one, many = (graph(edges, count, directed, multi=multi) for count in (1, 3))
        assert many.num_edges == one.num_edges
        same(many.degrees().compute(), one.degrees().compute())
        same(many.sssp([0]).compute(), one.sssp([0]).compute())


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
@pytest.mark.parametrize("pairs", [[(3, 4)], [(0, 1), (1, 2), (2, 2)], [(7, 7)]])
def test_fewer_edges_than_shards(scheduler, pairs):
    edges = partitioned(frame(pairs).assign(w=1.5), 4)
    with dask.config.set(scheduler=scheduler):
        one, many = (graph(edges, count, False) for count in (1, 4))
        for ask in ASKED.values():
            same(ask(many, [pairs[0][0]]).compute(), ask(one, [pairs[0][0]]).compute())


def test_without_edges_there_is_nothing_to_find():
    edges = partitioned(frame([]).assign(w=1.5), 3)
    with dask.config.set(scheduler="sync"):
        many = graph(edges, 3, True)
        assert (many.num_vertices, many.num_edges) == (0, 0)
        assert not len(many.pagerank().compute())


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_the_trace_is_that_of_one_shard(rng, directed):
    edges = partitioned(power_law(rng), 4)
    with dask.config.set(scheduler="threads"):
        traces = []
        for count in (1, 3):
            found, steps = graph(edges, count, directed).bfs([0], trace=True)
            assert len(found.compute())
            traces.append(steps.compute())
    one, many = traces
    columns = ["superstep", "direction", "frontier", "edges"]
    for member in range(3):
        same(many.loc[many.member == member, columns], one[columns])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"multi": "first"}, {"weight": "w"}], ids=str)
def test_a_graph_that_is_not_kept_is_ranked_alike(rng, kind, options):
    edges = partitioned(KINDS[kind](power_law(rng)), 6)
    one, many = (gf.Graph(edges, **ENDS, **options, shards=count) for count in (1, 3))
    with dask.config.set(scheduler="threads"):
        same(many.pagerank().compute(), one.pagerank().compute())
        found, steps = many.pagerank(trace=True)
        assert len(found.compute()) == one.num_vertices
        assert (steps.compute().direction == "pull").all()


def test_the_number_of_tasks_depends_on_partitions_and_shards_alone():
    def tasks(edges):
        many = gf.Graph(partitioned(edges.assign(w=1), 4), **ENDS, weight="w", shards=2)
        asked = many.bfs([0]), many.sssp([0]), many.pagerank()
        return [len(dict(result.optimize().__dask_graph__())) for result in asked]

    assert tasks(frame([(0, 1)])) == tasks(frame([(i, i + 1) for i in range(5000)]))


@pytest.mark.parametrize("shards", [0, -1, 1.5, "two"])
def test_what_is_no_number_of_shards_is_refused(shards):
    with pytest.raises(exceptions.OptionError, match=r"shards=.*"):
        gf.Graph(frame([(0, 1)]), **ENDS, shards=shards)


def test_there_are_no_more_shards_than_partitions():
    edges = partitioned(frame([(0, 1), (1, 2)]), 2)
    assert re.search(r"^shards +2$", repr(gf.Graph(edges, **ENDS, shards=9)), re.MULTILINE)
    assert re.search(r"^shards +1$", repr(gf.Graph(edges, **ENDS)), re.MULTILINE)


def test_what_one_process_finds_alone_says_so():
    many = gf.Graph(partitioned(frame([(0, 1), (1, 2)]), 2), **ENDS, shards=2)
    with pytest.raises(exceptions.OptionError, match=r"triangles.*2 shards.*shards=1"):
        many._ask("triangles", lambda shards, threads: None, {"triangles": "int64"})


@pytest.mark.parametrize("where", ["threads", "cluster"])
def test_errors_are_those_of_one_shard(where, request):
    if where == "cluster":
        request.getfixturevalue("client")
    edges = partitioned(frame([(i, i + 1) for i in range(50)]).assign(w=1.0), 3)
    late = partitioned(frame([(i, i + 1) for i in range(50)]).assign(w=[1.0] * 49 + [-1.0]), 3)
    with dask.config.set(scheduler="threads" if where == "threads" else None):
        with pytest.raises(
            exceptions.UnknownVertexError, match=r"1 of 2 ids is not in the graph: 77;"
        ):
            graph(edges, 2, True).bfs([1, 77]).compute()
        with pytest.raises(exceptions.WeightError, match="1 weight is negative or NaN"):
            graph(late, 2, True).sssp([1]).compute()
        with pytest.raises(exceptions.ConvergenceError, match="after 2 iterations"):
            graph(edges, 2, True).pagerank(max_iter=2).compute()
        same(
            graph(edges, 2, True).bfs([1]).compute(),
            graph(edges, 1, True).bfs([1]).compute(),
        )


@pytest.mark.parametrize("kind", KINDS)
def test_on_a_cluster_each_worker_has_a_shard(client, rng, kind):
    edges = KINDS[kind](power_law(rng))
    start = edges.a.iloc[[0, 700]].tolist()
    with dask.config.set(scheduler="threads"):
        one = graph(edges, 1, False)
        wanted = [ask(one, start).compute() for ask in ASKED.values()]
    many = gf.Graph(dd.from_pandas(edges, npartitions=4), **ENDS, weight="w", directed=False)
    assert re.search(r"^shards +2$", repr(many), re.MULTILINE)
    many = many.persist()
    wait(many._built)
    at = client.who_has([part.dask[part.key] for part in many._built])
    assert len({worker for workers in at.values() for worker in workers}) == 2
    for ask, one in zip(ASKED.values(), wanted, strict=True):
        same(ask(many, start).compute(), one)


def test_a_result_stays_in_the_pipeline(client):
    edges = dd.from_pandas(frame([(i, i + 1) for i in range(300)]), npartitions=3)
    hops = gf.Graph(edges, **ENDS).bfs([0])
    assert hops.npartitions == 2
    assert int(hops[hops.distance > 10].distance.sum().compute()) == sum(range(11, 301))


@pytest.mark.slow
@pytest.mark.parametrize("hybrid", [None, gf.Hybrid([0.3, 0.7])], ids=["even", "by shares"])
def test_a_worker_lost_between_two_calls_changes_nothing(rng, hybrid):
    edges = power_law(rng)
    with dask.config.set(scheduler="threads"):
        wanted = graph(edges, 1, False).bfs([0]).compute()
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        many = graph(dd.from_pandas(edges, npartitions=4), None, False, hybrid=hybrid)
        same(many.bfs([0]).compute(), wanted)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        same(many.bfs([0], direction="push").compute(), wanted)
        client.wait_for_workers(2, timeout=60)
        same(many.bfs([0], direction="gemini").compute(), wanted)
        assert np.isclose(many.pagerank().compute().pagerank.sum(), 1)
