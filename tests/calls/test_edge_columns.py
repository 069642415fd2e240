"""Further columns of the edges: those of a merge by hand, for every partitioning and number of members."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import (
    ENDS,
    is_as_announced,
    partitioned,
)
from shapes import WAYS, at_random

import dask_graphflow as gf

pytestmark = pytest.mark.usefixtures("backend")

PAIRS = [
    *at_random(40, 110, seed=3),
    (3, 3),
    (3, 3),
    *at_random(40, 60, seed=3)[::2],
    (90, 91),
    (91, 92),
]
COUNT = len(PAIRS)
RNG = np.random.default_rng(8)
EDGES = pd.DataFrame(PAIRS, columns=["a", "b"]).assign(
    fee=RNG.integers(1, 4, COUNT).astype("float32"),
    time=pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 10**6, COUNT), unit="s"),
    payment=[f"p{at}" for at in range(COUNT)],
    count=pd.Series(RNG.integers(0, 9, COUNT)).astype("Int64").mask(RNG.random(COUNT) < 0.3),
)
NAMES = ["payment", "time", "count"]
OPTIONS = {
    "neighbors": {"sources": [3, 5, 90]},
    "ego_graph": {"centers": [3, 91]},
    "induced_subgraph": {"subset": [*range(20), 90, 91]},
    "k_core": {"k": 3},
    "k_truss": {"k": 3},
    "bridges": {},
    "minimum_spanning_forest": {},
    "simple_cycles": {"max_length": 3},
}
EVERY = pytest.mark.parametrize("name", OPTIONS)


def merged(answer, edges, *, both_ways, lightest=False):
    """Return the rows of a frame for each row of an answer, in the order of the frame, by a slow search."""
    answer = answer.drop(columns="weight", errors="ignore")
    beside = [name for name in answer if name not in ("source", "target")]
    if not beside:
        answer = answer.drop_duplicates()
    rows = []
    for at in answer.itertuples(index=False):
        pairs = {(at.source, at.target)} | ({(at.target, at.source)} if both_ways else set())
        found = edges[[pair in pairs for pair in zip(edges.a, edges.b, strict=True)]]
        if "fee" in edges and "weighted" in edges.attrs:
            found = found.sort_values("fee", kind="stable")
        found = found.iloc[:1] if lightest else found
        rows.append(found.assign(**{name: getattr(at, name) for name in beside}))
    found = pd.concat(rows).reset_index(drop=True).rename(columns={"a": "source", "b": "target"})
    return found.astype(answer.dtypes.to_dict()), beside


@EVERY
@WAYS
@pytest.mark.parametrize("partitions", [1, 5, 24])
@pytest.mark.parametrize("form", ["lazy", "persisted", "function"])
def test_columns_are_those_of_a_merge_by_hand(name, directed, partitions, form, members):
    edges, options = partitioned(EDGES, max(partitions, members)), OPTIONS[name]
    how = {**ENDS, "weight": "fee", "directed": directed}
    graph = gf.Graph(edges, **how, columns=NAMES, shards=members)
    plain = getattr(graph, name)(**options).compute()
    if form == "function":
        if "weight" not in plain:
            del how["weight"]
        lazy = getattr(gf, name)(edges, **how, **options, columns=NAMES)
    else:
        graph = graph.persist() if form == "persisted" else graph
        lazy = getattr(graph, name)(**options, columns=NAMES)
    found = lazy.compute()
    assert is_as_announced(found, lazy)
    assert list(found) == [*plain, *NAMES]
    weighted = "weight" in plain
    edges = EDGES.copy()
    if weighted:
        edges.attrs["weighted"] = True
    listed = name in ("bridges", "minimum_spanning_forest")
    expected, beside = merged(
        plain, edges, both_ways=listed or not directed, lightest=name == "minimum_spanning_forest"
    )
    own = [*beside, "source", "target", *(["fee"] if weighted else []), *NAMES]
    expected = expected[own].rename(columns={"fee": "weight"})
    assert len(found) == len(expected) > 0
    pd.testing.assert_frame_equal(found.reset_index(drop=True), expected, check_dtype=False)
