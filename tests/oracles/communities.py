"""Oracles of communities and of their quality."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from random import Random
from typing import Any

import networkx as nx

from .networks import Network
from .oracle import SEED, expect, oracle


def labeled(rng: Random, network: Network) -> list[tuple[int, int]]:
    """Draw a community per vertex; rarely, one is missing, repeated or of an unknown vertex."""
    found = [(v, rng.choice([-3, 0, 7, 2**60])) for v in network.vertices]
    return found + rng.choices([*found, (300, 1)], k=1) if rng.random() < 0.05 else found


RESOLUTION = [1.0, 1, 0.01, 50, 1e-9, 1e9, [0.5, 2.0]], [0, -1.0, math.nan, [], [1.0, 1.0], [-1.0]]
COMMUNITIES = {"tol": ([1e-7, 0, 0.5, math.inf], [-1e-9, math.nan, None]), "seed": SEED,
               "levels": ([1, 2, 5, 40], [0, -1, 1.5])}  # fmt: skip


def modularity(
    net: Network, label: dict[int, Any], resolution: float = 1.0
) -> dict[Any, tuple[float, ...]]:
    """Return (size, internal, cut, total degree, part of the modularity) of each community."""
    inside, volume, size = Counter[Any](), Counter[Any](), Counter(label.values())
    skew = Counter[Any]()  # weight that leaves a community, less that which enters it
    for a, b, w in net.edges:
        w = w if net.weighted else 1.0
        volume.update({label[a]: w})
        volume.update({label[b]: w})
        if net.directed:
            skew[label[a]] += w
            skew[label[b]] -= w
        inside[label[a]] += w * (label[a] == label[b])
    total = math.fsum(volume.values()) or 1.0
    return {c: (size[c], inside[c], volume[c] - 2 * inside[c], volume[c],
                2 * inside[c] / total
                - resolution * ((volume[c] / total) ** 2 - (skew[c] / total) ** 2))
            for c in sorted(size)}  # fmt: skip


def potts(net: Network, label: dict[int, Any], resolution: float) -> float:
    """Return the quality of the constant Potts model."""
    inside = math.fsum(
        (w if net.weighted else 1.0) for a, b, w in net.edges if label[a] == label[b]
    )
    pairs = sum(size * (size - 1) // 2 for size in Counter(label.values()).values())
    return inside - resolution * pairs


@oracle("sums", communities=labeled)
def community_metrics(net: Network, o: dict[str, Any], rows: Any) -> Any:
    found, expected = modularity(net, dict(o["communities"])), []
    total = sum(volume for *_, volume, _ in found.values())
    kind = float if net.weighted else int
    told = {row[0]: row[2:4] for row in rows}
    # Weights are rounded to whole multiples of a unit, so small ones among large ones can be lost.
    room = total * len(net.edges) * 2.0**-60
    for c, (size, inside, cut, volume, part) in found.items():
        near = told.get(c, (inside, cut))
        if abs(near[0] - inside) <= room and abs(near[1] - cut) <= room:
            inside, cut = near
            volume = 2 * inside + cut
        least = min(volume, total - volume)
        density = inside / (size * (size - 1) / 2) if size > 1 else 0.0
        conductance = cut / least if least > 0 else 0.0
        expected.append((c, size, kind(inside), kind(cut), density, conductance, part))
    return expected


@oracle("sums", max_iter=([1, 2, 10, 301], [0, -1, 1.5, None]))
def label_propagation(net: Network, o: dict[str, Any], rows: Any) -> Any:
    near, label = net.near(), {v: v for v in net.vertices}
    for a, b, w in net.edges if net.directed else ():
        near[b].append((a, w if net.weighted else 1.0))
    past = []
    for _ in range(o.get("max_iter", 10)):
        if label in past[-2:]:  # the labels of two iterations alternate, or stay
            break
        past.append(label)
        sums = {v: Counter[int]() for v in near}
        for v, ends in near.items():
            for u, w in ends:
                sums[v][label[u]] += w  # type: ignore[assignment]
        label = {v: min(s, key=lambda c, s=s: (-round(s[c], 9), c)) if any(s.values()) else label[v]
                 for v, s in sums.items()}  # fmt: skip
    if len(past) > 1 and past[-2] == label and (o.get("max_iter", 10) - len(past)) % 2:
        label = past[-1]
    return label


def grouped(net: Network, o: dict[str, Any], rows: Any, *, connected: bool) -> None:
    graph, resolutions = net.graph(directed=False), o.get("resolution", 1.0)
    if net.weighted and min(net.weights, default=0) >= 0:
        graph.remove_edges_from(_without_weight(net))
    levels, several = o.get("levels", 1), isinstance(resolutions, list)
    for start in range(1, levels * (len(resolutions) if several else 1) + 1, levels):
        finer = None
        for column in range(start, start + levels):
            label = {row[0]: row[column] for row in rows}
            parts = defaultdict(set)
            for v, c in label.items():
                parts[c].add(v)
            for c, part in parts.items():
                expect(min(part) == c, f"community {c} of {part}")
                expect(
                    not connected or nx.is_connected(graph.subgraph(part)),
                    f"{part} is not connected",
                )
                expect(
                    finer is None or len({*label.values()}) <= len({*finer.values()}),
                    "finer levels",
                )
                expect(
                    finer is None or all(label[finer[v]] == c for v in part), f"{part} cuts a part"
                )
            finer = label
        r = resolutions[(start - 1) // levels] if several else resolutions
        both, alone_limit = (label, {v: v for v in label}), 1e-9 * max(1, r)
        if o.get("objective", "modularity") == "modularity":
            reached, alone = (
                sum(part[-1] for part in modularity(net, of, r).values()) for of in both
            )
        else:
            reached, alone = (potts(net, of, r) for of in both)
            alone_limit *= max(1.0, math.fsum(map(abs, net.weights))) * len(label) ** 2
        expect(reached >= alone - alone_limit, f"quality {reached}, of single vertices {alone}")


def _without_weight(net: Network) -> list[tuple[int, int]]:
    total: Counter[Any] = Counter()
    for a, b, w in net.edges:
        total[a, b] += w  # type: ignore[assignment]
    return [pair for pair, w in total.items() if not w + total[pair[::-1]]]


@oracle("sums", resolution=RESOLUTION, **COMMUNITIES)
def louvain(net: Network, o: dict[str, Any], rows: Any) -> None:
    grouped(net, o, rows, connected=False)


@oracle("sums", resolution=RESOLUTION, objective=(["modularity", "cpm"], ["potts", None]),
        max_community_size=([None, 1, 2, 3, 10**12], [0, -1, 1.5]), **COMMUNITIES)  # fmt: skip
def leiden(net: Network, o: dict[str, Any], rows: Any) -> None:
    grouped(net, o, rows, connected=True)
    for labels in list(zip(*rows, strict=True))[1:]:
        most = max(Counter(labels).values())
        expect(most <= (o.get("max_community_size") or most), f"a community of {most} vertices")
