"""Links: the time of a Dask call, and of messages between the members of a gang."""

from __future__ import annotations

import math
import statistics
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import dask

from dask_graphflow.comm.channel import Channel
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.components.forest import Forest
from dask_graphflow.scheduling import gang
from dask_graphflow.scheduling.clients import result_of
from dask_graphflow.scheduling.names import unique
from dask_graphflow.showing.tables import as_html, as_text, duration

from .measuring import kernels_on

ROUNDS = 200
BYTES = 1 << 23
DEALS = 5
REPEAT = 5
LEVELS, TASKS = 6, 64  # sizes of the task graphs that are timed
FOREST = 1 << 23  # number of vertices of the forest that is moved
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
    call, deep, wide = _tasks(1, 1), _tasks(LEVELS, 1), _tasks(1, TASKS)
    level, task = max(deep - call, 0.0) / (LEVELS - 1), max(wide - call, 0.0) / (TASKS - 1)
    addresses: Sequence[Any] = [None, None] if client is None else sorted(client.nthreads())[:2]
    moves = math.inf
    if len(addresses) == 2 and client is not None:
        moves = _moves(client, addresses, device)
    shards = [
        dask.delayed(rank, name=unique("calibrate"))
        if client is None
        else dask.delayed(client.submit(_same, rank, workers=[address], key=unique("calibrate")))
        for rank, address in enumerate(addresses)
    ]
    # As for a persisted graph, later runs use the connections of the first one.
    _, *gangs = (_gang(shards, 0, 0, device)[0] for _ in range(4))
    empty = statistics.median(gangs)
    if len(addresses) == 1:
        return Links(math.inf, moves, 0.0, call, level, empty, task)
    _, times = _gang(shards, ROUNDS, BYTES, device)
    latency, dealing = (max(one) for one in zip(*times, strict=True))
    return Links(BYTES / max(dealing - latency, 1e-9), moves, latency, call, level, empty, task)


def _moves(client: Any, addresses: Sequence[str], device: bool) -> float:
    """Return the bytes per second at which a forest moves from one worker to the other."""

    def on(address: str, function: Callable[..., Any], *arguments: Any) -> Any:
        return client.submit(function, *arguments, workers=[address], key=unique("calibrate"))

    first, second = addresses
    taken: dict[int, float] = {}
    for size in (1, FOREST):
        turns = []
        for _ in range(MOVED):
            forest = on(first, _forest, size, device)
            result_of(on(first, _covered, forest))
            result_of(on(second, _same, 0))
            began = time.perf_counter()
            covered = on(second, _covered, forest)
            result_of(covered)
            turns.append(time.perf_counter() - began)
            del forest, covered
        taken[size] = min(turns)
    return 5 * FOREST / max(taken[FOREST] - taken[1], 1e-9)


def _tasks(levels: int, width: int) -> float:
    """Return the seconds of parallel chains of tasks that do nothing."""

    def chain() -> Any:
        value: Any = 0
        for _ in range(levels):
            value = dask.delayed(_same)(value, dask_key_name=unique("calibrate"))
        return value

    turns = []
    for _ in range(REPEAT):
        chains = [chain() for _ in range(width)]
        began = time.perf_counter()
        dask.compute(*chains, optimize_graph=False)
        turns.append(time.perf_counter() - began)
    return statistics.median(turns)


def _same(value: Any) -> Any:
    return value


def _forest(size: int, device: bool) -> Forest:
    return Forest(kernels_on(device).namespace.zeros(1, "int32"), size=size)


def _covered(forest: Forest) -> int:
    return len(forest.parent)


def _gang(shards: Sequence[Any], rounds: int, nbytes: int, device: bool) -> tuple[float, list[Any]]:
    """Return the seconds of a gang that exchanges messages, and the times that the members measured."""
    run = gang.run(
        shards,
        _rounds,
        None,
        rounds,
        nbytes,
        device,
        name=f"calibrate-{uuid.uuid4().hex}",
        alone=device,
    )
    began = time.perf_counter()
    times = dask.compute(*run)
    return time.perf_counter() - began, list(times)


def _rounds(
    channel: Channel, shard: Any, rank: int, rounds: int, nbytes: int, device: bool
) -> tuple[float, float]:
    """Return the seconds of an all-reduce, and of an all-to-all that sends `nbytes` to each member."""
    if channel.size == 1 or not rounds:
        return 0.0, 0.0
    exchange = Exchange(channel, device=device)
    library = kernels_on(device).namespace
    boxes = [library.zeros(nbytes, "uint8")] * channel.size

    def seconds(count: int, exchange_once: Callable[[], object]) -> float:
        turns = []
        for _ in range(REPEAT):
            began = time.perf_counter()
            for _ in range(count):
                exchange_once()
            if device:
                library.cuda.get_current_stream().synchronize()
            turns.append((time.perf_counter() - began) / count)
        return statistics.median(turns)

    latency = seconds(rounds, lambda: exchange.all_reduce(sums=(1,)))
    return latency, seconds(DEALS, lambda: exchange.all_to_all(boxes))
