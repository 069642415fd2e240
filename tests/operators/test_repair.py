"""Paths that were repaired after an update have the bits of a search from scratch."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import host_only

from dask_graphflow.algorithms.bfs.breadth_first import breadth_first
from dask_graphflow.algorithms.sssp.sssp import sssp
from dask_graphflow.comm.channel import in_process
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph.change import Change
from dask_graphflow.graph.shard import Shard
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.operators.search import repair
from dask_graphflow.operators.search.repair import Paths, repair_paths
from dask_graphflow.operators.view import GraphView

pytestmark = pytest.mark.usefixtures("backend")

SIZE = 60
NONE = np.iinfo("int32").max
WEIGHTS = {
    "hops": None,
    "whole": lambda rng, count: rng.integers(1, 5, count),
    "rounded": lambda rng, count: rng.integers(1, 6, count) / 3,
    "float32": lambda rng, count: (3 * rng.random(count)).astype("float32"),
    "zeros": lambda rng, count: rng.integers(0, 3, count) * (rng.random(count) < 0.4),
    # so small that it adds nothing to most distances
    "absorbed": lambda rng, count: np.where(rng.random(count) < 0.6, 1e-17, 1.0),
    "infinite": lambda rng, count: np.where(rng.random(count) < 0.3, np.inf, 1.0),
}


def draw(rng, kind, near, count):
    """Return edges with parallel edges and self-loops; near ones make a long and narrow graph."""
    ends = rng.integers(0, SIZE, (2, count))
    if near:
        ends[1] = np.minimum(ends[0] + rng.integers(0, 4, count), SIZE - 1)
    weights = {} if WEIGHTS[kind] is None else {"w": WEIGHTS[kind](rng, count)}
    return pd.DataFrame({"a": ends[0].astype("int32"), "b": ends[1].astype("int32"), **weights})


def pairs(edges, directed):
    """Return the ordered pairs of edges as numbers."""
    one, other = edges["a"].to_numpy("int64"), edges["b"].to_numpy("int64")
    both = [one * SIZE + other] if directed else [one * SIZE + other, other * SIZE + one]
    return np.unique(np.concatenate(both))


def view(edges, directed, change=None):
    """Return the view of a graph with a single member."""
    one, other = edges["a"].to_numpy(), edges["b"].to_numpy()
    weights = edges["w"].to_numpy() if "w" in edges else None
    options = {"count": SIZE, "undirected": not directed}
    rows = rows_kernels.of(one).rows(one, other, weights, **options)
    shard = Shard(one[:0], [0, SIZE], 0, rows, directed=directed, change=change)
    return GraphView(shard, Exchange(in_process(1)[0]))


def update(rng, edges, kind, near, directed):
    """Return the edges after an update, and how it changed the graph."""
    gone = edges[rng.random(len(edges)) < rng.choice([0, 0.02, 0.2, 0.6])]
    new = draw(rng, kind, near, int(rng.integers(0, 15)))
    left = edges[~np.isin(pairs_of_rows(edges), pairs(gone, directed))]
    after = pd.concat([left, new], ignore_index=True)
    named = pairs(pd.concat([gone, new]), directed)
    ends = (end.astype("int32") for end in np.divmod(named, SIZE))
    were, are = (np.isin(named, pairs(every, directed)) for every in (edges, after))
    return after, Change("", *ends, were, are)


def pairs_of_rows(edges):
    """Return the ordered pair of each edge as a number."""
    return edges["a"].to_numpy("int64") * SIZE + edges["b"].to_numpy("int64")


def repaired(g, earlier, sources, cutoff):
    """Return repaired paths, or None; `earlier` does not change."""

    def precedes(above, below):
        return earlier.predecessor[below] == above

    done = repair_paths(g, earlier.distance.copy(), precedes, sources, cutoff)
    if done is None:
        return None
    found, every = done
    if every:
        return found
    found.predecessor[:] = np.where(
        (found.predecessor < 0) & found.reached, earlier.predecessor, found.predecessor
    )
    return found


def search(g, sources, cutoff):
    """Return the paths from scratch."""
    if not g.weighted:
        found = breadth_first(g, sources, depth_limit=cutoff)
        distance = np.where(found.level < 0, NONE, found.level).astype("int32")
        return Paths(distance, np.where(found.level > 0, found.parents(), -1))
    columns = sssp(g, sources, cutoff=cutoff).columns
    distance, (predecessor, none) = columns["distance"], columns["predecessor"]
    return Paths(distance, np.where(none | np.isinf(distance), -1, predecessor))


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_repaired_paths_have_the_bits_of_a_search_from_scratch(kind, directed, monkeypatch):
    host_only("paths are repaired on the host")
    monkeypatch.setattr(repair, "LEAST", 1 << 20)  # no repair gives up
    rng = np.random.default_rng(7)
    lowered = lost = 0
    for trial in range(15):
        near, cutoff = trial % 3 == 0, None if trial % 2 else 3
        edges = draw(rng, kind, near, int(rng.integers(1, 3 * SIZE)))
        sources = np.unique(rng.integers(0, SIZE, 2))
        paths = search(view(edges, directed), sources, cutoff)
        for _ in range(20):
            edges, change = update(rng, edges, kind, near, directed)
            wanted = search(view(edges, directed), sources, cutoff)
            lowered += (wanted.distance < paths.distance).sum()
            lost += (wanted.distance > paths.distance).sum()
            limit = np.inf if cutoff is None else cutoff
            paths = repaired(view(edges, directed, change), paths, sources, limit)
            np.testing.assert_array_equal(paths.distance, wanted.distance)
            np.testing.assert_array_equal(paths.predecessor, wanted.predecessor)
    assert lowered > 100
    assert lost > 100


@pytest.mark.parametrize("kind", ["hops", "whole"])
def test_a_repair_that_reads_many_edges_gives_up(monkeypatch, kind):
    host_only("paths are repaired on the host")
    road = pd.DataFrame({"a": range(SIZE - 1), "b": range(1, SIZE)}, dtype="int32")
    if kind == "whole":
        road["w"] = 1.0
    cut = np.array([0], "int32"), np.array([1], "int32"), np.array([True]), np.array([False])
    paths = search(view(road, True), np.array([0]), None)
    for least, complete in ((SIZE, False), (4 * SIZE, True)):
        monkeypatch.setattr(repair, "LEAST", least)
        after = view(road[1:], True, Change("", *cut))
        assert (repaired(after, paths, np.array([0]), np.inf) is not None) == complete
