"""Components of a graph that is built: each member's forest, and the trees of all members joined."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import ENDS, as_dict, frame, oracle
from shapes import same, traced

import dask_graphflow as gf
from dask_graphflow.operators.forests import connected

pytestmark = pytest.mark.usefixtures("backend")

DIRECTED = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])


@pytest.mark.parametrize(
    ("dtype", "directed"), [("int64", True), ("int64", False), ("str", True)], ids=str
)
def test_components_of_a_graph_are_those_of_its_edges(built, graph, dtype, directed):
    pairs = frame(graph).astype(dtype)
    found = built(pairs, directed=directed).connected_components().compute()
    same(found, gf.connected_components(pairs, **ENDS).compute())


@DIRECTED
def test_components_of_a_larger_graph_are_those_of_networkx(
    built, scheduler, directed, monkeypatch
):
    monkeypatch.setattr(connected, "CHUNK", 64)
    pairs = (30_000 * np.random.default_rng(3).random((40_000, 2)) ** 3).astype(int).tolist()
    g = built(pairs, directed=directed)
    found, steps = traced(g.connected_components(trace=True))
    assert as_dict(found) == oracle(pairs)
    assert steps["superstep"].tolist() == [0]
    loops = sum(u == v for u, v in pairs)  # without directions, all other edges count twice
    assert steps["edges"].tolist() == [len(pairs) if directed else 2 * len(pairs) - loops]


@DIRECTED
def test_components_of_a_long_path_take_one_superstep(built, scheduler, directed):
    order = np.random.default_rng(4).permutation(5_000)
    g = built(np.stack([order[1:], order[:-1]], axis=1).tolist(), directed=directed)
    found, steps = traced(g.connected_components(trace=True))
    assert set(as_dict(found).values()) == {0}
    assert len(steps) == 1


@pytest.mark.parametrize("members", [1])
@pytest.mark.parametrize("trees", [1, 300])
def test_components_of_a_single_member_with_one_large_tree_and_with_many_small_ones(built, trees):
    ends = np.random.default_rng(5).integers(0, 20, (30 * 300, 2))
    ends += np.arange(len(ends))[:, None] % trees * 20
    g = built(ends.tolist(), directed=False)
    assert as_dict(g.connected_components().compute()) == oracle(ends.tolist())
