"""Community metrics: those of NetworkX, of computed and of lazy communities."""

from __future__ import annotations

import dask
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, computed, frame, is_as_announced, partitioned
from oracles import confirm
from shapes import MIXED, WAYS

import dask_graphflow as gf
from dask_graphflow.exceptions import EdgeListError, OptionError, UnknownVertexError, WeightError

pytestmark = pytest.mark.usefixtures("backend")

VERTICES = sorted({vertex for pair in MIXED for vertex in pair})
CHOSEN = pd.DataFrame(
    {"vertex": VERTICES, "community": np.random.default_rng(2).integers(-3, 4, len(VERTICES))}
).sample(frac=1, random_state=1)
WEIGHTED = frame(MIXED).assign(w=np.random.default_rng(1).integers(0, 9, len(MIXED)) / 4)


def rows(found):
    return list(found.itertuples(index=False, name=None))


def agree(found, edges, communities, directed=False):
    names = ["community", "size", "internal_edges", "cut_edges"]
    assert list(found) == [*names, "density", "conductance", "modularity"]
    options = {"communities": rows(communities)}
    confirm("community_metrics", found, edges, options, directed=directed, rtol=1e-9, atol=1e-12)
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    graph.add_nodes_from(communities.vertex)
    graph.add_weighted_edges_from(rows(edges if "w" in edges else edges.assign(w=1)))
    sets = communities.groupby("community").vertex.agg(set)
    assert found.modularity.sum() == pytest.approx(nx.community.modularity(graph, sets))


@WAYS
@pytest.mark.parametrize("edges", [frame(MIXED), WEIGHTED], ids=["unweighted", "weighted"])
def test_metrics_are_those_of_networkx(built, edges, directed):
    lazy = built(edges, directed=directed).community_metrics(CHOSEN)
    found = lazy.compute()
    assert is_as_announced(found, lazy)
    agree(found, edges, CHOSEN, directed)


@pytest.mark.parametrize("name", ["leiden", "connected_components"])
def test_results_of_other_functions_need_not_be_computed(built, name):
    g = built(MIXED, directed=False)
    lazy = getattr(g, name)()
    found = g.community_metrics(lazy).compute()
    communities = lazy.compute().set_axis(["vertex", "community"], axis=1)
    agree(found, frame(MIXED), communities)


def test_weights_without_a_short_binary_form_give_the_same_bits(built):
    edges = WEIGHTED.assign(w=WEIGHTED.w / 7 + 1e-3)
    alone = built(edges, directed=False, shards=1).community_metrics(CHOSEN).compute()
    found = built(edges, directed=False).community_metrics(partitioned(CHOSEN, 3)).compute()
    pd.testing.assert_frame_equal(found.reset_index(drop=True), alone.reset_index(drop=True))
    agree(found, edges, CHOSEN)


def test_light_communities_beside_heavy_ones(built):
    cliques = [(10 * k + i, 10 * k + j) for k in range(2) for i in range(4) for j in range(i)]
    edges = frame([*cliques, (3, 10)]).assign(w=[1e15] * 6 + [0.75] * 6 + [0.5])
    chosen = pd.DataFrame({"v": [*range(4), *range(10, 14)], "c": [0] * 4 + [1] * 4})
    found = built(edges, directed=False).community_metrics(chosen).compute()
    # NetworkX adds up floats, and loses a cut edge.
    assert found.internal_edges.tolist() == [6e15, 4.5]
    assert found.cut_edges.tolist() == [0.5, 0.5]
    assert found.density.tolist() == [1e15, 0.75]
    edges["w"] = [1e20] * 6 + [0.75] * 6 + [0.5]
    g = built(edges, directed=False)
    for call in (lambda: g.community_metrics(chosen), g.louvain, g.leiden):
        with pytest.raises(WeightError, match=r"at least 2\*\*-57 of the .*below 1.6e\+04"):
            call().compute()
    left = built(edges[edges.w >= 1.6e4], directed=False, vertices=pd.Series([10, 11, 12, 13]))
    found = left.community_metrics(chosen).compute()
    assert found.internal_edges.tolist() == [6e20, 0]
    assert left.louvain().compute().community.tolist() == [0, 0, 0, 0, 10, 11, 12, 13]


def test_ids_and_communities_of_several_types(built):
    edges = pd.DataFrame({"a": list("xyzx"), "b": list("yzxw"), "w": [1, 1, 1, 1]})
    g = built(edges, directed=False, vertices=pd.Series(["u"]))
    found = pd.DataFrame({"id": list("uwxyz"), "group": ["B", "a", "B", "B", "B"]})
    lazy = g.community_metrics(found)
    assert is_as_announced(lazy.compute(), lazy)
    assert [row[:4] for row in rows(lazy.compute())] == [("B", 4, 3.0, 1.0), ("a", 1, 0.0, 1.0)]
    pairs = pd.DataFrame({"p": ["x", "x"], "q": [2, 1], "r": ["x", "y"], "s": [1, 7]})
    g = gf.Graph(pairs, source=["p", "q"], target=["r", "s"], directed=False)
    found = g.community_metrics(g.connected_components()).compute()
    assert list(found)[:3] == ["community_0", "community_1", "size"]
    assert [row[:3] for row in rows(found)] == [("x", 1, 3)]


def test_lazy_communities_on_a_cluster(client):
    edges = partitioned(frame(MIXED), 4)
    cut, chosen = gf.Graph(edges, **ENDS, shards=2), gf.Graph(edges, **ENDS)
    for g in (cut, cut.persist(), chosen, chosen.persist()):
        lazy = g.connected_components()
        found, communities = computed(g.community_metrics(lazy), lazy)
        agree(found, frame(MIXED), communities.set_axis(["vertex", "community"], axis=1))


def test_communities_that_are_refused(built):
    g = built([(1, 2), (2, 3), (100, 200)], directed=False)
    chosen = pd.DataFrame({"v": [1, 2, 3, 100, 200], "c": [1, 1, 2, 2, 2]})
    with pytest.raises(OptionError, match=r"communities has 3 columns; give the id in 1 column"):
        g.community_metrics(chosen.assign(more=1))
    with pytest.raises(
        EdgeListError, match=r"communities is a builtins.list; give a DataFrame of Dask"
    ):
        g.community_metrics([1, 2])
    with pytest.raises(
        EdgeListError, match=r"1 vertex of 5 has no row in communities, such as 100;"
    ):
        g.community_metrics(chosen[chosen.v != 100]).compute()
    with pytest.raises(
        EdgeListError, match=r"2 vertices of 5 have several rows.*such as 3, 100; give"
    ):
        g.community_metrics(pd.concat([chosen, chosen[2:4]])).compute()
    with pytest.raises(UnknownVertexError, match=r"not in the graph: 9"):
        g.community_metrics(pd.concat([chosen, chosen[:1].assign(v=9)])).compute()
    with pytest.raises(EdgeListError, match=r"a community is null"):
        g.community_metrics(chosen.assign(c=[1.0, 1.0, None, 2.0, 2.0])).compute()
    weighted = built(frame([(1, 2)]).assign(w=[-1.0]), directed=False)
    with dask.config.set(scheduler="sync"), pytest.raises(WeightError, match="negative"):
        weighted.community_metrics(chosen[:2]).compute()
