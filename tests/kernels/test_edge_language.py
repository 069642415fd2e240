"""Expressions have the same values by NumPy, on the host and in CUDA C++."""

from __future__ import annotations

import ctypes
import math
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
import test_cuda_compile
from expressions import (
    BFS,
    BITS,
    BY_HAND,
    COUNT,
    DTYPES,
    EDGES,
    FEW,
    PAIRS,
    PARAMS,
    PARENT,
    SSSP,
    SUM,
    VALUES,
    WEIGHTS,
    expected,
)
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from test_cuda_compile import GENERATIONS, options_for

from dask_graphflow import EdgeOp
from dask_graphflow import exceptions as ex
from dask_graphflow.kernels import sources
from dask_graphflow.programs import cuda
from dask_graphflow.programs.after import After
from dask_graphflow.programs.edge_op import with_after
from dask_graphflow.programs.rewrite import in_fixed_point

nvrtc = test_cuda_compile.nvrtc


def bind(k, number, question):
    """Return a program with this signal, into a column of its dtype, and this cond."""
    question = question.replace("src", "dst").replace("weight", "l[dst]")
    names = re.findall(r"\w+", f"{number} {question}")
    given = {
        "signal": number,
        "cond": question,
        "params": {n: PARAMS[n] for n in names if n in PARAMS},
    }
    errors = []
    for dtype in ("int32", "int64", "float32", "float64", "uint64"):
        try:
            op = EdgeOp(f"e{k}", target=f"out_{dtype}", slot="max", **given)
            return op.bind(DTYPES, index_dtype="int32", weight_dtype="float32")
        except ex.ExpressionError as refused:
            errors.append(str(refused))
    others = [error for error in errors if "cannot hold" not in error]
    assert others, errors  # a column of one of the types can hold the signal
    # Only literals alone, and a literal that does not fit the other operand, are refused.
    for error in others:
        assert re.search("has no value|not a number|does not fit", error), error
    return reject()


def same_bits(where, found, wanted, text):
    wanted = wanted.astype(found.dtype)  # a signal of literals alone takes the target's dtype
    for edge, a, b in zip(EDGES, found, wanted, strict=True):
        same = a.tobytes() == b.tobytes() or (a != a and b != b)  # a NaN is a NaN
        assert same, f"{where}, {text}, {edge}: {a!r} is not {b!r}"


def host_results(bound):
    columns = *(VALUES[n] for n in bound.op.columns), *(PARAMS[n] for n in bound.op.params)
    signal, cond, *_ = bound.host
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
static int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
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
        layout = cuda.layout(bound.typed)
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


@settings(FEW, max_examples=1, derandomize=True)
@given(st.lists(PAIRS, min_size=6, max_size=8))
def test_numpy_host_and_device_agree_to_the_bit(tmp_path, pairs):
    check(pairs, tmp_path)


@pytest.mark.slow
@settings(FEW, max_examples=30)
@given(st.lists(PAIRS, min_size=6, max_size=8))
def test_many_expressions_agree_to_the_bit(tmp_path, pairs):
    check(pairs, tmp_path)


def test_expressions_that_compilers_get_wrong_agree_to_the_bit(tmp_path):
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


def test_combine_keeps_the_first_of_equal_values_and_wraps_and_sets_bits():
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


AFTER = """
template <typename Op> void run(Op op)
{
    for (int dst = 0; dst < COUNT; ++dst) putchar(op.after(dst, dst));
}
"""


def test_what_follows_the_messages_is_the_same_on_the_host_and_in_cpp(tmp_path):
    """New values are computed from the old ones, and some of them are only for vertices that are kept."""
    finite = "abs(d[dst]) < inf"
    after = After(
        f"{finite} and step < 9",
        always={"l": f"exponent(d[dst]) if {finite} else 0", "u": "uint64(l[dst])"},
        kept={"d": "power_of_two(-exponent(d[dst]))", "i": "int32(count_ones(u[dst]))"},
    )
    op = with_after(EdgeOp("e", target="i", signal="i[src]", slot="max"), after)
    bound = op.bind(DTYPES, index_dtype="int32")
    found = {name: VALUES[name].copy() for name in op.columns}
    keep = [bound.host.after(tuple(found.values()), np.int32(d), d) for d in range(COUNT)]

    old = {name: VALUES[name] for name in op.columns}
    assert keep == [d < 9 for d in np.arange(COUNT) + 9 * ~np.isfinite(old["d"])]
    exponents = np.where(np.isfinite(old["d"]), np.frexp(old["d"])[1], 0)
    ones = np.array([int(word).bit_count() for word in old["u"]])
    with np.errstate(over="ignore"):
        wanted = {
            "d": np.where(keep, np.ldexp(1.0, -exponents), old["d"]),
            "i": np.where(keep, ones, old["i"]).astype("int32"),
            "l": exponents.astype("int64"),
            "u": old["l"].astype("uint64"),
        }
    members = [f"reinterpret_cast<{_member(bound, name)}>({name})" for name in op.columns]
    calls = [f"run({bound.cuda_name}{{{', '.join(members)}}});"]
    calls += [f"fwrite({name}, 1, sizeof {name}, stdout);" for name in op.columns]
    printed = run_cpp([bound], AFTER, calls, tmp_path)
    assert list(printed[:COUNT]) == keep
    assert printed[COUNT:] == b"".join(column.tobytes() for column in found.values())
    for name, column in found.items():
        np.testing.assert_array_equal(column, wanted[name])


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
    floats = EdgeOp("floats", target="d", signal="d[src] * weight", slot="add")
    for way, op in zip(("find", "add"), in_fixed_point(floats, ["d"]), strict=False):
        fixed = {"d": "float64", "largest": "float64", "scale": "float64", "sums": "int64"}
        op = replace(op, name=f"floats_{way}")
        yield op.bind(fixed, index_dtype="int32", weight_dtype="float64")


@pytest.mark.parametrize("generation", GENERATIONS)
def test_programs_compile_for_every_generation(nvrtc, generation):
    bounds = list(bounds_for_cuda())
    parts = [sources.source("edge_op.cuh"), *(bound.cuda for bound in bounds), KERNEL]
    names = tuple(f"push<{bound.cuda_name}>" for bound in bounds)
    lowered, size, log = nvrtc.compile("\n".join(parts), "edges.cu", options_for(generation), names)
    assert len(set(lowered)) == len(bounds)
    assert size > 0
    assert not log, f"the compiler warns:\n{log}"


def ptx(compiler, source, expression):
    """Return the PTX that NVRTC compiles from a kernel, before it becomes machine code."""
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
