"""Small cases of every kernel, for compute-sanitizer: ``compute-sanitizer python tests/sanitize.py``.

It fails where a result is wrong, and where a kernel that :mod:`~dask_graphflow.kernels.sources` lists was
never launched. A case is called with the kernels of the device, or of the host in test_sanitize.py, and
says what it launches on a device.
"""

# ruff: noqa: T201
from __future__ import annotations

import contextlib
import sys
from itertools import product
from unittest import mock

import numpy as np
from scipy import sparse

from dask_graphflow.kernels.sources import KERNELS
from dask_graphflow.operators.forest import Forest
from dask_graphflow.operators.plan import Plan

VERTICES, EDGES = 3001, 20_003
CASES = {}
LAUNCHED = set()


def launches(*kernels):
    """Say which kernels a case launches, and make it one."""

    def register(case):
        CASES[case] = kernels
        return case

    return register


def random_edges(ids, skew=0):
    """Return edges between too few vertices for one tree, some of them outside the forest."""
    rng = np.random.default_rng(skew)
    # Two ranges, and gaps in the lower one: a giant, small trees and vertices without edges.
    ends = np.where(rng.random((2, EDGES)) < 0.99, VERTICES // 2, 0) + VERTICES // 2 * rng.random(
        (2, EDGES)
    )
    ends[:, ::500] = -5
    ends[1, 250::500] = VERTICES + 5
    ends[1, ::97] = ends[0, ::97]
    return np.floor(ends).astype(ids)


def expected(source, target, size=VERTICES):
    """Return the flat parents and the members, by SciPy."""
    inside = (source >= 0) & (target >= 0) & (source < size) & (target < size)
    source, target = source[inside], target[inside]
    matrix = sparse.coo_array((np.ones(len(source)), (source, target)), (size, size))
    _, component = sparse.csgraph.connected_components(matrix, directed=False)
    smallest = np.full(component.max() + 1, size)
    np.minimum.at(smallest, component, np.arange(size))
    seen = np.zeros(size, "uint8")
    seen[source] = seen[target] = 1
    return smallest[component], seen


def placed(kernels, side, skew):
    """Return an array that begins `skew` items past where memory was given."""
    room = np.concatenate([np.zeros(skew, side.dtype), side])
    return kernels.namespace.asarray(room)[skew:]


def check(kernels, parent, seen, source, target):
    parents, members = expected(source, target)
    np.testing.assert_array_equal(kernels.to_host(parent), parents)
    np.testing.assert_array_equal(kernels.to_host(seen), members)


@launches("hook", "compress", "mark_members")
def hooked(kernels, parents, ids):
    for skews in ((0, 0), (1, 1), (0, 1), (3, 2)):
        source, target = random_edges(ids, skews[0])
        ends = [placed(kernels, *end) for end in zip((source, target), skews, strict=True)]
        parent = kernels.identity(VERTICES, parents)
        seen = kernels.namespace.zeros(VERTICES, "uint8")
        kernels.hook(parent, seen, *ends, step=4)
        kernels.compress(parent, start=7, stop=2000)
        kernels.compress(parent)
        _, outside = kernels.hook(parent, seen, *ends)
        assert outside == (-5, VERTICES + 5)
        kernels.compress(parent)
        kernels.mark_members(parent, seen)
        check(kernels, parent, seen, source, target)


@launches("hook", "choose_giant", "mark_giant", "count_ends", "pick_hubs", "filter")
def hooked_past_a_giant(kernels, parents, ids):
    for skews in ((0, 0), (1, 3)):
        source, target = random_edges(ids, skews[0])
        ends = [placed(kernels, *end) for end in zip((source, target), skews, strict=True)]
        parent = kernels.identity(VERTICES, parents)
        seen = kernels.namespace.zeros(VERTICES, "uint8")
        kernels.hook(parent, seen, *ends, step=8)
        kernels.compress(parent)
        with skipping(kernels):
            for step in (4, 1):
                kernels.hook(parent, seen, *ends, step=step)
                kernels.compress(parent)
        kernels.mark_members(parent, seen)
        check(kernels, parent, seen, source, target)


@launches("hook", "choose_giant")
def hooked_without_a_giant(kernels, parents, ids):
    source, target = np.arange(0, 3000, 2).astype(ids), np.arange(1, 3000, 2).astype(ids)
    parent = kernels.identity(VERTICES, parents)
    seen = kernels.namespace.zeros(VERTICES, "uint8")
    with skipping(kernels):
        kernels.hook(parent, seen, *(kernels.namespace.asarray(side) for side in (source, target)))
    kernels.compress(parent)
    kernels.mark_members(parent, seen)
    check(kernels, parent, seen, source, target)


@launches("hook_plain", "compress", "hook")
def hooked_in_plain_rounds(kernels, parents, ids):
    source, target = random_edges(ids)
    ends = [kernels.namespace.asarray(side) for side in (source, target)]
    parent = kernels.identity(VERTICES, parents)
    seen = kernels.namespace.zeros(VERTICES, "uint8")
    for fresh in (True, False):
        kernels.hook_plain(parent, *ends, fresh=fresh)
        kernels.compress(parent)
    kernels.hook(parent, seen, *ends)
    kernels.compress(parent)
    kernels.mark_members(parent, seen)
    check(kernels, parent, seen, source, target)


@launches("hook", "hook_plain", "compress", "mark_members")
def merged(kernels, parents, ids):
    """Forests that grow, take edges in chunks, and are merged: what parents are is theirs to say."""
    source, target = random_edges(ids)
    inside = (np.minimum(source, target) >= 0) & (np.maximum(source, target) < VERTICES)
    source, target = source[inside], target[inside]
    forests = []
    for part in (slice(0, 9000), slice(9000, None)):
        forest = Forest(kernels.namespace.zeros(0))
        forest.cover(0, 10)
        forest.cover(0, VERTICES - 1)
        ends = [kernels.namespace.asarray(side[part]) for side in (source, target)]
        assert forest.hook(*ends, plan=Plan(chunk=4000, merge_chunk=1, rounds=1, step=4)) is None
        forests.append(forest)
    forests[0].absorb(forests[1])
    forests[0].mark_members()
    parent, seen = forests[0].parent[:VERTICES], forests[0].seen[:VERTICES]
    check(kernels, parent, seen, source, target)


def skipping(kernels):
    """Have edges inside the giant skipped, which only long passes are worth; the host knows no such."""
    if kernels.__name__.endswith(".host"):
        return contextlib.nullcontext()
    return mock.patch.object(
        kernels.giant, "worth_it", lambda parent, edges: parent.dtype == np.int32
    )


class Recorded:
    """Something of CuPy's, wrapped so that kernels which are launched are noted in LAUNCHED."""

    def __init__(self, wrapped, name=None):
        self.__dict__.update(wrapped=wrapped, name=name)

    def __getattr__(self, name):
        return getattr(self.wrapped, name)

    def __setattr__(self, name, value):
        setattr(self.wrapped, name, value)

    def get_function(self, name):
        return Recorded(self.wrapped.get_function(name), name)

    def __call__(self, *arguments, **options):
        LAUNCHED.add(self.name)
        return self.wrapped(*arguments, **options)


def unlaunched(case):
    """Return the kernels that a case is to launch and did not."""
    launched = {name.partition("<")[0] for name in LAUNCHED}
    return set(CASES[case]) - launched


def main():
    """Run every case on the device, and return the exit code."""
    import cupy

    # Each array in memory of its own, else reading past one or before it is written goes unnoticed.
    cupy.cuda.set_allocator(None)
    module = cupy.RawModule
    cupy.RawModule = lambda *arguments, **options: Recorded(module(*arguments, **options))
    from dask_graphflow.kernels import device

    every, failed = set(), False
    for case in CASES:
        LAUNCHED.clear()
        for parents, ids in product(("int32", "int64"), repeat=2):
            case(device, parents, ids)
        cupy.cuda.runtime.deviceSynchronize()
        every |= LAUNCHED
        print(f"{case.__name__}: {', '.join(sorted(LAUNCHED))}", flush=True)
        if missing := unlaunched(case):
            print(f"  never launched here: {', '.join(sorted(missing))}")
            failed = True
    if missing := {name for names in KERNELS.values() for name in names} - every:
        print(f"Kernels that no case launches: {', '.join(sorted(missing))}")
        failed = True
    print(f"{len(CASES)} cases, {len(every)} kernels")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
