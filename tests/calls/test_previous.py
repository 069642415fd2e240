"""The option `previous`: a result says which graph and call it is of, and any other one is refused."""

from __future__ import annotations

import pickle
import sys

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import partitioned
from packaging.version import Version

import dask_graphflow as gf
from dask_graphflow import algorithms
from dask_graphflow.declarations.previous import KEY
from dask_graphflow.exceptions import UsageError

ATTRS_IN_PARQUET = Version(pd.__version__) >= Version("2.1")

pytestmark = pytest.mark.usefixtures("host_memory")

PAIRS = pd.DataFrame(np.random.default_rng(3).integers(0, 60, (300, 2)), columns=["a", "b"])
NEW = pd.DataFrame({"a": [0, 1, 2, 70], "b": [5, 6, 7, 80]})
IDS = {"integers": int, "sparse integers": lambda k: int(k) * 10**12, "text": "v{}".format}


def ids_as(kind, frame):
    return frame.apply(lambda ends: ends.map(IDS[kind]))


def graph(kind="integers", shards=1, pairs=PAIRS):
    edges = partitioned(ids_as(kind, pairs), 4)
    return gf.Graph(edges, source="a", target="b", directed=False, shards=shards)


def write_by_pandas(result, folder):
    result.compute().to_parquet(folder / "one.parquet")
    return pd.read_parquet(folder / "one.parquet")


def write_parts(result, folder):
    result.to_parquet(folder / "parts")
    return folder / "parts"


WAYS = {
    "lazy": lambda result, folder: result,
    "computed": lambda result, folder: result.compute(),
    "persisted": lambda result, folder: result.persist(),
    "pickled": lambda result, folder: pickle.loads(pickle.dumps(result.compute())),
    "Parquet of pandas": write_by_pandas,
    "Parquet of Dask": lambda *given: dd.read_parquet(write_parts(*given)),
    "Parquet of Dask in pandas": lambda *given: pd.read_parquet(write_parts(*given)),
    "in another order": lambda result, folder: result.compute().sample(frac=1, random_state=1),
    "in other partitions": lambda result, folder: dd.from_pandas(
        result.compute().sample(frac=1, random_state=1), npartitions=3
    ),
}


@pytest.mark.parametrize("kind", IDS)
@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("way", WAYS)
def test_a_result_is_taken_in_every_form(kind, shards, way, tmp_path, monkeypatch):
    if "Parquet" in way and not ATTRS_IN_PARQUET:
        pytest.skip("pandas before version 2.1 does not write attrs to Parquet")
    base = graph(kind, shards)
    new = base.update(insert=ids_as(kind, NEW), delete=ids_as(kind, PAIRS[:3]))
    earlier = WAYS[way](base.triangle_count(), tmp_path)
    expected = new.triangle_count().compute()
    if way != "lazy":  # not all triangles are counted
        monkeypatch.setattr(
            sys.modules[algorithms.__name__ + ".triangle_count"], "count_triangles", None
        )
    found = new.triangle_count(previous=earlier).compute()
    pd.testing.assert_frame_equal(found, expected)
    assert found.attrs == expected.attrs


@pytest.mark.skipif(not ATTRS_IN_PARQUET, reason="pandas before version 2.1 writes no attrs")
def test_a_result_on_a_cluster_is_taken(client, tmp_path):
    base = graph("text", 2).persist()
    new = base.update(insert=ids_as("text", NEW)).persist()
    expected = new.triangle_count().compute()
    for way in WAYS.values():
        found = new.triangle_count(previous=way(base.triangle_count(), tmp_path)).compute()
        pd.testing.assert_frame_equal(found, expected)
        assert found.attrs == expected.attrs


def test_a_chain_of_updates_takes_each_result():
    now = graph()
    counts = now.triangle_count()
    for step in range(4):
        now = now.update(insert=PAIRS[step::7] + step)
        counts = now.triangle_count(previous=counts)
    pd.testing.assert_frame_equal(counts.compute(), now.triangle_count().compute())


def changed(frame, **columns):
    """Return a frame with other columns and the same attrs."""
    made = frame.assign(**columns)
    assert KEY in made.attrs
    return made


def without_attrs(frame):
    return pd.DataFrame(frame.to_dict("series"))


WRONG = {
    "rows are missing": (lambda one: one[one.triangles > 3], "rows instead of"),
    "one row is left": (lambda one: one[:1], "has 1 row instead of"),
    "a column is missing": (lambda one: one[["vertex"]], "no column 'triangles'"),
    "of another dtype": (lambda one: one.astype({"triangles": float}), "no column 'triangles'"),
    "an id twice": (lambda one: changed(one, vertex=one.vertex.iloc[0]), "other ids"),
    "unknown ids": (lambda one: changed(one, vertex=one.vertex + 1000), "other ids"),
    "no attrs": (without_attrs, "its attrs are missing"),
    "other attrs": (
        lambda one: without_attrs(one).pipe(lambda f: f.attrs.update({KEY: 1}) or f),
        "its attrs are missing",
    ),
    "another function": (lambda one: graph().clustering().compute(), "a result of clustering;"),
    "another graph": (
        lambda one: graph(pairs=PAIRS[1:]).triangle_count().compute(),
        "on another graph",
    ),
}


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("wrong", WRONG)
def test_any_other_frame_is_refused(wrong, shards):
    make, text = WRONG[wrong]
    base = graph(shards=shards)
    frame = make(base.triangle_count().compute())
    new = base.update(insert=NEW)
    for given in (frame, dd.from_pandas(frame, npartitions=2)):
        with pytest.raises(UsageError, match=text):
            new.triangle_count(previous=given).compute(scheduler="sync")


def test_a_result_of_the_updated_graph_or_of_two_updates_before_is_refused():
    base = graph()
    new = base.update(insert=NEW)
    newer = new.update(insert=PAIRS[:2] + 1)
    for one, earlier in ((new, new), (newer, base)):
        with pytest.raises(UsageError, match="on another graph"):
            one.triangle_count(previous=earlier.triangle_count().compute())


@pytest.mark.parametrize("change", [gf.Graph.persist, gf.Graph.reverse])
def test_a_graph_that_no_update_made_has_no_earlier_version(change):
    base = change(graph())
    with pytest.raises(UsageError, match=r"update\(\) did not make"):
        base.triangle_count(previous=base.triangle_count().compute())


def test_a_frame_is_refused_at_the_call_if_it_is_in_memory():
    with pytest.raises(UsageError):
        graph().update(insert=NEW).triangle_count(previous=pd.DataFrame({"vertex": [0]}))


def version(one):
    return one._shards.version


def test_equal_graphs_have_equal_versions_and_others_do_not(tmp_path):
    PAIRS.assign(w=1.0).to_parquet(tmp_path / "edges.parquet")
    ends = {"source": "a", "target": "b"}

    def read(**options):
        return gf.Graph(dd.read_parquet(tmp_path / "edges.parquet"), **{**ends, **options})

    assert version(read()) == version(read()) == version(read(shards=2))
    assert (
        version(read()) == version(read().persist()) == version(pickle.loads(pickle.dumps(read())))
    )
    others = [{"source": "b", "target": "a"}, {"directed": False}, {"multi": "first"}]
    others += [{"weight": "w"}, {"vertices": [100]}, {"dropna": True}]
    graphs = [read(), read().reverse(), *(read(**options) for options in others)]
    batches = [{"insert": NEW}, {"delete": NEW}, {"insert": NEW, "missing": "ignore"}]
    graphs += [read().update(**batch) for batch in batches]
    assert len({version(one) for one in graphs}) == len(graphs)


def test_a_saved_graph_has_the_version_of_the_graph_that_was_saved(tmp_path):
    base = graph().persist()
    counts = base.triangle_count().compute()
    base.save(tmp_path / "graph")
    new = gf.load_graph(tmp_path / "graph", shards=1).update(insert=NEW)
    found = new.triangle_count(previous=counts).compute()
    pd.testing.assert_frame_equal(found, new.triangle_count().compute())
    graph(pairs=PAIRS[1:]).save(tmp_path / "other")
    with pytest.raises(UsageError, match="on another graph"):
        gf.load_graph(tmp_path / "other").update(insert=NEW).triangle_count(previous=counts)


def test_only_results_that_a_later_call_takes_have_attrs():
    with dask.config.set(scheduler="sync"):
        assert graph().degrees().compute().attrs == {}
        assert [*graph().triangle_count().compute().attrs] == [KEY]
