"""The vertices and edges of a graph as frames, and its reversed, undirected and other forms."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from conftest import BACKEND, ENDS, GRAPHS, fewer, frame, host_only, on_backend, partitioned
from shapes import KINDS, power_law, same

import dask_graphflow as gf
from dask_graphflow.exceptions import BackendError, UsageError


def text(wanted):
    """Return Dask's own dtype of text for the columns of a frame that contain text."""
    named = {
        name: "string[pyarrow]" for name in wanted if pd.api.types.is_string_dtype(wanted[name])
    }
    return named if BACKEND.name == "pandas" else {}


SOME = fewer(GRAPHS, {name: GRAPHS[name] for name in ("empty", "duplicates", "star")})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [True, False])
def test_vertices_and_edges_are_those_of_the_frame(built, rng, members, kind, directed):
    edges = KINDS[kind](power_law(rng, edges=500))
    g = built(edges, directed=directed)
    if not directed:
        ordered = np.sort(edges[["a", "b"]].to_numpy(), axis=1)
        edges = edges.assign(a=ordered[:, 0], b=ordered[:, 1]).astype(edges.dtypes)
    wanted = edges.rename(columns={"a": "source", "b": "target", "w": "weight"})
    wanted = wanted.astype(text(wanted))
    same(g.edges().compute(), wanted.sort_values(list(wanted)))
    ids = pd.concat([edges.a, edges.b]).drop_duplicates().sort_values()
    same(g.vertices().compute(), ids.to_frame("vertex").astype(text(ids.to_frame("vertex"))))
    assert len(on_backend(g)) == len(ids)


@pytest.mark.parametrize(
    ("ids", "there", "not_there"),
    [
        ([1, 2, 9], 9, [3, -1, 10**30, "x", None, 1.5, [1], (1, 2)]),
        (["x", "y", "z"], "z", ["a", 1, None, b"x", ("x", "y")]),
        (pd.to_datetime(["2020-01-01", "2020-01-02", "2021-01-01"]), pd.Timestamp("2020-01-02"), [
            pd.Timestamp("2020-01-03"), 5, "x", pd.NaT,
        ]),
    ],
)  # fmt: skip
def test_ids_are_in_the_graph_or_not(built, members, ids, there, not_there):
    edges = pd.DataFrame({"a": list(ids), "b": [ids[1], ids[2], ids[0]]})
    g = on_backend(built(edges, partitions=3))
    assert there in g
    assert not [one for one in not_there if one in g]


def test_tuples_are_in_a_graph_with_ids_of_two_columns():
    edges = pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [2, 3], "d": ["y", "z"]})
    g = gf.Graph(edges, source=["a", "b"], target=["c", "d"])
    assert (3, "z") in g
    assert (3, "y") not in g
    assert 3 not in g
    assert list(g.to_networkx()) == [(1, "x"), (2, "y"), (3, "z")]
    assert g.to_scipy()[1].tolist() == [(1, "x"), (2, "y"), (3, "z")]


def test_a_graph_is_true_without_being_built():
    def never():
        raise AssertionError("the graph was built")

    edges = partitioned(frame([]), 1).map_partitions(lambda part: never(), meta=frame([]))
    assert gf.Graph(edges, **ENDS)


CALLS = (
    lambda g: g.edges(),
    lambda g: g.vertices(),
    lambda g: g.degrees(),
    lambda g: g.bfs([0]),
    lambda g: g.pagerank(),
    lambda g: g.leiden(),
    lambda g: g.strongly_connected_components(),
)


def test_a_reversed_graph_equals_one_of_reversed_edges(built, rng, members):
    edges = power_law(rng)
    g = built(edges)
    back = g.reverse()
    wanted = built(edges.rename(columns={"a": "b", "b": "a"}))
    for call in CALLS:
        same(call(back).compute(), call(wanted).compute())
        same(call(back.reverse()).compute(), call(g).compute())
    assert (back.num_vertices, back.num_edges) == (g.num_vertices, g.num_edges)
    assert "source           'b'" in repr(back)


@pytest.mark.parametrize("multi", ["keep", "sum", "min"])
def test_an_undirected_graph_equals_one_that_was_built_so(built, rng, members, multi):
    edges = power_law(rng)
    g = built(edges, multi=multi)
    found, wanted = g.to_undirected(), built(edges, directed=False, multi=multi)
    assert (found.directed, found.num_edges) == (False, wanted.num_edges)
    for call in CALLS:
        same(call(found).compute(), call(wanted).compute())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [True, False])
def test_an_updated_graph_equals_one_of_the_edges_that_remain(built, rng, members, kind, directed):
    edges = KINDS[kind](power_law(rng, edges=500))
    pairs = np.sort(edges[["a", "b"]].to_numpy(), axis=1)
    pairs = pd.MultiIndex.from_arrays((edges.a, edges.b) if directed else tuple(pairs.T))
    gone = pairs.isin(pairs[:20])
    g = built(edges[:400], directed=directed)
    g = g.update(edges[400:], edges[:20])
    new = np.arange(len(edges)) >= 400
    wanted = built(edges[~gone | new], directed=directed, vertices=[*edges.a, *edges.b])
    for call in ("edges", "vertices", "pagerank"):
        same(getattr(g, call)().compute(), getattr(wanted, call)().compute())
    assert (g.num_vertices, g.num_edges) == (wanted.num_vertices, wanted.num_edges)


def test_derived_graphs_use_the_shards_of_their_graph(built, rng, members):
    g = on_backend(built(power_law(rng)))
    back = g.reverse()
    assert back._shards.built is g._shards.built
    assert back._shards.persisted
    both = g.to_undirected()
    assert both.to_undirected() is both
    assert both.reverse() is both


def test_derived_graphs_can_be_lazy_persisted_and_saved(tmp_path, rng):
    edges = power_law(rng)
    g = gf.Graph(edges, **ENDS, weight="w").reverse()
    persisted = g.persist()
    g.save(tmp_path / "graph")
    for one in (persisted, gf.load_graph(tmp_path / "graph")):
        same(one.pagerank().compute(), g.pagerank().compute())
        same(one.edges().compute(), g.edges().compute())


def test_an_undirected_graph_of_first_edges_is_refused():
    g = gf.Graph(frame([(1, 2)]), **ENDS, multi="first")
    with pytest.raises(UsageError, match=r"multi='first'.*directed=False from the edges"):
        g.to_undirected()


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("pairs", SOME.values(), ids=SOME)
def test_scipy_and_networkx_get_the_same_graph(built, members, pairs, directed, weighted):
    edges = frame(pairs)
    if weighted:
        edges["w"] = np.arange(len(edges)) + 1.0
    g = built(edges, directed=directed)
    matrix, ids = g.to_scipy()
    graph = g.to_networkx()
    assert list(graph) == ids.tolist()
    assert graph.is_directed() == directed
    assert graph.number_of_edges() == len(edges)
    if len(graph):
        wanted = nx.to_scipy_sparse_array(graph, dtype=matrix.dtype)
        assert (matrix != wanted).nnz == 0
    kind = nx.MultiDiGraph if directed else nx.MultiGraph
    made = kind()
    made.add_nodes_from(ids.tolist())
    if weighted:
        made.add_weighted_edges_from(edges.itertuples(index=False, name=None))
    else:
        made.add_edges_from(pairs)
    assert nx.utils.graphs_equal(kind(graph).to_directed(), made.to_directed()) or (
        nx.is_isomorphic(graph, made)
    )


def test_a_hybrid_graph_has_the_same_contents(rng):
    host_only("hybrid graphs take edges in host memory")
    edges = power_law(rng)
    placed = gf.Graph(
        partitioned(edges, 3), **ENDS, weight="w", hybrid=gf.Hybrid([0.3, 0.7], "random")
    ).persist()
    plain = gf.Graph(edges, **ENDS, weight="w").persist()
    for call in CALLS:
        same(call(placed.reverse()).compute(), call(plain.reverse()).compute())
        same(call(placed.to_undirected()).compute(), call(plain.to_undirected()).compute())
    assert (placed.to_scipy()[0] != plain.to_scipy()[0]).nnz == 0


@pytest.mark.parametrize("library", ["scipy", "networkx"])
def test_an_error_says_which_library_is_missing(monkeypatch, library):
    g = gf.Graph(frame([(1, 2)]), **ENDS)

    def without(module, *arguments):
        raise ImportError(f"No module named {module!r}")

    monkeypatch.setattr("dask_graphflow.calls.graph_contents.importlib.import_module", without)
    with pytest.raises(BackendError, match=f"needs {library}.*pip install {library}"):
        getattr(g, f"to_{library}")()
