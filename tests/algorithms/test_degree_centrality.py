"""Degree centrality: as NetworkX computes it, on any number of members."""

from __future__ import annotations

import pandas as pd
import pytest
from shapes import DIFFICULT, on_members

from dask_graphflow.algorithms.degree_centrality import degree_centrality

pytestmark = pytest.mark.usefixtures("backend")


@pytest.mark.parametrize("edges", [[], [(5, 5)]])
def test_a_single_vertex_has_1(built, edges):
    found = built(edges, vertices=pd.Series([5])).degree_centrality().compute()
    assert (found.iloc[:, 1:] == 1).all(axis=None)


def test_self_loops_are_counted_once_for_each_graph(built):
    graph = built(DIFFICULT, directed=False)
    for supersteps in 1, 0:
        assert set(on_members(graph, counted)) == {supersteps}


def counted(g):
    degree_centrality(g)
    return g.member.exchange.superstep_count
