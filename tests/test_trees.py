"""Policies: the exact shape of merges, and which chain takes which chunk."""

from __future__ import annotations

import math

import pytest

from dask_graphflow.dataflow import trees
from dask_graphflow.exceptions import OptionError


def test_the_tree_of_eight():
    assert trees.tree(8) == [(1, 0), (3, 2), (5, 4), (7, 6), (2, 0), (6, 4), (4, 0)]


@pytest.mark.parametrize("count", range(1, 40))
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
def test_depth(count):
    assert trees.depth(trees.tree(count)) == math.ceil(math.log2(count))
    assert trees.depth(trees.one_way(count)) == count - 1
    assert trees.depth(trees.ring(count)) == count - 1


@pytest.mark.parametrize("name", trees.INPUT_POLICIES)
@pytest.mark.parametrize(("chunks", "slots"), [(1, 4), (3, 8), (16, 4), (17, 5)])
def test_every_chunk_is_in_one_chain(name, chunks, slots):
    chains = trees.input_policy(name)([None] * chunks, slots, 1)
    assert sorted(chunk for chain in chains for chunk in chain) == list(range(chunks))
    assert len(chains) <= slots
    assert all(chains)


def test_round_robin_deals_and_availability_takes_runs():
    assert trees.round_robin([None] * 7, 3, 4) == [[0, 3, 6], [1, 4], [2, 5]]
    assert trees.availability([None] * 7, 3, 4) == [[0, 1], [2, 3], [4, 5, 6]]


def test_availability_keeps_to_where_the_chunks_lie():
    chains = trees.availability(["x", "y", "x", "y", "y", "x"], 2, 4)
    assert chains == [[0, 2, 5], [1, 3, 4]]


def test_availability_has_spare_chains_where_they_stay_long():
    assert [len(c) for c in trees.availability([None] * 64, 2, 4)] == [8] * 8
    assert len(trees.availability([None] * 8, 2, 4)) == 2
    assert len(trees.availability([None] * 10_000, 2, 4)) == 8
    assert len(trees.availability(["x", "y"] * 32, 2, 4)) == 2  # they lie where they lie


@pytest.mark.parametrize("choose", [trees.merge_policy, trees.input_policy])
def test_an_unknown_policy_is_refused_with_the_names(choose):
    with pytest.raises(OptionError, match=r"'[a-z-]+', '[a-z-]+'"):
        choose("forest")
