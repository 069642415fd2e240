"""k-cores: those of NetworkX; results with one row per edge, for every number of members."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from conftest import ENDS, frame, is_as_announced
from test_core_number import MIXED, WAYS, rmat

import dask_graphflow as gf

pytestmark = pytest.mark.usefixtures("backend")


def rows(found):
    return list(found.itertuples(index=False, name=None))


def simple(pairs, directed):
    graph = nx.DiGraph(pairs) if directed else nx.Graph(pairs)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph


def by_networkx(pairs, k, directed):
    found = nx.k_core(simple(pairs, directed), k).edges
    return sorted(found if directed else map(tuple, map(sorted, found)))


def induced(edges, directed, k):
    """Return the edges between vertices of a core number of at least k, sorted."""
    core = nx.core_number(simple(edges[["a", "b"]].itertuples(index=False, name=None), directed))
    core = {v: core.get(v, 0) for v in {*edges.a, *edges.b}}
    k = max(core.values()) if k is None else k
    found = edges[(edges.a.map(core) >= k) & (edges.b.map(core) >= k)].copy()
    if not directed:
        found["a"], found["b"] = edges[["a", "b"]].min(axis=1), edges[["a", "b"]].max(axis=1)
    found = found.rename(columns={"a": "source", "b": "target", "w": "weight"})
    return found.sort_values([name for name in ("source", "target", "weight") if name in found])


@WAYS
@pytest.mark.parametrize("k", [None, 0, 1, 3, 500])
def test_edges_are_those_of_networkx(built, k, directed):
    pairs = sorted(simple(MIXED, directed).edges)
    found = built(pairs, directed=directed).k_core(k=k).compute()
    assert list(found) == ["source", "target"]
    assert rows(found) == by_networkx(pairs, k, directed)


@WAYS
@pytest.mark.parametrize("ids", ["numbers", "text"])
def test_parallel_edges_self_loops_and_weights_are_kept(built, ids, directed):
    edges = frame(MIXED).assign(w=np.arange(len(MIXED), dtype="float32")[::-1])
    if ids == "text":
        edges[["a", "b"]] = edges[["a", "b"]].apply(lambda ends: ends.map("v{:05d}".format))
    g = built(edges, directed=directed)
    for k in (None, 0, 2):
        lazy, wanted = g.k_core(k=k), induced(edges, directed, k)
        found = lazy.compute()
        assert is_as_announced(found, lazy)
        assert rows(found) == rows(wanted)
    assert len(found) > len({*map(tuple, found[["source", "target"]].to_numpy())})
    assert (found.source == found.target).any() == any(wanted.source == wanted.target)


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
    assert rows(found.compute()) == rows(induced(frame(pairs), False, 2))
    _, all_steps = g.core_number(trace=True)
    # A device may remove all of these vertices in one superstep.
    assert steps.compute()["frontier"].sum() < all_steps.compute()["frontier"].sum()
