"""An update of a graph gives the rows, ids and weights of a graph that is built from what remains."""

from __future__ import annotations

import dask
import numpy as np
import pandas as pd
import pytest

import dask_graphflow as gf
from dask_graphflow.graph import partition

pytestmark = pytest.mark.usefixtures("host_memory")

SPACE = 400  # ids that may occur


@pytest.fixture(autouse=True)
def fine(monkeypatch):
    monkeypatch.setattr(partition, "GRAIN", 64)


IDS = {
    "integers": lambda k: k,
    "negative integers": lambda k: k - SPACE // 2,
    "sparse integers": lambda k: k * 10**12 - 5 * 10**13,
    "text": lambda k: f"vertex {k}",
    "days": lambda k: pd.Timestamp("2020-01-01") + pd.Timedelta(days=k),
}


class History:
    """A table of edges that changes, and the vertices that it had so far."""

    def __init__(self, rng, ids, *, directed, weighted, pair=False):
        self.rng, self.ids, self.directed, self.weighted = rng, ids, directed, weighted
        self.ends = (["a1", "a2"], ["b1", "b2"]) if pair else (["a"], ["b"])
        self.pair, self.seen = pair, set()
        self.reach = SPACE // 4  # ids occur in a growing range
        self.table = pd.DataFrame({"u": [], "v": [], "w": []}).astype({"u": "int64", "v": "int64"})

    @property
    def options(self):
        source, target = self.ends
        weight = "w" if self.weighted else None
        return {"source": source, "target": target, "weight": weight, "directed": self.directed}

    def draw(self, count):
        """Draw edges; some of them are parallel, and some are loops."""
        low = (SPACE - self.reach) // 2
        u, v = self.rng.integers(low, low + self.reach, (2, count))
        v = np.where(self.rng.random(count) < 0.1, u, v)
        w = self.rng.integers(1, 9, count) / 4
        return pd.DataFrame({"u": u, "v": v, "w": w})

    def named(self, table):
        """Return a table with the ids of the graph."""
        sides = {}
        for name, columns in zip("uv", self.ends, strict=True):
            if self.pair:
                sides[columns[0]], sides[columns[1]] = table[name] // 7, (table[name] % 7).map(str)
            else:
                sides[columns[0]] = pd.Series([self.ids(k) for k in table[name]], table.index)
        frame = pd.DataFrame(sides) if len(table) else self.named(self.draw(1)).iloc[:0, :-1]
        return frame.assign(w=table["w"]).reset_index(drop=True)

    def key(self, table):
        """Return the pair of each edge, as one number."""
        u, v = table["u"].to_numpy("int64"), table["v"].to_numpy("int64")
        if not self.directed:
            u, v = np.minimum(u, v), np.maximum(u, v)
        return u * SPACE + v

    def step(self, inserts, deletes):
        """Change the table, and return both batches."""
        gone = self.table.iloc[self.rng.integers(0, max(1, len(self.table)), deletes)]
        gone = gone.iloc[: deletes * bool(len(self.table))]
        if not self.directed and len(gone):
            turned = self.rng.random(len(gone)) < 0.5
            u, v = gone["u"].to_numpy(), gone["v"].to_numpy()
            gone = gone.assign(u=np.where(turned, v, u), v=np.where(turned, u, v))
        new = self.draw(inserts)
        both = min(len(gone) // 3, inserts)  # some pairs are in both
        new.iloc[:both, :2] = gone.iloc[:both, :2].to_numpy()
        left = self.table[~np.isin(self.key(self.table), self.key(gone))]
        self.table = pd.concat([left, new], ignore_index=True)
        self.seen |= {*new["u"], *new["v"]}
        self.reach = min(SPACE, self.reach + 40)
        return self.named(new), self.named(gone)

    def vertices(self):
        """Return all ids so far, as a frame."""
        ids = np.array(sorted(self.seen), "int64")
        frame = self.named(pd.DataFrame({"u": ids, "v": ids, "w": 1.0}))
        return frame[self.ends[0]].set_axis(range(len(self.ends[0])), axis=1)

    def build(self, **options):
        """Build the graph from the table."""
        return gf.Graph(self.named(self.table), **self.options, vertices=self.vertices(), **options)


def entries(graph):
    """Return the vertices, and the edges in the order of the rows, of all shards."""
    shards = [shard for shard in dask.compute(*graph._shards.built) if shard.owned]
    ids = pd.concat([_all_ids(shard) for shard in shards], ignore_index=True)
    found = {}
    for side in ("out", "into"):
        parts = []
        for shard in shards:
            if not shard.has(side):
                continue
            rows = shard.made(side)
            own = np.repeat(np.arange(shard.low, shard.high), np.diff(rows.offsets))
            both = [ids.iloc[at].reset_index(drop=True) for at in (own, rows.ends)]
            weights = pd.Series(np.ones(len(own)) if rows.weights is None else rows.weights)
            parts.append(pd.concat([*both, weights], axis=1))
        if parts:
            found[side] = pd.concat(parts, ignore_index=True)
    return found


def _all_ids(shard):
    if shard.ids is not None:
        return shard.ids
    own = np.arange(shard.low, shard.high) + shard.base
    return pd.DataFrame({shard.like.columns[0]: own}).astype(shard.like.dtypes)


def check_same(graph, built):
    """Check that a graph has the vertices, the rows, and the weights of another one."""
    have, want = (one.vertices().compute().reset_index(drop=True) for one in (graph, built))
    pd.testing.assert_frame_equal(have, want)
    have, want = entries(graph), entries(built)
    pd.testing.assert_frame_equal(have["out"], want["out"])
    if "into" in have and "into" in want:
        pd.testing.assert_frame_equal(have["into"], want["into"])
    assert (graph.num_vertices, graph.num_edges) == (built.num_vertices, built.num_edges)


@pytest.mark.parametrize("members", [1, 2, 3])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("multi", ["keep", "sum", "min", "first"])
@pytest.mark.parametrize("ids", [*IDS, "pairs"])
def test_ten_updates_give_the_graph_of_the_remaining_edges(ids, multi, directed, members):
    rng = np.random.default_rng(members)
    weighted = multi in ("sum", "min") or bool(len(ids) % 2)
    name = IDS.get(ids, IDS["integers"])
    history = History(rng, name, directed=directed, weighted=weighted, pair=ids == "pairs")
    history.step(300, 0)
    graph = history.build(multi=multi, shards=1).persist()
    edges = dask.dataframe.from_pandas(history.named(history.table), npartitions=2 * members)
    graph = gf.Graph(edges, **history.options, multi=multi, shards=members).persist()
    for step in range(10):
        if step % 3 == 1 and directed:
            graph.pagerank().compute()  # makes the entering rows
        inserted, deleted = history.step(*rng.integers(0, 60, 2))
        graph = graph.update(inserted, deleted).persist()
        check_same(graph, history.build(multi=multi))
