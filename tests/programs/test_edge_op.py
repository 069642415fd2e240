"""An EdgeOp: what it refuses, what it shares, and code written by hand."""

from __future__ import annotations

import gc
import pathlib
import pickle
import sys
import threading
from dataclasses import replace

import cloudpickle
import numba
import numpy as np
import pytest
from expressions import BFS, BITS, BY_HAND, CUDA, FADE, PARENT, SSSP, SUM, above_three, add_one
from shapes import advance

from dask_graphflow import EdgeOp
from dask_graphflow import exceptions as ex
from dask_graphflow.kernels.advance import host as host_advance
from dask_graphflow.kernels.rows import host as host_rows
from dask_graphflow.programs import expressions

ROOT = pathlib.Path(__file__).parents[2]

# What is refused.


SIGNALS = [
    ("level[src] @ 10", r"signal: .*allowed are.*\n.*\n +\^{15}$"),
    ("level[src] & 0.5", r"this is float64, and & takes integers"),
    ("~float32(dst)", r"float32, and ~ takes .* int\("),
    ("1 << -1", r"no value"),
    ("1 << 10**9", r"larger than"),
    ("(src == 1) | (dst == 1)", r"truth value where a number"),
    (
        "int(src) if dst < 3 else uint64(dst)",
        r"uint64 and int64 meet here.*uint64\(\.\.\.\) or int64",
    ),
    ("level[src] +", r"no expression of Python"),
    ("", r"no expression of Python"),
    ("len(level)", r"functions min, max, abs, int"),
    ("level[src].x", r"allowed are"),
    ("min(*level)", r"min takes two or more"),
    ("min(level[src])", r"two or more values, not 1"),
    ("abs(1, 2)", r"abs takes one value, not 2"),
    ("min(1, 2, key=3)", r"allowed are"),
    ("(lambda: 1)()", r"allowed are"),
    ("1j", r"allowed are"),
    ("'a'", r"allowed are"),
    ("level[src] in dst", r"allowed are"),
    ("+src", r"allowed are"),
    ("1 + level", r"level\[src\]\n    1 \+ level\n        \^{5}$"),
    ("level[0]", r"column\[src\] or column\[dst\]"),
    ("ä[src]", r"ASCII"),
    ("weight[src]", r"'weight' cannot be used.*rename"),
    ("src == 1", r"truth value where a number.*int\("),
    ("1 if src else 2", r"number where a truth value.*!= 0"),
    ("1 if not src else 2", r"number where a truth value"),
    ("(src == 1) + 1", r"truth value where a number"),
    ("src ** dst", r"exponent.*1 to 16"),
    ("src ** 17", r"exponent.*1 to 16"),
    ("9 ** 9 ** 9", r"larger than"),
    ("1 // 0", r"no value"),
    ("inf - inf", r"not a number"),
    ("1" + "+1" * 20000, r"nested too deeply"),
    (["level[src]"], r"an expression is a str"),
    (len, r"from_code"),
]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        *(({"signal": signal}, ex.ExpressionError, message) for signal, message in SIGNALS),
        ({"cond": "level[src] == 1"}, ex.ExpressionError, r"cond is a question about dst"),
        ({"cond": "src == 1"}, ex.ExpressionError, r"cond is a question about dst"),
        ({"cond": "weight > 1"}, ex.ExpressionError, r"knows no weight"),
        ({"cond": "level[dst] + 1"}, ex.ExpressionError, r"cond: a number where a truth value"),
        ({"cond": 1}, ex.ExpressionError, r"an expression is a str"),
        ({"slot": "mini"}, ex.OptionError, r"'min', 'max', 'add', 'or'; did you mean 'min'"),
        ({"slot": ["min"]}, ex.OptionError, r"'min', 'max', 'add'"),
        ({"slot": "add", "first_hit": True}, ex.OptionError, r"slot='add'.*every message"),
        ({"slot": "or", "first_hit": True}, ex.OptionError, r"slot='or'.*every message"),
        ({"first_hit": "yes"}, ex.OptionError, r"True or False"),
        ({"target": "dst"}, ex.ExpressionError, r"target 'dst' cannot be used"),
        ({"target": 7}, ex.ExpressionError, r"target 7 cannot be used"),
        ({"params": 3}, ex.OptionError, r"params=3; give a dict"),
        ({"params": {"a b": 3}}, ex.OptionError, r"cannot be named 'a b'; .*rename"),
        ({"params": {7: 3}}, ex.OptionError, r"cannot be named 7"),
        ({"params": {"src": 3}}, ex.OptionError, r"cannot be named 'src'; .*rename"),
        ({"params": {"min": 3}}, ex.OptionError, r"cannot be named 'min'; .*rename"),
        ({"params": {"level": 3}}, ex.OptionError, r"'level' is a parameter and a column"),
        ({"params": {"step": 3}}, ex.OptionError, r"no expression reads parameter 'step'"),
        ({"params": {"step": "3"}}, ex.OptionError, r"params\['step'\]='3'; give .*np.uint64\(1\)"),
        ({"params": {"step": 2**63}}, ex.OptionError, r"an int that int64 can hold"),
        ({"params": {"step": np.uint8(3)}}, ex.OptionError, r"a NumPy number of bool, int32"),
        ({"name": "a b"}, ex.OptionError, r"name='a b'"),
        ({"name": None}, ex.OptionError, r"name=None"),
    ],
)
def test_an_invalid_edge_program_is_refused_when_written(options, error, message):
    given = {"name": "x", "target": "level", "signal": "level[src] + 1", "slot": "min"} | options
    with pytest.raises(error, match=message) as raised:
        EdgeOp(**given)
    assert isinstance(raised.value, ex.GraphflowError)


@pytest.mark.parametrize(
    ("op", "types", "message"),
    [
        (BFS, {"levels": "int32"}, "'level'.*did you mean 'levels'"),
        (BFS, {}, "there are none"),
        (BFS, {"level": "uint8"}, "'level' is uint8; allowed are bool, int32"),
        (BFS, {"level": "str"}, "allowed are"),
        (BFS, {"level": "no dtype"}, "is no dtype; allowed are"),
        (BFS, {"level": None}, "is None; allowed are"),
        (BFS, {"level": ">i4"}, "is >i4; allowed are"),
        (BFS, {"level": "bool"}, "'level' is bool"),
        (SSSP, {"distance": "float32"}, "float64.*'distance' is float32"),
        (SSSP, {"distance": "int64"}, "'distance' is int64, which cannot hold"),
        (SUM, {"total": "float64", "share": "float32"}, "order of the edges"),
        (BITS, {"seen": "float64"}, "bits are those of integers.*uint64"),
        (BITS, {"seen": "bool"}, "'seen' is bool"),
        (SUM, {"total": "int32", "share": "float32"}, r"int64.*int32\(\.\.\.\)"),
        (PARENT, {"parent": "int32", "seen": "bool"}, "int64.*'parent' is int32"),
        (PARENT, {"parent": "int64", "seen": "int32"}, "a number where a truth"),
        (PARENT, {"parent": "float64", "seen": "bool"}, "cannot hold all"),
    ],
)
def test_an_invalid_edge_program_is_refused_when_bound(op, types, message):
    known = any(name in types for name in op.columns)
    with pytest.raises(ex.ExpressionError if known else ex.UnknownColumnError, match=message):
        op.bind(types, index_dtype="int64", weight_dtype="float64")


def test_types_of_ids_and_weights_that_programs_cannot_read_are_refused():
    columns = {"distance": "float64"}
    with pytest.raises(ex.WeightError, match="weight="):
        SSSP.bind(columns, index_dtype="int32")
    with pytest.raises(ex.ExpressionError, match="weight is bool"):
        SSSP.bind(columns, index_dtype="int32", weight_dtype=bool)
    with pytest.raises(ex.ExpressionError, match="vertex id is uint32; allowed are int32, int64"):
        SSSP.bind(columns, index_dtype="uint32", weight_dtype="float32")


@pytest.mark.parametrize(
    "number",
    [
        "(9**1024)**1024",
        "(((9**1024)**1024)**1024)**1024",
        "9**9**9",
        "2**1024",
        "10**200 * 10**200",
        "0x" + "f" * 100_000,
        "1" * 1_000_000,
    ],
    ids=lambda number: number[:20],
)
def test_whole_numbers_beyond_every_type_are_refused_briefly(number):
    with pytest.raises(ex.ExpressionError, match=r"larger than 1\.8e\+308") as refused:
        EdgeOp("e", target="level", signal=f"level[src] + {number}", slot="min")
    assert len(str(refused.value)) < 400
    # The replacement that the message suggests.
    EdgeOp("e", target="level", signal="level[src] + inf", slot="min")


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("10**300 // 10**299", 10),
        ("1**10**300", 1),
        ("0**10**300", 0),
        ("2**1023 // 2**1000", 2**23),
    ],
)
def test_powers_are_limited_by_their_value_and_not_by_their_exponent(number, value):
    bound = EdgeOp("e", target="l", signal=f"l[src] + {number}", slot="min").bind(
        {"l": "int64"}, index_dtype="int32"
    )
    assert bound.host.signal((np.array([3]),), 0, 0, 0) == 3 + value


@pytest.mark.parametrize("place", [0, 50, 500])
def test_an_error_in_a_long_expression_shows_the_part_around_it(place):
    terms = ["level[src]"] * 100
    terms[place // 10] = "oops"
    with pytest.raises(ex.ExpressionError) as refused:
        EdgeOp("e", target="level", signal=" + ".join(terms), slot="min")
    _, line, mark = str(refused.value).splitlines()
    assert len(line) < 100
    assert line[mark.index("^") : mark.index("^") + mark.count("^")] == "oops"


def test_literals_take_the_type_of_what_they_meet():
    def bound(signal, dtype):
        op = EdgeOp("x", target="c", signal=signal, slot="min")
        return op.bind({"c": dtype}, index_dtype="int32")

    for signal in (
        "1",
        "-2147483648",
        "1 if c[src] > 2 else 0",
        "c[src] + 2147483647",
        "2**31 - 1",
    ):
        assert bound(signal, "int32").trees[0].dtype == "int32"
    assert bound("c[src] * 0.1", "float32").trees[0].dtype == "float32"
    for signal, dtype in (("2147483648", "int32"), ("c[src] + 2**31", "int32"), ("2**63", "int64")):
        with pytest.raises(ex.ExpressionError, match=f"does not fit {dtype}"):
            bound(signal, dtype)
    for signal, dtype in (("16777217", "float32"), ("c[src] + 1e300", "float32")):
        with pytest.raises(ex.ExpressionError, match=f"does not fit {dtype}"):
            bound(signal, dtype)
    with pytest.raises(ex.ExpressionError, match="cannot hold all of float64"):
        bound("0.5", "int32")
    with pytest.raises(ex.ExpressionError, match=r"convert with float64\(\.\.\.\)"):
        bound("int64(c[src])", "float64")


# The object.


def test_an_edge_program_lists_the_columns_that_it_reads():
    op = EdgeOp(
        "x", target="a", signal="b[src] + c[dst] * weight", slot="min", cond="d[dst] == dst"
    )
    assert op.columns == ("a", "b", "c", "d")
    assert (op.reads_src, op.reads_dst, op.needs_weight) == (("b",), ("c", "d"), True)
    assert not BFS.needs_weight


@pytest.mark.parametrize("op", [BFS, SSSP, SUM, FADE, PARENT, BY_HAND], ids=str)
def test_a_pickled_edge_program_is_equal(op):
    for pickler in (pickle, cloudpickle):
        again = pickle.loads(pickler.dumps(op))
        assert again == op
        assert hash(again) == hash(op)
        assert (again.columns, again.reads_src) == (op.columns, op.reads_src)
    assert len({op, again}) == 1
    assert op != EdgeOp("other", target="a", signal="1", slot="min")


def test_the_repr_of_a_program_shows_its_definition():
    assert eval(repr(BFS)) == BFS
    assert eval(repr(FADE)) == FADE
    assert repr(SSSP) == (
        "EdgeOp('sssp', target='distance', signal='distance[src] + weight', slot='min')"
    )


def test_equal_programs_share_what_was_compiled():
    def bound(dtype="int32", **options):
        op = EdgeOp("x", target="a", signal=" a[src] + 1 ", slot="min")
        return op.bind({"a": dtype, "unused": "uint8"}, index_dtype="int32", **options)

    first, second = bound(), pickle.loads(pickle.dumps(bound(weight_dtype="float32")))
    assert first == second
    assert first.host.signal is second.host.signal
    assert bound("int64").host.signal is not first.host.signal


def test_another_value_of_a_parameter_compiles_nothing():
    rows = host_rows.Rows(np.array([0, 1, 1]), np.array([1], "int32"), np.ones(1, "float32"), 0)

    def heat(op, start=8.0):
        columns = {"heat": np.array([start, 0])}
        for way in ("push", "pull"):
            advance(op, columns, rows, None, direction=way)
        return columns["heat"][1]

    assert heat(FADE) == 4
    compiled = host_advance.kernels.cache_info().misses
    cooler = FADE.with_params(keep=0.25)
    assert (heat(cooler), heat(cooler.with_params(most=0)), heat(FADE)) == (2, 0, 4)
    assert heat(FADE.with_params(hot=False, least=1)) == 0
    assert host_advance.kernels.cache_info().misses == compiled
    bounds = [
        op.bind({"heat": "float64"}, index_dtype="int32", weight_dtype="float32")
        for op in (FADE, cooler)
    ]
    loops = host_advance.kernels(bounds[0].host_program)
    assert [len(loop.signatures) for loop in (loops.push, loops.pull)] == [1, 1]
    assert bounds[0] == bounds[1]  # by which the device keeps its kernels too
    assert bounds[0].cuda == bounds[1].cuda


def test_values_of_parameters_keep_their_dtypes():
    assert FADE != (cooler := FADE.with_params(keep=0.25)) != FADE.with_params(keep=0.125)
    assert cooler.params == {"hot": True, "keep": 0.25, "least": 0.25, "most": 7}
    whole = FADE.with_params(keep=1, most=np.int32(3), least=np.float32(0.5))
    assert whole.param_dtypes == FADE.param_dtypes
    assert [value.dtype.name for value in whole.params.values()] == list(
        dict(FADE.param_dtypes).values()
    )
    one, real = (replace(BFS, signal="level[src] + one", params={"one": one}) for one in (1, 1.0))
    assert one != real
    for values in ({"most": 7.0}, {"most": 2**63}, {"hot": 1}, {"keep": True}, {"keep": 1e39}):
        with pytest.raises(ex.OptionError, match=r"give a number that \w+ can hold"):
            FADE.with_params(**values)
    with pytest.raises(ex.OptionError, match=r"no parameter 'kept'; .*did you mean 'keep'"):
        FADE.with_params(kept=0.25)


def test_threads_may_read_expressions_at_the_same_time():
    class Finalized:
        """Makes a garbage collection, also in the middle of a parse, run Python code."""

        def __del__(self):
            sum(range(50))

    failures = []

    def read():
        for _ in range(300):
            loop = Finalized()
            loop.loop = loop
            del loop
            try:
                expressions.parsed("1 + (a[src] + (weight * (2 + 3 if b else (4 + 5)))) * 3 < inf")
            except SystemError as error:
                failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(8)]
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    try:
        sys.setswitchinterval(1e-6)
        gc.set_threshold(5)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
        gc.set_threshold(*thresholds)
    assert not failures


# Code written by hand.


@pytest.mark.parametrize("compiled", [False, True])
def test_hand_written_code_is_an_edge_op_like_any_other(compiled):
    given = {"signal": add_one, "cond": above_three}
    given = {name: numba.njit(f) if compiled else f for name, f in given.items()}
    op = EdgeOp.from_code("by_hand", target="level", slot="min", columns=(), cuda=CUDA, **given)
    assert (op.columns, op.reads_src, op.needs_weight) == (("level",), ("level",), False)
    assert (op == BY_HAND) is not compiled
    bound = op.bind({"level": "int32"}, index_dtype="int32")
    levels = (np.array([5, 1], "int32"),)
    assert bound.host.signal(levels, 0, 1, 0) == 6
    assert [bound.host.cond(levels, dst) for dst in (0, 1)] == [True, False]
    assert CUDA in bound.cuda


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"signal": "level[src]"}, ex.ExpressionError, "signal is 'level.*a function of"),
        ({"signal": above_three}, ex.ExpressionError, "signal is a function of 2 arguments"),
        ({"cond": add_one}, ex.ExpressionError, "cond is a function of 4 arguments"),
        ({"cond": None}, ex.ExpressionError, r"has a function cond"),
        ({"cuda": "int x;"}, ex.ExpressionError, r"lacks a function signal"),
        ({"cuda": None}, ex.ExpressionError, r"lacks a function signal"),
        ({"columns": ["a b"]}, ex.ExpressionError, "column 'a b' cannot be used"),
        ({"columns": 3}, ex.ExpressionError, "columns=3"),
        ({"needs_weight": 1}, ex.OptionError, "needs_weight=1"),
        ({"slot": "first"}, ex.OptionError, "slot='first'"),
        ({"target": ["level"]}, ex.ExpressionError, "target .*cannot be used"),
    ],
)
def test_invalid_hand_written_code_is_refused(options, error, message):
    given = {
        "target": "level",
        "slot": "min",
        "columns": [],
        "signal": add_one,
        "cond": above_three,
    }
    with pytest.raises(error, match=message):
        EdgeOp.from_code("x", **(given | {"cuda": CUDA} | options))


# The document; its examples run when the site is built.


def test_the_document_names_every_function_and_type():
    text = (ROOT / "docs" / "howto" / "edge_programs.md").read_text()
    for name in (*expressions.FUNCTIONS, *expressions.COLUMN_TYPES):
        assert f"`{name}" in text, name
