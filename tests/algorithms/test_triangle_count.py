"""Triangles: the counts of NetworkX, whatever the partitioning."""

from __future__ import annotations

import pytest
from conftest import GRAPHS
from oracles import confirm
from shapes import apart, clique, rmat

from dask_graphflow.operators.intersect import triangle_counts as intersect

pytestmark = pytest.mark.usefixtures("backend")

# The row of the last vertex of the second clique is longer than a hash table of the GPU kernel.
DENSE = {f"clique of {size}": clique(size) for size in (4, 70)}
HUBS = [(hub, 10 + v) for v in range(300) for hub in range(4)] + [(0, 1), (2, 3), (1, 2)]
MIXED = apart({**GRAPHS, "rmat": rmat(), "hubs": HUBS, **DENSE})


@pytest.mark.parametrize("directed", [False, True])
def test_triangles_are_those_of_networkx(built, directed):
    found = built(MIXED, directed=directed).triangle_count().compute()
    assert found.triangles.dtype == "int64"
    confirm("triangle_count", found, MIXED, {}, directed=directed)


def test_rows_are_sent_in_pieces_of_bounded_size(built, monkeypatch):
    monkeypatch.setattr(intersect, "PIECE", 100)
    confirm("triangle_count", built(rmat()).triangle_count().compute(), rmat(), {})


def test_vertices_of_a_row_that_is_too_long_for_shared_memory(built):
    found = built(clique(1200)).triangle_count().compute()
    assert set(found.triangles) == {1199 * 1198 // 2}
