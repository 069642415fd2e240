"""Pictures show the given data, and errors say why something cannot be drawn."""

from __future__ import annotations

import collections
import sys

import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, frame, partitioned
from matplotlib import pyplot

import dask_graphflow as gf
from dask_graphflow.exceptions import (
    BackendError,
    EdgeListError,
    NullVertexError,
    OptionError,
    UnknownColumnError,
    UnknownVertexError,
)
from dask_graphflow.plot.rings import rings
from dask_graphflow.plot.subgraph import around
from dask_graphflow.tasks import placement

pytestmark = pytest.mark.usefixtures("figures")


def drawn(axes):
    """Draw a figure as for a file, which raises errors of the objects on it."""
    axes.figure.draw_without_rendering()
    return axes


@pytest.mark.parametrize("name", sorted({*gf.plot.__all__} - {"layout"}))
def test_without_matplotlib_an_error_names_the_extra(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    draw = getattr(gf.plot, name)
    given = {"neighborhood": (None, 1), "communities": (None, None)}.get(name, (None,))
    with pytest.raises(BackendError, match=r'pip install "dask-graphflow\[plot\]"'):
        draw(*given)


def test_plotting_does_not_show_a_window(monkeypatch):
    monkeypatch.setattr(pyplot, "show", lambda *_, **__: pytest.fail("a picture was shown"))
    edges = frame([(1, 2), (2, 3)])
    labels = gf.connected_components(edges, **ENDS)
    _, steps = gf.bfs(edges, **ENDS, sources=[1], trace=True)
    drawn(gf.plot.components(labels))
    drawn(gf.plot.plan(labels))
    drawn(gf.plot.neighborhood(edges, 1, **ENDS))
    drawn(gf.plot.trace(steps)[0])


# Components


def histogram(labels, columns):
    """Return the numbers of components by size, counted by pandas."""
    sizes = labels.groupby(columns).size().value_counts().sort_index()
    return sizes.index.tolist(), sizes.tolist()


def points(ax):
    (line,) = ax.lines
    x, y = line.get_data()
    return list(x), list(y)


@pytest.mark.parametrize(("count", "ids"), [(1, "int64"), (7, "str")])
def test_the_points_are_the_sizes_that_pandas_counts(count, ids, rng):
    pairs = pd.DataFrame(rng.integers(0, 900, (500, 2)), columns=["a", "b"]).astype(ids)
    labels = gf.connected_components(partitioned(pairs, count), **ENDS).compute()
    expected = histogram(labels, "component")
    shuffled = labels.sample(frac=1, random_state=3)
    for given in (shuffled, dd.from_pandas(shuffled, npartitions=count, sort=False)):
        ax = drawn(gf.plot.components(given))
        assert points(ax) == expected
        sizes, counts = map(np.array, expected)
        title = f"{counts.sum():,} components of {(sizes * counts).sum():,} vertices"
        assert ax.get_title(loc="left") == title
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        assert "vertices" in ax.get_xlabel()
        assert ax.get_ylabel()
        of_each = labels.groupby("component").size()
        name = min(of_each.index[of_each == of_each.max()])
        assert f"largest: {name}" in ax.texts[0].get_text()


def test_ids_of_several_columns_and_thresholds():
    edges = pd.DataFrame({"a": [1, 1, 2], "x": list("xyx"), "b": [1, 2, 3], "y": list("yyy")})
    labels = gf.connected_components(edges, source=["a", "x"], target=["b", "y"])
    found = labels.compute()
    assert points(gf.plot.components(labels)) == histogram(found, ["component_0", "component_1"])
    weighed = frame([(1, 2), (2, 3)]).assign(w=[0.9, 0.1])
    labels = gf.connected_components(weighed, **ENDS, weight="w", thresholds=[0, 0.5])
    assert points(gf.plot.components(labels, column="component_0")) == ([3], [1])
    assert points(gf.plot.components(labels, column="component_0.5")) == ([1, 2], [1, 1])
    with pytest.raises(UnknownColumnError, match=r"'component_0', 'component_0\.5'"):
        gf.plot.components(labels)


@pytest.mark.parametrize("lazy", [False, True])
def test_a_vertex_without_a_component_is_an_error(lazy):
    labels = pd.DataFrame({"vertex": ["a", "b"], "component": ["a", None]})
    with pytest.raises(NullVertexError, match=r"1 of .* has no 'component'; .*dropna"):
        gf.plot.components(dd.from_pandas(labels, npartitions=1) if lazy else labels)


def test_a_plot_is_drawn_on_the_given_axes():
    ax = pyplot.figure().add_subplot()
    assert gf.plot.components(pd.DataFrame({"vertex": [1], "component": [1]}), ax=ax) is ax
    assert len(pyplot.get_fignums()) == 1


# Supersteps


def bars(ax):
    """Return the bars of a panel by label: each as {superstep: height}."""
    found = {}
    for number, patch in enumerate(ax.patches):
        values, edges, baseline = patch.get_data()
        there = ~np.isnan(values)
        middles = ((edges[:-1] + edges[1:]) / 2)[there].round().astype(int)
        heights = (values - np.where(ax.get_yscale() == "log", 0, baseline))[there]
        found[patch.get_label() or number] = dict(
            zip(middles.tolist(), heights.tolist(), strict=True)
        )
    return found


def hop(size):
    """Return a grid, a search of which takes many supersteps."""
    ids = np.arange(size * size).reshape(size, size)
    right = np.column_stack([ids[:, :-1].ravel(), ids[:, 1:].ravel()])
    down = np.column_stack([ids[:-1].ravel(), ids[1:].ravel()])
    return frame(np.concatenate([right, down]).tolist())


def test_a_plot_of_a_search_has_a_bar_and_a_dot_per_superstep():
    size, edges = 4, hop(4)
    _, steps = gf.bfs(edges, **ENDS, sources=[0], directed=False, trace=True)
    steps = steps.compute()
    assert len(steps) == 2 * size - 1
    work, time = panels = gf.plot.trace(steps)
    drawn(work)
    assert work.lines[0].get_xdata().tolist() == steps.superstep.tolist()
    assert work.lines[0].get_ydata().tolist() == steps.frontier.tolist()
    by_direction = {f"edges, {way}": part for way, part in steps.groupby("direction")}
    found = bars(work)
    assert found == {
        name: dict(zip(part.superstep, part.edges.astype(float), strict=True))
        for name, part in by_direction.items()
    }
    colors = {patch.get_label(): patch.get_facecolor() for patch in work.patches}
    assert len(set(colors.values())) == len(by_direction)
    unit = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}[time.get_ylabel().split("(")[1].rstrip(")")]
    taken = {step: tall * unit for one in bars(time).values() for step, tall in one.items()}
    assert taken == pytest.approx(dict(zip(steps.superstep, steps.seconds, strict=True)))
    assert time.get_xlabel() == "superstep"
    assert sum(len(panel.patches) + len(panel.lines) for panel in panels) <= 8


def test_a_plot_shows_all_members_together_and_each_member():
    edges = gf.generate.rmat(10, npartitions=6)
    graph = gf.Graph(edges, source="src", target="dst", directed=False, shards=3)
    _, steps = graph.pagerank(tol=None, max_iter=5, trace=True)
    steps = steps.compute()
    assert steps.groupby("superstep").size().tolist() == [3] * 5
    work, spent, sent, members = gf.plot.trace(steps)
    drawn(work)
    assert work.get_title(loc="left") == "5 supersteps on 3 members"
    unit = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}[spent.get_ylabel().split("(")[1].split(")")[0]]
    mean = steps.groupby("superstep")[["compute", "communicate", "wait"]].mean().clip(lower=0)
    found = bars(spent)
    for name in mean:
        assert found[name] == pytest.approx((mean[name] / unit).to_dict(), abs=1e-9)
    slowest = steps.groupby("superstep")["compute"].max() / unit
    assert spent.lines[0].get_ydata().tolist() == pytest.approx(slowest.tolist())
    unit = {"kB": 1e3, "MB": 1e6, "bytes": 1}[sent.get_ylabel().split("(")[1].rstrip(")")]
    (total,) = bars(sent).values()
    assert total == pytest.approx((steps.groupby("superstep")["bytes"].sum() / unit).to_dict())
    each = steps.groupby("member")[["compute", "communicate", "wait"]].sum().clip(lower=0)
    unit = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}[members.get_xlabel().split("(")[1].rstrip(")")]
    widths = np.array([bar.get_width() for bar in members.patches]).reshape(3, 3).T * unit
    assert widths == pytest.approx(each.to_numpy())


def test_a_lazy_trace_is_computed_and_a_figure_may_be_given():
    _, steps = gf.bfs(frame([(1, 2), (2, 3)]), **ENDS, sources=[1], trace=True)
    half = pyplot.figure(layout="constrained").subfigures(1, 2)[1]
    panels = gf.plot.trace(steps, fig=half)
    assert list(half.axes) == list(panels)
    assert panels[0].lines[0].get_ydata().tolist() == [1, 1, 1]
    assert len(pyplot.get_fignums()) == 1


def test_plotting_a_frame_that_is_not_a_trace_is_refused():
    pair = gf.bfs(frame([(1, 2)]), **ENDS, sources=[1], trace=True)
    with pytest.raises(EdgeListError, match=r"tuple.*trace=True"):
        gf.plot.trace(pair)
    with pytest.raises(UnknownColumnError, match=r"'superstep'.*'vertex'"):
        gf.plot.trace(pair[0])
    with pytest.raises(UnknownColumnError, match="'compute'"):
        gf.plot.trace(pair[1].compute().assign(member=0))


# Neighbourhoods


def names(ax):
    return sorted(text.get_text() for text in ax.texts)


def vertices(ax):
    return len(ax.collections[0].get_offsets())


def edges_drawn(ax):
    """Return how many edges there are: a self-loop is a line, any other a patch."""
    return len(ax.patches) + len(ax.lines)


RANDOM = np.random.default_rng(5).integers(0, 60, (90, 2)).tolist()


def ego(pairs, vertex, hops, follow, directed):
    graph = (nx.DiGraph if directed else nx.Graph)(pairs)
    where = graph.reverse() if follow == "in" and directed else graph
    both = follow == "both" or not directed
    within = nx.ego_graph(where, vertex, radius=hops, undirected=both)
    return graph.subgraph(within.nodes)


@pytest.mark.parametrize("follow", ["out", "in", "both"])
@pytest.mark.parametrize(
    ("directed", "hops", "count"), [(True, 3, None), (True, 2, 4), (False, 1, 4)]
)
def test_the_subgraph_within_a_number_of_edges_is_drawn(hops, follow, directed, count):
    edges = frame(RANDOM)
    vertex = RANDOM[0][0]
    expected = ego(RANDOM, vertex, hops, follow, directed)
    how = {"hops": hops, "follow": follow, "directed": directed, "limit": 1000}
    ax = gf.plot.neighborhood(
        edges if count is None else partitioned(edges, count), vertex, **ENDS, **how
    )
    drawn(ax)
    assert names(ax) == sorted(map(str, expected.nodes))
    assert vertices(ax) == len(expected)
    assert edges_drawn(ax) == expected.number_of_edges()
    assert "left out" not in ax.get_title(loc="left")
    distance = nx.single_source_shortest_path_length(
        expected.to_undirected() if follow == "both" or not directed
        else expected.reverse() if follow == "in" else expected,
        vertex,
    )  # fmt: skip
    rounds = np.hypot(*ax.collections[0].get_offsets().T).round(6)
    assert sorted(rounds.tolist()) == sorted(map(float, distance.values()))


def pairs_of(found):
    """Return a subgraph's edges as pairs of ids."""
    ids = found.ids["vertex"].tolist()
    return {(ids[a], ids[b]) for a, b in found.edges.tolist()}


@pytest.mark.parametrize("directed", [True, False])
def test_edges_lead_where_they_are_said_to(directed):
    given = {"vertex": 4, "source": None, "target": None, "directed": None, "follow": "out"}
    given |= {"hops": 3, "limit": 100, "dropna": False}
    pairs = [(4, 9), (9, 2), (2, 4), (9, 9), (7, 9), (2, 30), (30, 2), (30, 31)]
    expected = set(ego(pairs, 4, 3, "out", directed).edges)
    if not directed:
        expected = {(min(pair), max(pair)) for pair in expected}
    graph = gf.Graph(partitioned(frame(pairs), 2), **ENDS, directed=directed, shards=2)
    of_edges = around(frame(pairs), **given | ENDS | {"directed": directed})
    for found in (around(graph, **given), of_edges):
        there = pairs_of(found)
        assert (
            there == expected if directed else {tuple(sorted(pair)) for pair in there} == expected
        )
        assert found.ids["vertex"].tolist()[0] == 4
        assert found.distance[1:].tolist() == (found.distance[found.parent[1:]] + 1).tolist()


def test_the_nearest_vertices_come_first_and_of_these_those_with_most_edges():
    near = [(0, i) for i in range(1, 6)]
    far = [(i, 10 + j) for i in range(1, 6) for j in range(i)]  # 10 has five edges that enter it
    ax = gf.plot.neighborhood(partitioned(frame(near + far), 3), 0, **ENDS, hops=2, limit=8)
    assert names(ax) == sorted(map(str, [0, 1, 2, 3, 4, 5, 10, 11]))
    assert ax.get_title(loc="left") == "0: 7 vertices within 2 edges, 3 more left out"
    ax = gf.plot.neighborhood(frame(near + far), 0, **ENDS, limit=3)
    assert names(ax) == ["0", "4", "5"]
    assert ax.get_title(loc="left") == "0: 2 neighbors, 3 more left out"
    ax = gf.plot.neighborhood(frame(near + far), 0, **ENDS, limit=1)
    assert names(ax) == ["0"]
    assert ax.get_title(loc="left").endswith("5 more left out")


def test_arrows_duplicates_and_self_loops():
    pairs = [(1, 2), (1, 2), (2, 1), (1, 1), (2, 3)]
    ax = drawn(gf.plot.neighborhood(frame(pairs), 1, **ENDS))
    assert (len(ax.patches), len(ax.lines)) == (2, 1)  # 1 to 2, 2 to 1; 1 to 1
    assert all(type(one.get_arrowstyle()).__name__ == "CurveFilledB" for one in ax.patches)
    ax = drawn(gf.plot.neighborhood(frame(pairs), 1, **ENDS, directed=False))
    assert (len(ax.patches), len(ax.lines)) == (1, 1)
    assert all(type(one.get_arrowstyle()).__name__ == "Curve" for one in ax.patches)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"vertex": 99}, UnknownVertexError, "99"),
        ({"source": "A"}, UnknownColumnError, "'A'"),
        ({"source": None}, UnknownColumnError, "target= is given without source="),
        ({"hops": 0}, OptionError, "hops=0"),
        ({"limit": 0}, OptionError, "limit=0"),
        ({"follow": "outt"}, OptionError, "did you mean 'out'"),
        ({"edges": 5}, EdgeListError, "^edges is a builtins.int"),
    ],
)
def test_an_invalid_plot_of_a_neighborhood_is_refused(given, error, message):
    call = {"edges": frame([(1, 2)]), "vertex": 1, **ENDS} | given
    with pytest.raises(error, match=message):
        gf.plot.neighborhood(call.pop("edges"), call.pop("vertex"), **call)


def test_a_graph_is_plotted_with_its_own_ends_and_along_its_edges():
    graph = gf.Graph(frame([(1, 2)]), **ENDS)
    with pytest.raises(OptionError, match="leave them out"):
        gf.plot.neighborhood(graph, 1, **ENDS)
    with pytest.raises(OptionError, match=r"follow='in'.*give the edges"):
        gf.plot.neighborhood(graph, 2, follow="in")
    with pytest.raises(UnknownVertexError, match="7"):
        gf.plot.neighborhood(graph, 7)


def test_rings_are_1_apart_and_no_two_vertices_are_in_one_place(rng):
    tree = nx.random_labeled_rooted_tree(40, seed=3)
    order = list(nx.bfs_edges(tree.to_undirected(), tree.graph["root"]))
    number = {tree.graph["root"]: 0} | {v: i for i, (_, v) in enumerate(order, 1)}
    parent, distance = np.full(40, -1), np.zeros(40, int)
    for above, vertex in order:
        parent[number[vertex]] = number[above]
        distance[number[vertex]] = distance[number[above]] + 1
    edges = rng.integers(0, 40, (60, 2))
    _, found = rings(distance, parent, edges)
    assert np.hypot(*found.T) == pytest.approx(distance)
    apart = np.linalg.norm(found[:, None] - found[None], axis=2) + np.eye(40)
    assert apart.min() > 0.01
    again = rings(distance, parent, edges)[1]
    assert found.tolist() == again.tolist()


# Plans


def dots(ax):
    """Return the dots of a plan by name: places."""
    found = {one.get_label(): one.get_offsets() for one in ax.collections}
    return {name: found[name].tolist() for name in ("partitions", "merges", "labels")}


def stages(labels):
    graph = labels.optimize().__dask_graph__()
    return collections.Counter(
        str(key[0]).removeprefix("graphflow-").split("-")[0] for key in graph
    )


@pytest.mark.parametrize("merge", ["tree", "one-way", "ring"])
@pytest.mark.parametrize(("partitions", "workers"), [(1, 1), (12, 3), (64, 4)])
def test_a_plan_has_as_many_dots_as_partitions_and_merges(merge, partitions, workers, monkeypatch):
    slots = placement.slots_of({f"tcp://{i}": 2 for i in range(workers)})
    monkeypatch.setattr(
        placement, "look", lambda keys, _: placement.Look(slots, [None] * len(keys), set())
    )
    edges = partitioned(frame([(i, i + 1) for i in range(300)]), partitions)
    for inputs in ("availability", "round-robin"):
        labels = gf.connected_components(edges, **ENDS, merge=merge, inputs=inputs)
        found, tasks = dots(drawn(gf.plot.plan(labels))), stages(labels)
        assert len(found["partitions"]) == tasks["hook"] == partitions
        assert len(found["merges"]) == workers - 1
        assert len(found["labels"]) == labels.npartitions
        rows = collections.Counter(int(y) for _, y in found["partitions"])
        chains = labels.expr.frame.operand("chains")
        assert rows == {i: len(chain.chunks) for i, chain in enumerate(chains)}


def test_plotting_an_object_without_a_plan_is_refused():
    edges = partitioned(frame([(1, 2)]), 2)
    labels = gf.connected_components(edges, **ENDS)
    with pytest.raises(OptionError, match=r"pandas.*before compute"):
        gf.plot.plan(labels.compute())
    with pytest.raises(OptionError, match="the result of 0 calls"):
        gf.plot.plan(gf.Graph(edges, **ENDS).connected_components())
    other = gf.connected_components(partitioned(frame([(1, 5)]), 2), **ENDS)
    with pytest.raises(OptionError, match="the result of 2 calls"):
        gf.plot.plan(dd.concat([labels, other]))
