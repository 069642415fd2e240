"""An EdgeOp means one thing: to NumPy, on the host and in CUDA C++."""

from __future__ import annotations

import ast
import ctypes
import functools
import gc
import math
import operator
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import threading
import warnings
from dataclasses import replace

import cloudpickle
import numba
import numpy as np
import pytest
import test_cuda_compile
from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import strategies as st
from test_cuda_compile import GENERATIONS

from dask_graphflow import EdgeOp
from dask_graphflow import exceptions as ex
from dask_graphflow.kernels import edge_cuda, edge_expr, edge_host, host_advance, host_rows, sources
from dask_graphflow.operators.local_advance import advance

ROOT = pathlib.Path(__file__).parent.parent
nvrtc = test_cuda_compile.nvrtc

BFS = EdgeOp(
    "bfs",
    target="level",
    signal="level[src] + 1",
    slot="min",
    cond="level[dst] == 2147483647",
    first_hit=True,
)
SSSP = EdgeOp("sssp", target="distance", signal="distance[src] + weight", slot="min")
SUM = EdgeOp("sum", target="total", signal="int(share[src] * weight * 2.0**40)", slot="add")
BITS = EdgeOp("bits", target="seen", signal="seen[src]", slot="or")
FADE = EdgeOp(
    "fade",
    target="heat",
    signal="heat[src] * keep if weight < most else 0",
    slot="max",
    cond="hot or heat[dst] > least",
    params={"keep": np.float32(0.5), "most": 7, "hot": True, "least": 0.25},
)
PARENT = EdgeOp("parent", target="parent", signal="src", slot="max", cond="not seen[dst]")


def _signal(columns, src, dst, weight):
    return columns[0][src] + 1


def _cond(columns, dst):
    return columns[0][dst] > 3


CUDA = """
    __device__ Value signal(Index src, Index dst, Weight weight) const { return level_[src] + 1; }
    __device__ bool cond(Index dst) const { return level_[dst] > 3; }
"""
BY_HAND = EdgeOp.from_code(
    "by_hand", target="level", slot="min", columns=["level"], signal=_signal, cond=_cond, cuda=CUDA
)


# Random expressions, in three ways.

VALUES = {
    "i": np.array([0, 1, -1, 7, -13, 2**31 - 1, -(2**31), 300, 2, -2, 5], "int32"),
    "l": np.array([3, 0, -1, -(2**63), 2**63 - 1, 10**12, -7, 1, 2**31, -300, 13], "int64"),
    "f": np.array([0.5, math.nan, 0, -0.0, -2.25, math.inf, 3e38, 1e-40, -7, 0.1, 1], "float32"),
    "d": np.array(
        [-0.0, 0.1, -math.inf, 7.5, math.nan, -3, 1e300, 5e-324, 0, 2.5, 9e18], "float64"
    ),
    "u": np.array(
        [2**64 - 1, 0, 2**63, 7, 1, 2**53 + 1, 300, 63, 64, 2**31, 2**64 - 2**39 - 1], "uint64"
    ),
    "t": np.array([True, False, True, True, False] * 2 + [False]),
}
COUNT = len(VALUES["i"])
VALUES |= {f"out_{a.dtype}": a for a in list(VALUES.values()) if a.dtype != bool}
WEIGHTS = np.array([0.5, -3, math.nan, 0, 2.0**-149, -0.0, 1e30], "float32")
DTYPES = {name: array.dtype for name, array in VALUES.items()}
PARAMS = {
    "pi": np.int32(-5),
    "pl": np.int64(2**40 + 3),
    "pu": np.uint64(2**64 - 6),
    "pf": np.float32(0.1),
    "pd": np.float64(-1e5),
    "pt": np.bool_(True),
}
EDGES = [(s, d, (s * COUNT + d) % len(WEIGHTS)) for s in range(COUNT) for d in range(COUNT)]

ENDS = ["src", "dst"]
LITERALS = ["0", "1", "2", "7", "300", "0.0", "0.5", "2.5", "1e10", "inf", "(-1)", "(-0.0)"]
LEAVES = (
    [f"{name}[{end}]" for name in "ilfd" for end in ENDS]
    + [*ENDS, "weight", "pi", "pl", "pf", "pd"]
    + LITERALS
)
COMPARE = ["==", "!=", "<", "<=", ">", ">="]
# What each letter stands for: forms in which letters are left, and what to end with.
FORMS = {
    "N": (  # a number, but no uint64
        ["(N A N)"] * 4
        + ["(N ** P)", "(-N)", "(N if T else N)", "M(N; N)", "M(N; N; N)", "F(N)", "int32(T)"]
        + ["(I B I)", "(I S K)", "(~I)", "(U / U)", "G(U)"],
        LEAVES,
    ),
    "I": (  # a signed integer
        ["(I D I)", "(I B I)", "(I S K)", "(~I)", "int(N)", "int32(N)", "int(U)"],
        ["i[src]", "i[dst]", "l[src]", "l[dst]", *ENDS, "pi", "pl", "7", "(-1)"],
    ),
    "U": (  # a uint64
        ["(U D U)", "(U B U)"] * 2
        + ["(Q D U)", "(U B Q)", "(U S U)", "(U S Q)", "(~U)", "(-U)", "(U ** P)"]
        + ["(U if T else U)", "M(U; Q; U)", "abs(U)", "uint64(N)", "uint64(I)"],
        ["u[src]", "u[dst]", "pu"],
    ),
    "T": (  # a truth value
        ["(N C N)"] * 3
        + ["(N C N C N)", "(U C U)", "(T L T)", "(not T)", "(T == T)", "(T if T else T)"],
        ["t[src]", "t[dst]", "pt", "True", "False"],
    ),
}
CHOICES = {
    "A": ["+", "-", "*", "/", "//", "%"],
    "B": ["&", "|", "^"],
    "C": COMPARE,
    "D": ["+", "-", "*", "//", "%"],
    "F": ["abs", "int", "float", "int32", "int64", "float32", "float64"],
    "G": ["int", "float", "int32", "float32"],
    "K": ["0", "1", "31", "64", "i[dst]", "l[src]", "dst"],
    "L": ["and", "or"],
    "M": ["min", "max"],
    "P": "12345",
    "Q": ["0", "1", "31", "64", "18446744073709551615"],
    "S": ["<<", ">>"],
}


@st.composite
def expressions(draw, kind="N", depth=4):
    forms, leaves = FORMS[kind]
    if not depth or draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from(leaves))
    form = draw(st.sampled_from(forms))

    def drawn(letter):
        if letter in CHOICES:
            return draw(st.sampled_from(CHOICES[letter]))
        return draw(expressions(letter, depth - 1))

    return re.sub("[A-Z]", lambda found: drawn(found[0]), form).replace(";", ",")


ARITHMETIC = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
COMPARISONS = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def literal(tree):
    """Say whether an expression is of literals alone."""
    names = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name)]
    return not set(names) - {"inf", "min", "max", "abs"}


def weak(*values):
    return all(type(value) in (int, float) for value in values)


def alike(tree, *values):
    """Bring NumPy scalars and literals to one dtype; literals alone stay so where `tree` is one."""
    if weak(*values) and literal(tree):
        return values
    return tuple(np.result_type(*values).type(value) for value in values)


def reference(tree, at):
    """Evaluate an expression as NumPy does with scalars, `at` one edge."""
    value = functools.partial(reference, at=at)
    match tree:
        case ast.Constant():
            return tree.value
        case ast.Name():
            return math.inf if tree.id == "inf" else at[tree.id]
        case ast.Subscript():
            return VALUES[tree.value.id][at[tree.slice.id]]
        case ast.UnaryOp(op=ast.Not()):
            return not value(tree.operand)
        case ast.UnaryOp():
            (operand,) = alike(tree, value(tree.operand))
            return ~operand if isinstance(tree.op, ast.Invert) else -operand
        case ast.BinOp(op=ast.Pow()):
            (base,) = alike(tree.left, value(tree.left))
            return functools.reduce(operator.mul, [base] * tree.right.value)
        case ast.BinOp():
            a, b = alike(tree, value(tree.left), value(tree.right))
            return ARITHMETIC[type(tree.op)](a, b)
        case ast.Compare():
            values = [value(operand) for operand in (tree.left, *tree.comparators)]
            pairs = zip(tree.ops, values[:-1], values[1:], strict=True)
            return all(COMPARISONS[type(op)](*alike(tree, a, b)) for op, a, b in pairs)
        case ast.BoolOp():
            function = all if isinstance(tree.op, ast.And) else any
            return function([value(operand) for operand in tree.values])
        case ast.IfExp():
            chosen, branches = value(tree.test), (value(tree.body), value(tree.orelse))
            if weak(*branches):
                kind = float if float in map(type, branches) else int
                return kind(branches[0] if chosen else branches[1])
            return np.result_type(*branches).type(branches[0] if chosen else branches[1])
        case ast.Call():
            return called(tree, tree.func.id, [value(argument) for argument in tree.args])


def called(tree, name, values):
    if name in ("min", "max"):
        return functools.reduce(min if name == "min" else max, alike(tree, *values))
    (value,) = values
    if name == "abs":
        return abs(*alike(tree, value))
    dtype = np.dtype({"int": "int64", "float": "float64"}.get(name, name))
    if dtype.kind in "iu" and isinstance(value, float | np.floating):
        limits = np.iinfo(dtype)
        if math.isnan(value):
            return dtype.type(0)
        if math.isinf(value):
            return dtype.type(limits.max if value > 0 else limits.min)
        return dtype.type(min(max(int(value), limits.min), limits.max))
    return np.array(value).astype(dtype)[()]


def expected(text, *, question=False):
    tree = ast.parse(text, mode="eval").body
    found = []
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        for s, d, w in EDGES:
            at = PARAMS | {"src": np.int32(s), "dst": np.int32(d), "weight": WEIGHTS[w]}
            found.append(bool(reference(tree, at)) if question else reference(tree, at))
    if question:
        return np.array(found)
    # -0.0 becomes 0.0; a weak result has the type that it has alone.
    result = np.array(found)
    return result + result.dtype.type(0)


def bind(k, number, question):
    """Return a program with this signal, into a column of its dtype, and this cond."""
    question = question.replace("src", "dst").replace("weight", "l[dst]")
    names = re.findall(r"\w+", f"{number} {question}")
    given = {
        "signal": number,
        "cond": question,
        "params": {n: PARAMS[n] for n in names if n in PARAMS},
    }
    for dtype in ("int32", "int64", "float32", "float64", "uint64"):
        try:
            op = EdgeOp(f"e{k}", target=f"out_{dtype}", slot="max", **given)
            return op.bind(DTYPES, index_dtype="int32", weight_dtype="float32")
        except ex.ExpressionError as refused:
            error = str(refused)
            if "cannot hold" not in error:
                # Of literals alone, or a literal and what it meets: nothing else is refused.
                assert re.search("has no value|not a number|does not fit", error), error
    assert "cannot hold" not in error, error
    return reject()


def same_bits(where, found, wanted, text):
    wanted = wanted.astype(found.dtype)  # a signal of literals alone takes the target's dtype
    for edge, a, b in zip(EDGES, found, wanted, strict=True):
        same = a.tobytes() == b.tobytes() or (a != a and b != b)  # a NaN is a NaN
        assert same, f"{where}, {text}, {edge}: {a!r} is not {b!r}"


def host_results(bound):
    columns = *(VALUES[n] for n in bound.op.columns), *(PARAMS[n] for n in bound.op.params)
    signal, cond, _ = bound.host
    signals = [signal(columns, np.int32(s), np.int32(d), WEIGHTS[w]) for s, d, w in EDGES]
    conds = [cond(columns, np.int32(d)) for _, d, _ in EDGES]
    return np.array(signals, bound.value_dtype), np.array(conds)


SHIM = """
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#define __device__
#define __forceinline__ inline
static float __fadd_rn(float a, float b) { return a + b; }
static float __fsub_rn(float a, float b) { return a - b; }
static float __fmul_rn(float a, float b) { return a * b; }
static float __fdiv_rn(float a, float b) { return a / b; }
static double __dadd_rn(double a, double b) { return a + b; }
static double __dsub_rn(double a, double b) { return a - b; }
static double __dmul_rn(double a, double b) { return a * b; }
static double __ddiv_rn(double a, double b) { return a / b; }
static float __int_as_float(int a) { float b; memcpy(&b, &a, 4); return b; }
"""
RUN = """
template <typename Op> void run(Op op, const float* weights)
{
    for (int s = 0; s < COUNT; ++s)
        for (int d = 0; d < COUNT; ++d) {
            const auto weight = weights[(s * COUNT + d) % WEIGHTS];
            const typename Op::Value value = op.signal(s, d, typename Op::Weight(weight));
            fwrite(&value, sizeof value, 1, stdout);
        }
    for (int s = 0; s < COUNT; ++s)
        for (int d = 0; d < COUNT; ++d) putchar(op.cond(d));
}
"""


def run_cpp(bounds, code, calls, folder):
    """Return what the device's source and `code` print on the host, where undefined behavior traps."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    data = {name: array.tobytes() for name, array in VALUES.items()}
    data |= {name: value.tobytes() for name, value in PARAMS.items()}
    data["weights"] = WEIGHTS.tobytes()
    parts = [
        SHIM,
        f"enum {{ COUNT = {COUNT}, WEIGHTS = {len(WEIGHTS)} }};",
        sources.source("edge_op.cuh").replace("#pragma once", ""),
        *(bound.cuda for bound in bounds),
        code,
    ]
    for name, content in data.items():
        parts.append(f"alignas(8) static unsigned char {name}[] = {{{str(list(content))[1:-1]}}};")
    parts += ["int main() {", *calls, "}"]
    source, program = folder / "edges.cpp", folder / "edges"
    source.write_text("\n".join(parts))
    subprocess.run(
        [
            *(compiler, "-std=c++17", "-O1", "-ffp-contract=off", "-fno-strict-aliasing"),
            *("-fsanitize=undefined,float-cast-overflow", "-fsanitize-undefined-trap-on-error"),
            *("-o", program, source),
        ],
        check=True,
    )
    return subprocess.run([program], check=True, capture_output=True).stdout


def cpp_results(bounds, folder):
    calls = []
    for bound in bounds:
        # As the struct's own members: the right types, in its order.
        members = [f"reinterpret_cast<{_member(bound, n)}>({n})" for n in bound.op.columns]
        members += [f"*reinterpret_cast<{_member(bound, n)}*>({n})" for n in bound.op.params]
        program = f"{bound.cuda_name}{{{', '.join(members)}}}"
        calls.append(f"run({program}, reinterpret_cast<const float*>(weights));")
        layout = edge_cuda.layout(bound)
        calls.append(f"static_assert(sizeof({bound.cuda_name}) == {layout.itemsize});")
        for name, (_, offset) in layout.fields.items():
            calls.append(f"static_assert(offsetof({bound.cuda_name}, {name}_) == {offset});")
    content = run_cpp(bounds, RUN, calls, folder)
    for bound in bounds:
        values = np.frombuffer(content, bound.value_dtype, len(EDGES))
        conds = np.frombuffer(content, bool, len(EDGES), offset=values.nbytes)
        content = content[values.nbytes + conds.nbytes :]
        yield values, conds


def _member(bound, name):
    return f"decltype({bound.cuda_name}::{name}_)"


def check(pairs, folder):
    bounds = [bind(k, *pair) for k, pair in enumerate(pairs)]
    on_device = cpp_results(bounds, folder)
    for bound, (values, conds) in zip(bounds, on_device, strict=True):
        wanted = expected(bound.op.signal), expected(bound.op.cond, question=True)
        for where, found in {"host": host_results(bound), "C++": (values, conds)}.items():
            same_bits(where, found[0], wanted[0], bound.op.signal)
            same_bits(where, found[1], wanted[1], bound.op.cond)


PAIRS = st.tuples(st.sampled_from("NNU").flatmap(expressions), expressions("T"))
# Both compilers run for each example: to make a failing one small would take many minutes.
FEW = settings(
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@settings(FEW, max_examples=3, derandomize=True)
@given(st.lists(PAIRS, min_size=6, max_size=8))
def test_numpy_host_and_device_agree_to_the_bit(tmp_path, pairs):
    check(pairs, tmp_path)


@pytest.mark.slow
@settings(FEW, max_examples=30)
@given(st.lists(PAIRS, min_size=6, max_size=8))
def test_many_expressions_agree_to_the_bit(tmp_path, pairs):
    check(pairs, tmp_path)


def test_what_compilers_get_wrong(tmp_path):
    numbers = [
        "min(0.0, min(d[dst], 0.0)) - d[src]",  # LLVM leaves the outer min out
        "max(min(d[src], d[dst]), d[src])",
        "d[src] if d[src] < 0.0 else 0.0",
        "float64((l[src] * l[src]) // 3)",  # Numba says that this does not overflow
        "l[src] // l[dst] + l[src] % l[dst] - abs(-l[src])",
        "i[src] // i[dst] + i[src] % i[dst] - abs(-i[src])",
        "f[src] // f[dst] + f[src] % f[dst]",
        "int32(d[src]) + int64(f[src] * 1e30)",
        "i[src] / i[dst] + f[src]",
        "-9223372036854775808",
        "d[src] * d[dst] + d[src]",  # two roundings
        "i[src] << i[dst] ^ i[src] >> i[dst]",  # undefined in C++ for most of these counts
        "l[src] << l[dst] ^ l[src] >> l[dst]",
        "u[src] << u[dst] | u[src] >> u[dst]",
        "u[src] // u[dst] - u[src] % u[dst]",
        "uint64(d[src]) & uint64(f[dst])",
        "float32(u[src])",  # one rounding, not two
        "pl // i[src] if pt else l[src] << pi",
        "pf * f[src] + pd",
        "u[src] & ~pu | pu >> 3",
    ]
    check([(number, "t[dst]") for number in numbers], tmp_path)


COMBINE = """
template <typename Op> void run(const typename Op::Value* values)
{
    for (int a = 0; a < COUNT; ++a)
        for (int b = 0; b < COUNT; ++b) {
            const auto value = Op::combine(values[a], values[b]);
            fwrite(&value, sizeof value, 1, stdout);
        }
}
"""


@pytest.mark.parametrize("slot", ["min", "max"])
@pytest.mark.parametrize("name", ["f", "d"])
def test_slots_treat_nan_as_numpy_does_on_the_host_and_in_cpp(name, slot, tmp_path):
    values, numpys = VALUES[name], {"min": np.minimum, "max": np.maximum}[slot]
    bound = EdgeOp("e", target=name, signal=f"{name}[src]", slot=slot).bind(
        DTYPES, index_dtype="int32"
    )
    wanted = numpys.outer(values, values)
    host = [bound.host.combine(old, new) for old in values for new in values]
    np.testing.assert_array_equal(np.array(host).reshape(wanted.shape), wanted)
    given = f"reinterpret_cast<{_member(bound, name)}>({name})"
    printed = run_cpp([bound], COMBINE, [f"run<{bound.cuda_name}>({given});"], tmp_path)
    cpp = np.frombuffer(printed, values.dtype)
    np.testing.assert_array_equal(cpp, host)
    number = cpp == cpp  # a NaN's bits may differ
    np.testing.assert_array_equal(np.signbit(cpp)[number], np.signbit(host)[number])


def test_combine_keeps_the_first_of_equals_and_wraps_and_sets_bits():
    columns = {"level": "int32", "distance": "float64", "total": "int64", "share": "float32"}
    types = {"index_dtype": "int32", "weight_dtype": "float32"}
    least, shortest = BFS.bind(columns, **types).host, SSSP.bind(columns, **types).host
    assert [least.combine(3, new) for new in (2, 3, 4)] == [2, 3, 3]
    assert [shortest.combine(0.0, -0.0), shortest.combine(-0.0, 0.0)] == [0.0, -0.0]
    assert math.copysign(1, shortest.combine(-0.0, 0.0)) == -1
    added = SUM.bind(columns, **types).host.combine
    assert added(np.int64(2**63 - 1), np.int64(2)) == -(2**63) + 1
    for dtype, old, new in (("uint64", 2**63, 2**40 + 1), ("int32", -(2**31), 6), ("int64", -8, 5)):
        both = BITS.bind({"seen": dtype}, **types).host.combine(*np.array([old, new], dtype))
        assert both == old | new


# What is refused.


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"signal": "level[src] @ 10"},
            ex.ExpressionError,
            r"signal: .*allowed are.*\n.*\n +\^{15}$",
        ),
        (
            {"signal": "level[src] & 0.5"},
            ex.ExpressionError,
            r"this is float64, and & takes integers",
        ),
        ({"signal": "~float32(dst)"}, ex.ExpressionError, r"float32, and ~ takes .* int\("),
        ({"signal": "1 << -1"}, ex.ExpressionError, r"no value"),
        ({"signal": "1 << 10**9"}, ex.ExpressionError, r"larger than"),
        ({"signal": "(src == 1) | (dst == 1)"}, ex.ExpressionError, r"truth value where a number"),
        (
            {"signal": "int(src) if dst < 3 else uint64(dst)"},
            ex.ExpressionError,
            r"uint64 and int64 meet here.*uint64\(\.\.\.\) or int64",
        ),
        ({"signal": "level[src] +"}, ex.ExpressionError, r"no expression of Python"),
        ({"signal": ""}, ex.ExpressionError, r"no expression of Python"),
        ({"signal": "len(level)"}, ex.ExpressionError, r"functions min, max, abs, int"),
        ({"signal": "level[src].x"}, ex.ExpressionError, r"allowed are"),
        ({"signal": "min(*level)"}, ex.ExpressionError, r"min takes two or more"),
        ({"signal": "min(level[src])"}, ex.ExpressionError, r"two or more values, not 1"),
        ({"signal": "abs(1, 2)"}, ex.ExpressionError, r"abs takes one value, not 2"),
        ({"signal": "min(1, 2, key=3)"}, ex.ExpressionError, r"allowed are"),
        ({"signal": "(lambda: 1)()"}, ex.ExpressionError, r"allowed are"),
        ({"signal": "1j"}, ex.ExpressionError, r"allowed are"),
        ({"signal": "'a'"}, ex.ExpressionError, r"allowed are"),
        ({"signal": "level[src] in dst"}, ex.ExpressionError, r"allowed are"),
        ({"signal": "+src"}, ex.ExpressionError, r"allowed are"),
        (
            {"signal": "1 + level"},
            ex.ExpressionError,
            r"level\[src\]\n    1 \+ level\n        \^{5}$",
        ),
        ({"signal": "level[0]"}, ex.ExpressionError, r"column\[src\] or column\[dst\]"),
        ({"signal": "ä[src]"}, ex.ExpressionError, r"ASCII"),
        ({"signal": "weight[src]"}, ex.ExpressionError, r"'weight' cannot be used.*rename"),
        ({"signal": "src == 1"}, ex.ExpressionError, r"truth value where a number.*int\("),
        ({"signal": "1 if src else 2"}, ex.ExpressionError, r"number where a truth value.*!= 0"),
        ({"signal": "1 if not src else 2"}, ex.ExpressionError, r"number where a truth value"),
        ({"signal": "(src == 1) + 1"}, ex.ExpressionError, r"truth value where a number"),
        ({"signal": "src ** dst"}, ex.ExpressionError, r"exponent.*1 to 16"),
        ({"signal": "src ** 17"}, ex.ExpressionError, r"exponent.*1 to 16"),
        ({"signal": "9 ** 9 ** 9"}, ex.ExpressionError, r"larger than"),
        ({"signal": "1 // 0"}, ex.ExpressionError, r"no value"),
        ({"signal": "inf - inf"}, ex.ExpressionError, r"not a number"),
        ({"signal": "1" + "+1" * 20000}, ex.ExpressionError, r"nested too deeply"),
        ({"signal": ["level[src]"]}, ex.ExpressionError, r"an expression is a str"),
        ({"signal": len}, ex.ExpressionError, r"from_code"),
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
def test_refused_when_written(options, error, message):
    given = {"name": "x", "target": "level", "signal": "level[src] + 1", "slot": "min"} | options
    with pytest.raises(error, match=message) as raised:
        EdgeOp(**given)
    assert isinstance(raised.value, ex.GraphflowError)


@pytest.mark.parametrize(
    ("op", "types", "error", "message"),
    [
        (BFS, {"levels": "int32"}, ex.UnknownColumnError, "'level'.*did you mean 'levels'"),
        (BFS, {}, ex.UnknownColumnError, "there are none"),
        (BFS, {"level": "uint8"}, ex.ExpressionError, "'level' is uint8; allowed are bool, int32"),
        (BFS, {"level": "str"}, ex.ExpressionError, "allowed are"),
        (BFS, {"level": "no dtype"}, ex.ExpressionError, "is no dtype; allowed are"),
        (BFS, {"level": None}, ex.ExpressionError, "is None; allowed are"),
        (BFS, {"level": ">i4"}, ex.ExpressionError, "is >i4; allowed are"),
        (BFS, {"level": "bool"}, ex.ExpressionError, "'level' is bool"),
        (SSSP, {"distance": "float32"}, ex.ExpressionError, "float64.*'distance' is float32"),
        (SSSP, {"distance": "int64"}, ex.ExpressionError, "'distance' is int64, which cannot hold"),
        (SUM, {"total": "float64", "share": "float32"}, ex.ExpressionError, "order of the edges"),
        (BITS, {"seen": "float64"}, ex.ExpressionError, "bits are those of integers.*uint64"),
        (BITS, {"seen": "bool"}, ex.ExpressionError, "'seen' is bool"),
        (
            SUM,
            {"total": "int32", "share": "float32"},
            ex.ExpressionError,
            r"int64.*int32\(\.\.\.\)",
        ),
        (
            PARENT,
            {"parent": "int32", "seen": "bool"},
            ex.ExpressionError,
            "int64.*'parent' is int32",
        ),
        (
            PARENT,
            {"parent": "int64", "seen": "int32"},
            ex.ExpressionError,
            "a number where a truth",
        ),
        (PARENT, {"parent": "float64", "seen": "bool"}, ex.ExpressionError, "cannot hold all"),
    ],
)
def test_refused_when_bound(op, types, error, message):
    with pytest.raises(error, match=message):
        op.bind(types, index_dtype="int64", weight_dtype="float64")


def test_refused_for_ids_and_weights():
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
    # What the message says to write instead.
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


def test_what_it_reads():
    op = EdgeOp(
        "x", target="a", signal="b[src] + c[dst] * weight", slot="min", cond="d[dst] == dst"
    )
    assert op.columns == ("a", "b", "c", "d")
    assert (op.reads_src, op.reads_dst, op.needs_weight) == (("b",), ("c", "d"), True)
    assert not BFS.needs_weight


@pytest.mark.parametrize("op", [BFS, SSSP, SUM, FADE, PARENT, BY_HAND], ids=str)
def test_equal_after_a_journey(op):
    for pickler in (pickle, cloudpickle):
        again = pickle.loads(pickler.dumps(op))
        assert again == op
        assert hash(again) == hash(op)
        assert (again.columns, again.reads_src) == (op.columns, op.reads_src)
    assert len({op, again}) == 1
    assert op != EdgeOp("other", target="a", signal="1", slot="min")


def test_repr_is_what_was_written():
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
    assert all(len(loop.signatures) == 1 for loop in host_advance.kernels(bounds[0]))
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


def test_a_repeated_value_is_read_once():
    op = EdgeOp("x", target="a", signal="1", slot="min", cond="0 < a[dst] < 9 or a[dst] == 20")
    bound = op.bind({"a": "int32"}, index_dtype="int32")
    assert edge_host.python(bound).count("columns[0]") == 1
    assert bound.cuda.count("a_[dst]") == 1


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
                edge_expr.parsed("1 + (a[src] + (weight * (2 + 3 if b else (4 + 5)))) * 3 < inf")
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


def test_importing_it_does_not_import_numba():
    code = (
        "import sys, dask_graphflow as gf\n"
        "op = gf.EdgeOp('x', target='a', signal='a[src] + 1', slot='min')\n"
        "op.bind({'a': 'int32'}, index_dtype='int32').cuda\n"
        "sys.exit('numba' in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# Code written by hand.


@pytest.mark.parametrize("compiled", [False, True])
def test_hand_written_code_is_an_edge_op_like_any_other(compiled):
    given = {"signal": _signal, "cond": _cond}
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
        ({"signal": _cond}, ex.ExpressionError, "signal is a function of 2 arguments"),
        ({"cond": _signal}, ex.ExpressionError, "cond is a function of 4 arguments"),
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
def test_refused_of_hand_written_code(options, error, message):
    given = {"target": "level", "slot": "min", "columns": [], "signal": _signal, "cond": _cond}
    with pytest.raises(error, match=message):
        EdgeOp.from_code("x", **(given | {"cuda": CUDA} | options))


# CUDA.

KERNEL = """
template <typename Op> __global__ void push(Op op, typename Op::Index dst, typename Op::Weight weight)
{
    const typename Op::Index src = threadIdx.x;
    if (op.cond(dst))
        op.target()[dst] = Op::combine(op.target()[dst], op.signal(src, dst, weight));
}
"""
EVERYTHING = EdgeOp(
    "everything",
    target="d",
    signal="min(d[src] // 3, d[dst] % weight, -abs(i[src] ** 3 // -7 % 5) / l[dst], inf, 0.1)"
    " + float64(int(f[src] * 1e9)) - (f[dst] if 0 <= i[dst] < src or not t[src] else weight)"
    " * float32(l[src] * 3 - 9223372036854775807) + float(int32(f[src]) + int32(t[dst]))"
    " + (pd if pt else pf * pi) + (pl - int(pu))"
    " + (abs(u[src] // 3 << 2 ^ uint64(f[dst])) % u[dst] >> 1) + (~i[src] << dst & 5 | l[src] >> 2)",
    slot="max",
    cond="t[dst] == (d[dst] < inf) and dst != 2147483647",
    params=PARAMS,
)


def bounds_for_cuda():
    columns = {name: DTYPES[name] for name in "ilufdt"} | {"share": "float32", "seen": "bool"}
    for index in ("int32", "int64"):
        for number in ("int32", "int64", "uint64", "float32", "float64"):
            signal = "c[src] + " + ("weight" if number.startswith("float") else "1")
            op = EdgeOp(f"path_{index}_{number}", target="c", signal=signal, slot="min")
            yield op.bind({"c": number}, index_dtype=index, weight_dtype="float32")
    yield EVERYTHING.bind(columns, index_dtype="int64", weight_dtype="float32")
    for number in ("int32", "int64", "uint64"):
        op = EdgeOp(f"bits_{number}", target="seen", signal="seen[src] >> 1", slot="or")
        yield op.bind({"seen": number}, index_dtype="int32")
    yield SUM.bind(columns | {"total": "int64"}, index_dtype="int32", weight_dtype="float64")
    yield PARENT.bind(columns | {"parent": "int64"}, index_dtype="int32")
    yield BY_HAND.bind({"level": "int32"}, index_dtype="int32")


@pytest.mark.parametrize("generation", GENERATIONS)
def test_programs_compile_for_every_generation(nvrtc, generation):
    bounds = list(bounds_for_cuda())
    parts = [sources.source("edge_op.cuh"), *(bound.cuda for bound in bounds), KERNEL]
    options = (*sources.OPTIONS, f"--gpu-architecture=sm_{generation}")
    names = tuple(f"push<{bound.cuda_name}>" for bound in bounds)
    lowered, size, log = nvrtc.compile("\n".join(parts), "edges.cu", options, names)
    assert len(set(lowered)) == len(bounds)
    assert size > 0
    assert not log, f"the compiler warns:\n{log}"


def ptx(compiler, source, expression):
    """Return what NVRTC makes of a kernel, before it is machine code."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    place = ctypes.byref(program)
    compiler._call("nvrtcCreateProgram", place, source.encode(), b"edges.cu", 0, None, None)
    try:
        compiler._call("nvrtcAddNameExpression", program, expression.encode())
        options = [option.encode() for option in (*sources.OPTIONS, "-arch=compute_90")]
        given = (ctypes.c_char_p * len(options))(*options)
        compiler._call("nvrtcCompileProgram", program, len(options), given)
        compiler._call("nvrtcGetPTXSize", program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        compiler._call("nvrtcGetPTX", program, text)
        return text.value.decode()
    finally:
        compiler._library.nvrtcDestroyProgram(place)


@pytest.mark.parametrize(
    ("signal", "instruction", "count"),
    [
        ("d[src] * 1.5 + d[src]", "mul.rn.f64", 1),  # fused
        ("min(0.0, min(d[src], 0.0)) * 1.5", "setp.lt.f64", 3),  # the outer one left out
    ],
)
def test_the_device_compiler_takes_no_liberties(nvrtc, signal, instruction, count):
    bound = EdgeOp("x", target="d", signal=signal, slot="min").bind(DTYPES, index_dtype="int32")
    prelude = sources.source("edge_op.cuh")
    # What the compiler does with plain operators, and where it sees through a fence.
    plain = re.sub(r"__d(add|mul)_rn\(a, b\)", lambda f: f"a {'+*'[f[1] == 'mul']} b", prelude)
    plain = plain.replace("__CUDA_ARCH__", "NEVER")
    as_written, at_liberty = (
        ptx(nvrtc, text + bound.cuda + KERNEL, f"push<{bound.cuda_name}>")
        for text in (prelude, plain)
    )
    assert as_written.count(instruction) == count
    assert at_liberty.count(instruction) < count


def test_only_the_target_is_written():
    bound = SUM.bind({"total": "int64", "share": "float32"}, index_dtype="int32", weight_dtype="f4")
    assert "    const float* share_;\n    long long* total_;\n" in bound.cuda


# The document; its examples run when the site is built.


def test_the_document_names_every_function_and_type():
    text = (ROOT / "docs" / "howto" / "edge_programs.md").read_text()
    for name in (*edge_expr.FUNCTIONS, *edge_expr.COLUMN_TYPES):
        assert f"`{name}" in text, name
