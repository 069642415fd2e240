"""Oracles of scores that are iterated until they converge."""

from __future__ import annotations

import math
from collections import defaultdict
from random import Random
from typing import Any

import numpy as np

from .networks import WEIGHS_VERTICES, Network, same
from .oracle import FLAG, expect, maybe, oracle, some


def weighed(rng: Random, network: Network) -> dict[int, float]:
    return {v: rng.choice([0.0, 1.0, 2.5, 1e-9]) for v in some(rng, network)}


DAMPING = [0.85, 0, 0.0, 0.5, 0.99, 1], [-0.1, 1.1, math.nan, None]
CONVERGENCE = {
    "max_iter": ([1, 100, 10_000], [0, -1, 1.5, None]),
    "fail_on_nonconvergence": FLAG,
}
TOL = [1e-6, 1e-3, 1e-11, 0.7, 1e-300, math.inf], [0, 0.0, -1.0, math.nan, "small"]
TOL_OR_NONE = [*TOL[0], None], TOL[1]


def pulled(net: Network, o: dict[str, Any], restart: Any) -> tuple[Any, bool]:
    """Return the PageRank of each vertex, and whether it has surely converged.

    If `restart` is given, it is also the rank that each vertex starts with.
    """
    matrix, n = net.matrix(), len(net.vertices)
    leaving = matrix.sum(1, keepdims=True)
    matrix = np.divide(matrix, leaving, out=np.zeros_like(matrix), where=leaving > 0)

    def part(name: str, otherwise: Any) -> Any:
        given = o.get(name)
        if given is None:
            return otherwise
        return np.array([given.get(v, 0.0) for v in net.vertices]) / sum(given.values())

    even, tol, alpha = np.full(n, 1 / max(1, n)), o.get("tol", 1e-6), o.get("alpha", 0.85)
    rank = part("nstart", even) if restart is None else restart
    restart = part("personalization", even) if restart is None else restart
    onward = part("dangling", restart)
    sure = tol is None or tol * n > (1e-4 if o.get("precision") == "float32" else 1e-13)
    for _ in range(o.get("max_iter", 100)):
        lost = rank[leaving[:, 0] == 0].sum()
        before, rank = rank, alpha * (rank @ matrix) + (1 - alpha) * restart + alpha * lost * onward
        if tol is not None and abs(rank - before).sum() < tol * n:
            return rank, sure
    return rank, tol is None


def bounds(o: dict[str, Any], loose: float, narrow: tuple[float, float]) -> tuple[float, float]:
    """Return the tolerances of scores: `narrow` if it hardly matters when the iteration ends."""
    if o.get("precision") == "float32":
        return 0.0, 1e-4
    return narrow if (o.get("tol") or math.inf) <= 1e-13 else (0.0, loose)


@oracle("sums", alpha=DAMPING, tol=TOL_OR_NONE, precision=(["float64", "float32"], ["double", None]),
        **CONVERGENCE, **dict.fromkeys(WEIGHS_VERTICES, maybe(weighed)))  # fmt: skip
def pagerank(net: Network, o: dict[str, Any], rows: Any) -> None:
    expected = list(zip(net.vertices, pulled(net, o, None)[0].tolist(), strict=True))
    close = bounds(o, 1e-9, (1e-9, 1e-15))
    expect(same(rows, expected, *close), f"found {rows}, expected {expected}")


@oracle("sums", sources=some, alpha=DAMPING, tol=TOL_OR_NONE, top_k=([None, 1, 3, 10**12], [0, -1, 1.5]),
        **CONVERGENCE)  # fmt: skip
def personalized_pagerank(net: Network, o: dict[str, Any], rows: Any) -> None:
    found, top, close = defaultdict(list), o.get("top_k"), bounds(o, 1e-9, (1e-8, 1e-11))
    for source, vertex, rank in rows:
        found[source].append((vertex, rank))
    expect(list(found) == sorted({*o["sources"]}), f"sources {list(found)}")
    for source, ranked in found.items():
        ranks = pulled(net, o, np.array([float(v == source) for v in net.vertices]))[0]
        wanted = dict(zip(net.vertices, ranks.tolist(), strict=True))
        best = sorted((r for r in wanted.values() if top is None or r > 1e-15), reverse=True)[:top]
        expect(same([(r,) for _, r in ranked if top is None or r > 1e-15], [(r,) for r in best], *close),
               f"ranks of {source}: {ranked}, expected {wanted}")  # fmt: skip
        expect(
            same(ranked, [(v, wanted[v]) for v, _ in ranked], *close),
            f"{ranked}, expected {wanted}",
        )
        expect(ranked == sorted(ranked, key=lambda one: (-one[1], one[0])), f"order of {ranked}")


def iterated(net: Network, o: dict[str, Any]) -> tuple[Any, Any, bool]:
    """Return the hubs and authorities, and whether they have surely converged."""
    matrix, n, tol = net.matrix(), len(net.vertices), o.get("tol", 1e-8)
    hub = authority = np.full(n, 1 / max(1, n))
    for _ in range(o.get("max_iter", 100) if matrix.any() else 0):
        before, authority = hub, hub @ matrix
        authority = authority / authority.sum()
        hub = matrix @ authority
        hub = hub / hub.sum()
        if abs(hub - before).sum() < tol:
            return hub, authority, tol > 1e-13
    return hub, authority, not matrix.any()


@oracle("sums", tol=TOL, **CONVERGENCE)
def hits(net: Network, o: dict[str, Any], rows: Any) -> None:
    hub, authority, _ = iterated(net, o)
    expected = list(zip(net.vertices, hub.tolist(), authority.tolist(), strict=True))
    close = bounds(o, 1e-8, (1e-6, 1e-9))
    expect(same(rows, expected, *close), f"found {rows}, expected {expected}")


@oracle("sums", tol=TOL, alpha=([0.1, 1e-3, 1e-12], [0, -1.0, math.nan, None]),
        beta=([1.0, 3, 0.5], [0, -1.0, math.nan]), normalized=FLAG, **CONVERGENCE)  # fmt: skip
def katz_centrality(net: Network, o: dict[str, Any], rows: Any) -> None:
    matrix, n = o.get("alpha", 0.1) * net.matrix().T, len(net.vertices)
    if o.get("fail_on_nonconvergence") is False or not bounded(matrix):
        return expect(all(math.isfinite(row[1]) for row in rows), f"found {rows}")
    beta, norm = o.get("beta", 1.0), 1.0
    limit = np.linalg.inv(np.eye(n) - matrix)
    expected = limit @ np.full(n, beta)
    error = o.get("tol", 1e-6) * n * (limit.sum(0).max() if n else 1)
    if o.get("normalized", True):
        norm = np.linalg.norm(expected) or 1.0
    for (v, found), wanted in zip(rows, expected.tolist(), strict=True):
        close = (
            abs(found - wanted / norm) <= 4 * min(error, beta * 1e12) / norm + 1e-9 * wanted / norm
        )
        expect(close, f"{v}: found {found}, expected {wanted / norm}")
    return None


def bounded(matrix: Any) -> bool:
    return not len(matrix) or max(abs(np.linalg.eigvals(matrix))) < 0.95


@oracle("sums", tol=TOL, **CONVERGENCE)
def eigenvector_centrality(net: Network, o: dict[str, Any], rows: Any) -> None:
    matrix, n = net.matrix().T, len(net.vertices)
    score = np.array([row[1] for row in rows])
    expect((score >= 0).all() and (not n or abs(score @ score - 1) < 1e-9), f"found {rows}")
    if o.get("fail_on_nonconvergence", True):
        # An iteration, which may be shifted, changes scores by little.
        scale = max(1.0, matrix.sum(1).max(initial=0))
        left = abs(matrix @ score - (score @ matrix @ score) * score).sum() / scale
        expect(
            not n or left <= 8 * o.get("tol", 1e-6) * n + 1e-9,
            f"found {rows}: {left} from an eigenvector",
        )


def converges(name: str, net: Network, o: dict[str, Any]) -> bool:
    """Say whether a call with these options surely converges."""
    if name == "hits":
        return iterated(net, o)[2]
    if name == "pagerank":
        return pulled(net, o, None)[1]
    if name == "personalized_pagerank":
        restarts = [np.array([float(v == source) for v in net.vertices]) for source in o["sources"]]
        return all(pulled(net, o, restart)[1] for restart in restarts)
    return (name == "katz_centrality" and bounded(o.get("alpha", 0.1) * net.matrix().T)
            and o.get("max_iter", 1000) > 1000 and o.get("tol", 1e-6) >= 1e-6)  # fmt: skip
