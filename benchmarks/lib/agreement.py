"""Check that contenders find the same answer, and that distances are the shortest ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.lib.errors import DisagreementError
from dask_graphflow.kernels import kernels_for

NEAR = 1e-3  # fraction of the largest score; each library stops at its own tolerance
PART = 1 << 26  # edges that are checked at a time


class Agreement:
    """Compares every answer with the first one. Answers may be on a device.

    A rule "near" compares scores up to a factor, since libraries scale them differently. "value" collects
    one number per contender, which may differ. `compared` is a mask of the vertices to compare; all by
    default.
    """

    def __init__(self, rule: str | None, compared: Any = None) -> None:
        self.rule, self.compared = rule, compared
        self.answers: dict[str, str] = {}
        self.differs: dict[str, str] = {}
        self._first: Any = None
        self._last: dict[str, Any] = {}

    def __call__(self, contender: str, answer: Any) -> None:
        """Compare a contender's answer."""
        if answer is None or self.rule is None:
            return
        values = answer if hasattr(answer, "dtype") else np.asarray(answer)
        # Most rounds repeat an answer, and comparing partitions of millions of vertices takes seconds.
        last = self._last.get(contender)
        if last is not None and np.array_equal(values, last):
            return
        self._last[contender] = values
        if self.rule == "value":
            self.answers[contender] = f"{values[0]:.5g}"
            return
        if self.rule == "partition":
            values = first_members(values)
        values = kernels_for(values).to_host(values)
        values = values if self.compared is None else values[self.compared]
        if self.rule == "near":
            values = values / max(float(values.sum()), np.finfo("float64").tiny)
        if self._first is None:
            self._first = values
        room = NEAR * self._first.max() if self.rule == "near" else 0
        wrong = int((~np.isclose(values, self._first, rtol=0, atol=room)).sum())
        if wrong:
            self.differs[contender] = f"differs from the first answer at {wrong:,} vertices"
        self.answers[contender] = "differs" if contender in self.differs else "same"


def first_members(labels: Any) -> Any:
    """Return for each vertex the first vertex with the same label, so that partitions can be compared."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return first[inverse]


def by_vertex(vertices: Any, values: Any, size: int, missing: float) -> Any:
    """Return the values of the vertices 0 to `size` - 1, as float64; `missing` for those that are left out.

    Negative values, and the values with which peers mark unreachable vertices, count as missing too.
    """
    dense = np.full_like(values, missing, "float64", shape=size)
    dense[vertices] = values
    dense[(dense < 0) | (dense >= 2**31 - 1)] = missing
    return dense


def check_shortest(
    distance: Any, start: int, ends: tuple[Any, Any], weight: Any, *, directed: bool
) -> None:
    """Raise unless distances from a vertex are exactly the shortest ones, whichever library found them.

    No edge may give a shorter path, and some edge into each reached vertex must give its distance.
    Distances are infinite for unreachable vertices. Weights are positive; 1 by default.
    """
    reached = np.zeros_like(distance, "bool")
    reached[start] = True
    for source, target in (ends,) if directed else (ends, ends[::-1]):
        for low in range(0, len(source), PART):
            part = slice(low, low + PART)
            before, after = distance[source[part]], distance[target[part]]
            along = before + (1 if weight is None else weight[part])
            if bool((along < after).any()):
                raise DisagreementError(f"an edge makes a shorter path from {start}")
            reached[target[part][(along == after) & np.isfinite(before)]] = True
    wrong = int((reached != np.isfinite(distance)).sum())
    if float(distance[start]) or wrong:
        raise DisagreementError(f"{wrong:,} distances from {start} are not those of a path")
