"""Simple cycles and simple paths: those of NetworkX, in one order for every number of members."""

from __future__ import annotations

import importlib

import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, GRAPHS, frame, partitioned, to_host
from oracles import confirm
from shapes import WAYS, apart, at_random, cycle, grid

import dask_graphflow as gf
from dask_graphflow.exceptions import GraphMemoryError, OptionError, UnknownVertexError
from dask_graphflow.kernels.bounded_paths import Searches
from dask_graphflow.kernels.bounded_paths import host as host_paths
from dask_graphflow.operators import gathered
from dask_graphflow.operators.bounded_paths import cycles, room
from dask_graphflow.operators.bounded_paths.cycles import Cycles

pytestmark = pytest.mark.usefixtures("backend")

SHAPES = {
    "cycles that share a vertex": cycle(0, 1, 2) + cycle(2, 3, 4) + cycle(4, 5, 6, 2),
    "cycles in a cycle": [*cycle(*range(9)), (0, 4), (4, 0), (3, 8), (8, 5)],
    "chain of cycles": [e for i in range(0, 90, 3) for e in cycle(i, i + 1, i + 2, i + 3)],
    "clique": [(a, b) for a in range(6) for b in range(6) if a != b],
    "tree with a double edge": [((at - 1) // 3, at) for at in range(1, 40)] + [(12, 39), (39, 12)],
    "loops and cycles": [*cycle(1, 2, 3), (1, 1), (3, 3), (3, 3), (7, 7), (7, 8)],
    "grid": grid(5, "right", "down"),
    "hub": [*((0, i) for i in range(1, 40)), *((i, 0) for i in range(20, 60)), (5, 30), (30, 6)],
    "sparse": at_random(60, 90),
}
MIXED = apart({**GRAPHS, **SHAPES})


@pytest.mark.parametrize("length", [1, 2, 3, 5])
@WAYS
def test_cycles_are_those_of_networkx(built, directed, length):
    graph = built(MIXED, directed=directed)
    found = graph.simple_cycles(length).compute()
    assert [str(dtype) for dtype in found.dtypes][:2] == ["int64", "int32"]
    confirm("simple_cycles", found, MIXED, {"max_length": length}, directed=directed)


@pytest.mark.parametrize("options", [{"min_length": 3}, {"top": 7}, {"top": 40, "min_length": 2}])
@WAYS
def test_cycles_through_given_vertices(built, directed, options):
    graph = built(MIXED, directed=directed)
    vertices = sorted({v for pair in MIXED for v in pair})
    for through in (vertices[::9], vertices[5::50], None):
        asked = {"max_length": 4, "through": through, **options}
        found = graph.simple_cycles(**asked).compute()
        confirm("simple_cycles", found, MIXED, asked, directed=directed)


def test_cycles_through_vertices_are_the_rows_of_all_cycles(built):
    pairs = at_random(150, 900, seed=2)
    graph, through = built(pairs), [3, 77, 149]
    every = graph.simple_cycles(5, min_length=2).compute()
    passes = every["source"].isin(through).groupby(every["cycle"]).any()
    wanted = every[every["cycle"].isin(passes.index[passes])]
    found = graph.simple_cycles(5, min_length=2, through=through).compute()
    assert found["source"].tolist() == wanted["source"].tolist()
    assert found["cycle"].nunique() == passes.sum() > 0


@pytest.mark.parametrize("length", [1, 2, 4])
@WAYS
def test_paths_are_those_of_networkx(built, directed, length):
    graph, rng = built(MIXED, directed=directed), np.random.default_rng(4)
    pairs = [MIXED[at] for at in rng.integers(0, len(MIXED), 60)]
    pairs += [(a, d) for (a, _), (_, d) in zip(pairs, MIXED[5::7], strict=False)]
    pairs += [(pairs[0][0], pairs[0][0]), pairs[0], (b := pairs[1])[::-1], b]
    asked = pd.DataFrame(pairs, columns=["from", "to"])
    found = graph.simple_paths(asked, max_length=length).compute()
    options = {"pairs": pairs, "max_length": length}
    confirm("simple_paths", found, MIXED, options, directed=directed)


@pytest.mark.parametrize("name", [*GRAPHS, *SHAPES])
def test_difficult_graphs(name):
    pairs = {**GRAPHS, **SHAPES}[name]
    for directed in (False, True):
        graph = gf.Graph(partitioned(frame(pairs), 3), **ENDS, directed=directed)
        found = graph.simple_cycles(6).compute()
        confirm("simple_cycles", found, pairs, {"max_length": 6}, directed=directed)


def test_lengths_that_no_cycle_has_cost_nothing():
    graph = gf.Graph(frame(cycle(*range(300))), **ENDS)
    assert graph.simple_cycles(299).compute().empty
    found = graph.simple_cycles(10**12).compute()
    assert found["source"].tolist() == list(range(300))
    for least in (301, 2**62):
        assert graph.simple_cycles(2**62, min_length=least).compute().empty
    way = graph.simple_paths(pd.DataFrame({"x": [5], "y": [4]}), max_length=10**12).compute()
    assert way["vertex"].tolist() == [*range(5, 300), *range(5)]


def test_ids_that_are_text(built):
    edges = frame([(f"v{a:02}", f"v{b:02}") for a, b in SHAPES["sparse"]], "str")
    for directed in (False, True):
        found = built(edges, directed=directed).simple_cycles(5).compute()
        confirm("simple_cycles", found, edges, {"max_length": 5}, directed=directed)


def test_all_threads_write_the_same(backend):
    pairs = np.array(at_random(300, 3000, seed=7))
    graphs = [
        gathered.Gathered(np.arange(300), *pairs.T.astype("int32"), way) for way in (True, False)
    ]
    order = np.random.default_rng(0).permutation(300).astype("int32")
    for graph in graphs:
        rows = graph.rows(1)
        starts = np.arange(300)
        searches = Searches(starts, starts, starts, 2, 4, undirected=not graph.directed)
        results = []
        for threads in (1, 3):
            counts = host_paths.count(*rows, searches, 10**9, threads=threads)
            sizes = counts * np.arange(5)
            places = (np.cumsum(sizes) - sizes.ravel()).reshape(sizes.shape)
            listed = np.full(sizes.sum(), -1, "int32")
            host_paths.write(*rows, searches, places, order, listed, threads=threads)
            results.append((counts.tolist(), listed.tolist()))
        assert results[0] == results[1]
        assert min(results[0][1]) >= 0


def test_a_search_only_walks_what_leads_back():
    """Without distances to the end, a search would take 2 ** 40 steps."""
    fork = [e for i in range(40) for e in ((i, i + 1), (i, i + 100), (i + 100, i + 1))]
    graph = gf.Graph(frame([*fork, (40, 0), (3, 0)]), **ENDS)
    found = graph.simple_cycles(6).compute()
    confirm("simple_cycles", found[["cycle", "step", "source", "target"]],
            [*fork[:12], (3, 0)], {"max_length": 6})  # fmt: skip


def test_only_edges_that_can_be_on_a_cycle_are_gathered(built, monkeypatch):
    kept = []

    def noted(g, *given):
        made = gather(g, *given)
        kept.append(len(made.sources))
        return made

    gather = gathered.gather_edges
    for name in ("simple_cycles.simple_cycles", "simple_paths"):
        module = importlib.import_module(f"dask_graphflow.algorithms.{name}")
        monkeypatch.setattr(module, "gather_edges", noted)
    tree = [((at - 1) // 3, at) for at in range(1, 3000)]
    graph = built([*tree, *cycle(2990, 2991, 2992), *cycle(5000, 5001, 5002), (5000, 2992)])
    assert graph.simple_cycles(3).compute()["source"].tolist() == [
        2990,
        2991,
        2992,
        5000,
        5001,
        5002,
    ]
    assert {*kept} == {6}
    kept.clear()
    assert len(graph.simple_cycles(3, through=[5000]).compute()) == 3
    assert {*kept} == {3}
    kept.clear()
    pairs = pd.DataFrame({"x": [0, 2992], "y": [120, 5000]})
    assert graph.simple_paths(pairs, max_length=9).compute()["vertex"].tolist() == [
        0,
        3,
        12,
        39,
        120,
    ]
    assert {*kept} == {4}


def test_more_cycles_than_memory_holds_are_counted_and_refused(built, members, monkeypatch):
    clique = [(a, b) for a in range(9) for b in range(9) if a != b]
    monkeypatch.setattr(room, "free_bytes", lambda kernels: 1000 * room.ROW_BYTES)
    graph = built(clique)
    with pytest.raises(GraphMemoryError, match=r"more than 200 cycles of at most 5 edges.* There are "
                       r"36 of at most 2 edges. Give a smaller max_length"):  # fmt: skip
        graph.simple_cycles(5).compute()
    assert graph.simple_cycles(2).compute()["cycle"].nunique() == 36
    found = graph.simple_cycles(5, top=30).compute()
    confirm("simple_cycles", found, clique, {"max_length": 5, "top": 30})
    pairs = pd.DataFrame({"x": [0, 1], "y": [1, 2]})
    with pytest.raises(GraphMemoryError, match="more than 142 paths of at most 6 edges"):
        graph.simple_paths(pairs, max_length=6).compute()
    assert graph.simple_paths(pairs, max_length=2).compute()["path"].nunique() == 16


def test_few_cycles_are_counted_at_few_lengths(built, monkeypatch):
    """A count begins anew for each length, and a ring has only one cycle, of 300 edges."""
    tried = []
    count = Cycles._count

    def noted(self, least, most, limit):
        tried.append(most)
        return count(self, least, most, limit)

    monkeypatch.setattr(Cycles, "_count", noted)
    graph = built([*cycle(*range(300)), (300, 0)], directed=False)
    asked = {"max_length": 10**9, "min_length": 3, "top": 5}
    found = graph.simple_cycles(**asked).compute()
    assert len({*tried}) < 25
    assert found["source"].tolist() == [*range(300)]


def test_the_shortest_cycles_are_found_below_lengths_with_too_many(built, monkeypatch):
    """Lengths that grow by a quarter go beyond the shortest of the cycles that are asked for."""
    monkeypatch.setattr(cycles, "FEW", 10)
    ladder = [(2 * i + a, 2 * i + b) for i in range(12) for a, b in ((0, 1), (0, 2), (1, 3))]
    graph = built(ladder, directed=False)
    for top in (1, 20, 40):
        asked = {"max_length": 26, "min_length": 11, "top": top}
        found = graph.simple_cycles(**asked).compute()
        whole = graph.simple_cycles(max_length=26, min_length=11).compute()
        pd.testing.assert_frame_equal(
            found.reset_index(drop=True), whole[whole.cycle < top].reset_index(drop=True)
        )
        monkeypatch.setattr(cycles, "BLOCK", 40)  # counts of one vertex at a time


def test_edges_that_memory_does_not_hold_are_refused(built, monkeypatch):
    monkeypatch.setattr(gathered, "EDGE_BYTES", 1 << 50)
    with pytest.raises(GraphMemoryError, match="a search for cycles or paths needs"):
        built(cycle(1, 2, 3)).simple_cycles(3).compute()


def test_invalid_options():
    graph = gf.Graph(frame(cycle(1, 2, 3)), **ENDS)
    with pytest.raises(OptionError, match="min_length=4 is above max_length=3"):
        graph.simple_cycles(3, min_length=4).compute()
    with pytest.raises(OptionError, match="max_length=0"):
        graph.simple_cycles(0)
    with pytest.raises(UnknownVertexError, match="9"):
        graph.simple_cycles(3, through=[9]).compute()
    with pytest.raises(UnknownVertexError, match="9"):
        graph.simple_paths(pd.DataFrame({"x": [1], "y": [9]}), max_length=3).compute()


def test_results_are_in_the_memory_of_the_edges(backend):
    found = gf.simple_cycles(frame(cycle(1, 2, 3)), **ENDS, max_length=3).compute()
    assert to_host(found)["target"].tolist() == [2, 3, 1]
