"""Times contenders in turn, so that drift of the machine hits all alike."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .errors import ContenderFailedError


class Outcome(Protocol):
    """What a run of a contender brings back."""

    seconds: float


class Contender(Protocol):
    """Whatever can be timed."""

    name: str

    def run(self) -> Any:
        """Do the work once and return an :class:`Outcome`."""


@dataclass(frozen=True)
class Spread:
    """The least, the median and the most of several measurements."""

    least: float
    median: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Take the spread of the values."""
        return cls(min(values), statistics.median(values), max(values))


def interleave(
    contenders: Sequence[Contender],
    repeat: int,
    check: Callable[[str, Any], None],
    failures: dict[str, str] | None = None,
) -> dict[str, list[float]]:
    """Run A B C A B C ... and return each contender's seconds, a value a round.

    A first round warms everything up and is not kept. Every outcome is checked, outside the timing.

    Parameters
    ----------
    contenders : sequence of Contender
    repeat : int
    check : callable
        Takes a contender's name and outcome.
    failures : dict, optional
        Where the reasons of contenders that cannot do the work are noted: those are left out, with
        whatever they did before. Without it the first one ends the benchmark.
    """
    seconds: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for turn in range(repeat + 1):
        for contender in contenders:
            if contender.name not in seconds:
                continue
            gc.collect()  # what the one before left behind is not this one's cost
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
            del outcome  # its memory is not there for the next one to use
    return seconds


def ratios(seconds: Sequence[float], to: Sequence[float]) -> Spread:
    """Return the spread of the ratios, round by round."""
    return Spread.of([one / other for one, other in zip(seconds, to, strict=True)])
