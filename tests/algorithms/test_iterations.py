"""Steps over edges and over vertices, repeated until a test holds, as a user of `Graph.run` writes them."""

from __future__ import annotations

import ast
import contextlib
import math
import re
import warnings

import expressions
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from conftest import BACKEND, ENDS, cupy_or_skip, frame
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import DIFFICULT, power_law, traced

import dask_graphflow as gf
from dask_graphflow.exceptions import ConvergenceError, ExpressionError, OptionError
from dask_graphflow.kernels import kernels_for
from dask_graphflow.operators.vertex_values import VertexValues
from dask_graphflow.programs.vertex_expressions import VertexReader

pytestmark = pytest.mark.usefixtures("backend")

WAYS = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])

PAGERANK = {
    "op": [
        {"share": "rank / max(degree, 1)", "sum": "0"},
        gf.EdgeOp("pull", target="sum", signal="share[src]", slot="add"),
        {"rank": "(1 - alpha) / n + alpha * (sum + total(rank if degree == 0 else 0) / n)"},
    ],
    "columns": {"rank": "1 / n", "share": 0.0, "sum": 0.0},
    "params": {"alpha": 0.85},
    "until": "total(abs(rank - before(rank))) < 1e-12 * n",
    "max_iter": 200,
}
HITS = {
    "op": [
        {"authority": "0"},
        gf.EdgeOp("authorities", target="authority", signal="hub[src]", slot="add"),
        {"authority": "authority / total(authority)", "hub": "0"},
        gf.EdgeOp("hubs", target="hub", signal="authority[src]", slot="add", reverse=True),
        {"hub": "hub / total(hub)"},
    ],
    "columns": {"hub": "1 / n", "authority": 0.0},
    "until": "total(abs(hub - before(hub))) < 1e-12",
    "max_iter": 2000,
}
# The program, and its columns, with the algorithm that computes the same.
WRITTEN = {
    "pagerank": (PAGERANK, {"rank": "pagerank"}, {"tol": 1e-12, "max_iter": 200}),
    "hits": (HITS, {"hub": "hub", "authority": "authority"}, {"tol": 1e-12, "max_iter": 2000}),
}
GRAPHS = {
    "difficult": DIFFICULT,
    "power law": power_law(np.random.default_rng(8), 700, 2500)[["a", "b"]].to_numpy().tolist(),
}


def bits(found):
    return {name: found[name].to_numpy().tobytes() for name in found.columns}


# Programs of a user


@WAYS
@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("name", WRITTEN)
def test_algorithms_written_as_programs_equal_those_of_the_library(built, name, kind, directed):
    program, columns, options = WRITTEN[name]
    g = built(GRAPHS[kind], directed=directed)
    found = g.run(**program).compute()
    wanted = getattr(g, name)(**options).compute()
    for column, its in columns.items():
        np.testing.assert_allclose(found[column], wanted[its], rtol=0, atol=1e-9)
    alone = gf.Graph(frame(GRAPHS[kind]), **ENDS, directed=directed).run(**program)
    assert bits(found) == bits(pd.DataFrame(alone.compute()))


def test_pagerank_written_as_a_program_equals_that_of_networkx():
    pairs = GRAPHS["power law"]
    found = gf.Graph(frame(pairs), **ENDS).run(**PAGERANK).compute()
    graph = nx.MultiDiGraph(pairs)
    wanted = nx.pagerank(graph, tol=1e-13, max_iter=500)
    np.testing.assert_allclose(found["rank"], [wanted[v] for v in found["vertex"]], atol=1e-9)


# Sums of floats


@pytest.mark.parametrize(
    ("dtype", "reverse"),
    [("float32", True), ("float64", False)],
    ids=["float32 against the edges", "float64 along the edges"],
)
def test_floats_add_up_to_the_nearest_of_the_exact_sum(built, reverse, dtype):
    """Values of very different magnitudes, weights, and sums that are added to what is there."""
    rng = np.random.default_rng(3)
    edges = power_law(rng, 300, 3000)
    ids = np.unique(edges[["a", "b"]])
    magnitudes = 10.0 ** rng.integers(*((-12, 12) if dtype == "float32" else (-250, 250)), len(ids))
    x = (rng.normal(size=len(ids)) * magnitudes).astype(dtype)
    op = gf.EdgeOp(
        "sums", target="y", slot="add", reverse=reverse, cond="open[dst]",
        signal=f"{dtype}(x[src] * weight)  # a comment",
    )  # fmt: skip
    start = pd.DataFrame({"vertex": ids, "x": x, "open": ids % 5 > 0})
    columns = {"x": np.dtype(dtype).type(0), "y": np.dtype(dtype).type(0.5), "open": False}
    sent: dict[int, list[float]] = {int(v): [0.5] for v in ids}
    for a, b, weight in edges.itertuples(index=False, name=None):
        source, target = (b, a) if reverse else (a, b)
        if target % 5:
            value = float(x[np.searchsorted(ids, source)]) * weight
            sent[target].append(float(np.dtype(dtype).type(value)))
    wanted = np.array([math.fsum(sent[v]) for v in ids])
    near = np.array([max(map(abs, sent[v])) for v in ids]) * np.finfo(dtype).eps * 4
    for way in ("push", "pull"):
        how = {"columns": columns, "start": start, "direction": way, "max_iter": 1}
        alone, repeated = (built(edges).run(program, **how).compute() for program in (op, [op]))
        assert alone["y"].dtype == dtype
        assert (abs(alone["y"] - wanted) <= near).all()
        assert bits(alone) == bits(repeated)


def test_a_program_that_adds_floats_ends_when_no_vertex_changes(built):
    g = built([(i, i + 1) for i in range(150)])
    flow = gf.EdgeOp("flow", target="water", signal="water[src] / 2", slot="add")
    start = pd.DataFrame({"vertex": [0], "water": [2.0**140]})
    found, steps = traced(g.run(flow, columns={"water": 0.0}, start=start, trace=True))
    assert found["water"].tolist() == [2.0 ** (140 - i) for i in range(151)]
    assert len(steps) == 151


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_messages_that_are_not_finite_are_refused(built, value):
    g = built([(0, 70), (70, 140)])
    op = gf.EdgeOp("sums", target="y", signal="x[src]", slot="add")
    asked = g.run([op], columns={"x": value, "y": 0.0}, max_iter=1)
    with pytest.raises(ExpressionError, match=r"'sums': a message is infinite or NaN.*if abs"):
        asked.compute()
    advice = gf.EdgeOp(
        "sums", target="y", signal="x[src] if abs(x[src]) < inf else 0.0", slot="add"
    )
    found = g.run([advice], columns={"x": value, "y": 0.0}, max_iter=1).compute()
    assert found["y"].tolist() == [0, 0, 0]


# Expressions per vertex


def test_expressions_of_one_step_read_the_values_before_it(built):
    g = built([(0, 70), (70, 140)])
    start = pd.DataFrame({"vertex": [0, 70, 140], "x": [1, 2, 3], "y": [7, 8, 9]})
    how = {"columns": {"x": 0, "y": 0, "old": 0}, "start": start, "max_iter": 1}
    found = g.run([{"x": "y", "y": "x"}, {"x": "x + 1", "old": "before(x)"}], **how).compute()
    assert found["x"].tolist() == [8, 9, 10]
    assert found["y"].tolist() == found["old"].tolist() == [1, 2, 3]


def test_reductions_are_taken_over_the_vertices_of_all_members(built):
    """Also over ids with gaps, whose indices without a vertex do not count; integers wrap."""
    g = built([(0, 70), (70, 140), (70, 2)])
    ids = [0, 2, 70, 140]
    start = pd.DataFrame({"vertex": ids, "i": [2**62, 2**62 + 1, 2**62, 2**62]})
    start["u"] = np.array([2**64 - 1, 2, 3, 4], "uint64")
    start["x"], start["f"] = [1e30, 1.0, -1e30, -0.0], np.float32([0.1, -7, 0.2, -9])
    step = {
        "a": "total(i)", "b": "largest(i)", "c": "total(u)", "d": "largest(u)", "e": "total(x)",
        "g": "largest(-abs(x))", "h": "total(f)", "k": "n", "m": "degree", "p": "total(1)",
        "q": "largest(f)",
    }  # fmt: skip
    columns = {"i": 9, "u": np.uint64(9), "x": 9.0, "f": np.float32(9), "q": np.float32(0)}
    columns |= dict.fromkeys("abkmp", 0) | dict.fromkeys("cd", np.uint64(0))
    columns |= dict.fromkeys("egh", 0.0)
    found = g.run([step], columns=columns, start=start, max_iter=1).compute()
    assert found["vertex"].tolist() == ids
    wanted = {
        "a": 1, "b": 2**62 + 1, "c": 8, "d": 2**64 - 1, "e": 1.0, "g": 0.0, "k": 4, "p": 4,
        "h": math.fsum(np.float32([0.1, -7, 0.2, -9]).tolist()), "q": np.float32(0.2),
    }  # fmt: skip
    for name, value in wanted.items():
        assert found[name].tolist() == [value] * 4, name
    assert found["m"].tolist() == [1, 0, 2, 0]


def test_a_total_of_values_that_are_not_finite_is_refused(built):
    g = built([(0, 70), (70, 140)])
    start = pd.DataFrame({"vertex": [70], "x": [np.inf]})
    how = {"columns": {"x": 1.0}, "start": start, "max_iter": 1}
    with pytest.raises(ExpressionError, match="of which 1 are infinite or NaN"):
        g.run([{"x": "total(x)"}], **how).compute()
    found = g.run([{"x": "total(x if abs(x) < inf else 0.0)"}], **how).compute()
    assert found["x"].tolist() == [2, 2, 2]


def per_vertex(text):
    """Return an expression over an edge as one over the columns of a vertex, and over a self-loop."""
    text = re.sub(r"\[(src|dst)\]", "", text)
    text = re.sub(r"\bsrc\b|\bdst\b", "i", text)
    text = re.sub(r"\bweight\b", "f", text)
    return text, re.sub(r"\b[ilfdut]\b", r"\g<0>[src]", text)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="literals had dtypes")
@settings(expressions.FEW, max_examples=8, derandomize=True)
@given(st.lists(expressions.PAIRS, min_size=10, max_size=10))
def test_an_expression_means_what_it_means_over_an_edge(pairs):
    """Each value per vertex has the bits of NumPy's scalars, for random expressions."""
    count, params = expressions.COUNT, expressions.PARAMS
    columns = {name: expressions.VALUES[name] for name in "ilfdut"}
    dtypes = {name: array.dtype.name for name, array in columns.items()}
    dtypes = dtypes, {name: value.dtype.name for name, value in params.items()}
    trees, texts = {}, {}
    for at, pair in enumerate(pairs):
        (number, message), (question, cond) = map(per_vertex, pair)
        with contextlib.suppress(
            ExpressionError
        ):  # a literal that does not fit, or without a value
            trees |= {
                f"number{at}": VertexReader("number", number, *dtypes).begin(),
                f"question{at}": VertexReader("question", question, *dtypes).cond(),
            }
            texts |= {f"number{at}": message, f"question{at}": cond}
    xp, near = np, 0.0
    if BACKEND.name == "cudf":
        # CuPy compiles all kernels with -ftz=true, which takes smaller float32 values for 0.
        xp, near = cupy_or_skip(), float(np.finfo("float32").tiny)
    given = {name: xp.asarray(array) for name, array in columns.items()}
    found = {name: xp.empty(count, tree.dtype) for name, tree in trees.items()}
    VertexValues(None, given | found, params).assign(trees)
    for name, text in texts.items():
        parsed = ast.parse(text, mode="eval").body
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            wanted = [
                expressions.reference(parsed, params | {"src": v, "dst": v}) for v in range(count)
            ]
        wanted = np.array(wanted).astype(trees[name].dtype)
        values = kernels_for(found[name]).to_host(found[name])
        for one, other, small in zip(values, wanted, abs(columns["f"]), strict=True):
            if 0 < small < near:
                continue
            same = one.tobytes() == other.tobytes() or (one != one and other != other)
            same = same or (wanted.dtype == "float32" and abs(one - other) < near)
            assert same, f"{text}: {one!r} is not {other!r}"


# When it ends


def test_an_iteration_ends_when_the_test_holds_and_says_what_it_did(built):
    g = built([(i, i + 1) for i in range(150)], directed=False)
    op = gf.EdgeOp("hops", target="hops", signal="hops[src] + 1", slot="min")
    start = pd.DataFrame({"vertex": [0], "hops": [0]})
    how = {"columns": {"hops": 1000}, "start": start, "until": "largest(hops) < 1000"}
    found, steps = traced(g.run([op], **how, max_iter=500, trace=True))
    assert found["hops"].tolist() == list(range(151))
    assert len(steps) == 150
    assert set(steps["direction"]) == {"pull"}
    assert set(steps["frontier"]) == {151}
    with pytest.raises(ConvergenceError, match=r"after 149.*since 1000 < 1000 is false"):
        g.run([op], **how, max_iter=149).compute()
    so_far = g.run([op], **how, max_iter=149, fail_on_nonconvergence=False).compute()
    assert so_far["hops"].tolist() == [*range(150), 1000]


def test_vertices_as_values_work_in_expressions_per_vertex(built):
    """Expressions see the numbers of vertices, which are in the order of the ids."""
    g = built([(10, 150), (140, 150), (20, 70), (60, 70)])
    op = gf.EdgeOp("last", target="last", signal="src", slot="max")
    columns = {"last": "vertex", "number": 0}
    found = g.run([op, {"number": "int(last)"}], columns=columns, max_iter=1).compute()
    assert found["vertex"].tolist() == [10, 20, 60, 70, 140, 150]
    assert found["last"].tolist() == [10, 20, 60, 70, 140, 150]
    assert found["number"].tolist() == [0, 1, 2, 3, 4, 5]


SUM = gf.EdgeOp("sum", target="y", signal="x[src]", slot="add")
RIGHT = {"op": [{"x": "y"}, SUM], "columns": {"x": 0.0, "y": 0.0}, "max_iter": 1}


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"op": []}, OptionError, r"\[\] is not a program; give an EdgeOp, or a list"),
        ({"op": {"x": "y"}}, OptionError, "is not a program"),
        ({"op": [SUM, {}]}, OptionError, "{} is not a step"),
        ({"op": [SUM, {"x": 1}]}, OptionError, "{'x': 1} is not a step"),
        ({"max_iter": None}, OptionError, "max_iter=None with a list of steps"),
        ({"op": SUM, "until": "n > 1"}, OptionError, "give a list of steps"),
        ({"until": 3}, OptionError, "until=3; give an expression"),
        ({"until": "x < 1"}, ExpressionError, "an answer for each vertex"),
        ({"until": "total(x)"}, ExpressionError, "a number where a truth value is needed"),
        ({"op": [{"x": "z"}, SUM]}, ExpressionError, r"steps\[0\]\['x'\]: 'z' is not a column"),
        ({"op": [{"x": "x[src]"}, SUM]}, ExpressionError, r"by its name without \[src\]"),
        ({"op": [{"x": "before(1)"}, SUM]}, ExpressionError, "before takes the name of a column"),
        ({"op": [{"x": "total()"}, SUM]}, ExpressionError, "total takes one value, not 0"),
        ({"op": [{"x": "sqrt(y)"}, SUM]}, ExpressionError, "allowed are numbers.*largest"),
        ({"op": [{"x": "y > 0"}, SUM]}, ExpressionError, "a truth value where a number is needed"),
        ({"columns": {"x": 0, "y": 0}, "op": [{"x": "y / 2"}, SUM]}, ExpressionError, "is int64"),
        ({"columns": {"x": 0.0, "y": 0}}, ExpressionError, "convert with int64"),
        ({"columns": {"x": 0.0}}, OptionError, r"the columns of the program are \['x', 'y'\]"),
        ({"columns": {"x": 0.0, "y": 0.0, "z": 1}}, OptionError, "give an initial value for each of them"),
        ({"columns": {"x": "y", "y": 0.0}}, ExpressionError, "'y' is not a column or a parameter"),
        ({"columns": {"x": "vertex", "y": 0.0}}, ExpressionError, "cannot hold all of float"),
        ({"columns": {"x": "vertex", "y": 0}, "op": [{"x": "1"}, SUM]}, OptionError, "only edge prog"),
        ({"params": {"a": 1}}, OptionError, "params gives 'a', which no expression"),
        ({"params": {"n": 1}}, OptionError, "params has 'n'"),
        ({"params": {"a": "1"}}, OptionError, r"params\['a'\]='1'; give True"),
        ({"params": 3}, OptionError, "params=3; give a dict"),
        ({"fail_on_nonconvergence": 1}, OptionError, "fail_on_nonconvergence=1"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_invalid_steps_are_refused_at_the_call(options, error, says):
    g = gf.Graph(frame([(0, 1)]), **ENDS)
    g.run(**RIGHT).compute()
    with pytest.raises(error, match=says):
        g.run(**RIGHT | options)


def test_an_edge_program_says_whether_it_is_reversed():
    op = gf.EdgeOp("sum", target="y", signal="x[src]", slot="add", reverse=True)
    assert repr(op).endswith("reverse=True)")
    assert op != SUM
    with pytest.raises(OptionError, match="reverse=1; give True or False"):
        gf.EdgeOp("sum", target="y", signal="x[src]", slot="add", reverse=1)
    pairs = [(1, 2), (2, 3), (4, 3)]
    start = pd.DataFrame({"vertex": [3], "hops": [0]})
    how = {"target": "hops", "signal": "hops[src] + 1", "slot": "min"}
    found = gf.Graph(frame(pairs), **ENDS).run(
        gf.EdgeOp("to", **how, reverse=True), columns={"hops": 9}, start=start
    )
    assert found.compute()["hops"].tolist() == [2, 1, 0, 1]
