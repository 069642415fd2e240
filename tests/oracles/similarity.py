"""Oracle of the similarity of vertices."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

from .networks import Network, same
from .oracle import expect, maybe, oracle, paired

MEASURE = (
    ["jaccard", "sorensen", "overlap", "cosine", "adamic_adar", "common_neighbors"],
    ["dice"],
)


def scores(net: Network, measure: str) -> Callable[[int, int], float]:
    graph = net.graph(directed=False)
    near: dict[int, Counter[int]] = {v: Counter() for v in graph}
    for a, ends in net.near(directed=False).items():
        for b, w in ends:
            if a != b:
                near[a][b] += w  # type: ignore[assignment]
    if not net.weighted:
        near = {v: Counter(dict.fromkeys(ends, 1)) for v, ends in near.items()}

    def score(a: int, b: int) -> float:
        common = {*near[a]} & {*near[b]}
        sizes = [sum(near[v].values()) for v in (a, b)]
        both = sum(min(near[a][v], near[b][v]) for v in common)
        below = {"jaccard": sum(sizes) - both, "sorensen": sum(sizes) / 2, "overlap": min(sizes),
                 "cosine": math.sqrt(math.prod(sizes))}  # fmt: skip
        if measure == "adamic_adar":
            return math.fsum(1 / math.log(graph.degree(v)) for v in common if graph.degree(v) > 1)
        return both / (below.get(measure, 1) or 1)

    return score


@oracle("sums", pairs=maybe(paired), top_k=([None, 1, 2, 10**12], [0, -1, 1.5]),
        measure=MEASURE)  # fmt: skip
def similarity(net: Network, o: dict[str, Any], rows: Any) -> Any:
    graph, top, measure = net.graph(directed=False), o.get("top_k"), o.get("measure", "jaccard")
    score = scores(net, measure)
    if o.get("pairs") is not None:
        return [(a, b, score(a, b)) for a, b in o["pairs"]]
    found = []
    for a in graph:
        best = [(-round(score(a, b), 12), b) for b in {b for w in graph[a] for b in graph[w]} - {a}]
        found += [(a, b, score(a, b)) for _, b in sorted(best)[:top]]
    if not net.weighted and measure not in ("cosine", "adamic_adar"):
        return found
    # Weights, roots and logarithms are rounded, so any of several pairs with equal scores can come first.
    expect(len({row[:2] for row in rows}) == len(rows), f"a pair repeats in {rows}")
    best_scores = [[(row[0], row[2]) for row in some] for some in (rows, found)]
    expect(same(*best_scores, 1e-11, 1e-12), f"found {rows}, expected {found}")
    return [(a, b, score(a, b)) for a, b, _ in rows]


@oracle("sums", side=(["source", "target"], ["left", None]), measure=MEASURE)
def bipartite_projection(net: Network, o: dict[str, Any], rows: Any) -> Any:
    graph, score = net.graph(directed=False), scores(net, o.get("measure", "common_neighbors"))
    one = sorted({edge[o["side"] == "target"] for edge in net.edges})
    pairs = {(a, b) for a in one for w in graph[a] for b in graph[w] if a < b}
    return [(a, b, score(a, b)) for a, b in sorted(pairs)]
