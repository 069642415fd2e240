"""Chains that run again on another worker, after their own worker was lost.

A chain hooks its edges into a forest that all chains of its worker share. If it runs again on another
worker, its fragment can therefore contain further connections. Here, the steps are called one after
another, as on a cluster. The worker is lost where this does most harm: after the ids were numbered.
"""

from __future__ import annotations

import numpy as np
import pytest
from conftest import ENDS, as_dict, frame, on_backend, oracle, partitioned, to_host
from hypothesis import given, settings
from hypothesis import strategies as st

import dask_graphflow as gf
from dask_graphflow.exceptions import WorkerLostError
from dask_graphflow.graph import renumber

FAR = 10**12  # ids here and there are too far apart to be dense


def program(chains):
    """Return the steps of a call whose partitions are chunks."""
    count = sum(len(chunks) for chunks in chains)
    edges = partitioned(frame(pairs_of(chains)), count)
    labels = gf.connected_components(on_backend(edges), **ENDS)
    return labels.expr.frame.operand("program")


def find(steps, shared, chunks):
    """Run a chain on the worker whose chains share that."""
    state = shared
    for chunk in chunks:
        state = steps.hook(state, on_backend(frame(chunk)), 0)
    return steps.close(state)


def recovered(chains, workers, again, cut_before=True):
    """Return the labels if a worker is lost after the numbering and its chains run on the other one.

    Parameters
    ----------
    chains : list of list of chunks
        A chunk is a list of pairs.
    workers : list of int
        Where each chain runs first, worker 0 or 1.
    again : list of int
        The chains that run again, in that order; those of the lost worker whose results are needed.
    cut_before : bool
        Whether the owner of the ids has received all of them before the loss.
    """
    steps = program(chains)
    shared = [steps.start(), steps.start()]
    found = [find(steps, shared[w], chunks) for w, chunks in zip(workers, chains, strict=True)]
    numbering = steps.number([steps.survey(fragment) for fragment in found], 1)

    def own():
        return steps.own([steps.piece([fragment], numbering, 0) for fragment in found])

    owned = own() if cut_before else None
    for chain in again:
        found[chain] = find(steps, shared[1 - workers[chain]], chains[chain])
    owned = owned if cut_before else own()
    sizes = [steps.size(owned)]
    merged, *others = (
        steps.renumber(fragment, numbering, chain, sizes, [steps.codes(owned, chain, 1)])
        for chain, fragment in enumerate(found)
    )
    for other in others:
        merged = steps.merge(merged, other)
    labels = steps.label(steps.finish(merged), owned, numbering, sizes, 0, [])
    return as_dict(to_host(labels))


def pairs_of(chains):
    """Return the edges of all chains."""
    return [pair for chunks in chains for chunk in chunks for pair in chunk]


NEAR_ONE, NEAR_TWO = [[(1, 2), (2, 3)], [(9, 3)]], [[(700, 701)], [(9, 700), (4, 4)]]
FAR_ONE, FAR_TWO = [[(FAR, 2 * FAR)]], [[(3 * FAR, 2 * FAR)], [(5 * FAR, -FAR)]]
MIXED_ONE, MIXED_TWO = [[(1, 2), (2, 3)], [(FAR, 1)]], [[(700, 701)], [(FAR + 5, 700)]]


@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize("cut_before", [True, False])
@pytest.mark.parametrize(
    "chains", [[NEAR_ONE, NEAR_TWO], [FAR_ONE, FAR_TWO]], ids=["dense", "far apart"]
)
def test_a_chain_that_runs_again_on_another_worker_finds_the_same(chains, lost, cut_before):
    assert recovered(chains, [0, 1], [lost], cut_before) == oracle(pairs_of(chains))


@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize("cut_before", [True, False])
@pytest.mark.parametrize(
    "chains",
    [[MIXED_ONE, MIXED_TWO], [NEAR_ONE, FAR_TWO]],
    ids=["on each worker", "from worker to worker"],
)
def test_an_error_about_mixed_ids_explains_the_conversion(chains, lost, cut_before):
    with pytest.raises(WorkerLostError, match="compute the result again"):
        recovered(chains, [0, 1], [lost], cut_before)


@pytest.mark.parametrize("lost", [0, 1])
def test_ids_that_are_dense_all_together_may_be_far_apart_for_a_chunk(lost, monkeypatch):
    monkeypatch.setattr(renumber, "SPARE_IDS", 64)
    # A chunk of one edge is dense alone, but not together with the many ids of the others.
    ids = np.random.default_rng(0).integers(0, 6000, (900, 2)).tolist()
    chains = [[[*map(tuple, ids)]], [[(6501, 6502)]]]
    assert recovered(chains, [0, 1], [lost]) == oracle(pairs_of(chains))


def test_ids_of_equal_number_and_sum_are_distinguished():
    # The last chain listed the dense ids 5 and 6 with its own, and lists 4 and 7 when it runs again.
    chains = [[[(4, 7)], [(2 * FAR, 4)]], [[(5, 6)], [(3 * FAR, 5)]], [[(FAR, 1)]]]
    with pytest.raises(WorkerLostError):
        recovered(chains, [0, 1, 1], [2])


CHUNK = st.lists(
    st.tuples(*2 * [st.sampled_from([*range(12), *(FAR * i for i in range(1, 5))])]), max_size=4
)
CHAINS = st.lists(st.lists(CHUNK, min_size=1, max_size=3), min_size=2, max_size=4)


@settings(max_examples=60, deadline=None)
@given(chains=CHAINS, data=st.data())
def test_for_any_edges_the_labels_are_right_or_the_expected_error_is_raised(chains, data):
    workers = [data.draw(st.integers(0, 1), f"worker of chain {i}") for i in range(len(chains))]
    lost = data.draw(st.integers(0, 1), "lost")
    again = [chain for chain, worker in enumerate(workers) if worker == lost]
    again = data.draw(st.permutations(again), "again")
    pairs = pairs_of(chains)
    try:
        found = recovered(chains, workers, again, data.draw(st.booleans(), "cut before"))
    except WorkerLostError:
        assert any(max(pair) >= FAR for pair in pairs)  # dense ids are always found again
        return
    assert found == oracle(pairs)
