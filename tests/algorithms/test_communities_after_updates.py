"""Communities after updates: only vertices around changes are looked at, if the earlier result fits."""

from __future__ import annotations

import dask
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, frame, partitioned
from shapes import rmat, traced
from test_communities import METHODS, connected, network, parts, planted

import dask_graphflow as gf
from dask_graphflow.algorithms.communities.around import Around
from dask_graphflow.graph import partition
from dask_graphflow.kernels.groups import host as host_groups
from dask_graphflow.operators.labels import coarser

pytestmark = pytest.mark.usefixtures("host_memory")

KINDS = {  # of graphs
    "undirected": {"directed": False},
    "directed": {"directed": True},
    "weighted": {"directed": False, "weight": "w", "multi": "sum"},
}


@pytest.fixture(autouse=True)
def fine(monkeypatch):
    monkeypatch.setattr(partition, "GRAIN", 64)


def weighted(edges):
    return edges.assign(w=1.0 + (edges.a * 7 + edges.b) % 5)


def text(edges):
    return edges.assign(a=edges.a.map("v{:04}".format), b=edges.b.map("v{:04}".format))


class Changes:
    """A table of edges that changes, and the graph that follows it."""

    def __init__(self, edges, *, members=1, **how):
        edges = weighted(edges).sample(frac=1, random_state=0, ignore_index=True)
        cut = int(0.8 * len(edges))
        self.table, self._later = edges[:cut], edges[cut:]
        self._rng = np.random.default_rng(0)
        self.graph = gf.Graph(partitioned(text(self.table), 3), **ENDS, shards=members, **how)

    def step(self, inserts, deletes):
        new, self._later = self._later[:inserts], self._later[inserts:]
        pairs = self.table.drop_duplicates(["a", "b"])
        gone = pairs.iloc[self._rng.choice(len(pairs), deletes, replace=False)]
        # A delete removes the edges of both directions, if the graph is undirected.
        turned = zip([*gone.a, *gone.b], [*gone.b, *gone.a], strict=True)
        named = {*turned} if not self.graph.directed else {*zip(gone.a, gone.b, strict=True)}
        stay = [pair not in named for pair in zip(self.table.a, self.table.b, strict=True)]
        self.table = pd.concat([self.table[stay], new], ignore_index=True)
        self.graph = self.graph.update(insert=text(new), delete=text(gone)).persist()


@METHODS
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("edges", ["skewed", "planted"])
def test_the_modularity_stays_as_high_as_from_scratch(method, kind, edges):
    how, made = KINDS[kind], frame(rmat(10) if edges == "skewed" else planted(24))
    now = Changes(made, **how)
    found = getattr(now.graph, method)().compute()
    for step in range(12):
        now.step(4 + step % 9, step % 4)
        found = getattr(now.graph, method)(previous=found).compute()
        if method == "leiden":
            graph = network(text(now.table))
            graph.add_nodes_from(found.vertex)
            assert connected(graph, found)
    table = text(now.table)
    graph = network(table if "weight" in how else table[["a", "b"]], how["directed"])
    graph.add_nodes_from(found.vertex)
    scratch = [getattr(now.graph, method)(seed=seed).compute() for seed in range(4)]
    quality, *others = (nx.community.modularity(graph, parts(one)) for one in (found, *scratch))
    assert quality >= min(others) - 0.002


@METHODS
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("small", [0, 1 << 20], ids=["cut", "whole"])
def test_members_and_threads_find_the_same_communities(method, kind, small, monkeypatch):
    monkeypatch.setattr(coarser, "SMALL_GRAPH", small)
    monkeypatch.setattr(host_groups, "SMALL", 0)  # edges, below which one thread does all the work
    found = []
    for members, threads in ((1, 1), (1, 3), (2, 1), (3, 1)):
        with dask.config.set(scheduler="threads", num_workers=members * threads):
            now = Changes(frame(rmat(10)), members=members, **KINDS[kind])
            result = getattr(now.graph, method)().compute()
            for _ in range(3):
                now.step(30, 10)
                result = getattr(now.graph, method)(previous=result).compute()
        found.append(result.reset_index(drop=True))
    for other in found[1:]:
        pd.testing.assert_frame_equal(found[0], other)


@pytest.fixture
def looked(monkeypatch):
    """Return a list, to which each call adds how many vertices it looks at first around changes."""
    counts, make = [], Around.of.__func__

    def of(cls, *given):
        around = make(cls, *given)
        counts.append(int(around.awake.sum()))
        return around

    monkeypatch.setattr(Around, "of", classmethod(of))
    return counts


def two_versions(**how):
    """Return a graph of dense groups and the one after an update that inserts 3 edges and deletes one."""
    base = gf.Graph(frame(planted(16)), **ENDS, directed=False, **how).persist()
    new = pd.DataFrame({"a": [0, 40, 700], "b": [33, 500, 701]})
    return base, base.update(insert=new, delete=frame(planted(16)[:1])).persist()


@METHODS
@pytest.mark.parametrize("name", ["computed", "lazy", "shuffled"])
def test_only_vertices_around_changes_are_looked_at(method, name, looked):
    base, later = two_versions()
    earlier = getattr(base, method)()
    previous = {
        "computed": earlier.compute,
        "lazy": lambda: earlier,
        "shuffled": lambda: earlier.compute().sample(frac=1, random_state=1),
    }[name]()
    found, steps = traced(getattr(later, method)(previous=previous, trace=True))
    named = {0, 33, 40, 500, 700, 701, *planted(16)[0]}
    assert set(looked) == {steps.frontier.iloc[0]} == {len(named)}
    before = parts(earlier.compute())
    untouched = [part for part in before if not part & named]
    assert len(untouched) > 8
    assert all(part in parts(found) for part in untouched)


@METHODS
def test_an_update_that_changes_nothing_moves_nothing(method, looked):
    base, _ = two_versions()
    earlier = getattr(base, method)().compute()
    same = base.update(delete=frame([(900, 901)]), missing="ignore")
    found = getattr(same, method)(previous=earlier).compute()
    pd.testing.assert_frame_equal(found, earlier)
    assert looked == [0]


OTHERS = {
    "of other options": lambda base, now, run: run(base, seed=3),
    "without attrs": lambda base, now, run: pd.DataFrame(run(base).to_dict("series")),
    "without some rows": lambda base, now, run: run(base)[5:],
    "of the same graph": lambda base, now, run: run(now),
    "of two versions before": lambda base, now, run: run(base),
}


@METHODS
@pytest.mark.parametrize("name", OTHERS)
def test_all_vertices_are_looked_at_from_another_result(method, name, looked):
    def run(graph, **options):
        return getattr(graph, method)(**options).compute()

    base, now = two_versions()
    previous = OTHERS[name](base, now, run)
    if "two" in name:
        now = now.update(insert=frame([(3, 90)])).persist()
    found, steps = traced(getattr(now, method)(previous=previous, trace=True))
    assert not looked
    assert steps.frontier.iloc[0] == len(found)


@METHODS
def test_all_vertices_are_looked_at_for_several_columns(method, looked):
    base, now = two_versions()
    options = {"resolution": [1.0, 2.0]}, {"levels": 2}, {"levels": 2, "resolution": [1.0, 2.0]}
    for several in options:
        earlier = getattr(base, method)(**several).compute()
        getattr(now, method)(**several, previous=earlier.iloc[:, [0, -1]]).compute()
    assert not looked


@pytest.mark.parametrize("gone", ["bridge", "all edges of a vertex", "all edges"])
def test_a_community_that_loses_edges_is_connected(gone):
    groups = [nx.complete_graph(range(low, low + 6)).edges for low in (0, 6, 20, 26)]
    inner = [pair for group in groups for pair in group]
    edges = [*inner, *[(i, i + 6) for i in range(6)]]
    bridges = {
        "bridge": [(i, i + 6) for i in range(6)],
        "all edges of a vertex": [pair for pair in edges if 3 in pair],
        "all edges": edges,
    }[gone]
    graph = gf.Graph(frame(edges), **ENDS, directed=False)
    earlier = graph.leiden(resolution=0.1)
    later = graph.update(delete=frame(bridges))
    found = later.leiden(resolution=0.1, previous=earlier).compute()
    left = nx.Graph([pair for pair in edges if pair not in bridges])
    left.add_nodes_from(found.vertex)
    assert connected(left, found)
    assert len(parts(found)) == {"bridge": 4, "all edges of a vertex": 4, "all edges": 24}[gone]
