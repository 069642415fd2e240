"""An update of a graph gives the rows, ids and weights of a graph that is built from what remains."""

from __future__ import annotations

import dask
import networkx as nx
import numpy as np
import pandas as pd
import pytest

import dask_graphflow as gf
from dask_graphflow import exceptions
from dask_graphflow.graph import partition
from dask_graphflow.graph.update import rows
from dask_graphflow.graph.update.batch import pairs_of
from dask_graphflow.graph.update.rows import splice
from dask_graphflow.kernels import rows as rows_kernels
from dask_graphflow.kernels.merge import host as merge_host

pytestmark = pytest.mark.usefixtures("host_memory")

SPACE = 400  # ids that may occur


@pytest.fixture(autouse=True)
def fine(monkeypatch):
    monkeypatch.setattr(partition, "GRAIN", 64)


IDS = {
    "integers": lambda k: k,
    "negative integers": lambda k: k - SPACE // 2,
    "sparse integers": lambda k: k * 10**12 - 5 * 10**13,
    # Close together at first, and far apart after some updates.
    "spreading integers": lambda k: k + 10**13 * ((k > 260) - (k < 140)),
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
    for side in ("out", "into", "simple"):
        parts = []
        for shard in shards:
            if not shard.has(side):
                continue
            rows = shard.made(side).out if side == "simple" else shard.made(side)
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
    for side in want:
        pd.testing.assert_frame_equal(have[side], want[side])
    assert (graph.num_vertices, graph.num_edges) == (built.num_vertices, built.num_edges)


def make_rows_that_updates_keep(graph):
    """Let a persisted graph make its entering rows, and those without loops and parallel edges."""
    graph.reverse().edges().compute()
    graph.core_number().compute()


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
    make_rows_that_updates_keep(graph)
    for step in range(10):
        inserted, deleted = history.step(*rng.integers(0, 60, 2))
        graph = graph.update(inserted, deleted).persist()
        if step % 3 == 0:
            want = history.build(multi=multi).persist()
            make_rows_that_updates_keep(want)
            check_same(graph, want)


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("multi", ["keep", "sum", "min", "first"])
@pytest.mark.parametrize("ids", ["integers", "spreading integers", "text"])
def test_the_steps_of_a_device_give_the_same_rows(ids, multi, directed, members, monkeypatch):
    """They are operations on arrays, which also take those of NumPy."""
    history = History(
        np.random.default_rng(6), IDS[ids], directed=directed, weighted=multi != "first"
    )
    history.step(300, 0)
    graph = history.build(multi=multi, shards=members).persist()
    make_rows_that_updates_keep(graph)
    for _ in range(5):
        batch = history.step(40, 30)
        with monkeypatch.context() as patch:
            patch.setattr(rows, "on_device", lambda array: True)
            graph = graph.update(*batch).persist()
            graph.edges().compute()
        want = history.build(multi=multi).persist()
        make_rows_that_updates_keep(want)
        check_same(graph, want)


@pytest.fixture
def history():
    history = History(np.random.default_rng(7), IDS["text"], directed=True, weighted=True)
    history.step(200, 0)
    return history


CALLS = {
    "bfs": lambda graph, source: graph.bfs(sources=[source]),
    "sssp": lambda graph, source: graph.sssp(sources=[source]),
    "pagerank": lambda graph, source: graph.pagerank(),
    "connected_components": lambda graph, source: graph.connected_components(),
    "leiden": lambda graph, source: graph.leiden(),
    "triangle_count": lambda graph, source: graph.triangle_count(),
}


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("ids", ["integers", "text"])
@pytest.mark.parametrize("call", CALLS)
def test_results_are_those_of_a_graph_that_was_built(call, ids, members):
    history = History(np.random.default_rng(2), IDS[ids], directed=True, weighted=True)
    history.step(400, 0)
    graph = history.build(shards=members)
    for _ in range(3):
        inserted, deleted = history.step(60, 30)
        graph = graph.update(inserted, deleted)  # all of it stays lazy
    source = history.named(history.table)["a"].iloc[0]
    have, want = (
        CALLS[call](one, source).compute().reset_index(drop=True)
        for one in (graph, history.build())
    )
    pd.testing.assert_frame_equal(have, want)


@pytest.mark.parametrize("members", [1, 2])
def test_a_batch_and_its_inverse_restore_the_rows(history, members):
    graph = history.build(shards=members).persist()
    old = graph.edges().compute()
    new = history.named(history.draw(40)).drop_duplicates(["a", "b"])
    there = pd.MultiIndex.from_frame(old[["source", "target"]])
    new = new[~pd.MultiIndex.from_frame(new[["a", "b"]]).isin(there)]
    gone = history.named(history.table).drop_duplicates(["a", "b"], keep=False).iloc[:20]
    later = graph.update(new, gone).persist()
    assert not later.edges().compute().equals(old)
    back = later.update(gone, new).persist()
    check_same(back, graph.update(vertices=later.vertices().compute()).persist())


@pytest.mark.parametrize("directed", [False, True])
def test_two_updates_equal_one_with_both_batches(directed):
    history = History(np.random.default_rng(3), IDS["text"], directed=directed, weighted=True)
    history.step(200, 0)
    graph, (first, _), (second, _) = history.build(), history.step(30, 0), history.step(30, 0)
    both = pd.concat([first, second])
    once = graph.update(both).persist()
    check_same(graph.update(first).update(second).persist(), once)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("members", [1, 3])
def test_the_change_lists_each_pair_of_the_batch_once(members, directed):
    history = History(np.random.default_rng(5), IDS["text"], directed=directed, weighted=False)
    history.step(200, 0)
    graph = history.build(shards=members).persist()
    old, names = history.key(history.table), graph.vertices().compute()["vertex"]
    batch = history.step(30, 20)
    new = history.key(history.table)
    graph = graph.update(*batch).persist()
    names = graph.vertices().compute()["vertex"].str.removeprefix("vertex ").astype(int)
    shards = [shard for shard in dask.compute(*graph._shards.built) if shard.owned]
    for change in (shard.change for shard in shards):
        sources, targets = (names.to_numpy()[ends] for ends in change[1:3])
        order = np.lexsort((change.targets, change.sources))
        assert np.array_equal(order, np.arange(len(order)))
        asked = pd.DataFrame({"u": sources, "v": targets})
        assert len(asked) == len(asked.drop_duplicates())
        key = history.key(asked)
        assert np.array_equal(change.before, np.isin(key, old))
        assert np.array_equal(change.after, np.isin(key, new))
        given = {tuple(pair) for one in batch for pair in one[["a", "b"]].to_numpy()}
        given |= set() if directed else {pair[::-1] for pair in given}
        assert given == {
            (f"vertex {u}", f"vertex {v}") for u, v in zip(sources, targets, strict=True)
        }


@pytest.mark.parametrize("ids", ["integers", "text"])
def test_a_vertex_stays_when_its_last_edge_is_deleted(ids):
    name = IDS[ids]
    edges = pd.DataFrame({"a": [name(1), name(2)], "b": [name(2), name(3)]})
    graph = gf.Graph(edges, source="a", target="b").update(delete=edges[1:])
    assert graph.vertices().compute()["vertex"].tolist() == [name(k) for k in (1, 2, 3)]
    graph = graph.update(vertices=[name(7)])
    assert graph.vertices().compute()["vertex"].tolist() == [name(k) for k in (1, 2, 3, 7)]
    assert graph.num_edges == 1


def test_integers_that_are_no_longer_close_together_get_ids():
    graph = gf.Graph([(5, 9), (9, 6)], shards=1).update([(10**15, 7)]).update([(-(10**15), 9)])
    assert graph.vertices().compute()["vertex"].tolist() == [-(10**15), 5, 6, 7, 9, 10**15]
    want = [(-(10**15), 9), (5, 9), (9, 6), (10**15, 7)]
    assert [*graph.edges().compute().itertuples(index=False, name=None)] == want


@pytest.mark.parametrize("members", [1, 2, 3])
@pytest.mark.parametrize("first", [0, 500])
def test_new_ids_may_all_be_before_or_behind_the_others(rng, members, first):
    def draw(low, high, count):
        return pd.DataFrame(rng.integers(low, high, (count, 2)), columns=["a", "b"])

    old, new = draw(200, 500, 900), draw(first, first + 200, 300)
    new["b"] = old["b"][:300]
    old, new = (
        one.apply(lambda ends: ends.map("{:03}".format)).astype("str") for one in (old, new)
    )
    ends = {"source": "a", "target": "b", "directed": False}
    edges = dask.dataframe.from_pandas(old, npartitions=members)
    graph = gf.Graph(edges, **ends, shards=members).persist()
    check_same(graph.update(new).persist(), gf.Graph(pd.concat([old, new]), **ends).persist())


def test_deletes_come_before_inserts(history):
    pair = history.named(history.table).iloc[[0]]
    replaced = history.build().update(pair.assign(w=99.0), pair).edges().compute()
    found = replaced.merge(pair, left_on=["source", "target"], right_on=["a", "b"])
    assert found["weight"].tolist() == [99.0]


@pytest.mark.parametrize("members", [1, 2])
def test_an_edge_that_is_not_there_cannot_be_deleted(history, members):
    graph = history.build(shards=members).persist()
    one, other = graph.vertices().compute()["vertex"][:2]
    for pair in ((one, "nowhere"), (other, one)):
        if pair in [
            *zip(history.named(history.table).a, history.named(history.table).b, strict=True)
        ]:
            continue
        with pytest.raises(exceptions.EdgeListError, match="1 edge that the graph does not have"):
            graph.update(delete=[pair]).persist()
        assert graph.update(delete=[pair], missing="ignore").num_edges == graph.num_edges


def test_batches_may_be_empty(history):
    graph = history.build().persist()
    none = history.named(history.table).iloc[:0]
    for batch in ((), (none,), (none, none), (None, none)):
        check_same(graph.update(*batch).persist(), graph)


@pytest.mark.parametrize("none", [[], (), np.empty((0, 2)), nx.Graph(), pd.DataFrame()], ids=type)
@pytest.mark.parametrize("width", [1, 2])
def test_batches_without_edges_have_no_types(none, width):
    edges = pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"], "c": "k", "w": 1.5})
    ends = {"source": ["a", "c"][:width], "target": ["b", "c"][:width], "weight": "w"}
    graph = gf.Graph(edges, **ends).persist()
    if isinstance(none, pd.DataFrame):
        none = pd.DataFrame({name: [] for name in edges})
    check_same(graph.update(none, none).persist(), graph)


def test_pairs_of_ids_with_several_columns_need_a_frame():
    edges = pd.DataFrame({"a": [1], "b": [2], "c": "k"})
    graph = gf.Graph(edges, source=["a", "c"], target=["b", "c"])
    for pairs in ([((1, "k"), (3, "k"))], nx.DiGraph([((1, "k"), (3, "k"))])):
        with pytest.raises(exceptions.EdgeListError, match=r"insert is not a frame, .* 2 columns"):
            graph.update(pairs)


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("weight", [None, "w"])
def test_a_batch_may_be_what_edges_returns(width, weight):
    edges = pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"], "c": "k", "w": [1.5, 2.5]})
    ends = {"source": ["a", "c"][:width], "target": ["b", "c"][:width], "weight": weight}
    graph = gf.Graph(edges, **ends).persist()
    for given in (graph.edges(), graph.edges().compute()):
        check_same(graph.update(insert=given, delete=given).persist(), graph)


@pytest.mark.parametrize(
    ("batch", "error", "message"),
    [
        (
            {"insert": [("a", "b")]},
            exceptions.WeightError,
            "insert has no column 'w', and the graph has weights",
        ),
        (  # update() has no option weight=
            {"insert": [("a", "b", 1.0)]},
            exceptions.EdgeListError,
            r"columns=\['source', 'target', 'weight'\]\)$",
        ),
        (
            {"insert": pd.DataFrame({"a": [1], "b": [2], "w": [1.0]})},
            exceptions.VertexTypeError,
            "Give insert ids",
        ),
        (
            {"delete": pd.DataFrame({"x": ["a"], "y": ["b"]})},
            exceptions.UnknownColumnError,
            "source='a' is not .* Give it the columns of the graph: 'a', 'b'",
        ),
        ({"vertices": [1]}, exceptions.VertexTypeError, "vertices"),
        ({"delete": "edges.csv"}, exceptions.EdgeListError, "delete: edges is the path"),
        ({"missing": "skip"}, exceptions.OptionError, "missing='skip'; give 'raise', 'ignore'"),
    ],
)
def test_batches_that_are_refused(history, batch, error, message):
    with pytest.raises(error, match=message):
        history.build().update(**batch)


def test_values_that_the_graph_cannot_hold_are_refused():
    edges = pd.DataFrame({"a": [1], "b": [2], "w": [3]}).astype("int32")
    graph = gf.Graph(edges, source="a", target="b", weight="w")
    with pytest.raises(exceptions.VertexTypeError, match=r"insert .* 5000000000, and .* int32"):
        graph.update(pd.DataFrame({"a": [5 * 10**9], "b": [1], "w": [1]})).persist()
    with pytest.raises(
        exceptions.WeightError, match=r"holds 0.5, and the graph's weights have dtype int64"
    ):
        graph.update(pd.DataFrame({"a": [5], "b": [1], "w": [0.5]})).persist()
    with pytest.raises(exceptions.NullVertexError, match="out of insert"):
        graph.update(
            pd.DataFrame({"a": [None], "b": [1], "w": [0.5]}).astype({"a": "Int64"})
        ).persist()
    with pytest.raises(exceptions.NullVertexError, match="rows out of vertices"):
        graph.update(vertices=pd.Series([1, None], dtype="Int64")).persist()


def test_sums_of_weights_that_do_not_fit_are_refused():
    most = np.iinfo("int64").max
    edges = pd.DataFrame({"a": [1, 2], "b": [2, 3], "w": [most, 1]})
    graph = gf.Graph(edges, source="a", target="b", weight="w", multi="sum").persist()
    fits = graph.update(edges.assign(w=[5, 5]).iloc[1:])
    assert fits.edges().compute()["weight"].tolist() == [most, 6]
    back = pd.DataFrame({"a": [1, 1], "b": [2, 2], "w": [1, -1]})  # only the final sum has to fit
    assert graph.update(back).edges().compute()["weight"].tolist() == [most, 1]
    with pytest.raises(exceptions.WeightError, match="a sum does not fit int64"):
        graph.update(edges.assign(w=[1, 1])).persist()


@pytest.mark.parametrize("members", [1, 2])
@pytest.mark.parametrize("directed", [False, True])
def test_a_saved_graph_and_one_on_disk_can_be_updated(tmp_path, directed, members):
    history = History(np.random.default_rng(4), IDS["text"], directed=directed, weighted=True)
    history.step(300, 0)
    edges = dask.dataframe.from_pandas(history.named(history.table), npartitions=3)
    graph = gf.Graph(edges, **history.options, shards=members, storage="disk").persist()
    graph.save(tmp_path / "graph")
    loaded = gf.load_graph(tmp_path / "graph", shards=members)
    batch = history.step(40, 20)
    want = history.build()
    for one in (graph, loaded):
        check_same(one.update(*batch).persist(), want)
    loaded.update(*batch).save(tmp_path / "later")
    check_same(gf.load_graph(tmp_path / "later").persist(), want.persist())


def test_reversed_and_undirected_graphs_can_be_updated(history):
    graph, batch = history.build().persist(), history.step(30, 20)
    have, want = graph.reverse().update(*batch), history.build().reverse()
    assert have.edges().compute().equals(want.edges().compute())
    undirected = graph.to_undirected()
    new = batch[0].assign(a=batch[0].b, b=batch[0].a)  # in either direction
    have, want = undirected.update(new), undirected.update(batch[0])
    assert have.edges().compute().equals(want.edges().compute())


def test_a_hybrid_graph_cannot_be_updated(history):
    hybrid = gf.Hybrid([0.5, 0.5])
    with pytest.raises(exceptions.UsageError, match="hybrid"):
        history.build(hybrid=hybrid).update()


def test_an_update_on_a_cluster(client, history):
    edges = dask.dataframe.from_pandas(history.named(history.table), npartitions=8)
    graph = gf.Graph(edges, **history.options, shards=2).persist()
    batch = history.step(40, 20)
    insert = dask.dataframe.from_pandas(batch[0], npartitions=3).persist()
    later = graph.update(insert, batch[1]).persist()
    del graph
    have, want = (one.pagerank().compute() for one in (later, history.build()))
    pd.testing.assert_frame_equal(have.reset_index(drop=True), want.reset_index(drop=True))


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_rows_do_not_depend_on_the_threads(monkeypatch, threads):
    monkeypatch.setattr(merge_host, "PER_THREAD", 1)
    rng = np.random.default_rng(6)
    u, v = rng.integers(0, 40, (2, 300)).astype("int32")  # parallel edges are at the cuts
    rows = rows_kernels.of(u).rows(u, v, np.arange(300.0), count=40)
    new, gone = rng.integers(0, 40, (2, 2, 60))
    gone = gone[:, ::2]
    pairs = pairs_of(
        tuple(new), tuple(gone), np.arange(60.0), np.arange(40), undirected=False, threads=1
    )
    how = {"multi": "keep", "threads": threads}
    made = splice(rows, pairs, None, (0, 40), 40, **how).rows
    left = ~np.isin(u * 40 + v, gone[0] * 40 + gone[1])
    columns = zip((u[left], v[left], np.arange(300.0)[left]), (*new, np.arange(60.0)), strict=True)
    whole = [np.concatenate(pair) for pair in columns]
    want = rows_kernels.of(u).rows(*whole, count=40)
    assert all(np.array_equal(*pair) for pair in zip(made, want, strict=True))


def test_nullable_integers_that_are_no_longer_close_together():
    near, far = (pd.DataFrame({"a": [0, 2], "b": [ids, 3]}, dtype="Int64") for ids in (3, 2**40))
    ends = {"source": "a", "target": "b"}
    later = gf.Graph(near, **ends).update(insert=far)
    expected = gf.Graph(pd.concat([near, far]), **ends).edges().compute()
    pd.testing.assert_frame_equal(later.edges().compute(), expected)
