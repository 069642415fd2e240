"""Pictures of whole graphs: layouts, graphs with results, communities, and degrees."""

from __future__ import annotations

import sys

import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, frame, partitioned
from matplotlib.colors import to_hex

import dask_graphflow as gf
from dask_graphflow.exceptions import (
    BackendError,
    EdgeListError,
    OptionError,
    UnknownColumnError,
    UnknownVertexError,
)
from dask_graphflow.plot.communities import apart
from dask_graphflow.plot.graph import GRAY, MARKED
from dask_graphflow.plot.quotient import quotient

pytest.importorskip("crategraph_forceatlas2")
KARATE = nx.karate_club_graph()

pytestmark = pytest.mark.usefixtures("figures")


def parts(ax):
    """Return the collections of an Axes by label, once it can be drawn."""
    ax.figure.draw_without_rendering()
    return {one.get_label(): one for one in ax.collections}


def segments(collection):
    """Return the lines of a collection as a set of pairs of points."""
    return {tuple(map(tuple, np.round(line, 6))) for line in collection.get_segments()}


# Layouts


def test_a_layout_has_the_same_bits_for_every_partitioning_and_order_of_edges(rng):
    pairs = pd.DataFrame(rng.integers(0, 3000, (9000, 2)), columns=["a", "b"])
    expected = gf.plot.layout(pairs, **ENDS, iterations=5)
    assert expected.vertex.tolist() == sorted({*pairs.a, *pairs.b})
    assert np.isfinite(expected[["x", "y"]]).all(axis=None)
    assert len(expected[["x", "y"]].drop_duplicates()) == len(expected) > 2000
    turned = pairs.sample(frac=1, random_state=1).rename(columns={"a": "b", "b": "a"})
    twice = pd.concat([turned, pairs, pd.DataFrame({"a": [pairs.a[0]], "b": [pairs.a[0]]})])
    for edges, options in ((partitioned(pairs, 5), {}), (twice, {})):
        pd.testing.assert_frame_equal(
            gf.plot.layout(edges, **ENDS, iterations=5, **options), expected
        )
    graph = gf.Graph(partitioned(pairs, 5), **ENDS, shards=3)
    pd.testing.assert_frame_equal(gf.plot.layout(graph, iterations=5), expected)


def test_neighbors_are_nearer_than_other_vertices():
    groups = nx.planted_partition_graph(4, 50, 0.3, 0.005, seed=2)
    placed = gf.plot.layout(groups).sort_values("vertex")
    points = placed[["x", "y"]].to_numpy()
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    same = np.arange(200)[:, None] // 50 == np.arange(200) // 50
    assert apart[same].mean() < 0.5 * apart[~same].mean()
    assert points[:, 0].var() >= points[:, 1].var()


def test_a_layout_of_ids_of_several_columns_and_of_no_edges():
    edges = pd.DataFrame({"a": [1, 1], "x": list("xy"), "b": [2, 2], "y": list("xx")})
    placed = gf.plot.layout(edges, source=["a", "x"], target=["b", "y"])
    assert placed.columns.tolist() == ["vertex_0", "vertex_1", "x", "y"]
    assert placed.vertex_1.tolist() == ["x", "y", "x"]
    assert len(gf.plot.layout(frame([]), **ENDS)) == 0


@pytest.mark.parametrize("draw", [gf.plot.layout, gf.plot.graph])
def test_a_graph_with_more_vertices_than_the_limit_is_refused(draw):
    with pytest.raises(OptionError, match=r"34 vertices, and limit=33.*gf\.plot\.communities"):
        draw(KARATE, limit=33)


def test_without_the_package_of_layouts_an_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "crategraph_forceatlas2", None)
    for draw in (gf.plot.layout, gf.plot.graph, lambda g: gf.plot.communities(g, None)):
        with pytest.raises(BackendError, match=r'pip install "dask-graphflow\[plot\]"'):
            draw(KARATE)


def test_a_graph_does_not_take_the_options_of_a_frame():
    for draw in (gf.plot.layout, gf.plot.graph, lambda g, **how: gf.plot.communities(g, 1, **how)):
        with pytest.raises(OptionError, match="was called on a Graph with source="):
            draw(gf.Graph(KARATE), source="a")


# Graphs


def test_each_vertex_and_each_pair_of_neighbors_is_drawn_once_at_its_position():
    pairs = frame([(1, 2), (2, 1), (1, 1), (2, 3), (2, 3)])
    layout = pd.DataFrame({"vertex": [9, 3, 2, 1], "x": [9.0, 3, 2, 1], "y": [0.0, 1, 5, 0]})
    ax = gf.plot.graph(pairs, **ENDS, layout=layout)
    drawn = parts(ax)
    assert drawn["vertices"].get_offsets().tolist() == [[1, 0], [2, 5], [3, 1]]
    assert segments(drawn["edges"]) == {((1, 0), (2, 5)), ((2, 5), (3, 1))}
    assert ax.get_title(loc="left") == "3 vertices, 2 edges"


def test_the_colors_of_vertices_are_the_values_and_the_largest_are_named():
    graph = gf.Graph(KARATE).persist()
    ranks = graph.pagerank().compute()
    ax = gf.plot.graph(graph, values=ranks.sample(frac=1, random_state=1), names=3)
    assert parts(ax)["vertices"].get_array().tolist() == ranks.pagerank.tolist()
    assert sorted(text.get_text() for text in ax.texts) == ["0", "32", "33"]
    assert ax.figure.axes[1].get_xlabel() == "pagerank"


def test_a_name_that_would_cover_one_before_it_is_left_out():
    layout = pd.DataFrame({"vertex": [1, 2, 3], "x": [0.0, 1e-9, 5.0], "y": [0.0, 0.0, 0.0]})
    found = pd.DataFrame({"vertex": [1, 2, 3], "rank": [2, 3, 1]})
    ax = gf.plot.graph([(1, 2), (2, 3)], values=found, layout=layout)
    assert [text.get_text() for text in ax.texts] == ["2", "3"]


def test_vertices_without_a_value_are_gray():
    found = pd.DataFrame({"vertex": [1, 2], "distance": pd.array([0, None], "Int64")})
    ax = gf.plot.graph(frame([(1, 2), (2, 3)]), **ENDS, values=found, names=1)
    numbers = parts(ax)["vertices"].get_array()
    assert numbers.mask.tolist() == [False, True, True]
    assert [text.get_text() for text in ax.texts] == ["1"]


def test_the_largest_groups_have_a_color_each_and_the_others_are_gray():
    sizes = [1, 2, 3, 4, 5, 6, 7, 8]
    label = np.repeat(list("abcdefgh"), sizes)
    found = pd.DataFrame({"vertex": range(36), "community": label})
    ax = gf.plot.graph([(i, i + 1) for i in range(35)], groups=found)
    colors = [to_hex(color) for color in parts(ax)["vertices"].get_facecolors()]
    by_group = pd.Series(colors).groupby(label).unique().map(list)
    assert by_group[["a", "b"]].tolist() == [[GRAY], [GRAY]]
    assert len({one for (one,) in by_group.tolist()}) == 7
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["h (8)", "g (7)", "f (6)", "e (5)", "d (4)", "c (3)"]
    assert ax.get_title(loc="left") == "8 groups of 36 vertices"


def test_vertices_that_are_true_have_a_color():
    graph = gf.Graph([(1, 2), (2, 3), (3, 4)], directed=False)
    ax = gf.plot.graph(graph, groups=graph.articulation_points())
    colors = [to_hex(color) for color in parts(ax)["vertices"].get_facecolors()]
    assert colors == [GRAY, MARKED.lower(), MARKED.lower(), GRAY]
    assert ax.get_title(loc="left") == "2 vertices: articulation_point"


def test_groups_keep_their_type_if_some_vertices_have_none():
    for groups, legend in (([3, 3, 4], ["3 (2)", "4 (1)"]), ([True, False, True], None)):
        found = pd.DataFrame({"vertex": [1, 2, 3], "group": groups})
        ax = gf.plot.graph([(1, 2), (2, 3), (3, 4)], groups=found)
        shown = ax.get_legend() and [text.get_text() for text in ax.get_legend().get_texts()]
        assert shown == legend
        colors = [to_hex(color) for color in parts(ax)["vertices"].get_facecolors()]
        assert colors[3] == GRAY
        assert len({*colors}) == (3 if legend else 2)


def test_marked_edges_are_drawn_over_the_others():
    graph = gf.Graph([(1, 2), (2, 3), (3, 1), (3, 4)], directed=False)
    layout = pd.DataFrame({"vertex": [1, 2, 3, 4], "x": [0, 1, 2, 3], "y": [0, 1, 0, 0]})
    drawn = parts(gf.plot.graph(graph, marked=graph.bridges(), layout=layout))
    assert segments(drawn["marked"]) == {((2, 0), (3, 0))}
    assert drawn["marked"].get_zorder() > drawn["edges"].get_zorder()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"values": 1, "groups": 1}, OptionError, "values= and groups="),
        ({"values": 5}, EdgeListError, "values has the type int"),
        ({"groups": pd.DataFrame({"vertex": [1]})}, EdgeListError, "no column after the ids"),
        ({"values": pd.DataFrame({"v": [77], "x": [1]})}, UnknownVertexError, r"first id is \[77\]"),
        ({"layout": pd.DataFrame({"v": [0], "x": [1], "y": [1]})}, OptionError, "33 of 34"),
        ({"layout": pd.DataFrame({"x": [0], "y": [1]})}, UnknownColumnError, r"'x', 'y'.*then x and y"),
        ({"names": -1}, OptionError, "names=-1"),
    ],
)  # fmt: skip
def test_an_invalid_picture_of_a_graph_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        gf.plot.graph(KARATE, **options)


# Communities


@pytest.mark.parametrize(
    ("directed", "options"),
    [(False, {}), (False, {"shards": 3}), (True, {"shards": 2}), (True, {"storage": "disk"})],
)
def test_edges_between_communities_are_counted(directed, options, rng):
    pairs = pd.DataFrame(rng.integers(0, 60, (400, 2)), columns=["a", "b"])
    found = pd.DataFrame({"vertex": range(60)})
    found["community"] = np.repeat(list("dbcae"), [20, 15, 15, 6, 4])
    graph = gf.Graph(partitioned(pairs, 4), **ENDS, directed=directed, **options).persist()
    result = quotient(graph, found, 3)
    place = {"d": 0, "b": 1, "c": 2}
    ends = pairs[pairs.a != pairs.b].apply(lambda end: end.map(found.community).map(place))
    table = np.zeros((3, 3), int)
    for a, b in ends.dropna().astype(int).to_numpy():
        table[a, b] += 1
        table[b, a] += a != b
    assert result.count == 5
    assert result.sizes.tolist() == [20, 15, 15]
    assert result.edges.tolist() == table.tolist()
    some = [(ends == one).any(axis=1).sum() for one in range(3)]
    assert result.inside == pytest.approx(table.diagonal() / some)
    degree = pd.concat([pairs.a, pairs.b[pairs.a != pairs.b] if not directed else pairs.b])
    degree = degree.value_counts().sort_index().sort_values(ascending=False, kind="stable")
    most = degree.index.to_series().groupby(found.community[degree.index].to_numpy()).first()
    assert result.names.iloc[:, 0].tolist() == most[["d", "b", "c"]].tolist()


def test_circles_show_sizes_and_do_not_overlap():
    groups = nx.random_partition_graph([40, 20, 10, 5], 0.4, 0.02, seed=1)
    found = pd.DataFrame({"vertex": range(75), "community": np.repeat(range(4), [40, 20, 10, 5])})
    ax = gf.plot.communities(groups, dd.from_pandas(found, npartitions=2))
    circles = parts(ax)["communities"].get_paths()
    boxes = [path.get_extents() for path in circles]
    areas = np.array([box.width * box.height for box in boxes])
    assert areas / areas[0] == pytest.approx([1, 1 / 2, 1 / 4, 1 / 8], rel=1e-3)
    centers = np.array([[(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2] for box in boxes])
    distances = np.linalg.norm(centers[:, None] - centers, axis=2) + np.diag([np.inf] * 4)
    radii = np.array([box.width / 2 for box in boxes])
    assert (distances > radii[:, None] + radii).all()
    ax = gf.plot.communities(groups, found, limit=3)
    assert ax.get_title(loc="left") == "4 communities of 75 vertices, 1 left out"
    assert len(parts(ax)["communities"].get_paths()) == 3


def test_circles_that_do_not_overlap_stay():
    points = np.array([[0.0, 0], [3, 0], [0, 9]])
    assert apart(points, np.array([1.0, 1, 4])).tolist() == points.tolist()


def test_communities_of_a_single_vertex_and_of_no_vertex():
    for pairs in ([(1, 1)], []):
        found = pd.DataFrame({"vertex": [a for a, _ in pairs], "community": [0] * len(pairs)})
        ax = gf.plot.communities(frame(pairs), found.astype("int64"), **ENDS)
        assert len(pairs) == int("communities" in parts(ax))


def test_a_vertex_without_a_community_is_an_error():
    found = pd.DataFrame({"vertex": [1], "community": [1]})
    with pytest.raises(EdgeListError, match="no row in communities"):
        gf.plot.communities([(1, 2)], found)


# Degrees


@pytest.mark.parametrize("directed", [True, False])
def test_points_count_the_vertices_with_at_least_a_degree(directed, rng):
    pairs = pd.DataFrame(rng.integers(0, 50, (120, 2)), columns=["a", "b"])
    found = gf.degrees(partitioned(pairs, 3), **ENDS, directed=directed)
    host = found.compute()
    for given in (found, host):
        ax = gf.plot.degrees(given)
        ax.figure.draw_without_rendering()
        for line, name in zip(ax.lines, host.columns[1:], strict=True):
            least, vertices = line.get_data()
            assert least.tolist() == sorted({*host[name]} - {0})
            assert vertices.tolist() == [int((host[name] >= one).sum()) for one in least]
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert bool(ax.get_legend()) == directed


def test_frames_without_degrees_are_refused():
    with pytest.raises(UnknownColumnError, match=r"'vertex', 'core'.*gf\.degrees"):
        gf.plot.degrees(pd.DataFrame({"vertex": [1], "core": [1]}))
    with pytest.raises(EdgeListError, match=r"list.*gf\.degrees"):
        gf.plot.degrees([1])
