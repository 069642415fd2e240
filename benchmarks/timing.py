"""Time contenders in turn, so that changes of the machine's speed affect all of them equally."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .errors import ContenderFailedError


class Outcome(Protocol):
    """The result of a contender's run."""

    seconds: float


class Contender(Protocol):
    """Anything that can be timed."""

    name: str

    def run(self) -> Any:
        """Do the work once and return an :class:`Outcome`."""


@dataclass(frozen=True)
class Spread:
    """The minimum, the median and the maximum of several measurements."""

    least: float
    median: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the spread of values."""
        return cls(min(values), statistics.median(values), max(values))


def interleave(
    contenders: Sequence[Contender],
    repeat: int,
    check: Callable[[str, Any], None],
    failures: dict[str, str] | None = None,
) -> dict[str, list[float]]:
    """Run A B C A B C ... and return each contender's seconds, one value per round.

    The first round is a warm-up and is not counted. Every outcome is checked after its timing.

    Parameters
    ----------
    contenders : sequence of Contender
    repeat : int
    check : callable
        Called with a contender's name and outcome.
    failures : dict, optional
        Receives the reasons why contenders cannot do the work. These contenders are left out, including
        their earlier rounds. Without this dict, the first failure ends the benchmark.
    """
    seconds: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for turn in range(repeat + 1):
        for contender in contenders:
            if contender.name not in seconds:
                continue
            gc.collect()  # so that this contender does not pay for the garbage of the last one
            try:
                outcome = contender.run()
            except ContenderFailedError as error:
                if failures is None:
                    raise
                failures[contender.name] = str(error)
                del seconds[contender.name]
                continue
            check(contender.name, outcome)
            if turn:
                seconds[contender.name].append(outcome.seconds)
            del outcome  # free its memory for the next contender
    return seconds


def ratios(seconds: Sequence[float], to: Sequence[float]) -> Spread:
    """Return the spread of the ratios, round by round."""
    return Spread.of([one / other for one, other in zip(seconds, to, strict=True)])
