"""Paths of pairs: the shortest one as `sssp` finds it, and the k shortest as by brute force."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from conftest import BACKEND, ENDS, GRAPHS, frame, host_only, partitioned
from oracles import confirm
from shapes import WAYS, at_random, grid, rmat

import dask_graphflow as gf
from dask_graphflow.comm.resources import Resources
from dask_graphflow.exceptions import ArgumentError, GraphMemoryError, OptionError, WeightError
from dask_graphflow.kernels import memory
from dask_graphflow.kernels.csr import Rows
from dask_graphflow.kernels.routes import host as host_routes
from dask_graphflow.kernels.routes import (
    host_alternatives,
    host_between,
    host_distances,
    host_landmarks,
)

pytestmark = pytest.mark.usefixtures("backend")

WEIGHTS = {"whole": [1.0, 2.0, 9.0], "zero": [0.0, 1.0], "all zero": [0.0],
           "rounded": [0.1, 0.7, 1 / 3], "far apart": [2.0**-60, 1.0, 2.0**60]}  # fmt: skip


def weighted(pairs, weights, seed=0):
    """Return a frame of edges with weights that are drawn from some values."""
    drawn = np.random.default_rng(seed).choice(weights, len(pairs))
    return frame(pairs).assign(w=drawn.astype("float64"))


def trips(pairs, count, seed=0):
    """Return random pairs of the vertices of some edges, some of them twice."""
    ids = sorted({v for pair in pairs for v in pair})
    ends = np.random.default_rng(seed).choice(ids, (count, 2)).tolist() if ids else []
    return pd.DataFrame([*ends, *ends[:3], *([v, v] for v in ids[:1])], columns=["x", "y"])


def brute(edges, directed, source, target, k):
    """Return the k shortest simple paths, by a search for all."""
    lightest: dict[tuple[int, int], float] = {}
    for a, b, w in edges.itertuples(index=False):
        for pair in ((a, b),) if directed else ((a, b), (b, a)):
            lightest[pair] = min(w, lightest.get(pair, math.inf))
    found = []

    def extend(path, length):
        if path[-1] == target:
            found.append((length, path))
            return
        for (a, b), w in lightest.items():
            if a == path[-1] and b not in path:
                extend((*path, b), length + w)

    extend((source,), 0.0)
    return sorted(found)[:k]


def listed(found):
    """Return the paths of each pair of a computed result, by rank."""
    paths: dict[tuple[int, int], list] = {}
    for (a, b, _), rows in found.groupby(["source", "target", "rank"]):
        assert rows.step.tolist() == list(range(len(rows)))
        assert rows.length.nunique() == 1
        paths.setdefault((a, b), []).append((rows.length.iloc[0], tuple(rows.vertex)))
    return paths


@WAYS
@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_path_of_a_pair_is_that_of_sssp(built, directed, weights):
    edges = weighted(at_random(200, 500), WEIGHTS[weights])
    graph, pairs = built(edges, directed=directed), trips(at_random(200, 500), 9)
    found = graph.shortest_paths(pairs=pairs).compute()
    assert found.dtypes.astype(str).tolist() == ["int64"] * 2 + ["float64", "int32", "int64"]
    expected = []
    for source in sorted({*pairs.x}):
        reached = graph.sssp([source]).compute()
        rows = gf.shortest_paths(reached, sorted({*pairs.y[pairs.x == source]})).compute()
        distance = reached.set_index("vertex").distance
        expected.append(rows.assign(source=source, length=rows.target.map(distance)))
    expected = pd.concat(expected, ignore_index=True)[[*found]]
    pd.testing.assert_frame_equal(found.reset_index(drop=True), expected)


@WAYS
def test_without_weights_the_path_is_that_of_bfs(built, directed):
    pairs = rmat()
    graph, some = built(pairs, directed=directed), trips(pairs, 8)
    found = graph.shortest_paths(pairs=some).compute()
    confirm(
        "shortest_paths",
        found,
        pairs,
        {"pairs": [*map(tuple, some.to_numpy().tolist())]},
        directed=directed,
    )
    for source in {*some.x}:
        expected = gf.shortest_paths(graph.bfs([source]), {*some.y[some.x == source]} - {-1})
        own = found[found.source == source][["target", "step", "vertex"]]
        assert own.to_numpy().tolist() == expected.compute().to_numpy().tolist()


@pytest.mark.parametrize("weights", WEIGHTS)
@WAYS
def test_the_k_shortest_paths_are_those_of_brute_force(built, directed, weights):
    for seed in range(3):
        pairs = at_random(8, 14, seed=seed)
        edges = weighted(pairs, WEIGHTS[weights], seed)
        some = trips(pairs, 6, seed)
        for k in (3, 40):
            found = listed(built(edges, directed=directed).k_shortest_paths(some, k=k).compute())
            for a, b in {*some.itertuples(index=False, name=None)}:
                expected = brute(edges, directed, a, b, k)
                got = found.get((a, b), [])
                assert [length for length, _ in got] == pytest.approx([x for x, _ in expected])
                if weights in ("whole", "zero", "all zero"):  # sums are exact
                    assert got == expected


@pytest.mark.parametrize("name", GRAPHS)
def test_difficult_graphs(name):
    pairs = GRAPHS[name]
    some = trips(pairs, 5)
    if not len(some):
        return
    graph, options = (
        gf.Graph(partitioned(frame(pairs), 3), **ENDS),
        [*map(tuple, some.to_numpy().tolist())],
    )
    found = graph.k_shortest_paths(some, k=3).compute()
    confirm("k_shortest_paths", found, pairs, {"pairs": options, "k": 3})
    confirm("shortest_paths", graph.shortest_paths(pairs=some).compute(), pairs, {"pairs": options})


@WAYS
def test_many_ties_on_a_grid(built, directed):
    pairs = grid(7, "right", "down")
    some = pd.DataFrame({"x": [0, 3, 6], "y": [48, 40, 42]})
    found = built(pairs, directed=directed).k_shortest_paths(some, k=20).compute()
    options = {"pairs": [*map(tuple, some.to_numpy().tolist())], "k": 20}
    confirm("k_shortest_paths", found, pairs, options, directed=directed)
    assert listed(found)[0, 48][0][1] == (*range(7), 13, 20, 27, 34, 41, 48)


def test_rows_are_the_same_bits_for_every_number_of_members_and_in_files(built, tmp_path):
    edges = weighted(at_random(300, 900), WEIGHTS["rounded"])
    some = trips(at_random(300, 900), 30)
    one = gf.Graph(edges, **ENDS, weight="w", shards=1)
    graphs = [built(edges)]
    if BACKEND.name == "pandas":  # graphs of cuDF frames are in memory
        graphs.append(gf.Graph(edges, **ENDS, weight="w", storage="disk"))
    for graph in graphs:
        for call in ("shortest_paths", "k_shortest_paths"):
            more = {"k": 4} if call[0] == "k" else {}
            a, b = (
                getattr(g, call)(pairs=some, **more).compute().reset_index(drop=True)
                for g in (one, graph)
            )
            pd.testing.assert_frame_equal(a, b, check_exact=True)


def test_a_hybrid_graph_has_the_same_paths():
    host_only("workers without a GPU cannot read cuDF frames")
    edges = weighted(at_random(300, 900), WEIGHTS["whole"])
    some, halves = trips(at_random(300, 900), 20), gf.Hybrid([0.5, 0.5], placement="random")
    ends = {**ENDS, "weight": "w"}
    one, other = (gf.Graph(partitioned(edges, 2), **ends, **h) for h in ({}, {"hybrid": halves}))
    for call in (lambda g: g.shortest_paths(pairs=some), lambda g: g.k_shortest_paths(some, k=3)):
        found = [call(g).compute().reset_index(drop=True) for g in (one, other)]
        pd.testing.assert_frame_equal(*found, check_exact=True)


def test_ids_of_several_columns(built):
    edges = pd.DataFrame(
        {"a": ["u", "u", "v"], "i": [1, 1, 2], "b": ["v", "w", "w"], "j": [2, 3, 3]}
    )
    some = edges[["a", "i", "b", "j"]].iloc[[1]]
    ends = {"source": ["a", "i"], "target": ["b", "j"]}
    found = gf.k_shortest_paths(edges, **ends, pairs=some, k=5).compute()
    assert found.vertex_0.tolist() == ["u", "w", "u", "v", "w"]
    assert list(found)[:4] == ["source_0", "source_1", "target_0", "target_1"]


def test_invalid_weights_are_errors(built):
    some = pd.DataFrame({"x": [1], "y": [2]})
    for bad in (-1.0, math.nan):
        with pytest.raises(WeightError):
            built(frame([(1, 2)]).assign(w=bad)).k_shortest_paths(some, k=2).compute()
    endless = built(frame([(1, 2)]).assign(w=math.inf))
    assert not len(endless.k_shortest_paths(some, k=2).compute())
    assert not len(endless.shortest_paths(pairs=some).compute())


def test_calls_that_mix_the_two_ways_are_errors():
    graph, some = gf.Graph(frame([(1, 2)]), **ENDS), pd.DataFrame({"x": [1], "y": [2]})
    for options in ({}, {"sources": 1}, {"sources": 1, "targets": 2, "pairs": some}):
        with pytest.raises(OptionError, match="either sources and targets"):
            graph.shortest_paths(**options)
    with pytest.raises(ArgumentError, match="either the result of a search"):
        gf.shortest_paths(graph, [2])
    with pytest.raises(OptionError, match="already says how"):
        gf.shortest_paths(graph, pairs=some, source="a")


def test_members_without_room_for_all_edges_say_so(built, members, monkeypatch):
    if members == 1:
        return
    monkeypatch.setattr(memory, "CHECKED", 0)
    monkeypatch.setattr(Resources, "memory", lambda self, device: 1000)
    graph = built(at_random(200, 500))
    with pytest.raises(GraphMemoryError, match=r"a copy of all edges needs .* shards=1"):
        graph.shortest_paths(pairs=trips(at_random(200, 500), 5)).compute()


@WAYS
@pytest.mark.parametrize("weights", [None, *WEIGHTS])
def test_searches_from_both_ends_and_landmarks_change_no_bit(built, directed, weights, monkeypatch):
    pairs = at_random(200, 420)
    edges = frame(pairs) if weights is None else weighted(pairs, WEIGHTS[weights])
    some, graph = trips(pairs, 40), built(edges, directed=directed)
    found = []
    for worth, apart in ((1, 1 << 30), (1 << 30, 1 << 30), (1 << 30, 0)):
        monkeypatch.setattr(host_landmarks, "WORTH", worth)
        monkeypatch.setattr(host_routes, "APART", apart)
        found.append([graph.shortest_paths(pairs=some), graph.k_shortest_paths(some, k=4)])
        found[-1] = [one.compute() for one in found[-1]]
    for one, *others in zip(*found, strict=True):
        for other in others:
            pd.testing.assert_frame_equal(one, other, check_exact=True)


def grid_rows(side):
    pairs = grid(side, "right", "down")
    ends = np.array([*pairs, *((b, a) for a, b in pairs)])
    ends = ends[np.lexsort(ends.T[::-1])]
    offsets = np.searchsorted(ends[:, 0], np.arange(side * side + 1))
    return Rows(offsets, ends[:, 1].astype("int32"), None, 0)


def test_searches_from_both_ends_visit_fewer_vertices():
    side = 60
    rows, count = grid_rows(side), side * side
    source, target = side * side // 2 + 20, np.array([side * side // 2 + 40])
    own = host_distances.search_room(count, np.dtype("int32"))
    back = np.full(count, np.inf), np.zeros(count, bool), np.empty(count, "int32")
    both = (*own, *back, host_distances.search_room(count, np.dtype("int32"))[-1])
    none = (*host_landmarks.landmarks_for(rows, rows, []), np.empty(0, np.int64))
    length, number = np.empty(1), np.empty(1, np.int64)
    seen = [host_distances.search_from(rows[:3], source, target, 1, length, number, own)]
    assert (length[0], number[0]) == (20, 21)
    host_distances.list_back(target, number, np.empty(21, "int32"), seen[0], own)
    seen.append(
        host_between.search_pair(rows[:3], rows[:3], source, target, none, length, number, both)
    )
    assert (length[0], number[0]) == (20, 21)
    assert 2 * seen[1] < seen[0]


def test_landmarks_shorten_searches(monkeypatch):
    side = 30
    rows = grid_rows(side)
    tables = [host_landmarks.find_landmarks(rows, rows, 0, count) for count in (8, 0)]
    for name in ("offer", "take_first", "empty_heap", "lower_bound"):
        monkeypatch.setattr(host_alternatives, name, getattr(host_alternatives, name).py_func)
    monkeypatch.setattr(host_alternatives, "weight_at", lambda weights, k: 1)
    seen = []
    for table in tables:
        landmarks = (*table, np.arange(table[0].shape[1]))
        back, heap = (
            np.full(side * side, np.inf),
            host_distances.search_room(side * side, "int32")[-1],
        )
        room = back, np.empty(side * side, "int32"), heap
        source, target = side * side // 2 + 8, side * side // 2 + 20
        count, radius = host_alternatives._search_back.py_func(
            rows[:3], source, target, landmarks, *room
        )
        assert radius == pytest.approx(12, rel=1e-4)
        seen.append(count)
    assert 3 * seen[0] < seen[1]
