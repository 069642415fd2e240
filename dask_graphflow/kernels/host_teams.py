"""Threads that run a whole loop in one call of a kernel, and meet between its steps without Python.

Every thread calls the kernel once, with a part of its own, and the kernel begins with :func:`enter`. Part 0
leads, and waits for no thread to start: it works alone, and another thread joins the step that it finds
open. So no member waits for a thread that the pool cannot start, and a busy machine gets a small team.

A kernel is a loop. The leader prepares a step while the others wait, all members :func:`begin` it, share
its work by a counter or by :func:`.take`, and :func:`end` it, after which no thread can join it. The last
step has no work, so that a thread that joins it returns at once. The leader does not wait for it either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .compiling import inner as _inner
from .compiling import intrinsic
from .host_atomics import item_pointer
from .host_threads import call, withdraw

# Where the numbers of a team are: each has a cache line. The numbers from OWN on belong to the kernel.
# The state is the number of members, whether a thread can join, and, in the upper half, how often they met.
STATE, ARRIVED, OWN = 0, 8, 16
MEMBERS, OPEN, UPPER = (1 << 16) - 1, 1 << 16, 32
MEETING = 1 << UPPER
FAILED = -1  # the state if the leader failed before it began
SPINS = 1 << 10  # looks before the processor is given to another thread: about 40 us
YIELDS = 1 << 4  # more looks before this thread sleeps, because another one has no processor
NAP = 20  # microseconds


@intrinsic
def load(typing_context, array, index):  # type: ignore[no-untyped-def]
    """Return ``array[index]``. What another thread wrote before it wrote this number is visible then."""
    from numba.core import types

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        pointer = item_pointer(context, builder, signature.args[0], *arguments)
        return builder.load_atomic(pointer, "acquire", array.dtype.bitwidth // 8)

    return array.dtype(array, types.intp), codegen


@intrinsic
def add(typing_context, array, index, value):  # type: ignore[no-untyped-def]
    """Atomically add to ``array[index]``, in one order with all other accesses; return the old value."""
    from numba.core import types

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        pointer = item_pointer(context, builder, signature.args[0], *arguments[:2])
        return builder.atomic_rmw("add", pointer, arguments[2], "seq_cst")

    return array.dtype(array, types.intp, array.dtype), codegen


@intrinsic
def replace(typing_context, array, index, expected, desired):  # type: ignore[no-untyped-def]
    """Atomically set ``array[index]`` to `desired` if it is `expected`; say whether it was."""
    from numba.core import types

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        pointer = item_pointer(context, builder, signature.args[0], *arguments[:2])
        pair = builder.cmpxchg(pointer, *arguments[2:], "seq_cst", "seq_cst")
        return builder.zext(builder.extract_value(pair, 1), context.get_value_type(types.boolean))

    return types.boolean(array, types.intp, array.dtype, array.dtype), codegen


@intrinsic
def pause(typing_context):  # type: ignore[no-untyped-def]
    """Tell the processor that this thread waits for another one."""
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba.core import cgutils, types

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        name, hints = {
            "x86_64": ("llvm.x86.sse2.pause", []),
            "aarch64": ("llvm.aarch64.hint", [ir.Constant(ir.IntType(32), 1)]),  # yield
            "arm64": ("llvm.aarch64.hint", [ir.Constant(ir.IntType(32), 1)]),
        }.get(str(builder.module.triple).partition("-")[0], ("", []))
        if name:
            kind = ir.FunctionType(ir.VoidType(), [hint.type for hint in hints])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), hints)
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def give_way(typing_context):  # type: ignore[no-untyped-def]
    """Let another thread use this processor."""
    return _call_of("sched_yield")


@intrinsic
def nap(typing_context):  # type: ignore[no-untyped-def]
    """Let this thread sleep for :data:`NAP` microseconds."""
    return _call_of("usleep", NAP)


def _call_of(function: str, *numbers: int) -> Any:
    """Return the signature and the code of a call of a function of C, with unsigned numbers."""
    from llvmlite import ir
    from numba.core import cgutils, types

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        whole = ir.IntType(32)
        kind = ir.FunctionType(whole, [whole] * len(numbers))
        called = cgutils.get_or_insert_function(builder.module, kind, function)
        builder.call(called, [ir.Constant(whole, number) for number in numbers])
        return context.get_dummy_value()

    return types.void(), codegen


def together(kernel: Callable[..., Any], threads: int, *arguments: Any, own: int = 0) -> np.ndarray:
    """Call ``kernel(*arguments, team, part)`` once in each thread; return the numbers of the team.

    Parameters
    ----------
    kernel : callable
        A compiled function, which begins with :func:`enter`.
    threads : int
        Maximum number of members.
    *arguments
        Arguments for every member.
    own : int, default 0
        How many of the numbers, from :data:`OWN` on, the kernel uses. They are 0 at first.
    """
    team = np.zeros(OWN + own, np.int64)
    team[STATE] = 1
    called = call(lambda part: kernel(*arguments, team, part), threads - 1)
    try:
        kernel(*arguments, team, 0)
    except BaseException:
        # Ctrl-C can stop the leader while it compiles the kernel. The others wait for it to begin.
        if team[STATE] == 1:
            team[STATE] = FAILED
        raise
    finally:
        withdraw(called)
    return team


@_inner
def _wait(looks):  # type: ignore[no-untyped-def]
    """Let some time pass until the next look; return the number of looks."""
    if looks < SPINS:
        pause()
    elif looks < SPINS + YIELDS:
        give_way()
    else:
        nap()
    return looks + 1


@_inner
def enter(team, part):  # type: ignore[no-untyped-def]
    """Return the number of this member, and how often the others had met when it was called to the team.

    The number is -1 if the leader failed before it began.
    """
    if part == 0:
        return np.int64(0), np.int64(0)
    looks = 0
    while True:
        state = load(team, np.intp(STATE))
        if state < 0:
            return np.int64(-1), np.int64(0)
        if not state & OPEN:
            looks = _wait(looks)
        elif replace(team, np.intp(STATE), state, state + 1):
            return state & MEMBERS, (state >> UPPER) - 1


@_inner
def _meet(team, me, change):  # type: ignore[no-untyped-def]
    """Wait until all members are here; the leader adds `change` to the state, and another meeting."""
    looks, state = 0, load(team, np.intp(STATE))
    if me == 0:
        while load(team, np.intp(ARRIVED)) < (state & MEMBERS) - 1:
            looks = _wait(looks)
        team[ARRIVED] = 0
        add(team, np.intp(STATE), np.int64(MEETING + change))
    else:
        add(team, np.intp(ARRIVED), np.int64(1))
        while load(team, np.intp(STATE)) >> UPPER == state >> UPPER:
            looks = _wait(looks)


@_inner
def begin(team, me, met):  # type: ignore[no-untyped-def]
    """Wait until all members are here, and let others join. Each then sees what all wrote before.

    `met` is the result of :func:`enter`, or of the last :func:`end`. A thread joins in the middle of a
    step, and has missed this meeting.
    """
    if met == load(team, np.intp(STATE)) >> UPPER:
        _meet(team, me, np.int64(OPEN))


@_inner
def end(team, me):  # type: ignore[no-untyped-def]
    """Let nobody join any more, and wait until all members are here.

    Return how many they are, and how often they have met.
    """
    if me == 0:
        add(team, np.intp(STATE), np.int64(-OPEN))
    _meet(team, me, np.int64(0))
    state = load(team, np.intp(STATE))
    return state & MEMBERS, state >> UPPER
