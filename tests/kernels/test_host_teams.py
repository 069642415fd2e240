"""Threads that run a loop in one call meet between its steps."""

from __future__ import annotations

import time

import numpy as np
import pytest

from dask_graphflow.kernels.compiling import compiled
from dask_graphflow.kernels.host_teams import MEMBERS, OWN, enter, meet, together

TOO_EARLY, ITEMS = OWN, 1000


@compiled
def _count(counts, steps, team, part):
    me, members = enter(team, part)
    if me < 0:
        return
    for step in range(steps):
        for i in range(ITEMS * me // members, ITEMS * (me + 1) // members):
            counts[i] += 1
        meet(team, members)
        for i in range(ITEMS):
            if counts[i] != step + 1:
                team[TOO_EARLY] += 1
        meet(team, members)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_member_sees_what_all_wrote_before_they_met(threads):
    for _ in range(20):
        counts = np.zeros(ITEMS, np.int64)
        team = together(_count, threads, counts, 50, own=1)
        assert (counts == 50).all()
        assert team[TOO_EARLY] == 0
        assert 1 <= team[MEMBERS] % (1 << 32) <= threads


def test_a_thread_that_comes_too_late_does_nothing():
    counts = np.zeros(ITEMS, np.int64)
    team = together(_count, 1, counts, 3, own=1)
    _count(counts, 3, team, 1)
    assert (counts == 3).all()


def test_no_member_waits_for_a_leader_that_fails_before_it_begins():
    counts = np.zeros(ITEMS, np.int64)
    together(_count, 2, counts, 1, own=1)  # compiles it

    def kernel(team, part):
        if part:
            _count(counts, 1, team, part)
            return
        while team[MEMBERS] == 1:
            time.sleep(0.001)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        together(kernel, 2, own=1)
    assert (counts == 1).all()
