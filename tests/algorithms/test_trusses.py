"""Trusses: those of NetworkX for each k, whatever the partitioning."""

from __future__ import annotations

import pandas as pd
import pytest
from oracles import ORACLES, confirm, network_of
from shapes import rmat
from test_triangle_count import MIXED

from dask_graphflow.operators.intersect import triangle_counts as intersect

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture(scope="module")
def numbers():
    """Return the edges of the graph with their truss numbers."""
    return ORACLES["truss_number"].check(network_of(MIXED, directed=False), {}, [])


def test_numbers_are_the_largest_k_of_networkx(built, numbers):
    found = built(MIXED, directed=False).truss_number().compute()
    assert list(found) == ["source", "target", "truss"]
    assert found.truss.dtype == "int32"
    rows = list(found.itertuples(index=False, name=None))
    assert rows == numbers


def test_rows_are_sent_in_pieces_of_bounded_size(built, monkeypatch):
    monkeypatch.setattr(intersect, "PIECE", 100)
    found = built(rmat(), directed=True).truss_number().compute()
    confirm("truss_number", found, rmat(), {})


@pytest.mark.parametrize("k", [2, 3, 4, 70, 2**63 - 1])
def test_edges_of_a_truss_are_those_of_a_number_of_at_least_k(built, numbers, k):
    found = built([edge[:2] for edge in numbers], directed=False).k_truss(k=k).compute()
    assert list(found) == ["source", "target"]
    rows = list(found.itertuples(index=False, name=None))
    assert rows == [edge[:2] for edge in numbers if edge[2] >= k]


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
