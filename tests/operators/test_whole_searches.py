"""Members that copy the rows of each other share out the sources of whole searches."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import frame, host_only
from shapes import WAYS, on_members, rmat, same

from dask_graphflow.kernels import searches
from dask_graphflow.kernels.searches import host
from dask_graphflow.operators.member import Member
from dask_graphflow.operators.search import multi_search, whole_searches

pytestmark = pytest.mark.usefixtures("backend")

AT_ONCE = 2  # sources that a member searches from before it tells what it found


def dependencies(rows, into, sources, *, endpoints=False):
    for first in range(0, len(sources), AT_ONCE):
        some = sources[first : first + AT_ONCE]
        found = np.zeros((len(some), len(rows.offsets) - 1))
        for source, scores in zip(some, found, strict=True):
            host.add_dependencies(rows, into, source[None], scores, endpoints=endpoints)
        yield (found,)


def paths(rows, into, sources):
    starts = np.repeat(np.arange(len(rows.offsets) - 1), np.diff(rows.offsets))
    for source in sources:
        (level,) = host.levels(rows, source[None])
        count = (level == 0).astype("float64")
        for depth in range(1, level.max() + 1):
            at = (level[starts] == depth - 1) & (level[rows.ends] == depth)
            np.add.at(count, rows.ends[at], count[starts[at]])
        sigma, power = np.frexp(np.maximum(count, 1))
        ((through,),) = dependencies(rows, into, source[None])
        yield level[None], sigma[None], power[None], through


@pytest.fixture
def copied(monkeypatch):
    """Return a function that lets all later calls copy rows, as devices do. Few sources fit at once."""
    host_only("devices of different members do this by themselves")

    def begin():
        for module in (whole_searches, multi_search):
            monkeypatch.setattr(module, "on_one_device", lambda g: True)
        monkeypatch.setattr(multi_search.WordSearch, "DEEP", 1)
        monkeypatch.setattr(multi_search.WordSearch, "is_deep", lambda search: True)
        monkeypatch.setattr(whole_searches, "device_room", lambda: 1 << 15)
        for kernel in (dependencies, paths):
            monkeypatch.setattr(searches, kernel.__name__, kernel)

    return begin


CALLS = {
    "betweenness": ("betweenness_centrality", {"k": 9}),
    "betweenness with endpoints": ("betweenness_centrality", {"k": 9, "endpoints": True}),
    "edge betweenness": ("edge_betweenness_centrality", {"k": 9}),
    "closeness": ("closeness_centrality", {}),
    "harmonic": ("harmonic_centrality", {}),
}


@WAYS
@pytest.mark.parametrize("members", [2, 3])
@pytest.mark.parametrize("call", CALLS)
def test_shared_out_sources_have_the_same_bits(built, copied, directed, call):
    name, options = CALLS[call]
    edges = frame(rmat(8, 4))
    wanted = getattr(built(edges, directed=directed, shards=1), name)(**options).compute()
    graph = built(edges, directed=directed)
    copied()
    same(getattr(graph, name)(**options).compute(), wanted)


@WAYS
@pytest.mark.parametrize("members", [2, 3])
def test_paths_from_shared_out_sources_have_the_same_bits(built, copied, monkeypatch, directed):
    edges, options = frame(rmat(8, 4)), {"k": 9, "endpoints": True}
    wanted = built(edges, directed=directed, shards=1).betweenness_centrality(**options).compute()
    graph = built(edges, directed=directed)
    copied()
    monkeypatch.setattr(whole_searches, "suit_sources", lambda *args: False)
    same(graph.betweenness_centrality(**options).compute(), wanted)


@pytest.mark.parametrize("members", [3])
@pytest.mark.parametrize("rooms", [(1 << 40, 1 << 40, 1 << 40), (1 << 40, 1 << 10, 1 << 40)])
def test_members_copy_rows_only_if_all_have_room(built, monkeypatch, rooms):
    host_only("devices of different members do this by themselves")
    graph, left = built(frame(rmat(8, 4))), iter(rooms)
    monkeypatch.setattr(Member, "shared_memory", lambda member: object())
    monkeypatch.setattr(whole_searches, "device_room", lambda: next(left))
    assert on_members(graph, whole_searches.on_one_device) == [min(rooms) > 1 << 10] * 3


@pytest.mark.parametrize("members", [3])
def test_each_member_records_the_superstep_of_a_single_one(built, copied):
    graph = built(frame(rmat(8, 4)))
    copied()
    steps = graph.betweenness_centrality(k=9, trace=True)[1].compute()
    assert len(steps) == 3
    assert steps.frontier.tolist() == [9] * 3
    assert steps.edges.nunique() == 1
