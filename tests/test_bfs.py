"""Breadth-first search: levels against SciPy, the smallest predecessors, the same bits everywhere."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from conftest import fewer, frame, on_backend, partitioned, to_host
from shapes import LARGE, SMALL, both_ways, scipy_distances, shards_of

import dask_graphflow as gf
from dask_graphflow import bfs
from dask_graphflow.algorithms.bfs import levels
from dask_graphflow.exceptions import (
    EdgeListError,
    OptionError,
    UnknownVertexError,
    VertexTypeError,
)

pytestmark = pytest.mark.usefixtures("backend")

ENDS = {"source": "a", "target": "b"}
RULES = ("beamer", "gemini", "push", "pull")


def by_vertex(found, size, column, missing):
    values = np.full(size, missing)
    known = found[found[column].notna()]
    values[known["vertex"]] = known[column].astype(values.dtype)
    return values


def check(source, target, sources, level, predecessor):
    """Assert what makes levels and predecessors right; -1 where there is none."""
    np.testing.assert_array_equal(np.flatnonzero(level == 0), np.unique(sources))
    reached = level[source] >= 0
    assert (level[target[reached]] >= 0).all()
    assert (level[target[reached]] <= level[source[reached]] + 1).all()
    before = reached & (level[target] == level[source] + 1)
    smallest = np.full(len(level), len(level))
    np.minimum.at(smallest, target[before], source[before])
    np.testing.assert_array_equal(predecessor, np.where(smallest == len(level), -1, smallest))
    assert (predecessor[level > 0] >= 0).all()


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("several", [False, True], ids=["one source", "several sources"])
@pytest.mark.parametrize("shape", SMALL)
def test_levels_and_the_smallest_predecessors(shape, several, directed):
    pairs = SMALL[shape]
    sources = sorted(
        {pairs[0][0]} | ({pairs[-1][1], pairs[len(pairs) // 2][0]} if several else set())
    )
    found = gf.bfs(frame(pairs), **ENDS, sources=sources, directed=directed).compute()
    assert found["vertex"].is_monotonic_increasing
    assert found["distance"].dtype == "int32"
    source, target, ones = both_ways(pairs, np.ones(len(pairs)), directed)
    wanted = scipy_distances(source, target, ones, sources)
    level = by_vertex(found, len(wanted), "distance", -1)
    np.testing.assert_array_equal(np.where(level < 0, np.inf, level), wanted)
    check(source, target, sources, level, by_vertex(found, len(wanted), "predecessor", -1))


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("shape", LARGE)
def test_the_same_bits_for_every_shard_thread_and_rule(shape, directed):
    pairs = LARGE[shape]()
    # On a path one in many, or there would be thousands of steps.
    sources = np.array([u for u, _ in pairs[:: 250 if shape == "path" else 9000]])
    source, target, ones = both_ways(pairs, np.ones(len(pairs)), directed)
    wanted = scipy_distances(source, target, ones, sources)
    for parts in fewer((1, 2, 3, 7), (1, 7)):
        shards = shards_of(pairs, directed=directed, parts=parts)
        for rule, threads in itertools.product(RULES, fewer((1, 3), (1,))):
            level, predecessor, steps = levels(
                shards, on_backend(sources), depth_limit=None, rule=rule, threads=threads
            )
            level, predecessor = to_host(level), to_host(predecessor)
            predecessor = np.where(level < 0, -1, predecessor)
            np.testing.assert_array_equal(np.where(level < 0, np.inf, level), wanted)
            check(source, target, sources, level, predecessor)
            ways = {step["direction"] for step in steps}
            assert ways == {rule} or rule in ("beamer", "gemini")


@pytest.mark.parametrize("partitions", [2, 7, 40])
def test_partitions_and_the_order_of_edges_change_nothing(partitions):
    edges = frame(SMALL["rmat"])
    some = edges["a"].iloc[[7, 90]]
    whole = gf.bfs(edges, **ENDS, sources=some).compute()
    shuffled = partitioned(edges.sample(frac=1, random_state=1), partitions)
    cut = gf.bfs(shuffled, **ENDS, sources=some[::-1])
    assert cut.npartitions == -(-partitions // 8)
    pd.testing.assert_frame_equal(cut.compute().reset_index(drop=True), whole)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("limit", [0, 1, 3, np.int64(2)])
def test_no_vertex_past_the_limit_is_reached(limit, rule):
    edges = frame(SMALL["rmat"])
    search = {"sources": edges["b"][:1], "directed": False}
    whole = gf.bfs(edges, **ENDS, **search).compute()
    near = gf.bfs(edges, **ENDS, **search, depth_limit=limit, direction=rule).compute()
    wanted = whole[whole["distance"] <= limit].reset_index(drop=True)
    assert len(wanted) < len(whole)
    pd.testing.assert_frame_equal(near, wanted)


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


def test_sources_may_lie_elsewhere_than_the_edges():
    edges, sources = frame([(1, 3), (3, 5)]), pd.DataFrame({"id": [3]})
    for given in ((on_backend(edges), sources), (edges, on_backend(sources))):
        found = to_host(bfs(given[0], **ENDS, sources=given[1]).compute())
        assert found["vertex"].tolist() == [3, 5]


# What the trace says


def traced(pairs, rule, **options):
    found, steps = gf.bfs(frame(pairs), **ENDS, sources=[0], direction=rule, trace=True, **options)
    steps = steps.compute()
    assert steps["superstep"].tolist() == list(range(len(steps)))
    assert (steps["seconds"] >= 0).all()
    return found.compute(), steps


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
def test_the_trace_says_which_way_each_step_went(rule, directions):
    found, steps = traced(SPINDLE, rule)
    assert steps["direction"].tolist() == directions
    assert steps["frontier"].tolist() == [1, 40, 1, 1, 1]
    assert steps["edges"].tolist() == [40, 40, 1, 1, 0]
    assert found["distance"].tolist() == [0] + [1] * 40 + [2, 3, 4]


@pytest.mark.parametrize(
    ("rule", "leaving", "total", "way"),
    [
        ("gemini", 5, 100, "push"),
        ("gemini", 5, 99, "pull"),
        ("beamer", 7, 105, "push"),
        ("beamer", 7, 104, "pull"),
    ],
)
def test_a_step_pulls_past_the_threshold_of_its_rule(rule, leaving, total, way):
    # Among few vertices: that 1/18 of them are more than the edges that leave is another threshold.
    elsewhere = [(10 + i % 11, 21 + i // 11) for i in range(total - leaving)]
    _, steps = traced([(0, i + 1) for i in range(leaving)] + elsewhere, rule)
    assert (steps["direction"][0], steps["edges"][0]) == (way, leaving)


def by_the_rule(rule, level, degrees):
    """Return the directions of all steps, from what `bfs` says."""
    total = unexplored = int(degrees.sum())
    ways, before = [], 0
    for depth in range(level.max() + 1):
        here = level == depth
        count, leaving = int(here.sum()), int(degrees[here].sum())
        if rule == "gemini":
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


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("rule", ["beamer", "gemini"])
@pytest.mark.parametrize("shape", ["hubs between roads", "rmat", "grid"])
def test_every_step_goes_the_way_that_its_rule_says(shape, rule, directed):
    pairs = between_roads(SMALL["rmat"]) if shape == "hubs between roads" else LARGE[shape]()
    source, *_ = both_ways(pairs, np.ones(len(pairs)), directed)
    first = on_backend(np.array([pairs[0][0]]))
    for parts in (1, 3):
        shards = shards_of(pairs, directed=directed, parts=parts)
        level, _, steps = levels(shards, first, depth_limit=None, rule=rule, threads=2)
        level = to_host(level)
        degrees = np.bincount(source, minlength=len(level))
        assert [step["direction"] for step in steps] == by_the_rule(rule, level, degrees)
        assert [step["frontier"] for step in steps] == np.bincount(level[level >= 0]).tolist()


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize(("shape", "pulls"), [("grid", False), ("path", False), ("rmat", True)])
def test_a_long_thin_graph_is_never_pulled(shape, pulls, directed):
    pairs = LARGE[shape]()
    shards = shards_of(pairs, directed=directed)  # one range, or a path would take long
    first, middle = pairs[0][0], pairs[len(pairs) // 2][0]
    for sources in ([first], [first, middle]):
        given = on_backend(np.array(sources))
        _, _, steps = levels(shards, given, depth_limit=None, rule="beamer", threads=1)
        assert any(step["direction"] == "pull" for step in steps) == pulls


def test_a_search_without_edges_to_follow_has_one_step():
    found, steps = traced([(1, 0)], "push")
    assert found[["vertex", "distance"]].to_numpy().tolist() == [[0, 0]]
    assert found["predecessor"].isna().all()
    assert steps["edges"].tolist() == [0]


# Bad input


@pytest.mark.parametrize(
    ("sources", "error", "message"),
    [
        ([9, 1, 8], UnknownVertexError, r"2 of 3 ids are not in the graph: 9, 8; no edge"),
        ([4], UnknownVertexError, r"1 of 1 id is not in the graph: 4"),
        ([5, 6, 7, 8], UnknownVertexError, r"4 of 4 ids .*: 5, 6, 7, ...; no edge"),
        ([2**40 + 1], UnknownVertexError, r"1099511627777 is not in the graph: .* int32"),
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
        ([1], r"sources=\[1\]; an id has 2 parts here: give tuples of as many"),
        ([1, 2], r"sources=\[1, 2\]; an id has 2 parts here: give tuples of as many"),
        ((1, 2, 5), r"sources=\(1, 2, 5\); an id has 2 parts here: give tuples of as many"),
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


def test_a_tuple_of_ids_of_one_part_is_as_many_sources():
    reached = gf.bfs(frame([(1, 2), (3, 4)]), **ENDS, sources=(1, 3)).compute()
    assert reached["vertex"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"direction": "pul"},
            r"'pul'; give 'gemini', 'beamer', 'push', 'pull'; did you mean 'pull'",
        ),
        ({"depth_limit": -1}, r"depth_limit=-1; give a whole number, 0 or more, or None"),
        ({"depth_limit": 1.5}, r"depth_limit=1.5"),
    ],
)
def test_options_that_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        gf.bfs(frame([(1, 2)]), **ENDS, sources=[1], **options)
