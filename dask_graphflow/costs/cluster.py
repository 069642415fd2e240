"""Clusters: descriptions of the workers that exist, or of ones that could exist."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import uuid4
from weakref import WeakKeyDictionary

from dask.system import CPU_COUNT

from dask_graphflow.exceptions import BackendError, OptionError
from dask_graphflow.scheduling import placement
from dask_graphflow.scheduling.memory_limits import PROCESS
from dask_graphflow.scheduling.progress import Listener, Progress, Told
from dask_graphflow.showing.bar import Step
from dask_graphflow.showing.tables import counted

from . import corrections, store
from .curves import Rates
from .defaults import default_rates
from .links import Links, measure_links
from .microbenchmarks import room_of

__all__ = [
    "ClusterSpec",
    "KnownRates",
    "client_in_use",
    "in_use",
    "known_rates_of",
    "links_of",
    "rates_of",
    "remember",
    "speeds",
]

LARGE = 1 << 24  # vertices of a graph large enough that it pays to merge its forests by speed
DEVICE, HOST = "GPU", "CPU"  # Dask resources that say what a worker is for


_joined: WeakKeyDictionary[Any, dict[tuple[bool, int], Links]] = WeakKeyDictionary()  # by client
_speeds: WeakKeyDictionary[Any, dict[str, float]] = WeakKeyDictionary()  # by client
_here: dict[tuple[bool, int], Links] = {}  # by whether arrays are on devices, and number of workers


@dataclass(frozen=True)
class ClusterSpec:
    """A description of workers of one kind; use a list of them for several kinds.

    Parameters
    ----------
    workers : int
        Number of workers; 1 by default.
    threads : int
        Number of threads of each worker; 1 by default.
    device : bool
        Whether each worker has its own GPU, which holds its part of the graph. False by default.
    memory : int or None
        Memory of each worker, in bytes. The process of a worker without a GPU takes about 300 MB of it.
        None, the default, means no limit.
    hosts : int
        Number of machines that the workers are spread over; 1 by default. Workers on one machine share
        its cores.
    addresses : tuple of str
        Addresses of the workers, if they exist.
    rates : Rates or None
        Speed of each worker. None, the default, uses the stored or measured rates.
    links : Links or None
        Speed of the links between workers. None, the default, measures those of the current cluster.

    Raises
    ------
    OptionError
        A number is below 1, or there are more hosts than workers.

    Examples
    --------
    >>> from dask_graphflow.costs import ClusterSpec
    >>> laptop = ClusterSpec(threads=8, memory=16 << 30)
    >>> both = [ClusterSpec(workers=2, device=True), ClusterSpec(workers=1, threads=30)]
    >>> sum(kind.workers for kind in both)
    3
    """

    workers: int = 1
    threads: int = 1
    device: bool = False
    memory: int | None = None
    hosts: int = 1
    addresses: tuple[str, ...] = ()
    # These are tables, and have their own reprs.
    rates: Rates | None = field(default=None, repr=False)
    links: Links | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("workers", "threads", "hosts"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise OptionError(f"{name}={value!r} of a cluster; give a whole number, 1 or more")
        if self.hosts > self.workers:
            raise OptionError(
                f"{self.hosts:,} hosts for {counted(self.workers, 'worker')}; give at most one a worker"
            )
        if self.memory is not None and not self.memory >= 0:
            raise OptionError(f"memory={self.memory!r} of a worker; give bytes, or None")


def client_in_use() -> Any:
    """Return the client that ``compute`` would use, if it has workers, or None."""
    if placement.slots().workers == (None,):
        return None
    return placement.client_in_use()


def in_use(device: bool) -> list[ClusterSpec]:
    """Return the workers of the cluster in use by kind, or this process.

    Parameters
    ----------
    device : bool
        Whether the graph is in GPU memory. Ignored if any worker declares a GPU resource.
    """
    client = client_in_use()
    if client is None:
        memory = room_of(device)
        if memory is not None and not device:
            memory += PROCESS  # the memory of this process is not free any more
        return [ClusterSpec(1, placement.task_threads(1), device, memory)]
    workers = placement.described(client)
    told = any(info.get("resources", {}).get(DEVICE, 0) > 0 for info in workers.values())
    kinds: dict[tuple[bool, int], list[str]] = {}
    for address, info in sorted(workers.items()):
        there = info.get("resources", {}).get(DEVICE, 0) > 0 if told else device
        kinds.setdefault((there, int(info["nthreads"])), []).append(address)
    found = []
    for (there, threads), addresses in sorted(kinds.items()):
        hosts = Counter(workers[address]["host"] for address in addresses)
        if there:
            asked = client.submit(room_of, True, workers=addresses[:1], pure=False)
            room = placement.result_of(asked)
        else:
            room = min(int(workers[address]["memory_limit"] or 0) for address in addresses) or None
        found.append(
            ClusterSpec(len(addresses), threads, there, room, len(hosts), tuple(addresses))
        )
    return found


def rates_of(kind: ClusterSpec, *, fresh: bool = False, listener: Listener | None = None) -> Rates:
    """Return the rates of a worker of a kind while all other workers of its host are busy too.

    The workers of one host are together as fast as one worker with all of their threads, but no faster than
    the cores of the host allow.

    Parameters
    ----------
    kind : ClusterSpec
    fresh : bool
        Whether to measure even if rates are stored.
    listener : callable, optional
        Receives the :data:`.microbenchmarks.STEPS` of the measurement, whichever worker it runs on.
    """
    if kind.rates is not None:
        return kind.rates
    told = Progress(listener)
    told.of(f"calibrate-{uuid4().hex}")
    found: Rates = _on(kind, _measured, fresh, told)
    return found


class KnownRates(NamedTuple):
    """The rates of a worker that are known without measuring.

    Attributes
    ----------
    rates : Rates
    typical : bool
        Whether these are the rates of a typical machine, because none are stored.
    calls : dict of str to int
        Number of calls whose times corrected the rate of each kernel.
    """

    rates: Rates
    typical: bool
    calls: Mapping[str, int]


def known_rates_of(kind: ClusterSpec) -> KnownRates:
    """Return the rates of a worker of a kind like :func:`rates_of`, but measure nothing.

    Both stored rates and those of a typical machine are corrected by the times of calls on that machine.
    """
    if kind.rates is not None:
        return KnownRates(kind.rates, False, {})
    found: KnownRates = _on(kind, _stored)
    return found


def _on(kind: ClusterSpec, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function on a worker of a kind, or here if there are no such workers."""
    beside = 1 if kind.device else -(-kind.workers // kind.hosts)
    client = client_in_use() if kind.addresses else None
    given = kind.device, kind.threads, beside, *args
    if client is None:
        return function(*given)
    asked = client.submit(function, *given, workers=kind.addresses[:1], pure=False)
    return placement.result_of(asked)


def remember(kinds: Sequence[ClusterSpec]) -> None:
    """Store the measured hook rates of the workers of the cluster in use, for :func:`speeds`."""
    client = client_in_use()
    if client is not None:
        known = _speeds.setdefault(client, {})
        for kind in kinds:
            if kind.rates is not None:
                known |= dict.fromkeys(kind.addresses, kind.rates.rate("hooks", LARGE))


def speeds() -> dict[str, float]:
    """Return the measured hook rates of workers of the cluster in use, relative to the fastest one."""
    client = client_in_use()
    known = {} if client is None else _speeds.get(client, {})
    most = max(known.values(), default=1.0)
    return {address: rate / most for address, rate in known.items()}


def links_of(kinds: Sequence[ClusterSpec], *, fresh: bool = False) -> Links:
    """Return the links between workers: the given ones, or those measured once per client."""
    told = next((kind.links for kind in kinds if kind.links is not None), None)
    if told is not None:
        return told
    client = client_in_use()
    known = _here if client is None else _joined.setdefault(client, {})
    about = all(kind.device for kind in kinds), len(placement.slots().workers)
    if fresh or about not in known:
        placement.check_waiting("gf.estimate, which measures links,", "gf.estimate(...)")
        known[about] = measure_links(client, device=about[0])
    return known[about]


def _measured(device: bool, threads: int, beside: int, fresh: bool, told: Told) -> Rates:
    with told.listening(_counted) as tell:
        found = store.rates(device, _together(threads, beside), fresh=fresh, tell=tell)
    if fresh:
        corrections.forget(device, threads)
    return _each(found, beside)


def _stored(device: bool, threads: int, beside: int) -> KnownRates:
    together, typical = _together(threads, beside), default_rates(device, threads)
    try:
        found = store.stored(device, together)
        # The calls that count had a worker to themselves, and mostly the machine too.
        alone = typical if found is None else found.over(together / threads)
        rates = typical if found is None else _each(found, beside)
        rates, calls = corrections.corrected(rates, alone, device, threads)
        return KnownRates(rates, found is None, calls)
    except BackendError:  # there is no GPU here
        return KnownRates(typical, True, {})


def _each(found: Rates, beside: int) -> Rates:
    """Return the rates of each of the `beside` workers of a host."""
    return found.over(beside, max(1.0, beside / CPU_COUNT))


def _together(threads: int, beside: int) -> int:
    """Return the number of threads of all workers of a host, at most its cores."""
    return threads if beside == 1 else max(1, min(threads * beside, CPU_COUNT))


def _counted(number: int, step: Mapping[str, Any]) -> Step:
    return {**step, "done": number + 1}
