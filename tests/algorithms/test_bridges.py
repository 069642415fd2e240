"""Bridges and articulation points: those of NetworkX, for every number of members."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, GRAPHS, frame, partitioned
from oracles import confirm
from shapes import WAYS, apart, at_random, cycle, grid, rmat

import dask_graphflow as gf
from dask_graphflow.kernels.biconnected import host as host_biconnected
from dask_graphflow.operators.forests.cycle_blocks import Blocks

pytestmark = pytest.mark.usefixtures("backend")

SHAPES = {
    "cycle": cycle(*range(150)),
    "cycles that share a vertex": cycle(0, 1, 2) + cycle(2, 3, 4) + cycle(4, 5, 6, 2),
    "cycles joined by bridges": [*cycle(0, 1, 2), (2, 9), *cycle(9, 8, 7, 6), (6, 5), (7, 4)],
    "chain of cycles": [e for i in range(0, 180, 3) for e in cycle(i, i + 1, i + 2, i + 3)],
    "ladder": [e for i in range(100) for e in ((i, i + 1), (i, i + 200), (i + 200, i + 201))],
    "cycles in a cycle": [*cycle(*range(60)), (5, 20), (10, 40), (15, 18), (50, 100), (100, 101)],
    "tree": [((at - 1) // 3, at) for at in range(1, 200)],
    "tree and an edge between leaves": [((at - 1) // 2, at) for at in range(1, 127)] + [(63, 126)],
    "two cliques": [(a + s, b + s) for s in (0, 8) for a in range(9) for b in range(a)],
    "parallel edge in a path": [*GRAPHS["path"], (40, 41), (90, 89)],
    "rmat": rmat(),
    "sparse": at_random(400, 410),
    "grid": grid(9, "right", "down"),
    "grid with gaps": [
        pair for at, pair in enumerate(grid(20, "right", "down")) if at * 7 % 10 > 2
    ],
}
MIXED = apart({**GRAPHS, **SHAPES})


def check(graph, pairs, vertices=()):
    """Compare the bridges and the articulation points of a graph with those of NetworkX."""
    points, edges = graph.articulation_points().compute(), graph.bridges().compute()
    assert points.articulation_point.dtype == "bool"
    assert edges.dtypes.tolist() == [points.vertex.dtype] * 2
    confirm("articulation_points", points, pairs, {}, vertices=vertices)
    confirm("bridges", edges, pairs, {}, vertices=vertices)


@WAYS
def test_bridges_and_articulation_points_are_those_of_networkx(built, directed):
    check(built(MIXED, directed=directed), MIXED)


@pytest.mark.parametrize("name", [*GRAPHS, *SHAPES])
def test_difficult_graphs(name):
    pairs = {**GRAPHS, **SHAPES}[name]
    graph = gf.Graph(partitioned(frame(pairs), 3), **ENDS, directed=False)
    check(graph, pairs)


@pytest.mark.parametrize("edges", [100, 150, 250])
def test_random_graphs(built, edges):
    pairs = at_random(150, edges, seed=edges)
    check(built(pairs, directed=False), pairs)


def test_a_vertex_without_edges_is_not_an_articulation_point():
    vertices = pd.Series([1, 9])
    graph = gf.Graph(frame([(5, 2), (2, 3)]), **ENDS, directed=False, vertices=vertices)
    check(graph, [(5, 2), (2, 3)], vertices)


def test_parallel_edges_are_no_bridges_unless_they_are_merged():
    pairs = frame([(1, 2), (2, 1), (2, 3), (3, 4), (3, 4), (5, 5)])
    kept = gf.bridges(pairs, **ENDS).compute()
    assert kept.to_numpy().tolist() == [[2, 3]]
    graph = gf.Graph(pairs, **ENDS, directed=False, multi="first")
    merged = graph.bridges().compute()
    assert merged.to_numpy().tolist() == [[1, 2], [2, 3], [3, 4]]


def test_ids_that_are_text_are_in_order(built):
    edges = frame([(f"v{a}", f"v{b}") for a, b in SHAPES["sparse"]], "str")
    found = built(edges, directed=False).bridges().compute()
    confirm("bridges", found, edges, {})


def test_threads_that_join_cycles_at_once_find_the_same_blocks(monkeypatch):
    # Mini-chunks of one row let the threads meet in the same blocks.
    monkeypatch.setattr(host_biconnected, "MINI_CHUNK", 1)
    side = 150
    pairs = np.array(grid(side, "right", "down"))
    pairs = pairs[np.random.default_rng(4).random(len(pairs)) < 0.6]
    graph = gf.Graph(frame(pairs.tolist()), **ENDS, directed=False).persist()
    for _ in range(5):
        check(graph, pairs.tolist())


def test_no_member_sends_an_edge(built, members, monkeypatch):
    """Members only send tree edges that they joined, at most one per vertex."""
    sent = []

    def noted(blocks, label):
        taken = blocks._g.member.exchange.take_traffic
        taken()
        block = joined(blocks, label)
        sent.append(sum(taken().sent.values()))
        return block

    joined = Blocks._join_cycles
    monkeypatch.setattr(Blocks, "_join_cycles", noted)
    pairs = at_random(300, 20_000)
    check(built(pairs, directed=False), pairs)
    most = (
        300 * 2 * 8 * (members - 1) + 2000
    )  # labels of 8 bytes, and what a round of messages adds
    assert all(count <= (most if members > 1 else 0) for count in sent)
