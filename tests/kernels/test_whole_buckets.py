"""Shortest paths along whole weights: which weights fit, and that a search starts again with more room."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.whole_buckets import host

SIZE, EDGES = 3000, 40_000


@pytest.mark.parametrize(
    ("weights", "dtype"),
    [
        ([1.0, 255.0], "uint8"),
        (np.array([1, 256], "int64"), "int32"),
        ([2.0**31 - 1], "int32"),
        ([2.0**31], None),
        ([1.0, 1.5], None),
        ([0.0, 1.0], None),
        ([1.0, np.inf], None),
    ],
    ids=str,
)
def test_weights_are_narrowed_if_they_are_whole_and_small(weights, dtype):
    found = host.narrow(np.array(weights))
    if dtype is None:
        assert found is None
    else:
        assert found.dtype == dtype
        assert found.tolist() == list(weights)


def test_distances_and_vertices_share_a_word_only_if_both_fit():
    weights = np.array([1 << 20], "int32")
    assert host.longest(weights, 1 << 20) == 1 << 40
    assert host.longest(weights, 1 << 21) == 0


def rows():
    rng = np.random.default_rng(2)
    counts = np.bincount(rng.integers(0, SIZE, EDGES), minlength=SIZE)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    ends = rng.integers(0, SIZE, EDGES).astype("int32")
    return Rows(offsets, ends, rng.integers(1, 200, EDGES).astype("uint8"), 0)


@pytest.mark.parametrize("blocks", [None, 4])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("delta", [1.0, 100.0])
def test_a_search_without_enough_room_starts_again(monkeypatch, blocks, threads, delta):
    monkeypatch.setattr(host, "TEAM", 0)
    edges = rows()
    longest = host.longest(edges.weights, SIZE)
    search = host.new_buckets(edges, np.array([7]), delta, longest, threads=threads)
    if blocks is not None:
        search._begin(blocks)
    search.relax(0.0, 1 << 62)
    distance, predecessor = search.columns(np.inf)
    # Of parallel edges, the shortest counts, but SciPy would add them up.
    source = np.repeat(np.arange(SIZE), np.diff(edges.offsets))
    order = np.lexsort((edges.weights, edges.ends, source))
    u, v, w = source[order], edges.ends[order], edges.weights[order].astype(float)
    first = np.append(True, (u[1:] != u[:-1]) | (v[1:] != v[:-1]))
    matrix = csr_array((w[first], (u[first], v[first])), shape=(SIZE, SIZE))
    assert distance.tolist() == dijkstra(matrix, indices=7).tolist()
    wanted = np.full(SIZE, np.iinfo("int32").max)
    tight = np.isfinite(distance[u]) & (distance[u] + w == distance[v])
    np.minimum.at(wanted, v[tight], u[tight])
    assert predecessor.tolist() == wanted.tolist()
    assert search.lowest() == np.inf
