"""Searches by source: the oracle, and calls with one source, for more sources than a word has bits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, fewer, frame, is_as_announced, partitioned
from oracles import confirm
from shapes import DIFFICULT, LARGE, SMALL, same, traced, weights

import dask_graphflow as gf
from dask_graphflow.algorithms.bfs import each_source
from dask_graphflow.exceptions import EdgeListError, OptionError, UnknownVertexError
from dask_graphflow.operators.advance.direction import DIRECTION_RULES
from dask_graphflow.operators.search import multi_search

pytestmark = pytest.mark.usefixtures("backend")

DIRECTED = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
SEARCHES = pytest.mark.parametrize("search", ["bfs", "sssp"])


def edges_of(pairs):
    return frame(pairs).assign(w=weights(len(pairs)))


def some(pairs, count):
    """Return up to `count` vertices, spread over all of them."""
    every = sorted({v for pair in pairs for v in pair})
    count = min(count, len(every))
    return [every[len(every) * i // count] for i in range(count)]


def one_by_one(graph, search, sources, **options):
    """Return the results of a call per source as one frame."""
    found = []
    for source in sorted(set(sources)):
        rows = getattr(graph, search)([source], **options).compute()
        rows.insert(0, "source", pd.Series([source] * len(rows), dtype=rows["vertex"].dtype))
        found.append(rows)
    return pd.concat(found, ignore_index=True)


@SEARCHES
@DIRECTED
@pytest.mark.parametrize("shape", ["difficult", "rmat", "star", "path", "two triangles"])
def test_distances_are_right_and_rows_those_of_a_call_per_source(built, shape, directed, search):
    pairs = (SMALL | {"difficult": DIFFICULT})[shape]
    edges, sources = edges_of(pairs), some(pairs, 9)
    graph = built(edges, directed=directed)
    lazy = getattr(graph, search)(sources, by_source=True)
    found = lazy.compute()
    assert is_as_announced(found, lazy)
    assert list(found) == ["source", "vertex", "distance", "predecessor"]
    assert found["source"].drop_duplicates().tolist() == sources
    confirm(search, found, edges, {"sources": sources, "by_source": True}, directed=directed)
    same(found, one_by_one(graph, search, sources))


@DIRECTED
def test_more_sources_than_two_words_can_be_searched(built, directed):
    pairs = SMALL["rmat"]
    graph, sources = built(pairs, directed=directed), some(pairs, 150)
    assert len(sources) > 2 * multi_search.WORD
    found = graph.bfs(sources[::-1], by_source=True).compute()
    same(found, one_by_one(graph, "bfs", sources))


@DIRECTED
@pytest.mark.parametrize("shape", LARGE)
def test_every_rule_gives_the_same_bits_for_many_members(built, shape, directed):
    pairs = LARGE[shape]()
    graph, sources = built(pairs, directed=directed), some(pairs, 3)
    wanted = one_by_one(graph, "bfs", sources)
    for rule in DIRECTION_RULES if shape == "rmat" else ("beamer",):
        same(graph.bfs(sources, by_source=True, direction=rule).compute(), wanted)


@pytest.mark.parametrize(("deep", "tail"), [(99, 99), (4, 99), (99, 4)])
def test_a_deep_batch_is_searched_from_one_source_after_another(built, monkeypatch, deep, tail):
    graph, sources = built([(i, i + 1) for i in range(40)] + [(50, 51)]), [0, 3, 50]
    called, by_itself = [], each_source.breadth_first

    def counted(*arguments, **options):
        called.append(1)
        return by_itself(*arguments, **options)

    monkeypatch.setattr(each_source.WordSearch, "DEEP", deep)
    monkeypatch.setattr(each_source, "TAIL", tail)
    monkeypatch.setattr(each_source, "breadth_first", counted)
    found = graph.bfs(sources, by_source=True).compute()
    assert bool(called) == (min(deep, tail) < 40)
    same(found, one_by_one(graph, "bfs", sources))


def test_64_searches_share_their_supersteps(built):
    pairs = SMALL["rmat"]
    graph, sources = built(pairs, directed=False), some(pairs, 64)
    _, together = traced(graph.bfs(sources, by_source=True, trace=True))
    _, alone = traced(graph.bfs(sources[:1], trace=True))
    assert len(together) <= 2 * len(alone) + 4


@SEARCHES
@DIRECTED
def test_targets_and_limits_apply_to_each_source(built, search, directed):
    pairs = [*SMALL["rmat"], (5000, 5001)]
    sources, limit = some(pairs, 70), {"bfs": "depth_limit", "sssp": "cutoff"}[search]
    graph = built(edges_of(pairs), directed=directed)
    every = getattr(graph, search)(sources, by_source=True).compute()
    for targets in (None, [sources[5]], [pairs[0][1], pairs[9][0], 5001]):
        for most in (None, 0, 2):
            found = getattr(graph, search)(
                sources, by_source=True, targets=targets, **{limit: most}
            ).compute()
            named = every["vertex"].isin(every["vertex"] if targets is None else targets)
            near = every["distance"] <= (np.inf if most is None else most)
            same(found, every[named & near])


def test_a_search_ends_once_every_source_has_reached_the_targets(built):
    graph = built([(i, i + 1) for i in range(100)])
    found, steps = traced(graph.bfs([0, 5], targets=[7], by_source=True, trace=True))
    assert found["distance"].tolist() == [7, 2]
    assert len(steps) == 7


@SEARCHES
def test_a_source_that_is_given_several_times_counts_once(built, search):
    graph = built(edges_of(DIFFICULT))
    same(
        getattr(graph, search)([4, 0, 4], by_source=True).compute(),
        getattr(graph, search)([0, 4], by_source=True).compute(),
    )


@SEARCHES
def test_ids_of_text_and_of_several_columns(built, search):
    edges = edges_of(SMALL["rmat"])
    sources = some(SMALL["rmat"], fewer(70, 9))
    wanted = getattr(built(edges), search)(sources, by_source=True).compute()

    def name(ids):
        return ids.map(lambda i: f"v{int(i):05d}", na_action="ignore")  # older pandas maps floats

    text = edges.assign(a=name(edges.a), b=name(edges.b))
    found = getattr(built(text), search)(name(pd.Series(sources)), by_source=True).compute()
    ids = ["source", "vertex", "predecessor"]
    same(
        found,
        wanted.assign(**{column: name(wanted[column]) for column in ids}).astype(found.dtypes),
    )

    pairs = {"a0": edges.a // 7, "a1": edges.a % 7, "b0": edges.b // 7, "b1": edges.b % 7}
    both = pd.DataFrame({**pairs, "w": edges.w})
    options = {"weight": "w"} if search == "sssp" else {}
    lazy = getattr(gf, search)(
        partitioned(both, 3), source=["a0", "a1"], target=["b0", "b1"], by_source=True,
        sources=[(v // 7, v % 7) for v in sources], **options,
    )  # fmt: skip
    found = lazy.compute()
    assert is_as_announced(found, lazy)
    assert list(found)[:4] == ["source_0", "source_1", "vertex_0", "vertex_1"]
    for column in ids:
        joined = found[f"{column}_0"] * 7 + found[f"{column}_1"]
        pd.testing.assert_series_equal(
            joined.reset_index(drop=True), wanted[column].reset_index(drop=True),
            check_names=False, check_dtype=False,
        )  # fmt: skip


@SEARCHES
def test_bad_input(built, search):
    graph = built(edges_of(DIFFICULT))
    call = getattr(graph, search)
    with pytest.raises(EdgeListError, match="sources has no vertex"):
        call([], by_source=True)
    with pytest.raises(UnknownVertexError, match="999"):
        call([0, 999], by_source=True).compute()
    with pytest.raises(OptionError, match=r"by_source=1; give True or False"):
        call([0], by_source=1)


@SEARCHES
def test_paths_need_the_rows_of_one_source(search):
    edges = edges_of([(0, 1), (1, 2), (5, 2)])
    graph = gf.Graph(partitioned(edges, 2), **ENDS, weight="w")
    result = getattr(graph, search)([0, 5], by_source=True)
    with pytest.raises(
        OptionError, match=r"paths from several sources.*drop\(columns=\['source'\]\)"
    ):
        gf.shortest_paths(result, [2])
    one = result[result["source"] == 0].drop(columns=["source"])
    assert gf.shortest_paths(one, [2]).compute()["vertex"].tolist() == [0, 1, 2]


def test_estimates_count_a_row_per_source_and_vertex():
    sizes = {**ENDS, "num_edges": 10**6, "num_vertices": 10**5}
    edges = frame([(0, 1)]).assign(w=1.0)
    for search in ("bfs", "sssp"):
        few, many = (gf.estimate(edges, search, k=k, weight="w", **sizes) for k in (64, 640))
        assert few.bytes_per_worker[0] > gf.estimate(edges, search, **sizes).bytes_per_worker[0]
        rows = 576 * 10**5
        assert many.bytes_per_worker[0] - few.bytes_per_worker[0] >= 29 * rows
        assert many.seconds > 5 * few.seconds


def test_any_number_of_sources_can_be_in_the_last_word(built):
    pairs = [(i, (i * 7 + 3) % 130) for i in range(130)] + [(i, i + 1) for i in range(129)]
    graph = built(pairs)
    for count in (1, 63, 64, 65, 128, 130):
        found = graph.bfs(list(range(count)), by_source=True).compute()
        sizes = found.groupby("source").size()
        assert len(sizes) == count
        assert (found["distance"] == 0).sum() == count
        assert np.array_equal(found["predecessor"].isna(), found["source"] == found["vertex"])
