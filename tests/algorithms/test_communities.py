"""Louvain and Leiden: modular and, by Leiden, connected communities, the same for every partitioning."""

from __future__ import annotations

import itertools

import dask
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, GRAPHS, fewer, frame
from shapes import DIFFICULT, rmat, traced

import dask_graphflow as gf
from dask_graphflow.algorithms import ALGORITHMS
from dask_graphflow.comm.channel import in_process
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.exceptions import EdgeListError, OptionError, WeightError
from dask_graphflow.kernels.groups import host as host_groups
from dask_graphflow.operators.labels import Groups, coarser
from dask_graphflow.operators.view import GraphView

pytestmark = pytest.mark.usefixtures("backend")

WAYS = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
METHODS = pytest.mark.parametrize("method", ["louvain", "leiden"])


def planted(groups=8, size=32, seed=1):
    """Return a graph whose groups of vertices have many edges inside and few to others."""
    graph = nx.planted_partition_graph(groups, size, 0.5, 0.01, seed=seed)
    return list(graph.edges)


def network(edges, directed=False):
    """Return NetworkX' graph of a frame; the weights of parallel edges are added up."""
    graph = nx.DiGraph() if directed else nx.Graph()
    edges = edges if "w" in edges else edges.assign(w=1.0)
    for a, b, weight in edges.itertuples(index=False, name=None):
        before = graph.edges[a, b]["weight"] if graph.has_edge(a, b) else 0
        graph.add_edge(a, b, weight=before + weight)
    return graph


def parts(found, column="community"):
    """Check that each community is named by its smallest vertex, and return the communities."""
    assert found.vertex.is_monotonic_increasing
    groups = found.groupby(column).vertex
    assert (groups.min() == groups.min().index).all()
    return [set(group) for _, group in groups]


def connected(graph, found, column="community"):
    return all(nx.is_connected(graph.subgraph(part)) for part in parts(found, column))


@METHODS
def test_planted_communities_are_found(built, method):
    found = getattr(built(planted(), directed=False), method)().compute()
    assert found.community.tolist() == [vertex // 32 * 32 for vertex in range(256)]


@METHODS
@WAYS
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_modularity_is_as_high_as_networkx_finds(built, method, directed, weighted):
    edges = one_way() if directed else frame(rmat(10))
    if weighted:
        edges = edges.assign(w=np.random.default_rng(3).integers(0, 9, len(edges)) / 4)
    graph = network(edges, directed)
    found = getattr(built(edges, directed=directed), method)().compute()
    reached = nx.community.modularity(graph, parts(found))
    peer = nx.community.louvain_communities(graph, seed=1)
    assert reached >= 0.995 * nx.community.modularity(graph, peer)
    if method == "leiden" and not weighted and not directed:
        assert connected(graph, found)


@pytest.mark.parametrize("name", [name for name, pairs in GRAPHS.items() if pairs])
def test_every_community_of_leiden_is_connected(name):
    edges = frame(GRAPHS[name])
    found = gf.leiden(edges, **ENDS, levels=3).compute()
    for column in ("community_1", "community_2", "community_3"):
        assert connected(network(edges), found, column)


@METHODS
@pytest.mark.parametrize("scale", [1e-160, 1e-6, 2e15, 1e160])
def test_the_scale_of_weights_changes_no_community(built, method, scale):
    edges = frame(planted(4))
    found = getattr(built(edges.assign(w=scale), directed=False), method)().compute()
    assert found.community.tolist() == [vertex // 32 * 32 for vertex in range(128)]
    # Heavy edges elsewhere: modularity joins the light ones, whose communities it cannot tell apart.
    heavy = frame([(1000, 1001)]).assign(w=2e15 * scale)
    both = pd.concat([edges.assign(w=scale), heavy], ignore_index=True)
    found = getattr(built(both, directed=False), method)().compute()
    assert found.community.tolist() == [0] * 128 + [1000] * 2


@METHODS
@WAYS
def test_parallel_edges_and_self_loops(built, method, directed):
    edges = frame(DIFFICULT).assign(w=[1, 2, 3, 4, 5, 6, 7, 8, 9])
    found = getattr(built(edges, directed=directed), method)().compute()
    graph = network(edges, directed)
    best = nx.community.modularity(graph, nx.community.louvain_communities(graph, seed=1))
    assert nx.community.modularity(graph, parts(found)) >= best - 1e-12


def one_way(size=400, edges=6000):
    """Return edges between random vertices, some of which have far more edges in one direction."""
    rng = np.random.default_rng(7)
    group = np.arange(size) % 5
    source, target = (size * rng.random((2, edges)) ** 3).astype("int64")
    target = size - 1 - target
    keep = (group[source] == group[target]) | (rng.random(edges) < 0.4)
    return frame(np.stack([source, target], axis=1)[keep].tolist())


@METHODS
def test_communities_that_only_directions_show(built, method):
    """Each pair of vertices has an edge. Between the two groups, nearly all of them lead one way."""
    rng, pairs = np.random.default_rng(5), [(a, b) for b in range(100) for a in range(b)]
    share = [0.95 if a < 50 <= b else 0.5 for a, b in pairs]
    ahead = rng.random(len(pairs)) < share
    edges = frame([(a, b) if way else (b, a) for (a, b), way in zip(pairs, ahead, strict=True)])
    found = getattr(built(edges), method)().compute()
    assert found.community.tolist() == [0] * 50 + [50] * 50
    without = getattr(built(edges, directed=False), method)().compute()
    assert without.community.tolist() == [0] * 100


@METHODS
def test_reversed_edges_have_the_same_communities(built, method):
    edges = one_way()
    wanted = getattr(built(edges), method)(levels=2).compute()
    back = getattr(built(edges.rename(columns={"a": "b", "b": "a"})), method)(levels=2).compute()
    pd.testing.assert_frame_equal(back, wanted)


def test_the_potts_model_ignores_directions(built):
    options = {"objective": "cpm", "resolution": 0.05}
    wanted = built(one_way(), directed=False).leiden(**options).compute()
    pd.testing.assert_frame_equal(built(one_way()).leiden(**options).compute(), wanted)


@pytest.mark.parametrize("objective", ["modularity", "cpm"])
def test_no_community_of_leiden_exceeds_a_size(built, objective):
    edges = pd.concat([frame(rmat(8)), frame(planted(size=20)) + 2000], ignore_index=True)
    edges["w"] = np.random.default_rng(3).integers(1, 9, len(edges)) / 4
    options = {"objective": objective, "resolution": 1.0 if objective == "modularity" else 1e-3}
    graph = built(edges, directed=False)
    free = graph.leiden(**options).compute()
    sizes = free.groupby("community").vertex.transform("size")
    largest = int(sizes.max())
    for most in fewer((largest, largest - 1, 7, 1), (largest - 1, 7)):
        found = graph.leiden(**options, max_community_size=most).compute()
        assert found.groupby("community").size().max() <= most
        assert connected(network(edges), found)
        assert found.community.groupby(free.community).nunique().sum() == found.community.nunique()
        stay = sizes <= most
        assert (found.community[stay] == free.community[stay]).all()
        assert most != largest - 1 or 0 < stay.sum() < len(stay)


def test_a_size_limits_all_levels_and_resolutions(built):
    found = built(planted(), directed=False).leiden(
        levels=2, resolution=[0.01, 1], max_community_size=40
    )
    found = found.compute()
    for column in found.columns[1:]:
        assert found.groupby(column).size().max() <= 40
        assert connected(network(frame(planted())), found, column)
    assert found["community_1_2"].tolist() == [vertex // 32 * 32 for vertex in range(256)]


def test_a_size_keeps_planted_communities_that_a_low_resolution_joins(built):
    """Parts are no smaller than needed: the resolution grows slowly."""
    found = built(planted(), directed=False).leiden(resolution=0.01, max_community_size=32)
    assert found.compute().community.tolist() == [vertex // 32 * 32 for vertex in range(256)]


def test_a_size_is_reached_from_the_lowest_resolution():
    pairs = frame([(a, b) for a in range(12) for b in range(a)])
    found = gf.leiden(pairs, **ENDS, resolution=1e-300, max_community_size=1).compute()
    assert found.community.tolist() == [*range(12)]


def test_a_larger_resolution_gives_smaller_communities(built):
    graph = built(planted(), directed=False)
    found = graph.leiden(resolution=[0.01, 1, 30]).compute()
    counts = [found[name].nunique() for name in found.columns[1:]]
    assert list(found.columns[1:]) == ["community_0.01", "community_1", "community_30"]
    assert counts[0] < counts[1] == 8 < counts[2]
    alone = graph.leiden(resolution=30).compute()
    assert found["community_30"].tolist() == alone.community.tolist()


def test_communities_of_the_constant_potts_model_are_dense(built):
    edges = frame(rmat(9)).drop_duplicates()
    edges = edges[edges.a != edges.b]
    found = built(edges, directed=False).leiden(objective="cpm", resolution=0.4).compute()
    graph = network(edges)
    for part in parts(found):
        assert graph.subgraph(part).number_of_edges() >= 0.4 * len(part) * (len(part) - 1) / 2
    cliques = [(a, b) for k in (0, 10) for a in range(k, k + 5) for b in range(k, a)]
    joined = built([*cliques, (4, 10)], directed=False)
    for resolution, wanted in ((0.5, 2), (0.01, 1), (1.5, 10)):
        potts = joined.leiden(objective="cpm", resolution=resolution).compute()
        assert potts.community.nunique() == wanted


@METHODS
def test_levels_are_nested_from_fine_to_coarse(built, method):
    found = getattr(built(rmat(10), directed=False), method)(levels=4).compute()
    levels = [found[f"community_{level}"] for level in range(1, 5)]
    for fine, coarse in itertools.pairwise(levels):
        assert coarse.groupby(fine).nunique().max() == 1
    assert levels[0].nunique() > levels[-1].nunique()
    last = getattr(built(rmat(10), directed=False), method)().compute()
    assert last.community.tolist() == levels[-1].tolist()


@METHODS
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_a_sweep_in_one_call_moves_the_same_vertices_as_one_class_after_another(
    built, monkeypatch, method, weighted
):
    edges = frame(rmat(10))
    if weighted:  # also self-loops, and edges with weight 0
        edges = edges.assign(w=np.random.default_rng(3).integers(0, 9, len(edges)) / 4)
    graph, calls = built(edges, directed=False), []
    wanted = getattr(graph, method)().compute()

    def together(groups, *arguments):
        calls.append(groups)
        return groups._sweep_together(*arguments)

    monkeypatch.setattr(Groups, "_sweep_alone", together)
    found = getattr(graph, method)().compute()
    assert found.community.tolist() == wanted.community.tolist()
    assert calls  # also of several members, on small levels


@METHODS
def test_members_send_nothing_on_small_levels(built, members, monkeypatch, method):
    graph, results = built(planted(), directed=False), []
    for edges, sends in ((coarser.SMALL_GRAPH, False), (0, members > 1)):
        monkeypatch.setattr(coarser, "SMALL_GRAPH", edges)
        found, steps = traced(getattr(graph, method)(trace=True), sum_bytes=True)
        results.append(found)
        top = steps[steps.frontier == 8]
        assert (top.bytes > 0).any() == sends
    pd.testing.assert_frame_equal(*results)


@METHODS
@pytest.mark.parametrize("edges", [0, 1 << 20], ids=["cut", "whole"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_members_find_the_same_communities(built, monkeypatch, method, edges, weighted):
    pairs = frame(rmat(10))
    if weighted:
        pairs = pairs.assign(w=np.random.default_rng(3).integers(0, 9, len(pairs)) / 4)
    monkeypatch.setattr(coarser, "SMALL_GRAPH", edges)
    wanted = getattr(gf, method)(
        pairs, **ENDS, weight="w" if weighted else None, levels=3
    ).compute()
    found = getattr(built(pairs, directed=False), method)(levels=3).compute()
    pd.testing.assert_frame_equal(found.reset_index(drop=True), wanted)


@METHODS
@pytest.mark.usefixtures("host_memory")
def test_threads_find_the_same_communities(monkeypatch, method):
    graph, parts = gf.Graph(frame(rmat(12)), **ENDS, directed=False, shards=1).persist(), []
    (shard,) = dask.compute(*graph._shards.built)
    sweep = host_groups._sweep

    def counted(*arguments):
        *_, what, _, _, part = arguments
        parts.append((what, part))
        sweep(*arguments)

    # Below this number of edges, one thread does all the work.
    monkeypatch.setattr(host_groups, "SMALL", 0)
    monkeypatch.setattr(host_groups, "_sweep", counted)
    views = (GraphView(shard, Exchange(in_process(1)[0]), threads) for threads in (1, 3))
    alone, together = (ALGORITHMS[method].run(view).columns["community"] for view in views)
    assert alone.tolist() == together.tolist()
    for what in (host_groups.BEST, host_groups.WAKE):
        assert {(what, part) for part in range(3)} <= set(parts)


@METHODS
def test_vertices_of_every_level_move_again_on_the_way_back(built, method):
    found, steps = traced(getattr(built(planted(), directed=False), method)(trace=True))
    looking = steps.frontier.tolist()
    top = len(looking) - 1 - looking[::-1].index(min(looking))
    # No vertex moves on these levels, so each has one sweep.
    assert looking[top] == 8 == found.community.nunique()
    assert looking[top:] == sorted(set(looking[top:]))
    assert looking[-1] == len(found)


def grown(seed=0):
    """Return a graph without some of its vertices, with further ones, and the whole graph."""
    edges, rng = frame(rmat(9)), np.random.default_rng(seed)
    late = rng.random(512) < 0.05
    before = edges[~(late[edges.a] | late[edges.b])]
    gone = before.iloc[:20].assign(b=before.b.iloc[:20] + 1000)
    return pd.concat([before, gone], ignore_index=True), edges.iloc[20:]


@METHODS
@WAYS
def test_earlier_communities_are_a_start(built, method, directed):
    before, after = grown()
    earlier = getattr(built(before, directed=directed), method)().compute()
    graph = built(after, directed=directed)
    found = getattr(graph, method)(previous=earlier).compute()
    quality = {}
    for seed in range(4):
        one = getattr(graph, method)(seed=seed).compute()
        quality[seed] = nx.community.modularity(network(after, directed), parts(one))
    reached = nx.community.modularity(network(after, directed), parts(found))
    assert reached >= min(quality.values()) - 0.002
    if method == "leiden":
        assert connected(network(after), found)


@METHODS
def test_the_communities_of_the_same_graph_stay(built, method):
    graph = built(planted(), directed=False)
    wanted = getattr(graph, method)().compute()
    lazy = getattr(graph, method)()
    names = wanted.assign(community="c" + wanted.community.astype("str"))
    for previous in (lazy, names, names.sample(frac=1, random_state=1), names.iloc[:200]):
        found = getattr(graph, method)(previous=previous, seed=5).compute()
        assert found.community.tolist() == wanted.community.tolist()


def test_limited_communities_keep_their_members(built):
    """Unless a vertex joins them, or they are disconnected or too large afterwards."""
    before, after = grown()
    most = 12
    earlier = built(before, directed=False).leiden(max_community_size=most).compute()
    found = built(after, directed=False).leiden(max_community_size=most, previous=earlier)
    found, graph = found.compute(), network(after)
    assert found.groupby("community").size().max() <= most
    assert connected(graph, found)
    of = dict(found.itertuples(index=False, name=None))
    old, kept = [part & set(of) for part in parts(earlier)], 0
    for part in old:
        if len(part) > 1 and nx.is_connected(graph.subgraph(part)):
            joined = {v for v in of if of[v] in {of[u] for u in part}} - part
            if not joined:
                kept += 1
                assert len({of[v] for v in part}) == 1
    assert kept > len(old) / 4
    # Whoever is new, or was alone, can have joined another community; nobody else.
    alone = {v for part in old if len(part) == 1 for v in part} | (set(of) - set.union(*old))
    for part in parts(found):
        assert len({i for i, group in enumerate(old) if group & (part - alone)}) <= 1


@METHODS
def test_earlier_communities_of_ids_in_several_columns(built, method):
    pairs = frame(planted(4))
    edges = pd.DataFrame(
        {"a": pairs.a // 32, "b": pairs.a % 32, "c": pairs.b // 32, "d": pairs.b % 32}
    )
    graph = gf.Graph(edges, source=["a", "b"], target=["c", "d"], directed=False)
    wanted = getattr(graph, method)().compute()
    found = getattr(graph, method)(previous=wanted).compute()
    pd.testing.assert_frame_equal(found, wanted)


@METHODS
def test_earlier_communities_that_are_refused(built, method):
    find = getattr(built([(1, 2), (2, 3)], directed=False), method)
    earlier = pd.DataFrame({"vertex": [1, 2, 9], "community": [1, 1, 9]})
    assert find(previous=earlier).compute().community.tolist() == [1, 1, 1]
    assert find(previous=earlier.iloc[2:]).compute().community.tolist() == [1, 1, 1]
    assert find(previous=earlier.iloc[:0]).compute().community.tolist() == [1, 1, 1]
    with pytest.raises(OptionError, match=r"previous has 3 columns; give the id in 1 column"):
        find(previous=earlier.assign(more=1))
    with pytest.raises(EdgeListError, match=r"1 vertex of 3 has several rows in previous.*as 1;"):
        find(previous=pd.concat([earlier, earlier[:1]])).compute()
    with pytest.raises(EdgeListError, match=r"a community is null"):
        find(previous=earlier.assign(community=[1.0, None, 2.0])).compute()


def test_a_negative_weight():
    edges = frame([(0, 1), (1, 2)]).assign(w=[1.0, -1.0])
    with pytest.raises(WeightError, match="negative"):
        gf.leiden(edges, **ENDS, weight="w").compute()
