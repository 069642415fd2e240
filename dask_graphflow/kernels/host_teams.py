"""Threads that run a whole loop in one call of a kernel, and meet between its steps without Python.

Every thread calls the kernel once, with a part of its own, and the kernel begins with :func:`enter`. Part 0
leads: it waits about 0.3 ms for the other threads, and closes the team. A later one returns at once. So no
member waits for a thread that the pool cannot start, and a busy machine gets a small team.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .compiling import inner as _inner
from .compiling import intrinsic
from .host_atomics import item_pointer
from .host_threads import share

# Where the numbers of a team are: each has a cache line. The numbers from OWN on belong to the kernel.
MEMBERS, ARRIVED, PHASE, WANTED, OWN = 0, 8, 16, 24, 32
CLOSED = 1 << 32  # added to the number of members once no other may enter
SPINS = 1 << 8  # looks before the processor is given to another thread: about 10 us
YIELDS = 1 << 4  # more looks before this thread sleeps, because another one has no processor
NAP = 20  # microseconds
PATIENCE = 1 << 13  # looks before the leader closes the team; starting a thread takes 20 to 200 us


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
    team[MEMBERS], team[WANTED] = 1, threads

    def work(part: int) -> None:
        try:
            kernel(*arguments, team, part)
        except BaseException:
            # Ctrl-C can stop the leader while it compiles the kernel. The others wait for it to begin.
            if part == 0 and not team[PHASE]:
                team[PHASE] = -1
            raise

    share(work, threads, threads)
    return team


@_inner
def enter(team, part):  # type: ignore[no-untyped-def]
    """Return the number of this member and of all members.

    They are -1 and 0 for a thread that came too late, or whose leader failed before it began.
    """
    if part == 0:
        looks = 0
        members = load(team, np.intp(MEMBERS))
        while members < team[WANTED] and looks < PATIENCE:
            pause()
            looks += 1
            members = load(team, np.intp(MEMBERS))
        while not replace(team, np.intp(MEMBERS), members, members + CLOSED):
            members = load(team, np.intp(MEMBERS))
        add(team, np.intp(PHASE), np.int64(1))
        return np.int64(0), members
    me = load(team, np.intp(MEMBERS))
    while me < CLOSED and not replace(team, np.intp(MEMBERS), me, me + 1):
        me = load(team, np.intp(MEMBERS))
    if me >= CLOSED:
        return np.int64(-1), np.int64(0)
    phase = load(team, np.intp(PHASE))
    while phase == 0:
        pause()
        phase = load(team, np.intp(PHASE))
    if phase < 0:
        return np.int64(-1), np.int64(0)
    return me, load(team, np.intp(MEMBERS)) - CLOSED


@_inner
def meet(team, members):  # type: ignore[no-untyped-def]
    """Wait until all members are here. Each then sees what all wrote before."""
    if members == 1:
        return
    phase = load(team, np.intp(PHASE))
    if add(team, np.intp(ARRIVED), np.int64(1)) == members - 1:
        team[ARRIVED] = 0
        add(team, np.intp(PHASE), np.int64(1))
        return
    spins = 0
    while load(team, np.intp(PHASE)) == phase:
        spins += 1
        if spins < SPINS:
            pause()
        elif spins < SPINS + YIELDS:
            give_way()
        else:
            nap()
