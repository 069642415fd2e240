"""Trusses: those of NetworkX for each k, whatever the partitioning."""

from __future__ import annotations

import networkx as nx
import pandas as pd
import pytest
from shapes import rmat
from test_triangle_count import MIXED, simple

from dask_graphflow.operators.intersect import triangles as intersect

pytestmark = pytest.mark.usefixtures("backend")


def by_networkx(pairs):
    """Return {edge: truss number}, the largest k of a k-truss of NetworkX that has the edge."""
    graph, found, k = simple(pairs), {}, 2
    while graph.number_of_edges():
        found |= {tuple(sorted(edge)): k for edge in graph.edges}
        k += 1
        graph = nx.k_truss(graph, k)
    return found


@pytest.fixture(scope="module")
def numbers():
    return by_networkx(MIXED)


def test_numbers_are_the_largest_k_of_networkx(built, numbers):
    found = built(MIXED, directed=False).truss_number().compute()
    assert list(found) == ["source", "target", "truss"]
    assert found.truss.dtype == "int32"
    rows = list(found.itertuples(index=False, name=None))
    assert rows == sorted((a, b, k) for (a, b), k in numbers.items())


def test_rows_are_sent_in_pieces_of_bounded_size(built, monkeypatch):
    monkeypatch.setattr(intersect, "PIECE", 100)
    found = built(rmat(), directed=True).truss_number().compute()
    rows = found.itertuples(index=False, name=None)
    assert {(a, b): k for a, b, k in rows} == by_networkx(rmat())


@pytest.mark.parametrize("k", [2, 3, 4, 70, 2**63 - 1])
def test_edges_of_a_truss_are_those_of_a_number_of_at_least_k(built, numbers, k):
    found = built(sorted(numbers), directed=False).k_truss(k=k).compute()
    assert list(found) == ["source", "target"]
    rows = list(found.itertuples(index=False, name=None))
    assert rows == sorted(edge for edge, number in numbers.items() if number >= k)


@pytest.mark.parametrize("directed", [False, True])
def test_parallel_edges_and_weights_are_kept_and_self_loops_are_not(built, directed):
    edges = pd.DataFrame({"a": list("bcaaacd"), "b": list("abcbbca"), "w": range(1, 8)})
    found = built(edges, directed=directed).k_truss(k=3).compute()
    kept = edges[edges.w.between(1, 5)].rename(
        columns={"a": "source", "b": "target", "w": "weight"}
    )
    if not directed:
        ends = kept[["source", "target"]].to_numpy()
        kept["source"], kept["target"] = ends.min(axis=1), ends.max(axis=1)
    assert found.to_numpy().tolist() == kept.sort_values([*kept]).to_numpy().tolist()
