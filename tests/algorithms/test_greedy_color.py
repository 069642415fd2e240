"""Greedy coloring: proper, and the colors of a sequential greedy coloring in the same order."""

from __future__ import annotations

import networkx as nx
import pytest
from conftest import ENDS, GRAPHS, frame
from shapes import apart, clique, rmat, traced

import dask_graphflow as gf

pytestmark = pytest.mark.usefixtures("backend")

BITS = 2**64 - 1


def shared(*sizes):
    """Return cliques that all share their first 70 vertices, so that their colors begin with those."""
    low, pairs = 70, clique(70)
    for size in sizes:
        more = range(low, low + size - 70)
        pairs += [(a, b) for a in more for b in (*range(70), *range(low, a))]
        low += size - 70
    return pairs


DENSE = {f"clique of {size}": clique(size) for size in (2, 5, 64, 65, 66)} | {
    "shared": shared(75, 80, 131),
    "two sides": [(a, 100 + b) for a in range(20) for b in range(30)],
    "without a pair each": [
        (a, b) for a in range(150) for b in range(a) if a != b + 1 or a % 2 == 0
    ],
}
MIXED = apart({**GRAPHS, "rmat": rmat(), **DENSE})


def priority(seed, rank):
    """Return the hash of a rank by SplitMix64, as a signed number."""
    mixed = ((rank + 1) * 0x9E3779B97F4A7C15 + seed) & BITS
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & BITS
    mixed ^= mixed >> 31
    return mixed - (mixed >> 63 << 64)


def one_after_another(pairs, seed=0, vertices=()):
    """Return {vertex: color} of a sequential greedy coloring, largest degree first."""
    graph = nx.Graph(pairs)
    graph.add_nodes_from(vertices)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    key = {v: (graph.degree[v], priority(seed, rank)) for rank, v in enumerate(sorted(graph))}
    color = {}
    for vertex in sorted(graph, key=key.get, reverse=True):
        others = {color.get(other) for other in graph[vertex]}
        color[vertex] = next(c for c in range(len(graph)) if c not in others)
    return color


def check(found, pairs, seed=0, vertices=()):
    """Assert that a computed coloring is proper and the sequential one; return it."""
    color = dict(zip(found.vertex.tolist(), found.color.tolist(), strict=True))
    assert found.color.dtype == "int32"
    assert list(color) == sorted(color)
    assert all(color[a] != color[b] for a, b in pairs if a != b)
    assert color == one_after_another(pairs, seed, vertices)
    return color


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_colors_are_those_of_a_sequential_coloring(built, directed):
    check(built(MIXED, directed=directed).greedy_color().compute(), MIXED)


def test_another_seed_gives_other_colors():
    graph = gf.Graph(frame(rmat()), **ENDS, directed=False)
    seeds = 0, 1, 2**64 - 1, 10**30
    colors = {
        tuple(check(graph.greedy_color(seed=seed).compute(), rmat(), seed).values())
        for seed in seeds
    }
    assert len(colors) == len(seeds)


def test_a_single_member_colors_all_vertices_in_one_superstep():
    found, steps = gf.greedy_color(frame(rmat()), **ENDS, trace=True)
    graph = nx.Graph((a, b) for a, b in rmat() if a != b)
    (step,) = steps.compute().to_dict("records")
    assert (step["frontier"], step["edges"]) == (len(found.compute()), 2 * graph.number_of_edges())


@pytest.mark.parametrize("members", [3])
def test_several_members_follow_each_edge_at_most_three_times_from_each_end(built):
    found, steps = traced(built(rmat(), directed=False).greedy_color(trace=True))
    graph = nx.Graph((a, b) for a, b in rmat() if a != b)
    assert steps.direction.tolist() == ["pull"] + ["push"] * (len(steps) - 1)
    assert steps.edges.sum() == 6 * graph.number_of_edges()
    assert steps.frontier[1::2].sum() == len(found)
