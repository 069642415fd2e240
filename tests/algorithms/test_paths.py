"""Shortest paths from the predecessors of a search, for every number of members."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, frame, host_only, is_as_announced, partitioned
from shapes import SMALL, weights

import dask_graphflow as gf
from dask_graphflow.exceptions import EdgeListError, UnknownColumnError, UsageError
from dask_graphflow.tasks import placement

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture(autouse=True)
def several_members(request, monkeypatch):
    """Follow paths with as many members as the graph of the test has."""
    if "members" in request.fixturenames:
        count = request.getfixturevalue("members")
        slots = dataclasses.replace(placement.slots(), workers=tuple(map(str, range(count))))
        monkeypatch.setattr(placement, "slots", lambda: slots)


def followed(found, targets):
    """Return the rows of paths that predecessors lead along."""
    before = dict(zip(found["vertex"], found["predecessor"], strict=True))
    rows = []
    for target in sorted(set(targets) & set(before)):
        path = [target]
        while not pd.isna(before[path[-1]]):
            path.append(before[path[-1]])
        rows += [(target, step, vertex) for step, vertex in enumerate(reversed(path))]
    return rows


def rows(found):
    return list(found.itertuples(index=False, name=None))


@pytest.mark.parametrize("weight", [None, "w"])
def test_a_graph_finds_the_paths_that_follow_from_its_own_search(weight):
    edges = pd.DataFrame({"a": [1, 2, 1, 8], "b": [2, 3, 3, 9], "w": [1.0, 1.0, 9.0, 1.0]})
    g = gf.Graph(edges, source="a", target="b", weight=weight)
    found = g.shortest_paths(1, [3, 9]).compute()
    assert found["vertex"].tolist() == ([1, 3] if weight is None else [1, 2, 3])
    search = g.bfs if weight is None else g.sssp
    pd.testing.assert_frame_equal(found, gf.shortest_paths(search(1), [3, 9]).compute())


@pytest.mark.parametrize("search", ["bfs", "sssp"])
@pytest.mark.parametrize("ids", ["numbers", "text"])
def test_paths_follow_the_predecessors(built, search, ids):
    edges = frame(SMALL["rmat"])
    edges = edges.assign(w=weights(len(edges)))
    if ids == "text":
        ends = edges[["a", "b"]].apply(lambda ids: ids.map("v{:05d}".format))
        edges = edges.assign(a=ends.a, b=ends.b)
    g, some = built(edges, partitions=20, directed=False), edges["a"].unique()
    result = getattr(g, search)(some[[5, 17]].tolist())
    found, every = result.compute(), sorted(some)
    for targets in (every[:1], every[::9], [every[3], every[0], every[3]]):
        lazy = gf.shortest_paths(result, targets)
        paths = lazy.compute()
        assert is_as_announced(paths, lazy)
        assert rows(paths) == followed(found, targets)


def test_a_long_path_from_member_to_member(built):
    # One vertex of each third of the ids after the other.
    order = np.arange(210).reshape(3, 70).T.ravel()
    result = built(list(itertools.pairwise(order))).bfs(order[:1])
    found = gf.shortest_paths(result, int(order[-1])).compute()
    assert found["step"].tolist() == list(range(210))
    assert found["vertex"].tolist() == order.tolist()


def test_ids_of_two_columns():
    edges = pd.DataFrame({"p": ["x", "x"], "q": [1, 2], "r": ["x", "y"], "s": [2, 7]})
    result = gf.bfs(edges, source=["p", "q"], target=["r", "s"], sources=("x", 1))
    found = gf.shortest_paths(result, [("y", 7), ("x", 1)]).compute()
    assert list(found) == ["target_0", "target_1", "step", "vertex_0", "vertex_1"]
    assert rows(found) == [
        ("x", 1, 0, "x", 1),
        ("y", 7, 0, "x", 1),
        ("y", 7, 1, "x", 2),
        ("y", 7, 2, "y", 7),
    ]


def test_targets_that_were_not_reached_have_no_rows(built):
    result = built([(0, 1), (1, 2), (200, 201)]).bfs([0])
    assert rows(gf.shortest_paths(result, [201, 1, 999]).compute()) == [(1, 0, 0), (1, 1, 1)]
    assert len(gf.shortest_paths(result, 201).compute()) == 0


def test_paths_of_lazy_persisted_and_computed_results_are_the_same():
    result = gf.bfs(partitioned(frame([(1, 2), (2, 3)]), 2), **ENDS, sources=1)
    wanted = rows(gf.shortest_paths(result, [3]).compute())
    assert wanted == [(3, 0, 1), (3, 1, 2), (3, 2, 3)]
    assert rows(gf.shortest_paths(result.persist(), [3]).compute()) == wanted
    assert rows(gf.shortest_paths(result.compute(), [3]).compute()) == wanted


def test_on_a_cluster(client):
    host_only("test_cluster has what the GPUs of a cluster do")
    pairs = [(i, i + 1) for i in range(200)]
    g = gf.Graph(partitioned(frame(pairs), 40), **ENDS, shards=2).persist()
    found = gf.shortest_paths(g.bfs([0]), [150, 70]).compute()
    assert rows(found) == followed(g.bfs([0]).compute(), [70, 150])


# Bad input


def test_rows_that_are_missing_or_lead_in_a_circle(built):
    g = built([(0, 1), (1, 2), (2, 3)])
    with pytest.raises(UsageError, match=r"has no row for a predecessor.*without targets="):
        gf.shortest_paths(g.bfs([0], targets=[3]), [3]).compute()
    circle = pd.DataFrame({"vertex": [1, 2], "distance": [0, 0], "predecessor": [2, 1]})
    with pytest.raises(UsageError, match="lead in a circle"):
        gf.shortest_paths(partitioned(circle, 2), [2]).compute()


def test_invalid_arguments_of_paths_are_refused():
    edges = frame([(1, 2)])
    with pytest.raises(UnknownColumnError, match=r"result does not have the column 'vertex'"):
        gf.shortest_paths(edges, [1])
    with pytest.raises(
        EdgeListError, match=r"result is a builtins.tuple; give a DataFrame of Dask"
    ):
        gf.shortest_paths(gf.bfs(edges, **ENDS, sources=1, trace=True), [1])
    with pytest.raises(EdgeListError, match="targets has no vertex"):
        gf.shortest_paths(gf.bfs(edges, **ENDS, sources=1), [])
