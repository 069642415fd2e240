"""What the text of an edge program on the host may call; ``cuda/edge_op.cuh`` has the twins.

Only compiled functions call them. The functions are compiled separately and not with ``inline="always"``.
With it, a division by zero would follow the error model of the caller. LLVM inlines the functions anyway.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from dask_graphflow.kernels.compiling import inner, intrinsic
from dask_graphflow.kernels.host_atomics import count_ones as count_ones

compiled = partial(inner, error_model="numpy")


@intrinsic
def fenced(typing_context, x):
    """Return `x`; if it is a float, hide from LLVM how it was computed.

    LLVM turns a comparison and a choice between the same two numbers into a minimum or maximum, and then
    folds min(a, min(b, a)) to min(b, a). With a NaN or -0.0, that gives a different number.
    """
    from numba.core import types

    def codegen(context, builder, signature, arguments):
        if not isinstance(x, types.Float):
            return arguments[0]
        fence = builder.module.declare_intrinsic("llvm.arithmetic.fence", [arguments[0].type])
        return builder.call(fence, arguments)

    return x(x), codegen


@compiled
def negative(a):
    return np.int64(np.uint64(0) - np.uint64(a))


@compiled
def absolute(a):
    return negative(a) if a < 0 else np.int64(a)


@compiled
def quotient(a, b):
    if b == 0:
        return 0
    # The smallest integer divided by -1 wraps around. The processor's division would trap.
    return negative(a) if b == -1 else a // b


@compiled
def rest(a, b):
    return 0 if b == 0 or b == -1 else a % b


@compiled
def unsigned_quotient(a, b):
    return b if b == 0 else a // b  # not a literal 0, which would make Numba use float64


@compiled
def unsigned_rest(a, b):
    return b if b == 0 else a % b


@compiled
def shifted_left(a, b):
    return np.uint64(a) << np.uint64(b) if np.uint64(b) < np.uint64(64) else np.uint64(0)


@compiled
def shifted_right(a, b):
    # The processor cannot shift by the full width at once.
    count = min(np.uint64(b), np.uint64(63))
    return a >> count >> np.uint64(np.uint64(b) > count)


@compiled
def float_rest(a, b):
    rest = np.fmod(a, b)
    if b == 0:
        return rest
    if rest == 0:
        return np.copysign(rest, b)
    return rest + b if (rest < 0) != (b < 0) else rest


@compiled
def float_quotient(a, b, one):
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


@compiled
def smaller(a, b):
    return b if fenced(b) < a else a


@compiled
def larger(a, b):
    return b if fenced(b) > a else a


@compiled
def to_int32(x):
    if abs(x) < 2147483648.0:
        return np.int32(x)
    if x != x:
        return np.int32(0)
    return np.int32(2147483647) if x > 0 else np.int32(-2147483648)


@compiled
def to_int64(x):
    if abs(x) < 9223372036854775808.0:  # with two comparisons, a sum takes 1.8 times as long
        return np.int64(x)
    if x != x:
        return np.int64(0)
    return np.int64(9223372036854775807) if x > 0 else np.int64(-9223372036854775808)


@compiled
def to_uint64(x):
    if 0 < x < 18446744073709551616.0:
        return np.uint64(x)
    return np.uint64(18446744073709551615) if x > 0 else np.uint64(0)


@compiled
def exponent(x):
    return math.frexp(x)[1]


@compiled
def power_of_two(k):
    return math.ldexp(1.0, k)
