"""Breadth-first search: levels against SciPy, the smallest predecessors, directions, what is sent."""

from __future__ import annotations

import itertools

import dask
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, fewer, frame, on_backend, partitioned, to_host
from shapes import LARGE, SMALL, both_ways, check_search, on_members, rmat, same, traced

import dask_graphflow as gf
from dask_graphflow import bfs
from dask_graphflow.comm.exchange import HEADER
from dask_graphflow.exceptions import (
    EdgeListError,
    UnknownVertexError,
    VertexTypeError,
)
from dask_graphflow.kernels.search import host as host_search
from dask_graphflow.operators.advance.direction import DIRECTION_RULES
from dask_graphflow.operators.search import search
from dask_graphflow.operators.search.search import BETWEEN_LOOKS, Search

pytestmark = pytest.mark.usefixtures("backend")

DIRECTED = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])


def check(pairs, directed, sources, found):
    """Assert that levels are those of SciPy, and predecessors the smallest; return the levels."""
    assert found["distance"].dtype == "int32"
    distance = check_search(frame(pairs), directed, sources, found)
    return np.where(np.isfinite(distance), distance, -1).astype("int64")


@DIRECTED
@pytest.mark.parametrize("shape", SMALL)
def test_levels_and_the_smallest_predecessors(built, shape, directed):
    pairs = SMALL[shape]
    g = built(pairs, directed=directed)
    several = sorted({pairs[0][0], pairs[-1][1], pairs[len(pairs) // 2][0]})
    check(pairs, directed, several[:1], g.bfs(several[:1]).compute())
    for rule in DIRECTION_RULES:
        check(pairs, directed, several, g.bfs(several, direction=rule).compute())


def by_the_rule(rule, level, degrees):
    """Return the directions of all steps, from what `bfs` says."""
    total = unexplored = int(degrees.sum())
    ways, before = [], 0
    for depth in range(level.max() + 1):
        here = level == depth
        count, leaving = int(here.sum()), int(degrees[here].sum())
        if rule in ("push", "pull"):
            way = rule
        elif rule == "gemini":
            way = "pull" if leaving * 20 > total else "push"
        elif leaving * 18 <= len(level):
            way = "push"
        elif ways[-1:] == ["pull"]:
            way = "push" if count < before and count * 18 <= len(level) else "pull"
        else:
            way = "pull" if leaving * 15 > unexplored else "push"
        unexplored, before = unexplored - leaving, count
        ways.append(way)
    return ways


def between_roads(pairs, length=50):
    """Return a graph with a road to its first vertices and one from its last."""
    moved = [(u + length, v + length) for u, v in pairs]
    end = max(map(max, moved)) + 1
    into = [(i, i + 1) for i in range(length)] + [(length, u) for u, _ in moved[:20]]
    return (
        into
        + moved
        + [(v, end) for _, v in moved[-20:]]
        + [(end + i, end + i + 1) for i in range(length)]
    )


SHAPES = LARGE | {"hubs between roads": lambda: between_roads(SMALL["rmat"])}


@DIRECTED
@pytest.mark.parametrize("shape", SHAPES)
def test_every_rule_and_number_of_threads_gives_the_same_bits(
    built, monkeypatch, members, shape, directed
):
    monkeypatch.setattr(search, "DEEP", np.inf)  # level by level
    monkeypatch.setattr(host_search, "WIDE", 0)  # a team of threads unless a graph is light
    monkeypatch.setattr(host_search, "SMALL", 1 << 12)
    pairs = SHAPES[shape]()
    # On a path, one source in 50 vertices. Otherwise there would be thousands of supersteps.
    sources = [u for u, _ in pairs[:: 50 if shape == "path" else 9000]]
    g = built(pairs, directed=directed)
    degrees = np.bincount(both_ways(pairs, np.ones(len(pairs)), directed)[0])
    first = None
    cases = fewer(((1, 0), (1, host_search.LIGHT), (3, 0)), ((1, 0),))
    for rule, (threads, light) in itertools.product(DIRECTION_RULES, cases):
        monkeypatch.setattr(host_search, "LIGHT", light)
        with dask.config.set(num_workers=threads * members):
            found, steps = traced(g.bfs(sources, direction=rule, trace=True))
        if first is None:
            first, level = found, check(pairs, directed, sources, found)
            leaving = np.pad(degrees, (0, len(level) - len(degrees)))
        pd.testing.assert_frame_equal(found, first)
        assert steps["direction"].tolist() == by_the_rule(rule, level, leaving)
        assert steps["frontier"].tolist() == np.bincount(level[level >= 0]).tolist()


@DIRECTED
@pytest.mark.parametrize("shape", ["grid", "hubs between roads"])
@pytest.mark.parametrize("limit", [None, 30])
def test_a_deep_search_takes_fewer_rounds_and_finds_the_same(
    built, monkeypatch, members, shape, limit, directed
):
    pairs = SHAPES[shape]()
    g, source = built(pairs, directed=directed), pairs[0][0]
    found = {}
    for deep in (np.inf, 16, 0):
        monkeypatch.setattr(search, "DEEP", deep)
        found[deep], steps = traced(g.bfs(source, depth_limit=limit, trace=True))
        pd.testing.assert_frame_equal(found[deep], found[np.inf])
        levels = found[deep]["distance"].max() + 1
        if members == 1 or deep == np.inf:
            assert len(steps) in (levels, levels - 1)  # the last vertices may have no edges
        else:
            assert len(steps) < levels / 2 + deep


@DIRECTED
@pytest.mark.parametrize(("shape", "pulls"), [("grid", False), ("path", False), ("rmat", True)])
def test_a_long_thin_graph_is_never_pulled(shape, pulls, directed):
    pairs = LARGE[shape]()
    g = gf.Graph(frame(pairs), **ENDS, directed=directed).persist()
    first, middle = pairs[0][0], pairs[len(pairs) // 2][0]
    for sources in ([first], [first, middle]):
        _, steps = traced(g.bfs(sources, trace=True))
        assert ("pull" in set(steps["direction"])) == pulls


@pytest.mark.parametrize("limit", [0, 1, 3, np.int64(2)])
def test_no_vertex_past_the_limit_is_reached(built, limit):
    pairs = SMALL["rmat"]
    g, sources = built(pairs, directed=False), [pairs[0][1]]
    whole = g.bfs(sources).compute()
    wanted = whole[whole["distance"] <= limit]
    assert len(wanted) < len(whole)
    for rule in DIRECTION_RULES:
        near = g.bfs(sources, depth_limit=limit, direction=rule).compute()
        same(near, wanted)


@pytest.mark.parametrize(
    "sources",
    [
        3,
        np.int32(3),
        [3, 3],
        (3,),
        np.array([3]),
        pd.Series([3]),
        pd.Series([3], dtype="category"),
        pd.DataFrame({"id": [3]}),
    ],
    ids=lambda sources: type(sources).__name__,
)
def test_sources_are_given_in_many_ways(sources):
    edges = frame([(1, 3), (3, 5)], "int32")
    found = gf.bfs(edges, **ENDS, sources=sources).compute()
    assert found["distance"].tolist() == [0, 1]


def test_sources_can_be_in_other_memory_than_the_edges():
    edges, sources = frame([(1, 3), (3, 5)]), pd.DataFrame({"id": [3]})
    for given in ((on_backend(edges), sources), (edges, on_backend(sources))):
        found = to_host(bfs(given[0], **ENDS, sources=given[1]).compute())
        assert found["vertex"].tolist() == [3, 5]


# What the trace says

# 1 vertex, 40 vertices, 1, 1, 1: of 82 edges 40, 40, 1, 1 and 0 leave.
SPINDLE = [(0, i) for i in range(1, 41)] + [(i, 41) for i in range(1, 41)] + [(41, 42), (42, 43)]


@pytest.mark.parametrize(
    ("rule", "directions"),
    [
        ("push", ["push"] * 5),
        ("pull", ["pull"] * 5),
        ("gemini", ["pull", "pull", "push", "push", "push"]),
        # One edge leaves the third step and one the fourth, the last of all, but 1/18 of 44 vertices are
        # more.
        ("beamer", ["pull", "pull", "push", "push", "push"]),
    ],
)
def test_the_trace_says_which_way_each_step_went(built, rule, directions):
    g = built(SPINDLE)
    found, steps = traced(g.bfs([0], direction=rule, trace=True))
    assert steps["superstep"].tolist() == list(range(5))
    assert steps["direction"].tolist() == directions
    assert steps["frontier"].tolist() == [1, 40, 1, 1, 1]
    assert steps["edges"].tolist() == [40, 40, 1, 1, 0]
    assert (steps["seconds"] >= 0).all()
    assert found["distance"].tolist() == [0] + [1] * 40 + [2, 3, 4]


def test_a_single_member_pushes_several_small_levels_in_one_call(built, members):
    def depths(g):
        sources = g.numbers[:1] - g.member.shard.low if g.member.shard.low == 0 else g.numbers[:0]
        search, completed = Search(g), []
        frontier = search.begin(sources)
        while frontier and search.depth < 100:
            search.rule.choose(frontier)
            frontier = search.push(frontier, 100)
            completed.append(search.depth)
        return completed

    g = built([(i, i + 1) for i in range(300)])
    wanted = [100] if members == 1 else list(range(1, 101))
    assert on_members(g, depths) == [wanted] * members


@pytest.mark.parametrize("rule", DIRECTION_RULES)
def test_incoming_edges_are_put_in_rows_for_the_first_pull(built, members, rule):
    g = built([(i, i + 1) for i in range(300)])
    g.bfs([100], depth_limit=1, direction=rule).compute()
    made = on_members(g, lambda view: view.member.shard.has("into"))
    assert made == [rule == "pull"] * members


# What is sent


def box(count, size):
    """Return the bytes of `count` of `size` values of 4 bytes."""
    if count in (0, size):
        return 4 * count
    return -(-4 * count // 8) * 8 + min(4 * count, -(-size // 8))


def test_a_push_sends_each_mirror_once_in_the_fewest_bytes_and_a_pull_sends_a_bitmap(
    built, members
):
    pairs = rmat(13, 8)
    g, first = built(pairs, directed=False), pairs[0][0]
    # Members tell each other once which vertices they mirror.
    g.bfs([first], direction="push").compute()
    found, steps = traced(g.bfs([first], direction="push", trace=True), sum_bytes=True)
    bounds = np.array(on_members(g, lambda view: view.member.shard.bounds)[0])
    u, v, _ = both_ways(pairs, np.ones(len(pairs)), False)
    size = bounds[-1]
    level = np.full(size, -1)
    level[found["vertex"]] = found["distance"]
    owner = np.searchsorted(bounds, np.arange(size), side="right") - 1
    wanted = np.zeros(len(steps), int)
    for p, q in itertools.permutations(range(members), 2):
        mine = (owner[u] == p) & (owner[v] == q)
        mirrors = np.unique(v[mine])
        mine &= level[u] >= 0
        when = np.full(size, len(steps))
        np.minimum.at(when, v[mine], level[u[mine]])
        wanted += [box(int((when == depth).sum()), len(mirrors)) for depth in range(len(steps))]
    # If a message was sent to a mirror, an all-reduce follows.
    headers = HEADER.size * members * (members - 1) * (1 + (wanted > 0))
    assert steps["bytes"].tolist() == (wanted + headers).tolist()
    _, steps = traced(g.bfs([first], direction="pull", trace=True), sum_bytes=True)
    headers = 2 * HEADER.size * members * (members - 1)
    words = -(-size // 64)
    assert set(steps["bytes"][1:]) == {headers + 8 * words * (members - 1)}


def test_a_superstep_without_messages_takes_one_round(built, monkeypatch, members):
    monkeypatch.setattr(search, "DEEP", np.inf)  # level by level
    g = built([(i, i + 1) for i in range(300)])
    g.bfs([0], direction="push").compute()
    _, steps = traced(g.bfs([0], direction="push", trace=True), sum_bytes=True)
    rounds = steps["bytes"] // max(1, HEADER.size * members * (members - 1))
    # One more follows each edge from one member to the next.
    assert rounds.sum() == (301 + members - 1 if members > 1 else 0)
    assert rounds.max() <= 2


# Bad input


@pytest.mark.parametrize(
    ("sources", "error", "message"),
    [
        ([9, 1, 8], UnknownVertexError, r"2 of 3 ids are not in the graph: 9, 8; no edge"),
        ([4], UnknownVertexError, r"1 of 1 id is not in the graph: 4"),
        ([5, 6, 7, 8], UnknownVertexError, r"4 of 4 ids .*: 5, 6, 7, ...; no edge"),
        (
            [2**40 + 1],
            UnknownVertexError,
            r"1099511627777 in sources is not in the graph: .* int32",
        ),
        (["1"], VertexTypeError, r"edges' id has dtype int32 and sources has dtype \w+; ids"),
        ([1.0], VertexTypeError, r"dtype float64; ids are integers"),
        ([], EdgeListError, r"sources has no vertex; give at least one"),
        (
            pd.DataFrame({"id": [1], "name": ["x"]}),
            EdgeListError,
            r"sources has 2 columns; an id has 1 part here: give one column for each",
        ),
        (None, EdgeListError, r"sources has a null"),
        ([1, None], (EdgeListError, VertexTypeError), r"null|float64"),
        (partitioned(frame([(1, 2)]), 1), EdgeListError, r"lazy DataFrame; give what its compute"),
    ],
)
def test_sources_that_are_refused(sources, error, message):
    edges = frame([(1, 2), (2, 3), (10, 11)], "int32")
    with pytest.raises(error, match=message):
        gf.bfs(edges, **ENDS, sources=sources).compute()


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ([1], r"sources=\[1\]; an id has 2 parts here: give tuples of 2 parts"),
        ([1, 2], r"sources=\[1, 2\]; an id has 2 parts here: give tuples of 2 parts"),
        ((1, 2, 5), r"sources=\(1, 2, 5\); an id has 2 parts here: give tuples of 2 parts"),
        (pd.DataFrame({"x": [1]}), r"sources has 1 column; an id has 2 parts"),
    ],
)
def test_ids_of_two_parts_are_named_by_both(sources, message):
    edges = pd.DataFrame({"p": [1], "q": [2], "r": [3], "s": [4]})
    with pytest.raises(EdgeListError, match=message):
        gf.bfs(edges, source=["p", "q"], target=["r", "s"], sources=sources)


@pytest.mark.parametrize(
    ("sources", "found"),
    [
        (("a", "b"), [("a", "b", 0), ("c", "d", 1)]),
        ([("a", "b")], [("a", "b", 0), ("c", "d", 1)]),
        ((("a", "b"), ("c", "d")), [("a", "b", 0), ("c", "d", 0)]),
        ((["a", "b"], ["c", "d"]), [("a", "b", 0), ("c", "d", 0)]),
    ],
    ids=str,
)
def test_a_tuple_of_all_parts_of_an_id_is_one_source(sources, found):
    edges = pd.DataFrame({"p": ["a"], "q": ["b"], "r": ["c"], "s": ["d"]})
    reached = gf.bfs(edges, source=["p", "q"], target=["r", "s"], sources=sources).compute()
    columns = ["vertex_0", "vertex_1", "distance"]
    assert list(reached[columns].itertuples(index=False, name=None)) == found


# Targets


def rows_of(found, targets):
    return found[found["vertex"].isin(targets)]


@DIRECTED
@pytest.mark.parametrize("rule", DIRECTION_RULES)
def test_targets_get_the_rows_of_the_whole_search(built, rule, directed):
    pairs = SMALL["rmat"]
    g, ids = built(pairs, directed=directed), sorted({v for pair in pairs for v in pair})
    whole, sources = g.bfs(ids[3]).compute(), ids[3]
    for targets in ([ids[3]], ids[:1], ids[::40], ids[-1:] + ids[:2]):
        same(g.bfs(sources, targets=targets, direction=rule).compute(), rows_of(whole, targets))
    limited = g.bfs(sources, targets=ids[::5], depth_limit=1, direction=rule).compute()
    same(limited, rows_of(whole[whole["distance"] <= 1], ids[::5]))


def test_a_search_stops_once_all_targets_are_reached(built, monkeypatch, members):
    monkeypatch.setattr(search, "DEEP", np.inf)  # level by level
    g = built([(i, i + 1) for i in range(300)])
    found, steps = traced(g.bfs([0], targets=[100, 40, 0], trace=True))
    assert found["vertex"].tolist() == [0, 40, 100]
    assert found["predecessor"].tolist()[1:] == [39, 99]
    # A single member looks for them after some levels that one call pushes.
    assert len(steps) == (2 * BETWEEN_LOOKS if members == 1 else 100)
    assert len(g.bfs([0], targets=[0], trace=True)[1].compute()) == 0


def test_targets_that_cannot_be_reached_have_no_row(built):
    g = built([(0, 1), (1, 2), (200, 201)])
    assert g.bfs([0], targets=[201, 2]).compute()["vertex"].tolist() == [2]
    assert len(g.bfs([2], targets=[0]).compute()) == 0
    with pytest.raises(UnknownVertexError, match="1 of 2 ids is not in the graph: 7"):
        g.bfs([0], targets=[2, 7]).compute()
