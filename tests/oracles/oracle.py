"""What the fuzzer knows about a function: how its answer is checked, and what its options can be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from dask_graphflow.operators.priorities import priorities

from .networks import Network


class Wrong(Exception):
    """An answer is wrong."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case: "right", or "refused" with the error of the library."""

    what: str
    error: str = ""


@dataclass(frozen=True)
class Oracle:
    """How the answer of a function is checked."""

    check: Callable[..., Any]  # returns the rows of the answer, or checks it and returns None
    # The values of each option: valid ones and invalid ones, or a function that draws a value.
    options: dict[str, Any]
    # {"any", "ignored", "positive", "sums"}. Whether weights can be any numbers, are ignored, or are added
    # up, so that negative weights and those that are not finite are refused. "positive" also refuses
    # weights of 0.
    weights: str
    # By how much numbers may differ.
    rtol: float
    atol: float


ORACLES: dict[str, Oracle] = {}


def oracle(
    weights: str = "ignored", /, rtol: float = 1e-9, atol: float = 1e-12, **options: Any
) -> Any:
    def declare(check: Callable[..., Any]) -> Callable[..., Any]:
        ORACLES[check.__name__] = Oracle(check, options, weights, rtol, atol)
        return check

    return declare


def some(rng: Random, network: Network) -> list[int]:
    """Draw vertices: repeated ones, rarely unknown ones or none."""
    pool = network.vertices if network.vertices and rng.random() < 0.95 else range(200)
    return rng.choices(pool, k=rng.choice([0, *[1, 1, 2, 4] * 6]))


def paired(rng: Random, network: Network) -> list[tuple[int, int]]:
    """Draw pairs of vertices."""
    return list(zip(some(rng, network), some(rng, network), strict=False))


def maybe(draw: Callable[..., Any]) -> Callable[..., Any]:
    return lambda rng, network: draw(rng, network) if rng.random() < 0.5 else None


FLAG = [False, True], [None, 1, "yes"]
SEED = [0, 1, 2**40], [-1, 0.5, None]
SAMPLE = [None, None, 1, 2, 5, 10**12], [0, -1, 1.5, True]


def expect(condition: Any, message: str) -> None:
    if not condition:
        raise Wrong(message)


def sample(network: Network, o: dict[str, Any]) -> list[int]:
    """Return the sources of a sample. Which ones they are is up to the library."""
    k, every = o.get("k"), network.vertices
    if k is None or k >= len(every):
        return every
    order = np.argsort(priorities(np.arange(len(every)), o.get("seed", 0)))
    return [every[i] for i in order[:k]]
