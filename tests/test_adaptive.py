"""Merging by where forests lie and how fast workers are: the shapes, what they promise, what is moved."""

from __future__ import annotations

import collections
import os

import numpy as np
import pandas as pd
import pytest
from conftest import frame, partitioned, two_workers
from distributed import Client, wait
from hypothesis import given
from hypothesis import strategies as st
from throttle import throttled

import dask_graphflow as gf
from dask_graphflow.components import merging
from dask_graphflow.scheduling import trees
from dask_graphflow.scheduling.trees import Chain

ENDS = {"source": "a", "target": "b"}
WORKERS = "abcdefgh"


def chain(length, home=None):
    return Chain(list(range(length)), home=home)


def between(chains, merges):
    """Return the merges between two workers."""
    return [(s, t) for s, t in merges if chains[s].at != chains[t].at]


clusters = st.tuples(
    st.lists(
        st.builds(chain, st.integers(1, 20), st.sampled_from(WORKERS)), min_size=1, max_size=24
    ),
    st.fixed_dictionaries({worker: st.floats(0.05, 20) for worker in WORKERS}),
)


@given(st.lists(st.integers(1, 20), min_size=1, max_size=40))
def test_adaptive_merging_without_information_is_the_tree(lengths):
    chains = [chain(length) for length in lengths]
    assert merging.fastest_first(chains) == chains
    assert merging.adaptive(chains) == trees.tree(len(chains))


@given(clusters, st.booleans())
def test_every_forest_ends_in_the_first_and_each_worker_sends_one(cluster, barrier):
    chains, speeds = cluster
    ordered = merging.fastest_first(chains, speeds)
    merges = merging.adaptive(ordered, speeds, barrier=barrier)
    assert sorted(map(id, (c.chunks for c in ordered))) == sorted(id(c.chunks) for c in chains)
    assert sorted(source for source, _ in merges) == list(range(1, len(chains)))
    gone = set()
    for source, target in merges:
        assert not {source, target} & gone
        gone.add(source)
    workers = {one.at for one in chains}
    assert speeds[ordered[0].at] == max(speeds[worker] for worker in workers)
    if merges == trees.tree(len(chains)):  # in some cases, with more than one from each
        return
    sent = collections.Counter(ordered[source].at for source, _ in between(ordered, merges))
    assert sent == collections.Counter(workers - {ordered[0].at})
    assert all(speeds[ordered[s].at] <= speeds[ordered[t].at] for s, t in between(ordered, merges))


@given(clusters, st.booleans())
def test_an_adaptive_merge_is_expected_to_end_no_later_than_the_tree(cluster, barrier):
    chains, speeds = cluster
    chains = merging.fastest_first(chains, speeds)
    merges, tree = merging.adaptive(chains, speeds, barrier=barrier), trees.tree(len(chains))
    ends = [merging.makespan(chains, one, speeds, barrier=barrier) for one in (merges, tree)]
    assert ends[0] <= ends[1] * (1 + 1e-9)


def test_workers_that_are_ready_early_do_not_wait_for_a_slow_one():
    chains = [chain(4, worker) for worker in "abcd"]
    speeds = {"a": 4.0, "b": 0.2, "c": 2.0, "d": 2.0}
    ordered = merging.fastest_first(chains, speeds)
    assert [one.at for one in ordered] == ["a", "c", "d", "b"]
    early = merging.adaptive(ordered, speeds, barrier=False)
    assert early == [(1, 0), (2, 0), (3, 0)]
    tree = trees.tree(4)  # the third waits for the slow one
    assert tree == [(1, 0), (3, 2), (2, 0)]
    ends = [merging.makespan(ordered, one, speeds, barrier=False) for one in (early, tree)]
    assert ends == pytest.approx([20 + 1 + 1 / 4, 20 + 2 + 1 / 2 + 1 / 4])


# On workers


@pytest.fixture(scope="module")
def client():
    with two_workers(threads=2) as cluster, Client(cluster) as client:
        yield client


VERTICES = 40_000
CHAINS = 4


def moved(dask_worker):
    """Return how many forests this worker was sent to be merged, and begin anew."""
    entries = [entry["keys"].items() for entry in dask_worker.transfer_incoming_log]
    dask_worker.transfer_incoming_log.clear()
    # All but the last one, which may be sent to be labelled.
    return sum(
        size > VERTICES and not (key[0].startswith("merge-") and key[1] == CHAINS - 2)
        for keys in entries
        for key, size in keys
        if isinstance(key, tuple)
    )


@pytest.fixture
def edges(rng):
    return frame(rng.integers(0, VERTICES, (VERTICES, 2)))


@pytest.mark.parametrize(
    ("inputs", "merge", "times"),
    [("round-robin", "adaptive", 1), ("held", "adaptive", 1), ("round-robin", "tree", 2)],
)
def test_a_forest_is_moved_once_for_each_worker_but_one(client, edges, inputs, merge, times):
    parts = partitioned(edges, 8)
    if inputs == "held":
        parts, inputs = parts.persist(), "availability"
        wait(parts)
    labels = gf.connected_components(parts, **ENDS, inputs=inputs, merge=merge, renumber=False)
    assert len(labels.expr.frame.operand("chains")) == CHAINS
    client.run(moved)
    labels.compute()
    assert sum(client.run(moved).values()) == times


def test_the_same_bits_where_a_worker_is_slow(client, edges):
    expected = gf.connected_components(edges, **ENDS).compute(scheduler="sync")
    slow = next(iter(client.run(os.getpid).values()))
    with throttled(slow, 0.3):
        for inputs in ("round-robin", "availability"):
            labels = gf.connected_components(
                partitioned(edges, 8), **ENDS, inputs=inputs, merge="adaptive"
            )
            pd.testing.assert_frame_equal(labels.compute().reset_index(drop=True), expected)
    assert np.all(expected.component <= expected.vertex)
