"""Links: the time of a Dask call, and of messages between the members of a gang."""

from __future__ import annotations

import itertools
import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

import dask

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.components.forest import Forest
from dask_graphflow.scheduling import gang, plugins
from dask_graphflow.scheduling.placement import result_of
from dask_graphflow.showing.tables import as_html, as_text, duration

from .microbenchmarks import kernels_on

__all__ = ["Links", "measure_links", "speed"]

ROUNDS = 200
BYTES = 1 << 23
DEALS = 5
REPEAT = 5
LEVELS = 6
EACH = 8  # tasks per level
FOREST = 1 << 23  # vertices of the forest that is moved
MOVED = 3


@dataclass(frozen=True)
class Links:
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
        Seconds of an empty run on a gang of two members, including the Dask computation.
    task : float
        Additional seconds for each further task of a large task graph whose tasks exchange almost no data.

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

    def __repr__(self) -> str:
        return as_text(self._rows())

    def _repr_html_(self) -> str:
        return as_html(self._rows())


def speed(rate: float) -> str:
    """Format a number of bytes per second; infinite means that nothing is sent."""
    return "not sent" if math.isinf(rate) else f"{rate / 1e9:.3g} GB/s"


def measure_links(client: Any = None, *, device: bool = False) -> Links:
    """Measure the links between two workers of a cluster, or two threads of this process.

    This takes about a second.

    Parameters
    ----------
    client : Client, optional
        Client of the cluster in use.
    device : bool
        Whether arrays are in GPU memory.
    """
    call, deep = _call(1), _call(LEVELS)
    level = max(deep - call, 0.0) / (LEVELS - 1)
    task = max(_dealt() - call - 2 * level, 0.0) / (EACH * EACH + 2 * EACH)
    addresses: Sequence[Any] = [None, None]
    moves = math.inf
    if client is not None:
        addresses = sorted(client.nthreads())[:2]
    if len(addresses) == 2 and client is not None:
        moves = _moves(client, addresses, device)
    seconds, told = _ask(client, addresses, device)
    if len(addresses) == 1:
        return Links(math.inf, moves, 0.0, call, level, seconds, task)
    latency, dealing = (max(one) for one in zip(*told, strict=True))
    return Links(BYTES / max(dealing - latency, 1e-9), moves, latency, call, level, seconds, task)


def _moves(client: Any, addresses: Sequence[str], device: bool) -> float:
    """Return the bytes per second at which a forest moves from one worker to the other."""
    if device:
        plugins.preload("dask_graphflow.components.serialization")
    taken: dict[int, float] = {}
    for size in (1, FOREST):
        turns = []
        for _ in range(MOVED):
            made = client.submit(_forest, size, device, workers=addresses[:1], pure=False)
            result_of(client.submit(_same, 0, workers=addresses[1:], pure=False))
            result_of(client.submit(_covered, made, workers=addresses[:1], pure=False))
            began = time.perf_counter()
            there = client.submit(_covered, made, workers=addresses[1:], pure=False)
            result_of(there)
            turns.append(time.perf_counter() - began)
            del made, there
        taken[size] = min(turns)
    return 5 * FOREST / max(taken[FOREST] - taken[1], 1e-9)


def _call(levels: int) -> float:
    """Return the seconds of a chain of tasks that do nothing."""
    taken = []
    for _ in range(REPEAT):
        last: Any = 0
        for level in range(levels):
            last = dask.delayed(_same, pure=False)(last, dask_key_name=f"level-{level}-{uuid4()}")
        began = time.perf_counter()
        dask.compute(last, optimize_graph=False)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def _dealt() -> float:
    """Return the seconds of a task graph in which every task of a level feeds every task of the next."""
    taken = []
    for _ in range(REPEAT):
        name, deal = uuid4().hex, partial(dask.delayed, pure=False)
        made = [deal(_same)(i, dask_key_name=f"made-{name}-{i}") for i in range(EACH)]
        pieces = [
            [deal(_same)(one, dask_key_name=f"piece-{name}-{i}-{at}") for i, one in enumerate(made)]
            for at in range(EACH)
        ]
        got = [deal(len)(own, dask_key_name=f"got-{name}-{at}") for at, own in enumerate(pieces)]
        began = time.perf_counter()
        dask.compute(*got, optimize_graph=False)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def _same(value: Any) -> Any:
    return value


def _forest(size: int, device: bool) -> Forest:
    return Forest(kernels_on(device).namespace.zeros(1, "int32"), size=size)


def _covered(forest: Forest) -> int:
    return len(forest.parent)


_numbers = itertools.count()


def _ask(client: Any, addresses: Sequence[Any], device: bool) -> tuple[float, list[Any]]:
    """Return the seconds of a gang that does nothing, and the times that the members measured."""

    def run(*arguments: Any) -> tuple[float, list[Any]]:
        shards = [
            dask.delayed(rank, pure=False)
            if client is None
            else dask.delayed(client.submit(_same, rank, workers=[address], pure=False))
            for rank, address in enumerate(addresses)
        ]
        name = f"links-{next(_numbers)}-{uuid4().hex}"
        began = time.perf_counter()
        found = dask.compute(*gang.run(shards, _rounds, None, *arguments, name=name, alone=device))
        return time.perf_counter() - began, list(found)

    empty = statistics.median(run(0, 0, device)[0] for _ in range(3))
    return empty, run(ROUNDS, BYTES, device)[1]


def _rounds(
    channel: Channel, shard: Any, rank: int, rounds: int, nbytes: int, device: bool
) -> tuple[float, float]:
    """Return the seconds of an all-reduce, and of an all-to-all that sends `nbytes` to each member."""
    if channel.size == 1 or not rounds:
        return 0.0, 0.0
    exchange = Exchange(channel, device=device)
    library = kernels_on(device).namespace
    boxes = [library.zeros(nbytes, "uint8")] * channel.size
    found = []
    for count, deal in ((rounds, False), (DEALS, True)):
        turns = []
        for _ in range(REPEAT):
            began = time.perf_counter()
            for _ in range(count):
                exchange.all_to_all(boxes) if deal else exchange.all_reduce(sums=(1,))
            if device:
                library.cuda.get_current_stream().synchronize()
            turns.append((time.perf_counter() - began) / count)
        found.append(statistics.median(turns))
    return found[0], found[1]
