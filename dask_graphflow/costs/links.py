"""Links: the time of a Dask call, and of messages between the members of a gang."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dask_graphflow.showing.tables import Table, duration


@dataclass(frozen=True, repr=False)
class Links(Table):
    """Speed of the links between workers; :func:`dask_graphflow.calibrate` measures it.

    Parameters
    ----------
    c : float
        Bytes per second that each of two members sends while it receives the same amount.
    moves : float
        Bytes per second at which Dask moves a forest to another worker; infinite for a single worker.
    latency : float
        Seconds per round of messages.
    call : float
        Seconds of a Dask computation with one task.
    level : float
        Additional seconds for each further level of tasks.
    gang : float
        Seconds of an empty run on a gang of two members that have run before, including the Dask
        computation.
    task : float
        Additional seconds for each further task.

    Examples
    --------
    >>> from dask_graphflow.costs import Links
    >>> ethernet = Links(c=1e9, moves=1e9, latency=2e-4, call=0.01, level=0.002, gang=0.05)
    >>> ethernet.latency * 50  # minimum seconds for 50 rounds of messages
    0.01
    """

    c: float
    moves: float
    latency: float
    call: float
    level: float
    gang: float
    task: float = 0.0

    def _rows(self) -> list[tuple[str, str]]:
        return [
            ("messages", speed(self.c)),
            ("forests", speed(self.moves)),
            ("a round", duration(self.latency)),
            ("a call", duration(self.call)),
            ("a level of tasks", duration(self.level)),
            ("an empty gang", duration(self.gang)),
            ("a task", duration(self.task)),
        ]


def speed(rate: float) -> str:
    """Format a number of bytes per second; infinite means that nothing is sent."""
    return "not sent" if math.isinf(rate) else f"{rate / 1e9:.3g} GB/s"
