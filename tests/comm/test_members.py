"""The number of members of a graph: what the build chooses, and that the choice changes no result."""

from __future__ import annotations

import math
import re
from functools import partial

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import ENDS, fewer, frame, partitioned, to_host
from distributed import wait
from members import eventually
from shapes import ASKED, KINDS, power_law, same

import dask_graphflow as gf
from dask_graphflow.api import member_plan
from dask_graphflow.costs import choose_members
from dask_graphflow.graph import partition
from dask_graphflow.graph.build import Size
from dask_graphflow.tasks import placement
from dask_graphflow.tasks.trees import Slots

MANY = 1 << 40  # bytes


def size(vertices, edges, device=False, even=False):
    return Size(int(vertices), int(edges), False, 4, device, even)


@pytest.mark.parametrize(
    ("graph", "most", "threads", "room", "wanted"),
    [
        pytest.param(size(66e3, 314e3), 8, 1, MANY, 1, id="small"),
        pytest.param(size(24e6, 29e6), 8, 16, MANY, 1, id="roads"),
        pytest.param(size(4e6, 1 << 28), 8, 4, MANY, 8, id="large"),
        pytest.param(size(64e6, 192e6), 8, 4, MANY, 8, id="few edges"),
        pytest.param(size(64e6, 192e6, even=True), 8, 4, MANY, 1, id="mesh"),
        pytest.param(size(4e6, 1 << 25, even=True), 8, 1, MANY, 8, id="even, but many edges"),
        pytest.param(size(4e6, 1 << 28), 1, 4, MANY, 1, id="one worker"),
        pytest.param(size(24e6, 29e6), 8, 16, 4 << 30, 2, id="roads without room for all"),
        pytest.param(size(4e6, 1 << 28), 8, 4, 1 << 20, 8, id="no room at all"),
        pytest.param(size(264e3, 521e3, device=True), 2, 1, MANY, 1, id="roads on GPUs"),
        pytest.param(size(24e6, 29e6, device=True), 8, 1, MANY, 1, id="large roads on GPUs"),
        pytest.param(
            size(1 << 26, 1 << 29, even=True, device=True), 2, 1, MANY, 1, id="mesh on GPUs"
        ),
        pytest.param(size(1 << 24, 1 << 28, device=True), 2, 1, MANY, 1, id="R-MAT 24 on GPUs"),
        pytest.param(size(1 << 26, 1 << 30, device=True), 2, 1, MANY, 2, id="R-MAT 26 on GPUs"),
        pytest.param(size(1 << 28, 1 << 32, device=True), 2, 1, MANY, 2, id="large on GPUs"),
        pytest.param(size(0, 0), 2, 1, MANY, 1, id="no edges"),
    ],
)
def test_number_of_members_needs_enough_memory_and_a_clear_gain(graph, most, threads, room, wanted):
    assert choose_members.choose(graph, most, threads, room)[0] == wanted


@pytest.mark.parametrize(
    ("edges", "most", "even", "wanted"),
    [
        pytest.param(1 << 25, 2, False, 1, id="smaller than what was measured"),
        pytest.param(1 << 26, 2, False, 1, id="no gain"),
        pytest.param(1 << 27, 8, False, 2, id="between, not measured for more than two"),
        pytest.param(1 << 40, 2, False, 2, id="larger than what was measured"),
        pytest.param(1 << 28, 2, True, 1, id="mesh"),
    ],
)
def test_gpus_that_share_memory_are_chosen_by_measured_ratios(
    monkeypatch, edges, most, even, wanted
):
    points = (1 << 26, 1.0), (1 << 28, 0.5)
    ratios = dict.fromkeys(choose_members.DEVICE.work(size(1, 1)), points)
    monkeypatch.setattr(choose_members, "RATIOS", {2: ratios})
    graph = size(edges >> 4, edges, device=True, even=even)._replace(shared=True)
    assert choose_members.choose(graph, most, 1, math.inf)[0] == wanted


def test_ratios_are_known_for_all_calls_and_ascend_in_the_edges():
    for ratios in choose_members.RATIOS.values():
        assert ratios.keys() == choose_members.DEVICE.work(size(1, 1)).keys()
        for points in ratios.values():
            assert [*points] == sorted(points)


def mesh(rng, side=24):
    """Return a mesh in three dimensions: its mean degree is that of many graphs of small diameter."""
    at = rng.permutation(side**3).reshape(side, side, side)
    near = ((at[:-1], at[1:]), (at[:, :-1], at[:, 1:]), (at[:, :, :-1], at[:, :, 1:]))
    source, target = (np.concatenate([pair[i].ravel() for pair in near]) for i in (0, 1))
    return pd.DataFrame({"a": source, "b": target})


@pytest.mark.parametrize(("kind", "even"), [("mesh", True), ("power law", False)])
def test_the_build_sees_whether_degrees_are_even(backend, choice, rng, monkeypatch, kind, even):
    edges = mesh(rng) if kind == "mesh" else power_law(rng, 5000, 40_000)[["a", "b"]]
    edges = partitioned(edges, 3)
    choice(2, 3)
    sizes = []
    monkeypatch.setattr(
        choose_members, "choose", lambda *given: sizes.append(given[0]) or (1, "one")
    )
    gf.Graph(edges, **ENDS).persist()
    assert {size.even for size in sizes} == {even}


@pytest.mark.parametrize("device", [False, True])
@pytest.mark.parametrize("most", [2, 64])
@pytest.mark.parametrize("threads", [1, 16])
def test_graphs_that_are_never_split_need_no_build_to_tell(device, most, threads):
    how = most, threads
    never = [
        n for n in 2 ** np.arange(10, 40) if choose_members.never_split(n, *how, device=device)
    ]
    assert 1 << 20 <= max(never) <= choose_members.MOST_UNSEEN
    for edges in never:
        for vertices in np.logspace(0, 9, 19):
            assert choose_members.choose(size(vertices, edges, device), *how, MANY)[0] == 1
    assert not choose_members.never_split(float("inf"), *how, device=device)


@pytest.mark.parametrize(("bytes_each", "decides"), [(10_000, False), (48, True)])
def test_a_size_of_python_objects_does_not_tell_that_a_graph_is_small(
    monkeypatch, bytes_each, decides
):
    """Dask counts 48 bytes for a frame on a GPU until the worker has imported dask_cudf."""
    edges = partitioned(frame([[1, 2], [2, 3]]), 2)
    monkeypatch.setattr(placement, "slots", lambda: Slots(("one", "two"), 1, 1))
    monkeypatch.setattr(member_plan, "num_rows", lambda _: None)
    monkeypatch.setattr(member_plan, "find_held", lambda _: ([], [None, None]))
    monkeypatch.setattr(placement, "count_held_bytes", lambda held: bytes_each * len(held))
    assert (gf.Graph(edges, **ENDS)._shards.plan.choose is not None) is decides


def chosen(size, most, threads, room, *, count):
    return count, f"{size.edges:,} edges for {most}"


@pytest.fixture
def choice(monkeypatch):
    """Return a function that sets how many members the build chooses, and from how many."""

    monkeypatch.setattr(partition, "GRAIN", 64)  # so that all members get vertices

    def choose(count, most):
        monkeypatch.setattr(choose_members, "never_split", lambda *_, **__: False)
        monkeypatch.setattr(choose_members, "choose", partial(chosen, count=count))
        workers = tuple(f"worker {number}" for number in range(most))
        if most:
            monkeypatch.setattr(placement, "slots", lambda: Slots(workers, 1, 1))

    return choose


def all_answers(graph, start):
    names = fewer([*ASKED], [*ASKED][::4])
    return {name: to_host(ASKED[name](graph, start).compute()) for name in names}


@pytest.mark.parametrize(
    ("kind", "count", "persisted"),
    [("dense", 1, True), ("far apart", 3, False), ("strings", 2, True)],
)
def test_the_choice_changes_no_result(backend, choice, rng, kind, count, persisted):
    edges = KINDS[kind](power_law(rng))
    start = edges.a.iloc[[0, 700]].tolist()
    edges = partitioned(edges, 6)
    wanted = all_answers(gf.Graph(edges, **ENDS, weight="w", shards=1), start)
    choice(count, 3)
    graph = gf.Graph(edges, **ENDS, weight="w")
    assert "1 to 3, chosen by the build" in repr(graph)
    graph = graph.persist() if persisted else graph
    for name, found in all_answers(graph, start).items():
        same(found, wanted[name])
    assert graph.num_edges == gf.Graph(edges, **ENDS, shards=1).num_edges


@pytest.mark.parametrize("count", [1, 2])
def test_members_without_a_part_take_no_part(backend, choice, rng, count):
    edges = partitioned(power_law(rng), 6)
    choice(count, 3)
    graph = gf.Graph(edges, **ENDS).persist()
    layout = getattr(graph, "graph", graph).layout()  # is pandas' for every backend
    assert layout.compute().shard.tolist() == list(range(count))
    parts = graph.degrees().partitions
    assert [len(part) > 0 for part in parts] == [n < count for n in range(3)]
    steps = graph.pagerank(trace=True)[1].compute()
    assert sorted(set(steps.member)) == list(range(count))
    assert (steps.bytes.sum() > 0) == (count > 1)


def test_a_cluster_gives_the_same_answers_for_any_choice_of_members(client, choice, rng):
    edges, count = power_law(rng), 2
    start = edges.a.iloc[[0, 700]].tolist()
    wanted = all_answers(gf.Graph(edges, **ENDS, weight="w", shards=1), start)
    wanted_ranks = gf.pagerank(edges, **ENDS).compute()
    choice(count, 0)
    edges = dd.from_pandas(edges, npartitions=4)
    graph = gf.Graph(edges, **ENDS, weight="w")
    same(to_host(ASKED["bfs"](graph, start).compute()), wanted["bfs"])
    same(gf.pagerank(edges, **ENDS).compute(), wanted_ranks)  # builds incoming edges alone
    built = graph.persist()
    early = ASKED["bfs"](built, start)
    for name, found in all_answers(built, start).items():
        same(found, wanted[name])
    same(to_host(early.compute()), wanted["bfs"])


def test_a_built_graph_says_why_and_has_no_idle_tasks(client, choice, rng):
    choice(1, 0)
    graph = gf.Graph(dd.from_pandas(power_law(rng), npartitions=4), **ENDS).persist()
    wait(graph._shards.built)
    assert eventually(lambda: "1: 2,500 edges for 2" in repr(graph))
    assert len(graph.bfs([0]).optimize().__dask_graph__()) == 2  # the graph and the answer
    assert "member" in graph.bfs([0], trace=True)[1].columns  # as before it was built


def test_a_frame_in_memory_with_few_edges_is_one_ordinary_task(client):
    edges = dd.from_pandas(power_law(np.random.default_rng(1)), npartitions=4)
    built = gf.Graph(edges, **ENDS).persist()
    wait(built._shards.built)
    assert re.search(r"^shards +1$", repr(built), re.MULTILINE)
    assert len(built._shards.built) == 1
