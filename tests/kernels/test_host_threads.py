"""Threads of host kernels: how many of them small arrays are worth."""

from __future__ import annotations

import pytest

from dask_graphflow.kernels import host_threads


@pytest.mark.parametrize(
    ("threads", "items", "wanted"),
    [(4, 10, 1), (4, 99, 1), (4, 250, 2), (4, 4000, 4), (1, 4000, 1), (4, 0, 1)],
)
def test_each_thread_gets_enough_items(monkeypatch, threads, items, wanted):
    monkeypatch.setattr(host_threads, "WORTH", 100)
    assert host_threads.worth(threads, items) == wanted
