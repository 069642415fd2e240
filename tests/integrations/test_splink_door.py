"""`integrations.splink.clusters` beside Splink's own clusters, on its own predictions."""

from __future__ import annotations

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import dask_graphflow as gf

pytest.importorskip("splink")

import duckdb
import splink.comparison_library as cl
from splink import DuckDBAPI, Linker, SettingsCreator, block_on
from splink.clustering import cluster_pairwise_predictions_at_threshold

clusters = gf.integrations.splink.clusters
THRESHOLDS = [0.05, 0.2, 0.5, 0.9]
pytestmark = pytest.mark.filterwarnings("ignore")  # those of the real libraries


@pytest.fixture(scope="module")
def people():
    """Return records of made-up people, some of them twice and mistyped."""
    rng = np.random.default_rng(1)
    people = pd.DataFrame(
        {
            "name": rng.choice(["ada", "boris", "chloe", "david"], 200),
            "town": rng.choice(["aarhus", "bergen", "cork"], 200),
            "born": rng.integers(1930, 2000, 200).astype(str),
            "email": [f"{number}@mail.example" for number in rng.permutation(200)],
        }
    )
    records = people.loc[people.index.repeat(rng.integers(1, 4, 200))].reset_index(drop=True)
    for column in ("name", "born", "email"):
        records.loc[rng.random(len(records)) < 0.1, column] += "x"
        records.loc[rng.random(len(records)) < 0.1, column] = None
    records.insert(0, "unique_id", [f"r{number:03}" for number in range(len(records))])
    return records


def predicted(records, link_type="dedupe_only", unique_id="unique_id"):
    """Return a database, its records and Splink's predictions."""
    settings = SettingsCreator(
        link_type=link_type,
        unique_id_column_name=unique_id,
        blocking_rules_to_generate_predictions=[block_on("email"), block_on("born")],
        comparisons=[cl.ExactMatch(column) for column in ("name", "town", "born", "email")],
    )
    database = DuckDBAPI()
    tables = [database.register(one) for one in records]
    linker = Linker(tables if len(tables) > 1 else tables[0], settings, log_level=None)
    linker.training.estimate_u_using_random_sampling(max_pairs=10_000, seed=1)
    for rule in (block_on("born"), block_on("email")):
        linker.training.estimate_parameters_using_expectation_maximisation(rule)
    return database, tables, linker.inference.predict(threshold_match_probability=0.01)


@pytest.fixture(scope="module")
def one_table(people):
    return predicted([people])


def grouping(ids, groups):
    """Return the members of each group."""
    return {frozenset(part) for _, part in pd.Series([*ids]).groupby([*groups])}


def test_the_clusters_are_those_of_splink_at_each_threshold(one_table):
    database, (records,), predictions = one_table
    found = clusters(predictions, THRESHOLDS, records=records).labels.compute()
    assert [*found] == ["unique_id", *(f"cluster_id_{one:g}" for one in THRESHOLDS)]
    for threshold in THRESHOLDS:
        theirs = cluster_pairwise_predictions_at_threshold(
            nodes=records,
            edges=predictions,
            db_api=database,
            node_id_column_name="unique_id",
            threshold_match_probability=threshold,
        ).as_pandas_dataframe()
        ours = found[f"cluster_id_{threshold:g}"]
        assert grouping(found.unique_id, ours) == grouping(theirs.unique_id, theirs.cluster_id)
    counts = found.iloc[:, 1:].nunique()
    assert counts.is_monotonic_increasing
    assert counts.iloc[0] < counts.iloc[-1]


@pytest.mark.parametrize("form", ["relation", "pandas", "dask", "arrow", "parquet"])
def test_predictions_in_every_form_give_the_same_clusters(one_table, form, tmp_path):
    _, (records,), predictions = one_table
    expected = clusters(predictions, THRESHOLDS, records=records).labels.compute()
    path = str(tmp_path / "predictions.parquet")
    predictions.to_parquet(path)
    frame = predictions.as_pandas_dataframe()
    given = {
        "relation": predictions.as_duckdbpyrelation(),
        "pandas": frame.sample(frac=1, random_state=1),
        "dask": dd.from_pandas(frame, npartitions=3),
        "arrow": predictions.as_pyarrow_table(),
        "parquet": duckdb.read_parquet(path),
    }[form]
    known = records.as_pandas_dataframe()
    found = clusters(given, THRESHOLDS, records=known).labels.compute()
    pd.testing.assert_frame_equal(
        found.astype({"unique_id": "str"}), expected.astype({"unique_id": "str"})
    )


def test_records_without_a_pair_are_left_out_unless_they_are_given(one_table):
    _, (records,), predictions = one_table
    pairs = predictions.as_pandas_dataframe()
    without = clusters(predictions, [0.5]).labels.compute()
    assert {*without.unique_id} == {*pairs.unique_id_l, *pairs.unique_id_r}
    with_all = clusters(predictions, [0.5], records=records).labels.compute()
    assert [*with_all.unique_id] == sorted(records.as_pandas_dataframe().unique_id)


def test_linked_datasets_have_ids_of_two_columns(people):
    halves = [
        people[::2],
        people[1::2].assign(unique_id=people.unique_id[::2].to_numpy()[: len(people) // 2]),
    ]
    _, _, predictions = predicted(halves, "link_and_dedupe")
    found = clusters(predictions, [0.5, 0.9])
    labels, _, memory = dask.compute(*found)
    assert [*labels] == ["source_dataset", "unique_id", "cluster_id_0.5", "cluster_id_0.9"]
    assert labels.source_dataset.nunique() == 2
    assert labels.unique_id.duplicated().any()
    again = clusters(predictions, [0.5, 0.9], previous=memory)
    assert len(again.events.compute()) == 0


def test_other_names_of_the_id_are_given(people):
    _, (records,), predictions = predicted(
        [people.rename(columns={"unique_id": "key"})], unique_id="key"
    )
    found = clusters(predictions, [0.5], records=records, unique_id="key").labels.compute()
    assert [*found] == ["key", "cluster_id_0.5"]
    with pytest.raises(gf.exceptions.UnknownColumnError, match="unique_id="):
        clusters(predictions, [0.5])


@pytest.mark.parametrize("kept_as", ["result", "frame", "parquet"])
def test_ids_and_events_follow_each_threshold_from_day_to_day(one_table, kept_as, tmp_path):
    _, (records,), predictions = one_table
    pairs = predictions.as_pandas_dataframe()
    first = clusters(pairs, [0.05, 0.9], records=records)
    labels, events, memory = dask.compute(*first)
    assert {*events.event} == {"created"}
    path = tmp_path / "memory.parquet"
    memory.to_parquet(path)
    previous = {"result": first, "frame": memory, "parquet": pd.read_parquet(path)}[kept_as]
    fewer = pairs[pairs.match_probability >= 0.9]
    new = clusters(fewer, [0.05, 0.9], records=records, previous=previous)
    now, events = dask.compute(new.labels, new.events)
    assert (now["cluster_id_0.9"] == labels["cluster_id_0.9"]).all()
    assert {*events.threshold} == {0.05}
    assert {*events.event} == {"split"}
    same = grouping(labels.unique_id, labels["cluster_id_0.05"]) & grouping(
        now.unique_id, now["cluster_id_0.05"]
    )
    kept = now.unique_id.isin([one for group in same for one in group])
    assert (now["cluster_id_0.05"] == labels["cluster_id_0.05"])[kept].all()
    assert 0 < kept.sum() < len(now)


def test_a_new_threshold_starts_anew(one_table):
    _, (records,), predictions = one_table
    _, _, memory = dask.compute(*clusters(predictions, [0.5], records=records))
    found = clusters(predictions, [0.5, 0.9], records=records, previous=memory)
    events, expected = dask.compute(
        found.events, clusters(predictions, [0.9], records=records).labels
    )
    assert {*zip(events.threshold, events.event, strict=True)} == {(0.9, "created")}
    assert (found.labels.compute()["cluster_id_0.9"] == expected["cluster_id_0.9"]).all()


def test_what_is_no_memory_raises(one_table):
    _, _, predictions = one_table
    with pytest.raises(gf.exceptions.UnknownColumnError, match="earlier call"):
        clusters(predictions, [0.5], previous=pd.DataFrame({"vertex": [1], "id": [0]}))
    with pytest.raises(gf.exceptions.EdgeListError, match=r"predictions is a str; give a Splink"):
        gf.integrations.splink.clusters("predictions.parquet", [0.5])
    with pytest.raises(gf.exceptions.OptionError, match="thresholds"):
        clusters(predictions, [])
