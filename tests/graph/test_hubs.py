"""Hubs are the vertices with the highest degrees, if they have most of the edges."""

from __future__ import annotations

import numpy as np
import pytest

from dask_graphflow.graph import hubs


@pytest.mark.parametrize("high", [1, 4, 1 << 16])
def test_candidates_are_the_vertices_with_the_highest_degrees(rng, monkeypatch, high):
    monkeypatch.setattr(hubs, "HIGH", high)
    found = set()
    for power in np.linspace(0.0, 2.0, 40):
        degrees = (rng.random(200) ** -power).astype("int64") - 1
        few = len(degrees) // hubs.HUBS
        if np.count_nonzero(degrees > high) > few:
            continue
        most = np.sort(degrees)[-few:].sum()
        found.add(hubs.has_hubs(degrees))
        assert hubs.has_hubs(degrees) == (hubs.HUBS_EDGES * most > degrees.sum())
    assert found == {True, False} or high == 1
    assert not hubs.has_hubs(np.ones(hubs.HUBS - 1, "int64"))
