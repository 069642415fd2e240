"""Graphs for the algorithms, the calls on them, edge programs, and answers by SciPy."""

from __future__ import annotations

import dask
import numpy as np
import pandas as pd
import pytest
from conftest import BACKEND, ENDS, GRAPHS, to_host
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import dask_graphflow as gf
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.operators.advance.local_advance import LocalAdvance
from dask_graphflow.operators.view import GraphView
from dask_graphflow.programs.edge_op import EdgeOp

NEVER = np.iinfo(np.int32).max
HOPS = EdgeOp(
    "hops",
    target="level",
    signal="level[src] + 1",
    slot="min",
    cond=f"level[dst] == {NEVER}",
    first_hit=True,
)
PATHS = EdgeOp("paths", target="cost", signal="cost[src] + weight", slot="min")
LEAST = EdgeOp("least", target="least", signal="least[src]", slot="min")


# Parallel edges, a self-loop, opposite edges, vertices that nothing leaves, and two components.
DIFFICULT = [(0, 1), (0, 2), (2, 3), (2, 3), (2, 0), (4, 3), (3, 3), (300, 3), (301, 302)]

# Calls on a graph with weights; `start` is a list of ids.
ASKED = {
    "bfs": lambda g, start: g.bfs(start),
    "bfs, three steps by pull": lambda g, start: g.bfs(start, depth_limit=3, direction="pull"),
    "sssp": lambda g, start: g.sssp(start, cutoff=40),
    "bfs to one": lambda g, start: g.bfs(start[:1], targets=start[-1]),
    "sssp to one": lambda g, start: g.sssp(start[:1], targets=start[-1]),
    "bfs by source": lambda g, start: g.bfs(start, by_source=True),
    "sssp by source": lambda g, start: g.sssp(start, by_source=True, cutoff=40),
    "pagerank": lambda g, start: g.pagerank(),
    "pagerank from one": lambda g, start: g.pagerank(
        personalization=pd.Series(2.0, index=start[:1]), precision="float32"
    ),
    "personalized pagerank": lambda g, start: g.personalized_pagerank(start, top_k=9),
    "walks": lambda g, start: g.random_walks(start, length=9, p=0.5, q=2),
    "sample": lambda g, start: g.sample_neighbors(start, fanouts=[3, 2]),
    "label propagation": lambda g, start: g.label_propagation(max_iter=4),
    "components": lambda g, start: g.connected_components(),
    "degrees": lambda g, start: g.degrees(),
    "k-core": lambda g, start: g.k_core(),
    "a program": lambda g, start: g.run(LEAST, columns={"least": "vertex"}),
    "a program from one": lambda g, start: g.run(
        LEAST,
        columns={"least": 1 << 40},
        start=pd.DataFrame({"vertex": start[:1], "least": [5]}),
        direction="push",
    ),
}
# Further calls, whose results have the same bits on a GPU.
ALSO_ASKED = {
    "personalized pagerank": lambda g, start: g.personalized_pagerank(start, tol=None, max_iter=9),
    "nearest": lambda g, start: g.personalized_pagerank(start, tol=None, max_iter=9, top_k=3),
    "hits": lambda g, start: g.hits(tol=1.0),
    "katz": lambda g, start: g.katz_centrality(alpha=0.001, tol=1.0),
    "eigenvector": lambda g, start: g.eigenvector_centrality(tol=1.0),
    "betweenness": lambda g, start: g.betweenness_centrality(k=2),
    "edge betweenness": lambda g, start: g.edge_betweenness_centrality(k=2),
    "closeness": lambda g, start: g.closeness_centrality(k=100),
    "harmonic": lambda g, start: g.harmonic_centrality(k=9, seed=1),
    "motifs": lambda g, start: g.motif_counts(size=4),
    "vectors": lambda g, start: g.fast_rp(dimensions=20),
    "eccentricity": lambda g, start: g.eccentricity(k=4),
    "diameter": lambda g, start: g.diameter(),
    "degree centrality": lambda g, start: g.degree_centrality(),
    "strong components": lambda g, start: g.strongly_connected_components(),
    "articulation points": lambda g, start: g.articulation_points(),
    "bridges": lambda g, start: g.bridges(),
    "core numbers": lambda g, start: g.core_number(),
    "k-core": lambda g, start: g.k_core(k=3),
    "coloring": lambda g, start: g.greedy_color(seed=3),
    "similarity": lambda g, start: g.similarity(top_k=3),
    "similarity of pairs": lambda g, start: g.similarity(
        pairs=pd.DataFrame({"x": [start[0], start[-1]], "y": [start[-1], start[-1]]}),
        measure="sorensen",
    ),
    "truss numbers": lambda g, start: g.truss_number(),
    "k-truss": lambda g, start: g.k_truss(k=4),
    "neighbors": lambda g, start: g.neighbors(start),
    "ego graph": lambda g, start: g.ego_graph(start, radius=2),
    "subgraph": lambda g, start: g.induced_subgraph(start),
    "cycles": lambda g, start: g.simple_cycles(4, through=start[:2], top=1000),
    "paths": lambda g, start: g.simple_paths(
        pd.DataFrame({"x": start[:2], "y": start[-2:]}), max_length=3
    ),
    "flow": lambda g, start: g.maximum_flow(start[0], start[-1]),
    "cut": lambda g, start: g.minimum_cut(start[0], start[-1]),
    "spanning forest": lambda g, start: g.minimum_spanning_forest(),
    "community metrics": lambda g, start: g.community_metrics(g.connected_components()),
    "clustering": lambda g, start: g.clustering(),
    "triangles": lambda g, start: g.triangle_count(),
    "walks": lambda g, start: g.random_walks(start, length=9, walks_per_vertex=50, p=0.5, q=2),
    "sample": lambda g, start: g.sample_neighbors(start),
    "independent set": lambda g, start: g.maximal_independent_set(seed=3),
    "louvain": lambda g, start: g.louvain(seed=2, levels=2),
    "leiden": lambda g, start: g.leiden(resolution=[0.5, 1]),
    "potts": lambda g, start: g.leiden(objective="cpm", resolution=0.2),
    "louvain from labels": lambda g, start: g.louvain(previous=g.label_propagation(max_iter=2)),
    "leiden from communities": lambda g, start: g.leiden(
        max_community_size=60, previous=g.leiden(max_community_size=60, resolution=2)
    ),
}
KINDS = {
    "dense": lambda edges: edges,
    "far apart": lambda edges: edges.assign(a=edges.a * 10**12 - 5, b=edges.b * 10**12 - 5),
    "strings": lambda edges: edges.assign(a=edges.a.astype("str"), b=edges.b.astype("str")),
}


def power_law(rng, size=400, edges=2500):
    """Return edges with weights, many of them at vertices with small ids."""
    ends = (size * rng.random((edges, 2)) ** 3).astype("int64")
    return pd.DataFrame(ends, columns=["a", "b"]).assign(w=rng.integers(1, 10, edges) / 4)


def power_law_pairs(size, edges):
    """Return such edges as pairs."""
    found = power_law(np.random.default_rng(5), size, edges)
    return list(found[["a", "b"]].itertuples(index=False, name=None))


def graph(edges, shards, directed, **options):
    """Return a built graph of edges with weights."""
    return gf.Graph(
        edges, **ENDS, weight="w", directed=directed, shards=shards, **options
    ).persist()


def same(found, wanted):
    """Assert that two computed results are equal, apart from their partitions."""
    if BACKEND.name == "cudf":  # cuDF has one type for integers with and without nulls
        found = found.astype(wanted.dtypes)
    pd.testing.assert_frame_equal(found.reset_index(drop=True), wanted.reset_index(drop=True))


# Weights of edges between two vertices, and whether their sum fits int64, even if a partial sum does not.
SUMS = [
    ([2**63 - 1, 0], True),
    ([2**63 - 1, 1], False),
    ([2**63 - 1, 2**63 - 1, -(2**62), -(2**63)], True),
    ([2**62] * 4, False),  # which wraps around to 0
    ([-(2**62)] * 3, False),
    ([-(2**63), -1, 5], True),
]
VERTEX = 5  # that has them, among others that have as many edges


def summed_edges(weight):
    """Return sources, targets, int64 weights, and how to make rows of them that add them up."""
    vertices, count = 900, len(weight)
    weights = np.ones(vertices * count, "int64")
    weights[VERTEX * count :][:count] = weight
    ends = np.repeat(np.arange(vertices), count), np.full(vertices * count, 7)
    return *ends, weights, {"count": vertices, "multi": "sum"}


def _generated(edges):
    return list(edges.compute(scheduler="sync").itertuples(index=False, name=None))


def rmat(scale=9, edge_factor=4):
    return _generated(gf.generate.rmat(scale, edge_factor=edge_factor, npartitions=1))


def clique(size):
    return [(a, b) for a in range(size) for b in range(a)]


def cycle(*vertices):
    return list(zip(vertices, (*vertices[1:], vertices[0]), strict=True))


def at_random(vertices, edges, seed=1):
    return list(map(tuple, np.random.default_rng(seed).integers(0, vertices, (edges, 2)).tolist()))


def grid(side, *ways):
    """Return a grid whose edges lead in some of the ways "right", "left", "down" and "up"."""
    steps = {"right": (1, 0), "left": (-1, 0), "down": (0, 1), "up": (0, -1)}
    return [
        (side * y + x, side * (y + dy) + x + dx)
        for dx, dy in map(steps.get, ways)
        for y in range(side)
        for x in range(side)
        if 0 <= y + dy < side and 0 <= x + dx < side
    ]


def apart(graphs, step=1000):
    """Return the edges of several graphs, each with ids of its own."""
    return [
        (a + i * step, b + i * step) for i, pairs in enumerate(graphs.values()) for a, b in pairs
    ]


def few_weights(rng, kind, size=24, count=60):
    """Return edges with weights between random vertices, some of them parallel, and self-loops."""
    weight = {
        "whole": lambda: rng.integers(1, 4, count),  # many shortest paths are equally long
        "real": lambda: rng.random(count),
        "float32": lambda: rng.choice(np.array([0.1, 0.2, 0.3], "float32"), count),
        "some are 0": lambda: rng.integers(0, 3, count),
    }
    ends = pd.DataFrame(rng.integers(0, size, (count, 2)), columns=["a", "b"])
    return ends.assign(w=weight[kind]())


MIXED = apart({**GRAPHS, "rmat": rmat(), "clique": clique(9)})
WAYS = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])


# More vertices than the bounds of ranges are multiples of, so that there are several ranges.
LARGE = {
    "rmat": lambda: rmat(13),
    "grid": lambda: _generated(gf.generate.grid(150, 140, npartitions=1)),
    "path": lambda: _generated(gf.generate.path(6000, npartitions=1)),
}
SMALL = {name: pairs for name, pairs in GRAPHS.items() if pairs} | {"rmat": rmat()}


def weights(count, seed=4):
    """Return weights of which any sum is exact; a third of them are 0."""
    return np.maximum(np.random.default_rng(seed).integers(-4, 9, count), 0) / 4


def both_ways(pairs, weight, directed):
    """Return an edge list with each edge in both directions if edges have no direction."""
    source, target = np.array(pairs, "int64").reshape(-1, 2).T
    if directed:
        return source, target, weight
    other = source != target
    return (
        np.concatenate([source, target[other]]),
        np.concatenate([target, source[other]]),
        np.concatenate([weight, weight[other]]),
    )


def scipy_distances(source, target, weight, sources):
    """Return the distance of every vertex from the nearest source, infinite if there is no path."""
    size = int(max(source.max(), target.max())) + 1
    edges = pd.DataFrame({"u": source, "v": target, "w": weight})
    least = edges.groupby(["u", "v"], as_index=False)["w"].min()
    matrix = csr_array((least["w"], (least["u"], least["v"])), shape=(size, size))
    assert matrix.nnz == len(least)  # zeros count
    return dijkstra(matrix, indices=sources, min_only=True)


def _smallest_predecessors(source, target, weight, sources, distance):
    """Return the predecessors by definition.

    They are nearer vertices, or else vertices that are reached first along edges of weight 0.
    """
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


def _leads_to(predecessor):
    """Return where predecessors end."""
    at = np.where(predecessor < 0, np.arange(len(predecessor)), predecessor)
    for _ in range(len(at).bit_length()):
        at = at[at]
    return at


def _by_vertex(found, size):
    distance, predecessor = np.full(size, np.inf), np.full(size, -1)
    distance[found["vertex"]] = found["distance"]
    known = found[found["predecessor"].notna()]
    predecessor[known["vertex"]] = known["predecessor"].astype("int64")
    return distance, predecessor


def check_search(edges, directed, sources, found, exact=True):
    """Assert that distances are those of SciPy, and predecessors the smallest; return the distances.

    Without a column w, each edge has the length 1.
    """
    assert found["vertex"].is_monotonic_increasing
    pairs = edges[["a", "b"]].to_numpy()
    weight = (edges["w"].to_numpy() if "w" in edges else np.ones(len(edges))).astype("float64")
    source, target, weight = both_ways(pairs, weight, directed)
    wanted = scipy_distances(source, target, weight, sources)
    distance, predecessor = _by_vertex(found, len(wanted))
    if exact:
        np.testing.assert_array_equal(distance, wanted)
    else:
        np.testing.assert_allclose(distance, wanted)
        assert (distance[target] <= distance[source] + weight).all()
    np.testing.assert_array_equal(
        predecessor, _smallest_predecessors(source, target, weight, sources, distance)
    )
    assert np.isin(_leads_to(predecessor)[np.isfinite(distance)], sources).all()
    return distance


def traced(results, *, sum_bytes=False):
    """Return what a call with ``trace=True`` found, and its supersteps, in which all members agree.

    With `sum_bytes`, the column "bytes" has the bytes that all members sent in a superstep.
    """
    found, steps = to_host(results[0].compute()), to_host(results[1].compute())
    if "member" not in steps:
        return found, steps.assign(bytes=0)
    parts = [part.reset_index(drop=True) for _, part in steps.groupby("member")]
    agreed = ["superstep", "direction", "frontier", "edges"]
    for part in parts[1:]:
        pd.testing.assert_frame_equal(part[agreed], parts[0][agreed])
    if sum_bytes:
        parts[0]["bytes"] = sum(part["bytes"] for part in parts)
    return found, parts[0]


def on_members(g, work):
    """Call a function with the view of the graph on each member; return the results."""

    def loop(channel, shard, rank):
        exchange = Exchange(channel, device=shard.on_device)
        return work(GraphView(shard, exchange, threads=1 + rank % 2))

    return list(dask.compute(*getattr(g, "graph", g)._shards.run(loop, None, name="work")))


def rows_to_host(rows):
    """Return rows whose arrays are in host memory."""
    names = "offsets", "ends", "weights"
    return rows._replace(**{name: to_host(getattr(rows, name)) for name in names})


def advance(op, columns, rows, frontier, *, direction, balance="auto", threads=1):
    """Send a program's messages along some rows; return the changed vertices and the edges read."""
    local = LocalAdvance(op, columns, rows)
    changed, moved = local.step(op.params, frontier, direction, balance, threads)
    return changed, moved.edges


def dates(i):
    return pd.Timestamp("2020-01-01") + pd.Timedelta(days=i)


ID_TYPES = {
    "dense": ("int64", int),
    "int8, low and high": ("int8", lambda i: i * 2 - 128),
    "int32, negative": ("int32", lambda i: i - 100),
    "int64, far apart": ("int64", lambda i: (i - 60) * 2**56),
    "uint64 past int64": ("uint64", lambda i: 2**64 - 1 - i),
    "nullable integers": ("Int64", int),
    "Arrow integers": ("int64[pyarrow]", int),
    "truth values": ("bool", lambda i: i % 2 == 0),
    "strings": ("str", lambda i: f"v{i}"),
    "Arrow strings": ("string[pyarrow]", lambda i: f"v{i}"),
    "objects": (object, lambda i: f"v{i}"),
    "dates": ("datetime64[ns]", dates),
}
