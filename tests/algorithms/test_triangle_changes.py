"""Triangles and clustering coefficients after updates: the bits of a computation from scratch."""

from __future__ import annotations

import itertools
import logging
import sys

import numpy as np
import pandas as pd
import pytest
from conftest import partitioned

import dask_graphflow as gf
from dask_graphflow import algorithms
from dask_graphflow.graph import partition

pytestmark = pytest.mark.usefixtures("host_memory")

FUNCTIONS = ("triangle_count", "clustering")
CHANGED_EDGES = "dask_graphflow.operators.intersect.changed_edges"


@pytest.fixture(autouse=True)
def fine(monkeypatch):
    monkeypatch.setattr(partition, "GRAIN", 16)  # several members have vertices


def results(graph, earlier=None):
    return {
        name: getattr(graph, name)(previous=earlier and earlier[name]).compute()
        for name in FUNCTIONS
    }


def check(found, expected):
    for name in FUNCTIONS:
        pd.testing.assert_frame_equal(found[name], expected[name], check_exact=True)


def draw(rng, count, reach):
    """Return random edges. Some are loops, and some are there several times, in both directions."""
    edges = pd.DataFrame(rng.integers(0, reach, (count, 2)), columns=["a", "b"])
    return pd.concat([edges, edges[: count // 4].rename(columns={"a": "b", "b": "a"})])


@pytest.mark.parametrize("members", [1, 2, 3])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("multi", ["keep", "first"])
@pytest.mark.parametrize(("ids", "kind"), [(int, "int64"), ("vertex {}".format, "str")])
def test_a_chain_of_updates_gives_the_results_from_scratch(
    members, directed, multi, ids, kind, monkeypatch
):
    rng = np.random.default_rng(members)
    reach, table = 60, draw(rng, 300, 60)
    edges = partitioned(table.apply(lambda ends: ends.map(ids)), 3)
    how = {"source": "a", "target": "b", "directed": directed, "multi": multi, "shards": members}
    graph = gf.Graph(edges, **how).persist()
    now = results(graph)
    for step in range(20):
        reach += step % 3  # new vertices come in between and behind the others
        new = draw(rng, (step % 4) * 2, reach)
        gone = table.iloc[rng.integers(0, len(table), 3 - step % 4 if step % 4 < 3 else 0)]
        if step % 5 == 0:  # the same edges in both frames
            new = pd.concat([new, gone])
        table = new if not len(table) else pd.concat([table, new])
        batch = {
            name: one.apply(lambda ends: ends.map(ids)).astype(kind)
            for name, one in (("insert", new), ("delete", gone))
        }
        graph = graph.update(**batch, missing="ignore").persist()
        with monkeypatch.context() as patch:
            for name in FUNCTIONS[: 1 if directed else 2]:
                module = sys.modules[f"{algorithms.__name__}.{name}"]
                patch.setattr(module, "count_triangles", None)
            now = results(graph, now)
        check(now, results(graph))
    assert now["triangle_count"].triangles.sum() > 100


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("directed", [False, True])
def test_every_triangle_of_a_small_graph_comes_and_goes(members, directed, caplog):
    caplog.set_level(logging.DEBUG, CHANGED_EDGES)
    pairs = list(itertools.permutations(range(5), 2))
    rng, vertices = np.random.default_rng(5), {"vertices": range(5)}
    # So many edges that the changed ones are few.
    path = pd.DataFrame({"a": range(100, 300), "b": range(101, 301)})
    for _ in range(12):
        sides = [
            pd.DataFrame([pair for pair in pairs if rng.random() < 0.4], columns=["a", "b"])
            for _ in range(2)
        ]
        edges = partitioned(pd.concat([sides[0], path]), 3)
        how = {"source": "a", "target": "b", "directed": directed, "shards": members}
        before = gf.Graph(edges, **how, **vertices)
        after = before.update(delete=sides[0], insert=sides[1])
        found = results(after, results(before))
        assert "All triangles are counted" not in caplog.text
        check(found, results(after))


@pytest.mark.parametrize("members", [1, 2])
def test_a_large_batch_is_counted_from_scratch(members, caplog):
    rng = np.random.default_rng(1)
    how = {"source": "a", "target": "b", "directed": False, "shards": members}
    graph = gf.Graph(partitioned(draw(rng, 400, 50), 3), **how)
    new = graph.update(insert=draw(rng, 4000, 50))
    caplog.set_level(logging.DEBUG, CHANGED_EDGES)
    found = results(new, results(graph))
    assert "All triangles are counted" in caplog.text
    check(found, results(new))


def test_rows_of_other_members_have_to_fit(monkeypatch, caplog):
    rng = np.random.default_rng(2)
    how = {"source": "a", "target": "b", "directed": False, "shards": 3}
    graph = gf.Graph(partitioned(draw(rng, 400, 50), 3), **how)
    new = graph.update(insert=pd.DataFrame({"a": range(25), "b": range(25, 50)}))
    caplog.set_level(logging.DEBUG, CHANGED_EDGES)
    module = sys.modules[CHANGED_EDGES]
    for room, counted in ((module.ROOM, False), (0, True)):
        monkeypatch.setattr(module, "ROOM", room)
        check(results(new, results(graph)), results(new))
        assert ("All triangles are counted" in caplog.text) is counted


@pytest.mark.parametrize("members", [1, 3])
def test_edges_on_disk(members, small_files):
    rng = np.random.default_rng(3)
    how = {"source": "a", "target": "b", "directed": False, "shards": members}
    graph = gf.Graph(partitioned(draw(rng, 800, 90), 3), **how, storage="disk").persist()
    new = graph.update(insert=draw(rng, 9, 95)).persist()
    check(results(new, results(graph)), results(new))


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("directed", [False, True])
def test_a_batch_without_a_changed_edge(members, directed):
    how = {"source": "a", "target": "b", "directed": directed, "shards": members}
    edges = draw(np.random.default_rng(6), 100, 30)
    graph = gf.Graph(partitioned(edges, 3), **how)
    earlier = results(graph)
    loops = pd.DataFrame({"a": [1, 40], "b": [1, 40]})
    for batch in ({"insert": edges[:0]}, {"insert": loops}, {"insert": edges[:9]}):
        new = graph.update(**batch)
        check(results(new, earlier), results(new))
    new = graph.update(delete=edges[:9], insert=edges[:9])
    check(results(new, earlier), results(new))
