"""Policies: the exact shape of merges, and which chain takes which chunk."""

from __future__ import annotations

import math

import pytest

from dask_graphflow.exceptions import OptionError
from dask_graphflow.tasks import trees


def test_the_tree_of_eight():
    assert trees.tree(8) == [(1, 0), (3, 2), (5, 4), (7, 6), (2, 0), (6, 4), (4, 0)]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 9, 39])
@pytest.mark.parametrize("name", trees.MERGE_POLICIES)
def test_every_forest_is_merged_once_and_reaches_the_first(name, count):
    merges = trees.merge_policy(name)(count)
    assert sorted(source for source, _ in merges) == list(range(1, count))
    gone = set()
    for source, target in merges:
        assert source not in gone
        assert target not in gone
        gone.add(source)
    assert 0 not in gone


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9, 31, 32])
def test_the_depth_of_merges_follows_from_the_policy(count):
    assert trees.depth(trees.tree(count)) == math.ceil(math.log2(count))
    assert trees.depth(trees.one_way(count)) == count - 1
    assert trees.depth(trees.ring(count)) == count - 1


def chunks(inputs, homes, workers=1, chains=1):
    addresses = tuple(f"tcp://{i}" for i in range(workers)) if workers > 1 else (None,)
    return trees.chains(inputs, homes, trees.Slots(addresses, chains))


@pytest.mark.parametrize("name", trees.INPUT_POLICIES)
@pytest.mark.parametrize(("count", "slots"), [(1, 4), (3, 8), (16, 4), (17, 5)])
def test_every_chunk_is_in_one_chain(name, count, slots):
    found = chunks(name, [None] * count, chains=slots)
    assert sorted(chunk for chain in found for chunk in chain.chunks) == list(range(count))
    assert len(found) <= slots
    assert all(chain.chunks for chain in found)


def test_round_robin_deals_and_availability_takes_runs():
    dealt = chunks("round-robin", [None] * 7, workers=3)
    assert [chain.chunks for chain in dealt] == [[0, 3, 6], [1, 4], [2, 5]]
    assert [chain.worker for chain in dealt] == ["tcp://0", "tcp://1", "tcp://2"]
    runs = chunks("availability", [None] * 7, workers=3)
    assert [chain.chunks for chain in runs] == [[0, 1], [2, 3], [4, 5, 6]]
    assert [chain.worker for chain in runs] == [None] * 3


def test_availability_uses_the_workers_that_hold_the_chunks():
    found = chunks("availability", ["x", "y", "x", "y", "y", "x"], workers=2)
    assert [chain.chunks for chain in found] == [[0, 2, 5], [1, 3, 4]]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ("robin", "'availability', 'round-robin'"),
        (["tcp://0"], "1 worker for 3 partitions"),
        (["tcp://0", "tcp://7", "tcp://1"], "'tcp://7'.*'tcp://0', 'tcp://1'"),
    ],
)
def test_an_unknown_input_policy_or_worker_is_refused(inputs, message):
    with pytest.raises(OptionError, match=message):
        chunks(inputs, [None] * 3, workers=2)


def test_an_unknown_merge_policy_is_refused_with_the_names():
    with pytest.raises(OptionError, match=r"'tree', 'one-way', 'ring'"):
        trees.merge_policy("forest")
