"""Clustering coefficients: those of NetworkX, or of LDBC Graphalytics if edges have directions."""

from __future__ import annotations

import networkx as nx
import pytest
from test_triangle_count import MIXED, simple

from dask_graphflow.operators.intersect import triangles as intersect

pytestmark = pytest.mark.usefixtures("backend")


def directed_clustering(pairs):
    """Return the local clustering coefficients by their definition in LDBC Graphalytics."""
    edges = {(a, b) for a, b in pairs if a != b}
    near = {v: set() for pair in pairs for v in pair}
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)
    among = {v: sum((x, y) in edges for x in near[v] for y in near[v]) for v in near}
    return {v: among[v] / max(len(near[v]) * (len(near[v]) - 1), 1) for v in near}


def values(found):
    assert found.clustering.dtype == "float64"
    return dict(zip(found.vertex, found.clustering, strict=True))


def test_undirected_coefficients_are_those_of_networkx(built):
    assert values(built(MIXED, directed=False).clustering().compute()) == pytest.approx(
        nx.clustering(simple(MIXED)), rel=1e-15
    )


def test_directed_coefficients_count_each_direction_between_neighbors(built, monkeypatch):
    monkeypatch.setattr(intersect, "PIECE", 500)
    pairs = MIXED + [(b, a) for a, b in MIXED[::3]]
    assert values(built(pairs, directed=True).clustering().compute()) == directed_clustering(pairs)
