"""Shortest paths: distances against SciPy, predecessors that lead to a source, the same bits everywhere."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import frame, on_backend, partitioned, to_host
from shapes import LARGE, SMALL, both_ways, scipy_distances, shards_of, weights

import dask_graphflow as gf
from dask_graphflow.algorithms.sssp import distances
from dask_graphflow.exceptions import OptionError, UnknownVertexError, WeightError
from dask_graphflow.kernels import kernels_of

pytestmark = pytest.mark.usefixtures("backend")

ENDS = {"source": "a", "target": "b"}


def smallest_predecessors(source, target, weight, sources, distance):
    """Return them by the letter: of those nearer, else of those reached first along edges of 0."""
    none = len(distance)
    found = np.full(none, none)
    tight = np.isfinite(distance[source]) & (distance[source] + weight == distance[target])
    nearer = tight & (distance[source] < distance[target])
    np.minimum.at(found, target[nearer], source[nearer])
    settled = found < none
    settled[sources] = True
    while True:
        following = tight & settled[source] & ~settled[target]
        if not following.any():
            return np.where(found == none, -1, found)
        np.minimum.at(found, target[following], source[following])
        settled[target[following]] = True


def leads_to(predecessor):
    """Return where predecessors end."""
    at = np.where(predecessor < 0, np.arange(len(predecessor)), predecessor)
    for _ in range(len(at).bit_length()):
        at = at[at]
    return at


def by_vertex(found, size):
    distance, predecessor = np.full(size, np.inf), np.full(size, -1)
    distance[found["vertex"]] = found["distance"]
    known = found[found["predecessor"].notna()]
    predecessor[known["vertex"]] = known["predecessor"].astype("int64")
    return distance, predecessor


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("several", [False, True], ids=["one source", "several sources"])
@pytest.mark.parametrize("shape", SMALL)
def test_distances_and_the_smallest_predecessors(shape, several, directed):
    pairs = SMALL[shape]
    edges = frame(pairs).assign(w=weights(len(pairs)))
    sources = sorted(
        {pairs[0][0]} | ({pairs[-1][1], pairs[len(pairs) // 2][0]} if several else set())
    )
    found = gf.sssp(edges, **ENDS, sources=sources, weight="w", directed=directed).compute()
    assert found["vertex"].is_monotonic_increasing
    source, target, weight = both_ways(pairs, edges["w"].to_numpy(), directed)
    wanted = scipy_distances(source, target, weight, sources)
    distance, predecessor = by_vertex(found, len(wanted))
    np.testing.assert_array_equal(distance, wanted)
    np.testing.assert_array_equal(
        predecessor, smallest_predecessors(source, target, weight, sources, distance)
    )
    reached = np.isfinite(distance)
    assert np.isin(leads_to(predecessor)[reached], sources).all()


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("shape", LARGE)
def test_the_same_bits_for_every_shard_and_thread(shape, directed):
    pairs = LARGE[shape]()
    # Sums of these are rounded, each along its path.
    weight = np.random.default_rng(8).pareto(1.5, len(pairs))
    sources = np.array([pairs[0][0], pairs[9000][0]])
    first = on_backend(sources)
    predecessors = kernels_of("buckets", first).predecessors
    found = set()
    for parts in (1, 2, 3, 7):
        shards = shards_of(pairs, weight, directed=directed, parts=parts)
        for threads in (1, 3):
            distance, _ = distances(shards, first, cutoff=None, threads=threads)
            predecessor = predecessors(
                shards.whole(threads=threads), distance, first, threads=threads
            )
            distance, predecessor = to_host(distance), to_host(predecessor)
            found.add((distance.tobytes(), predecessor.tobytes()))
    assert len(found) == 1
    source, target, weight = both_ways(pairs, weight, directed)
    assert (distance[target] <= distance[source] + weight).all()
    predecessor = np.where(predecessor == np.iinfo(predecessor.dtype).max, -1, predecessor)
    np.testing.assert_array_equal(
        predecessor, smallest_predecessors(source, target, weight, sources, distance)
    )
    assert np.isin(leads_to(predecessor)[np.isfinite(distance)], sources).all()
    np.testing.assert_allclose(distance, scipy_distances(source, target, weight, sources))


@pytest.mark.parametrize("partitions", [2, 7, 40])
def test_partitions_and_the_order_of_edges_change_nothing(partitions):
    edges = frame(SMALL["rmat"]).assign(w=weights(len(SMALL["rmat"])))
    options = {"weight": "w", "sources": edges["a"][:2]}
    whole = gf.sssp(edges, **ENDS, **options).compute()
    shuffled = partitioned(edges.sample(frac=1, random_state=1), partitions)
    cut = gf.sssp(shuffled, **ENDS, **options)
    pd.testing.assert_frame_equal(cut.compute().reset_index(drop=True), whole)


def test_predecessors_never_lead_in_a_circle_of_edges_of_0():
    pairs = [(5, 0), (0, 1), (1, 2), (2, 0), (2, 3), (3, 2), (3, 3)]
    edges = frame(pairs).assign(w=[1.0, 0, 0, 0, 0, 0, 0])
    found = gf.sssp(edges, **ENDS, sources=[5], weight="w").compute()
    assert found["distance"].tolist() == [1, 1, 1, 1, 0]
    assert found["predecessor"].tolist()[:4] == [5, 0, 1, 2]


@pytest.mark.parametrize("cutoff", [0, 0.75, np.float32(2), np.inf])
def test_no_vertex_past_the_cutoff_is_reached(cutoff):
    edges = frame(SMALL["rmat"]).assign(w=weights(len(SMALL["rmat"])))
    options = {"weight": "w", "sources": edges["a"][:1], "directed": False}
    whole = gf.sssp(edges, **ENDS, **options).compute()
    near = gf.sssp(edges, **ENDS, **options, cutoff=cutoff).compute()
    wanted = whole[whole["distance"] <= cutoff].reset_index(drop=True)
    assert (len(wanted) < len(whole)) == (cutoff < np.inf)
    pd.testing.assert_frame_equal(near, wanted)


@pytest.mark.parametrize(
    "weight",
    [5e-324, 1e-310, 1e-300, 1e300, 1e308, np.inf, 2**62, np.float32(0.1), np.int8(127), True],
    ids=repr,
)
def test_weights_of_any_size_and_type(weight):
    edges = frame([(0, 1), (1, 2), (0, 3), (3, 2), (2, 4)]).assign(w=weight)
    found = gf.sssp(edges, **ENDS, sources=[0], weight="w").compute()
    one = float(weight)
    # What is infinitely far was not reached.
    wanted = {0: 0.0, 1: one, 2: one + one, 3: one, 4: one + one + one}
    wanted = {vertex: far for vertex, far in wanted.items() if far < np.inf}
    assert dict(zip(found["vertex"], found["distance"], strict=True)) == wanted


def test_vertices_far_away_wait_for_those_before_them():
    # Two ways from the beginning of a long road to places far behind it, thousands of buckets of the mean
    # weight away, which lie on the way to others: each vertex has many edges, for buckets to be narrow.
    road = [(i, j) for i in range(3000) for j in range(i + 1, i + 11)]
    far = [30_000.0, 50_000.0]
    edges = frame([*road, (0, 4000), (0, 4001), (4000, 4002), (4001, 4003)])
    edges["w"] = np.concatenate([np.ones(len(road)), far, [1, 1]])
    _, steps = gf.sssp(edges, **ENDS, sources=[0], weight="w", trace=True)
    found = (
        gf.sssp(edges, **ENDS, sources=[0], weight="w").compute().set_index("vertex")["distance"]
    )
    assert found[[4000, 4001, 4002, 4003]].tolist() == [*far, far[0] + 1, far[1] + 1]
    assert found[3000] == 300
    assert steps.compute()["edges"].sum() == len(edges)


def test_of_several_edges_the_lightest_counts_unless_they_are_made_one():
    edges = frame([(0, 1), (0, 1), (0, 1)]).assign(w=[4.0, 1.0, 2.0])
    far = {}
    for multi in ("keep", "sum", "min", "first"):
        graph = gf.Graph(edges, **ENDS, weight="w", multi=multi)
        far[multi] = graph.sssp([0]).compute()["distance"].tolist()[1]
    assert far == {"keep": 1, "sum": 7, "min": 1, "first": 4}


def test_the_trace_has_a_row_a_bucket():
    edges = frame([(i, i + 1) for i in range(5)]).assign(w=1.0)
    _, steps = gf.sssp(edges, **ENDS, sources=[0], weight="w", trace=True)
    steps = steps.compute()
    assert steps["edges"].sum() == 5
    assert set(steps["direction"]) == {"push"}


# Bad input


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, -1.0], r"^1 weight is negative or NaN; .* of at least 0"),
        ([np.nan, 1.0], r"column 'w' has 1 null in a partition of 2 edges; fill them"),
        (pd.array([None, None], dtype="Float64"), r"has 2 nulls in"),
    ],
    ids=["negative", "NaN", "null"],
)
def test_weights_that_are_refused_when_it_is_computed(weight, message):
    edges = frame([(0, 1), (1, 2)]).assign(w=weight)
    paths = gf.sssp(edges, **ENDS, sources=[0], weight="w")
    with pytest.raises(WeightError, match=message):
        paths.compute()


def test_a_nan_among_numbers_that_have_nulls_of_their_own_is_refused():
    weight = pd.arrays.FloatingArray(np.array([np.nan, 1.0]), np.zeros(2, bool))
    edges = frame([(0, 1), (1, 2)]).assign(w=pd.Series(weight))
    with pytest.raises(WeightError, match=r"null|NaN"):
        gf.sssp(edges, **ENDS, sources=[0], weight="w").compute()


def test_paths_need_weights():
    graph = gf.Graph(frame([(0, 1)]), **ENDS)
    with pytest.raises(WeightError, match=r"weight=, .* bfs, which counts edges"):
        graph.sssp([0])
    with pytest.raises(WeightError, match=r"weight=, .* bfs, which counts edges"):
        gf.sssp(frame([(0, 1)]), **ENDS, sources=[0], weight=None)
    with pytest.raises(WeightError, match=r"weight=, .* bfs, which counts edges"):
        gf.sssp(frame([(0, 1)]), **ENDS, sources=[0])


def test_a_source_that_is_no_vertex_is_refused():
    edges = frame([(0, 1)]).assign(w=1)
    with pytest.raises(UnknownVertexError, match=r"1 of 2 ids is not in the graph: 7"):
        gf.sssp(edges, **ENDS, sources=[0, 7], weight="w").compute()


@pytest.mark.parametrize("cutoff", [-1, np.nan, "1"])
def test_cutoffs_that_are_refused(cutoff):
    edges = frame([(0, 1)]).assign(w=1)
    with pytest.raises(OptionError, match=r"give a number, 0 or more, or None"):
        gf.sssp(edges, **ENDS, sources=[0], weight="w", cutoff=cutoff)
