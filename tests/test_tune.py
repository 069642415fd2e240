"""The chunk size is found by a sweep."""

from __future__ import annotations

import numpy as np
from conftest import on_backend

from dask_graphflow.components.tune import tune_chunk_size


class Clock:
    """Says what a U-shaped sweep would: two calls a try, sizes in ascending order."""

    def __init__(self, durations):
        self.durations, self.calls, self.now = durations, 0, 0.0

    def __call__(self):
        if self.calls % 2:
            self.now += self.durations[self.calls // 2 % len(self.durations)]
        self.calls += 1
        return self.now


def test_the_largest_size_near_the_best_is_chosen():
    edges = on_backend(np.arange(1000))
    clock = Clock([9.0, 5.0, 4.0, 4.1, 6.0])
    found = tune_chunk_size(edges, edges[::-1], sizes=[1, 10, 100, 500, 1000], clock=clock)
    assert list(found.seconds) == [1, 10, 100, 500, 1000]
    assert np.allclose(list(found.seconds.values()), [9, 5, 4, 4.1, 6])
    assert found.chunk_size == 500


def test_a_real_sweep_tries_powers_of_two_and_picks_one_of_them():
    rng = np.random.default_rng(0)
    source, target = map(on_backend, rng.integers(0, 5000, (2, 1 << 15)))
    found = tune_chunk_size(source, target, repeat=1)
    assert sorted(found.seconds) == [1 << shift for shift in range(7, 16)]
    assert found.seconds[found.chunk_size] <= 1.05 * min(found.seconds.values())
