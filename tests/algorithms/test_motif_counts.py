"""Motifs: as many induced patterns as there are, in total and at each vertex."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from conftest import ENDS, GRAPHS, frame, partitioned
from oracles import confirm
from shapes import WAYS, apart, at_random, clique, cycle, grid, rmat

import dask_graphflow as gf
from dask_graphflow.algorithms import motif_counts as module
from dask_graphflow.exceptions import GraphflowError
from dask_graphflow.kernels import motifs as motifs_kernels
from dask_graphflow.kernels import rows as rows_kernels

pytestmark = pytest.mark.usefixtures("backend")

SHAPES = {
    "clique": clique(9),
    "cycle": cycle(*range(70)),
    "grid": grid(8, "right", "down"),
    "tree": [((at - 1) // 3, at) for at in range(1, 200)],
    "dense": at_random(25, 200),
    "sparse": at_random(300, 400),
    "bipartite": [(a, b) for a in range(7) for b in range(10, 17)],
    "rmat": rmat(7, 4),
}
MIXED = apart(
    {**{name: GRAPHS[name] for name in ("reversed duplicates", "isolated by loops")}, **SHAPES}
)


@WAYS
@pytest.mark.parametrize("size", [3, 4])
def test_counts_are_those_of_all_connected_sets(built, directed, size):
    found = built(MIXED, directed=directed).motif_counts(size=size).compute()
    assert {str(dtype) for dtype in found.dtypes[1:]} == {"int64"}
    confirm("motif_counts", found, MIXED, {"size": size}, directed=directed)


@pytest.mark.parametrize("name", [*SHAPES, "empty", "self-loop", "duplicates", "star"])
@pytest.mark.parametrize("size", [3, 4])
def test_each_graph_by_itself(name, size):
    pairs = {**GRAPHS, **SHAPES}[name]
    found = gf.motif_counts(partitioned(frame(pairs), 3), **ENDS, size=size).compute()
    confirm("motif_counts", found, pairs, {"size": size}, directed=False)


def test_patterns_of_complete_graphs_have_closed_forms(built):
    """A clique of 80 has only cliques, and a complete bipartite graph stars and cycles."""
    both = clique(80) + [(a, b) for a in range(100, 140) for b in range(200, 260)]
    found = built(both, directed=False).motif_counts(size=4).compute().set_index("vertex")
    assert (found.loc[:79, "clique"] == math.comb(79, 3)).all()
    left = found.loc[100:139]
    assert (left["cycle"] == 39 * math.comb(60, 2)).all()
    assert (left["star"] == math.comb(60, 3) + 60 * math.comb(39, 2)).all()
    others = found.drop(columns=["star", "cycle", "clique"])
    assert not others.to_numpy().any()


def test_totals_of_a_large_graph_follow_from_its_degrees_and_edges():
    """The sets that contain a star, or a path, in as many ways as each pattern contains it."""
    graph = nx.Graph(edge for edge in rmat(11, 8) if edge[0] != edge[1])
    pairs = frame(list(graph.edges))
    found = gf.motif_counts(partitioned(pairs, 4), **ENDS, size=4).compute()
    star, path, cycles, paw, diamond, clique = (found.drop(columns="vertex").sum() // 4).tolist()
    degree, triangles = dict(graph.degree), sum(nx.triangles(graph).values()) // 3
    stars = sum(math.comb(one, 3) for one in degree.values())
    paths = sum((degree[a] - 1) * (degree[b] - 1) for a, b in graph.edges) - 3 * triangles
    assert stars == star + paw + 2 * diamond + 4 * clique
    assert paths == path + 4 * cycles + 2 * paw + 6 * diamond + 12 * clique
    assert clique == sum(
        len(some) == 4
        for some in itertools.takewhile(
            lambda some: len(some) <= 4, nx.enumerate_all_cliques(graph)
        )
    )


def test_threads_and_members_count_the_same():
    source, target = (np.array(side, "int32") for side in zip(*clique(400), strict=True))
    rows = rows_kernels.of(source).rows(
        source, target, np.full(len(source), 398, "uint32"), count=400, undirected=True
    )
    kernels = motifs_kernels.of(source)
    alone = kernels.count(rows, 0, 1)
    assert (alone == kernels.count(rows, 0, 1, threads=3)).all()
    assert (alone == sum(kernels.count(rows, first, 3) for first in range(3))).all()
    assert (alone[motifs_kernels.CLIQUES] == 6 * math.comb(399, 3)).all()
    assert (alone[motifs_kernels.CYCLES] == 3 * math.comb(399, 3)).all()


def test_counts_too_large_for_int64_are_refused(built, monkeypatch):
    pairs = [(0, leaf) for leaf in range(1, 200)]
    expected = built(pairs, directed=False).motif_counts(size=4).compute()
    assert expected.star.to_numpy()[0] == math.comb(199, 3)
    monkeypatch.setattr(module, "LARGEST", 1e6)
    graph = built(pairs, directed=False)
    with pytest.raises(GraphflowError, match="largest number that can be counted"):
        graph.motif_counts(size=4).compute()
    assert graph.motif_counts().compute()["path"].to_numpy()[0] == math.comb(199, 2)


def test_sums_of_large_values_are_exact(built, monkeypatch):
    """Values are summed in two parts."""
    monkeypatch.setattr(module, "HALF", 8)
    found = built(MIXED, directed=False).motif_counts(size=4).compute()
    confirm("motif_counts", found, MIXED, {"size": 4}, directed=False)
