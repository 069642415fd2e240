"""The hash tables that number distinct integers."""

import numpy as np
import pytest

from dask_graphflow.kernels.distinct import host


@pytest.mark.parametrize("zeros", [0, 20, 32, 40, 50])
def test_integers_that_end_in_zero_bits_are_spread_over_a_table(zeros):
    keys = np.arange(1 << 12, dtype="int64") << zeros
    table = np.full(1 << 13, -1, "int32")
    host._fill(table, keys, len(keys))
    free = np.flatnonzero(table < 0)
    assert len(free) == len(table) - len(keys)
    assert np.diff(free, prepend=-1, append=len(table)).max() < 200
