"""Degree centrality: as NetworkX computes it, on any number of members."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from shapes import DIFFICULT

pytestmark = pytest.mark.usefixtures("backend")


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_values_are_those_of_networkx(built, directed):
    found = built(DIFFICULT, directed=directed, vertices=pd.Series([7])).degree_centrality()
    found = found.compute().set_index("vertex")
    graph = nx.MultiDiGraph(DIFFICULT) if directed else nx.MultiGraph(DIFFICULT)
    graph.add_node(7)
    for column in found:
        wanted = pd.Series(getattr(nx, column)(graph))[found.index]
        np.testing.assert_allclose(found[column], wanted, rtol=1e-15)
    assert len(found.columns) == (3 if directed else 1)


@pytest.mark.parametrize("edges", [[], [(5, 5)]])
def test_a_single_vertex_has_1(built, edges):
    found = built(edges, vertices=pd.Series([5])).degree_centrality().compute()
    assert (found.iloc[:, 1:] == 1).all(axis=None)
