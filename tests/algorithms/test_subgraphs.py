"""Parts of graphs around some vertices: those of NetworkX, with all parallel edges and their weights."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from conftest import BACKEND, frame, host_only, is_as_announced, on_backend
from oracles import confirm
from shapes import MIXED, WAYS

import dask_graphflow as gf
from dask_graphflow.kernels import disk
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.operators import edge_set

pytestmark = pytest.mark.usefixtures("backend")

EDGES = frame(MIXED).assign(w=np.arange(len(MIXED), dtype="float32")[::-1])
CENTERS = [1002, 4004, 6050, 7150, 7151, 12001, 12100]
CENTERS = sorted({*CENTERS} & {*EDGES.a, *EDGES.b})


@pytest.fixture(params=["memory", "disk"])
def storage(request):
    """Where the edges are."""
    if request.param == "disk" and BACKEND.name == "cudf":
        pytest.skip("edges of cuDF cannot be on disk")
    return request.param


@WAYS
@pytest.mark.parametrize("scanned", [0, 1 << 40], ids=["rows", "scan"])
def test_neighbors_are_those_of_networkx(built, directed, scanned, monkeypatch):
    monkeypatch.setattr(edge_set, "SCANNED", scanned)
    lazy = built(EDGES, directed=directed).neighbors(CENTERS)
    found = lazy.compute()
    assert is_as_announced(found, lazy)
    confirm("neighbors", found, EDGES, {"sources": CENTERS}, directed=directed)
    assert len(found) > len({*zip(found.source, found.target, strict=True)})


def test_neighbors_of_a_few_vertices_are_found_without_a_scan(monkeypatch):
    host_only("on a device, a scan takes no longer")
    ends = np.random.default_rng(5).integers(0, 300, (2, 5000))
    edges = pd.DataFrame({"a": ends[0], "b": ends[1], "w": ends[0] % 7 + 0.5})
    edges = pd.concat([edges, edges.iloc[:300].assign(w=0.25)])
    graph = gf.Graph(edges, source="a", target="b", weight="w", directed=False).persist()
    few = [0, 7, 8, 299]
    among = edges[edges.a.isin(few) | edges.b.isin(few)]
    sides = among[["a", "b"]].to_numpy()
    expected = {"source": sides.min(axis=1), "target": sides.max(axis=1), "weight": among.w}
    expected = pd.DataFrame(expected).sort_values(["source", "target", "weight"])
    monkeypatch.setattr(edge_set, "edges_where", None)
    found = graph.neighbors(few).compute()
    pd.testing.assert_frame_equal(found, expected.reset_index(drop=True))


@WAYS
@pytest.mark.parametrize("read", ["chosen rows", "all rows"])
def test_edges_of_a_subgraph_are_those_of_networkx(built, directed, storage, read, monkeypatch):
    monkeypatch.setattr(edge_set, "MANY", {"chosen rows": 0, "all rows": 1 << 40}[read])
    monkeypatch.setattr(edge_set, "BLOCK", 7)
    monkeypatch.setattr(disk, "LEAST", 1)
    graph = nx.from_pandas_edgelist(EDGES, "a", "b")
    vertices = sorted({v for center in CENTERS for v in nx.ego_graph(graph, center, 1)})
    g = built(EDGES, directed=directed, storage=storage)
    found = g.induced_subgraph(pd.Series(vertices)).compute()
    confirm("induced_subgraph", found, EDGES, {"subset": vertices}, directed=directed)


@WAYS
@pytest.mark.parametrize("radius", [0, 1, 2, 2**63 - 1])
def test_an_ego_graph_is_that_of_networkx(built, radius, directed):
    found = built(EDGES, directed=directed).ego_graph(CENTERS, radius=radius).compute()
    confirm("ego_graph", found, EDGES, {"centers": CENTERS, "radius": radius}, directed=directed)
    assert len(found)


@pytest.mark.parametrize(
    ("call", "edges"), [("induced_subgraph", 1), ("ego_graph", 165), ("neighbors", 20)]
)
def test_only_the_rows_of_the_vertices_are_read(built, storage, call, edges, monkeypatch):
    monkeypatch.setattr(disk, "LEAST", 1)
    first = np.arange(2000).repeat(10)
    band = frame(zip(first, first + np.tile(np.arange(1, 11), 2000), strict=True))
    g = built(band, directed=call == "neighbors", storage=storage)
    assert len(getattr(g, call)([700, 701]).compute()) == edges
    kernels, read = rows_kernels.of(on_backend(np.empty(0))), {"owners": [], "between": []}
    lengths = {"owners": lambda rows, *_: len(rows.ends)}
    lengths["between"] = lambda rows, which: int(np.diff(rows.offsets)[which].sum())
    for name, length in lengths.items():
        whole = getattr(kernels, name)

        def counted(*of, name=name, whole=whole, length=length, **how):
            read[name].append(length(*of))
            return whole(*of, **how)

        monkeypatch.setattr(kernels, name, counted)
    getattr(g, call)([700, 701]).compute()
    assert 0 < max(map(sum, read.values())) <= 22 * 20  # of 20,000 edges
