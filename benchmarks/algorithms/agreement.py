"""Check that the contenders of an algorithm find the same result."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.graphs.edges import Timed

NEAR = 1e-3  # fraction of the largest score; each library stops at its own tolerance


class Agreement:
    """Compares every answer with the first one.

    Parameters
    ----------
    how : {"equal", "partition", "near", "value", None}
        "near" compares scores up to a factor, since libraries scale them differently. "value" collects one
        number per contender, which may differ.
    compared : array of bool, optional
        Mask of the vertices to compare; all by default.
    """

    def __init__(self, how: str | None, compared: Any = None) -> None:
        self.how, self.compared = how, compared
        self._first: Any = None
        self._answers: dict[str, str] = {}
        self._differs: dict[str, str] = {}

    def __call__(self, contender: str, outcome: Timed) -> None:
        """Compare a contender's answer."""
        if outcome.found is None or self.how is None:
            return
        found = np.asarray(outcome.found)
        if self.how == "value":
            self._answers[contender] = f"{found[0]:.5g}"
            return
        found = found if self.compared is None else found[self.compared]
        if self.how == "partition":
            found = _first_members(found)
        elif self.how == "near":
            found = found / max(float(found.sum()), np.finfo("float64").tiny)
        if self._first is None:
            self._first = found
        room = NEAR * self._first.max() if self.how == "near" else 0
        wrong = int((abs(found - self._first) > room).sum())
        if wrong:
            self._differs[contender] = f"differs from the first answer at {wrong:,} vertices"
        self._answers[contender] = "differs" if contender in self._differs else "same"

    def found(self) -> dict[str, dict[str, str]]:
        """Return the report: a word or number per contender, and why answers differ."""
        return {"answers": self._answers, "differs": self._differs}


def _first_members(labels: Any) -> Any:
    """Return the first vertex with the same label as each vertex."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return first[inverse]
