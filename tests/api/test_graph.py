"""Graphs: ids, options for edges, members, and errors for bad input."""

from __future__ import annotations

import os
import re
import signal

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import (
    ENDS,
    frame,
    host_only,
    is_as_announced,
    on_backend,
    partitioned,
    to_host,
)
from distributed import wait
from shapes import ASKED, ID_TYPES, KINDS, LEAST, power_law, same
from shapes import graph as graph_of

import dask_graphflow as gf
from dask_graphflow.exceptions import (
    ConvergenceError,
    EdgeListError,
    NullVertexError,
    OptionError,
    UnknownColumnError,
    UnknownVertexError,
    VertexTypeError,
    WeightError,
)

pytestmark = pytest.mark.usefixtures("backend")

DIRECTED = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])


def kept(pairs, weight, multi, directed):
    """Return the edges as a dict of lists of weights, by a loop."""
    found = {}
    for (u, v), w in zip(pairs, weight, strict=True):
        known = found.setdefault((u, v) if directed or u <= v else (v, u), [])
        known.append(w)
    reduce = {"keep": list, "sum": lambda w: [sum(w)], "min": lambda w: [min(w)]}
    reduce["first"] = lambda w: w[:1]
    return {ends: reduce[multi](w) for ends, w in found.items()}


# Ids


@pytest.mark.parametrize("partitions", [0, 1, 9, 150], ids=lambda n: f"{n or 'pandas'}")
@pytest.mark.parametrize("kind", ID_TYPES)
def test_ids_of_any_type(kind, partitions, rng):
    dtype, make = ID_TYPES[kind]
    pairs = [(make(u), make(v)) for u, v in rng.integers(0, 120, (90, 2)).tolist()]
    edges = frame(pairs, dtype)
    graph = gf.Graph(partitioned(edges, partitions) if partitions else edges, **ENDS)
    result = graph.degrees()
    degrees = result.compute(scheduler="sync")
    vertices = sorted({end for pair in pairs for end in pair})
    assert degrees["vertex"].tolist() == vertices
    assert degrees["out_degree"].tolist() == [sum(u == v for u, _ in pairs) for v in vertices]
    assert degrees["in_degree"].tolist() == [sum(u == v for _, u in pairs) for v in vertices]
    assert is_as_announced(degrees, result)
    paths = graph.bfs([pairs[0][0]])
    found = paths.compute(scheduler="sync")
    assert is_as_announced(found, paths)
    known = {*pairs, *zip(found["vertex"], found["vertex"], strict=True)}
    edge = zip(found["predecessor"].fillna(found["vertex"]), found["vertex"], strict=True)
    assert set(edge) <= known


@pytest.mark.parametrize("known", [True, False])
def test_categoricals_stand_for_their_values(known):
    edges = dd.from_pandas(frame([("b", "a"), ("c", "b")], "str"), npartitions=2).astype("category")
    found = gf.Graph(edges.categorize() if known else edges, **ENDS).bfs(["c"]).compute()
    assert found["vertex"].tolist() == ["a", "b", "c"]
    assert found["distance"].tolist() == [2, 1, 0]


@pytest.mark.parametrize("partitions", [1, 3])
def test_ids_of_two_columns(partitions):
    edges = pd.DataFrame({"p": ["x", "y"], "q": [1, 2], "r": ["y", "x"], "s": [2, 5]})
    graph = gf.Graph(partitioned(edges, partitions), source=["p", "q"], target=["r", "s"])
    found = graph.bfs([("x", 1)]).compute()
    assert list(found.columns) == [
        "vertex_0", "vertex_1", "distance", "predecessor_0", "predecessor_1"
    ]  # fmt: skip
    assert found.iloc[:, :3].to_numpy().tolist() == [["x", 1, 0], ["x", 5, 2], ["y", 2, 1]]
    assert found["predecessor_1"].fillna(-1).tolist() == [-1, 2, 1]


# What is counted


@DIRECTED
@pytest.mark.parametrize("multi", ["keep", "sum", "min", "first"])
def test_multi_decides_which_parallel_edges_and_weights_are_kept(built, graph, multi, directed):
    weight = np.random.default_rng(1).integers(1, 9, len(graph)) / 2
    made = built(frame(graph).assign(w=weight), directed=directed, multi=multi)
    wanted = kept(graph, weight.tolist(), multi, directed)
    vertices = {end for pair in graph for end in pair}
    assert made.num_vertices == len(vertices)
    assert made.num_edges == sum(map(len, wanted.values()))
    out, into = dict.fromkeys(vertices, 0), dict.fromkeys(vertices, 0)
    for (u, v), found in wanted.items():
        out[u] += len(found)
        into[v] += len(found)
        if not directed and u != v:
            out[v] += len(found)
    degrees = made.degrees().compute().set_index("vertex")
    assert degrees.dtypes.eq("int64").all()
    if directed:
        assert degrees["out_degree"].to_dict() == out
        assert degrees["in_degree"].to_dict() == into
    else:
        assert degrees["degree"].to_dict() == out
    for u, v in graph[:3]:
        if u != v:
            near = made.sssp([u]).compute().set_index("vertex")["distance"]
            assert near[v] <= min(wanted[(u, v) if directed or u <= v else (v, u)])


@pytest.mark.parametrize(
    ("multi", "far"), [("keep", 2.0), ("sum", 9.0), ("min", 2.0), ("first", 4.0)]
)
def test_the_first_edge_is_the_first_of_the_frame(built, multi, far):
    edges = frame([(0, 1), (1, 0), (0, 1)]).assign(w=[4.0, 2.0, 3.0])
    made = built(edges, directed=False, multi=multi)
    assert made.num_edges == (3 if multi == "keep" else 1)
    assert [made.sssp([u]).compute()["distance"].max() for u in (0, 1)] == [far, far]


SUMS = {
    "bool": [True] * 3,
    "int8": [127] * 1000,
    "int16": [2**15 - 1] * 70_000,
    "int32": [2**31 - 1] * 3,
    "float16": [2048, 1, 1],
    "float32": [2**24, 1, 1],
    "Float32": [2**24, 1, 1],
}


@pytest.mark.parametrize("dtype", SUMS)
def test_weights_are_added_in_a_type_that_holds_their_sum(built, dtype):
    if dtype == "float16":
        host_only("cuDF has no float16")
    weight = pd.Series(SUMS[dtype], dtype=dtype)
    made = built(frame([(0, 1)] * len(weight)).assign(w=weight), multi="sum")
    assert made.sssp([0]).compute()["distance"].tolist() == [0.0, float(sum(SUMS[dtype]))]


def test_unsigned_weights_are_exact_or_refused():
    edges = frame([(0, 1)] * 2 + [(2, 3)])
    edges["w"] = np.array([2**53 + 1, 2**53, 2**63], "uint64")
    how = {**ENDS, "weight": "w", "multi": "sum"}
    heaviest = gf.EdgeOp("heaviest", target="w", signal="int64(weight)", slot="max")
    found = gf.Graph(edges.iloc[:2], **how).run(heaviest, columns={"w": np.int64(0)}).compute()
    assert found["w"].tolist() == [0, 2**54 + 1]
    with pytest.raises(WeightError, match=r"'w' holds 9223372036854775808.*astype\('float64'\)"):
        gf.Graph(edges, **how).num_edges  # noqa: B018
    assert gf.Graph(edges.astype({"w": "float64"}), **how).num_edges == 2


def test_an_integer_sum_beyond_int64_is_refused_and_a_float_sum_is_not(built):
    edges = frame([(0, 1)] * 4 + [(2, 3)]).assign(w=2**62)
    with pytest.raises(WeightError, match=r"not fit int64.*astype\('float64'\)"):
        built(edges, multi="sum").num_edges  # noqa: B018
    made = built(edges.astype({"w": "float64"}), multi="sum")
    assert made.sssp([0]).compute()["distance"].tolist() == [0.0, 2.0**64]


@pytest.mark.parametrize("dtype", ["int64", "str"])
def test_a_graph_without_edges_has_no_vertices(built, dtype):
    graph = built(frame([], dtype))
    assert (graph.num_vertices, graph.num_edges) == (0, 0)
    for result in (graph.degrees(), graph.pagerank()):
        found = result.compute()
        assert len(found) == 0
        assert is_as_announced(found, result)


# Vertices without edges


def series(values, dtype):
    return pd.Series(values, dtype=dtype)


LISTED = {
    "a series": lambda ids: series(ids, "int64"),
    "of another integer type": lambda ids: series(ids, "int16"),
    "an index": lambda ids: pd.Index(ids),
    "a frame with more columns": lambda ids: pd.DataFrame({"id": ids, "name": "x"}),
    "lazy": lambda ids: dd.from_pandas(pd.DataFrame({"id": ids}), npartitions=3),
    "a lazy series": lambda ids: dd.from_pandas(series(ids, "int64"), npartitions=2),
}


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("listed", LISTED)
def test_listed_vertices_are_in_every_result(listed, shards):
    edges = partitioned(frame([(3, 5), (5, 3), (5, 8), (8, 8)]).assign(w=1.0), 4)
    given = on_backend(LISTED[listed]([5, 12, 0, 12]))
    options = {**ENDS, "weight": "w", "vertices": given, "shards": shards}
    graph = gf.Graph(edges, **options)
    undirected = gf.Graph(edges, **options, directed=False)
    ids = [0, 3, 5, 8, 12]
    with dask.config.set(scheduler="threads"):
        assert (graph.num_vertices, graph.num_edges) == (5, 4)
        degrees = to_host(graph.degrees().compute())
        assert degrees["vertex"].tolist() == ids
        assert degrees["out_degree"].tolist() == [0, 1, 2, 1, 0]
        ranks = to_host(graph.pagerank(tol=None, max_iter=100).compute())
        assert ranks["vertex"].tolist() == ids
        np.testing.assert_allclose(
            ranks["pagerank"], plain_pagerank(5, {1: [2], 2: [1, 3], 3: [3]})
        )
        assert to_host(graph.bfs([12]).compute()).iloc[:, :2].to_numpy().tolist() == [[12, 0]]
        assert to_host(graph.sssp([0, 3]).compute())["vertex"].tolist() == [0, 3, 5, 8]
        for found in (undirected.label_propagation(), undirected.connected_components()):
            found = to_host(found.compute())
            assert found["vertex"].tolist() == ids
            assert found.iloc[[0, 4], 1].tolist() == [0, 12]
        own = to_host(graph.run(LEAST, columns={"least": "vertex"}).compute())
        assert own["least"].tolist() == [0, 3, 3, 3, 12]
        layout = getattr(graph, "graph", graph).layout()  # is pandas' for every backend
        assert layout.compute()["vertices"].sum() == 5


def plain_pagerank(count, out, alpha=0.85):
    """Return ranks, computed by a loop. Vertices are numbered from 0; `out` has the targets of each."""
    ranks = [1 / count] * count
    for _ in range(100):
        lost = sum(rank for vertex, rank in enumerate(ranks) if vertex not in out)
        found = [(1 - alpha + alpha * lost) / count] * count
        for vertex, ends in out.items():
            for end in ends:
                found[end] += alpha * ranks[vertex] / len(ends)
        ranks = found
    return ranks


@pytest.mark.parametrize(
    ("vertices", "error", "message"),
    [
        (5, EdgeListError, r"vertices is a builtins.int; give a DataFrame of Dask"),
        ([(1, 2)], VertexTypeError, r"^vertices= has dtype list"),
        (pd.Series(["x"]), VertexTypeError, r"of one type"),
        (pd.DataFrame(index=[0]), EdgeListError, r"vertices has 0 columns and an id has 1"),
    ],
    ids=["an id", "pairs", "text", "no column"],
)
def test_vertices_that_are_refused(vertices, error, message):
    with pytest.raises(error, match=message):
        gf.Graph(frame([(0, 1)]), **ENDS, vertices=vertices)


def test_listed_vertices_that_are_null_are_refused_or_left_out():
    edges, listed = pd.DataFrame({"a": ["x"], "b": ["y"]}), pd.Series(["z", None], dtype="str")
    with pytest.raises(NullVertexError, match=r"Pass dropna=True"):
        gf.Graph(edges, **ENDS, vertices=listed).num_vertices  # noqa: B018
    assert gf.Graph(edges, **ENDS, vertices=listed, dropna=True).num_vertices == 3


# Members


@pytest.mark.parametrize("pairs", [[(3, 4)], [(0, 1), (1, 2), (2, 2)], [(7, 7)]])
def test_fewer_edges_than_members(scheduler, pairs):
    edges = partitioned(frame(pairs).assign(w=1.5), 4)
    one, many = (graph_of(edges, count, False) for count in (1, 4))
    for ask in ASKED.values():
        found, wanted = (to_host(ask(g, [pairs[0][0]]).compute()) for g in (many, one))
        same(found, wanted)


@DIRECTED
@pytest.mark.parametrize("members", [3])
def test_the_trace_of_each_member_is_that_of_one(built, members, rng, directed):
    edges, traces = power_law(rng), []
    for count in (1, members):
        _, trace = built(edges, shards=count, directed=directed).bfs([0], trace=True)
        traces.append(trace.compute())
    one, many = traces
    columns = ["superstep", "direction", "frontier", "edges"]
    assert "member" not in one
    for member in range(members):
        same(many.loc[many.member == member, columns], one[columns])


@pytest.mark.parametrize("shards", [0, -1, 1.5, "two"])
def test_an_invalid_number_of_shards_is_refused(shards):
    with pytest.raises(OptionError, match=r"shards=.*"):
        gf.Graph(frame([(0, 1)]), **ENDS, shards=shards)


def test_there_are_no_more_shards_than_partitions():
    edges = partitioned(frame([(0, 1), (1, 2)]), 2)
    assert re.search(r"^shards +2$", repr(gf.Graph(edges, **ENDS, shards=9)), re.MULTILINE)
    assert re.search(r"^shards +1$", repr(gf.Graph(edges, **ENDS)), re.MULTILINE)


@pytest.mark.parametrize("where", ["threads", "cluster"])
def test_errors_are_those_of_one_member(where, request):
    if where == "cluster":
        request.getfixturevalue("client")
    edges = partitioned(frame([(i, i + 1) for i in range(50)]).assign(w=1.0), 3)
    late = partitioned(frame([(i, i + 1) for i in range(50)]).assign(w=[1.0] * 49 + [-1.0]), 3)
    with dask.config.set(scheduler="threads" if where == "threads" else None):
        g = graph_of(edges, 2, True)
        with pytest.raises(UnknownVertexError, match=r"1 of 2 ids is not in the graph: 77;"):
            g.bfs([1, 77]).compute()
        with pytest.raises(WeightError, match="1 weight is negative or NaN"):
            graph_of(late, 2, True).sssp([1]).compute()
        with pytest.raises(ConvergenceError, match="after 2 iterations"):
            g.pagerank(max_iter=2).compute()
        assert to_host(g.bfs([1]).compute())["distance"].tolist() == list(range(50))


@pytest.mark.parametrize("kind", KINDS)
def test_on_a_cluster_each_worker_has_a_shard(client, rng, kind):
    edges = KINDS[kind](power_law(rng))
    start = edges.a.iloc[[0, 700]].tolist()
    asked = [ASKED[name] for name in ("bfs", "sssp", "pagerank", "label propagation", "degrees")]
    with dask.config.set(scheduler="threads"):
        one = graph_of(edges, 1, False)
        wanted = [to_host(ask(one, start).compute()) for ask in asked]
    edges = dd.from_pandas(edges, npartitions=4)
    many = gf.Graph(edges, **ENDS, weight="w", directed=False, shards=2)
    assert re.search(r"^shards +2$", repr(many), re.MULTILINE)
    many = many.persist()
    built = getattr(many, "graph", many)._shards.built
    wait(built)
    at = client.who_has([part.dask[part.key] for part in built])
    assert len({worker for workers in at.values() for worker in workers}) == 2
    for ask, its in zip(asked, wanted, strict=True):
        same(to_host(ask(many, start).compute()), its)


@pytest.mark.slow
@pytest.mark.usefixtures("host_memory")
@pytest.mark.parametrize("hybrid", [None, gf.Hybrid([0.3, 0.7])], ids=["even", "by shares"])
def test_a_worker_lost_between_two_calls_changes_nothing(mortal, rng, hybrid):
    edges = power_law(rng)
    with dask.config.set(scheduler="threads"):
        wanted = graph_of(edges, 1, False).bfs([0]).compute()
    many = graph_of(dd.from_pandas(edges, npartitions=4), 2, False, hybrid=hybrid)
    same(many.bfs([0]).compute(), wanted)
    os.kill(next(iter(mortal.run(os.getpid).values())), signal.SIGKILL)
    same(many.bfs([0], direction="push").compute(), wanted)
    mortal.wait_for_workers(2, timeout=60)
    same(many.bfs([0], direction="gemini").compute(), wanted)
    assert np.isclose(many.pagerank().compute().pagerank.sum(), 1)


# Bad input


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"source": "aa"}, UnknownColumnError, r"source='aa' is not a column .* did you mean 'a'"),
        ({"target": None}, UnknownColumnError, "source= is given without target="),
        ({"source": ["a", "b"]}, EdgeListError, r"has 2 columns and target='b' has 1"),
        ({"source": "f"}, VertexTypeError, r"'f' has dtype float64; ids are integers"),
        ({"source": "s"}, VertexTypeError, r"of one type. Make both text"),
        ({"weight": "ww"}, UnknownColumnError, r"weight='ww' is not a column .* mean 'w'"),
        ({"weight": "s"}, WeightError, r"weight='s' has dtype \w+; a weight is a real number"),
        ({"multi": "sum"}, WeightError, r"multi='sum' needs weights; name their column"),
        ({"multi": "min"}, WeightError, r"multi='min' needs weights"),
        ({"multi": "sun"}, OptionError, r"'sun'; give 'keep', 'sum', 'min', 'first'; did you mean"),
        ({"directed": "no"}, OptionError, r"directed='no'; give True or False"),
    ],
)
def test_calls_that_are_refused(options, error, message):
    edges = frame([(0, 1)]).assign(f=0.5, s="x", w=1.0)
    with pytest.raises(error, match=message):
        gf.Graph(edges, **{**ENDS, **options})


@pytest.mark.parametrize(
    "vertices",
    [[9, 1, 9], (9,), {9}, range(9, 10), np.array([9]), np.array([9], "int8"), pd.Index([9])],
    ids=lambda vertices: type(vertices).__name__,
)
def test_vertices_are_a_list_an_array_or_a_frame(vertices):
    for call in (gf.pagerank, gf.connected_components):
        found = call(frame([(0, 1)]), **ENDS, vertices=vertices).compute()
        assert to_host(found).vertex.tolist() == [0, 1, 9]
        assert len(call(frame([(0, 1)]), **ENDS, vertices=[]).compute()) == 2


@pytest.mark.usefixtures("host_memory")
def test_a_tuple_that_is_the_name_of_a_column_is_one_column():
    edges = frame([(0, 1), (1, 2)]).assign(w=1.0)
    edges.columns = pd.MultiIndex.from_tuples([("a", "s"), ("a", "t"), ("b", "w")])
    ends = {"source": ("a", "s"), "target": ("a", "t")}
    found = gf.sssp(edges, **ends, weight=("b", "w"), sources=[0]).compute()
    assert found.distance.tolist() == [0, 1, 2]
    assert len(gf.connected_components(edges, **ends).compute()) == 3
    assert len(gf.pagerank(frame([(0, 1)]), source=("a",), target=("b",)).compute()) == 2


def test_pairs_have_no_named_columns():
    with pytest.raises(UnknownColumnError, match=r"'a' is not a column .* has 'source', 'target'"):
        gf.Graph([(0, 1)], **ENDS)


@pytest.mark.parametrize("partitions", [1, 2])
def test_null_ids_are_refused_or_left_out(partitions):
    edges = pd.DataFrame({"a": ["x", None, "y"], "b": ["y", "z", None], "w": [1.0, None, 2.0]})
    edges = partitioned(edges, partitions)
    with pytest.raises(NullVertexError, match=r"column 'a' has 1 null in .* Pass dropna=True"):
        gf.Graph(edges, **ENDS).degrees().compute()
    left = gf.Graph(edges, **ENDS, weight="w", dropna=True)
    assert left.degrees().compute()["vertex"].tolist() == ["x", "y"]


def test_the_repr_of_a_graph_shows_its_arguments():
    edges = frame([(0, 1)]).assign(w=1)
    graph = gf.Graph(edges, **ENDS, weight="w", directed=False)
    said = dict(line.split(maxsplit=1) for line in repr(graph).splitlines())
    assert said["Graph"] == "undirected"
    assert (said["source"], said["target"], said["weight"]) == ("'a'", "'b'", "'w'")
