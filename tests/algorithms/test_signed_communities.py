"""Leiden with negative weights: communities of the constant Potts model, and errors for modularity."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from conftest import BACKEND, ENDS, frame
from oracles.communities import potts
from oracles.verify import network_of

import dask_graphflow as gf
from dask_graphflow.algorithms.communities import level
from dask_graphflow.exceptions import WeightError
from dask_graphflow.kernels import host_threads
from dask_graphflow.operators.host_view import number_graph

pytestmark = pytest.mark.usefixtures("backend")
CPM = {"objective": "cpm"}


def signed(seed, vertices, edges, *, negative=0.4, groups=1):
    """Return random edges, of which those between groups and some others have negative weights."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, vertices, (edges, 2))
    apart = (pairs[:, 0] % groups != pairs[:, 1] % groups) ^ (rng.random(edges) < negative)
    weights = np.where(apart, -1, 1) * rng.integers(1, 9, edges) / 4
    return pd.DataFrame(pairs, columns=["a", "b"]).assign(w=weights)


def quality(edges, found, resolution, column="community"):
    label = dict(zip(found["vertex"], found[column], strict=True))
    return potts(network_of(edges, directed=False), label, resolution)


def partitions(items):
    """Return all ways to divide a list into groups, as lists of group numbers."""
    ways = [[]]
    for _ in items:
        ways = [[*way, group] for way in ways for group in range(max(way, default=-1) + 2)]
    return ways


@pytest.mark.parametrize("negative", [0.2, 0.5, 0.8])
def test_small_graphs_have_the_best_communities(built, negative):
    reached = 0
    for seed in range(6):
        edges = signed(seed, 7, 14, negative=negative)
        ids = sorted({*edges["a"], *edges["b"]})
        network = network_of(edges, directed=False)
        best = max(potts(network, dict(zip(ids, way, strict=True)), 0.3) for way in partitions(ids))
        graph = built(edges, directed=False)
        found = max(
            quality(edges, graph.leiden(**CPM, resolution=0.3, seed=s).compute(), 0.3)
            for s in range(3)
        )
        assert best - 0.1 * abs(best) - 1e-9 <= found <= best + 1e-9
        reached += math.isclose(found, best, rel_tol=1e-9)
    assert reached >= 4


def test_planted_groups_that_repel_each_other_are_found(built):
    for negative in (0.0, 0.02):
        edges = signed(2, 300, 6000, negative=negative, groups=5)
        found = built(edges, directed=False).leiden(**CPM, resolution=0.01).compute()
        planted = found.assign(community=found["vertex"] % 5)
        assert quality(edges, found, 0.01) >= 0.999 * quality(edges, planted, 0.01)
        assert negative or found["community"].tolist() == planted["community"].tolist()


def test_positive_weights_and_the_unsigned_way_agree(built):
    edges = signed(4, 100, 400, negative=0.0)
    expected = built(edges, directed=False).leiden(**CPM, resolution=0.2).compute()
    apart = pd.DataFrame({"a": [1000], "b": [1001], "w": [-1.0]})  # a pair of its own
    found = built(pd.concat([edges, apart]), directed=False).leiden(**CPM, resolution=0.2).compute()
    alone = found[found["vertex"] >= 1000]
    assert alone["community"].tolist() == [1000, 1001]
    both = found.merge(expected, on="vertex", suffixes=("", "_before"))
    assert len(both) == len(expected)
    assert quality(edges, both, 0.2) >= 0.99 * quality(edges, expected, 0.2)


def test_weights_that_cancel_each_other(built):
    """Sums of a group are 0 while they are added up, and at the end."""
    rows = [(0, 1, 1.0), (0, 2, -1.0), (0, 3, 1.0), (1, 2, 3.0), (2, 3, 3.0), (1, 3, 3.0),
            (4, 5, 2.0), (4, 5, -2.0), (6, 6, -5.0)]  # fmt: skip
    edges = pd.DataFrame(rows, columns=["a", "b", "w"])
    found = built(edges, directed=False).leiden(**CPM, resolution=0.1).compute()
    assert found["community"].tolist() == [0, 0, 0, 0, 4, 5, 6]


def test_weights_without_a_sum(built):
    """All weights together are 0, or less; there are communities nevertheless."""
    for other in (-1.0, -50.0):
        edges = frame([(0, 1), (2, 3), (1, 2), (0, 3)]).assign(w=[1.0, 1.0, other, other])
        found = built(edges, directed=False).leiden(**CPM, resolution=0.5).compute()
        assert found["community"].tolist() == [0, 0, 2, 2]


@pytest.mark.parametrize("kind", ["float64", "float32", "int32", "int64"])
def test_weights_of_every_type(built, kind):
    edges = signed(5, 60, 300)
    edges["w"] = (4 * edges["w"]).astype(kind)
    expected = built(edges.astype({"w": "float64"}), directed=False).leiden(**CPM, resolution=0.5)
    found = built(edges, directed=False).leiden(**CPM, resolution=0.5).compute()
    pd.testing.assert_frame_equal(found, expected.compute())


@pytest.mark.parametrize("options", [{}, {"levels": 3}, {"max_community_size": 9}])
def test_members_threads_and_storage_change_no_community(built, monkeypatch, options):
    edges = signed(6, 900, 6000, groups=30, negative=0.2)
    options = {**CPM, "resolution": [0.05, 0.4], **options}
    found = built(edges, directed=False).leiden(**options).compute().reset_index(drop=True)
    disk = {"storage": "disk"} if BACKEND.name == "pandas" else {}  # frames of cuDF stay in memory
    for how in ({"shards": 1}, {"shards": 1, **disk}, {"partitions": 7}):
        one = built(edges.sample(frac=1, random_state=3), directed=False, **how).leiden(**options)
        pd.testing.assert_frame_equal(one.compute().reset_index(drop=True), found)
    monkeypatch.setattr("dask_graphflow.kernels.groups.host.SMALL", 1)
    monkeypatch.setattr(host_threads, "TURN", 64, raising=False)
    one = built(edges, directed=False).leiden(**options).compute(scheduler="threads", num_workers=4)
    pd.testing.assert_frame_equal(one.reset_index(drop=True), found)


def test_vertices_that_are_only_numbers_have_the_same_communities(built, monkeypatch):
    """This is how edges in the memory of a device are copied to the host."""
    edges = signed(7, 200, 900, groups=4)
    edges[["a", "b"]] *= 3  # not every number is a vertex
    g = built(edges, directed=False, vertices=[1, 2, 700])
    expected = g.leiden(**CPM, resolution=0.1, levels=2).compute()
    copied = []

    def copy(g, what):
        copied.append(what)
        return g.view_of(number_graph(g, g.member.shard.out, g.exists.copy()))

    monkeypatch.setattr(level, "in_host_memory", copy)
    found = g.leiden(**CPM, resolution=0.1, levels=2).compute()
    assert copied
    pd.testing.assert_frame_equal(found, expected)


def test_earlier_communities_never_get_worse(built):
    edges = signed(8, 300, 1500, groups=3)
    g = built(edges, directed=False)
    earlier = g.leiden(**CPM, resolution=0.1).compute()
    start = earlier.assign(community=earlier["community"] // 2)
    least = quality(edges, start, 0.1)
    found = g.leiden(**CPM, resolution=0.1, previous=start).compute()
    assert quality(edges, found, 0.1) >= least
    later = g.update(insert=frame([(0, 3), (1, 5)]).assign(w=[-9.0, 2.0]))
    again = later.leiden(**CPM, resolution=0.1, previous=g.leiden(**CPM, resolution=0.1)).compute()
    after = pd.concat([edges, frame([(0, 3), (1, 5)]).assign(w=[-9.0, 2.0])])
    assert quality(after, again, 0.1) >= quality(after, earlier, 0.1)


def test_a_higher_resolution_gives_more_communities(built):
    edges = signed(9, 300, 2000)
    resolutions = [0.01, 0.1, 0.5, 5.0]
    found = built(edges, directed=False).leiden(**CPM, resolution=resolutions).compute()
    counts = [found[f"community_{r:g}"].nunique() for r in resolutions]
    assert all(few < many for few, many in pairwise(counts))
    assert counts[-1] == len(found)


def test_the_quality_is_that_of_leidenalg():
    igraph, leidenalg = pytest.importorskip("igraph"), pytest.importorskip("leidenalg")
    for seed, groups, resolution in ((1, 1, 0.05), (2, 10, 0.05), (3, 10, 0.5)):
        edges = signed(seed, 600, 4000, groups=groups, negative=0.2)
        graph = igraph.Graph(n=600, edges=edges[["a", "b"]].to_numpy().tolist())
        best = [
            leidenalg.find_partition(
                graph, leidenalg.CPMVertexPartition, weights=edges["w"].tolist(),
                resolution_parameter=resolution, seed=s,
            ).membership
            for s in range(5)
        ]  # fmt: skip
        theirs = [
            potts(network_of(edges, directed=False), dict(enumerate(labels)), resolution)
            for labels in best
        ]
        frame_of = [
            gf.leiden(edges, **ENDS, weight="w", **CPM, resolution=resolution, seed=s,
                      vertices=range(600)).compute() for s in range(5)
        ]  # fmt: skip
        ours = [quality(edges, found, resolution) for found in frame_of]
        assert max(ours) >= min(theirs)


@pytest.mark.parametrize("method", ["louvain", "leiden"])
def test_modularity_refuses_negative_weights_and_says_what_allows_them(built, method):
    g = built(frame([(0, 1), (1, 2)]).assign(w=[1.0, -1.0]))
    with pytest.raises(WeightError, match=r"modularity needs .* leiden with objective='cpm'"):
        getattr(g, method)().compute()


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_weights_that_are_not_finite_are_refused(built, bad):
    with pytest.raises(WeightError, match=r"null|infinite or NaN; .* finite weights"):
        built(frame([(0, 1), (1, 2)]).assign(w=[-1.0, bad])).leiden(**CPM).compute()


def test_errors_about_small_and_large_weights_are_about_magnitudes(built):
    pairs = frame([(0, 1), (2, 3), (4, 5)])
    far_apart = pairs.assign(w=[-5.0, 2.0**41, 2.0**-60])
    with pytest.raises(WeightError, match=r"weights between -6\.1e-05 and 6\.1e-05"):
        built(far_apart).leiden(**CPM).compute()
    assert len(built(far_apart[far_apart.w.abs() > 6.1e-05]).leiden(**CPM).compute()) == 4
    large = pairs.assign(w=[-1e300, 1.0, -2.0])
    with pytest.raises(WeightError, match=r"sum to 1e\+300.* by the largest weight magnitude"):
        built(large).leiden(**CPM).compute()
    large["w"] /= large["w"].abs().max()
    with pytest.raises(WeightError, match=r"between -\S+ and \S+"):  # 1.0 is far too small now
        built(large).leiden(**CPM).compute()
