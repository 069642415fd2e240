"""Clustering coefficients: those of NetworkX, or of LDBC Graphalytics if edges have directions."""

from __future__ import annotations

import pytest
from oracles import confirm
from test_triangle_count import MIXED

from dask_graphflow.operators.intersect import triangle_counts as intersect

pytestmark = pytest.mark.usefixtures("backend")


@pytest.mark.parametrize("directed", [False, True])
def test_coefficients_are_those_of_networkx_or_count_each_direction(built, monkeypatch, directed):
    monkeypatch.setattr(intersect, "PIECE", 500)
    pairs = MIXED + [(b, a) for a, b in MIXED[::3]]
    found = built(pairs, directed=directed).clustering().compute()
    assert found.clustering.dtype == "float64"
    confirm("clustering", found, pairs, {}, directed=directed, rtol=0.0 if directed else 1e-15)
