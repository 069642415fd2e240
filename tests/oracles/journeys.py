"""Oracle of the earliest arrivals along edges with times, by trying every edge until nothing changes."""

from __future__ import annotations

from random import Random
from typing import Any

from .networks import Network
from .oracle import FLAG, oracle, some

Timed = tuple[int, int, int, int]  # source, target, departure, arrival


def timed(rng: Random, network: Network) -> list[Timed]:
    """Draw a timetable of the edges, in which many times are equal."""
    longest, latest = rng.choice([0, 1, 5]), rng.choice([0, 3, 12, 1000])
    left = [(a, b, rng.randint(0, latest)) for a, b, _ in network.edges if rng.random() < 0.9]
    return [(a, b, at, at + rng.randint(0, longest)) for a, b, at in left]


def journeys(edges: list[Timed], sources: set[int], start: int) -> list[tuple[int, int, int, int]]:
    """Return the rows of a result: vertex, arrival, predecessor (-1 for null) and departure."""
    arrival, steps = dict.fromkeys(sources, start), dict.fromkeys(sources, 0)
    changed = True
    while changed:
        changed = False
        for a, b, leaves, arrives in edges:
            if a in arrival and arrival[a] <= leaves and arrives < arrival.get(b, arrives + 1):
                arrival[b], changed = arrives, True
    last: dict[int, list[tuple[int, int, int]]] = {}
    for _ in arrival:  # the number of edges without duration behind a vertex, and all last edges
        last = {v: [] for v in arrival if v not in sources}
        for a, b, leaves, arrives in edges:
            if b in last and a in arrival and arrival[a] <= leaves and arrives == arrival[b]:
                behind = steps.get(a, len(arrival)) if arrival[a] == leaves else 0
                last[b].append((0 if arrives > leaves else 1 + behind, a, -leaves))
        steps |= {v: min(edge[0] for edge in found) for v, found in last.items()}
    best = {v: min(found)[1:] for v, found in last.items()}
    return [(v, at, *((best[v][0], -best[v][1]) if v in best else (-1, start)))
            for v, at in sorted(arrival.items())]  # fmt: skip


@oracle(sources=some, timetable=timed, departure=(["leaves"], [["leaves"]]),
        arrival=(["arrives"], [["arrives"]]),
        start=([None, 0, 2, 5, 10**12], ["soon", 1.5, True]), reverse=FLAG)  # fmt: skip
def earliest_arrival(net: Network, o: dict[str, Any], rows: Any) -> Any:
    edges = list(o["timetable"])
    if not o.get("arrival"):
        edges = [(a, b, leaves, leaves) for a, b, leaves, _ in edges]
    if not net.directed:
        edges += [(b, a, leaves, arrives) for a, b, leaves, arrives in edges]
    start, back = o.get("start"), o.get("reverse", False)
    if back:
        edges = [(b, a, -arrives, -leaves) for a, b, leaves, arrives in edges]
        start = None if start is None else -start
    if start is None and not edges:
        return []
    start = min(edge[2] for edge in edges) if start is None else start
    found = journeys(edges, {*o["sources"]}, start)
    return [(v, -at, a, -left) for v, at, a, left in found] if back else found
