"""The steps of a build, each called alone on the members of a gang."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from members import each

import dask_graphflow as gf
from dask_graphflow.comm.channel import in_process
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.graph import partition
from dask_graphflow.graph.build.choose import Size, choose_members
from dask_graphflow.graph.build.deal import EdgePieces, Edges, Owners, deal
from dask_graphflow.graph.build.number import ids_of_range, number
from dask_graphflow.graph.build.place import place_vertices
from dask_graphflow.graph.build.recipe import Recipe
from dask_graphflow.graph.build.rows import edges_without_rows, rows_of_edges
from dask_graphflow.graph.edgelist import Ends

pytestmark = pytest.mark.usefixtures("host_memory")

GRAIN = 64


@pytest.fixture(autouse=True)
def fine(monkeypatch):
    monkeypatch.setattr(partition, "GRAIN", GRAIN)


def on_members(size, step):
    """Call a step with the exchange of each member; return the results."""
    channels = in_process(size)
    return each(lambda rank: step(Exchange(channels[rank])), range(size))


def ends(values):
    return Ends.of(pd.DataFrame({"id": values}))


def numbered(values):
    """Number the ids of two members; return what each of them gets."""
    return on_members(
        2, lambda exchange: number(exchange, [tuple(map(ends, values[exchange.rank]))])
    )


def test_number_integers_close_together_by_arithmetic():
    values = [([-3, 5], [-1, -1]), ([6], [-2])]
    for rank, (vertices, [(source, target)]) in enumerate(numbered(values)):
        assert (vertices.base, vertices.count, vertices.ids) == (-3, 10, None)
        assert source.tolist() == [one + 3 for one in values[rank][0]]
        assert target.tolist() == [one + 3 for one in values[rank][1]]


def test_number_other_ids_by_their_order():
    values = [(["d", "b"], ["a", "b"]), (["c"], ["a"])]
    made = numbered(values)
    for rank, (_, [(source, target)]) in enumerate(made):
        assert source.tolist() == ["abcd".index(one) for one in values[rank][0]]
        assert target.tolist() == ["abcd".index(one) for one in values[rank][1]]
    ids = pd.concat([vertices.ids for vertices, _ in made])["id"]
    assert ids.tolist() == list("abcd")
    bounds = [0, 1, 4]
    own = on_members(
        2, lambda exchange: ids_of_range(exchange, made[exchange.rank][0], bounds)["id"].tolist()
    )
    assert own == [["a"], ["b", "c", "d"]]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_choose_members_by_the_size_that_all_of_them_counted(count):
    # The vertices of the first grain have half of the 600 edge ends.
    sides = [np.arange(100) % GRAIN, np.arange(100) % (2 * GRAIN) + GRAIN]
    asked = []

    def choose(*about):
        asked.append(about)
        return count, "because"

    def step(exchange):
        size = Size(3 * GRAIN, 0, True, 4, False)
        return choose_members(exchange, [tuple(sides)], size, choose, (2, 1e9))

    for chosen in on_members(3, step):
        assert chosen[:2] == (count, "because")
        assert (chosen.bounds[0], chosen.bounds[count:]) == (0, [3 * GRAIN] * (4 - count))
        assert count == 1 or chosen.bounds[1] == GRAIN
    size = Size(3 * GRAIN, 300, True, 4, False, even=asked[0][0].even)
    assert asked == [(size, 3, 2, 1e9)] * 3


def test_all_members_get_a_part_if_nobody_chooses():
    size = Size(2 * GRAIN, 0, True, 0, False)
    sides = np.arange(2 * GRAIN), np.arange(2 * GRAIN)
    made = on_members(2, lambda exchange: choose_members(exchange, [sides], size, None, (1, 1.0)))
    assert made == [(2, "", [0, GRAIN, 2 * GRAIN])] * 2


def test_place_hubs_on_the_last_members():
    hybrid = gf.Hybrid([0.5, 0.5], placement="hubs-on-cpu")
    # Vertex 70 has half of the ends of the edges.
    sides = np.full(100, 70), np.arange(100) % 70
    placed, bounds, owners = on_members(
        2,
        lambda exchange: place_vertices(
            exchange, [sides], [0, GRAIN, 71], hybrid, lambda *_: 1.0, 4
        ),
    )[0]
    assert owners.tolist() == [0] * 70 + [1]
    assert bounds == [0, 2 * GRAIN, 3 * GRAIN]
    assert placed.places.tolist() == [*range(70), 2 * GRAIN]
    assert placed.homes == [0, GRAIN, 71]


@pytest.mark.parametrize("both", [False, True])
def test_deal_edges_to_their_owners_in_the_order_of_the_pieces(both):
    # Three pieces; the second member has the first and the last.
    edges = [
        Edges(np.array(source), np.array(target), np.array(weight))
        for source, target, weight in (
            ([1, 70], [70, 71], [0.0, 1.0]), ([70], [2], [2.0]), ([3, 4, 72], [5, 73, 1], [3.0, 4.0, 5.0]),
        )
    ]  # fmt: skip
    places = [[1], [0, 2]]
    none = Edges(np.empty(0, int), np.empty(0, int), np.empty(0))

    def step(exchange):
        own = EdgePieces(iter([edges[at] for at in places[exchange.rank]]), places, none)
        return deal(exchange, own, Owners.of_ranges([0, GRAIN, 2 * GRAIN], both))

    first, second = on_members(2, step)
    assert np.concatenate(first.weight).tolist() == ([0, 2, 3, 4, 5] if both else [0, 3, 4])
    assert np.concatenate(second.weight).tolist() == ([0, 1, 2, 4, 5] if both else [1, 2, 5])
    assert np.concatenate(second.source).tolist() == ([1, 70, 70, 4, 72] if both else [70, 70, 72])


def test_rows_merge_parallel_edges_in_the_order_in_which_they_were_dealt():
    dealt = Edges(
        [np.array([1, 0]), np.array([1])],
        [np.array([2, 1]), np.array([2])],
        [np.array([1, 2]), np.array([4])],
    )

    def step(multi):
        return lambda exchange: rows_of_edges(
            exchange, dealt, [0, 3], None, Recipe(True, multi), None
        )

    for multi, weights in {"keep": [2, 1, 4], "first": [2, 1], "sum": [2, 5]}.items():
        (rows,) = on_members(1, step(multi))
        assert np.diff(rows.offsets).tolist() == [1, len(weights) - 1, 0]
        assert rows.weights.tolist() == weights


def test_edges_without_rows_are_turned_back():
    dealt = Edges([np.array([1, 2])], [np.array([0, 1])], None)
    (edges,) = on_members(1, lambda exchange: edges_without_rows(exchange, dealt, None))
    assert (edges.source.tolist(), edges.target.tolist(), edges.weight) == ([0, 1], [1, 2], None)
