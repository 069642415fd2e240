"""Merging by slices: a merge starts on the first slice of a forest, while the others are in transit."""

from __future__ import annotations

import collections
import os
import pickle
import signal
import time

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, as_dict, frame, on_backend, partitioned, to_host, two_workers
from distributed import Client
from distributed.protocol import dask_deserialize, dask_serialize, deserialize, serialize

import dask_graphflow as gf
from dask_graphflow.components import forest as forest_module
from dask_graphflow.components import serialization  # noqa: F401
from dask_graphflow.components.connected_components import Components
from dask_graphflow.components.forest import Entries, Forest
from dask_graphflow.exceptions import OptionError, WorkerLostError
from dask_graphflow.scheduling import plugins

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


# The graph


def merging(labels):
    """Return the tasks that merge, and what they depend on, by name and index."""
    graph = labels.optimize().__dask_graph__()

    def name(key):
        return (key[0].rpartition("-")[0].removeprefix("graphflow-"), *key[1:])

    return {
        name(key): {name(other) for other in task.dependencies}
        for key, task in dict(graph).items()
        if key[0].startswith("graphflow-merge")
    }


def four_chains(**options):
    edges = partitioned(frame([(i, i + 1) for i in range(100)]), 4)
    with dask.config.set(num_workers=4):
        return gf.connected_components(edges, **ENDS, renumber=False, **options)


TREE = [(0, 1, 0), (1, 3, 2), (2, 2, 0)]


def test_in_one_slice_a_merge_is_one_task():
    plain = [("plain", chain) for chain in range(4)]
    expected = {
        ("merge", 0, 1, 0): {plain[1], plain[0]},
        ("merge", 1, 3, 2): {plain[3], plain[2]},
        ("merge", 2, 2, 0): {("merge", 1, 3, 2), ("merge", 0, 1, 0)},
    }
    assert merging(four_chains()) == merging(four_chains(merge_chunks=1)) == expected


@pytest.mark.parametrize("slices", [2, 3])
def test_each_slice_is_sent_separately_and_merged_after_the_previous_one(slices):
    found = [("plain", chain) for chain in range(4)]
    expected = {}
    for at in TREE:
        _, source, target = at
        there = [(f"merge-{i}-slice-graphflow-brought", *at) for i in range(slices)]
        expected["merge-0-cut", *at] = {found[source]}
        for i in range(slices):
            expected[f"merge-{i}-slice", *at] = {("merge-0-cut", *at)}
            expected[there[i]] = {(f"merge-{i}-slice", *at), found[target]}
            before = ("merge", *at, i - 1) if i else found[target]
            expected["merge", *at, i] = {before, there[i]}
        absorbed = ("merge", *at, slices - 1)
        expected["merge-0-tokens", *at] = {absorbed}
        expected["merge-0-mend", *at] = {found[source], ("merge-0-tokens", *at)}
        expected["merge", *at] = {absorbed, ("merge-0-mend", *at)}
        found[target] = ("merge", *at)
    tasks = merging(four_chains(merge_chunks=slices))
    assert tasks == expected
    assert len(tasks) == 3 * (3 * slices + 4)


@pytest.mark.parametrize("policy", ["tree", "one-way", "ring"])
def test_only_the_last_step_of_the_last_merge_compresses(policy, monkeypatch):
    steps = []
    for step in ("merge", "absorb", "mended", "finish"):
        plain = getattr(Components, step)

        def noting(self, *arguments, step=step, plain=plain):
            steps.append(step)
            return plain(self, *arguments)

        monkeypatch.setattr(Components, step, noting)
    found = four_chains(merge=policy, merge_chunks=3).compute(scheduler="sync")
    assert as_dict(found) == dict.fromkeys(range(101), 0)
    assert collections.Counter(steps) == {"absorb": 9, "mended": 3, "finish": 1}
    assert steps[-1] == "finish"


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


@pytest.mark.parametrize("family", ["dask", "pickle"])
def test_slices_are_sent_as_their_arrays(family):
    source, target = np.random.default_rng(0).integers(0, 10**5, (2, 10**5))
    forest = Forest(source)
    forest.cover(0, 10**5)
    forest.hook(source, target)
    part = forest.cut(4)[2]
    header, frames = serialize([part], serializers=(family, "error"))
    sizes = sorted(memoryview(frame).nbytes for frame in frames)
    assert sizes[-2:] == [part.seen.nbytes, part.parent.nbytes]
    assert sum(sizes) < part.__sizeof__() + 2000
    (again,) = deserialize(header, frames)
    assert np.array_equal(again.parent, part.parent)
    assert np.array_equal(again.seen, part.seen)
    for name in ("base", "size", "first", "token"):
        assert getattr(again, name) == getattr(part, name)
    assert again.whole is None
    # A pickle does not contain the whole forest either.
    assert len(pickle.dumps(part)) < part.__sizeof__() + 2000


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


@pytest.fixture(scope="module")
def slow_client():
    """Return the client of a cluster on which sending and merging take time, and are noted."""
    with two_workers() as cluster, Client(cluster) as client:
        plugins.preload("dask_graphflow.components.serialization")
        client.run(take_time)
        yield client


@pytest.fixture
def own_client(mortal):
    """Return the client of a cluster of its own, whose workers, and those started later, can merge."""
    # Every worker needs what this module imports, including workers that replace lost ones.
    plugins.preload("dask_graphflow.components.serialization")
    return mortal


@pytest.mark.parametrize(("policy", "slices"), [("tree", 1), ("one-way", 3), ("ring", 3)])
def test_the_same_bits_on_a_cluster(client, call, policy, slices):
    labels = call(merge=policy, merge_chunks=slices, inputs="round-robin")
    expected = call().compute(scheduler="sync")
    same(labels.compute(), to_host(expected))


# While slices travel

TRANSFER, HOOKING = 0.8, 0.8  # seconds for a whole forest
NOTES = []  # events of one worker, with their times


def note(event):
    NOTES.append((event, time.time()))


def take_notes():
    taken = NOTES[:]
    NOTES.clear()
    return taken


def take_time():
    """Make sending and merging on a worker take time in proportion to the size, and record both."""
    for kind in (Forest, Entries):
        dask_serialize.register(kind, slowly(dask_serialize.dispatch(kind)))
        dask_deserialize.register(kind, arriving(dask_deserialize.dispatch(kind)))
    for stage in ("merge", "absorb"):
        setattr(Components, stage, hooking(getattr(Components, stage)))


def share(part):
    return len(part.parent) / part.size if isinstance(part, Entries) else 1


def slowly(send):
    def sending_slowly(part):
        note("sends")
        time.sleep(TRANSFER * share(part))
        return send(part)

    return sending_slowly


def arriving(receive):
    def noting(header, frames):
        note("arrives")
        return receive(header, frames)

    return noting


def hooking(merge):
    def hooking_slowly(self, into, other):
        note("hooks")
        time.sleep(HOOKING * share(other[0]))
        result = merge(self, into, other)
        note("hooked")
        return result

    return hooking_slowly


def timeline(client, slices):
    """Merge a forest of one worker into that of the other; return the events with their times."""
    edges = frame([(i, i + 1) for i in range(100_000)])
    labels = gf.connected_components(
        partitioned(edges, 2), **ENDS, inputs="round-robin", renumber=False, merge_chunks=slices
    )
    assert len(labels.expr.frame.operand("chains")) == 2
    # Only the labels of the first owner, for which no merged forest is sent.
    found = to_host(on_backend(labels.partitions[0]).compute())
    assert set(found["component"]) == {0}
    when = collections.defaultdict(list)
    for worker in client.run(take_notes).values():
        for event, time_of_it in worker:
            when[event].append(time_of_it)
    return {event: sorted(times) for event, times in when.items()}


def exposed(when):
    """Return the seconds from the first byte to the last entry in which nothing was hooked."""
    hooked = sum(when["hooked"]) - sum(when["hooks"])
    return when["hooked"][-1] - when["sends"][0] - hooked


@pytest.mark.alone
def test_with_one_slice_the_whole_transfer_is_waited_for(slow_client):
    when = timeline(slow_client, 1)
    assert when["arrives"][0] < when["hooks"][0]
    assert exposed(when) >= TRANSFER


@pytest.mark.alone
def test_a_merge_starts_on_the_first_slice_while_the_others_are_in_transit(slow_client):
    when = timeline(slow_client, 4)
    assert [len(when[event]) for event in ("sends", "arrives", "hooks")] == [4, 4, 4]
    assert when["hooks"][0] < when["sends"][2] < when["arrives"][-1]
    # Of four slices only the first is waited for; room for what the tasks themselves cost.
    assert exposed(when) < 0.6 * TRANSFER


# Workers lost


NEAR, FAR = 1000, 3000  # in the first and in the second of two slices


def found_with(*more):
    """Return the forests of a chain that shares them with another one's edges."""
    forest = Forest(on_backend(np.zeros(0)))
    forest.cover(0, 4095)
    edges = np.array([(NEAR, FAR), *more]).T
    forest.hook(*(on_backend(side.copy()) for side in edges))
    forest.compress()
    return [forest]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("same_cut", [False, True])
def test_slices_of_two_cuts_are_replaced_by_the_whole_forest(order, same_cut):
    """After a worker is lost between two slices, its chain runs beside other chains."""
    steps = four_chains().expr.frame.operand("program")
    first = found_with((10, NEAR), (10, FAR))
    again = first if same_cut else found_with((5, NEAR), (5, FAR))
    into = [Forest(first[0].parent, size=4096)]
    cuts = [steps.cut(first, 2)] * 2 if same_cut else [steps.cut(first, 2), steps.cut(again, 2)]
    state = into
    for cut, i in zip(cuts, order, strict=True):
        state = steps.absorb(state, cut[i])
    ends = on_backend(np.array([NEAR, FAR]))
    # Slices of two cuts contain only true connections, but not the one between the two vertices.
    assert (len({*into[0].roots(ends).tolist()}) == 1) == same_cut
    more = steps.mend(again, steps.tokens(state))
    assert more is (None if same_cut else again)
    (mended,) = steps.mended(state, more)
    assert mended.roots(ends).tolist() == [10 if same_cut else 5] * 2
    if not same_cut:
        with pytest.raises(WorkerLostError, match="compute the result again"):
            steps.mended(state, None)


def die_once(stage, folder):
    """Have the first task of a stage that runs on any worker kill its process."""
    plain = getattr(Components, stage)

    def deadly(self, *arguments):
        die_at(1, folder)
        return plain(self, *arguments)

    setattr(Components, stage, deadly)


def die_at_slice(number, folder):
    """Kill the worker that sends a given slice of a forest, and record what is sent again."""
    plain, mended = dask_serialize.dispatch(Entries), Components.mended

    def deadly(part):
        die_at(number, folder)
        return plain(part)

    def noting(self, into, more):
        if more is not None:
            (folder / "mended").touch()
        return mended(self, into, more)

    dask_serialize.register(Entries, deadly)
    Components.mended = noting


def die_at(number, folder):
    if not (folder / "died").exists():
        (folder / f"{time.time_ns()}-passed").touch()
        if len(list(folder.glob("*-passed"))) == number:
            (folder / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)


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


@pytest.mark.usefixtures("host_memory")  # slices of the host are watched
@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (1, "str"),
        (2, "int64"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in ((1, "int64"), (2, "str"), (3, "int64"), (3, "str"))
        ),
    ],
)
def test_a_worker_that_dies_between_two_slices_changes_nothing(own_client, tmp_path, number, kind):
    labels, expected = mortal_call(kind)
    own_client.run(die_at_slice, number, tmp_path)
    same(computed(own_client, labels), expected)
    assert (tmp_path / "died").exists()
    # The first slice had not arrived, and the others were slices of another cut.
    assert (tmp_path / "mended").exists() == (number > 1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["int64", "str"])
@pytest.mark.parametrize("stage", ["cut", "absorb", "tokens", "mend", "mended"])
def test_a_worker_that_dies_while_it_merges_changes_nothing(own_client, tmp_path, stage, kind):
    labels, expected = mortal_call(kind)
    own_client.run(die_once, stage, tmp_path)
    same(computed(own_client, labels), expected)
    assert (tmp_path / "died").exists()
