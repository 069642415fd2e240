"""PageRank from earlier ranks: as exact as from scratch, with the same bits for members and threads."""

from __future__ import annotations

import dask
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, fewer, frame, partitioned
from shapes import traced

import dask_graphflow as gf
from dask_graphflow.exceptions import ConvergenceError, EdgeListError, OptionError
from dask_graphflow.graph import partition
from dask_graphflow.operators.pull import rank_changes

pytestmark = pytest.mark.usefixtures("host_memory")

TOL = 1e-9
EXACT = {"tol": 1e-14, "max_iter": 1000}
KINDS = {  # of graphs, and of calls
    "undirected": ({"directed": False}, {}),
    "directed": ({"directed": True}, {}),
    "weighted": ({"directed": True, "weight": "w"}, {"alpha": 0.6}),
    "restarts": ({"directed": True}, {"personalization": {"3": 1, "20": 4}}),
    "dangling": ({"directed": True, "weight": "w"}, {"dangling": {"5": 1}}),
}


@pytest.fixture(autouse=True)
def fine(monkeypatch):
    monkeypatch.setattr(partition, "GRAIN", 64)


@pytest.fixture(params=[0.0, 0.05, 10.0], ids=["full iterations", "both", "steps"])
def dense(request, monkeypatch):
    """Let full iterations begin at different parts of the edges."""
    monkeypatch.setattr(rank_changes, "DENSE", request.param)


def ring(count):
    """Return edges of a ring with chords: changes do not get far at once."""
    at = np.arange(count)
    ends = np.concatenate([at, at[::5]]), np.concatenate([(at + 1) % count, (at[::5] + 3) % count])
    return pd.DataFrame({"a": ends[0], "b": ends[1], "w": 1.0 + at[ends[0]] % 7})


def text(table):
    return table.assign(a=table.a.astype("str"), b=table.b.astype("str"))


@pytest.mark.parametrize("kind", KINDS)
def test_ranks_after_a_chain_of_updates_are_as_exact_as_from_scratch(kind, dense):
    how, call = KINDS[kind]
    rng, table = np.random.default_rng(1), ring(300)
    graph = gf.Graph(text(table), **ENDS, **how, shards=1).persist()
    ranks = graph.pagerank(tol=TOL, max_iter=1000, **call).compute()
    for step in range(20):
        gone = table.sample(step % 3, random_state=step)
        new = pd.DataFrame({"a": rng.integers(0, 310, 2), "b": rng.integers(0, 310, 2), "w": 2.5})
        table = pd.concat([table.drop(gone.index), new], ignore_index=True)
        batch = {"delete": text(gone)} if len(gone) else {}
        graph = graph.update(insert=text(new), **batch, missing="ignore").persist()
        ranks = graph.pagerank(tol=TOL, max_iter=1000, previous=ranks, **call).compute()
        exact = graph.pagerank(**EXACT, **call).compute()
        assert ranks.vertex.equals(exact.vertex)
        assert (ranks.pagerank >= 0).all()
        alpha = call.get("alpha", 0.85)
        error = np.abs(ranks.pagerank - exact.pagerank).sum()
        assert error <= alpha / (1 - alpha) * TOL * len(ranks)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_bits_for_every_number_of_members_and_threads(kind, dense):
    how, call = KINDS[kind]
    found = set()
    for count in (1, 2, 3):
        graph = gf.Graph(partitioned(text(ring(400)), 3), **ENDS, **how, shards=count)
        earlier = graph.pagerank(tol=TOL, max_iter=1000, **call).compute()
        new = graph.update(insert=text(ring(7)), delete=text(ring(400)[90:92])).persist()
        for threads in fewer((1, 3), (1,)):
            with dask.config.set(num_workers=threads * count):
                ranks = new.pagerank(tol=TOL, max_iter=1000, previous=earlier, **call).compute()
            found.add(ranks.pagerank.to_numpy().tobytes())
    assert len(found) == 1


@pytest.mark.parametrize("members", [1, 3])
def test_steps_of_few_vertices_replace_full_iterations(members):
    table = ring(3000)
    graph = gf.Graph(partitioned(table, 3), **ENDS, directed=False, shards=members)
    earlier = graph.pagerank(tol=TOL, max_iter=1000).compute()
    new = graph.update(delete=table[1500:1501]).persist()
    options = {"tol": TOL, "max_iter": 1000, "trace": True}
    _, steps = traced(new.pagerank(previous=earlier, **options))
    _, other = traced(new.pagerank(nstart=earlier, **options))
    assert (steps.direction == "pull").sum() == 1
    assert (steps.direction == "push").sum() > 10
    assert (other.direction == "pull").sum() > 10
    assert steps.edges.sum() < other.edges.sum() / 5


def test_new_vertices_have_an_equal_part_and_ids_that_are_gone_are_left_out():
    graph = gf.Graph(frame([(0, 1), (1, 2), (2, 3), (3, 0)]), **ENDS, directed=True, shards=1)
    earlier = pd.DataFrame({"v": [9, 2, 0, 1], "p": [5.0, 0.5, 0.25, 0.0]})
    found = graph.pagerank(previous=earlier, alpha=1, tol=None, max_iter=1).compute()
    # 3 is new, and 9 is gone. Each rank goes on along the ring.
    assert found.pagerank.tolist() == [0.25, 0.25, 0.0, 0.5]


def test_narrow_floats_start_from_earlier_ranks():
    graph = gf.Graph(ring(100), **ENDS, directed=True, shards=1)
    earlier = graph.pagerank(**EXACT).compute()
    narrow = {"precision": "float32", "tol": 1e-6}
    found, steps = traced(graph.pagerank(previous=earlier, trace=True, **narrow))
    np.testing.assert_allclose(found.pagerank, earlier.pagerank, rtol=1e-4)
    assert len(steps) == 1


@pytest.mark.parametrize("alpha", [0.85, 1])
def test_steps_end_at_max_iter(alpha, monkeypatch):
    monkeypatch.setattr(rank_changes, "DENSE", 10.0)
    graph = gf.Graph(ring(100), **ENDS, directed=True, shards=1)
    earlier = graph.pagerank(max_iter=50).compute()
    new = graph.update(insert=pd.DataFrame({"a": [7], "b": [50]}))
    with pytest.raises(ConvergenceError, match="max_iter"):
        new.pagerank(previous=earlier, alpha=alpha, tol=1e-15, max_iter=3).compute()


@pytest.mark.parametrize(
    ("previous", "error", "match"),
    [
        ({"v": [0, 1, 1], "p": [1.0, 2.0, 3.0]}, EdgeListError, "several rows"),
        ({"v": [0, 1], "p": [1.0, -2.0]}, OptionError, "negative"),
        ({"v": [0, 1], "p": [0.0, 0.0]}, OptionError, "all 0"),
        ({"v": [0, 1], "p": ["x", "y"]}, OptionError, "a number for each id"),
        ({"v": [0, 1], "p": [1.0, 2.0], "q": [1, 2]}, OptionError, "has 3 columns"),
    ],
)
def test_frames_that_are_not_ranks_are_refused(previous, error, match):
    graph = gf.Graph(frame([(0, 1), (1, 2)]), **ENDS, directed=True, shards=1)
    with pytest.raises(error, match=match):
        graph.pagerank(previous=pd.DataFrame(previous)).compute()


def test_ranks_start_from_only_one_option():
    graph = gf.Graph(frame([(0, 1), (1, 2)]), **ENDS, directed=True, shards=1)
    ranks = graph.pagerank().compute()
    with pytest.raises(OptionError, match="only one of them"):
        graph.pagerank(previous=ranks, nstart=ranks).compute()
