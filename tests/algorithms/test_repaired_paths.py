"""BFS and shortest paths after updates: with an earlier result, they return the same bits as without."""

from __future__ import annotations

import decimal
import logging

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import ENDS, partitioned
from shapes import traced

import dask_graphflow as gf
from dask_graphflow.algorithms import by_source
from dask_graphflow.exceptions import UsageError, WeightError
from dask_graphflow.graph import partition
from dask_graphflow.operators.search import repair

pytestmark = pytest.mark.usefixtures("host_memory")

DIRECTED = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
SPACE = 300  # ids that may occur
IDS = {
    "integers": lambda k: k + 10**6,
    "sparse integers": lambda k: k * 10**12 - 5 * 10**13,
    "text": lambda k: "v" + k.astype("str"),
}
WEIGHTS = {
    "whole": lambda rng, count: rng.integers(1, 5, count),
    "rounded": lambda rng, count: rng.integers(1, 6, count) / 3,
    "zeros": lambda rng, count: np.where(rng.random(count) < 0.6, 0.0, 1.5),
    "infinite": lambda rng, count: np.where(rng.random(count) < 0.3, np.inf, 1.0),
}
CALLS = {
    "bfs": lambda g, start, **options: g.bfs(start, **options),
    "bfs to a depth": lambda g, start, **options: g.bfs(start, depth_limit=3, **options),
    "sssp": lambda g, start, **options: g.sssp(start, **options),
    "sssp to a cutoff": lambda g, start, **options: g.sssp(start, cutoff=3.5, **options),
}
LEFT_OUT = {
    "targets": lambda g, start, **options: g.bfs(start, targets=start, **options),
    "sources": lambda g, start, **options: g.sssp(start, by_source=True, **options),
}


@pytest.fixture(autouse=True)
def fine(monkeypatch):
    monkeypatch.setattr(partition, "GRAIN", 64)


@pytest.fixture
def repairs(monkeypatch):
    """Return a list to which each repair adds whether it was complete."""
    done, original = [], by_source.repair_paths

    def noting(*given):
        found = original(*given)
        done.append(found is not None)
        return found

    monkeypatch.setattr(by_source, "repair_paths", noting)
    monkeypatch.setattr(repair, "LEAST", 1 << 20)
    return done


def draw(rng, kind, ids, reach, count):
    """Return edges between the ids up to `reach`, near each other, with self-loops and parallel edges."""
    one = rng.integers(0, reach, count)
    other = np.where(
        rng.random(count) < 0.1, rng.integers(0, reach, count), one + rng.integers(0, 4, count)
    )
    edges = pd.DataFrame({"a": one, "b": other})
    return pd.DataFrame({name: IDS[ids](edges[name]) for name in edges}).assign(
        w=WEIGHTS[kind](rng, count)
    )


def batches(rng, kind, ids, count):
    """Return the first edges, and updates that bring in new vertices, as options of `update`."""
    edges = first = draw(rng, kind, ids, SPACE // 2, 2 * SPACE)
    updates = []
    for at in range(count):
        gone = edges.sample(int(rng.integers(0, 25)), random_state=at)[["a", "b"]]
        # Some of the pairs are deleted and inserted again.
        again = gone.head(5).assign(w=WEIGHTS[kind](rng, len(gone.head(5))))
        new = draw(rng, kind, ids, SPACE // 2 + 8 * at, int(rng.integers(0, 25)))
        updates.append({"insert": pd.concat([new, again]), "delete": gone})
        key = edges["a"].astype("str") + " " + edges["b"].astype("str")
        back = edges["b"].astype("str") + " " + edges["a"].astype("str")
        names = gone["a"].astype("str") + " " + gone["b"].astype("str")
        edges = pd.concat([edges[~(key.isin(names) | back.isin(names))], new, again])
    return first, [*updates, {}]


@DIRECTED
@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("multi", ["keep", "sum", "min", "first"])
@pytest.mark.parametrize("members", [1, 3])
def test_a_chain_of_updates_has_the_results_of_calls_from_scratch(
    repairs, directed, ids, kind, multi, members
):
    first, updates = batches(np.random.default_rng(4), kind, ids, 20 if members == 1 else 4)
    options = {"weight": "w", "directed": directed, "multi": multi, "shards": members}
    g = gf.Graph(partitioned(first, members), **ENDS, **options).persist()
    start = first["a"].iloc[:2].tolist()
    results = {name: call(g, start).compute() for name, call in CALLS.items()}
    for update in updates:
        g = g.update(**update, missing="ignore").persist()
        for name, call in CALLS.items():
            wanted = call(g, start).compute()
            results[name] = call(g, start, previous=results[name]).compute()
            pd.testing.assert_frame_equal(results[name], wanted)
            assert results[name].attrs == wanted.attrs
    assert len(results["bfs"]) > SPACE // 3
    assert repairs == [True] * len(CALLS) * len(updates) * (members == 1)


OTHER_IDS = {
    "times": lambda k: [pd.Timestamp("2020-01-01") + pd.Timedelta(seconds=k)],
    "bytes": lambda k: [f"{k % 7}{k}".encode()],
    "decimals": lambda k: [decimal.Decimal(k) / 4],
    "pairs": lambda k: [k // 7, f"v{k % 7}"],
}
ARROW = {"bytes": pd.ArrowDtype(pa.binary()), "decimals": pd.ArrowDtype(pa.decimal128(9, 2))}


@pytest.mark.parametrize("ids", OTHER_IDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_ids_of_other_types_and_of_several_columns(repairs, ids, weighted):
    name = OTHER_IDS[ids]
    ends = {"source": ["a", "a2"], "target": ["b", "b2"]} if len(name(0)) > 1 else ENDS

    def named(edges):
        columns = {}
        for end in "ab":
            parts = zip(*map(name, edges[end]), strict=True)
            columns |= dict(zip((end, f"{end}2"), map(list, parts), strict=False))
        if ids in ARROW:
            columns = {end: pd.array(column, ARROW[ids]) for end, column in columns.items()}
        return pd.DataFrame(columns | {"w": edges["w"].tolist()})

    first, updates = batches(np.random.default_rng(5), "whole", "integers", 4)
    weight = "w" if weighted else None
    g = gf.Graph(named(first), **ends, weight=weight, directed=False, shards=1).persist()
    call, start = CALLS["sssp" if weighted else "bfs"], g.vertices().compute().iloc[:1]
    result = call(g, start).compute()
    for update in updates:
        update = {
            key: named(frame.assign(w=0)).drop(columns="w" if key == "delete" else [])
            for key, frame in update.items()
            if len(frame)
        }
        g = g.update(**update, missing="ignore").persist()
        result = call(g, start, previous=result).compute()
        pd.testing.assert_frame_equal(result, call(g, start).compute())
    assert repairs == [True] * len(updates)


@pytest.fixture
def roads():
    """Return a graph of a long road, and a version with a shortcut near its end."""
    road = pd.DataFrame({"a": range(5000), "b": range(1, 5001)}).assign(w=1.0)
    g = gf.Graph(road, **ENDS, weight="w", directed=False, shards=1).persist()
    return g, g.update(insert=pd.DataFrame({"a": [4980], "b": [4990], "w": [2.0]})).persist()


@pytest.mark.parametrize("name", ["bfs", "sssp"])
def test_a_repair_reads_the_rows_of_what_changes(roads, name):
    g, new = roads
    call = CALLS[name]
    for start, few in ([0], True), ([5000], False):
        previous = call(g, start).compute()
        found, steps = traced(call(new, start, trace=True, previous=previous))
        pd.testing.assert_frame_equal(found, call(new, start).compute())
        # If nearly all vertices come nearer, a repair gives up, and a search reads all rows.
        assert (steps["edges"].sum() < 200) == few


@pytest.mark.parametrize("name", LEFT_OUT)
def test_targets_and_each_source_are_searched_from_scratch(roads, repairs, caplog, name):
    g, new = roads
    call, start = LEFT_OUT[name], [0, 7]
    with caplog.at_level(logging.DEBUG, logger="dask_graphflow"):
        found = call(new, start, previous=call(g, start).compute()).compute()
    pd.testing.assert_frame_equal(found, call(new, start).compute())
    assert not repairs
    assert "from scratch" in caplog.text


@pytest.mark.parametrize(
    ("limit", "followed"), [("FEW", ["sssp"]), ("VERTICES", ["sssp"]), ("OF_ROADS", ["bfs"])]
)
def test_searches_do_not_follow_small_results_and_many_changes(
    roads, repairs, monkeypatch, limit, followed
):
    monkeypatch.setattr(repair, limit, 1 << 20)
    g, new = roads
    for name in ("bfs", "sssp"):
        call = CALLS[name]
        found = call(new, [0], previous=call(g, [0]).compute()).compute()
        pd.testing.assert_frame_equal(found, call(new, [0]).compute())
        assert repairs == [True] * (name in followed)
        repairs.clear()


def test_a_negative_weight_of_a_new_edge_is_found(roads):
    g, _ = roads
    earlier = g.sssp([0]).compute()
    new = g.update(insert=pd.DataFrame({"a": [7], "b": [8], "w": [-1.0]}))
    with pytest.raises(WeightError, match="negative"):
        new.sssp([0], previous=earlier).compute()


def test_another_cutoff_or_source_is_refused(roads):
    g, new = roads
    for options in ({"sources": [1]}, {"sources": [0], "cutoff": 3}):
        with pytest.raises(UsageError, match="with other options"):
            new.sssp([0], previous=g.sssp(**options).compute())
