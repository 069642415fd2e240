"""Cases for compute-sanitizer: random choices of edges and walks."""

from __future__ import annotations

from itertools import product

import numpy as np
from sanitize_cases import VERTICES, hub_rows, launches, load_kernels


def hash_of(keys, counter):
    """Return SplitMix64's hashes of keys and a counter."""
    mixed = keys + np.asarray(counter, "uint64") * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def random_of(keys, counter):
    """Return SplitMix64's floats of keys and a counter."""
    return (hash_of(keys, counter) >> np.uint64(11)) * 2.0**-53


@launches("hashes")
def hashed(kernels, parents, ids):
    """Ranks with one seed, which can be negative, and with a seed for each."""
    sample, there = load_kernels(kernels, "sample"), kernels.namespace.asarray
    ranks = np.arange(VERTICES).astype(ids)
    found = sample.hashes(there(ranks), -7)
    wanted = hash_of(np.uint64(2**64 - 7), ranks + 1)
    np.testing.assert_array_equal(kernels.to_host(found), wanted)
    again = sample.hashes(there(ranks[::-1].copy()), found.view("int64"))
    np.testing.assert_array_equal(kernels.to_host(again), hash_of(wanted, ranks[::-1] + 1))


@launches("pick_edges")
def picked(kernels, parents, ids):
    """All edges of vertices, some with replacement, and some without: rows of up to 3,000 edges."""
    sample, there = load_kernels(kernels, "sample"), kernels.namespace.asarray
    out, _ = hub_rows(kernels, ids)
    rng, low = np.random.default_rng(6), kernels.to_host(out.offsets)
    vertices = np.concatenate([np.arange(12), rng.integers(0, VERTICES, 600)])
    keys = rng.integers(0, 2**63, len(vertices), "uint64")
    sizes, low = np.diff(low)[vertices], low[vertices]
    for wanted, replace in ((-1, False), (3, False), (70, False), (70, True)):
        picks = sizes if wanted < 0 else np.minimum(sizes, wanted)
        picks = wanted * (sizes > 0) if replace else picks
        first = np.concatenate([[0], np.cumsum(picks)])
        given = there(vertices), there(keys), wanted, replace, there(first)
        edges, items = map(kernels.to_host, sample.pick_edges(out, *given))
        np.testing.assert_array_equal(items, np.repeat(np.arange(len(vertices)), picks))
        place = edges - low[items]
        turn = np.arange(len(edges)) - first[items]
        whole = sizes[items] if replace else sizes[items] - picks[items] + turn + 1
        drawn = (random_of(keys[items], turn) * whole).astype("int64")
        if not replace:
            # Floyd: an edge that was drawn before is replaced by the last one that could be.
            chosen = set(zip(items, place, strict=True))
            assert len(chosen) == len(place)
            drawn = np.where(picks[items] == sizes[items], turn, drawn)
            again = place != drawn
            assert chosen.issuperset(zip(items[again], drawn[again], strict=True))
            drawn[again] = whole[again] - 1
        np.testing.assert_array_equal(place, drawn)


@launches("walk", "propose", "connected", "cumulate")
def walked(kernels, parents, ids):
    """Walks of every bias, step by step too; without one also by their definition."""
    sample, there = load_kernels(kernels, "sample"), kernels.namespace.asarray
    out, _ = hub_rows(kernels, ids, "float32" if parents == "int32" else "float64")
    offsets, ends = (kernels.to_host(array) for array in out[:2])
    weights, sizes = kernels.to_host(out.weights).astype("float64"), np.diff(offsets)
    owners = np.repeat(np.arange(VERTICES), sizes)
    most = np.zeros(VERTICES)
    np.maximum.at(most, owners, weights)
    units = np.ldexp(weights, (52 - np.frexp(most)[1] - np.frexp(sizes)[1])[owners])
    before = np.concatenate([[0], np.cumsum(np.rint(units).astype("int64"))])
    weighed = sample.cumulate(out)
    np.testing.assert_array_equal(kernels.to_host(weighed), before[1:] - before[offsets][owners])

    rng = np.random.default_rng(6)
    starts = np.concatenate([np.arange(12), rng.integers(0, VERTICES, 300)]).astype(ids)
    keys = rng.integers(0, 2**63, len(starts), "uint64")
    # Back and on, then how often a vertex is accepted that the one before has an edge to, or not.
    biases = (1, 1, 1, 1), (4, 1, 1, 1), (0, 1, 1, 1), (2, 1, 0.25, 1), (0.5, 3, 1, 0.3)
    for sums, bias in product((None, weighed), np.array(biases, "float64")):
        found = sample.walk(out, sums, there(starts), there(keys), 6, bias)
        steps = kernels.to_host(found)
        np.testing.assert_array_equal(steps[:, 0], starts)
        at, last = (there(np.ascontiguousarray(steps[:, step])) for step in (3, 2))
        rest = sample.walk(out, sums, at, there(keys), 3, bias, first=3, before=last)
        np.testing.assert_array_equal(kernels.to_host(rest), steps[:, 3:])
        masses = weights > 0 if sums is not None else weights >= 0
        near = set(zip(owners[masses].tolist(), ends[masses].tolist(), strict=True))
        for step, (at, following) in enumerate(zip(steps.T, steps.T[1:], strict=False), 1):
            going = np.flatnonzero(at >= 0)
            assert (following[at < 0] == -1).all()
            pairs = zip(at[going].tolist(), following[going].tolist(), strict=True)
            assert all(pair in near for pair in pairs if pair[1] >= 0)
            # Without a bias, a step does not depend on the vertex before.
            biased = step > 1 and (bias != 1).any()
            given = at[going], steps[going, step - 2] if biased else np.full(len(going), -1, ids)
            next_vertex = proposed(kernels, out, sums, given, keys[going], step, bias)
            np.testing.assert_array_equal(following[going], next_vertex)
            if (bias != 1).any():
                continue
            low, high = offsets[at[going]], offsets[at[going] + 1]
            whole = high - low if sums is None else before[high] - before[low]
            place = (random_of(keys[going], (step << 24) + 1) * whole).astype("int64")
            if sums is not None:
                place += before[low]
                place = np.searchsorted(before, place, side="right") - 1 - low
            wanted = np.where(whole > 0, ends[np.minimum(low + place, len(ends) - 1)], -1)
            np.testing.assert_array_equal(following[going], wanted)


def proposed(kernels, out, sums, given, keys, step, bias):
    """Return the next vertices of walks, by candidates and tests of them."""
    sample, there = load_kernels(kernels, "sample"), kernels.namespace.asarray
    vertices, previous = given
    attempts, found = np.zeros(len(keys), "int64"), np.full(len(keys), sample.OPEN)
    while len(left := np.flatnonzero(found == sample.OPEN)):
        made = there(attempts[left])
        those = there(vertices[left]), there(previous[left]), there(keys[left])
        tests, decided = sample.propose(out, sums, *those, step, bias, made, 3)
        attempts[left], tests = kernels.to_host(made), kernels.to_host(tests)
        item, slot = np.nonzero(tests >= 0)
        passed = np.zeros(tests.shape, bool)
        pairs = there(previous[left][item]), there(tests[item, slot])
        passed[item, slot] = kernels.to_host(sample.connected(out, *pairs))
        passed[item, slot] ^= bias[2] < bias[3]
        first, some = passed.argmax(axis=1), np.arange(len(left))
        taken = passed[some, first]
        found[left] = np.where(taken, tests[some, first], kernels.to_host(decided))
    return found
