"""Labels against oracles: any graph, any ids, any partitioning, the same bits."""

from __future__ import annotations

import itertools

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, as_dict, fewer, frame, oracle, partitioned, same_dtypes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

import dask_graphflow as gf
from dask_graphflow.graph import renumber
from dask_graphflow.operators.forests.forest import Forest

pytestmark = pytest.mark.usefixtures("backend")

# The backend is the same for every example of a test.
FIXTURES = [HealthCheck.function_scoped_fixture]


@pytest.mark.parametrize("partitions", [1, 5])
def test_labels_are_the_smallest_vertex(graph, partitions, scheduler):
    edges = partitioned(frame(graph), partitions)
    labels = gf.connected_components(edges, **ENDS).compute()
    assert as_dict(labels) == oracle(graph)
    assert labels["vertex"].is_monotonic_increasing


@settings(max_examples=fewer(30, 15), deadline=None, suppress_health_check=FIXTURES)
@given(
    pairs=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=60),
    partitions=st.integers(1, 9),
    offset=st.sampled_from([0, -20, 10**6, -(2**40), 2**62]),
    scale=st.sampled_from([1, 10**9 + 7]),
)
def test_components_of_any_integers_are_right(pairs, partitions, offset, scale):
    pairs = [((u - 20) * scale + offset, (v - 20) * scale + offset) for u, v in pairs]
    with dask.config.set(scheduler="sync"):
        labels = gf.connected_components(partitioned(frame(pairs), partitions), **ENDS).compute()
    assert as_dict(labels) == oracle(pairs)
    assert labels.dtypes.tolist() == [np.dtype("int64")] * 2


@settings(max_examples=fewer(20, 10), deadline=None, suppress_health_check=FIXTURES)
@given(
    pairs=st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=30),
    partitions=st.integers(1, 9),
)
def test_components_of_any_strings_are_right(pairs, partitions):
    with dask.config.set(scheduler="sync"):
        labels = gf.connected_components(
            partitioned(frame(pairs, "str"), partitions), **ENDS
        ).compute()
    assert as_dict(labels) == oracle(pairs)


def dates(i):
    return pd.Timestamp("2020-01-01") + pd.Timedelta(days=i)


ID_TYPES = {
    "int32": ("int32", int),
    "uint8": ("uint8", lambda i: i % 256),
    "uint64 past int64": ("uint64", lambda i: 2**64 - 1 - i),
    "int64 negative": ("int64", lambda i: -(i * 7)),
    "int64 sparse": ("int64", lambda i: i * (2**40 + 1)),
    "nullable integers": ("Int64", int),
    "Arrow integers": ("int64[pyarrow]", int),
    "strings": ("str", lambda i: f"v{i}"),
    "Arrow strings": ("string[pyarrow]", lambda i: f"v{i}"),
    "objects": (object, lambda i: f"v{i}"),
    "dates": ("datetime64[ns]", dates),
}


@pytest.mark.parametrize("kind", ID_TYPES)
@pytest.mark.parametrize("partitions", [1, 20])
def test_ids_of_each_type_keep_their_dtype(kind, partitions, rng):
    dtype, make = ID_TYPES[kind]
    pairs = [(make(u), make(v)) for u, v in rng.integers(0, 120, (90, 2)).tolist()]
    edges = partitioned(frame(pairs, dtype), partitions)
    result = gf.connected_components(edges, **ENDS)
    labels = result.compute(scheduler="sync")
    assert as_dict(labels) == oracle(pairs)
    assert same_dtypes(labels["vertex"].dtype, result["vertex"].dtype, edges["a"].dtype)
    assert labels["vertex"].is_monotonic_increasing


def test_sides_of_different_integer_width():
    edges = frame([(1, 2), (2, 3)]).astype({"a": "int32"})
    result = gf.connected_components(edges, **ENDS)
    assert as_dict(result.compute()) == {1: 1, 2: 1, 3: 1}
    assert result["vertex"].dtype == result.compute()["vertex"].dtype == "int64"


@pytest.mark.parametrize("known", [True, False])
def test_categoricals_stand_for_their_values(known):
    pairs = [("b", "a"), ("c", "b"), ("x", "y")]
    edges = dd.from_pandas(frame(pairs, "str"), npartitions=2).astype("category")
    if known:
        edges = edges.categorize()
    labels = gf.connected_components(edges, **ENDS).compute()
    assert as_dict(labels) == oracle(pairs)
    assert pd.api.types.is_string_dtype(labels["vertex"].dtype)


@pytest.mark.parametrize("partitions", [1, 20])
def test_ids_of_several_columns(partitions, rng):
    pairs = [((str(a), b), (str(c), d)) for a, b, c, d in rng.integers(0, 9, (40, 4)).tolist()]
    edges = pd.DataFrame([(*u, *v) for u, v in pairs], columns=["p", "q", "r", "s"])
    labels = gf.connected_components(
        partitioned(edges, partitions), source=["p", "q"], target=["r", "s"]
    ).compute()
    assert list(labels) == ["vertex_0", "vertex_1", "component_0", "component_1"]
    found = {(a, b): (c, d) for a, b, c, d in labels.itertuples(index=False)}
    assert found == oracle(pairs)


def test_scipy_agrees_on_a_power_law_graph(scheduler):
    edges = gf.generate.rmat(12, npartitions=6)
    labels = gf.connected_components(edges, source="src", target="dst").compute()
    pairs = edges.compute()
    n = 1 << 12
    matrix = sparse.coo_array((np.ones(len(pairs)), (pairs["src"], pairs["dst"])), (n, n))
    _, found = sparse.csgraph.connected_components(matrix, directed=False)
    vertices = np.unique(pairs[["src", "dst"]].to_numpy())
    smallest = pd.Series(vertices).groupby(found[vertices]).transform("min")
    assert labels["vertex"].tolist() == vertices.tolist()
    assert labels["component"].tolist() == smallest.tolist()


# Every 13th way.
@pytest.mark.parametrize("every", [13, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("ids", ["dense", "sparse", "strings"])
def test_the_same_bits_however_it_is_cut(ids, every, rng):
    pairs = pd.DataFrame(rng.integers(0, 3000, (2500, 2)), columns=["a", "b"])
    if ids == "sparse":
        pairs = pairs * (2**40 + 3) - 2**50
    if ids == "strings":
        pairs = pairs.astype("str")
    expected = gf.connected_components(pairs, **ENDS).compute(scheduler="sync")
    ways = itertools.product(
        [True, False] if ids == "dense" else [True],
        [1, 7, 40],
        ["tree", "one-way", "ring"],
        ["availability", "round-robin"],
        [None, 100],
        ["sync", "threads"],
    )
    for way in itertools.islice(ways, None, None, fewer(every, 4 * every + 1)):
        numbered, partitions, merge, inputs, chunk_size, scheduler = way
        labels = gf.connected_components(
            partitioned(pairs, partitions),
            **ENDS,
            merge=merge,
            inputs=inputs,
            chunk_size=chunk_size,
            renumber=numbered,
        ).compute(scheduler=scheduler)
        pd.testing.assert_frame_equal(labels.reset_index(drop=True), expected)


def test_a_path_of_a_million_vertices():
    n = 10**6
    ids = np.random.default_rng(1).permutation(n)
    edges = partitioned(pd.DataFrame({"a": ids[:-1], "b": ids[1:]}), 4)
    labels = gf.connected_components(edges, **ENDS).compute()
    assert len(labels) == n
    assert (labels["component"] == 0).all()


# Options


def test_vertices_without_edges_appear(graph):
    everyone = pd.Series(range(400), name="id")
    labels = gf.connected_components(
        partitioned(frame(graph), 3), **ENDS, vertices=dd.from_pandas(everyone, npartitions=2)
    ).compute()
    assert as_dict(labels) == oracle(graph, everyone)


def test_vertices_of_strings():
    edges = frame([("b", "a")], "str")
    crm = pd.DataFrame({"id": ["z", "b", "c"], "name": ["x", "y", "z"]})
    labels = gf.connected_components(edges, **ENDS, vertices=crm["id"]).compute()
    assert as_dict(labels) == {"a": "a", "b": "a", "c": "c", "z": "z"}


def weighted(rng, ids=int):
    edges = frame([(ids(u), ids(v)) for u, v in rng.integers(0, 60, (50, 2)).tolist()], None)
    return edges.assign(w=rng.random(len(edges)).round(2))


@pytest.mark.parametrize("ids", [int, lambda i: i * 10**12, str], ids=["dense", "sparse", "str"])
@pytest.mark.parametrize("partitions", [1, 20])
def test_thresholds_in_one_pass(ids, partitions, rng):
    edges = weighted(rng, ids)
    limits = [0.9, 0.25, 0.5]
    labels = gf.connected_components(
        partitioned(edges, partitions), **ENDS, weight="w", thresholds=limits
    ).compute()
    assert list(labels) == ["vertex", "component_0.25", "component_0.5", "component_0.9"]
    everyone = set(edges["a"]) | set(edges["b"])
    for limit in limits:
        kept = edges[edges["w"] >= limit]
        expected = oracle(zip(kept["a"], kept["b"], strict=True), everyone)
        assert as_dict(labels, component=f"component_{limit}") == expected
        alone = gf.connected_components(edges, **ENDS, weight="w", threshold=limit).compute()
        assert as_dict(alone) == expected


LARGE = [2**53 - 1, 2**53, 2**53 + 1, 2**62 + 1]
FRACTIONS = [0.1, 0.3, 0.1 + 0.2, 0.9, -0.1, 1e39, -1e39, 5e-324, np.inf, -np.inf]
WEIGHTS = {
    "bool": [True, False],
    "int8": [-128, -1, 0, 1, 127],
    "uint64": [0, *LARGE, 2**63, 2**64 - 1],
    "int64": [-(2**63), -1, 0, *LARGE, 2**63 - 1],
    "Int64": [None, -(2**63), 0, *LARGE, 2**63 - 1],
    "int64[pyarrow]": [None, -1, 0, *LARGE],
    "float32": [np.nan, *FRACTIONS[:5], *FRACTIONS[-2:]],
    "float64": [np.nan, *FRACTIONS, *LARGE],
    "Float64": [None, *FRACTIONS],
    "double[pyarrow]": [None, *FRACTIONS],
}
LIMITS = [
    *(value for value in FRACTIONS if value not in (5e-324, 1e39)),
    *(0, 1, 127.5, *LARGE, 2**63 - 1, 2**64 - 1, np.float32(0.1), np.uint8(200)),
]


def as_number(value):
    return value.item() if isinstance(value, np.generic) else value


@pytest.mark.parametrize("dtype", WEIGHTS)
def test_weights_and_thresholds_are_compared_as_real_numbers(dtype):
    weight = pd.Series(WEIGHTS[dtype], dtype=dtype)
    count = len(weight)
    edges = pd.DataFrame({"a": np.arange(count) * 2, "b": np.arange(count) * 2 + 1, "w": weight})
    labels = gf.connected_components(
        partitioned(edges, 3), **ENDS, weight="w", thresholds=LIMITS
    ).compute()
    columns = list(labels)[1:]
    assert len(set(columns)) == len(LIMITS)
    # As numbers of Python, which compares an int with a float exactly.
    limits = sorted(as_number(limit) for limit in LIMITS)
    values = [None if pd.isna(value) else as_number(value) for value in weight]
    for limit, column in zip(limits, columns, strict=True):
        wanted = [value is not None and value >= limit for value in values]
        assert (labels[column].to_numpy()[1::2] % 2 == 0).tolist() == wanted, column


@pytest.mark.parametrize("limits", [[128], [128, np.inf], [127, 128]])
def test_no_weight_of_a_type_reaches_what_it_cannot_hold(limits):
    edges = frame([(0, 1), (2, 3)]).assign(w=np.array([127, -128], "int8"))
    labels = gf.connected_components(edges, **ENDS, weight="w", thresholds=limits).compute()
    for limit in limits:
        wanted = [0, 0 if limit == 127 else 1, 2, 3]
        assert labels[f"component_{limit}"].tolist() == wanted


@pytest.mark.parametrize(
    ("limits", "names"),
    [
        ([0.1 + 0.2, 0.5], ["0.3", "0.5"]),  # the fewest digits that distinguish them
        ([0.1 + 0.2, 0.3], ["0.3", "0.30000000000000004"]),
        ([2**53 + 1, 2**53, 1], ["1", "9007199254740992", "9007199254740993"]),
        ([np.float32(0.1), 0.1], ["0.1", "0.100000001490116"]),
        ([-np.inf, np.inf, 1e20], ["-inf", "1e+20", "inf"]),
    ],
)
def test_every_threshold_has_a_column_of_its_own_and_seeds_find_it(limits, names):
    edges = frame([(0, 1), (2, 3)]).assign(w=[0.3, 0.5])
    call = {**ENDS, "weight": "w", "thresholds": limits}
    earlier = gf.connected_components(edges, **call)
    assert list(earlier.columns) == ["vertex", *(f"component_{name}" for name in names)]
    again = gf.connected_components(edges.iloc[:0], **call, seed=earlier)
    found, expected = (one.compute().reset_index(drop=True) for one in (again, earlier))
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize("ids", [int, lambda i: i * 10**12, str], ids=["dense", "sparse", "str"])
def test_seed_and_new_edges_give_what_all_edges_give(ids, rng):
    edges = weighted(rng, ids)
    old, new = edges.iloc[:30], edges.iloc[30:]
    for options in (
        {},
        {"weight": "w", "threshold": 0.3},
        {"weight": "w", "thresholds": [0.2, 0.7]},
    ):
        earlier = gf.connected_components(old, **ENDS, **options)
        labels = gf.connected_components(new, **ENDS, **options, seed=earlier).compute()
        whole = gf.connected_components(edges, **ENDS, **options).compute()
        pd.testing.assert_frame_equal(labels.reset_index(drop=True), whole.reset_index(drop=True))


def test_dropna_leaves_out_edges_without_an_end():
    edges = pd.DataFrame({"a": ["x", None, "y"], "b": ["y", "z", None]})
    labels = gf.connected_components(edges, **ENDS, dropna=True).compute()
    assert as_dict(labels) == {"x": "x", "y": "x"}


def test_a_column_on_both_sides():
    labels = gf.connected_components(frame([(3, 1), (2, 9)]), source="a", target="a").compute()
    assert as_dict(labels) == {2: 2, 3: 3}


def test_the_accessor_is_the_function():
    edges = partitioned(frame([(3, 1), (1, 2)]), 2)
    labels = edges.gf.connected_components(**ENDS, merge="ring").compute()
    assert as_dict(labels) == {1: 1, 2: 1, 3: 1}


def test_the_debian_package_graph(debian):
    edges = dd.read_parquet(debian)
    labels = gf.connected_components(edges, source="src", target="dst").compute()
    pairs = pd.read_parquet(debian)
    assert as_dict(labels) == oracle(zip(pairs["src"], pairs["dst"], strict=True))


@pytest.mark.parametrize("name", ["road_ny", "rails_commits", "email_enron", "cit_hepph"])
def test_real_graphs(name, data):
    pairs = pd.read_parquet(data / f"{name}.parquet")
    labels = gf.connected_components(partitioned(pairs, 5), source="src", target="dst").compute()
    assert as_dict(labels) == oracle(zip(pairs["src"], pairs["dst"], strict=True))


@pytest.mark.parametrize("offset", [0, 10**12])
def test_a_chunk_is_hooked_once_although_its_range_is_guessed(offset, monkeypatch, rng):
    """Hooking again for a few ids outside the guess would take twice the time."""
    passes = []
    plain = Forest.hook

    def spy(self, source, target, **options):
        passes.append(len(source))
        return plain(self, source, target, **options)

    monkeypatch.setattr(Forest, "hook", spy)
    monkeypatch.setattr(renumber, "SAMPLE", 16)
    edges = pd.DataFrame(rng.integers(0, 10**6, (10**5, 2)) + offset, columns=["a", "b"])
    labels = gf.connected_components(edges, **ENDS).compute()
    assert passes == [10**5]
    assert labels["vertex"].tolist() == np.unique(edges.to_numpy()).tolist()
