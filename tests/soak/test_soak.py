"""Killed, frozen and short workers, and canceled calls: every answer is right, or an error helps.

More than the quick forms, and what happens meanwhile::

    python -m pytest tests/soak -k calls_while -s --minutes 7
    python -m pytest tests/soak -k graph_on_disk -s --cases 50
    python -m pytest tests/soak -k graph_on_disk -s --cases 1 --seed 17
    python -m pytest tests/soak -k "members and host" -s --cases 60
    python -m pytest tests/soak -k "members and gpu" -s --cases 100
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from conftest import cupy_or_skip

from . import ALLOWED, FAULTS, faults, soak
from .calls import is_answer
from .cases import GOOD, case_of, outcome_of
from .gangs import gangs, grown, round_of

FEW = 3  # rounds of the quick form
QUICK = 2  # number of a case that is over soon


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # from what killed workers leave behind
def test_calls_while_workers_are_killed_are_right_or_canceled(request):
    minutes, seed = map(request.config.getoption, ("minutes", "seed"))
    results = soak(minutes, seed) if minutes else soak(0.2, 1, 2, 2.0)
    print(results)
    assert faults(results) == []
    assert all(results["counts"][what] for what in ("right", "cancelled", "killed"))


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_call_on_a_graph_on_disk_is_right_or_its_advice_works(request):
    count, first = map(request.config.getoption, ("cases", "seed"))
    bad = []
    for number in range(first, first + count) if count else [QUICK]:
        case, began = case_of(number), time.monotonic()
        outcome, told = outcome_of(case)
        print(
            f"{number:3} {outcome:24} {time.monotonic() - began:4.0f} s  {case}",
            *told,
            sep="\n      ",
        )
        bad += [number] if outcome not in GOOD else []
    assert bad == []


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("kind", ["host", pytest.param("gpu", marks=pytest.mark.gpu2)])
def test_calls_end_and_the_next_is_right_if_members_are_killed_frozen_or_canceled(request, kind):
    if kind == "gpu" and cupy_or_skip().cuda.runtime.getDeviceCount() < 2:
        pytest.skip("takes two GPUs")
    count, first = map(request.config.getoption, ("cases", "seed"))
    faults = []
    with gangs(kind) as two:
        for number in range(first, first + (count or FEW)):
            began = time.monotonic()
            ended, fault = two.play(number)
            seconds = time.monotonic() - began
            print(f"{number:3} {seconds:4.1f} s  {round_of(number)}: {ended} {fault}", flush=True)
            faults += [(number, fault)] if fault else []
        print("memory in use, in MB:", [used >> 20 for used in two.memory])
        print("times that Dask did not start a worker again:", two.renewed)
        faults += [grown(two.memory)] if grown(two.memory) else []
    assert faults == []


def test_memory_that_grows_is_found():
    assert not grown([100, 140, 120, 100, 110, 130, 120, 110, 130])
    assert grown([100, 140, 120, 100, 110, 130, 160, 170, 150]).startswith("memory grew from 120")
    assert not grown([1, 5])


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({}, []),
        *(({"counts": {name: 2}}, [f"2 {name}"]) for name in FAULTS),
        ({"left": ["thread graphflow-gang_0"]}, ["1 left"]),
        ({"memory_bytes": [{"a worker": 100}, {"a worker": 111}]}, ["a worker grew"]),
    ],
)
def test_faults_of_a_soak_are_named(changes, named):
    memory = [{"a worker": 100}, {"a worker": 105}]
    results = {"left": [], "memory_bytes": memory, **changes}
    counts = {**dict.fromkeys(ALLOWED, 3), **dict.fromkeys(FAULTS, 0), **changes.get("counts", {})}
    assert faults({**results, "counts": counts}) == named


def test_partial_answers_are_consecutive_rows_of_the_whole():
    truth = pd.DataFrame({"vertex": [1, 3, 5, 7], "rank": [0.5, 0.25, 0.125, 0.125]})
    wrong = truth.assign(rank=np.nextafter(truth["rank"], 1))
    assert is_answer(truth, truth, whole=True)
    assert not is_answer(truth[1:], truth, whole=True)
    assert not is_answer(wrong, truth, whole=True)
    for part in (truth[1:3], truth[:0]):
        assert is_answer(part, truth, whole=False)
    for part in (truth.iloc[[0, 2]], wrong[1:3]):
        assert not is_answer(part, truth, whole=False)
