"""Compile kernels to entries in the folder of the first argument, and compare them with Numba's.

A program for ``kernels/test_precompiled.py``, since it changes for which processor Numba compiles.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from functools import partial
from pathlib import Path

import numpy as np

from dask_graphflow.kernels import compiling
from dask_graphflow.kernels.host_atomics import fetch_add
from dask_graphflow.kernels.host_teams import (
    FAILED,
    MEMBERS,
    OWN,
    STATE,
    begin,
    end,
    enter,
    together,
)

allocating = partial(compiling.uncached, allocates=True)


@compiling.uncached
def totals(pair, missing, table, factor, flag):
    numbers, offset = pair
    total = 0.0
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            total += table[i, j] * factor
    least = np.int32(numbers[0] + offset)
    return least, np.uint64(numbers.size), total, missing is None, not flag


@compiling.uncached
def fill(numbers, value):
    for i in range(numbers.size):
        numbers[i] = value


@compiling.uncached
def quotient(a, b):
    return a // b


@allocating
def allocated(count):
    made = np.empty(count, np.int64)
    made[:] = 3
    return made.sum()


@allocating
def arrays(numbers, count):
    return numbers, numbers[1:count], (np.full((2, count), 1.5), count > 3), numbers[:0]


@allocating
def strided(numbers):
    return numbers[::2]


@allocating
def listed(count):
    return [i * i for i in range(count)][-1]


@compiling.uncached
def count_together(counts, steps, team, part):
    me, met = enter(team, part)
    if me < 0:
        return
    while True:
        begin(team, me, met)
        step = team[OWN]
        if step == steps:
            return
        i = fetch_add(team, np.intp(OWN + 2), np.int64(1))
        while i < counts.size:
            counts[i] += 1
            i = fetch_add(team, np.intp(OWN + 2), np.int64(1))
        _, met = end(team, me)
        for i in range(counts.size):
            if counts[i] != step + 1:
                team[OWN + 1] += 1
        if me == 0:
            team[OWN], team[OWN + 2] = step + 1, 0


LEFT = np.zeros(OWN + 3, np.int64)
LEFT[STATE] = FAILED
TABLE = np.arange(6, dtype="float32").reshape(2, 3)
CONSTANT = np.arange(5)
CONSTANT.flags.writeable = False
CALLS = [
    (totals, ((np.arange(5, 9), np.int64(-9)), None, TABLE, np.float32(0.5), True)),
    (fill, (np.zeros(3, "uint8"), np.uint8(7))),
    (quotient, (-7, 2)),
    (quotient, (1, 0)),
    (quotient, (1.0, 0.25)),
    (allocated, (1000,)),
    (arrays, (np.arange(5), 3)),
    (arrays, (np.arange(0.0), 0)),
    (arrays, (CONSTANT, 3)),
    (count_together, (np.zeros(9, "int64"), 1, LEFT, 1)),
    (strided, (np.arange(5),)),  # the last two get no entry
    (listed, (3,)),
]
# Numba has to compile for these.
OTHERS = [
    (fill, (np.zeros(6, "uint8")[::2], np.uint8(7))),
    (fill, (np.zeros(3, ">i4"), 7)),
    (fill, (np.zeros(3, "int64"), 7)),
    (quotient, (2**70, 1)),
    (quotient, ("a", 1)),
    (strided, (np.arange(5),)),
    (listed, (3,)),
]


def outcome(call, *arguments):
    """Return the result, or the error, and the arguments afterwards."""
    try:
        return repr(call(*arguments)), repr(arguments)
    except Exception as error:
        return repr(error), ""


def main():
    """Compare the calls."""
    # The folder tools/ is only on the path of this program, and pytest imports all files to find doctests.
    import entries
    import precompile

    folder, called = Path(sys.argv[1]), {}
    entries.compile_for(precompile.LEVELS[0], str(folder))
    for kernel, arguments in CALLS:
        types = tuple(entries.wide(kernel._dispatcher.typeof_pyval(one)) for one in arguments)
        called[kernel.__name__, precompile.kinds_of(arguments)] = kernel, types
    index = precompile.compile_entries(called, folder, 0)
    precompile.link(folder, library := folder / "_precompiled.abi3.so")
    spec = importlib.util.spec_from_file_location("_precompiled", library)
    module, symbols = importlib.util.module_from_spec(spec), ctypes.CDLL(str(library))

    def by_entry(kernel):
        found = {}
        for kinds, (number, returns) in index.get(kernel.__name__, {}).items():
            address = ctypes.cast(symbols[f"entry_0_{number}"], ctypes.c_void_p).value
            found[kinds.encode()] = address, returns.encode()
        return lambda *arguments: module.call(found, arguments)

    for kernel, arguments in CALLS[:-2]:
        found, wanted = outcome(by_entry(kernel), *arguments), outcome(kernel, *arguments)
        assert found == wanted, (kernel.__name__, found, wanted)
    for kernel, arguments in OTHERS:
        assert by_entry(kernel)(*arguments) is NotImplemented, (kernel.__name__, arguments)
    check_memory(by_entry(arrays))
    check_team(by_entry(count_together))


def check_memory(call):
    """An argument is returned as it is, and an array keeps the memory that it shows."""
    numbers = np.arange(1 << 20)
    same, part, (made, _), _ = call(numbers, 9)
    assert same is numbers
    assert np.shares_memory(part, numbers)
    held = sys.getrefcount(numbers)
    del part
    assert sys.getrefcount(numbers) == held - 1
    assert not call(CONSTANT, 3)[1].flags.writeable
    made[:] = 7
    copies = [call(numbers, 1 << 16)[2][0] for _ in range(9)]
    assert all(np.all(copy == 1.5) for copy in copies)
    assert np.all(made == 7)


def check_team(call):
    """Two threads meet in an entry."""
    several = 0
    for _ in range(2000):
        counts = np.zeros(1000, np.int64)
        team = together(call, 2, counts, 50, own=3)
        assert (counts == 50).all()
        assert team[OWN + 1] == 0
        several += team[STATE] & MEMBERS == 2
        if several == 5:
            return
    raise AssertionError("no team had two members")


if __name__ == "__main__":
    main()
