"""Clusters: descriptions of the workers that exist, or of ones that could exist."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

from dask.system import CPU_COUNT

from dask_graphflow.exceptions import BackendError, OptionError
from dask_graphflow.kernels.memory import PROCESS
from dask_graphflow.scheduling import placement
from dask_graphflow.scheduling.clients import check_waiting, client_in_use, result_of
from dask_graphflow.scheduling.names import unique
from dask_graphflow.scheduling.progress import Listener, Progress, Told
from dask_graphflow.showing.bar import Step
from dask_graphflow.showing.tables import counted

from . import store
from .links import Links, measure_links
from .measuring import room_of
from .rates import Rates

DEVICE = "GPU"  # the Dask resource of workers that use a GPU

_links: WeakKeyDictionary[Any, dict[tuple[bool, int], Links]] = WeakKeyDictionary()  # by client
# Without a client: by whether arrays are on devices, and by the number of workers.
_own_links: dict[tuple[bool, int], Links] = {}


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
                f"{self.hosts:,} hosts for {counted(self.workers, 'worker')}; give at most one per worker"
            )
        if self.memory is not None and not self.memory >= 0:
            raise OptionError(
                f"memory={self.memory!r} of a worker; give a number of bytes, or None"
            )


def in_use(device: bool) -> list[ClusterSpec]:
    """Return the workers of the cluster in use by kind, or this process.

    Parameters
    ----------
    device : bool
        Whether the graph is in GPU memory. Ignored if any worker declares a GPU resource.
    """
    client = _client_in_use()
    if client is None:
        memory = room_of(device)
        if memory is not None and not device:
            memory += PROCESS  # the memory of this process is not free any more
        return [ClusterSpec(1, placement.task_threads(1), device, memory)]
    workers = placement.described(client)
    with_gpu = {
        address: info.get("resources", {}).get(DEVICE, 0) > 0 for address, info in workers.items()
    }
    if not any(with_gpu.values()):
        with_gpu = dict.fromkeys(workers, device)
    kinds: dict[tuple[bool, int], list[str]] = {}
    for address, info in sorted(workers.items()):
        kinds.setdefault((with_gpu[address], int(info["nthreads"])), []).append(address)
    specs = []
    for (gpu, threads), addresses in sorted(kinds.items()):
        hosts = Counter(workers[address]["host"] for address in addresses)
        if gpu:
            future = client.submit(room_of, True, workers=addresses[:1], key=unique("calibrate"))
            room = result_of(future)
        else:
            room = min(int(workers[address]["memory_limit"] or 0) for address in addresses) or None
        specs.append(ClusterSpec(len(addresses), threads, gpu, room, len(hosts), tuple(addresses)))
    return specs


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
        Receives the :data:`.measuring.STEPS` of the measurement, whichever worker it runs on.
    """
    if kind.rates is not None:
        return kind.rates
    progress = Progress(listener)
    progress.of(f"calibrate-{uuid4().hex}")
    return _each(kind, _on(kind, _measured, fresh, progress))


def stored_rates_of(kind: ClusterSpec) -> Rates | None:
    """Return the rates of a worker of a kind like :func:`rates_of`, or None if none are stored."""
    if kind.rates is not None:
        return kind.rates
    rates = _on(kind, _stored)
    return None if rates is None else _each(kind, rates)


def links_of(kinds: Sequence[ClusterSpec], *, fresh: bool = False) -> Links:
    """Return the links between workers: the given ones, or those measured once per client."""
    for kind in kinds:
        if kind.links is not None:
            return kind.links
    client = _client_in_use()
    measured = _own_links if client is None else _links.setdefault(client, {})
    key = all(kind.device for kind in kinds), len(placement.slots().workers)
    if fresh or key not in measured:
        check_waiting("gf.estimate, which measures links,", "gf.estimate(...)")
        measured[key] = measure_links(client, device=key[0])
    return measured[key]


def _client_in_use() -> Any:
    """Return the client that ``compute`` would use, if it has workers, or None."""
    return None if placement.slots().workers == (None,) else client_in_use()


def _beside(kind: ClusterSpec) -> int:
    """Return the number of workers of a host that share its cores."""
    return 1 if kind.device else -(-kind.workers // kind.hosts)


def _each(kind: ClusterSpec, rates: Rates) -> Rates:
    """Return the rates of each of the workers of a host, given the rates of all of them together."""
    return rates.over(_beside(kind))


def _on(kind: ClusterSpec, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function on a worker of a kind, or here if there are no such workers."""
    client = _client_in_use() if kind.addresses else None
    given = kind.device, kind.threads, _beside(kind), *args
    if client is None:
        return function(*given)
    future = client.submit(function, *given, workers=kind.addresses[:1], key=unique("calibrate"))
    return result_of(future)


def _measured(device: bool, threads: int, beside: int, fresh: bool, progress: Told) -> Rates:
    with progress.listening(_counted) as tell:
        return store.rates(device, _together(threads, beside), fresh=fresh, tell=tell)


def _stored(device: bool, threads: int, beside: int) -> Rates | None:
    try:
        return store.stored(device, _together(threads, beside))
    except BackendError:  # there is no GPU here
        return None


def _together(threads: int, beside: int) -> int:
    """Return the number of threads of all workers of a host, at most its cores."""
    return threads if beside == 1 else max(1, min(threads * beside, CPU_COUNT))


def _counted(number: int, step: Mapping[str, Any]) -> Step:
    return {**step, "done": number + 1}
