"""Edge programs to try, random expressions, and their values by NumPy."""

from __future__ import annotations

import ast
import functools
import math
import operator
import re
import warnings

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from dask_graphflow import EdgeOp

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


def add_one(columns, src, dst, weight):
    return columns[0][src] + 1


def above_three(columns, dst):
    return columns[0][dst] > 3


CUDA = """
    __device__ Value signal(Index src, Index dst, Weight weight) const { return level_[src] + 1; }
    __device__ bool cond(Index dst) const { return level_[dst] > 3; }
"""
BY_HAND = EdgeOp.from_code(
    "by_hand",
    target="level",
    slot="min",
    columns=["level"],
    signal=add_one,
    cond=above_three,
    cuda=CUDA,
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
# The forms that each letter stands for: forms with further letters, and forms that end an expression.
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
    """Return whether an expression consists of literals only."""
    names = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name)]
    return not set(names) - {"inf", "min", "max", "abs"}


def weak(*values):
    return all(type(value) in (int, float) for value in values)


def alike(tree, *values):
    """Convert NumPy scalars and literals to one dtype.

    Literals stay literals if `tree` consists of literals only.
    """
    if weak(*values) and literal(tree):
        return values
    return tuple(np.result_type(*values).type(value) for value in values)


def reference(tree, at, columns=VALUES):
    """Evaluate an expression for one edge, as NumPy does with scalars."""
    value = functools.partial(reference, at=at, columns=columns)
    match tree:
        case ast.Constant():
            return tree.value
        case ast.Name():
            return math.inf if tree.id == "inf" else at[tree.id]
        case ast.Subscript():
            return columns[tree.value.id][at[tree.slice.id]]
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
    # -0.0 becomes 0.0; a weak result gets the type that it has without an operand.
    result = np.array(found)
    return result + result.dtype.type(0)


PAIRS = st.tuples(st.sampled_from("NNU").flatmap(expressions), expressions("T"))
# Both compilers run for each example, so shrinking a failing example would take many minutes.
FEW = settings(
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
