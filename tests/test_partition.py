"""The hierarchical partition: short segments, every edge once, the same labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import on_backend, to_host

import dask_graphflow as gf
from dask_graphflow.components.forest import Forest
from dask_graphflow.graph.partition import hierarchical


def road(rows=200, columns=200):
    edges = gf.generate.grid(rows, columns).compute()
    return tuple(on_backend(edges[column].to_numpy()) for column in ("src", "dst"))


def forest_of(part):
    forest = Forest(part.source)
    forest.cover(part.low, part.high)
    forest.hook(part.source, part.target)
    forest.compress()
    return forest


@pytest.mark.parametrize("parts", [1, 2, 3, 8])
def test_every_edge_is_in_one_segment(parts, rng):
    order = on_backend(rng.permutation(len(road()[0])))
    source, target = (side[order] for side in road())
    cut = hierarchical(source, target, parts)
    assert len(cut) <= parts
    ends = [(to_host(part.source), to_host(part.target)) for part in cut]
    together = np.concatenate(ends, axis=1)
    assert sorted(map(tuple, together.T.tolist())) == sorted(
        zip(source.tolist(), target.tolist(), strict=True)
    )
    for part, sides in zip(cut, ends, strict=True):
        assert (part.low, part.high) == (np.min(sides), np.max(sides))


def test_forests_of_a_road_graph_are_short_and_give_the_same_labels():
    source, target = road()
    vertices = 200 * 200
    whole = forest_of(hierarchical(source, target, 1)[0])
    forests = [forest_of(part) for part in hierarchical(source, target, 8)]
    assert all(len(forest.parent) < vertices for forest in forests[1:])
    # Merged in turn, seven forests of all vertices would be moved.
    moved = sum(forest.parent.nbytes for forest in forests[1:])
    assert moved < 0.75 * 7 * whole.parent.nbytes
    for forest in forests[1:]:
        forests[0].absorb(forest)
    assert np.array_equal(*(to_host(forest.parent[:vertices]) for forest in (forests[0], whole)))


def test_chains_over_an_ordered_file_cover_segments_by_themselves():
    sides = map(to_host, road())
    edges = pd.DataFrame(dict(zip(("a", "b"), sides, strict=True))).sort_values("a")
    half = len(edges) // 2
    forests = [Forest(on_backend(np.zeros(0))) for _ in range(2)]
    for forest, part in zip(forests, (edges[:half], edges[half:]), strict=True):
        ends = part.to_numpy()
        forest.cover(int(ends.min()), int(ends.max()))
        assert forest.hook(*(on_backend(part[side].to_numpy()) for side in ("a", "b"))) is None
    assert sum(len(forest.parent) for forest in forests) < 1.3 * 200 * 200
