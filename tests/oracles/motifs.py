"""The oracle of motifs: all connected sets of vertices, and the degrees inside each."""

from __future__ import annotations

from typing import Any

from .networks import Network
from .oracle import oracle

PATTERNS = {
    3: {(1, 1, 2): "path", (2, 2, 2): "triangle"},
    4: {(1, 1, 1, 3): "star", (1, 1, 2, 2): "path", (2, 2, 2, 2): "cycle", (1, 2, 2, 3): "paw",
        (2, 2, 3, 3): "diamond", (3, 3, 3, 3): "clique"},
}  # fmt: skip


@oracle(size=([3, 4], [2, 5, 3.5, None, "3"]))
def motif_counts(net: Network, o: dict[str, Any], rows: Any) -> Any:
    graph, size = net.graph(directed=False), o.get("size", 3)
    near = {v: {*graph[v]} for v in net.vertices}
    sets = {frozenset([v]) for v in near}
    for _ in range(size - 1):
        sets = {some | {u} for some in sets for v in some for u in near[v] - some}
    names = list(PATTERNS[size].values())
    found = {v: [0] * len(names) for v in net.vertices}
    for some in sets:
        degrees = tuple(sorted(len(near[v] & some) for v in some))
        for v in some:
            found[v][names.index(PATTERNS[size][degrees])] += 1
    return found
