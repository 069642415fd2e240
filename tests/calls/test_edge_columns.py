"""Further columns of the edges: those of a merge by hand, for every partitioning and number of members."""

from __future__ import annotations

import pickle
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, fewer, host_only, is_as_announced, partitioned
from members import eventually
from shapes import WAYS, at_random

import dask_graphflow as gf
from dask_graphflow.calls import join_columns
from dask_graphflow.exceptions import OptionError, UnknownColumnError
from dask_graphflow.graph import partition

pytestmark = pytest.mark.usefixtures("backend")

SOME = [*at_random(230, 560, seed=3), *at_random(40, 120, seed=4)]
PAIRS = [
    *SOME,
    (3, 3),
    (3, 3),
    *SOME[:60:2],
    *((b, a) for a, b in SOME[:9]),
    (300, 301),
    (301, 302),
]
RNG = np.random.default_rng(8)
EDGES = pd.DataFrame(PAIRS, columns=["a", "b"]).assign(
    fee=RNG.integers(1, 4, len(PAIRS)).astype("float32"),
    time=pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 999, len(PAIRS)), unit="s"),
    payment=[f"p{at}" for at in range(len(PAIRS))],
    items=pd.Series(RNG.integers(0, 9, len(PAIRS)))
    .astype("Int64")
    .mask(RNG.random(len(PAIRS)) < 0.3),
)
NAMES = ["payment", "time", "items"]
OPTIONS = {
    "neighbors": {"sources": [3, 5, 180, 300]},
    "ego_graph": {"centers": [3, 301]},
    "induced_subgraph": {"subset": sorted({v for pair in PAIRS for v in pair})[::2]},
    "k_core": {"k": 3},
    "k_truss": {"k": 3},
    "bridges": {},
    "minimum_spanning_forest": {},
    "simple_cycles": {"max_length": 3},
}
FOREST = "minimum_spanning_forest"


def by_hand(name, plain, edges, *, directed):
    """Return a result with further columns, made from one without them and from the edges, row by row."""
    ends = [column for column in plain if column.startswith(("source", "target"))]
    beside = [column for column in plain if column not in (*ends, "weight")]
    answer = plain[[*beside, *ends]].drop_duplicates()
    both_ways = not directed or name in ("bridges", FOREST)
    at = defaultdict(list)
    for row, pair in enumerate(zip(edges["a"], edges["b"], strict=True)):
        at[pair].append(row)
    chosen, repeated = [], []
    for one, (*_, source, target) in enumerate(answer.itertuples(index=False)):
        rows = {*at[source, target], *(at[target, source] if both_ways else [])}
        rows = sorted(
            rows, key=lambda row: (edges["fee"].iloc[row] if "weight" in plain else 0, row)
        )
        rows = rows[: 1 if name == FOREST else None]
        chosen += rows
        repeated += [one] * len(rows)
    found = edges.iloc[chosen].rename(columns={"a": "source", "b": "target", "fee": "weight"})
    found = found.reset_index(drop=True)
    found[beside] = answer[beside].iloc[repeated].reset_index(drop=True)
    return found[[*plain, *NAMES]]


@pytest.fixture(autouse=True)
def small_grains(monkeypatch):
    monkeypatch.setattr(partition, "GRAIN", 64)  # so that members share these vertices


def agree(found, expected):
    assert len(found)
    pd.testing.assert_frame_equal(found.reset_index(drop=True), expected, check_dtype=False)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("way", ["lazy", "persisted", "function"])
@pytest.mark.parametrize("partitions", [1, 5, 24])
@WAYS
def test_columns_are_those_of_a_merge_by_hand(name, directed, partitions, way, members):
    edges, options = partitioned(EDGES, max(partitions, members)), OPTIONS[name]
    how = {**ENDS, "weight": "fee", "directed": directed}
    graph = gf.Graph(edges, **how, columns=NAMES, shards=members)
    plain = getattr(graph, name)(**options).compute()
    if way == "function":
        if "weight" not in plain:
            del how["weight"]
        lazy = getattr(gf, name)(edges, **how, **options, columns=NAMES)
    else:
        graph = graph.persist() if way == "persisted" else graph
        lazy = getattr(graph, name)(**options, columns=NAMES)
    found = lazy.compute()
    assert is_as_announced(found, lazy)
    agree(found, by_hand(name, plain, EDGES, directed=directed))


@pytest.mark.parametrize("name", fewer([*OPTIONS], ["k_core", "simple_cycles"]))
def test_a_result_has_the_same_bits_for_every_partitioning(name, members):
    def call(partitions, shards):
        edges = partitioned(EDGES, partitions)
        graph = gf.Graph(edges, **ENDS, weight="fee", columns=NAMES, shards=shards)
        return getattr(graph, name)(**OPTIONS[name], columns=NAMES).compute()

    first = call(1, 1)
    for partitions in (members + 1, 24):
        found = call(partitions, members).reset_index(drop=True)
        pd.testing.assert_frame_equal(found, first.reset_index(drop=True))


@pytest.mark.parametrize("multi", ["sum", "min", "first"])
def test_edges_that_were_merged_are_rows_of_their_own(multi, members):
    edges = partitioned(EDGES, 6)
    how = {**ENDS, "weight": "fee", "directed": False, "shards": members}
    for name in ("k_core", FOREST):
        graph = gf.Graph(edges, **how, multi=multi, columns=NAMES)
        lazy = getattr(graph, name)(columns=NAMES, **OPTIONS[name])
        plain = getattr(graph, name)(**OPTIONS[name]).compute()
        found = lazy.compute()
        assert is_as_announced(found, lazy)
        agree(found, by_hand(name, plain, EDGES, directed=False))
        assert (len(found) > len(plain)) == (name == "k_core")


@pytest.mark.parametrize("persisted", [False, True])
def test_derived_graphs_keep_the_columns(persisted, members):
    graph = gf.Graph(partitioned(EDGES, 5), **ENDS, weight="fee", columns=NAMES, shards=members)
    graph = graph.persist() if persisted else graph
    turned = EDGES.rename(columns={"a": "b", "b": "a"})
    for name in ("neighbors", "simple_cycles"):
        for derived, edges, directed in (
            (graph.reverse(), turned, True),
            (graph.reverse().reverse(), EDGES, True),
            (graph.to_undirected(), EDGES, False),
            (graph.reverse().to_undirected().persist(), turned, False),
        ):
            call = getattr(derived, name)
            plain = call(**OPTIONS[name]).compute()
            found = call(**OPTIONS[name], columns=NAMES).compute()
            agree(found, by_hand(name, plain, edges, directed=directed))


KINDS = {
    "text": EDGES.assign(a=EDGES["a"].map("v{:03}".format), b=EDGES["b"].map("v{:03}".format)),
    "dates": EDGES.assign(**{e: pd.to_datetime(EDGES[e] * 10**9) for e in "ab"}),
    "categories": EDGES.assign(
        **{e: EDGES[e].map("v{:03}".format).astype("category") for e in "ab"}
    ),
    "different integers": EDGES.astype({"a": "int16", "b": "uint32"}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_ids_of_all_kinds(kind, members):
    edges = KINDS[kind]
    for given in (partitioned(edges, 5), edges):
        if kind == "dates":
            edges = edges.astype({"a": "datetime64[ns]", "b": "datetime64[ns]"})
        shards = members if given is not edges else None
        graph = gf.Graph(given, **ENDS, directed=False, columns=NAMES, shards=shards)
        plain, found = graph.k_core(k=3).compute(), graph.k_core(k=3, columns=NAMES).compute()
        agree(
            found.astype({"source": "object", "target": "object"}),
            by_hand("k_core", plain, edges.astype({"a": "object", "b": "object"}), directed=False),
        )


def test_ids_of_several_columns(members):
    wide = EDGES.assign(a2=EDGES["a"] % 3, b2=EDGES["b"] % 3)
    graph = gf.Graph(
        partitioned(wide, 4), source=["a", "a2"], target=["b", "b2"], directed=False, shards=members,
        columns=["a", "payment"],
    )  # fmt: skip
    found = graph.k_core(k=3, columns=["payment", "a"]).compute()
    assert list(found) == ["source_0", "source_1", "target_0", "target_1", "payment", "a"]
    plain = gf.k_core(EDGES, **ENDS, k=3, columns="payment").compute()
    assert found["payment"].tolist() == plain["payment"].tolist()
    assert (found["a"] == found["source_0"]).all()
    assert (found["a"] % 3 == found["source_1"]).all()


def test_columns_of_many_kinds():
    host_only("about dtypes of pandas")
    edges = EDGES.assign(
        kind=pd.Categorical(np.where(EDGES["fee"] > 1, "x", None)),
        zone=EDGES["time"].dt.tz_localize("UTC"),
        rate=EDGES["fee"].where(EDGES["fee"] > 2),
    ).rename(columns={"items": 7, "time": "row_of_edges"})
    names = ["kind", "zone", "rate", 7, "row_of_edges", "fee", "b"]
    for given in (partitioned(edges, 3), edges):
        lazy = gf.bridges(given, **ENDS, columns=names)
        found = lazy.compute()
        assert is_as_announced(found, lazy)
        rows = found[["source", "target"]].merge(
            edges.assign(source=edges["a"], target=edges["b"]), on=["source", "target"]
        )
        pd.testing.assert_frame_equal(found[names], rows[names], check_categorical=False)


def test_rows_with_null_ids_are_left_out(members):
    edges = EDGES.astype({"a": "Int64"})
    edges.loc[::7, "a"] = pd.NA
    given = partitioned(edges, 5)
    graph = gf.Graph(given, **ENDS, columns=NAMES, dropna=True, shards=members)
    plain, found = graph.k_core(k=2).compute(), graph.k_core(k=2, columns=NAMES).compute()
    agree(found, by_hand("k_core", plain, edges.dropna(subset="a"), directed=True))


def test_frames_of_other_libraries():
    host_only("polars is in host memory")
    polars = pytest.importorskip("polars")
    given = polars.from_pandas(EDGES)
    for edges in (given, given.lazy()):
        found = gf.k_core(edges, **ENDS, k=3, columns=["payment", "items"]).compute()
        wanted = gf.k_core(EDGES, **ENDS, k=3, columns=["payment", "items"]).compute()
        assert found["payment"].tolist() == wanted["payment"].tolist()
        assert found["items"].isna().tolist() == wanted["items"].isna().tolist()
    fields = EDGES[["a", "b", "fee"]].to_records(index=False)
    assert gf.k_core(fields, **ENDS, k=3, columns="fee").compute()["fee"].sum() > 0


def test_a_trace_comes_with_the_columns():
    found, steps = gf.ego_graph(EDGES, **ENDS, centers=[3], columns="payment", trace=True)
    assert list(found.columns) == ["source", "target", "payment"]
    assert len(steps.compute())
    assert len(found.compute())


def test_graphs_without_edges_keep_columns(members):
    given = partitioned(EDGES.iloc[:0], 4)
    for name, options in {
        "k_core": {},
        "bridges": {},
        FOREST: {},
        "simple_cycles": {"max_length": 3},
    }.items():
        lazy = getattr(gf, name)(given, **ENDS, columns=NAMES, **options)
        assert is_as_announced(lazy.compute(), lazy)


def test_a_persisted_graph_keeps_its_columns_on_the_workers(client):
    edges = partitioned(EDGES, 4)
    graph = gf.Graph(edges, **ENDS, weight="fee", columns=NAMES, shards=2).persist()
    wanted = gf.Graph(EDGES, **ENDS, weight="fee", columns=NAMES).k_core(k=3, columns=NAMES)
    wanted = wanted.compute(scheduler="sync")
    copy = pickle.loads(pickle.dumps(graph))
    for one in (graph, copy):
        found = one.k_core(k=3, columns=NAMES).compute()
        agree(found, wanted)
    keys = [part.key for part in graph._shards.further.built]
    assert all(client.who_has(keys).values())
    del graph, one, copy
    assert eventually(lambda: not any(client.who_has(keys).values()))


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        (
            ["nope"],
            UnknownColumnError,
            "columns='nope' is not a column of the frame, which has 'a', 'b'",
        ),
        ("Payment", UnknownColumnError, "did you mean 'payment'"),
        ([], UnknownColumnError, "give a column's name, or a list of names"),
        (["fee", "time", "fee"], OptionError, "names 'fee' twice; name each column once"),
        (
            ["source"],
            OptionError,
            "the result has a column 'source' of its own. Leave it out, or rename",
        ),
    ],
)
def test_wrong_columns_of_a_frame(columns, error, message):
    edges = EDGES.rename(columns={"items": "source"})
    with pytest.raises(error, match=message):
        gf.k_core(edges, **ENDS, columns=columns)


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        (
            "nope",
            UnknownColumnError,
            "the graph keeps 'payment', 'weight'. Name the column where the graph",
        ),
        ("paymnt", UnknownColumnError, r"columns=\[...\]\); did you mean 'payment'"),
        (["payment", "payment"], OptionError, "names 'payment' twice"),
        ("weight", OptionError, "the result has a column 'weight' of its own"),
    ],
)
def test_wrong_columns_of_a_graph(columns, error, message):
    edges = EDGES.rename(columns={"fee": "weight"})
    graph = gf.Graph(edges, **ENDS, weight="weight", columns=["payment", "weight"])
    with pytest.raises(error, match=message):
        graph.k_core(columns=columns)
    assert list(graph.bridges(columns="weight").columns) == ["source", "target", "weight"]


def test_graphs_that_keep_no_columns_say_what_to_do(tmp_path):
    graph = gf.Graph(EDGES, **ENDS, columns=NAMES).persist()
    assert "'payment', 'time', 'items'" in repr(graph)
    graph.save(tmp_path / "saved")
    plain = gf.Graph(EDGES, **ENDS)
    loaded = gf.load_graph(tmp_path / "saved")
    updated = graph.update(insert=pd.DataFrame({"a": [1], "b": [9]}))
    for one, why in {plain: "keeps only", loaded: "a saved graph", updated: "update"}.items():
        with pytest.raises(UnknownColumnError, match=f"{why}.*columns=\\[...\\]"):
            one.k_core(columns="payment")


def test_most_edges_stay_where_they_are_read_if_the_answer_is_small(monkeypatch):
    moved = []
    among = join_columns._edges_among

    def recorded(*arguments, **options):
        found = among(*arguments, **options)
        moved.append(len(found))
        return found

    monkeypatch.setattr(join_columns, "_edges_among", recorded)
    results, counts = [], []
    for few in (join_columns.FEW, 0):
        monkeypatch.setattr(join_columns, "FEW", few)
        moved.clear()
        graph = gf.Graph(partitioned(EDGES, 24), **ENDS, weight="fee", columns=NAMES)
        results.append(graph.neighbors([3], columns=NAMES).compute(scheduler="sync"))
        counts.append(sum(moved))
    pd.testing.assert_frame_equal(*results)
    assert counts == [len(results[0]), len(EDGES)]
