"""Merging by slices: a merge starts on the first slice of a forest, while the others are in transit."""

from __future__ import annotations

import collections
import itertools
import os
import signal
import time

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, frame, on_backend, partitioned, to_host
from test_component_members import run

import dask_graphflow as gf
from dask_graphflow.calls.components import members
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.exceptions import OptionError
from dask_graphflow.operators.forests import forest as forest_module
from dask_graphflow.operators.forests.forest import Entries, Forest

# This library cannot close sockets and event loops that a killed worker leaves behind.
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.usefixtures("backend")]


def same(labels, expected):
    pd.testing.assert_frame_equal(
        to_host(labels).reset_index(drop=True), expected.reset_index(drop=True)
    )


def random_forest(seed, vertices=10_000, edges=8000, base=0):
    ends = np.random.default_rng(seed).integers(base, base + vertices, (2, edges))
    source, target = map(on_backend, ends)
    forest = Forest(source)
    forest.cover(base, base + vertices - 1)
    forest.hook(source, target)
    return forest


def labels_of(forest):
    forest.mark_members()
    vertices, roots = forest.labels(forest.base, forest.stop, np.dtype("int64"))
    return vertices.tolist(), roots.tolist()


@pytest.mark.parametrize("slices", [0, -1, 1.5, "2", None])
def test_an_invalid_number_of_slices_is_refused(slices):
    with pytest.raises(OptionError, match=r"merge_chunks=.*1 or more"):
        gf.connected_components(frame([(1, 2)]), **ENDS, merge_chunks=slices)


# Slices


@pytest.mark.parametrize("slices", [1, 2, 3, 7])
def test_slices_are_adjacent_views(slices):
    forest = random_forest(0)
    parts = forest.cut(slices)
    assert len(parts) == slices
    ends = [part.first + len(part.parent) for part in parts]
    assert [part.first for part in parts] == [0, *ends[:-1]]
    assert ends[-1] == len(forest.parent)
    sizes = [len(part.parent) for part in parts]
    assert max(sizes) - min(sizes) <= 2 * forest_module.LINE
    parts[-1].parent[-1] = 5  # a view: the forest has it too
    assert int(forest.parent[-1]) == 5


@pytest.mark.parametrize("order", [(0, 1, 2, 0), (2, 0, 1, 2), (1, 2, 0, 1)], ids=str)
@pytest.mark.parametrize("bases", [(0, 0), (0, 50_000), (50_000, 0), (-3000, 2000)], ids=str)
@pytest.mark.parametrize("slots", [False, True])
def test_slices_in_any_order_and_twice_give_the_merge_of_the_whole(order, bases, slots):
    whole, by_slices = (random_forest(1, base=bases[0]) for _ in range(2))
    other = random_forest(2, base=bases[1])
    other.hook(*(on_backend(np.arange(bases[1], bases[1] + 9000, 7)) for _ in range(2)))  # loops
    if slots:
        slots = np.random.default_rng(0).permutation(len(other.parent)) % len(whole.parent)
    slots = on_backend(slots.astype("int64")) if slots is not False else None
    whole.absorb(other, slots)
    parts = other.cut(3)
    for i in order:
        by_slices.absorb(parts[i], slots)
    assert labels_of(by_slices) == labels_of(whole)
    assert slots is not None or set(range(bases[1], bases[1] + 9000, 7)) <= {*labels_of(whole)[0]}


def test_a_forest_does_not_take_its_own_slices():
    forest = random_forest(4)
    forest.compress()
    before = forest.parent.copy()
    for part in forest.cut(3):
        part.parent = None  # to look at it would fail
        forest.absorb(part)
    assert (forest.parent == before).all()


# Every scheduler, ids of every kind


@pytest.fixture(params=["dense", "said to be dense", "strings", "thresholds"])
def call(request, rng):
    """Return a function from a number of slices and other options to labels."""
    edges = pd.DataFrame(rng.integers(0, 9000, (6000, 2)), columns=["a", "b"])
    options = dict(ENDS)
    if request.param == "strings":
        edges = edges.astype("str")
    elif request.param == "thresholds":
        edges["w"] = rng.random(len(edges))
        options.update(weight="w", thresholds=[0.3, 0.6, 0.9])
    elif request.param == "said to be dense":
        options["renumber"] = False
    return lambda **more: gf.connected_components(partitioned(edges, 7), **options, **more)


@pytest.mark.parametrize("policy", ["tree", "one-way", "ring"])
@pytest.mark.parametrize(("slices", "scheduler"), [(2, "threads"), (5, "sync")])
def test_the_same_bits_for_every_number_of_slices(call, policy, slices, scheduler):
    with dask.config.set(num_workers=4, scheduler=scheduler):
        expected = call().compute()
        same(call(merge=policy, merge_chunks=slices).compute(), to_host(expected))


@pytest.mark.parametrize(("policy", "slices"), [("tree", 1), ("one-way", 3), ("ring", 3)])
def test_the_same_bits_on_a_cluster(client, call, policy, slices):
    labels = call(merge=policy, merge_chunks=slices, inputs="round-robin")
    expected = call().compute(scheduler="sync")
    same(labels.compute(), to_host(expected))


# While slices travel

TRANSFER, HOOKING = 0.8, 0.8  # seconds for a whole forest


def timeline(monkeypatch, slices):
    """Merge a forest of one member into that of the other; return the times of the events, in order."""
    when = collections.defaultdict(list)
    send, absorb = Exchange.send_to, Forest.absorb

    def sending_slowly(self, to, array):
        if to == 0 and array.dtype == np.uint8:  # the marks, which are the last array of a slice
            when["sends"].append(time.time())
            time.sleep(TRANSFER / slices)
        send(self, to, array)

    def hooking_slowly(self, other, *arguments, **options):
        by_slices = isinstance(other, Entries)
        if by_slices:
            when["hooks"].append(time.time())
            time.sleep(HOOKING / slices)
        absorb(self, other, *arguments, **options)
        if by_slices:
            when["hooked"].append(time.time())

    monkeypatch.setattr(Exchange, "send_to", sending_slowly)
    monkeypatch.setattr(Forest, "absorb", hooking_slowly)
    edges = frame([(i, i + 1) for i in range(100_000)])
    same(
        pd.concat(map(to_host, itertools.chain(*run(edges, 2, slices=slices)))), on_a_path(100_001)
    )
    return when


def on_a_path(count):
    return pd.DataFrame({"vertex": np.arange(count), "component": np.zeros(count, int)})


def exposed(when):
    """Return the seconds from the first byte to the last entry in which nothing was hooked."""
    hooked = sum(when["hooked"]) - sum(when["hooks"])
    return when["hooked"][-1] - when["sends"][0] - hooked


@pytest.mark.alone
def test_with_one_slice_the_whole_transfer_is_waited_for(monkeypatch):
    assert exposed(timeline(monkeypatch, 1)) >= TRANSFER


@pytest.mark.alone
def test_a_merge_starts_on_the_first_slice_while_the_others_are_in_transit(monkeypatch):
    when = timeline(monkeypatch, 4)
    assert [len(when[event]) for event in ("sends", "hooks")] == [4, 4]
    assert when["hooks"][0] < when["sends"][2]
    # Of four slices only the first is waited for; room for what the members themselves take.
    assert exposed(when) < 0.6 * TRANSFER


# Workers lost


def die_once(stage, folder):
    """Have the first member that comes to a stage, on any worker, kill its process."""
    plain = getattr(members, stage)

    def deadly(*arguments, **options):
        if not (folder / "died").exists():
            (folder / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return plain(*arguments, **options)

    setattr(members, stage, deadly)


def mortal_call(kind, slices=3):
    def read(i):
        edges = np.random.default_rng(i).integers(0, 20_000, (2000, 2))
        return pd.DataFrame(edges, columns=["a", "b"]).astype(kind)

    edges = dd.from_map(read, range(8), meta=read(0).iloc[:0])
    options = {"renumber": kind != "int64", "inputs": "round-robin", "merge_chunks": slices}
    expected = gf.connected_components(edges, **ENDS).compute(scheduler="sync")
    return gf.connected_components(edges, **ENDS, **options), to_host(expected)


def computed(client, labels):
    """Compute a result, and fail if it takes longer than users are promised."""
    return client.compute(on_backend(labels)).result(timeout=30)


@pytest.mark.parametrize(
    ("stage", "kind"),
    [
        ("_send", "int64"),
        ("_own_range", "str"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (("unite", "str"), ("_receive_slices", "str"), ("_receive_slices", "int64"))
        ),
    ],
)
def test_a_worker_that_dies_while_it_merges_changes_nothing(mortal, tmp_path, stage, kind):
    labels, expected = mortal_call(kind)
    mortal.run(die_once, stage, tmp_path)
    same(computed(mortal, labels), expected)
    assert (tmp_path / "died").exists()
