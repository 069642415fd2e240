"""Bipartite projection: the pairs of NetworkX, and the scores of similarity."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from oracles import confirm

import dask_graphflow as gf
from dask_graphflow.exceptions import EdgeListError, OptionError, UsageError
from dask_graphflow.operators.intersect import common_neighbors

pytestmark = pytest.mark.usefixtures("backend")

SIDES = pytest.mark.parametrize("side", ["source", "target"])


def bipartite(left=80, right=50, edges=500, *, weights=False):
    rng = np.random.default_rng(7)
    ends = {"a": rng.zipf(1.4, edges) % left, "b": left + rng.integers(0, right, edges)}
    return pd.DataFrame(ends | ({"w": rng.integers(1, 9, edges) / 4} if weights else {}))


@SIDES
def test_the_pairs_and_counts_are_those_of_networkx(built, side):
    edges = bipartite()
    found = built(edges).bipartite_projection(side=side).compute()
    nodes = {*edges["a" if side == "source" else "b"].tolist()}
    graph = nx.Graph(edges.drop_duplicates().itertuples(index=False, name=None))
    expected = nx.bipartite.weighted_projected_graph(graph, nodes)
    rows = sorted((*sorted(pair), float(n)) for *pair, n in expected.edges(data="weight"))
    assert list(found.itertuples(index=False, name=None)) == rows


@SIDES
@pytest.mark.parametrize("measure", ["jaccard", "cosine", "adamic_adar"])
def test_scores_are_those_of_similarity(built, side, measure, monkeypatch):
    monkeypatch.setattr(common_neighbors, "BLOCK", 3000)
    options = {"side": side, "measure": measure}
    found = built(bipartite()).bipartite_projection(**options).compute()
    confirm("bipartite_projection", found, bipartite(), options, rtol=1e-12)


@SIDES
@pytest.mark.parametrize("measure", ["jaccard", "sorensen", "overlap"])
def test_weights_count_as_in_similarity(built, side, measure):
    edges, options = bipartite(weights=True), {"side": side, "measure": measure}
    found = built(edges).bipartite_projection(**options).compute()
    confirm("bipartite_projection", found, edges, options, rtol=1e-12)


@SIDES
def test_rows_of_the_other_side_are_not_intersected(built, side, monkeypatch):
    """A vertex of the other side with many neighbors would have as many pairs."""
    counts = []

    def noted(rows, kept, threads):
        some = select(rows, kept, threads)
        counts.append(int((np.diff(some.offsets) > 0).sum()))
        return some

    select = common_neighbors._select_rows
    monkeypatch.setattr(common_neighbors, "_select_rows", noted)
    edges = bipartite()
    built(edges).bipartite_projection(side=side).compute()
    assert sum(counts) == edges["a" if side == "source" else "b"].nunique()


def test_text_ids_and_no_edges(built):
    edges = pd.DataFrame({"a": ["x", "y", "z"], "b": ["p", "p", "q"]})
    found = built(edges).bipartite_projection(side="source").compute()
    assert found.to_numpy().tolist() == [["x", "y", 1.0]]
    assert len(built(edges[:0]).bipartite_projection(side="target").compute()) == 0


def test_graphs_without_sides_are_refused(built):
    edges = pd.DataFrame({"a": [1, 2, 4], "b": [2, 3, 4]})
    with pytest.raises(EdgeListError, match=r"begin and end at vertex 2, .* a prefix of their own"):
        built(edges).bipartite_projection(side="source").compute()
    with pytest.raises(UsageError, match="directed=True"):
        built(edges, directed=False).bipartite_projection(side="source")
    with pytest.raises(OptionError, match="give 'source', 'target'"):
        built(edges).bipartite_projection(side="left")
    prefixed = pd.DataFrame({"a": "a" + edges.a.astype(str), "b": "b" + edges.b.astype(str)})
    # The advice works.
    assert (
        len(gf.bipartite_projection(prefixed, source="a", target="b", side="source").compute()) == 0
    )
