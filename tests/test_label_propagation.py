"""Label propagation against counting by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from conftest import frame, partitioned, to_host
from dask_graphflow.algorithms.label_propagation_many import communities_many
from members import SIZES
from shapes import LARGE, SMALL, shards, shards_of
from test_ranks_many import assert_same_bits, cut, evenly, gang, same_steps

import dask_graphflow as gf
from dask_graphflow.algorithms.label_propagation import communities

pytestmark = pytest.mark.usefixtures("backend")

ENDS = {"source": "a", "target": "b"}


def by_hand(pairs, iterations, *, directed):
    near = {}
    for u, v in pairs:
        near.setdefault(u, []).append(v)
        # Without direction a self-loop is one edge.
        if u != v or directed:
            near.setdefault(v, []).append(u)
    label = {v: v for v in near}
    for _ in range(iterations):
        counts = {v: Counter(label[u] for u in us) for v, us in near.items()}
        label = {v: min(c, key=lambda name, c=c: (-c[name], name)) for v, c in counts.items()}
    return label


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_labels_are_those_that_most_neighbours_have(graph, directed, iterations):
    if not graph:
        return
    edges = partitioned(frame(graph), 2)
    found = gf.label_propagation(edges, **ENDS, directed=directed, max_iter=iterations).compute()
    wanted = by_hand(graph, iterations, directed=directed)
    assert dict(zip(found["vertex"], found["label"], strict=True)) == wanted


def test_no_edges_no_labels():
    assert len(gf.label_propagation(frame([]), **ENDS).compute()) == 0


def test_labels_of_strings_are_strings():
    edges = frame([(1, 2), (2, 3), (3, 1)]).astype("str")
    found = gf.label_propagation(edges, **ENDS).compute()
    assert found["label"].dtype == found["vertex"].dtype == "string"
    assert set(found["label"]) <= set(found["vertex"])


@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize("directed", [False, True])
def test_the_same_labels_for_every_number_of_ranges(parts, directed):
    rng = np.random.default_rng(5)
    size = 20_000
    source, target = (size * rng.random((2, 60_000)) ** 3).astype("int32")
    made = shards(source, target, size=size, directed=directed, parts=parts)
    found, steps = communities(made, max_iter=3, threads=2)
    found = to_host(found)
    wanted = by_hand(zip(source.tolist(), target.tolist(), strict=True), 3, directed=directed)
    assert len(steps) == 3
    assert all(found[v] == label for v, label in wanted.items())


def test_it_ends_where_nothing_changes():
    triangles = frame([(0, 1), (1, 2), (2, 0), (7, 8), (8, 9), (9, 7)])
    found, trace = gf.label_propagation(triangles, **ENDS, max_iter=50, trace=True)
    assert len(trace.compute()) < 5
    assert found.compute()["label"].tolist() == [0, 0, 0, 7, 7, 7]


@pytest.mark.parametrize("max_iter", [0, -1, 2.5])
def test_a_wrong_number_of_iterations_is_refused(max_iter):
    with pytest.raises(gf.exceptions.OptionError, match="max_iter"):
        gf.label_propagation(frame([(1, 2)]), **ENDS, max_iter=max_iter)


# Over the members of a gang


def both(whole, members, max_iter):
    """Return labels and iterations, which one process and a gang found alike, and what each member sent."""
    wanted, steps = communities(whole, max_iter=max_iter, threads=2)

    def member(shard, exchange, threads):
        communities_many(shard, exchange, max_iter=1, threads=threads)  # makes what shards keep
        exchange.take_traffic()
        found = communities_many(shard, exchange, max_iter=max_iter, threads=threads)
        return exchange.take_traffic(), *found

    found = gang(members, member)
    assert same_steps(found) == same_steps([(wanted, steps)])
    assert_same_bits(np.concatenate([labels for _, labels, _ in found]), wanted)
    return wanted, steps, [traffic for traffic, *_ in found]


@pytest.mark.usefixtures("host_memory")
@pytest.mark.parametrize("size", [*SIZES, 8])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("shape", SMALL)
def test_labels_of_members_are_those_of_one_process(shape, directed, size):
    whole = shards_of(SMALL[shape], directed=directed)
    for max_iter in (1, 20):
        both(whole, evenly(whole, size), max_iter)


@pytest.mark.usefixtures("host_memory")
@pytest.mark.parametrize("size", SIZES[1:])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("shape", LARGE)
def test_labels_of_larger_graphs_are_those_of_one_process(shape, directed, size):
    whole = shards_of(LARGE[shape](), directed=directed, parts=size)
    both(whole, cut(whole, whole.bounds), 4)


@pytest.mark.usefixtures("host_memory")
def test_a_graph_without_edges_has_no_labels():
    whole = shards_of([])
    found, steps, _ = both(whole, cut(whole, [0, 0, 0]), 5)
    assert len(found) == 0
    assert len(steps) == 1


@pytest.mark.usefixtures("host_memory")
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_labels_that_do_not_change_are_not_sent(directed):
    # But for a path, on which labels wander on and on, all is still after two iterations.
    cliques = [(8 * k + i, 8 * k + j) for k in range(400) for i in range(8) for j in range(i)]
    path = [(3200 + i, 3201 + i) for i in range(60)]
    across = [(8 * k, 1600 + 8 * k) for k in range(200)]
    whole = shards_of([*cliques, *across, *path], directed=directed)
    members = cut(whole, [0, 1600, 3230, whole.size])
    sent = []
    for max_iter in range(2, 9):
        _, steps, traffic = both(whole, members, max_iter)
        assert len(steps) == max_iter
        assert [one.rounds for one in traffic] == [max_iter] * 3
        sent.append(sum(sum(one.sent.values()) - one.sent["header"] for one in traffic))
    # Of four bytes; the last iteration tells nobody. In the end only the two by the cut of the path.
    assert np.diff([0, *sent]).tolist() == [4 * 2 * 201] * 2 + [4 * 2] * 5
