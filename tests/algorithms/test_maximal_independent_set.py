"""Maximal independent sets: independent, maximal, and the same everywhere."""

from __future__ import annotations

import pytest
from conftest import ENDS, frame
from oracles import confirm
from shapes import MIXED, clique, rmat

import dask_graphflow as gf

pytestmark = pytest.mark.usefixtures("backend")


def check(found, pairs):
    """Assert that a computed set is independent and maximal; return it."""
    assert found.selected.dtype == "bool"
    assert found.vertex.tolist() == sorted({v for pair in pairs for v in pair})
    confirm("maximal_independent_set", found, pairs, {})
    return set(found.vertex[found.selected])


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_the_set_is_independent_maximal_and_the_same_for_every_number_of_members(built, directed):
    found = built(MIXED, directed=directed).maximal_independent_set().compute()
    chosen = check(found, MIXED)
    alone = gf.maximal_independent_set(frame(MIXED), **ENDS).compute()
    assert chosen == set(alone.vertex[alone.selected])


def test_another_seed_gives_another_set():
    pairs = rmat()
    graph = gf.Graph(frame(pairs), **ENDS, directed=False)
    sets = {
        frozenset(check(graph.maximal_independent_set(seed=seed).compute(), pairs))
        for seed in (0, 1, 2, 2**64 - 1, 10**30)
    }
    assert len(sets) == 5


def test_every_vertex_of_a_clique_is_selected_for_some_seed():
    graph = gf.Graph(frame(clique(5)), **ENDS, directed=False)
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
