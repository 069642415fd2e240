"""The workers of the cluster in use, their stored or measured rates, and the links between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from dask.system import CPU_COUNT

from dask_graphflow.costs.cluster import ClusterSpec
from dask_graphflow.costs.links import Links
from dask_graphflow.costs.rates import Rates
from dask_graphflow.exceptions import BackendError
from dask_graphflow.kernels.memory import PROCESS
from dask_graphflow.showing.bar import Step
from dask_graphflow.tasks import placement
from dask_graphflow.tasks.clients import check_waiting, client_in_use, result_of
from dask_graphflow.tasks.names import unique
from dask_graphflow.tasks.progress import Listener, Progress, Told

from . import rate_store
from .measuring import measure_links, room_of

# By the client's id, whether arrays are on devices, and the number of workers.
_measured: dict[tuple[Any, bool, int], Links] = {}


def workers_in_use(device: bool) -> list[ClusterSpec]:
    """Return the workers of the cluster in use by kind, or this process.

    `device`, which says whether the graph is in GPU memory, is ignored if any worker declares a GPU
    resource.
    """
    client = _client_with_workers()
    if client is None:
        memory = room_of(device)
        if memory is not None and not device:
            memory += PROCESS  # the memory of this process is not free any more
        return [ClusterSpec(1, placement.task_threads(1), device, memory)]
    workers = placement.describe_workers(client)
    gpus = {at for at, info in workers.items() if placement.has_gpu(info.get("resources", {}))}
    kinds: dict[tuple[bool, int], list[str]] = {}
    for address, info in sorted(workers.items()):
        kind = address in gpus if gpus else device, int(info["nthreads"])
        kinds.setdefault(kind, []).append(address)
    specs = []
    for (gpu, threads), addresses in sorted(kinds.items()):
        hosts = Counter(workers[address]["host"] for address in addresses)
        if gpu:
            room = _on(addresses, room_of, True)
        else:
            room = min(int(workers[address]["memory_limit"] or 0) for address in addresses) or None
        specs.append(ClusterSpec(len(addresses), threads, gpu, room, len(hosts), tuple(addresses)))
    return specs


def rates_of(kind: ClusterSpec, *, fresh: bool = False, listener: Listener | None = None) -> Rates:
    """Return the rates of a worker of a kind while all other workers of its host are busy too.

    The workers of one host are together as fast as one worker with all of their threads, but no faster than
    the cores of the host allow. Fresh rates are measured even if some are stored. The listener gets the
    :data:`.measuring.STEPS` of the measurement, whichever worker it runs on.
    """
    if kind.rates is not None:
        return kind.rates
    progress = Progress(listener)
    progress.of(f"calibrate-{uuid4().hex}")
    sharing = _count_sharing(kind)
    found: Rates = _on(kind.addresses, _rates, kind.device, kind.threads, sharing, fresh, progress)
    return found.over(sharing)


def stored_rates_of(kind: ClusterSpec) -> Rates | None:
    """Return the rates of a worker of a kind like :func:`rates_of`, or None if none are stored."""
    if kind.rates is not None:
        return kind.rates
    sharing = _count_sharing(kind)
    found: Rates | None = _on(kind.addresses, _find_stored, kind.device, kind.threads, sharing)
    return None if found is None else found.over(sharing)


def links_of(kinds: Sequence[ClusterSpec], *, fresh: bool = False) -> Links:
    """Return the links between workers: the given ones, or those measured once per client."""
    for kind in kinds:
        if kind.links is not None:
            return kind.links
    client, device = _client_with_workers(), all(kind.device for kind in kinds)
    key = None if client is None else client.id, device, len(placement.slots().workers)
    if fresh or key not in _measured:
        check_waiting("gf.estimate, which measures links,", "gf.estimate(...)")
        _measured[key] = measure_links(client, device=device)
    return _measured[key]


def _client_with_workers() -> Any:
    """Return the client that ``compute`` would use, if it has workers, or None."""
    return None if placement.slots().workers == (None,) else client_in_use()


def _count_sharing(kind: ClusterSpec) -> int:
    """Return the number of workers of a host that share its cores."""
    return 1 if kind.device else -(-kind.workers // kind.hosts)


def _on(addresses: Sequence[str], function: Callable[..., Any], *args: Any) -> Any:
    """Call a function on the first of some workers, or here if there are none."""
    client = _client_with_workers() if addresses else None
    if client is None:
        return function(*args)
    key = unique("calibrate")
    return result_of(client.submit(function, *args, workers=[*addresses[:1]], key=key))


def _rates(device: bool, threads: int, sharing: int, fresh: bool, progress: Told) -> Rates:
    with progress.listening(_count) as tell:
        return rate_store.rates(device, _together(threads, sharing), fresh=fresh, tell=tell)


def _find_stored(device: bool, threads: int, sharing: int) -> Rates | None:
    try:
        return rate_store.stored(device, _together(threads, sharing))
    except BackendError:  # there is no GPU here
        return None


def _together(threads: int, sharing: int) -> int:
    """Return the number of threads of all workers of a host, at most its cores."""
    return threads if sharing == 1 else max(1, min(threads * sharing, CPU_COUNT))


def _count(number: int, step: Mapping[str, Any]) -> Step:
    return {**step, "done": number + 1}
