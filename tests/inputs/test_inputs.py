"""Edges and ids in the forms of other libraries give the same results as a pandas frame."""

from __future__ import annotations

import decimal
import re

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import scipy.sparse as sp
from conftest import arrow_text, host_only, partitioned

import dask_graphflow as gf
from dask_graphflow.exceptions import (
    EdgeListError,
    NullVertexError,
    UnknownColumnError,
    VertexTypeError,
    WeightError,
)
from dask_graphflow.graph.arrow import as_frame
from dask_graphflow.inputs.forms import as_edges
from dask_graphflow.nx import convert_from_nx

pytestmark = pytest.mark.usefixtures("host_memory")

nx = pytest.importorskip("networkx")
PAIRS = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (1, 2)]
IDS = {
    "int64": np.arange(5),
    "int32": np.arange(5, dtype="int32"),
    "uint64": np.array([0, 1, 2**40, 2**63, 2**64 - 1], "uint64"),
    "text": np.array(["a", "ab", "b", "ü", "z"], object),
    "moments": pd.date_range("2026-01-01", periods=5).as_unit("us"),
}


def edges_of(ids):
    """Return the edges as a pandas frame with ids of a type."""
    ids = pd.Series(IDS[ids])
    sources, targets = (ids[list(side)].reset_index(drop=True) for side in zip(*PAIRS, strict=True))
    weights = [1.0, 2.0, 0.5, 1.0, 3.0, 0.25]
    return pd.DataFrame({"source": sources, "target": targets, "weight": weights})


class Exported:
    """A table that is known only by the Arrow protocol."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def polars(frame):
    return pytest.importorskip("polars").from_pandas(frame)


def narwhals(frame):
    return pytest.importorskip("narwhals").from_native(polars(frame))


def in_two_chunks(frame):
    library = pytest.importorskip("polars")
    return library.concat([polars(frame[:2]), polars(frame[2:])], rechunk=False)


def duckdb_table(frame):
    connection = pytest.importorskip("duckdb").connect()
    connection.register("given", frame)
    connection.execute("create table edges as from given")
    return connection.table("edges")


FRAMES = {
    "Dask": lambda frame: partitioned(frame, 3),
    "polars": polars,
    "lazy polars": lambda frame: polars(frame).lazy(),
    "polars with two chunks": in_two_chunks,
    "narwhals": narwhals,
    "lazy narwhals": lambda frame: narwhals(frame).lazy(),
    "PyArrow table": pa.Table.from_pandas,
    "PyArrow record batch": lambda frame: pa.Table.from_pandas(frame).to_batches()[0],
    "PyArrow reader": lambda frame: pa.Table.from_pandas(frame).to_reader(),
    "Arrow protocol": lambda frame: Exported(pa.Table.from_pandas(frame)),
    "DuckDB table": duckdb_table,
    "DuckDB query": lambda frame: duckdb_table(frame).filter("weight > 0"),
}


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_of_another_library_gives_what_pandas_gives(kind, ids):
    edges = edges_of(ids)
    wanted = gf.sssp(edges, weight="weight", sources=edges.source[:1]).compute()
    found = gf.sssp(FRAMES[kind](edges), weight="weight", sources=edges.source[:1])
    pd.testing.assert_frame_equal(found.compute().reset_index(drop=True), wanted)


def networkx(kind):
    return lambda pairs: getattr(nx, kind)(pairs)


OTHERS = {
    "list of tuples": list,
    "list of lists": lambda pairs: [list(pair) for pair in pairs],
    "tuple of tuples": tuple,
    "generator": iter,
    "items of a dict": lambda pairs: [pair for one in pairs for pair in dict([one]).items()],
    "array": np.array,
    "array in Fortran order": lambda pairs: np.asfortranarray(pairs),
    "structured array": lambda pairs: np.array(pairs, [("src", "int64"), ("dst", "int64")]),
    "array of objects": lambda pairs: np.array(pairs, object),
    "NetworkX multigraph": networkx("MultiDiGraph"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_edges_without_columns_give_what_pandas_gives(kind):
    wanted = gf.pagerank(edges_of("int64")).compute()
    found = gf.pagerank(OTHERS[kind](PAIRS)).compute()
    pd.testing.assert_frame_equal(found, wanted)


TEXT = {
    "list": list,
    "set": set,
    "array": np.array,
    "NetworkX graph": networkx("Graph"),
}


@pytest.mark.parametrize("kind", TEXT)
def test_pairs_of_text_give_what_pandas_gives(kind):
    pairs = [("a", "b"), ("c", "b"), ("x", "y")]
    wanted = gf.connected_components(pd.DataFrame(pairs, columns=["from", "to"])).compute()
    found = gf.connected_components(TEXT[kind](pairs)).compute()
    pd.testing.assert_frame_equal(found.reset_index(drop=True), wanted)


FORMATS = ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")
MATRICES = {
    "csr_array": sp.csr_array,
    "csc_array": sp.csc_array,
    "coo_array": sp.coo_array,
    "csr_matrix": sp.csr_matrix,
}


@pytest.mark.parametrize("kind", MATRICES)
def test_a_sparse_matrix_has_a_vertex_per_row_and_an_edge_per_entry(kind):
    rows, columns = np.array(PAIRS).T
    matrix = MATRICES[kind]((np.arange(1.0, 7.0), (rows, columns)), shape=(7, 7))
    merged = pd.DataFrame(PAIRS, columns=["a", "b"]).assign(w=np.arange(1.0, 7.0))
    graph = gf.Graph(
        merged, source="a", target="b", weight="w", multi="sum", vertices=range(7)
    )  # SciPy adds up entries of the same place
    found = gf.sssp(matrix, sources=[0]).compute()
    wanted = graph.sssp([0]).compute()
    assert found.vertex.tolist() == wanted.vertex.tolist()
    assert found.distance.tolist() == wanted.distance.tolist()
    assert gf.degrees(matrix).compute().out_degree.tolist() == [1, 1, 2, 1, 0, 0, 0]
    assert gf.degrees(matrix, vertices=[9]).compute().vertex.tolist() == [*range(7), 9]


@pytest.mark.parametrize("made", ["symmetric", "upper", "lower"])
def test_an_undirected_matrix_has_each_edge_once(made):
    graph = nx.karate_club_graph()
    matrix = nx.to_scipy_sparse_array(graph, weight="weight")
    matrix = {"symmetric": matrix, "upper": sp.triu(matrix), "lower": sp.tril(matrix)}[made]
    built = gf.Graph(matrix, directed=False)
    assert built.num_edges == graph.number_of_edges()
    assert built.degrees().compute().degree.tolist() == [d for _, d in graph.degree()]
    found = gf.Graph(graph, weight="weight").minimum_spanning_forest().compute()
    wanted = built.minimum_spanning_forest().compute()
    assert found.weight.tolist() == wanted.weight.tolist()


def test_an_undirected_matrix_has_the_same_entries_on_both_sides():
    rows, columns = np.array(PAIRS[:3]).T
    matrix = sp.csr_array((np.ones(3), (rows, columns)), shape=(3, 3))
    with pytest.raises(EdgeListError, match=r"neither symmetric nor triangular.*edges\.maximum"):
        gf.degrees(matrix, directed=False)
    assert gf.degrees(matrix.maximum(matrix.T), directed=False).compute().degree.tolist() == [2] * 3
    assert gf.connected_components(matrix).compute().component.tolist() == [0, 0, 0]
    weighted = sp.csr_array([[0, 1.0], [2.0, 0]])
    assert gf.Graph(weighted, weight=None, directed=False).num_edges == 1
    assert gf.core_number(weighted).compute().core.tolist() == [1, 1]
    with pytest.raises(EdgeListError, match="neither symmetric"):
        gf.Graph(weighted, directed=False)


WEIGHTED = np.array([[0, 2.0, 0, 0], [2.0, 0, 1.0, 0], [0, 1.0, 0, 0], [0, 0, 0, 5.0]])


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_values_of_a_matrix_are_weights_and_a_symmetric_one_is_undirected(form, kind):
    def matrix(dense):
        return getattr(sp, f"{form}_{kind}")(dense)

    built = gf.Graph(matrix(WEIGHTED))
    assert not built.directed
    assert built.edges().compute().values.tolist() == [[0, 1, 2.0], [1, 2, 1.0], [3, 3, 5.0]]
    other = gf.Graph(matrix(np.triu(WEIGHTED)))
    assert (other.directed, other.weighted, other.num_edges) == (True, True, 3)
    ones = gf.Graph(matrix(WEIGHTED > 0))
    assert (ones.directed, ones.weighted) == (False, False)


def test_given_options_of_a_matrix_win():
    matrix = sp.csr_array(WEIGHTED)
    assert gf.Graph(matrix, directed=True).num_edges == 5
    assert not gf.Graph(matrix, weight=None).weighted
    assert gf.Graph(matrix > 0, weight="weight").weighted
    for function in (gf.pagerank, gf.k_core):
        plain = function(matrix, weight=None).compute()
        pd.testing.assert_frame_equal(plain, function(matrix > 0).compute())
        assert not plain.equals(function(matrix).compute())


def test_functions_use_of_a_matrix_what_they_need():
    matrix = sp.csr_array(WEIGHTED)
    hops = gf.sssp(matrix > 0, sources=[0]).compute()
    assert hops.distance.tolist() == [0.0, 1.0, 2.0]
    cut = gf.connected_components(matrix, threshold=1.5).compute()
    assert cut.component.tolist() == [0, 0, 2, 3]
    assert gf.connected_components(matrix).compute().component.tolist() == [0, 0, 0, 3]
    assert gf.estimate(matrix, "bfs").plan == gf.estimate(matrix > 0, "bfs").plan
    turned = sp.csr_array(WEIGHTED * 1j)
    assert gf.bfs(turned, sources=[0]).compute().distance.tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "longdouble"])
def test_a_matrix_of_any_type_of_real_numbers_has_weights(dtype):
    edges = gf.Graph(sp.csr_array(WEIGHTED.astype(dtype))).edges().compute()
    assert edges.weight.tolist() == [2, 1, 5]


def test_a_matrix_of_complex_numbers_has_no_weights():
    edges = sp.csr_array(WEIGHTED * 1j)
    with pytest.raises(WeightError, match=r"complex128.*Give abs\(edges\) or edges\.real$"):
        gf.pagerank(edges)
    assert gf.Graph(abs(edges)).edges().compute().weight.tolist() == [2, 1, 5]


def test_entries_of_a_matrix_are_those_of_scipy():
    zeros = sp.coo_array(([0.0, 3.0], ([0, 1], [1, 2])), shape=(3, 3))
    assert gf.Graph(zeros).edges().compute().weight.tolist() == [0, 3]  # as in csgraph
    twice = sp.csr_array(([1.0, 1.0, 2.0], [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    assert gf.Graph(twice).edges().compute().values.tolist() == [[0, 1, 2.0]]
    assert twice.nnz == 3, "the given matrix was changed"
    unknown = WEIGHTED.copy()
    unknown[0, 1] = unknown[1, 0] = np.nan
    assert not gf.Graph(sp.csr_array(unknown)).directed
    with pytest.raises(WeightError, match="1 null"):
        gf.pagerank(sp.csr_array(unknown)).compute()


def test_the_symmetry_of_a_matrix_is_tested_once_and_not_for_components(monkeypatch):
    transposed = []
    matrix = sp.csr_array(WEIGHTED)
    turn = type(matrix).tocsc
    monkeypatch.setattr(
        type(matrix), "tocsc", lambda *given, **o: transposed.append(1) or turn(*given, **o)
    )
    gf.leiden(matrix).compute()
    gf.pagerank(matrix).compute()
    assert len(transposed) == 2
    gf.connected_components(matrix).compute()
    gf.pagerank(sp.csr_array(np.triu(WEIGHTED, 1))).compute()  # the degrees differ
    assert len(transposed) == 2


def test_a_networkx_graph_keeps_its_nodes_its_direction_and_its_weights():
    graph = nx.Graph([("a", "b", {"km": 2.0}), ("b", "c")])
    graph.add_node("alone")
    built = gf.Graph(graph, weight="km")
    assert not built.directed
    found = built.sssp(["c"], cutoff=10).compute()
    assert dict(zip(found.vertex, found.distance, strict=True)) == {"a": 3.0, "b": 1.0, "c": 0.0}
    assert gf.degrees(graph).compute().set_index("vertex").degree.to_dict() == dict(graph.degree())
    directed = nx.DiGraph(graph)
    assert gf.Graph(directed).directed
    assert not gf.Graph(directed, directed=False).directed
    ranks = gf.pagerank(graph).compute()
    wanted = nx.pagerank(graph, weight=None)
    assert dict(zip(ranks.vertex, ranks.pagerank, strict=True)) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize(
    "empty",
    [[], np.zeros((0, 2), int), nx.Graph(), sp.csr_array((0, 0))],
    ids=lambda e: type(e).__name__,
)
def test_no_edges_are_a_graph_without_vertices(empty):
    graph = gf.Graph(empty, directed=False)
    assert (graph.num_vertices, graph.num_edges) == (0, 0)
    assert len(gf.pagerank(empty).compute()) == 0


def test_columns_with_names_of_methods_are_columns():
    edges = edges_of("int64").assign(tocsr=1, nodes=2, is_directed=3)
    assert gf.Graph(edges).num_edges == len(PAIRS)


@pytest.mark.parametrize("names", [("source", "target"), ("src", "dst"), ("from", "to")])
@pytest.mark.parametrize("kind", ["pandas", "Dask", "polars"])
def test_usual_names_of_columns_are_the_defaults(kind, names):
    plain = edges_of("int64").rename(columns=dict(zip(["source", "target"], names, strict=True)))
    edges = {"pandas": lambda frame: frame, **FRAMES}[kind](plain)
    wanted = gf.bfs(plain, source=names[0], target=names[1], sources=[0]).compute()
    calls = [gf.bfs(edges, sources=[0]), gf.Graph(edges).bfs([0])]
    calls += [] if kind == "polars" else [edges.gf.bfs(sources=[0])]
    for found in calls:
        pd.testing.assert_frame_equal(found.compute().reset_index(drop=True), wanted)
    size = {"num_edges": 6, "num_vertices": 5}
    ends = {"source": names[0], "target": names[1]}
    assert gf.estimate(edges, "bfs", **size).plan == gf.estimate(plain, "bfs", **ends, **size).plan


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (
            ["a", "b"],
            {},
            r"not have their defaults 'source' and .* or 'left' and 'right'; .* 'a', 'b'",
        ),
        (["source", "dst"], {}, r"the columns are 'source', 'dst'\. Name the two columns"),
        (
            ["source", "target", "src", "dst"],
            {},
            "both 'source' and 'target' and also 'src' and 'dst'",
        ),
        (["source", "target"], {"target": "source"}, "^target= is given without source="),
    ],
)
def test_ambiguous_columns_have_to_be_named(columns, options, message):
    edges = pd.DataFrame([range(len(columns))], columns=columns)
    for call in (gf.degrees, gf.Graph, gf.connected_components, gf.estimate):
        with pytest.raises(UnknownColumnError, match=message):
            call(edges, **options)


def arrow(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


@pytest.mark.parametrize("made", [polars, arrow], ids=["polars", "PyArrow"])
def test_ids_and_options_can_be_frames_of_other_libraries(made):
    edges = edges_of("text")
    ids = pd.DataFrame({"v": ["a", "ab", "b", "ü", "z"]})
    given = {
        "vertices": ("pagerank", {}, pd.DataFrame({"v": ["q", "a"]})),
        "sources": ("bfs", {}, ids[:1]),
        "targets": ("bfs", {"sources": ["a"]}, ids[2:4]),
        "pairs": ("similarity", {}, pd.DataFrame({"a": ["a", "b"], "b": ["b", "ab"]})),
        "communities": ("community_metrics", {}, ids.assign(c=[1, 1, 2, 2, 2])),
        "personalization": ("pagerank", {}, ids.assign(p=[1.0, 0, 0, 2.0, 0])),
    }
    for option, (name, needed, value) in given.items():
        wanted = getattr(gf, name)(edges, **needed, **{option: value}).compute()
        found = getattr(gf, name)(made(edges), **needed, **{option: made(value)}).compute()
        pd.testing.assert_frame_equal(found, wanted)


@pytest.mark.parametrize("made", ["polars", "PyArrow", "PyArrow in chunks"])
def test_columns_of_other_libraries_are_ids(made):
    library = pytest.importorskip("polars") if made == "polars" else pa
    column = {"polars": "Series", "PyArrow": "array", "PyArrow in chunks": "chunked_array"}[made]
    values = [7, 0] if made != "PyArrow in chunks" else [[7], [0]]
    ids = getattr(library, column)(values)
    assert gf.degrees(PAIRS, vertices=ids).compute().vertex.tolist() == [0, 1, 2, 3, 4, 7]
    assert gf.neighbors(PAIRS, sources=ids, vertices=ids).compute().source.tolist() == [0]


def test_the_results_of_a_search_can_come_back_from_another_library():
    reached = gf.bfs(PAIRS, sources=[0])
    wanted = gf.shortest_paths(reached, [4]).compute()
    found = gf.shortest_paths(polars(reached.compute()), [4]).compute()
    assert found.astype("int64").equals(wanted.astype("int64"))


@pytest.mark.parametrize("made", [polars, arrow, lambda frame: duckdb_table(frame)])
def test_integers_with_nulls_stay_exact(made):
    edges = pd.DataFrame({"src": [2**53 + 1, None], "dst": [1, 2]}, dtype="Int64")
    with pytest.raises(NullVertexError, match="column 'src' has 1 null in a partition of 2 edges"):
        gf.degrees(made(edges)).compute()
    assert gf.degrees(made(edges), dropna=True).compute().vertex.tolist() == [1, 2**53 + 1]


def test_sums_of_duckdb_are_weights():
    sums = duckdb_table(edges_of("int64").assign(weight=3)).aggregate(
        "source, target, sum(weight) AS weight", "source, target"
    )
    assert "decimal" in str(pa.table(sums).schema.field("weight").type)
    found = gf.sssp(sums, weight="weight", sources=[0]).compute()
    assert found.distance.tolist() == [0, 3, 9, 12, 15]
    large = pa.array([decimal.Decimal(2**70)], pa.decimal128(38, 0))
    edges = pa.table({"source": [1], "target": [2], "w": large})
    with pytest.raises(WeightError, match=r"1180591620717411303424.* at most 64 bits") as raised:
        gf.Graph(edges, weight="w").persist()
    floats = eval(re.search(r"edges\.set_column.*", str(raised.value))[0], {"edges": edges})
    assert gf.sssp(floats, weight="w", sources=[1]).compute().distance.tolist() == [0, 2.0**70]


def test_types_that_pandas_has_only_as_objects_keep_their_arrow_type():
    library = pytest.importorskip("polars")
    edges = library.DataFrame(
        {
            "src": library.Series(["x", "y"], dtype=library.Categorical),
            "dst": ["y", "z"],
            "day": library.Series([0, 1]).cast(library.Date),
            "until": library.Series([2, 0]).cast(library.Date),
            "hash": [b"\1", b"\2"],
            "before": [b"\3", b"\1"],
        }
    )
    assert gf.degrees(edges).compute().vertex.tolist() == ["x", "y", "z"]
    assert len(gf.degrees(edges, source="day", target="until").compute()) == 3
    assert len(gf.degrees(edges, source="hash", target="before").compute()) == 3


def test_numbers_of_other_libraries_are_not_copied():
    edges = edges_of("int64")
    table, frame, array = arrow(edges), polars(edges), np.array(PAIRS)
    matrix = sp.csr_array(np.eye(3))
    structured = np.array(PAIRS, [("src", "int64"), ("dst", "int64")])
    for given, name, values in (
        (table, "weight", table["weight"].chunk(0).to_numpy()),
        (frame, "weight", frame["weight"].to_numpy()),
        (array, "target", array),
        (structured, "dst", structured),
        (matrix, "target", matrix.indices),
        (matrix, "weight", matrix.data),
    ):
        taken = as_edges(given, None, None, weight="weight").frame[name].to_numpy()
        assert np.shares_memory(taken, values)


@pytest.mark.parametrize("kind", ["lazy polars", "PyArrow table"])
def test_columns_that_are_not_used_are_not_read(kind):
    edges = FRAMES[kind](edges_of("text").assign(a=[[1]] * 6))
    assert [*as_edges(edges, None, None).frame] == ["source", "target"]
    assert [*as_edges(edges, ["weight", "source"], ["weight", "target"]).frame] == [
        *("source", "target", "weight")
    ]
    for column, message in (
        ("surce", r"'weight', 'a'; did you mean 'source'"),
        (pd.NA, "source= is"),
    ):
        with pytest.raises(UnknownColumnError, match=message):
            gf.degrees(edges, source=column, target="target")


@arrow_text
def test_text_of_other_libraries_is_not_copied():
    table = pa.table({"source": pa.array(["a", "b"], pa.large_string())})
    taken = pa.array(as_frame(table, "edges")["source"])
    buffers = [chunk.buffers()[2].address for chunk in (taken, table["source"].chunk(0))]
    assert buffers[0] == buffers[1]


def grid():
    return nx.grid_2d_graph(2, 2)


# More of them are in docs/howto/first_ten_minutes.md, whose rows are tests.
GUESSES = {
    "array of triples": (np.ones((5, 3)), r"\(5, 3\).*'weight'\]\) and weight='weight'$"),
    "one dimension": (np.ones(4), r"\(4,\).*one row per edge"),
    "list of ids": ([1, 2], "has the entry 1, which is not a pair"),
    "tuples as ids": ([((0, 1), (0, 2))], r"such as \(\(0, 1\), .*str\(a\), str\(b\)"),
    "floats in pairs": ([(0.5, 1.5)], r"such as \(0\.5, 1\.5\).*all integers"),
    "nodes of two types": (nx.Graph([(1, "a")]), "such as 1.*convert_node_labels"),
    "class": (pd.DataFrame, "^edges is a builtins.type; edges can be"),
    "Series": (pd.Series([1]), r"^edges is a pandas\.\S*Series; edges can be"),
}


@pytest.mark.parametrize("guess", GUESSES)
def test_guesses_that_cannot_work_are_refused_with_the_fix(guess):
    edges, message = GUESSES[guess]
    with pytest.raises(VertexTypeError if "such as" in message else EdgeListError, match=message):
        gf.degrees(edges)


def test_the_fixes_in_the_messages_work():
    edges = np.array(PAIRS)
    assert len(gf.degrees(edges.astype(float).astype("int64")).compute()) == 5
    assert len(gf.degrees(edges.T.T).compute()) == 5
    assert len(gf.degrees([(str(a), str(b)) for a, b in [(1, "a")]]).compute()) == 2
    numbered = nx.convert_node_labels_to_integers(grid(), label_attribute="name")
    assert len(gf.degrees(numbered).compute()) == 4
    weighted = pd.DataFrame([(3, 4, 5.0)], columns=["source", "target", "weight"])
    assert gf.sssp(weighted, weight="weight", sources=[3]).compute().distance.tolist() == [0.0, 5.0]
    half = sp.csr_array(np.ones((3, 4)))
    whole = sp.block_array([[None, half], [half.T, None]])
    assert gf.degrees(whole, directed=False).compute().degree.tolist() == [4] * 3 + [3] * 4


def test_a_weight_that_an_input_does_not_have_is_named():
    with pytest.raises(
        UnknownColumnError, match=r"weight='km' is not a column .*'source', 'target'"
    ):
        gf.sssp(PAIRS, weight="km", sources=[0])
    with pytest.raises(WeightError, match="weight='name' has dtype"):
        gf.sssp(nx.Graph([(0, 1, {"name": "x"})]), weight="name", sources=[0])


def test_an_estimate_knows_the_sizes_of_every_input():
    matrix = sp.csr_array((np.ones(6), np.array(PAIRS).T), shape=(9, 9))
    for edges, vertices in (
        (PAIRS, 5),
        (np.array(PAIRS), 5),
        (arrow(edges_of("int64")), 5),
        (matrix, 9),
    ):
        assert f"{vertices} vertices" in repr(gf.estimate(edges, "pagerank"))


def test_a_graph_is_made_on_a_cluster_from_every_input(client):
    host_only("about inputs in host memory")
    wanted = gf.pagerank(edges_of("int64")).compute()
    for edges in (arrow(edges_of("int64")), np.array(PAIRS), PAIRS):
        pd.testing.assert_frame_equal(gf.pagerank(edges).compute(), wanted)


@pytest.mark.parametrize(
    ("pairs", "options", "wanted"),
    [
        ([(1, None), (2, 3)], {"dropna": True}, [2, 3]),
        ([(1, float("nan")), (2**53 + 1, 3)], {"dropna": True}, [3, 2**53 + 1]),
        ([("a", None), ("b", "c")], {"dropna": True}, ["b", "c"]),
        ([(b"a", None), (b"b", b"c")], {"dropna": True}, [b"b", b"c"]),
        ([(True, None), (True, False)], {"dropna": True}, [False, True]),
        ([(2**63, 1), (2**63 + 1, 2)], {}, [1, 2, 2**63, 2**63 + 1]),
        ([(1, 2)], {"vertices": [2**53 + 1, None], "dropna": True}, [1, 2, 2**53 + 1]),
    ],
)
def test_pairs_with_nulls_or_large_integers_stay_exact(pairs, options, wanted):
    assert gf.connected_components(pairs, **options).compute().vertex.tolist() == wanted


@pytest.mark.parametrize("made", ["array", "structured", "frame", "Dask"])
@pytest.mark.parametrize("dtype", [">i4", ">u8", ">f8"])
def test_another_byte_order_changes_no_value(made, dtype):
    numbers = np.array([1, 2, 3], dtype)
    frame = pd.DataFrame({"src": numbers[:2], "dst": numbers[1:]})
    if dtype == ">f8":  # as weights
        frame = frame.assign(src=[0, 1], dst=[1, 2], weight=numbers[:2])
    edges = {
        "array": lambda: np.column_stack([numbers[:2], numbers[1:]]),
        "structured": lambda: frame.to_records(index=False).view(np.ndarray),
        "frame": lambda: frame,
        "Dask": lambda: dd.from_map(lambda _: frame, [0], meta=frame.iloc[:0]),
    }[made]()
    if made == "Dask":
        try:
            frame[[*frame]]
        except ValueError as error:
            pytest.skip(f"this pandas cannot take the columns: {error}")
    if dtype == ">f8":
        found = gf.sssp(frame if made == "array" else edges, weight="weight", sources=[0]).compute()
        assert found.distance.tolist() == [0.0, 1.0, 3.0]
        return
    graph = gf.Graph(edges).persist()
    assert graph.bfs(numbers[:1]).compute().vertex.tolist() == [1, 2, 3]


def test_bytes_of_numpy_are_bytes():
    ends = np.array([[b"\xff", b"a"], [b"a", b"b"]])
    fields = np.array([(b"\xff", b"a"), (b"a", b"b")], [("src", "S1"), ("dst", "S1")])
    for edges in (ends, fields):
        graph = gf.Graph(edges).persist()
        assert graph.bfs([b"\xff"]).compute().vertex.tolist() == [b"a", b"b", b"\xff"]


def test_a_dictionary_can_have_nulls_and_a_value_twice():
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", "a"]))
    holes = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([None, "a"]))
    found = gf.degrees(pa.table({"src": twice, "dst": ["b", "c"]})).compute()
    assert found.out_degree.tolist() == [2, 0, 0]
    edges = pa.table({"src": holes, "dst": ["b", "c"]})
    with pytest.raises(NullVertexError, match="'src' has 1 null"):
        gf.degrees(edges).compute()
    assert gf.degrees(edges, dropna=True).compute().vertex.tolist() == ["a", "c"]


def test_columns_that_a_library_cannot_export_can_be_there_unless_they_are_used():
    library = pytest.importorskip("polars")
    sums = library.Series([1, 2], dtype=library.Int128)
    edges = library.DataFrame({"src": [1, 2], "dst": [2, 3], "sum": sums})
    for given in (edges, edges.lazy()):
        assert gf.degrees(given).compute().vertex.tolist() == [1, 2, 3]
        with pytest.raises(VertexTypeError, match="Int128") as raised:
            gf.sssp(given, weight="sum", sources=[1])
        call = re.search(r"edges\.cast.*", str(raised.value))[0]
        made = eval(call, {"edges": given, "pl": library})
        assert gf.sssp(made, weight="sum", sources=[1]).compute().distance.tolist() == [0, 1, 3]
    with pytest.raises(VertexTypeError, match=r"sources\.to_list\(\)"):
        gf.bfs(edges, sources=sums)


@pytest.mark.parametrize("kind", ["polars", "lazy polars", "PyArrow table", "DuckDB table"])
def test_the_advice_about_weights_fits_the_frame(kind):
    edges = FRAMES[kind](edges_of("int64").assign(weight=[str(one) for one in range(6)]))
    with pytest.raises(WeightError, match="a weight is a real number") as raised:
        gf.sssp(edges, weight="weight", sources=[0])
    call = re.search(r"edges\..*(?=; otherwise)", str(raised.value))[0]
    made = eval(call, {"edges": edges, "pl": pytest.importorskip("polars")})
    assert gf.sssp(made, weight="weight", sources=[0]).compute().distance.max() > 0


def test_decimals_of_duckdb_are_weights():
    edges = pytest.importorskip("duckdb").sql("SELECT 1 AS src, 2 AS dst, 0.1 AS w")
    assert gf.sssp(edges, weight="w", sources=[1]).compute().distance.tolist() == [0.0, 0.1]


@pytest.mark.parametrize(
    ("given", "options", "error", "message"),
    [
        ("polars", {"source": "expression", "target": "dst"}, UnknownColumnError, "polars Expr"),
        (
            np.zeros(2, [("src", "i8", 2), ("dst", "i8")]),
            {},
            EdgeListError,
            r"field 'src'.*\(2, 2\)",
        ),
        ("converted", {}, EdgeListError, "Give the graph of NetworkX"),
    ],
)
def test_slips_with_other_libraries_are_named(given, options, error, message):
    library = pytest.importorskip("polars")
    if "source" in options:
        options = {"source": library.col("src"), "target": library.col("dst")}
    edges = {"polars": polars(edges_of("int64")), "converted": convert_from_nx(nx.path_graph(3))}
    with pytest.raises(error, match=message):
        gf.degrees(edges[given] if isinstance(given, str) else given, **options)


@pytest.mark.parametrize("kind", ["pandas", "Dask", "polars", "PyArrow table", "DuckDB table"])
def test_the_advice_for_ends_of_two_types_fits_the_frame(kind):
    given = pd.DataFrame({"src": [1, 2], "dst": ["2", "3"]})
    edges = given if kind == "pandas" else FRAMES[kind](given)
    with pytest.raises(VertexTypeError, match="ids of one graph are of one type") as raised:
        gf.degrees(edges)
    call = re.search(r"for example with (edges.*)", str(raised.value))[1]
    made = eval(call, {"edges": edges, "pa": pa, "pl": pytest.importorskip("polars")})
    assert gf.degrees(made).compute().vertex.tolist() == ["1", "2", "3"]


def test_batches_are_freed_while_they_are_read():
    size, held = 10_000, []
    before = pa.total_allocated_bytes()
    schema = pa.schema({"source": pa.int64(), "target": pa.int64(), "other": pa.int64()})

    def batches():
        for at in range(20):
            ids = pc.add(pa.array(range(size)), at)
            yield pa.record_batch([ids, pc.negate(ids), pc.add(ids, 1)], schema=schema)
            del ids
            held.append(pa.total_allocated_bytes() - before)

    reader = pa.RecordBatchReader.from_batches(schema, batches())
    frame = as_frame(reader, "edges", lambda names: names[:2])
    assert frame.columns.tolist() == ["source", "target"]
    expected = (np.arange(size) + np.arange(20)[:, None]).ravel()
    np.testing.assert_array_equal(frame["source"], expected)
    np.testing.assert_array_equal(frame["target"], -expected)
    assert max(held) < 4 * 3 * 8 * size  # bytes of four batches of three columns


@pytest.mark.parametrize("kind", ["int8", "uint64", "double", "string"])
@pytest.mark.parametrize("null", [None, 0, 5, 8])
def test_columns_in_batches_equal_those_in_one_piece(kind, null):
    values = [None if at == null else at for at in range(9)]
    values = [str(value) if kind == "string" and value is not None else value for value in values]
    column = pa.chunked_array([values[:2], [], values[2:4], values[4:]], kind)
    table = pa.table({"a": column})
    pd.testing.assert_frame_equal(
        as_frame(table, "edges"), as_frame(table.combine_chunks(), "edges")
    )
