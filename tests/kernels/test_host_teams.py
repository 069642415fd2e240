"""Threads that run a loop in one call meet between its steps."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from dask_graphflow.kernels.compiling import compiled
from dask_graphflow.kernels.host_teams import (
    MEMBERS,
    OWN,
    STATE,
    begin,
    end,
    enter,
    load,
    pause,
    together,
)
from dask_graphflow.kernels.host_threads import even_turns, take

TOO_EARLY, STEP, ITEMS = OWN, OWN + 1, 1000


@compiled
def _count(counts, steps, ranges, team, part):
    me, met = enter(team, part)
    if me < 0:
        return
    while True:
        if me == 0:
            for i in range(ranges.shape[1]):
                ranges[0, i] = ranges[1, i]
        begin(team, me, met)
        step = team[STEP]
        if step == steps:
            return
        start, stop = take(ranges[0], me, 8)
        while start < stop:
            for i in range(start, stop):
                counts[i] += 1
            start, stop = take(ranges[0], me, 8)
        _, met = end(team, me)
        for i in range(ITEMS):
            if counts[i] != step + 1:
                team[TOO_EARLY] += 1
        if me == 0:
            team[STEP] = step + 1


def count(steps, threads):
    """Count to `steps` in a team; return the counts, the ranges and the numbers of the team."""
    counts, ranges = np.zeros(ITEMS, np.int64), np.tile(even_turns(ITEMS, threads), (2, 1))
    return counts, ranges, together(_count, threads, counts, steps, ranges, own=2)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_member_sees_what_all_wrote_before_they_met(threads):
    for _ in range(20):
        counts, _, team = count(50, threads)
        assert (counts == 50).all()
        assert team[TOO_EARLY] == 0
        assert 1 <= team[STATE] & MEMBERS <= threads


def test_a_thread_that_comes_too_late_does_nothing():
    counts, ranges, team = count(3, 1)
    _count(counts, 3, ranges, team, 1)
    assert (counts == 3).all()


@compiled
def _wait_for_another(seconds, team, part):
    me, met = enter(team, part)
    if me < 0:
        return
    while True:
        begin(team, me, met)
        if team[OWN]:
            return
        while load(team, np.intp(STATE)) & MEMBERS == 1:
            pause()
        members, met = end(team, me)
        if me == 0:
            team[OWN] = members


def test_a_thread_joins_a_step_that_has_begun():
    assert together(_wait_for_another, 2, 0, own=1)[OWN] == 2


def test_no_member_waits_for_a_leader_that_fails_before_it_begins():
    counts, ranges, _ = count(1, 2)  # compiles it
    began, ended = threading.Event(), threading.Event()

    def kernel(team, part):
        if part:
            began.set()
            _count(counts, 2, ranges, team, part)
            ended.set()
            return
        assert began.wait(60)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        together(kernel, 2, own=2)
    assert ended.wait(60)
    assert (counts == 1).all()
