"""Edge programs on the host: write the tree of an expression as Python code for Numba.

The functions are compiled separately and not with ``inline="always"``. With it, a division by zero would
follow the error model of the caller. LLVM inlines the functions anyway.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numba.extending import intrinsic

from dask_graphflow.kernels.host_atomics import count_ones
from dask_graphflow.kernels.program import HostFunctions, HostProgram

from .after import OWN_FUNCTIONS
from .expressions import INTEGERS, Node, spelled
from .typed import Code, TypedProgram

_compiled = numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True)


@intrinsic
def _fenced(typing_context, x):  # type: ignore[no-untyped-def]
    """Return `x` in a way that hides from LLVM how it was computed.

    LLVM turns a comparison and a choice between the same two numbers into a minimum or maximum, and then
    folds min(a, min(b, a)) to min(b, a). With a NaN or -0.0, that gives a different number.
    """

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        fence = builder.module.declare_intrinsic("llvm.arithmetic.fence", [arguments[0].type])
        return builder.call(fence, arguments)

    return x(x), codegen


@_compiled
def _negative(a):  # type: ignore[no-untyped-def]
    return np.int64(np.uint64(0) - np.uint64(a))


@_compiled
def _absolute(a):  # type: ignore[no-untyped-def]
    return _negative(a) if a < 0 else np.int64(a)


@_compiled
def _quotient(a, b):  # type: ignore[no-untyped-def]
    if b == 0:
        return 0
    # The smallest integer divided by -1 wraps around. The processor's division would trap.
    return _negative(a) if b == -1 else a // b


@_compiled
def _rest(a, b):  # type: ignore[no-untyped-def]
    return 0 if b == 0 or b == -1 else a % b


@_compiled
def _unsigned_quotient(a, b):  # type: ignore[no-untyped-def]
    return b if b == 0 else a // b  # not a literal 0, which would make Numba use float64


@_compiled
def _unsigned_rest(a, b):  # type: ignore[no-untyped-def]
    return b if b == 0 else a % b


@_compiled
def _shifted_left(a, b, bits):  # type: ignore[no-untyped-def]
    return np.uint64(a) << np.uint64(b) if np.uint64(b) < bits else np.uint64(0)


@_compiled
def _shifted_right(a, b, bits):  # type: ignore[no-untyped-def]
    # The processor cannot shift by the full width at once.
    count = min(np.uint64(b), bits - np.uint64(1))
    return a >> count >> np.uint64(np.uint64(b) >= bits)


@_compiled
def _float_rest(a, b):  # type: ignore[no-untyped-def]
    rest = np.fmod(a, b)
    if b == 0:
        return rest
    if rest == 0:
        return np.copysign(rest, b)
    return rest + b if (rest < 0) != (b < 0) else rest


@_compiled
def _float_quotient(a, b, one):  # type: ignore[no-untyped-def]
    # Computed from the exact remainder, as in CPython and NumPy. `one` has the type of `a` and `b`, since
    # a literal would make Numba use float64.
    if b == 0:
        return a / b
    rest = np.fmod(a, b)
    quotient = (a - rest) / b
    if rest != 0 and (rest < 0) != (b < 0):
        quotient -= one
    if quotient == 0:
        return np.copysign(quotient, a / b)
    whole = np.floor(quotient)
    return whole + one if quotient - whole > 0.5 else whole


@_compiled
def _smaller(a, b):  # type: ignore[no-untyped-def]
    return b if b < a else a


@_compiled
def _float_smaller(a, b):  # type: ignore[no-untyped-def]
    return b if _fenced(b) < a else a


@_compiled
def _larger(a, b):  # type: ignore[no-untyped-def]
    return b if b > a else a


@_compiled
def _float_larger(a, b):  # type: ignore[no-untyped-def]
    return b if _fenced(b) > a else a


@_compiled
def _to_int32(x):  # type: ignore[no-untyped-def]
    if abs(x) < 2147483648.0:
        return np.int32(x)
    if x != x:
        return np.int32(0)
    return np.int32(2147483647) if x > 0 else np.int32(-2147483648)


@_compiled
def _to_int64(x):  # type: ignore[no-untyped-def]
    if abs(x) < 9223372036854775808.0:  # with two comparisons, a sum takes 1.8 times as long
        return np.int64(x)
    if x != x:
        return np.int64(0)
    return np.int64(9223372036854775807) if x > 0 else np.int64(-9223372036854775808)


@_compiled
def _to_uint64(x):  # type: ignore[no-untyped-def]
    if 0 < x < 18446744073709551616.0:
        return np.uint64(x)
    return np.uint64(18446744073709551615) if x > 0 else np.uint64(0)


@_compiled
def _exponent(x):  # type: ignore[no-untyped-def]
    return math.frexp(x)[1]


@_compiled
def _power_of_two(k):  # type: ignore[no-untyped-def]
    return math.ldexp(1.0, k)


_NAMES: dict[str, Any] = {
    "inf": math.inf,
    "int32": np.int32,
    "int64": np.int64,
    "float32": np.float32,
    "float64": np.float64,
    "uint64": np.uint64,
    "uintp": np.uintp,
    "negative": _negative,
    "absolute": _absolute,
    "quotient": _quotient,
    "rest": _rest,
    "unsigned_quotient": _unsigned_quotient,
    "unsigned_rest": _unsigned_rest,
    "shifted_left": _shifted_left,
    "shifted_right": _shifted_right,
    "float_quotient": _float_quotient,
    "float_rest": _float_rest,
    "smaller": _smaller,
    "larger": _larger,
    "fenced": _fenced,
    "float_smaller": _float_smaller,
    "float_larger": _float_larger,
    "to_int32": _to_int32,
    "to_int64": _to_int64,
    "to_uint64": _to_uint64,
    "count_ones": count_ones,
    "exponent": _exponent,
    "power_of_two": _power_of_two,
}
"""The names that the text of a function may use."""

_COMBINE = {
    "min": "new if new < old else old",
    "max": "new if new > old else old",
    "add": "{dtype}(uint64(old) + uint64(new))",
    "or": "{dtype}(old | new)",
}
# Like numpy.minimum and numpy.maximum: once one value is NaN, the result is NaN and stays NaN.
_FLOAT_COMBINE = {
    "min": "new if new < old or new != new else old",
    "max": "new if new > old or new != new else old",
}


def compiled(program: TypedProgram) -> HostProgram:
    """Return an edge program for the advance on the host."""
    return HostProgram(
        functions(program),
        # The meaning of functions by hand is in no text.
        "" if isinstance(program.code, Code) else python(program),
        list(program.columns).index(program.target),
        program.first_hit,
        program.weight_dtype is not None,
    )


def functions(program: TypedProgram) -> HostFunctions:
    """Return the functions of an edge program, compiled when they are first called."""
    names, code = dict(_NAMES), program.code
    if isinstance(code, Code):
        names |= {"given_signal": _as_compiled(code.signal), "given_cond": _as_compiled(code.cond)}
    exec(compile(python(program), f"<EdgeOp {program.name!r}>", "exec"), names)
    return HostFunctions(*(_compiled(names[name]) for name in HostFunctions._fields))


def python(program: TypedProgram) -> str:
    """Return the functions as Python code that Numba compiles."""
    value, code = program.value_dtype, program.code
    combine = _FLOAT_COMBINE if value.startswith("float") else _COMBINE
    if isinstance(code, Code):
        signal = f"    return {value}(given_signal(columns, src, dst, weight))\n"
        cond = f"    return {'given_cond(columns, dst)' if code.cond else True}\n"
    else:
        signal, cond = (_body(program, tree) for tree in code)
    return (
        f"def signal(columns, src, dst, weight):\n{signal}\n"
        f"def cond(columns, dst):\n{cond}\n"
        f"def combine(old, new):\n    return {combine[program.slot].format(dtype=value)}\n\n"
        f"def after(columns, dst, step):\n{_after(program)}\n"
    )


def _after(program: TypedProgram) -> str:
    if program.after is None:
        return "    return True"
    after, names = program.after, list(program.columns)
    lines, (keep, *values) = _written(program, *after.roots)
    lines.append(f"keep = {keep}")
    # All values are computed before the first one is assigned.
    compute = [f"new{i} = {value}" for i, value in enumerate(values)]
    columns = (names.index(name) for name in (*after.always, *after.kept))
    assign = [f"columns[{column}][uintp(dst)] = new{i}" for i, column in enumerate(columns)]
    count = len(after.always)
    lines += compute[:count]
    if after.kept:
        lines += ["if keep:", *(f"    {line}" for line in compute[count:] + assign[count:])]
    return "".join(f"    {line}\n" for line in [*lines, *assign[:count], "return keep"])


def _as_compiled(function: Any) -> Any:
    # None if there is no cond. A function that Numba has compiled already keeps its author's options.
    return function if function is None or hasattr(function, "py_func") else _compiled(function)


def _body(program: TypedProgram, tree: Node) -> str:
    lines, (text,) = _written(program, tree)
    return "".join(f"    {line}\n" for line in [*lines, f"return {text}"])


def _written(program: TypedProgram, *roots: Node) -> tuple[list[str], list[str]]:
    """Return lines that assign variables, and the code of each tree, which reads them."""
    arguments = [*program.columns, *program.params]

    def spell(node: Node, args: list[str]) -> str:
        if node.kind == "column":
            name, end = node.value
            # With a signed index, Numba would check whether it is negative and counts from the end.
            return f"columns[{arguments.index(name)}][uintp({end})]"
        if node.kind == "parameter":
            return f"columns[{arguments.index(node.value)}]"
        return _spelled(node, args)

    variables, texts = spelled(spell, *roots)
    return [f"{name} = {written}" for _, name, written in variables], texts


def _spelled(node: Node, args: list[str]) -> str:
    whole = node.dtype in INTEGERS
    match node.kind:
        case "literal":
            return repr(node.value) if node.dtype == "bool" else f"{node.dtype}({node.value!r})"
        case "name":
            return f"{node.dtype}({node.value})"
        case "convert":
            checked = whole and node.args[0].dtype.startswith("float")
            return f"{'to_' if checked else ''}{node.dtype}({args[0]})"
        case "choose":
            return f"({args[1]} if {args[0]} else {args[2]})"
        case "not":
            return f"(not {args[0]})"
        case "and" | "or":
            return f"({f' {node.kind} '.join(args)})"
        case "min" | "max":
            name = "smaller" if node.kind == "min" else "larger"
            return f"{'' if whole else 'float_'}{name}({args[0]}, {args[1]})"
        case "==" | "!=" | "<" | "<=" | ">" | ">=" if node.args[0].dtype.startswith("float"):
            return f"(fenced({args[0]}) {node.kind} {args[1]})"
        case kind if kind in OWN_FUNCTIONS:
            written = f"{kind}({args[0]})"
        case "negative":
            written = f"negative({args[0]})" if whole else f"(-{args[0]})"
        case "abs":
            written = f"absolute({args[0]})" if whole else f"abs({args[0]})"
        case "//" | "%":
            name = "quotient" if node.kind == "//" else "rest"
            one = f", {node.dtype}(1)" if node.kind == "//" and not whole else ""
            prefix = "unsigned_" if node.dtype == "uint64" else "" if whole else "float_"
            written = f"{prefix}{name}({args[0]}, {args[1]}{one})"
        case "~":
            written = f"(~{args[0]})"
        case "<<" | ">>":
            name = "shifted_left" if node.kind == "<<" else "shifted_right"
            bits = 8 * np.dtype(node.dtype).itemsize
            written = f"{name}({args[0]}, {args[1]}, uint64({bits}))"
        case "+" | "-" | "*" if whole:
            # Numba tells LLVM that signed integers do not overflow, but not that unsigned ones do not.
            written = f"(uint64({args[0]}) {node.kind} uint64({args[1]}))"
        case _:
            return f"({args[0]} {node.kind} {args[1]})"
    return f"{node.dtype}({written})" if whole else written
