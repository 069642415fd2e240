"""Maximal independent sets: independent, maximal, and the same everywhere."""

from __future__ import annotations

import networkx as nx
import pandas as pd
import pytest
from conftest import GRAPHS, frame, partitioned
from test_core_number import MIXED, rmat

import dask_graphflow as gf
from dask_graphflow.exceptions import OptionError

pytestmark = pytest.mark.usefixtures("backend")

ENDS = {"source": "a", "target": "b"}


def check(found, pairs, vertices=()):
    """Assert that a computed set is independent and maximal; return it."""
    graph = nx.Graph()
    graph.add_nodes_from(vertices)
    graph.add_edges_from((a, b) for a, b in pairs if a != b)
    graph.add_nodes_from(a for pair in pairs for a in pair)
    assert found.selected.dtype == "bool"
    assert found.vertex.tolist() == sorted(graph)
    chosen = set(found.vertex[found.selected])
    for vertex in graph:
        assert (vertex in chosen) != any(other in chosen for other in graph[vertex])
    return chosen


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_the_set_is_independent_maximal_and_the_same_for_every_number_of_members(built, directed):
    found = built(MIXED, directed=directed).maximal_independent_set().compute()
    chosen = check(found, MIXED)
    alone = gf.maximal_independent_set(frame(MIXED), **ENDS).compute()
    assert chosen == set(alone.vertex[alone.selected])


def test_partitions_and_ids_of_text_change_nothing(built):
    edges = frame(rmat())
    wanted = gf.maximal_independent_set(edges, **ENDS, seed=5).compute().selected
    shuffled = edges.sample(frac=1, random_state=1)
    for given in (shuffled, shuffled.map("v{:05d}".format), shuffled + 10**6, shuffled * 10**12):
        found = built(given, partitions=7).maximal_independent_set(seed=5).compute().selected
        assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("name", GRAPHS)
def test_difficult_graphs(name):
    pairs = GRAPHS[name]
    found = gf.maximal_independent_set(partitioned(frame(pairs), 3), **ENDS).compute()
    check(found, pairs)


def test_vertices_without_an_edge_are_selected(built):
    pairs, vertices = [(0, 1), (4, 4)], [300, 3]
    graph = built(pairs, vertices=pd.Series(vertices))
    assert {3, 4, 300} <= check(graph.maximal_independent_set().compute(), pairs, vertices)
    found = built([], vertices=pd.Series(vertices)).maximal_independent_set().compute()
    assert check(found, [], vertices) == {3, 300}


def test_another_seed_gives_another_set():
    pairs = rmat()
    graph = gf.Graph(frame(pairs), **ENDS, directed=False)
    sets = {
        frozenset(check(graph.maximal_independent_set(seed=seed).compute(), pairs))
        for seed in (0, 1, 2, 2**64 - 1, 10**30)
    }
    assert len(sets) == 5


def test_every_vertex_of_a_clique_is_selected_for_some_seed():
    graph = gf.Graph(frame([(a, b) for a in range(5) for b in range(a)]), **ENDS, directed=False)
    first = set()
    for seed in range(40):
        found = graph.maximal_independent_set(seed=seed).compute()
        assert found.selected.sum() == 1
        first |= set(found.vertex[found.selected])
    assert first == set(range(5))


def test_vertices_are_decided_once():
    pairs = rmat()
    found, steps = gf.maximal_independent_set(frame(pairs), **ENDS, trace=True)
    found, steps = found.compute(), steps.compute()
    assert steps.direction.tolist() == ["pull"] + ["push"] * (len(steps) - 1)
    assert steps.frontier[1::2].sum() == found.selected.sum()  # these exclude their neighbors
    assert steps.frontier[2::2].sum() <= len(found)


@pytest.mark.parametrize("seed", [-1, 0.5, None, True])
def test_a_seed_that_is_not_a_whole_number_raises_an_error(seed):
    with pytest.raises(OptionError, match="give a whole number, 0 or more"):
        gf.maximal_independent_set(frame(rmat()), **ENDS, seed=seed)
