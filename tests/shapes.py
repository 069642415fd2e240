"""Graphs for the algorithms on shards, edge programs, and what is asked of them by SciPy."""

from __future__ import annotations

import numpy as np
import pandas as pd
from conftest import GRAPHS, on_backend, to_host
from dask_graphflow.graph.shards import Shards
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import dask_graphflow as gf
from dask_graphflow.graph.vertices import Vertices
from dask_graphflow.kernels.edge_op import EdgeOp

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


# Weights of edges between two vertices, and whether their sum fits int64, whatever their first sums do.
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


# Of more vertices than a range is cut at, so that there are several ranges.
LARGE = {
    "rmat": lambda: rmat(15),
    "grid": lambda: _generated(gf.generate.grid(150, 140, npartitions=1)),
    "path": lambda: _generated(gf.generate.path(20_000, npartitions=1)),
}
SMALL = {name: pairs for name, pairs in GRAPHS.items() if pairs} | {"rmat": rmat()}


def weights(count, seed=4):
    """Return weights of which any sum is exact; a third of them are 0."""
    return np.maximum(np.random.default_rng(seed).integers(-4, 9, count), 0) / 4


def both_ways(pairs, weight, directed):
    """Return an edge list of both directions where edges have none."""
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
    """Return the distance of every vertex from the nearest source, infinite if there is no way."""
    size = int(max(source.max(), target.max())) + 1
    edges = pd.DataFrame({"u": source, "v": target, "w": weight})
    least = edges.groupby(["u", "v"], as_index=False)["w"].min()
    matrix = csr_array((least["w"], (least["u"], least["v"])), shape=(size, size))
    assert matrix.nnz == len(least)  # zeros count
    return dijkstra(matrix, indices=sources, min_only=True)


def shards(source, target, weight=None, *, size, **options):
    """Return shards, of arrays of --backend's, whose ids are numbers below `size`."""
    like = on_backend(pd.DataFrame({"vertex": np.zeros(0, "int64")}))
    edges = map(on_backend, (source, target, weight))
    return Shards(Vertices(like, size), *edges, **options)


def shards_of(pairs, weight=None, **options):
    source, target = np.array(pairs, "int64").reshape(-1, 2).T.copy()
    size = int(max(source.max(initial=-1), target.max(initial=-1))) + 1
    return shards(source, target, weight, size=size, **options)


def rows_to_host(rows):
    """Return rows whose arrays lie in host memory."""
    names = "vertices", "offsets", "ends", "weights"
    return rows._replace(**{name: to_host(getattr(rows, name)) for name in names})
