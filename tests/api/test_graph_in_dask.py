"""Graphs in Dask: built once, lazy, on any scheduler, and edges that are edited after the call."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import (
    ENDS,
    Reader,
    computed,
    frame,
    on_backend,
    partitioned,
    to_host,
)
from shapes import SMALL

import dask_graphflow as gf
from dask_graphflow.graph import build
from dask_graphflow.tasks.reading import read_edges

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture
def builds(monkeypatch):
    """Return a list that grows by one whenever a graph is built."""
    counted = []
    plain = build.Shard

    def spy(*arguments, **options):
        counted.append(1)
        return plain(*arguments, **options)

    monkeypatch.setattr(build, "Shard", spy)
    return counted


# The Dask shape


def test_nothing_is_read_before_compute(builds):
    reader = Reader([frame([(i, i + 1)]) for i in range(5)])
    edges = dd.from_map(reader, range(5), meta=frame([]))
    graph = gf.Graph(edges.assign(w=1.0), **ENDS, weight="w")
    asked = [graph.bfs([0]), graph.sssp([0]), graph.pagerank(), graph.degrees()]
    farthest = asked[0]["distance"].max()
    assert (reader.read, builds) == ([], [])
    assert farthest.compute(scheduler="sync") == 5
    assert sorted(reader.read) == list(range(5))


def test_calls_that_are_computed_together_build_the_graph_once(builds):
    graph = gf.Graph(partitioned(frame(SMALL["rmat"]), 3), **ENDS)
    computed(graph.bfs([graph_id()]), graph.degrees(), graph.pagerank())
    assert len(builds) == 1


def graph_id():
    return SMALL["rmat"][0][0]


def test_different_calls_are_distinguished_in_one_computation():
    edges = partitioned(frame([(0, 1), (1, 2), (1, 2)]), 3)
    graphs = [
        gf.Graph(edges, **ENDS, directed=directed, multi=multi)
        for directed in (True, False)
        for multi in ("keep", "first")
    ]
    searches = [g.bfs([u], depth_limit=n) for g in graphs for u in (1, 2) for n in (1, 2)]
    degrees = [g.degrees() for g in graphs]
    found = computed(*searches, *degrees)
    assert [len(one) for one in found[:16]] == [2, 2, 1, 1] * 2 + [3, 3, 2, 3] * 2
    assert [one.iloc[2, 1] for one in found[16:]] == [2, 1, 2, 1]


def test_a_persisted_graph_is_not_built_again(builds):
    graph = gf.Graph(partitioned(frame(SMALL["rmat"]), 3), **ENDS)
    kept = graph.persist()
    assert len(builds) == 1
    found = kept.bfs([graph_id()]).compute()
    assert kept.num_edges == len(SMALL["rmat"])
    assert kept.num_vertices == len(kept.degrees().compute())
    assert len(builds) == 1
    pd.testing.assert_frame_equal(graph.bfs([graph_id()]).compute(), found)
    assert len(builds) == 2


@pytest.mark.parametrize(("partitions", "shards"), [(1, 1), (20, 1), (4, 2)])
def test_the_number_of_tasks_depends_on_partitions_and_shards_alone(partitions, shards):
    def tasks(edges):
        edges = partitioned(edges.assign(w=1), partitions)
        graph = gf.Graph(edges, **ENDS, weight="w", shards=shards)
        asked = graph.bfs([0]), graph.sssp([0]), graph.pagerank()
        return [len(result.optimize().__dask_graph__()) for result in asked]

    few = tasks(frame([(0, 1)]))
    assert few == tasks(frame([(i, i + 1) for i in range(5000)]))
    # One task per partition reads it. Four more list the partitions, build the graph, compute, and divide.
    parts = -(-partitions // 8)
    assert shards > 1 or max(few) <= partitions + 3 + (parts if parts > 1 else 0)


@pytest.mark.parametrize("weight", [None, "w"])
def test_parquet_reads_only_the_columns_it_needs(tmp_path, monkeypatch, weight):
    read = []

    def noted(frame, partition, columns, plan):
        read.append(set(frame.columns))
        return read_edges(frame, partition, columns, plan)

    monkeypatch.setattr("dask_graphflow.calls.shards.read_edges", noted)
    pairs = frame([(1, 2), (2, 3)]).assign(w=1.0, name="x", other=3)
    pairs.to_parquet(tmp_path / "pairs.parquet")
    edges = dd.read_parquet(tmp_path / "pairs.parquet")
    found = gf.Graph(edges, **ENDS, weight=weight).bfs([1])
    assert found.compute()["distance"].tolist() == [0, 1, 2]
    assert read == [{"a", "b"} | ({"w"} if weight else set())]


def test_the_result_stays_in_the_pipeline(scheduler):
    edges = partitioned(frame(SMALL["rmat"]), 20)
    reached = gf.bfs(edges[edges["a"] != edges["b"]], **ENDS, sources=[graph_id()])
    ranked = gf.pagerank(edges, **ENDS)
    joined = ranked.merge(reached[reached["distance"] <= 2], on="vertex")
    found = joined.groupby("distance")["pagerank"].sum().compute()
    near = reached.compute()
    near = near[near["distance"] <= 2].merge(ranked.compute(), on="vertex")
    wanted = near.groupby("distance")["pagerank"].sum()
    assert len(wanted) == 3
    pd.testing.assert_series_equal(to_host(found).sort_index(), wanted)


# Edited inputs


def edited_in_place(given):
    """Change an input in each way that does not make a new object."""
    if isinstance(given, pd.DataFrame):
        given.iloc[0, 0] = given.iloc[-1, 0]
        given.loc[:, given.columns[-1]] = given.iloc[0, -1]
        given[given.columns[0]] = given[given.columns[0]].iloc[-1]
        del given[given.columns[-1]]
        given.columns = [f"new {name}" for name in given.columns]
    elif isinstance(given, dict):
        given[next(iter(given))] = list(given.values())[-1]
    else:
        first = given.iloc if isinstance(given, pd.Series) else given
        first[0] = first[len(given) - 1]


def edges_to_edit(dtype="int64"):
    return frame([(0, 1), (0, 2), (1, 2), (3, 4)], dtype).assign(w=[1.0, 2.0, 3.0, 4.0])


def to_ask():
    return gf.Graph(edges_to_edit(), **ENDS, weight="w")


IDS = {
    "list": lambda: [0, 3],
    "array": lambda: np.array([0, 3]),
    "series": lambda: pd.Series([0, 3]),
    "frame": lambda: pd.DataFrame({"id": [0, 3]}),
}
EDITED = {
    "edges": (edges_to_edit, lambda e: gf.Graph(e, **ENDS, weight="w").sssp([0])),
    "text": (lambda: edges_to_edit("str"), lambda e: gf.core_number(e, **ENDS)),
    "streamed": (edges_to_edit, lambda e: gf.connected_components(e, **ENDS)),
    "vertices": (IDS["series"], lambda v: gf.degrees(edges_to_edit(), **ENDS, vertices=v)),
    **{f"sources, {kind}": (make, lambda v: to_ask().bfs(v)) for kind, make in IDS.items()},
    "weights, dict": (lambda: {0: 1.0, 3: 2.0}, lambda v: to_ask().pagerank(personalization=v)),
    "weights, series": (
        lambda: pd.Series({0: 1.0, 3: 2.0}),
        lambda v: to_ask().pagerank(nstart=v, max_iter=2, tol=None),
    ),
    "weights, frame": (
        lambda: pd.DataFrame({"id": [0, 3], "p": [1.0, 2.0]}),
        lambda v: to_ask().pagerank(dangling=v),
    ),
    "pairs": (
        lambda: pd.DataFrame({"a": [0, 1], "b": [3, 2]}),
        lambda v: to_ask().similarity(pairs=v),
    ),
    "communities": (
        lambda: to_ask().louvain().compute(),
        lambda v: to_ask().community_metrics(communities=v),
    ),
    "result": (
        lambda: to_ask().bfs([0, 3]).compute(),
        lambda v: gf.shortest_paths(v, targets=[2]),
    ),
    "start": (
        lambda: pd.DataFrame({"vertex": [0, 3], "width": [5.0, 6.0]}),
        lambda v: to_ask().run(WIDEST, columns={"width": 0.0}, start=v),
    ),
    "step": (
        lambda: {"x": "x + y", "y": "2 * x"},
        lambda v: to_ask().run([v], columns={"x": 1.0, "y": 3.0}, max_iter=2),
    ),
}
WIDEST = gf.EdgeOp("widest", target="width", signal="min(width[src], weight)", slot="max")


@pytest.mark.usefixtures("host_memory")  # cuDF writes in place into columns that two frames share
@pytest.mark.parametrize("what", EDITED)
def test_an_input_that_is_edited_after_the_call_changes_nothing(what):
    make, ask = EDITED[what]
    given = make()
    lazy, wanted = ask(given), ask(make()).compute()
    edited_in_place(given)
    pd.testing.assert_frame_equal(lazy.compute(), wanted)


@pytest.mark.parametrize("call", [gf.core_number, gf.connected_components])
def test_a_column_that_is_replaced_after_the_call_changes_nothing(call):
    edges = on_backend(edges_to_edit())
    lazy, wanted = on_backend(call(edges, **ENDS)), to_host(call(edges, **ENDS).compute())
    edges["b"] = 0
    pd.testing.assert_frame_equal(to_host(lazy.compute()), wanted)


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))]
)
def test_a_lazy_graph_can_be_copied_after_a_call(copied):
    g = gf.Graph(on_backend(frame([(1, 2), (2, 3)])), **ENDS)
    wanted = to_host(g.degrees().compute())
    pd.testing.assert_frame_equal(to_host(copied(g).degrees().compute()), wanted)


def test_a_persisted_graph_does_not_keep_its_edges_after_a_call():
    edges = frame([(1, 2), (2, 3)])
    g = gf.Graph(edges, **ENDS)
    g.degrees()
    kept = g.persist()
    reads = weakref.ref(g._shards._building)
    del g
    gc.collect()
    assert reads() is None
    assert kept.num_edges == 2
