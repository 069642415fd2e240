"""Placement of work: the number of chains, the worker that holds a partition, the threads of a task."""

from __future__ import annotations

import asyncio
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from weakref import WeakSet

import dask
from dask.system import CPU_COUNT

from dask_graphflow.comm.resources import Resources
from dask_graphflow.exceptions import BackendError
from dask_graphflow.kernels import disk, on_device
from dask_graphflow.kernels.gpu import spills

from .clients import client_in_use, own_worker
from .memory_limits import end_fraction, pause_fraction
from .trees import Slots

CHAINS_PER_WORKER = 4  # more would need more forests; other cores are used inside the tasks
GPU = "GPU"  # the Dask resource of workers that have a GPU

# The clients whose workers have the same cuDF spilling setting as this process.
_spill_alike: WeakSet[Any] = WeakSet()


class Worker(NamedTuple):
    """A process of a cluster."""

    address: str
    threads: int
    kind: str  # {"gpu", "cpu"}. Whether it has Dask's resource `GPU`.


def slots() -> Slots:
    """Return how many chains the scheduler in use can run at once.

    The number is determined when a call is made. If the graph is computed on another cluster, the result is
    still right, but the graph is cut for another size.
    """
    client = client_in_use()
    if client is None:
        return slots_of({None: _local_threads()})
    return slots_of(client.nthreads() or {None: CHAINS_PER_WORKER})


def slots_of(threads: Mapping[Any, int]) -> Slots:
    """Return how many chains some workers can run at once, given the number of threads by address."""
    most = max(threads.values())
    return Slots(tuple(sorted(threads)), min(most, CHAINS_PER_WORKER), most)


class Look(NamedTuple):
    """What the scheduler knows about some partitions, and about its workers."""

    slots: Slots  # see :func:`slots`
    homes: list[str | None]  # see :func:`homes`
    spilled: set[str]  # the workers that have written some of their data to disk


def look(keys: Sequence[Any], futures: Sequence[Any]) -> Look:
    """Ask the scheduler, once, about partitions and workers.

    A key is None for a partition without a key yet. The futures may hold the partitions.
    """
    client = client_in_use()
    if client is None:
        return Look(slots(), [None] * len(keys), set())
    wanted = [future.key for future in futures]
    there, held = client.sync(_ask, client, wanted)
    threads = {address: about["nthreads"] for address, about in there.items()}
    spilled = {
        address
        for address, about in there.items()
        if about["metrics"].get("spilled_bytes", {}).get("disk")
    }
    homes = _first_holders(held, keys)
    return Look(slots_of(threads or {None: CHAINS_PER_WORKER}), homes, spilled)


async def _ask(client: Any, keys: list[Any]) -> tuple[dict[str, Any], dict[Any, Any]]:
    about = client.scheduler.identity(n_workers=-1)
    if not keys:
        return (await about)["workers"], {}
    about, held = await asyncio.gather(about, client.scheduler.who_has(keys=keys))
    return about["workers"], held


def workers() -> tuple[Worker, ...]:
    """Return the workers of the cluster in use, those with a GPU first; none without a cluster.

    Workers are sorted by name, so the order is the same for all calls: "2" comes before "10".
    """
    client = client_in_use()
    if client is None:
        return ()
    there = describe_workers(client)

    def order(worker: Worker) -> tuple[bool, int, str, str]:
        name = str(there[worker.address]["name"])
        return worker.kind != "gpu", len(name), name, worker.address

    unordered = (
        Worker(address, about["nthreads"], "gpu" if has_gpu(about["resources"]) else "cpu")
        for address, about in there.items()
    )
    return tuple(sorted(unordered, key=order))


def describe_workers(client: Any) -> dict[str, Any]:
    """Return the scheduler's current information about a client's workers, by address.

    ``Client.scheduler_info`` returns cached information, which a concurrent poll may just have replaced by
    one without workers.
    """
    workers: dict[str, Any] = client.sync(client.scheduler.identity, n_workers=-1)["workers"]
    return workers


def on_gpu_worker() -> bool:
    """Say whether the calling task runs on a worker that has a GPU."""
    worker = own_worker()
    return worker is not None and has_gpu(worker.state.total_resources)


def has_gpu(resources: Mapping[str, float]) -> bool:
    """Say whether a worker with these resources of Dask has a GPU."""
    return resources.get(GPU, 0) > 0


def check_spilling(frame: Any) -> None:
    """Check once per client that this process and the workers can exchange cuDF frames like `frame`.

    A process that does not spill cannot read a cuDF frame from a process that spills; this raises
    :class:`.BackendError`. cuDF decides whether to spill when it makes its first frame.
    """
    client = client_in_use() if on_device(frame) else None
    if client is None or client in _spill_alike or (here := spills()) is None:
        return
    spilling = client.run(spills, on_error="ignore").values()
    if (not here) in spilling:
        raise BackendError(_spilling_problem(here))
    if spilling:
        _spill_alike.add(client)


def _spilling_problem(here: bool) -> str:
    if here:
        return (
            "cuDF spills to host memory in this process, but not in the cluster's workers, which cannot "
            "read its frames; start the cluster with enable_cudf_spill=True, or do not set "
            "CUDF_SPILL=on and cudf.set_option('spill', True) here"
        )
    return (
        "cuDF spills to host memory in the cluster's workers (enable_cudf_spill=True), but not in this "
        "process, which cannot read their frames; set CUDF_SPILL=on in its environment, call "
        "cudf.set_option('spill', True) before it makes its first frame (later calls have no effect), or "
        "start the cluster with enable_cudf_spill=False"
    )


def homes(keys: Sequence[Any], futures: Sequence[Any], count: int) -> list[str | None]:
    """Return for each of `count` partitions the address of a worker that holds it, or None.

    There are fewer keys if some partitions do not have a key yet. The futures may hold the partitions.
    """
    client = client_in_use()
    wanted = {future.key for future in futures}
    if client is None or not wanted:
        return [None] * count
    # By key, because another client than that of the futures may have kept the partitions.
    held = client.sync(client.scheduler.who_has, keys=list(wanted))
    return _first_holders(held, keys)


def _first_holders(held: Mapping[Any, Sequence[str]], keys: Sequence[Any]) -> list[str | None]:
    return [next(iter(held.get(key, ())), None) for key in keys]


def count_held_bytes(futures: Sequence[Any]) -> int | None:
    """Return the total bytes of the results of futures, or None if not all results are available."""
    client = client_in_use()
    if client is None or not futures:
        return None
    try:
        bytes_by_key = client.nbytes([future.key for future in futures], summary=False)
    except (
        KeyError
    ):  # the scheduler has not received the tasks yet, which the client sends in batches
        return None
    sizes = [bytes_by_key.get(future.key) for future in futures]
    return None if None in sizes else sum(sizes)


def task_threads(sharing: int) -> int:
    """Return how many threads a task may use while `sharing` tasks run at the same time."""
    worker = own_worker()
    there = _local_threads() if worker is None else int(worker.state.nthreads)
    return max(1, there // sharing)


def least_room() -> tuple[int, int, int] | None:
    """Return the lowest memory limit of a worker, that worker's threads, and the number of workers.

    Return None without a cluster, or if no worker has a limit.
    """
    client = client_in_use()
    if client is None:
        return None
    there = describe_workers(client).values()
    limits = [(about["memory_limit"], about["nthreads"], len(there)) for about in there]
    return min((one for one in limits if one[0]), default=None)


def memory_limit() -> int | None:
    """Return the memory limit of the calling task's worker; None without a limit, or a worker."""
    worker = own_worker()
    return None if worker is None else worker.memory_manager.memory_limit


class WorkerFolder(str):
    """The folder for files of a worker. Where it is unpickled, it is the folder of that worker."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return disk_folder, ()


def disk_folder() -> WorkerFolder:
    """Return the folder for files of the calling task: that of its worker, or Dask's.

    From then on, mapped pages of files take at most their part of the worker's memory limit, and Dask does
    not spill to make room for them: what it spills is read into memory as a whole when it is used again.
    """
    worker, limit = own_worker(), memory_limit()
    disk.limit(math.inf if limit is None else limit)
    if worker is not None:
        worker.memory_manager.memory_spill_fraction = False
    folder = (
        dask.config.get("temporary-directory", None) if worker is None else worker.local_directory
    )
    return WorkerFolder(folder or tempfile.gettempdir())


def resources(members: int = 1) -> Resources:
    """Return what the calling task may use of its worker, if this many members share the worker."""
    own = Resources(threads=task_threads(members), gpu=on_gpu_worker(), folder=disk_folder)
    worker = own_worker()
    if worker is None:
        return own
    return replace(
        own,
        memory_limit=memory_limit(),
        pause=pause_fraction(),
        end=end_fraction(),
        used=worker.monitor.get_process_memory,
    )


def _local_threads() -> int:
    return int(dask.config.get("num_workers", None) or CPU_COUNT)
