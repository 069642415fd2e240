"""k-cores: those of NetworkX; results with one row per edge, for every number of members."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import ENDS, frame, is_as_announced
from oracles import confirm
from shapes import MIXED, WAYS, rmat

import dask_graphflow as gf

pytestmark = pytest.mark.usefixtures("backend")


EDGES = frame(MIXED).assign(w=np.arange(len(MIXED), dtype="float32")[::-1])


@WAYS
@pytest.mark.parametrize("k", [None, 0, 1, 3, 500])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_edges_are_those_of_networkx(built, k, directed, weighted):
    edges = EDGES if weighted else EDGES[["a", "b"]]
    lazy = built(edges, directed=directed).k_core(k=k)
    found = lazy.compute()
    assert is_as_announced(found, lazy)
    assert list(found) == ["source", "target", "weight"][: 2 + weighted]
    confirm("k_core", found, edges, {"k": k}, directed=directed)


@WAYS
def test_edges_between_text_ids_are_kept(built, directed):
    edges, ends = EDGES.copy(), ["a", "b"]
    edges[ends] = edges[ends].apply(lambda ids: ids.map("v{:05d}".format))
    for k in (None, 0, 2):
        lazy = built(edges, directed=directed).k_core(k=k)
        found = lazy.compute()
        assert is_as_announced(found, lazy)
        for column in ("source", "target"):
            found[column] = found[column].str[1:].astype("int64")
        confirm("k_core", found, EDGES, {"k": k}, directed=directed)


@WAYS
@pytest.mark.parametrize("dtype", ["int8", "uint64", "bool", "Float32"])
def test_weights_have_the_dtype_that_was_announced(directed, dtype):
    edges = frame([(1, 2), (2, 1), (2, 3), (1, 3), (3, 3)]).assign(w=1)
    edges["w"] = edges["w"].astype(dtype)
    for multi in ("keep", "sum"):
        lazy = gf.k_core(edges, **ENDS, weight="w", multi=multi, directed=directed)
        found = lazy.compute()
        assert is_as_announced(found, lazy)
        assert found.weight.tolist()[-1] == 1


def test_several_partitions_and_a_trace(built, members):
    pairs = rmat()
    g = built(pairs, partitions=40, directed=False)
    found, steps = g.k_core(k=2, trace=True)
    assert found.npartitions == members * max(1, 5 // members)
    confirm("k_core", found.compute(), pairs, {"k": 2}, directed=False)
    _, all_steps = g.core_number(trace=True)
    # A device may remove all of these vertices in one superstep.
    assert steps.compute()["frontier"].sum() < all_steps.compute()["frontier"].sum()
