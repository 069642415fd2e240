"""Chains that run again on another worker, after their own worker was lost.

A chain hooks its edges into a forest that all chains of its worker share. If it runs again on another
worker, it may therefore end with other connections and with ids in another form. Here, the chains and the
members of the gang are called one after another, as on a cluster. The labels must be right in every case.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from conftest import as_dict, frame, on_backend, oracle, to_host
from hypothesis import given, settings
from hypothesis import strategies as st

from dask_graphflow.calls.components.connected_components import Components
from dask_graphflow.calls.components.members import ComponentsMember, Streams
from dask_graphflow.comm.channel import in_process
from dask_graphflow.graph import renumber
from dask_graphflow.inputs.edges import check_edges
from dask_graphflow.tasks import trees
from dask_graphflow.tasks.expr import Empty
from dask_graphflow.tasks.gang_expr import Found

FAR = 10**12  # ids here and there are too far apart to be dense


class Workers:
    """Two workers, the chains that have run on them, and a member of a gang on each."""

    def __init__(self, chains, workers):
        empty = on_backend(frame([]))
        columns = check_edges(empty, "a", "b").frames[0][1]
        self.steps = Components(
            (columns,), ("vertex", "component"), partitions=sum(map(len, chains))
        )
        edges = Streams(self.steps, Empty.of(empty))
        self.member = ComponentsMember(self.steps, edges, trees.merge_policy("tree")(2), 1, 1)
        self.chains, self.on = chains, list(workers)
        self.starts = [self.steps.start(), self.steps.start()]
        self.found = [None] * len(chains)
        for chain in range(len(chains)):
            self.run(chain)

    def run(self, chain):
        """Run a chain on its worker."""
        state = self.starts[self.on[chain]]
        for chunk in self.chains[chain]:
            state = self.steps.hook(state, on_backend(frame(chunk)), 0)
        self.found[chain] = state

    def labels(self, members=(0, 1)):
        """Return the labels that the members on some workers find. There are two, maybe on one worker."""

        def member(channel):
            at = members[channel.rank]
            here = {c: self.found[c] for c, worker in enumerate(self.on) if worker == at}
            shard = Found(here, len(self.found), self.found.__getitem__)
            return to_host(self.member(channel, shard, channel.rank))

        with ThreadPoolExecutor(2) as pool:
            return as_dict(pd.concat(pool.map(member, in_process(2))))

    def lose(self, worker, again=None):
        """Lose a worker, and run its chains on the other one."""
        for chain in again or [c for c, at in enumerate(self.on) if at == worker]:
            self.on[chain] = 1 - worker
            self.run(chain)


def pairs_of(chains):
    """Return the edges of all chains."""
    return [pair for chunks in chains for chunk in chunks for pair in chunk]


NEAR_ONE, NEAR_TWO = [[(1, 2), (2, 3)], [(9, 3)]], [[(700, 701)], [(9, 700), (4, 4)]]
FAR_ONE, FAR_TWO = [[(FAR, 2 * FAR)]], [[(3 * FAR, 2 * FAR)], [(5 * FAR, -FAR)]]
MIXED_ONE, MIXED_TWO = [[(1, 2), (2, 3)], [(FAR, 1)]], [[(700, 701)], [(FAR + 5, 700)]]
CHAINS = {
    "dense": [NEAR_ONE, NEAR_TWO],
    "far apart": [FAR_ONE, FAR_TWO],
    "mixed on each worker": [MIXED_ONE, MIXED_TWO],
    "mixed from worker to worker": [NEAR_ONE, FAR_TWO],
}


@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize("chains", CHAINS.values(), ids=CHAINS)
def test_chains_of_a_lost_worker_run_again_and_change_nothing(chains, lost, begun):
    workers, expected = Workers(chains, [0, 1]), oracle(pairs_of(chains))
    if begun:
        assert workers.labels() == expected
    workers.lose(lost)
    for members in ((0, 1), (1, 0), (1 - lost, 1 - lost)):
        assert workers.labels(members) == expected


@pytest.mark.parametrize("chains", CHAINS.values(), ids=CHAINS)
def test_forests_of_a_worker_without_a_member_are_fetched(chains):
    assert Workers(chains, [0, 1]).labels([1, 1]) == oracle(pairs_of(chains))


def test_a_chain_that_runs_again_does_not_change_a_forest_that_members_use():
    workers = Workers([NEAR_ONE, NEAR_TWO], [0, 1])
    workers.labels()
    workers.lose(0)
    first, second = workers.found[1].dense, workers.found[0].dense
    assert first is not second
    assert first.closed
    assert not second.closed


@pytest.mark.parametrize("lost", [0, 1])
def test_ids_that_are_dense_all_together_may_be_far_apart_for_a_chunk(lost, monkeypatch):
    monkeypatch.setattr(renumber, "SPARE_IDS", 64)
    # A chunk of one edge is dense alone, but not together with the many ids of the others.
    ids = np.random.default_rng(0).integers(0, 6000, (900, 2)).tolist()
    chains = [[[*map(tuple, ids)]], [[(6501, 6502)]]]
    workers = Workers(chains, [0, 1])
    workers.lose(lost)
    assert workers.labels() == oracle(pairs_of(chains))


CHUNK = st.lists(
    st.tuples(*2 * [st.sampled_from([*range(12), *(FAR * i for i in range(1, 5))])]), max_size=4
)
ANY_CHAINS = st.lists(st.lists(CHUNK, min_size=1, max_size=3), min_size=2, max_size=4)


@settings(max_examples=60, deadline=None)
@given(chains=ANY_CHAINS, data=st.data())
def test_for_any_edges_the_labels_are_right(chains, data):
    homes = [data.draw(st.integers(0, 1), f"worker of chain {i}") for i in range(len(chains))]
    workers, expected = Workers(chains, homes), oracle(pairs_of(chains))
    if data.draw(st.booleans(), "members have begun"):
        assert workers.labels() == expected
    lost = data.draw(st.integers(0, 1), "lost")
    again = [chain for chain, worker in enumerate(homes) if worker == lost]
    workers.lose(lost, data.draw(st.permutations(again), "again"))
    members = data.draw(st.sampled_from([(0, 1), (1, 0), (0, 0), (1, 1)]), "members")
    assert workers.labels(members) == expected
