"""Rows that stream to where they are summed: on the host, whose copies wait and overlap as devices' do."""

from __future__ import annotations

import numpy as np
import pytest

from dask_graphflow.algorithms.streamed_rows import StreamedRows
from dask_graphflow.kernels import host_pagerank, host_rows


@pytest.mark.parametrize("chunk", [1, 7, 100, 5000], ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_sums_are_those_of_the_rows_at_once(rng, chunk, weighted, precision):
    size, edges = 60, 900
    source, target = (size * rng.random((2, edges)) ** 3).astype("int32")
    weight = rng.random(edges).astype("float32") if weighted else None
    rows = host_rows.rows(source, target, weight, count=size, columns=size)
    contribution = (rng.random(size) * 2.0**50).astype(precision)
    wanted, found = np.empty(size, "int64"), np.empty(size, "int64")
    host_pagerank.sum_contributions(rows, contribution, wanted)
    streamed = StreamedRows(rows, on_device=False, chunk=chunk)
    for _ in range(2):
        streamed.sum_contributions(contribution, found)
        assert found.tolist() == wanted.tolist()
    assert len(streamed.ends) == edges


def test_rows_without_edges_sum_to_nothing():
    none = np.empty(0, "int32")
    rows = host_rows.rows(none, none, count=3, columns=3)
    sums = np.ones(3, "int64")
    StreamedRows(rows, on_device=False).sum_contributions(np.ones(3), sums)
    assert sums.tolist() == [0, 0, 0]
