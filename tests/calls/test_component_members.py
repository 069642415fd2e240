"""Connected components by the members of a gang, as threads: the same bits, and what they send."""

from __future__ import annotations

import itertools
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest
from conftest import ENDS, fewer, on_backend, to_host

import dask_graphflow as gf
from dask_graphflow.calls.components import members
from dask_graphflow.calls.components.connected_components import Components
from dask_graphflow.calls.components.members import ComponentsMember, Partitions
from dask_graphflow.comm.channel import in_process
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.comm.resources import Resources
from dask_graphflow.exceptions import VertexTypeError
from dask_graphflow.graph import renumber
from dask_graphflow.inputs.edges import check_edges
from dask_graphflow.tasks import trees

pytestmark = pytest.mark.usefixtures("backend")


def edges_of(kind, rng):
    pairs = rng.integers(0, 3000, (2500, 2))
    if kind == "negative":
        pairs -= 1500
    elif kind == "far":
        pairs[-20:] += 10**15  # only the last member has such ids
    edges = pd.DataFrame(pairs, columns=["a", "b"])
    if kind == "text":
        edges = edges.astype("str")
    return edges.assign(w=rng.integers(0, 5, len(edges)))


def run(edges, size, *, merge="tree", slices=1, parts=1, chains=1, thresholds=(), dense=False):
    """Return the frames of each member of a gang. The members share the edges evenly, in two parts each."""
    weight = "w" if thresholds else None
    (_, columns), *_ = check_edges(on_backend(edges), "a", "b", weight=weight).frames
    names = [f"component_{one}" for one in thresholds] or ["component"]
    program = Components(
        (columns,), ("vertex", *names), thresholds, partitions=2 * size, dense=dense
    )
    cuts = [len(edges) * i // (2 * size) for i in range(2 * size + 1)]
    pieces = [on_backend(edges.iloc[low:high]) for low, high in itertools.pairwise(cuts)]
    dealt = [[(0, 2 * rank), (0, 2 * rank + 1)] for rank in range(size)]
    own = Partitions(program, dealt, chains)
    member = ComponentsMember(program, own, trees.merge_policy(merge)(size), slices, parts)

    def one(channel):
        channel.resources = Resources(threads=4)
        result = member(channel, pieces[2 * channel.rank :][:2], channel.rank)
        return result if parts > 1 else [result]

    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(one, in_process(size)))


def same(results, expected):
    found = pd.concat([to_host(part) for own in results for part in own], ignore_index=True)
    expected = expected.reset_index(drop=True).astype(found.dtypes)
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize("kind", ["dense", "negative", "far", "text"])
@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize(
    "options",
    [{}, {"thresholds": (1, 3)}, {"parts": 3, "slices": 2, "merge": "ring"}, {"chains": 4}],
    ids=["default", "thresholds", "ring", "chains"],
)
def test_members_return_the_bits_of_one_process(kind, size, options, rng, monkeypatch):
    edges = edges_of(kind, rng)
    asked = {name: value for name, value in options.items() if name == "thresholds"}
    weight = {"weight": "w"} if asked else {}
    expected = gf.connected_components(edges, **ENDS, **asked, **weight).compute()
    same(run(edges, size, **options), to_host(expected))


@pytest.mark.parametrize(
    ("merge", "sent"),
    [
        ("tree", [(1, 0), (2, 0), (3, 2), (4, 0)]),
        ("one-way", [(1, 0), (2, 0), (3, 0), (4, 0)]),
        ("ring", [(1, 0), (2, 1), (3, 2), (4, 3)]),
    ],
)
def test_each_forest_is_sent_once_and_in_slices(merge, sent, rng, monkeypatch):
    arrays = Counter()
    plain = Exchange.send_to

    def noting(self, to, array):
        arrays[self.rank, to] += 1
        plain(self, to, array)

    monkeypatch.setattr(Exchange, "send_to", noting)
    monkeypatch.setattr(members, "SLICE", 1024)
    edges = edges_of("dense", rng)
    same(run(edges, 5, merge=merge), to_host(gf.connected_components(edges, **ENDS).compute()))
    # The first member sends each other one its range: where it is, its marks and its roots.
    assert {pair: arrays.pop(pair) for pair in list(arrays) if pair[0] == 0} == {
        (0, rank): 3 for rank in range(1, 5)
    }
    assert sorted(arrays) == sent
    # The places of the slices, and two arrays per slice. On the host, a forest has 4,096 entries.
    assert set(arrays.values()) == {1 + 2 * fewer(4, 1)}


def test_ids_are_numbered_only_if_they_are_not_close_together(rng, monkeypatch):
    numbered = []
    plain = members.number_sorted
    monkeypatch.setattr(
        members, "number_sorted", lambda *given: numbered.append(1) or plain(*given)
    )
    run(edges_of("negative", rng), 3)
    assert not numbered
    run(edges_of("far", rng), 3)
    assert len(numbered) == 3


@pytest.mark.parametrize("kind", ["text", "far"])
def test_no_member_sorts_all_ids(kind, rng, monkeypatch):
    sizes = []
    plain = renumber.merge
    monkeypatch.setattr(
        renumber, "merge", lambda ids: sizes.append(sum(map(len, ids))) or plain(ids)
    )
    monkeypatch.setattr(renumber, "SAMPLE", 64)
    edges = edges_of(kind, rng)
    vertices = len(gf.connected_components(edges, **ENDS).compute())
    sizes.clear()
    run(edges, 3)
    assert len(sizes) == 6  # a sample for the splitters, and the ids of a range, on each member
    assert max(sizes) < 2 * vertices / 3  # a third, of which several members may have the same ids


def test_ids_that_are_said_to_be_dense_and_are_not_get_an_error(rng):
    edges = edges_of("dense", rng).astype("uint64")
    edges.loc[len(edges) - 1, "a"] = 2**63
    with pytest.raises(VertexTypeError, match="leave renumber=False out"):
        run(edges, 3, dense=True)
