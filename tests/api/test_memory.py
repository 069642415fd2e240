"""Memory that a call allocates at most, compared with its input and its result."""

from __future__ import annotations

from functools import partial

import dask
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, columns_are_shared, most_memory

import dask_graphflow as gf

COUNT = 40_000


def edges(kind, count):
    at = np.arange(count)
    return pd.DataFrame(
        {"a": at, "b": at + 1} if kind == "path" else {"a": 2 * at, "b": 2 * at + 1}
    )


def reached(count):
    """Return what a search along a path gives."""
    found = gf.bfs(edges("path", 9), **ENDS, sources=[0]).compute()
    at = np.arange(count)
    before = pd.Series(at - 1, dtype="Int64")
    before[0] = pd.NA
    columns = {"vertex": at, "distance": at, "predecessor": before}
    return pd.DataFrame(columns).astype(found.dtypes)


CALLS = {
    "shortest paths": (
        reached,
        lambda frame: gf.shortest_paths(frame, list(range(0, len(frame), len(frame) // 5))),
    ),
    "personalized ranks": (
        partial(edges, "path"),
        lambda frame: gf.personalized_pagerank(
            frame, **ENDS, directed=False, sources=list(range(8)), tol=None, max_iter=3
        ),
    ),
    "louvain": (partial(edges, "pairs"), lambda frame: gf.louvain(frame, **ENDS)),
    "leiden": (partial(edges, "pairs"), lambda frame: gf.leiden(frame, **ENDS)),
}


@columns_are_shared
@pytest.mark.usefixtures("host_memory")
@pytest.mark.parametrize(
    ("name", "of_input", "of_result"),
    [
        ("shortest paths", 0, 2.5),
        ("personalized ranks", 8, 2),
        ("louvain", 18, 0),
        ("leiden", 21, 0),
    ],
)
def test_the_peak_is_a_small_multiple_of_input_and_result(name, of_input, of_result):
    make, call = CALLS[name]
    given = make(COUNT)
    with dask.config.set(scheduler="sync"):
        found = call(given).compute()  # compiles and imports, which is not measured
        # The collector and threads of other tests can keep something for a while.
        peak = min(most_memory(call(given).compute) for _ in range(3))
    sizes = 16 * COUNT, found.memory_usage(index=False).sum()
    assert peak < of_input * sizes[0] + of_result * sizes[1], (peak / sizes[0], peak / sizes[1])
