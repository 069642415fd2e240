"""Edge programs run to a fixpoint, as a user defines them."""

from __future__ import annotations

import operator

import dask
import numpy as np
import pandas as pd
import pytest
from conftest import (
    BACKEND,
    ENDS,
    fewer,
    frame,
)
from shapes import HOPS, LEAST, NEVER, SMALL, rmat, traced

import dask_graphflow as gf
from dask_graphflow.comm.exchange import HEADER
from dask_graphflow.kernels import policies
from dask_graphflow.operators.advance.direction import DIRECTION_RULES

pytestmark = pytest.mark.usefixtures("backend")

DIRECTED = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
WIDEST = gf.EdgeOp("widest", target="width", signal="min(width[src], weight)", slot="max")


# Programs of a user


def by_hand(op, edges, columns, active, max_iter):
    """Return a program's target column, by a loop over the edges.

    Messages are those of the values before the superstep.
    """
    combine = {"min": min, "max": max, "add": operator.add, "or": operator.or_}[op.slot]
    signal, cond = (compile(text or "True", "", "eval") for text in (op.signal, op.cond))
    values = columns[op.target].copy()
    while active.any() and max_iter != 0:
        before = columns | op.params | {op.target: values.copy()}
        changed = np.zeros(len(values), bool)
        for src, dst, weight in edges:
            ends = {"src": src, "dst": dst, "weight": weight}
            if active[src] and eval(cond, before, ends):
                new = combine(values[dst], eval(signal, before, ends))
                changed[dst] |= new != values[dst]
                values[dst] = new
        active = changed
        max_iter = max_iter and max_iter - 1
    return values


# By name: a program, the initial values of its columns, other start values, and numbers of supersteps.
PROGRAMS = {
    "widest": (WIDEST, {"width": 0.0}, lambda rng, ids: {"width": [np.inf]}, (None, 2)),
    "first hits": (HOPS, {"level": np.int32(NEVER)}, lambda rng, ids: {"level": [0]}, (None,)),
    "mirrors know what their masters have": (
        # The smallest value of the predecessors, but odd values stay odd.
        gf.EdgeOp("odd", target="x", signal="x[src] // 2 * 2 + x[dst] % 2", slot="min"),
        {"x": 0},
        lambda rng, ids: {"x": rng.integers(0, 10_000, len(ids))},
        (None, 2),
    ),
    "every message counts once": (
        gf.EdgeOp(
            "shares",
            target="sum",
            # Named as the column from which members read the numbers of vertices.
            signal="share[src] * factor[dst] + (src - dst) * number",
            slot="add",
            cond="open[dst] and dst % 3 != 0",
            params={"number": 3},
        ),
        {"sum": 0, "share": 0, "factor": np.int32(0), "open": False},
        lambda rng, ids: {
            "share": rng.integers(2**20, 2**40, len(ids)),
            "factor": rng.integers(1, 9, len(ids)).astype("int32"),
            "open": rng.random(len(ids)) < 0.8,
        },
        (1, 4),
    ),
    "bits are set": (
        gf.EdgeOp(
            "reach",
            target="seen",
            signal="(seen[src] | seen[src] << shift) & open[dst]",
            slot="or",
            params={"shift": np.uint64(7)},
        ),
        {"seen": np.uint64(0), "open": np.uint64(0)},
        lambda rng, ids: {
            "seen": rng.integers(0, 2**64, len(ids), "uint64") * (rng.random(len(ids)) < 0.05),
            "open": rng.integers(0, 2**64, len(ids), "uint64"),
        },
        (None,),
    ),
    "a sum may read what it adds to": (
        # Named as the column from which members read the old values.
        gf.EdgeOp("ways", target="n", signal="n[src] * before", slot="add", params={"before": 3}),
        {"n": 0},
        lambda rng, ids: {"n": [1, 2, 3]},
        (3,),
    ),
    "a sum that reads itself pulls": (
        gf.EdgeOp("itself", target="n", signal="n[dst] + 1", slot="add"),
        {"n": 1},
        lambda rng, ids: {"n": [2]},
        (2,),
    ),
}


@DIRECTED
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_changes_what_a_loop_over_the_edges_changes(built, members, name, directed):
    op, begin, others, limits = PROGRAMS[name]
    pairs, rng = np.array(SMALL["rmat"]), np.random.default_rng(2)
    edges = frame(pairs.tolist()).assign(w=rng.integers(1, 90, len(pairs)) / 2)
    g, ids = built(edges, directed=directed), np.unique(pairs)
    others = others(rng, ids)
    count = len(next(iter(others.values())))
    leaving = np.bincount(np.searchsorted(ids, pairs[:, 0]), minlength=len(ids))
    at = np.sort(np.argsort(-leaving, kind="stable")[:count])
    start = pd.DataFrame({"vertex": ids[at]} | others)
    columns = {column: np.full(len(ids), value) for column, value in begin.items()}
    for column, values in others.items():
        columns[column][at] = values
    both = [(*np.searchsorted(ids, [u, v]).tolist(), w) for u, v, w in edges.to_numpy()]
    both += [] if directed else [(v, u, w) for u, v, w in both if u != v]
    for limit in limits:
        active = np.isin(np.arange(len(ids)), at)
        wanted = by_hand(op, both, columns, active, limit)
        assert (wanted != columns[op.target]).sum() > 40
        for way in DIRECTION_RULES:
            threads = 1 + DIRECTION_RULES.index(way) % fewer(2, 1)
            with dask.config.set(num_workers=threads * members):
                how = {"columns": begin, "start": start, "direction": way, "max_iter": limit}
                found = g.run(op, **how).compute()
            assert found["vertex"].tolist() == ids.tolist()
            np.testing.assert_array_equal(found[op.target], wanted)
            assert found[op.target].dtype == wanted.dtype


@pytest.mark.parametrize("way", DIRECTION_RULES)
def test_the_first_hit_with_the_smallest_neighbor_is_kept(built, way):
    # Of two that 150 follows, the one in its own shard is looked at first.
    g = built([(10, 150), (140, 150), (20, 70), (60, 70)])
    parents = gf.EdgeOp(
        "parents",
        target="parent",
        signal="src",
        slot="min",
        cond=f"parent[dst] == {NEVER}",
        first_hit=True,
    )
    found = g.run(parents, columns={"parent": NEVER}, direction=way, max_iter=1).compute()
    wanted = {10: NEVER, 20: NEVER, 60: NEVER, 70: 1, 140: NEVER, 150: 0}
    assert dict(zip(found["vertex"], found["parent"], strict=True)) == wanted


def test_a_push_after_a_pull_starts_from_empty_sums(built):
    g = built([(0, leaf) for leaf in range(100, 200)], directed=False)
    ways = gf.EdgeOp("ways", target="n", signal="n[src]", slot="add", cond="open[dst]")
    start = pd.DataFrame({"vertex": [0], "n": [3]})
    columns = {"n": 0, "open": True}
    found, steps = traced(g.run(ways, columns=columns, start=start, max_iter=3, trace=True))
    assert steps["direction"].tolist() == ["pull"] * 3
    assert found["n"].tolist() == [3 + 100 * 3, *[3 + 3 + 100 * 3] * 100]
    few = pd.DataFrame({"vertex": [0, *range(100, 200)], "n": [3] + [0] * 100})
    few["open"] = (few["vertex"] == 0) | (few["vertex"] > 194)
    found, steps = traced(g.run(ways, columns=columns, start=few, max_iter=2, trace=True))
    assert steps["frontier"].tolist() == [101, 5]
    assert steps["direction"].tolist() == ["pull", "push"]
    assert found["n"].iloc[0] == 3 + 5 * 3


def test_functions_that_may_read_vertex_numbers_are_refused_by_several_members(built, members):
    op = gf.EdgeOp.from_code(
        "farther",
        target="least",
        slot="min",
        columns=["least"],
        signal=lambda columns, src, dst, weight: columns[0][src] + 1,
        cuda="__device__ Value signal(Index src, Index dst, Weight weight) const "
        "{ return least_[src] + 1; }",
    )
    g, start = built([(0, 70), (70, 140)]), pd.DataFrame({"vertex": [0], "least": [0]})
    asked = g.run(op, columns={"least": 1000}, start=start)
    if members == 1:
        assert asked.compute()["least"].tolist() == [0, 1, 2]
        return
    with pytest.raises(gf.exceptions.ExpressionError, match="Write the program in expressions"):
        asked.compute()


# What is sent


@pytest.mark.parametrize("members", [2, 3])
def test_labels_that_do_not_change_are_not_sent_again(built, members):
    pairs = rmat(13, 8)
    g, how = built(pairs, directed=False), {"columns": {"least": "vertex"}, "direction": "push"}
    # Members tell each other once which vertices they mirror.
    g.run(LEAST, **how, max_iter=1).compute()
    with dask.config.set(num_workers=1):
        _, steps = traced(g.run(LEAST, **how, trace=True), sum_bytes=True)
    headers = HEADER.size * members * (members - 1)
    # Two rounds: messages, and an all-reduce. At first, one more round checks that all know the mirrors.
    rounds = [3] + [2] * (len(steps) - 1)
    sent = steps["bytes"].to_numpy() - headers * np.array(rounds)
    layout = getattr(g, "graph", g).layout().compute()
    # At first, a message to each mirror; then to fewer, and in the end to almost none.
    assert sent[0] == 4 * layout["remote"].sum()
    # On a device nearly all can change twice, and a bitmap says which of them did.
    assert (sent[1:] < sent[0] * 1.05).all()
    # On a device, how many change late depends on which of its threads run first.
    assert (sent[-2:] < sent[0] / (50 if BACKEND.name == "pandas" else 20)).all()


# Options and start values


@pytest.mark.parametrize("balance", policies.POLICIES)
def test_every_policy_gives_the_same_and_others_are_refused(balance):
    edges, start = pipes(), pd.DataFrame({"vertex": [0], "width": [np.inf]})
    graph = gf.Graph(edges, **ENDS, weight="bore")
    # Pushing along every edge has no frontier.
    how = {"start": start} if balance != "all_edges" else {"direction": "pull"}
    begin = {"width": 0.0 if "start" in how else 1.0}
    if BACKEND.name == "pandas" and balance not in policies.HOST_POLICIES:
        with pytest.raises(gf.exceptions.OptionError, match="on the host are 'thread'"):
            graph.run(WIDEST, columns=begin, balance=balance, **how)
        return
    found = graph.run(WIDEST, columns=begin, balance=balance, **how).compute()
    pd.testing.assert_frame_equal(found, graph.run(WIDEST, columns=begin, **how).compute())


def pipes(seed=0, vertices=300, edges=1500):
    rng = np.random.default_rng(seed)
    ends = (vertices * rng.random((2, edges)) ** 2).astype("int64")
    return pd.DataFrame({"a": ends[0], "b": ends[1], "bore": rng.integers(1, 9, edges) / 2})


def with_nan(start):
    """Return a frame of --backend's in which a NaN is a value; cuDF makes a null of it by default."""
    if BACKEND.name == "pandas":
        return start
    import cudf

    if "object" in start.dtypes.astype("str").tolist():
        pytest.skip("cuDF has no columns of objects")
    return cudf.from_pandas(start, nan_as_null=False)


@pytest.mark.parametrize("slot", ["min", "max"])
@pytest.mark.parametrize("direction", ["push", "pull"])
def test_nan_spreads_as_in_numpy_and_the_program_ends(built, slot, direction):
    rng = np.random.default_rng(11)
    ids = np.unique(pipes()[["a", "b"]])
    start = pd.DataFrame({"vertex": ids})
    start["x"] = rng.choice([0.0, -0.0, 1.5, 7.0, np.inf, -np.inf], len(ids))
    start.loc[rng.random(len(ids)) < 0.02, "x"] = np.nan
    op = gf.EdgeOp("spread", target="x", signal="x[src]", slot=slot)
    wanted, before = np.full(300, np.nan), None
    wanted[ids] = start["x"]
    source, target = pipes()[["a", "b"]].to_numpy().T
    combine = np.minimum if slot == "min" else np.maximum
    while before is None or not np.array_equal(before, wanted, equal_nan=True):
        before = wanted.copy()
        with np.errstate(invalid="ignore"):
            combine.at(wanted, target, before[source])
    g = built(pipes()[["a", "b"]])
    how = {"columns": {"x": 0.0}, "start": with_nan(start), "direction": direction}
    found, steps = traced(g.run(op, **how, max_iter=60, trace=True))
    found = found["x"].to_numpy()
    assert len(steps) < 60  # it ended by itself
    np.testing.assert_array_equal(found, wanted[ids])
    assert 0 < np.isnan(found).sum() < len(found)
