"""Oracles of random walks and of sampled neighbors."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

from .networks import Network
from .oracle import FLAG, SEED, expect, oracle, some


@oracle("sums", starts=some, length=([1, 2, 9], [0, -1, 1.5, None]),
        walks_per_vertex=([1, 3], [0, -1, 1.5]), seed=SEED,
        p=([1.0, 1e-12, 1e12, 1e-300, 1e300, math.inf, 0.5], [0, -1.0, math.nan]),
        q=([1.0, 0.001, 1000, 3], [0, 1e-4, 1001, math.inf, math.nan]))  # fmt: skip
def random_walks(net: Network, o: dict[str, Any], rows: Any) -> None:
    near = {v: {u for u, w in ends if w} for v, ends in net.near().items()}
    # Weights are rounded to a part of their sum, so much lighter edges are not followed.
    least = {v: sum(w for _, w in ends) * 2.0**-48 for v, ends in net.near().items()}
    heavy = {v: {u for u, w in ends if w > least[v]} for v, ends in net.near().items()}
    walks, p, weights = defaultdict(list), o.get("p", 1.0), [w for w in net.weights if w]
    even = not weights or max(weights) < 100 * min(weights)
    for walk, step, vertex in rows:
        expect(step == len(walks[walk]), f"step {step} of walk {walk}")
        walks[walk].append(vertex)
    starts = [v for v in sorted({*o["starts"]}) for _ in range(o.get("walks_per_vertex", 1))]
    expect(list(walks) == [*range(len(starts))], f"walks {list(walks)}")
    for (walk, path), start in zip(walks.items(), starts, strict=True):
        steps = list(pairwise(path))
        expect(path[0] == start and all(b in near[a] for a, b in steps), f"walk {walk}: {path}")
        # Without a bound for p, a walk never returns.
        onward = heavy[path[-1]] - ({path[-2]} if p == math.inf and steps else set())
        expect(len(steps) == o["length"] or (len(steps) < o["length"] and not onward),
               f"walk {walk} ends early: {path}")  # fmt: skip
        for before, (at, after) in zip(path, steps[1:], strict=False) if even else ():
            back, other = after == before, near[at] - {before}
            expect(p < 1e12 or not back or not other, f"walk {walk} returns at {at}: {path}")
            expect(
                p > 1e-12 or back or before not in near[at], f"walk {walk} goes on at {at}: {path}"
            )


@oracle(seeds=some, fanouts=([[1], [-1], [2, 3], [2**62], [-1, 1, -1], [1] * 9],
                             [[0], [], [-2], [1.5], 3, None, "12", [True]]),
        replace=FLAG, seed=SEED)  # fmt: skip
def sample_neighbors(net: Network, o: dict[str, Any], rows: Any) -> None:
    expect(rows == sorted(rows), f"order of {rows}")
    edges = {v: Counter(u for u, _ in ends) for v, ends in net.near().items()}
    sampled = defaultdict(Counter)
    for seed, hop, source, target in rows:
        sampled[seed, hop, source][target] += 1
    for seed in {*o["seeds"]}:
        seen, frontier = {seed}, {seed}
        for hop, fanout in enumerate(o.get("fanouts", [25, 10]), 1):
            reached = set()
            for v in frontier:
                own, count = sampled.pop((seed, hop, v), Counter()), edges[v].total()
                again = o.get("replace", False) and fanout > 0
                wanted = (
                    count if fanout < 0 else fanout * (count > 0) if again else min(count, fanout)
                )
                right = (
                    own.total() == wanted
                    and own.keys() <= edges[v].keys()
                    and (again or own <= edges[v])
                )
                expect(right, f"seed {seed}, hop {hop}, vertex {v}: {own} of {edges[v]}")
                reached |= own.keys()
            frontier = reached - seen
            seen |= reached
    expect(not sampled, f"rows of other vertices: {sampled}")
