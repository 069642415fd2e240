"""Components after updates: the bits of a computation from scratch, from the components before."""

from __future__ import annotations

import logging
import sys

import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, partitioned

import dask_graphflow as gf
from dask_graphflow import algorithms
from dask_graphflow.exceptions import UsageError
from dask_graphflow.graph import partition
from dask_graphflow.operators.forests import reconnect

pytestmark = pytest.mark.usefixtures("host_memory")

IDS = {
    "integers": lambda k: k - 20,
    "integers far apart": lambda k: k * 10**12,
    "text": lambda k: f"vertex {k}",
    "days": lambda k: pd.Timestamp("2020-01-01") + pd.Timedelta(days=k),
}
SPACE = 90  # ids that may occur


@pytest.fixture(autouse=True)
def fine(monkeypatch):
    monkeypatch.setattr(partition, "GRAIN", 16)  # several members have vertices
    monkeypatch.setattr(reconnect, "MOST", 10**6)  # no search of a small graph is too long


def only_from_earlier(monkeypatch):
    """Let components be found only from earlier ones."""
    module = sys.modules[f"{algorithms.__name__}.connected_components"]
    monkeypatch.setattr(module, "find_components", None)


def named(ids, table, columns):
    """Return a table of numbers with the ids of a graph; `columns` are those of one id."""
    if columns == 1:
        return pd.DataFrame({name: [IDS[ids](int(k)) for k in table[name]] for name in "ab"})
    parts = {"a1": table.a // 7, "a2": (table.a % 7).map(str)}
    return pd.DataFrame(parts | {"b1": table.b // 7, "b2": (table.b % 7).map(str)})


def draw(rng, count):
    """Return random edges near each other, which join small components; some are loops."""
    a = rng.integers(0, SPACE, count)
    b = np.clip(a + rng.integers(-3, 4, count), 0, SPACE - 1)
    return pd.DataFrame({"a": a, "b": b})


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("ids", [*IDS, "pairs"])
def test_a_chain_of_updates_gives_the_components_from_scratch(ids, directed, members, monkeypatch):
    rng = np.random.default_rng(members)
    columns = 1 + (ids == "pairs")
    table = draw(rng, 120)
    ends = ENDS if columns == 1 else {"source": ["a1", "a2"], "target": ["b1", "b2"]}
    edges = partitioned(named(ids, table, columns), 3)
    graph = gf.Graph(edges, **ends, directed=directed, shards=members).persist()
    if directed and members == 1:
        start = graph.vertices().compute().iloc[:1]
        graph.bfs(start, direction="pull").compute()  # makes the entering rows, which updates keep
    now, split, joined = graph.connected_components().compute(), 0, 0
    for step in range(20):
        gone = table.sample(step % 4 * 2, random_state=step)
        new = draw(rng, (step % 3) * 3)
        if step % 5 == 0:  # the same pair in both frames
            new = pd.concat([new, gone[:1]])
        table = pd.concat([table.drop(gone.index), new], ignore_index=True)
        batch = {"insert": named(ids, new, columns), "delete": named(ids, gone, columns)}
        batch = {name: frame for name, frame in batch.items() if len(frame)}
        graph = graph.update(**batch, missing="ignore").persist()
        with monkeypatch.context() as patch:
            if members == 1 and "integers" in ids:
                only_from_earlier(patch)
            found = graph.connected_components(previous=now).compute()
        pd.testing.assert_frame_equal(found, graph.connected_components().compute())
        names = list(found.columns[columns:])
        before, after = (
            set(map(tuple, frame[names].to_numpy().tolist())) for frame in (now, found)
        )
        split, joined = split + len(after - before), joined + len(before - after)
        now = found
    assert split > 5
    assert joined > 5


def test_a_batch_that_splits_and_joins_the_same_components():
    edges = pd.DataFrame({"a": [0, 1, 2, 4, 5], "b": [1, 2, 3, 5, 6]})
    graph = gf.Graph(edges, **ENDS, directed=False, shards=1)
    earlier = graph.connected_components().compute()
    batch = {"delete": pd.DataFrame({"a": [0, 5], "b": [1, 6]})}
    batch["insert"] = pd.DataFrame({"a": [3, 0], "b": [6, 9]})
    found = graph.update(**batch).connected_components(previous=earlier).compute()
    assert found.vertex.tolist() == [0, 1, 2, 3, 4, 5, 6, 9]
    assert found.component.tolist() == [0, 1, 1, 1, 4, 4, 1, 0]


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ({"shards": 3}, "connected_components(previous=...) computes the result from scratch"),
        ({"directed": True}, "rows of entering edges"),
        ({}, "the searches were long"),
        ({"FEW_VERTICES": 402}, "the graph is small"),
        ({"OF_ROADS": 201}, "2 pairs of vertices were deleted"),
    ],
)
def test_components_are_found_again_if_that_is_faster(how, problem, monkeypatch, caplog):
    monkeypatch.setattr(reconnect, "MOST", 0.02)
    for limit in how.keys() & vars(reconnect).keys():
        monkeypatch.setattr(reconnect, limit, how[limit])
    table = pd.DataFrame({"a": range(400), "b": range(1, 401)})
    how = {"directed": False, "shards": 1} | {k: v for k, v in how.items() if k.islower()}
    graph = gf.Graph(partitioned(table, 3), **ENDS, **how)
    new = graph.update(delete=table[200:201])
    caplog.set_level(logging.DEBUG, "dask_graphflow")
    found = new.connected_components(previous=graph.connected_components()).compute()
    assert problem in caplog.text
    assert found.component.tolist() == [0] * 201 + [201] * 200


def test_edges_on_disk_are_read_only_after_deletes(small_files, monkeypatch):
    table = pd.DataFrame({"a": range(0, 400, 2), "b": range(1, 400, 2)})
    graph = gf.Graph(table, **ENDS, directed=False, shards=1, storage="disk")
    earlier = graph.connected_components().compute()
    new = graph.update(insert=pd.DataFrame({"a": [1, 5], "b": [2, 500]}))
    with monkeypatch.context() as patch:
        only_from_earlier(patch)
        found = new.connected_components(previous=earlier).compute()
    pd.testing.assert_frame_equal(found, new.connected_components().compute())
    last = new.update(delete=table[:1])
    found = last.connected_components(previous=found).compute()
    pd.testing.assert_frame_equal(found, last.connected_components().compute())


def test_components_with_other_ids_are_refused():
    graph = gf.Graph(pd.DataFrame({"a": [0, 3], "b": [1, 4]}), **ENDS, directed=False, shards=1)
    earlier = graph.connected_components().compute()
    new = graph.update(insert=pd.DataFrame({"a": [1], "b": [3]}))
    earlier.loc[1, "component"] = 77
    with pytest.raises(UsageError, match="has other ids in 'component'"):
        new.connected_components(previous=earlier).compute()
