"""Edge programs and their start values, with ids of every kind."""

from __future__ import annotations

import re

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import (
    BACKEND,
    ENDS,
    frame,
    on_host,
    partitioned,
    to_host,
)
from shapes import LEAST, traced
from test_programs import WIDEST, pipes, with_nan

import dask_graphflow as gf
from dask_graphflow.operators.advance.local_advance import LocalAdvance

pytestmark = pytest.mark.usefixtures("backend")


# The same graph, by the row of each vertex in the result, with ids of every kind.
ROWS = np.array([(0, 3), (3, 1), (1, 4), (4, 2), (2, 5), (6, 3), (5, 6), (6, 0), (1, 1), (5, 0)])
IDS = {
    "dense with gaps": np.array([1, 2, 3, 5, 7, 8, 9]),
    "dense and negative": np.array([-4, -3, 0, 1, 2, 4, 5], "int8"),
    "sparse": np.array([3, 10**6, 10**7, 10**9, 10**12, 10**15, 2**62]),
    "strings": np.array(["a", "b", "ba", "c", "x", "y", "yy"], object),
    "two columns": None,
}
GRAPHS_OF = {
    "1 shard": {},
    "3 shards": {"shards": 3},
    "hybrid": {"hybrid": gf.Hybrid([0.3, 0.7], placement="random")},
}
VERTEX = gf.EdgeOp("label", target="label", signal="label[src]", slot="min")


@pytest.fixture(params=IDS, ids=str)
def kind(request):
    return request.param


@pytest.fixture(params=GRAPHS_OF, ids=str)
def numbered(request, kind):
    """Return a graph with these ids, a function from rows to ids, and one from ids to rows."""
    if BACKEND.name == "cudf" and request.param == "hybrid":
        pytest.skip("a hybrid takes edges in host memory")
    ids = IDS[kind]
    if ids is None:
        names = ["a", "b"], ["c", "d"]
        parts = pd.DataFrame({"a": [1, 1, 1, 2, 2, 3, 3], "b": list("xyzxyxy")})
    else:
        names = ["a"], ["c"]
        parts = pd.DataFrame({"a": ids})
    columns = {}
    for side, ends in zip(names, ROWS.T, strict=True):
        columns |= {
            name: parts[own].to_numpy()[ends] for name, own in zip(side, parts, strict=True)
        }
    edges = dd.from_pandas(pd.DataFrame(columns), npartitions=3)
    graph = gf.Graph(edges, source=names[0], target=names[1], **GRAPHS_OF[request.param])
    rows = {tuple(row): i for i, row in enumerate(parts.to_numpy().tolist())}

    def named(which, stem="vertex"):
        frame = parts.iloc[which].reset_index(drop=True)
        frame.columns = [stem] if len(names[0]) == 1 else [f"{stem}_0", f"{stem}_1"]
        return frame

    def row_of(found, stem="vertex"):
        own = named([0], stem).columns
        return [rows[tuple(row)] for row in found[list(own)].to_numpy().tolist()]

    return graph, named, row_of


@pytest.mark.parametrize(
    ("signal", "slot", "cond"),
    [
        ("src", "max", None),
        ("src * 10 - dst", "add", None),
        ("7 - dst if src % 2 == 0 else x[src] + src", "min", "dst % 3 != 1"),
    ],
)
def test_src_and_dst_are_the_rows_of_the_result_for_ids_of_every_kind(numbered, signal, slot, cond):
    graph, _, row_of = numbered
    op = gf.EdgeOp("numbers", target="y", signal=signal, slot=slot, cond=cond)
    begin = {"max": -1, "add": 0, "min": 1000}[slot]
    columns = {"y": begin, "x": 5} if "x" in op.columns else {"y": begin}
    found = graph.run(op, columns=columns, max_iter=1).compute()
    wanted = np.full(7, begin)
    for src, dst in ROWS.tolist():
        message = eval(signal.replace("x[src]", "5"), {"src": src, "dst": dst})
        if cond is None or eval(cond, {"dst": dst}):
            combine = {"max": max, "min": min, "add": lambda old, new: old + new}[slot]
            wanted[dst] = combine(wanted[dst], message)
    assert row_of(found) == list(range(7))
    assert found["y"].tolist() == wanted.tolist()


def test_a_vertex_column_gives_ids_whatever_their_kind(numbered):
    graph, _, row_of = numbered
    parent = gf.EdgeOp("parent", target="parent", signal="src", slot="max")
    found = graph.run(parent, columns={"parent": "vertex"}, max_iter=1).compute()
    wanted = np.arange(7)
    np.maximum.at(wanted, ROWS[:, 1], ROWS[:, 0])
    assert row_of(found, "parent") == wanted.tolist()
    found = graph.run(VERTEX, columns={"label": "vertex"}).compute()
    assert row_of(found, "label") == [0] * 7


def test_the_result_of_a_vertex_column_can_be_its_start(numbered):
    graph, named, row_of = numbered
    # No vertex begins with this label: 6 is the smallest one that reaches the others.
    labels = [6, 6, 5, 6, 6, 5, 6]
    start = pd.concat([named(range(7)), named(labels, "label")], axis=1)
    found = graph.run(VERTEX, columns={"label": "vertex"}, start=start).compute()
    assert row_of(found, "label") == [5] * 7
    again = graph.run(VERTEX, columns={"label": "vertex"}, start=found).compute()
    pd.testing.assert_frame_equal(again, found)
    few = pd.concat([named([3]), named([0], "label")], axis=1)
    found = graph.run(VERTEX, columns={"label": "vertex"}, start=few, max_iter=1).compute()
    assert row_of(found, "label")[3] == 0


def test_a_start_value_of_a_vertex_column_that_is_not_a_vertex_is_refused(numbered, kind):
    graph, named, _ = numbered
    wrong = named([2], "label")
    if kind == "two columns":
        wrong["label_1"] = "no"
    else:
        wrong["label"] = ["no" if kind == "strings" else 90]
    start = pd.concat([named([0]), wrong], axis=1)
    with pytest.raises(gf.exceptions.UnknownVertexError, match="not in the graph"):
        graph.run(VERTEX, columns={"label": "vertex"}, start=start).compute()


def test_a_message_that_is_not_a_vertex_is_refused(numbered):
    graph, _, _ = numbered
    below = gf.EdgeOp("below", target="label", signal="label[src] - 1", slot="min")
    with pytest.raises(
        gf.exceptions.ExpressionError, match=r"message -1, .* 0 to 6; send a vertex"
    ):
        graph.run(below, columns={"label": "vertex"}, max_iter=1).compute()


@pytest.mark.parametrize("how", GRAPHS_OF)
def test_members_leave_out_integers_that_no_edge_uses(how):
    if BACKEND.name == "cudf" and how == "hybrid":
        pytest.skip("a hybrid takes edges in host memory")
    pairs = pipes(edges=900)[["a", "b"]] * 97 + 1  # several times a shard's smallest range
    ids = np.unique(pairs)
    edges = dd.from_pandas(pairs, npartitions=3)
    graph = gf.Graph(edges, **ENDS, **GRAPHS_OF[how])
    layout = graph.layout()
    assert (getattr(layout, "collection", layout).compute()["vertices"] > 20).all()
    rows = np.searchsorted(ids, pairs.to_numpy())
    apart = gf.EdgeOp("apart", target="x", signal="src * 1000 + dst", slot="max")
    wanted = np.full(len(ids), -1)
    np.maximum.at(wanted, rows[:, 1], rows[:, 0] * 1000 + rows[:, 1])
    for direction in ("push", "pull"):
        found = graph.run(apart, columns={"x": -1}, max_iter=1, direction=direction).compute()
        assert found["vertex"].tolist() == ids.tolist()
        assert found["x"].tolist() == wanted.tolist()
    parent = gf.EdgeOp("parent", target="parent", signal="src", slot="max")
    found = graph.run(parent, columns={"parent": "vertex"}, max_iter=1).compute()
    wanted = np.arange(len(ids))
    np.maximum.at(wanted, rows[:, 1], rows[:, 0])
    assert found["parent"].tolist() == ids[wanted].tolist()
    start = found.assign(parent=ids[::-1])
    keep = gf.EdgeOp("keep", target="parent", signal="parent[dst]", slot="max")
    found = graph.run(keep, columns={"parent": "vertex"}, start=start).compute()
    assert found["parent"].tolist() == ids[::-1].tolist()


def test_a_vertex_column_needs_both_parts_of_two_part_ids():
    edges = pd.DataFrame({"a": [1, 1], "b": [1, 2], "c": [2, 2], "d": [1, 2]})
    graph = gf.Graph(edges, source=["a", "b"], target=["c", "d"])
    start = pd.DataFrame({"vertex_0": [1], "vertex_1": [1], "label_0": [2]})
    with pytest.raises(gf.exceptions.OptionError, match="'label_0', 'label_1'"):
        graph.run(VERTEX, columns={"label": "vertex"}, start=start)
    start["label_1"] = [2]
    found = graph.run(VERTEX, columns={"label": "vertex"}, start=start).compute()
    assert found[["label_0", "label_1"]].iloc[0].tolist() == [2, 2]


FITTING = [
    (0, np.array([7], "int8"), 7),
    (0, np.array([7.0]), 7),
    (0, np.array([7], object), 7),
    (0, pd.array([7], "Int64"), 7),
    (0, np.array([2**63 - 1], "uint64"), 2**63 - 1),
    (np.uint64(0), np.array([2**64 - 1], "uint64"), 2**64 - 1),
    (np.uint64(0), np.array([2.0**63]), 2**63),
    (0.0, np.array([2**60]), 2.0**60),
    (0.0, np.array([np.nan]), np.nan),
    (np.float32(0), np.array([0.1]), np.float32(0.1)),
    (np.float32(0), np.array([np.inf]), np.inf),
]
SPOILT = [
    (0, np.array([2.9]), "the value 2.9, which int64 cannot hold"),
    (0, np.array([np.nan]), "the value nan, which int64 cannot hold"),
    (0, np.array([2.0**63]), "the value 9.22.*, which int64 cannot hold"),
    (0, np.array([2**63], "uint64"), "the value 9223372036854775808, which int64 cannot hold"),
    (np.int32(0), np.array([2**40 + 5]), "the value 1099511627781, which int32 cannot hold"),
    (np.uint64(0), np.array([-1]), "the value -1, which uint64 cannot hold"),
    (np.uint64(0), np.array([2.0**64]), "the value 1.8.*, which uint64 cannot hold"),
    (0.0, np.array([2**53 + 1]), "the value 9007199254740993, which float64 cannot hold"),
    (np.float32(0), np.array([2**24 + 1]), "the value 16777217, which float32 cannot hold"),
    (np.float32(0), np.array([1e300]), r"the value 1e\+300, which float32 cannot hold"),
    (0, np.array([True]), "start has dtype bool in column 'x', but the program's column is int64"),
    (0, np.array(["7"], object), "give numbers"),
    (0, pd.array([pd.NA], "Int64"), "start has a null in column 'x'"),
    (0.0, pd.array([None], "Float64"), "start has a null in column 'x'"),
]


LARGEST = gf.EdgeOp("largest", target="x", signal="x[src]", slot="max")


@pytest.mark.parametrize(("begin", "value", "wanted"), FITTING)
def test_a_start_value_that_fits_arrives_as_it_is(begin, value, wanted):
    start = with_nan(pd.DataFrame({"vertex": [1], "x": value}))
    graph = gf.Graph(frame([(1, 2)]), **ENDS)
    found = graph.run(LARGEST, columns={"x": begin}, start=start).compute()["x"]
    assert found.dtype == np.asarray(begin).dtype
    np.testing.assert_array_equal(found, [wanted, wanted])


@pytest.mark.parametrize(("begin", "value", "says"), SPOILT)
def test_a_start_value_that_does_not_fit_is_refused(begin, value, says):
    start = with_nan(pd.DataFrame({"vertex": [1], "x": value}))
    graph = gf.Graph(frame([(1, 2)]), **ENDS)
    with pytest.raises(gf.exceptions.OptionError, match=says) as refused:
        graph.run(LARGEST, columns={"x": begin}, start=start)
    if found := re.search(r"such as np\.(\w+)\(0\)", str(refused.value)):  # the advice works
        begin = getattr(np, found[1])(0)
        graph.run(LARGEST, columns={"x": begin}, start=start).compute()


def test_a_vertex_starts_with_one_value():
    graph = gf.Graph(frame([(1, 2)]), **ENDS)
    start = pd.DataFrame({"vertex": [2, 1, 1], "x": [7, 7, 3]})
    with pytest.raises(gf.exceptions.EdgeListError, match="vertex 1 different values"):
        graph.run(LARGEST, columns={"x": 0}, start=start)
    start["x"] = 7  # two equal rows are allowed
    assert graph.run(LARGEST, columns={"x": 0}, start=start).compute()["x"].tolist() == [7, 7]


@pytest.mark.parametrize("value", [None, [1, 2], 2**63, np.uint8(3), 1j, pd.NaT])
def test_a_column_has_one_initial_number(value):
    graph = gf.Graph(frame([(1, 2)]), **ENDS)
    with pytest.raises(
        gf.exceptions.OptionError, match=r"columns\['x'\].*give a number of type bool, int32"
    ):
        graph.run(LARGEST, columns={"x": value})


def test_a_trace_says_what_each_superstep_did(built):
    g = built([(i, i + 1) for i in range(200)])
    farther = gf.EdgeOp("farther", target="hops", signal="hops[src] + 1", slot="min")
    start = pd.DataFrame({"vertex": [0], "hops": [0]})
    found, steps = traced(g.run(farther, columns={"hops": 1000}, start=start, trace=True))
    assert found["hops"].tolist() == list(range(201))
    assert len(steps) == 201  # the last one finds that nothing changed
    assert set(steps["direction"]) == {"push"}
    assert steps["frontier"].tolist() == [1] * 201
    limited = g.run(farther, columns={"hops": 1000}, start=start, max_iter=7).compute()
    assert sorted(set(limited["hops"])) == [*range(8), 1000]


def test_a_lone_member_takes_small_supersteps_in_one_call(monkeypatch):
    calls, run = [], LocalAdvance.run
    monkeypatch.setattr(LocalAdvance, "run", lambda *given: calls.append(run(*given)) or calls[-1])
    g = gf.Graph(frame([(i, i + 1) for i in range(200)]), **ENDS)
    farther = gf.EdgeOp("farther", target="hops", signal="hops[src] + 1", slot="min")
    start = pd.DataFrame({"vertex": [0], "hops": [0]})
    for max_iter, count in ((None, 201), (7, 7)):
        given = {"columns": {"hops": 1000}, "start": start, "max_iter": max_iter}
        found, steps = traced(g.run(farther, **given, trace=True))
        assert found["hops"].tolist() == [i if i <= count else 1000 for i in range(201)]
        assert len(steps) == count
        assert {len(done) for _, _, done in calls} == {count}
        calls.clear()


@pytest.mark.parametrize(
    ("width", "columns", "name"),
    [
        (1, {"vertex": 0}, "vertex"),
        (2, {"vertex_0": 0}, "vertex_0"),
        (2, {"least": "vertex", "least_1": 0}, "least_1"),
    ],
)
def test_a_column_with_the_name_of_another_one_of_the_result_is_refused(width, columns, name):
    edges = frame([(0, 1)]).assign(c=0, d=0)
    g = gf.Graph(edges, source=["a", "c"][:width], target=["b", "d"][:width])
    steps = [{column: "degree"} for column, begin in columns.items() if begin == 0]
    steps += [LEAST] if "least" in columns else []
    with pytest.raises(gf.exceptions.OptionError, match=rf"named {name!r} in the result, like"):
        g.run(steps, columns=columns, max_iter=1)


@pytest.mark.parametrize("begin", [0, 0.5])
def test_an_expression_can_have_more_operations_than_python_nests_parentheses(begin):
    g = gf.Graph(frame([(0, 1), (1, 2)]), source="a", target="b")
    terms = "+".join(["x[src]"] * 100)
    deep = gf.EdgeOp("deep", target="x", signal=f"max({terms}, 7)", slot="max")
    found = g.run(deep, columns={"x": begin}, max_iter=1).compute()
    assert found.x.tolist() == [begin, *[max(100 * begin, 7)] * 2]
    values = ", ".join(f"x + {i}" for i in range(1000))
    found = g.run([{"x": f"max({values})"}], columns={"x": begin}, max_iter=1).compute()
    assert found.x.tolist() == [begin + 999] * 3


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"columns": {}}, "OptionError", "'width'"),
        ({"columns": {"width": 0.0, "depth": 1}}, "OptionError", "'depth'"),
        ({"columns": {"width": "itself"}}, "ExpressionError", "'vertex'.*'itself' is not"),
        ({"columns": {"width": 0}}, "ExpressionError", "width"),
        ({"columns": {"width": 0.0}, "direction": "pul"}, "OptionError", "did you mean 'pull'"),
        ({"columns": {"width": 0.0}, "max_iter": 0}, "OptionError", "max_iter=0"),
        ({"columns": {"width": 0.0}, "balance": "threads"}, "OptionError", "did you mean 'thread'"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_an_invalid_run_is_refused_at_the_call(options, error, says):
    graph = gf.Graph(pipes(), **ENDS, weight="bore")
    with pytest.raises(getattr(gf.exceptions, error), match=says):
        graph.run(WIDEST, **options)


@pytest.mark.parametrize(
    ("start", "says"),
    [
        (
            {"vertex": [1], "widths": [2.0]},
            "which 'widest' does not have; after 1 column of ids, give only its columns, 'width'; did you",
        ),
        ({"vertex": [1], "width": [2.0], "far": [3]}, "start has a column 'far', which .*'width'$"),
    ],
    ids=["misspelt", "spare"],
)
def test_a_start_column_that_the_program_does_not_have_is_refused(start, says):
    graph = gf.Graph(pipes(), **ENDS, weight="bore")
    with pytest.raises(gf.exceptions.OptionError, match=says):
        graph.run(WIDEST, columns={"width": 0.0}, start=pd.DataFrame(start))


def test_start_has_to_be_a_frame():
    graph = gf.Graph(pipes(), **ENDS, weight="bore")
    with pytest.raises(gf.exceptions.EdgeListError, match="start is a list; give a frame"):
        graph.run(WIDEST, columns={"width": 0.0}, start=[1])


def test_a_program_that_wants_weights_says_so_at_the_call():
    with pytest.raises(gf.exceptions.WeightError, match="weight"):
        gf.Graph(pipes(), **ENDS).run(WIDEST, columns={"width": 0.0})


@pytest.mark.parametrize("kind", ["dense", "strings"])
def test_the_index_restarts_at_0_in_each_partition(kind):
    pairs = frame([(i, i + 1) for i in range(300)]).assign(w=1.0)
    if kind == "strings":
        pairs = pairs.astype({"a": "str", "b": "str"})
    edges = partitioned(pairs, 20)
    graph, first = gf.Graph(edges, **ENDS, weight="w"), pairs["a"].iloc[150]
    for result in (
        gf.connected_components(edges, **ENDS),
        graph.bfs([first]),  # a half of all vertices
        graph.sssp([first]),
        graph.pagerank(),
        graph.label_propagation(),
        graph.degrees(),
    ):
        result = on_host(result)
        parts = [to_host(part) for part in dask.compute(*result.to_delayed())]
        assert len(parts) > 1
        for part in parts:
            assert part.index.tolist() == list(range(len(part)))
