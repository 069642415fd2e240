"""Batches of edges that come and go, and the CPU time that it takes to follow them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.lib import gpu

INSERTS = 0.8  # part of a batch that is inserted; the rest is deleted
BASE = 0.9  # part of the edges with which a graph begins; the others are inserted later


def clock(
    seconds: dict[str, list[float]], name: str, work: Callable[[], Any], *, on_gpu: bool = False
) -> Any:
    """Do some work, and note its CPU seconds under a name, or the seconds until a GPU has done it."""
    now = _idle if on_gpu else time.process_time
    began = now()
    result = work()
    seconds.setdefault(name, []).append(now() - began)
    return result


def hub(edges: np.ndarray) -> int:
    """Return the vertex with the most edges, where searches start."""
    return int(np.bincount(edges.ravel()).argmax())


def _idle() -> float:
    """Return the time at which the GPU is idle."""
    gpu.wait()
    return time.perf_counter()


class Batches:
    """The batches of a graph: which of its edges are inserted and deleted, one batch after another."""

    def __init__(self, edges: int, size: float) -> None:
        self.there, self._rng = np.arange(edges) < BASE * edges, np.random.default_rng(1)
        self._next = int(np.count_nonzero(self.there))  # edges come in their order
        count = max(2, round(size * edges))
        self._gone = max(1, round(count * (1 - INSERTS)))
        self._new = count - self._gone

    def draw(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the numbers of the edges that come and go; None if no edge is left."""
        new = np.arange(self._next, min(self._next + self._new, len(self.there)))
        if not len(new):
            return None
        self._next += len(new)
        old = np.flatnonzero(self.there)
        old = old[self._rng.choice(len(old), self._gone, replace=False)]
        self.there[old], self.there[new] = False, True
        return new, old
