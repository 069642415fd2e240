"""What Numba does not provide: atomics, bit counts, prefetch hints, work space and reads of weights.

All atomics are relaxed. Ordinary writes become visible to other threads when the threads meet (see
:mod:`.host_teams`), or between two kernels. Indices do not wrap around: a negative index does not count
from the end.
"""

from __future__ import annotations

from typing import Any

from .compiling import intrinsic


def item_pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Return LLVM's pointer to ``array[index]``."""
    from numba.core import cgutils
    from numba.np import arrayobj

    view = arrayobj.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, view, [index], wraparound=False)


def _fetch(operation: str) -> Any:
    def typed(typing_context, array, index, value):  # type: ignore[no-untyped-def]
        from numba.core import types

        def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            pointer = item_pointer(context, builder, signature.args[0], *arguments[:2])
            return builder.atomic_rmw(operation, pointer, arguments[2], "monotonic")

        return array.dtype(array, types.intp, array.dtype), codegen

    typed.__doc__ = (
        f"""Atomically {operation} an integer into ``array[index]``; return the old value."""
    )
    return intrinsic(typed)


fetch_add = _fetch("add")
fetch_or = _fetch("or")
fetch_min = _fetch("min")  # for signed integers


@intrinsic
def swap(typing_context, array, index, expected, desired):  # type: ignore[no-untyped-def]
    """Atomically set ``array[index]`` to `desired` if it has the bits of `expected`; say whether it had."""
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba.core import types

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        pointer = item_pointer(context, builder, signature.args[0], *arguments[:2])
        values = arguments[2:]
        if isinstance(array.dtype, types.Float):
            bits = ir.IntType(array.dtype.bitwidth)
            pointer = builder.bitcast(pointer, bits.as_pointer())
            values = [builder.bitcast(value, bits) for value in values]
        pair = builder.cmpxchg(pointer, *values, "monotonic", "monotonic")
        return builder.zext(builder.extract_value(pair, 1), context.get_value_type(types.boolean))

    return types.boolean(array, types.intp, array.dtype, array.dtype), codegen


@intrinsic
def trailing_zeros(typing_context, word):  # type: ignore[no-untyped-def]
    """Return the index of the lowest set bit of `word`, which must not be 0."""
    from llvmlite import ir
    from numba.core import types

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), codegen


@intrinsic
def count_ones(typing_context, word):  # type: ignore[no-untyped-def]
    """Return the number of set bits in `word`."""
    from numba.core import types

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), codegen


@intrinsic
def weight_at(typing_context, weights, index):  # type: ignore[no-untyped-def]
    """Return ``weights[index]``, or 1 if `weights` is None. The test takes no time when it runs."""
    from numba.core import types

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        if weights == types.none:
            return context.get_constant(types.int64, 1)
        pointer = item_pointer(context, builder, weights, *arguments)
        return context.unpack_value(builder, weights.dtype, pointer)

    dtype = types.int64 if weights == types.none else weights.dtype
    return dtype(weights, types.intp), codegen


@intrinsic
def prefetch(typing_context, array, index):  # type: ignore[no-untyped-def]
    """Prefetch the cache line of ``array[index]``. The index may be outside the array."""
    from llvmlite import ir
    from numba.core import types

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        hint = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        )
        pointer = builder.bitcast(
            item_pointer(context, builder, signature.args[0], *arguments), byte
        )
        # Read access, keep in all cache levels, data cache.
        builder.call(hint, [pointer, *(ir.Constant(number, flag) for flag in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen


@intrinsic
def scratch(typing_context, count, dtype):  # type: ignore[no-untyped-def]
    """Return an array of a constant number of items on the stack, without values.

    It lives as long as the compiled function that Python called.
    """
    from numba.core import cgutils, types
    from numba.np import arrayobj

    if not isinstance(count, types.IntegerLiteral):  # Numba also asks for a variable number
        return None
    made = types.Array(dtype.dtype, 1, "C")

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        item = context.get_data_type(made.dtype)
        length = context.get_constant(types.intp, count.literal_value)
        size = context.get_constant(types.intp, context.get_abi_sizeof(item))
        data = cgutils.alloca_once(builder, item, size=length)
        array = arrayobj.make_array(made)(context, builder)
        arrayobj.populate_array(
            array, data=data, shape=[length], strides=[size], itemsize=size, meminfo=None
        )
        return array._getvalue()

    return made(count, dtype), codegen
