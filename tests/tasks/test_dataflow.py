"""The task graph: lazy, of constant size, columns pruned, edges read and released one by one."""

from __future__ import annotations

import gc
import weakref

import dask
import dask.dataframe as dd
import pandas as pd
import pytest
from conftest import ENDS, Reader, as_dict, frame, on_backend, oracle, partitioned, to_host

import dask_graphflow as gf
from dask_graphflow.calls.components.connected_components import Components
from dask_graphflow.tasks import placement

pytestmark = pytest.mark.usefixtures("backend")


def graph_of(labels):
    return labels.optimize().__dask_graph__()


def stages(labels):
    """Count the tasks of a result's graph by stage."""
    counts = {}
    for key in graph_of(labels):
        stage = str(key[0] if isinstance(key, tuple) else key).rpartition("-")[0]
        stage = stage.removeprefix("graphflow-")
        counts[stage] = counts.get(stage, 0) + 1
    return counts


@pytest.mark.parametrize("threads", [2, 9])
@pytest.mark.parametrize("kind", ["dense", "far apart", "text", "said to be dense"])
def test_a_member_writes_its_range_in_equal_parts(rng, kind, threads):
    pairs = rng.integers(0, 3000, (2000, 2)) * (10**12 if kind == "far apart" else 1)
    edges = frame(pairs.tolist()).astype("str" if kind == "text" else "int64")
    with dask.config.set(scheduler="threads", num_workers=threads):
        labels = gf.connected_components(
            partitioned(edges, 100), **ENDS, renumber=kind != "said to be dense"
        )
        parts = [to_host(part) for part in dask.compute(*labels.to_delayed())]
        sizes = list(map(len, parts))
        assert len(labels.partitions[-1].compute()) == sizes[-1]  # by itself too
    whole = pd.concat(parts)
    assert len(sizes) == 12
    if kind in ("far apart", "text"):
        assert max(sizes) - min(sizes) <= 1
    assert whole["vertex"].is_monotonic_increasing
    assert as_dict(whole) == oracle(zip(edges["a"], edges["b"], strict=True))


def test_nothing_is_read_before_compute():
    reader = Reader([frame([(i, i + 1)]) for i in range(5)])
    edges = dd.from_map(reader, range(5), meta=frame([]))
    labels = gf.connected_components(edges, **ENDS)
    big = labels.groupby("component").size()
    assert reader.read == []
    assert to_host(big.compute(scheduler="sync")).tolist() == [6]
    assert sorted(reader.read) == list(range(5))


def test_the_meta_has_the_columns_and_dtypes_of_the_result():
    edges = partitioned(frame([(3, 1)], "int32"), 3)
    labels = gf.connected_components(edges, **ENDS)
    assert list(labels.columns) == ["vertex", "component"]
    assert (labels.dtypes == "int32").all()
    for part in labels.partitions:
        pd.testing.assert_series_equal(part.compute().dtypes, labels.dtypes)


@pytest.mark.parametrize("ids", [int, str])
def test_the_number_of_tasks_depends_on_the_partitions_alone(ids):
    few = frame([(ids(1), ids(2))], None)
    # This would take many rounds, if there were rounds.
    path = frame([(ids(i), ids(i + 1)) for i in range(5000)], None)
    assert stages(gf.connected_components(partitioned(few, 9), **ENDS)) == stages(
        gf.connected_components(partitioned(path, 9), **ENDS)
    )


def test_each_chunk_is_hooked_once_and_one_process_has_one_member():
    edges = partitioned(frame([(i, i + 1) for i in range(100)]), 12)
    with dask.config.set(num_workers=3):
        labels = gf.connected_components(edges, **ENDS)
    counts = stages(labels)
    assert counts["hook-first"] == 3
    assert counts["hook"] == 9
    assert counts["components"] == 1
    assert not labels.expr.frame.operand("merges")


@pytest.mark.parametrize(
    ("merge", "expected"),
    [
        ("tree", [(1, 0), (3, 2), (5, 4), (7, 6), (2, 0), (6, 4), (4, 0)]),
        ("one-way", [(i, 0) for i in range(1, 8)]),
        ("ring", [(i, i - 1) for i in range(7, 0, -1)]),
    ],
)
def test_the_forests_of_eight_workers_are_merged_as_planned(merge, expected, monkeypatch):
    slots = placement.slots_of({f"tcp://{i}": 2 for i in range(8)})
    monkeypatch.setattr(
        placement, "look", lambda keys, _: placement.Look(slots, [None] * len(keys), set())
    )
    edges = partitioned(frame([(i, i + 1) for i in range(100)]), 64)
    labels = gf.connected_components(edges, **ENDS, merge=merge)
    assert labels.expr.frame.operand("merges") == expected
    assert stages(labels)["components-gang"] == 8


def test_reading_is_part_of_the_hook():
    edges = partitioned(frame([(i, i + 1) for i in range(50)]), 10)
    edges = edges[edges["a"] != 20].assign(c=1)
    counts = stages(gf.connected_components(edges, **ENDS))
    assert counts.keys() <= {"start", "hook-first", "hook", "ready", "components", "part"}
    assert counts["hook"] + counts["hook-first"] == 10


@pytest.mark.usefixtures("host_memory")  # frames that are taken to cuDF hide their reader
@pytest.mark.parametrize("threshold", [None, 0.5])
def test_parquet_reads_only_the_columns_it_needs(tmp_path, threshold):
    pairs = frame([(1, 2), (2, 3), (4, 5)]).assign(w=1.0, name="x", other=3)
    pairs.to_parquet(tmp_path / "pairs.parquet")
    edges = dd.read_parquet(tmp_path / "pairs.parquet")
    options = {} if threshold is None else {"weight": "w", "threshold": threshold}
    labels = gf.connected_components(edges, **ENDS, **options)
    read = [
        set(node.operand("columns"))
        for node in labels.expr.simplify().walk()
        if "ReadParquet" in type(node).__name__
    ]
    assert read == [{"a", "b"} | ({"w"} if options else set())]
    assert as_dict(labels.compute()) == oracle([(1, 2), (2, 3), (4, 5)])


def beside_what_is_not_read(frame):
    return frame.assign(p=0.5, note="of no use here", again="nor this")


@pytest.mark.parametrize("make", ["plain", "arrow", "filtered", "concat", "merge", "shuffled"])
def test_small_files_are_put_together_by_dask(rng, tmp_path, make):
    pairs = pd.DataFrame(rng.integers(0, 900, (1200, 2)), columns=["a", "b"])
    folder = tmp_path / "pairs"
    dd.from_pandas(beside_what_is_not_read(pairs), npartitions=9).to_parquet(folder)
    edges = dd.read_parquet(folder, filesystem="arrow" if make == "arrow" else None)
    if make == "filtered":
        edges, pairs = edges[edges.a > 100], pairs[pairs.a > 100]
    elif make == "concat":
        edges = dd.concat([edges, dd.read_parquet(folder)[["b", "a"]]])
    elif make == "merge":
        edges = edges.merge(dd.from_pandas(pd.DataFrame({"a": range(900)}), npartitions=2), on="a")
    elif make == "shuffled":
        edges = edges.shuffle("a")
    wanted = gf.connected_components(pairs, source="a", target="b").compute()
    labels = gf.connected_components(edges, source="a", target="b", vertices=edges.b)
    found = labels.compute().reset_index(drop=True)
    pd.testing.assert_frame_equal(found, wanted.reset_index(drop=True))
    hops = gf.Graph(edges, source="a", target="b", shards=3, directed=False).bfs(
        sources=[pairs.a.max()]
    )
    once = gf.bfs(pairs, source="a", target="b", directed=False, sources=[pairs.a.max()]).compute()
    pd.testing.assert_frame_equal(
        hops.compute().reset_index(drop=True), once.reset_index(drop=True)
    )


def test_a_chain_passes_its_forest_on_in_place(monkeypatch):
    seen = {}
    plain = Components.hook

    def spy(self, chain, part, *place):
        result = plain(self, chain, part, *place)
        seen.setdefault(id(result), []).append(len(part))
        return result

    monkeypatch.setattr(Components, "hook", spy)
    edges = partitioned(frame([(i, i + 1) for i in range(40)]), 8)
    with dask.config.set(num_workers=1):
        labels = gf.connected_components(edges, **ENDS)
    labels.compute(scheduler="sync")
    assert list(seen.values()) == [[5] * 8]


@pytest.mark.slow
def test_a_partition_is_released_once_it_is_hooked():
    alive, most = set(), []

    class Part(pd.DataFrame):
        pass

    def read(i):
        gc.collect()
        part = on_backend(Part(frame([(i, i + 1)])))
        alive.add(i)
        weakref.finalize(part, alive.discard, i)
        most.append(len(alive))
        return part

    edges = dd.from_map(read, range(12), meta=on_backend(frame([])))
    with dask.config.set(num_workers=1):
        labels = gf.connected_components(edges, **ENDS)
    labels.compute(scheduler="sync")
    assert len(most) == 12
    assert max(most) <= 2


def test_the_result_stays_in_the_pipeline(tmp_path):
    """Entity resolution: pairs from a matcher to one id a person, in one lazy graph."""
    pairs = pd.DataFrame(
        {"id_l": ["a", "c", "e"], "id_r": ["b", "d", "a"], "match_probability": [0.99, 0.5, 0.97]}
    )
    crm = dd.from_pandas(
        pd.DataFrame({"id": list("abcdef"), "name": list("ABCDEF")}), npartitions=2
    )
    pairs = dd.from_pandas(pairs, npartitions=2)
    clusters = gf.connected_components(
        pairs[pairs.match_probability >= 0.95], source="id_l", target="id_r", vertices=crm["id"]
    )
    golden = (
        on_backend(crm)
        .merge(on_backend(clusters), left_on="id", right_on="vertex")
        .groupby("component")
        .agg({"name": "count"})
    )
    assert to_host(golden.compute())["name"].to_dict() == {"a": 3, "c": 1, "d": 1, "f": 1}
